"""The shown walk: positions of its points and forces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.steps.report.one_walk import MOST_FRAMES, scene
from tests.support.studies.for_report import FORCE_N, LEG_MM, PRESSURE_M, Made, Page, made, three_people, trial_cycles


@pytest.fixture(scope="module")
def study() -> Made:
    return three_people()


def test_without_kinetics_the_motion_is_shown_alone() -> None:
    trials = {"walk": trial_cycles("sub-01", "slow", ["left", "right"], valid=False, reason="no plate")}
    (walk,) = Page(made({"sub-01": trials}, {"walk": "slow"}).person()).walks()
    assert walk["scene"]["time"]
    assert walk["steps"] == walk["contributions"] == {}


def test_points_bones_and_forces_have_their_positions(study: Made) -> None:
    found = scene(study.representative["sub-01"].sel(time=slice(0, 1.1)), cycles={"left": (0.0, 1.0)})
    assert found["time"][0] == 0
    assert found["time"][-1] == pytest.approx(1.1)
    for side, sign in (("right", 1), ("left", -1)):
        expected = {name: [x, y, sign * z] for name, (x, y, z) in LEG_MM.items()}
        drawn = [[found["points"][0][end] for end in bone] for bone in found["bones"][side]]
        # toe, asis and psis are not known: their lines are left out
        assert drawn == [[expected[a], expected[b]] for a, b in (("hip", "knee"), ("knee", "ankle"), ("ankle", "heel"))]
    left = found["forces"]["left"]
    assert left["force"][5] == list(FORCE_N)
    assert left["at"][5] == [round(1000 * x) for x in PRESSURE_M]
    # the left foot is on the ground until 0.6 s, the right one from 0.1 to 0.45 s
    assert [force is not None for force in left["force"]] == [time % 1 < 0.6 for time in found["time"]]
    right = found["forces"]["right"]["force"]
    assert [force is not None for force in right] == [0.1 < time % 1 < 0.45 for time in found["time"]]


def test_arms_and_trunk_are_lines_and_head_and_centre_of_mass_are_round(study: Made) -> None:
    trial = study.representative["sub-01"].sel(time=slice(0, 1.1))
    above = ["neck", "waist", "head", "shoulder left", "elbow left", "centre of mass"]
    places = xr.DataArray(np.arange(18.0).reshape(6, 3), {"point": above, "axis": list("xyz")}).expand_dims(
        time=trial.time
    )
    whole = trial.drop_dims("point").assign(point_position=xr.concat([trial.point_position, places], dim="point"))
    legs, found = (scene(one, cycles={"left": (0.0, 1.0)}) for one in (trial, whole))
    assert "round" not in legs

    def lines(scene: dict[str, Any], of: str) -> list[list[list[int]]]:
        return [[scene["points"][0][end] for end in bone] for bone in scene["bones"][of]]

    at = {name: [round(1000 * x) for x in place] for name, place in zip(above, places.values[0], strict=True)}
    arm = [line for line in lines(found, "left") if line not in lines(legs, "left")]
    assert arm == [[at["shoulder left"], at["elbow left"]]]
    assert lines(found, "right") == lines(legs, "right")
    trunk = [line for line in lines(found, "pelvis") if line not in lines(legs, "pelvis")]
    assert {("waist", "neck"), ("neck", "head"), ("neck", "shoulder left")} <= {
        tuple(name for end in line for name in above if at[name] == end) for line in trunk
    }
    assert {name: found["points"][0][i] for name, i in found["round"].items()} == {
        name: at[name] for name in ("head", "centre of mass")
    }


def test_a_long_walk_is_thinned(study: Made) -> None:
    trial = study.representative["sub-03"]
    time = np.arange(0, 12, 0.02)
    found = scene(trial.interp(time=time, kwargs={"fill_value": 0.0}), cycles={"left": (0.0, 12.0)})
    assert MOST_FRAMES / 2 < len(found["time"]) <= MOST_FRAMES
    assert np.ptp(np.diff(found["time"])) < 2e-3  # evenly, but for the rounding to 1 ms


def test_the_vectors_of_a_step_are_the_force_per_body_mass_during_contact(study: Made) -> None:
    walk = Page(study.person()).walks()[0]
    step = walk["steps"]["left"]
    force = study.study.ground_force.sel(axis="y").values
    phases = [int(p) for p in step["phase"]]
    # in contact for 60 % of a cycle, and upward where the sine is
    assert max(phases) < 60
    assert set(step["at"]) == {0}
    assert any(np.allclose(step["upward"], row[phases], atol=5e-4) for row in force)
