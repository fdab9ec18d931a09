"""Effective foot mass: closed forms, and an impulse on three jointed bodies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from pipeline.body.effective_mass import effective_foot_mass
from pipeline.body.legs import Legs
from pipeline.conventions import SIDES
from pipeline.dynamics.screws import spatial_inertia
from pipeline.dynamics.vectors import skew
from pipeline.plates.incline import VERTICAL
from pipeline.steps.cycles.cut_trial import Inputs
from pipeline.steps.cycles.step import mass_at_strikes
from tests.support.walks.person import Array, landmarks, standing, walk
from tests.support.walks.person_on_ground import CALIBRATION, TIME, UP, ground, legs, moving

HEEL = np.array([-0.05, -0.07, 0.01])
SINGULAR = 1e-6  # relative: M has condition numbers of some 1e4 to 1e6, in lab axes 10 m from the origin


@pytest.fixture(scope="module")
def own() -> Legs:
    return legs()


@pytest.fixture(scope="module")
def heel(own: Legs) -> Array:
    """Return a point below the ankle that moves with it."""
    return np.asarray(own.centre[:, :, 0] + HEEL)


@pytest.fixture(scope="module")
def upright() -> Legs:
    """Return straight, vertical legs, with all segment axes along those of the lab."""
    points = standing(20)
    return legs(moving(points, time=TIME[:20]), ground(TIME[:20]))


def tensors(own: Legs) -> Array:
    """Return tensors about the centres of mass in lab axes, foot first."""
    turn = own.rotation[:, :, :3]
    return np.asarray(np.swapaxes(turn, -1, -2) @ own.inertia @ turn)


# ---- closed forms


def test_an_impact_that_moves_no_hinge_affects_no_other_leg(upright: Legs) -> None:
    """One leg is struck exactly along its line, the other is not."""
    exact = replace(upright, axes=np.round(upright.axes, 6), centre=np.round(upright.centre, 6))
    place = exact.centre[:, :, 0] + [0.1, -0.07, 0]
    expected = effective_foot_mass(exact, place, VERTICAL)
    place[:, 0] = exact.centre[:, 0, 0] - 0.07 * UP
    found = effective_foot_mass(exact, place, VERTICAL)
    np.testing.assert_array_equal(found[:, 1], expected[:, 1])
    assert np.isnan(found[:, 0]).all()


# ---- another formulation


def test_is_the_impulse_divided_by_the_velocity_after_it(own: Legs, heel: Array) -> None:
    """No joint axes and no Jacobian: three free bodies, an impulse of 1 N s under the foot, impulses in the joints.

    Unknown are the twists of foot, shank and thigh at their centres of mass and the impulses at ankle, knee and hip.
    """
    count = own.mass.shape[:1]
    matrix, right = np.zeros((len(TIME), *count, 27, 27)), np.zeros((len(TIME), *count, 27))
    for i in range(3):
        body, joint = slice(6 * i, 6 * i + 6), slice(18 + 3 * i, 21 + 3 * i)
        matrix[..., body, body] = spatial_inertia(own.mass[:, i], 0 * own.com[:, :, i], tensors(own)[:, :, i])
        # velocity of the body at its proximal joint minus that of the next body (the pelvis is fixed)
        for segment, sign in ((i, 1), (i + 1, -1)):
            if segment < 3:
                arm = own.centre[:, :, i] - own.com[:, :, segment]
                of = slice(6 * segment, 6 * segment + 6)
                row = sign * np.concatenate([-skew(arm), np.broadcast_to(np.eye(3), (*arm.shape, 3))], axis=-1)
                matrix[..., joint, of] = row
                matrix[..., of, joint] = np.swapaxes(row, -1, -2)
    blow = heel - own.com[:, :, 0]
    right[..., :3], right[..., 3:6] = np.cross(blow, UP), UP
    twist = np.linalg.solve(matrix, right[..., None])[..., 0]
    velocity = twist[..., 3:6] + np.cross(twist[..., :3], blow)
    np.testing.assert_allclose(effective_foot_mass(own, heel, VERTICAL), 1 / velocity[..., 1], rtol=SINGULAR)


# ---- symmetries


# ---- missing data


def test_hidden_segments_and_points_affect_their_instants_and_side_only(own: Legs, heel: Array) -> None:
    whole = effective_foot_mass(own, heel, VERTICAL)
    com, place, locked = own.com.copy(), heel.copy(), own.locked.copy()
    com[10:20, 0, 1] = place[30:40, 1] = np.nan
    locked[50:60, 1, 2] = True
    found = effective_foot_mass(replace(own, com=com, locked=locked), place, VERTICAL)
    lost = np.zeros(whole.shape, dtype=bool)
    lost[10:20, 0] = lost[30:40, 1] = lost[50:60, 1] = True
    np.testing.assert_array_equal(np.isnan(found), lost)
    np.testing.assert_array_equal(found[~lost], whole[~lost])


def test_a_leg_without_inertia_has_no_effective_mass(own: Legs, heel: Array) -> None:
    light = replace(own, mass=own.mass * 0, inertia=own.inertia * 0)
    assert np.isnan(effective_foot_mass(light, heel, VERTICAL)).all()


# ---- foot strikes


def marked(heel: Array, toe: Array) -> xr.Dataset:
    """Return heels and toes (time, side, 3) as a dataset of the step ``clean``."""
    position = np.concatenate([heel, toe], axis=1)
    names = [f"{name}_{side}" for name in ("heel", "toe") for side in SIDES]
    return xr.Dataset(
        {"marker_position": (("time", "marker", "axis"), position)},
        {"time": TIME, "marker": names, "axis": list("xyz")},
    )


def struck(strikes: list[tuple[str, float]], motion: xr.Dataset, clean: xr.Dataset) -> Array:
    """Return the effective mass at strikes, each a side and an instant in s."""
    frames = np.array([np.abs(instant - TIME).argmin() for _, instant in strikes], dtype=int)
    row = np.array([SIDES.index(side) for side, _ in strikes], dtype=int)
    floating = np.array([motion.attrs["smallest_floating_axis"]])
    motion = motion.assign(smallest_floating_axis=("trial", floating))
    session = Inputs(xr.Dataset(), motion, ground(), clean, CALIBRATION)
    return mass_at_strikes(session, frames, row)


def test_the_mass_is_that_of_the_lower_of_heel_and_toe(own: Legs, heel: Array) -> None:
    """A heel strike of the left and a forefoot strike of the right, each at its own instant."""
    motion = moving(landmarks(walk(TIME)))
    toe = heel + np.array([0.2, 0.03, 0])
    toe[:, 1, 1] -= 0.06
    strikes = [("right", 0.2), ("left", 0.404), ("right", 0.7)]
    found = struck(strikes, motion, marked(heel, toe))
    by_heel, by_toe = effective_foot_mass(own, heel, VERTICAL), effective_foot_mass(own, toe, VERTICAL)
    np.testing.assert_allclose(found, [by_toe[40, 1], by_heel[81, 0], by_toe[140, 1]], rtol=SINGULAR)
    assert found[0] != pytest.approx(by_heel[40, 1], rel=0.01)


def test_a_foot_without_toe_marker_strikes_with_its_heel(own: Legs, heel: Array) -> None:
    motion, clean = moving(landmarks(walk(TIME))), marked(heel, heel - 1)
    found = struck([("right", 0.2), ("left", 0.2)], motion, clean.drop_sel(marker="toe_right"))
    assert found[0] == pytest.approx(effective_foot_mass(own, heel, VERTICAL)[40, 1], rel=SINGULAR)
    assert found[1] == pytest.approx(effective_foot_mass(own, heel - 1, VERTICAL)[40, 0], rel=SINGULAR)


def test_a_strike_of_a_foot_that_is_not_seen_has_no_mass(own: Legs, heel: Array) -> None:
    motion, clean = moving(landmarks(walk(TIME))), marked(heel, heel + 1)
    clean.marker_position.values[40, [1, 3]] = np.nan
    found = struck([("left", 0.2), ("right", 0.2)], motion, clean)
    np.testing.assert_array_equal(np.isnan(found), [False, True])
    assert struck([], motion, clean).shape == (0,)
