"""Gait events and stances of one side, merged from force plates, the C3D file and the motion of the feet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from ...arrays import Array, Flags
from ...conventions import LONGEST_SWING_S
from ...vocabulary.event_names import OFF, STRIKE

SAME_EVENT_S = 0.15  # half a swing: two events of one kind and foot are a stride apart


@dataclass(frozen=True, order=True)
class GaitEvent:
    """A foot strike or off: time in s, kind, source (plate, c3d or kinematic)."""

    time_s: float
    kind: str
    source: str


@dataclass(frozen=True, order=True)
class Stance:
    """A foot on the ground from ``start_s`` to ``end_s``.

    ``begins`` and ``ends``: whether each end is an event; ``sure``: whether its start comes from a plate or the file,
    not from motion alone.
    """

    start_s: float
    end_s: float
    begins: bool = True
    ends: bool = True
    sure: bool = False


def lags(from_motion: Mapping[str, Sequence[GaitEvent]], better: Mapping[str, Sequence[GaitEvent]]) -> dict[str, float]:
    """Return the median delay of events from motion, s, by kind, over both sides."""
    differences: dict[str, list[float]] = {STRIKE: [], OFF: []}
    for side, events in from_motion.items():
        for event in events:
            near = [other.time_s for other in better.get(side, ()) if other.kind == event.kind]
            nearest = min(near, key=lambda time_s: abs(time_s - event.time_s), default=np.inf)
            if abs(nearest - event.time_s) <= SAME_EVENT_S:
                differences[event.kind].append(event.time_s - nearest)
    return {kind: median(values) for kind, values in differences.items() if values}


def align(events: Sequence[GaitEvent], late_s: Mapping[str, float]) -> list[GaitEvent]:
    """Return events from motion without their lag."""
    return [GaitEvent(event.time_s - late_s.get(event.kind, 0.0), event.kind, event.source) for event in events]


def merge(sources: Sequence[Sequence[GaitEvent]]) -> list[GaitEvent]:
    """Merge events of several sources, best first.

    An event is dropped if a better source has one of the same kind within 150 ms, or successive events of different
    kind around it.
    """
    kept: list[GaitEvent] = []
    for events in sources:
        better = sorted(kept)
        kept += [event for event in events if not _is_superseded(event, better)]
    return _alternating(sorted(kept))


def _is_superseded(event: GaitEvent, better: Sequence[GaitEvent]) -> bool:
    if any(event.kind == other.kind and abs(event.time_s - other.time_s) <= SAME_EVENT_S for other in better):
        return True
    return any(
        first.time_s < event.time_s < second.time_s
        and first.source == second.source
        and {first.kind, second.kind} == {STRIKE, OFF}
        and second.time_s - first.time_s <= LONGEST_SWING_S
        for first, second in zip(better, better[1:], strict=False)
    )


def _alternating(events: Sequence[GaitEvent]) -> list[GaitEvent]:
    """Drop the less trusted of two successive events of one kind within 0.3 s."""
    rank = {"plate": 0, "c3d": 1, "kinematic": 2}
    kept: list[GaitEvent] = []
    for event in events:
        if kept and kept[-1].kind == event.kind and event.time_s - kept[-1].time_s < 2 * SAME_EVENT_S:
            kept[-1] = min(kept[-1], event, key=lambda e: (rank[e.source], e.time_s))
        else:
            kept.append(event)
    return kept


def stances(
    events: Sequence[GaitEvent], *, first_s: float, last_s: float, stands: Sequence[tuple[float, float]] = ()
) -> list[Stance]:
    """Return the stretches in which the foot is, or may be, on the ground.

    Before the first and after the last event the foot keeps its state, but a foot that stands there is not in swing: an
    event is missing. So it is between two strikes, between two offs, and in a swing of more than a second: the foot may
    be on the ground.

    Args:
        events: of one side, in order.
        first_s, last_s: span of the trial.
        stands: starts and ends, s, when the foot rests for longer than in a swing.
    """
    if not events:
        return [Stance(first_s, last_s, begins=False, ends=False)]
    result = []
    if events[0].kind == OFF:
        result.append(Stance(first_s, events[0].time_s, begins=False))
    for event, following in zip(events, events[1:], strict=False):
        if event.kind == STRIKE:
            sure = event.source != "kinematic"
            result.append(Stance(event.time_s, following.time_s, ends=following.kind == OFF, sure=sure))
        elif following.kind == OFF or following.time_s - event.time_s > LONGEST_SWING_S:
            result.append(Stance(event.time_s, following.time_s, begins=False, ends=following.kind == OFF))
    if events[-1].kind == STRIKE:
        result.append(Stance(events[-1].time_s, last_s, ends=False, sure=events[-1].source != "kinematic"))
    if events[0].kind == STRIKE and (ends := [end for _, end in stands if end < events[0].time_s]):
        result.append(Stance(first_s, max(ends), begins=False, ends=False))
    if events[-1].kind == OFF and (starts := [start for start, _ in stands if start > events[-1].time_s]):
        result.append(Stance(min(starts), last_s, begins=False, ends=False))
    return sorted(stance for stance in result if stance.end_s > stance.start_s)


def on_ground(time: Array, stances: Sequence[Stance]) -> Flags:
    """Return which instants (time,) are in a stance."""
    inside = np.zeros(len(time), dtype=bool)
    for stance in stances:
        inside |= (time >= stance.start_s) & (time <= stance.end_s)
    return inside


def of_both_sides(events: Mapping[str, Sequence[GaitEvent]]) -> list[tuple[GaitEvent, str]]:
    """Return the events of both sides in order of time, each with its side."""
    return sorted((event, side) for side, listed in events.items() for event in listed)
