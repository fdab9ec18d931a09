"""Balance of generated whole people, against a computation by hand, and on a treadmill as over ground."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import xarray as xr

from pipeline.conventions import SIDES, STANDARD_GRAVITY_M_S2
from pipeline.plates.sole import sole
from tests.support.studies.run_steps import run_study
from tests.support.whole_body.person import random_person
from tests.support.whole_body.study import write_study

SEED = 3
Walked = Callable[..., dict[str, xr.Dataset]]
RATES = {"position": "centre_of_mass", "velocity": "velocity"}


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    """Return a function that gives the steps of a person's walk over ground, or on a treadmill, computed once."""

    @cache
    def walk(*, treadmill: bool = False) -> dict[str, xr.Dataset]:
        folder = tmp_path_factory.mktemp("walk")
        write_study(folder, random_person(SEED), kinds=("walk",), seed=SEED, treadmill=treadmill)
        (session,) = run_study(folder, {}).values()
        (trial,) = session.trials.values()
        return trial

    return walk


def foot(clean: xr.Dataset, name: str) -> np.ndarray:
    return np.asarray(clean.marker_position.sel(marker=name).values)


def test_margins_at_strike_are_those_of_a_computation_by_hand(walked: Walked) -> None:
    """The walk is along lab x, so that its line and the lab's axes are one but for a turn, which is undone here."""
    trial = walked()
    clean, kinematics, cycles = trial["clean"], trial["kinematics"], trial["cycles"]
    time = clean.time.values
    values = dict(zip(cycles.metric.values.tolist(), cycles.metric_value.values.T, strict=True))
    assert cycles.sizes["cycle"] >= 2
    for i, (side, start_s) in enumerate(zip(cycles.side.values.tolist(), cycles.start_time.values, strict=True)):

        def at_strike(path: np.ndarray, start_s: float = start_s) -> np.ndarray:
            return np.array([np.interp(start_s, time, column) for column in path.reshape(len(path), -1).T]).reshape(
                path.shape[1:]
            )

        com, velocity = (at_strike(kinematics[f"whole_body_{name}"].values) for name in RATES.values())
        ankle = at_strike(kinematics.joint_centre.sel(side=side, joint="ankle").values)
        length = np.linalg.norm(com - ankle)
        reached = com + velocity / np.sqrt(STANDARD_GRAVITY_M_S2 / length)
        corners = at_strike(sole(foot(clean, f"heel_{side}"), foot(clean, f"toe_{side}")))
        turn = np.radians(values["stride_direction"][i])
        ahead, right = np.array([np.cos(turn), 0, -np.sin(turn)]), np.array([np.sin(turn), 0, np.cos(turn)])
        out = right if side == "right" else -right
        lateral, forward = ((corners @ axis).max() - reached @ axis for axis in (out, ahead))
        # both interpolate between frames, the sole's corners before and after that: 1e-5 m
        assert values["margin_of_stability_lateral"][i] == pytest.approx(lateral, abs=1e-4)
        assert values["margin_of_stability_forward"][i] == pytest.approx(forward, abs=1e-4)
        heel, toe = (at_strike(foot(clean, f"{name}_{side}")) for name in ("heel", "toe"))
        by_markers = max(heel @ out, toe @ out) - reached @ out
        assert values["assumed_part_of_margin_of_stability"][i] == pytest.approx(lateral - by_markers, abs=1e-4)


def test_treadmill_and_ground_show_one_balance(walked: Walked) -> None:
    """Nothing but the frame differs; the belt's speed is found by the heels, and the sole is on a moving foot."""
    ground, belt = (walked(treadmill=on_belt)["cycles"] for on_belt in (False, True))
    names = ground.metric.values.tolist()
    wanted = [name for name in names if "margin" in name or "centre_of_mass" in name or "angular_momentum" in name]
    rows = []
    for cycles in (ground, belt):
        of_side = [cycles.metric_value.sel(metric=wanted).values[cycles.side.values == side] for side in SIDES]
        rows.append(np.stack([np.median(each, axis=0) for each in of_side]))
    assert np.isfinite(rows[0]).all()
    np.testing.assert_allclose(rows[1], rows[0], atol=2e-3)
    for side in SIDES:
        here, there = (of.margin_of_stability.values[of.side.values == side][0] for of in (ground, belt))
        shared = np.isfinite(here) & np.isfinite(there)
        assert shared.mean() > 0.3
        # on the belts an event may be a frame elsewhere, in which the point moves by 10 mm
        assert np.abs(here - there)[shared].max() < 0.012


def test_a_step_further_out_is_more_stable(walked: Walked) -> None:
    """The margin over stance falls as the body passes the foot, and the pelvis alone shows another one."""
    values = walked()["cycles"]
    smallest, at_strike = values.smallest_margin_of_stability_lateral, values.margin_of_stability_lateral
    assert (smallest <= at_strike + 1e-9).all()
    assert (np.abs(values.margin_of_stability_lateral_by_pelvis - at_strike) > 1e-4).any()
    swing = values.margin_of_stability.isel(phase=slice(90, None))
    assert np.isnan(swing).all()


def test_both_estimates_of_the_waist_agree_for_a_rigid_person_on_plates(walked: Walked) -> None:
    """Files at 100 Hz leave 0.10 N m of moments (docs/validation.md), 0.002 N m/kg of this person of 50 kg or more."""
    cycles = walked()["cycles"]
    down = cycles.upper_moment.sel(upper_load="waist").transpose("cycle", "phase", "angle").values
    up = cycles.waist_moment_from_legs.transpose("cycle", "phase", "angle").values
    known = np.isfinite(up).all(axis=-1)
    assert known.mean() > 0.5
    assert (np.sqrt(np.mean((up - down)[known] ** 2, axis=0)) < 0.002).all()
    assert (np.sqrt(np.mean(down[known] ** 2, axis=0)) > 0.02).all()  # moments that could differ
