"""Step ``contacts``: which foot is on which plate when, ground wrench per side, gait events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline import contact_checks, file_events, foot_contacts, plate_checks, plate_contacts
from pipeline import events as gait
from pipeline import kinematic_events as motion
from pipeline import plate_contacts as reasons
from pipeline.foot_contacts import OTHER, Feet
from pipeline.ground_wrench import at_instants, ground_wrench
from pipeline.plate_contacts import Contact

Array = NDArray[np.float64]
Events = Mapping[str, Sequence[gait.GaitEvent]]
Weaker = Mapping[str, Sequence[Sequence[gait.GaitEvent]]]
SIDES = ("left", "right")
UNSURE_S = 0.04  # foot events from motion alone are this far off: see validation.md


def contacts(
    clean: xr.Dataset,
    *,
    threshold_n: float,
    min_contact_s: float,
    max_cop_distance_m: float,
    edge_margin_m: float,
    max_time_offset_s: float,
    max_lever_arm_m: float,
    max_drift_n: float,
    misread_plates: str,
    kinematic_events: str,
    plates_left: str | None = None,
    plates_right: str | None = None,
) -> xr.Dataset:
    """Find contacts, ground wrenches and events of one trial.

    Args:
        clean: a trial of the step ``clean``.
        threshold_n: vertical force that counts as contact, N.
        min_contact_s: shortest contact on a plate, s.
        max_cop_distance_m: largest distance of the centre of pressure from the foot that makes it, m.
        edge_margin_m: how far the foot may stand outside the plate, m.
        max_time_offset_s: largest time between a plate and the markers, s.
        max_lever_arm_m: largest distance of the force from the ankle, m.
        max_drift_n: largest unknown drift of a plate's baseline, N.
        misread_plates: ``reject`` contacts on plates that seem turned, mirrored or shifted, or ``ignore`` it.
        kinematic_events: how motion tells events, one of :data:`pipeline.kinematic_events.METHODS`.
        plates_left, plates_right: the plates that the foot met, "1 3", or "none"; the user's word.

    Returns:
        At the marker instants, lab axes: ``ground_force``, ``ground_moment`` about the lab origin,
        ``centre_of_pressure`` (time, side, axis), ``free_moment`` (time, side). The wrench is zero in swing and
        NaN in a stance whose force is not known. ``contact_start``, ``contact_end`` (contact) of every stance,
        with its side, plates, validity and reason; ``event_time`` (event) with kind, side and source.

    Raises:
        UserError: trials.tsv gives a foot a plate that the file does not have.
    """
    time, corners = clean.time.values, clean.plate_corner.values
    names = ("plate_force", "plate_moment")
    force, moment = (at_instants(clean[name].values, clean.plate_time.values, time) for name in names)
    feet = _feet(clean)
    chosen, numbers = {"left": plates_left, "right": plates_right}, clean.plate.values.tolist()
    given = {side: foot_contacts.choice(text, numbers, side=side) for side, text in chosen.items()}
    shown = {side: (foot.heel, foot.toe) for side, foot in feet.items()} if misread_plates == "reject" else {}
    verdicts, steps = plate_checks.misread_plates(time, force, moment, corners, shown, numbers=numbers)
    found = [
        foot_contacts.assign(contact, time, force[:, i], moment[:, i], corners[i], feet, given)
        for contact in _detected(clean, verdicts, threshold_n=threshold_n, min_contact_s=min_contact_s)
        for i in contact.plates
    ]
    found = contact_checks.on_good_plates(found, clean, max_drift_n=max_drift_n)
    whole = [
        foot_contacts.within(contact, time, feet, corners, edge_margin_m=edge_margin_m)
        for contact in foot_contacts.combine(found)
    ]
    in_time = contact_checks.in_time(whole, feet, max_time_offset_s=max_time_offset_s)
    span = {"first_s": float(time[0]), "last_s": float(time[-1])}
    weaker = _weaker_events(clean, feet, _plate_events(in_time), kinematic_events)
    judged = _on_one_foot(found, time, feet, corners, _stances(in_time, weaker, span), edge_margin_m=edge_margin_m)
    judged = contact_checks.in_time(judged, feet, max_time_offset_s=max_time_offset_s)
    judged = contact_checks.in_place(judged, time, steps, numbers)
    judged = [
        contact_checks.plausible(
            contact,
            time,
            force[:, list(contact.plates)].sum(axis=1),
            moment[:, list(contact.plates)].sum(axis=1),
            feet.get(contact.side),
            max_cop_distance_m=max_cop_distance_m,
            max_lever_arm_m=max_lever_arm_m,
            forwards=clean.attrs["direction_of_travel"] == "forwards",
        )
        for contact in judged
    ]
    events = {side: _events(judged, side, weaker[side]) for side in SIDES}
    listed = {
        side: [
            _explained(stance, judged, side, foot_known=side in feet, plates_left_out=clean.attrs["plates_left_out"])
            for stance in gait.stances(events[side], **span)
        ]
        for side in SIDES
    }
    wrenches = [ground_wrench(time, listed[side], force, moment, corners, threshold_n=threshold_n) for side in SIDES]
    return _dataset(clean, wrenches, [row for side in SIDES for row in listed[side]], gait.of_both_sides(events))


def _feet(clean: xr.Dataset) -> Feet:
    """Return the feet whose heel and toe are in the file."""
    here, position = list(clean.marker.values), clean.marker_position.values
    feet = {}
    for side in SIDES:
        names = [f"heel_{side}", f"toe_{side}"]
        if set(names) <= set(here):
            heel, toe = (position[:, here.index(name)] for name in names)
            feet[side] = foot_contacts.foot_of(heel, toe, clean.time.values, travel=clean.attrs["direction_of_travel"])
    return feet


def _detected(clean: xr.Dataset, verdicts: Sequence[str], *, threshold_n: float, min_contact_s: float) -> list[Contact]:
    """Return the contacts on every plate, with the verdict on it; a plate upside down is loaded where it pulls."""
    time, force = clean.plate_time.values, clean.plate_force.values
    up = np.where(plate_checks.upside_down(force) & (np.array(verdicts, dtype=str) != ""), -1.0, 1.0)
    vertical, smooth = up * clean.vertical_force.values, up * force[..., 1]
    return [
        replace(contact, reason=contact.reason or verdict)
        for i, verdict in enumerate(verdicts)
        for contact in plate_contacts.detect(
            time, vertical[:, i], smooth[:, i], i, threshold_n=threshold_n, min_contact_s=min_contact_s
        )
    ]


def _weaker_events(clean: xr.Dataset, feet: Feet, plates: Events, method: str) -> Weaker:
    """Return each side's events from the file and from motion, in the order of trust.

    Those from motion lead or lag by a person's own way of walking: they are shifted by the median difference from
    the trial's better ones, else from when the feet come to rest and leave it.
    """
    time, here, position = clean.time.values, list(clean.marker.values), clean.marker_position.values
    asis = [position[:, here.index(f"asis_{side}")] for side in SIDES if f"asis_{side}" in here]
    pelvis = np.mean(asis, axis=0) if asis else np.full((len(time), 3), np.nan)
    forward = motion.heading(*asis) if len(asis) == 2 else np.tile([1.0, 0.0, 0.0], (len(time), 1))
    tell = motion.METHODS[method if asis else "oconnor"]
    from_motion = {side: tell(time, foot.heel, foot.toe, pelvis, forward) for side, foot in feet.items()}
    stated = [clean[name].values for name in ("event_time", "event", "event_side")]
    from_file = file_events.believed(
        {side: file_events.file_events(*stated, side=side) for side in SIDES},
        {side: [*plates[side], *from_motion.get(side, [])] for side in SIDES},
        first_s=float(time[0]),
        last_s=float(time[-1]),
    )
    # how a running foot comes to rest has not been measured
    rests = {side: foot_contacts.at_rest(foot) for side, foot in feet.items() if method != "handsaker"}
    better = {side: [*plates[side], *from_file[side]] for side in SIDES}
    late_s = gait.lags(from_motion, rests) | gait.lags(from_motion, better)
    return {side: [from_file[side], gait.aligned(from_motion.get(side, []), late_s)] for side in SIDES}


def _stances(found: Sequence[Contact], weaker: Weaker, span: Mapping[str, float]) -> dict[str, list[gait.Stance]]:
    plates = _plate_events(found)
    return {side: gait.stances(gait.merge([plates[side], *weaker[side]]), **span) for side in SIDES}


def _on_one_foot(
    found: Sequence[Contact],
    time: Array,
    feet: Feet,
    corners: Array,
    stances: Mapping[str, Sequence[gait.Stance]],
    *,
    edge_margin_m: float,
) -> list[Contact]:
    """Return the contacts, those of one foot on several plates joined, refused where two feet or half a foot are on."""
    alone = [
        foot_contacts.shared(contact, time, feet, stances[OTHER[contact.side]] if contact.side else [], corners)
        for contact in found
    ]
    return [
        foot_contacts.within(contact, time, feet, corners, edge_margin_m=edge_margin_m)
        for contact in foot_contacts.combine(alone)
    ]


def _events(found: Sequence[Contact], side: str, weaker: Sequence[Sequence[gait.GaitEvent]]) -> list[gait.GaitEvent]:
    """Return the side's events; a foot that stands on its plate makes no other ones."""
    standing = [(row.start_s, row.end_s) for row in found if row.side == side and not row.reason]
    outside = [
        [event for event in events if not any(start < event.time_s < end for start, end in standing)]
        for events in weaker
    ]
    return gait.merge([_plate_events(found)[side], *outside])


def _plate_events(found: Sequence[Contact]) -> dict[str, list[gait.GaitEvent]]:
    events: dict[str, list[gait.GaitEvent]] = {side: [] for side in SIDES}
    for contact in found:
        if contact.side in events and not contact.reason:
            ends = ((contact.start_s, gait.STRIKE, contact.begins), (contact.end_s, gait.OFF, contact.ends))
            events[contact.side] += [gait.GaitEvent(time_s, kind, "plate") for time_s, kind, seen in ends if seen]
    return {side: sorted(listed) for side, listed in events.items()}


def _explained(
    stance: gait.Stance, found: Sequence[Contact], side: str, *, foot_known: bool, plates_left_out: str
) -> Contact:
    """Return the contact that a stance is, or an invalid one that says why its force is not known."""

    def overlap(contact: Contact) -> float:
        return min(contact.end_s, stance.end_s) - max(contact.start_s, stance.start_s)

    share = 0.5 * (
        stance.end_s - stance.start_s
    )  # of a stance that shares its plate, the rest belongs to the other foot
    mine = [c for c in found if (c.side == side and overlap(c) > 0) or (c.side == "both" and overlap(c) >= share)]
    best = max(mine, key=overlap, default=None)
    unsure = 0.0 if stance.sure else UNSURE_S
    reach = (stance.start_s - unsure, stance.end_s + UNSURE_S)
    bare = Contact((), stance.start_s, stance.end_s, *reach, side, "", stance.begins, stance.ends)
    if not foot_known:
        return replace(bare, reason=reasons.NO_FOOT)
    if best is None:
        nowhere = f"{reasons.NO_PLATE} ({plates_left_out})" if plates_left_out else reasons.NO_PLATE
        return replace(bare, reason=nowhere if stance.begins or stance.ends else reasons.NO_EVENT)
    whole = overlap(best) >= stance.end_s - stance.start_s - 2 * gait.SAME_EVENT_S
    if best.reason or not whole:
        return replace(bare, plates=best.plates, reason=best.reason or reasons.PARTLY_OFF)
    return best


def _dataset(
    clean: xr.Dataset,
    wrenches: Sequence[tuple[Array, Array, Array, Array]],
    stances: Sequence[Contact],
    events: Sequence[tuple[gait.GaitEvent, str]],
) -> xr.Dataset:
    """Return the step's result: wrenches of left and right, stances in order of time, events."""
    force, moment, cop, free = (np.stack(parts, axis=1) for parts in zip(*wrenches, strict=True))
    rows = sorted(stances, key=lambda row: (row.start_s, row.side))
    numbers = clean.plate.values
    vector = ("time", "side", "axis")
    return xr.Dataset(
        {
            "ground_force": (vector, force),
            "ground_moment": (vector, moment),
            "centre_of_pressure": (vector, cop),
            "free_moment": (vector[:2], free),
            "contact_start": ("contact", np.array([row.start_s for row in rows], dtype=float)),
            "contact_end": ("contact", np.array([row.end_s for row in rows], dtype=float)),
            "event_time": ("event", np.array([event.time_s for event, _ in events], dtype=float)),
        },
        {
            "time": clean.time,
            "side": list(SIDES),
            "axis": list("xyz"),
            "contact_side": ("contact", _text(row.side for row in rows)),
            "plates": ("contact", _text(" ".join(str(numbers[i]) for i in row.plates) for row in rows)),
            "valid": ("contact", np.array([not row.reason for row in rows], dtype=bool)),
            "reason": ("contact", _text(row.reason for row in rows)),
            "event": _text(event.kind for event, _ in events),
            "event_side": ("event", _text(side for _, side in events)),
            "source": ("event", _text(event.source for event, _ in events)),
        },
        {"plates_left_out": clean.attrs["plates_left_out"]},
    )


def _text(words: Iterable[str]) -> NDArray[np.str_]:
    return np.array(list(words), dtype=str)
