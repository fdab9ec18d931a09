"""Gait events of a trial from all that tells them: its plates, its file, and the motion of the feet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...c3d.event_names import kind_in, side_in
from ...conventions import SIDES
from . import events as gait
from . import kinematic_events as motion
from .events import OFF, SAME_EVENT_S, STRIKE, GaitEvent
from .feet import Feet, at_rest
from .plate_contacts import Contact

Array = NDArray[np.float64]
Events = Mapping[str, Sequence[gait.GaitEvent]]
Weaker = Mapping[str, Sequence[Sequence[gait.GaitEvent]]]


def plate_events(found: Sequence[Contact]) -> dict[str, list[gait.GaitEvent]]:
    """Return each side's events that good contacts tell, in order of time."""
    events: dict[str, list[gait.GaitEvent]] = {side: [] for side in SIDES}
    for contact in found:
        if contact.side in events and not contact.reason:
            ends = ((contact.start_s, gait.STRIKE, contact.begins), (contact.end_s, gait.OFF, contact.ends))
            events[contact.side] += [gait.GaitEvent(time_s, kind, "plate") for time_s, kind, seen in ends if seen]
    return {side: sorted(listed) for side, listed in events.items()}


def weaker_events(
    time: Array, landmarks: Mapping[str, Array], stated: Sequence[NDArray[Any]], feet: Feet, plates: Events, method: str
) -> Weaker:
    """Return each side's events from the file and from motion, in the order of trust.

    Those from motion lead or lag by a person's own way of walking: they are shifted by the median difference from
    the trial's better ones, else from when the feet come to rest and leave it.

    Args:
        time: (time,), s.
        landmarks: (time, 3) by name, lab axes, m.
        stated: of the file's events times, labels and sides (event,).
        feet: of each side.
        plates: what the plates tell.
        method: one of :data:`pipeline.steps.contacts.kinematic_events.METHODS`.
    """
    asis = [landmarks[f"asis_{side}"] for side in SIDES if f"asis_{side}" in landmarks]
    pelvis = (asis[0] + asis[-1]) / 2 if asis else np.full((len(time), 3), np.nan)
    forward = motion.heading(*asis) if len(asis) == 2 else np.tile([1.0, 0.0, 0.0], (len(time), 1))
    tell = motion.METHODS[method if asis else "oconnor"]
    from_motion = {side: tell(time, foot.heel, foot.toe, pelvis, forward) for side, foot in feet.items()}
    from_file = believed(
        {side: file_events(*stated, side=side) for side in SIDES},
        {side: [*plates[side], *from_motion.get(side, [])] for side in SIDES},
        first_s=float(time[0]),
        last_s=float(time[-1]),
    )
    # how a running foot comes to rest has not been measured
    rests = {side: at_rest(foot) for side, foot in feet.items() if method != "handsaker"}
    better = {side: [*plates[side], *from_file[side]] for side in SIDES}
    late_s = gait.lags(from_motion, rests) | gait.lags(from_motion, better)
    return {side: [from_file[side], gait.aligned(from_motion.get(side, []), late_s)] for side in SIDES}


def stances(found: Sequence[Contact], weaker: Weaker, span: Mapping[str, float]) -> dict[str, list[gait.Stance]]:
    """Return when each foot is on the ground, within the span ``first_s`` to ``last_s``."""
    plates = plate_events(found)
    return {side: gait.stances(gait.merge([plates[side], *weaker[side]]), **span) for side in SIDES}


def events_of(found: Sequence[Contact], side: str, weaker: Weaker) -> list[gait.GaitEvent]:
    """Return the side's events; a foot that stands on its plate makes no other ones."""
    standing = [(row.start_s, row.end_s) for row in found if row.side == side and not row.reason]
    outside = [
        [event for event in events if not any(start < event.time_s < end for start, end in standing)]
        for events in weaker[side]
    ]
    return gait.merge([plate_events(found)[side], *outside])


REPEATED_S = 0.03
SWAPPED_S = 0.08  # another foot's event, or one of the other kind, is this near to one that is mistaken for it


def file_events(times_s: Iterable[float], labels: Iterable[str], sides: Iterable[str], *, side: str) -> list[GaitEvent]:
    """Return one side's foot strikes and offs among the events of a C3D file.

    The side is the event's context or stands in its label (``LHS``, ``Right Foot Strike``), in the words of
    :mod:`pipeline.c3d.event_names`. Repeated events count once; those at time 0 are left behind by software.
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
