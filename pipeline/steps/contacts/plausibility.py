"""Rejection of contacts with a wrong time, place or wrench for a step of their foot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import numpy as np
from numpy.typing import NDArray

from .feet import OFF_LATE_S, STRIKE_LATE_S, Feet, Foot
from .plate_contacts import COP_AWAY, DRIFT, LEVER_ARM, PUSH_FIRST, TIME_OFFSET, Contact
from .plate_placement import shifted_plates
from .single_steps import Step

Array = NDArray[np.float64]

BOTH_ENDS_S, ONE_END_S = 0.005, 0.08
OWN_DELAY_S = 0.025  # largest deviation of a person from the usual delay; 18 ms in the files of validation.md
ANKLE_SHARE, ANKLE_HEIGHT_M = 0.25, 0.06
PUSH_SHARE = 0.04


def time_offsets(contacts: Sequence[Contact], feet: Feet) -> dict[tuple[int, ...], float]:
    """Return by how many seconds plates are ahead of the markers, by plates.

    A foot on the ground is at rest, with a usual delay. A plate is out of time if start and end of its contacts are
    both early or both late relative to that rest (median over the contacts); one end alone may be a foot partly off
    the plate. The delay differs between people but hardly between plates: so the offset is also taken relative to the
    trial's best plate, and the larger one counts. For contacts cut off by the trial one end is enough, at 80 ms.

    Args:
        contacts: of one foot each.
        feet: by side.
    """
    listed: dict[tuple[int, ...], list[tuple[float, float]]] = {}
    for contact in contacts:
        rest = _rest(contact, feet[contact.side]) if contact.side in feet else None
        if rest:
            start = rest[0] - contact.start_s - STRIKE_LATE_S if contact.begins else np.nan
            end = rest[1] - contact.end_s - OFF_LATE_S if contact.ends else np.nan
            listed.setdefault(contact.plates, []).append((start, end))
    lags = {plates: _lag(np.array(both_ends)) for plates, both_ends in listed.items()}
    whole = [lag for lag in lags.values() if np.isfinite(lag).all()]
    own = min(whole, key=lambda lag: abs(lag.mean()), default=np.zeros(2))
    own = own if abs(own.mean()) < OWN_DELAY_S else np.zeros(2)
    return {plates: max(_offset(lag), _offset(lag - own), key=abs) for plates, lag in lags.items()}


def _lag(lags: Array) -> Array:
    """Return the median lags of start and end of (whole) contacts (contact, 2)."""
    whole = lags[np.isfinite(lags).all(axis=1)]
    if whole.size:
        return np.array([median(ends) for ends in whole.T])
    one = lags[np.isfinite(lags)]
    return np.array([np.nan, median(one) if one.size else 0.0])


def _offset(lag: Array) -> float:
    """Return the offset from lags of start (NaN if cut off by the trial) and end."""
    start, end = lag
    if np.isnan(start):
        return float(end) if abs(end) > ONE_END_S else 0.0
    together = start * end > 0 and min(abs(start), abs(end)) >= BOTH_ENDS_S
    return float(start + end) / 2 if together else 0.0


def _rest(contact: Contact, foot: Foot) -> tuple[float, float] | None:
    """Return start and end, s, of the rest that overlaps a contact most."""

    def overlap(rest: tuple[float, float]) -> float:
        return min(rest[1], contact.end_s) - max(rest[0], contact.start_s)

    best = max(foot.rests, key=overlap, default=None)
    return best if best and overlap(best) > 0 else None


def reject_out_of_time(contacts: Sequence[Contact], feet: Feet, *, max_time_offset_s: float) -> list[Contact]:
    """Return the contacts, rejected if the time offset of their plate is too large."""
    offsets = time_offsets([contact for contact in contacts if not contact.reason], feet)
    return [
        replace(contact, reason=f"contact {1000 * abs(offset):.0f} {TIME_OFFSET}")
        if not contact.reason and abs(offset := offsets.get(contact.plates, 0.0)) > max_time_offset_s
        else contact
        for contact in contacts
    ]


def reject_shifted(
    contacts: Sequence[Contact], time: Array, steps: Sequence[Step], numbers: Sequence[int]
) -> list[Contact]:
    """Return the contacts, rejected if their plate seems shifted.

    Args:
        contacts: after all other checks; only steps that are good contacts count.
        time: (time,), s.
        steps: see :func:`pipeline.steps.contacts.plate_placement.misread_plates`.
        numbers: of the plates.
    """
    good = [contact for contact in contacts if not contact.reason]
    whole = [
        step
        for step in steps
        if any(row.plates == (step.plate,) and row.start_s < time[step.frame] < row.end_s for row in good)
    ]
    shifted = shifted_plates(whole, numbers)
    verdicts = [next((shifted[plate] for plate in contact.plates if plate in shifted), "") for contact in contacts]
    return [
        replace(contact, reason=contact.reason or verdict) for contact, verdict in zip(contacts, verdicts, strict=True)
    ]


def reject_drifting(contacts: Sequence[Contact], drift: Array, *, max_drift_n: float) -> list[Contact]:
    """Return the contacts, rejected if a plate's unknown drift is too large.

    Args:
        contacts: of one plate or more.
        drift: (plate,) unknown drift, N; NaN if the plate is never unloaded.
        max_drift_n: largest allowed.
    """
    worst = [float(np.fmax.reduce(np.abs(drift[list(contact.plates)]), initial=0.0)) for contact in contacts]
    return [
        replace(contact, reason=f"{DRIFT} {drifted:.0f} N") if not contact.reason and drifted > max_drift_n else contact
        for contact, drifted in zip(contacts, worst, strict=True)
    ]


def reject_implausible(
    contact: Contact,
    time: Array,
    force: Array,
    moment: Array,
    foot: Foot | None,
    *,
    max_cop_distance_m: float,
    max_lever_arm_m: float,
    forwards: bool,
) -> Contact:
    """Return the contact, rejected if its force cannot be that of a step of this foot.

    Args:
        contact: of one foot.
        time: (time,), s.
        force, moment: (time, 3) of its plates together, N, N m about the lab origin.
        foot: the foot.
        max_cop_distance_m: largest distance of the centre of pressure from the line heel-toe, m.
        max_lever_arm_m: largest median distance of the force's line from the ankle, while loaded.
        forwards: whether the person walks forwards, so that a step brakes before it pushes.
    """
    if contact.reason or contact.forced or foot is None:
        return contact
    if contact.cop_distance_m > max_cop_distance_m:
        away = f"centre of pressure {100 * contact.cop_distance_m:.0f} {COP_AWAY}"
        return replace(contact, reason=away)
    inside = contact.frames(time)
    time, force, moment, heel, toe = (of[inside] for of in (time, force, moment, foot.heel, foot.toe))
    loaded = force[:, 1] > 0.5 * np.max(force[:, 1], initial=0.0)
    ankle = (heel + ANKLE_SHARE * (toe - heel) + [0, ANKLE_HEIGHT_M, 0])[loaded]
    about_ankle = moment[loaded] - np.cross(ankle, force[loaded])
    arm = np.linalg.norm(about_ankle, axis=1) / np.linalg.norm(force[loaded], axis=1)
    arm = arm[np.isfinite(arm)]
    if arm.size and (lever := float(np.median(arm))) > max_lever_arm_m:
        return replace(contact, reason=f"force {100 * lever:.0f} {LEVER_ARM}")
    fore = (force * foot.ahead[inside]).sum(axis=1)
    middle = (contact.start_s + contact.end_s) / 2
    halves = [half & np.isfinite(fore) for half in (time < middle, time >= middle)]
    if forwards and contact.begins and contact.ends and all(half.any() for half in halves):
        first, second = (fore[half].sum() / force[half, 1].sum() for half in halves)
        if first > PUSH_SHARE and second < -PUSH_SHARE:
            return replace(contact, reason=PUSH_FIRST)
    return contact
