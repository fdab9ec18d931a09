"""Detection of misread and shifted plates from steps; ``fault_campaign.py`` counts how often."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.steps.clean.step import clean
from pipeline.steps.contacts.plate_placement import misread_plates, shifted_plates
from tests.support.generated_walks import BODY_MODEL, raw_walk, reread, shifted
from tests.support.real_walks import CHOSEN, cleaned_walks

Array = NDArray[np.float64]

WALKS = 4
SHIFTS_M = np.linspace(0.05, 0.145, 4)
TURNED = [2, 3, 0, 1]


class Trial(NamedTuple):
    """Arguments of `misread_plates`."""

    time: Array
    force: Array
    moment: Array
    corners: Array
    feet: dict[str, tuple[Array, Array]]


def verdicts_on(trial: Trial) -> list[str]:
    numbers = list(range(1, len(trial.corners) + 1))
    verdicts, steps = misread_plates(*trial, numbers=numbers)
    shifted = shifted_plates(steps, numbers)
    return [shifted.get(plate, verdict) for plate, verdict in enumerate(verdicts)]


def trial_of(cleaned: xr.Dataset) -> Trial:
    here, place = list(cleaned.marker.values), cleaned.marker_position.values
    feet = {s: (place[:, here.index(f"heel_{s}")], place[:, here.index(f"toe_{s}")]) for s in ("left", "right")}
    force, moment = cleaned.plate_force.values, cleaned.plate_moment.values
    return Trial(cleaned.time.values, force, moment, cleaned.plate_corner.values, feet)


def cleaned_of(raw: xr.Dataset) -> xr.Dataset:
    return clean(raw, body_model=BODY_MODEL, **CHOSEN["clean"])


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
    assert found[1] == (
        "plate 2 seems turned by 180 degrees: the fore-aft force drives before it brakes and the centre of pressure "
        "runs from toe to heel and the side force pushes the foot outwards"
    )


def test_the_size_of_a_shift_is_reported_to_the_centimetre(raw_walks: list[xr.Dataset]) -> None:
    for i, by_m in enumerate(SHIFTS_M):
        angle, plate = np.random.default_rng(i).uniform(0, 2 * np.pi), i % 3
        raw = shifted(raw_walks[i], plate, by_m * np.array([np.cos(angle), 0, np.sin(angle)]))
        verdict = verdicts_on(trial_of(cleaned_of(raw)))[plate]
        # generated steps differ by millimetres
        assert float(verdict.partition("shifted by ")[2].partition(" cm")[0]) == pytest.approx(100 * by_m, abs=1.5)


def test_two_plates_shifted_relative_to_each_other_are_both_named(walks: list[xr.Dataset]) -> None:
    two = walks[0].isel(plate=slice(2))
    assert verdicts_on(trial_of(two)) == ["", ""]
    found = verdicts_on(trial_of(shifted(two, 1, np.array([0.06, 0, 0]))))
    assert "shifted" in found[1]
    assert found[0] in ("", found[1])


@pytest.mark.parametrize("turn_deg", [37, 90, 180])
def test_the_lab_may_be_turned(walks: list[xr.Dataset], turn_deg: float) -> None:
    turn = Rotation.from_euler("y", turn_deg, degrees=True).as_matrix()
    for trial in (trial_of(walks[1]), trial_of(reread(walks[1], 0, TURNED))):
        feet = {side: (heel @ turn.T, toe @ turn.T) for side, (heel, toe) in trial.feet.items()}
        turned = Trial(trial.time, *(part @ turn.T for part in trial[1:4]), feet)
        assert verdicts_on(turned) == verdicts_on(trial)


def test_walking_backwards_is_walking_with_time_reversed(walks: list[xr.Dataset]) -> None:
    """The direction is that of the foot that swings past the other one."""
    for walk in walks:
        for trial, verdict in ((trial_of(walk), ["", "", ""]), (trial_of(reread(walk, 1, TURNED)), None)):
            feet = {side: (heel[::-1], toe[::-1]) for side, (heel, toe) in trial.feet.items()}
            back = trial._replace(force=trial.force[::-1], moment=trial.moment[::-1], feet=feet)
            assert verdicts_on(back) == (verdict or verdicts_on(trial))


def test_steps_on_a_belt_are_judged_like_steps_on_the_ground(walks: list[xr.Dataset]) -> None:
    """Markers, plates and forces move backwards at 1.2 m/s; the steps are the same."""
    for walk in (walks[2], reread(walks[2], 1, TURNED)):
        trial = trial_of(walk)
        carried = np.outer(trial.time - trial.time.mean(), [-1.2, 0, 0])
        feet = {side: (heel + carried, toe + carried) for side, (heel, toe) in trial.feet.items()}
        # plates so large that each foot stays over its own
        moment = trial.moment + np.cross(carried[:, None], trial.force)
        assert said_of_misreading(trial._replace(moment=moment, feet=feet)) == said_of_misreading(trial)


def said_of_misreading(trial: Trial) -> list[str]:
    return [text.partition(":")[0] for text in verdicts_on(trial)]


@pytest.mark.filterwarnings("error")
def test_standing_missing_feet_and_empty_plates_give_no_verdict(walks: list[xr.Dataset]) -> None:
    trial = trial_of(walks[0])
    middle = len(trial.time) // 2
    still = {
        side: (np.tile(heel[middle], (len(heel), 1)), np.tile(toe[middle], (len(toe), 1)))
        for side, (heel, toe) in trial.feet.items()
    }
    assert not any(verdicts_on(trial._replace(feet=still)))
    assert not any(verdicts_on(trial._replace(feet={})))
    unseen = {side: (heel * np.nan, toe * np.nan) for side, (heel, toe) in trial.feet.items()}
    assert not any(verdicts_on(trial._replace(feet=unseen)))
    assert not any(verdicts_on(trial._replace(force=0 * trial.force, moment=0 * trial.moment)))
    assert not any(verdicts_on(trial._replace(force=np.nan * trial.force, moment=np.nan * trial.moment)))
    assert not any(verdicts_on(Trial(trial.time[:1], trial.force[:1], trial.moment[:1], trial.corners, {})))
    assert verdicts_on(Trial(trial.time, trial.force[:, :0], trial.moment[:, :0], trial.corners[:0], trial.feet)) == []


def test_no_verdict_on_real_walks(shared: Path) -> None:
    """Even without restriction to good contacts."""
    found = {file: verdicts_on(trial_of(trial)) for file, trial in cleaned_walks(shared).items()}
    assert not {file: verdicts for file, verdicts in found.items() if any(verdicts)}
