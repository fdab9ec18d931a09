"""Gait events of a trial from all that tells them: its plates, its file, and the motion of the feet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline import events as gait
from pipeline import file_events
from pipeline import kinematic_events as motion
from pipeline.foot_rests import Feet, at_rest
from pipeline.plate_contacts import Contact

Array = NDArray[np.float64]
Events = Mapping[str, Sequence[gait.GaitEvent]]
Weaker = Mapping[str, Sequence[Sequence[gait.GaitEvent]]]
SIDES = ("left", "right")


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
        method: one of :data:`pipeline.kinematic_events.METHODS`.
    """
    asis = [landmarks[f"asis_{side}"] for side in SIDES if f"asis_{side}" in landmarks]
    pelvis = (asis[0] + asis[-1]) / 2 if asis else np.full((len(time), 3), np.nan)
    forward = motion.heading(*asis) if len(asis) == 2 else np.tile([1.0, 0.0, 0.0], (len(time), 1))
    tell = motion.METHODS[method if asis else "oconnor"]
    from_motion = {side: tell(time, foot.heel, foot.toe, pelvis, forward) for side, foot in feet.items()}
    from_file = file_events.believed(
        {side: file_events.file_events(*stated, side=side) for side in SIDES},
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
