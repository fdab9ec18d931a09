"""Kinetics of whole sessions: as of each trial alone, whatever the portions, rejected trials and rates."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from pipeline.steps.kinetics import closures, step
from pipeline.trials.session import join_trials, one_trial, spans_of
from tests.support.steps import kinetics
from tests.support.studies.rejected import rejection
from tests.support.walks.person import landmarks, walk
from tests.support.walks.person_on_ground import CALIBRATION, KINETICS, ground, moving

COUNTS = {"a": 150, "b": 7, "c": 230, "d": 120}  # frames; the second is too short for a window
RATES_HZ = {"a": 200, "b": 200, "c": 100, "d": 200}


@pytest.fixture(scope="module")
def trials() -> dict[str, tuple[xr.Dataset, xr.Dataset]]:
    """Return motion and ground wrenches by trial; a segment is hidden for a while, a wrench unknown."""
    made = {}
    for name, count in COUNTS.items():
        time = np.arange(count) / RATES_HZ[name]
        about = {"source": f"{name}.c3d", "source_sha256": name}
        motion = moving(landmarks(walk(time)), time=time).assign_attrs(about)
        made[name] = motion, ground(time).assign_coords(time=time).assign_attrs(about)
    for variable in made["c"][0].data_vars.values():
        if "segment" in variable.dims:
            variable.loc[{"side": "left", "segment": "shank", "time": slice(0.5, 0.8)}] = np.nan
    made["d"][1].ground_force.values[30:60, 1] = np.nan
    return made


def session(trials: dict[str, tuple[xr.Dataset, xr.Dataset]], part: int, **rejected: str) -> xr.Dataset:
    used = {name: data[part] for name, data in trials.items()}
    return join_trials(used | {name: rejection(why, {"source": f"{name}.c3d"}) for name, why in rejected.items()})


@pytest.fixture(scope="module")
def whole(trials: dict[str, tuple[xr.Dataset, xr.Dataset]]) -> xr.Dataset:
    """Return the kinetics of all trials together."""
    return kinetics(session(trials, 0), session(trials, 1), CALIBRATION, settings=KINETICS)


def same(found: xr.Dataset, expected: xr.Dataset) -> None:
    """Sums over frames are rounded in another order; an unstable foot magnifies the rounding by thousands."""
    assert set(found.variables) == set(expected.variables)
    for name, values in expected.variables.items():
        np.testing.assert_allclose(
            found[name], values, rtol=1e-6 if name == "forward_closure" else 1e-9, atol=1e-9, err_msg=str(name)
        ) if values.dtype.kind == "f" else np.testing.assert_array_equal(found[name], values)


@pytest.mark.parametrize("draws", [0, 10])
def test_a_session_is_its_trials(trials: dict[str, tuple[xr.Dataset, xr.Dataset]], draws: int) -> None:
    settings = replace(KINETICS, uncertainty_draws=draws)
    found = kinetics(session(trials, 0), session(trials, 1), CALIBRATION, settings=settings)
    for name, (motion, contacts) in trials.items():
        alone = kinetics(motion, contacts, CALIBRATION, settings=settings)
        same(one_trial(found, name), alone)
        assert alone.attrs == one_trial(found, name).attrs
    assert np.isnan(found.forward_closure.values[1]).all()
    assert np.isfinite(found.forward_closure.values[[0, 2, 3]]).all()


@pytest.mark.parametrize("here", [0, 1])
def test_a_trial_rejected_in_one_input_stays_rejected(
    trials: dict[str, tuple[xr.Dataset, xr.Dataset]], whole: xr.Dataset, here: int
) -> None:
    """Its samples are in the other input, and in no result."""
    inputs = [session(trials, part, **({"c": "no plates"} if part == here else {})) for part in (0, 1)]
    found = kinetics(*inputs, CALIBRATION, settings=KINETICS)
    assert found.rejected.values.tolist() == ["", "", "no plates", ""]
    assert found.sizes["sample"] == whole.sizes["sample"] - COUNTS["c"]
    assert spans_of(found, "sample")[2] == slice(157, 157)
    for name in ("a", "b", "d"):
        same(one_trial(found, name), one_trial(whole, name))


@pytest.mark.parametrize(("solved", "simulated"), [(40, 60), (64, 51), (1, 7), (1000, 100)])
def test_portions_do_not_matter(
    trials: dict[str, tuple[xr.Dataset, xr.Dataset]], whole: xr.Dataset, monkeypatch: pytest.MonkeyPatch, solved: int,
    simulated: int,
) -> None:  # fmt: skip
    """They end within trials, and within windows."""
    monkeypatch.setattr(step, "SOLVED_AT_A_TIME", solved)
    monkeypatch.setattr(step, "SIMULATED_AT_A_TIME", simulated)
    same(kinetics(session(trials, 0), session(trials, 1), CALIBRATION, settings=KINETICS), whole)


def test_windows_are_those_of_each_trial() -> None:
    """At 200 Hz 4 frames every 20, at 100 Hz 2 every 10; with two frames before and three after them in the trial."""
    spans = [slice(0, 45), slice(45, 52), slice(52, 90)]
    by_length = {windows.length: windows for windows in closures.windows_of(spans, [200.0, 200.0, 100.0])}
    assert by_length[4].start.tolist() == [2, 22]
    assert by_length[4].trial.tolist() == [0, 0]
    assert by_length[2].start.tolist() == [54, 64, 74, 84]
    assert by_length[2].trial.tolist() == [2] * 4
    some, numbers = by_length[2].between(60, 80)
    assert some.start.tolist() == [64, 74]
    assert numbers.tolist() == [1, 2]


def test_a_long_session_needs_the_memory_of_its_results_and_one_portion(
    trials: dict[str, tuple[xr.Dataset, xr.Dataset]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step, "SOLVED_AT_A_TIME", 200)
    monkeypatch.setattr(step, "SIMULATED_AT_A_TIME", 400)
    beyond = []
    for times in (2, 12):
        copies = {f"{i}{name}": data for i in range(times) for name, data in trials.items() if name != "b"}
        inputs = session(copies, 0), session(copies, 1), CALIBRATION
        kinetics(*inputs, settings=KINETICS)
        tracemalloc.start()
        found = kinetics(*inputs, settings=KINETICS)
        beyond.append(tracemalloc.get_traced_memory()[1] - found.nbytes)
        tracemalloc.stop()
    assert beyond[1] < beyond[0] + 0.1 * found.nbytes
