"""Reaching with two links: the path of the hand, and the joint motion along it.

Axes, angles and links are those of :mod:`.planar`. SI units; everything broadcasts over ``...``.
"""

import numpy as np

from ...arrays import Array
from ...errors import UserError
from .planar import Links, jacobian, jacobian_rate

ROUNDING = 1e-12  # of the limb's length: a tip out of reach by less counts as straight (or folded)
SINGULAR_RAD = 1e-6  # nearer to straight or folded, rates of angles are rounding


def minimum_jerk(start: Array, end: Array, time: Array, *, duration_s: float) -> tuple[Array, Array, Array]:
    """Return position, velocity and acceleration (time, k) of a minimum-jerk path.

    With s = t / T: x = start + (end - start) (10 s^3 - 15 s^4 + 6 s^5), which has the least integral of the squared
    jerk, 720 (end - start)^2 / T^5; its peak speed is 15/8 of the mean.

    Args:
        start, end: (k,), m (or rad).
        time: (time,), s; rest before 0 and after the duration.
        duration_s: T.

    Source: Flash T, Hogan N (1985) J Neurosci 5:1688-1703.
    """
    s = np.clip(time / duration_s, 0, 1)[:, None]
    way = end - start
    velocity, acceleration = 30 * s**2 * (1 - s) ** 2, 60 * s * (1 - s) * (1 - 2 * s)
    position = start + way * s**3 * (10 - 15 * s + 6 * s**2)
    return position, way * velocity / duration_s, way * acceleration / duration_s**2


def angles_at(links: Links, place: Array) -> Array:
    """Return the angles (..., 2 solutions, 2 joints) for a position of the tip.

    The first solution has q_2 in [0, pi], like a right elbow seen from above, the second has the opposite q_2. They are
    equal if the limb is straight or folded. q_1 is within (-2 pi, 2 pi): unwrap it along time.

    Args:
        place: (..., 2), m; NaN results if out of reach, farther than l1 + l2 or nearer than abs(l1 - l2).
    """
    first, second = links.length[..., 0], links.length[..., 1]
    square = (place**2).sum(axis=-1)
    outside, inside = (first + second) ** 2 - square, square - (first - second) ** 2
    missing = ROUNDING * (first + second) ** 2
    reached = (outside > -missing) & (inside > -missing)
    # half the elbow's angle by its tangent: exact near a straight limb too, unlike by its cosine
    bend = 2 * np.arctan2(np.sqrt(np.maximum(outside, 0)), np.sqrt(np.maximum(inside, 0)))
    elbow = np.stack([bend, -bend], axis=-1)
    aside = np.arctan2(second[..., None] * np.sin(elbow), first[..., None] + second[..., None] * np.cos(elbow))
    shoulder = np.arctan2(place[..., 1], place[..., 0])[..., None] - aside
    return np.where(reached[..., None, None], np.stack([shoulder, elbow], axis=-1), np.nan)


def joint_rates(links: Links, q: Array, velocity: Array, acceleration: Array) -> tuple[Array, Array]:
    """Return q' = J^-1 v and q'' = J^-1 (a - J' q'), (..., 2) each, rad/s and rad/s2.

    NaN if the limb is straight or folded (det J = l1 l2 sin q_2 = 0) and cannot follow every velocity.

    Args:
        q: (..., 2), rad.
        velocity, acceleration: (..., 2), of the tip, m/s and m/s2.
    """
    regular = np.abs(np.sin(q[..., 1])) > SINGULAR_RAD
    back = np.linalg.inv(np.where(regular[..., None, None], jacobian(links, q), np.eye(2)))
    back = np.where(regular[..., None, None], back, np.nan)
    qd = np.asarray((back @ velocity[..., None])[..., 0])
    turning = jacobian_rate(links, q, qd) @ qd[..., None]
    return qd, np.asarray((back @ (acceleration[..., None] - turning))[..., 0])


def reach(links: Links, start: Array, end: Array, time: Array, *, duration_s: float) -> tuple[Array, Array, Array]:
    """Return q, q' and q'' (time, 2) of a straight minimum-jerk reach, q_2 positive.

    Near a straight limb, at the distance delta from its reach, q_2 is proportional to sqrt(delta): a reach that starts
    there from rest has accelerations that grow without limit, as 1 / sqrt(t), towards its start.

    Raises:
        UserError: the path leaves the reach of the limb, or the limb is straight or folded on it.
    """
    place, velocity, acceleration = minimum_jerk(start, end, time, duration_s=duration_s)
    q = np.unwrap(angles_at(links, place)[:, 0], axis=0)
    qd, qdd = joint_rates(links, q, velocity, acceleration)
    lost = np.isnan(qdd).any(axis=1)
    if lost.any():
        raise _impossible(links, place[lost][0], float(time[lost][0]))
    return q, qd, qdd


def _impossible(links: Links, place: Array, time_s: float) -> UserError:
    """Return the error of a place that no motion of the joints passes."""
    where = f"reach, at {time_s:.3f} s"
    bend = angles_at(links, place)[0, 1]
    if np.isnan(bend):
        limits = f"from {abs(links.length[0] - links.length[1]):.3f} to {links.length.sum():.3f} m"
        what = f"the tip is {np.linalg.norm(place):.3f} m away, but the limb reaches {limits}"
        return UserError(where, what, "choose start and end so that the straight path between them is within reach")
    shape = "straight" if bend < np.pi / 2 else "folded"
    what = f"the limb is {shape}, where the second joint would need an acceleration without limit"
    return UserError(where, what, "bend the second joint a little there, for example by 5 degrees")
