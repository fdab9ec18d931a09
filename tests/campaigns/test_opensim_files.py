"""TRC and MOT files of real recordings against C3D files of the same, and files of our own read back."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from pipeline.commands.opensim.command import export_opensim
from pipeline.results.trials import load_trial
from tests.support.outputs import write_outputs
from tests.support.studies import Session, run_study

TABLE = """participant_id\ttrial\tfile\tforces\trole\tcondition
sub-01\tstatic\tsubject01_static.trc\tn/a\tstatic\tstatic
sub-01\twalk1\tsubject01_walk1.trc\tsubject01_walk1_grf.mot\tgait\twalk
"""
WALK = "comfortable_01"
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


def test_gait2354_is_that_of_its_c3d_files(shared: Path, gait2354: Session) -> None:
    """The MOT file rounds its times to 0.1 ms: 1.5 N at 30 kN/s, or 0.15 N m at an arm of 0.1 m."""
    known = run_study(shared / "studies" / "gait2354", {})["sub-01"].trials["walk1"]
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


def test_files_exported_for_opensim_are_read_back(tmp_path: Path) -> None:
    """The export holds each foot's load of valid stances alone: cut at their ends, at the threshold of 20 N or below.

    At an arm of 0.2 m these are 4 N m, which the filter spreads over the frames nearby.
    """
    study = write_outputs(tmp_path / "house")
    export_opensim(study)
    folder = study / "derived" / "opensim" / "sub-01"
    for name in ("participants.tsv", "study.yaml"):
        shutil.copy(study / name, folder)
    rows = ("static\tscale.trc\tn/a\tstatic", f"{WALK}\t{WALK}.trc\t{WALK}_grf.mot\tgait")
    table = "".join(f"sub-01\t{row}\twalk\n" for row in rows)
    (folder / "trials.tsv").write_text(TABLE.splitlines(keepends=True)[0] + table)
    back = run_study(folder, {})["sub-01"].trials[WALK]
    for step, name, most in (("kinematics", "joint_angle", 0.01), ("kinetics", "joint_moment_jcs", 4.0)):
        known = load_trial(study / "derived" / "sub-01" / f"{step}.nc", WALK)[name].values
        found = back[step][name].values
        both = np.isfinite(known) & np.isfinite(found)
        assert both.sum() > 0.9 * np.isfinite(known).sum()
        assert np.abs(found - known)[both].max() < most, name
        assert np.median(np.abs(found - known)[both]) < most / 20, name
