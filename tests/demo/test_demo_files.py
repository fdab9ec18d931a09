"""Files of the demonstration study: body, loads and events agree with the exact answers."""

from __future__ import annotations

from pathlib import Path

import ezc3d
import numpy as np
import pytest
import xarray as xr

from pipeline.__main__ import main
from pipeline.conventions import SIDES
from pipeline.demo import study as files
from pipeline.demo.body import segment_parameters
from pipeline.demo.loads import GRAVITY
from pipeline.demo.plates import file_axes
from tests.support.checkout import DEMO

WALKERS = {walker.participant_id: walker for walker in files.PEOPLE}


@pytest.fixture(scope="module")
def exact_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo")
    files.write_demo_study(path, noise=0.0)
    return path


@pytest.fixture(scope="module")
def noisy_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo")
    files.write_demo_study(path)
    return path


def read_back(study: Path, who: str, trial: str, *, plates: bool = False) -> tuple[ezc3d.c3d, xr.Dataset]:
    """Return a file as ezc3d reads it, with or without decoded plates, and its answer."""
    file = ezc3d.c3d(str(study / who / f"{trial}.c3d"), extract_forceplat_data=plates)
    return file, xr.load_dataset(study / "truth" / f"{who}_{trial}.nc")


def test_joints_support_hanging_legs_in_the_static_trial(exact_study: Path) -> None:
    answer = xr.load_dataset(exact_study / "truth" / "sub-01_static.nc")
    weight = np.cumsum(segment_parameters(WALKERS["sub-01"]).mass, axis=1) * GRAVITY
    assert answer["joint_force"].sel(axis="y").mean("time").values == pytest.approx(weight, rel=1e-5)
    assert np.abs(answer["angular_velocity"]).max() < 1e-9


@pytest.mark.parametrize(("who", "trial"), [("sub-01", "comfortable_01"), ("sub-01", "fast_02"), ("sub-02", "fast_03")])
def test_ezc3d_decodes_the_prescribed_ground_reaction(exact_study: Path, who: str, trial: str) -> None:
    file, answer = read_back(exact_study, who, trial, plates=True)
    turn = file_axes(files.DIRECTIONS[who][int(trial[-1]) - 1])
    clean = np.flatnonzero(answer["reason"] == "")
    assert set(answer["contact_side"].values[clean]) == set(SIDES)
    for contact in clean:
        plate = file["data"]["platform"][int(answer["plates"].values[contact]) - 1]
        stance = (answer["time"] > answer["contact_start"][contact]) & (answer["time"] < answer["contact_end"][contact])
        samples = 10 * np.flatnonzero(stance)  # ten analog samples a frame
        foot = answer.sel(side=answer["contact_side"].values[contact]).isel(time=stance)
        force, under, free_moment = (
            foot[f"grf_{name}"].values @ turn.T for name in ("force", "centre_of_pressure", "free_moment")
        )
        corners = plate["corners"].T / 1e3
        moment = np.cross(under - corners.mean(axis=0), force) + free_moment
        # single precision of 1e3 N and of 1e6 N mm
        assert plate["force"].T[samples] == pytest.approx(force, abs=1e-3)
        assert plate["moment"].T[samples] / 1e3 == pytest.approx(moment, abs=1e-3)
        assert (under[:, :2] > corners[:, :2].min(axis=0)).all()
        assert (under[:, :2] < corners[:, :2].max(axis=0)).all()
    assert (file["data"]["platform"][0]["force"] == 0).all(axis=0).any(), "at rest before and after"


def test_two_feet_are_on_one_plate_in_one_trial_only(exact_study: Path) -> None:
    for path in sorted((exact_study / "truth").glob("*_*_*.nc")):
        reasons = xr.load_dataset(path)["reason"].values
        crowded = path.stem == "_".join(files.TWO_FEET_ON_ONE_PLATE)
        assert (reasons == "two feet").sum() == (2 if crowded else 0)
        assert (reasons == "").sum() == (2 if crowded else 3)


def test_events_equal_the_contacts_on_the_time_axis_of_the_file(exact_study: Path) -> None:
    late_starts = 0
    for path in sorted(exact_study.glob("sub-*/*_0?.c3d")):
        file, answer = read_back(exact_study, path.parent.name, path.stem)
        first = file["header"]["points"]["first_frame"]  # ezc3d counts from 0
        late_starts += first > 0
        assert answer["time"][0] == pytest.approx(first / 100, abs=1e-9)
        if not path.stem.startswith(files.WITH_EVENTS):
            assert "EVENT" not in file["parameters"]
            continue
        events = file["parameters"]["EVENT"]
        minutes, seconds = events["TIMES"]["value"]
        named = list(zip(events["CONTEXTS"]["value"], events["LABELS"]["value"], 60 * minutes + seconds, strict=True))
        for label, instants in (("Foot Strike", answer["contact_start"]), ("Foot Off", answer["contact_end"])):
            for side, instant in zip(answer["contact_side"].values, instants.values, strict=True):
                times = [time for context, what, time in named if (context.lower(), what) == (side, label)]
                assert np.abs(np.array(times) - instant).min() < 1e-6  # single precision of seconds
    assert late_starts


def test_markers_in_the_files_belong_to_the_body(exact_study: Path) -> None:
    who, trial = "sub-01", "comfortable_02"
    file, answer = read_back(exact_study, who, trial)
    labels, points = file["parameters"]["POINT"]["LABELS"]["value"], file["data"]["points"]
    assert not {"RMEK", "RMML", "LMEK", "LMML"} & set(labels)
    heel, toe = (points[:3, labels.index(name)].T / 1e3 @ file_axes("-X") for name in ("RHEE", "RMT2"))
    assert (heel[-1] - heel[0])[0] > 2  # walks along -X of the file, +x of the answer
    foot = answer["rotation"].sel(side="right", segment="foot").values
    local = np.einsum("tij,tj->ti", foot, toe - heel)
    assert np.ptp(local, axis=0).max() < 2e-6  # single precision of the file and of the answer


def test_equal_seeds_give_equal_bytes_and_other_seeds_other_walks(noisy_study: Path, tmp_path: Path) -> None:
    files.write_demo_study(tmp_path)
    names = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*") if path.is_file())
    assert len(names) == 4 + 2 * 14  # tables and settings; files and answers of two static and twelve walking trials
    assert all((tmp_path / name).read_bytes() == (noisy_study / name).read_bytes() for name in names)
    one, other = (files.demo_walk(WALKERS["sub-01"], "fast_01", seed=seed) for seed in (0, 1))
    assert np.abs(one.strike - other.strike).max() > 0.001


def test_soft_tissue_moves_only_the_markers_of_walks(noisy_study: Path, tmp_path: Path) -> None:
    assert main(["demo", str(tmp_path / "soft"), "--soft-tissue"]) == 0
    names = sorted(path.relative_to(noisy_study) for path in noisy_study.rglob("*.*") if path.is_file())
    both = noisy_study, tmp_path / "soft"
    changed = [name for name in names if len({(study / name).read_bytes() for study in both}) == 2]
    assert len(changed) == 12  # the walks, not the static trials, nor tables and answers
    for name in changed:
        rigid, soft = (ezc3d.c3d(str(study / name))["data"] for study in both)
        assert (rigid["analogs"] == soft["analogs"]).all()
        # the sizes of tests/demo/test_soft_tissue.py, mm
        assert 5 < np.linalg.norm(soft["points"][:3] - rigid["points"][:3], axis=0).max() < 40


def test_data_demo_contains_this_study(noisy_study: Path) -> None:
    for name in ("study.yaml", "participants.tsv", "trials.tsv"):
        assert (DEMO / name).read_text(encoding="utf-8") == (noisy_study / name).read_text(encoding="utf-8")
    for name in ("sub-01/static.c3d", "sub-02/comfortable_03.c3d"):
        here, there = (ezc3d.c3d(str(study / name))["data"] for study in (DEMO, noisy_study))
        # another processor may round the last bit of single precision: 3 m in mm, 1e6 N mm
        assert here["points"] == pytest.approx(there["points"], abs=1e-3)
        assert here["analogs"] == pytest.approx(there["analogs"], rel=1e-5, abs=1e-2)
