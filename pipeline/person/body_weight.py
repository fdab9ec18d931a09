"""Body weight of a standing or walking person, from force plates."""

import warnings
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Flags
from ..body.landmarks import Points
from ..conventions import SIDES
from ..plates.wrench import over_each_plate, plate_normal
from ..signals.filters import stretches

LOADED_N = 50.0
STANCE_S, STEP_S = (0.35, 1.3), (0.25, 1.0)
LARGEST_LIMP_S = 0.15  # difference between the steps from strike to strike and from off to off
LARGEST_DIFFERENCE = 0.15  # of the impulses of two steps; a larger one means a foot partly off its plate
SHORTEST_DOUBLE = 0.08  # double support as a share of the step; 0.2 in usual walking
MEAN_OVER_WEIGHT = 0.8  # mean vertical force of a stance over body weight: half a stride / a stance of 62 %
PEAK_OVER_WEIGHT = (1.0, 1.6)
SHARED_LOAD = (0.2, 0.8)  # share of the way from left to right foot; a foot that bears nothing leaves 0 or 1


class _Step(NamedTuple):
    """A contact with one plate: times, plate, impulse (N s), largest force (N)."""

    start_s: float
    end_s: float
    plate: int
    impulse: float
    peak_n: float

    @property
    def weight_n(self) -> float:
        """Return the body weight estimated from this stance."""
        return self.impulse / (MEAN_OVER_WEIGHT * (self.end_s - self.start_s))


def vertical_forces(force: Array, corners: Array) -> Array:
    """Return the force normal to each plate (sample, plate), up, without offset.

    Args:
        force: (sample, plate, 3), N.
        corners: (plate, 4, 3), in the axes of the force.
    """
    if not force.size:
        return np.empty(force.shape[:2])
    up = np.array([-plate_normal(quad) for quad in corners])
    vertical = np.einsum("spk,pk->sp", np.nan_to_num(force), up)
    return np.asarray(vertical - np.percentile(vertical, 5, axis=0))


def standing_weight_n(points: Points, rotation: Array, force: Array, corners: Array, edges_known: Flags) -> float:
    """Return the force under a person with both feet on plates, N, else NaN.

    Edges that are not known cannot tell whether a foot is on a plate. Then both feet bear weight if the loads together
    press between them; how far across, and not outside the feet's length, is :data:`SHARED_LOAD`.

    Args:
        points: landmarks (time, 3), file axes, m.
        rotation: (3, 3) from file axes to ISB lab axes.
        force: (sample, plate, 3), lab axes.
        corners: (plate, 4, 3), lab axes, m.
        edges_known: (plate,) whether these are those of a plate; else their centre is where it is pressed.
    """
    rear = "heel" if {f"heel_{side}" for side in SIDES} <= points.keys() else "lateral_malleolus"
    names = [f"{name}_{side}" for name in (rear, "toe") for side in SIDES]
    if not len(corners) or not points.keys() >= set(names):
        return float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a marker that is never seen is NaN, which is over no plate
        feet = np.stack([np.nanmedian(points[name] @ rotation.T, axis=0) for name in names])
    if not edges_known.all():
        load = np.median(force[..., 1], axis=0)
        places = corners.mean(axis=1)
        pressed = (load @ places / load.sum() if load.sum() > LOADED_N else np.full(3, np.nan)) * [1, 0, 1]
        left, right = (feet[i::2].mean(axis=0) * [1, 0, 1] for i in range(2))
        across = right - left
        share = (pressed - left) @ across / (across @ across)
        beside = np.linalg.norm(pressed - left - share * across)
        foot = max(np.linalg.norm(feet[2 + i] - feet[i]) for i in range(2))
        between = SHARED_LOAD[0] < share < SHARED_LOAD[1] and beside < foot
        return float(np.median(force[..., 1].sum(axis=1))) if between else float("nan")
    under = over_each_plate(feet, corners, 0.0)
    if not under.any(axis=1).all():
        return float("nan")
    return float(np.median(force[:, under.any(axis=0), 1].sum(axis=1)))


def walking_weights_n(vertical: Array, rate_hz: float) -> list[float]:
    """Return estimates of body weight from a walk, N, one for each two successive steps on two plates.

    In even walking the mean of all vertical force over a step is the weight, as the body neither rises nor sinks from
    one step to the next. Both feet are on plates from the end of the first foot's double support to the end of that
    between them, and from the start of that to the start of the second foot's last: each is a step, if all double
    supports last as long as the one between, and the mean of both is returned. Of 11 walkers with a stated mass, 25 to
    81 kg, ten were within 4.5 %, a child within 6.5 %. One step shows no weight better than to 10 or 20 %; nor do two
    of unequal impulse (a foot partly off its plate) or with hardly any double support (running, turning).

    Args:
        vertical: (sample, plate), N, see :func:`vertical_forces`.
    """
    steps = []
    for plate, load in enumerate(vertical.T):
        loaded = load > max(LOADED_N / 2, 0.04 * load.max(initial=0.0))
        for start, stop in stretches(loaded):
            step = _Step(
                start / rate_hz, stop / rate_hz, plate, float(load[start:stop].sum()) / rate_hz, load[start:stop].max()
            )
            inside = start > 0 and stop < len(load)
            lasting = STANCE_S[0] <= step.end_s - step.start_s <= STANCE_S[1] and step.peak_n > LOADED_N
            if inside and lasting and PEAK_OVER_WEIGHT[0] <= step.peak_n / step.weight_n <= PEAK_OVER_WEIGHT[1]:
                steps.append(step)
    steps.sort()
    total = vertical.sum(axis=1)
    weights_n = []
    for first, second in pairwise(steps):
        from_strike_s, from_off_s = second.start_s - first.start_s, second.end_s - first.end_s
        follows = STEP_S[0] < from_strike_s < STEP_S[1] and abs(from_strike_s - from_off_s) < LARGEST_LIMP_S
        smaller, larger = sorted((first.impulse, second.impulse))
        double_s = first.end_s - second.start_s
        even = smaller >= (1 - LARGEST_DIFFERENCE) * larger and double_s >= SHORTEST_DOUBLE * from_strike_s
        if first.plate != second.plate and follows and even:
            spans = (first.start_s + double_s, first.end_s), (second.start_s, second.end_s - double_s)
            means = [total[round(start * rate_hz) : round(end * rate_hz)].mean() for start, end in spans]
            weights_n.append(float(np.mean(means)))
    return weights_n
