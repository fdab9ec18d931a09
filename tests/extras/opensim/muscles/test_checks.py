"""What refuses the muscle forces of a cycle, and the points and loads that a model is given; without OpenSim."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.conventions import JOINTS, STANDARD_GRAVITY_M_S2
from pipeline.dynamics.vectors import cross
from pipeline.errors import Problem
from pipeline.extras.opensim.motion_files import mot
from pipeline.extras.opensim.muscle_variables import DOUBT_OF
from pipeline.extras.opensim.muscles.checks import Checked, doubt_of
from pipeline.extras.opensim.muscles.cycle_curves import ModelMotion, curves_of, peaks
from pipeline.extras.opensim.muscles.model_motion import posed, sizes_of, standing, walking
from pipeline.extras.opensim.muscles.pelvis import Pelvis
from pipeline.extras.opensim.muscles.scaled_model import COORDINATES, ScaledModel, Tip
from pipeline.extras.opensim.muscles.step import loads
from pipeline.opensim_files.mot import read_table
from pipeline.results import netcdf
from pipeline.trials.session import Trial, trials_of

TIME = np.arange(101) / 100
NAMES = ("ankle_angle", "knee_angle", "hip_flexion")
OFFSET = 0.15 * np.eye(3)
TIPS = (
    Tip("pelvis_x", "pelvis", np.zeros(3), "right", "pelvis", "pelvis", OFFSET[0]),
    Tip("hip_centre_r", "pelvis", np.zeros(3), "right", "hip"),
    Tip("ankle_centre_r", "talus_r", np.zeros(3), "right", "ankle"),
    Tip("foot_x_r", "calcn_r", np.zeros(3), "right", "ankle", "foot", OFFSET[0]),
    Tip("foot_y_r", "calcn_r", np.zeros(3), "right", "ankle", "foot", OFFSET[1]),
    Tip("thigh_z_l", "femur_l", np.zeros(3), "left", "knee", "thigh", OFFSET[2]),
)
MODEL = ScaledModel(("soleus", "vas_lat", "psoas"), NAMES, {}, TIPS, {}, Pelvis(np.ones(3), np.radians(10), ""), {})


def motion(**changes: Any) -> ModelMotion:
    """Return one muscle at each joint with an arm of 40 mm and a moment of 0 to 80 N m, alike on both sides."""
    shape = (len(TIME), 2, 3)
    force = np.broadcast_to(1000 * (1 + np.sin(2 * np.pi * TIME))[:, None, None], shape).copy()
    arm = np.zeros((*shape, 3))
    arm[..., range(3), range(3)] = 0.04
    plain = {
        "time": TIME,
        "length": 0.4 + 0.02 * np.broadcast_to(np.sin(2 * np.pi * TIME)[:, None, None], shape),
        "arm": arm,
        "force": force,
        "activation": force / 4000,
        "moment": 0.04 * force,
        "reserve": np.zeros(shape),
        "contact": np.broadcast_to([0.0, -3000.0, 400.0], (*shape, 3)),
        "misfit": np.full(len(TIME), 0.004),
    }
    return ModelMotion(**plain | changes)


def problem_of(**changes: Any) -> Problem | None:
    return Checked(motion(**changes), MODEL, np.array([0.1, 0.9]), 1).problem(most_reserve_percent=5)


def at(values: float, place: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    array = np.zeros((len(TIME), 2, 3))
    array[place] = values
    return array


def test_sound_forces_pass() -> None:
    assert problem_of() is None


def test_moments_that_the_muscles_miss_are_refused_with_the_joint() -> None:
    sound = motion()
    found = problem_of(moment=sound.moment + at(5, (slice(None), 1, 1)))
    assert found is not None
    assert found.code == "muscle_moments_differ"
    assert "the moment of the knee by 5.9 % of its peak" in found.what  # 5 of 80 + 5 N m
    assert problem_of(moment=sound.moment + at(1, (slice(None), 1, 1))) is None  # 1.2 %
    assert problem_of(moment=sound.moment + at(5, (slice(None), 0, 1))) is None  # of the other side
    assert problem_of(moment=sound.moment + at(50, (slice(5), 1, 1))) is None  # before the cycle


def test_reserve_actuators_that_bear_much_are_refused() -> None:
    sound = motion()
    for newton_metres, code in ((3.9, None), (4.5, "reserves_too_large")):
        reserve = at(newton_metres, (50, 1, 0))
        found = problem_of(reserve=reserve, moment=sound.moment + reserve)
        assert (found and found.code) == code, "4 N m are 5 % of the ankle's largest moment"


def test_a_reserve_is_compared_with_the_moment_of_its_own_joint() -> None:
    """Of a hip with three times the moment, 4.5 N m are 1.9 %; of the ankle they are 5.6 %."""
    sound, reserve = motion(), at(4.5, (50, 1, 0))
    force = sound.force * [1, 1, 3]
    found = problem_of(force=force, activation=force / 12000, reserve=reserve, moment=0.04 * force + reserve)
    assert found is not None
    assert found.code == "reserves_too_large"


def test_an_activation_beyond_its_limits_is_refused_with_the_muscle() -> None:
    sound = motion()
    found = problem_of(activation=sound.activation + at(0.8, (30, 1, 2)))
    assert found is not None
    assert found.code == "muscle_out_of_limits"
    assert found.what.startswith("psoas has an activation of 1.")
    low = problem_of(activation=sound.activation - at(0.9, (30, 1, 0)))
    assert low is not None
    assert low.what.startswith("soleus has an activation of -0.")


def test_missing_numbers_are_no_sound_ones() -> None:
    found = problem_of(moment=motion().moment * np.nan)
    assert found is not None
    assert found.code == "muscle_moments_differ"


@pytest.mark.parametrize(("joint", "weights", "doubted"), [
    ("hip", 3.9, False), ("hip", 4.1, True), ("knee", 4.2, False), ("knee", 4.4, True), ("ankle", 9.0, False)
])  # fmt: skip
def test_a_contact_force_beyond_implants_is_doubted_with_the_muscles_at_their_limit(
    joint: str, weights: float, doubted: bool
) -> None:
    contact, activation = np.full((3, 3, 101), 1.0), np.full((3, 101), 0.3)
    contact[JOINTS.index(joint), :, 52] = [0.0, -weights * STANDARD_GRAVITY_M_S2, 0.0]
    activation[2, 52], activation[1, 10] = 0.99, 1.0
    found = doubt_of(contact, activation, MODEL.muscles)
    assert (found is not None) == doubted
    if found:
        assert found.code == DOUBT_OF[joint]
        assert f"{joint} bears {weights} body weights at 52 %" in found.what
        assert found.what.endswith(": psoas"), "the muscle that is at its limit at that instant"


def test_a_doubt_without_a_muscle_at_its_limit_names_the_most_active() -> None:
    contact, activation = np.full((3, 3, 101), 50.0), np.full((3, 101), 0.3)
    activation[0] = 0.6
    found = doubt_of(contact, activation, MODEL.muscles)
    assert found is not None
    assert "most active: soleus, 0.60" in found.what
    assert found.code == DOUBT_OF["hip"], "the joint farthest beyond implants"


def test_forces_that_are_missing_are_not_doubted() -> None:
    assert doubt_of(np.full((3, 3, 101), np.nan), np.full((3, 101), np.nan), MODEL.muscles) is None


def test_curves_and_peaks() -> None:
    spans, rows = np.array([[0.1, 0.9]]), np.array([1])
    curves = curves_of(motion(), spans, rows, np.full((2, 3), 0.4), mass_kg=60)
    instants = 0.1 + 0.8 * np.arange(101) / 100
    expected = 0.02 * 2 * np.pi * np.cos(2 * np.pi * instants)
    # linear interpolation between frames of 10 ms errs by (2 pi h)^2 / 8 = .05 %
    np.testing.assert_allclose(curves["muscle_tendon_velocity"][0, 0], expected, atol=1e-3 * 0.02 * 2 * np.pi)
    np.testing.assert_allclose(curves["muscle_tendon_length_of_standing"], curves["muscle_tendon_length"] / 0.4)
    found = peaks(curves, ("semimem", "psoas", "vas_lat"))
    assert found["peak_hamstring_length"] == pytest.approx(0.42, abs=1e-5)
    assert found["peak_hamstring_length_of_standing"] == pytest.approx(1.05, abs=1e-4)
    assert found["peak_hamstring_velocity"] == pytest.approx(expected.max(), rel=1e-3)
    assert np.isnan(found["peak_gastrocnemius_length"]), "the model has no such muscle"
    assert found["peak_contact_force_knee"] == pytest.approx(np.hypot(3000, 400) / 60 / 9.80665)


@pytest.fixture(scope="module")
def session(small_study: Path) -> dict[str, xr.Dataset]:
    folder = small_study / "data" / "demo" / "derived" / "sub-01"
    return {name: netcdf.load(folder / f"{name}.nc") for name in ("kinematics", "contacts", "calibrate")}


def walk_of(session: dict[str, xr.Dataset], step: str) -> Trial:
    return next(trial for trial in trials_of(session[step]).values() if "rejected" not in trial.attrs)


def test_loads_are_the_wrenches_of_the_study(session: dict[str, xr.Dataset]) -> None:
    contacts = walk_of(session, "contacts")
    columns = loads(contacts)
    for i, end in ((0, "l"), (1, "r")):
        force, point, torque = (
            np.stack([columns[f"ground_{name}{axis}"] for axis in "xyz"], axis=-1)
            for name in (f"force_{end}_v", f"force_{end}_p", f"torque_{end}_")
        )
        known = np.isfinite(contacts["ground_force"].values[:, i, 0])
        np.testing.assert_allclose(force[known], contacts["ground_force"].values[known, i])
        np.testing.assert_allclose(force[~known], 0)
        moment = torque + cross(point, force)
        np.testing.assert_allclose(moment[known], contacts["ground_moment"].values[known, i], atol=1e-9)
        assert np.isfinite(point).all()


def test_the_foot_is_flat_in_the_static_trial(session: dict[str, xr.Dataset]) -> None:
    points = standing(session["calibrate"], MODEL)
    upwards = points["foot_y_r"][0] - points["ankle_centre_r"][0]
    np.testing.assert_allclose(upwards, [0, 0.15, 0], atol=1e-12)
    forwards = points["foot_x_r"][0] - points["ankle_centre_r"][0]
    assert forwards[1] == pytest.approx(0, abs=1e-12)
    assert np.linalg.norm(forwards) == pytest.approx(0.15)


def test_the_pelvis_is_turned_by_the_tilt_between_study_and_model(session: dict[str, xr.Dataset]) -> None:
    flat = standing(session["calibrate"], MODEL._replace(pelvis=MODEL.pelvis._replace(tilt_rad=0.0)))["pelvis_x"]
    moved = standing(session["calibrate"], MODEL)["pelvis_x"] - flat
    assert np.linalg.norm(moved) == pytest.approx(2 * 0.15 * np.sin(np.radians(5)))
    assert moved[0, 1] > 0, "its front is higher in the model"


def test_points_move_with_the_lab(session: dict[str, xr.Dataset]) -> None:
    kinematics = walk_of(session, "kinematics")
    turn = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # about the vertical
    moved = dict(kinematics.variables)
    for name, values in (
        ("joint_centre", kinematics["joint_centre"].values @ turn.T + (1, 0, 2)),
        ("rotation", kinematics["rotation"].values @ turn.T),
    ):
        moved[name] = xr.Variable(kinematics[name].dims, values)
    before, after = (
        walking(trial, session["calibrate"], MODEL) for trial in (kinematics, Trial.of(moved, {}, kinematics.attrs))
    )
    for name, point in before.items():
        np.testing.assert_allclose(after[name], point @ turn.T + (1, 0, 2), atol=1e-9, err_msg=name)


def test_an_absent_leg_leaves_the_pelvis_where_it_is(session: dict[str, xr.Dataset]) -> None:
    kinematics = walk_of(session, "kinematics")
    variables = {name: replace(one, values=one.values.copy()) for name, one in kinematics.variables.items()}
    for name in ("joint_centre", "rotation"):
        variables[name].values[:, 0] = np.nan
    alone = walking(Trial.of(variables, {}, kinematics.attrs), session["calibrate"], MODEL)
    both = walking(kinematics, session["calibrate"], MODEL)
    # the linked legs keep the hips' distance of the static trial to a fraction of a millimetre
    np.testing.assert_allclose(alone["pelvis_x"], both["pelvis_x"], atol=1e-3)
    assert np.isnan(alone["thigh_z_l"]).all()
    assert posed(alone)[1] > 0


def test_longest_stretch_with_all_points() -> None:
    one, other = np.zeros((2, 20, 3))
    one[:4], other[15] = np.nan, np.nan
    assert posed({"one": one, "other": other, "never": one * np.nan}) == (4, 15)
    assert posed({"never": one * np.nan}) == (0, 0)


def test_a_refused_side_has_the_sizes_of_the_other(session: dict[str, xr.Dataset]) -> None:
    whole, calibrate = sizes_of(session["calibrate"]), session["calibrate"].copy(deep=True)
    for name in ("joint_link", "joint_distance"):
        calibrate[name][0] = np.nan
    sizes = sizes_of(calibrate)
    assert sizes.length_m["left", "thigh"] == whole.length_m["right", "thigh"]
    np.testing.assert_allclose(sizes.hip["left"], whole.hip["right"] * (1, 1, -1))


def test_tables_are_read_as_they_are_written(tmp_path: Path) -> None:
    columns = {"time": TIME, "knee_angle_r": np.sin(TIME), "pelvis_tx": -TIME}
    (tmp_path / "walk.mot").write_text(mot("walk", columns))
    found = read_table(tmp_path / "walk.mot")
    assert [*found] == [*columns]
    for name, values in columns.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-8)


def test_each_coordinate_belongs_to_one_joint() -> None:
    every = [name for names in COORDINATES.values() for name in names]
    assert len(every) == len({*every})
    assert COORDINATES.keys() == {*JOINTS}


def test_spines_are_measured_between_their_midpoints(session: dict[str, xr.Dataset]) -> None:
    calibrate = session["calibrate"]
    places = dict(zip(calibrate["fixed_marker"].values.tolist(), calibrate["fixed_position"].values, strict=True))
    back = (places["psis_left"] + places["psis_right"]) / 2
    front = (places["asis_left"] + places["asis_right"]) / 2
    spines = sizes_of(calibrate).spines
    assert spines is not None
    assert spines.depth_m == pytest.approx(float(np.linalg.norm(front - back)), abs=1e-4)
    assert spines.width_m == pytest.approx(float(np.linalg.norm(places["asis_left"] - places["asis_right"])), abs=1e-4)
    other = calibrate.assign_coords(landmark=[name.replace("asis", "other") for name in calibrate["landmark"].values])
    assert sizes_of(other).spines is None
