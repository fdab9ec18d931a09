"""The knee alignment device: three rods on the knee in the static trial, which show the place of its lateral marker.

Davis RB, Ounpuu S, Tyburski D, Gage JR (1991) A gait analysis data collection and reduction technique. Hum Mov Sci
10:575-587.
"""

from collections.abc import Mapping

import numpy as np

from ..arrays import Array
from ..conventions import SIDE_SIGN
from ..dynamics.vectors import unit
from ..errors import UserError
from .landmarks import Points, mean_length
from .rules import Names

# share by which the distances between markers of a knee alignment device may differ. The rods are rigid and the same: a
# marker's centre may be off by some millimetres of about 140, a marker of the leg in place of one by far more
MOST_UNEVEN_DEVICE = 0.1
Devices = Mapping[str, tuple[Names, str]]  # as of pipeline.body.resolved_model.ResolvedModel


def with_devices(points: Points, devices: Devices) -> Points:
    """Return the landmarks (time, 3) of the static trial with those that an alignment device shows, m."""
    whole = dict(points)
    for landmark, ((a, b, c), side) in devices.items():
        ends = (points[a], points[b], points[c])
        whole[landmark] = device_corner(ends, points["asis_right"] - points["asis_left"], side)
    return whole


def refuse_wrong_device(points: Points, devices: Devices, side: str) -> None:
    """Refuse a knee alignment device with a marker that is exchanged or has moved.

    Its three rods are of one length and square to each other, so that their ends are equally far apart. The first of
    them lies along the knee's flexion axis: of the three it is the one most to the person's side, unless the knee
    points more than 45 degrees out of the pelvis's direction.
    """
    remedy = "label the device's markers right (KAX on the rod along the knee's axis), or use another static trial"
    for (first, second, third), of_side in devices.values():
        if of_side != side:
            continue
        ends = points[first], points[second], points[third]
        sides_mm = [1000 * mean_length(ends[i] - ends[i - 1]) for i in range(3)]
        if max(sides_mm) > (1 + MOST_UNEVEN_DEVICE) * min(sides_mm):
            apart = ", ".join(f"{length:.0f}" for length in sides_mm)
            what = f"the markers of the {side} knee alignment device are not equally far apart ({apart} mm)"
            raise UserError("", what, remedy, "markers_missing")
        outwards = SIDE_SIGN[side] * (points["asis_right"] - points["asis_left"])
        out_m = [float(np.nanmean(np.sum(end * unit(outwards), axis=-1))) for end in ends]
        if out_m[0] < max(out_m):
            what = f"not the axis marker is the outermost of the {side} knee alignment device"
            raise UserError("", what, remedy, "markers_missing")


def device_corner(markers: tuple[Array, Array, Array], to_right: Array, side: str) -> Array:
    """Return the corner of a knee alignment device, where its three equal rods meet at right angles.

    This is the place of the lateral knee marker (Davis et al. 1991). The ends of rods of length d are d sqrt(2)
    apart; the corner is d / sqrt(3) from their plane, towards the knee.

    Args:
        markers: the ends of the rods (..., 3), m, in any order.
        to_right: vector (..., 3) to the person's right.
    """
    a, b, c = markers
    rod = (np.linalg.norm(a - b, axis=-1) + np.linalg.norm(b - c, axis=-1) + np.linalg.norm(c - a, axis=-1)) / 18**0.5
    normal = np.cross(b - a, c - a)
    outward = SIDE_SIGN[side] * np.sign(np.sum(normal * to_right, axis=-1)) / np.linalg.norm(normal, axis=-1)
    return np.asarray((a + b + c) / 3 - normal * (outward * rod / 3**0.5)[..., None])
