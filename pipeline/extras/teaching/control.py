r"""Joints with a controller: proportional, integral and derivative feedback (PID).

The torque of a controller follows the errors e = q_wanted - q::

    tau = tau_ahead + K_p e + K_i (integral of e) + K_d e'

tau_ahead are torques that are known beforehand, for example by inverse dynamics of the wanted motion; they alone are
an open loop. Without K_i a constant load leaves an error, load / K_p; with K_i the error ends at zero. A small
motion about a constant target is stable if K_i < K_p K_d / I (Routh), with the moment of inertia I.

Shapes: n joints, time first. SI units.

Source: Lynch KM, Park FC (2017) Modern Robotics, sections 11.2 to 11.4.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Array

# of t, q, q' and tau: q''
Plant = Callable[[float, Array, Array, Array], Array]
# of t: wanted q and q', and the torques known beforehand
Plan = Callable[[float], tuple[Array, Array, Array]]


@dataclass(frozen=True)
class Gains:
    """Gains of a controller, (n,) each, or one for all joints."""

    proportional: Array | float  # N m/rad
    integral: Array | float  # N m/(rad s)
    derivative: Array | float  # N m s/rad


OPEN_LOOP = Gains(0.0, 0.0, 0.0)


class Controlled(NamedTuple):
    """A controlled motion, (time, n) each."""

    q: Array  # rad
    qd: Array  # rad/s
    torque: Array  # N m


def pid(gains: Gains, error: Array, total: Array, rate: Array) -> Array:
    """Return the torque of the feedback (..., n), N m, of errors, their integrals and rates, rad, rad s, rad/s."""
    return np.asarray(gains.proportional * error + gains.integral * total + gains.derivative * rate)


def simulate_controlled(
    plant: Plant, q: Array, qd: Array, plan: Plan, gains: Gains, time: Array, *, tolerance: float = 1e-10
) -> Controlled:
    """Return the motion of joints that follow a plan.

    Args:
        plant: q'' (n,), rad/s2, of time, q, q' and joint torques.
        q, qd: (n,), at the first instant, rad and rad/s.
        plan: wanted q and q' and torques known beforehand, (n,) each, of the time.
        gains: of the feedback; :data:`OPEN_LOOP` for none.
        time: (time,), s, ascending.
        tolerance: of one step, relative and absolute, in the units of the states.

    Raises:
        ArithmeticError: the integration stopped.
    """
    from scipy.integrate import solve_ivp

    def feedback(t: float, state: Array) -> tuple[Array, Array]:
        q, qd, total = np.split(state, 3)
        wanted, rate, ahead = plan(t)
        return wanted - q, ahead + pid(gains, wanted - q, total, rate - qd)

    def rates(t: float, state: Array) -> Array:
        error, torque = feedback(t, state)
        q, qd, _ = np.split(state, 3)
        return np.concatenate([qd, plant(t, q, qd, torque), error])

    start = np.concatenate([q, qd, 0 * q])
    found = solve_ivp(rates, (time[0], time[-1]), start, method="DOP853", t_eval=time, rtol=tolerance, atol=tolerance)
    if not found.success:
        raise ArithmeticError(f"the integration stopped: {found.message}")
    torques = np.stack([feedback(float(t), state)[1] for t, state in zip(time, found.y.T, strict=True)])
    q, qd, _ = np.split(found.y.T, 3, axis=-1)
    return Controlled(q, qd, torques)
