"""Detection of misread and shifted plates from steps; ``fault_campaign.py`` counts how often."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.plates.incline import VERTICAL
from pipeline.plates.wrench import plate_axes
from pipeline.signals.filters import interval_s
from pipeline.steps.contacts.feet import feet_of
from pipeline.steps.contacts.pelvis import middle_of_pelvis
from pipeline.steps.contacts.plate_faults.placement import find_shifted_plates, misreading, pushing_down, steps_of
from pipeline.steps.contacts.plate_faults.steps import PlateStep
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.on_plates import BODY_MODEL, raw_walk, reread
from tests.support.walks.real import cleaned_walks

Array = NDArray[np.float64]

WALKS = 4
TURNED = [2, 3, 0, 1]


class Trial(NamedTuple):
    """What plates are judged by; landmarks (time, 3) by name, without some of them in some tests."""

    time: Array
    force: Array
    moment: Array
    corners: Array
    points: dict[str, Array]

    def with_points(self, change: Callable[[Array], Array]) -> Trial:
        return self._replace(points={name: change(place) for name, place in self.points.items()})


def steps_in(trial: Trial) -> list[PlateStep]:
    feet = feet_of(trial.points, trial.time, trial.corners, travel="forwards")
    pelvis = middle_of_pelvis(trial.points, len(trial.time))
    return steps_of(trial.force, trial.moment, trial.corners, feet, pelvis, interval_s=interval_s(trial.time))


def verdicts_on(trial: Trial) -> list[str]:
    """Return a line on each plate of a trial, judged by its steps."""
    numbers = list(range(1, len(trial.corners) + 1))
    steps = steps_in(trial)
    verdicts = [
        down or misreading([step for step in steps if step.plate == plate], corners, plate + 1)
        for plate, (down, corners) in enumerate(
            zip(pushing_down(trial.force[..., 1], numbers), trial.corners, strict=True)
        )
    ]
    shifted = find_shifted_plates([step for step in steps if not verdicts[step.plate]], numbers)
    refusals = [shifted.get(plate, verdict) for plate, verdict in enumerate(verdicts)]
    return [refusal.words if refusal else "" for refusal in refusals]


def trial_of(cleaned: xr.Dataset) -> Trial:
    points = {name: cleaned.marker_position.values[:, i] for i, name in enumerate(cleaned.marker.values.tolist())}
    force, moment = cleaned.plate_force.values, cleaned.plate_moment.values
    return Trial(cleaned.time.values, force, moment, cleaned.plate_corner.values, points)


def cleaned_of(raw: xr.Dataset) -> xr.Dataset:
    return clean(raw, body_model=BODY_MODEL, settings=settings_of("clean"))


@pytest.fixture(scope="module")
def raw_walks(tmp_path_factory: pytest.TempPathFactory) -> list[xr.Dataset]:
    folder = tmp_path_factory.mktemp("walks")
    return [raw_walk(folder, 6000 + number) for number in range(WALKS)]


@pytest.fixture(scope="module")
def walks(raw_walks: list[xr.Dataset]) -> list[xr.Dataset]:
    return [cleaned_of(raw) for raw in raw_walks]


def test_only_the_turned_plate_is_reported(walks: list[xr.Dataset]) -> None:
    found = verdicts_on(trial_of(reread(walks[0], 1, TURNED)))
    assert found[::2] == ["", ""]
    assert re.fullmatch(
        r"plate 2 seems turned by 180 degrees: the force passes the pelvis by \d+ cm \(\d cm if it is\) and presses "
        r"beside the sole by \d+ cm \(0 cm if it is\)",
        found[1],
    )


@pytest.mark.parametrize(("order", "words"), [(TURNED, "turned by 180 degrees"), ([1, 2, 3, 0], "")])
def test_a_turned_plate_is_found_by_the_feet_alone(walks: list[xr.Dataset], order: list[int], words: str) -> None:
    """In heel to toe walking; without landmarks of the pelvis, which would tell the turn from a mirror."""
    trial = trial_of(reread(walks[0], 1, order))
    found = verdicts_on(trial._replace(points={name: at for name, at in trial.points.items() if "asis" not in name}))
    assert found[::2] == ["", ""]
    assert found[1].startswith(f"plate 2 seems {words}")
    assert "pelvis" not in found[1]


def test_a_reading_that_changes_little_is_not_reported(walks: list[xr.Dataset]) -> None:
    """The foot is in the middle of the plate, the side force small: the plate and its mirror image fit alike."""
    trial = trial_of(walks[0])
    (step,) = (step for step in steps_in(trial) if step.plate == 1)
    across = plate_axes(trial.corners[1])[:, 1]
    beside = ((step.heel + step.toe) / 2).mean(axis=0) @ across * across
    force = step.force - np.outer(step.force @ across, across)
    middle = replace(
        step,
        force=force,
        pressed=step.pressed - np.outer(step.pressed @ across, across),
        heel=step.heel - beside,
        toe=step.toe - beside,
        pelvis=step.pelvis - np.outer(step.pelvis @ across, across),
    )
    mirror = {"heel": middle.heel * (1 - 2 * np.abs(across)), "toe": middle.toe * (1 - 2 * np.abs(across))}
    for way in (middle, replace(middle, **mirror)):
        assert misreading([way], trial.corners[1], 2) is None


def test_steps_of_other_trials_count(walks: list[xr.Dataset]) -> None:
    """A plate is read alike in all trials: one wrong step among right ones is not the plate's fault."""
    wrong, right = ([step for step in steps_in(trial_of(walk)) if step.plate == 1] for walk in (
        reread(walks[0], 1, TURNED), walks[0],
    ))  # fmt: skip
    corners = walks[0].plate_corner.values[1]
    assert "turned by 180 degrees" in str(misreading(wrong + wrong, corners, 2))
    assert misreading(wrong + right + right, corners, 2) is None


@pytest.mark.parametrize("turn_deg", [37, 90, 180])
def test_the_lab_may_be_turned(walks: list[xr.Dataset], turn_deg: float) -> None:
    turn = Rotation.from_euler("y", turn_deg, degrees=True).as_matrix()
    for trial in (trial_of(walks[1]), trial_of(reread(walks[1], 0, TURNED))):
        force, moment, corners = (part @ turn.T for part in trial[1:4])
        turned = trial._replace(force=force, moment=moment, corners=corners).with_points(lambda place: place @ turn.T)
        assert verdicts_on(turned) == verdicts_on(trial)


def test_walking_backwards_is_walking_with_time_reversed(walks: list[xr.Dataset]) -> None:
    for walk in walks:
        for trial in (trial_of(walk), trial_of(reread(walk, 1, TURNED))):
            back = trial._replace(force=trial.force[::-1], moment=trial.moment[::-1])
            back = back.with_points(lambda place: place[::-1])
            assert said_of_misreading(back) == said_of_misreading(trial)


def test_steps_on_a_belt_are_judged_like_steps_on_the_ground(walks: list[xr.Dataset]) -> None:
    """Markers and forces move backwards at 1.2 m/s, over a belt of its own for each foot; the steps are the same."""
    trial = trial_of(walks[2])
    # from the middle of the step, so that the foot stays over its belt
    frame = next(step.frame for step in steps_in(trial) if step.plate == 1)
    carried = np.outer(trial.time - trial.time[frame], [-1.2, 0, 0])
    middle, force = trial.corners[1].mean(axis=0), trial.force[:, [1]]
    corners = middle + np.sign(trial.corners[[1]] - middle) * [1.2, 0, 0.06]
    about = trial.moment[:, [1]] + np.cross(carried[:, None] - middle, force)
    for turn, words in ((np.eye(3), ""), (np.diag([-1.0, 1, -1]), "plate 1 seems turned by 180 degrees")):
        moment = about @ turn + np.cross(middle, force @ turn)
        belt = trial._replace(force=force @ turn, moment=moment, corners=corners)
        assert said_of_misreading(belt.with_points(lambda place: place + carried)) == [words]


def said_of_misreading(trial: Trial) -> list[str]:
    return [text.partition(":")[0] for text in verdicts_on(trial)]


@pytest.mark.filterwarnings("error")
def test_standing_missing_feet_and_empty_plates_give_no_verdict(walks: list[xr.Dataset]) -> None:
    trial = trial_of(walks[0])
    middle = len(trial.time) // 2
    assert not any(verdicts_on(trial.with_points(lambda place: np.tile(place[middle], (len(place), 1)))))
    assert not any(verdicts_on(trial._replace(points={})))
    assert not any(verdicts_on(trial.with_points(lambda place: place * np.nan)))
    assert not any(verdicts_on(trial._replace(force=0 * trial.force, moment=0 * trial.moment)))
    assert not any(verdicts_on(trial._replace(force=np.nan * trial.force, moment=np.nan * trial.moment)))
    assert not any(verdicts_on(Trial(trial.time[:1], trial.force[:1], trial.moment[:1], trial.corners, {})))
    assert (
        verdicts_on(trial._replace(force=trial.force[:, :0], moment=trial.moment[:, :0], corners=trial.corners[:0]))
        == []
    )


def test_no_verdict_on_real_walks(shared: Path) -> None:
    """Even without restriction to good contacts."""
    found = {file: verdicts_on(trial_of(trial)) for file, trial in cleaned_walks(shared).items()}
    assert not {file: verdicts for file, verdicts in found.items() if any(verdicts)}


def exact_step(plate: int, side: str) -> PlateStep:
    """Return a step along x that obeys every law of places: it presses in the foot, and its line passes the pelvis."""

    def along(x: Array, height: Array) -> Array:
        return np.stack([x, height, 0 * x], axis=1)

    still, part = np.ones(5), np.arange(5)
    pressed = along(np.array([-0.055, -0.02, 0.02, 0.06, 0.1]), 0 * still)  # from under the heel to the toe marker
    pelvis = along(np.linspace(-0.2, 0.2, 5), 0.95 * still)
    heel, toe = along(-0.1 * still, 0.05 * still), along(0.1 * still, np.where(part < 1, 0.08, 0.05))
    force = 700 / 0.95 * (pelvis - pressed)
    return PlateStep(plate, side, 0, force, pressed, heel, toe, part > 3, part < 1, pelvis, 0 * still, VERTICAL, 0.6)


@pytest.mark.parametrize("direction", [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
@pytest.mark.parametrize(("shift_m", "found"), [(0.0, {}), (0.04, {}), (0.05, {1: "plate_shifted"})])
def test_the_least_shift_that_is_judged(direction: list[float], shift_m: float, found: dict[int, str]) -> None:
    """Where a centre of pressure is in a foot varies by 2.2 cm: a shift of twice that is judged, however many steps."""
    steps = [exact_step(plate, side) for plate in range(3) for side in ("left", "right") * 4]
    off = [replace(one, pressed=one.pressed + shift_m * np.array(direction) * (one.plate == 1)) for one in steps]
    assert {plate: one.code for plate, one in find_shifted_plates(off, [1, 2, 3]).items()} == found


def test_markers_that_lie_otherwise_on_the_feet_are_no_shift() -> None:
    """The force's line still passes the pelvis."""
    steps = [exact_step(plate, side) for plate in range(3) for side in ("left", "right")]
    off = np.array([0.1, 0.0, 0.0])
    moved = [replace(one, heel=one.heel + off, toe=one.toe + off) if one.plate == 1 else one for one in steps]
    assert find_shifted_plates(moved, [1, 2, 3]) == {}
