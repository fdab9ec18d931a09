"""Assignment of contacts to feet, and rejection of those that another foot shares or that are partly off."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...arrays import Array, Flags
from ...errors import UserError
from ...plates.sole import HALF_SOLE_M
from ...plates.wrench import centre_of_pressure, over_each_plate
from ...signals.filters import interval_s
from . import by_hand
from .body_motion import Shown
from .events import on_ground
from .feet import Feet, Foot
from .plate_contacts import Contact, Given

OTHER = {"left": "right", "right": "left"}
SHARED_S = 0.05  # as foot strikes and offs are known from motion to some 20 ms, an overlap of two is to 40
MOSTLY_AWAY = 0.5  # share of a contact
STEP_S = 0.2  # a second foot adds single support, .3 s or more; a rest differs from its contact by up to .06 s
# a foot that swings for longer has left the load of its plate to the other one: a filter of 6 Hz spreads the start of a
# swing over some 30 ms to both sides, and a tail of the force lasts as long
LEFT_S = 0.1
FAR_M = 0.3  # a foot's length: from farther off it loads no plate
UNDER_M = 2 * HALF_SOLE_M  # the sole's edge, and as much again for errors of plate and markers and for turned feet
OTHER_LEVEL_M = 0.3  # added to the distance of a foot at another height than a plate's: a stride on stairs, about


def read_given_plates(text: str | None, numbers: Sequence[int], *, side: str) -> frozenset[int] | None:
    """Return the indices of the plates in a cell of trials.tsv; None if it is empty.

    Args:
        text: plate numbers, or ``none`` if the foot met no plate.
    """
    words = re.split(r"[\s,;]+", (text or "").strip().lower())
    if words[0] in ("", "n/a", "na", "nan"):
        return None
    if words == ["none"]:
        return frozenset()
    here = {str(number): i for i, number in enumerate(numbers)}
    if unknown := [word for word in words if word not in here]:
        plates = f"plates {' '.join(here)}" if here else "no plates"
        what = f"plates_{side} names plate {unknown[0]}, the file has {plates}"
        raise UserError("trials.tsv", what, "give numbers, or none", "plate_number_unknown")
    return frozenset(here[word] for word in words)


def assign_feet(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the contacts of single plates with their feet, and refused if no foot can be told.

    Raises:
        UserError: a correction gives a contact that is not there, or to a foot that is not over the plate.
    """
    force, moment = (shown.data[f"plate_{name}"] for name in ("force", "moment"))
    given = by_hand.given_contacts(contacts, shown.corrections, shown.numbers, shown.given)
    assigned = []
    for contact, (to_feet, row) in zip(contacts, given, strict=True):
        (i,) = contact.plates
        found = assign(contact, shown.time, force[:, i], moment[:, i], shown.corners[i], shown.feet, to_feet)
        assigned.append(by_hand.refuse_impossible_gift(found, row))
    return assigned


def assign(
    contact: Contact, time: Array, force: Array, moment: Array, corners: Array, feet: Feet, given: Given
) -> Contact:
    """Return the contact of one plate with its foot.

    This is the foot with the line from heel to toe nearest to the centre of pressure, weighted by the force; for a
    contact with a reason, the foot at rest over the plate. trials.tsv overrides both. While one foot is hidden, the
    contact is its own, and refused, unless the other one rests under the force.

    Args:
        contact: on one plate; with a reason if its force cannot be used.
        time: (time,) of the feet, s.
        force, moment: (time, 3) of the plate at these instants, N, N m about the lab origin.
        corners: (4, 3) of the plate, m.
        feet: by side.
        given: by side the plates that trials.tsv assigns, or None.
    """
    inside = contact.frames(time)
    weight = np.maximum(force[inside, 1], 0)
    if not weight.size or not (weight.any() or contact.reason):
        return contact.refuse("contact_too_short")
    if contact.reason:
        # of feet mostly at rest over the plate, the share of time away from it
        away = {
            side: float(1 - (foot.still[inside] & _over(foot, inside, corners)).mean()) for side, foot in feet.items()
        }
        distances = {side: share for side, share in away.items() if share < MOSTLY_AWAY}
    else:
        cop, _ = centre_of_pressure(force[inside], moment[inside], corners)
        distances = _distances(feet, inside, cop, weight, corners)
    (plate,) = contact.plates
    named = [side for side, plates in given.items() if plates and plate in plates and side in feet]
    nearest = min([side for side in distances if side in named] or distances, key=distances.__getitem__, default="")
    side = named[0] if len(named) == 1 else nearest
    if not side:
        return contact.refuse("feet_not_seen")
    contact = replace(contact, side=side, forced=side in named, cop_distance_m=distances.get(side, 0.0))
    if not contact.reason and not contact.forced:
        contact = _refuse_place(contact, feet, distances, inside, weight)
    if contact.forced and not _over(feet[side], inside, corners).any():
        return contact.refuse("foot_not_over_given_plate")
    given_to_other = given.get(side) is not None and not contact.forced
    return contact.refuse("plate_given_to_other_foot") if given_to_other else contact


def _distances(feet: Feet, inside: slice, cop: Array, weight: Array, corners: Array) -> dict[str, float]:
    """Return the force-weighted distance of each foot from the centre of pressure, m."""
    distances = {}
    for side, foot in feet.items():
        distance = distance_to_line(cop, foot.heel[inside], foot.toe[inside])
        distance = distance + np.where(foot.at_height_of(corners[None], inside)[:, 0], 0.0, OTHER_LEVEL_M)
        seen = np.isfinite(distance) & np.isfinite(weight)
        counted = weight[seen]
        if (total := counted.sum()) > 0.5 * np.nansum(weight):
            distances[side] = float(counted @ distance[seen] / total)
    return distances


def _refuse_place(
    contact: Contact, feet: Feet, distances: Mapping[str, float], inside: slice, weight: Array
) -> Contact:
    """Return the contact of the nearest seen foot, refused if it is far off, or if it may be a hidden foot's."""
    other, far = OTHER[contact.side], contact.cop_distance_m > FAR_M
    if far and other not in feet:
        return replace(contact, side=other).refuse("foot_without_markers")
    still = np.nansum(weight[feet[contact.side].still[inside]])  # where the foot is at rest under the force
    bears = contact.cop_distance_m < UNDER_M and still > 0.5 * np.nansum(weight)
    if other in feet and other not in distances and not bears:
        return replace(contact, side=other, cop_distance_m=0.0).refuse("feet_not_seen")
    return contact.refuse("force_off_foot", cm=100 * contact.cop_distance_m) if far else contact


def _over(foot: Foot, inside: slice, corners: Array) -> Flags:
    """Return whether the middle of a foot is over a plate (4, 3), at its height (time,)."""
    middle = (foot.heel[inside] + foot.toe[inside]) / 2
    return np.asarray((over_each_plate(middle, corners[None], 0.0) & foot.at_height_of(corners[None], inside))[:, 0])


def distance_to_line(point: Array, start: Array, end: Array) -> Array:
    """Return the horizontal distance (time,) of points from a line, m; y is up."""
    (x, z), (along_x, along_z) = (point - start).T[::2], (end - start).T[::2]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.clip((x * along_x + z * along_z) / (along_x**2 + along_z**2), 0, 1)
    return np.asarray(np.hypot(x - share * along_x, z - share * along_z))


def reject_shared(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the contacts of single plates, each with its foot, rejected if the other foot is on the plate too.

    So are those of either foot on other plates at that time, which hold only a part of its load. A foot without markers
    is taken to be elsewhere if the plate is loaded no longer than the seen foot rests: it would stay for its own step,
    or have come before. Its toes or heel on the edge cannot be found.
    """
    feet = shown.feet
    edgeless = np.flatnonzero(~shown.edges_known).tolist()
    force, moment = shown.data["plate_force"], shown.data["plate_moment"]
    pressed = {i: centre_of_pressure(force[:, i], moment[:, i], shown.corners[i])[0] for i in edgeless}
    unseen = "other_foot_without_markers"
    alone = [each.refuse(unseen) if _may_be_shared_unseen(each, feet) else each for each in contacts]
    spans = [
        None
        if each.reason or not {each.side, OTHER.get(each.side)} <= {*feet}
        else _find_shared_span(each, shown, pressed)
        for each in alone
    ]
    shared = [span for span in spans if span]
    for i, each in enumerate(alone):
        if spans[i]:
            alone[i] = replace(each, side="both").refuse("two_feet_on_plate")
        elif any(each.start_s < end and start < each.end_s for start, end in shared):
            alone[i] = each.refuse("foot_on_two_plates")
    return alone


def _may_be_shared_unseen(contact: Contact, feet: Feet) -> bool:
    """Return whether a foot without markers may be on a contact's plate."""
    if contact.reason or contact.forced or contact.side not in feet or OTHER[contact.side] in feet:
        return False
    rests = ((start - STEP_S, end + STEP_S) for start, end in feet[contact.side].rests)
    whole = contact.begins and contact.ends
    return not (whole and any(start < contact.start_s and contact.end_s < end for start, end in rests))


def _find_shared_span(contact: Contact, shown: Shown, pressed: Mapping[int, Array]) -> tuple[float, float] | None:
    """Return the first and last instant, s, at which the other foot is on a contact's plate too; None if it is not.

    It is on the ground with its line of markers over the plate; or with its sole, while the contact's own foot swings.
    Where the plate's edges are unknown, it is on it if the load presses nearer to it, or lasts while the own foot
    swings.
    """
    time, quads, beside = shown.time, shown.corners[list(contact.plates)], OTHER[contact.side]
    inside, step_s, foot, other = contact.frames(time), interval_s(time), shown.feet[contact.side], shown.feet[beside]
    down, swings = on_ground(time[inside], shown.stances[beside]), foot.swings[inside]
    (plate,) = contact.plates
    if plate in pressed:
        away, nearer = (
            distance_to_line(pressed[plate][inside], each.heel[inside], each.toe[inside]) for each in (foot, other)
        )
        line, sole = down & (nearer < away), down
    else:
        line, sole = down & other.over(quads, 0.0, inside).any(axis=(0, 2)), down
        if (swings & down).sum() * step_s > LEFT_S:  # else the sole, wherever it is, is there too short
            sole = down & other.over(quads, HALF_SOLE_M, inside).any(axis=(0, 2))
    for frames, longest_s in ((swings & sole, LEFT_S), (line, SHARED_S)):
        if frames.sum() * step_s > longest_s:
            instants = time[inside][frames]
            return float(instants[0]), float(instants[-1])
    return None


def combine(contacts: Sequence[Contact]) -> list[Contact]:
    """Join simultaneous contacts of one foot on several plates into one, unless they are refused but as hidden."""
    joined = [contact for contact in contacts if not contact.timed]
    last: Contact | None = None
    for contact in sorted((c for c in contacts if c.timed), key=lambda c: (c.side, c.start_s)):
        if last and last.side == contact.side and contact.start_s < last.end_s and contact.plates[0] not in last.plates:
            last = joined[-1] = _join(last, contact)
        else:
            joined.append(last := contact)
    return joined


def _join(first: Contact, second: Contact) -> Contact:
    """Join two contacts of a foot, of which the second begins within the first."""
    return replace(
        first,
        plates=(*first.plates, *second.plates),
        end_s=max(first.end_s, second.end_s),
        from_s=min(first.from_s, second.from_s),
        to_s=max(first.to_s, second.to_s),
        reason=first.reason or second.reason,
        doubts=first.doubts + second.doubts,
        ends=first.ends if first.end_s > second.end_s else second.ends,
        forced=first.forced or second.forced,
        cop_distance_m=max(first.cop_distance_m, second.cop_distance_m),
    )


def reject_partly_off(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the contacts, each of one foot, rejected if heel or toe rest outside loaded plates.

    Not if the edges of these are unknown, or trials.tsv gives the plate.
    """
    judged = [*contacts]
    for i, contact in enumerate(contacts):
        plates = list(contact.plates)
        if not contact.reason and contact.side and not contact.forced and shown.edges_known[plates].all():
            foot, inside = shown.feet[contact.side], contact.frames(shown.time)
            # an end that moves is in the air, or rolls off; where it rests for most of the time counts
            rests = foot.slow[:, inside]
            off = (rests & ~foot.whole_over(shown.corners[plates], shown.settings.edge_margin_m, inside)).sum(axis=1)
            if (off > np.maximum(SHARED_S / interval_s(shown.time), rests.sum(axis=1) / 2)).any():
                judged[i] = contact.refuse("foot_partly_off_plate")
    return judged
