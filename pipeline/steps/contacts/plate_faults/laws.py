"""Laws that each step on a sound plate obeys, whatever the way of moving, and the chance of steps that break them.

A force presses under the part of the sole that is on the ground. While one foot bears the body, the force's line passes
near the body's centre of mass, for which the middle of the pelvis stands, from its start to its end (Herr and Popovic
2008): it leans back while the foot is in front of the body, and forwards behind it; and it accelerates the body as the
pelvis shows (Newton). A sole can twist the ground only by its friction. No other plate, no mass and no particular fault
is needed to judge a step by them.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ....arrays import Array
from ....conventions import STANDARD_GRAVITY_M_S2
from .steps import ALONE, PlateStep, acceleration_of, lines_from_pelvis, places_in_foot

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
PLANES = (("push", "strike", "rolls", "ahead", "progress"), ("across", "inwards", "sways", "carries"))
OF_PLACE = ("push", "strike", "across", "ahead", "inwards")  # those that a shift of the plate moves by as much


def numbers_of(step: PlateStep) -> tuple[Array, Array]:
    """Return what a step shows of each of :data:`LAWS`, less what is usual, (law,), m, NaN if unknown.

    And the horizontal directions (law, 3) along which a shift of its plate adds to it, 0 where it does not.
    """
    unturned = np.eye(3)[None]
    along, across = (of[0] for of in places_in_foot(step, unturned))
    push = (along - np.hypot(*(step.toe - step.heel)[:, ::2].T))[step.heel_up]
    first = -1 if travel_of(step) < 0 else 0  # backwards, the heel is the last on the ground
    on_heel = step.toe[first, 1] - step.toe[:, 1].min() > TOES_UP_M and not step.heel_up[first]
    strike = along[first] if on_heel else np.nan
    ahead = step.ahead.mean(axis=0)
    outwards = 1.0 if step.side == "right" else -1.0
    inwards = -outwards * np.array([-ahead[2], 0.0, ahead[0]])
    load = step.force[:, 1] / step.force[:, 1].sum()
    line = lines_from_pelvis(step, unturned)[0]
    moved, middle = line[-1] - line[0], line.mean(axis=0)
    found = {
        "push": push.mean() if push.size else np.nan,
        "strike": strike,
        "rolls": (along[-1] - along[1]) * np.sign(travel_of(step)),  # backwards, from toe to heel
        "across": -outwards * (load @ across),
        "ahead": middle @ ahead,
        "inwards": middle @ inwards,
        "progress": moved @ ahead + LAGS * travel_of(step),
        "sways": moved @ inwards,
        "carries": _beside_acceleration(step) @ inwards if step.loaded_s > ACCELERATION_S else np.nan,
        "twist": math.sqrt(np.mean(step.free**2)) / step.force[:, 1].mean(),
    }
    of_shift = dict.fromkeys(LAWS, np.zeros(3)) | dict(
        zip(OF_PLACE, (ahead, ahead, inwards, ahead, inwards), strict=True)
    )
    usual = np.array([law.usual for law in LAWS.values()])
    return np.array([found[name] for name in LAWS]) - usual, np.stack([of_shift[name] for name in LAWS])


def _beside_acceleration(step: PlateStep) -> Array:
    """Return how far the mean force passes, at the pelvis, beside the one that accelerates it as it moves (3,), m.

    By Newton, a mass with acceleration a bears a force along a - g. No lean of the trunk changes that.
    """
    acceleration, force = acceleration_of(step), step.force[ALONE].mean(axis=0)
    height = (step.pelvis - step.pressed)[ALONE, 1].mean()
    return np.asarray(height * (force / force[1] - acceleration / (STANDARD_GRAVITY_M_S2 + acceleration[1])))


def travel_of(step: PlateStep) -> float:
    """Return how far the pelvis passes over the centre of pressure while one foot bears the body, m; NaN if unseen."""
    passed = (step.pelvis - step.pressed)[ALONE] @ step.ahead.mean(axis=0)
    return float(passed[-1] - passed[0])


def shared_deviations(steps: Sequence[PlateStep]) -> Array:
    """Return standard deviations (law, step, part), m, of the parts of each law that steps of a person share.

    The parts are the person's, the left foot's and the right foot's; what is a step's own has :attr:`Law.step`.
    """
    side = np.array([step.side for step in steps])
    travel = np.nan_to_num([travel_of(step) for step in steps])
    feet = [side == "left", side == "right"]
    return np.stack([
        np.stack([np.hypot(law.person, law.travel * travel), *(law.foot * foot for foot in feet)], axis=1)
        for law in LAWS.values()
    ])  # fmt: skip


def covariances(steps: Sequence[PlateStep]) -> Array:
    """Return the covariance (law, step, step), m2, of what the steps of a person show of each law."""
    shared, own = shared_deviations(steps), np.array([law.step for law in LAWS.values()])
    return np.asarray(shared @ np.swapaxes(shared, 1, 2) + own[:, None, None] ** 2 * np.eye(len(steps)))


def deviations(steps: Sequence[PlateStep]) -> tuple[Array, Array]:
    """Return the mean of steps on a plate, less what is usual, (law,), m, and in standard deviations; NaN: unknown."""
    numbers = np.stack([numbers_of(step)[0] for step in steps])
    mean, size = np.full((2, len(LAWS)), np.nan)
    for i, covariance in enumerate(covariances(steps)):
        seen = np.isfinite(numbers[:, i])
        if seen.any():
            weight = np.linalg.solve(covariance[np.ix_(seen, seen)], np.ones(seen.sum()))
            mean[i], size[i] = weight @ numbers[seen, i] / weight.sum(), weight.sum() ** -0.5
    return mean, mean / size


def chance_of(deviations: Array) -> float:
    """Return how likely steps on a sound plate deviate as much: by all laws, by those of a plane, or by one alone.

    NaN if no law of the force's line can be seen: the foot alone does not tell.

    Args:
        deviations: of each law, in standard deviations (law,); NaN if unknown.
    """
    names, seen = [*LAWS], np.isfinite(deviations)
    if not seen[names.index("ahead")]:
        return math.nan
    squares = np.minimum(deviations**2, MOST_DEVIATIONS**2)
    planes = [_chi_squared(squares[seen & np.isin(names, plane)]) for plane in PLANES]
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
