"""Laws that each step on a sound plate obeys, whatever the way of moving, and the chance of steps that break them.

A force presses under the part of the sole that is on the ground. While one foot bears the body, the force's line passes
near the body's centre of mass, for which the middle of the pelvis stands, from its start to its end (Herr and Popovic
2008): it leans back while the foot is in front of the body, and forwards behind it; and it accelerates the body as the
pelvis shows (Newton). A sole can twist the ground only by its friction. No other plate, no mass and no particular fault
is needed to judge a step by them.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ....arrays import Array
from ....conventions import STANDARD_GRAVITY_M_S2
from ....dynamics.vectors import dot
from .steps import ALONE, Steps, acceleration_of, lines_from_pelvis, places_in_foot

# a toe marker this much higher than it is later: the heel alone is on the ground. Filtered markers are known to 2 mm
TOES_UP_M = 0.01
# the line meets a point above the centre of mass (Maus et al. 2010), so that it lags behind the pelvis by this share
LAGS = 0.15
# of shorter loads, as of a run, filtered markers do not show how the velocity changes: 6 Hz spread it over 0.1 s
ACCELERATION_S = 0.35
MOST_DEVIATIONS = 4.0  # of a law that does not judge alone


class Law(NamedTuple):
    """What a number of a step is on a sound plate: ``usual``, and standard deviations from it, m.

    ``person``, ``foot``, ``step``: between people, between the feet of one, between steps of a foot; ``travel``: of
    people, per distance by which the pelvis passes over the foot. ``alone``: motion alone tells it. The others also
    hang on where markers are in a foot and on how the trunk leans, and one of them cannot condemn a plate.
    """

    what: str  # in words, with the size of a value, and one of ``way`` for values above and below 0
    way: tuple[str, str]
    usual: float
    person: float
    foot: float
    step: float
    travel: float = 0.0
    alone: bool = False


# Markers are placed to a centimetre (Della Croce et al. 2005), on shoes to more; soles are 9 cm wide, and the ball is
# as long as that. Feet roll from heel to toe by 5 to 15 cm, on the toes by nothing. A trunk that leans by 5 degrees
# moves the centre of mass by 2 cm from the pelvis. Angular momentum moves the line by up to 14 % of a foot's length in
# a step (Herr and Popovic 2008). The pelvis sways sideways by 4 cm in a stride, a centimetre more or less than the
# body: .1 m/s2, or 1 cm. Free moments are 5 to 10 N m in walking, 20 in running (Almosnino et al. 2009), some
# millimetres times the force; dry soles hold twenty times that.
FRONT, SIDE = ("in front of", "behind"), ("inwards of", "outwards of")
LAWS: Mapping[str, Law] = {
    "push": Law("presses {cm:.0f} cm {way} the toe marker while the heel is up", FRONT, 0.0, 0.025, 0.012, 0.007),
    "strike": Law("presses {cm:.0f} cm {way} the heel marker while toes are up", FRONT, 0.045, 0.030, 0.012, 0.010),
    "rolls": Law("moves on by {cm:.0f} cm {way} in the foot", ("forwards", "backwards"), 0.045, 0.040, 0.015, 0.010),
    "across": Law("presses {cm:.0f} cm {way} the foot's line", SIDE, 0.0, 0.022, 0.012, 0.007),
    "ahead": Law("passes {cm:.0f} cm {way} the pelvis", FRONT, 0.0, 0.025, 0.012, 0.010),
    "inwards": Law("passes {cm:.0f} cm {way} the pelvis", SIDE, -0.01, 0.020, 0.012, 0.010),
    "progress": Law(
        "moves on by {cm:.0f} cm {way} than the pelvis", ("more", "less"), 0.0, 0.020, 0.010, 0.020, 0.15, True
    ),
    "sways": Law("moves {way} by {cm:.0f} cm against the pelvis", ("inwards", "outwards"), -0.01, 0.020, 0.015, 0.025),
    "carries": Law(
        "passes {cm:.0f} cm {way} one that moves the pelvis so", SIDE, -0.005, 0.013, 0.008, 0.012, 0.0, True
    ),
    "twist": Law("twists the foot with a lever of {cm:.0f} cm", FRONT, 0.005, 0.003, 0.002, 0.003, 0.0, True),
}
# a fault of one channel breaks those of one plane
PLANES = [np.isin([*LAWS], one.split()) for one in ("push strike rolls ahead progress", "across inwards sways carries")]
OF_PLACE = ("push", "strike", "across", "ahead", "inwards")  # those that a shift of the plate moves by as much


def numbers_of(steps: Steps) -> tuple[Array, Array]:
    """Return what steps show of each of :data:`LAWS`, less what is usual, (step, law), m, NaN if unknown.

    And the horizontal directions (step, law, 3) along which a shift of their plate adds to it, 0 where it does not.
    """
    unturned = np.eye(3)[None]
    along, across = (of[:, 0] for of in places_in_foot(steps, unturned))
    travel, outwards = travel_of(steps), steps.outwards
    ahead = steps.ahead.mean(axis=1)
    inwards = outwards[:, None] * np.stack([ahead[:, 2], np.zeros(len(ahead)), -ahead[:, 0]], axis=1)
    each, first = np.arange(len(ahead)), np.where(travel < 0, -1, 0)  # backwards, the heel is the last on the ground
    height = dot(steps.toe, steps.normal[:, None])
    on_heel = (height[each, first] - height.min(axis=1) > TOES_UP_M) & ~steps.heel_up[each, first]
    load = steps.force[..., 1] / steps.force[..., 1].sum(axis=1, keepdims=True)
    line = lines_from_pelvis(steps, unturned)[:, 0]
    moved, middle = line[:, -1] - line[:, 0], line.mean(axis=1)
    with np.errstate(invalid="ignore"):  # no part has the heel up
        push = np.where(steps.heel_up, along - steps.length, 0.0).sum(axis=1) / steps.heel_up.sum(axis=1)
    found = {
        "push": push,
        "strike": np.where(on_heel, along[each, first], np.nan),
        "rolls": (along[:, -1] - along[:, 1]) * np.sign(travel),  # backwards, from toe to heel
        "across": -outwards * (load * across).sum(axis=1),
        "ahead": dot(middle, ahead),
        "inwards": dot(middle, inwards),
        "progress": dot(moved, ahead) + LAGS * travel,
        "sways": dot(moved, inwards),
        "carries": np.where(steps.loaded_s > ACCELERATION_S, dot(_beside_acceleration(steps), inwards), np.nan),
        "twist": np.sqrt((steps.free**2).mean(axis=1)) / steps.force[..., 1].mean(axis=1),
    }
    of_shift = dict(zip(OF_PLACE, (ahead, ahead, inwards, ahead, inwards), strict=True))
    off = [found[name] - law.usual for name, law in LAWS.items()]
    return np.stack(off, axis=1), np.stack([of_shift.get(name, np.zeros_like(ahead)) for name in LAWS], axis=1)


def _beside_acceleration(steps: Steps) -> Array:
    """Return how far the mean force passes, at the pelvis, beside the one that accelerates it as it moves (step, 3), m.

    By Newton, a mass with acceleration a bears a force along a - g. No lean of the trunk changes that.
    """
    acceleration, force = acceleration_of(steps), steps.force[:, ALONE].mean(axis=1)
    height = (steps.pelvis - steps.pressed)[:, ALONE, 1].mean(axis=1)
    lean = force / force[:, 1:2] - acceleration / (STANDARD_GRAVITY_M_S2 + acceleration[:, 1:2])
    return np.asarray(height[:, None] * lean)


def travel_of(steps: Steps) -> Array:
    """Return how far the pelvis passes over the centre of pressure while one foot bears the body (step,), m.

    NaN if it is unseen.
    """
    passed = dot((steps.pelvis - steps.pressed)[:, ALONE], steps.ahead.mean(axis=1)[:, None])
    return np.asarray(passed[:, -1] - passed[:, 0])


def shared_deviations(steps: Steps) -> Array:
    """Return standard deviations (law, step, part), m, of the parts of each law that steps of a person share.

    The parts are the person's, the left foot's and the right foot's; what is a step's own has :attr:`Law.step`.
    """
    travel, left = np.nan_to_num(travel_of(steps)), steps.outwards < 0
    person, foot, by_travel = np.array([[law.person, law.foot, law.travel] for law in LAWS.values()]).T[..., None]
    return np.stack([np.hypot(person, by_travel * travel), foot * left, foot * ~left], axis=-1)


def covariances(steps: Steps) -> Array:
    """Return the covariance (law, step, step), m2, of what the steps of a person show of each law."""
    shared, own = shared_deviations(steps), np.array([law.step for law in LAWS.values()])
    return np.asarray(shared @ np.swapaxes(shared, 1, 2) + own[:, None, None] ** 2 * np.eye(len(steps.outwards)))


def deviations(steps: Steps, numbers: Array | None = None) -> tuple[Array, Array]:
    """Return the mean of steps on a plate, less what is usual, (law,), m, and in standard deviations; NaN: unknown.

    ``numbers`` (step, law): of :func:`numbers_of`, where they are known already.
    """
    numbers = (numbers_of(steps)[0] if numbers is None else numbers).T
    seen = np.isfinite(numbers)
    covariance = np.where(seen[:, None] & seen[..., None], covariances(steps), np.eye(len(steps.outwards)))
    weight = np.linalg.solve(covariance, seen[..., None].astype(float))[..., 0]
    total = weight.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):  # no step shows a law
        mean = (weight * np.where(seen, numbers, 0.0)).sum(axis=1) / total
        return mean, mean * np.sqrt(total)


def chance_of(deviations: Array) -> float:
    """Return how likely steps on a sound plate deviate as much: by all laws, by those of a plane, or by one alone.

    NaN if no law of the force's line can be seen: the foot alone does not tell.

    Args:
        deviations: of each law, in standard deviations (law,); NaN if unknown.
    """
    seen = np.isfinite(deviations)
    if not seen[[*LAWS].index("ahead")]:
        return math.nan
    squares = np.minimum(deviations**2, MOST_DEVIATIONS**2)
    planes = [_chi_squared(squares[seen & plane]) for plane in PLANES]
    largest = np.nanmax(np.abs(deviations[[law.alone for law in LAWS.values()]]))
    single = seen.sum() * math.erfc(largest / math.sqrt(2))
    return float(min(_chi_squared(squares[seen]), *(len(PLANES) * chance for chance in planes), single, 1.0))


def _chi_squared(squares: Array) -> float:
    """Return the chance that the sum of squares of normal numbers is larger (Wilson and Hilferty 1931)."""
    part = 2 / (9 * len(squares))
    return math.erfc((float(np.mean(squares)) ** (1 / 3) - 1 + part) / math.sqrt(2 * part)) / 2


def in_words(off: Array, deviations: Array) -> str:
    """Return what is seen of the laws that are broken most.

    Args:
        off: from what is usual, of each law (law,), m.
        deviations: the same in standard deviations; NaN if unknown.
    """
    far = np.nan_to_num(np.abs(deviations))
    worst = [i for i in np.argsort(-far).tolist() if far[i] > max(2.0, 0.5 * far.max())][:3] or [int(far.argmax())]
    laws, cm = [*LAWS.values()], 100 * (off + [law.usual for law in LAWS.values()])
    return " and ".join(laws[i].what.format(cm=abs(cm[i]), way=laws[i].way[int(cm[i] < 0)]) for i in worst)
