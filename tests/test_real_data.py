"""The whole path on real and exactly known recordings, in process, against the answers they come with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from studies import Session, run_study

SIDES = {"left": "L", "right": "R"}


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(a, b)[0, 1])


def rms(difference: np.ndarray) -> float:
    return float(np.sqrt(np.mean(difference**2)))


# --- an exact answer -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def exact(shared: Path) -> dict[str, Session]:
    return run_study(shared / "studies" / "exact", {"clean": {"marker_cutoff_hz": None, "force_cutoff_hz": None}})


def test_noise_free_markers_give_the_exact_answer(exact: Mapping[str, Session], shared: Path) -> None:
    """Motion and joint loads of an independent rigid-body library; what is left is the file's 32-bit rounding.

    Rounding of 0.1 micrometres at 250 Hz is up to 0.06 m/s2 of an acceleration, hence newtons and newton metres.
    """
    inner = slice(10, -10)  # a spline's ends are free
    for name, session in exact.items():
        for trial, steps in session.trials.items():
            truth = xr.load_dataset(shared / "studies" / "exact-truth" / f"{name}_{trial}.nc")
            like = {"joint": truth.joint, "side": truth.side}
            centre = steps["kinematics"].joint_centre.sel(like).values - truth.joint_centre.values
            offset = centre.mean(axis=(0, 1, 2))  # the lab origin of the truth is free
            assert np.abs(centre - offset)[inner].max() < 2e-5
            rotation = steps["kinematics"].rotation.sel(segment=truth.segment, side=truth.side).values
            assert np.abs(rotation - truth.rotation.values)[inner].max() < 1e-5
            force = steps["kinetics"].joint_force.sel(like).values - truth.joint_force.values
            assert np.isnan(force).mean() <= 0.02
            assert np.nanmax(np.abs(force[inner])) < 0.5
            in_lab = np.einsum("tsjla,tsjl->tsja", rotation, steps["kinetics"].joint_moment.sel(like).values)
            moment = np.abs(in_lab - truth.joint_moment_lab.values)[inner]
            assert np.nanmax(moment[:, :, 0]) < 0.01
            assert np.nanmax(moment[:, :, 1]) < 0.08
            assert np.nanmax(moment[:, :, 2]) < 0.2


def test_terms_are_the_moment(exact: Mapping[str, Session]) -> None:
    for session in exact.values():
        for steps in session.trials.values():
            kinetics = steps["kinetics"]
            difference = kinetics.joint_moment_term.sum("term", skipna=False) - kinetics.joint_moment
            assert float(np.abs(difference).max()) < 1e-10


# --- OpenSim's inverse dynamics --------------------------------------------------------------------------------


def read_sto(path: Path) -> pd.DataFrame:
    lines = path.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip() == "endheader") + 1
    return pd.read_csv(path, sep=r"\s+", skiprows=start)


def test_gait2354_agrees_with_opensim(shared: Path) -> None:
    """OpenSim's own inverse dynamics of the same recording; its joints are fitted and have fewer freedoms."""
    study = shared / "studies" / "gait2354"
    settings = {"clean": {"marker_cutoff_hz": 6, "force_cutoff_hz": 50}}
    moments = run_study(study, settings)["sub-01"].trials["walk1"]["kinetics"].joint_moment_jcs
    reference = read_sto(study / "reference" / "opensim_inverse_dynamics.sto")
    moments = moments.sel(angle="flexion", time=slice(0.4, 1.6))
    limits = {
        ("right", "ankle"): (0.997, 0.065),
        ("left", "ankle"): (0.995, 0.09),
        ("right", "knee"): (0.99, 0.095),
        ("left", "knee"): (0.85, 0.24),
    }
    for (side, joint), (least_r, most_rms) in limits.items():
        column = reference[f"{joint}_angle_{side[0]}_moment"] * (1 if joint == "ankle" else -1)
        theirs = np.interp(moments.time, reference["time"], column) / 72.6
        ours = moments.sel(side=side, joint=joint).values / 72.6
        assert correlation(ours, theirs) >= least_r, (side, joint)
        assert rms(ours - theirs) <= most_rms, (side, joint)


# --- Plug-in Gait's own results --------------------------------------------------------------------------------


def outputs(path: Path) -> dict[str, np.ndarray]:
    """Return every point of a C3D file (time, 3) by label, model outputs included."""
    content = ezc3d.c3d(str(path))
    point = content["parameters"]["POINT"]
    labels = [label for name in ("LABELS", "LABELS2") if name in point for label in point[name]["value"]]
    return dict(zip(labels, np.moveaxis(content["data"]["points"][:3], 0, 2), strict=True))


def stance_rows(study: Path, session: Session) -> list[dict[str, float]]:
    """Compare each valid stance of a session with what Plug-in Gait stored in the walking file."""
    mass, rows = session.calibration.attrs["body_mass_kg"], []
    for steps in session.trials.values():
        points = outputs(study / steps["read"].attrs["source"])
        turn = np.reshape(steps["read"].attrs["lab_rotation"], (3, 3))
        for side, letter in SIDES.items():
            row: dict[str, float] = {}
            for joint, bone in (("ankle", "TIO"), ("knee", "FEO")):
                theirs = points[letter + bone] @ turn.T / 1000
                away = steps["kinematics"].joint_centre.sel(side=side, joint=joint).values - theirs
                row[f"{joint} centre"] = float(np.nanmedian(np.linalg.norm(away, axis=1)))
                name = f"{letter}{joint.title()}Angles"
                angle = points[name if name in points else name + "V"][:, 0]
                ours = steps["kinematics"].joint_angle.sel(side=side, joint=joint, angle="flexion").values
                row[f"{joint} angle"] = float(np.nanstd(ours - angle))
            # theirs: distal segment axes; extensors and the internal abductor positive
            loads = steps["kinetics"].joint_moment.sel(side=side) / mass
            sign = 1 if side == "right" else -1
            pairs = {
                "ankle flexion": (-loads.sel(joint="ankle", local_axis="z"), points[f"{letter}AnkleMoment"][:, 0]),
                "knee flexion": (loads.sel(joint="knee", local_axis="z"), points[f"{letter}KneeMoment"][:, 0]),
                "knee adduction": (
                    -sign * loads.sel(joint="knee", local_axis="x"),
                    points[f"{letter}KneeMoment"][:, 1],
                ),
            }
            contacts = steps["contacts"]
            for i in np.flatnonzero((contacts.contact_side.values == side) & contacts.valid.values):
                inside = (loads.time >= contacts.contact_start[i]) & (loads.time <= contacts.contact_end[i])
                result = dict(row)
                for name, (ours, theirs) in pairs.items():
                    a, b = ours.values[inside], theirs[inside.values] / 1000
                    known = np.isfinite(a) & np.isfinite(b)
                    result[f"{name} r"] = correlation(a[known], b[known])
                    result[f"{name} rms"] = rms((a - b)[known])
                rows.append(result)
    return rows


def test_plug_in_gait_agrees_with_its_own_results(shared: Path) -> None:
    study = shared / "studies" / "plug_in_gait"
    sessions = run_study(study, {"clean": {"marker_cutoff_hz": 10, "force_cutoff_hz": 50}})
    rows = pd.DataFrame([row for session in sessions.values() for row in stance_rows(study, session)])
    assert len(rows) >= 10
    median = rows.median()
    assert median["ankle centre"] < 0.006
    assert median["knee centre"] < 0.006
    assert median["ankle angle"] <= 3
    assert median["knee angle"] <= 3
    assert median["ankle flexion r"] >= 0.99
    assert median["ankle flexion rms"] <= 0.04
    assert median["knee flexion r"] >= 0.97
    assert median["knee flexion rms"] <= 0.06
    assert median["knee adduction rms"] <= 0.04
    reasons = [
        str(reason)
        for session in sessions.values()
        for steps in session.trials.values()
        for reason, valid in zip(steps["contacts"].reason.values, steps["contacts"].valid.values, strict=True)
        if not valid
    ]
    assert all(reasons), "every stance that is not used says why"


@pytest.mark.parametrize("study", ["exact", "gait2354", "plug_in_gait", "functional"])
def test_every_study_has_usable_stances_and_plausible_peaks(shared: Path, study: str) -> None:
    """Plantarflexor peaks of walking lie between 0.8 and 2 N m/kg (Schwartz et al. 2008, mean 1.23 +- 0.24)."""
    settings: dict[str, Any] = {}
    for session in run_study(shared / "studies" / study, settings).values():
        for steps in session.trials.values():
            cycles = steps["cycles"]
            peaks = cycles.peak_ankle_plantarflexor_moment.values[cycles.kinetics_valid.values]
            assert steps["contacts"].valid.any()
            assert ((peaks > 0.8) & (peaks < 2)).all()
