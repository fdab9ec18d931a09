"""Step ``cycles``: one gait cycle per row, from foot strike to foot strike, 0-100 %, with its metrics and verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.events import LONGEST_SWING_S
from pipeline.spatiotemporal import Heels, belt_speed, peaks, spatiotemporal
from pipeline.vocabulary import METRICS

Array = NDArray[np.float64]
PHASE = np.arange(101.0)
SIDES = ("left", "right")
JOINTS = ("ankle", "knee", "hip")
STANDARD_GRAVITY = 9.80665


class Cycle(NamedTuple):
    """A gait cycle of one side: its strikes and the foot off between them (NaN where none was seen), s."""

    side: str
    start_s: float
    off_s: float
    end_s: float


def cycles(
    kinetics: xr.Dataset,
    kinematics: xr.Dataset,
    contacts: xr.Dataset,
    clean: xr.Dataset,
    calibrate: xr.Dataset,
    *,
    longest_cycle_s: float,
    min_peak_force_body_weights: float,
    belt_speed_m_s: float | None = None,
) -> xr.Dataset:
    """Cut a trial into gait cycles.

    Args:
        kinetics, kinematics, contacts, clean: the trial.
        calibrate: the session's model, for the body mass.
        longest_cycle_s: longest time between two strikes of one side that counts as a cycle.
        min_peak_force_body_weights: smallest peak of vertical force of a stance whose kinetics are believed.
        belt_speed_m_s: speed of the treadmill; None estimates it from the stance feet where nobody travels.

    Returns:
        Curves (cycle, ..., phase) of angles in degrees and of moments, forces and powers per body mass; metrics
        (cycle); coordinates side, start and end time, validity and reason. Every stance of the trial with its
        verdict along ``stance``. Kinetics of a stance that cannot be used are NaN.
    """
    mass = float(calibrate.attrs["body_mass_kg"])
    stance = _stances(kinetics, contacts, clean, calibrate, min_peak_force_body_weights)
    found = _cycles(contacts, longest_cycle_s)
    used = [_stance_of(cycle, stance) for cycle in found]
    valid = np.array([reason == "" for reason in used], dtype=bool)
    curves = {name: _curves(dataset[name], found, valid, mass) for name, dataset in (
        ("joint_angle", kinematics), ("joint_moment_jcs", kinetics), ("joint_force", kinetics),
        ("joint_power", kinetics), ("ground_force", contacts),
    )}  # fmt: skip
    metrics = _metrics({name: values for name, (_, values) in curves.items()}, found, clean, contacts, belt_speed_m_s)
    return xr.Dataset(
        {**curves, **metrics, "stance_start": ("stance", stance.start), "stance_end": ("stance", stance.end)},
        {
            "joint": kinetics.joint,
            "angle": kinetics.angle,
            "axis": kinetics.axis,
            "phase": PHASE,
            "side": ("cycle", np.array([cycle.side for cycle in found], dtype=str)),
            "start_time": ("cycle", np.array([cycle.start_s for cycle in found], dtype=float)),
            "end_time": ("cycle", np.array([cycle.end_s for cycle in found], dtype=float)),
            "kinetics_valid": ("cycle", valid),
            "reason": ("cycle", np.array(used, dtype=str)),
            "stance_side": ("stance", stance.side),
            "stance_plates": ("stance", stance.plates),
            "stance_reason": ("stance", stance.reason),
        },
    )


class _StanceTable(NamedTuple):
    start: Array
    end: Array
    side: NDArray[np.str_]
    plates: NDArray[np.str_]
    reason: NDArray[np.str_]


def _stances(
    kinetics: xr.Dataset, contacts: xr.Dataset, clean: xr.Dataset, calibrate: xr.Dataset, least_body_weights: float
) -> _StanceTable:
    """Return every stance with the reason why its kinetics cannot be used; empty where they can."""
    time, force = contacts.time.values, contacts.ground_force.values
    mass = float(calibrate.attrs["body_mass_kg"])
    ankle = kinetics.joint_moment.values[:, :, JOINTS.index("ankle")]
    sides, starts, ends = contacts.contact_side.values, contacts.contact_start.values, contacts.contact_end.values
    reasons = [str(reason) for reason in contacts.reason.values]
    for i in (i for i, reason in enumerate(reasons) if not reason):
        side = SIDES.index(str(sides[i]))
        inside = (time >= starts[i]) & (time <= ends[i])
        whole = starts[i] > time[0] and ends[i] < time[-1]
        peak = float(np.max(force[inside, side, 1], initial=0)) / (mass * STANDARD_GRAVITY)
        if whole and peak < least_body_weights:
            reasons[i] = f"peak vertical force only {peak:.2f} body weights"
        elif not np.isfinite(ankle[inside, side]).all():
            reasons[i] = _hidden(clean, calibrate, str(sides[i]), starts[i], ends[i])
    return _StanceTable(
        starts,
        ends,
        sides.astype(str),
        contacts.plates.values.astype(str),
        np.array(reasons, dtype=str),
    )


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


def _cycles(contacts: xr.Dataset, longest_s: float) -> list[Cycle]:
    table = list(zip(contacts.event_time.values, contacts.event.values, contacts.event_side.values, strict=True))
    found = []
    for side in SIDES:
        strikes = [t for t, kind, of in table if kind == "foot_strike" and of == side]
        offs = np.array([t for t, kind, of in table if kind == "foot_off" and of == side])
        for start, end in zip(strikes, strikes[1:], strict=False):
            between = offs[(offs > start) & (offs < end)]
            swing = end - between[-1] if len(between) else 0.0
            if end - start <= longest_s and len(between) <= 1 and swing <= LONGEST_SWING_S:
                found.append(Cycle(side, float(start), float(between[0]) if len(between) else np.nan, float(end)))
    return sorted(found, key=lambda cycle: cycle.start_s)


def _stance_of(cycle: Cycle, stances: _StanceTable) -> str:
    """Return why the cycle's kinetics cannot be used, from the stance it starts with; empty where they can."""
    mine = np.flatnonzero((stances.side == cycle.side) & (np.abs(stances.start - cycle.start_s) < 0.05))
    return str(stances.reason[mine[0]]) if mine.size else "no stance at the start of the cycle"


def _resampled(values: Array, time: Array, cycle: Cycle) -> Array:
    """Return (..., 101) of a quantity (time, ...) over a cycle, linear between frames.

    Where the frame after the cycle's end is missing (the next stance may not be known), the last one is kept.
    """
    instants = cycle.start_s + PHASE / 100 * (cycle.end_s - cycle.start_s)
    right = np.clip(np.searchsorted(time, instants), 1, len(time) - 1)
    share = np.clip((instants - time[right - 1]) / (time[right] - time[right - 1]), 0, 1)
    share = share.reshape(-1, *[1] * (values.ndim - 1))
    # where an instant is a frame itself, a missing neighbour must not reach it
    low = np.where(share == 1, 0, values[right - 1]) * (1 - share)
    high = np.where(share == 0, 0, values[right]) * share
    result = low + high
    last = np.searchsorted(time, cycle.end_s + 1e-9, side="right") - 1
    late = instants > time[last]
    result[late] = np.where(np.isnan(result[late]), values[last], result[late])
    return np.moveaxis(result, 0, -1)


def _curves(
    quantity: xr.DataArray, found: Sequence[Cycle], valid: NDArray[np.bool_], mass: float
) -> tuple[tuple[str, ...], Array]:
    """Return dimensions and values (cycle, ..., phase): angles as they are, kinetics per body mass where valid."""
    dims = ("cycle", *(str(dim) for dim in quantity.dims[2:]), "phase")
    values = quantity.values
    if not found:
        return dims, np.empty((0, *values.shape[2:], len(PHASE)))
    rows = np.stack([_resampled(values[:, SIDES.index(cycle.side)], quantity.time.values, cycle) for cycle in found])
    if quantity.name != "joint_angle":
        rows /= mass
        rows[~valid] = np.nan
    return dims, rows


def _metrics(
    curves: Mapping[str, Array],
    found: Sequence[Cycle],
    clean: xr.Dataset,
    contacts: xr.Dataset,
    belt_speed_m_s: float | None,
) -> dict[str, tuple[str, Array]]:
    heels = Heels.of(clean)
    speed = (
        belt_speed(heels, contacts, clean.attrs["direction_of_travel"]) if belt_speed_m_s is None else belt_speed_m_s
    )
    rows = []
    for i, cycle in enumerate(found):
        share = 100 * (cycle.off_s - cycle.start_s) / (cycle.end_s - cycle.start_s)
        mine = {name: values[i] for name, values in curves.items()}
        covered = spatiotemporal(heels, **cycle._asdict(), belt_speed_m_s=speed)
        rows.append(covered | peaks(mine, stance_share=share))
    return {name: ("cycle", np.array([row[name] for row in rows], dtype=float)) for name in METRICS}
