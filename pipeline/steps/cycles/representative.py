"""The trial that the report shows in motion: the nearest to a session's means."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...conventions import SIDES
from ...results.averages import Array, average
from ...results.cycle_variables import MARGIN_S, REPRESENTATIVE, SHOWN_LANDMARKS
from ...results.trials import one_trial


def representative(
    cycles: xr.Dataset,
    kinetics: xr.Dataset,
    kinematics: xr.Dataset,
    contacts: xr.Dataset,
    clean: xr.Dataset,
    *,
    conditions: Mapping[str, str],
) -> xr.Dataset:
    """Return one trial of a session around one gait cycle of each side.

    Trials with kinetics on both sides come first. Among these, the trial is chosen that is nearest to the mean flexion
    angles and moments of the session's cycles of the same side and condition.

    Args:
        cycles, kinetics, kinematics, contacts, clean: the session.
        conditions: the condition of each trial.

    Returns:
        Poses, ground force and parts of the joint moments over ``time``; ``cycle_start`` and ``cycle_end`` (side), s,
        of the cycles, NaN for a side without one, and ``cycle_has_kinetics`` (side). Attributes ``trial`` and
        ``condition``. Empty without a gait cycle.
    """
    if not cycles.sizes.get("cycle"):
        return xr.Dataset()
    number, chosen = _chosen(cycles, conditions)
    trial = cycles.variables["trial"].values.tolist()[number]
    limits = {name: np.full(len(SIDES), np.nan) for name in ("start", "end")}
    valid = np.zeros(len(SIDES), dtype=bool)
    for side, cycle in chosen.items():
        row = SIDES.index(side)
        valid[row] = cycles.variables["kinetics_valid"].values[cycle]
        for name, times in limits.items():
            times[row] = cycles.variables[f"{name}_time"].values[cycle]
    parts = [one_trial(session, trial) for session in (kinetics, kinematics, contacts, clean)]
    parts[-1] = parts[-1].isel(marker=np.isin(parts[-1].marker.values, SHOWN_LANDMARKS)).reset_coords(drop=True)
    time = parts[0].time.values
    first, last = np.nanmin(limits["start"]) - MARGIN_S, np.nanmax(limits["end"]) + MARGIN_S
    frames = np.flatnonzero((time >= first) & (time <= last))
    found = {name: part[name] for part in parts for name in REPRESENTATIVE if name in part.data_vars}
    return (
        xr.Dataset(found)
        .isel(time=frames)
        .assign(
            cycle_start=("side", limits["start"]),
            cycle_end=("side", limits["end"]),
            cycle_has_kinetics=("side", valid),
        )
        .assign_attrs(trial=trial, condition=conditions[trial])
    )


def _chosen(cycles: xr.Dataset, conditions: Mapping[str, str]) -> tuple[int, dict[str, int]]:
    """Return the number of the trial to show, and along ``cycle`` that of the cycle of each side."""
    flexion = [cycles[name].sel(angle="flexion").values for name in ("joint_angle", "joint_moment_jcs")]
    trial, valid = cycles.variables["cycle_trial"].values, cycles.variables["kinetics_valid"].values.astype(bool)
    names, side = cycles.variables["trial"].values.tolist(), cycles.variables["side"].values.astype(str)
    group = np.array([f"{conditions[names[i]]}\t{of}" for i, of in zip(trial.tolist(), side, strict=True)])
    best: dict[int, dict[str, tuple[bool, float, int]]] = {}
    for i, away in enumerate(_distances(np.concatenate(flexion, axis=1), group).tolist()):
        of_trial = best.setdefault(int(trial[i]), {})
        rank = (not valid[i], away, i)
        of_trial[side[i]] = min(of_trial.get(side[i], rank), rank)
    number, chosen = min(best.items(), key=lambda item: _rank([*item[1].values()]))
    return number, {name: chosen[name][2] for name in SIDES if name in chosen}


def _rank(sides: list[tuple[bool, float, int]]) -> tuple[int, int, float]:
    """Return a trial's sort key: sides with kinetics, sides, distance from the mean."""
    return (-sum(not without for without, _, _ in sides), -len(sides), float(np.mean([away for _, away, _ in sides])))


def _distances(curves: Array, group: NDArray[np.str_]) -> Array:
    """Return the RMS distance (cycle,) from the group's mean, in units of spread."""
    everyone = average(np.moveaxis(curves, 1, 0).reshape(curves.shape[1], -1).T)
    spread = np.where(everyone.sd > 0, everyone.sd, 1.0)
    result = np.zeros(len(curves))
    for name in np.unique(group):
        mine = group == name
        away = (curves[mine] - average(curves[mine]).mean) / spread[:, None]
        known = np.isfinite(away)
        squares = np.where(known, away, 0.0) ** 2
        result[mine] = np.sqrt(squares.sum(axis=(1, 2)) / np.maximum(known.sum(axis=(1, 2)), 1))
    return result
