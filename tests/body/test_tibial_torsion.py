"""Tibial torsion of walks that show the bones of Plug-in Gait: by stored angles, else stated, else by markers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pipeline.body.joint_angles import angles_inversion_last, fit_torsion, joint_angles, signs
from pipeline.body.segment_poses import turn_about_y
from pipeline.body.skeleton import moving_legs, read_sides, state_torsion, take_stated_results
from pipeline.conventions import SEGMENTS, SIDE_SIGN, SIDES
from tests.support.walks.person import (
    PLACES,
    SHANK_M,
    Array,
    Pose,
    body_model,
    calibrated,
    close,
    landmarks,
    of_side,
    standing,
    walk,
)

WALK_S = np.linspace(0, 1.1, 30)
MODEL = body_model("plug_in_gait_bones")
TORSION = {"left": np.radians(-17.0), "right": np.radians(-23.0)}
HUNDREDTH = np.radians(0.01)


def stored_angles(pose: Pose, side: str, torsion: float) -> Array:
    """Return ankle angles as Plug-in Gait stores them, of the foot in the shank twisted by a torsion."""
    foot, shank = (pose.rotation[:, SIDES.index(side), SEGMENTS.index(name)] for name in ("foot", "shank"))
    twisted = turn_about_y(SIDE_SIGN[side] * torsion) @ shank
    angle = angles_inversion_last(twisted, foot, smallest_floating_axis=0.0)
    return np.asarray(np.degrees(angle) * signs("ankle", side) * [1, -1, 1])


@pytest.mark.parametrize("degrees", [-40, -17.4, 0, 12.3])
@pytest.mark.parametrize("side", SIDES)
def test_torsion_is_the_turn_by_which_stored_ankle_angles_follow(side: str, degrees: float) -> None:
    pose, torsion = walk(WALK_S), np.radians(degrees)
    foot, shank = (pose.rotation[:, SIDES.index(side), SEGMENTS.index(name)] for name in ("foot", "shank"))
    stored = stored_angles(pose, side, torsion)
    stored[3] = np.nan
    fitted, misfit_deg = fit_torsion(shank, foot, stored, side)
    close(fitted, torsion, HUNDREDTH)
    assert misfit_deg < 0.01
    assert fit_torsion(shank, foot, stored * [1, 1, -1], side)[1] > 2  # another convention
    assert np.isnan(fit_torsion(shank, foot, np.full_like(stored, np.nan), side)).all()


def bones(pose: Pose | None, *, twisted: bool) -> dict[str, Array]:
    """Return markers and bones with malleoli turned by the torsion; in a static trial its bone may turn with them."""
    person = standing() if pose is None else landmarks(pose)
    for i, side in enumerate(SIDES):
        turn = turn_about_y(SIDE_SIGN[side] * TORSION[side])
        frame = np.eye(3) if pose is None else pose.rotation[:, i, SEGMENTS.index("shank")]
        ankle = person[f"ankle_point_{side}"]
        person[f"lateral_malleolus_{side}"] = ankle + of_side((0, 0, 0.035), side) @ turn @ frame
        if twisted:
            person[f"shank_ahead_{side}"] = ankle + np.array([0.1, 0, 0]) @ turn @ frame
    assert PLACES["shank_ahead"] == ("shank", (0.1, -SHANK_M, 0))
    return person


def test_the_knee_has_the_bone_of_the_walk_and_the_ankle_the_twisted_shank() -> None:
    """The static trial shows the twisted bone, as after a knee alignment device: nothing of it reaches the walk."""
    pose = walk(WALK_S)
    points, calibration = bones(pose, twisted=False), calibrated(MODEL, bones(None, twisted=True))
    close(calibration.tibial_torsion, 0, 1e-9)
    stored = {side: stored_angles(pose, side, TORSION[side]) for side in SIDES}
    sides = take_stated_results(
        read_sides(calibration),
        state_torsion(points, MODEL.legs, stored, ""),
        torsion_alone=MODEL.shows_untwisted_shank,
    )
    legs = moving_legs(points, MODEL.legs, sides, len(WALK_S))
    rotation = np.stack([np.stack([legs[side].frames[name] for name in SEGMENTS], axis=1) for side in SIDES], axis=1)
    torsion = np.array([sides[side].tibial_torsion for side in SIDES])
    angle = joint_angles(rotation, "plug_in_gait", 0.0, torsion)
    close(angle[:, :, 1:], np.degrees(pose.angle[:, :, 1:]), 1e-6)
    for i, side in enumerate(SIDES):
        close(angle[:, i, 0], stored[side] * [1, -1, 1], 0.02)  # twice the step of the search


@pytest.mark.parametrize(("stated_deg", "expected"), [(None, TORSION), (-5.0, dict.fromkeys(SIDES, np.radians(-5.0)))])
def test_without_stored_angles_torsion_is_stated_or_from_the_line_to_the_marker(
    stated_deg: float | None, expected: dict[str, float]
) -> None:
    points = bones(walk(WALK_S), twisted=False)
    stated = "" if stated_deg is None else json.dumps({s: {"tibial_torsion": np.radians(stated_deg)} for s in SIDES})
    shown = json.loads(state_torsion(points, MODEL.legs, {}, stated))
    for side in SIDES:
        close(shown[side]["tibial_torsion"], expected[side], 1e-9)
