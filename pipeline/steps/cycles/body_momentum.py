r"""Momentum of the whole body over any interval with known loads: a judge of how plates and markers lie to each other.

With mass m, centre of mass c, angular momentum H about it, and forces F at points p with free moments T::

    F = m (c'' - g)        sum (p - c) x F + T = H'

Both hold at every instant, so that nothing is assumed to return after a step. Over an interval in which all loads are
known, what is left of them says

- by how much the mean force leans from the one that moves the body (*lean*), and how far it passes beside the line that
  would turn it so (*lever*, in the lab's axes, forces before the body positive);
- by how much the forces lag (*delay*), as they follow velocity: v - v0 - integral of (F / m + g) = delay * F / m.

One more witness has no body in it: the height of the markers of standing feet over the floor (*slope*).

A lever of 20 mm may be plates that are shifted, markers that are tilted, late forces, or a centre of mass that tables
misplace. Two directions of walking, the slope, the lean and the delay part these. So all of it is one least-squares
problem: errors of sound laboratories and tables are unknowns with a prior standard deviation, and a fault is such an
unknown that is set free. The fault by which the misfit drops most is named, with all others that do nearly as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm

from ...arrays import Array, Flags
from ...conventions import SIDES, STANDARD_GRAVITY_M_S2, UP
from ...dynamics.vectors import cross
from ...signals.filters import interval_s
from ...trials.session import AnyTrial
from ...variables.stance_verdicts import Verdict
from .momentum import REFUSED_SPREADS, SEEN_SWAY_M_S, SPREADS, sees_trunk

# All of these are standard deviations, and were written down before the law was tried on a recording.
#
# Sound laboratories. Spot checks with an instrumented pole find centres of pressure within 1 to 3 mm and axes within
# some tenths of a degree of a well kept lab (Holden et al. 2003; Collins et al. 2009, Gait Posture 29:59-64); a wand on
# the floor is level to 1 mm in .4 m. LEAN: makers of plates state a crosstalk of at most 1 to 2 % of the vertical
# force.
SHIFT_M, TILT, LEAN = 0.003, np.radians(0.25), 0.006
# Triggers: a frame of 10 ms, anywhere in it, 2.9 ms. Viscera and soft tissue, a quarter of the body, hang on the bones
# with some 6 Hz and a damping of .3: at two steps a second they lag by .22 rad, 18 ms, and forces with them by 4.5 ms, a
# quarter of that. (It was 4.5 ms for both before the law was tried on recordings; all else is as it was.)
DELAY_S = 0.0053
# A wand of .4 m is known to .5 mm; makers state a gain of moments to 1 %, and free torques and the depth of a plate's
# origin, some mm, act as one; quartz clocks differ by less than 1 in 10,000, frame rates that are rounded by 1 in
# 1,000.
SCALE, MOMENTS, CLOCK = 0.00125, 0.015, 0.001
# Where tables put the body's centre of mass. The trunk has .35 of the mass. By computed tomography its centre lies 20
# to 50 mm ahead of the vertebrae (Pearsall et al. 1996, Ann Biomed Eng 24:198-210), by photogrammetry 7 to 17 mm behind
# the line from neck to L5/S1 (Dumas et al. 2007, J Biomech 40:543-553): 22 mm, 8 of the body's. Hip centres, 12 mm off
# (Mantovani et al. 2016), carry a quarter of the mass: 3 mm. To the side people are nearly symmetric: hips and markers
# of the trunk 4 mm. INWARDS, to the side of the swinging leg: masses of legs err by 12 % of .16, .1 m from the middle,
# and as much for skin of thigh and pelvis.
AHEAD_M, ASIDE_M, INWARDS_M = 0.0085, 0.004, 0.003
# Of one interval. LEVER_M: a centre of pressure is known to 3 mm, the centre of mass moves by 4 mm as the trunk bends.
# The sway of skin, that of :mod:`.momentum`, changes momentum, and with the radius of gyration of the body angular
# momentum, between both ends. Of one trial: the centre of mass and its sway as the person walks in it.
LEVER_M, GYRATION_M = 0.005, 0.3
TRIAL_LEVER_M, TRIAL_LEAN = 0.003, 0.003
# Floors are flat to 3 mm in 2 m; soles, skin and markers of a standing foot do not repeat better.
FLOOR_M = 0.003
# For so long the sway of skin is alike, which moves the body at 2 Hz: a quarter of its period.
ALIKE_S = 0.125
# Least length of an interval: the shortest single support of an adult. EDGE_S: beside a load that is unknown, when the
# foot that bears it lifts or lands is known to 50 ms. FLAT: of a stance, in which the foot stands.
LEAST_S, EDGE_S, FLAT = 0.2, 0.05, (0.25, 0.5)
UNKNOWN_S = 1e3  # standard error of a delay that nothing shows
LEVEL_M = 0.01  # plates that differ more in height, or lean so far, are stairs or ramps: no floor
# Difference of squared deviations up to which another fault explains them as well: e^-3 in likelihood.
ALIKE = 6.0
HORIZONTAL = [0, 2]
BEARS = 0.5  # share of an interval of which a stance has the figures
OF_PLACE = ("place", "pressed", "since_s")


class Known(NamedTuple):
    """What the intervals with known loads of a trial show; horizontal vectors in axes that are fixed to the plates."""

    start_s: Array  # (interval,)
    end_s: Array
    lever: Array  # (interval, 2), m
    lean: Array  # (interval, 2), horizontal force per weight that momentum does not need
    height: Array  # (interval,), of the centre of mass over the floor, m
    place: Array  # (interval, 2), of the centre of mass from the middle of the plates, m
    pressed: Array  # (interval, 2), of the centre of pressure from the middle of the plates that bear the body, m
    since_s: Array  # (interval,), since the recording started
    late: Array  # (interval, 4), change of lever and lean by a delay, per s
    side: Array  # (interval,), +1 where the right foot bears the body, else -1
    share: Array  # (interval, stance), of the vertical impulse that each stance bears
    ahead: Array  # (2,), where the person faces
    timing: Array  # (2,), sums of squares and products of the regression of the delay
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
    spans = _spans(seen, round(EDGE_S / interval_s(time)))
    ends = np.array([end for span in spans for end in _steps(of_sides, time, *span)], dtype=int).reshape(-1, 2)
    if not len(ends):
        return None
    first, last = ends.T
    lasts_s = (time[last] - time[first])[:, None]

    def mean(values: Array) -> Array:
        parts = [np.trapezoid(values[a : b + 1], time[a : b + 1], axis=0) for a, b in ends]
        return np.asarray(np.array(parts) / lasts_s)

    turn, corners = _turn_of_plates(clean)
    middle = corners.mean(axis=(0, 1)) if corners.size else np.zeros(3)
    share = _shares(contacts, of_sides, time, ends)
    lever = _passes(mean(about) - (spin[last] - spin[first]) / lasts_s)
    lean = (mean(force) - (velocity[last] - velocity[first]) / lasts_s)[:, HORIZONTAL]
    delays = mean(late)
    right = mean(of_sides[..., UP])
    return Known(
        time[first],
        time[last],
        lever @ turn,
        lean @ turn,
        mean(place)[:, UP] - middle[UP],
        (mean(place) - middle)[:, HORIZONTAL] @ turn,
        (_passes(mean(moment.sum(axis=1))) - share @ _centres(contacts, clean)) @ turn,
        (time[first] + time[last]) / 2 - time[0],
        np.hstack([delays[:, :2] @ turn, delays[:, 2:] @ turn]),
        np.where(right[:, SIDES.index("right")] > right[:, SIDES.index("left")], 1.0, -1.0),
        share,
        turn[0],
        _timing(force, velocity, time, spans),
        _foot_marks(contacts, clean, time, turn, corners),
    )


def _passes(moment: Array) -> Array:
    """Return how far ahead and aside (..., 2) of a point a vertical force of 1 passes with this moment about it."""
    return np.stack([moment[..., 2], -moment[..., 0]], axis=-1)


def _spans(seen: Flags, edge: int) -> list[tuple[int, int]]:
    """Return first and last frame of each run of known frames, without those beside unknown ones."""
    changes = np.flatnonzero(np.diff(np.concatenate([[False], seen, [False]]).astype(int)))
    runs = zip(changes[::2].tolist(), (changes[1::2] - 1).tolist(), strict=True)
    inner = [(a + edge * (a > 0), b - edge * (b < len(seen) - 1)) for a, b in runs]
    return [(a, b) for a, b in inner if b > a]


def _steps(of_sides: Array, time: Array, first: int, last: int) -> list[tuple[int, int]]:
    """Return the parts of a span in which one foot bears more than the other: steps; the shortest are left out."""
    right = np.diff(of_sides[first : last + 1, :, UP], axis=1)[:, 0] > 0
    changes = first + 1 + np.flatnonzero(np.diff(right.astype(int)))
    ends = [first, *changes.tolist(), last]
    return [(a, b) for a, b in zip(ends, ends[1:], strict=False) if time[b] - time[a] >= LEAST_S]


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
    bears = (time >= start[:, None]) & (time <= end[:, None])
    borne = np.where(bears, of_sides[:, rows, UP].T, 0.0)
    sums = np.array([borne[:, a : b + 1].sum(axis=1) for a, b in ends])
    return np.asarray(sums / np.fmax(sums.sum(axis=1, keepdims=True), 1e-9))


def _centres(contacts: AnyTrial, clean: AnyTrial) -> Array:
    """Return the middle (stance, 2) of the plates that each stance is on; 0 where it is on none."""
    numbers = [str(number) for number in clean["plate"].values.tolist()]
    centres = clean["plate_corner"].values.mean(axis=1)[:, HORIZONTAL]
    rows = [[numbers.index(name) for name in text.split()] for text in contacts["plates"].values.tolist()]
    return np.array([centres[row].mean(axis=0) if row else np.zeros(2) for row in rows]).reshape(-1, 2)


def _timing(force: Array, velocity: Array, time: Array, spans: Sequence[tuple[int, int]]) -> Array:
    """Return sums of squares and products (2,) of force per weight and what its integral leaves of the velocity.

    A constant and a trend are taken off: they are the lean and the velocity at the start.
    """
    total = np.zeros(2)
    for first, last in spans:
        if time[last] - time[first] < LEAST_S:
            continue
        at, pushed = time[first : last + 1], force[first : last + 1]
        steps = (pushed[1:] + pushed[:-1]) / 2 * np.diff(at)[:, None]
        left = velocity[first : last + 1] - np.vstack([np.zeros(3), np.cumsum(steps, axis=0)])
        shape = np.linalg.qr(np.stack([np.ones_like(at), at - at.mean()], axis=1))[0]
        pushed, left = (part - shape @ (shape.T @ part) for part in (pushed, left))
        total += np.array([(pushed**2).sum(), (pushed * left).sum()]) * interval_s(time)
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


class Fault(NamedTuple):
    """A fault of a session that would explain its momentum, and how well."""

    kind: str
    plate: str  # its number; empty of all
    size: Array  # (1,) or (2,), of its unknowns: rad, m or s
    error: Array  # standard errors of them
    gain: float  # drop of the squared deviations
    spreads: float  # the standard deviation of one normal number that is as rare

    @property
    def words(self) -> str:
        """Return what it says."""
        size = float(np.linalg.norm(self.size))
        who = f"plate {self.plate} is" if self.plate else "plates are"
        return {
            "tilt": f"plates and markers are tilted by {np.degrees(size):.1f} degrees",
            "lean": f"{who} {np.degrees(size):.1f} degrees out of level",
            "level": f"plates and markers are {np.degrees(size):.1f} degrees out of level",
            "shift": f"{who} shifted by {1e3 * size:.0f} mm",
            "yaw": f"plates and markers are turned by {np.degrees(size):.1f} degrees about the vertical",
            "scale": f"markers are {100 * size:.1f} % too {'large' if self.size[0] > 0 else 'small'}",
            "moments": f"the plates' moments are {100 * size:.0f} % too {'large' if self.size[0] > 0 else 'small'}",
            "clock": f"the clock of the plates is {100 * size:.1f} % {'slow' if self.size[0] > 0 else 'fast'}",
            "late": f"plates are {'late' if self.size[0] > 0 else 'early'} by {1e3 * size:.0f} ms",
            "centre": f"the body's centre of mass lies {1e3 * size:.0f} mm from where tables have it",
        }[self.kind]


def faults_of_session(trials: Sequence[Known | None], plates: Sequence[NDArray[np.str_]]) -> list[Fault]:
    """Return the faults that a session has beyond doubt, the most likely first and others that explain it as well.

    Args:
        trials: what each shows.
        plates: of each trial, the numbers of the plates of each stance, "1 3" of two.
    """
    known = [(one, of) for one, of in zip(trials, plates, strict=True) if one is not None]
    if not known:
        return []
    shapes, prior, groups, off, own = _problem([one for one, _ in known], [of for _, of in known])
    weighted = shapes / own[:, None] ** 2
    normal, right = shapes.T @ weighted, weighted.T @ off
    scale = 1.0
    for _ in range(2):  # then with the scatter that the intervals show
        inverse = np.linalg.inv(normal / scale + np.diag(1 / prior**2))
        left = off - shapes @ (inverse @ right) / scale
        scale = max(1.0, float((left**2 / own**2).sum()) / max(len(off) - len(groups), 1))
    normal, right = normal / scale, right / scale
    inverse = np.linalg.inv(normal + np.diag(1 / prior**2))
    found = []
    for (kind, plate), columns in groups.items():
        seen = normal[np.ix_(columns, columns)] - normal[columns] @ inverse @ normal[:, columns]
        pulls = right[columns] - normal[columns] @ inverse @ right
        spread = np.linalg.pinv(seen, rcond=1e-9, hermitian=True)
        size = spread @ pulls
        gain = float(pulls @ size)
        rare = float(norm.isf(chi2.sf(gain, len(columns)) / 2)) if gain < 1000 else np.sqrt(gain)
        found.append(Fault(kind, plate, size, np.sqrt(np.diag(spread)), gain, rare))
    found.sort(key=lambda one: -(one.gain - 2 * len(one.size)))
    if found[0].spreads < SPREADS:
        return []
    best = found[0].gain - 2 * len(found[0].size)
    return [one for one in found if one.gain - 2 * len(one.size) > best - ALIKE]


Problem = tuple[Array, Array, dict[tuple[str, str], list[int]], Array, Array]


def _problem(trials: Sequence[Known], plates: Sequence[NDArray[np.str_]]) -> Problem:
    """Return shapes (observation, unknown), their priors, unknowns by fault, observations, and their own deviations."""
    words = [[text.split() for text in of_trial.tolist()] for of_trial in plates]
    names = sorted({name for of_trial in words for each in of_trial for name in each})
    on = [
        np.array([[(name in each) / max(len(each), 1) for name in names] for each in of]).reshape(len(of), len(names))
        for of in words
    ]
    load = np.concatenate([one.share @ of for one, of in zip(trials, on, strict=True)])  # (interval, plate)
    trial = np.repeat(np.arange(len(trials)), [len(one.start_s) for one in trials])
    height, side = (np.concatenate([getattr(one, name) for one in trials]) for name in ("height", "side"))
    lever, lean, late = (np.concatenate([getattr(one, name) for one in trials]) for name in ("lever", "lean", "late"))
    lasts_s = np.concatenate([one.end_s - one.start_s for one in trials])
    ahead = np.stack([one.ahead for one in trials])[trial]
    aside = ahead[:, ::-1] * [-1, 1]
    count, nothing = len(lever), np.zeros((len(lever), 2))
    columns: list[Array] = []
    prior: list[float] = []
    groups: dict[tuple[str, str], list[int]] = {}
    (slope, sharp), (delay_s, delay_error) = _slope(trials), _delay(trials)

    def add(key: tuple[str, str], deviation: float, lever: Array, lean: Array, slope: Array, delay: float) -> None:
        columns.append(np.concatenate([lever.ravel(), lean.ravel(), sharp @ slope, [delay]]))
        prior.append(max(deviation, 1e-9))
        if key[0]:
            groups.setdefault(key, []).append(len(prior) - 1)

    for axis in np.eye(2):
        every = np.ones((count, 1)) * axis
        add(("tilt", ""), TILT, height[:, None] * every, nothing, axis, 0.0)
        add(("level", ""), TILT, nothing, every, 0 * axis, 0.0)
        for name, share in [("", np.ones(count)), *zip(names, load.T, strict=True)]:
            part = share[:, None] * every
            add(("shift", name), SHIFT_M, part, nothing, 0 * axis, 0.0)
            add(("lean", name), LEAN if name else 0.0, height[:, None] * part, part, 0 * axis, 0.0)
        for i in range(len(trials)):
            here = (trial == i)[:, None] * every
            add(("", ""), TRIAL_LEVER_M, here, nothing, 0 * axis, 0.0)
            add(("", ""), TRIAL_LEAN, nothing, here, 0 * axis, 0.0)
    place, pressed, since_s = (np.concatenate([getattr(one, of) for one in trials]) for of in OF_PLACE)
    add(("yaw", ""), TILT, place[:, ::-1] * [-1, 1], nothing, np.zeros(2), 0.0)
    add(("scale", ""), SCALE, -place, nothing, np.zeros(2), 0.0)
    add(("moments", ""), MOMENTS, pressed, nothing, np.zeros(2), 0.0)
    later = late * since_s[:, None]
    add(("clock", ""), CLOCK, later[:, :2], later[:, 2:], np.zeros(2), float((since_s * lasts_s).sum() / lasts_s.sum()))
    add(("late", ""), DELAY_S, late[:, :2], late[:, 2:], np.zeros(2), 1.0)
    add(("centre", ""), AHEAD_M, -ahead, nothing, np.zeros(2), 0.0)
    add(("centre", ""), ASIDE_M, -aside, nothing, np.zeros(2), 0.0)
    add(("", ""), INWARDS_M, side[:, None] * aside, nothing, np.zeros(2), 0.0)
    sway = np.sqrt(2) * SEEN_SWAY_M_S / (lasts_s * STANDARD_GRAVITY_M_S2)
    own = [np.hypot(LEVER_M, GYRATION_M * sway), sway]
    if len(names) == 1:  # the plate is all plates
        groups = {key: rows for key, rows in groups.items() if not key[1]}
    off = np.concatenate([lever.ravel(), lean.ravel(), sharp @ slope, [delay_s]])
    errors = np.concatenate([np.repeat(one, 2) for one in own] + [np.ones(2), [delay_error]])
    return np.stack(columns, axis=1), np.array(prior), groups, off, errors


def _slope(trials: Sequence[Known]) -> tuple[Array, Array]:
    """Return the slope of the floor (2,) and the matrix (2, 2) that makes its errors 1; zero where it is unknown."""
    marks = np.concatenate([one.feet for one in trials])
    same = marks[:, :1] == np.unique(marks[:, 0])  # (mark, label)
    means = (same.T @ marks[:, 1:]) / np.fmax(same.sum(axis=0), 1)[:, None]
    place, height = np.split(marks[:, 1:] - same @ means, [2], axis=1)
    freedom = len(marks) - same.shape[1] - 2
    if freedom < 1:
        return np.zeros(2), np.zeros((2, 2))
    squares, axes = np.linalg.eigh(place.T @ place)
    squares = np.where(squares > FLOOR_M**2, squares, 0.0)  # across, both feet may be always the same distance apart
    inverse = np.divide(1, squares, out=np.zeros(2), where=squares > 0)
    slope = axes @ (inverse * (axes.T @ place.T @ height[:, 0]))
    left = height[:, 0] - place @ slope
    # heel and toe of a foot stand on the same floor: two marks count as one
    error = np.sqrt(2) * max(FLOOR_M, float(np.sqrt((left**2).sum() / freedom)))
    return slope, np.sqrt(squares)[:, None] * axes.T / error


def _delay(trials: Sequence[Known]) -> tuple[float, float]:
    """Return the delay of the forces and its standard error by the scatter of the trials, s."""
    squares, products = np.stack([one.timing for one in trials]).T
    if not squares.any():
        return 0.0, UNKNOWN_S
    delay = products.sum() / squares.sum()
    share = squares / squares.sum()
    apart = np.divide(products, squares, out=np.zeros_like(products), where=squares > 0) - delay
    count = len(trials)
    scatter = np.sqrt((share**2 * apart**2).sum() * count / max(count - 1, 1))
    sway = SEEN_SWAY_M_S / STANDARD_GRAVITY_M_S2 * np.sqrt(ALIKE_S / squares.sum())
    return float(delay), float(np.hypot(scatter, sway))


def verdicts_of_session(
    trials: Sequence[Known | None], plates: Sequence[NDArray[np.str_]]
) -> list[list[list[Verdict]]]:
    """Return the refusal or doubt, if any, of each stance of each trial.

    A fault of one plate is of the stances on it, others are of all. For the arguments see :func:`faults_of_session`.
    """
    faults = faults_of_session(trials, plates)
    found = list[Verdict]()
    if faults:
        code = "body_momentum_disagrees" if faults[0].spreads > REFUSED_SPREADS else "body_momentum_doubted"
        found.append(Verdict.of(code, causes=" or ".join(one.words for one in faults)))
    blamed = {one.plate for one in faults}
    return [
        [found if "" in blamed or blamed & {*text.split()} else [] for text in of_trial.tolist()] for of_trial in plates
    ]


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
