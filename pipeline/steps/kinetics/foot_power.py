r"""Power of the foot as one deformable segment, "distal foot power".

The ground acts on the foot where it touches, and there nothing moves against the ground, so that it does no work on the
person. A rigid foot that moves as its markers do would move there. With force F and moment M of the ground about a
point of that rigid foot, which has velocity v against the ground and angular velocity w, the power::

    P = F . v + M . w

is what heel pad, arch, toes and shoe generate, or absorb if it is negative. It is the same for every point of the rigid
foot, and zero for a rigid foot that rolls without slipping (Takahashi KZ, Kepple TM, Stanhope SJ 2012, J Biomech
45:2662-2667; Siegel KL, Kepple TM, Caldwell GE 1996, J Biomech 29:823-827).
"""

import numpy as np
import xarray as xr

from ...arrays import Array
from ...dynamics.vectors import cross, dot, rotate, transpose
from ...plates.incline import VERTICAL, uphill


def foot_power(kinematics: xr.Dataset, contacts: xr.Dataset) -> Array:
    """Return the power of both feet (sample, side), W, generation positive; 0 in swing, NaN where a load is unknown.

    Args:
        kinematics: motion of the feet.
        contacts: ``ground_force`` and ``ground_moment``, and ``belt_speed`` (trial, side), m/s, against lab x, at which
            the ground below the foot moves, along itself where it is inclined (``ground_normal``).
    """
    foot = kinematics.variables["segment"].values.tolist().index("foot")
    turn, spin, com, velocity = (
        kinematics.variables[name].values[:, :, foot]
        for name in ("rotation", "angular_velocity", "com_position", "com_velocity")
    )
    force, moment = (contacts.variables[f"ground_{name}"].values for name in ("force", "moment"))
    ground, trial = contacts.variables.get("ground_normal"), kinematics.variables["sample_trial"].values
    along = uphill(VERTICAL[None] if ground is None else ground.values)
    belt = contacts.variables["belt_speed"].values[..., None] * along[:, None]  # (trial, side, axis)
    against_ground = velocity + belt[trial]
    about_com = moment - cross(com, force)
    return np.asarray(dot(force, against_ground) + dot(about_com, rotate(transpose(turn), spin)))
