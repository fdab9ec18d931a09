"""corrections.tsv: read, checked, written, and saved by spreadsheets."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import pytest

from pipeline.tables.corrections import (
    COLUMNS,
    KINDS,
    append_corrections,
    as_text,
    changed_recordings,
    corrections_of,
    in_words,
    read_corrections,
    rows_of_cycles,
)
from pipeline.workflow.open_study import look_at
from tests.support.checkout import HOUSE
from tests.support.studies.corrected import correction

SESSIONS = {
    "s1": [{"trial": "walk_1", "role": "gait", "file": "a.c3d"}, {"trial": "stand", "role": "static", "file": "b.c3d"}]
}
HERE = {"session": "s1", "trial": "walk_1"}
SHA = "0123456789abcdef" * 4
SIDE = {**HERE, "side": "left", "time_s": "1.25", "sha256": SHA}
MARKER = {**HERE, "time_s": "1.25", "to_s": "1.5", "sha256": SHA}
GOOD = [
    correction("add_foot_strike", **SIDE),
    correction("move_foot_off", **SIDE, to_s="1.275"),
    correction("leave_out_cycle", **SIDE, by="AB", date="2026-11-23"),
    correction("accept_contact", **{**SIDE, "side": "right"}, reason='the foot was on it: "seen", twice; sure'),
    correction("give_contact", **SIDE, given="1 12"),
    correction("hide_marker", **MARKER, given="LKNE"),
    correction("exchange_labels", **MARKER, given="LKNE, RKNE"),
]


def problems(path: Path, *rows: dict[str, str]) -> list[str]:
    path.write_text(as_text(rows))
    return [*map(str, corrections_of(path, SESSIONS)[1])]


def test_rows_are_read_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "corrections.tsv"
    assert corrections_of(path, SESSIONS) == ({}, [])
    append_corrections(path, GOOD[:2])
    append_corrections(path, GOOD[2:])
    assert corrections_of(path, SESSIONS) == ({"s1": GOOD}, [])
    assert read_corrections(path) == GOOD
    assert [*tmp_path.iterdir()] == [path]


def saved(rows: list[dict[str, str]], *, delimiter: str, quoting: Literal[0, 1], encoding: str, comma: bool) -> bytes:
    """Return the table as a spreadsheet saves it."""
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator="\r\n")
    table.writerow(COLUMNS)
    for row in rows:
        cells = {name: cell.replace(".", ",") if comma and name.endswith("_s") else cell for name, cell in row.items()}
        table.writerow(cells.values())
    return text.getvalue().encode(encoding)


@pytest.mark.parametrize("delimiter", ["\t", ";", ","])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("comma", [False, True])
def test_a_spreadsheet_may_save_the_table(
    tmp_path: Path, delimiter: str, quoting: Literal[0, 1], encoding: str, *, comma: bool
) -> None:
    path = tmp_path / "corrections.tsv"
    path.write_bytes(saved(GOOD, delimiter=delimiter, quoting=quoting, encoding=encoding, comma=comma))
    assert corrections_of(path, SESSIONS) == ({"s1": GOOD}, [])
    append_corrections(path, [])
    assert path.read_text() == as_text(GOOD)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"session": "s2"}, "session 's2' is not in trials.tsv"),
        ({"trial": "walk"}, "'walk' is no gait trial of the session in trials.tsv; did you mean 'walk_1'?"),
        ({"trial": "stand"}, "'stand' is no gait trial of the session"),
        ({"kind": "accept_contct"}, "kind is 'accept_contct'; did you mean 'accept_contact'?"),
        ({"side": "both"}, "side is 'both'; expected left or right"),
        ({"time_s": "1,2,5"}, "time_s is '1,2,5'; expected a number"),
        ({"time_s": "n/a"}, "time_s is missing"),
        ({"time_s": "1e400"}, "time_s is '1e400'"),
        ({"reason": "n/a"}, "reason is missing; say why"),
        ({"reason": "x\x1b"}, "invisible character"),
        ({"given": "2"}, "given is '2', which accept_contact does not have; leave the cell empty"),
        ({"kind": "move_foot_strike"}, "to_s is missing"),
        ({"kind": "give_contact", "given": "none"}, "given is 'none'; expected numbers of plates"),
        ({"kind": "exchange_labels", "side": "", "to_s": "2", "given": "LKNE"}, "expected two labels"),
        ({"kind": "exchange_labels", "side": "", "to_s": "2", "given": "LKNE , LKNE"}, "expected two labels"),
        ({"kind": "hide_marker", "to_s": "2", "given": "LKNE"}, "side is 'left', which hide_marker does not have"),
    ],
)
def test_a_wrong_row_is_a_problem(tmp_path: Path, cells: dict[str, str], message: str) -> None:
    found = problems(tmp_path / "corrections.tsv", correction("accept_contact", **SIDE) | cells)
    assert len(found) == 1, found
    assert message in found[0]
    assert found[0].startswith("corrections.tsv: ")


def test_rows_that_contradict_each_other_are_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "corrections.tsv"
    accepted, near = correction("accept_contact", **SIDE), SIDE | {"time_s": "1.28"}
    assert problems(path, accepted, accepted) == [
        f"corrections.tsv: s1 walk_1 left accept_contact 1.25: contradicts '{in_words(accepted)}'; keep one"
    ]
    (found,) = problems(path, accepted, correction("refuse_contact", **near))
    assert "contradicts 'left contact at 1.25 s accepted" in found
    assert problems(path, accepted, correction("refuse_contact", **SIDE | {"time_s": "1.31"})) == []
    assert problems(path, accepted, correction("refuse_contact", **near | {"side": "right"})) == []


def test_a_recording_that_changed_is_a_problem() -> None:
    (row,) = rows = [correction("accept_contact", **SIDE)]
    assert not [*changed_recordings(rows, SESSIONS, {"a.c3d": SHA})]
    (changed,) = changed_recordings(rows, SESSIONS, {"a.c3d": "f" * 64})
    assert "a.c3d has changed since" in changed.what
    (missing,) = changed_recordings([row | {"sha256": ""}], SESSIONS, {"a.c3d": SHA})
    assert "'gaitlab corrections STUDY' fills it in" in missing.remedy


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_words_with_reason_and_author(kind: str) -> None:
    words = in_words(correction(kind, **SIDE, to_s="2", given="G", reason="R", by="AB"))
    assert "1.25" in words
    assert words.endswith(": R (AB)")


def test_a_correction_reaches_the_keys_of_its_session_from_its_step_on(tmp_path: Path) -> None:
    for name in ("study.yaml", "participants.tsv", "trials.tsv", "segments.tsv"):
        (tmp_path / name).write_bytes((HOUSE / "data" / "demo" / name).read_bytes())
    kinds = {"clean": "hide_marker", "contacts": "accept_contact", "cycles": "leave_out_cycle"}

    def keys() -> dict[tuple[str, str], str]:
        study, found = look_at(tmp_path)
        assert found == []
        sessions = [SimpleNamespace(session=name) for name in ("sub-01", "sub-02")]
        steps = ("read", "calibrate", "clean", "contacts", "kinematics", "kinetics", "cycles")
        return {(step, one.session): study.key(step)(one) for step in steps for one in sessions}

    before = keys()
    where = {"session": "sub-01", "trial": "fast_01", "time_s": "1.5", "reason": "stumbled"}
    for step, kind in kinds.items():
        more = {"to_s": "2", "given": "LKNE"} if step == "clean" else {"side": "left"}
        (tmp_path / "corrections.tsv").write_text(as_text([correction(kind, **where, **more)]))
        after = keys()
        assert {name for name in before if before[name] != after[name]} == {(step, "sub-01")}
        (row,) = json.loads(after[step, "sub-01"])["by_trial"]["fast_01"]["corrections"]
        assert row["reason"] == "stumbled"


def test_rows_of_the_table_of_earlier_versions_are_corrections(tmp_path: Path) -> None:
    path = tmp_path / "cycles.tsv"
    assert rows_of_cycles(path) == []
    path.write_text("session\ttrial\tside\tstart_s\treason\ns1\twalk_1\tleft\t1.25\tstumbled\n")
    expected = correction("leave_out_cycle", **SIDE | {"sha256": ""}, reason="stumbled")
    assert rows_of_cycles(path) == [expected]


def test_other_labels_may_be_exchanged_at_the_same_time(tmp_path: Path) -> None:
    rows = [correction("exchange_labels", **MARKER, given=given) for given in ("LKNE, RKNE", "LANK, RANK")]
    assert problems(tmp_path / "corrections.tsv", *rows) == []
    assert len(problems(tmp_path / "corrections.tsv", rows[0], rows[0])) == 1
