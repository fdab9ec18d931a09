"""What a step loads of its inputs is all that it uses: with everything loaded it writes the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.step import Step, every_step
from tests.support.studies.small_study import write_outputs

LIMITED = [step for step in every_step().values() if step.scope == "session" and any(step.inputs.values())]


def test_a_step_uses_only_what_it_loads(small_study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with every further curve and with draws of errors, as :func:`write_outputs` sets them."""
    first = small_study / "data/demo"
    assert LIMITED
    monkeypatch.setattr(Step, "loaded", lambda *_: None)
    second = write_outputs(tmp_path)
    files = sorted(file.relative_to(first) for file in first.rglob("derived/sub-*/*.nc"))
    assert files
    assert [file for file in files if (first / file).read_bytes() != (second / file).read_bytes()] == []
