"""Parts of a joint moment: they sum to it, by term and by cause."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from pipeline.steps.kinetics.step import kinetics
from pipeline.steps.report.moment_parts import contributions, projected_terms
from tests.support.geometry import landmarks, walk
from tests.support.walking import CALIBRATION, KINETICS, TIME, ground, moving

# four significant digits are kept of parts of up to 200 N m, five of them in a sum
ROUNDING_N_M = 5 * 0.05


@pytest.fixture(scope="module")
def trial() -> xr.Dataset:
    motion = moving(landmarks(walk(TIME)))
    loads = kinetics(motion, ground(), CALIBRATION, **KINETICS)
    return loads.drop_dims("segment").assign(rotation=motion.rotation)


@pytest.mark.parametrize("side", ["left", "right"])
def test_terms_along_the_joint_axes_sum_to_the_moment(trial: xr.Dataset, side: str) -> None:
    terms = projected_terms(trial, side)
    # the same numbers, projected after instead of before summing: rounding of 200 N m is 1e-13
    np.testing.assert_allclose(terms.sum(axis=2), trial.joint_moment_jcs.sel(side=side).values, atol=1e-10)


@pytest.mark.parametrize("side", ["left", "right"])
def test_causes_sum_to_the_terms_of_motion(trial: xr.Dataset, side: str) -> None:
    found = contributions(trial, side=side, start_s=0.1, end_s=0.9, mass_kg=None)
    names = found["terms"]["names"]
    terms = np.array(found["terms"]["parts"], dtype=float)
    of_motion = terms[names.index("inertia")] + terms[names.index("velocity")]
    # interaction torques come from the open chain, the terms from the block matrix
    np.testing.assert_allclose(of_motion, np.array(found["causes"]["total"], dtype=float), atol=ROUNDING_N_M)
    assert np.abs(of_motion).max() > 20 * ROUNDING_N_M


def test_parts_sum_to_the_line_and_mass_divides_them(trial: xr.Dataset) -> None:
    absolute, relative = (
        contributions(trial, side="right", start_s=0.1, end_s=0.9, mass_kg=mass_kg) for mass_kg in (None, 50.0)
    )
    assert (absolute["unit"], relative["unit"]) == ("N m", "N m/kg")
    pairs = ((absolute["terms"], relative["terms"]), (absolute["causes"], relative["causes"]))
    for whole, divided in pairs:
        total = np.array(whole["total"], dtype=float)
        np.testing.assert_allclose(np.array(whole["parts"], dtype=float).sum(axis=0), total, atol=ROUNDING_N_M)
        # two numbers of four digits
        np.testing.assert_allclose(50 * np.array(divided["total"], dtype=float), total, rtol=1e-3)
