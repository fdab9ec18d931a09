"""Visits of one person: each has its own sizes and gives what it gives alone, in their order."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from pipeline.commands.check.command import check
from pipeline.commands.init.command import initialise
from pipeline.results import netcdf
from pipeline.tables import tsv
from pipeline.workflow.open_study import open_study
from tests.support.checkout import DEMO
from tests.support.files.changes import edit, set_parameter
from tests.support.studies.small_study import run_steps
from tests.support.studies.typed_rows import rows_of

VISITS = {"post": "sub-01", "pre": "sub-02"}  # whose recordings of the demonstration study are of which visit
MASSES_KG = {"post": 74.6, "pre": 61.2}  # that the files state
TRIALS = "participant_id\tsession\ttrial\tfile\trole\tcondition"
STALE = "participant_id\tmass_kg\theight_m\tsex\nKIND1\t90\t1.9\tM\n"
UNKNOWN = STALE.replace("90\t1.9", "n/a\tn/a")
SESSIONS = (
    "participant_id\tsession\tdate\tvisit\tassessor\nKIND1\tpost\t2024-11-02\tpost\tA\nKIND1\tpre\t2024-05-12\tpre\tB\n"
)


def visits_of_demo(folder: Path, visits: Iterable[str], participants: str, sessions: str = "") -> Path:
    """Return a study of one person with some visits, each with a static and a walk."""
    folder.mkdir()
    rows = [TRIALS]
    for visit in visits:
        for trial, role in {"static": "static", "comfortable_01": "gait"}.items():
            (folder / visit).mkdir(exist_ok=True)
            shutil.copy(DEMO / VISITS[visit] / f"{trial}.c3d", folder / visit)
            rows.append(f"KIND1\t{visit}\t{trial}\t{visit}/{trial}.c3d\t{role}\t{role}")
    texts = {"trials": "\n".join(rows) + "\n", "participants": participants, "sessions": sessions}
    for name, text in texts.items():
        if text:
            (folder / f"{name}.tsv").write_text(text)
    shutil.copy(DEMO / "study.yaml", folder)
    return folder


def assert_equal(one: Path, other: Path, *names: str) -> int:
    """Assert that all numbers and texts of results but names of files are the same; return how many moments."""
    moments = 0
    for name in names:
        first, second = (netcdf.load(folder / f"{name}.nc") for folder in (one, other))
        assert first.variables.keys() == second.variables.keys()
        for variable, values in first.variables.items():
            if str(variable).startswith("source"):
                continue  # the recording, which is elsewhere and may have another name in it
            np.testing.assert_array_equal(values.values, second.variables[variable].values, err_msg=str(variable))
        if name == "cycles":
            moments = int(np.isfinite(first["joint_moment_jcs"].values).sum())
    return moments


@pytest.fixture(scope="module")
def measured_twice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a study of two visits after its run; the later one is listed first, and participants.tsv is stale."""
    study = visits_of_demo(tmp_path_factory.mktemp("visits") / "both", VISITS, STALE, SESSIONS)
    run_steps(study, report=True)
    return study


@pytest.mark.parametrize("visit", VISITS)
def test_a_visit_gives_what_it_gives_alone(measured_twice: Path, tmp_path: Path, visit: str) -> None:
    alone = visits_of_demo(tmp_path / "alone", [visit], UNKNOWN)
    run_steps(alone, tables=False)
    results = measured_twice / "derived" / visit, alone / "derived" / visit
    assert assert_equal(*results, "calibrate", "kinematics", "kinetics", "cycles") > 1000


def test_tables_have_the_sizes_and_the_visit_of_each_row_in_the_order_of_dates(measured_twice: Path) -> None:
    assert [*open_study(measured_twice).people["KIND1"]] == ["pre", "post"]
    for table in ("metrics", "participants", "symmetry"):
        rows = rows_of((measured_twice / f"derived/{table}.csv").read_text())
        assert list(dict.fromkeys(row["session"] for row in rows)) == ["pre", "post"]
        for row in rows:
            assert float(row["mass_kg"]) == MASSES_KG[row["session"]]
            assert (row["visit"], row["assessor"]) == (row["session"], {"pre": "B", "post": "A"}[row["session"]])
    study = netcdf.load(measured_twice / "derived/study.nc")
    assert {*zip(study.visit.values, study.mass_kg.values, strict=True)} == {("pre", 61.2), ("post", 74.6)}


def test_the_header_of_the_page_has_the_sizes_of_both_visits(measured_twice: Path) -> None:
    page = (measured_twice / "derived/report/KIND1.html").read_text()
    assert re.search(r"mass 61\.2 kg \(pre\), 74\.6 kg \(post\)", page)
    assert "90" not in re.findall(r"mass (\d+)", page)
    assert page.index("2024-05-12") < page.index("2024-11-02")


def test_an_edited_row_changes_the_key_of_its_session_alone(measured_twice: Path, tmp_path: Path) -> None:
    study = Path(shutil.copytree(measured_twice, tmp_path / "copy"))
    keys = [open_study(study).content_of_key("calibrate", visit) for visit in VISITS]
    edit(study / "sessions.tsv", "assessor", "assessor\tmass_kg")
    edit(study / "sessions.tsv", "\tA\n", "\tA\t80\n")
    edit(study / "sessions.tsv", "\tB\n", "\tB\tn/a\n")
    edited = [open_study(study).content_of_key("calibrate", visit) for visit in VISITS]
    assert edited[1] == keys[1]
    assert edited[0]["arguments"]["session_row"] == {"mass_kg": "80"}
    edit(study / "participants.tsv", "90", "91")  # of which the visit with its own mass takes nothing
    again = [open_study(study).content_of_key("calibrate", visit) for visit in VISITS]
    assert (again[0] == edited[0], again[1] == edited[1]) == (True, False)


def test_check_recommends_sessions_for_a_mass_that_is_of_another_visit(tmp_path: Path) -> None:
    study = visits_of_demo(tmp_path / "both", VISITS, STALE.replace("90\t1.9", "61.2\t1.64"))
    findings = [one for one in check(study) if "mass_kg" in one.what]
    assert {one.code for one in findings} == {"mass_unlike_recordings", "sizes_differ_between_sessions"}
    assert all("sessions.tsv" in one.remedy for one in findings)
    (study / "sessions.tsv").write_text(SESSIONS)
    assert [one for one in check(study) if "mass_kg" in one.what] == []


def test_a_mass_of_sessions_is_checked_against_that_visit(tmp_path: Path) -> None:
    sessions = SESSIONS.replace("assessor", "mass_kg").replace("\tA", "\t90").replace("\tB", "\t61.2")
    study = visits_of_demo(tmp_path / "both", VISITS, UNKNOWN, sessions)
    (finding,) = [one for one in check(study) if "mass_kg" in one.what]
    assert finding.what.startswith("mass_kg is 90, but")


CHILDREN = {"post": "HC032A", "pre": "HC036A"}


def children(shared: Path, folder: Path) -> Path:
    """Return the recordings of two children as those of one, measured before and after; she gained 27.3 kg."""
    for visit, child in CHILDREN.items():
        for copy in copy_flat(shared / "labs/children" / child, folder / "KIND1" / visit):
            set_parameter(copy, "SUBJECTS", "NAMES", ["KIND1"])
    return folder


def copy_flat(source: Path, target: Path) -> list[Path]:
    """Copy the recordings of a folder, whatever folders they are in."""
    target.mkdir(parents=True)
    return [Path(shutil.copy(path, target)) for path in source.rglob("*.c3d")]


def test_init_gives_each_visit_of_a_child_its_own_mass(shared: Path, tmp_path: Path) -> None:
    study = children(shared, tmp_path / "both")
    assert "sessions.tsv" in initialise(study)
    opened = open_study(study)
    assert [*opened.people] == ["KIND1"]
    masses = {name.removeprefix("KIND1_"): row["mass_kg"] for name, row in opened.session_rows.items()}
    assert masses == {"post": "60.3", "pre": "33"}
    assert opened.participants["KIND1"]["mass_kg"] == "n/a"
    assert [one for one in check(study) if "mass_kg" in one.what] == []
    for visit, day in {"post": "2024-11-02", "pre": "2024-05-12"}.items():
        table = (study / "sessions.tsv").read_text()
        (study / "sessions.tsv").write_text(re.sub(rf"(KIND1_{visit}\t)n/a", rf"\g<1>{day}", table))
    assert [*open_study(study).sessions] == ["KIND1_pre", "KIND1_post"]
    for visit, child in CHILDREN.items():
        alone = tmp_path / "alone" / visit
        copy_flat(shared / "labs/children" / child, alone / child)
        initialise(alone)
        (person,) = open_study(alone).participants.values()
        both = opened.participants["KIND1"] | opened.session_rows[f"KIND1_{visit}"]
        sizes = [name for name in person if name.endswith(("_m", "_kg"))]
        assert {name: both[name] for name in sizes} == {name: person[name] for name in sizes}


def test_init_proposes_sizes_of_a_later_visit_in_a_table_of_its_own(tmp_path: Path) -> None:
    """The mass in participants.tsv, that of the first visit, stays, and counts for no other."""
    study = tmp_path / "KIND1"
    shutil.copytree(DEMO / "sub-02", study / "KIND1" / "pre", ignore=shutil.ignore_patterns("fast*"))
    initialise(study)
    assert not (study / "sessions.tsv").exists()
    before = (study / "participants.tsv").read_text()
    shutil.copytree(DEMO / "sub-01", study / "KIND1" / "post", ignore=shutil.ignore_patterns("fast*"))
    for path in study.rglob("*.c3d"):
        set_parameter(path, "SUBJECTS", "NAMES", ["KIND1"])
        set_parameter(path, "PROCESSING", "Height", [1640.0])  # adults 10 cm apart are not one person
    text = initialise(study)
    assert "rename new_sessions.tsv" in text
    (row,) = tsv.read_table(study / "new_sessions.tsv", required=("session", "mass_kg"))
    assert (row["participant_id"], row["mass_kg"]) == ("KIND1", "74.6")
    assert (study / "participants.tsv").read_text() == before
