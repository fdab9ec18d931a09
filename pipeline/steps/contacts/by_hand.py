"""Corrections of events and contacts by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...conventions import SAME_STRIKE_S, SIDES
from ...tables.corrections import UnfitError, plates_in
from ...variables.stance_verdicts import accepted, each_once
from ...variables.verdict_table import REFUSED_BY_HAND, VERDICTS
from .body_motion import Shown
from .event_sources import Events
from .events import SAME_EVENT_S, GaitEvent, Stance
from .plate_contacts import Contact, Given

SOURCE = "hand"  # of an event
AFTER_S = 1e-6  # less than a sample
Rows = Sequence[Mapping[str, str]]  # of :mod:`pipeline.tables.corrections`


def _times(times_s: Sequence[float]) -> str:
    return f"give one of {', '.join(f'{time_s:.3f}' for time_s in times_s)} s" if times_s else "there is none"


def correct_events(events: Events, rows: Rows, *, first_s: float, last_s: float) -> dict[str, list[GaitEvent]]:
    """Return events with those that a person adds, moves or removes, in the order of the rows.

    Args:
        events: by side, in order of time.
        rows: of the trial; those of other kinds change nothing.
        first_s, last_s: span of the trial.

    Raises:
        UnfitError: there is no such event, there is one already, or another one is passed.
    """
    corrected = {side: [*listed] for side, listed in events.items()}
    for row in rows:
        action, _, kind = row["kind"].partition("_")
        if action not in ("add", "move", "remove"):
            continue
        mine, at_s = corrected[row["side"]], float(row["time_s"])
        to_s = float(row["to_s"] or at_s)
        alike = [event for event in mine if event.kind == kind]
        found = min(alike, key=lambda event: abs(event.time_s - at_s), default=None)
        found = found if found and abs(found.time_s - at_s) < SAME_STRIKE_S else None
        name = f"{row['side']} {kind.replace('_', ' ')}"
        if action == "add" and found:
            raise UnfitError(row, f"there is a {name} at {found.time_s:.3f} s", "move that one")
        if action != "add" and not found:
            raise UnfitError(row, f"there is no {name}", _times([event.time_s for event in alike]))
        if not first_s <= to_s <= last_s:
            raise UnfitError(row, f"{to_s:g} s is outside the trial", f"give {first_s:.3f} to {last_s:.3f} s")
        others = [event for event in mine if event is not found]
        if found and any(min(found.time_s, to_s) <= one.time_s <= max(found.time_s, to_s) for one in others):
            raise UnfitError(row, "another event of the foot is passed", "move that one first")
        new = [GaitEvent(to_s, kind, SOURCE)] if action != "remove" else []
        corrected[row["side"]] = sorted([*others, *new])
    return corrected


def fitting_events(events: Events, rows: Rows, **span: float) -> dict[str, list[GaitEvent]]:
    """Return events with those added or moved that fit; the others may fit once contacts are known.

    A foot is not taken to stay on the ground because its strike is removed.
    """
    corrected = {side: [*listed] for side, listed in events.items()}
    for row in (row for row in rows if not row["kind"].startswith("remove")):
        try:
            corrected = correct_events(corrected, [row], **span)
        except UnfitError:
            continue
    return corrected


def at_corrected_times(contact: Contact, stance: Stance, events: Sequence[GaitEvent], rows: Rows) -> Contact:
    """Return the contact of a stance, which begins and ends where events are set by hand; its load stays as it is.

    Where an event is removed, what is unknown begins after the stance before.
    """
    by_hand = {event.time_s for event in events if event.source == SOURCE}
    start_s = stance.start_s if stance.start_s in by_hand else contact.start_s
    end_s = stance.end_s if stance.end_s in by_hand else contact.end_s
    removed = [
        float(row["time_s"]) for row in rows if (row["kind"], row["side"]) == ("remove_foot_strike", contact.side)
    ]
    after_s = stance.start_s + AFTER_S if any(stance.start_s < at_s < stance.end_s for at_s in removed) else -np.inf
    from_s = max(contact.from_s, after_s)
    return replace(contact, start_s=start_s, end_s=end_s, from_s=from_s)


def given_contacts(
    contacts: Sequence[Contact], rows: Rows, numbers: Sequence[int], given: Given
) -> list[tuple[Given, Mapping[str, str] | None]]:
    """Return for each contact of one plate the plates given to each foot, and the row that gives this contact.

    A row gives the contact that begins at its time on one of its plates, and those on its other plates meanwhile.

    Raises:
        UnfitError: no contact with such a plate begins then.
    """
    result: list[tuple[Given, Mapping[str, str] | None]] = [(given, None)] * len(contacts)
    for row in (row for row in rows if row["kind"] == "give_contact"):
        named = plates_in(row)
        mine = [i for i, one in enumerate(contacts) if str(numbers[one.plates[0]]) in named]
        first = [contacts[i] for i in mine if abs(contacts[i].start_s - float(row["time_s"])) < SAME_STRIKE_S]
        if not first:
            what = f"no contact with plate {' or '.join(named)} begins then"
            raise UnfitError(row, what, _times([contacts[i].start_s for i in mine]))
        for i in mine:
            if any(contacts[i].start_s < one.end_s and one.start_s < contacts[i].end_s for one in first):
                plates = frozenset(contacts[i].plates)
                result[i] = {side: plates if side == row["side"] else None for side in SIDES}, row
    return result


def refuse_impossible_gift(contact: Contact, row: Mapping[str, str] | None) -> Contact:
    """Return the contact that a row gives to a foot; raise UnfitError if that foot is not over the plate."""
    if row and contact.reason and contact.reason.code == "foot_not_over_given_plate":
        raise UnfitError(row, f"the {row['side']} foot is not over the plate", "give the contact to the other foot")
    return contact


def judge(stances: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the stances, one contact each, with those accepted or refused that a person accepts or refuses.

    Raises:
        UnfitError: no stance begins then, it is refused already, or what refuses it is no judgement.
    """
    judged = [*stances]
    of_contacts = [row for row in shown.corrections if row["kind"] in ("accept_contact", "refuse_contact")]
    for row in sorted(of_contacts, key=lambda row: SIDES.index(row["side"])):
        stated_s, mine = float(row["time_s"]), [i for i, one in enumerate(judged) if one.side == row["side"]]
        # another row may have moved its strike
        moves = [one for one in shown.corrections if (one["kind"], one["side"]) == ("move_foot_strike", row["side"])]
        moved = (float(one["to_s"]) for one in moves if abs(float(one["time_s"]) - stated_s) < SAME_STRIKE_S)
        at_s = next(moved, stated_s)
        i = min(mine, key=lambda i: abs(judged[i].start_s - at_s), default=None)
        if i is None or abs(judged[i].start_s - at_s) >= SAME_STRIKE_S:
            starts = _times([judged[i].start_s for i in mine])
            raise UnfitError(row, f"no {row['side']} stance begins then", starts)
        if row["kind"] == "accept_contact":
            judged[i] = _accept(judged[i], row, shown.contacts)
        elif reason := judged[i].reason:
            raise UnfitError(row, f"the contact is refused already: {reason.words}", "give another one")
        else:
            judged[i] = judged[i].refuse(REFUSED_BY_HAND, reason=row["reason"])
    return judged


def _accept(stance: Contact, row: Mapping[str, str], contacts: Sequence[Contact]) -> Contact:
    """Return a stance that is accepted, with the loads of all plates that its foot presses in it."""
    if not stance.reason:
        return replace(stance, doubts=(*accepted(row["reason"], []), *stance.doubts))
    own = [
        one for one in contacts if one.side == stance.side and one.start_s < stance.end_s and stance.start_s < one.end_s
    ]
    reasons = each_once(filter(None, (stance.reason, *(one.reason for one in own))))
    for reason in reasons:
        if not VERDICTS[reason.code].judged:
            what = f"no person can accept this contact: {reason.words}"
            raise UnfitError(row, what, "correct the cause")
    own, borne_to_s = sorted(own, key=lambda one: one.start_s), stance.start_s
    for start_s, end_s in (*((one.start_s, one.end_s) for one in own), (stance.end_s, stance.end_s)):
        if start_s - borne_to_s > SAME_EVENT_S:
            what = "no person can accept this contact: plates bear the foot in only a part of its stance"
            raise UnfitError(row, what, "correct the events")
        borne_to_s = max(borne_to_s, end_s)
    plates = tuple(dict.fromkeys(plate for one in own for plate in one.plates))
    doubts = (*accepted(row["reason"], reasons), *stance.doubts)
    return replace(stance, plates=plates, reason=None, doubts=doubts)
