"""Labels exchanged in a whole trial against the static trial: found for pairs of a leg, never in clean walks."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.body.body_model import BodyModel
from pipeline.body.landmarks import positions
from pipeline.conventions import SIDES
from pipeline.errors import UserError
from pipeline.steps.calibrate.model_dataset import static_distances
from pipeline.steps.kinematics.label_check import find_exchange
from pipeline.steps.read.step import read_trial as read
from pipeline.tables import study_tables
from pipeline.trials.session import join_trials
from pipeline.workflow import settings
from pipeline.workflow.strict_yaml import read_yaml
from tests.support.settings import settings_of
from tests.support.steps import kinematics
from tests.support.walks.as_read import cleaned, generated
from tests.support.walks.movements import MOVEMENTS, seen
from tests.support.walks.person import BODY_MODELS, body_model, calibrated, recorded, standing

Array = NDArray[np.float64]
SEEDS = range(20)  # people mirrored and not, at any rate, phase and heading, with 1 mm of noise
SETTINGS = settings_of("kinematics")


@cache
def person(name: str, seed: int) -> tuple[list[str], Array, Array]:
    """Return landmarks, their positions in a walk (time, landmark, 3), and their distances in the static trial.

    The static trial's markers are 3 mm off in each direction, as skin moves between standing and walking.
    """
    trial, model = generated(name, seed)
    walk = positions(model, [str(label) for label in trial.marker.values], trial.marker_position.values)
    moved = np.random.default_rng(seed)
    static = {key: path + moved.normal(0, 0.003, 3) for key, path in standing().items() if key in walk}
    names = [key for key in walk if key in static]
    distances = static_distances({key: static[key] for key in names}).values
    return names, np.stack([walk[key] for key in names], axis=1), distances


def legs(names: list[str]) -> list[tuple[int, int]]:
    """Return every two landmarks of one leg."""
    return [
        (i, j)
        for side in SIDES
        for i, j in combinations(range(len(names)), 2)
        if all(names[k].endswith(side) and not names[k].startswith(("asis", "psis")) for k in (i, j))
    ]


@pytest.mark.parametrize("name", BODY_MODELS)
def test_every_pair_of_a_leg_is_found_and_clean_walks_raise_no_alarm(name: str) -> None:
    """Other pairs of each person, without those nearer than 4 cm, which look alike from a distance."""
    seen, right = [], []
    for seed in SEEDS:
        names, position, static = person(name, seed)
        assert find_exchange(position, static) is None
        pairs = [pair for pair in legs(names) if static[pair] > 0.04]
        for i, j in pairs[seed % 9 :: 9]:
            swapped = position.copy()
            swapped[:, [i, j]] = position[:, [j, i]]
            found = find_exchange(swapped, static)
            seen.append(found is not None)
            right.append(found in (None, (i, j)))
    assert len(seen) >= 20
    assert np.mean(seen) >= 0.9, "the thigh wand of Plug-in Gait has few markers near it"
    assert np.mean(right) == 1, "never two others"


@pytest.mark.parametrize("movement", MOVEMENTS)
def test_no_posture_raises_an_alarm(movement: str) -> None:
    """Feet stand wider or closer than in the static trial; skin moves with the knees."""
    for seed in range(8):
        model = body_model(BODY_MODELS[seed % 4])
        trial = recorded(model, seen(movement, seed)[1], role="gait")
        points = positions(model, [str(label) for label in trial.marker.values], trial.marker_position.values)
        static = {name: path for name, path in standing().items() if name in points}
        distances = static_distances(static).values
        assert find_exchange(np.stack([points[name] for name in static], axis=1), distances) is None, seed


def test_the_trial_is_refused_and_names_the_labels() -> None:
    trial, model = generated("plug_in_gait", 4)
    calibration = calibrated(model, standing())
    swapped = trial.assign_coords(
        marker=[{"LANK": "LHEE", "LHEE": "LANK"}.get(str(label), str(label)) for label in trial.marker.values]
    )
    why = (
        r"LANK \(lateral malleolus left\) and LHEE \(heel left\)|LHEE \(heel left\) and LANK \(lateral malleolus left\)"
    )
    with pytest.raises(UserError, match=rf"({why}) seem to be exchanged throughout, here or in the static trial"):
        kinematics(cleaned(swapped, model), calibration, body_model=model, settings=SETTINGS)
    kinematics(cleaned(trial, model), calibration, body_model=model, settings=SETTINGS)
    walks = {"right": cleaned(trial, model), "wrong": cleaned(swapped, model)}
    reasons = kinematics(join_trials(walks), calibration, body_model=model, settings=SETTINGS).rejected.values.tolist()
    assert not reasons[0]
    assert "seem to be exchanged throughout" in reasons[1]
    kinematics(cleaned(swapped, model, exchanged_markers="ignore"), calibration, body_model=model, settings=SETTINGS)


def test_a_landmark_of_the_static_trial_only_says_nothing() -> None:
    """Medial markers are removed before the walk; a marker that is hidden in the walk has no distances."""
    model = body_model("plug_in_gait")
    static = static_distances(standing())
    assert np.allclose(static, static.T)
    names, position, distances = person("plug_in_gait", 2)
    hidden = position.copy()
    hidden[:, names.index("heel_left")] = np.nan
    assert find_exchange(hidden, distances) is None
    blind = {**standing(), "heel_left": np.full((5, 3), np.nan)}
    assert np.isnan(static_distances(blind).sel(landmark="heel_left")).all()
    assert recorded(model, blind).sizes["marker"]


def test_real_walks_raise_no_alarm_and_their_swapped_ankles_are_told(shared: Path) -> None:
    hits = []
    for study in ("exact", "functional", "gait2354", "plug_in_gait"):
        path = shared / "studies" / study
        for trial, model, static in with_static(path):
            walk = positions(model, [str(label) for label in trial.marker.values], trial.marker_position.values)
            names = [key for key in walk if key in static]
            known = static_distances({key: static[key] for key in names}).values
            position = np.stack([walk[key] for key in names], axis=1)
            assert find_exchange(position, known) is None, trial.attrs
            ankle = next(key for key in ("lateral_malleolus", "shank_1", "shank_front") if f"{key}_left" in names)
            for side in SIDES:
                i, j = sorted((names.index(f"{ankle}_{side}"), names.index(f"heel_{side}")))
                swapped = position.copy()
                swapped[:, [i, j]] = position[:, [j, i]]
                hits.append(find_exchange(swapped, known) == (i, j))
    assert len(hits) >= 20
    assert np.mean(hits) >= 0.95


def with_static(path: Path) -> list[tuple[xr.Dataset, BodyModel, dict[str, Array]]]:
    """Return the walks of a study with body model and the landmarks of their session's static trial."""
    chosen, model = settings.load_settings(read_yaml(path / "study.yaml"), where="study.yaml", study_path=path)
    people = study_tables.read_participants(path / "participants.tsv")
    result = []
    for rows in study_tables.read_trials(path / "trials.tsv", people).values():
        trials = {row["role"]: read(path / row["file"], body_model=model, **chosen["read"]) for row in rows}
        static = trials["static"]
        shown = positions(model, [str(label) for label in static.marker.values], static.marker_position.values)
        result.append((trials["gait"], model, shown))
    return result
