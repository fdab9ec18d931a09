"""Malicious ids, cells and columns are refused: folders and coordinates are named after them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import UserError
from pipeline.tables import study_tables
from pipeline.variables.data_dictionary import RESERVED
from pipeline.variables.schema import VARIABLES
from tests.support.files.hostile_texts import LONG, SEEN, write

IDS = (
    "../x", "../../etc/passwd", "/etc/passwd", "a/b", "a\\b", "..", ".", "", " ", "~root", "C:", "con.", "-rf",
    "--help", f"$(touch {SEEN})", f"`touch {SEEN}`", f"x;touch {SEEN}", f"x|touch {SEEN}", f"x&touch {SEEN}",
    f"x>{SEEN}", "$HOME", "{session}", "{wildcards.session}", "{{ 7 * 7 }}", "{0.__class__}", "%s%n", "a b", "a'b",
    'a"b', "*", "?", "[a-z]", "<script>alert(1)</script>", "=1+1", "@SUM(A1)", "+1", "a|b", "a,b", "a=b", "#", "!",
    "a:b", "s3://x/y", "http://x", "é", "\uff41", "\u0430", "x\0y", "x\x1b[2J", "x\u202ey", "x\u2028y", LONG,
)  # fmt: skip
PARTICIPANTS, TRIALS = (
    ("participant_id", "mass_kg", "height_m", "sex"),
    ("participant_id", "trial", "file", "role", "condition"),
)


@pytest.mark.parametrize("name", IDS, ids=lambda name: ascii(name)[:24])
def test_ids_that_are_no_folder_names_are_refused(tmp_path: Path, name: str) -> None:
    """Folders in derived/ are named after ids; participants, sessions and trials have one rule."""
    _, problems = study_tables.participants_of(
        write(tmp_path / "participants.tsv", PARTICIPANTS, (name, "70", "1.7", "M"))
    )
    assert problems
    header = (*TRIALS, "session")
    for row in (
        (name, "w", "w.c3d", "gait", "x", ""),
        ("a", name, "w.c3d", "gait", "x", ""),
        ("a", "w", "w.c3d", "gait", "x", name),
    ):
        if row[-1].strip() or name not in row[-1:]:
            _, problems = study_tables.trials_of(write(tmp_path / "trials.tsv", header, row), {"a": {}})
            assert problems
            assert all(line.isprintable() for line in str(UserError.of(problems)).splitlines())


@pytest.mark.parametrize("column", ["condition", "file"])
def test_cells_with_invisible_characters_or_long_text_are_refused(tmp_path: Path, column: str) -> None:
    for text in ("a\nb", "a\0b", "a\x1b[31mb", "a\u202eb", "a\u2066b", "a\u2028b", LONG):
        row = dict(zip(TRIALS, ("a", "w", "w.c3d", "gait", "x"), strict=True)) | {column: text}
        _, problems = study_tables.trials_of(write(tmp_path / "trials.tsv", TRIALS, tuple(row.values())), {"a": {}})
        assert any(f"row 1: {column} has" in str(problem) for problem in problems)
    for text in ("\u0634\u200c\u0647", "👩\u200d🔬", "a\u00a0b", "é"):  # joiners and blanks that languages need
        row = dict(zip(TRIALS, ("a", "w", "w.c3d", "gait", "x"), strict=True)) | {column: text}
        assert study_tables.trials_of(write(tmp_path / "trials.tsv", TRIALS, tuple(row.values())), {"a": {}})[1] == []


@pytest.mark.parametrize("column", ["a/b", "=1+1", "-x", "<b>", "a\x1b", "x" * 65, "../x"])
def test_columns_that_cannot_be_coordinates_are_refused(tmp_path: Path, column: str) -> None:
    path = write(tmp_path / "participants.tsv", (*PARTICIPANTS, column), ("a", "70", "1.7", "M", "1"))
    assert len(study_tables.participants_of(path)[1]) == 1


def test_columns_with_the_name_of_anything_in_a_study_are_refused(tmp_path: Path) -> None:
    taken = {name for variable, parts in VARIABLES["study"].items() for name in (variable, *parts.dims)}
    path = write(tmp_path / "participants.tsv", (*PARTICIPANTS, *taken), ("a", "70", "1.7", "M", *("1" for _ in taken)))
    problems = str(UserError.of(study_tables.participants_of(path, reserved=RESERVED)[1]))
    assert not [name for name in taken if f"'{name}'" not in problems]
