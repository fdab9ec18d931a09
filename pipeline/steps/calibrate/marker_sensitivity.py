"""Sensitivity of poses and joint centres to marker displacements, for the uncertainty of ``kinetics``.

First derivatives of the functions that compute the motion, in the posture of the static trial: noise is small against
the distances between markers, and a cluster keeps its shape in other postures.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...arrays import Array
from ...body.skeleton import CalibratedSide, Skeleton, moving_legs
from ...conventions import FROM_PELVIS, JOINTS, PROXIMAL, SIDES
from .reference_trial import ReferenceTrial

STEP_M = 1e-5


def per_marker(reference: ReferenceTrial, calibrated: Mapping[str, CalibratedSide]) -> dict[str, Any]:
    """Return, as variables, the effect of single markers on the skeleton, by central differences.

    ``marker`` has the labels with an effect; there is none on a side that is not calibrated. Joint centres are in the
    axes of the segment that carries them, else of the proximal one.
    """
    groups = {**{name: (name,) for name in reference.points}, **reference.model.labels}
    where = {label: reference.markers[:, i] for i, label in enumerate(reference.labels)} | reference.points
    names = list(dict.fromkeys(label for group in groups.values() for label in group))
    mean = np.array([np.nanmean(where[name], axis=0) for name in names])
    apart = STEP_M * np.eye(mean.size).reshape(-1, *mean.shape)
    copies = np.concatenate([mean + apart, mean - apart, mean[None]])
    column = {name: i for i, name in enumerate(names)}
    moved = {landmark: copies[:, [column[name] for name in group]].mean(axis=1) for landmark, group in groups.items()}
    legs = moving_legs(moved, reference.model.body_model.legs, calibrated, len(copies))
    carrier = next(iter(calibrated.values())).carrier
    parts = [_of_leg(legs[side], calibrated[side].carrier if side in calibrated else carrier) for side in SIDES]
    turn, origin, centre = (
        np.moveaxis(np.nan_to_num(part).reshape(len(SIDES), -1, *mean.shape, 3), -1, 2)
        for part in zip(*parts, strict=True)
    )
    effective = np.any([(part != 0).any(axis=(0, 1, 2, 4)) for part in (turn, origin, centre)], axis=0)
    dims = ("local_axis", "marker", "axis")
    return {
        "marker": np.array([name for name, counts in zip(names, effective, strict=True) if counts], dtype=str),
        "axis": list("xyz"),
        "segment_turn_per_marker": (("side", "pose", *dims), turn[:, :, :, effective]),
        "segment_origin_per_marker": (("side", "pose", *dims), origin[:, :, :, effective]),
        "joint_centre_per_marker": (("side", "joint", *dims), centre[:, :, :, effective]),
    }


def _of_leg(leg: Skeleton, carrier: Mapping[str, str]) -> tuple[list[Array], list[Array], list[Array]]:
    """Return turns, displacements of origins and of ankle, knee and hip centre, (marker x axis, 3) each."""

    def by_difference(values: Array) -> Array:
        plus, minus = np.split(values[:-1], 2)
        return np.asarray((plus - minus) / (2 * STEP_M))

    still = {name: leg.frames[name][-1] for name in FROM_PELVIS}
    turns = []
    for name in FROM_PELVIS:
        skew = by_difference(leg.frames[name]) @ still[name].T  # -S(turn)
        turns.append(np.stack([skew[:, 1, 2], skew[:, 2, 0], skew[:, 0, 1]], axis=-1))
    origins = [by_difference(leg.origins[name]) @ still[name].T for name in FROM_PELVIS]
    centres = [
        by_difference(leg.centres[f"{joint}_centre"]) @ still[carrier[joint] or PROXIMAL[joint]].T for joint in JOINTS
    ]
    return turns, origins, centres
