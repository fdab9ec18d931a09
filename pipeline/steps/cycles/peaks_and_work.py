"""Metrics of curves of gait cycles, or of stances: peaks, ranges of motion, impulses, work.

Curves are a mapping in the units of cycles.nc: ``joint_angle`` and ``joint_moment_jcs`` (..., joint, angle, 101),
``pelvis_angle`` (..., angle, 101), ``joint_power`` (..., joint, 101), ``foot_power`` and ``ankle_foot_power``
(..., 101), ``ground_force`` (..., axis, 101).
``stance_share`` (...) is the percent of the cycle at which the foot leaves the ground. Over a stance it is 100.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Array
from ...conventions import FLEXION
from ...variables.metrics import METRICS
from ...variables.rows import IMPULSES, PEAKS, RANGES, WORK, WORK_OF_FOOT, Part, Window

Curves = Mapping[str, Array]
USUAL_STANCE_SHARE = 60.0  # percent
PERCENT = np.arange(101.0)
TOP_PERCENT = 2


VALLEY = "lowest_vertical_force"
TOPS, MOTION, AREAS, BURSTS = (
    {name: (metric.part, metric.window) for name, metric in METRICS.items() if metric.part and metric.group in groups}
    for groups in ((PEAKS,), (RANGES,), (IMPULSES, WORK_OF_FOOT), (WORK,))
)


def _rows(curves: Curves, parts: Iterable[tuple[Part, Window]]) -> Array:
    """Return the rows (..., part, 101) of curves, with the sign of each part positive."""
    places: list[tuple[Part, Any]] = [(part, (..., *part.row, slice(None))) for part, _ in parts]
    return np.stack([part.sign * curves[part.curve][place] for part, place in places], axis=-2)


def peaks(curves: Curves, *, stance_share: ArrayLike) -> dict[str, Array]:
    """Return the peaks (...) of cycles and, as ``phase_of_...``, their times, %.

    A peak is the highest top of the curve inside its window: not the window's first or last value, which is that of a
    neighbouring peak. A top is the highest of the samples within 2 % of the cycle, since nothing of a walking person,
    and nothing that the filter passes, rises and falls in less than 4 %, 40 to 50 ms. NaN without a top, if a metric of
    one sign has its top beyond zero (no propulsion, no burst of power), or if a sample of the window is missing, or one
    beside it that may be higher than its top. Absorbed power is negative. A stance share of NaN counts as 60.
    """
    share = np.asarray(stance_share, dtype=float)
    off = np.where(np.isnan(share), USUAL_STANCE_SHARE, share)[..., None]
    start, end = (_percent(np.array([window[i] for _, window in TOPS.values()]), off)[..., None] for i in (1, 2))
    values = _rows(curves, TOPS.values())
    within = ((start < PERCENT) & (end > PERCENT)) | (end - 100 > PERCENT)
    # the values before and after each; curves go on at their start
    around = [np.roll(values, shift, axis=-1) for shift in range(-TOP_PERCENT, TOP_PERCENT + 1) if shift]
    tops = np.all([~(values < other) for other in around], axis=0)
    lowest = [0 if METRICS[name].kind == "size" and name != VALLEY else -np.inf for name in TOPS]
    searched = np.where(within & tops & (values > np.array(lowest)[:, None]), values, -np.inf)
    place = searched.argmax(axis=-1)
    highest = np.take_along_axis(searched, place[..., None], axis=-1)[..., 0]
    seen = np.take_along_axis(np.isfinite(around).all(axis=0), place[..., None], axis=-1)[..., 0]
    certain = np.isfinite(highest) & seen & ~(within & np.isnan(values)).any(axis=-1)
    peak, phase = np.where(certain, highest, np.nan), np.where(certain, place, np.nan)
    peak *= [part.sign if part.as_stored else 1 for part, _ in TOPS.values()]
    return {name: peak[..., i] for i, name in enumerate(TOPS)} | {
        f"phase_of_{name}": phase[..., i] for i, name in enumerate(TOPS)
    }


def _percent(at: Array, off: Array) -> Array:
    """Return instants of the gait cycle, 0 at foot strike and 1 at foot off, in percent."""
    return np.minimum(at, 1) * off + np.clip(at - 1, 0, 1) * (100 - off) + np.maximum(at - 2, 0) * off


def ranges(curves: Curves) -> dict[str, Array]:
    """Return largest minus smallest angle (...), degrees; NaN if a sample is missing."""
    spans = {name: np.ptp(curves[name], axis=-1) for name in {part.curve for part, _ in MOTION.values()} & {*curves}}
    unknown = np.full(np.shape(curves["joint_angle"])[:-3], np.nan)  # of trunk and arms that are not seen
    return {
        name: spans[part.curve][(..., *part.row)] if part.curve in spans else unknown
        for name, (part, _) in MOTION.items()
    }


def impulses(curves: Curves, *, stance_share: ArrayLike, stride_s: ArrayLike) -> dict[str, Array]:
    """Return impulses (...) of moments (N m s/kg) and forces (N s/kg), and work of the foot (J/kg), in stance.

    The impulse is the integral of the positive part, with curves linear between samples; negative work is negative. NaN
    where a sample of stance or the foot off is missing.

    Args:
        curves, stance_share: see the module.
        stride_s: (...), duration of the cycle.
    """
    share, stride = np.asarray(stance_share)[..., None, None], np.asarray(stride_s)[..., None]
    values = _rows(curves, AREAS.values())
    in_stance = np.clip(share - np.arange(100.0), 0, 1)  # share of each interval of 1 %
    start = values[..., :-1]
    end = start + in_stance * (values[..., 1:] - start)
    with np.errstate(invalid="ignore", divide="ignore"):
        across = np.maximum(start, end) ** 2 / (2 * np.abs(start - end))  # means of the positive part of straight lines
    area = np.where(start * end < 0, across, (np.maximum(start, 0) + np.maximum(end, 0)) / 2)
    impulse = np.where(in_stance > 0, area * in_stance, 0).sum(axis=-1) / 100 * stride
    impulse = np.where(np.isnan(share[..., 0]), np.nan, impulse)
    impulse *= [part.sign if part.as_stored else 1 for part, _ in AREAS.values()]
    return {name: impulse[..., i] for i, name in enumerate(AREAS)}


def work(curves: Curves, *, stance_share: ArrayLike) -> dict[str, Array]:
    """Return the work (...) of each phase of power about the flexion axes, J/kg.

    Absorption is negative. Phases of power are separated by changes of sign. A burst is the sum of all phases of its
    sign with a peak in its window; 0 if there is none. Windows scale with stance and swing. Work is the integral of
    moment over angle, which equals that of power over time without a derivative. NaN where a sample in the window, or
    next to such a phase, is missing. A stance share of NaN counts as 60.
    """
    share = np.asarray(stance_share, dtype=float)
    off = np.where(np.isnan(share), USUAL_STANCE_SHARE, share).ravel()
    turn = np.diff(np.radians(curves["joint_angle"][..., FLEXION, :]), axis=-1)
    moment = curves["joint_moment_jcs"][..., FLEXION, :]
    done = (turn * (moment[..., 1:] + moment[..., :-1]) / 2).reshape(len(off), turn.shape[-2], 100)
    phases = _phases(done)
    return {name: _work_of(*burst, done, phases, off).reshape(share.shape) for name, burst in BURSTS.items()}


class _Phases(NamedTuple):
    """Phases of power, all (phase,): cycle, joint, sign, time of peak (%), work (J/kg)."""

    cycle: NDArray[np.intp]
    joint: NDArray[np.intp]
    sign: Array
    peak: Array
    work: Array


def _phases(done: Array) -> _Phases:
    """Return the phases of work (cycle, joint, 100); NaN next to a missing sample."""
    sign = np.where(np.isnan(done), 2, np.sign(done))  # 2: a missing sample ends a phase
    begins = np.ones(done.shape, dtype=bool)
    begins[..., 1:] = sign[..., 1:] != sign[..., :-1]
    first = np.flatnonzero(begins)
    if not first.size:  # no cycle
        return _Phases(*[np.empty(0, dtype=int)] * 2, *[np.empty(0)] * 3)
    cycle, joint, _ = np.unravel_index(first, done.shape)
    size = np.abs(done).ravel()
    highest = np.repeat(np.maximum.reduceat(size, first), np.diff(first, append=done.size))
    percent = np.broadcast_to(np.arange(100) + 0.5, done.shape).ravel()
    peak = np.minimum.reduceat(np.where(size == highest, percent, np.inf), first)
    gap = np.isnan(np.pad(done, ((0, 0), (0, 0), (1, 1))))
    incomplete = np.maximum.reduceat((gap[..., :-2] | gap[..., 2:]).ravel(), first)
    work = np.where(incomplete, np.nan, np.add.reduceat(done.ravel(), first))
    return _Phases(cycle, joint, sign.ravel()[first], peak, work)


def _work_of(part: Part, window: Window, done: Array, phases: _Phases, off: Array) -> Array:
    """Return a burst's work (cycle,), given all work (cycle, joint, 100) and foot off, %."""
    (joint,) = part.row
    start, end = _percent(np.array(window.start), off), _percent(np.array(window.end), off)
    mine = (phases.joint == joint) & (phases.sign == part.sign)
    mine &= (phases.peak > start[phases.cycle]) & (phases.peak < end[phases.cycle])
    total = np.bincount(phases.cycle[mine], weights=phases.work[mine], minlength=len(off))
    middle = np.arange(100) + 0.5
    unknown = np.isnan(done[:, joint]) & (middle > start[:, None]) & (middle < end[:, None])
    return np.where(unknown.any(axis=-1), np.nan, total)
