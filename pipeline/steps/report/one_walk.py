"""One walk: stick figure with ground forces, force vectors of each step, parts of the joint moments over a cycle."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array, select
from ...conventions import ANGLES, JOINTS, SIDES
from ...signals.time_normalisation import PHASE, over_one_cycle
from .curves.json_numbers import to_decimals, to_whole_numbers
from .curves.panels import moment_panel

MOST_FRAMES = 150
# lines between landmarks and joint centres; a line needs both its points
LEG = (("hip", "knee"), ("knee", "ankle"), ("ankle", "heel"), ("heel", "toe"), ("toe", "ankle"))
PELVIS = (
    *(("hip left", "hip right"), ("asis left", "asis right"), ("psis left", "psis right")),
    *((f"{bone} {side}", f"{other} {side}") for side in SIDES for bone, other in (("asis", "psis"), ("hip", "asis"))),
)

# where the points of trunk and arms are known
TRUNK = (
    *PELVIS,
    *(("waist", "neck"), ("neck", "head"), ("hip left", "waist"), ("hip right", "waist")),
    *(("neck", f"shoulder {side}") for side in SIDES),
)
LIMBS = (*LEG, ("shoulder", "elbow"), ("elbow", "wrist"), ("wrist", "hand"))
ROUND = ("head", "centre of mass")


def scene(trial: xr.Dataset, *, cycles: dict[str, tuple[float, float]]) -> dict[str, Any]:
    """Return a trial in motion.

    Args:
        trial: as of :func:`pipeline.steps.cycles.representative.representative`.
        cycles: start and end of the cycle of each side, s.

    Returns:
        Times (s), points (frame, point, axis) in mm, pairs of points by bone, forces by side, cycles; the numbers of
        head and centre of mass as ``round``, if they are known.
    """
    time = select(trial, "time", "time")
    frames = np.arange(0, len(time), max(1, int(np.ceil(len(time) / MOST_FRAMES))))
    where = select(trial, "point_position", "point", "time", "axis")[:, frames]
    points = dict(zip(select(trial, "point", "point").tolist(), where, strict=True))
    names = [name for name, path in points.items() if np.isfinite(path).any()]
    number = {name: i for i, name in enumerate(names)}
    lines = {"pelvis": TRUNK} | {side: [(f"{a} {side}", f"{b} {side}") for a, b in LIMBS] for side in SIDES}
    position = np.stack([points[name] for name in names], axis=1) if names else np.empty((len(frames), 0, 3))
    return {
        "time": to_decimals(time[frames], decimals=3),
        "points": to_whole_numbers(1000 * position),
        "bones": {
            of: [(number[a], number[b]) for a, b in pairs if a in number and b in number] for of, pairs in lines.items()
        },
        "forces": {side: _force(trial, side, frames) for side in SIDES},
        "cycles": cycles,
        **({"round": known} if (known := {name: number[name] for name in ROUND if name in number}) else {}),
    }


def _force(trial: xr.Dataset, side: str, frames: NDArray[np.int64]) -> dict[str, list[list[int] | None]]:
    """Return centre of pressure (mm) and force (N) per frame, lab axes; None without contact."""
    at = select(trial, "centre_of_pressure", "time", "axis", side=side)[frames]
    force = select(trial, "ground_force", "time", "axis", side=side)[frames]
    contact = np.isfinite(at).all(axis=1) & np.isfinite(force).all(axis=1) & (force[:, 1] > 0)

    def or_none(values: Array) -> list[list[int] | None]:
        return [row if there else None for row, there in zip(to_whole_numbers(values), contact.tolist(), strict=True)]

    return {"at": or_none(1000 * at), "force": or_none(force)}


def step(study: xr.Dataset, trial: xr.Dataset, *, cycle: int) -> dict[str, Any] | None:
    """Return phase (%), centre of pressure along x (m), force forward and up (N/kg) of a stance; None without force."""
    side, start, end = (study.variables[name].values[cycle] for name in ("side", "start_time", "end_time"))
    force = select(study, "ground_force", "cycle", "phase", "axis")[cycle]
    pressure = select(trial, "centre_of_pressure", "time", "axis", side=str(side))
    at = over_one_cycle(pressure, select(trial, "time", "time"), float(start), float(end))
    contact = np.isfinite(at).all(axis=1) & np.isfinite(force).all(axis=1) & (force[:, 1] > 0)
    if not contact.any():
        return None
    return {
        "phase": PHASE[contact].tolist(),
        "at": to_decimals(at[contact, 0] - at[contact, 0][0], decimals=4),
        "forward": to_decimals(force[contact, 0], decimals=3),
        "upward": to_decimals(force[contact, 1], decimals=3),
    }


def contributions(trial: xr.Dataset, *, side: str, mass_kg: float | None, moment_signs: str) -> dict[str, Any]:
    """Return the parts of the joint moments of one side over its cycle.

    Args:
        trial: as of :func:`pipeline.steps.cycles.representative.representative`.
        mass_kg: body mass to divide by; None for moments in N m.
        moment_signs: ``clinical`` or ``stored``, see :func:`pipeline.steps.report.curves.panels.panels_of`.

    Returns:
        The unit, titles and signs by joint and angle; ``terms`` and ``causes``: the parts (part, joint, angle, phase),
        of the moment by term and of its motion terms (inertia and velocity) by cause, their names and their total.
    """
    panels = [[moment_panel(joint, angle, signs=moment_signs) for angle in ANGLES] for joint in JOINTS]
    factor = np.array([[panel.factor for panel in row] for row in panels])[..., None]
    result: dict[str, Any] = {
        "unit": "N m/kg" if mass_kg else "N m",
        "joints": list(JOINTS),
        "angles": list(ANGLES),
        "titles": [[panel.title for panel in row] for row in panels],
        "signs": [[panel.sign for panel in row] for row in panels],
    }
    rounded = partial(to_decimals, decimals=4 if mass_kg else 2)  # three digits of a moment of .01 N m/kg
    for kind in ("term", "cause"):
        parts = select(trial, f"joint_moment_by_{kind}", kind, "joint", "angle", "phase", side=side)
        parts = parts * factor / (mass_kg or 1.0)
        names, total = select(trial, kind, kind).tolist(), parts.sum(axis=0)
        result[f"{kind}s"] = {"names": names, "parts": rounded(parts), "total": rounded(total)}
    return result


def walks_of(
    parts: Mapping[str, xr.Dataset], representative: Mapping[str, xr.Dataset], *, moment_signs: str
) -> list[dict[str, Any]]:
    """Return names and figure data of the walks that are shown: of several visits, those of the first and the last.

    Args:
        parts: a person's part of study.nc, by visit or condition if some are compared.
        representative: by session, the trial to show.
    """
    walks = [
        one | {"label": label} for label, part in parts.items() if (one := _walk(part, representative, moment_signs))
    ]
    return walks if len(walks) < 2 else [walks[0], walks[-1]]


def _walk(study: xr.Dataset, representative: Mapping[str, xr.Dataset], moment_signs: str) -> dict[str, Any] | None:
    """Return the walk of the first session with kinetics on most sides, None if no trial has one of the cycles."""
    names = ("session", "trial", "side", "start_time")
    rows = [*zip(*(study.variables[name].values.tolist() for name in names), strict=True)]
    trials = {session: representative[session] for session in dict.fromkeys(session for session, *_ in rows)}
    if not trials:
        return None
    session, data = max(trials.items(), key=lambda one: int(one[1].cycle_has_kinetics.sum()))
    starts = zip(SIDES, data.cycle_start.values.tolist(), strict=True)
    places = {side: (session, data.attrs["trial"], side, start) for side, start in starts}
    cycles = {side: rows.index(place) for side, place in places.items() if place in rows}
    if not cycles:
        return None
    start, end, with_kinetics = (select(study, name, "cycle") for name in ("start_time", "end_time", "kinetics_valid"))
    times = {side: (float(start[cycle]), float(end[cycle])) for side, cycle in cycles.items()}
    mass = study.variables["mass_kg"].values[next(iter(cycles.values()))] if "mass_kg" in study.coords else 0
    mass_kg = float(mass) if mass > 0 else None
    valid = {side: cycle for side, cycle in cycles.items() if with_kinetics[cycle]}
    return {
        "session": session,
        "trial": data.attrs["trial"],
        "condition": data.attrs["condition"],
        "sides": list(valid),
        "data": {
            "scene": scene(data, cycles=times),
            "steps": {side: step(study, data, cycle=cycle) for side, cycle in valid.items()},
            "contributions": {
                side: contributions(data, side=side, mass_kg=mass_kg, moment_signs=moment_signs) for side in valid
            },
        },
    }
