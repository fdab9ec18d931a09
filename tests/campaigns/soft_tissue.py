"""Walks with simulated soft-tissue motion: errors of both kinematic methods against the exact answer.

``python -m tests.campaigns soft_tissue`` prints the tables of docs/validation.md.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.body.joint_angles import SIGNS, axes, joint_angles
from pipeline.conventions import ANGLES, CHAIN, JOINTS, SIDES
from pipeline.demo.body import segment_parameters
from pipeline.demo.loads import axial, ground, joint_wrenches
from pipeline.demo.recording import MARKER_HZ
from pipeline.demo.soft_tissue import TISSUE, Tissue
from pipeline.demo.trials import write_static, write_tables, write_walk
from pipeline.demo.walk import Walk, motion
from tests.campaigns.runner import Report
from tests.support.studies.run_steps import run_study
from tests.support.walks.on_plates import any_walk, own_plates

Array = NDArray[np.float64]
Settings = Mapping[str, Any]
Quantity = tuple[str, str]  # variable, and joint with its component
Found = Mapping[str, Sequence[Mapping[Quantity, float]]]  # errors in each walk by method

SHORT = {"seeds": 1}
END_S = 0.1  # at the ends of a recording, filter and spline are less accurate
STEP_S = 5e-4
UNITS = {
    "joint_centre": "mm",
    "joint_angle": "degrees",
    "joint_moment_lab": "N m/kg",
    "joint_moment_jcs": "N m/kg",
    "joint_power": "W/kg",
}
LABELS = {
    "joint_centre": "centre",
    "joint_angle": "angle",
    "joint_moment_lab": "moment, as a vector",
    "joint_moment_jcs": "moment",
    "joint_power": "power",
}


def linked(foot: float, shank: float, thigh: float, pelvis: float, **joint_types: str) -> Settings:
    """Return settings of the linked legs: weights of the segments' markers, and joints that are not balls."""
    weights = {"foot": foot, "shank": shank, "thigh": thigh, "pelvis": pelvis}
    types = dict.fromkeys(JOINTS, "ball") | joint_types
    return {"kinematics": {"method": "linked", "marker_weights": weights, "joint_types": types}}


# In inverse proportion to the square of some 6, 10, 20 and 6 mm by which skin moves (sources in demo/soft_tissue.py).
WEIGHTS = (10.0, 3.0, 1.0, 10.0)
JOINT_TYPES: dict[str, Settings] = {
    "segments": {"kinematics": {"method": "segments"}},
    "balls, all weights 1": linked(1, 1, 1, 1),
    "balls": linked(*WEIGHTS),
    "knee universal": linked(*WEIGHTS, knee="universal"),
    "knee hinge": linked(*WEIGHTS, knee="hinge"),
    "knee hinge, ankle universal": linked(*WEIGHTS, knee="hinge", ankle="universal"),
    "ankle hinge": linked(*WEIGHTS, ankle="hinge"),
}
WEIGHTED: dict[str, Settings] = {
    "segments": {"kinematics": {"method": "segments"}},
    **{
        " ".join(map(str, weights)): linked(*weights, knee="hinge")
        for weights in ((1, 1, 1, 1), (5, 2, 1, 5), (10, 3, 1, 10), (20, 4, 1, 20), (40, 4, 1, 40))
    },
}


def _doubled(span: tuple[float, float]) -> tuple[float, float]:
    return 2 * span[0], 2 * span[1]


# Skin that moves twice as far over pelvis and foot: the people of the studies were slim, their feet bare.
LOOSE = {
    segment: replace(
        each, shift_mm=_doubled(each.shift_mm), turn_deg=_doubled(each.turn_deg), own_mm=_doubled(each.own_mm)
    )
    for segment, each in TISSUE.items()
    if segment in ("pelvis", "foot")
}


def write_study(folder: Path, seed: int, *, soft_tissue: float = 1.0, noise: float = 1.0) -> xr.Dataset:
    """Write a static trial and a walk over three plates of a random person, and return the exact answer."""
    walk, direction = any_walk(seed)
    who, plates = walk.walker.participant_id, own_plates(walk, direction)
    write_static(folder / who / "static.c3d", walk.walker, direction=direction, noise=noise, seed=seed)
    write_walk(
        folder / who / "walk.c3d", walk, plates, direction=direction, events=True, noise=noise, seed=seed,
        soft_tissue=soft_tissue,
    )  # fmt: skip
    write_tables(folder, {walk.walker: {}}, [(who, "static", "static", ""), (who, "walk", "gait", "")])
    (folder / "study.yaml").write_text("body_model: isb_clusters\n", encoding="utf-8")
    return exact(walk)


def exact(walk: Walk) -> xr.Dataset:
    """Return joint centres, angles, moments (lab axes and joint axes, N m/kg) and powers (W/kg) of a walk's bones."""
    bodies, time = motion(walk), np.arange(round(walk.gait.duration_s * MARKER_HZ)) / MARKER_HZ
    body = bodies(time)
    wrenches = joint_wrenches(bodies, time, segment_parameters(walk.walker), ground(walk, body, time))
    after, before = (bodies(time + step).pelvis_rotation for step in (STEP_S, -STEP_S))
    pelvis_rate = axial((after - before) / (2 * STEP_S) @ np.swapaxes(body.pelvis_rotation, -1, -2))
    rate = np.concatenate([wrenches.angular_velocity, _on_both_sides(pelvis_rate)], axis=2)
    to_lab = np.concatenate([body.rotation, _on_both_sides(body.pelvis_rotation)], axis=2)
    rotation = np.swapaxes(to_lab, -1, -2)
    moment = np.einsum("tsjia,tsja->tsji", axes(rotation[:, :, 1:], rotation[:, :, :-1]), wrenches.moment) * SIGNS
    power = (wrenches.moment * (rate[:, :, :-1] - rate[:, :, 1:])).sum(axis=-1)
    of_joint = ("time", "side", "joint")
    return xr.Dataset(
        {
            "joint_centre": ((*of_joint, "axis"), body.centre),
            "joint_angle": ((*of_joint, "angle"), joint_angles(rotation, "isb", 0.1)),
            "joint_moment_lab": ((*of_joint, "axis"), wrenches.moment / walk.walker.mass_kg),
            "joint_moment_jcs": ((*of_joint, "angle"), moment / walk.walker.mass_kg),
            "joint_power": (of_joint, power / walk.walker.mass_kg),
        },
        {"time": time, "side": list(SIDES), "joint": list(JOINTS), "axis": list("xyz"), "angle": list(ANGLES)},
        {"mass_kg": walk.walker.mass_kg},
    )


def _on_both_sides(pelvis: Array) -> Array:
    """Return (time, side, 1, ...) from the pelvis' (time, ...)."""
    return np.repeat(pelvis[:, None, None], len(SIDES), axis=1)


def errors(study: Path, truth: xr.Dataset, settings: Settings) -> dict[Quantity, float]:
    """Return the RMS errors, over both sides and all frames, of a run with these settings."""
    (session,) = run_study(study, settings).values()
    found = _quantities(session.trials["walk"], truth.mass_kg)
    inner = ((truth.time > END_S) & (truth.time < truth.time[-1] - END_S)).values
    result = dict[Quantity, float]()
    for name in UNITS:
        square = (found[name].drop_vars("time") - truth[name].drop_vars("time")) ** 2
        if "axis" in square.dims:
            square = square.sum("axis", skipna=False)
        rms = square.isel(time=inner).mean(("time", "side")) ** 0.5
        for joint in JOINTS:
            if "angle" in rms.dims:
                result |= {(name, f"{joint} {angle}"): float(rms.sel(joint=joint, angle=angle)) for angle in ANGLES}
            else:
                result[name, joint] = float(rms.sel(joint=joint)) * (1e3 if UNITS[name] == "mm" else 1)
    return result


def _quantities(steps: Mapping[str, xr.Dataset], mass_kg: float) -> dict[str, xr.DataArray]:
    """Return what is compared, as in :func:`exact`, from the results of a trial."""
    motion, loads = steps["kinematics"], steps["kinetics"]
    distal = motion.rotation.sel(segment=list(CHAIN)).rename(segment="joint").assign_coords(joint=list(JOINTS))
    return {
        "joint_centre": motion.joint_centre,
        "joint_angle": motion.joint_angle,
        "joint_moment_lab": (loads.joint_moment * distal).sum("local_axis", skipna=False) / mass_kg,
        "joint_moment_jcs": loads.joint_moment_jcs / mass_kg,
        "joint_power": loads.joint_power / mass_kg,
    }


def campaign(methods: Mapping[str, Settings], seeds: Sequence[int], tissue: Mapping[str, Tissue] = TISSUE) -> Found:
    """Return the errors of each method in the walk of each seed, of people with these tissues."""
    result: dict[str, list[dict[Quantity, float]]] = {name: [] for name in methods}
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            with patch.dict(TISSUE, tissue):
                truth = write_study(Path(folder), seed)
            for name, settings in methods.items():
                result[name].append(errors(Path(folder), truth, settings))
    return result


def medians(rows: Sequence[Mapping[Quantity, float]]) -> dict[Quantity, float]:
    """Return the median error of each quantity."""
    return {quantity: float(np.median([row[quantity] for row in rows])) for quantity in rows[0]}


def one_by_one(report: Report, found: Found) -> None:
    """Report the median errors of the first method, and those of the others as a share of them."""
    base, *others = map(medians, found.values())
    report.table("RMS error", *found)
    for (name, component), value in base.items():
        ratios = [f"{other[name, component] / value:.2f}" for other in others]
        report.row(f"{LABELS[name]}: {component}", f"{value:.2g} {UNITS[name]}", *ratios)


def in_short(report: Report, found: Found) -> None:
    """Report the errors of the other methods as a share of those of the first, as geometric means by variable."""
    base, *others = map(medians, found.values())
    report.table("RMS error", *list(found)[1:])
    for name, label in LABELS.items():
        own = [quantity for quantity in base if quantity[0] == name]
        ratios = (np.exp(np.mean([np.log(other[each] / base[each]) for each in own])) for other in others)
        report.row(label, *(f"{ratio:.2f}" for ratio in ratios))


def main(report: Report, *, seeds: int = 20, first_seed: int = 0) -> None:
    """Report the errors by type of joints, by weights, and by weights for people with looser skin."""
    walks = range(first_seed, first_seed + seeds)
    found = campaign(JOINT_TYPES | WEIGHTED, walks)
    one_by_one(report, {name: found[name] for name in JOINT_TYPES})
    in_short(report, {name: found[name] for name in WEIGHTED})
    in_short(report, campaign(WEIGHTED, walks, LOOSE))
