"""Doubts about a leg by its static trial: a segment that its markers define badly, and a knee that is bent.

Both are measured and stored. The bounds are from what else is uncertain: a flexion axis by palpated epicondyles is off
by some 5 degrees (Della Croce U et al. 1999, Med Biol Eng Comput 37:155-161), and markers on skin deviate from the
places that a rigid segment gives them by 1 to 4 mm (root mean square in walking, five laboratories), usually 2.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import xarray as xr

from ...arrays import Array
from ...body.joint_angles import angles
from ...body.plausibility import LARGEST_STANDING_BEND_DEG
from ...body.skeleton import Skeleton
from ...conventions import FROM_PELVIS, SIDES
from ...errors import Problem, warning

MARKER_ERROR_M, LARGEST_TURN_DEG = 0.002, 5.0
STRAIGHTEST = 10.0  # percentile of the knee's flexion: in a walk that serves as static trial, where it bears weight


def singular_values(cluster: Mapping[str, Array]) -> Array:
    """Return the singular values (3,) of a cluster's markers about their centre, m, the largest first; NaN of none."""
    if not cluster:
        return np.full(3, np.nan)
    places = np.array([*cluster.values()])
    return np.linalg.svd(places - places.mean(axis=0), compute_uv=False)


def orientation_noise(turn_per_marker: Array) -> Array:
    """Return the error of each segment's orientation about its worst axis for an error of 1 m in each coordinate.

    Args:
        turn_per_marker: (side, pose, local_axis, marker, axis), rad per m, see
            :func:`pipeline.steps.calibrate.marker_sensitivity.per_marker`.

    Returns:
        (side, pose), rad per m: the root of the largest eigenvalue of its covariance, by independent errors.
    """
    flat = turn_per_marker.reshape(*turn_per_marker.shape[:3], -1)
    return np.asarray(np.sqrt(np.linalg.eigvalsh(flat @ np.swapaxes(flat, -1, -2))[..., -1]))


def knee_bend_deg(still: Skeleton) -> float:
    """Return the flexion of the knee in the static trial where it is straightest, degrees."""
    flexion = -np.degrees(angles(still.frames["thigh"], still.frames["shank"], smallest_floating_axis=0.0)[:, 0])
    return float(np.nanpercentile(flexion, STRAIGHTEST))


def find_doubts(file: str, calibration: xr.Dataset) -> Iterator[Problem]:
    """Find legs with a segment that is defined badly, or with a bent knee.

    Args:
        file: of the static trial.
        calibration: with ``orientation_noise`` and ``static_knee_flexion``, NaN of a leg that cannot be used.
    """
    for side in SIDES:
        of_side = calibration.sel(side=side)
        turns_deg = np.degrees(of_side.orientation_noise.values * MARKER_ERROR_M)
        for segment, turn_deg in zip(FROM_PELVIS, turns_deg.tolist(), strict=True):
            if turn_deg > LARGEST_TURN_DEG:
                what = f"{side} {segment} is ill defined: {1000 * MARKER_ERROR_M:g} mm in its markers turn it by"
                remedy = "they lie nearly on a line: add another marker of it to the body model"
                yield warning(file, f"{what} {turn_deg:.0f} degrees", remedy, "leg_ill_defined")
        bend_deg = float(of_side.static_knee_flexion)
        if bend_deg > LARGEST_STANDING_BEND_DEG:
            what = (
                f"{side} knee is bent by {bend_deg:.0f} degrees or more: this posture is no zero of the leg's angles,"
            )
            what += " and may shift its joint centres by centimetres and its ankle angle by 10 degrees"
            remedy = "use a trial of upright standing; static_offset: subtract gives this leg no angles"
            yield warning(file, what, remedy, "static_knee_bent")
