"""A person who moves over planned steps: forces under the feet, centre of mass, and markers, consistent by Newton.

The vertical force of each foot has a shape of its way of moving; the shapes are scaled so that the centre of mass stays
at its height above the feet. Each force points from the centre of pressure to a point above the centre of mass (Maus et
al. 2010) and away from that by a little that changes the angular momentum (Herr & Popovic 2008). So the path of the
centre of mass is the solution of a linear boundary-value problem.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.linalg import solve_banded
from scipy.ndimage import gaussian_filter1d

from pipeline.demo.curves import mirror_to_side, rotation
from pipeline.demo.walk import BALL_ARC, FLAT, FOOT_OFF, HEEL_ARC, HEEL_LEADS
from tests.support.walks.ways_of_moving import Plan

Array = NDArray[np.float64]

GRAVITY = 9.81
MASS_HEIGHT = 0.56  # of the centre of mass, share of the body height
HEIGHT_FREE_M, FORCE_FREE = 0.015, 0.05  # by which the height of the mass, and the size of a step's force, may vary
ASIDE = 0.012  # force sideways from the pivot per vertical force: some 10 N m of angular momentum rate
LEAN_M, SWINGS_M = 0.025, 0.007  # of the pelvis from the centre of mass, constant and in a stride, of an adult
AGAINST = 0.04  # largest force with which the feet push against each other, per vertical force
FREE_MOMENT_M = 0.006
TURNS = 2  # rounds in which forces and angular momentum come to agree
# share of the change of the legs' angular momentum that the ground gives; trunk and arms turn against the rest, so that
# little is left of the whole (Herr & Popovic 2008)
TAKEN = 0.5
ANKLE_HEIGHT = 0.039  # share of the body height
IMPACT = 0.35  # of a runner's landing on the heel, in body weights


@dataclass(frozen=True)
class Motion:
    """Forces and motion of a person.

    ``time`` (sample,) s; ``force``, ``pressed`` (step, sample, 3): force of the ground on each foot, N, and its centre
    of pressure, m; ``free`` (step, sample): free moment, N m; ``mass`` (sample, 3): centre of mass, m.
    """

    time: Array
    force: Array
    pressed: Array
    free: Array
    mass: Array


def moved(
    plan: Plan, rate_hz: float, rng: np.random.Generator, turning: Callable[[Motion], Array] | None = None
) -> Motion:
    """Return forces and centre of mass from the second step to the last but one.

    Args:
        plan: the steps.
        rate_hz: of samples.
        rng: of everything random.
        turning: gives the rate of angular momentum (sample, 3), N m, of a body that moves so; without it, the forces
            point to a pivot above the centre of mass.
    """
    if turning is None:
        return _moved(plan, rate_hz, rng, None)
    before, motion = deepcopy(rng), _moved(plan, rate_hz, rng, np.zeros(3))
    for _ in range(TURNS):
        motion = _moved(plan, rate_hz, deepcopy(before), turning(motion))
    return motion


def _moved(plan: Plan, rate_hz: float, rng: np.random.Generator, turning: Array | None) -> Motion:
    time = plan.strike[1] + np.arange(int((plan.off[-2] - plan.strike[1]) * rate_hz)) / rate_hz
    shapes = np.stack([shape_of(plan, step, time) for step in range(len(plan.side))])
    pressed = np.stack([pressed_at(plan, step, time) for step in range(len(plan.side))])
    weight = plan.person.mass_kg * GRAVITY
    size, height = _supporting(plan, time, shapes, rate_hz)
    vertical = weight * size[:, None] * shapes
    share = vertical / plan.person.mass_kg
    # the pivot is above the centre of mass, by up to a third of its height, and more in running
    softness = rng.uniform(0.75, 1.0) - 0.1 * plan.spring if turning is None else 1.0
    slope = softness / (height - pressed[..., 1])
    mass, force = np.empty((len(time), 3)), np.empty(pressed.shape)
    mass[:, 1], force[..., 1] = height, vertical
    middle = (plan.strike + plan.off) / 2
    under = np.stack(
        [path[at] for path, at in zip(pressed, time.searchsorted(middle).clip(0, len(time) - 1), strict=True)]
    )
    # forces pass beside the centre of mass as angular momentum changes; in flight none can
    lever = (vertical * (height - pressed[..., 1])).sum(axis=0)
    given = TAKEN * lever / (lever**2 + (0.2 * weight * height) ** 2)
    turns = given[:, None] * (np.zeros(3) if turning is None else turning)
    for axis, other, way in ((0, 2, 1.0), (2, 0, -1.0)):
        aside = _wander(time, ASIDE, plan, rng) + way * turns[:, other]
        pull = -(share * slope * pressed[..., axis]).sum(axis=0) + share.sum(axis=0) * aside
        first, last = np.interp(time[[0, -1]], middle, under[:, axis])
        mass[:, axis] = solved(pull, (share * slope).sum(axis=0), first, last, rate_hz)
        force[..., axis] = vertical * (slope * (mass[:, axis] - pressed[..., axis]) + aside)
    _push_against_each_other(plan, force, rng.uniform(0, AGAINST))
    outward = np.where(plan.side, 1.0, -1.0)[:, None]
    free = outward * rng.uniform(0.3, 1.7) * FREE_MOMENT_M * vertical * np.sin(2 * np.pi * (_done(plan, time) - 0.1))
    return Motion(time, force, pressed, free, mass)


def _done(plan: Plan, time: Array) -> Array:
    """Return the share of each stance that is over (step, sample), 0 before and 1 after."""
    return np.clip((time - plan.strike[:, None]) / (plan.off - plan.strike)[:, None], 0, 1)


def _handed_over(time: Array, start: float, end: float) -> Array:
    """Return a rise from 0 to 1 with the steep ends of contacts."""
    done = np.clip((time - start) / (end - start), 0, 1)
    return np.asarray(done - 0.6 * np.sin(2 * np.pi * done) / (2 * np.pi))


def shape_of(plan: Plan, step: int, time: Array) -> Array:
    """Return the vertical force of a step in body weights, before it is scaled."""
    done = np.clip((time - plan.strike[step]) / (plan.off[step] - plan.strike[step]), 0, 1)
    if plan.spring:
        landing = IMPACT * np.exp(-(((done - 0.14) / 0.05) ** 2)) if plan.rolling[0].heel_first else 0.0
        return np.asarray((done < 1) * np.sin(np.pi * done) * (1 + landing) * np.pi / 2)
    first, last = max(step - 1, 0), min(step + 1, len(plan.side) - 1)
    taken = _handed_over(time, plan.strike[step], max(plan.off[first], plan.strike[step] + 0.03))
    given = _handed_over(time, min(plan.strike[last], plan.off[step] - 0.03), plan.off[step])
    wave = np.cos(2 * np.pi * (done - 0.2) / 0.56)
    tilt = plan.first_peak[step] * np.cos(np.pi * done)
    return np.asarray(taken * (1 - given) * (1 + plan.peaks[step] * wave + tilt))


def pressed_at(plan: Plan, step: int, time: Array) -> Array:
    """Return the centre of pressure of a step (sample, 3)."""
    person, side = plan.person, int(plan.side[step])
    cycle = FOOT_OFF * np.clip((time - plan.strike[step]) / (plan.off[step] - plan.strike[step]), 0, 1)
    ahead = plan.rolling[side].pressed(cycle)
    outside = person.loads_outside + 0.05 * np.sin(np.pi * cycle / FOOT_OFF) - 0.08 * (cycle / FOOT_OFF) ** 4
    in_print = mirror_to_side(person.foot_m * np.stack([ahead, 0 * ahead, outside], axis=1), side)
    where = plan.place[step] + in_print @ rotation(1, plan.yaw[step]).T
    where[:, 0] -= plan.belt_m_s[side] * (np.clip(time, plan.strike[step], plan.off[step]) - plan.strike[step])
    return np.asarray(where)


def _supporting(plan: Plan, time: Array, shapes: Array, rate_hz: float) -> tuple[Array, Array]:
    """Return the size (step,) of each step's force, in its shape, and the height (sample,) of the centre of mass."""
    middle = (plan.strike + plan.off) / 2
    wanted = MASS_HEIGHT * plan.person.height_m + plan.place[:, 1]
    targets = np.interp(time, middle, wanted)
    step_s = np.gradient(plan.strike)
    usual = np.ones(len(shapes))
    if plan.spring:
        usual = step_s / (plan.off - plan.strike)
    still = solved(np.full(len(time), -GRAVITY), np.zeros(len(time)), targets[0], targets[-1], rate_hz)
    lifts = np.stack([solved(GRAVITY * shape, np.zeros(len(time)), 0.0, 0.0, rate_hz) for shape in shapes])
    at = np.linspace(0, len(time) - 1, 8 * len(shapes)).astype(int)
    rows = np.vstack([lifts[:, at].T / HEIGHT_FREE_M, np.diag(1 / (FORCE_FREE * usual))])
    values = np.concatenate([(targets[at] - still[at]) / HEIGHT_FREE_M, np.full(len(usual), 1 / FORCE_FREE)])
    size = np.linalg.lstsq(rows, values, rcond=None)[0]
    return size, still + size @ lifts


def solved(pull: Array, stiffness: Array, first: float, last: float, rate_hz: float) -> Array:
    """Return x of x'' = stiffness x + pull, with x given at both ends."""
    count, square = len(pull), rate_hz**2
    bands = np.zeros((3, count))
    bands[0, 2:], bands[2, :-2] = square, square
    bands[1] = -2 * square - stiffness
    right = pull.copy()
    bands[1, [0, -1]], right[0], right[-1] = 1, first, last
    return np.asarray(solve_banded((1, 1), bands, right))


def _wander(time: Array, size: float, plan: Plan, rng: np.random.Generator) -> Array:
    """Return a smooth random function about zero, of one to three waves in a stride."""
    waves = np.arange(1, 4)
    phase = np.pi * (waves[:, None] * time / np.median(np.diff(plan.strike)) + 2 * rng.random((3, 1)))
    return np.asarray(size * rng.normal(0, 1, 3) / np.sqrt(waves) @ np.sin(phase))


def _push_against_each_other(plan: Plan, force: Array, size: float) -> None:
    """Add forces in double support by which the front foot brakes and the rear foot drives, and which cancel."""
    total = force[..., 1].sum(axis=0) + 1e-9
    for step in range(len(plan.side) - 1):
        ahead = np.array([np.cos(plan.heading[step]), 0.0, -np.sin(plan.heading[step])])
        both = size * force[step, :, 1] * force[step + 1, :, 1] / total
        force[step] += both[:, None] * ahead
        force[step + 1] -= both[:, None] * ahead


# --- markers ---------------------------------------------------------------------------------------------------------


def markers(plan: Plan, motion: Motion, time: Array, rng: np.random.Generator) -> dict[str, Array]:
    """Return landmark -> (time, 3): both ASIS and PSIS, heels, toes and ankles."""
    paths = {}
    cycles = [cycles_of(plan, side, time) for side in (0, 1)]
    toe_share, heel_height = rng.uniform(0.40, 0.52), rng.uniform(0.12, 0.2)
    for side, name in enumerate(("left", "right")):
        ankle, sole = foot(plan, side, cycles[side], time)
        size, height = plan.person.foot_m, ANKLE_HEIGHT * plan.person.height_m
        places = {"heel": (-0.28, heel_height, 0.0), "toe": (toe_share, 0.16, rng.uniform(-0.03, 0.03))}
        for landmark, place in places.items():
            from_ankle = mirror_to_side(size * np.array(place), side) - [0, height, 0]
            paths[f"{landmark}_{name}"] = ankle + sole @ from_ankle
        paths[f"ankle_{name}"] = ankle + sole @ mirror_to_side(size * np.array([0, 0, 0.15]), side)
    return _pelvis(plan, motion, cycles[1], time, rng) | paths


def cycles_of(plan: Plan, side: int, time: Array) -> Array:
    """Return the smooth count of cycles of a foot: an integer at its strikes, FOOT_OFF more at its offs."""
    own = np.flatnonzero(plan.side == side)
    instants = np.stack([plan.strike[own], plan.off[own]], axis=1).ravel()
    counts = np.add.outer(np.arange(len(own)), [0, FOOT_OFF]).ravel()
    return np.asarray(PchipInterpolator(instants, counts)(time))


def foot(plan: Plan, side: int, counted: Array, time: Array) -> tuple[Array, Array]:
    """Return the ankle (time, 3) and the rotation of the sole (time, 3, 3) of one foot."""
    own, rolling = np.flatnonzero(plan.side == side), plan.rolling[side]
    belt = np.array([-plan.belt_m_s[side], 0.0, 0.0])
    on_belt = plan.place[own] - plan.strike[own, None] * belt  # where the print would be at time 0
    since = counted[:, None] - np.arange(len(own) - 1)
    ahead, up = rolling.ahead(since), rolling.up(since)
    place = on_belt[0] + ahead @ np.diff(on_belt, axis=0) + time[:, None] * belt
    place[:, 1] = plan.place[own][0, 1] + up @ np.diff(plan.place[own][:, 1])
    yaw = plan.yaw[own][0] + ahead @ np.diff(plan.yaw[own])
    cycle = counted % 1
    pitch = np.radians(plan.pitch * rolling.pitch(cycle))
    on_ball = np.where(cycle < FLAT, 0.0, 1 - HEEL_LEADS(cycle)) if rolling.heel_first else np.ones_like(cycle)
    arcs = [_rolled(plan, pitch, arc) for arc in (HEEL_ARC, BALL_ARC)]
    rolled = (1 - on_ball)[:, None] * arcs[0] + on_ball[:, None] * arcs[1]
    rolled[:, 1] += plan.clearance * plan.person.height_m / 1.75 * rolling.clearance(cycle)
    heading = rotation(1, yaw)
    return place + np.einsum("tij,tj->ti", heading, rolled), heading @ rotation(2, pitch)


def _rolled(plan: Plan, pitch: Array, arc: tuple[float, float]) -> Array:
    """Return the ankle (time, 3) from the footprint after rolling over an arc of the sole to a pitch."""
    place, radius = (plan.person.foot_m * part for part in arc)
    centre = np.stack([place - radius * pitch, np.full_like(pitch, radius), 0 * pitch], axis=1)
    from_centre = np.array([-place, ANKLE_HEIGHT * plan.person.height_m - radius, 0])
    return np.asarray(centre + rotation(2, pitch) @ from_centre)


def _pelvis(plan: Plan, motion: Motion, right: Array, time: Array, rng: np.random.Generator) -> dict[str, Array]:
    """Return the markers of the pelvis, which is carried by the centre of mass and faces where the person goes.

    The trunk leans, and arms and legs swing, so that the pelvis is some centimetres from the centre of mass.
    """
    size = plan.person.height_m / 1.75
    lag_s = rng.uniform(-0.1, 0.1)
    every = motion.time
    facing = np.interp(every - lag_s, (plan.strike + plan.off) / 2, plan.heading)
    facing = gaussian_filter1d(facing, 0.15 * len(every) / (every[-1] - every[0]), mode="nearest")
    turn = 2 * np.pi * right
    sway = np.radians(rng.uniform([1, 1, 6], [8, 5, 16]))
    yaw = np.interp(time, every, facing) + sway[0] * np.cos(turn)
    turned = rotation(1, yaw) @ rotation(0, -sway[1] * np.sin(turn)) @ rotation(2, np.full_like(yaw, -sway[2]))
    middle = np.stack([np.interp(time, every, column) for column in motion.mass.T], axis=1)
    beside = np.stack(
        [LEAN_M * np.clip(rng.normal(), -2, 2) + _wander(time, SWINGS_M, plan, rng) for _ in range(3)], axis=1
    )
    middle += size * np.einsum("tij,tj->ti", rotation(1, yaw), beside * [1.0, 0.3, 0.5])
    middle[:, 1] -= 0.01 * plan.person.height_m
    spots = {"asis": (0.09, 0.02, 0.125), "psis": (-0.09, 0.02, 0.045)}
    return {
        f"{landmark}_{name}": middle + turned @ mirror_to_side(size * np.array(spot), side)
        for landmark, spot in spots.items()
        for side, name in enumerate(("left", "right"))
    }
