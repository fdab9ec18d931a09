"""The sole of a foot in plan, from the markers of heel and toe."""

import numpy as np

from ..arrays import Array
from ..dynamics.vectors import unit

# the sole begins this far in front of the heel marker, of 1 cm radius behind a heel that curves up by as much; the tips
# are this share of heel to toe beyond the toe marker, on the metatarsal heads: at 72 to 77 % of a foot's length
SOLE_STARTS_M, TIP_SHARE = 0.02, 0.3
HALF_SOLE_M = 0.045  # half of a sole's width
# half of the width of heel and ball, and how far the pad of the big toe presses beyond the toe marker, per distance of
# the markers: 3.2, 4.8 and 4 cm of a foot of 26 cm. The heel is widest as far in front of its back
HEEL_SHARE, BALL_SHARE, PAD_SHARE = 0.16, 0.24, 0.2


def sole(heel: Array, toe: Array) -> Array:
    """Return the corners of a sole in plan, from its back around (time, 6, 3), m, at the height of the lower marker.

    Args:
        heel, toe: markers (time, 3), lab axes, m.
    """
    line = (toe - heel) * [1, 0, 1]
    length, ahead = np.linalg.norm(line, axis=1, keepdims=True), unit(line)
    right = length * np.stack([-ahead[:, 2], np.zeros(len(ahead)), ahead[:, 0]], axis=1)
    back = heel + SOLE_STARTS_M * ahead
    wide = back + HEEL_SHARE * line
    around = [back, wide + HEEL_SHARE * right, toe + BALL_SHARE * right, toe + PAD_SHARE * line]
    corners = np.stack([*around, toe - BALL_SHARE * right, wide - HEEL_SHARE * right], axis=1)
    corners[..., 1] = np.fmin(heel[:, 1], toe[:, 1])[:, None]
    return np.asarray(corners)
