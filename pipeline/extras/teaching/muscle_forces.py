r"""Muscle forces from joint torques, and what each muscle accelerates.

More muscles than joints: many forces F give the same torques, tau = R^T F (:mod:`.muscles`). Static optimisation
chooses those with the least sum of squared stresses::

    minimise sum (F_k / A_k)^2     so that     R^T F = tau,     0 <= F_k <= largest force

With multipliers lam of the torques and no bound active, F = D R lam with D = diag(A_k^2) and
lam = (R^T D R)^-1 tau: each muscle shares in proportion to its arm times the square of its area. A muscle at a bound
has lam . R_k pointing beyond it (Karush, Kuhn and Tucker).

A force F_k accelerates **all** joints, those that the muscle does not cross included, because the mass matrix couples
them: q'' = M^-1 R_k F_k. For two links and a muscle with the arms r_1 and r_2 this is::

    det(M) q1'' = (M22 r_1 - M12 r_2) F            det(M) q2'' = (M11 r_2 - M12 r_1) F

so that a two-joint muscle accelerates joint 1 against its own torque if r_2 / r_1 > M22 / M12.

Sources: Crowninshield RD, Brand RA (1981) J Biomech 14:793-801, there with cubes; Lawson CL, Hanson RJ (1974)
Solving Least Squares Problems, chapter 23, for the algorithm; Zajac FE, Gordon ME (1989)
Determining muscle's force and action in multi-articular movement. Exerc Sport Sci Rev 17:187-230.
"""

import numpy as np

from ...arrays import Array
from ...dynamics.vectors import apply, sum_from_last, transpose
from ...errors import UserError
from . import pendulum
from .planar import Links, absolute

FULFILLED = 1e-9  # of the torques: by how much a solution may miss them
SMALLEST_STRESS = 1e-9  # Pa; without torques all forces are zero
NO_REST = 1e-100  # of least squares without any solution, in place of zero


def share(arms: Array, torque: Array, area_m2: Array, max_force_n: Array) -> Array:
    """Return the forces (K,), N, with the least sum of squared stresses.

    Args:
        arms: R (K, n), m.
        torque: tau (n,), N m.
        area_m2: (K,), physiological cross-sections.
        max_force_n: (K,); infinite for no limit.

    Raises:
        UserError: no forces within their limits give the torques.
    """
    from scipy.optimize import nnls

    # the shortest vector x, in shares of the shortest without limits, with rows @ x >= least; Lawson and Hanson
    lever = transpose(arms) * area_m2
    size = max(float(np.linalg.norm(np.linalg.pinv(lever) @ torque)), SMALLEST_STRESS)
    each, wanted = np.eye(len(area_m2)), torque / size
    rows = np.concatenate([lever, -lever, each, -each])
    least = np.concatenate([wanted, -wanted, 0 * area_m2, -max_force_n / area_m2 / size])
    # rows of length 1, so that torques and stresses, of other sizes and units, are met equally well
    weight = np.maximum(np.linalg.norm(rows, axis=1), SMALLEST_STRESS)
    rows, least = (rows / weight[:, None])[np.isfinite(least)], (least / weight)[np.isfinite(least)]
    system, aim = np.vstack([rows.T, least]), np.append(0 * area_m2, 1)
    rest = system @ nnls(system, aim)[0] - aim
    found = -rest[:-1] / min(rest[-1], -NO_REST)
    if not np.allclose(lever @ found, wanted, rtol=0, atol=FULFILLED * np.linalg.norm(lever)):
        texts = ", ".join(f"{value:.3g}" for value in torque)
        what = f"no muscle forces within their limits give the joint torques {texts} N m"
        remedy = "give stronger muscles, add one that pulls the other way, or check the sign of the torques"
        raise UserError("static optimisation", what, remedy)
    return np.asarray(found * size * area_m2)


def joint_mass_matrix(links: Links, q: Array) -> Array:
    """Return M(q) (..., n, n), kg m2, in angles from the previous link, for any number of links.

    For one or two links it is that of :func:`.planar.mass_matrix`.
    """
    return sum_from_last(sum_from_last(pendulum.mass_matrix(links, absolute(q)), axis=-1), axis=-2)


def induced_accelerations(mass: Array, arms: Array, force: Array) -> Array:
    """Return M^-1 R_k F_k (..., K, n), rad/s2: the acceleration of each joint by each muscle.

    Their sum over the muscles, with the accelerations of velocity, gravity and load, is that of the motion.

    Args:
        mass: M (..., n, n), kg m2, of the limb.
        arms: R (..., K, n), m.
        force: F (..., K), N.
    """
    return apply(np.asarray(np.linalg.inv(mass))[..., None, :, :], arms * force[..., None])
