"""Known walks of :mod:`as_clean` written to C3D files in any lab's axes, and read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.steps.read.step import read_trial as read
from tests.support.files.c3d_writer import Channels, channels
from tests.support.walks.as_clean import ANALOG_HZ, BODY_MODEL, LABELS, Rectangle, Walk, markers, wrenches

Array = NDArray[np.float64]

Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # ISB lab axes in a file with z up, walking along x
PLATES = (Rectangle(0.3, 0.8, -0.05, 0.25), Rectangle(1.0, 1.5, -0.25, 0.05))
SINGLE_M = 1e-6  # the file holds millimetres in single precision: 2e-7 m at 3 m, twice that for a turn
SINGLE_N = 1e-4  # single precision: 3e-5 N at 800 N


def recorded(known: Walk, turn: Array = Z_UP, *, names: dict[str, str] = LABELS) -> dict[str, Array]:
    """Return label -> (frame, 3) of a walk in file axes."""
    return {names[name]: path @ turn.T for name, path in markers(known).items()}


def on_plates(known: Walk) -> tuple[Array, Array]:
    """Return force and moment about the lab origin (time, plate, 3) of a walk on :data:`PLATES`."""
    return wrenches(known, PLATES, known.times(ANALOG_HZ))


def recorded_plates(known: Walk, turn: Array = Z_UP) -> list[Channels]:
    """Return the channels of :data:`PLATES` in a walk."""
    force, moment = on_plates(known)
    return [channels(plate, force[:, i], moment[:, i], turn) for i, plate in enumerate(PLATES)]


def read_it(path: Path, lab_axes: str = "quarter_turn") -> xr.Dataset:
    return read(path, body_model=BODY_MODEL, lab_axes=lab_axes)


def position(trial: xr.Dataset, landmark: str) -> Array:
    return np.asarray(trial.marker_position.sel(marker=LABELS[landmark]).values)
