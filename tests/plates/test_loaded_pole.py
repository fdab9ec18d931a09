"""A pole pressed on a plate: sound plates pass, each fault of a plate is found, whatever plate, pole and axes are."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import UserError
from pipeline.plates.loaded_pole import (
    BAD,
    GOOD,
    LOOK,
    PlateTest,
    as_json,
    compare_plates,
    find_pole,
    from_json,
    in_words,
)
from tests.support.plates.pressed_pole import FAULTS, Pressed, moved, of_pressed, pressed_pole

SEEDS = range(8)
FX, FY, FZ, MX, MY = range(5)


@pytest.mark.parametrize("tilt_deg", [15.0, 25.0, 35.0])
@pytest.mark.parametrize("beside", [False, True])
def test_a_sound_plate_passes_also_with_somebody_on_another(tilt_deg: float, beside: bool, tmp_path: Path) -> None:
    """A pole of up to 1 kg bends the force by up to 0.7 degrees, markers of 1 mm off the axis move it by 2 mm."""
    tests = [of_pressed(pressed_pole(seed, tilt_deg=tilt_deg, beside=beside), tmp_path) for seed in SEEDS]
    assert [test.verdict for test in tests] == [GOOD] * len(tests)


def test_without_noise_only_the_weight_of_the_pole_is_left(tmp_path: Path) -> None:
    tests = [of_pressed(pressed_pole(seed, noise=0.0), tmp_path) for seed in SEEDS]
    assert max(test.position_mm for test in tests) < 1  # cut-off and interpolation
    assert max(test.direction_deg for test in tests) < 0.5


FOUND_ALWAYS = [
    name for name in FAULTS if name != "sound" and not name.startswith("8 mm") and not re.match(r"M. \d|.. 10 %", name)
]


@pytest.mark.parametrize("name", FOUND_ALWAYS)
def test_each_fault_of_a_plate_is_found(name: str, tmp_path: Path) -> None:
    tests = [of_pressed(FAULTS[name](pressed_pole(seed)), tmp_path) for seed in SEEDS]
    assert {test.verdict for test in tests} <= {LOOK, BAD}
    if "too high" not in name and "12 mm" not in name:
        assert [test.verdict for test in tests] == [BAD] * len(tests)


@pytest.mark.parametrize("channel", [MX, MY])
def test_the_gain_of_a_moment_shows_by_its_lever(channel: int, tmp_path: Path) -> None:
    """A fifth too little moves the force by a fifth of the tip's distance from the middle line: near it, nothing."""
    tests = [of_pressed(pressed_pole(seed).with_gain(channel, 0.8), tmp_path) for seed in range(16)]
    assert sum(test.verdict != GOOD for test in tests) >= 0.7 * len(tests)


def test_a_gain_of_all_channels_stays_unknown(tmp_path: Path) -> None:
    """Only a known weight shows it, as of a person who stands."""
    trial = pressed_pole(1)
    sound = of_pressed(trial, tmp_path)
    for channel in range(6):
        trial = trial.with_gain(channel, 1.3)
    assert of_pressed(trial, tmp_path).position_mm == pytest.approx(sound.position_mm, abs=0.3)


def test_the_offset_tells_where_the_corners_belong(tmp_path: Path) -> None:
    by_m = np.array([0.03, -0.02, 0.0])
    for seed in SEEDS:
        trial = pressed_pole(seed)
        offset_mm = of_pressed(moved(*by_m)(trial), tmp_path).offset_mm
        np.testing.assert_allclose(offset_mm, 1e3 * trial.turn @ by_m, atol=5)  # across the force, 1 - cos 25 degrees


def test_a_pole_that_is_hardly_tilted_does_not_test_shear(tmp_path: Path) -> None:
    test = of_pressed(pressed_pole(2, tilt_deg=5.0), tmp_path)
    assert (test.verdict, test.untested) == (LOOK, "x and y")
    assert "tilted too little" in in_words(2, test)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda trial: replace(trial, markers=np.repeat(trial.markers[:1], len(trial.markers), axis=0)), "no_pole"),
        (lambda trial: replace(trial, markers=trial.markers[:, :1]), "no_pole"),
        (lambda trial: replace(trial, markers=trial.markers * np.nan), "no_pole"),
        (lambda trial: trial.with_gain(FZ, 0.0).with_gain(FX, 0.0).with_gain(FY, 0.0), "pole_not_pressed"),
        (lambda trial: replace(trial, plates=[]), "pole_not_pressed"),
    ],
    ids=["markers on the floor", "one marker", "nothing seen", "not loaded", "no plate"],
)
def test_what_is_no_test_is_refused(change: Callable[[Pressed], Pressed], code: str) -> None:
    trial = change(pressed_pole(3))
    readings = [plate.readings for plate in trial.plates]
    force = np.stack([each[:, :3] for each in readings], axis=1) if readings else np.zeros((8000, 0, 3))
    corners = np.stack([plate.corners for plate in trial.plates]) if readings else np.zeros((0, 4, 3))
    instants = np.arange(len(force)) / 1000
    with pytest.raises(UserError) as error:
        compare_plates(
            trial.markers, force, force, corners, numbers=range(len(corners)), instants=instants,
            time=np.arange(len(trial.markers)) / 100,
        )  # fmt: skip
    assert error.value.problems[0].code == code


@pytest.mark.parametrize("seed", SEEDS)
def test_the_pole_is_found_among_other_markers(seed: int) -> None:
    """Markers on the floor and on a moving hand do not belong to it."""
    trial, rng = pressed_pole(seed), np.random.default_rng(seed)
    frames, count = trial.markers.shape[:2]
    floor = np.broadcast_to(rng.uniform(-1, 1, (4, 3)), (frames, 4, 3))
    hand = trial.markers[:, :1] + 0.2 + 0.02 * np.sin(np.arange(frames) / 40)[:, None, None] * rng.normal(size=(3, 3))
    pole = find_pole(np.concatenate([floor, hand, trial.markers], axis=1))
    assert pole is not None
    assert {*pole.markers} == {*range(7, 7 + count)}


def test_hundreds_of_short_traces_need_little_memory() -> None:
    """A camera system that has not labelled its traces writes each of them, most of them for a moment."""
    trial = pressed_pole(0)
    frames, count = trial.markers.shape[:2]
    traces = np.full((frames, 500, 3), np.nan)
    for i in range(500):
        traces[i % frames, i] = i % 7
    tracemalloc.start()
    pole = find_pole(np.concatenate([traces, trial.markers], axis=1))
    most_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert pole is not None
    assert {*pole.markers} == {*range(500, 500 + count)}
    assert most_bytes < 100e6  # the distances of all pairs in all frames would be 1e9


def test_a_test_is_stored_and_read_back() -> None:
    test = PlateTest(7.25, 0.4, [6.0, -3.0, 0.5], [25.0, 24.0], 310.0, 5.0, 4)
    assert from_json(json.loads(json.dumps(as_json({2: test})))) == {"2": test}
    assert in_words(2, test) == (
        "plate 2: 7.2 mm, 0.4 degrees: look; the force passes the tip on average by (+6, -3, +0) mm along x, y, z of "
        "the file"
    )
