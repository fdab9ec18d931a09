"""sessions.tsv as people write it: sizes, dates and visits of sessions, and the order of a person's visits."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.errors import Problem
from pipeline.tables.session_table import (
    SIZES,
    cells_in_results,
    in_order_of_visits,
    row_with_sizes,
    sessions_of,
    sizes_in,
)
from pipeline.tables.study_tables import ANTHROPOMETRY, columns_of_people, trials_of
from pipeline.variables.data_dictionary import RESERVED

PEOPLE = {name: {"participant_id": name, "mass_kg": "30", "height_m": "1.3", "sex": "F"} for name in ("P1", "P2")}
SESSIONS = ("P1_post", "P1_pre", "P2", "P2_away")
cells = st.text(st.characters(exclude_characters='\t\r\n"', exclude_categories=["Cs"]), max_size=12)
SAME_FOLDER = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(folder: Path, header: tuple[str, ...], *rows: tuple[str, ...]) -> Path:
    trials: list[tuple[str, ...]] = [("participant_id", "session", "trial", "file", "role", "condition")]
    for session in SESSIONS:
        role = "exclude" if session.endswith("away") else "gait"
        trials.append((session.partition("_")[0], session, "w", f"{session}.c3d", role, "walk"))
    for name, table in (("trials", trials), ("sessions", [header, *rows])):
        (folder / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in table), encoding="utf-8")
    return folder / "sessions.tsv"


def read(
    folder: Path, header: tuple[str, ...], *rows: tuple[str, ...]
) -> tuple[dict[str, dict[str, str]], list[Problem]]:
    path = write(folder, header, *rows)
    sessions, problems = trials_of(folder / "trials.tsv", PEOPLE)
    assert problems == []
    return sessions_of(path, PEOPLE, sessions, reserved=RESERVED)


HEADER = ("participant_id", "session", "date", "visit", "assessor", "mass_kg")


def test_rows_are_read_by_session_in_their_order(tmp_path: Path) -> None:
    rows, problems = read(
        tmp_path, HEADER, ("P1", "P1_pre", "2024-05-12", "pre", "A", "33,0"), ("P2", "", "n/a", "n/a", "B", "")
    )
    assert problems == []
    assert [*rows] == ["P1_pre", "P2"]
    assert rows["P1_pre"]["mass_kg"] == "33.0"


@pytest.mark.parametrize("status", ["draft", "Preliminary", "FINAL", "amended", "n/a", ""])
def test_a_session_has_a_status_and_a_reviewer(tmp_path: Path, status: str) -> None:
    header = ("participant_id", "session", "reviewed_by", "status", "amendments", "review_date", "review_sha256")
    review = ("2024-06-01", "ab" * 32)
    rows, problems = read(tmp_path, header, ("P1", "P1_pre", "Dr. B", status, "2024-06-01, C: mass corrected", *review))
    assert problems == []
    assert (rows["P1_pre"]["status"], rows["P1_pre"]["reviewed_by"]) == (status.lower(), "Dr. B")


def test_a_study_without_the_table_has_no_rows(tmp_path: Path) -> None:
    assert sessions_of(tmp_path / "sessions.tsv", PEOPLE, {}) == ({}, [])


def test_names_of_bids_are_read(tmp_path: Path) -> None:
    """BIDS calls the columns session_id and acq_time, and its sessions are named within a person."""
    header = ("participant_id", "session_id", "acq_time")
    rows, problems = read(
        tmp_path,
        header,
        ("P1", "ses-pre", "2023-01-31T09:30:00"),
        ("P1", "ses-P1_post", "2023-07-01"),
        ("P2", "P2", ""),
    )
    assert problems == []
    assert {name: row["date"] for name, row in rows.items()} == {
        "P1_pre": "2023-01-31T09:30:00", "P1_post": "2023-07-01", "P2": "",
    }  # fmt: skip


def test_a_session_without_a_trial_in_use_may_stay_in_the_table(tmp_path: Path) -> None:
    assert read(tmp_path, HEADER, ("P2", "P2_away", "", "", "", "20")) == ({}, [])


@pytest.mark.parametrize(
    ("header", "row", "where", "what", "remedy"),
    [
        (HEADER, ("P1", "P1_per", "", "", "", ""), "P1 P1_per", "session 'P1_per' is not in trials.tsv", "'P1_pre'?"),
        (HEADER, ("P3", "P1_pre", "", "", "", ""), "P3 P1_pre", "'P3' is not in participants.tsv", "add a row"),
        (HEADER, ("P2", "P1_pre", "", "", "", ""), "P2 P1_pre", "'P1_pre' belongs to P1 in trials.tsv", "correct"),
        (HEADER, ("P1", "P1_pre", "12.05.2024", "", "", ""), "P1 P1_pre", "date is '12.05.2024'", "2024-05-12"),
        (HEADER, ("P1", "P1_pre", "2024-02-30", "", "", ""), "P1 P1_pre", "date is '2024-02-30'", "year, month"),
        ((*HEADER[:2], "status"), ("P1", "P1_pre", "done"), "P1 P1_pre", "status is 'done'", "draft, prelim"),
        ((*HEADER[:2], "status"), ("P1", "P1_pre", "Amended"), "P1 P1_pre", "amendments are missing", "say when"),
        (HEADER, ("P1", "P1_pre", "", "", "", "603"), "P1 P1_pre", "mass_kg is 603", "expected 2 to 400"),
        (HEADER, ("P1", "P1_pre", "", "", "", "light"), "P1 P1_pre", "mass_kg is 'light'", "a number"),
        (("participant_id", "sesion"), ("P1", "P1_pre"), "", "unknown column 'sesion'", "'session'?"),
        (("participant_id", "session", "visits"), ("P1", "P1_pre", "1"), "", "unknown column 'visits'", "'visit'?"),
        (("participant_id", "date"), ("P1", ""), "", "column 'session' is missing", "add it"),
        (("participant_id", "session", "sex"), ("P1", "P1_pre", "F"), "", "is about a person", "participants.tsv"),
        (("participant_id", "session", "trial"), ("P1", "P1_pre", "1"), "", "has the name of a result", "rename"),
        (("session", "date"), ("P1_pre", ""), "", "column 'participant_id' is missing", "add it"),
        (("participant_id", "session", "date", "acq_time"), ("P1", "P2", "", ""), "", "mean the same", "keep one"),
        (HEADER, ("P1", "P1_pre", "", "pre\u202e", "", ""), "row 1", "invisible character", "remove"),
        (HEADER, ("P1", "P1_pre", "", "x" * 2000, "", ""), "row 1", "2000 characters", "at most"),
    ],
)  # fmt: skip
def test_each_mistake_is_named_with_a_remedy(
    tmp_path: Path, header: tuple[str, ...], row: tuple[str, ...], where: str, what: str, remedy: str
) -> None:
    _, problems = read(tmp_path, header, row)
    found = [one for one in problems if what in one.what and remedy in one.remedy]
    assert found, problems
    assert found[0].where == ": ".join(filter(None, ["sessions.tsv", where]))


def test_two_rows_of_a_session_are_refused(tmp_path: Path) -> None:
    """Also if one names it as BIDS does."""
    _, problems = read(tmp_path, HEADER, *[("P1", name, "", "", "", "") for name in ("P1_pre", "ses-pre")])
    assert problems == [Problem("sessions.tsv: P1 P1_pre", "two rows", "keep one")]


@SAME_FOLDER
@given(rows=st.lists(st.tuples(*[cells] * 6), max_size=5), header=st.permutations(HEADER))
def test_any_cells_are_read_or_give_a_problem(tmp_path: Path, rows: list[tuple[str, ...]], header: list[str]) -> None:
    found, problems = read(tmp_path, tuple(header), *rows)
    assert set(found) <= set(SESSIONS)
    assert all(problem.where.startswith("sessions.tsv") and problem.remedy for problem in problems)


@SAME_FOLDER
@given(content=st.binary(max_size=200))
def test_any_bytes_are_read_or_give_a_problem(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path, HEADER)
    path.write_bytes(content)
    assert sessions_of(path, PEOPLE, {})[1]


days = st.dates().map(str) | st.just("n/a")


@given(dates=st.lists(days, min_size=1, max_size=6), data=st.data())
def test_visits_of_a_person_are_in_the_order_of_their_dates(dates: list[str], data: st.DataObject) -> None:
    """Later ones follow earlier ones, those without a date come last, and nobody else's place changes."""
    names = [f"P1_{number}" for number in range(len(dates))]
    listed = data.draw(st.permutations([*names, "P2_a", "P2_b"]))
    sessions = {name: [{"participant_id": name[:2], "trial": "w"}] for name in listed}
    rows = dict(zip(names, ({"date": date} for date in dates), strict=True))
    ordered = [*in_order_of_visits(sessions, rows)]
    mine = [dates[names.index(name)] for name in ordered if name.startswith("P1")]
    assert [day for day in mine if day != "n/a"] == sorted(day for day in dates if day != "n/a")
    assert mine == [day for day in mine if day != "n/a"] + ["n/a"] * mine.count("n/a")
    assert [name[:2] for name in ordered] == [name[:2] for name in listed]
    assert [*in_order_of_visits(sessions, {})] == listed


@pytest.mark.parametrize("absent", ["", "n/a", "NaN"])
def test_dates_of_trials_order_sessions_that_the_table_gives_none(absent: str) -> None:
    sessions = {
        name: [{"participant_id": "P1", "acq_time": day}]
        for name, day in {"a": "2024-03-01T08:00:00", "b": "1.2.2023", "c": "2023-01-01"}.items()
    }
    assert [*in_order_of_visits(sessions, {"a": {"date": absent}, "b": {"date": "2023-02-01"}})] == ["c", "b", "a"]


def test_results_have_the_cells_of_a_session_before_those_of_the_person() -> None:
    person = {"participant_id": "P1", "mass_kg": "30", "group": "cp", "guessed": "mass_kg"}
    own = {"participant_id": "P1", "session": "s1", "mass_kg": "33", "visit": "", "date": "n/a", "height_m": ""}
    rows = {"s1": own, "s2": own | {"session": "s2", "mass_kg": "n/a", "visit": "2"}}
    cells = {name: cells_in_results(person, name, rows) for name in ("s1", "s2", "s3")}
    columns = columns_of_people(cells)
    assert columns["mass_kg"] == {"s1": 33, "s2": 30, "s3": 30}
    assert columns["visit"] == {"s1": "s1", "s2": "2", "s3": "s3"}  # a name, also if it is a number
    assert set(columns["date"].values()) == {"n/a"}
    assert "session" not in columns
    assert cells_in_results(person, "s1", {}) == person


def test_sizes_are_those_of_the_session_then_of_its_files_then_of_the_person() -> None:
    person = {"participant_id": "P1", "sex": "F", "mass_kg": "33", "mass_source": "estimate: plates", "height_m": "1.3",
              "knee_width_left_m": "0.09", "width_source": "estimate: body mass"}  # fmt: skip
    own = sizes_in({"height_m": "1.62", "mass_kg": "0.0", "leg_length_left_m": "n/a", "visit": "post"})
    assert own == {"height_m": "1.62"}
    row = row_with_sizes(person, own, {"mass_kg", "height_m"})
    assert row == {"participant_id": "P1", "sex": "F", "height_m": "1.62", "knee_width_left_m": "0.09",
                   "width_source": "estimate: body mass"}  # fmt: skip
    assert row_with_sizes(person, None, {"mass_kg"}) is person


def test_every_size_of_a_person_may_be_one_of_a_session() -> None:
    assert {*ANTHROPOMETRY, "mass_kg", "height_m"} < {*SIZES}
