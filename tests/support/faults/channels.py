"""Faults of the channels of force plates: dead, wrapped and clipped ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CROSSTALK = 0.005  # of the largest channel of the plate, of which a dead one shows as much


def dead(readings: Array, channel: int, dose: int) -> Array:
    """Return (sample, channel) with a channel at its first value, with noise or crosstalk, or neither."""
    changed = readings.copy()
    rest = readings[0, channel]
    others = np.delete(readings, channel, axis=1)
    similar = others[:, np.argmin(np.abs(np.log(np.ptp(others, axis=0) / np.ptp(readings[:, channel]))))]
    noise = np.random.default_rng(dose).normal(size=len(readings)) * 0.001 * np.ptp(readings[:, channel])
    changed[:, channel] = rest + [0 * noise, noise, CROSSTALK * (similar - similar[0])][dose % 3]
    return changed


def wrapped(readings: Array, channel: int, dose: int) -> Array:
    """Return (sample, channel) with a channel that exceeds its converter's range, of 12 or 16 bits, and wraps round."""
    values = readings[:, channel]
    largest = np.abs(values).max() * (0.5 + 0.45 * (dose % 10) / 10)
    count = largest / (2048 if dose % 2 else 32768)
    changed = readings.copy()
    changed[:, channel] = (np.rint(values / count) * count + largest) % (2 * largest) - largest
    return changed


def clipped(readings: Array, channel: int, dose: int) -> Array:
    """Return (sample, channel) with a channel cut off at 50 to 95 % of its largest deviation from rest."""
    rest = readings[0, channel]
    limit = np.abs(readings[:, channel] - rest).max() * (0.5 + 0.45 * (dose % 10) / 9)
    changed = readings.copy()
    changed[:, channel] = np.clip(readings[:, channel], rest - limit, rest + limit)
    return changed


CHANNEL_FAULTS: dict[str, tuple[Callable[[Array, int, int], Array], str]] = {
    "dead": (dead, "stays within"),
    "wrapped": (wrapped, "jumps by"),
    "clipped": (clipped, "is cut off"),
}
