"""Electromyograms of known envelope, and C3D files that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

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


class Recorded(NamedTuple):
    """A generated electromyogram and its bursts."""

    values: Array  # (sample,), of which the noise has a standard deviation of 1
    rate_hz: float
    bursts: list[tuple[float, float]]  # onset and offset, s after the first sample


def recorded_muscle(seed: int, *, snr_db: float, shape: str) -> Recorded:
    """Return a muscle of a walking person with noise; ``snr_db``: mean power of its bursts over that of the noise.

    One or two bursts a stride of 0.9 to 1.4 s, of 40 to 900 ms and of changing height. Shape: ``step``; ``ramp``, rise
    and fall in 30 ms; ``bell``, a normal curve cut at 1.5 standard deviations, a third of its height. The noise is
    white, or from 10 Hz to 450 Hz.
    """
    rng = np.random.default_rng(seed)
    rate_hz, duration_s = float(rng.choice([1000, 1200, 1500, 2000])), rng.uniform(3, 6)
    time = np.arange(round(duration_s * rate_hz)) / rate_hz
    period, number = rng.uniform(0.9, 1.4), int(rng.integers(1, 3))
    first, lengths = rng.uniform(0, 1), rng.uniform(0.1, 0.65 if number == 1 else 0.35, size=number)
    amplitude, known = np.zeros(len(time)), []
    for stride in range(-1, int(duration_s / period) + 1):
        for i in range(number):
            on = (stride + first + i / 2) * period + rng.normal(0, 0.02)
            off, height = on + lengths[i] * period, rng.uniform(0.8, 1.2)
            inside = (time >= on) & (time < off)
            middle = (time - (on + off) / 2) / (off - on)
            rising = np.clip(np.minimum(time - on, off - time) / 0.03, 0, 1)
            form = {"step": 1.0, "ramp": rising, "bell": np.exp(-0.5 * (3 * middle) ** 2)}[shape]
            amplitude = np.maximum(amplitude, height * inside * form)
            known += [(on, off)] if on < time[-1] and off > 0 else []
    amplitude *= 10 ** (snr_db / 20) / np.sqrt((amplitude[amplitude > 0] ** 2).mean())
    low, high = rng.uniform(20, 50), rng.uniform(120, 200)
    muscle = _noise(rng, len(time), rate_hz, low, high)
    noise = rng.normal(size=len(time)) if rng.random() < 0.5 else _noise(rng, len(time), rate_hz, 10, 450)
    return Recorded(amplitude * muscle + noise, rate_hz, known)


def _noise(rng: np.random.Generator, count: int, rate_hz: float, low_hz: float, high_hz: float) -> Array:
    """Return noise in a band (sample,) with a standard deviation of 1."""
    sections = butter(2, (low_hz, high_hz), btype="bandpass", fs=rate_hz, output="sos")
    band = sosfilt(sections, rng.normal(size=count + 1000))[1000:]
    return np.asarray(band / band.std())
