"""Breaks of a plate's signal: its load changes from one sample to the next as no body can change it.

A cable or a packet of samples that drops out, an amplifier that is switched, and samples that are lost all leave a
step. The force of a foot takes 5 ms to rise at its steepest, in a stamp or under a heel in running, and less than
1 % of that of a walk is beyond 15 Hz (Antonsson and Mann 1985, J Biomech 18:39-47): where it changes much between two
samples, it changes nearly as much in the 5 ms beside them. Slower recordings show no steps, and are not judged.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..dynamics.vectors import cross
from .wrench import centre_of_pressure, over_each_plate

# A load that rises in 5 ms changes at 500 Hz by up to 2.6 times as much between two samples as beside them if it rises
# as a cubic, 2.9 times as half a cosine, 4.1 times as a minimum jerk.
LOWEST_RATE_HZ, AROUND_S = 500.0, 0.005
LEAST_PEAK_N = 100.0  # as for faults of channels: a child of 13 kg presses with 200 N
# A moment counts as a force at this distance. A step is so many times the largest change beside it, more than a foot's;
# of noise, ten changes reach 2.5 standard deviations, and none reaches five times that; two are often small by chance.
LEVER_M, TIMES_BESIDE, LEAST_BESIDE = 0.2, 5.0, 4
# Smallest steps, as shares of the plate's largest load: under load 20 N of an adult; where the plate is unloaded on one
# side, of the vertical force alone. Labs set forces, or centres of pressure, to zero below 10 to 50 N: the first load
# above, if a step, is at most 5 / 4 of that, as a fifth of the step may be the foot's. With less a plate is unloaded.
LOADED, STEP_LOADED, STEP_UNLOADED, ZEROED_N = 0.1, 0.02, 0.3, 65.0
# More steps of a trial below this share of the load are counts of a coarse converter, or noise.
COUNTS, MOST_SMALL = 0.1, 8
# A sole that rolls over an edge may load the plate in steps. LEAST_PART: share of the load by which one moves the
# vertical force. AT_EDGE_M: noise puts the place of a step of a tenth of the load some 10 mm aside, crosstalk farther
LEAST_PART, AT_EDGE_M = 0.01, 0.03
LEAST_MOTION = 1e-4  # share of the load; samples that only repeat on both sides of all steps are held from a lower rate
LONGEST_S = 0.25  # of a drop-out, as a swing lasts .3 s
COMES_BACK_BY = 0.5  # share of a step
# Where samples are lost, all channels jump to what they read that much later: all but this share of the step is their
# slope beside it times one time.
LOST_S, UNEXPLAINED = (0.003, 0.1), 0.5


class Break(NamedTuple):
    """A break of a plate's signal."""

    # first, last: samples after the first step and before the last one; if the signal does not come back within .25 s,
    # there is one step, and ``last`` is the sample before it
    first: int
    last: int
    newtons: float  # the larger of its steps: of a force, or of a moment in 0.2 m
    lost_s: float  # the time that is lost there; 0 if samples are wrong but none is lost

    @property
    def comes_back(self) -> bool:
        """Return whether the signal comes back."""
        return self.last >= self.first


def find_breaks(wrench: Array, corners: Array, rate_hz: float) -> list[Break]:
    """Return the breaks of a plate's signal in time.

    Args:
        wrench: (sample, 6) unfiltered force, N, and moment about the lab origin, N m, without baseline; y is up.
        corners: (4, 3) of the plate, m.
        rate_hz: samples per second.
    """
    # plus a quarter, as a rate computed from instants puts a half by chance above or below
    force, beside = wrench[:, :3], max(int(AROUND_S * rate_hz + 0.25), LEAST_BESIDE)
    vertical = np.abs(force[:, 1])
    peak_n = np.fmax.reduce(vertical, initial=0.0)
    if peak_n < LEAST_PEAK_N or rate_hz < LOWEST_RATE_HZ - 1:
        return []
    about_middle = wrench[:, 3:] - cross(corners.mean(axis=0), force)
    loads = np.concatenate([force.T, about_middle.T / LEVER_M]).T  # time is last in memory
    changes, loaded = np.diff(loads, axis=0), np.minimum(vertical[1:], vertical[:-1]) > max(LOADED * peak_n, ZEROED_N)
    unloaded_n = np.where(np.arange(6) == 1, max(STEP_UNLOADED * peak_n, ZEROED_N), np.inf)
    least_n = np.where(loaded, STEP_LOADED * peak_n, unloaded_n[:, None]).T
    large = np.flatnonzero((np.abs(changes) > least_n).any(axis=1))
    around = {i: changes[i - beside : i + beside + 1] for i in large.tolist() if beside <= i < len(changes) - beside}
    sizes = {i: _step_in(near, least_n[i], LEAST_MOTION * peak_n) for i, near in around.items()}
    steps = {i: size for i, size in sizes.items() if size}
    if len([size for size in steps.values() if size < COUNTS * peak_n]) > MOST_SMALL:
        steps = {i: size for i, size in steps.items() if size >= COUNTS * peak_n}
    pairs = _pairs(changes, [*steps], LONGEST_S * rate_hz)
    found = [
        Break(a + 1, b, max(steps[a], steps[b]), _lost_s(loads, a, beside, rate_hz) if a == b and loaded[a] else 0.0)
        for a, b in pairs
    ]
    return _without_edges(found, wrench, corners, peak_n)


def _without_edges(breaks: Sequence[Break], wrench: Array, corners: Array, peak_n: float) -> list[Break]:
    """Return the breaks without the steps by which a sole may roll over the edge of a plate.

    These move the vertical force by a part of the largest load, N, and do not take it away for a while. A single one of
    a plate that does not act at its edge is lost time if that explains it.
    """
    changes = {gap: wrench[gap.first] - wrench[gap.first - 1] for gap in breaks}
    shares = {gap: change[1] / peak_n for gap, change in changes.items()}
    partial = [gap for gap, share in shares.items() if LEAST_PART < abs(share) < STEP_UNLOADED]
    rolling = [gap for gap in partial if shares[gap] > 0 or not gap.comes_back]
    is_lost = len(rolling) == 1 and rolling[0].lost_s > 0 and not _acts_at_edge(changes[rolling[0]], corners)
    return [gap for gap in breaks if is_lost or gap not in rolling]


def _acts_at_edge(step: Array, corners: Array) -> bool:
    """Return whether the step (6,) of a wrench acts at an edge of its plate."""
    place, _ = centre_of_pressure(step[None, :3], step[None, 3:], corners)
    near, inside = (over_each_plate(place, corners[None], margin_m) for margin_m in (AT_EDGE_M, -AT_EDGE_M))
    return bool((near & ~inside).all())


def _step_in(changes: Array, least_n: Array, still_n: float) -> float:
    """Return the largest step, N, in the middle one of changes (sample, 6), each above its least (6,).

    It is 0 if there is none, or the load moves on no side.
    """
    middle = len(changes) // 2
    before, after = (np.abs(part).max(axis=0) for part in (changes[:middle], changes[middle + 1 :]))
    step = np.abs(changes[middle])
    moves = max(before.max(), after.max()) > still_n
    is_step = step > np.maximum(least_n, TIMES_BESIDE * np.maximum(before, after))
    return float(step[is_step].max(initial=0.0)) if moves else 0.0


def _pairs(changes: Array, steps: Sequence[int], longest: float) -> Iterator[tuple[int, int]]:
    """Return the first and last step of each break: the same one, unless the signal comes back soon."""
    waiting = [*steps]
    while waiting:
        first, *waiting = waiting
        jump = changes[first]
        least = COMES_BACK_BY * (jump @ jump)
        back = next((i for i in waiting if i - first <= longest and changes[i] @ jump < -least), first)
        waiting = [i for i in waiting if i > back]
        yield first, back


def _lost_s(loads: Array, step: int, beside: int, rate_hz: float) -> float:
    """Return the time that is lost in a step of loads (sample, 6), s; 0 if it does not explain the step."""
    jump = loads[step + 1] - loads[step]
    slope = (loads[step] - loads[step - beside] + loads[step + 1 + beside] - loads[step + 1]) / (2 * beside)
    lost = jump @ slope / max(slope @ slope, 1e-9)
    fits = np.linalg.norm(jump - lost * slope) < UNEXPLAINED * np.linalg.norm(jump)
    return float(lost / rate_hz) if fits and LOST_S[0] <= lost / rate_hz <= LOST_S[1] else 0.0
