"""A person of rigid segments for the tests: inputs of the steps, from landmarks and a motion known in closed form.

Positions of the right side are in segment axes (x anterior, y proximal, z right), which are those of the body model
``isb_clusters``; the left side mirrors them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.body.body_model import BodyModel
from pipeline.body.landmarks import positions
from pipeline.body.resolved_model import resolve
from pipeline.body.skeleton import Skeleton
from pipeline.body.static_skeleton import static_skeleton
from pipeline.conventions import SEGMENTS, SIDES
from pipeline.steps.calibrate.settings import Settings
from pipeline.steps.calibrate.step import calibrate
from pipeline.trials.session import join_trials
from pipeline.workflow.settings import load_body_model, segment_table
from tests.support.settings import settings_of

Array = NDArray[np.float64]
Landmarks = dict[str, Array]

BODY_MODELS = ("functional_clusters", "gait2354", "isb_clusters", "plug_in_gait")

PROPERTY = settings(derandomize=True, deadline=None, database=None, max_examples=40)
SEED = st.integers(0, 2**32 - 1)
GRAVITY = 9.80665
ROUNDING = 1e-9  # double arithmetic in another order; quantities are of order 1 to 1000

THIGH_M, SHANK_M = 0.40, 0.42
HIP_M = (-0.0459, -0.0829, 0.0865)  # Harrington 2007 for 240 mm between the ASIS and 150 mm of depth
Places = Mapping[str, tuple[str, tuple[float, float, float]]]
PLACES: Places = {
    "asis": ("pelvis", (0, 0, 0.12)),
    "psis": ("pelvis", (-0.15, 0, 0.05)),
    "lateral_epicondyle": ("thigh", (0, -THIGH_M + 0.004, 0.05)),
    "medial_epicondyle": ("thigh", (0, -THIGH_M - 0.004, -0.05)),
    "thigh_1": ("thigh", (0.06, -0.17, 0.05)),
    "thigh_2": ("thigh", (-0.01, -0.16, 0.08)),
    "thigh_3": ("thigh", (0.05, -0.28, 0.05)),
    "thigh_4": ("thigh", (-0.02, -0.26, 0.07)),
    "thigh_5": ("thigh", (0.03, -0.22, 0.08)),
    "thigh_upper": ("thigh", (0.01, -0.15, 0.08)),
    "thigh_front": ("thigh", (0.07, -0.25, 0.02)),
    "thigh_rear": ("thigh", (-0.03, -0.27, 0.07)),
    "thigh_wand": ("thigh", (0.01, -0.22, 0.12)),
    "lateral_malleolus": ("shank", (0, -SHANK_M - 0.004, 0.035)),
    "medial_malleolus": ("shank", (0, -SHANK_M + 0.004, -0.035)),
    "shank_1": ("shank", (0.04, -0.16, 0.04)),
    "shank_2": ("shank", (-0.02, -0.14, 0.06)),
    "shank_3": ("shank", (0.03, -0.28, 0.03)),
    "shank_4": ("shank", (-0.02, -0.26, 0.05)),
    "shank_5": ("shank", (0.02, -0.21, 0.06)),
    "shank_upper": ("shank", (0.01, -0.12, 0.06)),
    "shank_front": ("shank", (0.05, -0.24, 0.02)),
    "shank_rear": ("shank", (-0.03, -0.26, 0.05)),
    "tibial_wand": ("shank", (0.01, -0.24, 0.10)),
    "heel": ("foot", (-0.05, -0.07, 0)),
    "metatarsal_1": ("foot", (0.14, -0.07, -0.04)),
    "metatarsal_5": ("foot", (0.12, -0.07, 0.04)),
    "toe": ("foot", (0.15, -0.06, -0.01)),
    "toe_tip": ("foot", (0.20, -0.06, -0.01)),
    "midfoot_superior": ("foot", (0.06, -0.02, 0)),
    "midfoot_lateral": ("foot", (0.05, -0.06, 0.04)),
    "trochanter": ("thigh", (-0.01, -0.02, 0.09)),
    "thigh_proximal": ("thigh", (0.07, -0.12, 0.03)),
    "thigh_distal": ("thigh", (0.06, -0.31, 0.02)),
    "thigh_back": ("thigh", (-0.04, -0.25, 0.02)),
    "device_axis": ("thigh", (0, -THIGH_M + 0.004, 0.15)),
    "device_1": ("thigh", (0.1, -THIGH_M + 0.004, 0.05)),
    "device_2": ("thigh", (0, -THIGH_M + 0.104, 0.05)),
    "fibula_head": ("shank", (-0.01, -0.03, 0.05)),
    "tibial_tuberosity": ("shank", (0.05, -0.06, 0.01)),
    "shank_proximal": ("shank", (0.05, -0.12, 0.01)),
    "shank_distal": ("shank", (0.04, -0.3, 0.01)),
    "shank_back": ("shank", (-0.03, -0.24, 0.02)),
    "hip_point": ("thigh", (0, 0, 0)),
    "knee_point": ("shank", (0, 0, 0)),
    "ankle_point": ("foot", (0, 0, 0)),
    "thigh_ahead": ("thigh", (0.1, -THIGH_M, 0)),
    "shank_ahead": ("shank", (0.1, -SHANK_M, 0)),
    "foot_origin": ("foot", (0, 0, 0)),
    "foot_behind": ("foot", (-0.1, 0, 0)),
    "foot_above": ("foot", (0, 0.1, 0)),
}
SACRUM = (-0.15, 0.0, 0.0)

# Right-handed turns about e1, e2, e3 per clinical angle: knee flexion, left adduction and left rotation turn round.
HANDED = np.array([[[flexion, side, side] for flexion in (1, -1, 1)] for side in (-1, 1)])
RATE_HZ = 0.9
MEAN_RAD = np.array([[0.05, 0.05, -0.1], [0.6, 0.04, 0.05], [0.3, -0.05, 0.08]])
SWING_RAD = np.array([[0.3, 0.1, 0.12], [0.5, 0.06, 0.15], [0.45, 0.12, 0.1]])
PHASE = np.arange(2)[:, None, None] * 2.9 + np.arange(3)[:, None] * 0.7 + np.arange(3) * 1.3

PARTICIPANT = {
    "participant_id": "sub-01", "mass_kg": "70", "height_m": "1.75", "sex": "M",
    **{f"{size}_{side}_m": value for side in SIDES
       for size, value in (("leg_length", "0.9"), ("knee_width", "0.1"), ("ankle_width", "0.07"))},
}  # fmt: skip

SIZES = {"marker_diameter_m": 0.014} | {name: float(size) for name, size in PARTICIPANT.items() if name.endswith("_m")}


class Pose(NamedTuple):
    """rotation (time, side, segment, 3, 3), v_segment = rotation . v_lab; centre (time, side, joint, 3) and pelvis
    origin (time, 3) in m; angle (time, side, joint, 3) in rad with clinical signs.
    """

    rotation: Array
    centre: Array
    pelvis_origin: Array
    angle: Array


def walk(time: Array, *, still_pelvis: bool = False) -> Pose:
    """Return the pose at the instants (time,); a constant ``time`` gives a person at rest."""
    cycle = 2 * np.pi * RATE_HZ * time
    angle = MEAN_RAD + SWING_RAD * np.sin(cycle[:, None, None, None] + PHASE)
    pelvis_cycle = 0 * cycle if still_pelvis else cycle
    tilt = [0.1 * np.sin(pelvis_cycle), 0.08 * np.sin(pelvis_cycle + 1), -0.15 + 0.05 * np.sin(2 * pelvis_cycle)]
    pelvis = Rotation.from_euler("YXZ", np.stack(tilt, axis=-1)).inv().as_matrix()
    x, y, z = 0.2 * pelvis_cycle, 0.95 + 0.02 * np.sin(2 * pelvis_cycle), 0.03 * np.sin(pelvis_cycle)
    origin = np.stack([x, y, z], axis=-1)
    rotation, centre = np.empty((len(time), 2, 4, 3, 3)), np.empty((len(time), 2, 3, 3))
    rotation[:, :, 3] = pelvis[:, None]
    centre[:, :, 2] = origin[:, None] + np.array([of_side(HIP_M, side) for side in SIDES]) @ pelvis
    turns = Rotation.from_euler("ZXY", (angle * HANDED).reshape(-1, 3)).inv().as_matrix().reshape(-1, 2, 3, 3, 3)
    for joint, length in ((2, THIGH_M), (1, SHANK_M), (0, 0.0)):
        rotation[:, :, joint] = turns[:, :, joint] @ rotation[:, :, joint + 1]
        if joint:
            centre[:, :, joint - 1] = centre[:, :, joint] - length * rotation[:, :, joint, 1]
    return Pose(rotation, centre, origin, angle)


def standing(count: int = 5, places: Places = PLACES) -> Landmarks:
    """Return a person upright and still, facing x, all segment axes along those of the lab."""
    upright = np.broadcast_to(np.eye(3), (count, 2, 4, 3, 3))
    pelvis = np.broadcast_to([0.0, 1, 0], (count, 3))
    hip = np.stack([of_side(HIP_M, side) for side in SIDES])
    ankle_to_hip = np.array([[0, 1 - THIGH_M - SHANK_M, 0], [0, 1 - THIGH_M, 0], [0, 1, 0]])
    centre = np.broadcast_to(hip[:, None] + ankle_to_hip, (count, 2, 3, 3))
    return landmarks(Pose(upright, centre, pelvis, np.zeros((count, 2, 3, 3))), places)


def landmarks(pose: Pose, places: Places = PLACES) -> Landmarks:
    """Return the landmarks (time, 3) of all shipped body models, m; ``places``: segment and place in it by name."""
    result = {"sacrum": pose.pelvis_origin + np.array(SACRUM) @ pose.rotation[:, 0, 3]}
    for name, (segment, place) in places.items():
        number = SEGMENTS.index(segment)
        for i, side in enumerate(SIDES):
            origin = pose.pelvis_origin if segment == "pelvis" else pose.centre[:, i, number]
            result[f"{name}_{side}"] = origin + of_side(place, side) @ pose.rotation[:, i, number]
    return result


def of_side(place: tuple[float, float, float] | Array, side: str) -> Array:
    return np.asarray(place, dtype=float) * (1, 1, -1 if side == "left" else 1)


def mirrored(points: Landmarks) -> Landmarks:
    """Return the mirror image of a person in the plane z = 0: left is right."""
    other = {"left": "right", "right": "left"}

    def name_of(name: str) -> str:
        stem, _, side = name.rpartition("_")
        return f"{stem}_{other[side]}" if side in other else name

    return {name_of(name): where * (1, 1, -1) for name, where in points.items()}


def turned(points: Landmarks, degrees: float) -> Landmarks:
    """Return a person who was turned about the vertical through the lab's origin."""
    turn = Rotation.from_euler("y", degrees, degrees=True)
    return {name: turn.apply(where) for name, where in points.items()}


@cache
def body_model(name: str) -> BodyModel:
    return load_body_model(name, where="tests", study_path=Path())


def recorded(
    model: BodyModel, points: Landmarks, sizes: Mapping[str, float] | None = None, *, role: str = "static"
) -> xr.Dataset:
    """Return a trial as the step ``read`` gives it, with sizes as from the file's PROCESSING group."""
    labels: Landmarks = {}
    for landmark, alternatives in model.landmarks.items():
        for group in alternatives:
            if len(group) == 1 and landmark in points:
                labels.setdefault(group[0], points[landmark])
    return xr.Dataset(
        {"marker_position": (("time", "marker", "axis"), np.stack(list(labels.values()), axis=1))},
        {"time": np.arange(len(next(iter(labels.values())))) / 100, "marker": list(labels), "axis": list("xyz")},
        {"role": role, "source": f"{role}.c3d", "anthropometry": json.dumps(sizes or {})},
    )


def cleaned(model: BodyModel, points: Landmarks, time: Array) -> xr.Dataset:
    """Return a trial as the step ``clean`` gives it."""
    trial = recorded(model, points, role="gait")
    found = positions(model, list(trial.marker.values), trial.marker_position.values)
    return xr.Dataset(
        {"marker_position": (("time", "marker", "axis"), np.stack(list(found.values()), axis=1))},
        {
            "time": time,
            "marker": list(found),
            "axis": list("xyz"),
            "label": ("marker", list(found)),
            "cutoff_hz": ("marker", np.full(len(found), np.nan)),
        },
        {
            "direction_of_travel": "forwards",
            "landmarks_absent": "",
            "marker_filter_order": 4,
            "uncertain_end_s": 0.0,
            "exchanged_markers": "repair",
        },
    )


def calibrated(model: BodyModel, points: Landmarks, **changes: Any) -> xr.Dataset:
    """Return the calibration of a static trial that shows ``points``."""
    return calibrate(join_trials({"standing": recorded(model, points)}), body_model=model, **calibration_of(**changes))


def calibration_of(**changes: Any) -> dict[str, Any]:
    """Return the arguments of the step ``calibrate`` for the known person, with some of them or settings changed."""
    chosen = {"participant": PARTICIPANT, "segments": [], "segment_parameters": "dumas"} | changes
    keys = {field.name for field in fields(Settings)} & chosen.keys()
    chosen["settings"] = settings_of("calibrate", **{key: chosen.pop(key) for key in keys})
    table = chosen["settings"].segment_parameters
    return chosen | {"segment_table": segment_table(table, chosen["participant"].get("age_years", ""))}


def skeleton_of(name: str, seen: Landmarks, side: str) -> Skeleton:
    model = body_model(name)
    trial = recorded(model, seen)
    points = positions(model, list(trial.marker.values), trial.marker_position.values)
    leg = resolve(model, points.keys()).legs[side]
    assert not leg.lacking
    return static_skeleton(points, leg, SIZES, hip_centre="harrington")[0]


def jittered(seen: Landmarks, seed: int) -> Landmarks:
    """Return a person with markers placed by hand, differently on both sides."""
    rng = np.random.default_rng(seed)
    return {name: where + rng.normal(size=3) * 0.01 for name, where in seen.items()}


def close(actual: Any, expected: Any, tolerance: float = ROUNDING) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


def derivative(function: Callable[[Array], Array], time: Array, step_s: float = 0.01) -> Array:
    """Return the time derivative by central differences of the eighth order, (wh)^8 / 630 of it away."""
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    total = sum(w * (function(time + k * step_s) - function(time - k * step_s)) for k, w in weights.items())
    return np.asarray(total / step_s)


def particles(mass: Array, inertia: Array) -> Array:
    """Return six places (..., 6, 3) about the centre of mass where sixths of the mass move like the rigid body."""
    moments, axes = np.linalg.eigh(inertia)
    spread = np.sqrt(3 * (moments.sum(axis=-1, keepdims=True) / 2 - moments) / np.asarray(mass)[..., None])
    arms = np.swapaxes(axes, -1, -2) * spread[..., None]
    return np.concatenate([arms, -arms], axis=-2)


def random_turns(rng: np.random.Generator, *shape: int) -> Array:
    return np.asarray(Rotation.random(int(np.prod(shape)), rng=rng).as_matrix()).reshape(*shape, 3, 3)
