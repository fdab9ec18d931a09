"""Laws of steps on sound plates: sound steps of every way of moving keep them, wrong channels break them."""

from __future__ import annotations

import math
import re
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.plates.wrench import plate_axes
from pipeline.signals.filters import interval_s
from pipeline.steps.contacts.feet import feet_of
from pipeline.steps.contacts.pelvis import middle_of_pelvis
from pipeline.steps.contacts.plate_faults.forces import misread_channels
from pipeline.steps.contacts.plate_faults.laws import LAWS, chance_of, deviations, numbers_of
from pipeline.steps.contacts.plate_faults.steps import PlateStep, as_arrays, steps_on
from tests.support.plates.stances import found
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.moving_on_plates import BODY_MODEL, VALID, recorded
from tests.support.walks.on_plates import shifted
from tests.support.walks.ways_of_moving import WAYS

Array = NDArray[np.float64]

SEED = 3  # of which every way has a plate with one foot alone


def cleaned(way: str, seed: int = SEED) -> tuple[xr.Dataset, set[int]]:
    """Return a recording after step ``clean``, and the indices of its plates with a valid stance of their own."""
    walk = recorded(way, seed)
    valid = {plate - 1 for truth in walk.stances if truth.verdict == VALID for plate in truth.plates}
    shared = {plate - 1 for truth in walk.stances if len(truth.plates) > 1 for plate in truth.plates}
    return clean(walk.trial, body_model=BODY_MODEL, settings=settings_of("clean")), valid - shared


def read_as(trial: xr.Dataset, plate: int, force: Array, moment: Array) -> xr.Dataset:
    """Return the trial with matrices (3, 3) in plate axes applied to force and moment, about its middle, of a plate."""
    trial = trial.copy(deep=True)
    axes, middle = plate_axes(trial.plate_corner.values[plate]), trial.plate_corner.values[plate].mean(axis=0)
    forces, moments = trial.plate_force.values[:, plate], trial.plate_moment.values[:, plate]
    about = (moments - np.cross(middle, forces)) @ (axes @ moment @ axes.T).T
    forces[:] = forces @ (axes @ force @ axes.T).T
    moments[:] = about + np.cross(middle, forces)
    return trial


def along_walk(trial: xr.Dataset, plate: int) -> int:
    """Return which of a plate's axes x and y is along the lab's x, along which people walk here."""
    return int(np.argmax(np.abs(plate_axes(trial.plate_corner.values[plate])[0, :2])))


def verdicts(trial: xr.Dataset, plate: int) -> list[tuple[str, str, str]]:
    """Return reason, its code and the codes of doubts of the stances on a plate."""
    after = found(trial)
    rows = zip(
        *(after[name].values.tolist() for name in ("plates", "reason", "reason_code", "doubt_code")), strict=True
    )
    return [row[1:] for row in rows if row[0] == str(plate + 1)]


@pytest.mark.parametrize("way", WAYS)
def test_sound_steps_are_neither_refused_nor_doubted(way: str) -> None:
    trial, plates = cleaned(way)
    after = found(trial)
    here = np.isin(after.plates.values, [str(plate + 1) for plate in plates]) & after.valid.values
    assert set(after.doubt_code.values[here]) <= {""}
    chances = after.plate_chance.values[here]
    assert np.nanmin(chances, initial=1.0) > 0.01


@pytest.mark.parametrize("way", ["straight", "slow", "on toes", "running"])
def test_walking_backwards_obeys_the_same_laws(way: str) -> None:
    """It is walking with time reversed: the force is the same, and the foot rolls from toe to heel."""
    trial, plates = cleaned(way)
    for plate in plates:
        for step in steps_on_plate(trial, plate):
            back = replace(step, **{
                name: getattr(step, name)[::-1] for name in ("force", "pressed", "heel", "toe", "heel_up", "pelvis")
            })  # fmt: skip
            assert chance_of(deviations(as_arrays([back]))[1]) > 0.01
            # where the heel presses while the toes are up, first or last
            assert numbers_of(as_arrays([back]))[0][0, 1] == pytest.approx(
                numbers_of(as_arrays([step]))[0][0, 1], nan_ok=True
            )


def steps_on_plate(trial: xr.Dataset, plate: int) -> list[PlateStep]:
    time, corners = trial.time.values, trial.plate_corner.values
    points = {name: trial.marker_position.values[:, i] for i, name in enumerate(trial.marker.values.tolist())}
    feet = feet_of(points, time, corners, travel="forwards")
    force, moment = trial.plate_force.values[:, plate], trial.plate_moment.values[:, plate]
    pelvis = middle_of_pelvis(points, len(time))
    found_steps = steps_on(plate, force, moment, corners[plate], feet, pelvis, interval_s=interval_s(time))
    assert found_steps
    return found_steps


STRAIGHT = ("straight", "slow", "on toes", "upstairs", "downstairs", "running", "split belt")
SIGN = np.diag([-1.0, 1.0, 1.0])


@pytest.mark.parametrize("way", STRAIGHT)
def test_the_sign_of_the_force_along_the_walk_is_found(way: str) -> None:
    """Forwards and backwards are exchanged: the line runs against the body, by twice the way of the pelvis."""
    trial, plates = cleaned(way)
    assert plates
    for plate in plates:
        sign = np.eye(3)
        sign[(axis := along_walk(trial, plate)), axis] = -1
        for reason, code, doubts in verdicts(read_as(trial, plate, sign, np.eye(3)), plate):
            assert is_found((reason, code, doubts))


def test_words_name_what_is_seen_and_the_channel() -> None:
    trial, plates = cleaned("straight")
    plate = min(plates)
    axis = along_walk(trial, plate)
    sign = np.eye(3)
    sign[axis, axis] = -1
    (row,) = verdicts(read_as(trial, plate, sign, np.eye(3)), plate)
    name = f"the sign of F{'xy'[axis]}"
    assert re.search(rf"^plate {plate + 1} measures .*: its force .*moves on by \d\d cm less than the pelvis", row[0])
    assert name in row[0]


def is_found(verdict: tuple[str, str, str]) -> bool:
    _, code, doubts = verdict
    return bool(code or doubts)


def test_exchanged_and_dead_horizontal_channels_are_found() -> None:
    trial, plates = cleaned("straight")
    for force in (np.eye(3)[[1, 0, 2]], np.diag([0.0, 0.0, 1.0])):
        for plate in plates:
            assert all(map(is_found, verdicts(read_as(trial, plate, force, np.eye(3)), plate)))


@pytest.mark.parametrize("way", STRAIGHT)
def test_a_path_of_pressure_that_runs_backwards_is_found(way: str) -> None:
    """The sign of the moment across the walk mirrors the centre of pressure about the plate's middle."""
    trial, plates = cleaned(way)
    for plate in plates:
        sign = np.eye(3)
        sign[(across := 1 - along_walk(trial, plate)), across] = -1
        for step, wrong in zip(
            *(steps_on_plate(of, plate) for of in (trial, read_as(trial, plate, np.eye(3), sign))), strict=True
        ):
            moved = np.abs(wrong.pressed - step.pressed).max()
            assert chance_of(deviations(as_arrays([wrong]))[1]) < 0.01 or moved < 0.15


def test_the_sign_of_the_free_moment_is_found_where_it_twists() -> None:
    """Mz about the middle is free moment and lever of the horizontal force; its sign gives a twist of both.

    People twist the ground with a lever of up to 1 cm, runners 2.
    """
    trials = [cleaned("straight", seed) for seed in (SEED, 14, 25)]
    twists = []
    for trial, plates in trials:
        for plate in plates:
            twists.append(found_twist(trial, plate, -1.0))
            turned = verdicts(read_as(trial, plate, np.eye(3), np.diag([1.0, 1.0, -1.0])), plate)
            assert all(map(is_found, turned)) or twists[-1] < 0.04
    assert max(twists) > 0.04


def found_twist(trial: xr.Dataset, plate: int, sign: float) -> float:
    """Return the largest free moment per vertical force of a plate with the sign of Mz, m, while it is loaded."""
    force, moment = trial.plate_force.values[:, plate], trial.plate_moment.values[:, plate]
    middle = trial.plate_corner.values[plate].mean(axis=0)
    about = (moment - np.cross(middle, force)) * [1.0, sign, 1.0]
    loaded = force[:, 1] > 0.5 * force[:, 1].max()
    return float(np.abs((about * force).sum(axis=1)[loaded] / force[loaded, 1] ** 2).max())


@pytest.mark.parametrize(("shift_m", "verdict"), [(0.12, "all_plates_shifted"), (0.02, "")])
def test_plates_shifted_together(shift_m: float, verdict: str) -> None:
    """Six standard deviations of where feet press and forces pass the pelvis, and one."""
    trial, plates = cleaned("straight")
    assert len(plates) > 1
    for plate in range(trial.sizes["plate"]):
        trial = shifted(trial, plate, np.array([shift_m, 0.0, 0.0]))
    assert {code for plate in plates for _, code, _ in verdicts(trial, plate)} == {verdict}


def test_who_cannot_be_seen_is_not_judged() -> None:
    """Without a pelvis, or with one foot, the chance is unknown: it is NaN, not 1."""
    trial, _ = cleaned("straight")
    for hidden in ("asis", "toe_left"):
        unseen = trial.assign(marker_position=trial.marker_position.where(~trial.marker.str.startswith(hidden)))
        assert np.isnan(found(unseen).plate_chance).all()
    assert math.isnan(chance_of(np.full(len(LAWS), np.nan)))


def test_no_single_law_of_places_condemns_a_plate() -> None:
    """A marker elsewhere on the foot, or a trunk that leans, moves one number by any amount."""
    for i, law in enumerate(LAWS.values()):
        chance = chance_of(np.where(np.arange(len(LAWS)) == i, 30.0, 0.3))
        assert (chance < 1e-4) == law.alone


def test_chances_are_those_of_chi_squared() -> None:
    """1 % of sums of ten squares exceed 23.21, 1 in 10,000 35.56; Wilson and Hilferty err by some percent."""
    for total, chance in ((23.21, 1e-2), (35.56, 1e-4)):
        assert chance_of(np.full(len(LAWS), math.sqrt(total / len(LAWS)))) == pytest.approx(chance, rel=0.25)


def test_the_steps_of_a_session_tell_a_wrong_sign_of_a_moment() -> None:
    """The moment that places the force across the walk, of all plates, if feet press 3 cm and more from their middles.

    Some of them no plate on its own tells. On sound plates, above, no channel is doubted.
    """
    found_by = []
    for way, seed in ((way, seed) for way in WAYS if way != "running" for seed in (SEED, SEED + 20)):
        trial, plates = cleaned(way, seed)
        wrong, moment = trial, np.eye(3)
        for plate in range(trial.sizes["plate"]):
            moment[:2, :2] = np.diag(1.0 - 2.0 * (np.arange(2) == along_walk(trial, plate)))
            wrong = read_as(wrong, plate, np.eye(3), moment)
        for plate in plates:
            beside = [step.pressed[2] @ [0, 0, 1] for step in steps_on_plate(trial, plate)]
            found_by += verdicts(wrong, plate) if np.abs(beside).min() > 0.03 else []
    assert len(found_by) > 20
    assert all(map(is_found, found_by))
    alone = [text for text, code, doubts in found_by if doubts == "plate_channels_suspect" and not code]
    assert alone


@pytest.mark.parametrize("wrong_in", [["one"], ["one", "two", "three"]])
def test_a_wrong_sign_in_one_trial_is_not_the_others(wrong_in: list[str]) -> None:
    """Three walks of one person over the same plates; the sign of the force across the walk, in one or in all."""
    trial, plates = cleaned("straight")
    mirror = np.eye(3)
    mirror[:2, :2] = np.diag(1.0 - 2.0 * (np.arange(2) != along_walk(trial, min(plates))))
    steps, corners, names, trials = [], [], [], []
    for name in ("one", "two", "three"):
        for plate in plates:
            walk = read_as(trial, plate, mirror, np.eye(3)) if name in wrong_in else trial
            for step in steps_on_plate(walk, plate):
                steps.append(step)
                corners.append(walk.plate_corner.values[plate])
                names.append(str(plate + 1))
                trials.append(name)
    alone, doubts = misread_channels(steps, corners, names, trials)
    assert alone == ("one" if wrong_in == ["one"] else "")
    assert {*doubts} == {*names}
    across = "xy"[1 - along_walk(trial, min(plates))]
    assert all(f"the sign of F{across}" in one.words for one in doubts.values())


def test_hundreds_of_steps_of_a_session_need_no_matrix_of_all_pairs() -> None:
    """Such matrices of 600 steps take 23 MB for all laws, and of 6,000 more than most computers have."""
    trial, plates = cleaned("straight")
    plate = min(plates)
    step, corners = steps_on_plate(trial, plate)[0], trial.plate_corner.values[plate]
    tracemalloc.start()
    assert misread_channels([step] * 600, [corners] * 600, ["1"] * 600, ["walk"] * 600) == ("", {})
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 5e6
