"""What is true of a whole person as the results of the steps ``calibrate`` and ``kinematics``, and its mirror image."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.conventions import CHAIN, SIDES
from pipeline.conventions import JOINTS as LEG_JOINTS
from pipeline.steps.kinematics.upper_body import BODIES
from pipeline.steps.kinetics.pelvis_residual import Hips
from pipeline.whole_body.balance import Bodies
from pipeline.whole_body.skeleton import JOINTS, SEGMENTS

Array = NDArray[np.float64]

LEGS = (*CHAIN, "pelvis")
MIRROR = np.array([1.0, 1.0, -1.0])
TURNS = {"rotation": np.outer(MIRROR, MIRROR), "tensor": np.outer(MIRROR, MIRROR)}
SPINNING = ("angular_velocity", "angular_acceleration", "joint_moment", "joint_moment_local", "angular_momentum",
            "angular_momentum_part", "ground_moment", "free_moment")  # fmt: skip
SCALARS = ("mass", "joint_power", "residual")


def bodies_of(of: xr.Dataset) -> Bodies:
    """Return all segments of the body, in the order of the step ``kinematics``."""
    one = of.sel(body=list(BODIES))
    names = ("mass", "tensor", "rotation", "angular_velocity", "com", "com_velocity", "com_acceleration")
    return Bodies(*(one[name].values for name in names))


def calibrate_of(of: xr.Dataset) -> xr.Dataset:
    """Return the variables of ``calibrate`` that the loads of trunk and arms need."""
    variables: dict[str, Any] = {}
    for name, own in (("mass", "mass"), ("com", "local_com"), ("inertia", "tensor")):
        dims = {"mass": (), "com": ("local_axis",), "inertia": ("local_axis", "local_axis_2")}[name]
        variables[f"upper_segment_{name}"] = (
            ("upper_segment", *dims), of[own].sel(body=list(SEGMENTS)).values,
        )  # fmt: skip
        variables[f"pelvis_{name}"] = dims, of[own].sel(body="pelvis").values
    return xr.Dataset(variables)


def kinematics_of(of: xr.Dataset) -> xr.Dataset:
    """Return the variables of ``kinematics`` that the loads of trunk and arms need, in 64 bits."""
    upper = of.sel(body=list(SEGMENTS))
    names = {"rotation": ("local_axis", "axis"), "angular_velocity": ("local_axis",),
             "angular_acceleration": ("local_axis",), "com_acceleration": ("axis",)}  # fmt: skip
    variables: dict[str, Any] = {f"upper_{name}": (("sample", "upper_segment", *dims), upper[name].values)
                 for name, dims in names.items()}  # fmt: skip
    variables["upper_com_position"] = ("sample", "upper_segment", "axis"), upper.com.values
    variables["upper_joint_centre"] = (
        ("sample", "upper_joint", "axis"),
        of.joint_centre.sel(joint=list(JOINTS)).values,
    )
    variables["upper_segment_seen"] = ("trial", "upper_segment"), np.ones((1, len(SEGMENTS)), dtype=np.int8)
    variables["sample_trial"] = "sample", np.zeros(len(of.time), dtype=np.int32)
    for name in ("rotation", "angular_velocity", "angular_acceleration"):
        sides = [of[name].sel(body=["pelvis" if part == "pelvis" else f"{part}_{side}" for part in LEGS])
                 for side in SIDES]  # fmt: skip
        variables[name] = (
            ("sample", "side", "segment", *names[name]), np.stack([one.values for one in sides], axis=1),
        )  # fmt: skip
    for name, values in (("joint_centre", of.joint_centre), ("joint_centre_acceleration", _acceleration(of))):
        sides = [values.sel(joint=[f"{joint}_{side}" for joint in LEG_JOINTS]) for side in SIDES]
        variables[name] = ("sample", "side", "joint", "axis"), np.stack([one.values for one in sides], axis=1)
    return xr.Dataset(variables, {"segment": list(LEGS)})


def hips_of(of: xr.Dataset, kinematics: xr.Dataset) -> Hips:
    """Return the loads that the legs hand over, by the ground's forces."""
    loads = []
    for name in ("joint_force", "joint_moment_local"):
        sides = [of[name].sel(joint=[f"{joint}_{side}" for joint in LEG_JOINTS]).values for side in SIDES]
        loads.append(np.stack(sides, axis=1))
    return Hips.of(kinematics, *loads)


def _acceleration(of: xr.Dataset) -> xr.DataArray:
    """Return the acceleration of the joint at the end of each body that is nearer to the pelvis."""
    bodies = {f"hip_{side}": f"thigh_{side}" for side in SIDES}
    bodies |= {f"knee_{side}": f"shank_{side}" for side in SIDES} | {f"ankle_{side}": f"foot_{side}" for side in SIDES}
    rows = []
    for body in bodies.values():
        one = of.sel(body=body)
        arm, spin, change = -one.local_com.values, one.angular_velocity.values, one.angular_acceleration.values
        local = np.cross(change, arm) + np.cross(spin, np.cross(spin, arm))
        rows.append(one.com_acceleration.values + np.einsum("tla,tl->ta", one.rotation.values, local))
    coords = {"joint": list(bodies)}
    return xr.DataArray(np.stack(rows, axis=1), coords, ("time", "joint", "axis"))


def mirrored(of: xr.Dataset) -> xr.Dataset:
    """Return what is true of the mirror image of a person: z against z, left for right."""
    result = of.copy()
    for name, values in of.data_vars.items():
        if name in SCALARS or not {"axis", "local_axis"} & {*values.dims}:
            continue
        sign = TURNS.get(str(name), -MIRROR if name in SPINNING else MIRROR)
        result[name] = values.copy(data=values.values * sign)
    for dim in ("body", "joint"):
        other = [_other_side(name) for name in of[dim].values]
        result = result.assign_coords({dim: other})
    return result.sel(body=of.body, joint=of.joint)


def _other_side(name: str) -> str:
    start, _, side = name.rpartition("_")
    return f"{start}_{SIDES[1 - SIDES.index(side)]}" if side in SIDES else name
