"""Time derivatives from a spline through the samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.dynamics.block_matrix import cross
from pipeline.filters import by_stretches

Array = NDArray[np.float64]
DEGREE = 5


def derivatives(values: Array, time: Array) -> tuple[Array, Array]:
    """Return first and second time derivatives of evenly sampled values by a quintic interpolating spline.

    A central second difference misses (2 pi f h)^2 / 12 of the acceleration; the spline misses (2 pi f h)^4 / 720
    of it and (2 pi f h)^6 / 5040 of the velocity, more in the last few samples before an end. Each stretch
    between gaps is treated by itself; one too short for the spline gives NaN.

    Args:
        values: (time, ...), NaN where missing.
        time: (time,), s, evenly spaced.

    Returns:
        Two arrays (time, ...), per second and per second squared.

    Source: Woltring HJ (1985) Hum Mov Sci 4:229-245, for splines as differentiators of marker data.
    """
    from scipy.interpolate import make_interp_spline

    step = (time[-1] - time[0]) / (len(time) - 1) if len(time) > 1 else 1.0

    def of_stretch(stretch: Array) -> Array:
        if len(stretch) <= DEGREE + 1:
            return np.full((2, *stretch.shape), np.nan)
        instants = np.arange(len(stretch)) * step
        spline = make_interp_spline(instants, stretch, k=DEGREE)
        return np.stack([spline(instants, 1), spline(instants, 2)])

    both = by_stretches(of_stretch, values, outputs=2)
    return both[0], both[1]


def angular_rates(rotation: Array, first: Array, second: Array) -> tuple[Array, Array]:
    """Return angular velocity and acceleration from rotation matrices and their time derivatives.

    With v_segment = R v_lab, S(w) = R R'^T and S(w') is the skew part of R R''^T (R' R'^T is symmetric).
    The skew part of a sum of a b^T is S of half the sum of b x a, here over the columns of R and its derivative.

    Args:
        rotation: (..., 3, 3), NaN where unknown.
        first, second: its derivatives, per second and per second squared.

    Returns:
        (..., 3) each, segment axes, rad/s and rad/s2.

    Source: Zatsiorsky VM (1998) Kinematics of Human Motion, section 3.1.
    """
    columns, first, second = (np.swapaxes(matrix, -1, -2) for matrix in (rotation, first, second))
    return cross(first, columns).sum(axis=-2) / 2, cross(second, columns).sum(axis=-2) / 2
