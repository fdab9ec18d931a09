"""Segment frames: the axis rules by themselves, then the frames of a standing person by every body model."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pipeline.body.rules import AxisRule
from pipeline.body.segment_poses import frame
from pipeline.conventions import FROM_PELVIS, SIDES
from pipeline.workflow.settings import shipped_body_models
from tests.support.walks.person import (
    PROPERTY,
    SEED,
    body_model,
    close,
    jittered,
    landmarks,
    mirrored,
    random_turns,
    skeleton_of,
    standing,
    walk,
)

FLIP = np.diag([1.0, 1, -1])
ISB = "isb_clusters"
# of markers; those of poses: tests/c3d/test_segment_poses.py
BODY_MODELS = [name for name in shipped_body_models() if name != "segment_poses"]


@given(SEED, st.floats(-3, 3))
@PROPERTY
def test_first_rule_is_kept_and_second_gives_the_plane(seed: int, slant: float) -> None:
    """Any two axes give back the frame that their directions are from."""
    axes = random_turns(np.random.default_rng(seed), 1)[0]
    for first, second in permutations("xyz", 2):
        i, j = "xyz".index(first), "xyz".index(second)
        points = {"o": np.zeros(3), "a": 0.4 * axes[i], "b": 0.1 * axes[j] + slant * axes[i]}
        rules = [AxisRule(first, ("o",), ("a",)), AxisRule(second, ("o",), ("b",))]
        close(frame(rules, points, {}, "right"), axes)
        # medial to lateral points to the subject's right on the right, and the other way round on the left
        across = [rules[0], replace(rules[1], mediolateral=True)]
        close(frame(across, points, {}, "right"), axes)
        close(frame(across, points | {"b": -points["b"]}, {}, "left"), axes)
        along = [rules[0], AxisRule(second, along=f"other.{second}")]
        close(frame(along, points, {"other": axes}, "left"), axes)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", BODY_MODELS)
def test_axes_of_a_standing_person_point_forward_up_and_right(name: str, side: str) -> None:
    for segment, rotation in skeleton_of(name, standing(), side).frames.items():
        close(rotation @ np.swapaxes(rotation, 1, 2), np.eye(3) + 0 * rotation)
        close(np.linalg.det(rotation), 1)
        # the lines between skin markers are tilted against the true axes, by up to 15 degrees here; that from ankle to
        # toe, which is the foot's where there is no heel marker, falls by 20
        tilt = 21 if (name, segment) == ("helen_hayes_no_heel", "foot") else 15
        assert (np.diagonal(rotation, axis1=1, axis2=2) > np.cos(np.radians(tilt))).all(), segment


@pytest.mark.parametrize("side", SIDES)
def test_isb_frames_of_the_standing_person_are_the_labs(side: str) -> None:
    still = skeleton_of(ISB, standing(), side)
    for segment in FROM_PELVIS:
        close(still.frames[segment][0], np.eye(3))


@pytest.mark.parametrize("side", SIDES)
def test_plug_in_gait_foot_takes_its_plane_from_the_shank(side: str) -> None:
    """Two markers define a line only: y is normal to the z axis of the shank, in any posture."""
    frames = skeleton_of("plug_in_gait", landmarks(walk(np.full(3, 0.7))), side).frames
    close((frames["foot"][:, 1] * frames["shank"][:, 2]).sum(axis=1), 0)


@pytest.mark.parametrize("name", BODY_MODELS)
def test_mirrored_person_has_mirrored_frames_and_joint_centres(name: str) -> None:
    person = jittered(standing(), seed=1)
    for side, other in zip(SIDES, SIDES[::-1], strict=True):
        still, image = skeleton_of(name, person, side), skeleton_of(name, mirrored(person), other)
        for segment in FROM_PELVIS:
            close(image.frames[segment], FLIP @ still.frames[segment] @ FLIP)
        for centre, place in still.centres.items():
            close(image.centres[centre], place @ FLIP)


@pytest.mark.parametrize("name", BODY_MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_frames_turn_with_the_person(name: str, seed: int) -> None:
    """A model that levels the foot depends on the vertical: it is turned about this axis only."""
    levelled = any(rule.level for segment in body_model(name).segments.values() for rule in segment.axes)
    vertical = Rotation.from_euler("y", 50 * (seed + 1), degrees=True).as_matrix()
    turn = vertical if levelled else random_turns(np.random.default_rng(seed), 1)[0]
    person = jittered(standing(1), seed)
    there = {landmark: where @ turn.T + 3 for landmark, where in person.items()}
    still, moved = skeleton_of(name, person, "left"), skeleton_of(name, there, "left")
    for segment in FROM_PELVIS:
        close(moved.frames[segment], still.frames[segment] @ turn.T)


@pytest.mark.parametrize("side", SIDES)
def test_isb_2002_shank(side: str) -> None:
    """Wu et al. 2002: z along the malleoli, x normal to the plane of knee centre and malleoli, y normal to both."""
    person = jittered(standing(1), seed=2)
    frames = skeleton_of("isb_clusters_2002", person, side)
    x, y, z = frames.frames["shank"][0]
    out = (person[f"lateral_malleolus_{side}"] - person[f"medial_malleolus_{side}"])[0] * (1 if side == "right" else -1)
    up = frames.centres["knee_centre"][0] - person[f"medial_malleolus_{side}"][0]
    close(z, out / np.linalg.norm(out))
    close([x @ out, x @ up, y @ z], 0)
    assert x[0] > 0.9
    assert y[1] > 0.9


@pytest.mark.parametrize("side", SIDES)
def test_dumas_shank_plane_holds_the_fibula_head(side: str) -> None:
    person = jittered(standing(1), seed=3)
    leg = skeleton_of("ior_dumas", person, side)
    knee = leg.centres["knee_centre"][0]
    close((person[f"fibula_head_{side}"][0] - knee) @ leg.frames["shank"][0, 0], 0)
    close((leg.centres["ankle_centre"][0] - knee) @ leg.frames["shank"][0, 0], 0)


@pytest.mark.parametrize("side", SIDES)
def test_flat_foot_takes_the_heels_height_for_the_toes(side: str) -> None:
    """The foot of the static trial is level for any height of the heel marker; the plain model tilts with it."""
    person = standing(1)
    person[f"heel_{side}"] = person[f"heel_{side}"] + np.array([0, 0.03, 0])
    flat, plain = (
        skeleton_of(name, person, side).frames["foot"][0] for name in ("plug_in_gait_flat_foot", "plug_in_gait")
    )
    close(flat[0, 1], 0)
    assert plain[0, 1] < -0.05
