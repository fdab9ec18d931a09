"""What shows a turned knee axis: figures of the gait cycles of a trial."""

from __future__ import annotations

import numpy as np
import xarray as xr

from pipeline.conventions import ADDUCTION, FLEXION, HIP, KNEE, ROTATION
from pipeline.steps.cycles.knee_checks import knee_axis_figures

RATE_HZ, LEFT, RIGHT = 100, 0, 1


def walk() -> xr.Dataset:
    """Return 4 s: left adduction of 10 and 14 degrees in its two cycles, and 30 outside; hip rotation of -5."""
    time = np.arange(4 * RATE_HZ) / RATE_HZ
    angle = np.zeros((len(time), 2, 3, 3))
    angle[:, :, KNEE, FLEXION] = 30 - 30 * np.cos(2 * np.pi * time)[:, None]
    size = np.select([(time >= 1) & (time < 2), (time >= 2) & (time <= 3)], [10.0, 14.0], 30.0)
    angle[:, LEFT, KNEE, ADDUCTION] = size * (1 - np.cos(2 * np.pi * time)) / 2
    angle[:, LEFT, HIP, ROTATION] = -5 + 2 * np.sin(2 * np.pi * time)
    return xr.Dataset(
        {
            "joint_angle": (("time", "side", "joint", "angle"), angle),
            "knee_axis_error": ("side", [12.0, np.nan]),
            "knee_axis_in_step": ("side", [0.9, np.nan]),
        },
        {"time": time},
    )


def test_figures_are_of_the_cycles_of_each_side() -> None:
    row, spans = np.array([LEFT, LEFT]), np.array([[1.0, 2.0], [2.0, 3.0]])
    left, right = knee_axis_figures(walk(), row, spans)
    np.testing.assert_allclose(left, [12, 0.9, 12, -5], atol=0.01)  # whole strides, but for a sample
    assert np.isnan(right).all()


def test_a_cycle_with_a_gap_is_left_out() -> None:
    trial = walk()
    trial.joint_angle[150, LEFT, HIP] = np.nan
    left, _ = knee_axis_figures(trial, np.array([LEFT, LEFT, RIGHT]), np.array([[1.0, 2.0], [2.0, 3.0], [1.0, 2.0]]))
    np.testing.assert_allclose(left[2:], [14, -5], atol=0.03)
