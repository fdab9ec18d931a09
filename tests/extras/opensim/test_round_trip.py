"""TRC and MOT files of real recordings against C3D files of the same, and files of our own read back."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.extras.opensim.round_trip import prepared, round_trip
from tests.support.checkout import keep_rows
from tests.support.studies.run_steps import ResultsOf, Session, run_study

TABLE = """participant_id\ttrial\tfile\tforces\trole\tcondition
sub-01\tstatic\tsubject01_static.trc\tn/a\tstatic\tstatic
sub-01\twalk1\tsubject01_walk1.trc\tsubject01_walk1_grf.mot\tgait\twalk
"""
END_S = 2.35  # the C3D file repeats the last force sample beyond 2.5 s, which its filter carries back


@pytest.fixture
def gait2354(shared: Path, tmp_path: Path) -> Session:
    """Return the results of OpenSim's example by its own files."""
    for name in ("subject01_static.trc", "subject01_walk1.trc", "subject01_walk1_grf.mot"):
        shutil.copy(shared / "data" / "opensim_gait2354_ID" / name, tmp_path)
    for name in ("participants.tsv", "study.yaml"):
        shutil.copy(shared / "studies" / "gait2354" / name, tmp_path)
    (tmp_path / "trials.tsv").write_text(TABLE)
    return run_study(tmp_path, {})["sub-01"]


def test_gait2354_is_that_of_its_c3d_files(shared: Path, results_of: ResultsOf, gait2354: Session) -> None:
    """The MOT file rounds its times to 0.1 ms: 1.5 N at 30 kN/s, or 0.15 N m at an arm of 0.1 m."""
    known = results_of(shared / "studies" / "gait2354")["sub-01"].trials["walk1"]
    found = gait2354.trials["walk1"]
    np.testing.assert_allclose(
        found["kinematics"].joint_angle.values, known["kinematics"].joint_angle.values, atol=1e-4
    )
    for name, most in (("joint_moment_jcs", 0.2), ("joint_power", 0.4)):
        ours, theirs = (steps["kinetics"][name].sel(time=slice(None, END_S)).values for steps in (found, known))
        assert np.isfinite(theirs).sum() > 500
        np.testing.assert_allclose(ours, theirs, atol=most, err_msg=name)
    for name in ("contact_side", "plates", "valid", "reason"):
        assert found["contacts"][name].values.tolist() == known["contacts"][name].values.tolist()


def test_exported_files_give_the_results_of_the_c3d_files(tmp_path: Path) -> None:
    """They hold 1e-5 mm and 9 digits of each foot's loads.

    In the last frame of a load the C3D file may have none any more: then it is noise, 5 N at an arm of 0.2 m.
    """
    study = prepared("demo", tmp_path / "study")
    keep_rows(study, re.compile("sub-01\t(static|fast_03|comfortable_01)\t").match)
    trips = [*round_trip(study, tmp_path / "back")]
    assert [(trip.valid, trip.back) for trip in trips] == [(3, 3), (3, 3)]
    assert max(trip.angle for trip in trips) < 1e-4
    assert max(trip.moment for trip in trips) < 1


def test_repaired_markers_are_exported_as_they_were_before_the_filter(shared: Path, tmp_path: Path) -> None:
    """In this study spikes were taken out; filtered twice they gave 0.2 degrees."""
    assert shared
    (trip,) = round_trip(prepared("functional", tmp_path / "study"), tmp_path / "back")
    assert trip.angle < 1e-4
    assert trip.moment < 2.5
