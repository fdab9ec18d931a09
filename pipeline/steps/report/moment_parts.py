"""Parts of a joint moment over one gait cycle: by term, and by cause of motion."""

from __future__ import annotations

from typing import TypedDict

import xarray as xr

from ...conventions import ANGLES, JOINTS
from .json_numbers import select, shortened


class Parts(TypedDict):
    """Parts of a moment by name, joint and angle along the phase, and their sum."""

    names: list[str]
    parts: list[list[list[list[float | None]]]]
    total: list[list[list[float | None]]]


class Contributions(TypedDict):
    """The moments of one side: by term, and the motion terms by cause."""

    unit: str
    joints: list[str]
    angles: list[str]
    terms: Parts
    causes: Parts


def contributions(trial: xr.Dataset, *, side: str, mass_kg: float | None) -> Contributions:
    """Return the parts of the joint moments of one side over its cycle.

    Args:
        trial: as of :func:`pipeline.steps.cycles.representative.representative`.
        side: ``left`` or ``right``.
        mass_kg: body mass to divide by; None for moments in N m.

    Returns:
        Moments (joint, angle, phase): by term, and the motion terms (inertia and velocity) by cause.
    """
    found = {}
    for kind in ("term", "cause"):
        dims = (kind, "joint", "angle", "phase")
        parts = select(trial, f"joint_moment_by_{kind}", *dims, side=side) / (mass_kg or 1.0)
        names = select(trial, kind, kind).tolist()
        found[kind] = Parts(names=names, parts=shortened(parts), total=shortened(parts.sum(axis=0)))
    return Contributions(
        unit="N m/kg" if mass_kg else "N m",
        joints=list(JOINTS),
        angles=list(ANGLES),
        terms=found["term"],
        causes=found["cause"],
    )
