r"""Momentum of the whole body: a judge of plates, mass and rate that shares no step with inverse dynamics.

While the other foot swings, one foot carries the body, so that with mass m, centre of mass c and its force F::

    F = m (c'' - g), and mean vertical force = m (g + change of the vertical velocity of c / time)

The legs count with their own centres of mass, the rest with the hips. How far trunk and arms can move against them sets
the limits. They are refuted by a wrong gain or sign of a plate, a wrong mass or rate, and by a load that something else
carries: the other foot, or hands.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

from ...arrays import Array
from ...conventions import HIP, STANDARD_GRAVITY_M_S2, UP
from ...errors import Problem
from ...trials.session import AnyTrial
from ...variables.cycle_variables import RESIDUALS
from ...variables.stance_verdicts import doubt, refusal

# Standard deviations. SCALES: of mass and gain. Clothes, shoes and time since the weighing change a mass by some 2 %,
# plates in use are trusted to 1.5 %. SWAY_M_S: trunk and arms move against the hips. The pelvis rises and falls some
# 5 mm more than the centre of mass at each step (as Gard SA et al. 2004, Hum Mov Sci 22:597-610 show for fast walks);
# with 2 steps a second that is .045 m/s in root mean square. The rest is for gait that limps, and for soft tissue.
SCALES, SWAY_M_S = 0.025, 0.06
SPREADS = 3.0  # standard deviations beyond which a ratio is doubted
# Horizontal force per mass that trunk and arms may turn against the motion of the hips, m/s2, by chance of their phase:
# they accelerate against them by .5 m/s2 and sound forces agree with the motion by .75 along the walk, .4 aside.
ALONG_M_S2, ASIDE_M_S2 = 0.3, 0.45
# Residual at the pelvis, percent. Force: head, arms and trunk, 58 % of the mass, would move 4.5 cm against the hips at
# 2 Hz. Moment: a trunk that leans by 35 degrees unseen. Who runs takes 2.5 to 3 steps a second: the same motion takes
# forces that grow with the square of the rate.
FORCE, MOMENT, STEPS_HZ = 30.0, 7.0, 2.0
# vertical acceleration of trunk and arms against the hips: 7 mm, twice a second, in root mean square
UNSEEN_M_S2 = 0.75
TRAVELS_M_S = 0.3  # slower is on a belt
# excess, in units of the limits of doubt, beyond which a stance is refused; a rate is only doubted, as force and motion
# of short steps hardly vary
REFUSED = {"momentum": 4 / 3, "direction": 2.0, "residual": 2.0}


class Support(NamedTuple):
    """What the force of each stance shows in single support (stance,).

    NaN where the recording does not hold the whole swing of the other foot, or in it a force or the hips are not known,
    or the foot steps twice: then a stance of the other foot was not seen.
    """

    ratio: Array  # mean vertical force per force needed
    deviation: Array  # standard deviation of the ratio in sound walks
    # along, aside: horizontal force per mass towards the acceleration of the hips, along the walk and across it, m/s2
    along: Array
    aside: Array
    # standard deviation of vertical force per mass over that of the vertical acceleration; NaN also if they differ by
    # no more than trunk and arms can move
    variation: Array
    steps_hz: Array  # steps a second, from the foot strike to that of the other foot


def in_single_support(kinematics: AnyTrial, contacts: AnyTrial, calibrate: xr.Dataset) -> Support:
    """Return how the force of each stance agrees with the body's momentum while the other foot is in the air.

    Before and after the stance of a runner both feet are; that time is part of it.
    """
    time, mass_kg = contacts["time"].values, float(calibrate.attrs["body_mass_kg"])
    velocity, acceleration = (centre_of_mass(kinematics, calibrate, rate) for rate in ("velocity", "acceleration"))
    hips = kinematics["joint_centre_acceleration"].values[:, :, HIP].mean(axis=1, dtype=float)
    force = contacts["ground_force"].values.sum(axis=1, dtype=float) / mass_kg
    seen = np.isfinite(force + velocity).all(axis=1)
    side, start, end = (contacts[f"contact_{name}"].values for name in ("side", "start", "end"))
    result = np.full((len(side), len(Support._fields)), np.nan)
    for i in range(len(side)):
        other = side != side[i]
        swings = np.stack([end[other][:-1], start[other][1:]], axis=1)  # of the other foot
        shared = np.minimum(swings[:, 1], end[i]) - np.maximum(swings[:, 0], start[i])
        if not (shared > 0).any():
            continue
        lifted, lands = swings[shared.argmax()]
        if ((start[~other] < lands) & (end[~other] > lifted)).sum() > 1:
            continue
        frames = np.flatnonzero(seen & (time >= lifted) & (time <= lands))
        inside = slice(frames[0], frames[-1] + 1) if len(frames) else slice(0)
        if len(frames) > 1 and np.isfinite(force[inside]).all():
            parts = time[inside], force[inside], velocity[inside]
            agreement = _agreement(*parts[1:], acceleration[inside], hips[inside])
            result[i] = *_ratio(*parts), *agreement, 1 / (lands - start[i])
    return Support(*result.T)


def _ratio(time: Array, force: Array, velocity: Array) -> tuple[float, float]:
    """Return the ratio and its standard deviation, by force per mass and velocity (sample, 3)."""
    lasts_s = time[-1] - time[0]
    needed = STANDARD_GRAVITY_M_S2 + (velocity[-1, UP] - velocity[0, UP]) / lasts_s
    spread = np.sqrt(2) * SWAY_M_S / lasts_s / needed
    return np.trapezoid(force[:, UP], time) / lasts_s / needed, np.hypot(SCALES, spread)


def _agreement(force: Array, velocity: Array, acceleration: Array, hips: Array) -> tuple[float, float, float]:
    """Return along, aside and variation of :class:`Support`, by force per mass and motion (sample, 3).

    On the level the hips stand for the body: the swinging leg moves against trunk and arms, which are not seen.
    """
    known = np.isfinite(acceleration).all(axis=1)
    if known.sum() < 3:
        return np.nan, np.nan, np.nan
    travel = np.nanmean(velocity, axis=0) * [1, 0, 1]
    speed = np.linalg.norm(travel)
    ahead = travel / speed if speed > TRAVELS_M_S else np.array([1.0, 0, 0])
    axes = np.stack([ahead, np.cross(ahead, [0, 1, 0])], axis=1)
    pushed, moved = force[known] @ axes, hips[known] @ axes
    with np.errstate(divide="ignore", invalid="ignore"):
        along, aside = (pushed * moved).mean(axis=0) / np.sqrt((moved**2).mean(axis=0))
        varies = force[known, UP].std() / acceleration[known, UP].std()
    return along, aside, varies if (force - acceleration)[known, UP].std() > UNSEEN_M_S2 else np.nan


def deviations(figures: Array) -> Array:
    """Return by how many standard deviations the vertical force of each stance differs; ``figures`` as below."""
    ratio, deviation = (figures[:, [*RESIDUALS].index(f"momentum_{name}")] for name in ("ratio", "deviation"))
    return np.asarray((ratio - 1) / deviation)


def judged(figures: Array) -> list[tuple[Problem | None, list[Problem]]]:
    """Return the refusal of each stance, None without, and its doubts.

    Args:
        figures: (stance, figure) of :data:`pipeline.variables.cycle_variables.RESIDUALS`; NaN says nothing.
    """
    of = dict(zip(RESIDUALS, figures.T, strict=True))
    hidden = np.fmax(1, (of["steps_hz"] / STEPS_HZ) ** 2)
    with np.errstate(divide="ignore"):
        excess = {
            "momentum": np.abs(deviations(figures)) / SPREADS,
            "direction": np.fmax(-of["momentum_along"] / ALONG_M_S2, -of["momentum_aside"] / ASIDE_M_S2),
            "residual": np.fmax(of["residual_force_rms_percent"] / FORCE, of["residual_moment_rms_percent"] / MOMENT)
            / hidden,
            "rate": np.abs(np.log2(of["momentum_variation"])),
        }
    every = []
    for i, values in enumerate({name: float(column[i]) for name, column in of.items()} for i in range(len(figures))):
        codes = [code for code, by in excess.items() if by[i] > 1]
        wrong = [code for code in codes if excess[code][i] > REFUSED.get(code, np.inf)]
        values["percent"] = 100 * values["momentum_ratio"]
        first = refusal(f"{wrong[0]}_disagrees", **values) if wrong else None
        every.append((first, [doubt(f"{code}_doubted", **values) for code in codes]))
    return every


def centre_of_mass(kinematics: AnyTrial, calibrate: xr.Dataset, rate: str) -> Array:
    """Return velocity or acceleration of the body's centre of mass (sample, 3), lab axes.

    Head, arms and trunk move with the midpoint of the hips, and so does a segment of the legs that is not seen.
    """
    hips = kinematics[f"joint_centre_{rate}"].values[:, :, HIP].mean(axis=1, dtype=float)
    share = np.nan_to_num(calibrate["segment_mass"].values / calibrate.attrs["body_mass_kg"])
    legs = kinematics[f"com_{rate}"].values[:, :, : share.shape[1]] - hips[:, None, None]
    return np.asarray(hips + np.einsum("tsga,sg->ta", np.nan_to_num(legs), share))
