"""Clinical moments of trunk and arms: of axes that are the lab's, and of a mirrored person."""

from __future__ import annotations

import numpy as np
import xarray as xr
from scipy.spatial.transform import Rotation

from pipeline.whole_body.loads import LOADS, moments_of_sides
from pipeline.whole_body.skeleton import JOINTS, SEGMENTS

MIRROR = np.diag([1.0, 1.0, -1.0])
ARM = [i for i, joint in enumerate(LOADS) if f"{joint}_left" in JOINTS]


def kinematics(upper: np.ndarray) -> xr.Dataset:
    """Return poses (time, segment, 3, 3) of the upper body, of which the pelvis is upright."""
    pelvis = np.eye(3) + np.zeros((len(upper), 2, 4, 3, 3))
    return xr.Dataset({
        "upper_rotation": (("time", "upper_segment", "row", "axis"), upper),
        "rotation": (("time", "side", "segment", "row", "axis"), pelvis),
    })  # fmt: skip


def test_moments_on_upright_segments_are_those_about_the_axes_of_the_lab() -> None:
    """Flexion about z, adduction about x, rotation about y; on the left the last two are mirrored."""
    upright = np.eye(3) + np.zeros((1, len(SEGMENTS), 3, 3))
    moment = np.array([1.0, 10.0, 100.0]) + np.zeros((1, len(JOINTS), 3))
    left, right = moments_of_sides(kinematics(upright), moment)[0]
    np.testing.assert_allclose(right[ARM], [[100.0, 1.0, 10.0]] * len(ARM))
    np.testing.assert_allclose(left[ARM], [[100.0, -1.0, -10.0]] * len(ARM))


def test_a_mirrored_arm_has_the_moments_of_the_other() -> None:
    rng = np.random.default_rng(3)
    upper = np.eye(3) + np.zeros((2, len(SEGMENTS), 3, 3))
    moment = np.zeros((2, len(JOINTS), 3))
    for i, name in enumerate(SEGMENTS):
        if name.endswith("_right"):
            other = SEGMENTS.index(name.replace("_right", "_left"))
            upper[:, i] = Rotation.from_euler("ZXY", rng.uniform(-1, 1, (2, 3))).as_matrix()
            upper[:, other] = MIRROR @ upper[:, i] @ MIRROR
            moment[:, i] = rng.normal(size=(2, 3))
            moment[:, other] = -moment[:, i] @ MIRROR  # a moment is no vector: a mirror turns its other components
    found = moments_of_sides(kinematics(upper), moment)
    assert np.abs(found[:, 1, ARM]).min() > 0
    np.testing.assert_allclose(found[:, 0, ARM], found[:, 1, ARM])
