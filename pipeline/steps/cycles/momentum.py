r"""Momentum of the whole body: a judge of plates, mass and rate that shares no step with inverse dynamics.

While the other foot swings, one foot carries the body, so that with mass m and centre of mass c::

    mean vertical force = m (g + change of the vertical velocity of c / time)

The ratio of the two sides is 1 for a sound stance. It differs from 1 by a wrong gain of the plate, a wrong mass, a
load that something else carries (the other foot, a handrail), or a foot partly off the plate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

from ...arrays import Array
from ...conventions import HIP, STANDARD_GRAVITY_M_S2, UP
from ...trials.session import AnyTrial

# Standard deviations. SCALES: of mass and gain. Clothes, shoes and time since the weighing change a mass by some 2 %,
# plates in use are trusted to 1.5 %. SWAY_M_S: trunk and arms move against the hips. The pelvis rises and falls some
# 5 mm more than the centre of mass at each step (as Gard SA et al. 2004, Hum Mov Sci 22:597-610 show for fast walks);
# with 2 steps a second that is .045 m/s in root mean square. The rest is for gait that limps, and for soft tissue.
SCALES, SWAY_M_S = 0.025, 0.06
REFUSED, DOUBTED = 4.0, 3.0  # standard deviations from 1


class Support(NamedTuple):
    """Vertical momentum of each stance in single support (stance,).

    NaN where the recording does not hold the whole swing of the other foot, or in it a force or the hips are not known.
    """

    ratio: Array  # mean force per force needed
    deviation: Array  # standard deviation of the ratio in sound walks

    @property
    def off(self) -> Array:
        """Return by how many standard deviations each ratio differs from 1."""
        return np.asarray((self.ratio - 1) / self.deviation)


def in_single_support(kinematics: AnyTrial, contacts: AnyTrial, calibrate: xr.Dataset) -> Support:
    """Return how the vertical force of each stance agrees with the body's momentum while the other foot is in the air.

    Before and after the stance of a runner both feet are; that time is part of it.
    """
    time, mass_kg = contacts["time"].values, float(calibrate.attrs["body_mass_kg"])
    velocity = centre_of_mass(kinematics, calibrate, "velocity")[:, UP]
    force = contacts["ground_force"].values[..., UP].sum(axis=1)
    seen = np.isfinite(force + velocity)
    side, start, end = (contacts[f"contact_{name}"].values for name in ("side", "start", "end"))
    result = np.full((2, len(side)), np.nan)
    for i in range(len(side)):
        other = side != side[i]
        swings = np.stack([end[other][:-1], start[other][1:]], axis=1)  # of the other foot
        shared = np.minimum(swings[:, 1], end[i]) - np.maximum(swings[:, 0], start[i])
        if not (shared > 0).any():
            continue
        lifted, lands = swings[shared.argmax()]
        frames = np.flatnonzero(seen & (time >= lifted) & (time <= lands))
        inside = slice(frames[0], frames[-1] + 1) if len(frames) else slice(0)
        if len(frames) > 1 and np.isfinite(force[inside]).all():
            result[:, i] = _ratio(time[inside], force[inside] / mass_kg, velocity[inside])
    return Support(*result)


def _ratio(time: Array, force: Array, velocity: Array) -> tuple[float, float]:
    """Return the ratio and its standard deviation, by force per mass and velocity (sample,)."""
    lasts_s = time[-1] - time[0]
    needed = STANDARD_GRAVITY_M_S2 + (velocity[-1] - velocity[0]) / lasts_s
    return np.trapezoid(force, time) / lasts_s / needed, np.hypot(SCALES, np.sqrt(2) * SWAY_M_S / lasts_s / needed)


def centre_of_mass(kinematics: AnyTrial, calibrate: xr.Dataset, rate: str) -> Array:
    """Return velocity or acceleration of the body's centre of mass (sample, 3), lab axes.

    Head, arms and trunk move with the midpoint of the hips, and so does a segment of the legs that is not seen.
    """
    hips = kinematics[f"joint_centre_{rate}"].values[:, :, HIP].mean(axis=1, dtype=float)
    share = np.nan_to_num(calibrate["segment_mass"].values / calibrate.attrs["body_mass_kg"])
    legs = kinematics[f"com_{rate}"].values[:, :, : share.shape[1]] - hips[:, None, None]
    return np.asarray(hips + np.einsum("tsga,sg->ta", np.nan_to_num(legs), share))
