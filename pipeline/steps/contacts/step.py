"""Step ``contacts``: stances with foot and plates, ground wrench of each side, gait events."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array
from ...conventions import FORWARD, SIDES, UP
from ...errors import UserError
from ...plates.incline import normal_of_ground, uphill
from ...plates.wrench import centre_of_pressure
from ...tables.corrections import apply_fitting, attributes_of
from ...tables.tsv import Row
from ...trials.left_out import LeftOut, as_text, from_text
from ...trials.session import Trial, join_trials, rejected_by, trials_of
from ...trials.usable_walks import UsableWalks
from ...variables.stance_verdicts import doubt_columns, reason_columns
from . import by_hand, foot_on_plate, plate_contacts, time_offset
from .body_motion import BodyMotion, Shown, motions_of
from .contact_checks import OF_BOTH_FEET, OF_FORCE, OF_ONE_FOOT, ON_ONE_PLATE, STANCE, judged, refuse_plates
from .event_sources import events_of, plate_events, weaker_events
from .events import SAME_EVENT_S, GaitEvent, Stance, merge, of_both_sides, stances
from .feet import Feet, belt_speeds
from .plate_contacts import Contact, between, with_loads
from .plate_faults import placement
from .settings import Settings
from .time_offset import rest_lead_s, witnesses

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
    if "ground_normal" in found and not (found["ground_normal"].values[:, UP] < 1).any():
        found = found.drop_vars("ground_normal")
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
    corrections: Sequence[Mapping[str, str]] = (),
) -> Trial:
    """Return the contacts of one walk; for arguments and results see :func:`contacts`."""
    data: dict[str, NDArray[Any]] = {str(name): variable.values for name, variable in clean.variables.items()}
    numbers = data["plate"].tolist()
    cells = {"left": plates_left, "right": plates_right}
    given = {side: foot_on_plate.read_given_plates(text, numbers, side=side) for side, text in cells.items()}
    of_markers, of_plates = (clean.attrs.get(name, "") for name in ("motion_breaks", "plate_breaks"))
    shown = Shown(data, motion, settings, of_markers, of_plates, given, corrections)
    shown, events, met, events_left_out = _with_contacts(refuse_plates(shown))
    unmet = [number for each in from_text(clean.attrs["plates_left_out"]) for number in each.which if number not in met]
    left_out = ", ".join(f"plate {number} is left out" for number in unmet)
    found = [
        by_hand.at_corrected_times(
            _contact_of(stance, side, shown.contacts, shown.feet, left_out), stance, events[side], corrections
        )
        for side in SIDES
        for stance in stances_of(events, side, shown)
    ]
    rows = [replace(row, rest_lead_s=rest_lead_s(row, shown.feet)) for row in judged(STANCE, found, shown)]
    listed = {side: [row for row in rows if row.side == side] for side in SIDES}
    time, force, moment = shown.time, data["plate_force"], data["plate_moment"]
    wrenches = [
        ground_wrench(time, listed[side], force, moment, shown.corners, threshold_n=settings.threshold_n)
        for side in SIDES
    ]
    normal = normal_of_ground(shown.corners[sorted({i for row in rows for i in row.plates})])
    belt = np.zeros(len(SIDES)) if belt_speed_m_s is None else np.full(len(SIDES), belt_speed_m_s)
    if belt_speed_m_s is None and clean.attrs["direction_of_travel"] == "none":
        belt = belt_speeds(motion.landmarks, time, listed) / uphill(normal)[FORWARD]
    good = with_loads([row for row in rows if not row.reason], data)
    leads = witnesses(good, rows, time, shown.feet, motion.pelvis, force[..., 1].sum(axis=1))
    facts = {"plates_left_out": clean.attrs["plates_left_out"], "events_left_out": as_text(events_left_out), **leads}
    return _dataset(clean, numbers, wrenches, rows, of_both_sides(events), belt, normal, facts)


def _with_contacts(shown: Shown) -> tuple[Shown, dict[str, list[GaitEvent]], set[int], list[LeftOut]]:
    """Return what a walk shows with its contacts, judged; the events by side; plates that feet met; events not used."""
    motion, corrections = shown.motion, shown.corrections
    single = judged(ON_ONE_PLATE, _detect(shown), shown)
    contacts = judged(OF_ONE_FOOT, foot_on_plate.combine(single), shown)
    stated = [shown.data[name] for name in ("event_time", "event", "event_side")]
    method = shown.settings.kinematic_events
    plates = plate_events(contacts)
    weaker, left_out = weaker_events(shown.time, motion.landmarks, stated, shown.feet, plates, method)
    merged = {side: merge([plates[side], *weaker[side]]) for side in SIDES}
    first = by_hand.fitting_events(merged, corrections, **shown.span)
    shown = replace(shown, stances={side: stances_of(first, side, shown) for side in SIDES})
    alone = judged(OF_BOTH_FEET, single, shown)
    contacts = judged(OF_ONE_FOOT, foot_on_plate.combine(alone), shown) if alone != single else contacts
    contacts = judged(OF_FORCE, contacts, shown)
    events = {side: events_of(contacts, side, weaker) for side in SIDES}
    events = by_hand.correct_events(events, corrections, **shown.span)
    met = {shown.numbers[i] for contact in single if contact.side for i in contact.plates}
    return replace(shown, contacts=contacts), events, met, left_out


def stances_of(events: Mapping[str, Sequence[GaitEvent]], side: str, shown: Shown) -> list[Stance]:
    """Return when a foot is, or may be, on the ground, by the events of both sides and its own rests."""
    stands = shown.feet[side].stands if side in shown.feet else ()
    return stances(events[side], stands=stands, **shown.span)


def _detect(shown: Shown) -> list[Contact]:
    """Return the contacts on all plates, refused where the plate is."""
    data, refusals, settings = shown.data, shown.refused_plates, shown.settings
    filtered = data["vertical_force_filtered"]
    down = placement.upside_down(filtered) if any(refusals) else np.zeros(len(refusals), dtype=bool)
    contacts = []
    for i, reason in enumerate(refusals):
        up = -1.0 if down[i] and reason else 1.0  # to detect contacts on an upside-down plate
        vertical, smooth = np.ascontiguousarray(up * data["vertical_force"][:, i]), up * filtered[:, i]
        plain = plate_contacts.detect(
            data["plate_time"], vertical, smooth, i,
            threshold_n=settings.threshold_n,
            min_contact_s=settings.min_contact_s,
        )  # fmt: skip
        contacts += [replace(contact, reason=contact.reason or reason) for contact in plain]
    return contacts


def _contact_of(stance: Stance, side: str, contacts: Sequence[Contact], feet: Feet, plates_left_out: str) -> Contact:
    """Return the good contact of a stance, or one with the reason against it."""

    def overlap(contact: Contact) -> float:
        return min(contact.end_s, stance.end_s) - max(contact.start_s, stance.start_s)

    share = 0.5 * (stance.end_s - stance.start_s)  # of a contact shared with the other foot
    mine = [c for c in contacts if (c.side == side and overlap(c) > 0) or (c.side == "both" and overlap(c) >= share)]
    mine = [c for c in mine if c.cop_distance_m <= foot_on_plate.FAR_M] or mine
    mine = [c for c in mine if c.reason and c.reason.code == "foot_on_two_plates"] or mine
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
    normal: Array,
    facts: Mapping[str, Any],
) -> Trial:
    """Return the step's result from wrenches, stances, events, belts of both sides, ground, and facts of the trial."""
    force, moment, cop, free = (np.stack(parts, axis=1) for parts in zip(*wrenches, strict=True))
    rows = sorted(listed, key=lambda row: (row.start_s, row.side))
    verdicts = reason_columns(row.reason for row in rows) | doubt_columns(row.doubts for row in rows)
    vector = ("time", "side", "axis")
    coordinates = {
        "time": clean.variables["time"],
        "side": ("side", list(SIDES)),
        "axis": ("axis", list("xyz")),
        "contact_side": ("contact", _text(row.side for row in rows)),
        "plates": ("contact", _text(" ".join(str(numbers[i]) for i in row.plates) for row in rows)),
        "valid": ("contact", np.array([not row.reason for row in rows], dtype=bool)),
        **{name: ("contact", texts) for name, texts in verdicts.items()},
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
            "contact_rest_lead": ("contact", np.array([row.rest_lead_s for row in rows], dtype=float)),
            "belt_speed": ("side", belt_speed),
            "ground_normal": ("axis", normal),
        },
        coordinates,
        facts,
    )


def _text(words: Iterable[str]) -> NDArray[np.str_]:
    return np.array(list(words), dtype=str)
