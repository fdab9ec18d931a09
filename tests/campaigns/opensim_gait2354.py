"""OpenSim's example Gait2354 by separate segments and by linked legs, beside OpenSim's own results.

``python -m tests.campaigns opensim_gait2354`` prints the tables of docs/validation.md. Columns that need OpenSim's
joint centres and marker errors (``pip install -e '.[bench]'``) are empty without it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from tests.campaigns.runner import Report
from tests.support.checkout import SHARED
from tests.support.studies.references import OPENSIM_MASS_KG, correlation, opensim, read_sto, rms
from tests.support.studies.run_steps import run_study

Array = NDArray[np.float64]

SHORT: dict[str, Any] = {}
EXAMPLE, FRAMES = "data/opensim_gait2354_ID", 151
# OpenSim's joints of one degree of freedom at knee and ankle, its weights, and the filters of its settings
LINKED: dict[str, Any] = {
    "method": "linked",
    "joint_types": {"hip": "ball", "knee": "hinge", "ankle": "hinge"},
    "marker_weights": {"pelvis": 1, "shank": 1, "foot": 1, "asis": 10, "sacrum": 10, "heel": 10, "toe_tip": 10},
}
METHODS: dict[str, dict[str, Any]] = {"segments": {"method": "segments"}, "linked": LINKED}
CUTOFFS = {"marker_cutoff_hz": 6, "force_cutoff_hz": 50}
JOINTS = {  # distal segment, proximal segment, bodies of OpenSim
    "hip": ("thigh", "pelvis", "femur", "pelvis"),
    "knee": ("shank", "thigh", "tibia", "femur"),
    "ankle": ("foot", "shank", "talus", "tibia"),
}
SIDES = ("right", "left")


def walk(shared: Path, kinematics: Mapping[str, Any]) -> dict[str, xr.Dataset]:
    """Return the steps of the walk with some settings of ``kinematics``."""
    settings = {"clean": CUTOFFS, "kinematics": dict(kinematics)}
    return run_study(shared / "studies" / "gait2354", settings)["sub-01"].trials["walk1"]


def differences(shared: Path, steps: Mapping[str, xr.Dataset], poses: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return how flexion angles and moments differ from OpenSim's, one row per side and joint.

    Angles over the whole walk, degrees: their mean difference and the standard deviation of the difference; moments
    while OpenSim's are known, N m/kg. With OpenSim's ``poses``, also the moments about its joint centres and
    flexion axes.
    """
    motion, reference = steps["kinematics"], opensim(shared, steps)
    ours = steps["kinetics"].joint_moment_jcs.sel(angle="flexion") / OPENSIM_MASS_KG
    rows = []
    for side in SIDES:
        for joint in JOINTS:
            angle = (
                motion.joint_angle.sel(side=side, joint=joint, angle="flexion").values - reference.angle[side, joint]
            )
            moment, theirs = ours.sel(side=side, joint=joint).values, reference.moment[side, f"{joint} flexion"]
            known = np.isfinite(theirs)
            row: dict[str, Any] = {"side": side, "joint": joint, "offset": angle.mean(), "angle": angle.std()}
            row |= {"r": correlation(moment[known], theirs[known]), "moment": rms((moment - theirs)[known])}
            if poses is not None:
                row |= {"about theirs": rms((about_theirs(steps, poses, side, joint) - theirs)[known])}
            rows.append(row)
    return pd.DataFrame(rows).set_index(["side", "joint"])


def about_theirs(steps: Mapping[str, xr.Dataset], poses: pd.DataFrame, side: str, joint: str) -> Array:
    """Return the flexion moment (time,) about OpenSim's joint centre and flexion axis, N m/kg."""
    motion, loads = steps["kinematics"], steps["kinetics"]
    distal, _, body, parent = JOINTS[joint]
    rotation = motion.rotation.sel(side=side, segment=distal).values
    moment = np.einsum("tij,ti->tj", rotation, loads.joint_moment.sel(side=side, joint=joint).values)
    centre, axis = (poses[[f"{name}_{side[0]}_{a}" for a in "xyz"]].values for name in (body, f"{parent}_z"))
    shift = motion.joint_centre.sel(side=side, joint=joint).values - centre
    moment = moment + np.cross(shift, loads.joint_force.sel(side=side, joint=joint).values)
    return np.asarray((moment * axis).sum(axis=1) * (-1 if joint == "knee" else 1) / OPENSIM_MASS_KG)


def opensim_poses(shared: Path) -> pd.DataFrame:
    """Return origins (``tibia_r_x``, m) and z axes (``femur_z_r_x``) of OpenSim's bodies, lab axes, one row a frame."""
    from benchmarks.opensim_tool import load_model

    model = load_model(shared / EXAMPLE)
    state, coordinates = model.initSystem(), model.getCoordinateSet()
    rows = []
    for _, angles in read_sto(shared / EXAMPLE / "ik_full.mot").iterrows():
        for name, value in angles.drop("time").items():
            metres = str(name) in {"pelvis_tx", "pelvis_ty", "pelvis_tz"}
            coordinates.get(str(name)).setValue(state, float(value if metres else np.radians(value)), False)
        model.assemble(state)
        model.realizePosition(state)
        row: dict[str, float] = {}
        for body in (f"{name}_{side}" for side in "rl" for name in ("femur", "tibia", "talus")):
            pose = model.getBodySet().get(body).getTransformInGround(state)
            name, side = body.split("_")
            row |= {f"{body}_{axis}": pose.p().get(i) for i, axis in enumerate("xyz")}
            row |= {f"{name}_z_{side}_{axis}": pose.R().get(i, 2) for i, axis in enumerate("xyz")}
        pelvis = model.getBodySet().get("pelvis").getTransformInGround(state).R()
        row |= {f"pelvis_z_{side}_{axis}": pelvis.get(i, 2) for side in "rl" for i, axis in enumerate("xyz")}
        rows.append(row)
    return pd.DataFrame(rows)


def opensim_marker_errors(shared: Path) -> dict[str, float]:
    """Return the root-mean-square distance of each marker from its place in OpenSim's inverse kinematics, m."""
    from benchmarks.opensim_inverse_kinematics import inverse_kinematics

    with tempfile.TemporaryDirectory() as folder:
        inverse_kinematics(shared / EXAMPLE, Path(folder), FRAMES, report=True)()
        placed = read_sto(Path(folder) / "subject01_ik_model_marker_locations.sto")
        lines = (Path(folder) / "walk.trc").read_text().splitlines()
    labels = [label for label in lines[3].split("\t")[2:] if label]
    rows = np.array([line.split("\t")[2 : 2 + 3 * len(labels)] for line in lines[6:]], dtype=float) / 1000
    recorded = dict(zip(labels, np.moveaxis(rows.reshape(len(rows), -1, 3), 1, 0), strict=True))
    names = [name.removesuffix("_tx") for name in map(str, placed) if name.endswith("_tx")]
    away = {name: placed[[f"{name}_t{axis}" for axis in "xyz"]].values - recorded[name] for name in names}
    return {name: float(np.sqrt((error**2).sum(axis=1).mean())) for name, error in away.items()}


def linked_marker_errors(steps: Mapping[str, xr.Dataset]) -> dict[str, float]:
    """Return the root-mean-square distance of each marker from its place in the linked legs, m, by its label."""
    residual = steps["kinematics"].marker_residual.values
    found = np.sqrt((residual**2).mean(axis=0))
    labels = steps["clean"].label.values.tolist()
    return {label: float(error) for label, error in zip(labels, found, strict=True) if np.isfinite(error)}


def together(errors: Iterable[float]) -> float:
    """Return the root mean square of several."""
    return float(np.sqrt(np.mean(np.square(list(errors)))))


def main(report: Report) -> None:
    """Report differences by method, then marker errors by marker, and those of all."""
    try:
        poses, theirs = opensim_poses(SHARED), opensim_marker_errors(SHARED)
    except ImportError:
        poses, theirs = None, {}
    runs = {name: walk(SHARED, settings) for name, settings in METHODS.items()}
    tables = {name: differences(SHARED, steps, poses) for name, steps in runs.items()}
    report.text(pd.concat(tables, axis=1).round(3).to_string())
    ours = linked_marker_errors(runs["linked"])
    errors = pd.DataFrame({"linked": ours, "OpenSim": {label: theirs.get(label, np.nan) for label in ours}}) * 1000
    report.text(errors.round(1).to_string())
    report.text(str({name: round(together(column), 2) for name, column in errors.items()}))
