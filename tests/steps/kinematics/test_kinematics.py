"""Step ``kinematics``: a person of known motion."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

from pipeline.conventions import JOINTS, SEGMENTS, SIDES
from pipeline.errors import UserError
from pipeline.steps.kinematics import step
from pipeline.trials.session import join_trials, one_trial
from pipeline.workflow.settings import defaults
from tests.support.settings import settings_of
from tests.support.steps import kinematics
from tests.support.walks.person import (
    BODY_MODELS,
    PARTICIPANT,
    ROUNDING,
    Array,
    Landmarks,
    body_model,
    calibrated,
    cleaned,
    close,
    derivative,
    landmarks,
    standing,
    walk,
)

RATE_HZ = 200
TIME = np.arange(200) / RATE_HZ
INNER = slice(25, -25)  # an interpolating spline's end error falls by 0.43 a sample: 1e-9 after 25
ON_PELVIS = ("asis_left", "asis_right", "psis_left", "psis_right")


@cache
def calibration(name: str) -> xr.Dataset:
    return calibrated(body_model(name), standing())


def motion(points: Landmarks, name: str = "isb_clusters", static: xr.Dataset | None = None) -> xr.Dataset:
    return moving(cleaned(body_model(name), points, TIME), name, static)


def moving(
    clean: xr.Dataset, name: str = "isb_clusters", static: xr.Dataset | None = None, method: str = "segments"
) -> xr.Dataset:
    """Return the motion of a trial or a session."""
    changes = defaults(body_model(name))["kinematics"] | {"angle_convention": "isb", "method": method}
    return kinematics(
        clean,
        calibration(name) if static is None else static,
        body_model=body_model(name),
        settings=settings_of("kinematics", **changes),
    )


def without(points: Landmarks, *names: str) -> Landmarks:
    """Return the trial with landmarks unseen."""
    return {name: np.full_like(where, np.nan) if name in names else where for name, where in points.items()}


@pytest.fixture(scope="module")
def walked() -> Landmarks:
    return landmarks(walk(TIME))


@pytest.fixture(scope="module")
def moved(walked: Landmarks) -> xr.Dataset:
    return motion(walked)


def same(actual: xr.Dataset, expected: xr.Dataset, *names: str, tolerance: float = ROUNDING) -> None:
    for name in names:
        close(actual[name], expected[name], tolerance)


def test_poses_centres_and_angles_are_those_of_the_motion(moved: xr.Dataset) -> None:
    truth = walk(TIME)
    close(moved.rotation, truth.rotation)
    close(moved.joint_centre, truth.centre)
    close(moved.joint_angle, np.degrees(truth.angle))
    close(moved.fit_residual, 0)


def test_angular_velocity_and_acceleration_are_those_of_the_motion(moved: xr.Dataset) -> None:
    def spins(time: Array) -> Array:
        """S(w) = (d/dt R^T) R in lab axes."""
        rate = derivative(lambda t: np.swapaxes(walk(t).rotation, -1, -2), time)
        matrix = rate @ walk(time).rotation
        return np.stack([matrix[..., 2, 1], matrix[..., 0, 2], matrix[..., 1, 0]], axis=-1)

    to_segment = walk(TIME).rotation
    velocity = (to_segment @ spins(TIME)[..., None])[..., 0]
    acceleration = (to_segment @ derivative(spins, TIME)[..., None])[..., 0]
    # 0.9 Hz at 200 Hz with the harmonics that turning makes: 2 10^-7 of the acceleration by (wh)^4 / 720
    close(moved.angular_velocity[INNER], velocity[INNER], 1e-7)
    close(moved.angular_acceleration[INNER], acceleration[INNER], 1e-4)


def test_centres_of_mass_ride_on_their_segments(moved: xr.Dataset) -> None:
    def place(time: Array) -> Array:
        pose = walk(time)
        local = calibration("isb_clusters").segment_com.values[..., None, :]
        return np.asarray(pose.centre + (local @ pose.rotation[:, :, :3])[..., 0, :])

    legs = moved.sel(segment=["foot", "shank", "thigh"])
    close(legs.com_position, place(TIME))
    acceleration = derivative(lambda t: derivative(place, t), TIME)
    close(legs.com_acceleration[INNER], acceleration[INNER], 1e-4)  # as above
    assert np.isnan(moved.sel(segment="pelvis").com_position).all()


def test_a_hidden_cluster_costs_its_own_side_only(walked: Landmarks, moved: xr.Dataset) -> None:
    cluster_of_shank = [f"shank_{i}_left" for i in range(1, 5)]
    found = motion(without(walked, *cluster_of_shank))
    for name, expected in moved.data_vars.items():
        np.testing.assert_array_equal(found[name].sel(side="right"), expected.sel(side="right"), err_msg=str(name))
    left = found.sel(side="left")
    assert np.isnan(left.rotation.sel(segment="shank")).all()
    assert np.isnan(left.joint_centre.sel(joint=["ankle", "knee"])).all()
    assert np.isnan(left.joint_angle.sel(joint=["ankle", "knee"])).all()
    assert np.isnan(left.com_acceleration.sel(segment="shank")).all()
    same(left.sel(joint="hip"), moved.sel(side="left", joint="hip"), "joint_angle", "joint_centre")
    same(left.sel(segment="foot"), moved.sel(side="left", segment="foot"), "rotation", "angular_velocity")


def test_three_markers_of_a_cluster_will_do_and_two_will_not(walked: Landmarks, moved: xr.Dataset) -> None:
    holed = {name: where.copy() for name, where in walked.items()}
    holed["thigh_2_right"][:100] = np.nan
    holed["thigh_3_right"][50:60] = np.nan
    found = motion(holed).sel(segment="thigh", side="right")
    whole = moved.sel(segment="thigh", side="right")
    lost = np.arange(len(TIME)) // 10 == 5
    assert np.isnan(found.rotation[lost]).all()
    close(found.rotation[~lost], whole.rotation[~lost])
    assert np.isnan(found.angular_velocity[lost]).all()
    assert np.isfinite(found.angular_velocity[~lost]).all()


def test_without_pelvis_the_leg_goes_on_and_the_hip_is_nan(walked: Landmarks, moved: xr.Dataset) -> None:
    found = motion(without(walked, "asis_left", "psis_right"))
    assert np.isnan(found.joint_centre.sel(joint="hip")).all()
    assert np.isnan(found.joint_angle.sel(joint="hip")).all()
    legs = {"segment": ["foot", "shank", "thigh"]}
    same(found.sel(legs), moved.sel(legs), "rotation", "com_position", "com_acceleration")


def test_no_leg_at_all_is_the_users_to_mend(walked: Landmarks) -> None:
    with pytest.raises(UserError, match="no leg can be followed"):
        motion(without(walked, *(walked.keys() - {"heel_left"})))


@pytest.mark.parametrize("name", ["isb_clusters", "plug_in_gait"])
@pytest.mark.parametrize("portion", [1, 250, 10000])
def test_a_session_is_its_trials(name: str, portion: int, walked: Landmarks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials of different length, of which each lacks other landmarks or lists them in another order."""
    monkeypatch.setattr(step, "PORTION", portion)
    model = body_model(name)
    trials = {
        "whole": cleaned(model, walked, TIME),
        "no foot": cleaned(model, without(walked, "heel_right", "toe_right"), TIME).isel(time=slice(120)),
        "no shank": cleaned(model, without(walked, "shank_1_left", "shank_2_left", "lateral_malleolus_left"), TIME),
        "gap": cleaned(model, walked, TIME).isel(time=slice(50, None)).copy(deep=True),
    }
    trials["no shank"] = trials["no shank"].isel(marker=slice(None, None, -1))
    trials["gap"].marker_position.values[60:70, 3:9] = np.nan
    for trial in trials.values():
        trial.cutoff_hz.values[:4] = [6, 8, 10, 12]
    session = join_trials(trials)
    assert len({frozenset(data.marker.values) for data in trials.values()}) == 3
    found = moving(session, name)
    for label, trial in trials.items():
        alone, here = moving(trial, name), one_trial(found, label)
        assert here.attrs == alone.attrs
        for variable, values in alone.variables.items():
            assert here[variable].dims == values.dims
            if values.dtype.kind == "f":
                np.testing.assert_allclose(
                    here[variable],
                    values,
                    rtol=0,
                    atol=1e-12 * np.nanmax(np.abs(values.values), initial=0),
                    err_msg=f"{label}: {variable}",
                )
    assert one_trial(found, "gap").attrs["marker_cutoff_hz"] == 9
    assert np.isnan(one_trial(found, "no foot").rotation.sel(side="right", segment="foot")).all()


@pytest.mark.parametrize("method", ["segments", "linked"])
def test_a_trial_is_the_same_to_the_last_bit_beside_any_others(walked: Landmarks, method: str) -> None:
    """With noise, so that frames need different numbers of iterations, and trials of other lengths and markers."""
    rng, model = np.random.default_rng(4), body_model("isb_clusters")
    trials = {}
    for name, length, unseen in (("a", 190, ()), ("b", 120, ("heel_left", "thigh_1_right")), ("c", 57, ON_PELVIS)):
        noisy = {key: where + 0.003 * rng.normal(size=where.shape) for key, where in without(walked, *unseen).items()}
        trials[name] = cleaned(model, noisy, TIME).isel(time=slice(length))
    together = moving(join_trials(trials), method=method)
    for name, trial in trials.items():
        alone, here = moving(trial, method=method), one_trial(together, name)
        for variable, values in alone.data_vars.items():
            np.testing.assert_array_equal(here[variable], values, err_msg=f"{name}: {variable}")


def test_a_trial_that_cannot_be_followed_is_rejected_alone(walked: Landmarks, moved: xr.Dataset) -> None:
    model = body_model("isb_clusters")
    whole = cleaned(model, walked, TIME)
    blind = cleaned(model, without(walked, *(walked.keys() - {"heel_left"})), TIME)
    blind = blind.assign_attrs(landmarks_absent="toe_left")
    found = moving(join_trials({"a": whole, "blind": blind, "b": whole}))
    reason = "no leg can be followed: too few markers of the body model are seen (absent: toe_left); "
    assert found.rejected.values.tolist() == ["", f"{reason}label them, or exclude the trial", ""]
    assert np.unique(found.sample_trial).tolist() == [0, 2]
    for name in ("a", "b"):
        same(
            one_trial(found, name), moved, *moved.drop_vars(["leg_refused", "knee_refused"]).data_vars, tolerance=1e-12
        )


@pytest.mark.parametrize(("stop", "lost"), [(15, 0), (30, 30), (60, 200)])
def test_a_leg_that_no_person_has_is_hidden_in_a_stretch_or_throughout(
    walked: Landmarks, moved: xr.Dataset, stop: int, lost: int
) -> None:
    """The left heel marker is on the right heel in the first 15, 30 or 60 of 200 samples; 15 are less than 0.1 s."""
    fallen = walked | {
        "heel_left": np.where(np.arange(len(TIME))[:, None] < stop, walked["heel_right"], walked["heel_left"])
    }
    found = motion(fallen)
    hidden = np.isnan(found.joint_angle.sel(side="left")).all(["joint", "angle"])
    assert int(hidden.sum()) == lost
    assert bool(found.leg_refused.sel(side="left") != "") == (lost == len(TIME))
    np.testing.assert_array_equal(found.rotation.sel(side="right"), moved.rotation.sel(side="right"))


@pytest.mark.parametrize("name", BODY_MODELS)
def test_person_carried_stiffly_keeps_the_angles_of_the_static(name: str) -> None:
    """Clusters, chords and technical axes all carry the static pose along, in any posture."""
    model = body_model(name)
    bent = walk(np.full(len(TIME), 0.3))
    turns = walk(TIME).rotation[:, 0, 3]
    carried = {landmark: (place[:, None] @ turns)[:, 0] for landmark, place in landmarks(bent).items()}
    static = calibrated(model, landmarks(bent))
    at_rest, moving = (motion(points, name, static) for points in (landmarks(bent), carried))
    close(moving.joint_angle, at_rest.joint_angle)
    close(moving.rotation, at_rest.rotation.values @ turns[:, None, None])
    close(moving.joint_centre, at_rest.joint_centre.values @ turns[:, None])


def test_plug_in_gait_ankle_turns_with_the_foot() -> None:
    """The foot runs from heel to toe; turned about the shank's z axis at the ankle it dorsiflexes by that angle."""
    model = body_model("plug_in_gait")
    still = standing(len(TIME))
    static = calibrated(model, still)
    at_rest = motion(still, "plug_in_gait", static)
    lift = 20 * np.sin(2 * np.pi * TIME)
    raised = dict(still)
    for side in SIDES:
        rest = at_rest.sel(side=side)
        sole = still[f"toe_{side}"] - still[f"heel_{side}"]
        close(rest.rotation.sel(segment="foot", local_axis="x"), sole / np.linalg.norm(sole, axis=1, keepdims=True))
        axis, centre = rest.rotation.sel(segment="shank", local_axis="z").values, rest.joint_centre.sel(joint="ankle")
        lifted = Rotation.from_rotvec(np.radians(lift)[:, None] * axis)
        for name in (f"heel_{side}", f"toe_{side}"):
            raised[name] = centre.values + lifted.apply(still[name] - centre.values)
    angles = ["joint_angle"]
    found = motion(raised, "plug_in_gait", static)[angles] - at_rest[angles]
    ankle = found.joint_angle.sel(joint="ankle")
    close(ankle.sel(angle="flexion"), np.stack([lift, lift], axis=1))
    close(ankle.sel(angle=["adduction", "rotation"]), 0)
    close(found.joint_angle.sel(joint=["knee", "hip"]), 0)


def test_plug_in_gait_centres_keep_half_a_joint_width_and_a_marker_radius_from_their_markers(walked: Landmarks) -> None:
    found = motion(walked, "plug_in_gait").joint_centre
    for joint, marker, width_m in (("knee", "lateral_epicondyle", 0.1), ("ankle", "lateral_malleolus", 0.07)):
        assert PARTICIPANT[f"{joint}_width_left_m"] == str(width_m)
        for side in SIDES:
            arm = found.sel(joint=joint, side=side) - walked[f"{marker}_{side}"]
            close(np.linalg.norm(arm, axis=-1), (width_m + 0.014) / 2)


def test_segments_and_joints_are_in_the_order_of_the_chain(moved: xr.Dataset) -> None:
    assert tuple(moved.segment.values) == SEGMENTS
    assert tuple(moved.joint.values) == JOINTS


# --- linked legs -----------------------------------------------------------------------------------------------


def linked(points: Landmarks, name: str = "isb_clusters", **choices: Any) -> xr.Dataset:
    model = body_model(name)
    changes = defaults(model)["kinematics"] | {"angle_convention": "isb", "method": "linked"} | choices
    settings = settings_of("kinematics", **changes)
    return kinematics(cleaned(model, points, TIME), calibration(name), body_model=model, settings=settings)


@pytest.mark.parametrize("name", ["isb_clusters", "ior"])
def test_linked_legs_are_the_segments_where_markers_are_exact(walked: Landmarks, name: str) -> None:
    apart, whole = motion(walked, name), linked(walked, name)
    close(whole.joint_centre, apart.joint_centre.values, tolerance=1e-6)
    close(whole.rotation, apart.rotation.values, tolerance=1e-6)
    assert float(whole.marker_residual.max()) < 1e-6


def test_linked_legs_show_a_segment_that_has_lost_its_cluster(walked: Landmarks) -> None:
    """One marker is left on the left shank; the knee, and the ankle by the foot, show the rest."""
    hidden = without(walked, "shank_1_left", "shank_2_left", "shank_3_left")
    assert np.isnan(motion(hidden).joint_centre.sel(side="left", joint="ankle")).all()
    close(linked(hidden).joint_centre, motion(walked).joint_centre.values, tolerance=1e-6)


def test_linked_legs_do_not_jump_where_a_marker_vanishes(walked: Landmarks) -> None:
    """A thigh marker 20 mm off its place is seen for half of the walk: no frame differs more than the 0.1 s around."""
    slid = {**walked, "thigh_2_left": walked["thigh_2_left"] + [0.02, 0.0, 0.0]}
    half = {**slid, "thigh_2_left": np.where(TIME[:, None] < TIME.mean(), slid["thigh_2_left"], np.nan)}
    hip = linked(half).joint_angle.sel(side="left", joint="hip") - linked(walked).joint_angle.sel(
        side="left", joint="hip"
    )
    change = np.abs(np.diff(hip.values, axis=0))
    assert np.abs(hip.values).max() > 0.5, "the marker turns the thigh"
    assert change.max() < np.abs(hip.values).max() / 4
