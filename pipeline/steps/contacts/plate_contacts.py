"""Contacts in the vertical force of a plate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...signals.filters import interval_s, stretches
from ...variables.stance_verdicts import Verdict

Given = Mapping[str, frozenset[int] | None]  # by side the plates that a foot met; None if nobody says

BRIDGED_S = 0.02  # a foot that bounces at its strike; a swing lasts 0.3 s
HYSTERESIS = 0.5  # share of the threshold; a contact lasts while the force is above
NOISE_SIGMAS = 3.0
VIBRATION_SIGMAS = 5.0  # exceeded by noise once in millions of samples
QUIET_N = 40.0  # largest reading of an unloaded plate


@dataclass(frozen=True)
class Contact:
    """A load on one plate, or of one foot on several plates."""

    plates: tuple[int, ...]  # indices of the plates
    # start_s, end_s: when the vertical force crosses the threshold
    start_s: float
    end_s: float
    # from_s, to_s: when it meets the noise floor; the wrench counts in between
    from_s: float
    to_s: float
    side: str = ""  # the foot, ``both`` if two share the plate, empty if none is near
    reason: Verdict | None = None  # why the force cannot be used; None if it can
    doubts: tuple[Verdict, ...] = ()  # why the force is doubted
    # begins, ends: whether start and end are within the trial
    begins: bool = True
    ends: bool = True
    forced: bool = False  # whether trials.tsv assigns the plate to the foot
    cop_distance_m: float = 0.0  # mean distance of the centre of pressure from the foot, weighted by the force
    plate_chance: float = math.nan  # of such steps on a sound plate, of :mod:`.plate_faults.laws`
    rest_lead_s: float = math.nan  # by how much later than usual its foot rests, see :mod:`.time_offset`

    def refuse(self, code: str, **values: object) -> Contact:
        """Return the contact with a reason against it, unless it has one already."""
        return self if self.reason else replace(self, reason=Verdict.of(code, **values))

    def doubted(self, code: str, **values: object) -> Contact:
        """Return the contact with one more doubt about it."""
        return replace(self, doubts=(*self.doubts, Verdict.of(code, **values)))

    @property
    def timed(self) -> bool:
        """Return whether it begins and ends with the stance of its foot, although the foot may be hidden."""
        return not self.reason or (self.side != "" and self.reason.code == "feet_not_seen")

    def frames(self, time: Array) -> slice:
        """Return the samples (time,), s, from its start to its end."""
        return between(time, self.start_s, self.end_s)


class Loaded(NamedTuple):
    """A contact's force, moment (time, 3), N, N m about the lab origin, and the corners (4, 3), m, of its plate."""

    contact: Contact
    force: Array
    moment: Array
    corners: Array


def with_loads(contacts: Iterable[Contact], data: Mapping[str, NDArray[Any]]) -> list[Loaded]:
    """Return contacts with the loads of their plates together.

    Args:
        data: variables of the step ``clean``, by name.
    """
    loaded = []
    for one in contacts:
        first, *more = one.plates
        force, moment = (
            of[:, list(one.plates)].sum(axis=1) if more else of[:, first]
            for of in (data["plate_force"], data["plate_moment"])
        )
        loaded.append(Loaded(one, force, moment, data["plate_corner"][first]))
    return loaded


def between(time: Array, start_s: float, end_s: float) -> slice:
    """Return the samples (time,), s, from a start to an end, both included."""
    return slice(int(time.searchsorted(start_s)), int(time.searchsorted(end_s, side="right")))


def detect(
    time: Array, vertical: Array, smooth: Array, plate: int, *, threshold_n: float, min_contact_s: float
) -> list[Contact]:
    """Return the contacts of one plate.

    In a contact the unfiltered force rises above the threshold and stays above half of it; it starts and ends where
    the force crosses the threshold first and last. The threshold is at least five standard deviations of the unloaded
    plate, which may vibrate. The wrench counts from and to where the filtered vertical force meets the noise floor
    (three standard deviations), but not into the next contact.

    Args:
        time: (sample,), s.
        vertical: (sample,) unfiltered vertical force without baseline, N.
        smooth: (sample,) filtered vertical force, N.
        plate: index of the plate.
        threshold_n: vertical force that counts as contact.
        min_contact_s: shortest contact; one that an end of the recording cuts off may be shorter.
    """
    if len(time) < 2:
        return []
    step = interval_s(time)
    missing = np.isnan(vertical)
    threshold = max(threshold_n, VIBRATION_SIGMAS * _estimate_spread(vertical[np.abs(vertical) < QUIET_N]))
    loaded = _find_loaded(vertical, threshold, step)
    runs = [(a, b) for a, b in stretches(loaded) if a == 0 or b == len(time) or (b - a) * step >= min_contact_s]
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
                reason=Verdict.of("plate_signal_missing") if missing[max(start - 1, 0) : stop + 1].any() else None,
                begins=start > 0,
                ends=stop < len(time),
            )
        )
    return contacts


def _find_loaded(vertical: Array, threshold: float, step: float) -> Flags:
    """Return which samples belong to a contact; gaps of less than 20 ms are bridged."""
    above, held = vertical > threshold, vertical > HYSTERESIS * threshold
    loaded = np.zeros(len(vertical), dtype=bool)
    for start, stop in stretches(held):
        over = np.flatnonzero(above[start:stop])
        if over.size:
            loaded[start + over[0] : start + over[-1] + 1] = True
    for start, stop in stretches(~loaded):
        if start > 0 and stop < len(loaded) and (stop - start) * step < BRIDGED_S:
            loaded[start:stop] = True
    return loaded


def _noise_floor(smooth: Array, runs: Sequence[tuple[int, int]]) -> float:
    free = np.ones(len(smooth), dtype=bool)
    for start, stop in runs:
        width = (stop - start) // 4
        free[max(start - width, 0) : stop + width] = False
    return NOISE_SIGMAS * _estimate_spread(smooth[free])


def _estimate_spread(values: Array) -> float:
    """Return the standard deviation of noise, by the median absolute deviation."""
    return 1.4826 * float(np.median(np.abs(values - np.median(values)))) if len(values) >= 10 else 0.0
