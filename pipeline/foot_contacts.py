"""Which foot is on which plate, and whether it alone: by where the feet are over the contact."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipeline import plate_contacts as reasons
from pipeline.errors import UserError
from pipeline.events import OFF, STRIKE, GaitEvent, Stance, on_ground
from pipeline.filters import stretches
from pipeline.plate_contacts import Contact, over_plates
from pipeline.plates import centre_of_pressure

Array = NDArray[np.float64]
Choice = Mapping[str, frozenset[int] | None]

OTHER = {"left": "right", "right": "left"}
SHARED_S = 0.05
MOSTLY_AWAY = 0.5  # of a contact
STILL_M_S = 0.4
SHORTEST_REST_S = 0.08
# a foot is at rest a little after its strike, and leaves it before its off: medians over the files of validation.md
STRIKE_LATE_S, OFF_LATE_S = -0.005, -0.042
LOW_PERCENT = 30  # of a gait cycle and more, the toe stands
# the sole from the heel marker on, which is behind it, to the toe tips, in lengths from heel to toe marker
SOLE_STARTS_M, TIP_SHARE = 0.02, 0.3


@dataclass(frozen=True, eq=False)
class Foot:
    """A foot as its markers show it.

    Attributes:
        heel, toe: (time, 3), lab axes, m.
        still: (time,) whether heel or toe is at rest on the ground, or on a belt.
        rests: when it comes to rest and leaves it, s, between frames; only those within the trial.
    """

    heel: Array
    toe: Array
    still: NDArray[np.bool_]
    rests: list[tuple[float, float]]

    @cached_property
    def ahead(self) -> Array:
        """Return the horizontal unit vector (time, 3) from heel to toe."""
        line = (self.toe - self.heel) * [1, 0, 1]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(line / np.hypot(line[:, :1], line[:, 2:]))


Feet = Mapping[str, Foot]


def choice(text: str | None, numbers: Sequence[int], *, side: str) -> frozenset[int] | None:
    """Return the indices of the plates that a cell of trials.tsv names for a foot; None where it says nothing.

    Args:
        text: plate numbers, or ``none`` where the foot met no plate.
        numbers: of the file's plates.
        side: whose it is.

    Raises:
        UserError: it names no plate of the file.
    """
    words = re.split(r"[\s,;]+", (text or "").strip().lower())
    if words[0] in ("", "n/a", "na", "nan"):
        return None
    if words == ["none"]:
        return frozenset()
    here = {str(number): i for i, number in enumerate(numbers)}
    if unknown := [word for word in words if word not in here]:
        plates = f"plates {' '.join(here)}" if here else "no plates"
        raise UserError(
            f"trials.tsv: plates_{side} names plate {unknown[0]}, the file has {plates}; give numbers, or none"
        )
    return frozenset(here[word] for word in words)


def assign(
    contact: Contact, time: Array, force: Array, moment: Array, corners: Array, feet: Feet, chosen: Choice
) -> Contact:
    """Return the contact of one plate with its foot.

    The foot is the one whose line from heel to toe is nearest to the centre of pressure, weighted by the force;
    where the force is not believed, the one that stands there. The user's word comes before.

    Args:
        contact: on one plate; with a reason where its force is not believed.
        time: (time,) of the feet, s.
        force, moment: (time, 3) of the plate at these instants, N, N m about the lab origin.
        corners: (4, 3) of the plate, m.
        feet: of each side.
        chosen: the plates that the user gave to a side; None where nothing was said.
    """
    inside = contact.frames(time)
    weight = np.maximum(force[inside, 1], 0)
    if not weight.size or not (weight.any() or contact.reason):
        return replace(contact, reason=contact.reason or reasons.TOO_SHORT)
    if contact.reason:
        distances = _not_standing(feet, inside, corners)
    else:
        cop, _ = centre_of_pressure(force[inside], moment[inside], corners)
        distances = _distances(feet, inside, cop, weight)
    (plate,) = contact.plates
    named = [side for side, plates in chosen.items() if plates and plate in plates and side in feet]
    nearest = min([side for side in distances if side in named] or distances, key=distances.__getitem__, default="")
    side = named[0] if len(named) == 1 else nearest
    if not side:
        return replace(contact, reason=contact.reason or reasons.UNSEEN)
    contact = replace(contact, side=side, forced=side in named, cop_distance_m=distances.get(side, 0.0))
    if contact.forced and not over_plates(_middle(feet[side], inside), corners[None], 0.0).any():
        return replace(contact, reason=contact.reason or reasons.NOT_OVER)
    if chosen.get(side) is not None and not contact.forced:
        return replace(contact, reason=contact.reason or reasons.LEFT_OUT)
    return contact


def _distances(feet: Feet, inside: slice, cop: Array, weight: Array) -> dict[str, float]:
    """Return the distance of each foot seen from the centre of pressure, weighted by the force, m."""
    distances = {}
    for side, foot in feet.items():
        distance = distance_to_line(cop, foot.heel[inside], foot.toe[inside])
        known = np.isfinite(distance) & np.isfinite(weight)
        counted = weight[known]
        if (total := counted.sum()) > 0.5 * np.nansum(weight):
            distances[side] = float(counted @ distance[known] / total)
    return distances


def _not_standing(feet: Feet, inside: slice, corners: Array) -> dict[str, float]:
    """Return the share of the time in which a foot does not stand over the plate, of feet that mostly do."""
    shares = {
        side: float(1 - (foot.still[inside] & over_plates(_middle(foot, inside), corners[None], 0.0)).mean())
        for side, foot in feet.items()
    }
    return {side: share for side, share in shares.items() if share < MOSTLY_AWAY}


def foot_of(heel: Array, toe: Array, time: Array, *, travel: str) -> Foot:
    """Return a foot from its markers (time, 3), m, of somebody who travels ``forwards``, ``backwards`` or not.

    Who does not may be on a belt, which moves as the toe does while it is low. Walking backwards is taken as walking
    with time reversed: the foot's delays at strike and off change places, and are put back here.
    """
    if len(time) < 2:
        return Foot(heel, toe, np.zeros(len(time), dtype=bool), [])
    velocities = np.gradient(np.stack([heel, toe]), _step(time), axis=1)
    belt = np.zeros(3)
    if travel == "none" and np.isfinite(toe[:, 1]).any():
        low = toe[:, 1] <= np.nanpercentile(toe[:, 1], LOW_PERCENT)
        belt[[0, 2]] = np.nanmedian(velocities[1][low][:, [0, 2]], axis=0)
    speed = np.fmin(*np.sqrt(((velocities - belt) ** 2).sum(axis=-1)))
    still = np.where(np.isfinite(speed), speed, np.inf) < STILL_M_S

    def crossing(after: int) -> float:
        share = (STILL_M_S - speed[after - 1]) / (speed[after] - speed[after - 1])
        return float(time[after - 1] + share * (time[after] - time[after - 1]))

    whole = [
        (a, b)
        for a, b in stretches(still)
        if a > 0 and b < len(time) and np.isfinite(speed[[a - 1, b]]).all() and time[b - 1] - time[a] >= SHORTEST_REST_S
    ]
    delay_s = STRIKE_LATE_S + OFF_LATE_S if travel == "backwards" else 0.0
    return Foot(heel, toe, still, [(crossing(a) + delay_s, crossing(b) + delay_s) for a, b in whole])


def at_rest(foot: Foot) -> list[GaitEvent]:
    """Return foot strikes and offs as the foot's rest tells them: without pelvis, but a little unsure."""
    return [
        GaitEvent(time_s, kind, "kinematic")
        for start, end in foot.rests
        for time_s, kind in ((start - STRIKE_LATE_S, STRIKE), (end - OFF_LATE_S, OFF))
    ]


def _middle(foot: Foot, inside: slice) -> Array:
    return (foot.heel[inside] + foot.toe[inside]) / 2


def distance_to_line(point: Array, start: Array, end: Array) -> Array:
    """Return the horizontal distance (time,) of points from the line between two others, m; y is up."""
    (x, z), (along_x, along_z) = (point - start).T[::2], (end - start).T[::2]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.clip((x * along_x + z * along_z) / (along_x**2 + along_z**2), 0, 1)
    return np.asarray(np.hypot(x - share * along_x, z - share * along_z))


def shared(contact: Contact, time: Array, feet: Feet, other_stances: Sequence[Stance], corners: Array) -> Contact:
    """Return the contact, refused where the other foot stands on one of its plates too.

    Args:
        contact: with its foot.
        time: (time,), s.
        feet: of each side.
        other_stances: when the other foot is on the ground.
        corners: (plate, 4, 3) of all plates, m.
    """
    other = feet.get(OTHER.get(contact.side, ""))
    if other is None or contact.reason:
        return contact
    inside = contact.frames(time)
    stands = on_ground(time[inside], other_stances)
    heel, toe = other.heel[inside], other.toe[inside]
    sole = np.concatenate([heel, toe, toe + TIP_SHARE * (toe - heel)])
    over = over_plates(sole, corners[list(contact.plates)], 0.0).reshape(3, -1).any(axis=0)
    if (stands & over).sum() * _step(time) <= SHARED_S:
        return contact
    return replace(contact, side="both", reason=reasons.TWO_FEET)


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
                forced=last.forced or contact.forced,
                cop_distance_m=max(last.cop_distance_m, contact.cop_distance_m),
            )
        joined.append(contact)
        last = contact
    return joined


def within(contact: Contact, time: Array, feet: Feet, corners: Array, *, edge_margin_m: float) -> Contact:
    """Return the contact, refused where heel or toe stand outside its plates while they are loaded.

    Args:
        contact: of one foot.
        time: (time,), s.
        feet: of each side.
        corners: (plate, 4, 3) of all plates, m.
        edge_margin_m: how far the back of the sole or the toe marker may stand outside the edge.
    """
    if contact.reason or not contact.side or contact.forced:
        return contact
    mine, foot = corners[list(contact.plates)], feet[contact.side]
    inside = contact.frames(time)
    ends = np.stack([foot.heel[inside] + SOLE_STARTS_M * foot.ahead[inside], foot.toe[inside]])
    seen = foot.still[inside] & np.isfinite(ends).all(axis=(0, 2))
    over = over_plates(ends.reshape(-1, 3), mine, edge_margin_m).reshape(2, -1).all(axis=0)
    if (seen & ~over).sum() * _step(time) > SHARED_S:
        return replace(contact, reason=reasons.PARTLY_OFF)
    return contact


def _step(time: Array) -> float:
    return float((time[-1] - time[0]) / max(len(time) - 1, 1))
