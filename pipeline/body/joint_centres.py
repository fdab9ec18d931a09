"""Joint centres from markers: hip regressions, chord function, predictive shift; joint widths.

Lengths in metres. Pelvis axes: origin midway between the anterior superior iliac spines (ASIS), x anterior,
y up, z to the right.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..conventions import SIDE_SIGN
from ..errors import UserError


def hip_centre(method: str, side: str, sizes: Mapping[str, float]) -> Array:
    """Return the hip joint centre in pelvis axes from the mid-ASIS point.

    Args:
        method: name of the regression, see :data:`REGRESSIONS`.
        sizes: ``pelvis_width`` (between the ASIS) and ``pelvis_depth`` (mid-ASIS to mid-PSIS) from the markers;
            ``leg_length`` (this side), ``leg_length_mean``, ``marker_radius`` and, for Davis,
            ``asis_trochanter_distance``, where known.

    Returns:
        (3,) position, m; the lateral component is negative on the left.

    Raises:
        UserError: the regression needs a size that is not known.
    """
    try:
        anterior, up, lateral = REGRESSIONS[method]({name: 1000 * value for name, value in sizes.items()})
    except KeyError as error:
        size = str(error.args[0]).replace("_mean", "")
        remedy = f"add {size}_{side}_m to participants.tsv, or choose another calibrate.hip_centre"
        what = f"hip centre by {method} needs the {size.replace('_', ' ')}"
        raise UserError("", what, remedy, "size_missing") from None
    return np.array([anterior, up, SIDE_SIGN[side] * lateral]) / 1000


def _harrington(mm: Mapping[str, float]) -> tuple[float, float, float]:
    """Harrington ME et al. (2007) J Biomech 40:595-602, single-variable equations."""
    return (
        -0.24 * mm["pelvis_depth"] - 9.9,
        -0.30 * mm["pelvis_width"] - 10.9,
        0.33 * mm["pelvis_width"] + 7.3,
    )


def _harrington_multiple(mm: Mapping[str, float]) -> tuple[float, float, float]:
    """Harrington ME et al. (2007) J Biomech 40:595-602, multiple regression with leg length."""
    width, depth, leg = mm["pelvis_width"], mm["pelvis_depth"], mm["leg_length"]
    return -0.24 * depth - 9.9, -0.16 * width - 0.04 * leg - 7.1, 0.28 * depth + 0.16 * width + 7.9


def _sangeux(mm: Mapping[str, float]) -> tuple[float, float, float]:
    """Sangeux M (2015) Gait Posture 42:402-405, pelvis width only."""
    width = mm["pelvis_width"]
    return -0.138 * width - 10.4, -0.305 * width - 10.9, 0.33 * width + 7.3


def _bell(mm: Mapping[str, float]) -> tuple[float, float, float]:
    """Bell AL, Pedersen DR, Brand RA (1990) J Biomech 23:617-621."""
    width = mm["pelvis_width"]
    return -0.19 * width, -0.30 * width, 0.36 * width


def _hara(mm: Mapping[str, float]) -> tuple[float, float, float]:
    """Hara R et al. (2016) Sci Rep 6:37707, leg length only."""
    leg = mm["leg_length"]
    return 11 - 0.063 * leg, -9 - 0.078 * leg, 8 + 0.086 * leg


def _davis(mm: Mapping[str, float]) -> tuple[float, float, float]:
    """Davis RB et al. (1991) Hum Mov Sci 10:575-587, with the marker radius on the ASIS.

    Half the distance between the ASIS is the lateral reference; the mean leg length of both sides scales the
    pelvis; the distance from ASIS to greater trochanter is estimated from leg length where it is not measured.
    """
    theta, beta = np.radians(28.4), np.radians(18.0)
    c = 0.115 * mm["leg_length_mean"] - 15.3
    trochanter = mm.get("asis_trochanter_distance") or 0.1288 * mm["leg_length"] - 48.56
    back = -trochanter - mm["marker_radius"]
    return (
        back * np.cos(beta) + c * np.cos(theta) * np.sin(beta),
        back * np.sin(beta) - c * np.cos(theta) * np.cos(beta),
        mm["pelvis_width"] / 2 - c * np.sin(theta),
    )


REGRESSIONS: dict[str, Callable[[Mapping[str, float]], tuple[float, float, float]]] = {
    "harrington": _harrington,
    "harrington_multiple": _harrington_multiple,
    "sangeux": _sangeux,
    "bell": _bell,
    "hara": _hara,
    "davis": _davis,
    "functional": _harrington,  # for a side without a functional trial
}


class Chord(NamedTuple):
    """Place of a joint centre among its proximal centre, lateral marker and wand, with the signs of Plug-in Gait."""

    radius_m: float  # distance from the lateral marker
    # angle about the segment's axis from wand to lateral marker, seen from the centre, inwards positive (ThighRotation,
    # ShankRotation)
    rotation_rad: float = 0.0
    # by how much the angle at the lateral marker is less than in a right-angled chord (AnkleAbAdd)
    abduction_rad: float = 0.0


def chord(proximal: Array, lateral: Array, wand: Array, place: Chord, side: str) -> Array:
    """Return the joint centre by the chord function (Davis RB et al. 1991, Hum Mov Sci 10:575-587).

    Without rotation and abduction the centre lies in the plane of the three points, on the other side of the line
    proximal-lateral than the wand, so that the angle proximal centre - centre - lateral marker is 90 degrees. The
    rotation turns this plane about that line, the abduction turns the centre in the plane about the lateral marker.

    Args:
        proximal: proximal joint centre (..., 3), m.
        lateral: lateral marker of the joint (..., 3), m.
        wand: marker that gives the plane (..., 3), m.

    Returns:
        (..., 3), m; NaN where the joint would be wider than the segment is long, or the wand cannot be so placed.
    """
    along, away, beside, up_m, out_m, length = _of_wand(proximal, lateral, wand)
    with np.errstate(invalid="ignore"):
        # e: square to the line proximal-lateral, at the angle `turn` from the wand's opposite. About the axis through
        # the right-angled centre, the wand is at the rotation from the lateral marker:
        # out sin(turn) cos(rotation) = (radius - up cosine + out sine cos(turn)) sin(rotation)
        cosine = place.radius_m / length
        angle = np.arccos(cosine)
        sine = np.sin(angle)
        swing, stay = (f(-SIDE_SIGN[side] * place.rotation_rad) for f in (np.sin, np.cos))
        size = np.hypot(stay, swing * sine)
        lead = swing * (place.radius_m - up_m * cosine) / (out_m * size)
        turn = np.arctan2(swing * sine, stay) + np.arcsin(lead)
    e = np.cos(turn) * away + np.sin(turn) * beside
    angle = angle - place.abduction_rad
    return np.asarray(lateral + place.radius_m * (np.cos(angle) * along + np.sin(angle) * e))


def chord_through(proximal: Array, lateral: Array, wand: Array, centre: Array, side: str) -> Chord:
    """Return the chord of which :func:`chord` gives this joint centre (time, 3), the mean of frames that show it."""
    along, away, beside, up_m, out_m, length = _of_wand(proximal, lateral, wand)
    arm = centre - lateral
    radius = np.linalg.norm(arm, axis=-1, keepdims=True)
    turn = np.arctan2(_dot(arm, beside), _dot(arm, away))
    cosine = radius / length
    right = np.arccos(cosine)
    ahead = radius - up_m * cosine + out_m * np.sin(right) * np.cos(turn)
    rotation = -SIDE_SIGN[side] * np.arctan2(out_m * np.sin(turn), ahead)
    abduction = right - np.arccos(_dot(arm, along) / radius)
    return Chord(*(float(np.nanmean(value)) for value in (radius, rotation, abduction)))


def _of_wand(proximal: Array, lateral: Array, wand: Array) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Return unit vectors from the lateral marker: to the proximal centre, away from the wand, and beside both.

    With them, (..., 1) in m: how far the wand is along the first and out against the second, and the first's length.
    """
    span = proximal - lateral
    length = np.linalg.norm(span, axis=-1, keepdims=True)
    along = span / length
    to_wand = wand - lateral
    up_m = _dot(to_wand, along)
    out = to_wand - up_m * along
    out_m = np.linalg.norm(out, axis=-1, keepdims=True)
    away = -out / out_m
    return along, away, -np.cross(along, away), up_m, out_m, length


def _dot(a: Array, b: Array) -> Array:
    return np.asarray((a * b).sum(axis=-1, keepdims=True))


def shift_centre(
    start: Array, axes: Array, shift: tuple[float, float, float], length: Array | float, side: str
) -> Array:
    """Return a joint centre predicted from a point: the shift, by fractions of a length, along given axes.

    Bruening DA et al. (2008, Clin Biomech 23:1299-1302): the ankle centre lies 2.7 % of the shank's length below
    the midpoint of the malleoli.

    Args:
        start: the point (..., 3), m.
        axes: (..., 3, 3), rows x forward, y up, z to the right.
        shift: fractions along x, y and, positive away from the body's midline, z.
        length: (...), m.
    """
    forward, up, lateral = shift
    local = np.array([forward, up, SIDE_SIGN[side] * lateral])
    return np.asarray(start + np.asarray(length)[..., None] * (local @ axes))


# m per cube root of kg, as for bodies of one shape. Least deviation from the 507 adults, mostly young and active, of
# Heinz G, Peterson LJ, Johnson RW, Kerk CJ (2003) J Stat Educ 11(2), knee and ankle diameters pressed to the bone:
# standard deviation 4.4 mm (knee) and 4.2 mm (ankle), means of men and women within 0.4 and 2 %.
M_PER_CUBE_ROOT_KG = {"knee": 0.0230, "ankle": 0.0170}
BY_MASS = "estimate: body mass"  # source of a width in participants.tsv


def width_of_mass(column: str, mass_kg: float) -> float | None:
    """Return the joint width, m, that body mass suggests for a column ``knee_width_left_m``; None for other columns."""
    joint = re.fullmatch(r"(knee|ankle)_width_(left|right)_m", column)
    return M_PER_CUBE_ROOT_KG[joint[1]] * mass_kg ** (1 / 3) if joint else None
