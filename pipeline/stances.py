"""Which stances of a trial have kinetics that can be believed, with the reason where not, and the trial's checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.errors import UserError
from pipeline.leg import SIDES

Array = NDArray[np.float64]
STANDARD_GRAVITY = 9.80665
SAME_STRIKE_S = 0.05


@dataclass(frozen=True)
class Stances:
    """Every stance of a trial.

    Attributes:
        start, end: (stance,), s.
        side, plates, reason: (stance,) text; the reason is empty where the kinetics can be used.
        disagreement: (stance,), largest difference between the formulations of the trial's joint moments, N m.
        forward_closure: (stance, joint), of the stance's side, degrees.
        energy_closure: (stance, segment), of the stance's side, W.
    """

    start: Array
    end: Array
    side: NDArray[np.str_]
    plates: NDArray[np.str_]
    reason: NDArray[np.str_]
    disagreement: Array
    forward_closure: Array
    energy_closure: Array

    def variables(self) -> dict[str, Any]:
        """Return what cycles.nc stores along ``stance``."""
        return {
            "stance_start": ("stance", self.start),
            "stance_end": ("stance", self.end),
            "stance_disagreement": ("stance", self.disagreement),
            "stance_forward_closure": (("stance", "joint"), self.forward_closure),
            "stance_energy_closure": (("stance", "segment"), self.energy_closure),
        }

    def coordinates(self) -> dict[str, Any]:
        """Return the texts that go with them."""
        texts = {"stance_side": self.side, "stance_plates": self.plates, "stance_reason": self.reason}
        return {name: ("stance", text) for name, text in texts.items()}

    def reason_of(self, side: str, start_s: float) -> str:
        """Return why the kinetics of a cycle that starts with a stance cannot be used; empty where they can."""
        mine = np.flatnonzero((self.side == side) & (np.abs(self.start - start_s) < SAME_STRIKE_S))
        return str(self.reason[mine[0]]) if mine.size else "no stance at the start of the cycle"


BY_HAND = "left out by hand: "


def by_hand(
    starts: Mapping[str, Sequence[float]], left_out: Sequence[tuple[str, float, str]]
) -> dict[tuple[str, float], str]:
    """Return the reasons of the cycles that the user leaves out, by side and start.

    Args:
        starts: starts of the trial's cycles by side, s.
        left_out: side, start in s (to 0.05 s) and reason, of cycles.tsv.

    Raises:
        UserError: no cycle of that side starts there.
    """
    found = {}
    for side, start_s, reason in left_out:
        near = [start for start in starts[side] if abs(start - start_s) < SAME_STRIKE_S]
        if not near:
            there = ", ".join(f"{start:.2f}" for start in starts[side]) or "none"
            raise UserError(
                f"cycles.tsv: no {side} cycle starts at {start_s:g} s; correct start_s, cycles of that side start at "
                f"{there} s, or remove the row"
            )
        found[side, min(near, key=lambda start: abs(start - start_s))] = BY_HAND + reason
    return found


def without(stances: Stances, reasons: Mapping[tuple[str, float], str]) -> Stances:
    """Return the stances with those that begin a cycle left out by hand rejected for that reason."""
    texts = [str(text) for text in stances.reason]
    for (side, start_s), reason in reasons.items():
        for i in np.flatnonzero((stances.side == side) & (np.abs(stances.start - start_s) < SAME_STRIKE_S)):
            texts[i] = reason
    return replace(stances, reason=np.array(texts, dtype=str))


def judged(
    kinetics: xr.Dataset,
    contacts: xr.Dataset,
    clean: xr.Dataset,
    calibrate: xr.Dataset,
    *,
    min_peak_force_body_weights: float,
    max_disagreement_n_m: float,
) -> Stances:
    """Return every stance with its verdict; arguments as of the step ``cycles``."""
    sides, starts, ends = contacts.contact_side.values, contacts.contact_start.values, contacts.contact_end.values
    disagreement = float(kinetics.disagreement.sel(load="moment").max())
    reasons = [str(reason) for reason in contacts.reason.values]
    for i in (i for i, reason in enumerate(reasons) if not reason):
        if disagreement > max_disagreement_n_m:
            reasons[i] = f"the formulations of the joint moments differ by {disagreement:.1e} N m"
        else:
            reasons[i] = _reason(
                kinetics, contacts, clean, calibrate, str(sides[i]), starts[i], ends[i], min_peak_force_body_weights
            )
    row = [SIDES.index(str(side)) for side in sides]
    closure = np.sqrt((kinetics.forward_closure.values**2).mean(axis=-1))
    return Stances(
        starts,
        ends,
        sides.astype(str),
        contacts.plates.values.astype(str),
        np.array(reasons, dtype=str),
        np.full(len(row), disagreement),
        closure[row],
        kinetics.energy_closure.values[row],
    )


def _reason(
    kinetics: xr.Dataset,
    contacts: xr.Dataset,
    clean: xr.Dataset,
    calibrate: xr.Dataset,
    side: str,
    start_s: float,
    end_s: float,
    least_body_weights: float,
) -> str:
    """Return why a stance that stands well on its plates cannot be used for kinetics; empty where it can."""
    time, column = contacts.time.values, SIDES.index(side)
    inside = (time >= start_s) & (time <= end_s)
    weight = float(calibrate.attrs["body_mass_kg"]) * STANDARD_GRAVITY
    peak = float(np.max(contacts.ground_force.values[inside, column, 1], initial=0)) / weight
    whole = start_s > time[0] and end_s < time[-1]
    if whole and peak < least_body_weights:
        return f"peak vertical force only {peak:.2f} body weights"
    ankle = kinetics.joint_moment.sel(joint="ankle").values[inside, column]
    return "" if np.isfinite(ankle).all() else _hidden(clean, calibrate, side, start_s, end_s)


def _hidden(clean: xr.Dataset, calibrate: xr.Dataset, side: str, start_s: float, end_s: float) -> str:
    """Return which markers of a side are not seen in a stance: absent ones of the clusters, and those with gaps."""
    other = {"left": "_right", "right": "_left"}[side]
    inside = (clean.time.values >= start_s) & (clean.time.values <= end_s)
    names = [str(name) for name in clean.marker.values]
    gaps = [name for i, name in enumerate(names) if np.isnan(clean.marker_position.values[inside, i]).any()]
    own = calibrate.cluster_marker.values[calibrate.cluster_side.values == side]
    absent = [f"{name}_{side}" for name in own if f"{name}_{side}" in clean.attrs["landmarks_absent"].split()]
    hidden = sorted({name for name in (*gaps, *absent) if not name.endswith(other)})
    return f"markers not seen during the stance: {', '.join(hidden) or 'too few'}; fill the gap or use another trial"
