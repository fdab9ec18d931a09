"""The pelvis residual in percent of body weight, and of body weight times height; its figures of a stance."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from pipeline.results.cycle_variables import RESIDUALS
from pipeline.steps.cycles.residual_share import residual_share, root_mean_square_and_peak


def test_share_is_of_weight_and_of_weight_times_height() -> None:
    weight_n = 50 * 9.80665
    vectors = np.array([[3.0, 0, -4], [0, 10, 0], [np.nan, 1, 1]])
    kinetics = xr.Dataset({f"pelvis_residual_{load}": (("time", "axis"), vectors) for load in ("force", "moment")})
    found = residual_share(kinetics, xr.Dataset(attrs={"body_mass_kg": 50.0, "body_height_m": 1.6}))
    expected = 100 * np.array([[5, 5 / 1.6], [10, 10 / 1.6], [np.nan, np.nan]]) / weight_n
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_figures_are_of_the_known_part_of_a_stance() -> None:
    share = np.array([[3.0, 0.6], [4.0, 0.8], [np.nan, np.nan], [np.nan, np.nan]])
    figures = dict(zip(RESIDUALS, root_mean_square_and_peak(share), strict=True))
    assert figures == pytest.approx({
        "residual_force_rms_percent": np.sqrt(12.5), "residual_force_peak_percent": 4,
        "residual_moment_rms_percent": np.sqrt(0.5), "residual_moment_peak_percent": 0.8, "residual_known_percent": 50,
    })  # fmt: skip
    nowhere = root_mean_square_and_peak(share[2:])
    assert np.isnan(nowhere[:4]).all()
    assert nowhere[4] == 0
