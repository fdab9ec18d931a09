"""Poses of segments: from the axis rules of a body model, or fitted to a marker cluster.

Axes of every segment: x anterior, y proximal, z to the subject's right, on both sides.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays import Array
from ..conventions import SIDE_SIGN
from ..dynamics.vectors import cross, unit
from .landmarks import point
from .rules import AxisRule


def frame(rules: Sequence[AxisRule], points: Mapping[str, Array], frames: Mapping[str, Array], side: str) -> Array:
    """Return the rotation matrices of a segment from two axis rules.

    The first rule's axis is kept; the second gives the plane: the third axis is normal to both, and the second
    one is completed at right angles.

    Args:
        points: landmarks and joint centres (..., 3), m.

    Returns:
        (..., 3, 3), v_segment = rotation @ v_lab: the rows are the segment's axes in the lab.
    """
    (first, u), (second, v) = (
        (rule.axis, direction_of(rule, points, frames, side) * ((1, 0, 1) if rule.level else 1)) for rule in rules
    )
    i, j = "xyz".index(first), "xyz".index(second)
    k = 3 - i - j
    cyclic = 1.0 if (j - i) % 3 == 1 else -1.0
    axes = {i: unit(u)}
    axes[k] = cyclic * unit(cross(axes[i], v))
    axes[j] = cyclic * cross(axes[k], axes[i])
    return np.stack([axes[0], axes[1], axes[2]], axis=-2)


def direction_of(rule: AxisRule, points: Mapping[str, Array], frames: Mapping[str, Array], side: str) -> Array:
    """Return the direction (..., 3) that a rule gives, in lab axes; its length means nothing."""
    if rule.along:
        segment, axis = rule.along.split(".")
        return frames[segment][..., "xyz".index(axis), :]
    direction = point(points, rule.end) - point(points, rule.start)
    return SIDE_SIGN[side] * direction if rule.mediolateral else direction


THINNEST = 1e-3  # (width / length)^2 of the thinnest cluster; below, rotation about its line is noise
NEXT, LAST = [1, 2, 0], [2, 0, 1]
COFACTORS = [np.ix_(i, j) for i, j in ((NEXT, NEXT), (LAST, LAST), (NEXT, LAST), (LAST, NEXT))]


def fit_pose(reference: Array, measured: Array) -> tuple[Array, Array, Array]:
    """Return the pose that carries a reference cluster onto the measured points, by least squares.

    Frames in which fewer than three points are seen, or in which they lie on a line (nearly: a width below 1/30 of
    the length), give NaN; other missing points are left out of the fit of that frame.

    Args:
        reference: (points, 3), in segment axes, m.
        measured: (..., points, 3), in lab axes, m; NaN where unseen.

    Returns:
        rotation (..., 3, 3) with v_segment = rotation @ v_lab; position (..., 3) of the segment's origin in the
        lab, m; root-mean-square residual (...) of the fitted points, m.

    Source: Soederkvist I, Wedin PA (1993) J Biomech 26:1473-1477; Kabsch W (1976) Acta Cryst A32:922.
    """
    shape = measured.shape[:-2]
    # frames last: points (point, axis, frame), vectors (axis, frame)
    points = np.ascontiguousarray(np.moveaxis(measured.reshape(-1, *reference.shape), 0, -1))
    seen = np.asarray(np.isfinite(points).all(axis=1))
    count = np.where((count := seen.sum(axis=0)) >= 3, count, np.nan)
    points = np.where(seen[:, None], points, 0.0)
    centre = points.sum(axis=0) / count
    arms = (points - centre) * seen[:, None]
    middle = reference.mean(axis=0)
    local = reference - middle
    local_centre = local.T @ seen / count
    # the arms of the measured points sum to zero, so that the reference needs no weighted centre here
    to_segment = nearest_rotation((local.T @ arms.reshape(len(local), -1)).reshape(3, *centre.shape))
    carried = (local @ to_segment.reshape(3, -1)).reshape(points.shape)
    offset = (local_centre[:, None] * to_segment).sum(axis=0)
    error = (arms - carried + offset) * seen[:, None]
    residual = np.sqrt((error * error).sum(axis=(0, 1)) / count)
    position = centre - offset - (middle[:, None, None] * to_segment).sum(axis=0)
    return (
        np.moveaxis(to_segment, -1, 0).reshape(*shape, 3, 3),
        position.T.reshape(*shape, 3),
        residual.reshape(shape),
    )


def nearest_rotation(matrix: Array) -> Array:
    r"""Return the proper rotations R that maximise the trace of R^T A, NaN where A hardly determines one.

    With the singular values s of A, that of the third pair negative where det A is, R is the polynomial of A that
    maps each s to 1: ((p^2 - q) A + p cof A - A A^T A) / (p q - r), with p, q, r the elementary symmetric functions
    of s. These follow without any s from |A|^2 = p^2 - 2 q, |cof A|^2 = q^2 - 2 p r and det A = r by Newton's
    method for q, which falls onto its largest root from above; p q - r is the product of the sums of every two s.
    Exact to rounding; to 1e-11 for the thinnest clusters.

    Args:
        matrix: A (3, 3, frame).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        a = matrix / np.sqrt((matrix * matrix).sum(axis=(0, 1)))
        one, other, less, more = (a[part] for part in COFACTORS)
        cofactor = one * other - less * more
        r = (a[0] * cofactor[0]).sum(axis=0)
        squares = (cofactor * cofactor).sum(axis=(0, 1))
        q = np.sqrt(squares + 2 * np.sqrt(3) * np.maximum(r, 0))  # p is sqrt(3) at most
        going = np.ones(q.shape, dtype=bool)  # each frame by itself, so that others do not change its rounding
        for _ in range(50):
            p = np.sqrt(1 + 2 * q)
            step = np.where(going, (q * q - squares - 2 * p * r) / (2 * (q - r / p)), 0.0)
            q -= step
            going = np.abs(step) > 1e-12
            if not going.any():
                break
        p = np.sqrt(1 + 2 * q)
        held = p * q - r
        square = np.einsum("ikt,jkt->ijt", a, a)
        rotation = ((p * p - q) * a + p * cofactor - np.einsum("ijt,jkt->ikt", square, a)) / held
    return np.where(held > THINNEST * p * p * p, rotation, np.nan)


def mean_rotation(rotation: Array) -> Array:
    """Return the rotation nearest to the mean of rotations (time, 3, 3), NaN frames left out.

    It maximises the trace with the mean (chordal mean: Hartley R et al. 2013, Int J Comput Vis 103:267-305).
    """
    return nearest_rotation(np.nanmean(rotation, axis=0)[..., None])[..., 0]


def turn_about_y(angle_rad: float) -> Array:
    """Return the rotation (3, 3) from axes to those turned about y by an angle: the rows are the new axes."""
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
