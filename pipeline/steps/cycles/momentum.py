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
from scipy import sparse

from ...arrays import Array, Flags
from ...conventions import HIP, SIDES, STANDARD_GRAVITY_M_S2, UP
from ...signals.filters import interval_s
from ...trials.session import AnyTrial
from ...variables.cycle_variables import RESIDUALS
from ...variables.stance_verdicts import Verdict

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
# APART_S: between plates, whose amplifiers have filters of 100 Hz and more, which delay by 2 ms. BEARS: share of an
# interval that makes it a stance's own. ALIKE: squared deviations up to which another plate explains them as well
APART_S, BEARS, ALIKE = 0.002, 0.5, 2.0
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


class Intervals(NamedTuple):
    """What intervals with known forces show of the loads: steps of each stance, or its single support without one."""

    ratio: Array  # (interval,), mean vertical force per force needed
    deviation: Array  # (interval,), standard deviation of the ratio in sound walks
    share: Array  # (interval, stance), of the vertical impulse that each stance bears
    late: Array  # (interval, stance), change of the ratio by a delay of each stance's load, per s
    # (interval,), a number of those of one foot that begin and end with the same events: hidden sway is alike in them
    alike: NDArray[np.intp]


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
    intervals: Intervals  # all of them, see :func:`doubts_of_session`


def in_single_support(kinematics: AnyTrial, contacts: AnyTrial, calibrate: xr.Dataset) -> Support:
    """Return how the force of each stance agrees with the body's momentum while the other foot is in the air.

    Before and after the stance of a runner both feet are; that time is part of it. The ratio is over a step, from the
    foot strike or the other's foot off to the next such event, if all forces in it are known.
    """
    time, mass_kg = contacts["time"].values, float(calibrate.attrs["body_mass_kg"])
    velocity, acceleration = (centre_of_mass(kinematics, calibrate, rate) for rate in ("velocity", "acceleration"))
    trunk = sees_trunk(kinematics)
    of_hips = kinematics["joint_centre_acceleration"].values[:, :, HIP].mean(axis=1, dtype=float)
    hips = acceleration if trunk else of_hips  # the whole body stands for itself where it is seen
    of_sides = contacts["ground_force"].values.astype(float) / mass_kg
    force = of_sides.sum(axis=1)
    seen = np.isfinite(force + velocity).all(axis=1)
    side, start, end = (contacts[f"contact_{name}"].values for name in ("side", "start", "end"))
    result, spans = np.full((len(Support._fields) - 1, len(side)), np.nan), list[tuple[int, int, slice]]()
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
        steps = [(1, start[i], lands)] if time[0] < start[i] < lifted else []
        steps += [(2, lifted, end[i])] if lands < end[i] < time[-1] else []
        over = [(i, kind, slice(*np.searchsorted(time, (a - 1e-6, b + 1e-6)).tolist())) for kind, a, b in steps]
        spans += [one for one in over if seen[one[2]].all()] or [(i, 0, inside)]
        result[2:, i] = *agreement, 1 / (lands - start[i])
    intervals = _intervals(contacts, of_sides, velocity, spans, trunk=trunk)
    for (i, *_), *ratio in zip(spans[::-1], intervals.ratio[::-1], intervals.deviation[::-1], strict=True):
        result[:2, i] = ratio  # of the first step, if there are two
    return Support._make([*result, intervals])


def _intervals(
    contacts: AnyTrial, of_sides: Array, velocity: Array, spans: Sequence[tuple[int, int, slice]], *, trunk: bool
) -> Intervals:
    """Return what intervals show.

    Args:
        of_sides: forces of both feet per mass (sample, side, 3).
        velocity: of the centre of mass (sample, 3).
        spans: stance, kind (0: single support; a step from foot strike, or from the other's foot off), and frames.
        trunk: whether trunk and arms are seen.
    """
    time, (side, start, end) = (
        contacts["time"].values,
        (contacts[f"contact_{of}"].values for of in ("side", "start", "end")),
    )
    rows = [SIDES.index(each) for each in side.tolist()]
    sways = [SEEN_SWAY_M_S] * 2 if trunk else [SWAY_M_S, OVER_A_STEP_M_S]
    ratios, shape = np.zeros((len(spans), 2)), (len(spans), len(side))
    share, late = np.zeros(shape), np.zeros(shape)
    for row, (_, kind, over) in enumerate(spans):
        at, both = time[over], of_sides[over]
        ratios[row] = _ratio(at, both.sum(axis=1), velocity[over], sways[min(kind, 1)])
        bears = (at >= start[:, None]) & (at <= end[:, None])
        loads = np.where(bears, both[:, rows, UP].T, 0.0)
        borne = np.fmax(loads.sum(), 1e-9)
        share[row] = loads.sum(axis=1) / borne
        if kind:  # the load passes from foot to foot
            late[row] = (loads[:, 0] - loads[:, -1]) / interval_s(time) / borne
    alike = [len(SIDES) * kind + rows[stance] for stance, kind, _ in spans]
    return Intervals(ratios[:, 0], ratios[:, 1], share, late, np.array(alike, dtype=int))


def _ratio(time: Array, force: Array, velocity: Array, sway_m_s: float) -> tuple[float, float]:
    """Return the ratio and its standard deviation, by force per mass and velocity (sample, 3)."""
    lasts_s = time[-1] - time[0]
    needed = STANDARD_GRAVITY_M_S2 + (velocity[-1, UP] - velocity[0, UP]) / lasts_s
    spread = np.sqrt(2) * sway_m_s / lasts_s / needed
    return np.trapezoid(force[:, UP], time) / lasts_s / needed, np.hypot(SCALES, spread)


def doubts_of_session(
    intervals: Sequence[Intervals], plates: Sequence[NDArray[np.str_]], mass_kg: float
) -> list[list[list[Verdict]]]:
    """Return the doubts about each stance of each trial by the ratios of all.

    Ratios err by the mass, which all share, by the gains of the plates that bear them and by their delays against each
    other, by the sway of the person and by that of each. Mass, plate, or load of a stance that deviates most is
    doubted, with all its stances; then it may have any value, and the next is sought.

    Args:
        intervals: of each trial.
        plates: of each trial, the numbers of the plates of each stance (stance,), "1 3" of two.
        mass_kg: of the body.
    """
    ratio, deviation, alike = (
        np.concatenate([getattr(one, name) for one in intervals]) for name in ("ratio", "deviation", "alike")
    )
    names, member, gains = borne_by_plates([one.share for one in intervals], plates)
    *_, late = borne_by_plates([one.late for one in intervals], plates)
    known, every = np.isfinite(ratio), np.ones((len(ratio), 1))
    loads: sparse.csr_array = sparse.block_diag([one.share for one in intervals], format="csr")[known]
    told = np.unique((loads > BEARS).nonzero()[1])
    usual = np.hstack([gains, every, late])[known]
    shapes = sparse.hstack([loads[:, told], sparse.csr_array(usual)], format="csr")
    who = ["the plate shows"] * len(told) + [f"plate {name} shows in the session" for name in names]
    who.append("the plates show in the session")
    on = [*map(np.flatnonzero, member.T)]
    touched = [*told[:, None], *on, np.arange(len(member)), *on]
    off, sway = ratio[known] - 1, np.fmax(deviation[known] ** 2 - SCALES**2, 1e-9)
    # the covariance is diag(own) + common common'; a step may sway otherwise by as much as all of a person's do
    habits = np.where(alike[known, None] == np.unique(alike[known]), np.sqrt(sway)[:, None], 0.0)
    own, common = sway, np.hstack([usual * [*[GAIN] * len(names), MASS, *[APART_S] * len(names)], habits])
    found: list[list[Verdict]] = [[] for _ in member]
    for _ in range(sum(shapes.shape) if off.size else 0):
        size, spreads = _set_free(shapes, off, own, common)
        best = int(spreads.argmax())
        if spreads[best] < SPREADS:
            break
        blamed = [best]
        if best < len(who):
            share = 1 + size[best]
            of = {"who": who[best], "percent": 100 * share, "mass": mass_kg, "agrees": share * mass_kg}
            problem = Verdict.of("momentum_doubted", **of)
        else:  # one plate late, or its neighbour early
            blamed = [i for i in range(len(who), shapes.shape[1]) if spreads[i] ** 2 > spreads[best] ** 2 - ALIKE]
            numbers = " or ".join(names[i - len(who)] for i in blamed)
            problem = Verdict.of("plate_late", numbers=numbers, ms=1000 * abs(size[best]))
        for i in {i for column in blamed for i in touched[column].tolist()}:
            found[i].append(problem)
        freed = shapes[:, blamed].toarray()
        common = np.column_stack([common, freed])
        if best < len(told):  # what its load is beside others, nobody knows
            own = own + ((freed[:, 0] > 0) & (freed[:, 0] < BEARS))
    one_by_one = iter(found)
    return [[*islice(one_by_one, len(of_trial))] for of_trial in plates]


def _set_free(shapes: sparse.csr_array, off: Array, own: Array, common: Array) -> tuple[Array, Array]:
    """Return the size of each unknown if it alone may have any value, and its standard deviations from 0.

    Args:
        shapes: what each unknown adds to the ratios (interval, unknown).
        off: ratios less 1 (interval,).
        own, common: of their covariance, diag(own) + common common'.
    """
    # inverted by Woodbury's identity: a session on a treadmill has thousands of stances
    scaled = common / own[:, None]
    inner = scaled @ np.linalg.inv(np.eye(common.shape[1]) + common.T @ scaled)
    seen = (shapes**2).T @ (1 / own) - ((shapes.T @ inner) * (shapes.T @ scaled)).sum(axis=1)
    size = shapes.T @ (off / own - inner @ (scaled.T @ off)) / np.fmax(seen, 1e-9)
    return size, np.round(np.abs(size) * np.sqrt(np.fmax(seen, 0)), 6)


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
    share = np.nan_to_num(calibrate["segment_mass"].values / calibrate.attrs["body_mass_kg"])
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
