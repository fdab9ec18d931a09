"""Exchanged labels, injected into generated and real walks; none are found in clean walks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.body.body_model import BodyModel
from pipeline.errors import UserError
from pipeline.steps.clean.label_swaps import find_exchanges
from pipeline.steps.clean.marker_repair import EXCHANGED, pairs_of_sides, repair_markers
from tests.support.checkout import FULL
from tests.support.walks import movements, person
from tests.support.walks.as_read import Markers, cleaned, generated, real_walks, used
from tests.support.walks.moving_on_plates import BODY_MODEL, recorded
from tests.support.walks.person import BODY_MODELS, body_model, turned

DOSES = np.linspace(0.05, 0.9, 20)  # share of the trial


def exchanged(points: Mapping[str, np.ndarray], one: str, other: str, frames: np.ndarray) -> Markers:
    here = frames[:, None]
    swapped = {one: np.where(here, points[other], points[one]), other: np.where(here, points[one], points[other])}
    return {**points, **swapped}


def stretch(count: int, share: float, seed: int) -> np.ndarray:
    length = round(share * count)
    start = np.random.default_rng(seed).integers(0, count - length + 1)
    return (np.arange(count) >= start) & (np.arange(count) < start + length)


def found_in(
    points: Markers, chosen: Mapping[str, tuple[str, ...]], model: BodyModel
) -> dict[frozenset[str], np.ndarray]:
    position = np.stack(list(points.values()), axis=1)
    found = find_exchanges(position, list(points), *pairs_of_sides(chosen, model))
    return {frozenset((e.first, e.second)): e.frames for e in found}


def sided(chosen: Mapping[str, tuple[str, ...]], *, legs_only: bool = True) -> list[tuple[str, str]]:
    pelvis = ("asis", "psis") if legs_only else ()
    return [
        (chosen[name][0], chosen[name[:-4] + "right"][0])
        for name in chosen
        if name.endswith("left") and not name.startswith(pelvis) and len(chosen[name]) == 1
    ]


# --- generated walks -------------------------------------------------------------------------------------------


def test_clean_walks_raise_no_alarm() -> None:
    seeds = range(200 if FULL else 20)
    alarms = [seed for seed in seeds if found_in(*used(*(walk_ := generated(BODY_MODELS[seed % 4], seed))), walk_[1])]
    assert alarms == []


@pytest.mark.parametrize("seed", [353, 364])
def test_legs_that_cross_in_a_sharp_turn_are_not_exchanged(seed: int) -> None:
    """Without the test for a jump these two turns by 110 degrees raise an alarm."""
    trial = recorded("turning", seed).trial
    assert not cleaned(trial, BODY_MODEL).attrs["labels_exchanged_back"]


@pytest.mark.parametrize("name", BODY_MODELS)
@pytest.mark.parametrize("landmark", ["lateral_malleolus", "heel", "lateral_epicondyle", "leg"])
def test_left_and_right_exchanged_are_found_to_the_frame(name: str, landmark: str) -> None:
    """One marker or the whole leg, from 5 to 90 % of the trial: the right labels, in the right frames."""
    hits = []
    for dose, share in enumerate(DOSES):
        trial, model = generated(name, 1000 + dose)
        points, chosen = used(trial, model)
        frames = stretch(len(trial.time), float(share), dose)
        pairs = (
            sided(chosen) if landmark == "leg" else [(chosen[f"{landmark}_left"][0], chosen[f"{landmark}_right"][0])]
        )
        if landmark == "leg" and name == "gait2354":
            pairs += list(zip(chosen["toe_left"], chosen["toe_right"], strict=True))
        faulty = points
        for pair in dict.fromkeys(pairs):
            faulty = exchanged(faulty, *pair, frames)
        found = found_in(faulty, chosen, model)
        hits.append(found.keys() == set(map(frozenset, pairs)) and all((f == frames).all() for f in found.values()))
    assert np.mean(hits) >= 0.95


@pytest.mark.parametrize("name", BODY_MODELS)
def test_neighbours_of_one_segment_exchanged_are_found(name: str) -> None:
    """In up to 30 % of the trial, when the shorter part is certainly wrong."""
    hits = []
    for dose, share in enumerate(np.linspace(0.02, 0.28, 20)):
        trial, model = generated(name, 2000 + dose)
        points, chosen = used(trial, model)
        labels = sorted({label for pair in sided(chosen) for label in pair})
        one = labels[dose % len(labels)]
        away = {other: np.linalg.norm(points[other] - points[one], axis=1).mean() for other in labels if other != one}
        other = min(away, key=lambda label: away[label])
        frames = stretch(len(trial.time), float(share), dose)
        found = found_in(exchanged(points, one, other, frames), chosen, model)
        hits.append(found.keys() == {frozenset((one, other))} and (found[frozenset((one, other))] == frames).all())
    assert np.mean(hits) >= 0.95


def test_a_hidden_companion_does_not_hide_an_exchange() -> None:
    trial, model = generated("plug_in_gait", 4)
    points, chosen = used(trial, model)
    frames = stretch(len(trial.time), 0.4, 1)
    points = exchanged(points, "LANK", "RANK", frames)
    points["LTIB"] = np.where(stretch(len(trial.time), 0.3, 2)[:, None], np.nan, points["LTIB"])
    found = found_in(points, chosen, model)
    assert found.keys() == {frozenset(("LANK", "RANK"))}
    np.testing.assert_array_equal(found[frozenset(("LANK", "RANK"))], frames)


# --- movements that are no walk --------------------------------------------------------------------------------


def movement(name: str, seed: int) -> tuple[Markers, dict[str, tuple[str, ...]], BodyModel]:
    model = body_model(BODY_MODELS[seed % 4])
    return *used(person.recorded(model, movements.seen(name, seed)[1], role="gait"), model), model


@pytest.mark.parametrize("name", movements.MOVEMENTS)
def test_no_posture_looks_like_an_exchange(name: str) -> None:
    """Deep, wide and knock-kneed squats, kneeling, lying, crossed legs: the distances of segments stay."""
    seeds = range(100 if FULL else 6)
    assert [seed for seed in seeds if found_in(*movement(name, seed))] == []


@pytest.mark.parametrize("name", ["squat", "sit to stand", "jump", "swing of a leg"])
@pytest.mark.parametrize("share", [0.2, 0.5])
def test_exchanged_markers_of_a_movement_are_found(name: str, share: float) -> None:
    hits = []
    for seed in range(24 if FULL else 8):
        points, chosen, model = movement(name, seed)
        pair = chosen["lateral_malleolus_left"][0], chosen["lateral_malleolus_right"][0]
        frames = stretch(len(points[pair[0]]), share, seed)
        found = found_in(exchanged(points, *pair, frames), chosen, model)
        hits.append(found.keys() == {frozenset(pair)} and (found[frozenset(pair)] == frames).all())
    assert np.mean(hits) >= 0.9


# --- repair and rejection --------------------------------------------------------------------------------------


def faulty_trial(share: float, one: str = "LANK", other: str = "RANK") -> tuple[xr.Dataset, xr.Dataset, np.ndarray]:
    trial, _ = generated("plug_in_gait", 4)
    frames = stretch(len(trial.time), share, 4)
    points = exchanged(
        {str(m): trial.marker_position.sel(marker=m).values for m in trial.marker.values}, one, other, frames
    )
    where = np.stack([points[str(m)] for m in trial.marker.values], axis=1)
    return trial, trial.assign(marker_position=(("time", "marker", "axis"), where)), frames


def test_a_repaired_trial_equals_the_correct_one_and_records_the_repair() -> None:
    trial, faulty, frames = faulty_trial(0.3)
    model = body_model("plug_in_gait")
    right, repaired = cleaned(trial, model), cleaned(faulty, model)
    np.testing.assert_array_equal(repaired.marker_position, right.marker_position)
    ankles = ["lateral_malleolus_left", "lateral_malleolus_right"]
    np.testing.assert_array_equal(repaired.fill.sel(marker=ankles) == EXCHANGED, frames[:, None] & [True, True])
    assert not repaired.fill.drop_sel(marker=ankles).any()
    first = round(float(trial.time[0]) * trial.attrs["marker_rate_hz"]) + 1 + np.flatnonzero(frames)
    assert repaired.attrs["labels_exchanged_back"] == f"LANK and RANK in frames {first[0]}-{first[-1]}"
    assert right.attrs["labels_exchanged_back"] == ""


def test_reject_and_ignore() -> None:
    _, faulty, _ = faulty_trial(0.3)
    model = body_model("plug_in_gait")
    with pytest.raises(UserError, match=r"exchanged: LANK and RANK in frames \d+-\d+; label them .* export again"):
        cleaned(faulty, model, exchanged_markers="reject")
    assert not cleaned(faulty, model, exchanged_markers="ignore", spike_m=None).fill.any()


@pytest.mark.parametrize(("one", "other"), [("LANK", "RANK"), ("LHEE", "RHEE"), ("LHEE", "LTOE")])
def test_labels_exchanged_in_the_whole_trial_reject_it(one: str, other: str) -> None:
    _, faulty, _ = faulty_trial(1.0, one, other)
    with pytest.raises(UserError, match=f"{one} and {other} in all frames"):
        cleaned(faulty, body_model("plug_in_gait"))


def test_a_leg_exchanged_throughout_is_refused() -> None:
    trial, model = generated("plug_in_gait", 4)
    points, chosen = used(trial, model)
    everywhere = np.ones(len(trial.time), dtype=bool)
    for pair in sided(chosen):
        points = exchanged(points, *pair, everywhere)
    position = np.stack(list(points.values()), axis=1)
    with pytest.raises(UserError, match=r"LKNE and RKNE.*in all frames"):
        repair_markers(position, list(points), chosen, model, first_frame=1, spike_m=None, exchanged_markers="repair")


def test_an_uncertain_exchange_within_a_side_rejects_the_trial() -> None:
    _, faulty, _ = faulty_trial(0.45, "LANK", "LHEE")
    with pytest.raises(UserError, match=r"LANK and LHEE in frames .* or in all others"):
        cleaned(faulty, body_model("plug_in_gait"))


def test_exchanges_do_not_depend_on_the_direction_of_the_lab() -> None:
    """The trial is turned by a right angle about the vertical."""
    _, faulty, _ = faulty_trial(0.2)
    model = body_model("plug_in_gait")
    points, chosen = used(faulty, model)
    for degrees in (90, 180):
        again = found_in(turned(points, degrees), chosen, model)
        for pair, frames in found_in(points, chosen, model).items():
            np.testing.assert_array_equal(frames, again[pair])


# --- real walks ------------------------------------------------------------------------------------------------


def test_no_real_walk_raises_an_alarm(shared: Path) -> None:
    for file, trial, model in real_walks(shared):
        points, chosen = used(trial, model)
        assert not found_in(points, chosen, model), file


def test_exchanged_ankles_of_real_walks_are_found(shared: Path) -> None:
    hits = []
    for file, trial, model in real_walks(shared):
        points, chosen = used(trial, model)
        name = "lateral_malleolus" if "lateral_malleolus_left" in chosen else "heel"  # shown in the static trial only
        pair = (chosen[f"{name}_left"][0], chosen[f"{name}_right"][0])
        for dose, share in enumerate((*DOSES[::2], 1.0)):
            frames = stretch(len(trial.time), float(share), dose)
            found = found_in(exchanged(points, *pair, frames), chosen, model)
            hits.append((file, found.keys() == {frozenset(pair)} and (found[frozenset(pair)] == frames).all()))
    assert len(hits) > 100
    assert np.mean([hit for _, hit in hits]) >= 0.95
