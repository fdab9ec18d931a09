"""Checks of a cycle's muscle forces: do they give the joint moments, within their limits, without reserve actuators?"""

from collections.abc import Sequence

import numpy as np

from ....arrays import Array
from ....conventions import JOINTS, STANDARD_GRAVITY_M_S2
from ....errors import Problem
from ..muscle_variables import IMPLANTS, contact_doubt, muscle_refusal
from .cycle_curves import ModelMotion
from .scaled_model import COORDINATES, ScaledModel

# of the joint's largest moment. Static optimisation that ends well leaves 0.03 %, one that finds no solution tens
MOST_ERROR_PERCENT = 2.0
LIMITS, ROUNDING = (0.0, 1.0), 0.01  # of activations; OpenSim's own lowest control is 0.01


class Checked:
    """The part of a walk in a cycle of one side, against the largest moment of each joint in it."""

    def __init__(self, motion: ModelMotion, model: ScaledModel, span_s: Array, row: int) -> None:
        inside = (motion.time >= span_s[0]) & (motion.time <= span_s[1])
        of_joint = [[name in COORDINATES[joint] for name in model.coordinates] for joint in JOINTS]
        self.activation, self.muscles = motion.activation[inside, row], model.muscles
        largest = np.abs(motion.moment[inside, row]).max(axis=0)
        reserve = np.abs(motion.reserve[inside, row]).max(axis=0)
        error = np.sqrt(np.mean(motion.error[inside, row] ** 2, axis=0))

        def percent(values: Array) -> Array:
            return np.array([100 * values[these].max() / largest[these].max() for these in of_joint])

        self.reserve_share, self.moment_error = percent(reserve), percent(error)  # (joint,), percent
        self.misfit = float(np.sqrt(np.mean(motion.misfit[inside] ** 2)))  # m

    def problem(self, *, most_reserve_percent: float) -> Problem | None:
        """Return the first reason to refuse the forces, None if there is none."""
        worst = int(self.moment_error.argmax())
        if not self.moment_error[worst] <= MOST_ERROR_PERCENT:
            return muscle_refusal("muscle_moments_differ", joint=JOINTS[worst], percent=self.moment_error[worst])
        beyond = np.maximum(LIMITS[0] - self.activation, self.activation - LIMITS[1]).max(axis=0)
        if beyond.max() > ROUNDING:
            muscle = int(beyond.argmax())
            values = self.activation[:, muscle]
            farthest = float(values[np.abs(values - np.mean(LIMITS)).argmax()])
            return muscle_refusal("muscle_out_of_limits", muscle=self.muscles[muscle], activation=farthest)
        worst = int(self.reserve_share.argmax())
        if self.reserve_share[worst] > most_reserve_percent:
            return muscle_refusal("reserves_too_large", joint=JOINTS[worst], percent=self.reserve_share[worst])
        return None


def doubt_of(contact: Array, activation: Array, muscles: Sequence[str]) -> Problem | None:
    """Return the doubt about the contact forces of a cycle, that of the joint farthest beyond implants; None without.

    Args:
        contact: force (joint, axis, phase) between the bones per body mass, N/kg.
        activation: (muscle, phase).
    """
    weights = np.linalg.norm(contact, axis=1) / STANDARD_GRAVITY_M_S2
    beyond = {joint: weights[JOINTS.index(joint)].max() / known.most for joint, known in IMPLANTS.items()}
    joint = max(beyond, key=lambda name: beyond[name])
    if not beyond[joint] > 1:
        return None
    curve = weights[JOINTS.index(joint)]
    phase = int(curve.argmax())
    levels = dict(zip(muscles, activation[:, phase].tolist(), strict=True))
    return contact_doubt(joint, float(curve[phase]), phase, levels)
