"""Cycles with smooth angles about the same curves, for the tests of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.steps.study.gait_scores import reference_gait
from pipeline.variables.metrics import SCORES

Array = NDArray[np.float64]
COORDINATES: dict[str, Any] = {
    "joint": ["ankle", "knee", "hip"], "angle": ["flexion", "adduction", "rotation"], "axis": list("xyz"),
    "phase": np.arange(101.0),
}  # fmt: skip
PLACES: list[tuple[Any, ...]] = [  # by hand, in the order of GAIT_ANGLES: variable, and indices of joint and angle
    ("pelvis_angle", 0), ("pelvis_angle", 1), ("pelvis_angle", 2),
    ("joint_angle", 2, 0), ("joint_angle", 2, 1), ("joint_angle", 2, 2), ("joint_angle", 1, 0), ("joint_angle", 0, 0),
    ("foot_progression",),
]  # fmt: skip
PROFILE = [name for name in SCORES if "deviation" not in name and "speed" not in name]  # any reference gives these
SINGULAR = 1e-9  # singular vectors of two matrices: rounding of 459 numbers of 100 degrees in the root of their squares


def walked(people: Sequence[str], sides: str, *, seed: int = 1, spread: float = 5.0) -> xr.Dataset:
    """Return cycles of each person, one per letter of ``sides``, 1 s long.

    Angles are smooth: a level and two harmonics, the same for all, and each person's and each cycle's own.
    """
    rng = np.random.default_rng(seed)
    owner = np.repeat(people, len(sides))
    waves = np.stack([np.ones(101), *(f(k * np.pi * np.arange(101) / 50) for k in (1, 2) for f in (np.sin, np.cos))])

    def curves(*shape: int) -> Array:
        usual = np.random.default_rng(0).normal(0, 20, (*shape, 5))
        own = rng.normal(0, spread, (len(people), *shape, 5))[np.repeat(np.arange(len(people)), len(sides))]
        return np.asarray((usual + own + rng.normal(0, 0.3 * spread, (len(owner), *shape, 5))) @ waves)

    begin = np.tile(0.5 * np.arange(len(sides)), len(people))
    side = np.tile([{"l": "left", "r": "right"}[letter] for letter in sides], len(people))
    return xr.Dataset(
        {
            "joint_angle": (("cycle", "joint", "angle", "phase"), curves(3, 3)),
            "pelvis_angle": (("cycle", "angle", "phase"), curves(3)),
            "foot_progression": (("cycle", "phase"), curves()),
        },
        COORDINATES
        | dict.fromkeys(("participant", "session"), ("cycle", owner))
        | {"trial": ("cycle", np.full(len(owner), "walk")), "side": ("cycle", side)}
        | {"start_time": ("cycle", begin), "end_time": ("cycle", begin + 1)},
    )


def changed(gait: xr.Dataset, place: tuple[Any, ...], by: float | Array) -> xr.Dataset:
    """Return cycles with one angle changed."""
    values = gait[place[0]].values.copy()
    values[(slice(None), *place[1:])] += by
    return gait.assign({place[0]: (gait[place[0]].dims, values)})


PEOPLE = [f"c{i}" for i in range(12)]
CONTROLS = walked(PEOPLE, "lrlr")
REFERENCE = reference_gait(CONTROLS)


def average_walker() -> xr.Dataset:
    """Return a left and a right cycle with the reference's mean curves."""
    both = walked(["x"], "lr")
    return both.assign(
        {
            name: (both[name].dims, np.repeat(CONTROLS[name].values.mean(axis=0, keepdims=True), 2, axis=0))
            for name in both.data_vars
        }
    )
