"""The static trial of another person: found by distances between markers, never in sound walks."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import xarray as xr

from pipeline.body.landmarks import positions
from pipeline.steps.calibrate.model_dataset import static_distances
from pipeline.steps.kinematics.witnesses import LARGEST_M, static_misfits
from pipeline.trials.session import join_trials
from tests.steps.kinematics.test_label_check import SEEDS, SETTINGS
from tests.support.steps import kinematics
from tests.support.walks.as_read import cleaned, generated
from tests.support.walks.person import BODY_MODELS, calibrated, recorded, standing

SKIN_M = 0.002  # by which a standing skin is off in each direction from where it is in the walk on average


@cache
def walk(name: str, seed: int) -> tuple[xr.Dataset, xr.Dataset]:
    """Return a cleaned walk as a session, and the static distances of its person."""
    trial, model = generated(name, seed)
    seen = positions(model, [str(label) for label in trial.marker.values], trial.marker_position.values)
    moved = np.random.default_rng(seed)
    still = recorded(model, standing())
    static = positions(model, [str(label) for label in still.marker.values], still.marker_position.values)
    static = {key: path + moved.normal(0, SKIN_M, 3) for key, path in static.items() if key in seen}
    return join_trials({"walk": cleaned(trial, model)}), static_distances(static).to_dataset(name="static_distance")


@pytest.mark.parametrize("name", BODY_MODELS)
def test_sound_walks_fit_and_statics_of_taller_people_do_not(name: str) -> None:
    for seed in SEEDS:
        clean, calibration = walk(name, seed)
        assert static_misfits(clean, calibration) < LARGEST_M
        for size in (0.92, 1.08):  # 1.3 standard deviations of adult height
            assert static_misfits(clean, size * calibration) > LARGEST_M


def test_too_few_distances_say_nothing() -> None:
    clean, calibration = walk("plug_in_gait", 0)
    assert np.isnan(static_misfits(clean, calibration.isel(landmark=slice(3), landmark_2=slice(3)))).all()


def test_a_marker_that_has_moved_on_its_segment_raises_the_misfit() -> None:
    clean, calibration = walk("plug_in_gait", 1)
    moved = calibration.copy(deep=True)
    moved["static_distance"].loc[{"landmark": "toe_left"}] += 0.03
    moved["static_distance"].loc[{"landmark_2": "toe_left"}] += 0.03
    assert static_misfits(clean, moved) > 2 * static_misfits(clean, calibration)


def test_a_walk_with_the_static_trial_of_a_taller_person_is_doubted() -> None:
    trial, model = generated("plug_in_gait", 1)
    clean = join_trials({"walk": cleaned(trial, model)})
    right = calibrated(model, standing())
    wrong = right.assign(static_distance=1.1 * right.static_distance)
    assert "doubt" not in kinematics(clean, right, body_model=model, settings=SETTINGS)
    doubted = kinematics(clean, wrong, body_model=model, settings=SETTINGS)
    assert doubted.doubt_code.values.tolist() == ["static_unlike"]
