"""Parts of a joint moment over one gait cycle: by term, and by cause of motion."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
import xarray as xr

from ...conventions import ANGLES, JOINTS
from .json_numbers import select, shortened
from .panels import moment_panel


class Parts(TypedDict):
    """Parts of a moment by name, joint and angle along the phase, and their sum."""

    names: list[str]
    parts: list[list[list[list[float | None]]]]
    total: list[list[list[float | None]]]


class Contributions(TypedDict):
    """The moments of one side: by term, and the motion terms by cause; titles and signs by joint and angle."""

    unit: str
    joints: list[str]
    angles: list[str]
    titles: list[list[str]]
    signs: list[list[str]]
    terms: Parts
    causes: Parts


def contributions(trial: xr.Dataset, *, side: str, mass_kg: float | None, moment_signs: str) -> Contributions:
    """Return the parts of the joint moments of one side over its cycle.

    Args:
        trial: as of :func:`pipeline.steps.cycles.representative.representative`.
        side: ``left`` or ``right``.
        mass_kg: body mass to divide by; None for moments in N m.
        moment_signs: ``clinical`` or ``stored``, see :func:`pipeline.steps.report.panels.panels_of`.

    Returns:
        Moments (joint, angle, phase): by term, and the motion terms (inertia and velocity) by cause.
    """
    panels = [[moment_panel(joint, angle, signs=moment_signs) for angle in ANGLES] for joint in JOINTS]
    factor = np.array([[panel.factor for panel in row] for row in panels])[..., None]
    found = {}
    for kind in ("term", "cause"):
        dims = (kind, "joint", "angle", "phase")
        parts = select(trial, f"joint_moment_by_{kind}", *dims, side=side) * factor / (mass_kg or 1.0)
        names = select(trial, kind, kind).tolist()
        found[kind] = Parts(names=names, parts=shortened(parts), total=shortened(parts.sum(axis=0)))
    return Contributions(
        unit="N m/kg" if mass_kg else "N m",
        joints=list(JOINTS),
        angles=list(ANGLES),
        titles=[[panel.title for panel in row] for row in panels],
        signs=[[panel.sign for panel in row] for row in panels],
        terms=found["term"],
        causes=found["cause"],
    )
