"""Generated walks of which every foot strikes the ground: a transient of known size in the force and in the leg.

An impact is a collision: within its 10 to 20 ms no muscle changes its force (its latency is longer), so that force and
accelerations balance. The leg below a resting hip is turned as the force at the heel turns three free links, less what
ligaments and tensed muscles resist. A slower motion takes the turn back. What is not balanced are the centripetal loads
of a foot that turns faster: they remain in the joint moments, which are exact for the motion as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, ndtr

from pipeline.demo.body import segment_parameters
from pipeline.demo.curves import rotation
from pipeline.demo.legs import Pose
from pipeline.demo.loads import GRAVITY, Ground, ground, mass_centres, pressure_path
from pipeline.demo.walk import Motion, Walk, motion

Array = NDArray[np.float64]

TAKEN_BACK_S = 0.035  # standard deviation of the slower motion: 4.5 Hz
BEYOND_S = 0.45  # of the recording: the demo's motion is valid to 0.5 s
AREA = 6 * np.exp(3) / 81  # of the transient, in peaks times rise times


class Impact(NamedTuple):
    """The impact of a foot.

    Attributes:
        size: peak of the vertical transient above the smooth force, body weights.
        rise_s: from foot strike to this peak.
        braking: backward force over vertical force.
        passive: share of the free links' answer that the leg shows.
    """

    size: float
    rise_s: float
    braking: float
    passive: float


def strike_hard(walk: Walk, impact: Impact) -> tuple[Motion, Callable[[Walk, Pose, Array], Ground]]:
    """Return the motion of a walk with these impacts, and its ground reaction, as functions like those of the demo."""
    smooth, peak = motion(walk), walk.walker.mass_kg * GRAVITY * impact.size * np.array([-impact.braking, 1.0, 0.0])
    steps = np.flatnonzero((walk.strike > -BEYOND_S) & (walk.strike < walk.gait.duration_s + BEYOND_S)).tolist()
    answers = {step: impact.passive * _turn_per_impulse(walk, step, smooth) @ peak[:2] for step in steps}

    def hard_motion(time: Array) -> Pose:
        body, turn = smooth(time), np.zeros((len(time), 2, 3))
        for step, answer in answers.items():
            travel = _travel(time - walk.strike[step], impact.rise_s)
            turn[:, walk.side[step]] += AREA * impact.rise_s * travel[:, None] * answer
        turned, centre = rotation(2, turn), body.centre.copy()
        for i in (1, 0):  # knee below the hip, ankle below the knee
            link = body.centre[:, :, i] - body.centre[:, :, i + 1]
            centre[:, :, i] = centre[:, :, i + 1] + np.einsum("tsij,tsj->tsi", turned[:, :, i + 1], link)
        return replace(body, rotation=turned @ body.rotation, centre=centre)

    def hard_ground(walk: Walk, body: Pose, time: Array) -> Ground:
        loads = ground(walk, body, time)
        force = loads.force.copy()
        for step in steps:
            since = np.clip(time - walk.strike[step], 0, None) / impact.rise_s
            force[:, walk.side[step]] += (since**3 * np.exp(3 - 3 * since))[:, None] * peak
        return replace(loads, force=np.where(np.isnan(loads.pressure_centre), 0.0, force))

    return hard_motion, hard_ground


def _travel(since_s: Array, rise_s: float) -> Array:
    """Return the path (time,), s, of a unit of speed that the transient gives and the slower motion takes back.

    The transient is a gamma density of order 4 from the strike on, the slower one a normal density about its mean.
    """
    scale = rise_s / 3
    late = np.clip(since_s, 0, None) / scale
    fast = since_s.clip(0) * gammainc(4, late) - 4 * scale * gammainc(5, late)
    z = (since_s - 4 * scale) / TAKEN_BACK_S
    return np.asarray(fast - TAKEN_BACK_S * (z * ndtr(z) + np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)))


def _turn_per_impulse(walk: Walk, step: int, smooth: Motion) -> Array:
    """Return the angular velocity (segment, 2) about z of foot, shank, thigh per impulse ahead and up at the heel."""
    side, time = int(walk.side[step]), walk.strike[step : step + 1]
    body, parameters = smooth(time), segment_parameters(walk.walker)
    joints, com = (points[0, side, :, :2] for points in (body.centre, mass_centres(body, parameters)))
    turn = body.rotation[0, side]
    inertia = (turn @ parameters.inertia[side] @ np.swapaxes(turn, -1, -2))[:, 2, 2]

    def lever(point: Array, carrier: int) -> Array:
        """Return the velocity (2, segment) of a point of a segment per angular velocity of each segment."""
        ends = [point if i == carrier else joints[i - 1] for i in range(3)]
        arms = np.array([ends[i] - joints[i] if i >= carrier else np.zeros(2) for i in range(3)])
        return np.array([-arms[:, 1], arms[:, 0]])

    levers = [lever(com[i], i) for i in range(3)]
    mass = np.diag(inertia) + sum(m * part.T @ part for m, part in zip(parameters.mass[side], levers, strict=True))
    heel = pressure_path(walk, step, np.zeros(1))[0, :2]
    return np.asarray(np.linalg.solve(mass, lever(heel, 0).T))
