"""Joint angles against those that the file stores."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pipeline.conventions import ANGLES, JOINTS, SIDES
from pipeline.steps.kinematics.witnesses import AGREES_DEG, LARGEST_DEG, angle_misfit, doubt_angles

KNEE, ANKLE, ADDUCTION, ROTATION = JOINTS.index("knee"), JOINTS.index("ankle"), 1, ANGLES.index("rotation")


def test_a_leg_that_alone_differs_from_the_file_is_doubted_with_its_axis() -> None:
    rng = np.random.default_rng(1)
    angle = rng.normal(0, 20, (40, 2, 3, 3))
    frames = np.arange(3, 40, 4)
    stored = angle[frames].copy()
    stored[:, :, ANKLE, ADDUCTION] *= -1  # eversion is positive in files
    stored[2] = np.nan
    stored[:, 1, KNEE, ROTATION] += 360 - (LARGEST_DEG + 1)
    text = json.dumps([frames.tolist(), stored.tolist()])
    off = angle_misfit(text, angle)
    expected = np.zeros((2, 3, 3))
    expected[1, KNEE, ROTATION] = LARGEST_DEG + 1
    np.testing.assert_allclose(off, expected, atol=1e-9)  # rounding
    (found,) = doubt_angles(off)
    assert found.code == "angles_unlike_file"
    assert found.values == {"what": "right knee rotation", "degrees": pytest.approx(4.0), "leg": "right"}


@pytest.mark.parametrize(("other", "size"), [(LARGEST_DEG + 1, LARGEST_DEG + 1), (0.0, AGREES_DEG), (np.nan, 9.0)])
def test_another_model_a_small_difference_and_an_unknown_leg_are_not_doubted(other: float, size: float) -> None:
    """Another model differs on both sides."""
    off = np.zeros((len(SIDES), len(JOINTS), len(ANGLES)))
    off[:, KNEE, ROTATION] = size, other
    assert doubt_angles(off) == []


def test_a_foot_taken_as_flat_is_not_doubted() -> None:
    off = np.zeros((2, 3, 3))
    off[0, ANKLE, ANGLES.index("flexion")] = 3 * LARGEST_DEG
    assert doubt_angles(off) == []


def test_a_file_without_angles_says_nothing() -> None:
    off = angle_misfit("", np.zeros((5, 2, 3, 3)))
    assert np.isnan(off).all()
    assert doubt_angles(off) == []
