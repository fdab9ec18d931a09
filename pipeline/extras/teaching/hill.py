r"""Hill-type muscle with tendon: force-length, force-velocity, activation, series elasticity.

A muscle is a contractile element beside a passive one, in series with a tendon; its fibres meet the tendon at the
pennation angle alpha. Normalised are the fibre's length l (by the optimal length), its velocity v (by the largest
velocity of shortening at this activation), and forces (by the largest isometric force F0)::

    a'     = (u - a) / tau       tau = t_act (0.5 + 1.5 a) if u > a, else t_deact / (0.5 + 1.5 a)              (1), (2)
    f_pe   = (exp(k_pe (l - 1) / e_m) - 1) / (exp(k_pe) - 1)                 0 for l < 1                           (3)
    f_l    = exp(-(l - 1)^2 / gamma)                                                                               (4)
    f_t    = f_toe (exp(k_toe e / e_toe) - 1) / (exp(k_toe) - 1)             0 for strains e < 0                   (5)
             k_lin (e - e_toe) + f_toe                                       beyond e_toe
    l'     = (0.25 + 0.75 a) v_max v                                                                          (6), (7)
    v      = (f_v - 1) / b       b = 1 + f_v / A_f, or (2 + 2 / A_f) (f_len - f_v) / (f_len - 1) for f_v > 1
    f_t    = (a f_l f_v + f_pe) cos alpha                                    a massless tendon is in equilibrium

The numbers are Thelen's equations. v is positive in lengthening; forces are positive in pull. b has its value at f_v =
0 for lower forces, and at .95 f_len for higher ones, where b would go to zero. The thickness of the muscle,
l sin(alpha), is constant.

Shapes: all fields and arguments (K,) or (..., K) for K muscles; they broadcast. SI units.

Sources: Thelen DG (2003) Adjustment of muscle mechanics model parameters to simulate dynamic contractions in older
adults. J Biomech Eng 125:70-77, with the constants of young adults; Zajac FE (1989) Crit Rev Biomed Eng 17:359-411.
"""

from dataclasses import dataclass

import numpy as np

from ...arrays import Array

GAMMA = 0.45  # width of the force-length curve
PASSIVE_STRAIN, PASSIVE_SHAPE = 0.6, 5.0  # e_m, of the fibre at F0; k_pe
VELOCITY_SHAPE, LENGTHENING_FORCE = 0.25, 1.4  # A_f; f_len, the largest force in lengthening
TENDON_STRAIN, TOE_FORCE, TOE_SHAPE = 0.04, 0.33, 3.0  # of the tendon at F0; f_toe; k_toe
# e_toe and k_lin, so that force and slope are continuous and the force is F0 at the tendon's strain (.609, 1.712)
_END_SLOPE = TOE_FORCE * TOE_SHAPE / (1 - np.exp(-TOE_SHAPE))
TOE_STRAIN = TENDON_STRAIN * _END_SLOPE / (_END_SLOPE + 1 - TOE_FORCE)
TENDON_SLOPE = (1 - TOE_FORCE) / (TENDON_STRAIN - TOE_STRAIN)
RISE = (2 + 2 / VELOCITY_SHAPE) / (LENGTHENING_FORCE - 1)  # of b below f_len
STEEP = 0.95  # share of f_len above which b is constant
LEAST_ACTIVATION = 0.01  # without activation the velocity is undefined


@dataclass(frozen=True)
class Hill:
    """Sizes of muscles, (K,) each, and times of activation."""

    max_force_n: Array
    optimal_length_m: Array  # of the fibres
    slack_length_m: Array  # of the tendon
    pennation_rad: Array | float = 0.0  # at the optimal length
    max_velocity_s: Array | float = 10.0  # of shortening, optimal lengths per second
    activation_s: Array | float = 0.015
    deactivation_s: Array | float = 0.05


# ---- curves


def active_force(length: Array) -> Array:
    """Return f_l, the isometric force at full activation per F0; equation 4."""
    return np.asarray(np.exp(-((length - 1) ** 2) / GAMMA))


def passive_force(length: Array) -> Array:
    """Return f_pe, the force of the passive element per F0; equation 3."""
    return np.asarray(np.expm1(PASSIVE_SHAPE * np.maximum(length - 1, 0) / PASSIVE_STRAIN) / np.expm1(PASSIVE_SHAPE))


def tendon_force(strain: Array) -> Array:
    """Return f_t, the force of the tendon per F0; equation 5."""
    toe = np.expm1(TOE_SHAPE * np.clip(strain, 0, TOE_STRAIN) / TOE_STRAIN) / np.expm1(TOE_SHAPE)
    return np.asarray(TOE_FORCE * toe + TENDON_SLOPE * np.maximum(strain - TOE_STRAIN, 0))


def velocity_at(factor: Array) -> Array:
    """Return v, at which the contractile element has f_v times its isometric force; equations 6 and 7."""
    return np.asarray((factor - 1) / _slope(factor))


def velocity_factor(velocity: Array) -> Array:
    """Return f_v, the inverse of :func:`velocity_at`; 0 for v < -1, faster than the fastest shortening."""
    shortening, lengthening = np.clip(velocity, -1, 0), np.maximum(velocity, 0)
    slow = (1 + shortening) / (1 - shortening / VELOCITY_SHAPE)
    fast = (1 + RISE * LENGTHENING_FORCE * lengthening) / (1 + RISE * lengthening)
    steep = 1 + lengthening * _slope(np.asarray(STEEP * LENGTHENING_FORCE))
    return np.asarray(np.where(velocity < 0, slow, np.maximum(fast, steep)))


def _slope(factor: Array) -> Array:
    """Return b."""
    lengthening = RISE * (LENGTHENING_FORCE - np.minimum(factor, STEEP * LENGTHENING_FORCE))
    return np.asarray(np.where(factor > 1, lengthening, 1 + np.maximum(factor, 0) / VELOCITY_SHAPE))


# ---- muscles


def activation_rate(hill: Hill, activation: Array, excitation: Array) -> Array:
    """Return a', 1/s, of an excitation u, which is held within .01 and 1; equations 1 and 2."""
    held = np.clip(excitation, LEAST_ACTIVATION, 1)
    pace = 0.5 + 1.5 * activation
    time = np.where(held > activation, hill.activation_s * pace, hill.deactivation_s / pace)
    return np.asarray((held - activation) / time)


def pennation_cosine(hill: Hill, fibre: Array) -> Array:
    """Return cos(alpha) at a length of the fibres, m."""
    return np.asarray(np.sqrt(1 - (hill.optimal_length_m * np.sin(hill.pennation_rad) / fibre) ** 2))


def fibre_with_rigid_tendon(hill: Hill, length: Array, velocity: Array) -> tuple[Array, Array]:
    """Return length and velocity of the fibres, m and m/s, of muscles with tendons that never stretch.

    NaN if muscle and tendon together, of this length and velocity, are not longer than the tendon.
    """
    along = np.where(length > hill.slack_length_m, length - hill.slack_length_m, np.nan)
    fibre = np.hypot(along, hill.optimal_length_m * np.sin(hill.pennation_rad))
    return fibre, velocity * pennation_cosine(hill, fibre)


def contractile_force(hill: Hill, activation: Array, fibre: Array, rate: Array) -> Array:
    """Return F0 a f_l f_v, N, along the fibres, of their length and velocity, m and m/s."""
    factor = velocity_factor(rate / _fastest(hill, activation))
    return np.asarray(hill.max_force_n * activation * active_force(fibre / hill.optimal_length_m) * factor)


def muscle_force(hill: Hill, activation: Array, fibre: Array, rate: Array) -> Array:
    """Return the pull of the fibres along the tendon, N; with a rigid tendon, the force of the muscle."""
    passive = hill.max_force_n * passive_force(fibre / hill.optimal_length_m)
    return (contractile_force(hill, activation, fibre, rate) + passive) * pennation_cosine(hill, fibre)


def elastic_force(hill: Hill, fibre: Array, length: Array) -> Array:
    """Return the pull of a compliant tendon, N, at lengths of the fibres and of muscle and tendon together, m."""
    return np.asarray(hill.max_force_n * tendon_force(_strain(hill, fibre, length)))


def fibre_rate(hill: Hill, activation: Array, fibre: Array, length: Array) -> Array:
    """Return the velocity of the fibres, m/s, at which they balance a compliant tendon; equations 6 and 7."""
    normalised = fibre / hill.optimal_length_m
    along = elastic_force(hill, fibre, length) / hill.max_force_n / pennation_cosine(hill, fibre)
    factor = (along - passive_force(normalised)) / (activation * active_force(normalised))
    return velocity_at(factor) * _fastest(hill, activation)


def fibre_at_rest(hill: Hill, activation: Array, length: Array) -> Array:
    """Return the length of the fibres, m, (K,), that holds still against a compliant tendon.

    ValueError if there is none: muscle and tendon together are not longer than the slack tendon.
    """
    from scipy.optimize import brentq

    free = length - hill.slack_length_m
    if (free <= 0).any():
        raise ValueError(f"muscle and tendon are shorter than the slack tendon by {-free.min():.3f} m")
    thickness = hill.optimal_length_m * np.sin(hill.pennation_rad)

    def balance(along: float, k: int) -> float:
        fibre = np.hypot(along, thickness)
        pull = muscle_force(hill, activation, fibre, 0 * fibre)
        return float((elastic_force(hill, fibre, length) - pull)[k])

    along = [brentq(balance, 1e-6 * free[k], free[k], args=(k,), xtol=1e-15) for k in range(len(free))]
    return np.asarray(np.hypot(along, thickness))


def elastic_energy(hill: Hill, fibre: Array, length: Array) -> tuple[Array, Array]:
    """Return the energy stored in passive element and tendon, J; the integrals of equations 3 and 5."""
    stretch, strain = np.maximum(fibre / hill.optimal_length_m - 1, 0), _strain(hill, fibre, length)
    toe, beyond = np.clip(strain, 0, TOE_STRAIN), np.maximum(strain - TOE_STRAIN, 0)
    passive = _exponential_area(stretch, PASSIVE_STRAIN, PASSIVE_SHAPE)
    tendon = TOE_FORCE * (_exponential_area(toe, TOE_STRAIN, TOE_SHAPE) + beyond) + TENDON_SLOPE * beyond**2 / 2
    sizes = hill.max_force_n * hill.optimal_length_m, hill.max_force_n * hill.slack_length_m
    return np.asarray(sizes[0] * passive), np.asarray(sizes[1] * tendon)


def _exponential_area(x: Array, end: float, shape: float) -> Array:
    """Return the integral from 0 to x of (exp(shape x / end) - 1) / (exp(shape) - 1)."""
    return np.asarray((end / shape * np.expm1(shape * x / end) - x) / np.expm1(shape))


def _strain(hill: Hill, fibre: Array, length: Array) -> Array:
    return np.asarray((length - fibre * pennation_cosine(hill, fibre)) / hill.slack_length_m - 1)


def _fastest(hill: Hill, activation: Array) -> Array:
    """Return (0.25 + 0.75 a) v_max, m/s."""
    return np.asarray((0.25 + 0.75 * activation) * hill.max_velocity_s * hill.optimal_length_m)
