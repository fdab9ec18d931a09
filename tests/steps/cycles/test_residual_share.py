"""The pelvis residual in percent of body weight, and of body weight times height; its figures of a stance."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from pipeline.steps.cycles.normalisation import residual_share, root_mean_square_and_peak
from pipeline.variables.cycle_variables import RESIDUALS
from tests.support.walks.as_clean import walk
from tests.support.walks.for_cycles import MASS_KG, trial


def test_share_is_of_weight_and_of_weight_times_height() -> None:
    weight_n = 50 * 9.80665
    vectors = np.array([[3.0, 0, -4], [0, 10, 0], [np.nan, 1, 1]])
    kinetics = xr.Dataset({f"pelvis_residual_{load}": (("time", "axis"), vectors) for load in ("force", "moment")})
    found = residual_share(kinetics, xr.Dataset(attrs={"body_mass_kg": 50.0, "body_height_m": 1.6}))
    expected = 100 * np.array([[5, 5 / 1.6], [10, 10 / 1.6], [np.nan, np.nan]]) / weight_n
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_figures_are_of_the_known_part_of_a_stance() -> None:
    share = np.array([[3.0, 0.6], [4.0, 0.8], [np.nan, np.nan], [np.nan, np.nan]])
    figures = dict(zip([*RESIDUALS][:5], root_mean_square_and_peak(share), strict=True))
    assert figures == pytest.approx({
        "residual_force_rms_percent": np.sqrt(12.5), "residual_force_peak_percent": 4,
        "residual_moment_rms_percent": np.sqrt(0.5), "residual_moment_peak_percent": 0.8, "residual_known_percent": 50,
    })  # fmt: skip
    nowhere = root_mean_square_and_peak(share[2:])
    assert np.isnan(nowhere[:4]).all()
    assert nowhere[4] == 0


def test_curves_of_both_sides_are_in_percent_over_cycle_and_stance() -> None:
    """A constant residual of 49.0 N and N m; where kinetics are invalid, none."""
    made = trial(walk(strides=3), reasons={1: "two_feet_on_plate"})
    for load in ("force", "moment"):
        made["kinetics"][f"pelvis_residual_{load}"][:] = [0, 0, 49.03325]
    made["calibrate"].attrs |= {"body_mass_kg": 50.0, "body_height_m": 2.0}
    made["contacts"]["ground_force"] *= 50.0 / MASS_KG
    result = made.cut(further_curves=["pelvis_residual_in_stance"])
    assert 0 < result.kinetics_valid.sum() < result.sizes["cycle"]
    for name in ("pelvis_residual", "pelvis_residual_in_stance"):
        curves = result[name].values
        np.testing.assert_allclose(curves[result.kinetics_valid][:, 0], 10, rtol=1e-12)
        np.testing.assert_allclose(curves[result.kinetics_valid][:, 1], 5, rtol=1e-12)
        assert np.isnan(curves[~result.kinetics_valid]).all()
