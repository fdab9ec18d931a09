"""Step ``cycles``: one gait cycle per row, from foot strike to foot strike, 0-100 %, with its metrics and verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.spatiotemporal import belt_speed, peaks, spatiotemporal
from pipeline.vocabulary import METRICS

Array = NDArray[np.float64]
PHASE = np.arange(101.0)
CURVES = {"joint_angle": ("joint", "angle"), "joint_moment_jcs": ("joint", "angle"), "joint_force": ("joint", "axis"),
          "joint_power": ("joint",), "ground_force": ("axis",)}  # fmt: skip
KINETIC = ("joint_moment_jcs", "joint_force", "joint_power", "ground_force")


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
    stance = _stances(contacts, kinetics, mass, min_peak_force_body_weights)
    found = _cycles(contacts, longest_cycle_s)
    used = [_stance_of(cycle, stance) for cycle in found]
    merged = xr.merge(
        [kinematics[["joint_angle"]], kinetics[["joint_moment_jcs", "joint_force", "joint_power"]], contacts[["ground_force"]]],
        join="override",
        combine_attrs="drop",
    )
    curves = {}
    for name, dims in CURVES.items():
        values = merged[name].transpose("time", "side", *dims).values / (mass if name in KINETIC else 1.0)
        rows = [_resampled(values[:, _index(cycle.side)], merged.time.values, cycle) for cycle in found]
        empty = np.empty((0, *values.shape[2:], len(PHASE)))
        curves[name] = (("cycle", *dims, "phase"), np.stack(rows) if rows else empty)
    result = xr.Dataset(
        curves, {"phase": PHASE, "joint": kinetics.joint, "angle": kinetics.angle, "axis": kinetics.axis}
    )
    valid = np.array([reason == "" for reason in used], dtype=bool)
    for name in KINETIC:
        result[name] = result[name].where(xr.DataArray(valid, dims="cycle"))
    result = result.assign(_metrics(result, found, clean, contacts, belt_speed_m_s))
    return result.assign(
        stance_start=("stance", stance.start), stance_end=("stance", stance.end)
    ).assign_coords(
        side=("cycle", np.array([cycle.side for cycle in found], dtype=str)),
        start_time=("cycle", np.array([cycle.start_s for cycle in found], dtype=float)),
        end_time=("cycle", np.array([cycle.end_s for cycle in found], dtype=float)),
        kinetics_valid=("cycle", valid),
        reason=("cycle", np.array(used, dtype=str)),
        stance_side=("stance", stance.side),
        stance_plates=("stance", stance.plates),
        stance_reason=("stance", stance.reason),
    )  # fmt: skip


class _StanceTable(NamedTuple):
    start: Array
    end: Array
    side: NDArray[np.str_]
    plates: NDArray[np.str_]
    reason: NDArray[np.str_]


def _stances(contacts: xr.Dataset, kinetics: xr.Dataset, mass: float, least_body_weights: float) -> _StanceTable:
    """Return every stance with the reason why its kinetics cannot be used; empty where they can."""
    reasons = []
    time = contacts.time.values
    for i in range(contacts.sizes["contact"]):
        row = contacts.isel(contact=i)
        reason = str(row.reason.item())
        side = str(row.contact_side.item())
        if not reason:
            inside = (time >= float(row.contact_start)) & (time <= float(row.contact_end))
            peak = float(np.max(contacts.ground_force.sel(side=side, axis="y").values[inside], initial=0)) / (mass * 9.81)
            moment = kinetics.joint_moment.sel(side=side, joint="ankle").values[inside]
            if peak < least_body_weights:
                reason = f"peak vertical force only {peak:.2f} body weights"
            elif not np.isfinite(moment).all():
                reason = "markers of foot or shank missing during the stance"
        reasons.append(reason)
    return _StanceTable(
        contacts.contact_start.values,
        contacts.contact_end.values,
        contacts.contact_side.values.astype(str),
        contacts.plates.values.astype(str),
        np.array(reasons, dtype=str),
    )


def _cycles(contacts: xr.Dataset, longest_s: float) -> list[Cycle]:
    table = list(
        zip(contacts.event_time.values, contacts.event.values, contacts.event_side.values, strict=True)
    )
    found = []
    for side in ("left", "right"):
        strikes = [t for t, kind, of in table if kind == "foot_strike" and of == side]
        offs = np.array([t for t, kind, of in table if kind == "foot_off" and of == side])
        for start, end in zip(strikes, strikes[1:], strict=False):
            between = offs[(offs > start) & (offs < end)]
            if end - start <= longest_s and len(between) <= 1:
                found.append(Cycle(side, float(start), float(between[0]) if len(between) else np.nan, float(end)))
    return sorted(found, key=lambda cycle: cycle.start_s)


def _stance_of(cycle: Cycle, stances: _StanceTable) -> str:
    """Return why the cycle's kinetics cannot be used, from the stance it starts with; empty where they can."""
    mine = np.flatnonzero((stances.side == cycle.side) & (np.abs(stances.start - cycle.start_s) < 0.05))
    return str(stances.reason[mine[0]]) if mine.size else "no stance at the start of the cycle"


def _resampled(values: Array, time: Array, cycle: Cycle) -> Array:
    """Return (..., 101) of a quantity (time, ...) over a cycle, linear between frames."""
    instants = cycle.start_s + PHASE / 100 * (cycle.end_s - cycle.start_s)
    right = np.clip(np.searchsorted(time, instants), 1, len(time) - 1)
    share = np.clip((instants - time[right - 1]) / (time[right] - time[right - 1]), 0, 1)
    share = share.reshape(-1, *[1] * (values.ndim - 1))
    # where an instant is a frame itself, a missing neighbour must not reach it
    low = np.where(share == 1, 0, values[right - 1]) * (1 - share)
    high = np.where(share == 0, 0, values[right]) * share
    return np.moveaxis(low + high, 0, -1)


def _metrics(
    curves: xr.Dataset, found: Sequence[Cycle], clean: xr.Dataset, contacts: xr.Dataset, belt_speed_m_s: float | None
) -> dict[str, tuple[str, Array]]:
    speed = belt_speed(clean, contacts) if belt_speed_m_s is None else belt_speed_m_s
    rows = []
    for i, cycle in enumerate(found):
        own = {"side": cycle.side, "start_s": cycle.start_s, "off_s": cycle.off_s, "end_s": cycle.end_s}
        share = 100 * (cycle.off_s - cycle.start_s) / (cycle.end_s - cycle.start_s)
        rows.append(spatiotemporal(clean, belt_speed_m_s=speed, **own) | peaks(curves.isel(cycle=i), stance_share=share))
    return {name: ("cycle", np.array([row[name] for row in rows], dtype=float)) for name in METRICS}


def _index(side: str) -> int:
    return ("left", "right").index(side)
