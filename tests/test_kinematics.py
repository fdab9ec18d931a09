"""Kinematics: cluster fits, joint coordinates and derivatives by themselves, then a person whose motion is known."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import xarray as xr
from geometry import (
    BODY_MODELS,
    JOINTS,
    PARTICIPANT,
    PROPERTY,
    ROUNDING,
    SEED,
    SEGMENTS,
    SIDES,
    Array,
    Landmarks,
    body_model,
    calibrated,
    cleaned,
    close,
    derivative,
    landmarks,
    mirrored,
    random_turns,
    standing,
    turned,
    walk,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pipeline import joint_coordinates
from pipeline.derivatives import angular_rates, derivatives
from pipeline.errors import UserError
from pipeline.kinematics import kinematics
from pipeline.rigid import fit_pose
from pipeline.vocabulary import described

RATE_HZ = 200
TIME = np.arange(200) / RATE_HZ
INNER = slice(25, -25)  # an interpolating spline's end error falls by 0.43 a sample: 1e-9 after 25
OTHER_SIDE = {"side": ["right", "left"]}
LOCK = 0.1  # smallest_floating_axis

# ---- rigid.py


def cluster(rng: np.random.Generator, count: int, *, flat: bool) -> Array:
    """Return points around a circle of 100 mm, up to 50 mm off its plane unless flat, in any attitude."""
    around = 2 * np.pi * np.arange(count) / count
    radius, height = rng.uniform(0.095, 0.105, count), rng.uniform(-0.05, 0.05, count) * (not flat)
    points = np.stack([radius * np.cos(around), radius * np.sin(around), height], axis=-1)
    return np.asarray(points @ random_turns(rng, 1)[0] + 0.3)


def placed(rng: np.random.Generator, reference: Array, frames: int) -> tuple[Array, Array, Array]:
    """Return rotation, origin and the points (frame, point, 3) in the lab."""
    rotation, origin = random_turns(rng, frames), rng.normal(size=(frames, 3)) * 2
    return rotation, origin, origin[:, None] + reference @ rotation


def kabsch(reference: Array, measured: Array) -> tuple[Array, Array]:
    """Return rotation and origin of one frame by the textbook SVD (Kabsch 1976)."""
    centre, seen = reference.mean(axis=0), measured.mean(axis=0)
    u, _, vt = np.linalg.svd((reference - centre).T @ (measured - seen))
    rotation = u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt
    return rotation, seen - centre @ rotation


@given(SEED, st.integers(3, 6), st.booleans())
@PROPERTY
def test_fit_recovers_the_pose_of_a_rigid_cluster(seed: int, count: int, flat: bool) -> None:
    rng = np.random.default_rng(seed)
    reference = cluster(rng, count, flat=flat)
    rotation, origin, measured = placed(rng, reference, 4)
    found, place, residual = fit_pose(reference, measured)
    for part, truth in ((found, rotation), (place, origin), (residual, np.zeros(4))):
        close(part, truth)


@given(SEED, st.integers(4, 7))
@PROPERTY
def test_fit_of_noisy_points_is_the_least_squares_one(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    reference = cluster(rng, count, flat=False)
    _, _, measured = placed(rng, reference, 4)
    measured += rng.normal(size=measured.shape) * 0.005
    found, place, residual = fit_pose(reference, measured)
    for i, points in enumerate(measured):
        rotation, origin = kabsch(reference, points)
        aligned, _ = Rotation.align_vectors(reference - reference.mean(axis=0), points - points.mean(axis=0))
        close(found[i], rotation, 1e-10)
        close(found[i], aligned.as_matrix(), 1e-10)
        close(place[i], origin, 1e-10)
        misfit = points - origin - reference @ rotation
        close(residual[i], np.sqrt((misfit**2).sum(axis=1).mean()), 1e-10)


@given(SEED, st.integers(4, 7))
@PROPERTY
def test_fit_leaves_missing_points_out(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    reference = cluster(rng, count, flat=False)
    _, _, measured = placed(rng, reference, 3)
    measured += rng.normal(size=measured.shape) * 0.005
    kept = [np.sort(rng.choice(count, 3, replace=False)) for _ in measured]
    for points, keep in zip(measured, kept, strict=True):
        points[np.setdiff1d(np.arange(count), keep), rng.integers(3)] = np.nan
    together = fit_pose(reference, measured)
    for i, keep in enumerate(kept):
        for part, alone in zip(together, fit_pose(reference[keep], measured[i, keep]), strict=True):
            close(part[i], alone)


@given(SEED, st.integers(3, 6))
@PROPERTY
def test_fit_never_reflects(seed: int, count: int) -> None:
    """A mirrored cluster gets the best turn, not its mirror image."""
    rng = np.random.default_rng(seed)
    reference = cluster(rng, count, flat=False)
    measured = reference * (1, 1, -1) @ random_turns(rng, 1)[0]
    found, _, residual = fit_pose(reference, measured)
    close(np.linalg.det(found), 1)
    close(found, kabsch(reference, measured)[0])
    assert count == 3 or residual > 1e-4


def test_too_few_points_and_points_on_a_line_give_nan() -> None:
    reference = np.array([[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0], [0, 0.1, 0.0]])
    measured = np.broadcast_to(reference @ Rotation.from_rotvec([1, 2, 3]).as_matrix() + 5, (4, 4, 3)).copy()
    measured[1, 3] = np.nan  # leaves the three on a line
    measured[2, :2] = np.nan  # leaves two
    measured[3] = np.nan
    found, place, residual = fit_pose(reference, measured)
    for part in (found, place, residual):
        assert np.isfinite(part[0]).all()
        assert np.isnan(part[1:]).all()


def test_markers_on_a_line_to_within_their_noise_give_nan() -> None:
    """Three markers over 200 mm, 0.3 mm of noise: they fit well in both trials, but how they turned is chance."""
    rng = np.random.default_rng(0)
    line = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.2, 0, 0]])
    _, _, measured = placed(rng, line, 500)
    noisy = (part + rng.normal(size=part.shape) * 3e-4 for part in (line, measured))
    found, _, _ = fit_pose(*noisy)
    assert np.isnan(found).all(axis=(1, 2)).all()


def test_residual_of_a_cluster_that_swells() -> None:
    """Four corners of a regular tetrahedron, 100 mm from the middle, each found 1 mm further out."""
    corners = 0.1 / np.sqrt(3) * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    close(fit_pose(corners, 1.01 * corners)[2], 0.001)


# ---- joint_coordinates.py

turn = st.floats(-3.1, 3.1)
moderate = st.floats(-1.4, 1.4)


def turned_about(axis: str, degrees: float) -> Array:
    """Return v_segment = rotation . v_lab of a segment turned from the lab's axes about one of them."""
    return np.asarray(Rotation.from_euler(axis, degrees, degrees=True).as_matrix()).T


@given(turn, moderate, turn, SEED)
@PROPERTY
def test_angles_undo_the_turns_about_z_x_and_y(z: float, x: float, y: float, seed: int) -> None:
    proximal = random_turns(np.random.default_rng(seed), 1)[0]
    distal = Rotation.from_euler("ZXY", [z, x, y]).as_matrix().T @ proximal
    close(joint_coordinates.angles(proximal, distal, smallest_floating_axis=LOCK), [z, x, y])


@given(SEED)
@PROPERTY
def test_joint_axes_are_unit_and_the_floating_one_is_normal_to_the_others(seed: int) -> None:
    proximal, distal = random_turns(np.random.default_rng(seed), 2)
    e1, e2, e3 = joint_coordinates.axes(proximal, distal)
    close(e1, proximal[2])
    close(e3, distal[1])
    close(np.linalg.norm(e2), 1)
    close([e2 @ e1, e2 @ e3], 0)
    assert np.linalg.det([e1, e2, e3]) > 0


@given(turn, moderate, turn, SEED)
@PROPERTY
def test_relative_angular_velocity_is_the_sum_of_rates_along_the_joint_axes(
    z: float, x: float, y: float, seed: int
) -> None:
    """So that power is the sum of M.e_i times rate: the orthogonal projection M.e_i is the power-consistent one."""
    rng = np.random.default_rng(seed)
    rates, proximal = rng.normal(size=3), random_turns(rng, 1)[0]

    def to_lab(time: Array) -> Array:
        angles = np.array([z, x, y]) + np.outer(time, rates)
        return np.asarray(proximal.T @ Rotation.from_euler("ZXY", angles).as_matrix())

    now = np.zeros(1)
    spin = derivative(to_lab, now)[0] @ to_lab(now)[0].T
    velocity = [spin[2, 1], spin[0, 2], spin[1, 0]]
    close(rates @ joint_coordinates.axes(proximal, to_lab(now)[0].T), velocity)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("joint", JOINTS)
def test_clinical_signs_of_described_poses(joint: str, side: str) -> None:
    """Where the distal segment's axes point, in words, is what the positive angles mean."""
    sin, cos = 0.5, np.sqrt(0.75)
    midline = np.array([0, 0, -1.0 if side == "right" else 1.0])  # towards the other leg
    x, y, z = np.eye(3)
    knee_bent = np.stack([cos * x - sin * y, cos * y + sin * x, z])  # the shank's lower end goes back
    thigh_raised = np.stack([cos * x + sin * y, cos * y - sin * x, z])  # the knee, or the toes, go forward and up
    leg_inwards = cos * y - sin * midline  # the lower end, or the sole, goes towards the midline
    toes_inwards = cos * x + sin * midline
    poses = {
        "flexion": knee_bent if joint == "knee" else thigh_raised,
        "adduction": np.stack([x, leg_inwards, np.cross(x, leg_inwards)]),
        "rotation": np.stack([toes_inwards, y, np.cross(toes_inwards, y)]),
    }
    for i, name in enumerate(joint_coordinates.ANGLES):
        found = joint_coordinates.angles(np.eye(3), poses[name], smallest_floating_axis=LOCK)
        clinical = np.degrees(found) * joint_coordinates.signs(joint, side)
        close(clinical, 30 * np.eye(3)[i])


def test_angles_near_gimbal_lock_are_nan() -> None:
    """cos 84 degrees is above 0.1, cos 85 degrees below."""
    kept, lost = (
        joint_coordinates.angles(np.eye(3), turned_about("x", tilt), smallest_floating_axis=LOCK) for tilt in (84, 85)
    )
    close(np.degrees(kept), [0, 84, 0])
    assert np.isnan(lost).all()


# ---- derivatives.py


@pytest.mark.parametrize(("frequency_hz", "rate_hz"), [(1, 100), (6, 100), (6, 200), (10, 250)])
def test_derivatives_of_a_sinusoid_are_as_close_as_a_quintic_spline_can_be(frequency_hz: int, rate_hz: int) -> None:
    """At the knots the spline misses the velocity by (wh)^6 / 5040, the acceleration by (wh)^4 / 720 of it."""
    time, omega = np.arange(2 * rate_hz) / rate_hz, 2 * np.pi * frequency_hz
    phase = np.linspace(0, 2, 7)
    first, second = derivatives(np.sin(omega * time[:, None] + phase), time)
    wh = omega / rate_hz
    errors = (
        np.abs(first / omega - np.cos(omega * time[:, None] + phase))[INNER].max(),
        np.abs(second / omega**2 + np.sin(omega * time[:, None] + phase))[INNER].max(),
    )
    # a tenth above the leading term for the next one, and rounding, which differences by h and h^2 magnify
    assert errors[0] < 1.1 * wh**6 / 5040 + 1e-14 / wh
    assert errors[1] < 1.1 * wh**4 / 720 + 1e-13 / wh**2


def test_derivatives_of_a_quintic_are_exact() -> None:
    time = 3 + np.arange(60) / 50  # a file's own time axis need not start at 0
    curve = np.polynomial.Polynomial([1, -2, 0.5, 3, -1, 0.7], domain=[3, 4.2], window=[-1, 1])
    first, second = derivatives(curve(time), time)
    close(first, curve.deriv(1)(time))
    close(second, curve.deriv(2)(time), 1e-6)  # rounding over h^2, at the ends


def test_gaps_stay_and_do_not_leak() -> None:
    time = np.arange(100) / 100
    values = np.random.default_rng(0).normal(size=(100, 2))
    holed = values.copy()
    holed[40:43, 1] = np.nan
    holed[80, 1] = np.nan
    holed[86, 1] = np.nan  # five samples in between: too few for a spline of degree five
    pieces = (slice(0, 40), slice(43, 80), slice(87, 100))
    alone = [derivatives(values[piece], time[piece]) for piece in pieces]
    for order, (found, whole) in enumerate(zip(derivatives(holed, time), derivatives(values, time), strict=True)):
        np.testing.assert_array_equal(found[:, 0], whole[:, 0])
        for piece, parts in zip(pieces, alone, strict=True):
            close(found[piece, 1], parts[order][:, 1], 1e-6)  # the instants of samples differ by rounding, over h^2
        assert np.isnan(found[[40, 41, 42, *range(80, 87)], 1]).all()


@given(SEED)
@PROPERTY
def test_angular_rates_of_a_tumbling_body(seed: int) -> None:
    """Turns by alpha about a fixed axis a and by beta about an axis b of the body, both accelerating."""
    rng = np.random.default_rng(seed)
    a, b = (axis / np.linalg.norm(axis) for axis in rng.normal(size=(2, 3)))
    (alpha, alpha_1, alpha_2), (beta, beta_1, beta_2) = rng.normal(size=(2, 3)) * (1, 3, 20)
    outer, inner = (Rotation.from_rotvec(axis * turned_by) for axis, turned_by in ((a, alpha), (b, beta)))
    to_lab = (outer * inner).as_matrix()
    b_lab = outer.apply(b)
    velocity = alpha_1 * a + beta_1 * b_lab
    acceleration = alpha_2 * a + beta_2 * b_lab + alpha_1 * beta_1 * np.cross(a, b_lab)
    spin, rate = (np.cross(v, np.eye(3)).T for v in (velocity, acceleration))
    first, second = spin @ to_lab, (rate + spin @ spin) @ to_lab
    found = angular_rates(to_lab.T, first.T, second.T)
    close(found[0], to_lab.T @ velocity)
    close(found[1], to_lab.T @ acceleration)


# ---- the step


@cache
def calibration(name: str) -> xr.Dataset:
    return calibrated(body_model(name), standing())


def motion(points: Landmarks, name: str = "isb_clusters", static: xr.Dataset | None = None) -> xr.Dataset:
    model = body_model(name)
    static = calibration(name) if static is None else static
    return kinematics(
        cleaned(model, points, TIME),
        static,
        body_model=model,
        smallest_floating_axis=LOCK,
        angle_convention="isb",
        static_offset="keep",
    )


def without(points: Landmarks, *names: str) -> Landmarks:
    """Return the trial with landmarks unseen."""
    return {name: np.full_like(where, np.nan) if name in names else where for name, where in points.items()}


@pytest.fixture(scope="module")
def walked() -> Landmarks:
    return landmarks(walk(TIME))


@pytest.fixture(scope="module")
def moved(walked: Landmarks) -> xr.Dataset:
    return described("kinematics", motion(walked))


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


def test_mirrored_walk_exchanges_the_sides(walked: Landmarks, moved: xr.Dataset) -> None:
    static = calibrated(body_model("isb_clusters"), mirrored(standing()))
    image = motion(mirrored(walked), static=static).sel(OTHER_SIDE)
    close(image.joint_angle, moved.joint_angle)
    flip = np.diag([1, 1, -1])
    close(image.rotation, flip @ moved.rotation.values @ flip)
    close(image.joint_centre, moved.joint_centre * (1, 1, -1))
    close(image.com_position, moved.com_position * (1, 1, -1))
    close(image.angular_velocity, moved.angular_velocity * (-1, -1, 1))


@pytest.mark.parametrize("degrees", [90, 180, 37])
def test_lab_turned_about_the_vertical_changes_no_joint(degrees: float, walked: Landmarks, moved: xr.Dataset) -> None:
    found = motion(turned(walked, degrees))
    same(found, moved, "joint_angle", "angular_velocity")
    same(found, moved, "angular_acceleration", tolerance=1e-7)  # rounding over h^2 = 2.5e-5 s2
    there = Rotation.from_euler("y", degrees, degrees=True).as_matrix().T
    for name in ("rotation", "joint_centre", "com_position"):
        close(found[name], moved[name].values @ there)


@pytest.mark.parametrize("name", BODY_MODELS)
def test_person_carried_stiffly_keeps_the_angles_of_the_static(name: str) -> None:
    """Clusters, chords and technical axes all carry the static pose along, whatever it is."""
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
    found = motion(raised, "plug_in_gait", static) - at_rest
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
