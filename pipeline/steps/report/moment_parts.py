"""Parts of a joint moment over one gait cycle: by term, and by cause of motion."""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np
import xarray as xr

from ...body import joint_angles
from ...conventions import ANGLES, JOINTS, SEGMENTS
from ...signals.time_normalisation import over_one_cycle
from .json_numbers import Array, select, shortened


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


def projected_terms(trial: xr.Dataset, side: str) -> Array:
    """Return ``joint_moment_term`` along the joint coordinate axes, N m.

    (time, joint, term, angle), clinical signs. The terms sum to ``joint_moment_jcs``. NaN in gimbal lock.
    """
    rotation = select(trial, "rotation", "time", "segment", "local_axis", "axis", side=side, segment=SEGMENTS)
    proximal, distal = rotation[:, 1:], rotation[:, :-1]
    onto = joint_angles.axes(proximal, distal) @ np.swapaxes(distal, -1, -2)
    signs = np.stack([joint_angles.signs(joint, side) for joint in JOINTS])
    mine: dict[str, Any] = {"side": side, "joint": JOINTS}
    terms = select(trial, "joint_moment_term", "time", "joint", "term", "local_axis", **mine)
    projected = np.einsum("tjal,tjkl->tjka", onto * signs[:, :, None], terms)
    known = np.isfinite(select(trial, "joint_moment_jcs", "time", "joint", "angle", **mine))
    return np.where(known[:, :, None], projected, np.nan)


def contributions(
    trial: xr.Dataset, *, side: str, start_s: float, end_s: float, mass_kg: float | None
) -> Contributions:
    """Return the parts of the joint moments of one side over one cycle.

    Args:
        trial: as of :func:`pipeline.steps.cycles.representative.representative`.
        side: ``left`` or ``right``.
        start_s, end_s: start and end of the cycle.
        mass_kg: body mass to divide by; None for moments in N m.

    Returns:
        Moments (joint, angle, phase): by term, and the motion terms (inertia and velocity) by cause.
    """
    dims = ("motion", "time", "joint", "cause", "angle")
    by_cause = select(trial, "interaction_torque", *dims, side=side, joint=JOINTS).sum(axis=0)
    parts = {
        "terms": (select(trial, "term", "term").tolist(), projected_terms(trial, side)),
        "causes": (select(trial, "cause", "cause").tolist(), by_cause),
    }
    time = select(trial, "time", "time")
    result = {}
    for name, (labels, values) in parts.items():
        cut = over_one_cycle(values, time, start_s, end_s) / (mass_kg or 1.0)
        by_phase = np.moveaxis(cut, 0, -1)  # joint, part, angle, phase
        result[name] = Parts(
            names=labels,
            parts=shortened(np.moveaxis(by_phase, 1, 0)),
            total=shortened(by_phase.sum(axis=1)),
        )
    return Contributions(
        unit="N m/kg" if mass_kg else "N m",
        joints=list(JOINTS),
        angles=list(ANGLES),
        terms=result["terms"],
        causes=result["causes"],
    )
