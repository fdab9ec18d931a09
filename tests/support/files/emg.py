"""Electromyograms of known envelope, and C3D files that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import ezc3d
import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt

Array = NDArray[np.float64]


def electromyogram(amplitude: Array, *, rate_hz: float, seed: int = 0) -> Array:
    """Return noise of 40 to 150 Hz with this standard deviation (sample,); its envelope is sqrt(2 / pi) as large.

    In these bands lies the power of surface EMG of a walking person.
    """
    noise = np.random.default_rng(seed).normal(size=len(amplitude) + 1000)
    band = sosfilt(butter(2, (40, 150), btype="bandpass", fs=rate_hz, output="sos"), noise)[1000:]
    return np.asarray(amplitude * band / band.std())


def bursts(time_s: Array, *, period_s: float = 1.1, rest: float = 0.05) -> Array:
    """Return an amplitude (sample,) between ``rest`` and 1 that rises and falls once a period."""
    return rest + (1 - rest) * np.clip(np.sin(2 * np.pi * time_s / period_s), 0, 1) ** 2


def add_channels(path: Path, channels: Mapping[str, tuple[str, Array]]) -> None:
    """Add analog channels to a C3D file, in place: unit and values (sample,) by label."""
    file = ezc3d.c3d(str(path))
    analog = file["parameters"]["ANALOG"]
    values = np.stack([values for _, values in channels.values()])[None]
    file["data"]["analogs"] = np.concatenate([file["data"]["analogs"], values], axis=1)
    count = file["data"]["analogs"].shape[1]
    for name, added in (("LABELS", [*channels]), ("UNITS", [unit for unit, _ in channels.values()])):
        analog[name]["value"] = [*analog[name]["value"], *added]
    analog["SCALE"]["value"], analog["OFFSET"]["value"] = np.ones(count), np.zeros(count, dtype=int)
    analog["DESCRIPTIONS"]["value"] = [""] * count
    file.write(str(path))
