"""Where the study has the points of a model: in the static trial, and over a walk."""

import numpy as np
import xarray as xr

from ....arrays import Array
from ....conventions import FROM_PELVIS, JOINTS, SIDES
from ....dynamics.vectors import cross, unit
from ....signals.filters import stretches
from ....trials.session import Trial
from ....whole_body.skeleton import of_either_side
from .pelvis import Spines
from .scaled_model import ScaledModel, Sizes, Tip

ENDS_OF_FOOT = ("heel", "toe")  # landmarks


def sizes_of(calibrate: xr.Dataset) -> Sizes:
    """Return the sizes of a session's person; a side that cannot be used has those of the other."""
    links = calibrate["joint_link"].sel(joint="hip").values.copy()
    lengths = calibrate["joint_distance"].sel(segment=["thigh", "shank"]).values
    feet = np.full(len(SIDES), np.nan)  # from heel to toe, m
    for i, side in enumerate(SIDES):
        heel, toe = (f"{end}_{side}" for end in ENDS_OF_FOOT)
        if {heel, toe} <= {*calibrate["landmark"].values.tolist()}:
            feet[i] = calibrate["static_distance"].sel(landmark=heel, landmark_2=toe)
    for i, j in ((0, 1), (1, 0)):
        if not np.isfinite(links[i]).all():
            links[i] = links[j] * (1, 1, -1)
        lengths[i] = np.where(np.isfinite(lengths[i]), lengths[i], lengths[j])
        feet[i] = feet[i] if np.isfinite(feet[i]) else feet[j]
    length_m = {
        (side, name): float(lengths[i, j]) for i, side in enumerate(SIDES) for j, name in enumerate(("thigh", "shank"))
    }
    length_m |= {(side, "foot"): float(feet[i]) for i, side in enumerate(SIDES)}
    hips, mass_kg = dict(zip(SIDES, links, strict=True)), float(calibrate.attrs["body_mass_kg"])
    return Sizes(hips, length_m, mass_kg, _spines(calibrate))


def _spines(calibrate: xr.Dataset) -> Spines | None:
    """Return the distances of the markers at the spines in the static trial; None if they are not all seen."""
    seen, front = calibrate["landmark"].values.tolist(), [f"asis_{side}" for side in SIDES]
    back = [name for name in (f"psis_{side}" for side in SIDES) if name in seen] or ["sacrum"]
    if not {*front, *back} <= {*seen}:
        return None

    def mean_square(ones: list[str], others: list[str]) -> float:
        return float((calibrate["static_distance"].sel(landmark=ones, landmark_2=others) ** 2).mean())

    # of the midpoints of two pairs, by the distances of their points (Leibniz)
    square = mean_square(front, back) - (mean_square(front, front) + mean_square(back, back)) / 2
    width_m = float(calibrate["static_distance"].sel(landmark=front[0], landmark_2=front[1]))
    return Spines(width_m, float(np.sqrt(square))) if np.isfinite(width_m + square) else None


def standing(calibrate: xr.Dataset, model: ScaledModel) -> dict[str, Array]:
    """Return the points (1, 3) in the static trial, m, with the pelvis at 1 m; NaN of a side that is absent."""
    rotation, link = calibrate["static_rotation"].values, calibrate["joint_link"].values
    poses, joints = calibrate["pose"].values.tolist(), calibrate["joint"].values.tolist()
    centres = np.full((1, len(SIDES), len(JOINTS), 3), np.nan)
    for i in range(len(SIDES)):
        place = np.array([0.0, 1.0, 0.0])
        for segment, joint in zip(FROM_PELVIS, joints[::-1], strict=False):
            place = place + link[i, joints.index(joint)] @ rotation[i, poses.index(segment)]
            centres[0, i, JOINTS.index(joint)] = place
    return _points(model, calibrate, centres, {name: rotation[None, :, poses.index(name)] for name in FROM_PELVIS})


def walking(kinematics: Trial, calibrate: xr.Dataset, model: ScaledModel) -> dict[str, Array]:
    """Return the points (time, 3) over a walk, lab axes, m; NaN where a leg is not seen."""
    segments = kinematics["segment"].values.tolist()
    rotation = {name: kinematics["rotation"].values[:, :, segments.index(name)] for name in FROM_PELVIS}
    return _points(model, calibrate, kinematics["joint_centre"].values, rotation)


def _points(model: ScaledModel, calibrate: xr.Dataset, centres: Array, rotation: dict[str, Array]) -> dict[str, Array]:
    """Return the points by name.

    Args:
        centres: (time, side, joint, 3), lab axes, m.
        rotation: (time, side, 3, 3) by segment, v_segment = rotation @ v_lab.
    """
    points, hips = {}, centres[:, :, JOINTS.index("hip")]
    pelvis, links = of_either_side(rotation["pelvis"]), sizes_of(calibrate).hip
    rotation["pelvis"] = pelvis[:, None].repeat(len(SIDES), axis=1)
    middle, other = ((sum(links.values()) / 2 - links[side]) @ pelvis + hips[:, i] for i, side in enumerate(SIDES))
    middle = np.where(np.isfinite(middle), middle, other)
    for tip in model.tips:
        i = SIDES.index(tip.side)
        point = middle if tip.joint == "pelvis" else centres[:, i, JOINTS.index(tip.joint)]
        if tip.offset is not None:
            point = point + _offset(tip, model, calibrate) @ rotation[tip.segment][:, i]
        points[tip.name] = point
    return points


def _offset(tip: Tip, model: ScaledModel, calibrate: xr.Dataset) -> Array:
    """Return a point's place from its joint centre in the study's axes of its segment, (3,), m.

    The model's foot is flat on the floor in the static trial, its pelvis turned about z, its thigh as the study's.
    """
    offset = np.asarray(tip.offset)
    if tip.segment == "pelvis":
        c, s = np.cos(model.pelvis.tilt_rad), np.sin(model.pelvis.tilt_rad)
        return np.array([c * offset[0] - s * offset[1], s * offset[0] + c * offset[1], offset[2]])
    if tip.segment == "foot":
        rotation = calibrate["static_rotation"].sel(side=tip.side, pose="foot").values
        forward, up = rotation[0] * (1, 0, 1), np.array([0.0, 1.0, 0.0])
        flat = np.stack([unit(forward), up, cross(unit(forward), up)])
        return np.asarray(rotation @ flat.T @ offset)
    return offset


def posed(points: dict[str, Array]) -> tuple[int, int]:
    """Return first and last frame (exclusive) of the longest stretch with all points that are ever seen."""
    seen = np.array([np.isfinite(point).all(axis=1) for point in points.values()])
    every = np.asarray(seen[seen.any(axis=1)].all(axis=0) & seen.any())
    return max(stretches(every), key=lambda run: run[1] - run[0], default=(0, 0))
