"""Loads at the joints of trunk, head and arms, from hands and head down to the waist.

The equations are those of the legs, :mod:`pipeline.dynamics.kernel`. The trunk carries three chains: they are solved
one by one, each down to the waist, with the mass of the thorax in that of the head alone; the loads at the waist add
up.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from ..arrays import Array
from ..body.joint_angles import axes as joint_axes
from ..conventions import ARM, SIDE_SIGN, SIDES
from ..dynamics.kernel import Segments, inverse_dynamics_by_term
from ..dynamics.vectors import rotate
from .angles import PARTS
from .skeleton import JOINT, JOINTS, PARENT, SEGMENTS, of_either_side


class Motion(NamedTuple):
    """Trunk, head and arms over time, segments in the order of :data:`pipeline.whole_body.skeleton.SEGMENTS`."""

    rotation: Array  # (time, segment, 3, 3), v_segment = rotation @ v_lab
    # spin, spin_rate: (time, segment, 3), angular velocity and acceleration, segment axes
    spin: Array
    spin_rate: Array
    # com, com_acceleration: (time, segment, 3), lab axes
    com: Array
    com_acceleration: Array
    centre: Array  # (time, joint, 3), lab axes, m, in the order of JOINTS
    mass: Array  # (segment,), kg
    inertia: Array  # (segment, 3, 3), about the centre of mass, segment axes, kg m2


def motion_of(kinematics: xr.Dataset, calibrate: xr.Dataset) -> Motion:
    """Return the motion of the upper body that the step kinematics stored."""
    names = ("rotation", "angular_velocity", "angular_acceleration", "com_position", "com_acceleration", "joint_centre")
    parts = [kinematics.variables[f"upper_{name}"].values.astype(float) for name in names]
    return Motion(*parts, *(calibrate.variables[f"upper_segment_{name}"].values for name in ("mass", "inertia")))


def joint_loads(motion: Motion, gravity_m_s2: float) -> tuple[Array, Array]:
    """Return the loads by term, of the segment nearer to the pelvis on the other one.

    Returns:
        Joint forces (time, 4, joint, 3) in lab axes, N, and moments (time, 4, joint, 3) about the joint centre in the
        axes of the segment further from the pelvis, N m; terms as :data:`pipeline.dynamics.kernel.TERMS`, of which the
        last, of the ground, is zero.
    """
    arms = [[f"{name}_{side}" for name in reversed(ARM)] + ["thorax"] for side in SIDES]
    force, moment = (np.zeros((len(motion.com), 4, len(JOINTS), 3)) for _ in range(2))
    for chain, with_thorax in ((arms[0], False), (arms[1], False), (["head", "thorax"], True)):
        loads = inverse_dynamics_by_term(_chain(motion, chain, gravity_m_s2, with_thorax=with_thorax))
        for whole, part in zip((force, moment), loads, strict=True):
            for i, segment in enumerate(chain):
                whole[:, :, JOINTS.index(JOINT[segment])] += part[:, :, i]
    return force, moment


def _chain(motion: Motion, chain: list[str], gravity_m_s2: float, *, with_thorax: bool) -> Segments:
    """Return some segments, the last of which is the thorax, as a chain."""
    rows = [SEGMENTS.index(name) for name in chain]
    centre = motion.centre[:, [JOINTS.index(JOINT[name]) for name in chain]]
    com, mass, nothing = motion.com[:, rows], motion.mass[rows].copy(), np.zeros((len(motion.com), len(rows), 3))
    inertia = motion.inertia[rows].copy()
    if not with_thorax:
        mass[-1], inertia[-1] = 0, 0
    distal = np.concatenate([com[:, :1], centre[:, :-1]], axis=1)
    return Segments(
        rotation=motion.rotation[:, rows],
        mass=mass,
        inertia=inertia,
        com_acceleration=motion.com_acceleration[:, rows],
        angular_velocity=motion.spin[:, rows],
        angular_acceleration=motion.spin_rate[:, rows],
        to_proximal=centre - com,
        to_distal=distal - com,
        external_force=nothing,
        external_moment=nothing,
        gravity=np.array([0.0, -gravity_m_s2, 0.0]),
    )


def in_lab(rotation: Array, vector: Array) -> Array:
    """Return vectors (time, segment or joint, 3) in lab axes, from those in the axes of the segments.

    Joints and the segments beyond them have one order.
    """
    return np.asarray(np.einsum("tjba,tjb->tja", rotation, vector))


def joint_power(motion: Motion, moment_in_lab: Array, pelvis_spin: Array) -> Array:
    """Return M . (w_distal - w_proximal) (time, joint), W.

    Args:
        moment_in_lab: (time, joint, 3), N m.
        pelvis_spin: (time, 3), angular velocity of the pelvis, lab axes, rad/s.
    """
    spin = in_lab(motion.rotation, motion.spin)
    proximal = [pelvis_spin if PARENT[name] == "pelvis" else spin[:, SEGMENTS.index(PARENT[name])] for name in SEGMENTS]
    return np.asarray((moment_in_lab * (spin - np.stack(proximal, axis=1))).sum(axis=-1))


LOADS = {"waist": "spine", "neck": "neck", "shoulder": "shoulder", "elbow": "elbow", "wrist": "wrist"}  # angle of each


def moments_of_sides(kinematics: xr.Dataset, moment: Array, loads: Sequence[str] = tuple(LOADS)) -> Array:
    """Return the moments (time, side, joint of ``loads``, angle) along joint coordinate axes, N m.

    These are z of the segment nearer to the pelvis, the floating axis, and y of the other; signs as those of the angles
    of :mod:`pipeline.whole_body.angles`.

    Args:
        moment: (time, joint, 3), in the axes of the segment further from the pelvis, of the first joints of
            :data:`pipeline.whole_body.skeleton.JOINTS` or all.
    """
    rotation = kinematics.variables["upper_rotation"].values
    pelvis = of_either_side(kinematics.variables["rotation"].values[:, :, -1])
    lab = in_lab(rotation[:, : moment.shape[1]], moment)
    result = np.empty((len(moment), len(SIDES), len(loads), 3))
    for i, side in enumerate(SIDES):
        for j, joint in enumerate(loads):
            row = JOINTS.index(joint if joint in JOINTS else f"{joint}_{side}")
            parent = PARENT[SEGMENTS[row]]
            proximal = pelvis if parent == "pelvis" else rotation[:, SEGMENTS.index(parent)]
            axes = joint_axes(proximal, rotation[:, row])
            mirror = SIDE_SIGN[side]
            result[:, i, j] = rotate(axes, lab[:, row]) * PARTS[LOADS[joint]].signs * [1, mirror, mirror]
    return result
