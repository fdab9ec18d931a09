"""Masses of trunk, head and arms."""

from pathlib import Path

import pytest

from pipeline.errors import UserError
from tests.support.studies.run_steps import run_study
from tests.support.whole_body.person import random_person
from tests.support.whole_body.study import write_study

pytest.importorskip("pinocchio", reason="pinocchio (pip install pin) is not installed")


def test_measured_segments_heavier_than_the_body_are_refused(tmp_path: Path) -> None:
    write_study(tmp_path, random_person(3), kinds=("squat",), seed=3)
    table = tmp_path / "segments.tsv"
    rows = [line.split("\t") for line in table.read_text().splitlines()]
    mass = rows[0].index("mass_kg")
    kept = [row for row in rows if row[2] != "head"]  # so that the table has a mass to scale
    for row in kept[1:]:
        row[mass] = "90" if row[2] == "thorax" else row[mass]
    table.write_text("\n".join("\t".join(row) for row in kept) + "\n")
    with pytest.raises(UserError, match=r"segments.tsv: its masses and those of the legs leave -\d"):
        run_study(tmp_path, {})
