"""Functional hip centre: the point of the pelvis about which the markers of the thigh move on spheres."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...body.body_model import BodyModel
from ...body.landmarks import Points, point
from ...body.rules import LegRules, landmarks_among
from ...body.segment_poses import frame
from ...errors import UserError
from ...trials.session import AnyTrial
from .functional_trials import UNUSABLE, landmarks_of, sides_shown, span_deg, unusable

# Simulated and mechanical hips: the error of the centre grows fast below some 20 degrees in either plane
# (Piazza SJ, Okita N, Cavanagh PR 2001, J Biomech 34:967-973; Ehrig RM et al. 2006, J Biomech 39:2798-2809).
SMALLEST_RANGE_DEG = 20.0
FEWEST_FRAMES = 50
LARGEST_RESIDUAL_M = 0.02
OTHERWISE = "or choose another calibrate.hip_centre"


class Sphere(NamedTuple):
    """The common centre (3,) of the markers' spheres, m, and the root-mean-square of their radial misfit, m."""

    centre: Array
    residual_m: float


class FunctionalHip(NamedTuple):
    """A functional hip centre."""

    centre: Array  # (3,) in pelvis axes from the mid-ASIS point, m
    residual_m: float  # root-mean-square distance of the thigh's markers from their spheres
    # sagittal_deg, frontal_deg: ranges of the thigh's direction in the pelvis, 5th to 95th percentile
    sagittal_deg: float
    frontal_deg: float
    frame_count: int  # frames that show pelvis and thigh


def sphere_centre(points: Array, *, repetitions: int = 20) -> Sphere:
    """Return the centre about which markers move on concentric spheres, by least squares in closed form.

    With v a marker's position and bars means over time, the centre c solves (Gamage SSHU, Lasenby J 2002,
    J Biomech 35:87-93, equations 5 to 8)

        2 sum(mean(v v^T) - v_bar v_bar^T) c = sum(mean(v |v|^2) - v_bar mean(|v|^2)).

    Noise of variance s2 in each coordinate adds 2 s2 to each marker's part of the matrix and 2 s2 v_bar to that of
    the right-hand side, which shifts the centre towards the markers. Both are subtracted repeatedly, with s2 the radial
    misfit (Halvorsen K 2003, J Biomech 36:999-1008).

    Args:
        points: (time, marker, 3), m; NaN where unseen, in the axes of the segment that holds the centre.
        repetitions: number of corrections.
    """
    seen = np.asarray(np.isfinite(points).all(axis=-1))
    some = seen.any(axis=0)
    points, seen = points[:, some], seen[:, some]
    count = seen.sum(axis=0)
    origin = np.nanmean(points, axis=(0, 1))  # near zero, squares keep their digits
    v = np.where(seen[..., None], points - origin, 0.0)
    square = (v**2).sum(axis=-1)
    mean = v.sum(axis=0) / count[:, None]
    matrix = 2 * (np.einsum("tmi,tmj,m->ij", v, v, 1 / count) - mean.T @ mean)
    right = np.einsum("tmi,tm,m->i", v, square, 1 / count) - (square.sum(axis=0) / count) @ mean
    variance = 0.0
    for _ in range(repetitions):
        centre = np.linalg.solve(
            matrix - 2 * variance * len(count) * np.eye(3), right - 2 * variance * mean.sum(axis=0)
        )
        radius = np.linalg.norm(v - centre, axis=-1)
        mean_radius = np.where(seen, radius, 0.0).sum(axis=0) / count
        variance = float(np.where(seen, (radius - mean_radius) ** 2, 0.0).sum() / count.sum())
    return Sphere(centre + origin, variance**0.5)


def functional_hip(points: Points, leg: LegRules) -> FunctionalHip:
    """Return the hip centre of one side from a trial in which the thigh circles about it.

    Args:
        points: landmarks (time, 3), m.

    Raises:
        UserError: too few markers or frames, too small a motion, or one that is no rotation about a point.
    """
    side, thigh, knee = leg.side, leg.segments["thigh"], leg.joint_centres["knee"]
    names = landmarks_among(thigh.cluster or (*thigh.points, *(name for rule in knee for name in rule.points)))
    shown = [name for name in names if name in points]
    try:
        pelvis = frame(leg.segments["pelvis"].axes, points, {}, side)
        middle = point(points, ("asis_left", "asis_right"))
    except KeyError as error:
        what = f"the pelvis is not seen: no {str(error.args[0]).replace('_', ' ')}"
        raise UserError("", what, f"label it, {OTHERWISE}") from None
    if not shown:
        raise UserError("", f"the {side} thigh is not seen: none of {', '.join(names)}", f"label them, {OTHERWISE}")
    inside = np.stack([np.einsum("tij,tj->ti", pelvis, points[name] - middle) for name in shown], axis=1)
    whole = inside[np.isfinite(inside).all(axis=(1, 2))]
    if len(whole) < FEWEST_FRAMES:
        what = f"{len(whole)} frames show the pelvis and {', '.join(shown)} together"
        raise UserError("", f"{what}, expected {FEWEST_FRAMES} or more", f"record it again, {OTHERWISE}")
    centre, residual_m = sphere_centre(whole)
    x, y, z = (whole.mean(axis=1) - centre).T
    sagittal, frontal = (span_deg(np.arctan2(part, -y)) for part in (x, z))
    if min(sagittal, frontal) < SMALLEST_RANGE_DEG:
        what = f"the {side} thigh moves by {sagittal:.0f} degrees forward and back and {frontal:.0f} to the sides"
        expected = f"expected {SMALLEST_RANGE_DEG:.0f} or more of both"
        raise UserError("", f"{what}, {expected}", f"circle the leg wider, {OTHERWISE}")
    if residual_m > LARGEST_RESIDUAL_M:
        what = f"the {side} thigh's markers stray from their spheres by {1000 * residual_m:.0f} mm"
        expected = f"expected {1000 * LARGEST_RESIDUAL_M:.0f} or less"
        raise UserError("", f"{what}, {expected}", f"look for markers that are exchanged or slip, {OTHERWISE}")
    return FunctionalHip(centre, residual_m, sagittal, frontal, len(whole))


def functional_hips(
    read: Mapping[str, AnyTrial], functional: Mapping[str, str], body_model: BodyModel
) -> dict[str, FunctionalHip]:
    """Return the hip centre of each side that a functional trial is listed for.

    Args:
        functional: condition of each functional trial: ``hip``, ``hip_left``, ``hip_right``; others are ignored.

    Raises:
        UserError: no such trial, or one that cannot be used.
    """
    hips = {}
    for trial, condition in functional.items():
        for side in sides_shown(condition, "hip"):
            try:
                hips[side] = functional_hip(landmarks_of(read[trial], body_model, OTHERWISE), body_model.legs[side])
            except UserError as error:
                raise unusable(error, f"functional trial {trial}") from None
    if not hips:
        remedy = f"list one with role functional and condition hip, hip_left or hip_right, {OTHERWISE}"
        what = "calibrate.hip_centre is functional, but no functional trial is listed"
        raise UserError("trials.tsv", what, remedy, UNUSABLE)
    return hips


def hip_text(hip: FunctionalHip | None, method: str) -> str:
    """Return how a hip centre was found, as a text; ``hip`` is None without a functional trial of the side."""
    if hip is None:
        return method if method != "functional" else "harrington, no functional trial of this side"
    return (
        f"functional: markers {1000 * hip.residual_m:.1f} mm from their spheres, range {hip.sagittal_deg:.0f} degrees "
        f"forward and back, {hip.frontal_deg:.0f} to the sides, {hip.frame_count} frames"
    )
