"""Tables as people write them: any content is read or gives plain problems."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.errors import LONGEST_LINE, Problem, UserError
from pipeline.tables import study_tables, tsv

TRIALS = ("participant_id", "trial", "file", "role", "condition")
SAME_FOLDER = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

cells = st.text(st.characters(exclude_characters='\t\r\n"', exclude_categories=["Cs"]), max_size=12)
numbers = st.lists(st.integers(1, 999), min_size=1, max_size=5, unique=True)


def write(path: Path, header: tuple[str, ...], *rows: tuple[str, ...]) -> Path:
    path.write_text("".join("\t".join(row) + "\n" for row in (header, *rows)), encoding="utf-8")
    return path


@SAME_FOLDER
@given(rows=st.lists(st.tuples(*[cells] * 5), max_size=5))
def test_any_cells_of_trials_are_read_or_give_a_problem(tmp_path: Path, rows: list[tuple[str, ...]]) -> None:
    sessions, problems = study_tables.trials_of(write(tmp_path / "trials.tsv", TRIALS, *rows), {})
    assert all(problem.where.startswith("trials.tsv") for problem in problems)
    for row in (row for mine in sessions.values() for row in mine):
        assert not Path(row["file"]).is_absolute()
        assert row["role"] != "exclude"


@SAME_FOLDER
@given(content=st.binary(max_size=200))
def test_any_bytes_are_read_or_give_a_problem(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "participants.tsv"
    path.write_bytes(content)
    _, problems = study_tables.participants_of(path)
    assert problems
    with pytest.raises(UserError):
        study_tables.read_participants(path)


@SAME_FOLDER
@given(rows=st.lists(st.lists(cells, min_size=1, max_size=4), max_size=5))
def test_cells_are_read_as_written(tmp_path: Path, rows: list[list[str]]) -> None:
    """Cells are stripped of blanks; short lines are filled and reported."""
    path = write(tmp_path / "t.tsv", ("a", "b", "c", "d"), *map(tuple, rows))
    found, problems = tsv.rows_of(path, required="ad")
    kept = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    assert [list(row.values()) for row in found] == [row + [""] * (4 - len(row)) for row in kept]
    assert len(problems) == sum(len(row) < 4 for row in kept)


@given(numbers=numbers, separator=st.sampled_from([" ", ", ", ",", "  "]))
def test_plate_numbers_round_trip(numbers: list[int], separator: str) -> None:
    assert study_tables.plate_numbers(separator.join(map(str, numbers))) == tuple(numbers)


@given(text=st.text(max_size=8))
def test_plate_cells_are_understood_or_refused(text: str) -> None:
    try:
        found = study_tables.plate_numbers(text)
    except ValueError:
        return
    assert found is None or all(number > 0 for number in found)


@pytest.mark.parametrize(
    ("cell", "plates"), [("", None), ("n/a", None), ("none", ()), ("None ", ()), ("2", (2,)), ("1 3", (1, 3))]
)
def test_plates_given_to_a_foot(cell: str, plates: tuple[int, ...] | None) -> None:
    assert study_tables.plate_numbers(cell) == plates


def test_given_plates_reach_the_step_as_text() -> None:
    assert study_tables.plates_in_row({"plates_left": "1,2", "plates_right": "none"}) == {
        "plates_left": "1 2",
        "plates_right": "none",
    }
    assert study_tables.plates_in_row({"plates_left": "n/a"}) == {}


@pytest.mark.parametrize(
    ("cell", "stated"), [("yes", True), ("TRUE", True), ("no", False), ("False", False), ("n/a", None), ("", None)]
)
def test_hands_that_bear_weight_are_stated_by_trial(cell: str, stated: bool | None) -> None:
    given = study_tables.hands_in_row({"hands_bear_weight": cell})
    assert given == ({} if stated is None else {"hands_bear_weight": stated})


def test_another_answer_on_hands_is_refused(tmp_path: Path) -> None:
    header, row = (*TRIALS, "hands_bear_weight"), ("A1", "walk", "a.c3d", "gait", "walk", "perhaps")
    _, (problem,) = study_tables.trials_of(write(tmp_path / "trials.tsv", header, row), None)
    assert (problem.where, "perhaps" in problem.what) == ("trials.tsv: A1 walk", True)


@pytest.mark.parametrize(("cell", "stated"), [("8", 8.0), ("-4.5", -4.5), ("0", 0.0), ("n/a", None), ("", None)])
def test_slopes_are_stated_by_trial(cell: str, stated: float | None) -> None:
    row = {"trial": "walk", "slope_degrees": cell}
    assert study_tables.slope_in_row(row) == ({} if stated is None else {"slope_degrees": stated})


@pytest.mark.parametrize("cell", ["80", "-46", "8 %", "uphill"])
def test_a_slope_that_is_none_is_refused(tmp_path: Path, cell: str) -> None:
    header, row = (*TRIALS, "slope_degrees"), ("A1", "walk", "a.c3d", "gait", "walk", cell)
    _, (problem,) = study_tables.trials_of(write(tmp_path / "trials.tsv", header, row), None)
    assert problem.where == "trials.tsv: A1 walk"
    assert "slope_degrees" in problem.what


@pytest.mark.parametrize("cell", ["0", "-1", "1 1", "left", "1;x", "1.5", "FP1", "²"])
def test_invalid_plates_give_a_plain_line(tmp_path: Path, cell: str) -> None:
    header, row = (*TRIALS, "plates_left"), ("A1", "walk", "a.c3d", "gait", "walk", cell)
    sessions, problems = study_tables.trials_of(write(tmp_path / "trials.tsv", header, row), None)
    assert problems == [
        Problem("trials.tsv: A1 walk", f"plates_left is '{cell}'", "expected plate numbers ('2', '1 2'), 'none' or n/a")
    ]
    assert sessions["A1"]  # the file is looked at all the same


@pytest.mark.parametrize("file", ["../a.c3d", "/etc/a.c3d", "x/../../a.c3d", "", ".."])
def test_files_outside_the_study_are_refused_and_not_read(tmp_path: Path, file: str) -> None:
    row = ("A1", "walk", file, "gait", "walk")
    sessions, problems = study_tables.trials_of(write(tmp_path / "trials.tsv", TRIALS, row), None)
    assert sessions == {}
    assert "is not inside the study" in problems[0].what


def test_a_link_inside_the_study_may_lead_anywhere(tmp_path: Path) -> None:
    """Recordings are kept in one place and linked to from studies."""
    row = ("A1", "walk", "linked/a.c3d", "gait", "walk")
    (tmp_path / "linked").symlink_to("/")
    assert study_tables.read_trials(write(tmp_path / "trials.tsv", TRIALS, row), None)["A1"]


def test_a_header_without_separators_is_named(tmp_path: Path) -> None:
    _, problems = study_tables.trials_of(write(tmp_path / "trials.tsv", (" ".join(TRIALS),)), None)
    assert Problem("trials.tsv", "the first line has no tab", "separate the columns by tabs") in problems


def test_a_quote_that_is_not_closed_is_one_plain_line(tmp_path: Path) -> None:
    """Everything after it is one cell, with line ends."""
    good = ("a", "left", "foot", "1", *["0.01"] * 9)
    rows = [tuple(f'"{cell}' if number == 4 else cell for number, cell in enumerate(good)), *[good] * 200]
    path = write(tmp_path / "segments.tsv", study_tables.SEGMENT_COLUMNS, *rows)
    _, problems = study_tables.segments_of(path, {"a": {}})
    assert any("com_x_m is '0.01" in problem.what for problem in problems)
    lines = str(UserError.of(problems)).splitlines()
    assert len(lines) == len(problems)
    assert max(map(len, lines)) <= LONGEST_LINE


@pytest.mark.parametrize(
    ("mass", "source", "true"),
    [
        ("74.6", "C3D file, 74.6 kg", "C3D file, 74.6 kg"),
        ("74,60", "C3D file, 74.6 kg", "C3D file, 74.6 kg"),  # as a spreadsheet may write it
        ("85", "C3D file, 74.6 kg", "changed by hand, before: C3D file, 74.6 kg"),
        ("n/a", "estimate: plates, 74.6 kg", "changed by hand, before: estimate: plates, 74.6 kg"),
        ("85", "scales", "scales"),
        ("85", "scales of 1.2.26, 74..6 kg", "changed by hand, before: scales of 1.2.26, 74..6 kg"),
        ("85", "n/a", "n/a"),
    ],
)
def test_the_source_of_a_mass_is_true_after_an_edit(tmp_path: Path, mass: str, source: str, true: str) -> None:
    header = ("participant_id", "mass_kg", "height_m", "sex", "mass_source")
    people, _ = study_tables.participants_of(write(tmp_path / "p.tsv", header, ("p1", mass, "1.8", "M", source)))
    assert people["p1"]["mass_source"] == true


def test_an_upper_body_has_no_side_and_one_row(tmp_path: Path) -> None:
    numbers = ("30", *["0.01"] * 9)

    def problems_of(*rows: tuple[str, ...]) -> list[str]:
        path = write(tmp_path / "segments.tsv", study_tables.SEGMENT_COLUMNS, *rows)
        return [problem.what for problem in study_tables.segments_of(path, {"a": {}})[1]]

    whole = ("a", "n/a", "upper_body", *numbers)
    assert problems_of(whole, ("a", "left", "foot", *numbers)) == []
    assert problems_of(("a", "left", "upper_body", *numbers)) == ["unknown side or segment"]
    assert problems_of(("a", "n/a", "foot", *numbers)) == ["unknown side or segment"]
    assert problems_of(whole, ("a", "", "upper_body", *numbers)) == ["two rows"]


@pytest.mark.parametrize(
    ("rows", "person", "expected"),
    [
        ([{"acq_time": "2024-05-12T09:30:00"}, {"acq_time": "2024-05-12T09:41:00"}], {}, "2024-05-12"),
        ([{"date": "12.5.2024"}, {"date": "n/a"}], {"date": "1.1.2020"}, "12.5.2024"),
        ([{"file": "a.c3d"}], {"acq_time": "2024-05-12"}, "2024-05-12"),
        ([{"acq_time": "n/a"}], {}, ""),
    ],
)
def test_the_day_of_recording_is_that_of_the_tables(
    rows: list[dict[str, str]], person: dict[str, str], expected: str
) -> None:
    assert study_tables.days_of_recording(rows, person) == expected


def test_a_walk_without_a_condition_is_refused_and_other_trials_need_none(tmp_path: Path) -> None:
    rows = [("p", role, f"{role}.c3d", role, "n/a") for role in ("gait", "static", "equipment")]
    _, problems = study_tables.trials_of(write(tmp_path / "trials.tsv", TRIALS, *rows), {"p": {}})
    missing = [problem for problem in problems if "condition" in problem.what]
    assert [problem.where for problem in missing] == ["trials.tsv: p gait"]
