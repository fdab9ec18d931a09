"""Peaks of the waist's moments in words: only where both estimates of it agree."""

from collections.abc import Mapping, Sequence

import numpy as np

from ....arrays import Array
from ....results.averages import average, known_throughout
from .cycles import CycleCurves
from .lines import Line, by_line
from .panels import FEET_UP, HEAD_DOWN, WAIST_FROM_LEGS, WAIST_MOMENTS

# An estimate that another one contradicts by half of it has neither its size nor, often, its sign. Half is a choice:
# the measured differences are as large as the moment itself (docs/validation.md).
LARGEST_DIFFERENCE = 0.5


def notes_on_waist(cycles: CycleCurves, lines: Sequence[Line]) -> Mapping[int, list[str]]:
    """Return by number of the panel from the head down: the peak of each side and line, or why there is none."""
    numbers = [i for i, panel in enumerate(cycles.panels) if panel.group == WAIST_MOMENTS]
    of_legs = [i for i in numbers if cycles.panels[i].variable == WAIST_FROM_LEGS]
    from_legs = {cycles.panels[i].component["angle"]: i for i in of_legs}
    pairs = {i: from_legs[cycles.panels[i].component["angle"]] for i in numbers if i not in of_legs}
    several, notes = len(lines) > 1, dict[int, list[str]]()
    for (label, side), mine in by_line(cycles, lines).items():
        for i, j in pairs.items():
            text = peak_in_words(mine.curve[:, i], mine.curve[:, j])
            notes.setdefault(i, []).extend([f"{side}{f', {label}' if several else ''}: {text}."] if text else [])
    return notes


def peak_in_words(down: Array, up: Array) -> str:
    """Return the peak of the mean of curves from the head down, if those from the feet up (cycle, 101) confirm it.

    The difference at that place is the mean over the cycles with both. Empty if nothing is known.
    """
    down = known_throughout(down)
    known = np.isfinite(down)
    if not known.any():
        return ""
    if known.sum(axis=0).min() < known.sum(axis=0).max():
        return f"no peak {HEAD_DOWN}, as fewer cycles are known at some percents than at others"
    mean = average(down).mean
    at = int(np.abs(mean).argmax())
    peak, differences = float(mean[at]), (up - down)[:, at]
    found = f"{peak:.2f} at {at} %"
    if not np.isfinite(differences).any():
        return f"{found} {HEAD_DOWN} alone; {FEET_UP} it is not known there"
    other = peak + float(np.nanmean(differences))
    if abs(other - peak) > LARGEST_DIFFERENCE * abs(peak):
        return f"no peak, as the estimates differ by more than half of it: {found} {HEAD_DOWN}, {other:.2f} {FEET_UP}"
    return f"peak {found} {HEAD_DOWN}, {other:.2f} {FEET_UP}"
