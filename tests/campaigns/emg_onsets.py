"""Onset and offset of generated electromyograms: how far they are from the known ones.

``python -m tests.campaigns emg_onsets`` prints the table of docs/validation.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.signals.emg import activity
from tests.campaigns.runner import Report
from tests.support.files.emg import Recorded, recorded_muscle
from tests.support.settings import DEFAULTS

Array = NDArray[np.float64]
SHORT = {"signals": 4}
SHAPES = {"step": "at once", "ramp": "in 30 ms", "bell": "bell-shaped"}
SNR_DB = (8, 10, 12, 16, 20, 34)
NEAR_END_S = 0.1
SETTINGS = DEFAULTS["clean"]
USED = {"high_pass_hz": SETTINGS["emg_high_pass_hz"], "false_alarm": SETTINGS["emg_false_alarm"]}


class Outcome(NamedTuple):
    """What is found of one signal."""

    errors_ms: Array  # (burst, 2), of onset and offset of the bursts that are found
    missed: int
    false: int
    duration_s: float
    distinct: bool  # whether rest and activity are


def outcome(signal: Recorded) -> Outcome:
    """Return the errors of the bursts of a signal that are whole in it."""
    found = activity(signal.values, rate_hz=signal.rate_hz, shortest_s=SETTINGS["emg_shortest_s"], **USED)
    duration_s, bursts = len(signal.values) / signal.rate_hz, np.array(found.bursts).reshape(-1, 2) / signal.rate_hz
    errors, missed, true = [], 0, np.zeros(len(bursts), dtype=bool)
    for on, off in signal.bursts:
        mine = (bursts[:, 0] < off) & (bursts[:, 1] > on)
        true |= mine
        if on > NEAR_END_S and off < duration_s - NEAR_END_S and not np.isnan(found.rest):
            missed += not mine.any()
            errors += [np.array([bursts[mine, 0].min() - on, bursts[mine, 1].max() - off])] if mine.any() else []
    return Outcome(
        1000 * np.array(errors).reshape(-1, 2), missed, int((~true).sum()), duration_s, not np.isnan(found.rest)
    )


def main(report: Report, *, signals: int = 200) -> None:
    """Report the errors by how fast a burst rises and by the ratio of signal to noise."""
    columns = ("onset: median, SD, ms", "within 20 ms", "offset: median, SD, ms", "within 20 ms")
    report.table("rise and fall", "SNR, dB", "bursts", *columns, "missed", "false per minute", "not distinct")
    for shape, words in SHAPES.items():
        for snr_db in SNR_DB:
            every = [outcome(recorded_muscle(seed, snr_db=snr_db, shape=shape)) for seed in range(signals)]
            errors = np.concatenate([one.errors_ms for one in every])
            minutes = sum(one.duration_s for one in every if one.distinct) / 60
            cells = [
                text
                for column in errors.T
                for text in (
                    f"{round(float(np.median(column)))}, {column.std():.0f}",
                    f"{100 * (abs(column) <= 20).mean():.1f} %",
                )
            ]
            missed, false = sum(one.missed for one in every), sum(one.false for one in every)
            unknown = sum(not one.distinct for one in every)
            rates = f"{false / minutes:.1f}", f"{100 * unknown / signals:.0f} %"
            report.row(words, snr_db, len(errors), *cells, missed, *rates)
