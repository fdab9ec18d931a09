"""Which foot is on which plate when, and whether its force can be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pipeline.events import Stance, on_ground
from pipeline.filters import stretches
from pipeline.plates import centre_of_pressure

Array = NDArray[np.float64]
Feet = Mapping[str, tuple[Array, Array]]

OTHER = {"left": "right", "right": "left"}
BRIDGED_S = 0.02
SHARED_S = 0.05
NOISE_SIGMAS = 3.0


@dataclass(frozen=True)
class Contact:
    """A load on one plate, or of one foot on several.

    Attributes:
        plates: indices of the plates.
        start_s, end_s: where the vertical force crosses the threshold.
        from_s, to_s: where it meets the noise floor: the wrench counts between these.
        side: the foot, ``both`` where two share the plate, empty where none is near.
        reason: why the force cannot be used; empty where it can.
        begins, ends: whether the contact's start and end lie inside the trial.
    """

    plates: tuple[int, ...]
    start_s: float
    end_s: float
    from_s: float
    to_s: float
    side: str = ""
    reason: str = ""
    begins: bool = True
    ends: bool = True


def detect(
    time: Array, vertical: Array, smooth: Array, plate: int, *, threshold_n: float, min_contact_s: float
) -> list[Contact]:
    """Return the contacts of one plate.

    The threshold on the unfiltered force finds a contact; its wrench then reaches to where the filtered
    vertical force meets the noise floor (three standard deviations of the unloaded plate), but not into the
    next contact.

    Args:
        time: (sample,), s.
        vertical: (sample,) unfiltered vertical force, baseline off, N.
        smooth: (sample,) filtered vertical force, N.
        plate: index of the plate.
        threshold_n: vertical force that counts as contact.
        min_contact_s: shortest contact.
    """
    if len(time) < 2:
        return []
    step = (time[-1] - time[0]) / (len(time) - 1)
    missing = np.isnan(vertical)
    loaded = vertical > threshold_n
    for start, stop in stretches(~loaded):
        if start > 0 and stop < len(loaded) and (stop - start) * step < BRIDGED_S:
            loaded[start:stop] = True
    runs = [(a, b) for a, b in stretches(loaded) if (b - a) * step >= min_contact_s]
    floor = _noise_floor(smooth, runs)
    contacts = []
    for number, (start, stop) in enumerate(runs):
        earliest = (runs[number - 1][1] + start) // 2 if number else 0
        latest = (stop + runs[number + 1][0]) // 2 if number + 1 < len(runs) else len(time)
        before = np.flatnonzero(smooth[earliest:start] <= floor)
        after = np.flatnonzero(smooth[stop:latest] <= floor)
        first = earliest + before[-1] + 1 if before.size else earliest
        last = stop + after[0] - 1 if after.size else latest - 1
        contacts.append(
            Contact(
                plates=(plate,),
                start_s=float(time[start]),
                end_s=float(time[stop - 1]),
                from_s=float(time[first]),
                to_s=float(time[last]),
                reason="plate signal missing during the contact" if missing[max(start - 1, 0) : stop + 1].any() else "",
                begins=start > 0,
                ends=stop < len(time),
            )
        )
    return contacts


def _noise_floor(smooth: Array, runs: Sequence[tuple[int, int]]) -> float:
    free = np.ones(len(smooth), dtype=bool)
    for start, stop in runs:
        width = (stop - start) // 4
        free[max(start - width, 0) : stop + width] = False
    if free.sum() < 10:
        return 0.0
    quiet = smooth[free]
    return float(NOISE_SIGMAS * 1.4826 * np.median(np.abs(quiet - np.median(quiet))))


def assign(
    contact: Contact, time: Array, force: Array, moment: Array, corners: Array, feet: Feet, *, max_cop_distance_m: float
) -> Contact:
    """Return the contact with the foot whose heel-toe line is nearest to its centre of pressure.

    Args:
        contact: on one plate.
        time: (time,) of the feet, s.
        force, moment: (time, 3) of the plate at these instants, N, N m about the lab origin.
        corners: (4, 3) of the plate, m.
        feet: heel and toe (time, 3) of each side, m.
        max_cop_distance_m: beyond it no foot makes the contact.
    """
    if contact.reason:
        return contact
    inside = (time >= contact.start_s) & (time <= contact.end_s)
    weight = np.where(inside, force[:, 1], 0.0)
    if not inside.any() or weight.max() <= 0:
        return replace(contact, reason="too short for the marker rate")
    cop, _ = centre_of_pressure(force[inside], moment[inside], corners)
    weight = np.clip(weight[inside], 0, None)
    distances = {}
    for side, (heel, toe) in feet.items():
        distance = distance_to_line(cop, heel[inside], toe[inside])
        seen = np.isfinite(distance)
        if weight[seen].sum() > 0.5 * weight.sum():
            distances[side] = float(np.average(distance[seen], weights=weight[seen]))
    if not distances:
        return replace(contact, reason="feet not seen during the contact")
    side = min(distances, key=lambda name: distances[name])
    if distances[side] > max_cop_distance_m:
        return replace(
            contact,
            side=side,
            reason=f"centre of pressure {100 * distances[side]:.0f} cm from the foot: two feet, or a misplaced plate",
        )
    return replace(contact, side=side)


def distance_to_line(point: Array, start: Array, end: Array) -> Array:
    """Return the horizontal distance (time,) of points from the line between two others, m; y is up."""
    p, a, b = (value[:, [0, 2]] for value in (point, start, end))
    span = b - a
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.clip(((p - a) * span).sum(axis=1) / (span**2).sum(axis=1), 0, 1)
    return np.asarray(np.linalg.norm(p - a - share[:, None] * span, axis=1))


def shared(contact: Contact, time: Array, feet: Feet, other_stances: Sequence[Stance], corners: Array) -> Contact:
    """Return the contact of one plate, refused where the other foot stands on the plate too.

    Args:
        contact: of one plate, with its nearest foot.
        time: (time,), s.
        feet: heel and toe (time, 3) of each side, m.
        other_stances: when the other foot is on the ground.
        corners: (4, 3) of the plate, m.
    """
    other = feet.get(OTHER.get(contact.side, ""))
    if other is None:
        return contact
    loaded = (time >= contact.start_s) & (time <= contact.end_s)
    heel, toe = (point[loaded & on_ground(time, other_stances)] for point in other)
    on_plate = over_plates(heel, corners[None], 0.0) | over_plates(toe, corners[None], 0.0)
    if on_plate.sum() * _step(time) <= SHARED_S:
        return contact
    return replace(contact, side="both", reason="two feet on the plate")


def combine(contacts: Sequence[Contact]) -> list[Contact]:
    """Join good contacts of one foot on several plates at a time into one."""
    joined = [contact for contact in contacts if contact.reason]
    last: Contact | None = None
    for contact in sorted((c for c in contacts if not c.reason), key=lambda c: (c.side, c.start_s)):
        if last and last.side == contact.side and contact.start_s < last.end_s and contact.plates[0] not in last.plates:
            joined.pop()
            contact = Contact(  # noqa: PLW2901 (the joined contact takes the place of its last part)
                (*last.plates, *contact.plates),
                last.start_s,
                max(last.end_s, contact.end_s),
                min(last.from_s, contact.from_s),
                max(last.to_s, contact.to_s),
                contact.side,
                begins=last.begins,
                ends=last.ends if last.end_s > contact.end_s else contact.ends,
            )
        joined.append(contact)
        last = contact
    return joined


def within(contact: Contact, time: Array, feet: Feet, corners: Array, *, edge_margin_m: float) -> Contact:
    """Return the contact, refused where heel or toe stand outside its plates while they are loaded.

    Args:
        contact: of one foot.
        time: (time,), s.
        feet: heel and toe (time, 3) of each side, m.
        corners: (plate, 4, 3) of all plates, m.
        edge_margin_m: how far a marker may stand outside the edge.
    """
    if contact.reason or not contact.side:
        return contact
    mine = corners[list(contact.plates)]
    loaded = (time >= contact.start_s) & (time <= contact.end_s)
    heel, toe = (point[loaded] for point in feet[contact.side])
    seen = np.isfinite(heel).all(axis=1) & np.isfinite(toe).all(axis=1)
    outside = seen & ~(over_plates(heel, mine, edge_margin_m) & over_plates(toe, mine, edge_margin_m))
    if outside.sum() * _step(time) > SHARED_S:
        return replace(contact, reason="foot partly off the plate")
    return contact


def over_plates(point: Array, corners: Array, margin_m: float) -> NDArray[np.bool_]:
    """Return whether points (time, 3) are over one of the plates (plate, 4, 3), grown by a margin; y is up."""
    result = np.zeros(len(point), dtype=bool)
    for quad in corners[:, :, [0, 2]]:
        edges = np.roll(quad, -1, axis=0) - quad
        area = np.sum(quad[:, 0] * np.roll(quad[:, 1], -1) - quad[:, 1] * np.roll(quad[:, 0], -1))
        normal = np.sign(area) * np.stack([-edges[:, 1], edges[:, 0]], axis=1)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            inward = np.einsum("tec,ec->te", point[:, None, [0, 2]] - quad, normal)
            result |= (inward > -margin_m).all(axis=1)
    return result


def _step(time: Array) -> float:
    return float((time[-1] - time[0]) / max(len(time) - 1, 1))
