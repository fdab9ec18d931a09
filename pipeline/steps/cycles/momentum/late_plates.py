r"""Which plate of a session is late against the others, by two witnesses that have only its clock in common.

Rests: the ground stops a foot at its strike and lets it go at its off, so that feet seem to rest too early on a plate
that is late. Momentum: with forces F_k of the plates per mass, late by d_k, velocity of the body's centre of mass is ::

    v = v0 - g t + sum_k s_k integral of F_k dt + sum_k d_k F_k + sway

Both are linear in the delays, with few further unknowns: a scale s_k of each plate, as gains and mass may be wrong,
and the sway of what is not seen, once and twice a step, alike in all steps and opposite in left and right ones. Their
normal equations are summed step by step. One witness alone names no plate: a limp or a slow foot looks like a late one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ....arrays import Array
from ....conventions import STANDARD_GRAVITY_M_S2, UP
from ....signals.filters import interval_s
from ....trials.session import AnyTrial, Trial
from ....variables.stance_verdicts import Verdict
from ..cut_trial import Inputs
from .single_support import SEEN_SWAY_M_S, SPREADS, SWAY_M_S, centre_of_mass, sees_trunk

# Standard errors that each witness alone must show, as one sound plate in twenty does by chance to either side; both
# together must show SPREADS. ALIKE: squared standard errors by which another plate may explain it less and is named
# beside it, e^-3 in likelihood.
LIMIT, ALIKE = 1.64, 6.0
# Standard deviations, s. APART_S: filters of amplifiers, of 100 Hz and more, delay plates by 2 ms against each other.
# RESTS_S: steps of a person differ by 3 ms in ten sessions, by 7 in the worst; of so many degrees of freedom. FEET_S:
# left foot against right, 1 to 5 ms in nine people. SHARED_S: what steps on one plate have in common, as the first ones
# of a walk or those up a stair, so that their number does not average it out: as much as steps differ by in the worst.
APART_S, RESTS_S, FREEDOM, FEET_S, SHARED_S = 0.002, 0.004, 4, 0.005, 0.006
ANY_S, SCALE = 0.1, 0.1  # what all plates and the person share tells nothing
BY_DELAY = 0.08  # of the mass, most that a delay explains: 25 ms of 1.2 body weights in a single support of .4 s
# Sway, m/s: the second harmonic as half of the first, and so the difference of the sides. What else steps differ by,
# and for how long that is alike: a quarter of the period of 2 Hz.
OTHER, OWN_M_S, ALIKE_S = 0.5, 0.02, 0.125
SHORTEST_S, LONGEST_S = 0.15, 1.5  # of a step
WAVES = 4


class Delays(NamedTuple):
    """By how much later than the others each plate is (plate,), s, if only it is, and the standard errors."""

    size: Array
    error: Array


def find_late(walks: Sequence[Inputs[Trial]]) -> tuple[set[str], Verdict] | None:
    """Return the numbers of the plates of which one is late or early against the others, and the doubt; None if none.

    Args:
        walks: of a session, without those in which hands bear weight.
    """
    texts = [walk.contacts["plates"].values[walk.contacts["valid"].values].tolist() for walk in walks]
    names = sorted({name for own in texts for text in own for name in text.split()})
    if len(names) < 2:
        return None
    apart = np.full(len(names), APART_S)
    delays = _agreed_delays(walks, names, apart)
    if delays is None:
        return None
    size, error = delays
    gain = (size / error) ** 2
    apart[gain.argmax()] = ANY_S
    several = _agreed_delays(walks, names, apart) is not None  # then any plate may be late
    named = [i for i in np.argsort(-gain).tolist() if several or gain[i] > gain.max() - ALIKE]
    words = [
        f"plate {names[i]} is {1e3 * abs(size[i]):.0f} ± {1e3 * error[i]:.0f} ms {'late' if size[i] > 0 else 'early'}"
        for i in named
    ]
    return {names[i] for i in named}, Verdict.of("plate_late", what=" or ".join(words))


def _agreed_delays(walks: Sequence[Inputs[Trial]], names: Sequence[str], apart: Array) -> Delays | None:
    """Return what both witnesses show of each plate if they agree that one is late or early; None if they do not.

    Args:
        apart: standard deviation of the delay of each plate against the others (plate,), s.
    """
    witnesses = [_by_rests([walk.contacts for walk in walks], names, apart), _by_momentum(walks, names, apart)]
    sizes, errors = (np.stack(each) for each in zip(*witnesses, strict=True))
    weight = (1 / errors**2).sum(axis=0)
    size = (sizes / errors**2).sum(axis=0) / weight
    best = int((size**2 * weight).argmax())
    each = np.sign(size[best]) * sizes[:, best] > LIMIT * errors[:, best]
    agree = abs(sizes[0, best] - sizes[1, best]) < SPREADS * np.hypot(*errors[:, best])
    is_late = each.all() and agree and size[best] ** 2 * weight[best] > SPREADS**2
    return Delays(size, 1 / np.sqrt(weight)) if is_late else None


def _delays(normal: Array, right: Array, prior: Array, plates: int) -> Delays:
    """Return the delay of each plate, the first unknowns, as if it alone had no prior; for others see ``prior``.

    Args:
        normal, right: the normal equations.
        prior: covariance of the unknowns in sound sessions.
    """
    inverse = np.linalg.inv(normal + np.linalg.inv(prior))
    seen = np.fmax(np.diag(normal - normal @ inverse @ normal)[:plates], 1 / ANY_S**2)
    pulls = (right - normal @ inverse @ right)[:plates]
    return Delays(pulls / seen, np.sqrt(1 / seen + SHARED_S**2))


def _by_rests(contacts: Sequence[AnyTrial], names: Sequence[str], apart: Array) -> Delays:
    """Return what rests of feet on single plates show."""
    columns = (np.concatenate([walk[name].values for walk in contacts]) for name in ("plates", "contact_side"))
    plates, side = (column.astype(str) for column in columns)
    lead = np.concatenate([walk["contact_rest_lead"].values for walk in contacts])
    known = np.isfinite(lead) & np.isin(plates, names)
    lead, right, on = lead[known], side[known] == "right", plates[known, None] == names
    alike = np.hstack([on & right[:, None], on & ~right[:, None]]).astype(float)
    counts = alike.sum(axis=0)
    own = lead - alike @ (alike.T @ lead / np.fmax(counts, 1))
    freedom = FREEDOM + len(lead) - np.count_nonzero(counts)
    variance = (FREEDOM * RESTS_S**2 + own @ own) / freedom
    shapes = np.column_stack([-1.0 * on, np.ones(len(lead)), right])
    prior = np.diag(np.square([*apart, ANY_S, FEET_S]))
    return _delays(shapes.T @ shapes / variance, shapes.T @ lead / variance, prior, len(names))


def _by_momentum(walks: Sequence[Inputs[Trial]], names: Sequence[str], apart: Array) -> Delays:
    """Return what the vertical momentum of all steps shows."""
    plates = len(names)
    normal, right = np.zeros((2 * plates + 2 * WAVES,) * 2), np.zeros(2 * plates + 2 * WAVES)
    for walk in walks:
        of_step = interval_s(walk.contacts["time"].values) / (ALIKE_S * OWN_M_S**2)
        for shapes, velocity in _steps(walk, names):
            normal += of_step * shapes.T @ shapes
            right += of_step * shapes.T @ velocity
    sway = SEEN_SWAY_M_S if all(sees_trunk(walk.kinematics) for walk in walks) else SWAY_M_S
    waves = sway * np.array([1, 1, OTHER, OTHER])
    each = [*apart, *[SCALE] * plates, *waves, *OTHER * waves]
    prior = np.diag(np.square(each))
    prior[:plates, :plates] += ANY_S**2
    return _delays(normal, right, prior, plates)


def _steps(walk: Inputs[Trial], names: Sequence[str]) -> Iterator[tuple[Array, Array]]:
    """Yield the equations of each step, from a foot strike to that of the other foot: unknowns' shapes and velocity.

    Shapes (time, 2 plates + 2 waves) and velocity (time,), m/s, of the frames with known loads, without their means.
    """
    contacts, time = walk.contacts, walk.contacts["time"].values
    velocity = centre_of_mass(walk.kinematics, walk.calibrate, "velocity")[:, UP]
    loads = _loads(walk, names)
    gained = (np.cumsum(loads, axis=0) - loads / 2) * interval_s(time)
    left = velocity - gained.sum(axis=1) + STANDARD_GRAVITY_M_S2 * time
    known = np.isfinite(left + contacts["ground_force"].values.sum(axis=(1, 2)))
    start, side = contacts["contact_start"].values, contacts["contact_side"].values
    for one, other in pairwise(np.argsort(start).tolist()):
        lasts_s = start[other] - start[one]
        first, stop = np.searchsorted(time, [start[one], start[other]])
        frames = first + np.flatnonzero(known[first:stop])
        whole = len(frames) > 1 and frames[-1] - frames[0] == len(frames) - 1
        if side[one] == side[other] or not whole or not SHORTEST_S < lasts_s < LONGEST_S:
            continue
        phase = 2 * np.pi * (time[frames] - start[one]) / lasts_s
        waves = np.stack([np.cos(phase), np.sin(phase), np.cos(2 * phase), np.sin(2 * phase)], axis=1)
        shapes = np.hstack([loads[frames], gained[frames], waves, waves if side[one] == "right" else -waves])
        yield shapes - shapes.mean(axis=0), left[frames] - left[frames].mean()


def _loads(walk: Inputs[Trial], names: Sequence[str]) -> Array:
    """Return the vertical force per mass of valid stances on each plate (time, plate), N/kg."""
    contacts, time = walk.contacts, walk.contacts["time"].values
    force = walk.clean["plate_force"].values[..., UP] / walk.mass_kg
    numbers = [str(number) for number in walk.clean["plate"].values.tolist()]
    result = np.zeros((len(time), len(names)))
    valid = (contacts[name].values[contacts["valid"].values] for name in ("plates", "contact_start", "contact_end"))
    for text, start_s, end_s in zip(*(column.tolist() for column in valid), strict=True):
        inside = slice(*np.searchsorted(time, [start_s, end_s]).tolist())
        for name in text.split():
            result[inside, names.index(name)] += np.nan_to_num(force[inside, numbers.index(name)])
    return result
