"""Stored results of recordings (joint centres, angles, moments) and their comparison with a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import ezc3d
import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from pipeline.signals.filters import low_pass

Array = NDArray[np.float64]
Key = tuple[str, str]

SIDES = {"left": "L", "right": "R"}
JOINTS = ("ankle", "knee", "hip")
# compared moments: joint, axis of the distal segment, joint coordinate axis
MOMENTS = {
    "ankle flexion": ("ankle", "z", "flexion"),
    "knee flexion": ("knee", "z", "flexion"),
    "knee adduction": ("knee", "x", "adduction"),
    "hip flexion": ("hip", "z", "flexion"),
}
OPENSIM_MASS_KG = 72.6
LEAST_SHARED_FRAMES = 10


@dataclass
class Reference:
    """Reference results of one trial, at the run's instants and in its axes; unknown ones are left out or NaN.

    Attributes:
        name: source of the results.
        centre: (time, 3) by side and joint, m.
        angle: flexion (time,) by side and joint, degrees.
        moment: (time,) by side and name of :data:`MOMENTS`, N m/kg, on the distal segment.
        power: (time,) by side and joint, W/kg.
        along_joint_axes: true if moments are along the joint axes instead of those of the distal segment.
        floating_origin: true if the lab origin of the centres is unknown.
    """

    name: str
    centre: dict[Key, Array] = field(default_factory=dict)
    angle: dict[Key, Array] = field(default_factory=dict)
    moment: dict[Key, Array] = field(default_factory=dict)
    power: dict[Key, Array] = field(default_factory=dict)
    along_joint_axes: bool = False
    floating_origin: bool = False


def correlation(a: Array, b: Array) -> float:
    return float(np.corrcoef(a, b)[0, 1])


def rms(difference: Array) -> float:
    return float(np.sqrt(np.mean(difference**2)))


def outputs(path: Path) -> dict[str, Array]:
    """Return every point of a C3D file (time, 3) by label, including model outputs."""
    content = ezc3d.c3d(str(path))
    point = content["parameters"]["POINT"]
    labels = [label for name in ("LABELS", "LABELS2") if name in point for label in point[name]["value"]]
    return dict(zip(labels, np.moveaxis(content["data"]["points"][:3], 0, 2), strict=False))


def reference_of(path: Path, shared: Path, steps: Mapping[str, xr.Dataset], *, mass_kg: float) -> Reference | None:
    """Return the reference results of a recording of the shared folder, or None.

    Args:
        path: the C3D file of the run, a copy with its original name.
        shared: the folder of the recordings.
        steps: datasets of the run.
        mass_kg: body mass of the run.
    """
    points = outputs(path)
    truth = shared / "studies" / "exact-truth" / f"{path.parent.name}_{path.stem}.nc"
    if "RAnkleMoment" in points:
        return plug_in_gait(points, steps)
    if "RHJC" in points:
        return stored_centres(points, steps)
    if truth.exists():
        return exact(truth, mass_kg=mass_kg)
    if path.name == "walk1.c3d":
        return opensim(shared, steps)
    return None


def plug_in_gait(points: Mapping[str, Array], steps: Mapping[str, xr.Dataset]) -> Reference:
    """Return the Plug-in Gait results of a file; its moments are internal, N mm per kg, distal axes."""
    found = Reference("Plug-in Gait")
    for side, letter in SIDES.items():
        # the origin of a Plug-in Gait bone is the distal joint centre
        for joint, bone in (("ankle", "TIO"), ("knee", "FEO"), ("hip", "FEP")):
            found.centre[side, joint] = _in_lab(points[letter + bone], steps)
            name = f"{letter}{joint.title()}Angles"
            found.angle[side, joint] = points[name if name in points else name + "V"][:, 0]
            if (name := f"{letter}{joint.title()}Power") in points:
                known = (points[f"{letter}{joint.title()}Moment"] != 0).any(axis=1)
                found.power[side, joint] = np.where(known, points[name].sum(axis=1), np.nan)
        # extensors and the internal abductor positive
        for moment, column, sign in (
            ("ankle flexion", 0, -1), ("knee flexion", 0, 1), ("hip flexion", 0, -1),
            ("knee adduction", 1, -1 if side == "right" else 1),
        ):  # fmt: skip
            joint = moment.split()[0]
            found.moment[side, moment] = sign * points[f"{letter}{joint.title()}Moment"][:, column] / 1000
    return found


def stored_centres(points: Mapping[str, Array], steps: Mapping[str, xr.Dataset]) -> Reference:
    """Return joint centres stored in the file as points."""
    labels = {(s, j): f"{letter}{j[0].upper()}JC" for s, letter in SIDES.items() for j in JOINTS}
    return Reference("centres in the file", centre={key: _in_lab(points[name], steps) for key, name in labels.items()})


def _in_lab(point: Array, steps: Mapping[str, xr.Dataset]) -> Array:
    turn = steps["read"].lab_rotation.values
    seen = np.where((point == 0).all(axis=1, keepdims=True), np.nan, point)
    return np.asarray(seen @ turn.T / 1000)


def exact(path: Path, *, mass_kg: float) -> Reference:
    """Return the known answer of a noise-free walk."""
    truth, found = xr.load_dataset(path), Reference("known answer", floating_origin=True)
    distal = truth.rotation.sel(segment=["foot", "shank", "thigh"]).rename(segment="joint")
    in_segment = xr.dot(distal.assign_coords(joint=list(JOINTS)), truth.joint_moment_lab, dim="axis") / mass_kg
    for side in SIDES:
        for joint in JOINTS:
            found.centre[side, joint] = truth.joint_centre.sel(side=side, joint=joint).values
        for name, (joint, axis, _) in MOMENTS.items():
            found.moment[side, name] = in_segment.sel(side=side, joint=joint, local_axis=axis).values
    return found


def opensim(shared: Path, steps: Mapping[str, xr.Dataset]) -> Reference:
    """Return OpenSim's inverse kinematics and dynamics of gait2354; its knee flexion is negative."""
    time, found = steps["kinematics"].time.values, Reference("OpenSim", along_joint_axes=True)
    moments = read_sto(shared / "studies" / "gait2354" / "reference" / "opensim_inverse_dynamics.sto")
    angles = read_sto(shared / "data" / "opensim_gait2354_ID" / "ik_full.mot")

    def at(table: pd.DataFrame, name: str) -> Array:
        return np.asarray(np.interp(time, table["time"], table[name], left=np.nan, right=np.nan))

    for side in SIDES:
        for joint, name, sign in (("ankle", "ankle_angle", 1), ("knee", "knee_angle", -1), ("hip", "hip_flexion", 1)):
            found.angle[side, joint] = sign * at(angles, f"{name}_{side[0]}")
            found.moment[side, f"{joint} flexion"] = sign * at(moments, f"{name}_{side[0]}_moment") / OPENSIM_MASS_KG
    return found


def read_sto(path: Path) -> pd.DataFrame:
    """Return an OpenSim table (.sto, .mot)."""
    lines = path.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip() == "endheader") + 1
    return pd.read_csv(path, sep=r"\s+", skiprows=start)


def compared(
    reference: Reference, steps: Mapping[str, xr.Dataset], *, mass_kg: float, cutoff_hz: float | None = None
) -> list[dict[str, float | str]]:
    """Return one row per valid stance with the differences; NaN without a reference.

    Centres (median distance, m) and angles (RMS, degrees) are over the whole trial, moments (RMS, N m/kg, and
    correlation) and powers (RMS, W/kg) over the stance.

    Args:
        reference: reference of the trial.
        steps: datasets of the run.
        mass_kg: body mass of the run.
        cutoff_hz: low-pass filter of the reference moments, like that of the run; None for none.
    """
    contacts, motion, rows = steps["contacts"], steps["kinematics"], []
    loads = steps["kinetics"][f"joint_moment{'_jcs' if reference.along_joint_axes else ''}"] / mass_kg
    for side in SIDES:
        away = {joint: _away(reference, motion, side, joint) for joint in JOINTS}
        whole = {f"{joint} centre": _median(np.linalg.norm(away[joint], axis=1)) for joint in JOINTS}
        for joint in JOINTS:
            ours = motion.joint_angle.sel(side=side, joint=joint, angle="flexion").values
            whole[f"{joint} angle"] = _known_rms(ours - reference.angle.get((side, joint), np.nan))
        for i in np.flatnonzero((contacts.contact_side.values == side) & contacts.valid.values):
            start, end = contacts.contact_start.values[i], contacts.contact_end.values[i]
            inside = (loads.time.values >= start) & (loads.time.values <= end)
            row: dict[str, float | str] = {
                "side": side,
                "plates": str(contacts.plates.values[i]),
                "start": start,
            } | whole
            for joint, theirs in ((joint, reference.power.get((side, joint))) for joint in JOINTS):
                ours = steps["kinetics"].joint_power.sel(side=side, joint=joint).values / mass_kg
                known = inside & np.isfinite(ours) & np.isfinite(np.nan if theirs is None else theirs)
                if theirs is not None and known.sum() >= LEAST_SHARED_FRAMES:
                    row[f"{joint} power rms"] = rms(ours[known] - theirs[known])
            for name, (joint, axis, angle) in MOMENTS.items():
                along = {"angle": angle} if reference.along_joint_axes else {"local_axis": axis}
                ours = loads.sel({"side": side, "joint": joint, **along}).values
                theirs = reference.moment.get((side, name))
                if theirs is None:
                    continue
                if cutoff_hz:
                    rate_hz = steps["clean"].attrs["marker_rate_hz"]
                    theirs = low_pass(theirs[:, None], rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=4)[:, 0]
                known = inside & np.isfinite(ours) & np.isfinite(theirs)
                if known.sum() >= LEAST_SHARED_FRAMES:
                    row[f"{name} rms"] = rms(ours[known] - theirs[known])
                    row[f"{name} r"] = correlation(ours[known], theirs[known])
            rows.append(row)
    return rows


def _away(reference: Reference, motion: xr.Dataset, side: str, joint: str) -> Array:
    """Return the difference of the joint centre from the reference (time, 3), m."""
    theirs = reference.centre.get((side, joint))
    ours = motion.joint_centre.sel(side=side, joint=joint).values
    if theirs is None:
        return np.full_like(ours, np.nan)
    if not reference.floating_origin:
        return np.asarray(ours - theirs)
    every = [motion.joint_centre.sel(side=s, joint=j).values - point for (s, j), point in reference.centre.items()]
    return np.asarray(ours - theirs - np.nanmean(every, axis=(0, 1)))


def _median(values: Array) -> float:
    return float(np.median(values[np.isfinite(values)])) if np.isfinite(values).any() else np.nan


def _known_rms(difference: Array) -> float:
    known = np.isfinite(difference)
    return rms(difference[known]) if known.any() else np.nan
