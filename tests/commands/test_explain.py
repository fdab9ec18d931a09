"""``explain``: frame numbers, repairs, plates and sources agree with the recording, read by ezc3d."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path

import ezc3d
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pipeline.__main__ import main
from pipeline.commands.explain.command import WIDTH, explain
from pipeline.errors import UserError
from pipeline.results import netcdf
from pipeline.results.session_file import load_trial
from pipeline.workflow.digests import sha256
from tests.support.studies.corrected import correct
from tests.support.studies.small_study import write_outputs

WALK = "sub-01/comfortable_02.c3d"
HEEL = (205, 209)  # frame numbers of the file
PELVIS = (230, 234)
EARLIER = (120, 124)
FIRST, LAST = 61, 310
WHOLE_PELVIS = ("RASI", "LASI", "RPSI", "LPSI")


def prepare(study: Path) -> None:
    """Hide markers, call the body mass an estimate, leave a cycle out."""
    path = study / WALK
    recording = ezc3d.c3d(str(path))
    labels = recording["parameters"]["POINT"]["LABELS"]["value"]
    hidden = [("RHEE", HEEL), ("RHEE", EARLIER), *((label, PELVIS) for label in WHOLE_PELVIS)]
    for label, (first, last) in hidden:
        frames = slice(first - FIRST, last - FIRST + 1)
        recording["data"]["points"][:3, labels.index(label), frames] = np.nan
        recording["data"]["meta_points"]["residuals"][0, labels.index(label), frames] = -1
    recording.write(str(path))
    header, *rows = (study / "participants.tsv").read_text().splitlines()
    rows = [f"{header}\tmass_source", *(f"{row}\testimate: plates" for row in rows)]
    (study / "participants.tsv").write_text("\n".join(rows) + "\n")
    where = {"session": "sub-01", "trial": "fast_02", "side": "right", "time_s": "1.285"}
    correct(study, "leave_out_cycle", **where, reason="looked round")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_outputs(tmp_path_factory.mktemp("house"), walk=r"\w+_02", change=prepare)


@pytest.fixture
def copy(study: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(study, tmp_path / "study"))


def test_a_study_of_an_earlier_version_is_refused(copy: Path) -> None:
    file = copy / "derived/study.nc"
    netcdf.save(file, netcdf.load(file).drop_vars(["doubt", "doubt_code"]))
    with pytest.raises(UserError, match="of an earlier version, run the workflow again"):
        explain(copy, cycle=0)


@pytest.fixture(scope="module")
def results(study: Path) -> xr.Dataset:
    return xr.load_dataset(study / "derived/study.nc")


def number_of(results: xr.Dataset, trial: str, side: str, place: int) -> int:
    """Return the number of a trial's first, second, ... cycle of a side."""
    mine = (results.trial.values == trial) & (results.side.values == side)
    return int(results.cycle.values[mine][place])


@pytest.fixture(scope="module")
def text(study: Path, results: xr.Dataset) -> str:
    """Return the explanation of the cycle with the hidden markers."""
    return explain(study / "derived/study.nc", cycle=number_of(results, "comfortable_02", "left", 1))


def rows_of(text: str, first_column: str) -> list[list[str]]:
    """Return the cells of the lines that begin with a text."""
    lines = (line.strip() for line in text.splitlines())
    return [re.split(r"\s{2,}", line) for line in lines if line.startswith(first_column)]


# --- content -----------------------------------------------------------------------------------------------------


def test_frames_are_those_of_the_recording(study: Path, text: str) -> None:
    header = ezc3d.c3d(str(study / WALK))["header"]["points"]
    assert (header["first_frame"] + 1, header["last_frame"] + 1) == (FIRST, LAST)  # ezc3d counts from 0
    assert f"frames {FIRST} to {LAST} at 100 Hz, plates at 1000 Hz" in text


def test_events_from_the_file_are_those_of_the_recording(study: Path, text: str, results: xr.Dataset) -> None:
    """Frame 1 is at 0 s: an event of the file at t is at frame 1 + 100 t."""
    events = ezc3d.c3d(str(study / WALK))["parameters"]["EVENT"]
    listed = zip(events["CONTEXTS"]["value"], events["LABELS"]["value"], events["TIMES"]["value"][1], strict=True)
    in_file = {(label.lower(), side.lower(), f"{time:.4f}", f"{1 + 100 * time:.1f}") for side, label, time in listed}
    rows = [*rows_of(text, "foot strike"), *rows_of(text, "foot off")]
    from_file = {tuple(row[:4]) for row in rows if row[4] == "c3d"}
    assert from_file
    assert from_file <= in_file
    assert {row[4] for row in rows} == {"c3d", "plate"}
    cycle = results.isel(cycle=number_of(results, "comfortable_02", "left", 1))
    own = [float(row[2]) for row in rows if row[:2] == ["foot strike", "left"]]
    # four digits of a second are printed
    np.testing.assert_allclose(own, [cycle.start_time, cycle.end_time], rtol=0, atol=0.5e-4)


def test_repairs_are_those_of_the_frames_that_were_hidden_in_this_cycle(text: str) -> None:
    """A heel is rebuilt from its foot, a fully hidden pelvis by splines; repairs before the cycle are not listed."""
    (heel,) = rows_of(text, "heel_right")
    assert heel == ["heel_right", "RHEE", "rigid cluster", f"{HEEL[0]}-{HEEL[1]}"]
    for landmark in ("asis_left", "asis_right", "psis_left", "psis_right"):
        (row,) = rows_of(text, landmark)
        assert row[2:] == ["spline", f"{PELVIS[0]}-{PELVIS[1]}"]
    assert "no gap filled" not in text
    assert f"{EARLIER[0]}-{EARLIER[1]}" not in text


def test_another_cycle_lists_its_own_frames(study: Path, results: xr.Dataset) -> None:
    number = number_of(results, "comfortable_02", "left", 0)
    (heel,) = rows_of(explain(study / "derived/study.nc", cycle=number), "heel_right")
    assert heel[-1] == f"{EARLIER[0]}-{EARLIER[1]}"
    clean = number_of(results, "fast_02", "left", 0)
    assert "no gap filled, no spike removed" in explain(study, cycle=clean)


def test_sources_are_listed_with_their_state(copy: Path, text: str, results: xr.Dataset) -> None:
    number = number_of(results, "comfortable_02", "left", 1)
    for name in (WALK, "sub-01/static.c3d"):
        assert f"{name}: the file is unchanged" in text
        assert hashlib.sha256((copy / name).read_bytes()).hexdigest() in text
    (copy / WALK).write_bytes((copy / WALK).read_bytes()[:-1] + b"x")
    assert f"{WALK}: the file has CHANGED" in explain(copy, cycle=number)
    (copy / "sub-01/static.c3d").unlink()
    assert "sub-01/static.c3d: the file is gone" in explain(copy, cycle=number)


def test_contact_and_its_force_are_those_of_the_trial(study: Path, text: str, results: xr.Dataset) -> None:
    cycle = results.isel(cycle=number_of(results, "comfortable_02", "left", 1))
    data = load_trial(study / "derived/sub-01/contacts.nc", "comfortable_02")
    (i,) = np.flatnonzero(np.isclose(data.contact_start, cycle.start_time) & (data.contact_side.values == "left"))
    assert f"on plate {data.plates.values[i]}\n" in text
    assert "force accepted" in text
    stance = data.ground_force.sel(time=slice(data.contact_start[i], data.contact_end[i]), side="left", axis="y")
    peak_n = float(stance.max())
    assert f"vertical force up to {peak_n:.1f} N, {peak_n / (74.6 * 9.80665):.3f} body weights" in text


def test_person_and_model_are_listed_with_their_sources(text: str) -> None:
    assert rows_of(text, "mass_kg") == [["mass_kg", "74.6", "participants.tsv, estimate: plates"]]
    assert rows_of(text, "marker_diameter_m") == [["marker_diameter_m", "0.014", "default"]]
    assert "hip centre: harrington; joins both segments of the linked legs" in text
    assert "knee centre: midpoint: lateral_epicondyle, medial_epicondyle; joins both segments" in text
    assert "body-segment parameters: segments.tsv" in text


def test_reasons_are_given(study: Path, results: xr.Dataset) -> None:
    number = number_of(results, "fast_02", "right", 0)
    text = explain(study, cycle=number)
    assert "kinetics left out: left out by hand: looked round" in text
    assert "verdict on the stance: refused: left out by hand: looked round" in text
    assert "knee axis in the trial: adduction moves by" in " ".join(text.split())


def test_a_correction_is_in_quality_and_in_the_attributes_of_what_it_changed(study: Path) -> None:
    quality = pd.read_csv(study / "derived/quality.csv", keep_default_na=False)
    (row,) = quality[quality.corrected_by_hand != ""].to_dict("records")
    assert (row["trial"], row["side"]) == ("fast_02", "right")
    assert float(row["start_s"]) == pytest.approx(1.285, abs=0.05)
    assert row["corrected_by_hand"] == "right cycle at 1.285 s left out: looked round"
    names = ("study", "sub-01/cycles", "sub-01/clean")
    stored = {name: netcdf.attributes(study / f"derived/{name}.nc") for name in names}
    assert "corrections" not in stored["sub-01/clean"]
    for name in ("study", "sub-01/cycles"):
        (kept,) = json.loads(stored[name]["corrections"])
        assert (kept["reason"], kept["sha256"]) == ("looked round", sha256(study / "sub-01/fast_02.c3d"))


def test_every_cycle_is_explained_within_the_width(study: Path, results: xr.Dataset) -> None:
    for number in results.cycle.values:
        text = explain(study, cycle=int(number))
        assert all(len(line) <= WIDTH for line in text.splitlines()[1:])  # the first holds the path
        titles = [line for line in text.splitlines()[1:] if line and not line.startswith(" ")]
        corrected = "right cycle at 1.285 s left out: looked round" in text
        assert corrected == (results.sel(cycle=number).trial.item() == "fast_02")
        assert len(titles) == 9 + corrected


def test_cycles_are_listed_without_a_number(study: Path, results: xr.Dataset) -> None:
    rows = rows_of(explain(study, cycle=None), "")[3:]
    assert [int(row[0]) for row in rows] == results.cycle.values.tolist()
    assert [row[2] for row in rows] == results.trial.values.tolist()


def test_a_stance_is_explained_like_its_cycle(study: Path, results: xr.Dataset) -> None:
    number = int(np.flatnonzero(results.cycle_of_stance.values >= 0)[0])
    cycle = int(results.cycle_of_stance[number])
    stance, whole = (explain(study, **{part: i}) for part, i in (("stance", number), ("cycle", cycle)))
    assert f"Stance {number} of" in stance.splitlines()[0]
    of_contact = [text.split("Ground contact")[1].split("Markers")[0] for text in (stance, whole)]
    assert of_contact[0] == of_contact[1]
    assert f"{float(results.end_time_of_stance[number]):.4f} s in the file's time" in stance
    with pytest.raises(UserError, match="no stance 99; give 0 to"):
        explain(study, stance=99)


def test_stances_without_a_cycle_are_listed(copy: Path) -> None:
    results = netcdf.load(copy / "derived/study.nc")
    assert "--stance N" not in explain(copy)
    results["cycle_of_stance"][1] = -1
    netcdf.save(copy / "derived/study.nc", results)
    listed = explain(copy).split("stances without a whole cycle; --stance N explains one")[1]
    assert [row[:2] for row in rows_of(listed, "")[2:]] == [["stance", "session"], ["1", "sub-01"]]


# --- mistakes ---------------------------------------------------------------------------------------------------------


def wrong(copy: Path, capsys: pytest.CaptureFixture[str], *, file: str = "derived/study.nc", cycle: str = "0") -> str:
    assert main(["explain", str(copy / file), "--cycle", cycle]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_mistakes_give_one_line(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no cycle 99; give 0 to 5" in wrong(copy, capsys, cycle="99")
    assert "no cycle -1" in wrong(copy, capsys, cycle="-1")
    assert "not a NetCDF file" in wrong(copy, capsys, file="derived/metrics.csv")
    assert "no such file" in wrong(copy, capsys, file="derived/nothing.nc")
    assert "not a study.nc" in wrong(copy, capsys, file="derived/sub-01/calibrate.nc")
    shutil.move(copy / "derived/study.nc", copy / "study.nc")
    assert "sub-01/read.nc: no such file, which must be in the folder of study.nc" in wrong(
        copy, capsys, file="study.nc"
    )


def test_files_of_another_run_are_refused(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their frames would not be those of the curve."""
    path = copy / "derived/sub-01/clean.nc"
    session = netcdf.load(path)
    session["source_sha256"] = "trial", np.where(session.trial == "comfortable_02", 64 * "0", session.source_sha256)
    netcdf.save(path, session)
    assert "clean.nc: made from other recordings than study.nc; run the workflow again" in wrong(copy, capsys)
