"""Ways of moving, planned step by step: walking, turning, limping, on the toes, on stairs, running, on belts.

:mod:`moving_person` moves a person over these steps by Newton's laws, :mod:`moving_on_plates` records it. ISB lab axes
at the first step: x forward, y up, z right; m, s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.demo.curves import Curve, cyclic, passage
from pipeline.demo.walk import CLEARANCE_M, FOOT_PITCH_DEG, SWING

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Range = tuple[float, float]

BEYOND = 4  # steps before and after the recording
ADULT_M = 1.75
# walk ratio: step length by cadence, m per step/min (Sekiya & Nagasaki 1998)
WALK_RATIO = 0.0065
TREADS = 4


class Rolling(NamedTuple):
    """How a foot rolls and swings, over the gait cycle in percent from foot strike, with foot off at 62 %.

    ``pitch`` of the sole, degrees, toes up; ``pressed``: centre of pressure in front of the ankle, foot lengths;
    ``ahead`` and ``up``: the part of the way to the next footprint that is done; ``heel_first``: whether the foot
    swings on the arc of its heel.
    """

    pitch: Curve
    pressed: Curve
    ahead: Curve = SWING
    up: Curve = SWING
    clearance: Curve = CLEARANCE_M
    heel_first: bool = True


# Heel first (Winter 1991). The rest are qualitative: which part of the foot is loaded first, and when the heel rises,
# in shuffling, equinus gait (Perry 1992), on stairs (Riener et al. 2002), in running (Cavanagh & Lafortune 1980).
HEEL_FIRST = Rolling(
    FOOT_PITCH_DEG, cyclic((0, -0.18), (12, 0.10), (30, 0.34), (48, 0.55), (62, 0.65), (75, 0.65), (92, -0.18))
)
FLAT = Rolling(
    cyclic((0, 3), (6, 0), (40, 0), (48, -6), (55, -20), (62, -40), (68, -38), (78, -12), (88, 0), (95, 4)),
    cyclic((0, -0.08), (12, 0.05), (30, 0.22), (48, 0.42), (62, 0.58), (75, 0.58), (92, -0.08)),
)
ON_TOES = Rolling(
    cyclic((0, -28), (12, -20), (30, -18), (42, -26), (52, -42), (62, -66), (70, -62), (80, -38), (92, -26)),
    cyclic((0, 0.46), (20, 0.42), (45, 0.50), (62, 0.62), (75, 0.62), (92, 0.46)),
    heel_first=False,
)
UPSTAIRS = Rolling(
    cyclic((0, 0), (38, 0), (46, -8), (54, -25), (62, -45), (68, -42), (78, -15), (88, 2), (95, 3)),
    cyclic((0, 0.25), (10, 0.12), (30, 0.22), (48, 0.45), (62, 0.62), (75, 0.6), (92, 0.25)),
    ahead=passage((66, 0), (72, 0.12), (78, 0.40), (84, 0.72), (90, 0.93), (96, 1)),
    up=passage((62.5, 0), (68, 0.30), (74, 0.75), (80, 0.97), (88, 1)),
)
DOWNSTAIRS = Rolling(
    cyclic((0, -22), (6, -12), (12, 0), (28, 0), (38, -10), (48, -28), (62, -55), (70, -45), (80, -10), (92, -20)),
    cyclic((0, 0.52), (8, 0.42), (18, 0.18), (38, 0.25), (54, 0.50), (62, 0.62), (75, 0.62), (92, 0.52)),
    ahead=passage((62.5, 0), (68, 0.20), (74, 0.50), (80, 0.80), (87, 1)),
    up=passage((70, 0), (78, 0.15), (86, 0.55), (92, 0.85), (98, 1)),
    heel_first=False,
)
LIFTED = cyclic((0, 0), (62, 0), (68, 0.10), (75, 0.22), (82, 0.20), (90, 0.08), (97, 0))
# evenly faster, then slower: in flight one leg does each, as nothing can turn the body then; from this share on
# it turns least
SLOWER = 0.62
RUN_SWING = passage(*[
    (62 + 38 * part, part**2 / SLOWER if part < SLOWER else 1 - (1 - part) ** 2 / (1 - SLOWER))
    for part in np.linspace(0, 1, 20)
])  # fmt: skip
RUN_HEEL = Rolling(
    cyclic((0, 12), (8, 2), (15, 0), (32, 0), (42, -12), (52, -35), (62, -60), (75, -85), (85, -30), (94, 8)),
    cyclic((0, -0.15), (12, 0.12), (28, 0.38), (48, 0.52), (62, 0.62), (75, 0.62), (92, -0.15)),
    ahead=RUN_SWING,
    up=RUN_SWING,
    clearance=LIFTED,
)
RUN_FOREFOOT = RUN_HEEL._replace(
    pitch=cyclic(
        (0, -10), (10, -2), (18, 0), (32, 0), (42, -12), (52, -35), (62, -60), (75, -85), (85, -35), (94, -10)
    ),
    pressed=cyclic((0, 0.45), (12, 0.28), (28, 0.34), (48, 0.52), (62, 0.62), (75, 0.62), (92, 0.45)),
    heel_first=False,
)


class Person(NamedTuple):
    """A person: ``toe_out`` rad; ``half_m``: from the feet to the midline; ``loads_outside``: foot lengths."""

    mass_kg: float
    height_m: float
    foot_m: float
    toe_out: float
    half_m: float
    loads_outside: float


@dataclass(frozen=True)
class Plan:
    """The steps of a person.

    Along steps: ``side`` 0 left, 1 right; ``strike``, ``off`` s; ``place`` (step, 3) the point of the floor under the
    ankle of the flat foot when it strikes; ``yaw`` of the foot about y; ``heading`` of the person; ``peaks``: how much
    the vertical force of the foot sags between two peaks, a share; ``first_peak``: by how much the first one is larger.
    ``belt_m_s`` (side,): speed of the ground backwards. ``spring``: the legs act like springs, as in running.
    """

    way: str
    person: Person
    rolling: tuple[Rolling, Rolling]
    side: Counts
    strike: Array
    off: Array
    place: Array
    yaw: Array
    heading: Array
    peaks: Array
    first_peak: Array
    belt_m_s: Array
    pitch: float
    clearance: float
    spring: bool = False

    @property
    def inner(self) -> range:
        """Return the steps within the recording."""
        return range(BEYOND, len(self.side) - BEYOND)


def any_person(rng: np.random.Generator) -> Person:
    """Return a child or an adult, thin to heavy."""
    child = rng.random() < 0.3
    height = rng.uniform(1.05, 1.5) if child else rng.uniform(1.5, 1.95)
    mass = height**2 * (rng.uniform(13.5, 20) if child else rng.uniform(18.5, 38))
    half = height / ADULT_M * rng.uniform(0.035, 0.08)
    return Person(
        mass, height, height * rng.uniform(0.147, 0.158), np.radians(rng.uniform(0, 15)), half, rng.normal(0, 0.03)
    )


def child_of_two(rng: np.random.Generator) -> Person:
    """Return a child of about two years, with short feet wide apart (Sutherland et al. 1980; WHO growth standards)."""
    height = rng.uniform(0.80, 0.94)
    mass, foot = height**2 * rng.uniform(14.5, 18), height * rng.uniform(0.15, 0.165)
    return Person(mass, height, foot, np.radians(rng.uniform(0, 20)), rng.uniform(0.045, 0.07), rng.normal(0, 0.03))


class Pace(NamedTuple):
    """Steps of one way: ``step_m``, ``step_s``, share of a stance in a stride, how a foot rolls, sag of the force."""

    step_m: float
    step_s: float
    stance: float
    rolling: Rolling
    peaks: float
    first_peak: float = 0.0


def walking(speed: Range, rolling: Rolling = HEEL_FIRST) -> Callable[[Person, np.random.Generator], Pace]:
    def pace(person: Person, rng: np.random.Generator) -> Pace:
        size = person.height_m / ADULT_M
        adult_m_s = rng.uniform(*speed)
        step_m = size * np.sqrt(60 * WALK_RATIO * adult_m_s) * rng.uniform(0.92, 1.08)
        step_s = step_m / (adult_m_s * np.sqrt(size))
        # longer stances and a flatter force in slower walking (Murray et al. 1984)
        stance = np.clip(0.56 + 0.065 / adult_m_s, 0.58, 0.78) + rng.uniform(-0.01, 0.01)
        return Pace(step_m, step_s, stance, rolling, rng.uniform(0.6, 1.1) * 0.14 * adult_m_s**1.5)

    return pace


def _short(person: Person, rng: np.random.Generator) -> Pace:
    """Return shuffling: steps shorter than a foot and a half, at a normal cadence."""
    return Pace(
        person.foot_m * rng.uniform(0.6, 1.5), 60 / rng.uniform(80, 120), rng.uniform(0.64, 0.74), FLAT,
        rng.uniform(0, 0.03), rng.uniform(-0.05, 0.05),
    )  # fmt: skip


def _running(person: Person, rng: np.random.Generator) -> Pace:
    """Return running at 2.5 to 4.5 m/s of an adult; stances of 0.28 to 0.21 s (Munro et al. 1987)."""
    size = person.height_m / ADULT_M
    speed, step_s = rng.uniform(2.5, 4.5), np.sqrt(size) * 60 / rng.uniform(155, 180)
    stance_s = np.sqrt(size) * (0.36 - 0.033 * speed)
    rolling = RUN_HEEL if rng.random() < 0.7 else RUN_FOREFOOT
    return Pace(speed * np.sqrt(size) * step_s, step_s, stance_s / (2 * step_s), rolling, 0.0)


def _upstairs(person: Person, rng: np.random.Generator) -> Pace:
    return Pace(rng.uniform(0.27, 0.32), 60 / rng.uniform(70, 105), rng.uniform(0.60, 0.66), UPSTAIRS, 0.12, -0.1)


def _downstairs(person: Person, rng: np.random.Generator) -> Pace:
    return Pace(rng.uniform(0.27, 0.32), 60 / rng.uniform(75, 115), rng.uniform(0.60, 0.65), DOWNSTAIRS, 0.15, 0.3)


PACES: dict[str, Callable[[Person, np.random.Generator], Pace]] = {
    "straight": walking((0.9, 1.6)),
    "turning": walking((0.6, 1.2)),
    "curved": walking((0.7, 1.4)),
    "slow": walking((0.25, 0.7)),
    "limping": walking((0.3, 0.8)),
    "short steps": _short,
    "on toes": walking((0.6, 1.3), ON_TOES),
    "upstairs": _upstairs,
    "downstairs": _downstairs,
    "running": _running,
    "split belt": walking((0.5, 1.4)),
}
WAYS = tuple(PACES)


def planned(way: str, seed: int, who: Callable[[np.random.Generator], Person] = any_person) -> Plan:
    """Return the steps of a random person who moves in one of :data:`WAYS`."""
    rng = np.random.default_rng([seed, 16])
    person = who(rng)
    return steps_of(way, person, PACES[way](person, rng), rng)


def steps_of(way: str, person: Person, pace: Pace, rng: np.random.Generator) -> Plan:
    """Return the steps of a person who moves in one of :data:`WAYS` at some pace."""
    count = TREADS if way.endswith("stairs") else int(np.clip(round(3.2 / pace.step_s), 5, 9))
    number = np.arange(-BEYOND, count + BEYOND)
    side: Counts = (number + int(rng.integers(2))) % 2
    turn = _turns(way, number, rng)
    lame, limp = rng.integers(2), rng.uniform(0.2, 0.5) if way == "limping" else 0.0
    slower = 1 + 0.3 * np.abs(turn) / np.radians(60)
    # the sound foot strikes early, and beside or before the other: the lame leg bears for a shorter time
    step_s = pace.step_s * slower * np.where(side == lame, 1 + 0.5 * limp, 1 - 0.5 * limp)
    strike = np.cumsum(step_s * (1 + rng.normal(0, 0.015, len(number)))) - step_s[0]
    following = np.append(strike[2:], strike[-1] + np.cumsum(step_s[-2:]))
    share = pace.stance * np.where(side == lame, 1 - 0.15 * limp, 1 + 0.15 * limp)
    off = strike + share * (following - strike)
    belt = np.zeros(2)
    if way == "split belt":
        belt = pace.step_m / pace.step_s * np.array([1.0, rng.choice([1.0, rng.uniform(0.5, 1.0)])])
        person = person._replace(half_m=rng.uniform(0.11, 0.14), toe_out=np.radians(rng.uniform(0, 8)))
    elif way in ("short steps", "slow"):
        person = person._replace(half_m=person.height_m / ADULT_M * rng.uniform(0.06, 0.1))
    elif way == "running":
        person = person._replace(half_m=rng.uniform(0.02, 0.035))
    length = pace.step_m / slower * np.where(side == lame, 1 + limp, 1 - limp)
    place, heading = _footprints(way, person, number, side, length, turn, off - strike, belt, rng)
    outwards = 2 * side - 1
    rolling = [pace.rolling, pace.rolling]
    if way == "limping":
        rolling[lame] = (FLAT, ON_TOES)[rng.integers(2)]
    return Plan(
        way, person, (rolling[0], rolling[1]), side, strike, off, place,
        heading - outwards * (person.toe_out + np.radians(rng.normal(0, 1.5, len(side)))),
        heading,
        peaks=pace.peaks * np.where(side == lame, 1 - limp, 1),
        first_peak=pace.first_peak + np.where(side == lame, rng.uniform(-0.2, 0.2) * (limp > 0), 0.0),
        belt_m_s=belt, pitch=rng.uniform(0.85, 1.1),
        clearance=rng.uniform(0.7, 1.3) * (0.4 if way == "short steps" else 1),
        spring=way == "running",
    )  # fmt: skip


def _turns(way: str, number: Counts, rng: np.random.Generator) -> Array:
    """Return the change of heading at each step, rad, to the left positive."""
    turn = np.zeros(len(number))
    if not way.endswith(("stairs", "belt")):
        turn[0] = np.radians(rng.normal(0, 3))
    if way == "curved":
        turn += np.radians(rng.choice([-1, 1]) * rng.uniform(5, 15))
    elif way == "turning":
        steps = int(rng.integers(1, 4))
        total = rng.choice([-1, 1]) * rng.uniform(30, 45 + 25 * steps)
        turn[BEYOND + 2 : BEYOND + 2 + steps] = np.radians(total / steps)
    return turn


def _footprints(
    way: str, person: Person, number: Counts, side: Counts, length: Array, turn: Array, stance_s: Array, belt: Array,
    rng: np.random.Generator,
) -> tuple[Array, Array]:  # fmt: skip
    """Return the places (step, 3) of the feet, and the headings (step,)."""
    outwards = 2 * side - 1
    heading = np.cumsum(turn)
    between = heading - turn / 2
    level = length[:, None] * np.stack([np.cos(between), 0 * between, -np.sin(between)], axis=1)
    if way.endswith("stairs"):
        rise, on_stairs = rng.uniform(0.15, 0.20), (number > 0) & (number < TREADS)
        level[~on_stairs, 0] = 0.45  # on the floor before and after
        tread = np.clip(number if way == "upstairs" else TREADS - 1 - number, 0, TREADS)
        spread = 0.004
    else:
        rise, tread, spread = 0.0, 0 * number, 0.01
    middle = np.cumsum(level, axis=0) - level[: BEYOND + 1].sum(axis=0)
    if belt.any():
        # half the way on the belt in front of the person, half behind, as he stays where he is
        middle = np.stack([belt[side] * stance_s / 2 - 0.25 * person.foot_m, 0 * outwards, 0 * outwards], axis=1)
    right = np.stack([np.sin(heading), 0 * heading, np.cos(heading)], axis=1)
    place = middle + (outwards * person.half_m)[:, None] * right
    place[:, ::2] += np.clip(rng.normal(0, spread, (len(number), 2)), -2 * spread, 2 * spread)
    place[:, 1] = rise * tread
    return place, heading
