"""Feet over, near, above and below plates."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.plates.foot_proximity import without_feet

Array = NDArray[np.float64]

PLATE = np.array([[0.3, 0, 0.2], [-0.3, 0, 0.2], [-0.3, 0, -0.2], [0.3, 0, -0.2]])  # y up
FAR = np.array([[3.0, 0.05, 0]])


def foot(at: tuple[float, float, float], side: str = "left") -> dict[str, Array]:
    """Return a foot with its heel at a place, pointing along x."""
    heel = np.array([at], dtype=float)
    places = {"heel": [0.0, 0.03, 0], "lateral_malleolus": [0.05, 0.08, 0.04], "toe": [0.2, 0.03, 0]}
    return {f"{name}_{side}": heel + place for name, place in places.items()}


def away(landmarks: dict[str, Array], corners: Array = PLATE) -> bool:
    return bool(without_feet(landmarks, corners[None])[0, 0])


OTHER = foot((3, 0, 0), "right")


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ((-0.1, 0, 0), False),
        ((-0.6, 0, 0), False),  # the toes reach 8 cm beyond their marker
        ((-0.7, 0, 0), True),
        ((0.4, 0, 0), False),
        ((0, 0, 0.3), False),
        ((0, 0, 0.6), True),
        ((0, 0.25, 0), True),  # in swing above it
        ((0, 0.1, 0), False),  # about to land
        ((0, -0.2, 0), True),  # on a lower step beneath it
    ],
)
def test_a_foot_within_reach_of_its_sole_may_load_the_plate(at: tuple[float, float, float], expected: bool) -> None:
    assert away(foot(at) | OTHER) is expected


def test_on_the_toes_a_foot_loads_the_plate() -> None:
    raised = foot((0, 0, 0)) | OTHER
    raised["heel_left"] += [0.08, 0.2, 0]
    raised["lateral_malleolus_left"] += [0.06, 0.15, 0]
    assert not away(raised)


@pytest.mark.parametrize("height", [0.15, 0.3, 0.6])
def test_a_foot_on_a_step_is_on_that_step_alone(height: float) -> None:
    """Steps of stairs overlap in plan with a plate in the floor; the lowest step is 15 cm high."""
    step = PLATE + np.array([0, height, 0])
    assert without_feet(foot((0, height, 0)) | OTHER, np.stack([PLATE, step])).tolist() == [[height > 0.2, False]]


def test_unseen_feet_are_nowhere() -> None:
    missing = {name: place * np.nan for name, place in foot((0, 0, 0)).items()}
    assert not away(missing | OTHER)
    assert not away(OTHER), "the other foot is in no marker"
    assert not away({"asis_left": FAR})


@pytest.mark.parametrize(("reach", "expected"), [(-0.6, False), (-0.7, True)])
def test_one_marker_may_be_at_the_other_end_of_the_foot(reach: float, expected: bool) -> None:
    """A toe marker alone: a foot of 30 cm may lie on either side of it."""
    only = {"toe_left": np.array([[reach, 0.03, 0]])}
    assert away(only | OTHER) is expected
