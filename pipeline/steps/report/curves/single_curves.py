"""Single curves behind a mean: some of many, evenly chosen, as whole numbers."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from ....results.averages import Array
from ....signals.time_normalisation import PHASE
from ..json_numbers import whole

MOST_SINGLE = 20  # single curves of one side and condition: more are a grey mass, and the page grows
EVERY = 2  # percent between the samples of single curves


class Single(TypedDict):
    """The single curves of a mean: whole numbers of ``step``, every second percent; n of them if all were drawn."""

    step: float
    labels: list[str]
    curves: list[list[int | None]]


def single_of(values: Array, labels: NDArray[np.str_]) -> Single:
    """Return at most 20 of the curves (n, phase) that are known, evenly chosen."""
    values = np.where(np.isfinite(values), values, np.nan)
    known = np.flatnonzero(np.isfinite(values).any(axis=1))
    chosen = known[np.unique(np.linspace(0, len(known) - 1, min(len(known), MOST_SINGLE)).round().astype(int))]
    curves = values[chosen, ::EVERY]
    largest = max(np.nanmax(np.abs(curves), initial=0), 1e-6)
    step = 10.0 ** np.floor(np.log10(largest / 200))  # at most .5 % of the largest value
    return Single(step=float(step), labels=labels[chosen].tolist(), curves=whole(curves / step))


class Chosen:
    """Some of many curves, evenly chosen as they come, from which :func:`single_of` takes those that are drawn."""

    def __init__(self) -> None:
        self.curves: list[tuple[str, Array]] = []
        self.every, self.seen = 1, 0

    def add(self, label: str, curve: Array) -> None:
        """Take a curve (phase,), or leave it out."""
        if not np.isfinite(curve).any():
            return
        if self.seen % self.every == 0:
            self.curves.append((label, curve))
        self.seen += 1
        if len(self.curves) > 2 * MOST_SINGLE:
            self.curves, self.every = self.curves[::2], 2 * self.every

    def single(self) -> Single:
        """Return the curves that are drawn, in the order of their labels."""
        ordered = sorted(self.curves, key=lambda one: one[0])
        values = np.array([curve for _, curve in ordered]).reshape(len(ordered), len(PHASE))
        return single_of(values, np.array([label for label, _ in ordered], dtype=str))
