"""Angles of hip, knee and ankle, of the pelvis and of the foot in the lab.

Cardan sequence Z-X-Y of the distal segment against the proximal one (Grood ES, Suntay WJ (1983) J Biomech Eng
105:136-144; Wu G et al. (2002) J Biomech 35:543-548): e1 = z of the proximal segment (flexion), e3 = y of the
distal segment (rotation), e2 = e3 x e1 floating (adduction). Flexion (of the ankle: dorsiflexion), adduction
(of the ankle: inversion) and internal rotation are positive on both sides.

Plug-in Gait uses the sequence Z-Y-X for the ankle, so that inversion is about the long axis of the foot.
"""

import numpy as np

from ..arrays import Array, Flags
from ..conventions import FLEXION_SIGN, JOINTS, SIDE_SIGN, SIDES
from ..dynamics.vectors import cross, dot, unit
from .segment_poses import turn_about_y


def signs(joint: str, side: str) -> Array:
    """Return the signs (3,) that make right-handed angles about e1, e2, e3 clinical."""
    return np.array([FLEXION_SIGN[joint], SIDE_SIGN[side], SIDE_SIGN[side]])


FRAMES_OF_TORSION = 100  # that its fit takes at most: one unknown is determined by a few
LARGEST_TORSION, SMALLEST_STEP = np.radians(90), np.radians(0.005)
MIRROR = np.array([SIDE_SIGN[side] for side in SIDES])
SIGNS = np.array([[signs(joint, side) for joint in JOINTS] for side in SIDES])  # (side, joint, 3)


def angles(proximal: Array, distal: Array, *, smallest_floating_axis: float) -> Array:
    """Return the right-handed Cardan angles Z-X-Y of the distal segment against the proximal one.

    Args:
        proximal, distal: (..., 3, 3), v_segment = rotation @ v_lab.
        smallest_floating_axis: cosine of the second angle below which the angles are NaN (gimbal lock).

    Returns:
        (..., 3) rad, about e1, e2, e3.
    """
    e1, e3 = proximal[..., 2, :], distal[..., 1, :]
    second = np.arcsin(np.clip(dot(e1, e3), -1, 1))
    first = np.arctan2(-dot(proximal[..., 0, :], e3), dot(proximal[..., 1, :], e3))
    third = np.arctan2(-dot(e1, distal[..., 0, :]), dot(e1, distal[..., 2, :]))
    return _unless_locked(first, second, third, np.cos(second) >= smallest_floating_axis)


def angles_inversion_last(proximal: Array, distal: Array, *, smallest_floating_axis: float) -> Array:
    """Return the right-handed Cardan angles Z-Y-X of the distal segment against the proximal one.

    Arguments and result (about z, x, y) as in :func:`angles`.
    Source: the ankle of Plug-in Gait, found by comparison with its stored angles.
    """
    x, z = distal[..., 0, :], proximal[..., 2, :]
    second = -np.arcsin(np.clip(dot(z, x), -1, 1))
    first = np.arctan2(dot(proximal[..., 1, :], x), dot(proximal[..., 0, :], x))
    third = np.arctan2(dot(z, distal[..., 1, :]), dot(z, distal[..., 2, :]))
    return _unless_locked(first, third, second, np.cos(second) >= smallest_floating_axis)


def _unless_locked(z: Array, x: Array, y: Array, free: Flags) -> Array:
    """Return three angles as one array (..., 3), NaN in gimbal lock."""
    result = np.moveaxis(np.array([z, x, y]), 0, -1)
    result[~free] = np.nan
    return result


def axes(proximal: Array, distal: Array) -> Array:
    """Return the joint coordinate axes e1, e2, e3 as rows (..., 3, 3), unit vectors in lab axes; see :func:`angles`."""
    e1, e3 = proximal[..., 2, :], distal[..., 1, :]
    result = np.empty_like(distal)
    result[..., 0, :], result[..., 1, :], result[..., 2, :] = e1, unit(cross(e3, e1)), e3
    return result


def joint_angles(
    rotation: Array, convention: str, smallest_floating_axis: float, tibial_torsion: Array | None = None
) -> Array:
    """Return (time, side, joint, angle) of ankle, knee and hip.

    Args:
        rotation: (time, side, 4, 3, 3) of foot, shank, thigh and pelvis, v_segment = rotation @ v_lab.
        convention: ``isb``, or ``plug_in_gait`` with its sequence of the ankle.
        smallest_floating_axis: cosine of the second angle below which angles are NaN.
        tibial_torsion: (side,), rad, inwards positive, by which the shank is turned about its y for the ankle's angles.
    """
    proximal, distal = rotation[:, :, 1:], rotation[:, :, :3]
    if tibial_torsion is not None and tibial_torsion.any():
        twist = np.array([turn_about_y(angle) for angle in MIRROR * tibial_torsion])
        proximal = np.concatenate([twist[:, None] @ proximal[:, :, :1], proximal[:, :, 1:]], axis=2)
    angle = angles(proximal, distal, smallest_floating_axis=smallest_floating_axis)
    if convention == "plug_in_gait":
        angle[:, :, 0] = angles_inversion_last(
            proximal[:, :, 0], distal[:, :, 0], smallest_floating_axis=smallest_floating_axis
        )
    return np.asarray(np.degrees(angle) * SIGNS)


def fit_torsion(shank: Array, foot: Array, stored_deg: Array, side: str) -> tuple[float, float]:
    """Return the turn of a shank about its y that gives ankle angles which Plug-in Gait stored, and their misfit.

    Args:
        shank, foot: (time, 3, 3), v_segment = rotation @ v_lab; the shank without torsion.
        stored_deg: (time, 3), dorsiflexion, eversion, internal rotation; NaN where unknown.
        side: ``left`` or ``right``.

    Returns:
        The tibial torsion, rad, inwards positive, and the root mean square misfit of the three angles, degrees; NaN
        where no frame shows them all.
    """
    target = stored_deg * [1, -1, 1]
    seen = np.flatnonzero(np.isfinite(target).all(axis=1) & np.isfinite(shank + foot).all(axis=(1, 2)))
    if not seen.size:
        return np.nan, np.nan
    chosen = seen[:: -(-seen.size // FRAMES_OF_TORSION)]

    def misfit_deg(torsion: float) -> float:
        twisted = turn_about_y(SIDE_SIGN[side] * torsion) @ shank[chosen]
        angle = angles_inversion_last(twisted, foot[chosen], smallest_floating_axis=0.0)
        off = np.degrees(angle) * SIGNS[SIDES.index(side), 0] - target[chosen]
        return float(np.sqrt(np.mean(((off + 180) % 360 - 180) ** 2)))

    best, step = 0.0, LARGEST_TORSION / 6
    while step > SMALLEST_STEP:
        best, step = min(best + step * np.arange(-6, 7), key=misfit_deg), step / 6
    return float(best), misfit_deg(best)


def from_line(rotation: Array, heading: Array | float) -> Array:
    """Return poses, or vectors, (..., n, 3) in axes turned to the left about the vertical by ``heading`` (...), rad."""
    cosine, sine = (np.asarray(part)[..., None] for part in (np.cos(heading), np.sin(heading)))
    forward, up, right = np.moveaxis(rotation, -1, 0)
    return np.stack([cosine * forward - sine * right, up, sine * forward + cosine * right], axis=-1)


def pelvis_angles(rotation: Array, smallest_floating_axis: float, mirror: Array = MIRROR) -> Array:
    """Return (..., side, 3): anterior tilt, obliquity (this side up) and internal rotation (this side forward).

    Cardan sequence Z-X-Y of the pelvis in the axes of ``rotation``, as in Plug-in Gait (Davis RB et al. 1991, Hum Mov
    Sci 10:575-587).

    Args:
        rotation: (..., side, 3, 3), v_pelvis = rotation @ v.
        smallest_floating_axis: cosine of obliquity below which the angles are NaN.
        mirror: of :data:`SIDE_SIGN`, for sides in another shape.
    """
    level = np.broadcast_to(np.eye(3), rotation.shape)
    angle = angles(level, rotation, smallest_floating_axis=smallest_floating_axis)
    return np.asarray(np.degrees(angle) * np.stack([-np.ones_like(mirror), -mirror, mirror], axis=-1))


def foot_progression(rotation: Array, mirror: Array = MIRROR) -> Array:
    """Return (..., side): the angle of the foot's long axis from the plane of x and y, degrees, toes in positive.

    It is the arcsine of the axis' lateral part, as in Plug-in Gait, which takes the foot in the Cardan sequence Z-Y-X
    (found by comparison with its stored angles). The angle seen from above is the same while the foot is level,
    and larger while it is steep.

    Args:
        rotation: (..., side, 3, 3), v_foot = rotation @ v.
        mirror: of :data:`SIDE_SIGN`, for sides in another shape.
    """
    return np.asarray(np.degrees(np.arcsin(np.clip(-rotation[..., 0, 2], -1, 1))) * mirror)
