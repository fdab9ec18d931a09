"""Gait events of a trial from its three sources: plates, the C3D file, the motion of the feet."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...conventions import SIDES
from ...plates.incline import over_ground
from ...signals.filters import interval_s
from ...trials.left_out import LeftOut
from ...vocabulary.event_names import OFF, STRIKE, kind_in, side_in
from .events import SAME_EVENT_S, GaitEvent, align, lags, merge
from .feet import Feet, at_rest
from .kinematic_events import METHODS
from .pelvis import heading
from .plate_contacts import Contact

Events = Mapping[str, Sequence[GaitEvent]]
Weaker = Mapping[str, Sequence[Sequence[GaitEvent]]]

REPEATED_S = 0.03  # of one event that several programs wrote
SWAPPED_S = 0.08  # largest distance to the event of the other foot or kind that an event is mistaken for
# Events by the motion of a foot are 16 ms (standard deviation 15) from a plate's strike, 9 (15) from its off (O'Connor
# CM et al. 2007, Gait Posture 25:469-474), those that a person sees are known to a frame. All events of a walk may be
# off alike, so that their number does not lessen the spread
DETECTED_S, DETECTED_SD_S, SPREADS = 0.016, 0.015, 3.0
HALF_STRIDE_S = 0.5  # from farther off an event is of another stride


def plate_events(contacts: Sequence[Contact]) -> dict[str, list[GaitEvent]]:
    """Return each side's events from good contacts and those of a hidden foot, in order of time."""
    events: dict[str, list[GaitEvent]] = {side: [] for side in SIDES}
    for contact in contacts:
        if contact.side in events and contact.timed:
            ends = ((contact.start_s, STRIKE, contact.begins), (contact.end_s, OFF, contact.ends))
            events[contact.side] += [GaitEvent(time_s, kind, "plate") for time_s, kind, seen in ends if seen]
    return {side: sorted(listed) for side, listed in events.items()}


def weaker_events(
    time: Array, landmarks: Mapping[str, Array], stated: Sequence[NDArray[Any]], feet: Feet, plates: Events, method: str
) -> tuple[Weaker, list[LeftOut]]:
    """Return each side's events from the file and from motion, in order of trust, and those of the file not used.

    Events from motion are early or late by a delay that differs between people. They are shifted by the median
    difference to better events of the trial, or else to when the feet come to rest and leave it.

    Args:
        time: (time,), s.
        landmarks: (time, 3) by name, lab axes, m.
        stated: times, labels and sides (event,) of the file's events.
        feet: by side.
        plates: the events from plates.
        method: one of :data:`pipeline.steps.contacts.kinematic_events.METHODS`.
    """
    asis = [landmarks[f"asis_{side}"] for side in SIDES if f"asis_{side}" in landmarks]
    pelvis = (asis[0] + asis[-1]) / 2 if asis else np.full((len(time), 3), np.nan)
    forward = heading(*asis) if len(asis) == 2 else np.tile([1.0, 0.0, 0.0], (len(time), 1))
    detect = METHODS[method if asis else "oconnor"]
    from_motion = {}
    for side, foot in feet.items():
        heel, toe, middle = (over_ground(path, foot.normal) for path in (foot.heel, foot.toe, pelvis))
        from_motion[side] = detect(time, heel, toe, middle, forward)
    from_file, left_out = not_contradicted(
        {side: file_events(*stated, side=side) for side in SIDES},
        {side: [*plates[side], *from_motion.get(side, [])] for side in SIDES},
        time,
    )
    # the delays between rest and events have not been measured for running
    rests = {side: at_rest(foot) for side, foot in feet.items() if method != "handsaker"}
    better = {side: [*plates[side], *from_file[side]] for side in SIDES}
    late_s = lags(from_motion, rests) | lags(from_motion, better)
    return {side: [from_file[side], align(from_motion.get(side, []), late_s)] for side in SIDES}, left_out


def events_of(contacts: Sequence[Contact], side: str, weaker: Weaker) -> list[GaitEvent]:
    """Return the side's events, in good contacts only those from plates."""
    good = [(row.start_s, row.end_s) for row in contacts if row.side == side and row.timed]
    outside = [
        [event for event in events if not any(start < event.time_s < end for start, end in good)]
        for events in weaker[side]
    ]
    return merge([plate_events(contacts)[side], *outside])


def file_events(times_s: Iterable[float], labels: Iterable[str], sides: Iterable[str], *, side: str) -> list[GaitEvent]:
    """Return one side's foot strikes and offs among the events of a C3D file.

    The side is the event's context or part of its label (``LHS``, ``Right Foot Strike``), by the names of
    :mod:`pipeline.vocabulary.event_names`. Repeated events count once; events at time 0 are artefacts of software.
    """
    events: list[GaitEvent] = []
    for time_s, label, context in sorted(zip(times_s, labels, sides, strict=True)):
        kind = kind_in(str(label))
        if kind and (str(context) or side_in(str(label))) == side and time_s != 0:
            repeated = any(e.kind == kind and time_s - e.time_s < REPEATED_S for e in events)
            events += [] if repeated else [GaitEvent(float(time_s), kind, "c3d")]
    return sorted(events)


def not_contradicted(listed: Events, others: Events, time: Array) -> tuple[dict[str, list[GaitEvent]], list[LeftOut]]:
    """Return the file's events in the trial that plates and motion allow, and those left out because most are not.

    An event is contradicted if an event of the other foot or the other kind is within 80 ms and none of its own within
    150 ms. If most are contradicted, none is returned; nor if they are farther from those of the plates, and from those
    of motion, than a detector errs: of plates alone it may be the plates that are late. Times count from the start of
    the recording or, if that fits better, from the file's first frame.

    Args:
        listed: the file's events by side.
        others: events by side from plates and motion.
        time: (time,) of the trial, s.
    """
    first_s, last_s = float(time[0]), float(time[-1])
    shift = max((0.0, first_s), key=lambda late_s: (_count_fitting(listed, others, late_s), late_s == 0))
    inside = {
        side: [
            GaitEvent(event.time_s + shift, event.kind, event.source)
            for event in events
            if first_s <= event.time_s + shift <= last_s
        ]
        for side, events in listed.items()
    }
    good = {side: [e for e in events if not _is_contradicted(e, side, others)] for side, events in inside.items()}
    kept, all_of_them = (sum(map(len, events.values())) for events in (good, inside))
    instants = sorted(round(event.time_s, 3) for events in inside.values() for event in events)
    none: dict[str, list[GaitEvent]] = {side: [] for side in listed}
    most_s = DETECTED_S + SPREADS * np.hypot(DETECTED_SD_S, interval_s(time) / np.sqrt(3))
    away_s = _away(inside, others)
    if away_s > most_s:
        left, right = SIDES
        if _away({left: inside[right], right: inside[left]}, others) <= most_s:
            return none, [LeftOut(instants, "events_exchanged", "left and right are exchanged, by plates and motion")]
        words = f"plates and motion show them {1000 * away_s:.0f} ms earlier or later, and give the events instead"
        return none, [LeftOut(instants, "events_shifted", words)]
    if 2 * kept < all_of_them:
        words = "most are where plates and motion show the other foot, or the other of strike and off"
        return none, [LeftOut(instants, "events_contradicted", words)]
    return good, []


def _away(inside: Events, others: Events) -> float:
    """Return how far the file's events are from those of plates or, if that is less, of motion, s; NaN if unknown.

    Each is the lower median over events of one foot and kind, so that one load of two feet does not decide. One event
    decides only if others have none of the file near them.
    """
    medians_s = []
    for of_plates in (True, False):
        away_s = sorted(
            _nearest(event.time_s, event.kind, inside[side])
            for side, events in others.items()
            for event in events
            if (event.source == "plate") == of_plates
        )
        near_s = [each for each in away_s if each <= HALF_STRIDE_S]
        is_known = near_s and np.isfinite(away_s[1:2]).any()
        medians_s.append(near_s[(len(near_s) - 1) // 2] if is_known else np.nan)
    return float(np.min(medians_s))


def _count_fitting(listed: Events, others: Events, late_s: float) -> int:
    return sum(
        _nearest(event.time_s + late_s, event.kind, others.get(side, ())) <= SWAPPED_S
        for side, events in listed.items()
        for event in events
    )


def _is_contradicted(event: GaitEvent, side: str, better: Events) -> bool:
    times_s = [other.time_s for other in better.get(side, ())]
    if not times_s or not min(times_s) - SAME_EVENT_S <= event.time_s <= max(times_s) + SAME_EVENT_S:
        return False
    others = (
        _nearest(event.time_s, kind, events)
        for of, events in better.items()
        for kind in (STRIKE, OFF)
        if (of, kind) != (side, event.kind)
    )
    return _nearest(event.time_s, event.kind, better[side]) > SAME_EVENT_S and min(others) <= SWAPPED_S


def _nearest(time_s: float, kind: str, events: Sequence[GaitEvent]) -> float:
    return min((abs(event.time_s - time_s) for event in events if event.kind == kind), default=np.inf)
