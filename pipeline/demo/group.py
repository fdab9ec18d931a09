"""A simulated ``study.nc`` of many people with a known effect, to test comparisons of people.

The internal ankle flexion moment of each cycle is the sum of a common push-off and of smooth Gaussian fields with zero
mean for the person, for the person in that condition, and for the cycle. The condition ``fast`` adds the effect, only
between 40 and 60 % of the cycle.
"""

import numpy as np
import xarray as xr

from ..arrays import Array
from ..conventions import SIDES
from ..variables.rows import Variable
from ..variables.schema import VARIABLES

CONDITIONS = ("comfortable", "fast")
PHASE = np.arange(101.0)
PERSON_SD, PERSON_BY_CONDITION_SD, CYCLE_SD = 0.12, 0.06, 0.1  # N m kg-1
SMOOTHNESS = 10.0  # standard deviation of the kernel, percent of the cycle


def group_study(
    *, participants: int = 12, effect_n_m_kg: float = -0.2, cycles: tuple[int, int] = (3, 12), seed: int = 0
) -> xr.Dataset:
    """Return ankle moments and their peaks of people in two conditions.

    Args:
        effect_n_m_kg: effect of ``fast`` at 50 % of the cycle; negative is more plantarflexor moment.
        cycles: smallest and largest number of cycles per person and condition, drawn at random.
    """
    draw = np.random.default_rng(seed)
    counts = draw.integers(cycles[0], cycles[1], size=(participants, 2), endpoint=True)
    person, condition = (np.repeat(index.ravel(), counts.ravel()) for index in np.indices(counts.shape))
    scatter = PERSON_SD * smooth_fields(participants, draw)[person]
    scatter += PERSON_BY_CONDITION_SD * smooth_fields(2 * participants, draw)[2 * person + condition]
    scatter += CYCLE_SD * smooth_fields(person.size, draw)
    moment = push_off() + scatter + condition[:, None] * effect_n_m_kg * effect_shape()
    table = VARIABLES["study"]
    peak = table["peak_ankle_plantarflexor_moment"]
    joint_moment = table["joint_moment_jcs"]
    return xr.Dataset(
        {
            "joint_moment_jcs": (joint_moment.dims, moment[:, None, None], _attributes(joint_moment)),
            "peak_ankle_plantarflexor_moment": (peak.dims, (-moment).max(axis=1), _attributes(peak)),
        },
        {
            "participant": ("cycle", np.array([f"p{number + 1:02}" for number in person])),
            "condition": ("cycle", np.array(CONDITIONS)[condition]),
            "side": ("cycle", np.array(SIDES)[np.concatenate([np.arange(n) for n in counts.flat]) % 2]),
            "kinetics_valid": ("cycle", np.ones(person.size, dtype=bool)),
            "joint": ["ankle"],
            "angle": ["flexion"],
            "phase": ("phase", PHASE, {"units": "percent"}),
            "cycle": np.arange(person.size),
        },
    )


def push_off() -> Array:
    """Return the common moment ``(phase)``, N m kg-1."""
    shape: Array = 0.1 * np.exp(-(((PHASE - 6) / 5) ** 2)) - 1.4 * np.exp(-(((PHASE - 46) / 13) ** 2))
    return shape


def effect_shape() -> Array:
    """Return the shape of the effect ``(phase)``: a raised cosine from 40 to 60 %."""
    return np.where(np.abs(PHASE - 50) < 10, (1 + np.cos(np.pi * (PHASE - 50) / 10)) / 2, 0.0)


def smooth_fields(count: int, draw: np.random.Generator) -> Array:
    """Return Gaussian random fields ``(count, phase)`` of zero mean and unit variance."""
    margin = int(4 * SMOOTHNESS)
    steps = np.arange(-margin, PHASE.size + margin)[:, None] - PHASE
    kernel = np.exp(-(steps**2) / (2 * SMOOTHNESS**2))
    fields: Array = draw.standard_normal((count, steps.shape[0])) @ (kernel / np.linalg.norm(kernel, axis=0))
    return fields


def _attributes(variable: Variable) -> dict[str, str]:
    return {"units": variable.units, "long_name": variable.long_name}
