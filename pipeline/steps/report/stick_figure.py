"""One trial in motion: stick figure with ground forces, force vectors of each step."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...conventions import SIDES
from ...signals.time_normalisation import PHASE, over_one_cycle
from .json_numbers import Array, rounded, select, whole

MOST_FRAMES = 150
# lines between landmarks and joint centres; a line needs both its points
LEG = (("hip", "knee"), ("knee", "ankle"), ("ankle", "heel"), ("heel", "toe"), ("toe", "ankle"))
PELVIS = (
    *(("hip left", "hip right"), ("asis left", "asis right"), ("psis left", "psis right")),
    *((f"{bone} {side}", f"{other} {side}") for side in SIDES for bone, other in (("asis", "psis"), ("hip", "asis"))),
)


class Force(TypedDict):
    """Centre of pressure (mm) and force (N) per frame, lab axes; None without contact."""

    at: list[list[int] | None]
    force: list[list[int] | None]


class Scene(TypedDict):
    """A trial in motion: times (s), points (frame, point, axis) in mm, bones, forces."""

    time: list[float]
    points: list[list[list[int | None]]]
    bones: dict[str, list[tuple[int, int]]]
    forces: dict[str, Force]
    cycles: dict[str, tuple[float, float]]


class Step(TypedDict):
    """Force vectors of a stance: phase (%), centre of pressure x (m), force (N/kg)."""

    phase: list[float]
    at: list[float]
    forward: list[float]
    upward: list[float]


def scene(trial: xr.Dataset, *, cycles: dict[str, tuple[float, float]]) -> Scene:
    """Return a trial in motion.

    Args:
        trial: as of :func:`pipeline.steps.cycles.representative.representative`.
        cycles: start and end of the cycle of each side, s.
    """
    time = select(trial, "time", "time")
    frames = np.arange(0, len(time), max(1, int(np.ceil(len(time) / MOST_FRAMES))))
    where = select(trial, "point_position", "point", "time", "axis")[:, frames]
    points = dict(zip(select(trial, "point", "point").tolist(), where, strict=True))
    names = [name for name, path in points.items() if np.isfinite(path).any()]
    number = {name: i for i, name in enumerate(names)}
    lines = {"pelvis": PELVIS} | {side: [(f"{a} {side}", f"{b} {side}") for a, b in LEG] for side in SIDES}
    position = np.stack([points[name] for name in names], axis=1) if names else np.empty((len(frames), 0, 3))
    return Scene(
        time=rounded(time[frames], decimals=3),
        points=whole(1000 * position),
        bones={
            of: [(number[a], number[b]) for a, b in pairs if a in number and b in number] for of, pairs in lines.items()
        },
        forces={side: _force(trial, side, frames) for side in SIDES},
        cycles=cycles,
    )


def _force(trial: xr.Dataset, side: str, frames: NDArray[np.int64]) -> Force:
    at = select(trial, "centre_of_pressure", "time", "axis", side=side)[frames]
    force = select(trial, "ground_force", "time", "axis", side=side)[frames]
    known = np.isfinite(at).all(axis=1) & np.isfinite(force).all(axis=1) & (force[:, 1] > 0)

    def or_none(values: Array) -> list[list[int] | None]:
        return [row if there else None for row, there in zip(whole(values), known.tolist(), strict=True)]

    return Force(at=or_none(1000 * at), force=or_none(force))


def step(study: xr.Dataset, trial: xr.Dataset, *, cycle: int) -> Step | None:
    """Return the force vectors over the stance of a cycle; None without a force.

    Args:
        study: derived/study.nc, for the force per body mass.
        trial: the trial of the cycle.
        cycle: number along ``cycle``.
    """
    side, start, end = (study.variables[name].values[cycle] for name in ("side", "start_time", "end_time"))
    force = select(study, "ground_force", "cycle", "phase", "axis")[cycle]
    pressure = select(trial, "centre_of_pressure", "time", "axis", side=str(side))
    at = over_one_cycle(pressure, select(trial, "time", "time"), float(start), float(end))
    known = np.isfinite(at).all(axis=1) & np.isfinite(force).all(axis=1)
    known &= np.where(known, force[:, 1], 0) > 0
    if not known.any():
        return None
    along = at[known, 0] - at[known, 0][0]
    return Step(
        phase=PHASE[known].tolist(),
        at=rounded(along, decimals=4),
        forward=rounded(force[known, 0], decimals=3),
        upward=rounded(force[known, 1], decimals=3),
    )
