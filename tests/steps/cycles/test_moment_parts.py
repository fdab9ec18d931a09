"""Parts of a joint moment: they sum to it, by term and by cause."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.signals.time_normalisation import over_one_cycle
from pipeline.steps.cycles.representative import parts_over_cycle, project_terms
from tests.support.steps import kinetics
from tests.support.walks.person import ROUNDING, landmarks, walk
from tests.support.walks.person_on_ground import CALIBRATION, KINETICS, ROUNDED, TIME, ground, moving

SPAN_S: Any = {"start_s": 0.1, "end_s": 0.9}


@pytest.fixture(scope="module")
def trial() -> tuple[xr.Dataset, xr.Dataset]:
    motion = moving(landmarks(walk(TIME)))
    return motion, kinetics(motion, ground(), CALIBRATION, settings=KINETICS)


def test_terms_along_the_joint_axes_sum_to_the_moment(trial: tuple[xr.Dataset, xr.Dataset]) -> None:
    loads = trial[1]
    np.testing.assert_allclose(project_terms(*trial).sum(axis=-1), loads.joint_moment_jcs.values, atol=ROUNDING)


@pytest.mark.parametrize("row", [0, 1])
def test_parts_over_a_cycle_sum_to_the_moment_over_it(trial: tuple[xr.Dataset, xr.Dataset], row: int) -> None:
    loads = trial[1]
    terms, _ = parts_over_cycle(*trial, row=row, **SPAN_S)
    whole = over_one_cycle(loads.joint_moment_jcs.values[:, row], loads.time.values, **SPAN_S)
    np.testing.assert_allclose(terms.sum(axis=-2), np.moveaxis(whole, 0, -1), atol=ROUNDING)


@pytest.mark.parametrize("row", [0, 1])
def test_causes_sum_to_the_terms_of_motion(trial: tuple[xr.Dataset, xr.Dataset], row: int) -> None:
    """Interaction torques come from the open chain, the terms from the block matrix."""
    terms, causes = parts_over_cycle(*trial, row=row, **SPAN_S)
    names = trial[1].term.values.tolist()
    of_motion = terms[..., names.index("inertia"), :] + terms[..., names.index("velocity"), :]
    np.testing.assert_allclose(of_motion, causes.sum(axis=-2), atol=ROUNDED * np.abs(terms).max())
    assert np.abs(of_motion).max() > 1
