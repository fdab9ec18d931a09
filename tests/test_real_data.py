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

from pipeline.filters import low_pass

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
            # the origin of a Plug-in Gait bone is the distal joint centre; along its length lies the proximal one
            centres = {"ankle": f"{letter}TIO", "knee": f"{letter}FEO", "hip": f"{letter}FEP"}
            for joint, bone in centres.items():
                theirs = points[bone] @ turn.T / 1000
                away = steps["kinematics"].joint_centre.sel(side=side, joint=joint).values - theirs
                row[f"{joint} centre"] = float(np.nanmedian(np.linalg.norm(away, axis=1)))
                name = f"{letter}{joint.title()}Angles"
                angle = points[name if name in points else name + "V"][:, 0]
                ours = steps["kinematics"].joint_angle.sel(side=side, joint=joint, angle="flexion").values
                row[f"{joint} angle"] = rms((ours - angle)[np.isfinite(ours - angle)])
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
                "hip flexion": (-loads.sel(joint="hip", local_axis="z"), points[f"{letter}HipMoment"][:, 0]),
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


def compared(study: Path, body_model: str, force_cutoff_hz: float) -> pd.DataFrame:
    """Return one row per valid stance of a study, by session."""
    cutoffs = {"marker_cutoff_hz": 10, "force_cutoff_hz": force_cutoff_hz}
    sessions = run_study(study, {"body_model": body_model, "clean": cutoffs})
    return pd.DataFrame([{"session": n, **row} for n, one in sessions.items() for row in stance_rows(study, one)])


@pytest.mark.parametrize("force_cutoff_hz", [50, 10])
def test_plug_in_gait_agrees_with_its_own_results(shared: Path, force_cutoff_hz: float) -> None:
    """Joint centres, angles and moments of the walking files' own Plug-in Gait, every stance.

    One session was recorded without its option "foot flat", the others with it. Forces filtered like the markers
    (10 Hz) lose more of the loading than the files' own, so that medians of the moments touch their limits.
    """
    study = shared / "studies" / "plug_in_gait"
    flat = compared(study, "plug_in_gait_flat_foot", force_cutoff_hz)
    plain = compared(study, "plug_in_gait", force_cutoff_hz)
    level = flat.session != "sub-01_noff"
    rows = pd.concat([flat[level], plain[~level]]).drop(columns="session")
    assert len(rows) >= 15
    median, worst = rows.median(), rows.max()
    for joint in ("ankle", "knee", "hip"):
        assert worst[f"{joint} centre"] <= 0.003  # 1 mm where the marker diameter of 16 mm is not in the file
        assert worst[f"{joint} angle"] <= 2
    limits = {"ankle flexion": 0.02, "knee flexion": 0.04, "knee adduction": 0.02, "hip flexion": 0.08}
    for name, limit in limits.items():
        assert median[f"{name} rms"] <= limit, name
        assert worst[f"{name} rms"] <= 2 * limit, name
        assert median[f"{name} r"] >= 0.98, name


def test_functional_study_agrees_with_its_own_plug_in_gait(shared: Path) -> None:
    """Its moments come from unfiltered markers, and from plates whose offset was left in.

    So they are filtered here as ours are, and looked at on plate 1, whose offset is 2 N; the 20 N of plate 3 are
    0.2 N m/kg at the knee.
    """
    study = shared / "studies" / "functional"
    session = run_study(study, {"body_model": "plug_in_gait_flat_foot"})["sub-01"]
    steps = session.trials["walk"]
    for row in stance_rows(study, session):
        assert all(row[f"{joint} centre"] <= 0.003 for joint in ("ankle", "knee", "hip"))
        assert all(row[f"{joint} angle"] <= 2 for joint in ("ankle", "knee", "hip"))
    points, contacts = outputs(study / "sub-01" / "FunctionalWalk.c3d"), steps["contacts"]
    (i,) = np.flatnonzero(contacts.valid.values & (contacts.plates.values == "1"))
    loads = steps["kinetics"].joint_moment.sel(side="right") / session.calibration.attrs["body_mass_kg"]
    inside = (loads.time >= contacts.contact_start[i]) & (loads.time <= contacts.contact_end[i])
    for joint, column, axis, sign, limit in (
        ("ankle", 0, "z", -1, 0.02), ("knee", 0, "z", 1, 0.04), ("knee", 1, "x", -1, 0.03), ("hip", 0, "z", -1, 0.08)
    ):  # fmt: skip
        stored = points[f"R{joint.title()}Moment"][:, [column]] / 1000
        theirs = low_pass(stored, rate_hz=120.0, cutoff_hz=10.0, order=4)[:, 0]
        difference = (sign * loads.sel(joint=joint, local_axis=axis).values - theirs)[inside.values]
        assert rms(difference[np.isfinite(difference)]) <= limit, (joint, axis)


def test_every_stance_that_is_not_used_says_why(shared: Path) -> None:
    sessions = run_study(shared / "studies" / "plug_in_gait", {})
    reasons = [
        str(reason)
        for session in sessions.values()
        for steps in session.trials.values()
        for reason, valid in zip(steps["contacts"].reason.values, steps["contacts"].valid.values, strict=True)
        if not valid
    ]
    assert all(reasons)


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
