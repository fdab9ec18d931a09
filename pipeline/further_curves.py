"""Curves that a study has on request: joint moments in other axes or of the other sign, interaction torques."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from pipeline.dynamics.block_matrix import rotate
from pipeline.leg import SEGMENTS

SOURCES = {  # of the curve's values, or of its dimensions
    "joint_moment_distal": "joint_moment",
    "joint_moment_proximal": "joint_moment",
    "joint_moment_lab": "joint_force",
    "external_moment_jcs": "joint_moment_jcs",
}


def further(names: Sequence[str], kinetics: xr.Dataset, kinematics: xr.Dataset) -> list[xr.DataArray]:
    """Return the quantities (time, side, joint, ...) of the names; N m.

    ``joint_moment_distal``, ``_proximal`` and ``_lab`` are one vector in three sets of axes; ``external_moment_jcs``
    is the opposite of ``joint_moment_jcs``, what ground, weight and inertia do and the joint resists.
    """
    return [_quantity(name, kinetics, kinematics).rename(name) for name in names]


def _quantity(name: str, kinetics: xr.Dataset, kinematics: xr.Dataset) -> xr.DataArray:
    source: xr.DataArray = kinetics[SOURCES.get(name, name)]
    if name == "external_moment_jcs":
        return source.copy(data=-source.values)
    if name not in ("joint_moment_lab", "joint_moment_proximal"):
        return source
    rotation = kinematics.rotation.sel(segment=list(SEGMENTS)).values
    moment = rotate(np.swapaxes(rotation[:, :, :-1], -1, -2), kinetics.joint_moment.values)
    return source.copy(data=moment if name == "joint_moment_lab" else rotate(rotation[:, :, 1:], moment))
