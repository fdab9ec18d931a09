"""Angles of trunk, head and arms: signs of described postures, on both sides and by both conventions; gimbal lock."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.conventions import SIDES
from pipeline.variables.cycle_variables import LABELS_OF_TRUNK
from pipeline.whole_body.angles import PARTS, of_part
from pipeline.whole_body.loads import LOADS

Array = NDArray[np.float64]

LOCK = 0.1  # smallest_floating_axis
CONVENTIONS = ("isb", "plug_in_gait")
BOTH = pytest.mark.parametrize("convention", CONVENTIONS)
TRUNK = ("thorax", "head", "spine", "neck")
MIRROR = np.diag([1.0, 1.0, -1.0])


def turned(sequence: str, *degrees: float) -> Array:
    """Return the turn of a segment of the right side about its axes, one after the other."""
    return np.asarray(Rotation.from_euler(sequence.upper(), degrees, degrees=True).as_matrix())


def angles(part: str, turn: Array, side: str, convention: str) -> Array:
    """Return the angles of a part where its segment is turned against the nearer one, which is turned in the lab.

    A limb of the left side is turned as the mirror image of the right one.
    """
    joint = PARTS[part]
    of_limb = joint.distal in ("upper_arm", "forearm", "hand")
    own = MIRROR @ turn @ MIRROR if side == "left" and of_limb else turn
    nearer = turned("yzx", 40, -20, 10) if joint.proximal else np.eye(3)
    distal, proximal = (nearer @ own).T, nearer.T
    names = {name: f"{name}_{side}" if name in ("upper_arm", "forearm", "hand") else name
             for name in (joint.distal, joint.proximal)}  # fmt: skip
    poses = {names[joint.distal]: distal[None]}
    if joint.proximal:
        poses[names[joint.proximal]] = proximal[None]
    return np.asarray(of_part(part, poses, side, convention, LOCK)[0])


def close(actual: Array, expected: Array | list[float]) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9)


@BOTH
@pytest.mark.parametrize("part", TRUNK)
def test_a_trunk_that_bends_forwards_is_flexed_on_both_sides(part: str, convention: str) -> None:
    for side in SIDES:
        close(angles(part, turned("z", -20), side, convention), [20, 0, 0])


@BOTH
@pytest.mark.parametrize("part", TRUNK)
def test_a_trunk_that_bends_to_the_right_has_its_left_side_up(part: str, convention: str) -> None:
    close(angles(part, turned("x", 15), "right", convention), [0, -15, 0])
    close(angles(part, turned("x", 15), "left", convention), [0, 15, 0])


@BOTH
@pytest.mark.parametrize("part", TRUNK)
def test_a_head_that_turns_to_the_left_has_its_right_side_ahead(part: str, convention: str) -> None:
    close(angles(part, turned("y", 30), "right", convention), [0, 0, 30])
    close(angles(part, turned("y", 30), "left", convention), [0, 0, -30])


@pytest.mark.parametrize("side", SIDES)
def test_an_arm_held_forwards(side: str) -> None:
    close(angles("shoulder", turned("z", 90), side, "isb"), [90, 90, -90])
    close(angles("shoulder", turned("z", 80), side, "plug_in_gait"), [80, 0, 0])


@pytest.mark.parametrize("side", SIDES)
def test_an_arm_held_sideways(side: str) -> None:
    close(angles("shoulder", turned("x", -90), side, "isb"), [0, 90, 0])
    close(angles("shoulder", turned("x", -90), side, "plug_in_gait"), [0, -90, 0])


@pytest.mark.parametrize("side", SIDES)
def test_a_hanging_arm_that_turns_inwards(side: str) -> None:
    assert np.isnan(angles("shoulder", turned("y", 30), side, "isb")).all()  # its plane of elevation is unknown
    close(angles("shoulder", turned("y", 30), side, "plug_in_gait"), [0, 0, 30])


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("plane", "elevation", "inwards"), [(45, 60, 10), (-20, 100, -70), (110, 30, -30)])
def test_plane_elevation_and_rotation_of_an_arm(side: str, plane: float, elevation: float, inwards: float) -> None:
    """The arm is turned about the trunk's long axis, raised sideways there, and turned about itself."""
    turn = turned("yxy", plane, -elevation, inwards)
    close(angles("shoulder", turn, side, "isb"), [plane, elevation, inwards])


@BOTH
@pytest.mark.parametrize("side", SIDES)
def test_a_bent_elbow(side: str, convention: str) -> None:
    close(angles("elbow", turned("z", 90), side, convention), [90, 0, 0])
    close(angles("elbow", turned("y", 70), side, convention), [0, 0, 70])  # the palm turns to the trunk: pronation


@BOTH
@pytest.mark.parametrize("side", SIDES)
def test_a_bent_wrist(side: str, convention: str) -> None:
    close(angles("wrist", turned("z", 40), side, convention), [40, 0, 0])
    close(angles("wrist", turned("x", 25), side, convention), [0, 25, 0])  # towards the little finger


@pytest.mark.parametrize(
    ("part", "convention", "sequence", "locked"),
    [
        *((part, "isb", "zxy", (10, 90, 20)) for part in PARTS if part != "shoulder"),
        *((part, "plug_in_gait", "zxy", (10, 90, 20)) for part in ("thorax", "head", "elbow", "wrist")),
        *((part, "plug_in_gait", "yxz", (10, 90, 20)) for part in ("spine", "neck")),
        ("shoulder", "plug_in_gait", "xzy", (10, 90, 20)),
        ("shoulder", "isb", "yxy", (10, 180, 20)),
    ],
)
@pytest.mark.parametrize("side", SIDES)
def test_gimbal_lock_has_no_angles(
    part: str, convention: str, sequence: str, locked: tuple[float, ...], side: str
) -> None:
    first, second, third = locked
    assert np.isnan(angles(part, turned(sequence, *locked), side, convention)).all()
    assert np.isfinite(angles(part, turned(sequence, first, second - 10, third), side, convention)).all()


@BOTH
@pytest.mark.parametrize("part", PARTS)
def test_angles_undo_the_turns(part: str, convention: str) -> None:
    sequence = PARTS[part].plug_in_gait if convention == "plug_in_gait" else "zxy"
    if part == "shoulder" and convention == "isb":
        return
    rng = np.random.default_rng(3)
    for _ in range(20):
        by_axis = dict(zip("zxy", rng.uniform(-75, 75, 3), strict=True))
        turn = turned(sequence, *(by_axis[axis] for axis in sequence))
        signs = PARTS[part].signs
        close(
            angles(part, turn, "right", convention),
            [by_axis[axis] * sign for axis, sign in zip("zxy", signs, strict=True)],
        )


def test_a_segment_that_is_not_there() -> None:
    with pytest.raises(KeyError):
        of_part("wrist", {"forearm_left": np.eye(3)[None]}, "left", "isb", LOCK)


def test_labels_of_files_are_in_the_order_of_the_code() -> None:
    assert LABELS_OF_TRUNK["upper_part"] == [*PARTS]
    assert LABELS_OF_TRUNK["upper_load"] == [*LOADS]
