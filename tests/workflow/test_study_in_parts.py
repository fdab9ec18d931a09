"""The job of the study takes some sessions at a time: the outputs are those of all sessions at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pipeline.results import netcdf
from pipeline.results.typed_tables import read_results
from pipeline.steps.report.settings import Settings
from pipeline.steps.study.parts import TIMES
from pipeline.steps.study.step import columns_of, per_participant, study
from pipeline.tables.csv_files import csv_of
from pipeline.variables import schema
from pipeline.workflow.jobs import study_job
from pipeline.workflow.jobs.report_job import write_page
from tests.support.studies.rejected import rejection
from tests.support.studies.two_people import ALONE, PEOPLE, Trials, stored, trial
from tests.support.studies.typed_rows import rows_of

CYCLES: Trials = {
    "none": {"fast_1": rejection("no static trial", {}).dataset()},
    "s1": {"fast_1": trial(10, "rl", alone=True), "lost": rejection("cut off: 3 bytes", {}).dataset()},
    "s2": {"fast_1": trial(20, "rlrlr", invalid=(1,))},
    "s3": {"slow_with_a_long_name": trial(30, "", alone=True)},
    "s4": {"fast_1": trial(40, "lr", alone=True)},
}
PERSON = {"none": "p2", "s1": "p1", "s2": "p2", "s3": "p1", "s4": "p1"}
ABOUT = {
    session: {
        "participant": PEOPLE[PERSON[session]],
        "trials": {name: {"condition": name.partition("_")[0], "role": "gait"} for name in trials},
    }
    for session, trials in CYCLES.items()
}
IN_ORDER = ["none", "s2", "s1", "s3", "s4"]  # the participants as they first appear
TABLES = ("metrics", "quality", "participants", "symmetry")


def with_emg(cut: xr.Dataset, *muscles: str) -> xr.Dataset:
    values = np.ones((cut.sizes["cycle"], len(muscles), 101))
    return cut.assign(emg_envelope=(("cycle", "muscle", "phase"), values)).assign_coords(muscle=[*muscles])


def written(folder: Path, cycles: Trials) -> dict[str, Path]:
    """Write the results of sessions; return the files."""
    files = {session: folder / session / "cycles.nc" for session in cycles}
    for session, data in stored(cycles).items():
        netcdf.save(files[session], schema.describe("cycles", data))
    return files


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the files of all sessions."""
    return written(tmp_path_factory.mktemp("sessions"), CYCLES)


def gathered_in_parts(folder: Path, sessions: dict[str, Path]) -> dict[str, list[Path]]:
    """Run the job; return the outputs."""
    inputs = {"cycles": [*sessions.values()]}
    outputs = {"study": [folder / "study.nc"]}
    outputs |= {name: [folder / f"{name}.csv", folder / f"{name}.json"] for name in TABLES}
    key: dict[str, Any] = {"step": "study", "pipeline": "1", "session": None, "settings": {}}
    study_job.run(key, study, {"sessions": ABOUT, "about_reference": {}, **ALONE}, inputs, outputs)
    return outputs


@pytest.fixture(scope="module")
def at_once(sessions: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[xr.Dataset, dict[str, bytes]]:
    """Return the study of all sessions at once as a file gives it, and the bytes of its tables."""
    folder = tmp_path_factory.mktemp("at_once")
    loaded = {session: netcdf.load(sessions[session]) for session in IN_ORDER}
    dataset, metrics, quality = study(loaded, sessions=ABOUT, **ALONE)
    netcdf.save(folder / "study.nc", schema.describe("study", dataset))
    assert list(metrics.session) == ["s2"] * 5 + ["s1"] * 3 + ["s3"] + ["s4"] * 3
    assert metrics.cycle.dropna().tolist() == list(range(9))
    exact = [*TIMES, *PEOPLE["p1"]]
    tables = zip(TABLES, (metrics, quality, *per_participant(metrics)), strict=True)
    return xr.load_dataset(folder / "study.nc"), {name: csv_of(table, exact=exact) for name, table in tables}


@pytest.fixture(scope="module")
def in_one_part(sessions: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """Return the outputs of the job when all sessions fit into one part."""
    assert sum(file.stat().st_size for file in sessions.values()) < study_job.PART_BYTES
    return gathered_in_parts(tmp_path_factory.mktemp("in_one_part"), sessions)


@pytest.mark.parametrize("part_bytes", [0, 5e5])
def test_parts_of_any_size_give_the_outputs_of_all_sessions_at_once(
    sessions: dict[str, Path], tmp_path: Path, at_once: tuple[xr.Dataset, dict[str, bytes]], part_bytes: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The sessions of a participant follow each other, a session without any cycle between others leaves no gap."""
    monkeypatch.setattr(study_job, "PART_BYTES", part_bytes)
    outputs_are_those_of_all_at_once(gathered_in_parts(tmp_path, sessions), at_once)


def test_one_part_gives_the_outputs_of_all_sessions_at_once(
    in_one_part: dict[str, list[Path]], at_once: tuple[xr.Dataset, dict[str, bytes]]
) -> None:
    outputs_are_those_of_all_at_once(in_one_part, at_once)


def outputs_are_those_of_all_at_once(
    outputs: dict[str, list[Path]], at_once: tuple[xr.Dataset, dict[str, bytes]]
) -> None:
    """Assert that study.nc and the tables are the same, and that no part is left."""
    found, (whole, tables) = xr.load_dataset(outputs["study"][0]), at_once
    xr.testing.assert_equal(found, whole)  # without attributes
    assert found.joint_angle.attrs == whole.joint_angle.attrs
    assert found.attrs["title"] == "Gait cycles and stances of a study"
    assert {name: outputs[name][0].read_bytes() for name in TABLES} == tables
    assert not outputs["study"][0].with_name(study_job.PARTS).exists()


def test_parts_may_have_different_muscles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_job, "PART_BYTES", 0)
    cycles = {
        "s1": {"fast_1": with_emg(trial(10, "r"), "soleus", "multifidus")},
        "s2": {"fast_1": trial(20, "r")},
        "s4": {"fast_1": with_emg(trial(40, "r"), "rectus_femoris", "soleus")},
    }
    found = netcdf.load(gathered_in_parts(tmp_path, written(tmp_path, cycles))["study"][0])
    assert found.session.values.tolist() == ["s1", "s4", "s2"]
    assert found.muscle.values.tolist() == ["rectus_femoris", "soleus", "multifidus"]
    np.testing.assert_array_equal(found.emg_envelope.isel(phase=0), [[np.nan, 1, 1], [1, 1, np.nan], [np.nan] * 3])


def test_a_study_of_rejected_sessions_has_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_job, "PART_BYTES", 0)
    outputs = gathered_in_parts(tmp_path, written(tmp_path, dict.fromkeys(("none", "s1"), CYCLES["none"])))
    assert netcdf.load(outputs["study"][0]).sizes["cycle"] == 0
    assert outputs["metrics"][0].read_text().count("\n") == 1
    assert [row["reason"] for row in rows_of(outputs["quality"][0].read_text())] == ["no static trial"] * 2


@pytest.mark.parametrize("person", ["p1", "p2"])
def test_a_page_gets_from_its_own_sessions_what_the_study_has_of_the_person(
    in_one_part: dict[str, list[Path]], sessions: dict[str, Path], tmp_path: Path, person: str
) -> None:
    outputs = in_one_part
    mine = [name for name in IN_ORDER if PERSON[name] == person]
    columns = {name: {s: cells[s] for s in mine} for name, cells in columns_of(ABOUT).items()}
    arguments: dict[str, Any] = {
        "study": {"reference": None, "gdi_features": None},
        "about_reference": {},
        "emg_pairs": [],
        "sessions": {name: ABOUT[name] for name in mine},
        "columns": columns,
        "participant": person,
        "recorded": {},
        "conditions": [],
        "visits": [],
        "texts": {},
        "settings": Settings(title="", moment_signs="stored", axes="fixed", laboratory=None, logo=None),
    }
    inputs = {"cycles": [sessions[name] for name in mine], "clean": []}
    passed: list[Any] = []

    def page(*positional: Any, **_: Any) -> str:
        passed.extend(positional)
        return ""

    key: dict[str, Any] = {"step": "page", "pipeline": "1", "session": None, "settings": {}}
    write_page(key, page, arguments, inputs, {"page": [tmp_path / "page.html"]})
    of_person, whole = passed[0].study, netcdf.load(outputs["study"][0])
    for row, name in (("cycle", "participant"), ("stance", "participant_of_stance")):
        whole = whole.isel({row: whole[name].values == person})
    numbered = ["cycle", "stance", "cycle_of_stance"]
    xr.testing.assert_equal(of_person.drop_vars(numbered), whole.drop_vars(numbered))
    for rows, name in zip(passed[0][1:], ("metrics", "quality", "symmetry"), strict=True):
        every = read_results(name, outputs[name][0].read_text())
        both = (rows, every[every["participant"] == person].reset_index(drop=True))
        found, expected = (table.drop(columns="cycle", errors="ignore") for table in both)
        pd.testing.assert_frame_equal(found, expected)
