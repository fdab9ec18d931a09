"""Gait events as C3D files state them, with the defects that files have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pipeline.event_names import kind_in, side_in
from pipeline.events import OFF, SAME_EVENT_S, STRIKE, GaitEvent

REPEATED_S = 0.03
SWAPPED_S = 0.08  # another foot's event, or one of the other kind, is this near to one that is mistaken for it


def file_events(times_s: Iterable[float], labels: Iterable[str], sides: Iterable[str], *, side: str) -> list[GaitEvent]:
    """Return one side's foot strikes and offs among the events of a C3D file.

    The side is the event's context or stands in its label (``LHS``, ``Right Foot Strike``), in the words of
    :mod:`pipeline.event_names`. Repeated events count once; those at time 0 are left behind by software.
    """
    found: list[GaitEvent] = []
    for time_s, label, context in sorted(zip(times_s, labels, sides, strict=True)):
        kind = kind_in(str(label))
        if kind and (str(context) or side_in(str(label))) == side and time_s != 0:
            repeated = any(e.kind == kind and time_s - e.time_s < REPEATED_S for e in found)
            found += [] if repeated else [GaitEvent(float(time_s), kind, "c3d")]
    return sorted(found)


def believed(
    listed: Mapping[str, Sequence[GaitEvent]],
    known: Mapping[str, Sequence[GaitEvent]],
    *,
    first_s: float,
    last_s: float,
) -> dict[str, list[GaitEvent]]:
    """Return each side's events of the file that lie in the trial and that the motion does not contradict.

    Times count from the start of the recording; a file whose events fit the motion better when counted from its
    own first frame is taken so. An event is contradicted where its foot does something else: the other foot's
    event, or one of the other kind, is within 80 ms, and none of its own within 150 ms. Where that holds for most,
    none is believed.

    Args:
        listed: the file's events by side.
        known: events by side from plates and motion.
        first_s, last_s: span of the trial.
    """
    shift = max((0.0, first_s), key=lambda late_s: (_fitting(listed, known, late_s), late_s == 0))
    inside = {
        side: [
            GaitEvent(event.time_s + shift, event.kind, event.source)
            for event in events
            if first_s <= event.time_s + shift <= last_s
        ]
        for side, events in listed.items()
    }
    good = {side: [e for e in events if not _contradicted(e, side, known)] for side, events in inside.items()}
    kept, all_of_them = (sum(map(len, events.values())) for events in (good, inside))
    return good if 2 * kept >= all_of_them else {side: [] for side in listed}


def _fitting(listed: Mapping[str, Sequence[GaitEvent]], known: Mapping[str, Sequence[GaitEvent]], late_s: float) -> int:
    return sum(
        _nearest(event.time_s + late_s, event.kind, known.get(side, ())) <= SWAPPED_S
        for side, events in listed.items()
        for event in events
    )


def _contradicted(event: GaitEvent, side: str, known: Mapping[str, Sequence[GaitEvent]]) -> bool:
    own = [other.time_s for other in known.get(side, ())]
    if not own or not min(own) - SAME_EVENT_S <= event.time_s <= max(own) + SAME_EVENT_S:
        return False
    others = (
        _nearest(event.time_s, kind, events)
        for of, events in known.items()
        for kind in (STRIKE, OFF)
        if (of, kind) != (side, event.kind)
    )
    return _nearest(event.time_s, event.kind, known[side]) > SAME_EVENT_S and min(others) <= SWAPPED_S


def _nearest(time_s: float, kind: str, events: Sequence[GaitEvent]) -> float:
    return min((abs(event.time_s - time_s) for event in events if event.kind == kind), default=np.inf)
