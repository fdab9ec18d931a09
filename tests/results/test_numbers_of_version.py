"""Results change only with the version."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline import __version__
from tests.results import numbers_of_version
from tests.results.numbers_of_version import differences, numbers_of, recorded


def test_numbers_are_those_of_the_version(small_study: Path) -> None:
    version, then = recorded()
    changed = differences(numbers_of(small_study / "data/demo"), then)
    assert not changed, "raise __version__, then: python -m tests.results.numbers_of_version"
    assert version == __version__, "python -m tests.results.numbers_of_version"
    assert len(then) > 100


def test_a_change_of_a_method_is_seen_and_rounding_is_not() -> None:
    then = {"peak": (8, 1.5, 0.2), "gone": (8, 1.0, 0.0)}
    assert differences({"peak": (8, 1.5 * (1 + 1e-8), 0.2)}, {"peak": then["peak"]}) == []
    assert differences({"peak": (8, 1.5001, 0.2), "new": (8, 1.0, 0.0)}, then) == ["gone", "new", "peak"]
    assert differences({"peak": (7, 1.5, 0.2)}, {"peak": then["peak"]}) == ["peak"]


def test_the_table_is_not_rewritten_for_the_same_version(
    small_study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbers_of_version, "write_outputs", lambda _: small_study / "data/demo")
    monkeypatch.setattr(numbers_of_version, "TABLE", tmp_path / "table.tsv")
    assert numbers_of_version.main() == 0
    written = numbers_of_version.TABLE.read_text()
    assert recorded()[1].keys() == numbers_of(small_study / "data/demo").keys()
    numbers_of_version.TABLE.write_text(written.replace("walking_speed\t", "walking_pace\t"))
    assert numbers_of_version.main() == 1
    monkeypatch.setattr(numbers_of_version, "__version__", "99.0.0")
    assert numbers_of_version.main() == 0
    assert recorded()[0] == "99.0.0"
