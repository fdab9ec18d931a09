"""The plane of the ground by the corners of plates: ramps, belts, stairs, level floors."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.plates.incline import VERTICAL, level_axes, normal_of_ground, over_ground, per_level_metre, uphill
from pipeline.steps.contacts.feet import feet_of

Array = NDArray[np.float64]

SQUARE = np.array([[0.3, 0, 0.2], [-0.3, 0, 0.2], [-0.3, 0, -0.2], [0.3, 0, -0.2]])
ROUNDING = 1e-12


def ramp(slope_deg: float, aside_deg: float = 0.0) -> Array:
    """Return axes of a ramp as columns: uphill, its normal, to the right."""
    return np.asarray(Rotation.from_euler("zx", [slope_deg, aside_deg], degrees=True).as_matrix())


def row(axes: Array, count: int = 3) -> Array:
    """Return plates (plate, 4, 3) in one plane, one after the other; the last one has its corners the other way."""
    plates = np.stack([(SQUARE + np.array([0.7 * i, 0, 0])) @ axes.T for i in range(count)])
    plates[-1] = plates[-1][::-1]
    return plates


@pytest.mark.parametrize(("slope_deg", "aside_deg"), [(10, 0), (-10, 0), (3, 0), (7, 4), (0, 10)])
def test_plates_in_a_ramp_show_its_normal(slope_deg: float, aside_deg: float) -> None:
    axes = ramp(slope_deg, aside_deg)
    np.testing.assert_allclose(normal_of_ground(row(axes)), axes[:, 1], atol=ROUNDING)


def test_level_plates_and_stairs_are_exactly_level() -> None:
    """Corners are placed to a centimetre; treads are at several heights."""
    stairs = row(np.eye(3)) + np.array([0, 1.0, 0]) * np.arange(3)[:, None, None] * 0.17
    placed = row(np.eye(3)) + np.random.default_rng(3).uniform(-0.009, 0.009, (3, 4, 3))
    for corners in (row(np.eye(3)), stairs, placed, np.zeros((0, 4, 3)), np.full((1, 4, 3), np.nan)):
        assert normal_of_ground(corners).tolist() == VERTICAL.tolist()


def test_a_ramp_beside_a_level_plate_is_no_plane() -> None:
    both = np.concatenate([row(np.eye(3), 1), row(ramp(10), 1)])
    assert normal_of_ground(both).tolist() == VERTICAL.tolist()


@pytest.mark.parametrize("slope_deg", [10, -6])
def test_uphill_is_in_the_plane_above_lab_x(slope_deg: float) -> None:
    axes = ramp(slope_deg, 5)
    direction = uphill(axes[:, 1])
    assert direction @ axes[:, 1] == pytest.approx(0, abs=ROUNDING)
    assert np.linalg.norm(direction) == pytest.approx(1)
    assert uphill(VERTICAL).tolist() == [1, 0, 0]


@pytest.mark.parametrize("heading_deg", [0, 40, 90, 180])
def test_a_way_along_the_ground_is_longer_than_in_plan(heading_deg: float) -> None:
    """A step to any direction in plan, put on the ramp by its height there."""
    axes, angle = ramp(10, 4), np.radians(heading_deg)
    plan = np.array([np.cos(angle), 0, np.sin(angle)])
    on_ramp = plan - VERTICAL * (plan @ axes[:, 1]) / axes[1, 1]
    direction = np.array(np.exp(1j * angle))
    assert per_level_metre(axes[:, 1], direction) == pytest.approx(np.linalg.norm(on_ramp), abs=ROUNDING)
    assert per_level_metre(VERTICAL, direction) == 1


@pytest.mark.parametrize("slope_deg", [10.0, -7.0, 0.0])
def test_a_foot_on_a_ramp_is_over_the_plates_that_it_is_over_on_the_level(slope_deg: float) -> None:
    """Also within millimetres of an edge, with the heel raised: markers are some centimetres above the ground."""
    rng = np.random.default_rng(5)
    heel = np.stack([rng.uniform(-0.3, 0.5, 400), rng.uniform(0.03, 0.2, 400), rng.uniform(-0.3, 0.3, 400)], axis=1)
    toe = heel + np.stack([rng.uniform(0.12, 0.18, 400), 0.05 - heel[:, 1], rng.uniform(-0.05, 0.05, 400)], axis=1)
    plates = row(np.eye(3), 2)
    turn = Rotation.from_euler("zx", [slope_deg, 0.6 * slope_deg], degrees=True).as_matrix()

    def over(turned: Array) -> list[NDArray[np.bool_]]:
        corners = plates @ turned.T
        feet = feet_of({"heel_left": heel @ turned.T, "toe_left": toe @ turned.T}, np.arange(400) / 100, corners,
                       travel="forwards")  # fmt: skip
        return [of(corners, 0.0, slice(None)) for of in (feet["left"].over, feet["left"].whole_over)]

    for level, inclined in zip(over(np.eye(3)), over(turn), strict=True):
        assert 0.05 < level.mean() < 0.95
        np.testing.assert_array_equal(inclined, level)


def test_the_axes_of_level_ground_are_exactly_those_of_the_lab() -> None:
    assert level_axes(VERTICAL).tolist() == np.eye(3).tolist()
    axes = ramp(7, 4)
    np.testing.assert_allclose(level_axes(axes[:, 1]) @ axes[:, 1], VERTICAL, atol=ROUNDING)


def test_points_on_a_ramp_are_at_one_height_over_it() -> None:
    axes = ramp(10, 3)
    places = np.random.default_rng(1).uniform(-1, 1, (5, 3)) * [1, 0, 1]
    over = over_ground((places + 0.04 * VERTICAL) @ axes.T, axes[:, 1])
    np.testing.assert_allclose(over[:, 1], 0.04 / axes[1, 1], atol=ROUNDING)
    assert (over_ground(places, VERTICAL) == places).all()
