"""The trial that the report shows in motion: the nearest to a participant's means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...conventions import SIDES
from ...results.averages import Array, average
from .json_numbers import select

# of a trial that is shown, by step
USED_VARIABLES = {
    "clean": ("marker_position",),
    "contacts": ("ground_force", "centre_of_pressure"),
    "kinematics": ("rotation", "joint_centre"),
    "kinetics": ("joint_moment_term", "joint_moment_jcs", "interaction_torque"),
}


class Shown(NamedTuple):
    """A trial, and the number along ``cycle`` of the cycle shown of each side."""

    session: str
    trial: str
    condition: str
    cycle: dict[str, int]


def representative(study: xr.Dataset) -> dict[str, Shown]:
    """Return the trial to show of each participant with a gait cycle.

    Trials with kinetics on both sides come first. Among these, the trial is chosen that is nearest to the mean flexion
    angles and moments of the participant's cycles of the same side and condition.
    """
    shape = ("cycle", "joint", "phase")
    flexion = [select(study, name, *shape, angle="flexion") for name in ("joint_angle", "joint_moment_jcs")]
    curves = np.concatenate(flexion, axis=1)
    names = ("participant", "session", "trial", "condition", "side")
    participant, session, trial, condition, side = (select(study, name, "cycle").astype(str) for name in names)
    valid = select(study, "kinetics_valid", "cycle").astype(bool)
    found = {}
    for person in sorted(set(participant.tolist())):
        mine = np.flatnonzero(participant == person)
        groups = np.char.add(np.char.add(condition[mine], "\t"), side[mine])
        distance = _distances(curves[mine], groups)
        best: dict[tuple[str, str], dict[str, tuple[bool, float, int]]] = {}
        for i, away in zip(mine.tolist(), distance.tolist(), strict=True):
            of_trial = best.setdefault((session[i], trial[i]), {})
            rank = (not valid[i], away, i)
            of_trial[side[i]] = min(of_trial.get(side[i], rank), rank)
        (where, what), chosen = min(best.items(), key=lambda item: _rank([*item[1].values()]))
        shown = {name: chosen[name][2] for name in SIDES if name in chosen}
        found[person] = Shown(where, what, str(condition[next(iter(shown.values()))]), shown)
    return found


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
