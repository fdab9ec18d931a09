"""Frame of the upper body, pelvis, trunk, head and arms as one, by hips and shoulders."""

import numpy as np

from ...arrays import Array
from ...conventions import SIDES
from ...dynamics.vectors import cross, dot, unit


def upper_body_frame(hips: Array, shoulders: Array) -> Array:
    """Return the axes (time, 3, 3) of the upper body as rows.

    y leads from the midpoint of the hips to that of the shoulders. z, to the right, is midway between the lines of
    hips and shoulders, which turn against each other in walking: one body turns as their mean. NaN where one of the
    four is unknown, or the shoulders point to the left of the hips: their labels are exchanged.

    Args:
        hips, shoulders: (time, side, 3), lab axes, m.
    """
    left, right = SIDES.index("left"), SIDES.index("right")
    y = unit(shoulders.mean(axis=1) - hips.mean(axis=1))
    across = [unit(points[:, right] - points[:, left]) for points in (hips, shoulders)]
    x = unit(cross(y, across[0] + across[1]))
    frame = np.stack([x, y, cross(x, y)], axis=-2)
    frame[~(dot(*across) > 0)] = np.nan
    return frame
