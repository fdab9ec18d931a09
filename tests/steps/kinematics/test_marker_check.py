"""A marker that lies elsewhere than in the static trial: found by the other markers of the linked legs."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from pipeline.conventions import SIDES
from pipeline.steps.kinematics.marker_check import LARGEST_M
from pipeline.trials.session import join_trials
from pipeline.variables.stance_verdicts import verdicts_in
from tests.steps.kinematics.test_label_check import SETTINGS
from tests.support.steps import kinematics
from tests.support.walks.as_read import cleaned as cleaned_by_step
from tests.support.walks.as_read import generated
from tests.support.walks.person import (
    BODY_MODELS,
    Landmarks,
    body_model,
    calibrated,
    cleaned,
    landmarks,
    standing,
    walk,
)

TIME = np.arange(100) / 100
KNEE = "lateral_epicondyle_left"


def shifted(name: str, place_m: tuple[float, float, float]) -> Landmarks:
    """Return a walk of which a marker of the left shank lies off in the axes of the shank."""
    truth, points = walk(TIME), landmarks(walk(TIME))
    to_lab = np.swapaxes(truth.rotation[:, 0, 1], -1, -2)  # left shank
    return points | {name: points[name] + to_lab @ np.array(place_m)}


def found(points: Landmarks, name: str = "isb_clusters") -> xr.Dataset:
    model = body_model(name)
    return kinematics(cleaned(model, points, TIME), calibrated(model, standing()), body_model=model, settings=SETTINGS)


@pytest.mark.parametrize(
    ("place_m", "words"),
    [((0.03, 0, 0), "30 mm in front of"), ((0, -0.03, 0), "30 mm below"), ((0, 0, 0.03), "30 mm to the right of")],
)
def test_a_moved_marker_is_named_with_size_and_direction(place_m: tuple[float, float, float], words: str) -> None:
    """The others put it back exactly but for what 30 mm turn: sines, half a millimetre."""
    result = found(shifted("shank_1_left", place_m))
    assert "marker_moved" in result.attrs["doubt_code"].split()
    assert f"shank_1_left lies {words}" in result.attrs["doubt"]


@pytest.mark.parametrize(
    ("name", "segment", "legs"), [("shank_1_left", 1, {"left"}), ("psis_left", 3, {"left", "right"})]
)
def test_a_moved_marker_concerns_the_legs_that_its_segment_carries(name: str, segment: int, legs: set[str]) -> None:
    """The pelvis is both legs', whatever a lab calls its marker and on whichever side it is."""
    truth, points = walk(TIME), landmarks(walk(TIME))
    to_lab = np.swapaxes(truth.rotation[:, 0, segment], -1, -2)
    result = found(points | {name: points[name] + to_lab @ np.array([0.0, 0.05, 0.0])})
    (doubt,) = [one for one in verdicts_in(result.attrs["doubt_values"]) if one.code == "marker_moved"]
    assert doubt.values["marker"] == name
    assert {side for side in SIDES if doubt.concerns(side)} == legs


def test_the_shift_grows_with_the_dose_and_is_less_than_it() -> None:
    """A part of it is hidden, as the segment follows its marker."""
    sizes = [float(found(shifted("shank_1_left", (mm / 1000, 0, 0))).marker_shift) for mm in (0, 10, 20)]
    assert sizes[0] < 1e-6
    assert 0.5 * 0.01 < sizes[1] < 0.01
    assert sizes[2] == pytest.approx(2 * sizes[1], rel=0.1)


def test_a_knee_marker_is_doubted_from_where_it_is_said_to_be_unseen() -> None:
    """Of Plug-in Gait one marker places the knee, which a wand and the linkage watch; clusters need none in walks."""
    truth, points = walk(TIME), landmarks(walk(TIME))
    forward = np.swapaxes(truth.rotation[:, 0, 2], -1, -2) @ np.array([1.0, 0, 0])  # of the left thigh
    unseen_m = float(found(points, "plug_in_gait").knee_marker_unseen[SIDES.index("left")])
    assert 1.5 * LARGEST_M < unseen_m < 0.05
    for share, doubted in ((0.8, False), (1.3, True)):
        moved = points | {KNEE: points[KNEE] + share * unseen_m * forward}
        assert (float(found(moved, "plug_in_gait").marker_shift) > LARGEST_M) is doubted
    assert np.isnan(found(points, "functional_clusters").knee_marker_unseen).all()


@pytest.mark.parametrize("name", BODY_MODELS)
def test_sound_walks_are_not_doubted(name: str) -> None:
    """Markers 1 mm noisy in the walk, and 5 mm off in the static trial, as skin moves between standing and walking."""
    for seed in range(5):
        trial, model = generated(name, seed)
        moved = np.random.default_rng(seed)
        static = {key: path + moved.normal(0, 0.005 / np.sqrt(3), 3) for key, path in standing().items()}
        clean = join_trials({"walk": cleaned_by_step(trial, model)})
        result = kinematics(clean, calibrated(model, static), body_model=model, settings=SETTINGS)
        assert result.marker_shift < LARGEST_M
        assert "doubt" not in result


def test_a_trial_that_hardly_shows_the_legs_is_not_judged() -> None:
    """Only the pelvis and a thigh marker: the pelvis fits by itself, the marker fits any posture."""
    kept = ("asis_left", "asis_right", "psis_left", "psis_right", "thigh_1_left")
    points = {
        name: where if name in kept else np.full_like(where, np.nan)
        for name, where in shifted("thigh_1_left", (0.03, 0, 0)).items()
    }
    assert float(found(points).marker_shift) < LARGEST_M
