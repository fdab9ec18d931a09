r"""Momentum of the whole body over any interval with known loads: a judge of how plates and markers lie to each other.

With mass m, centre of mass c, angular momentum H about it, and forces F at points p with free moments T::

    F = m (c'' - g)        sum (p - c) x F + T = H'

Both hold at every instant, so that nothing is assumed to return after a step. Over an interval in which all loads are
known, what is left of them says

- by how much the mean force leans from the one that moves the body (*lean*), and how far it passes beside the line that
  would turn it so (*lever*, in the lab's axes, forces before the body positive);
- by how much the forces lag (*delay*), as they follow velocity: v - v0 - integral of (F / m + g) = delay * F / m;
- whether velocity changes by more than that integral, by (stated rate / true rate)^2 of it.

One more witness has no body in it: the height of the markers of standing feet over the floor (*slope*).

What faults of a laboratory they show: :mod:`.laboratory_faults`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ....arrays import Array, Flags
from ....conventions import SIDES, STANDARD_GRAVITY_M_S2, UP
from ....dynamics.vectors import cross
from ....signals.filters import interval_s, stretches
from ....trials.session import AnyTrial
from .single_support import REFUSED_SPREADS, SEEN_SWAY_M_S, sees_trunk, vertical_ratio

# Least length of an interval, twice the reach of a filter of 10 Hz; its errors grow with one over it. TIMED_S: to show
# a delay, the shortest single support of an adult. EDGE_S: beside a load that is unknown, when the foot that bears it
# lifts or lands is known to 50 ms. FLAT: of a stance, in which the foot stands.
LEAST_S, TIMED_S, EDGE_S, FLAT = 0.1, 0.2, 0.05, (0.25, 0.5)
LEVEL_M = 0.01  # plates that differ more in height, or lean so far, are stairs or ramps: no floor
HORIZONTAL = [0, 2]
# By how many weights an interval may bear more or less to show a rate, 2.8 deviations of the gain of plates in use: a
# foot partly on a plate, a wrong gain or mass change the integral by more than the walk does.
CARRIES = 0.05
BEARS = 0.5  # share of an interval of which a stance has the figures


class Known(NamedTuple):
    """What the intervals with known loads of a trial show; horizontal vectors in axes that are fixed to the plates."""

    start_s: Array  # (interval,)
    end_s: Array
    lever: Array  # (interval, 2), m
    lean: Array  # (interval, 2), horizontal force per weight that momentum does not need
    # twist, free: (interval,), moment about the vertical that angular momentum does not need, and free torque, per
    # weight, m
    twist: Array
    free: Array
    height: Array  # (interval,), of the centre of mass over the floor, m
    place: Array  # (interval, 2), of the centre of mass from the middle of the plates, m
    pressed: Array  # (interval, 2), of the centre of pressure from the middle of the plates that bear the body, m
    since_s: Array  # (interval,), since the recording started
    late: Array  # (interval, 4), change of lever and lean by a delay, per s
    side: Array  # (interval,), +1 where the right foot bears the body, else -1
    share: Array  # (interval, stance), of the vertical impulse that each stance bears
    ahead: Array  # (2,), where the person faces
    timing: Array  # (6,), sums of the regression of the delay, see :func:`_timing`
    carried: Array  # (6,), the same of the rate, of runs of intervals in which plates carry the weight
    feet: Array  # (foot mark, 4), number of the marker, where along and across, height, m


def known_intervals(kinematics: AnyTrial, contacts: AnyTrial, clean: AnyTrial, mass_kg: float) -> Known | None:
    """Return what a trial shows; None where trunk and arms are unseen, or no interval has known loads."""
    if not sees_trunk(kinematics) or len(contacts["time"].values) < 3:
        return None
    time, weight_n = contacts["time"].values, mass_kg * STANDARD_GRAVITY_M_S2
    of_sides, moment = (contacts[f"ground_{load}"].values.astype(float) / weight_n for load in ("force", "moment"))
    place, velocity = (kinematics[f"whole_body_{name}"].values.astype(float) for name in ("centre_of_mass", "velocity"))
    spin = kinematics["angular_momentum"].values.sum(axis=1, dtype=float) / weight_n
    velocity = velocity / STANDARD_GRAVITY_M_S2
    force = of_sides.sum(axis=1)
    about = moment.sum(axis=1) - cross(place, force)
    rates = [np.gradient(part, time, axis=0) for part in (force, moment.sum(axis=1))]
    late = np.hstack([-_passes(rates[1] - cross(place, rates[0])), -rates[0][:, HORIZONTAL]])
    seen = np.isfinite(np.hstack([force, about, velocity, spin, late])).all(axis=1)
    edge = round(EDGE_S / interval_s(time))
    for a, b in _not_borne(of_sides, velocity, time, _spans(seen, edge)):
        seen[a:b] = False
    spans = _spans(seen, edge)
    ends = np.array([end for span in spans for end in _steps(of_sides, time, *span)], dtype=int).reshape(-1, 2)
    if not len(ends):
        return None
    first, last = ends.T
    lasts_s = (time[last] - time[first])[:, None]
    mean = partial(_means, seen=seen, time=time, ends=ends)
    turn, corners = _turn_of_plates(clean)
    middle = corners.mean(axis=(0, 1)) if corners.size else np.zeros(3)
    share = _shares(contacts, of_sides, time, ends)
    left = mean(about) - (spin[last] - spin[first]) / lasts_s
    lean = mean(force) - (velocity[last] - velocity[first]) / lasts_s
    light, lean = first[np.abs(lean[:, UP] - 1) > CARRIES], lean[:, HORIZONTAL]
    carrying = [(a, b) for a, b in spans if not ((light >= a) & (light < b)).any()]
    delays = mean(late)
    right = mean(of_sides[..., UP])
    return Known(
        time[first],
        time[last],
        _passes(left) @ turn,
        lean @ turn,
        left[:, UP],
        mean(np.nansum(contacts["free_moment"].values, axis=1, keepdims=True))[:, 0] / weight_n,
        mean(place)[:, UP] - middle[UP],
        (mean(place) - middle)[:, HORIZONTAL] @ turn,
        (_passes(mean(moment.sum(axis=1))) - share @ _centres(contacts, clean)) @ turn,
        (time[first] + time[last]) / 2 - time[0],
        np.hstack([delays[:, :2] @ turn, delays[:, 2:] @ turn]),
        np.where(right[:, SIDES.index("right")] > right[:, SIDES.index("left")], 1.0, -1.0),
        share,
        turn[0],
        _timing(force, velocity, time, spans),
        _timing(force, velocity, time, carrying),
        _foot_marks(contacts, clean, time, turn, corners),
    )


def _means(values: Array, *, seen: Flags, time: Array, ends: Array) -> Array:
    """Return the mean over time of values (time, n) in each interval (interval, n), of those that are seen."""
    known = np.where(seen[:, None], values, 0.0)
    areas = (known[1:] + known[:-1]) / 2 * np.diff(time)[:, None]
    total = np.vstack([np.zeros(values.shape[1]), np.cumsum(areas, axis=0)])
    first, last = ends.T
    return np.asarray((total[last] - total[first]) / (time[last] - time[first])[:, None])


def _passes(moment: Array) -> Array:
    """Return how far ahead and aside (..., 2) of a point a vertical force of 1 passes with this moment about it."""
    return np.stack([moment[..., 2], -moment[..., 0]], axis=-1)


def _spans(seen: Flags, edge: int) -> list[tuple[int, int]]:
    """Return first and last frame of each run of known frames, without those beside unknown ones."""
    inner = [(a + edge * (a > 0), b - 1 - edge * (b < len(seen))) for a, b in stretches(seen)]
    return [(a, b) for a, b in inner if b > a]


def _steps(of_sides: Array, time: Array, first: int, last: int) -> list[tuple[int, int]]:
    """Return the parts of a span in which one foot bears more than the other: steps; the shortest are left out."""
    right = np.diff(of_sides[first : last + 1, :, UP], axis=1)[:, 0] > 0
    ends = [first, *(first + 1 + np.flatnonzero(np.diff(right.astype(int)))).tolist(), last]
    return [(a, b) for a, b in zip(ends, ends[1:], strict=False) if time[b] - time[a] >= LEAST_S]


def _not_borne(
    of_sides: Array, velocity: Array, time: Array, spans: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the steps in which the plates do not carry the body: the floor, a rail or a foot beside them bears a part.

    There the vertical momentum is as far off as that which refuses a stance. Force and velocity are over gravity.
    """
    found = []
    for first, last in (step for span in spans for step in _steps(of_sides, time, *span)):
        at = slice(first, last + 1)
        force, moves = (STANDARD_GRAVITY_M_S2 * part for part in (of_sides[at].sum(axis=1), velocity[at]))
        ratio, deviation = vertical_ratio(time[at], force, moves, SEEN_SWAY_M_S)
        if abs(ratio - 1) > REFUSED_SPREADS * deviation:
            found.append((first, last))
    return found


def _turn_of_plates(clean: AnyTrial) -> tuple[Array, Array]:
    """Return the turn (2, 2) by which a row (ahead, aside) becomes one in axes of the first plate, and all corners.

    Lab axes follow the walk; those of a plate stay where they are.
    """
    if "plate_corner" not in clean.variables:
        return np.eye(2), np.zeros((0, 4, 3))
    corners = clean["plate_corner"].values
    corners = corners[np.isfinite(corners).all(axis=(1, 2))]
    if not len(corners):
        return np.eye(2), corners
    x, z = (corners[0, 0] - corners[0, 1])[HORIZONTAL]
    along = np.hypot(x, z)
    if along < 1e-6 or not clean["plate_edges_known"].values.all():
        return np.eye(2), corners
    return np.array([[x, -z], [z, x]]) / along, corners


def _shares(contacts: AnyTrial, of_sides: Array, time: Array, ends: Array) -> Array:
    """Return the share (interval, stance) of the vertical impulse that each stance bears."""
    side, start, end = (contacts[f"contact_{name}"].values for name in ("side", "start", "end"))
    rows = [SIDES.index(each) for each in side.tolist()]
    result = np.zeros((len(ends), len(side)))
    for i, (first, last) in enumerate(ends.tolist()):
        inside = slice(first, last + 1)
        bears = (time[inside] >= start[:, None]) & (time[inside] <= end[:, None])
        result[i] = np.where(bears, of_sides[inside][:, rows, UP].T, 0.0).sum(axis=1)
    return np.asarray(result / np.fmax(result.sum(axis=1, keepdims=True), 1e-9))


def _centres(contacts: AnyTrial, clean: AnyTrial) -> Array:
    """Return the middle (stance, 2) of the plates that each stance is on; 0 where it is on none."""
    numbers = [str(number) for number in clean["plate"].values.tolist()]
    centres = clean["plate_corner"].values.mean(axis=1)[:, HORIZONTAL]
    rows = [[numbers.index(name) for name in text.split()] for text in contacts["plates"].values.tolist()]
    return np.array([centres[row].mean(axis=0) if row else np.zeros(2) for row in rows]).reshape(-1, 2)


def _timing(force: Array, velocity: Array, time: Array, spans: Sequence[tuple[int, int]]) -> Array:
    """Return sums (6,) of force per weight F, its integral I, and what I leaves of the velocity, V.

    They are those of F F, F V, I I, I F, I V, and the time. A constant and a trend are taken off F, I and V: they are
    the lean and the velocity at the start.
    """
    total = np.zeros(6)
    for first, last in spans:
        if time[last] - time[first] < TIMED_S:
            continue
        at, pushed = time[first : last + 1], force[first : last + 1]
        steps = (pushed[1:] + pushed[:-1]) / 2 * np.diff(at)[:, None]
        gained = np.vstack([np.zeros(3), np.cumsum(steps, axis=0)])
        left = velocity[first : last + 1] - gained
        shape = np.linalg.qr(np.stack([np.ones_like(at), at - at.mean()], axis=1))[0]
        pushed, gained, left = (part - shape @ (shape.T @ part) for part in (pushed, gained, left))
        products = (pushed**2, pushed * left, gained**2, gained * pushed, gained * left, np.ones(len(at)))
        total += np.array([product.sum() for product in products]) * interval_s(time)
    return total


def _foot_marks(contacts: AnyTrial, clean: AnyTrial, time: Array, turn: Array, corners: Array) -> Array:
    """Return where markers of standing feet are (foot mark, 4); none on stairs and ramps."""
    if corners.size and np.ptp(corners[..., UP]) > LEVEL_M:
        return np.zeros((0, 4))
    names, marks = clean["marker"].values.tolist(), []
    labels = [f"{name}_{side}" for side in SIDES for name in ("heel", "toe")]
    of = zip(*(contacts[f"contact_{name}"].values.tolist() for name in ("side", "start", "end")), strict=True)
    for side, start, end in of:
        if start <= time[0] or end >= time[-1]:
            continue
        first, last = np.searchsorted(time, [start + share * (end - start) for share in FLAT])
        for label in (one for one in labels if one.endswith(side) and one in names):
            path = clean["marker_position"].values[first:last, names.index(label)]
            if len(path) and np.isfinite(path).all():
                where = path.mean(axis=0)
                marks.append([labels.index(label), *(where[HORIZONTAL] @ turn), where[UP]])
    return np.array(marks).reshape(-1, 4)


def figures_of(known: Known | None, stances: int) -> Array:
    """Return lever, mm, and lean, degrees, each ahead and aside of the person, of each stance (stance, 4).

    They are those of the interval that it bears most; NaN without one.
    """
    result = np.full((stances, 4), np.nan)
    if known is None or not stances:
        return result
    best, own = known.share.argmax(axis=0), np.stack([known.ahead, known.ahead[::-1] * [-1, 1]], axis=1)
    values = np.hstack([1e3 * known.lever[best] @ own, np.degrees(known.lean[best]) @ own])
    return np.where(known.share.max(axis=0)[:, None] > BEARS, values, result)
