"""Step ``contacts``: stances with foot and plates, ground wrench of each side, gait events."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array
from ...conventions import SIDES
from ...errors import Problem, UserError
from ...plates.wrench import centre_of_pressure
from ...tables.corrections import apply_fitting, attributes_of
from ...tables.tsv import Row
from ...trials.session import Trial, join_trials, rejected_by, trials_of
from ...trials.usable_walks import UsableWalks
from ...variables.left_out import from_text
from ...variables.stance_verdicts import joined, refusal
from . import by_hand, contact_checks, foot_on_plate, plate_contacts, time_offset
from .body_motion import BodyMotion, motions_of
from .event_sources import events_of, merged_events, plate_events, weaker_events
from .events import SAME_EVENT_S, GaitEvent, Stance, of_both_sides, stances
from .feet import Feet, belt_speeds
from .plate_contacts import Contact, Loaded, between
from .plate_faults import forces, placement
from .settings import Settings
from .time_offset import witnesses

UNSURE_S = 0.04  # error of foot events from motion alone, see validation.md


def contacts(
    clean: xr.Dataset, *, settings: Settings, by_trial: Mapping[str, Mapping[str, Any]] | None = None
) -> xr.Dataset:
    """Find contacts, ground wrenches and events of a session.

    Args:
        clean: the step ``clean``.
        settings: see :class:`Settings`.
        by_trial: of some trials, by name: ``plates_left`` and ``plates_right``, the plates that the foot met by
            trials.tsv, "1 3", or "none"; ``belt_speed_m_s`` of the treadmill, else estimated from the feet in stance if
            the person does not travel; ``corrections``, rows of corrections.tsv about events and contacts.

    Returns:
        The variables of :data:`pipeline.variables.session_variables.OF_TRIALS`, forces at the marker instants. The
        wrench is zero in swing and NaN in a stance without known force. Every stance has its side, plates, validity,
        reason and its code, every event its kind, side and source. A walk is rejected if trials.tsv assigns a plate
        that the file does not have. The attribute ``corrections_not_applied`` has the corrections that do not fit.
    """
    walks, cells, doubted_s = UsableWalks.of(clean), by_trial or {}, settings.doubted_time_offset_s
    clean = walks.take(clean)
    (found, unfit), corrected_s = _contacts_of(trials_of(clean), settings, cells), 0.0
    if settings.time_offset == "correct":
        offset_s, error_s = time_offset.offset_of_session(found)
        if time_offset.is_large(offset_s, error_s, doubted_s=doubted_s):
            later = time_offset.later_plates(clean, offset_s)
            (found, unfit), corrected_s = _contacts_of(trials_of(later), settings, cells), offset_s
    result = walks.complete(time_offset.with_time_offset(found, doubted_s=doubted_s, corrected_s=corrected_s))
    return result.assign_attrs(attributes_of(unfit))


def _contacts_of(
    clean: Mapping[str, Trial], settings: Settings, cells: Mapping[str, Mapping[str, Any]]
) -> tuple[xr.Dataset, list[Row]]:
    """Return the contacts of the walks of a session, and the corrections that do not fit."""
    motions = motions_of(clean, judged=settings.misread_plates == "reject")
    found, unfit = {}, list[Row]()
    for name, walk in clean.items():
        own = {**cells.get(name, {})}
        rows = own.pop("corrections", ())
        try:
            found[name], refused = apply_fitting(partial(_of_walk, walk, settings, motions[name], **own), rows)
            unfit += refused
        except UserError as error:
            found[name] = rejected_by(error)
    return join_trials(found), unfit


def _of_walk(
    clean: Trial,
    settings: Settings,
    motion: BodyMotion,
    *,
    plates_left: str | None = None,
    plates_right: str | None = None,
    belt_speed_m_s: float | None = None,
    corrections: by_hand.Rows = (),
) -> Trial:
    """Return the contacts of one walk; for arguments and results see :func:`contacts`."""
    data: dict[str, NDArray[Any]] = {str(name): variable.values for name, variable in clean.variables.items()}
    time, corners, numbers = data["time"], data["plate_corner"], data["plate"].tolist()
    force, moment = data["plate_force"], data["plate_moment"]
    feet = motion.feet
    cells = {"left": plates_left, "right": plates_right}
    given = {side: foot_on_plate.read_given_plates(text, numbers, side=side) for side, text in cells.items()}
    refusals = _refuse_plates(data, numbers, motion.misread)
    single = _of_single_plates(data, feet, given, refusals, settings, corrections)
    contacts = _combine(single, data, motion, settings)
    span = {"first_s": float(time[0]), "last_s": float(time[-1])}
    stated = [data[name] for name in ("event_time", "event", "event_side")]
    weaker = weaker_events(time, motion.landmarks, stated, feet, plate_events(contacts), settings.kinematic_events)
    first_events = by_hand.fitting_events(merged_events(contacts, weaker), corrections, **span)
    first_stances = {side: stances(first_events[side], **span) for side in SIDES}
    edgeless = np.flatnonzero(data["plate_edges_known"] == 0).tolist()
    pressed = {i: centre_of_pressure(force[:, i], moment[:, i], corners[i])[0] for i in edgeless}
    alone = foot_on_plate.reject_shared(single, time, feet, first_stances, corners, pressed)
    contacts = _combine(alone, data, motion, settings) if alone != single else contacts
    steps = [step for step in motion.steps if not refusals[step.plate]]
    contacts = forces.judge_plates(contacts, time, steps, corners, numbers, motion.channels)
    most = {name: getattr(settings, name) for name in ("max_cop_distance_m", "max_lever_arm_m")}
    contacts = [
        contact_checks.reject_implausible(loaded, time, feet.get(loaded.contact.side), **most)
        for loaded in _with_loads(contacts, data)
    ]
    events = by_hand.correct_events({side: events_of(contacts, side, weaker) for side in SIDES}, corrections, **span)
    met = {numbers[i] for contact in single if contact.side for i in contact.plates}
    left_out = _name_lost_plates(clean.attrs["plates_left_out"], met)
    breaks = clean.attrs.get("motion_breaks", "")
    found = {
        side: [
            by_hand.at_corrected_times(
                _contact_of(stance, side, contacts, feet, left_out), stance, events[side], corrections
            )
            for stance in stances(events[side], **span)
        ]
        for side in SIDES
    }
    listed = {
        side: by_hand.judge(
            [contact_checks.judge_breaks(one, breaks) for one in found[side]], corrections, side, contacts
        )
        for side in SIDES
    }
    wrenches = [
        ground_wrench(time, listed[side], force, moment, corners, threshold_n=settings.threshold_n) for side in SIDES
    ]
    belt = np.zeros(len(SIDES)) if belt_speed_m_s is None else np.full(len(SIDES), belt_speed_m_s)
    if belt_speed_m_s is None and clean.attrs["direction_of_travel"] == "none":
        belt = belt_speeds(motion.landmarks, time, listed)
    rows = [row for side in SIDES for row in listed[side]]
    good = _with_loads([row for row in rows if not row.reason], data)
    leads = witnesses(good, rows, time, feet, motion.pelvis, force[..., 1].sum(axis=1))
    return _dataset(clean, numbers, wrenches, rows, of_both_sides(events), belt, leads)


def _of_single_plates(
    data: Mapping[str, NDArray[Any]],
    feet: Feet,
    given: foot_on_plate.Given,
    refusals: Sequence[Problem | None],
    settings: Settings,
    corrections: by_hand.Rows,
) -> list[Contact]:
    """Return the contacts with each plate and their feet, rejected or doubted if its baseline is not known."""
    time, numbers = data["time"], data["plate"].tolist()
    force, moment, corners = (data[f"plate_{name}"] for name in ("force", "moment", "corner"))
    detected = _detect(data, refusals, settings)
    contacts = []
    for contact, (to_feet, row) in zip(
        detected, by_hand.given_contacts(detected, corrections, numbers, given), strict=True
    ):
        (i,) = contact.plates
        found = foot_on_plate.assign(contact, time, force[:, i], moment[:, i], corners[i], feet, to_feet)
        contacts.append(by_hand.refuse_impossible_gift(found, row))
    contacts = contact_checks.reject_drifting(contacts, data["plate_drift"], max_drift_n=settings.max_drift_n)
    edges_known = data["plate_edges_known"].astype(bool)
    return contact_checks.doubt_unknown_baselines(contacts, time, data["plate_wander"], edges_known, numbers)


def _with_loads(contacts: Iterable[Contact], data: Mapping[str, NDArray[Any]]) -> list[Loaded]:
    """Return contacts with the loads of their plates together."""
    force, moment, corners = (data[f"plate_{name}"] for name in ("force", "moment", "corner"))
    return [Loaded(one, _sum(force, one.plates), _sum(moment, one.plates), corners[one.plates[0]]) for one in contacts]


def _combine(
    single: Sequence[Contact], data: Mapping[str, NDArray[Any]], motion: BodyMotion, settings: Settings
) -> list[Contact]:
    """Return contacts with those of a foot on several plates joined, and their places and times checked."""
    time, corners, edges_known = data["time"], data["plate_corner"], data["plate_edges_known"].astype(bool)
    margin_m, most_s = settings.edge_margin_m, settings.max_time_offset_s
    placed = [
        foot_on_plate.reject_partly_off(one, time, motion.feet, corners, edges_known, edge_margin_m=margin_m)
        for one in foot_on_plate.combine(single)
    ]
    loaded = _with_loads(placed, data)
    return time_offset.reject_out_of_time(loaded, time, motion.feet, motion.pelvis, max_time_offset_s=most_s)


def _refuse_plates(
    data: Mapping[str, NDArray[Any]], numbers: Sequence[int], misread: Sequence[Problem | None]
) -> list[Problem | None]:
    """Return why each plate cannot be used, None if it can: its channels, its signs, then its corners."""
    down = placement.pushing_down(data["plate_force"][..., 1], numbers)
    faults = zip(numbers, data["plate_fault"].tolist(), strict=True)
    channels = [refusal("plate_faulty", number=number, fault=fault) if fault else None for number, fault in faults]
    return [first or second or third for first, second, third in zip(channels, down, misread, strict=True)]


def _detect(data: Mapping[str, NDArray[Any]], refusals: Sequence[Problem | None], settings: Settings) -> list[Contact]:
    """Return the contacts on all plates, refused where the plate is."""
    filtered = data["vertical_force_filtered"]
    down = placement.upside_down(filtered) if any(refusals) else np.zeros(len(refusals), dtype=bool)
    threshold_n, min_contact_s = settings.threshold_n, settings.min_contact_s
    contacts = []
    for i, reason in enumerate(refusals):
        up = -1.0 if down[i] and reason else 1.0  # to detect contacts on an upside-down plate
        vertical, smooth = np.ascontiguousarray(up * data["vertical_force"][:, i]), up * filtered[:, i]
        plain = plate_contacts.detect(
            data["plate_time"], vertical, smooth, i, threshold_n=threshold_n, min_contact_s=min_contact_s
        )
        contacts += [replace(contact, reason=contact.reason or reason) for contact in plain]
    return contacts


def _sum(vectors: Array, plates: Sequence[int]) -> Array:
    """Return the sum (time, 3) of vectors (time, plate, 3) over some plates."""
    return vectors[:, plates[0]] if len(plates) == 1 else vectors[:, list(plates)].sum(axis=1)


def _name_lost_plates(plates_left_out: str, met: Collection[int]) -> str:
    """Return the plates left out in words, without those on which contacts are seen."""
    numbers = [number for each in from_text(plates_left_out) for number in each.which]
    return ", ".join(f"plate {number} is left out" for number in numbers if number not in met)


def _contact_of(stance: Stance, side: str, contacts: Sequence[Contact], feet: Feet, plates_left_out: str) -> Contact:
    """Return the good contact of a stance, or one with the reason against it."""

    def overlap(contact: Contact) -> float:
        return min(contact.end_s, stance.end_s) - max(contact.start_s, stance.start_s)

    share = 0.5 * (stance.end_s - stance.start_s)  # of a contact shared with the other foot
    mine = [c for c in contacts if (c.side == side and overlap(c) > 0) or (c.side == "both" and overlap(c) >= share)]
    mine = [c for c in mine if c.cop_distance_m <= foot_on_plate.FAR_M] or mine
    best = max(mine, key=overlap, default=None)
    unsure = 0.0 if stance.sure else UNSURE_S
    reach = (stance.start_s - unsure, stance.end_s + UNSURE_S)
    bare = Contact((), stance.start_s, stance.end_s, *reach, side, begins=stance.begins, ends=stance.ends)
    if side not in feet:
        return bare.refuse("foot_without_markers")
    if best is None and not (stance.begins or stance.ends):
        return bare.refuse("no_gait_event")
    if best is None:
        return bare.refuse("no_plate_left", left_out=plates_left_out) if plates_left_out else bare.refuse("no_plate")
    whole = overlap(best) >= stance.end_s - stance.start_s - 2 * SAME_EVENT_S
    if best.reason or not whole:
        # the load of a foot alone begins and ends with its stance, of which motion knows the times less well
        own = [contact for contact in mine if contact.side == side]
        first = [max(contact.from_s, stance.start_s - SAME_EVENT_S) for contact in own]
        last = [min(contact.to_s, stance.end_s + SAME_EVENT_S) for contact in own]
        bare = replace(bare, from_s=min([reach[0], *first]), to_s=max([reach[1], *last]))
        seen = replace(bare, plates=best.plates, reason=best.reason, plate_chance=best.plate_chance)
        return seen.refuse("foot_partly_off_plate")
    return best


def ground_wrench(
    time: Array, listed: Sequence[Contact], force: Array, moment: Array, corners: Array, *, threshold_n: float
) -> tuple[Array, Array, Array, Array]:
    """Return force, moment, centre of pressure (time, 3), free moment (time,).

    The moment is about the lab origin. Zero in swing, NaN in a stance without known force; the centre of pressure only
    above the threshold.

    Args:
        time: (time,), s.
        listed: all stances of one foot.
        force, moment: (time, plate, 3) of the plates, N, N m about the lab origin.
        corners: (plate, 4, 3), m.
        threshold_n: smallest vertical force for a centre of pressure.
    """
    total = np.zeros((2, len(time), 3))
    cop, free = np.full((len(time), 3), np.nan), np.full(len(time), np.nan)
    for contact in (row for row in listed if not row.reason):
        inside = between(time, contact.from_s - 1e-9, contact.to_s + 1e-9)
        here = total[:, inside]  # a view
        for plate in contact.plates:
            here += [force[inside, plate], moment[inside, plate]]
        loaded = here[0, :, 1] > threshold_n
        first = corners[contact.plates[0]]
        cop[inside][loaded], free[inside][loaded] = centre_of_pressure(here[0, loaded], here[1, loaded], first)
    for contact in (row for row in listed if row.reason):
        inside = between(time, contact.from_s - 1e-9, contact.to_s + 1e-9)
        total[:, inside], cop[inside], free[inside] = np.nan, np.nan, np.nan
    return total[0], total[1], cop, free


def _dataset(
    clean: Trial,
    numbers: Sequence[int],
    wrenches: Sequence[tuple[Array, Array, Array, Array]],
    listed: Sequence[Contact],
    events: Sequence[tuple[GaitEvent, str]],
    belt_speed: Array,
    leads: Mapping[str, float],
) -> Trial:
    """Return the step's result from wrenches, stances, events, belt speeds of both sides, and witnesses of time."""
    force, moment, cop, free = (np.stack(parts, axis=1) for parts in zip(*wrenches, strict=True))
    rows = sorted(listed, key=lambda row: (row.start_s, row.side))
    doubts = [joined(row.doubts) for row in rows]
    vector = ("time", "side", "axis")
    coordinates = {
        "time": clean.variables["time"],
        "side": ("side", list(SIDES)),
        "axis": ("axis", list("xyz")),
        "contact_side": ("contact", _text(row.side for row in rows)),
        "plates": ("contact", _text(" ".join(str(numbers[i]) for i in row.plates) for row in rows)),
        "valid": ("contact", np.array([not row.reason for row in rows], dtype=bool)),
        "reason": ("contact", _text(row.reason.what if row.reason else "" for row in rows)),
        "reason_code": ("contact", _text(row.reason.code if row.reason else "" for row in rows)),
        "doubt": ("contact", _text(doubt.what for doubt in doubts)),
        "doubt_code": ("contact", _text(doubt.code for doubt in doubts)),
        "event": ("event", _text(event.kind for event, _ in events)),
        "event_side": ("event", _text(side for _, side in events)),
        "event_source": ("event", _text(event.source for event, _ in events)),
    }
    return Trial.of(
        {
            "ground_force": (vector, force),
            "ground_moment": (vector, moment),
            "centre_of_pressure": (vector, cop),
            "free_moment": (vector[:2], free),
            "contact_start": ("contact", np.array([row.start_s for row in rows], dtype=float)),
            "contact_end": ("contact", np.array([row.end_s for row in rows], dtype=float)),
            "plate_chance": ("contact", np.array([row.plate_chance for row in rows], dtype=float)),
            "event_time": ("event", np.array([event.time_s for event, _ in events], dtype=float)),
            "belt_speed": ("side", belt_speed),
        },
        coordinates,
        {"plates_left_out": clean.attrs["plates_left_out"], **leads},
    )


def _text(words: Iterable[str]) -> NDArray[np.str_]:
    return np.array(list(words), dtype=str)
