"""Errors of linked legs by their linearisation, against fits of the whole step to markers and legs with the errors."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

from pipeline.body.legs import Legs, legs_of
from pipeline.conventions import CHAIN, SEGMENTS, SIDES
from pipeline.signals.splines import angular_rates, derivatives
from pipeline.trials.session import join_trials
from pipeline.uncertainty.drawn_motion import with_errors
from pipeline.uncertainty.error_draws import DrawnFrom
from pipeline.uncertainty.linked_legs import LinkedDraws, LinkedLegs
from tests.support.settings import settings_of
from tests.support.steps import kinematics
from tests.support.studies.noisy_copies import SIZES
from tests.support.walks.person import GRAVITY, Array, Landmarks, body_model, cleaned, landmarks, walk
from tests.support.walks.person_on_ground import CALIBRATION, ground

TIME = np.arange(120) / 100
MODEL = body_model("isb_clusters")
BALLS = {"hip": "ball", "knee": "ball", "ankle": "ball"}
FIXED = {"hip": "ball", "knee": "universal", "ankle": "flexion_rotation"}
SMALL = 1e-4  # rad, and 0.3 of it m: second order is a thousandth of the first
DISTAL = np.array([[0, 1, 2]] * 2)


def fitted(points: Landmarks, calibration: xr.Dataset = CALIBRATION, types: dict[str, str] | None = None) -> xr.Dataset:
    settings = settings_of("kinematics", method="linked", joint_types=types or BALLS)
    moved = kinematics(cleaned(MODEL, points, TIME), calibration, body_model=MODEL, settings=settings)
    return join_trials({"walk": moved.assign_attrs(marker_cutoff_hz=10.0, source_sha256="a")})


def legs(motion: xr.Dataset, calibration: xr.Dataset = CALIBRATION) -> Legs:
    contacts = join_trials({"walk": ground(TIME).assign_coords(time=TIME)})
    return legs_of(motion, contacts, calibration, gravity_m_s2=GRAVITY, smallest_floating_axis=0.1)


def points_of(types: dict[str, str] = BALLS) -> Landmarks:
    """Return the markers of a walk with these joints: each in its place, so that a fit leaves no residual."""
    points = dict(landmarks(walk(TIME)))
    if types == BALLS:
        return points
    found, owned = fitted(points, types=types), CALIBRATION
    of = legs(found)
    hips = np.einsum("tba,b->ta", of.rotation[:, 0, 3], owned.joint_link.values[0, 2])
    rows = zip(owned.fixed_side.values, owned.fixed_segment.values, owned.fixed_marker.values, strict=True)
    for (side, segment, name), place in zip(rows, owned.fixed_position.values, strict=True):
        i, j = SIDES.index(side), SEGMENTS.index(segment)
        origin = of.centre[:, i, j] if segment in CHAIN else of.centre[:, 0, 2] - hips
        points[name] = origin + np.einsum("tba,b->ta", of.rotation[:, i, j], place)
    return points


def differences(one: xr.Dataset, other: xr.Dataset) -> tuple[Array, Array]:
    """Return turn and shift of the joint centres from one motion to another, in segment axes of the first."""
    before, after = (legs(each) for each in (one, other))
    turn = Rotation.from_matrix((before.rotation @ np.swapaxes(after.rotation, -1, -2)).reshape(-1, 3, 3)).as_rotvec()
    shift = np.einsum("tsjab,tsjb->tsja", before.rotation[:, :, :3], after.centre - before.centre)
    return turn.reshape(before.rotation.shape[:-1]), shift


def misplaced(calibration: xr.Dataset, axes: Array, centres: Array) -> xr.Dataset:
    """Return the calibration of a static trial that errs by axes (side, segment, 3) and centres (side, joint, 3)."""
    model = calibration.copy(deep=True)
    poses = [model.pose.values.tolist().index(name) for name in SEGMENTS]
    static = model.static_rotation.values[:, poses]
    for i, side in enumerate(SIDES):
        for j, segment in enumerate(SEGMENTS):
            into = Rotation.from_rotvec(-axes[i, j]).as_matrix()
            origin = centres[i, j] if segment in CHAIN else np.zeros(3)
            for owner, place in (("fixed", "fixed_position"), ("cluster", "cluster_position")):
                mine = (model[f"{owner}_side"].values == side) & (model[f"{owner}_segment"].values == segment)
                model[place].values[mine] = (model[place].values[mine] - origin) @ into.T
            if j:  # the joint at its distal end, or of the pelvis
                moved = static[i, j] @ static[i, j - 1].T @ centres[i, j - 1]
                model.joint_link.values[i, j - 1] = into @ (model.joint_link.values[i, j - 1] + moved - origin)
            model.static_rotation.values[i, poses[j]] = into @ static[i, j]
    return model


def agree(found: tuple[Array, Array], expected: tuple[Array, Array], share: float) -> None:
    for one, other in zip(found, expected, strict=True):
        assert np.abs(other).max() > 1e-5
        assert np.abs(one - other).max() < share * np.abs(other).max()


@pytest.mark.parametrize("types", [BALLS, FIXED])
def test_errors_of_markers_move_the_legs_as_a_fit_does(types: dict[str, str]) -> None:
    rng = np.random.default_rng(1)
    before = fitted(points_of(types), types=types)
    linkage = LinkedLegs(legs(before), before, CALIBRATION)
    named = before.marker.values.tolist()
    off = {name: 0.3 * SMALL * rng.standard_normal((len(TIME), 3)) for name in named}
    points = {name: where + off.get(name, 0) for name, where in points_of(types).items()}
    errors = np.stack([off[name] for name in linkage.names], axis=1)
    none = np.zeros((len(TIME), 2, 4, 3))
    found = linkage.respond(errors, none, none[0], np.zeros((2, 3, 3)))
    agree(found, differences(before, fitted(points, types=types)), 0.01)


def test_skin_that_turns_a_segment_is_averaged_out_by_the_others() -> None:
    """The clusters turn about their middles; the thigh follows its own by less than half."""
    rng = np.random.default_rng(2)
    before, points = fitted(points_of()), points_of()
    of = legs(before)
    turn = SMALL * rng.standard_normal((len(TIME), 2, 4, 3))
    turn[:, 1, 3] = turn[:, 0, 3]
    for i, side in enumerate(SIDES):
        for j, segment in enumerate(SEGMENTS):
            mine = (CALIBRATION.cluster_side == side) & (CALIBRATION.cluster_segment == segment)
            place = CALIBRATION.cluster_position.values[mine.values]
            names = CALIBRATION.cluster_marker.values[mine.values].tolist()
            for name, arm in zip(names, place - place.mean(axis=0), strict=True):
                moved = np.einsum("tba,tb->ta", of.rotation[:, i, j], np.cross(turn[:, i, j], arm))
                label = name if name in points else f"{name}_{side}"
                if segment != "pelvis" or i == 0:
                    points[label] = points[label] + moved
    linkage = LinkedLegs(of, before, CALIBRATION)
    still = np.zeros((len(TIME), linkage.markers, 3))
    found = linkage.respond(still, turn, np.zeros((2, 4, 3)), np.zeros((2, 3, 3)))
    agree(found, differences(before, fitted(points)), 0.01)
    follows = found[0][:, :, 2, 2].std() / turn[:, :, 2, 2].std()
    assert follows < 0.5


@pytest.mark.parametrize("types", [BALLS, FIXED])
def test_errors_of_the_static_trial_move_the_legs_as_a_fit_with_them_does(types: dict[str, str]) -> None:
    """Of axes and joint centres at once; with fixed angles the axes pull the markers."""
    rng = np.random.default_rng(3)
    axes, centres = SMALL * rng.standard_normal((2, 4, 3)), 0.3 * SMALL * rng.standard_normal((2, 3, 3))
    axes[1, 3] = axes[0, 3]
    before = fitted(points_of(types), types=types)
    linkage = LinkedLegs(legs(before), before, CALIBRATION)
    still = np.zeros((len(TIME), linkage.markers, 3))
    found = linkage.respond(still, np.zeros((len(TIME), 2, 4, 3)), axes, centres)
    after = fitted(points_of(types), misplaced(CALIBRATION, axes, centres), types)
    agree(found, differences(before, after), 0.01)


def test_rates_with_errors_are_the_derivatives_of_the_legs_with_errors() -> None:
    """Of all sources in their own sizes: a spline of the errors beside one of the motion with them."""
    motion = fitted(points_of())
    of = legs(motion)
    draws = LinkedDraws(of, DrawnFrom(1, SIZES, CALIBRATION, motion, np.array([1.0]), np.array([[0.1, 0.6]])))
    drawn = with_errors(of, draws.errors(0), DISTAL, 0.1)
    rates = {
        "spin": (of.spin, drawn.spin, *(spins(each.rotation)[0] for each in (of, drawn))),
        "spin_rate": (of.spin_rate, drawn.spin_rate, *(spins(each.rotation)[1] for each in (of, drawn))),
        "velocity": (of.com_velocity, drawn.com_velocity, *(derivatives(each.com, TIME)[0] for each in (of, drawn))),
        "acceleration": (
            of.com_acceleration, drawn.com_acceleration, *(derivatives(each.com, TIME)[1] for each in (of, drawn)),
        ),
    }  # fmt: skip
    for name, (before, after, derived_before, derived_after) in rates.items():
        stated, derived = ((b - a)[10:-10] for a, b in ((before, after), (derived_before, derived_after)))
        assert np.abs(stated - derived).max() < 0.02 * np.abs(derived).max(), name


def spins(rotation: Array) -> list[Array]:
    """Return angular velocity and acceleration in lab axes by derivatives."""
    rates = angular_rates(rotation, *derivatives(rotation, TIME))
    return [np.einsum("...ji,...j->...i", rotation, local) for local in rates]
