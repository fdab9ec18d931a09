"""Files of the generated whole person: markers from which published rules give the exact centres and axes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from tests.support.checkout import FULL
from tests.support.studies.run_steps import Session, run_study
from tests.support.whole_body.motions import Motion
from tests.support.whole_body.person import MARKER_RADIUS_M, SIDES, Person, random_person
from tests.support.whole_body.study import OF_DISTANCE, marker_places, paths, write_study
from tests.support.whole_body.truth import generated, truth

pytest.importorskip("pinocchio", reason="pinocchio (pip install pin) is not installed")

Array = NDArray[np.float64]
Walked = Callable[[int, float, bool, bool], tuple[Session, dict[str, xr.Dataset]]]  # seed, slope, axes rise, on belts

ROUNDING_M = 1e-12
SLOPES = {
    "level": (0.0, False, False), "level belt": (0.0, False, True), "up": (10.0, False, False),
    "down": (-10.0, False, False), "belt": (10.0, False, True), "rising axes": (10.0, True, True),
}  # fmt: skip
ON_RAMPS = range(10) if FULL else (6,)


def unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def axes(first: str, along: Array, second: str, near: Array) -> Array:
    """Return axes (time, 3, 3), rows x, y, z: the first along a vector, the second in the plane with another."""
    names, rows = "xyz", np.empty((len(along), 3, 3))
    i, j = names.index(first), names.index(second)
    k = 3 - i - j
    sign = 1 if (j - i) % 3 == 1 else -1
    rows[:, i] = unit(along)
    rows[:, k] = unit(sign * np.cross(along, near))
    rows[:, j] = sign * np.cross(rows[:, k], rows[:, i])
    return rows


def known(shoulder: str = "rab") -> tuple[Person, xr.Dataset, dict[str, Array]]:
    person = random_person(5)
    of = truth(person, generated(person, "arm_swings", 5), np.arange(0, 1.8, 0.1))
    return person, of, paths(of, marker_places(person, shoulder))


def same(actual: Array, expected: Any) -> None:
    np.testing.assert_allclose(actual, np.asarray(expected), rtol=0, atol=ROUNDING_M)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("rule", ["rab", "below", "plug_in_gait"])
def test_shoulders_follow_from_the_acromions(rule: str, side: str) -> None:
    person, of, seen = known(rule)
    thorax, acromion = of.rotation.sel(body="thorax").values, seen[f"{side[0].upper()}SHO"]
    centre = of.joint_centre.sel(joint=f"shoulder_{side}").values
    down_m = person.shoulder_offset[side] + MARKER_RADIUS_M
    if rule == "plug_in_gait":
        front = seen["CLAV"] - MARKER_RADIUS_M * thorax[:, 0]
        line, wand = acromion - front, np.cross(acromion - front, thorax[:, 0])
        reach = np.linalg.norm(line, axis=-1, keepdims=True)
        across = unit(wand)  # square to the line, in the plane with the wand
        cosine = down_m / reach
        towards = (1 if side == "left" else -1) * np.sqrt(1 - cosine**2)  # away from the wand: downwards
        same(acromion + down_m * (towards * across - cosine * unit(line)), centre)
        assert (acromion - centre)[:, 1].min() > 0
    else:
        apart = np.linalg.norm(seen["RSHO"] - seen["LSHO"], axis=-1, keepdims=True)
        same(acromion - (OF_DISTANCE * apart if rule == "rab" else down_m) * thorax[:, 1], centre)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    """Return a function that gives the session of a walk, and what is true of it, computed once."""

    @cache
    def walk(seed: int, slope_deg: float, axes_rise: bool, treadmill: bool) -> tuple[Session, dict[str, xr.Dataset]]:
        folder = tmp_path_factory.mktemp("walk")
        known = write_study(
            folder, random_person(seed), ["walk"], seed=seed, treadmill=treadmill, slope_deg=slope_deg,
            axes_rise=axes_rise,
        )  # fmt: skip
        (session,) = run_study(folder, {}).values()
        return session, known

    return walk


@pytest.mark.parametrize("slope", SLOPES)
def test_walks_on_slopes_are_as_exact_as_level_ones(walked: Walked, slope: str) -> None:
    """Ramps with plates in them, and raised belts, with plumb cameras and with cameras calibrated on the belts."""
    person, slope_rad = random_person(6), float(np.radians(SLOPES[slope][0]))
    session, known = walked(6, *SLOPES[slope])
    as_known(session, known)
    steps, motion = session.trials["walk"], Motion("walk", 6, slope_rad=slope_rad)
    touched, cycles, of = steps["contacts"], steps["cycles"], known["walk"]
    pressed = np.abs(touched.centre_of_pressure.values - of.centre_of_pressure.values)
    assert np.nanmax(pressed) < 1e-6
    normal = touched.get("ground_normal", xr.DataArray([0.0, 1.0, 0.0]))  # stored of ramps alone
    np.testing.assert_allclose(normal.values, [-np.sin(slope_rad), np.cos(slope_rad), 0], atol=1e-6)
    # feet settle by .1 mm; in plan both were 1.5 % less
    np.testing.assert_allclose(cycles.stride_length.values, motion.stride_m(person), rtol=1e-3)
    np.testing.assert_allclose(cycles.walking_speed.values, motion.speed_m_s(person), rtol=1e-3)
    # a foot that stands still on the ground has no power; its force times the belt's rise would be 50 W
    assert np.abs(steps["kinetics"].foot_power.values).max() < 0.5


@pytest.mark.parametrize("treadmill", [False, True], ids=["ground", "treadmill"])
@pytest.mark.parametrize("seed", ON_RAMPS)
def test_no_stance_on_a_ramp_is_refused_or_doubted_that_is_not_on_the_level(
    walked: Walked, seed: int, treadmill: bool
) -> None:
    """The generated feet do not roll, for which some level walks are doubted too."""
    verdicts = []
    for slope_deg in (0.0, 10.0):
        steps = walked(seed, slope_deg, False, treadmill)[0].trials["walk"]
        assert steps["contacts"].valid.values.all()
        found = [steps["cycles"][name].values.tolist() for name in ("stance_code", "stance_doubt_code")]
        verdicts.append([sum(code not in ("", "near_an_end") for code in codes) for codes in found])
    (refused, doubted), (refused_on_slope, doubted_on_slope) = verdicts
    assert refused == refused_on_slope == 0
    assert doubted_on_slope <= doubted


def as_known(session: Session, known: dict[str, xr.Dataset]) -> None:
    """Compare legs with what is true of them.

    Without filters, markers of 100 Hz differ from the truth by their spline: by .05 N m, .2 at the ends.
    """
    for trial, steps in session.trials.items():
        assert steps["contacts"].valid.values.all()
        joints = [[f"{joint}_{side}" for joint in steps["kinetics"].joint.values] for side in SIDES]
        for i in range(2):
            expected = known[trial].sel(joint=joints[i])
            centre = steps["kinematics"].joint_centre.values[:, i]
            assert np.abs(centre - expected.joint_centre.values).max() < 1e-6
            moment = np.abs(steps["kinetics"].joint_moment.values[:, i] - expected.joint_moment_local.values)
            assert moment[10:-10].max() < 0.05
            assert moment.max() < 0.2
        pressed = steps["contacts"].ground_force.values - known[trial].ground_force.values
        assert np.abs(pressed).max() < 1e-3
