"""What OpenSim finds of a walk, as arrays of both sides, over 0-100 % of gait cycles."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....arrays import Array
from ....conventions import JOINTS, STANDARD_GRAVITY_M_S2
from ....signals.splines import derivatives
from ....signals.time_normalisation import at_phases, phase_frames
from ..motion_files import Columns
from ..muscle_variables import OF_METRICS
from .opensim_run import Forces, Geometry
from .scaled_model import BODIES, ENDS, ScaledModel


class ModelMotion(NamedTuple):
    """A walk of the model, its sides in the order of SIDES, SI units."""

    time: Array  # (time,)
    length: Array  # (time, side, muscle)
    arm: Array  # (time, side, muscle, coordinate)
    force: Array  # (time, side, muscle)
    activation: Array  # (time, side, muscle)
    moment: Array  # (time, side, coordinate), that muscles and reserve actuators share
    reserve: Array  # (time, side, coordinate)
    contact: Array  # (time, side, joint, axis), force on the distal body, lab axes
    misfit: Array  # (time,), root mean square distance of points

    @property
    def error(self) -> Array:
        """Return the moments (time, side, coordinate) of muscles and reserves less those that they are to share."""
        shared: Array = np.einsum("tsmc,tsm->tsc", self.arm, self.force)
        return shared + self.reserve - self.moment


def both_sides(geometry: Geometry, forces: Forces, model: ScaledModel, misfit: Array) -> ModelMotion:
    """Return the results of OpenSim at the same instants as arrays; for ``misfit`` (time,) see ModelMotion."""

    def sided(columns: Columns, names: Sequence[str], form: str = "{}_{}") -> Array:
        every = [[columns[form.format(name, end)] for name in names] for end in ENDS]
        return np.moveaxis(np.array(every), -1, 0)

    none = np.zeros(len(forces.time))  # the arm of a muscle about a joint that it does not cross
    arms = [
        [
            [geometry.arm.get((f"{of}_{end}", f"{name}_{end}"), none) for of in model.coordinates]
            for name in model.muscles
        ]
        for end in ENDS
    ]
    contact = [[forces.force_of_joint(model.joints[f"{BODIES[joint]}_{end}"]) for joint in JOINTS] for end in ENDS]
    return ModelMotion(
        forces.time,
        sided(geometry.length, model.muscles),
        np.moveaxis(np.array(arms), -1, 0),
        sided(forces.force, model.muscles),
        sided(forces.activation, model.muscles),
        sided(forces.moment, model.coordinates, "{}_{}_moment"),
        sided(forces.force, model.coordinates, "reserve_{}_{}"),
        np.moveaxis(np.array(contact), 2, 0),
        misfit,
    )


def curves_of(
    motion: ModelMotion, span_s: Array, rows: NDArray[np.intp], standing_m: Array, *, mass_kg: float
) -> dict[str, Array]:
    """Return the variables of cycles by name.

    Args:
        span_s: start and end of each cycle, (cycle, 2).
        rows: side of each, (cycle,).
        standing_m: lengths in the static trial, (side, muscle).
    """
    frames = phase_frames(motion.time, *span_s.T)
    quantities = {
        "muscle_tendon_length": motion.length,
        "muscle_tendon_length_of_standing": motion.length / standing_m,
        "muscle_tendon_velocity": derivatives(motion.length, motion.time)[0],
        "moment_arm": motion.arm,
        "muscle_force": motion.force,
        "activation": motion.activation,
        "joint_contact_force": motion.contact / mass_kg,
        "model_moment": motion.moment / mass_kg,
        "reserve_moment": motion.reserve / mass_kg,
    }
    return {name: at_phases(values, frames, rows) for name, values in quantities.items()}


def peaks(found: Mapping[str, Array], muscles: Sequence[str]) -> dict[str, Array]:
    """Return the metrics (cycle,) of curves (cycle, muscle, phase) and contact forces; NaN where a value is missing."""
    peaks = {}
    for metric, (_, names) in OF_METRICS.items():
        place = next((muscles.index(name) for name in names if name in muscles), None)
        for what in ("length", "length_of_standing", "velocity"):
            curve = found[f"muscle_tendon_{what}"]
            peaks[f"peak_{metric}_{what}"] = (
                np.full(len(curve), np.nan) if place is None else curve[:, place].max(axis=-1)
            )
    size = np.linalg.norm(found["joint_contact_force"], axis=2).max(axis=-1) / STANDARD_GRAVITY_M_S2
    return peaks | {f"peak_contact_force_{joint}": size[:, i] for i, joint in enumerate(JOINTS)}
