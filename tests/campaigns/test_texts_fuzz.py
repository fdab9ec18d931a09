"""A short campaign of odd settings and tables; ``make fuzz`` runs the long one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.campaigns import fuzz_texts

EXAMPLES = 80


@pytest.mark.parametrize("tried", [fuzz_texts.settings_tried, fuzz_texts.tables_tried])
def test_any_text_is_accepted_or_refused_in_plain_lines(
    tmp_path: Path, tried: Callable[[Path, int], Counter[str]]
) -> None:
    ends = tried(tmp_path, EXAMPLES)
    assert ends.total() >= EXAMPLES
    assert min(ends[fuzz_texts.ACCEPTED], ends[fuzz_texts.REFUSED]) > EXAMPLES / 20, "neither all nor none"
