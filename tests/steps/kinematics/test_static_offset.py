"""``kinematics.static_offset``: joint angles from the posture of the static trial."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

from pipeline.body.segment_poses import mean_rotation
from pipeline.steps.kinematics import step
from pipeline.workflow.settings import defaults
from tests.support.settings import settings_of
from tests.support.steps import kinematics
from tests.support.walks.person import (
    ROUNDING,
    Landmarks,
    body_model,
    calibrated,
    cleaned,
    close,
    jittered,
    landmarks,
    standing,
    walk,
)

TIME = np.arange(20) / 100


@pytest.fixture(autouse=True)
def _any_posture_is_a_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """The known person bends a knee in every posture; tests/steps/calibrate/test_leg_doubts.py tests the refusal."""
    monkeypatch.setattr(step, "LARGEST_STANDING_BEND_DEG", np.inf)


def moved(
    name: str, points: Landmarks, static: Landmarks, static_offset: str, angle_convention: str = "isb"
) -> xr.Dataset:
    model = body_model(name)
    return kinematics(
        cleaned(model, points, TIME),
        calibrated(model, static),
        body_model=model,
        settings=settings_of(
            "kinematics",
            **defaults(model)["kinematics"] | {"angle_convention": angle_convention, "static_offset": static_offset},
        ),
    )


@pytest.mark.parametrize("angle_convention", ["isb", "plug_in_gait"])
@pytest.mark.parametrize("name", ["isb_clusters", "plug_in_gait"])
def test_who_stands_as_in_the_static_trial_reads_zero(name: str, angle_convention: str) -> None:
    """Every joint is bent and turned, markers are placed by hand; ``keep`` gives the angles of the posture."""
    bent = jittered(landmarks(walk(np.full(20, 0.3))), seed=2)
    close(moved(name, bent, bent, "subtract", angle_convention).joint_angle, 0, tolerance=np.degrees(ROUNDING))
    kept = moved(name, bent, bent, "keep", angle_convention).joint_angle
    assert (np.abs(kept).max(("time", "side", "angle")) > 5).all()


def test_the_offset_is_one_number_per_angle_and_touches_nothing_else() -> None:
    bent, walking = landmarks(walk(np.full(5, 0.3))), landmarks(walk(TIME))
    kept, less = (moved("isb_clusters", walking, bent, choice) for choice in ("keep", "subtract"))
    offset = kept.joint_angle - less.joint_angle
    close(offset, np.degrees(walk(np.full(20, 0.3)).angle), tolerance=np.degrees(ROUNDING))
    for variable in set(kept.data_vars) - {"joint_angle"}:
        np.testing.assert_array_equal(kept[variable], less[variable], err_msg=str(variable))
    upright = moved("isb_clusters", walking, standing(), "subtract")
    close(upright.joint_angle, moved("isb_clusters", walking, standing(), "keep").joint_angle)


def test_the_mean_rotation_of_a_sway_is_its_middle() -> None:
    """Equal rotations both ways about one axis, and a frame not seen; the mean is a rotation."""
    middle = Rotation.from_euler("xyz", [20, -50, 70], degrees=True)
    sway = [middle * Rotation.from_rotvec(turn * np.array([0.3, -0.2, 0.6])) for turn in (-1.0, -0.4, 0.4, 1.0)]
    frames = np.stack([*(turn.as_matrix() for turn in sway), np.full((3, 3), np.nan)])
    close(mean_rotation(frames), middle.as_matrix())
    scattered = Rotation.random(7, rng=np.random.default_rng(1)).as_matrix()
    found = mean_rotation(scattered)
    close(found @ found.T, np.eye(3))
    assert np.linalg.det(found) == pytest.approx(1)
