"""A sample of reruns.tsv, of each kind: the keys of jobs say today what it says; and it has a line for everything."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from pipeline.step import every_step
from pipeline.tables import corrections, session_table, study_tables
from pipeline.workflow.job_keys import without_results
from tests.campaigns.reruns import NOT_WITNESSED, TABLE, Recorder, Row, differences, read_table, rows_with_new
from tests.support.checkout import HOUSE
from tests.support.studies.every_change import every_change
from tests.support.studies.full_study import write_full_study

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the recorder forks")
OF_EACH_KIND = 2
# the version, which each key holds itself, and what starts and ends workers
CHANGES_NO_RESULT = {"pipeline/__init__.py", "pipeline/workflow/jobs/workers.py", "pipeline/workflow/activity_lock.py"}
# libraries that jobs import though their keys do not hold them, and the rules of these jobs: no result changes
IMPORTED_ALONE = {
    "packaging": "all",  # xarray compares the versions of libraries by it
    "pyarrow": "all",  # pandas imports it, and may keep texts in it, but no number
    # xarray looks up labels by it; rules of which own code calculates by it have it in their keys
    "pandas": "read calibrate clean contacts kinematics kinetics cycles muscles page_files",
}
# what the columns may be called, which the full study has
COLUMNS = {
    "participants.tsv": {*study_tables.PARTICIPANT_COLUMNS, "mass_source", "width_source", "leg_length_source"},
    "trials.tsv": {*study_tables.TRIAL_COLUMNS, *study_tables.DATE_COLUMNS},
    "sessions.tsv": {*session_table.KNOWN} - {*session_table.BIDS_NAMES},
    "segments.tsv": {*study_tables.SEGMENT_COLUMNS},
    "corrections.tsv": {*corrections.COLUMNS},
}


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorder]:
    with Recorder(tmp_path_factory.mktemp("reruns")) as recorder:
        yield recorder


@pytest.fixture(scope="module")
def recorded() -> dict[tuple[str, str], Row]:
    return read_table()


@pytest.fixture(scope="module")
def sample(recorder: Recorder, recorded: dict[tuple[str, str], Row]) -> list[Row]:
    """Return lines of today: of each kind the first and the last one, by their jobs."""
    changes = {(change.kind, change.what): change for change in every_change(recorder.folder)}
    lines = sorted((row for row in recorded.values() if row.kind != "after"), key=lambda row: (row.kind, *row[2:]))
    rows = []
    for _, group in groupby(lines, key=lambda row: row.kind):
        mine = [*group]
        for number in range(OF_EACH_KIND):
            old = mine[number * (len(mine) - 1) // (OF_EACH_KIND - 1)]
            rows.append(recorder.row(changes[old.kind, old.what])._replace(unseen=old.unseen))  # no job runs here
    return rows


def test_everything_that_can_change_has_a_line(recorder: Recorder, recorded: dict[tuple[str, str], Row]) -> None:
    changes = [(change.kind, change.what) for change in every_change(recorder.folder)]
    assert len(changes) == len({*changes})
    assert {name for name in recorded if name[0] != "after"} == {*changes}


def test_the_full_study_has_every_column(tmp_path: Path) -> None:
    study = write_full_study(tmp_path / "study")
    for table, columns in COLUMNS.items():
        assert columns <= {*(study / table).read_text().splitlines()[0].split("\t")}, table


def test_the_same_jobs_rerun_as_recorded(sample: list[Row], recorded: dict[tuple[str, str], Row]) -> None:
    assert len({row.demo + row.full for row in sample}) > len(sample) / 3
    assert differences({(row.kind, row.what): recorded[row.kind, row.what] for row in sample}, sample) == []


def test_a_wrong_line_is_named(sample: list[Row]) -> None:
    """Two lines are made wrong, one is missing and one is of a thing that is no more."""
    wrong = {(row.kind, row.what): row for row in sample}
    (first, second, third) = [row for row in sample if row.full not in ("all", "none")][:3]
    wrong[first.kind, first.what] = first._replace(full="none")
    wrong[second.kind, second.what] = second._replace(demo="all", full="all")
    del wrong[third.kind, third.what]
    gone = third._replace(what="moved")
    wrong[gone.kind, gone.what] = gone
    named = differences(wrong, sample)
    assert sorted(line.partition(":")[0] for line in named) == ["changed", "changed", "gone", "new"]
    for row in (first, second, third, gone):
        assert sum(f"{row.kind} | {row.what}" in line for line in named) == 1


def test_code_that_jobs_run_is_in_their_keys(recorded: dict[tuple[str, str], Row]) -> None:
    """The campaign has seen it: but for what changes no result, a job runs no code that its key does not hold."""
    assert [row.what for row in recorded.values() if row.unseen == NOT_WITNESSED] == [], f"record all: {TABLE.name}"
    unseen = {row.what.partition(" ")[0] for row in recorded.values() if row.kind in ("module", "file") and row.unseen}
    # a key holds what its step declares and the values of its settings; tables of other steps change no result
    steps = every_step().values()
    data = [*without_results(), *(f"{one.settings.rpartition('.')[0]}.declaration" for one in steps)]
    data += [module for one in steps if one.only_if for module in one.tables]
    of_data = {f"{module.replace('.', '/')}.py" for module in data}
    of_data |= {path.relative_to(HOUSE).as_posix() for path in HOUSE.glob("pipeline/extras/*/declaration.py")}
    assert of_data <= unseen
    trees = {name: ast.parse((HOUSE / name).read_text(encoding="utf-8")) for name in unseen - of_data}
    no_code = {name for name, tree in trees.items() if len(tree.body) == bool(ast.get_docstring(tree))}
    assert trees.keys() - no_code == CHANGES_NO_RESULT


def test_libraries_that_jobs_import_are_in_their_keys(recorded: dict[tuple[str, str], Row]) -> None:
    rows = [row for row in recorded.values() if row.kind == "library"]
    assert {row.what: row.unseen for row in rows if row.unseen} == IMPORTED_ALONE


@pytest.mark.process
def test_a_line_without_a_witness_says_so(
    recorder: Recorder, recorded: dict[tuple[str, str], Row], sample: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {(row.kind, row.what): row for row in sample}
    monkeypatch.setattr(recorder, "row", lambda change: found[change.kind, change.what])  # no key is asked for again
    new = {kind: what for kind, what in found if kind in ("module", "library", "setting")}
    known = {name: row for name, row in recorded.items() if name not in new.items()}
    unseen = {row.kind: row.unseen for row in rows_with_new(recorder, known) if new.get(row.kind) == row.what}
    assert unseen == {"module": "?", "library": "?", "setting": ""}
