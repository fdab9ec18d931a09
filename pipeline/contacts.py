"""Step ``contacts``: which foot is on which plate when, ground wrench per side, gait events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline import events as gait
from pipeline import plate_contacts
from pipeline.plate_contacts import OTHER, Contact
from pipeline.plates import centre_of_pressure

Array = NDArray[np.float64]
SIDES = ("left", "right")
UNSURE_S = 0.04  # foot events from motion alone are this far off: Zeni et al. 2008


def contacts(
    clean: xr.Dataset,
    *,
    threshold_n: float,
    min_contact_s: float,
    max_cop_distance_m: float,
    edge_margin_m: float,
) -> xr.Dataset:
    """Find contacts, ground wrenches and events of one trial.

    Args:
        clean: a trial of the step ``clean``.
        threshold_n: vertical force that counts as contact, N.
        min_contact_s: shortest contact on a plate, s.
        max_cop_distance_m: largest distance of the centre of pressure from the foot that makes it, m.
        edge_margin_m: how far a foot marker may stand outside the plate, m.

    Returns:
        At the marker instants, lab axes: ``ground_force``, ``ground_moment`` about the lab origin,
        ``centre_of_pressure`` (time, side, axis), ``free_moment`` (time, side). The wrench is zero in swing and
        NaN in a stance whose force is not known. ``contact_start``, ``contact_end`` (contact) of every stance,
        with its side, plates, validity and reason; ``event_time`` (event) with kind, side and source.
    """
    feet = {side: foot for side in SIDES if (foot := _foot(clean, side)) is not None}
    force, moment = (_at_markers(clean, name) for name in ("plate_force", "plate_moment"))
    found = [
        contact
        for plate in range(clean.sizes["plate"])
        for contact in _on_plate(
            clean,
            plate,
            force[:, plate],
            moment[:, plate],
            feet,
            threshold_n=threshold_n,
            min_contact_s=min_contact_s,
            max_cop_distance_m=max_cop_distance_m,
        )
    ]
    span = {"first_s": float(clean.time[0]), "last_s": float(clean.time[-1])}
    weaker = _weaker_events(clean, feet, {side: _plate_events(found, side) for side in SIDES})
    judged = _judged(clean, feet, found, weaker, span, edge_margin_m=edge_margin_m)
    events = {side: _events(judged, side, weaker[side]) for side in SIDES}
    listed = {
        side: [
            _explained(stance, judged, side, foot_known=side in feet, plates_left_out=clean.attrs["plates_left_out"])
            for stance in gait.stances(events[side], **span)
        ]
        for side in SIDES
    }
    wrenches = [_ground_wrench(clean, listed[side], force, moment, threshold_n) for side in SIDES]
    return _dataset(clean, wrenches, [row for side in SIDES for row in listed[side]], gait.of_both_sides(events))


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


def _judged(
    clean: xr.Dataset,
    feet: plate_contacts.Feet,
    found: Sequence[Contact],
    weaker: Mapping[str, Sequence[Sequence[gait.GaitEvent]]],
    span: Mapping[str, float],
    *,
    edge_margin_m: float,
) -> list[Contact]:
    """Return the contacts, those of one foot on several plates joined, each refused or good."""
    time, corners = clean.time.values, clean.plate_corner.values
    provisional = {
        side: gait.stances(gait.merge([_plate_events(found, side), *weaker[side]]), **span) for side in SIDES
    }
    single = [
        plate_contacts.shared(
            contact, time, feet, provisional[OTHER[contact.side]] if contact.side else [], corners[contact.plates[0]]
        )
        for contact in found
    ]
    return [
        plate_contacts.within(contact, time, feet, corners, edge_margin_m=edge_margin_m)
        for contact in plate_contacts.combine(single)
    ]


def _on_plate(
    clean: xr.Dataset,
    plate: int,
    force: Array,
    moment: Array,
    feet: plate_contacts.Feet,
    *,
    threshold_n: float,
    min_contact_s: float,
    max_cop_distance_m: float,
) -> list[Contact]:
    """Return the contacts of one plate, each with the foot nearest to its centre of pressure."""
    detected = plate_contacts.detect(
        clean.plate_time.values,
        clean.vertical_force.values[:, plate],
        clean.plate_force.values[:, plate, 1],
        plate,
        threshold_n=threshold_n,
        min_contact_s=min_contact_s,
    )
    time, corners = clean.time.values, clean.plate_corner.values[plate]
    return [
        plate_contacts.assign(contact, time, force, moment, corners, feet, max_cop_distance_m=max_cop_distance_m)
        for contact in detected
    ]


def _text(words: Iterable[str]) -> NDArray[np.str_]:
    return np.array(list(words), dtype=str)


def _foot(clean: xr.Dataset, side: str) -> tuple[Array, Array] | None:
    names, here = [f"heel_{side}", f"toe_{side}"], list(clean.marker.values)
    if not set(names) <= set(here):
        return None
    heel, toe = (clean.marker_position.values[:, here.index(name)] for name in names)
    return heel, toe


def _at_markers(clean: xr.Dataset, name: str) -> Array:
    """Return a plate quantity (time, plate, 3) at the marker instants, samples in between interpolated."""
    values, instants = clean[name].values, clean.plate_time.values
    time = clean.time.values
    if not values.size:
        return np.zeros((len(time), *values.shape[1:]))
    right = np.clip(np.searchsorted(instants, time), 1, len(instants) - 1)
    share = (time - instants[right - 1]) / (instants[right] - instants[right - 1])
    share = np.clip(np.where(np.abs(share - np.round(share)) < 1e-6, np.round(share), share), 0, 1)
    return np.asarray(values[right - 1] * (1 - share)[:, None, None] + values[right] * share[:, None, None])


def _weaker_events(
    clean: xr.Dataset, feet: Mapping[str, tuple[Array, Array]], plates: Mapping[str, list[gait.GaitEvent]]
) -> dict[str, list[list[gait.GaitEvent]]]:
    """Return each side's events from the file and from motion, in the order of trust.

    Those from motion lead or lag by a person's own way of walking: where the trial has better ones too, they are
    shifted by the median difference.
    """
    time, position, names = clean.time.values, clean.marker_position.values, list(clean.marker.values)
    listed = {
        side: gait.file_events(clean.event_time.values, clean.event.values, clean.event_side.values, side=side)
        for side in SIDES
    }
    from_file = {
        side: [event for event in events if time[0] <= event.time_s <= time[-1]] for side, events in listed.items()
    }
    here = [i for i, name in enumerate(names) if name in ("asis_left", "asis_right")]
    if not here:
        return {side: [from_file[side]] for side in SIDES}
    pelvis = position[:, here, 0].mean(axis=1)
    from_motion = {
        side: gait.kinematic_events(time, heel[:, 0], toe[:, 0], pelvis) for side, (heel, toe) in feet.items()
    }
    better = {side: [*plates[side], *from_file[side]] for side in SIDES}
    late_s = gait.lags(from_motion, better)
    return {side: [from_file[side], gait.aligned(from_motion.get(side, []), late_s)] for side in SIDES}


def _events(found: Sequence[Contact], side: str, weaker: Sequence[Sequence[gait.GaitEvent]]) -> list[gait.GaitEvent]:
    """Return the side's events; a foot that stands on its plate makes no other ones."""
    standing = [(row.start_s, row.end_s) for row in found if row.side == side and not row.reason]
    outside = [
        [event for event in events if not any(start < event.time_s < end for start, end in standing)]
        for events in weaker
    ]
    return gait.merge([_plate_events(found, side), *outside])


def _plate_events(found: Sequence[Contact], side: str) -> list[gait.GaitEvent]:
    events = []
    for contact in found:
        if contact.side == side and not contact.reason:
            events += [gait.GaitEvent(contact.start_s, gait.STRIKE, "plate")] if contact.begins else []
            events += [gait.GaitEvent(contact.end_s, gait.OFF, "plate")] if contact.ends else []
    return sorted(events)


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
        return replace(bare, reason="heel or toe marker of the foot absent")
    if best is None:
        nowhere = f"no plate ({plates_left_out})" if plates_left_out else "no plate"
        return replace(bare, reason=nowhere if stance.begins or stance.ends else "no gait event seen")
    whole = overlap(best) >= stance.end_s - stance.start_s - 2 * gait.SAME_EVENT_S
    if best.reason or not whole:
        return replace(bare, plates=best.plates, reason=best.reason or "foot partly off the plate")
    return best


def _ground_wrench(
    clean: xr.Dataset, listed: Sequence[Contact], force: Array, moment: Array, threshold_n: float
) -> tuple[Array, Array, Array, Array]:
    """Return ground force, moment about the lab origin, centre of pressure (time, 3) and free moment (time,)."""
    time = clean.time.values
    total = np.zeros((2, len(time), 3))
    cop, free = np.full((len(time), 3), np.nan), np.full(len(time), np.nan)
    for contact in (row for row in listed if not row.reason):
        inside = (time >= contact.from_s - 1e-9) & (time <= contact.to_s + 1e-9)
        plates = list(contact.plates)
        total[:, inside] += np.stack([force[inside][:, plates].sum(axis=1), moment[inside][:, plates].sum(axis=1)])
        loaded = inside & (total[0, :, 1] > threshold_n)
        corners = clean.plate_corner.values[plates[0]]
        cop[loaded], free[loaded] = centre_of_pressure(total[0, loaded], total[1, loaded], corners)
    for contact in (row for row in listed if row.reason):
        # a frame at the very strike is still at the threshold and belongs to the swing before it
        inside = (time > contact.from_s + 1e-9) & (time <= contact.to_s)
        total[:, inside], cop[inside], free[inside] = np.nan, np.nan, np.nan
    return total[0], total[1], cop, free
