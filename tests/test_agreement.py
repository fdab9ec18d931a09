"""Other formulations of the legs: that they agree, would not if something were wrong, and interaction torques."""

from __future__ import annotations

from pathlib import Path

import geometry
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from geometry import (
    HANDED,
    JOINTS,
    SIDES,
    Array,
    Landmarks,
    calibrated,
    close,
    derivative,
    landmarks,
    mirrored,
    standing,
    walk,
)
from scipy.spatial.transform import Rotation
from studies import run_study
from walking import CALIBRATION, INNER, KINETICS, MODEL, TIME, chain_motion, ground, legs, moving

from pipeline import agreement
from pipeline import kinetics as step
from pipeline.dynamics import limb
from pipeline.dynamics.block_matrix import rotate
from pipeline.kinetics import kinetics
from pipeline.leg import OUTWARDS, Legs
from pipeline.vocabulary import described

# All three add up numbers of some 1000 N and 300 N m in another order, through matrices of condition 1 to 100
AGREED = 1e-9
ROUNDED = 1e-8  # rounding of positions over h^2 = 2.5e-5 s2, beside moments of some 100 N m
STUDIES = ("exact", "functional", "gait2354", "plug_in_gait")


def loads(motion: xr.Dataset, contacts: xr.Dataset, calibration: xr.Dataset = CALIBRATION) -> xr.Dataset:
    return described("kinetics", kinetics(motion, contacts, calibration, **KINETICS))


@pytest.fixture(scope="module")
def walked() -> Landmarks:
    return landmarks(walk(TIME))


@pytest.fixture(scope="module")
def loaded(walked: Landmarks) -> xr.Dataset:
    return loads(moving(walked), ground())


@pytest.fixture(scope="module")
def own() -> Legs:
    return legs()


@pytest.fixture(scope="module")
def solved(own: Legs, loaded: xr.Dataset) -> agreement.Loads:
    """What the block matrix finds."""
    in_lab = rotate(np.swapaxes(own.rotation[:, :, :3], -1, -2), loaded.joint_moment.values)
    return agreement.Loads(loaded.joint_force.values, in_lab, loaded.joint_moment_jcs.values * own.signs)


def largest(values: xr.DataArray) -> float:
    return float(np.abs(values).max())


# ---- they agree


def test_all_formulations_agree_to_rounding(loaded: xr.Dataset) -> None:
    assert list(loaded.formulation.values) == list(agreement.FORMULATIONS)
    assert np.isfinite(loaded.disagreement).all()
    assert largest(loaded.disagreement) < AGREED
    assert largest(loaded.joint_moment) > 100


@pytest.mark.parametrize("part", ["force", "moment", "torque"])
@pytest.mark.parametrize("wrong", ["solved", *agreement.FORMULATIONS])
def test_a_wrong_number_in_one_frame_is_seen(own: Legs, solved: agreement.Loads, wrong: str, part: str) -> None:
    """1e-5 N or N m at one instant of one joint, in the formulation that is wrong and in no other."""
    chain, by_wrenches = agreement.open_chain(own), agreement.wrenches_on_the_shank(own)
    all_loads = {
        "solved": solved,
        "wrenches": by_wrenches,
        "recursion": chain.recursion,
        "closed_form": chain.closed_form,
    }
    changed = getattr(all_loads[wrong], part).copy()
    changed[77, 1, 2, 0] += 1e-5
    all_loads[wrong] = all_loads[wrong]._replace(**{part: changed})
    chain = chain._replace(recursion=all_loads["recursion"], closed_form=all_loads["closed_form"])
    found = agreement.disagreement(all_loads["solved"], chain, all_loads["wrenches"])
    expected = np.zeros((3, 2))
    rows = slice(None) if wrong == "solved" else agreement.FORMULATIONS.index(wrong)
    expected[rows, 0 if part == "force" else 1] = 1e-5
    close(found, expected, AGREED)


def test_a_slip_in_the_solver_is_seen(own: Legs, walked: Landmarks, monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver alone leaves w x I w out at the ankle; a vector in lab axes has a component of 1 / sqrt(3) of it."""
    solve = step._block_matrix

    def without_velocity(legs: Legs) -> tuple[Array, Array]:
        force, moment = solve(legs)
        moment[:, :, 1, 0] = 0
        return force, moment

    left_out = largest(loads(moving(walked), ground()).joint_moment_term.sel(joint="ankle", term="velocity"))
    monkeypatch.setattr(step, "_block_matrix", without_velocity)
    found = loads(moving(walked), ground()).disagreement
    assert left_out > 1e-3
    assert (found.sel(load="moment") > 0.57 * left_out).all()
    assert largest(found.sel(load="force")) < AGREED


def test_what_is_not_known_is_not_compared(own: Legs) -> None:
    nothing = agreement.Loads(*np.full((3, 5, 2, 3, 3), np.nan))
    found = agreement.disagreement(nothing, agreement.Chain(nothing, nothing, np.empty(0)), nothing)
    assert found.shape == (3, 2)
    assert np.isnan(found).all()


def test_hidden_segments_leave_the_rest_compared(walked: Landmarks) -> None:
    hidden = {f"thigh_{number}_left" for number in range(1, 5)}
    points = {name: np.nan * where if name in hidden else where for name, where in walked.items()}
    found = loads(moving(points), ground()).disagreement
    assert np.isfinite(found).all()
    assert largest(found) < AGREED


# ---- interaction torques


def clinical(own: Legs, motion: xr.Dataset, local: xr.DataArray) -> Array:
    """Return the projections on the joint axes of vectors (time, side, joint, 3) in distal segment axes."""
    back = np.swapaxes(motion.rotation.values[:, :, :3], -1, -2)
    return rotate(own.axes, rotate(back, local.values)) * own.signs


def test_interaction_torques_gravity_and_ground_are_the_joint_moment(
    own: Legs, walked: Landmarks, loaded: xr.Dataset
) -> None:
    motion = moving(walked)
    static = loaded.joint_moment_term.sel(term=["gravity", "ground"]).sum("term", skipna=False)
    total = loaded.interaction_torque.sum(("cause", "motion"), skipna=False).values + clinical(own, motion, static)
    close(total, loaded.joint_moment_jcs, AGREED)
    moved = loaded.joint_moment_term.sel(term=["inertia", "velocity"]).sum("term", skipna=False)
    close(loaded.interaction_torque.sum(("cause", "motion")), clinical(own, motion, moved), AGREED)
    for cause in agreement.CAUSES[:-1]:
        assert largest(loaded.interaction_torque.sel(cause=cause)) > 0.1, cause


def test_segments_that_hang_together_do_not_move_against_each_other(loaded: xr.Dataset) -> None:
    """The person's joints are hinges: the spline's 10^-4 m/s2 times 10 kg at 0.5 m are what translation is left."""
    assert largest(loaded.interaction_torque.sel(cause="translation")[INNER]) < 1e-3


def test_a_person_who_stands_has_no_interaction() -> None:
    pose = walk(np.full(30, 0.3))
    found = loads(moving(landmarks(pose), time=TIME[:30]), ground(TIME[:30])).interaction_torque
    # rounding of still positions over h^2 = 2.5e-5 s2, twice over rates of the joints
    assert largest(found) < 1e-6


def test_a_still_joint_causes_nothing() -> None:
    """With a still pelvis and ankles and hips that do not move, knees cause it all."""
    swing = geometry.SWING_RAD
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(geometry, "SWING_RAD", swing * np.array([[0], [1], [0]]))
        found = loads(moving(landmarks(walk(TIME, still_pelvis=True))), ground()).interaction_torque[INNER]
    assert largest(found.sel(cause="knee")) > 1
    for cause in ("ankle", "hip"):
        # the spline's 10^-4 rad/s2, times 2 kg m2 of the leg
        assert largest(found.sel(cause=cause)) < 1e-3, cause


def test_accelerations_of_the_hinges_are_those_of_the_joint_angles(own: Legs) -> None:
    """Though no angle is differentiated: against the second derivative of the closed form."""
    motion = chain_motion(own)[1]

    def angle(time: Array) -> Array:
        return np.asarray((walk(time).angle * HANDED)[:, :, OUTWARDS])

    first = derivative(angle, TIME)
    second = derivative(lambda time: derivative(angle, time), TIME)
    # the spline misses 10^-4 rad/s2 of a segment's acceleration, two of them, and 10^-7 rad/s of its velocity
    close(motion.rate[INNER, ..., limb.HINGES], first[INNER], 1e-5)
    close(motion.acceleration[INNER, ..., limb.HINGES], second[INNER], 1e-3)


def test_no_angle_is_differentiated(walked: Landmarks, loaded: xr.Dataset) -> None:
    """Whatever the angles do from frame to frame, jumps by a turn included."""
    motion = moving(walked)
    turns = 360 * np.random.default_rng(1).integers(-3, 3, motion.joint_angle.shape)
    found = loads(motion.assign(joint_angle=motion.joint_angle + turns), ground())
    for name in ("interaction_torque", "joint_moment_jcs", "disagreement", "missing"):
        np.testing.assert_array_equal(found[name], loaded[name])


# ---- symmetries


def test_mirrored_walk_exchanges_the_sides(walked: Landmarks, loaded: xr.Dataset) -> None:
    """What is clinical stays."""
    calibration, contacts = calibrated(MODEL, mirrored(standing())), ground()
    image = contacts.sel(side=list(SIDES[::-1])).assign_coords(side=list(SIDES))
    image = image.assign(ground_force=image.ground_force * (1, 1, -1), ground_moment=image.ground_moment * (-1, -1, 1))
    found = loads(moving(mirrored(walked), calibration), image, calibration).sel(side=list(SIDES[::-1]))
    close(found.interaction_torque, loaded.interaction_torque, ROUNDED)
    assert largest(found.disagreement) < AGREED


@pytest.mark.parametrize("velocity", [(1.3, 0, 0), (-3, 0.5, 2)])
def test_a_lab_that_moves_past_steadily_changes_nothing(
    velocity: tuple[float, float, float], walked: Landmarks, loaded: xr.Dataset
) -> None:
    """Person and ground on a treadmill that the lab leaves behind; its origin is elsewhere at every instant."""
    away = TIME[:, None] * velocity
    contacts = ground()
    shifted = contacts.ground_moment + np.cross(away[:, None], contacts.ground_force.values)
    points = {name: where + away for name, where in walked.items()}
    found = loads(moving(points), contacts.assign(ground_moment=shifted))
    for name in ("interaction_torque", "joint_moment", "joint_force", "joint_power"):
        close(found[name], loaded[name], ROUNDED)
    assert largest(found.disagreement) < AGREED


# ---- where something is not known


def tumbling_feet(nearest_rad: float) -> Landmarks:
    """Return a walk whose feet tumble about all axes, past the pose where the ankle's axes fall together.

    They come as near as ``nearest_rad`` to it, in the middle of the trial.
    """
    pose = walk(TIME)
    lock = Rotation.from_euler("X", 90, degrees=True).inv().as_matrix()
    tumble = np.sin(2 * np.pi * (TIME - 0.5))[:, None] * [0.5, 0.7, 0.9] + nearest_rad * np.array([1.0, 0, 0])
    feet = (Rotation.from_rotvec(tumble).as_matrix() @ lock)[:, None] @ pose.rotation[:, :, 1]
    pose.rotation[:, :, 0] = feet
    return landmarks(pose)


@pytest.mark.parametrize("nearest_rad", [0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3])
def test_gimbal_lock_costs_the_axes_and_nothing_else(nearest_rad: float) -> None:
    """Rates of hinges whose axes all but fall together are huge; the trial is not to be blamed for it."""
    motion = moving(tumbling_feet(nearest_rad))
    found = loads(motion, ground())
    unknown = np.isnan(motion.joint_angle).all("angle")
    assert 10 < int(unknown.sel(joint="ankle").sum()) < len(TIME)
    assert not unknown.sel(joint=["knee", "hip"]).any()
    np.testing.assert_array_equal(found.missing, np.where(unknown, 3, 0))
    for name in ("joint_force", "joint_moment", "joint_moment_term", "joint_power"):
        assert np.isfinite(found[name]).all(), name
    lost = np.isnan(found.joint_moment_jcs)
    np.testing.assert_array_equal(lost.all("angle"), unknown)
    np.testing.assert_array_equal(lost.any("angle"), unknown)
    interaction = found.interaction_torque
    assert np.isnan(interaction.values[unknown.values]).all()
    assert np.isnan(interaction.sel(cause="ankle").values[unknown.any("joint").values]).all(), "at no joint"
    assert np.isfinite(interaction.sel(joint=["knee", "hip"], cause=["hip", "knee", "pelvis"])).all()
    assert largest(interaction) < 1000, "no rounding blown up"
    assert largest(found.disagreement) < 1e-6


def test_missing_says_which_of_segment_ground_and_axes_is_unknown(walked: Landmarks) -> None:
    """The segment comes first: without it nobody can tell the rest."""
    hidden = {name: where.copy() for name, where in walked.items()}
    for number in range(1, 5):
        hidden[f"shank_{number}_right"][120:160] = np.nan
    contacts = ground()
    contacts.ground_force.values[40:80, 0] = np.nan
    contacts.ground_moment.values[140:180, 1] = np.nan
    found = loads(moving(hidden), contacts)
    expected = np.zeros((len(TIME), 2, 3))
    expected[40:80, 0] = 2
    expected[140:180, 1] = 2
    expected[120:160, 1] = 1
    np.testing.assert_array_equal(found.missing, expected)
    np.testing.assert_array_equal(found.missing > 0, np.isnan(found.joint_moment_jcs).any("angle"))


# ---- real recordings


@pytest.fixture(scope="module")
def checks(shared: Path) -> pd.DataFrame:
    """Return one row per trial: the largest disagreement and closures, and the largest power beside them."""
    rows = []
    for study in STUDIES:
        for name, session in run_study(shared / "studies" / study, {}).items():
            for trial, steps in session.trials.items():
                found = steps["kinetics"]
                closure = np.sqrt((found.forward_closure**2).mean("angle")).max("side", skipna=True)
                rows.append(
                    {
                        "study": study,
                        "trial": f"{name} {trial}",
                        "force": float(found.disagreement.sel(load="force").max()),
                        "moment": float(found.disagreement.sel(load="moment").max()),
                        **{joint: float(closure.sel(joint=joint)) for joint in JOINTS},
                        "energy": float(found.energy_closure.max()),
                        "power": float(np.abs(found.joint_power).max()),
                    }
                )
    return pd.DataFrame(rows)


def test_formulations_agree_on_every_trial_of_real_recordings(checks: pd.DataFrame) -> None:
    """Noisy markers make accelerations, not rounding; positions are metres from the origin, forces kilonewtons."""
    assert set(checks.study) == set(STUDIES)
    assert checks.moment.notna().all()
    assert (checks.moment < 1e-8).all()
    assert (checks.force < 1e-8).all()


def test_closures_of_the_exact_study_are_small(checks: pd.DataFrame) -> None:
    """Filtered at 10 Hz and sampled at 250 Hz, the spline misses (2 pi f h)^4 / 720, 6 10^-6, of accelerations.

    Under the body's weight the foot falls within a window by some thousandths of a degree of it.
    """
    exact = checks[checks.study == "exact"]
    assert (exact[[*JOINTS]] < 0.01).all(axis=None)
    assert (exact.energy < 0.005).all()


def test_closures_of_real_recordings_are_small(checks: pd.DataFrame) -> None:
    """At 60 to 120 Hz the same share is up to 2 10^-3 of accelerations: of powers, and of what turns the foot."""
    assert (checks.energy < 0.01 * checks.power).all()
    assert (checks[[*JOINTS]] < 5).all(axis=None)
    assert (checks.hip < checks.knee).all(), "the heavier, the steadier"
    assert (checks.knee < checks.ankle).all()
