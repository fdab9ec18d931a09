"""Curves that a study has on request: joint moments in other axes, of the other sign or by body size, ...

Of the usual curves there is also one over stance, 0 at foot strike and 100 at foot off, named with :data:`IN_STANCE`;
the step ``cycles`` cuts these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from pipeline.body_size import STANDARD_GRAVITY_M_S2, leg_lengths
from pipeline.dynamics.block_matrix import rotate
from pipeline.leg import SEGMENTS

IN_STANCE = "_in_stance"
SOURCES = {  # of the curve's values, or of its dimensions
    "joint_moment_distal": "joint_moment",
    "joint_moment_proximal": "joint_moment",
    "joint_moment_lab": "joint_force",
    "external_moment_jcs": "joint_moment_jcs",
    "joint_moment_per_height": "joint_moment_jcs",
    "joint_moment_dimensionless": "joint_moment_jcs",
    "joint_power_dimensionless": "joint_power",
}


def further(
    names: Sequence[str], kinetics: xr.Dataset, kinematics: xr.Dataset, calibrate: xr.Dataset
) -> dict[str, xr.Variable]:
    """Return the quantities (time, side, joint, ...) of the names, still to be divided by body mass.

    ``joint_moment_distal``, ``_proximal`` and ``_lab`` are one vector in three sets of axes; ``external_moment_jcs``
    is the opposite of ``joint_moment_jcs``, what ground, weight and inertia do and the joint resists.
    ``joint_moment_per_height`` is ``joint_moment_jcs`` over body height; ``joint_moment_dimensionless`` is over
    g l and ``joint_power_dimensionless`` over g sqrt(g l), l the leg length of the side (Hof 1996).
    """
    return {name: _quantity(name, kinetics, kinematics, calibrate) for name in names}


def _quantity(name: str, kinetics: xr.Dataset, kinematics: xr.Dataset, calibrate: xr.Dataset) -> xr.Variable:
    source: xr.Variable = kinetics.variables[SOURCES.get(name, name)]
    if name == "external_moment_jcs":
        return -source
    if name == "joint_moment_per_height":
        return source / float(calibrate.attrs["body_height_m"])
    if name.endswith("dimensionless"):
        leg = STANDARD_GRAVITY_M_S2 * xr.Variable("side", leg_lengths(kinematics))
        return source / (leg if "moment" in name else STANDARD_GRAVITY_M_S2 * np.sqrt(leg))
    if name not in ("joint_moment_lab", "joint_moment_proximal"):
        return source
    rotation = kinematics.rotation.sel(segment=list(SEGMENTS)).values
    moment = rotate(np.swapaxes(rotation[:, :, :-1], -1, -2), kinetics.joint_moment.values)
    return source.copy(data=moment if name == "joint_moment_lab" else rotate(rotation[:, :, 1:], moment))
