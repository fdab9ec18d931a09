"""Balance of the whole body: its centre of mass, angular momentum about it, and the extrapolated centre of mass."""

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..dynamics.vectors import cross


class Bodies(NamedTuple):
    """All segments of the body."""

    mass: Array  # (body,), kg
    inertia: Array  # (body, 3, 3), about the centre of mass, segment axes, kg m2
    rotation: Array  # (time, body, 3, 3), v_segment = rotation @ v_lab
    spin: Array  # (time, body, 3), angular velocity, segment axes, rad/s
    # position, velocity, acceleration: (time, body, 3), of the centre of mass, lab axes
    position: Array
    velocity: Array
    acceleration: Array


def centre_of_mass(bodies: Bodies) -> tuple[Array, Array, Array]:
    """Return position, velocity and acceleration (time, 3) of the whole body's centre of mass, lab axes."""
    share = bodies.mass / bodies.mass.sum()
    one, two, three = (np.einsum("tba,b->ta", each, share) for each in bodies[-3:])
    return one, two, three


def angular_momentum(bodies: Bodies) -> Array:
    """Return the part (time, body, 3) of each segment in the angular momentum about the whole body's centre of mass.

    H = (c_i - c) x m_i (v_i - v) + R^T I w, lab axes, kg m2/s (Herr H, Popovic M (2008) J Exp Biol 211:467-481).
    """
    position, velocity, _ = centre_of_mass(bodies)
    arm, moving = bodies.position - position[:, None], bodies.velocity - velocity[:, None]
    own = np.einsum("bij,tbj->tbi", bodies.inertia, bodies.spin)
    orbital = cross(arm, moving) * bodies.mass[:, None]
    return np.asarray(orbital + np.einsum("tbji,tbj->tbi", bodies.rotation, own))


def extrapolated(position: Array, velocity: Array, length_m: Array | float, gravity_m_s2: float) -> Array:
    """Return the extrapolated centre of mass, position + velocity / sqrt(g / l) (Hof AL et al. 2005, J Biomech 38:1-8).

    Args:
        position, velocity: (..., 3) of the centre of mass against the ground that bears the foot, m, m/s.
        length_m: (...), of the pendulum, m.
        gravity_m_s2: magnitude of the acceleration of gravity.
    """
    return np.asarray(position + velocity * np.sqrt(np.asarray(length_m)[..., None] / gravity_m_s2))
