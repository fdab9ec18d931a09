"""What a walk shows to the judges of its contacts, made by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.steps.contacts.body_motion import BodyMotion, Shown
from pipeline.steps.contacts.feet import Feet
from tests.support.settings import settings_of


def shown_walk(time: NDArray[np.float64], corners: NDArray[np.float64], feet: Feet, **stated: Any) -> Shown:
    """Return a walk on unloaded plates with these corners (plate, 4, 3); ``stated`` are further fields."""
    none = np.zeros((len(time), len(corners), 3))
    data: Mapping[str, NDArray[Any]] = {
        "time": time,
        "plate": np.arange(1, len(corners) + 1),
        "plate_corner": corners,
        "plate_edges_known": np.ones(len(corners), dtype=np.int8),
        "plate_force": none,
        "plate_moment": none,
    }
    steps: Sequence[Any] = ()
    motion = BodyMotion(
        {}, feet, np.full((len(time), 3), np.nan), steps, [None] * len(corners), {}, np.zeros(len(corners))
    )
    return Shown(data, motion, settings_of("contacts"), **stated)
