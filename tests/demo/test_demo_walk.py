"""The demonstration study: realistic walking, and loads that obey mechanics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.body import joint_angles
from pipeline.conventions import JOINTS
from pipeline.demo import study
from pipeline.demo.body import foot_in_sole, segment_parameters
from pipeline.demo.legs import Pose
from pipeline.demo.loads import GRAVITY, STEP_S, Ground, Wrenches, axial, ground, joint_wrenches, mass_centres
from pipeline.demo.plates import SOLE
from pipeline.demo.recording import marker_paths
from pipeline.demo.walk import BALL_ARC, HEEL_ARC, Motion, Walk, cycles, motion, plan_walk
from pipeline.results import netcdf
from pipeline.tables.reference_curves import SHIPPED, Key, at_speed, reference_of

Array = NDArray[np.float64]
Instants = NDArray[np.bool_]
WALKERS = {walker.participant_id: walker for walker in study.PEOPLE}
TRIALS = [("sub-01", "comfortable_02"), ("sub-01", "fast_01"), ("sub-02", "comfortable_03"), ("sub-02", "fast_02")]


@dataclass(frozen=True)
class Example:
    """One walk of the study without noise, 200 instants a second."""

    walk: Walk
    bodies: Motion
    time: Array
    body: Pose
    feet: Ground
    wrenches: Wrenches

    def stances(self, side: int, start: float, end: float) -> list[tuple[int, Instants]]:
        """Return each step of a foot with its instants between two fractions of the cycle."""
        counted = cycles(self.walk, side, self.time)
        since = [(int(step), counted - self.walk.number[step] / 2) for step in np.flatnonzero(self.walk.side == side)]
        return [(step, (s > start) & (s < end)) for step, s in since if ((s > start) & (s < end)).any()]


@pytest.fixture(scope="module", params=TRIALS, ids="-".join)
def example(request: pytest.FixtureRequest) -> Example:
    who, trial = request.param
    walk = study.demo_walk(WALKERS[who], trial, seed=3)
    bodies, time = motion(walk), np.arange(0, walk.gait.duration_s, 0.005)
    body = bodies(time)
    feet = ground(walk, body, time)
    return Example(walk, bodies, time, body, feet, joint_wrenches(bodies, time, segment_parameters(walk.walker), feet))


# ---- as people walk


def flexion(proximal: Array, distal: Array) -> Array:
    """Return the angle (degrees) about the proximal z axis of the distal y axis."""
    y = np.einsum("...ji,...j->...i", proximal, distal[..., 1])
    return np.asarray(np.degrees(np.arctan2(-y[..., 0], y[..., 1])))


def test_vertical_force_has_two_humps_and_brakes_before_it_propels(example: Example) -> None:
    force = example.feet.force / (example.walk.walker.mass_kg * GRAVITY)
    for side in (0, 1):
        for span, low, high in (((0.11, 0.15), 1.05, 1.3), ((0.30, 0.32), 0.6, 0.9), ((0.46, 0.50), 1.05, 1.3)):
            for _, instants in example.stances(side, *span):
                assert low < force[instants, side, 1].mean() < high
        assert all((force[instants, side, 0] < -0.1).all() for _, instants in example.stances(side, 0.08, 0.12))
        assert all((force[instants, side, 0] > 0.1).all() for _, instants in example.stances(side, 0.47, 0.52))


# ---- within the bands of Schwartz et al. (2008)

PEOPLE = reference_of((SHIPPED / "schwartz2008.csv").read_text(encoding="utf-8"), where="schwartz2008.csv")
OF_PLANES = ("joint_angle", "joint_moment_jcs", "pelvis_angle")  # flexion and adduction of the body's planes
LATE_STANCE = slice(40, 61)  # percent of the cycle


def deviations(curve_of: Callable[[Key], Array], speed: float) -> Array:
    """Return by how many standard deviations the sagittal and frontal mean curves (101,) differ; moments in stance."""
    found = []
    for key, (phase, mean, sd) in at_speed(PEOPLE, speed).items():
        if key[0] in OF_PLANES and key[-1] in ("flexion", "adduction"):
            stance_only = key[0] == "joint_moment_jcs"
            away = (curve_of(key)[np.array(phase, int)] - mean) / sd
            found.append(away[np.array(phase) <= 60] if stance_only else away)
    assert len(found) == 7 + 5
    return np.concatenate(found)


def is_of_people(curve_of: Callable[[Key], Array], speed: float) -> None:
    """Assert what is asked of a walk of people."""
    away = np.abs(deviations(curve_of, speed))
    assert (away <= 2).mean() >= 0.95
    assert away.max() <= 3
    # N m/kg, flexor: .6 to .75 in the mean of people at these speeds, standard deviation .2
    assert 0.4 < curve_of(("joint_moment_jcs", "hip", "flexion"))[LATE_STANCE].max() < 0.9


@dataclass(frozen=True)
class Stride:
    """One stride of the right foot of a regular walk; ``time`` has ten instants per percent."""

    walk: Walk
    time: Array
    bodies: Motion
    feet: Ground


@pytest.fixture(scope="module", params=study.GAITS, ids="-".join)
def stride(request: pytest.FixtureRequest) -> Stride:
    who, condition = request.param
    walk = plan_walk(WALKERS[who], replace(study.GAITS[who, condition], irregularity=0.0, first_foot=1))
    first, last = (walk.strike[walk.number == number][0] for number in (0, 2))
    time, bodies = np.linspace(first, last, 1001), motion(walk)
    return Stride(walk, time, bodies, ground(walk, bodies(time), time))


def test_a_regular_walk_is_that_of_people(stride: Stride) -> None:
    body, walker = stride.bodies(stride.time), stride.walk.walker
    wrenches = joint_wrenches(stride.bodies, stride.time, segment_parameters(walker), stride.feet)
    pelvis = np.repeat(body.pelvis_rotation[:, None, None], 2, axis=1)
    chain = np.swapaxes(np.concatenate([body.rotation, pelvis], axis=2), -1, -2)
    axes = joint_angles.axes(chain[:, :, 1:], chain[:, :, :3])
    moment = np.einsum("tsjai,tsji->tsja", axes, wrenches.moment) * joint_angles.SIGNS / walker.mass_kg
    of_joints = {"joint_angle": joint_angles.joint_angles(chain, "isb", 0.1), "joint_moment_jcs": moment}
    of_pelvis = joint_angles.pelvis_angles(chain[:, :, 3], 0.1)

    def curve_of(key: Key) -> Array:
        angle = ("flexion", "adduction").index(key[-1])
        curve = of_joints[key[0]][:, 1, JOINTS.index(key[1]), angle] if key[0] in of_joints else of_pelvis[:, 1, angle]
        return np.asarray(curve[::10])

    is_of_people(curve_of, stride.walk.gait.speed_m_s / np.sqrt(GRAVITY * walker.leg_m))


def test_a_regular_walk_keeps_its_speed_and_is_carried_by_its_forces(stride: Stride) -> None:
    walker = stride.walk.walker
    share = stride.feet.force[:-1].sum(axis=1) / (walker.mass_kg * GRAVITY)
    assert np.abs(share[:, 0].mean()) < 0.01
    # trunk, head and arms count with the hips
    parameters, body = segment_parameters(walker), stride.bodies(stride.time)
    legs = np.einsum("sk,tski->ti", parameters.mass, mass_centres(body, parameters))
    rest = walker.mass_kg - parameters.mass.sum()
    height = ((legs + rest * body.centre[:, :, 2].mean(axis=1)) / walker.mass_kg)[:, 1]
    rises = np.gradient(np.gradient(height, stride.time), stride.time)[2:-2] / GRAVITY
    # they move against the hips by some millimetres, and smoother: the check of the workflow doubts below half
    assert 0.7 < share[2:-1, 1].std() / rises.std() < 1.2
    assert np.corrcoef(share[2:-1, 1], rises)[0, 1] > 0.6


def test_mean_curves_that_a_run_computes_are_those_of_people(run_of_two: Path) -> None:
    computed = netcdf.load(run_of_two / "data/demo/derived/study.nc")
    for who, condition in study.GAITS:
        mine = computed.isel(cycle=((computed.participant == who) & (computed.condition == condition)).values)
        assert mine.sizes["cycle"] > 1

        def curve_of(key: Key, mine: xr.Dataset = mine) -> Array:
            labels = dict(zip(("angle", "joint"), key[:0:-1], strict=False))
            return np.asarray(mine[key[0]].sel(labels).mean("cycle"))

        is_of_people(curve_of, float(mine["walking_speed_dimensionless"].median()))


# ---- feet on the ground


def sole_points(example: Example) -> tuple[Array, Array]:
    """Return position and velocity (time, side, point, 3) of points along both arcs of the sole."""
    walker, turn = example.walk.walker, np.radians(np.arange(91))
    arcs = [
        np.stack([place + sign * radius * np.sin(turn), radius * (1 - np.cos(turn)), 0 * turn], axis=-1)
        for (place, radius), sign in ((HEEL_ARC, -1), (BALL_ARC, 1))
    ]
    from_ankle = walker.foot_m * np.concatenate(arcs) - (0, walker.ankle_height_m, 0)
    in_foot = np.stack([from_ankle @ foot_in_sole(walker, side) for side in (0, 1)])

    def at(time: Array) -> Array:
        body = example.bodies(time)
        return np.asarray(body.centre[:, :, :1] + np.einsum("tsij,spj->tspi", body.rotation[:, :, 0], in_foot))

    return at(example.time), (at(example.time + STEP_S) - at(example.time - STEP_S)) / (2 * STEP_S)


def test_feet_never_sink_and_never_slide(example: Example) -> None:
    points, velocity = sole_points(example)
    lowest = points[..., 1].min(axis=-1)
    # the foot changes from heel arc to ball arc while its smoothed pitch is not exactly zero
    assert lowest.min() > -0.001
    touching = np.take_along_axis(velocity, points[..., 1].argmin(axis=-1)[..., None, None], axis=2)[:, :, 0]
    for side in (0, 1):
        for _, instants in example.stances(side, 0.02, 0.60):
            assert lowest[instants, side].max() < 0.003
        # take-off is smooth and starts slightly before foot off; the foot swings at 4 m/s
        for _, instants in example.stances(side, 0.03, 0.56):
            assert np.linalg.norm(touching[instants, side], axis=-1).max() < 0.05
        swings = example.stances(side, 0.72, 0.90)
        assert all(lowest[instants, side].min() > 0.008 for _, instants in swings)


def test_flat_foot_is_at_rest_on_its_footprint(example: Example) -> None:
    for side in (0, 1):
        for step, instants in example.stances(side, 0.19, 0.21):
            expected = example.walk.place[step] + (0, example.walk.walker.ankle_height_m, 0)
            assert example.body.centre[instants, side, 0] == pytest.approx(
                np.tile(expected, (instants.sum(), 1)), abs=1e-6
            )


def test_pressure_travels_from_heel_to_toe_inside_the_sole(example: Example) -> None:
    for side, outwards in ((0, -1), (1, 1)):
        for step, instants in example.stances(side, 0.0, 0.62):
            away = example.feet.pressure_centre[instants, side] - example.walk.place[step]
            away = away[np.isfinite(away).all(axis=1)] / example.walk.walker.foot_m
            yaw = example.walk.yaw[step]
            ahead = away[:, 0] * np.cos(yaw) - away[:, 2] * np.sin(yaw)
            aside = outwards * (away[:, 0] * np.sin(yaw) + away[:, 2] * np.cos(yaw))
            assert (np.diff(ahead) > 0).all()
            assert (ahead > SOLE[:, 0].min()).all()
            assert (ahead < SOLE[:, 0].max()).all()
            assert (np.abs(aside) < 0.16).all()


# ---- a body of segments


def test_segments_are_rigid_and_meet_in_their_joints(example: Example) -> None:
    walker = example.walk.walker
    paths = marker_paths(walker, example.body, medial=True)
    clusters = {
        name: [label for label in paths if label[0] in sides and label[1:] in labels]
        for name, sides, labels in (
            ("pelvis", "LR", ("ASI", "PSI")),
            *((f"thigh {s}", s, ("TH1", "TH2", "TH3", "TH4", "LEK", "MEK")) for s in "LR"),
            *((f"shank {s}", s, ("SK1", "SK2", "SK3", "SK4", "LML", "MML")) for s in "LR"),
            *((f"foot {s}", s, ("HEE", "MT1", "MT2", "MT5")) for s in "LR"),
        )
    }
    for labels in clusters.values():
        assert len(labels) >= 4
        points = np.stack([paths[label] for label in labels], axis=1)
        distances = np.linalg.norm(points[:, :, None] - points[:, None], axis=-1)
        assert np.ptp(distances, axis=0).max() < 1e-12  # rounding of metres
    for side, s in enumerate("LR"):
        knee = (paths[f"{s}LEK"] + paths[f"{s}MEK"]) / 2
        assert knee == pytest.approx(example.body.centre[:, side, 1], abs=1e-12)
        ankle = (paths[f"{s}LML"] + paths[f"{s}MML"]) / 2
        assert ankle == pytest.approx(example.body.centre[:, side, 0], abs=1e-12)


def test_hip_follows_harrington_from_the_pelvis_markers(example: Example) -> None:
    paths = marker_paths(example.walk.walker, example.body, medial=False)
    right, left = paths["RASI"], paths["LASI"]
    origin, back = (right + left) / 2, (paths["RPSI"] + paths["LPSI"]) / 2
    width = np.linalg.norm(right - left, axis=-1, keepdims=True)
    depth = np.linalg.norm(origin - back, axis=-1, keepdims=True)
    z, x = (right - left) / width, (origin - back) / depth
    y = np.cross(z, x)
    for side, sign in enumerate((-1, 1)):
        hip = origin + (-0.24 * depth - 0.0099) * x + (-0.30 * width - 0.0109) * y + sign * (0.33 * width + 0.0073) * z
        assert hip == pytest.approx(example.body.centre[:, side, 2], abs=1e-12)


# ---- mechanics


def test_mean_ground_force_over_a_stride_is_the_weight(example: Example) -> None:
    first, last = (example.walk.strike[example.walk.number == number][0] for number in (0, 2))
    force = example.feet.force[(example.time >= first) & (example.time < last)].sum(axis=1).mean(axis=0)
    # with irregular steps, speed and height change slightly over a stride: 3 %
    assert force / (example.walk.walker.mass_kg * GRAVITY) == pytest.approx([0, 1, 0], abs=0.03)


def rate(values_at: Callable[[Array], Array], time: Array) -> Array:
    """Return the time derivative, central differences of sixth order."""
    weights = zip((-3, -2, -1, 1, 2, 3), np.array([-1, 9, -45, 45, -9, 1]) / (60 * STEP_S), strict=True)
    return np.asarray(np.sum([weight * values_at(time + k * STEP_S) for k, weight in weights], axis=0))


def energy(example: Example, time: Array) -> Array:
    """Return kinetic and potential energy (time, side) of foot, shank and thigh together."""
    parameters = segment_parameters(example.walk.walker)
    rotation, centres = example.bodies(time).rotation, mass_centres(example.bodies(time), parameters)
    velocity = rate(lambda t: mass_centres(example.bodies(t), parameters), time)
    omega = axial(rate(lambda t: example.bodies(t).rotation, time) @ np.swapaxes(rotation, -1, -2))
    local = np.einsum("tskji,tskj->tski", rotation, omega)
    turning = np.einsum("tski,skij,tskj->tsk", local, parameters.inertia, local)
    linear = parameters.mass * ((velocity**2).sum(axis=-1) / 2 + GRAVITY * centres[..., 1])
    return np.asarray((linear + turning / 2).sum(axis=-1))


def test_power_into_a_leg_changes_its_energy(example: Example) -> None:
    wrenches, omega = example.wrenches, example.wrenches.angular_velocity
    joint_velocity = rate(lambda t: example.bodies(t).centre, example.time)
    against_proximal = omega - np.concatenate([omega[:, :, 1:], 0 * omega[:, :, :1]], axis=2)
    power = (wrenches.force[:, :, 2] * joint_velocity[:, :, 2]).sum(axis=-1)
    power += (wrenches.moment * against_proximal).sum(axis=(-1, -2))
    arm = np.nan_to_num(example.feet.pressure_centre) - example.body.centre[:, :, 0]
    pressed = joint_velocity[:, :, 0] + np.cross(omega[:, :, 0], arm)
    power += (example.feet.force * pressed).sum(axis=-1) + example.feet.free_moment * omega[:, :, 0, 1]
    # W; the error of the differences is 1e-5 of the largest power
    assert np.abs(power).max() > 100
    assert power == pytest.approx(rate(lambda t: energy(example, t), example.time), abs=2e-3)


def test_answer_does_not_depend_on_the_difference_step(example: Example) -> None:
    parameters = segment_parameters(example.walk.walker)
    finer = joint_wrenches(example.bodies, example.time, parameters, example.feet, step_s=STEP_S / 2)
    # N m and N: negligible for any moment of interest
    assert finer.moment == pytest.approx(example.wrenches.moment, abs=1e-4)
    assert finer.force == pytest.approx(example.wrenches.force, abs=1e-4)
