"""Heels that a trial does not show: from the static trial, or where the heel of a flat foot is."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.body.landmarks import heel_places, virtual_heels, with_heels
from pipeline.conventions import SIDES
from tests.support.walks.person import Landmarks, close, landmarks, standing, walk

WALK_S = np.linspace(0, 1.1, 30)
HEELS = [f"heel_{side}" for side in SIDES]


def without_heels(points: Landmarks) -> Landmarks:
    return {name: where for name, where in points.items() if name not in HEELS}


def test_a_heel_that_is_shown_stays() -> None:
    person = standing()
    assert not virtual_heels(person)
    close(with_heels(person, {}, np.arange(5) / 100)["heel_left"], person["heel_left"])


def test_a_heel_of_the_static_trial_follows_the_foot() -> None:
    """Exactly as the static shows it; in motion the shank turns against the foot by up to 12 degrees about its axes."""
    places = heel_places(standing())
    still = with_heels(without_heels(standing()), places, np.arange(5) / 100)
    true = landmarks(walk(WALK_S))
    moving = with_heels(without_heels(true), places, WALK_S)
    for name in HEELS:
        close(still[name], standing()[name])
        assert np.linalg.norm(moving[name] - true[name], axis=1).max() < 0.02


def test_without_a_static_a_heel_is_on_a_flat_foot() -> None:
    """Behind and medial of the ankle at the height of the toe, within two standard deviations of what people have."""
    person = standing()
    found = with_heels(without_heels(person), {}, np.arange(5) / 100)
    for side in SIDES:
        heel, toe = found[f"heel_{side}"], person[f"toe_{side}"]
        close(heel[:, 1], toe[:, 1])
        assert np.linalg.norm(heel - person[f"heel_{side}"], axis=1).max() < 0.03


@pytest.mark.parametrize("name", ["toe_left", "lateral_malleolus_left", "lateral_epicondyle_left"])
def test_no_heel_without_the_landmarks_that_show_it(name: str) -> None:
    person = without_heels(standing())
    del person[name]
    assert virtual_heels(person) == {"heel_right"}
    assert "heel_left" not in with_heels(person, {}, np.arange(5) / 100)
