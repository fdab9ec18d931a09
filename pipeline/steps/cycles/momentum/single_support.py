r"""Momentum of the whole body: a judge of plates, mass and rate that shares no step with inverse dynamics.

While the other foot swings, one foot carries the body, so that with mass m, centre of mass c and its force F::

    F = m (c'' - g), and mean vertical force = m (g + change of the vertical velocity of c / time)

From an event of one foot to the same event of the other, trunk and arms move against the hips by as much at both ends,
so that this time, if all its forces are known, tells more. The legs count with their own centres of mass, the rest with
the hips, and how far trunk and arms can move against them sets the limits; or trunk, head and arms are seen
(:func:`sees_trunk`), count with their own, and the limits are closer. They are refuted by a wrong gain or sign of a
plate, a wrong mass or rate, and by a load that something else carries: the other foot, or hands. All stances of a
session together tell which: a wrong mass is in all, a wrong gain in those of one plate.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ....arrays import Array, Flags
from ....conventions import HIP, SIDES, STANDARD_GRAVITY_M_S2, UP
from ....trials.session import AnyTrial
from ....variables.cycle_variables import RESIDUALS
from ....variables.stance_verdicts import Verdict

# Standard deviations. Clothes, shoes and time since the weighing change a mass by some 2 %, plates in use are trusted
# to 1.5 %; SCALES: both. SWAY_M_S: trunk and arms move against the hips. The pelvis rises and falls some 5 mm more than
# the centre of mass at each step (as Gard SA et al. 2004, Hum Mov Sci 22:597-610 show for fast walks); with 2 steps a
# second that is .045 m/s in root mean square. The rest is for gait that limps, and for soft tissue. OVER_A_STEP_M_S:
# half of it, as both ends of a step are alike but in gait that limps.
MASS, GAIN, SWAY_M_S, OVER_A_STEP_M_S = 0.02, 0.015, 0.06, 0.03
# What is left of it where trunk and arms are seen, an assumption: skin moves over ribs and hips by 5 mm in root mean
# square, twice a second; that is .06 m/s of one marker, and a third of it in the mean of the body.
SEEN_SWAY_M_S = 0.02
SCALES = float(np.hypot(MASS, GAIN))
# standard deviations beyond which a ratio refuses a stance; and beyond which, by all stances of a session, its mass, a
# plate or a stance is doubted: 1 in 200, as several of them concern a stance
REFUSED_SPREADS, SPREADS = 5.0, 2.8
# Horizontal force per mass that trunk and arms may turn against the motion of the hips, m/s2, by chance of their phase:
# they accelerate against them by .5 m/s2 and sound forces agree with the motion by .75 along the walk, .4 aside; as
# below, by more with more than two steps a second.
ALONG_M_S2, ASIDE_M_S2 = 0.3, 0.45
# Residual at the pelvis, percent. Force: head, arms and trunk, 58 % of the mass, would move 4.5 cm against the hips at
# 2 Hz. Moment: a trunk that leans by 35 degrees unseen. Who runs takes 2.5 to 3 steps a second: the same motion takes
# forces that grow with the square of the rate.
FORCE, MOMENT, STEPS_HZ = 30.0, 7.0, 2.0
# The same where trunk and arms are seen. Force: the filter takes the impact of the foot from the motion, and soft parts
# move against the bones; sound walks of eight people have 4 to 12 % with filters of 10 Hz [measured], so that this is
# near twice the usual. Moment: centres of mass by tables lie 25 mm off in 58 % of the mass, the centre of pressure 10,
# both assumptions: 1 % of weight times height, with as much for soft tissue 1.5; more than twice that.
SEEN_FORCE, SEEN_MOMENT = 20.0, 3.5
KNOWN_SHARE = 0.9  # of the samples with known hips, as for the residual in step kinetics
TRUNK_AND_ARMS = ("thorax", "upper_arm_left", "upper_arm_right", "forearm_left", "forearm_right")
# vertical acceleration of trunk and arms against the hips: 7 mm, twice a second, in root mean square; where they are
# seen, that of :data:`SEEN_SWAY_M_S`, as often
UNSEEN_M_S2, SEEN_M_S2 = 0.75, 0.25
TRAVELS_M_S = 0.3  # slower is on a belt
# excess, in units of the limits of doubt, beyond which a stance is refused; a rate is only doubted, as force and motion
# of short steps hardly vary
REFUSED = {"momentum": 1.0, "direction": 2.0, "residual": 2.0}
NOT_DOUBTED = ("momentum",)  # by this module's `judged`


class Support(NamedTuple):
    """What the force of each stance shows in single support (stance,).

    NaN where the recording does not hold the whole swing of the other foot, or in it a force or the hips are not known,
    or the foot steps twice: then a stance of the other foot was not seen.
    """

    ratio: Array  # mean vertical force per force needed, over a step if its forces are known
    deviation: Array  # standard deviation of the ratio in sound walks
    # along, aside: horizontal force per mass towards the acceleration of the hips, along the walk and across it, m/s2
    along: Array
    aside: Array
    # standard deviation of vertical force per mass over that of the vertical acceleration; NaN also if they differ by
    # no more than trunk and arms can move, or so flat a motion by more than a factor of two only because of these
    variation: Array
    steps_hz: Array  # steps a second, from the foot strike to that of the other foot
    share: Array  # (stance, stance), of the vertical impulse of each ratio that each stance bears


def in_single_support(kinematics: AnyTrial, contacts: AnyTrial, calibrate: xr.Dataset) -> Support:
    """Return how the force of each stance agrees with the body's momentum while the other foot is in the air.

    Before and after the stance of a runner both feet are; that time is part of it. The ratio is over a step, from the
    foot strike or the other's foot off to the next such event, if all forces in it are known.
    """
    time, mass_kg = contacts["time"].values, float(calibrate.attrs["body_mass_kg"])
    velocity, acceleration = (centre_of_mass(kinematics, calibrate, rate) for rate in ("velocity", "acceleration"))
    trunk = sees_trunk(kinematics)
    sways = (SEEN_SWAY_M_S, SEEN_SWAY_M_S) if trunk else (SWAY_M_S, OVER_A_STEP_M_S)
    of_hips = kinematics["joint_centre_acceleration"].values[:, :, HIP].mean(axis=1, dtype=float)
    hips = acceleration if trunk else of_hips  # the whole body stands for itself where it is seen
    of_sides = contacts["ground_force"].values.astype(float) / mass_kg
    force = of_sides.sum(axis=1)
    seen = np.isfinite(force + velocity).all(axis=1)
    side, start, end = (contacts[f"contact_{name}"].values for name in ("side", "start", "end"))
    rows = [SIDES.index(each) for each in side.tolist()]
    result, share = np.full((len(Support._fields) - 1, len(side)), np.nan), np.zeros((len(side), len(side)))
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
        if len(frames) < 2 or not np.isfinite(force[inside]).all():
            continue
        hidden_m_s2 = SEEN_M_S2 if trunk else UNSEEN_M_S2
        agreement = _agreement(force[inside], velocity[inside], acceleration[inside], hips[inside], hidden_m_s2)
        steps = [(start[i], lands)] if time[0] < start[i] < lifted else []
        steps += [(lifted, end[i])] if lands < end[i] < time[-1] else []
        spans = [slice(*np.searchsorted(time, (first_s - 1e-6, last_s + 1e-6)).tolist()) for first_s, last_s in steps]
        known = [span for span in spans if seen[span].all()]
        over = known[0] if known else inside
        ratio = vertical_ratio(time[over], force[over], velocity[over], sways[bool(known)])
        result[:, i] = *ratio, *agreement, 1 / (lands - start[i])
        bears = (time[over] >= start[:, None]) & (time[over] <= end[:, None])
        borne = np.where(bears, of_sides[over][:, rows, UP].T, 0.0).sum(axis=1)
        share[i] = borne / np.fmax(borne.sum(), 1e-9)
    return Support._make([*result, share])


def vertical_ratio(time: Array, force: Array, velocity: Array, sway_m_s: float) -> tuple[float, float]:
    """Return the mean vertical force over what momentum needs, and its standard deviation in sound walks.

    Args:
        time: (sample,), s; the whole of it counts.
        force: (sample, 3), per mass, lab axes, m/s2.
        velocity: (sample, 3), of the centre of mass, lab axes, m/s.
        sway_m_s: standard deviation of the velocity at either end.
    """
    lasts_s = time[-1] - time[0]
    needed = STANDARD_GRAVITY_M_S2 + (velocity[-1, UP] - velocity[0, UP]) / lasts_s
    spread = np.sqrt(2) * sway_m_s / lasts_s / needed
    return np.trapezoid(force[:, UP], time) / lasts_s / needed, np.hypot(SCALES, spread)


def doubts_of_session(
    supports: Sequence[Support], plates: Sequence[NDArray[np.str_]], mass_kg: float
) -> list[list[list[Verdict]]]:
    """Return the doubts about each stance of each trial by the ratios of all.

    Ratios err by the mass, which all share, by the gains of the plates that bear them, and each by its own sway. Mass,
    plate or stance that deviates most is doubted, with all its stances; then it may have any value, and the next is
    sought.

    Args:
        supports: of each trial.
        plates: of each trial, the numbers of the plates of each stance (stance,), "1 3" of two.
        mass_kg: of the body.
    """
    ratio, deviation = (np.concatenate([getattr(one, name) for one in supports]) for name in ("ratio", "deviation"))
    names, member, gains = borne_by_plates([one.share for one in supports], plates)
    known = np.flatnonzero(np.isfinite(ratio))
    shapes = np.column_stack([gains, np.ones(len(ratio))])[known]  # of plates and the mass
    touched = np.column_stack([member, np.ones(len(ratio), dtype=bool)])
    who = [*(f"plate {name} shows in the session" for name in names), "the plates show in the session"]
    off, own = ratio[known] - 1, np.fmax(deviation[known] ** 2 - SCALES**2, 1e-9)
    common = shapes * [*[GAIN] * len(names), MASS]  # the covariance is diag(own) + common common'
    found: list[list[Verdict]] = [[] for _ in ratio]
    for _ in range(sum(shapes.shape) if known.size else 0):
        # inverted by Woodbury's identity: a session on a treadmill has thousands of stances
        scaled = common / own[:, None]
        inner = scaled @ np.linalg.inv(np.eye(common.shape[1]) + common.T @ scaled)
        both = np.column_stack([off, shapes])
        weighted = both / own[:, None] - inner @ (scaled.T @ both)
        seen = np.append(1 / own - (inner * scaled).sum(axis=1), (shapes * weighted[:, 1:]).sum(axis=0))
        size = np.append(weighted[:, 0], off @ weighted[:, 1:]) / np.fmax(seen, 1e-9)
        spreads = np.round(np.abs(size) * np.sqrt(np.fmax(seen, 0)), 6)
        best = int(spreads.argmax())
        if spreads[best] < SPREADS:
            break
        shape = best - len(known)
        tells = "the plate shows" if shape < 0 else who[shape]
        share = 1 + size[best]
        problem = Verdict.of("momentum_doubted", who=tells, percent=100 * share, mass=mass_kg, agrees=share * mass_kg)
        for i in [known[best]] if shape < 0 else np.flatnonzero(touched[:, shape]):
            found[i].append(problem)
        if shape < 0:
            own[best] += 1
        else:
            common = np.column_stack([common, shapes[:, shape]])
    one_by_one = iter(found)
    return [[*islice(one_by_one, len(of_trial))] for of_trial in plates]


def borne_by_plates(shares: Sequence[Array], plates: Sequence[NDArray[np.str_]]) -> tuple[list[str], Flags, Array]:
    """Return the numbers of the plates, which stances are on each, and what each bears of all trials' intervals.

    Args:
        shares: of each trial, what each stance bears of each interval (interval, stance).
        plates: as in :func:`doubts_of_session`.
    """
    words = [[text.split() for text in of_trial.tolist()] for of_trial in plates]
    names = sorted({name for of_trial in words for each in of_trial for name in each})
    on = [np.array([[name in each for name in names] for each in of]).reshape(len(of), len(names)) for of in words]
    borne = [share @ (of / np.fmax(1, of.sum(axis=1, keepdims=True))) for share, of in zip(shares, on, strict=True)]
    return names, np.concatenate(on), np.concatenate(borne)


def _agreement(
    force: Array, velocity: Array, acceleration: Array, hips: Array, hidden_m_s2: float
) -> tuple[float, float, float]:
    """Return along, aside and variation of :class:`Support`, by force per mass and motion (sample, 3).

    On the level the hips stand for the body: the swinging leg moves against trunk and arms, which are not seen. The
    flatter the walk, the larger is the part ``hidden_m_s2`` of the vertical acceleration that the motion does not show.
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
    small, large = sorted(of[known, UP].std() for of in (force, acceleration))
    is_told = large < 2 * small or large > 2 * np.hypot(small, hidden_m_s2)
    return along, aside, varies if is_told and (force - acceleration)[known, UP].std() > UNSEEN_M_S2 else np.nan


def deviations(figures: Array) -> Array:
    """Return by how many standard deviations the vertical force of each stance differs; ``figures`` as below."""
    ratio, deviation = (figures[:, [*RESIDUALS].index(f"momentum_{name}")] for name in ("ratio", "deviation"))
    return np.asarray((ratio - 1) / deviation)


def judged(figures: Array, mass_kg: float, *, trunk: bool = False) -> list[tuple[Verdict | None, list[Verdict]]]:
    """Return the refusal of each stance, None without, and its doubts but that of :func:`doubts_of_session`.

    Args:
        figures: (stance, figure) of :data:`pipeline.variables.cycle_variables.RESIDUALS`; NaN says nothing.
        mass_kg: of the body.
        trunk: whether trunk and arms are seen.
    """
    most_force, most_moment = (SEEN_FORCE, SEEN_MOMENT) if trunk else (FORCE, MOMENT)
    of = dict(zip(RESIDUALS, figures.T, strict=True))
    hidden = np.fmax(1, (of["steps_hz"] / STEPS_HZ) ** 2)
    with np.errstate(divide="ignore"):
        excess = {
            "momentum": np.abs(deviations(figures)) / REFUSED_SPREADS,
            "direction": np.fmax(-of["momentum_along"] / ALONG_M_S2, -of["momentum_aside"] / ASIDE_M_S2) / hidden,
            "residual": np.fmax(
                of["residual_force_rms_percent"] / most_force, of["residual_moment_rms_percent"] / most_moment
            )
            / hidden,
            "rate": np.abs(np.log2(of["momentum_variation"])),
        }
    every = []
    for i, values in enumerate({name: float(column[i]) for name, column in of.items()} for i in range(len(figures))):
        codes = [code for code, by in excess.items() if by[i] > 1]
        wrong = [code for code in codes if excess[code][i] > REFUSED.get(code, np.inf)]
        values |= {"percent": 100 * values["momentum_ratio"], "mass": mass_kg}
        first = Verdict.of(f"{wrong[0]}_disagrees", **values) if wrong else None
        every.append((first, [Verdict.of(f"{code}_doubted", **values) for code in codes if code not in NOT_DOUBTED]))
    return every


def centre_of_mass(kinematics: AnyTrial, calibrate: xr.Dataset, rate: str) -> Array:
    """Return velocity or acceleration of the body's centre of mass (sample, 3), lab axes.

    Head, arms and trunk move with the midpoint of the hips unless they are seen, and so does a segment of the legs that
    is not seen.
    """
    if sees_trunk(kinematics):
        return kinematics[f"whole_body_{rate}"].values.astype(float)
    hips = kinematics[f"joint_centre_{rate}"].values[:, :, HIP].mean(axis=1, dtype=float)
    share = np.nan_to_num(calibrate.variables["segment_mass"].values / calibrate.attrs["body_mass_kg"])
    legs = kinematics[f"com_{rate}"].values[:, :, : share.shape[1]] - hips[:, None, None]
    return np.asarray(hips + np.einsum("tsga,sg->ta", np.nan_to_num(legs), share))


def sees_trunk(kinematics: AnyTrial) -> bool:
    """Return whether a trial shows thorax and arms, and the whole body's motion where it shows the hips'."""
    if "upper_segment_seen" not in kinematics.variables:
        return False
    names = kinematics["upper_segment"].values.tolist()
    seen = kinematics["upper_segment_seen"].values[[names.index(name) for name in TRUNK_AND_ARMS]]
    known = np.isfinite(kinematics["joint_centre_acceleration"].values[:, :, HIP]).all(axis=(1, 2))
    whole = known & np.isfinite(kinematics["whole_body_acceleration"].values).all(axis=1)
    return bool(seen.all() and whole.sum() >= KNOWN_SHARE * known.sum() > 0)
