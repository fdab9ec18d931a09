"""Drawn people and their walks: they obey mechanics and are as people are; files and faults are what they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from pipeline.steps.read.recording_file import Source, read_recording
from pipeline.workflow.settings import CONFIG
from tests.campaigns.cut_walks import outcomes as cut_outcomes
from tests.campaigns.sound_walks import verdicts
from tests.support.drawn.dynamics import GRAVITY_M_S2, NUMBER, UP, State
from tests.support.drawn.people import SOURCES, Drawn, drawn_person
from tests.support.drawn.sessions import (
    WAYS,
    Sound,
    drawn_walk,
    foot_wrenches,
    joint_moments,
    sound_session,
    write_study,
)
from tests.support.drawn.spoiled import UNNOTICED, cut, faulty, frames_of, valid_contacts
from tests.support.drawn.walks import Walk
from tests.support.whole_body.jets import Jet
from tests.support.whole_body.motions import Moved
from tests.support.whole_body.person import BODIES, SIDES
from tests.support.whole_body.truth import truth_of

Array = NDArray[np.float64]

EXACT = 1e-9  # of weight, and of weight times height: double arithmetic in another order


@pytest.fixture(scope="module")
def ordinary() -> Sound:
    return sound_session(4, way="ordinary")


@pytest.fixture(scope="module", params=WAYS)
def walk(request: pytest.FixtureRequest) -> Walk:
    return drawn_walk(1, request.param)[1]


@pytest.fixture(scope="module")
def people() -> list[Drawn]:
    return [drawn_person(np.random.default_rng([seed, 5])) for seed in range(300)]


def recorded(walk: Walk, step_s: float) -> Array:
    """Return instants of the recorded steps."""
    inner = walk.plan.inner
    return np.arange(walk.plan.strike[inner.start], walk.plan.off[inner.stop - 1], step_s)


# --- mechanics -------------------------------------------------------------------------------------------------------


def axes_of(state: State) -> dict[str, Jet]:
    """Return the axes of all bodies with their derivatives."""

    def skew(vector: Array) -> Array:
        zero = 0 * vector[:, 0]
        x, y, z = vector.T
        return np.stack([np.stack(row, axis=1) for row in ((zero, -z, y), (z, zero, -x), (-y, x, zero))], axis=1)

    axes = {}
    for body, number in NUMBER.items():
        turn, spin = state.turn[:, number], skew(state.spin[:, number])
        axes[body] = Jet(turn, spin @ turn, (skew(state.spin_rate[:, number]) + spin @ spin) @ turn)
    return axes


def test_another_program_finds_the_same_loads(walk: Walk) -> None:
    """Pinocchio (recursive Newton-Euler): the ground's wrenches leave nothing over, and joints have these moments."""
    pytest.importorskip("pinocchio", reason="pinocchio (pip install pin) is not installed")
    time = recorded(walk, 0.09)
    state = walk.at(time)
    spline = walk.path.spline
    pelvis = Jet(*(spline(time, order)[:, :3] for order in range(3)))
    loads = walk.on_feet(time, state.ground, state.joint[:, 0])
    force, moment = foot_wrenches(walk, loads)
    poses = Moved(axes_of(state), pelvis, 0 * force, np.full(force.shape[:2], 0.5))
    known = truth_of(walk.person, poses, {"ground_force": force, "ground_moment": moment}, time)
    weight = walk.person.mass_kg * GRAVITY_M_S2
    assert np.abs(known.residual.values).max() < EXACT * weight * walk.person.height_m
    _, joints = state.leg_loads(force, moment)
    for number, side in enumerate(SIDES):
        for joint, name in enumerate(("ankle", "knee", "hip")):
            other = known.joint_moment.sel(joint=f"{name}_{side}").values
            np.testing.assert_allclose(joints[:, number, joint], other, rtol=0, atol=EXACT * weight)


def test_the_ground_changes_the_momentum(walk: Walk) -> None:
    """Over a second, the momentum changes by the integral of the ground's force and moment, and of gravity.

    Between two knots the motion is a polynomial: Gauss' rule with eight points integrates the loads to rounding.
    """
    start, stop = walk.path.spline.t.searchsorted(recorded(walk, 0.02)[[5, 55]])
    knots = walk.path.spline.t[start:stop]
    points, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(knots)[:, None] / 2
    time, steps = ((knots[:-1, None] + half * (points + 1)).ravel(), (half * weights).ravel())
    state, body = walk.at(time), walk.body
    loads = walk.on_feet(time, state.ground, state.joint[:, 0])
    force, moment = (part.sum(axis=1) for part in foot_wrenches(walk, loads))
    gravity = -walk.person.mass_kg * GRAVITY_M_S2 * UP
    linear, angular = walk.at(knots[[0, -1]]).momentum()
    weight_s = walk.person.mass_kg * GRAVITY_M_S2
    np.testing.assert_allclose(steps @ (force + gravity), np.diff(linear, axis=0)[0], rtol=0, atol=EXACT * weight_s)
    turned = steps @ (moment + np.cross(state.centre_of_mass, gravity))
    about = EXACT * weight_s * walk.person.height_m * 5  # some metres from the lab's origin
    np.testing.assert_allclose(turned, np.diff(angular, axis=0)[0], rtol=0, atol=about)
    assert len(body.mass) == len(BODIES)


def test_feet_press_under_their_soles_and_never_pull(walk: Walk) -> None:
    """The centre of pressure stays within the sole; its planned way is met within some millimetres."""
    time = recorded(walk, 0.005)
    state = walk.at(time)
    loads = walk.on_feet(time, state.ground, state.joint[:, 0])
    assert (loads.force[..., 1] >= 0).all()
    for step in walk.plan.inner:
        on = loads.force[step, :, 1] > 0.1 * walk.person.mass_kg * GRAVITY_M_S2
        ahead = np.array([np.cos(walk.plan.yaw[step]), 0, -np.sin(walk.plan.yaw[step])])
        along = (loads.pressed[step, on] - walk.plan.place[step]) @ ahead / walk.plan.person.foot_m
        assert along.min() > -0.30
        assert along.max() < 0.80
    assert np.abs(loads.pressed[..., 1]).max() == 0


def test_standing_feet_rest(walk: Walk) -> None:
    """While it is flat, a foot stays where it is, within a tenth of a millimetre, and no sole is below the floor."""
    for step in walk.plan.inner:
        if walk.plan.rolling[walk.plan.side[step]].heel_first:
            begin, length = walk.plan.strike[step], walk.plan.off[step] - walk.plan.strike[step]
            ankle = walk.at(begin + np.linspace(0.25, 0.4, 9) * length).joint[
                :, NUMBER[f"foot_{SIDES[walk.plan.side[step]]}"]
            ]
            assert np.ptp(ankle, axis=0)[[0, 2]].max() < 1e-3
            assert np.ptp(ankle, axis=0)[1] < 1e-2


def test_moments_are_the_same_elsewhere_in_the_lab(ordinary: Sound) -> None:
    """The exact moments of a file have its frames, and do not depend on where in the lab the person walks."""
    file, walk = next(iter(ordinary.walks.items()))
    assert ordinary.moments[file].shape == (len(ordinary.session.recordings[file].markers), 2, 3, 3)
    moved = walk.moved(np.array([3.0, 0.0, -1.0]))
    time = recorded(walk, 0.1)
    here, there = (joint_moments(one, one.at(time), time) for one in (walk, moved))
    np.testing.assert_allclose(here, there, rtol=0, atol=1e-8)


def test_plates_measure_what_feet_press(ordinary: Sound) -> None:
    """On valid stances the vertical channels of the plates are the foot's force, within gain, crosstalk and noise."""
    rates = ordinary.laboratory
    contacts = valid_contacts(ordinary)
    assert len(contacts) > 3
    for contact in contacts:
        walk, recording = ordinary.walks[contact.file], ordinary.session.recordings[contact.file]
        truth = next(
            one
            for one in ordinary.truths[contact.file]
            if one.side == contact.side and abs(one.start_s * rates.marker_hz - contact.first) < 2
        )
        per_frame = rates.analog_hz // rates.marker_hz
        samples = np.arange(contact.first * per_frame, contact.last * per_frame)
        time = samples / rates.analog_hz + walk.plan.strike[truth.step] - truth.start_s
        state = walk.at(time)
        pressed = walk.on_feet(time, state.ground, state.joint[:, 0]).force[truth.step, :, 1]
        measured = sum(recording.analog[samples, 6 * (number - 1) + 2] for number in contact.plates)
        assert np.std(measured + pressed) < 4 + 0.01 * pressed.max()  # the plates' z axis points down


# --- people ----------------------------------------------------------------------------------------------------------


def test_ordinary_walks_are_those_of_people() -> None:
    """Of people who walk freely, 95 % of the moments are within two standard deviations of the norm at their speed.

    Here it is more than 80 % of flexion moments in stance, of which those of the hip differ most.
    """
    norm = pd.read_csv(CONFIG / "normative" / "schwartz2008.csv").fillna("")
    norm = norm[(norm.variable == "joint_moment_jcs") & (norm.angle == "flexion") & (norm.phase < 62)]
    speeds = np.sort(norm.speed.unique())
    within = []
    for seed in range(10):
        drawn, walk = drawn_walk(seed, "ordinary")
        step = walk.plan.inner.start + 1
        side, (start, stop) = walk.plan.side[step], walk.plan.strike[[step, step + 2]]
        leg_m = drawn.whole.length("thigh_left") + drawn.whole.length("shank_left") + 0.04 * drawn.whole.height_m
        speed = np.linalg.norm(walk.plan.place[step + 2] - walk.plan.place[step]) / (stop - start)
        near = speeds[np.abs(speeds - speed / np.sqrt(GRAVITY_M_S2 * leg_m)).argmin()]
        time = start + (stop - start) * np.arange(0, 62, 2) / 100
        moments = joint_moments(walk, walk.at(time), time)[:, side] / drawn.whole.mass_kg
        for joint, name in enumerate(("ankle", "knee", "hip")):
            rows = norm[(norm.joint == name) & (norm.speed == near)]
            within += [*(np.abs(moments[:, joint, 0] - rows["mean"].to_numpy()) < 2 * rows["sd"].to_numpy())]
    assert np.mean(within) > 0.8


def test_people_differ_as_sources_and_people_do(people: list[Drawn]) -> None:
    """Shares of mass, centres of mass and sizes vary by what is published, about its mean."""
    share = np.array([[one.whole.mass[body] / one.whole.mass_kg for body in BODIES] for one in people])
    np.testing.assert_allclose(share.sum(axis=1), 1, rtol=1e-12)
    adults = np.array([one.age_years >= 18 for one in people])
    assert 0.15 < 1 - adults.mean() < 0.35
    thigh, trunk = (100 * share[adults][:, BODIES.index(name)] for name in ("thigh_right", "thorax"))
    published = np.array([*SOURCES.values()])
    assert published[:, 6].min() < thigh.mean() < published[:, 6].max()
    assert published[:, 1].min() < trunk.mean() < published[:, 1].max()
    assert 0.10 < thigh.std() / thigh.mean() < 0.25
    ahead = [one.whole.com["thorax"][0] - 0.41 * one.whole.waist_in_thorax[0] for one in people]
    assert 0.009 < np.std(ahead) < 0.014
    heights, masses = (np.array([getattr(one.whole, name) for one in people]) for name in ("height_m", "mass_kg"))
    assert heights.min() < 1.25
    assert heights.max() > 1.85
    assert masses.min() < 25
    assert masses.max() > 105
    legs = np.array(
        [(one.whole.length("thigh_left") + one.whole.length("shank_left")) / one.whole.height_m for one in people]
    )
    assert 0.01 < legs.std() < 0.03


def test_bodies_are_possible(people: list[Drawn]) -> None:
    """No moment of inertia is larger than the sum of the other two, and each is positive."""
    for one in people:
        for body in BODIES:
            first, second, third = np.linalg.eigvalsh(one.whole.tensor[body])
            assert first > 0
            assert third < (first + second) * (1 + 1e-9)


def test_markers_are_placed_differently_on_both_sides(people: list[Drawn]) -> None:
    """Palpation misses by 5 to 10 mm, each side for itself: sides differ by some 10 mm more than bones do."""
    off = []
    for one in people:
        (_, left), (_, right) = (one.markers[f"lateral_malleolus_{side}"] for side in SIDES)
        off.append(right - left * [1, 1, -1] - [0, one.whole.length("shank_left") - one.whole.length("shank_right"), 0])
    assert 0.007 < np.sqrt((np.array(off) ** 2).sum(axis=1).mean()) < 0.015


def test_equal_seeds_give_equal_sessions_and_others_other_ones(ordinary: Sound) -> None:
    again, other = sound_session(4, way="ordinary"), sound_session(5, way="ordinary")
    for file, recording in ordinary.session.recordings.items():
        np.testing.assert_array_equal(recording.markers, again.session.recordings[file].markers)
        np.testing.assert_array_equal(recording.analog, again.session.recordings[file].analog)
    assert again.session.participant == ordinary.session.participant != other.session.participant


# --- files, faults and cuts ------------------------------------------------------------------------------------------


def test_a_study_holds_what_was_drawn(ordinary: Sound, tmp_path: Path) -> None:
    """C3D files store single precision: 0.1 um at some metres, and 1e-7 of a moment in N mm."""
    write_study(tmp_path, ordinary.session)
    for file, recording in ordinary.session.recordings.items():
        written = read_recording(Source(tmp_path / file))
        assert written.labels == recording.labels
        np.testing.assert_allclose(written.markers, recording.markers, rtol=0, atol=1e-6)
        np.testing.assert_allclose(written.analog, recording.analog, rtol=1e-6, atol=1e-3)
        if recording.analog.size:
            for name in ("CORNERS", "ORIGIN"):
                np.testing.assert_allclose(
                    written.force_platform[name], recording.force_platform[name], rtol=1e-5, atol=1e-3
                )
    assert (tmp_path / "participants.tsv").read_text().splitlines()[0].startswith("participant_id\tmass_kg")
    assert len((tmp_path / "trials.tsv").read_text().splitlines()) == 1 + len(ordinary.session.recordings)


@pytest.mark.parametrize(("row", "dose"), UNNOTICED)
def test_every_unnoticed_fault_changes_the_walks_and_nothing_that_is_true(row: str, dose: str, ordinary: Sound) -> None:
    twin = faulty(ordinary, row, dose)
    assert twin is not None
    assert twin.touched
    changed = False
    for file in ordinary.session.walks:
        before, after = ordinary.session.recordings[file], twin.session.recordings[file]
        changed |= not np.array_equal(before.markers, after.markers) or not np.array_equal(before.analog, after.analog)
        changed |= not np.array_equal(before.force_platform["CORNERS"], after.force_platform["CORNERS"])
    assert changed


def test_tilted_markers_keep_their_distances_and_turn_by_the_dose(ordinary: Sound) -> None:
    twin = faulty(ordinary, "markers tilted against the plates", "2 degrees")
    assert twin is not None
    file = ordinary.session.walks[0]
    before, after = (one.recordings[file].markers[10] for one in (ordinary.session, twin.session))
    before, after = before - before.mean(axis=0), after - after.mean(axis=0)
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), np.linalg.norm(before, axis=1), rtol=0, atol=1e-12)
    u, _, vt = np.linalg.svd(before.T @ after)
    assert np.degrees(np.arccos((np.trace(u @ vt) - 1) / 2)) == pytest.approx(2, abs=1e-6)


def test_a_plate_out_of_level_turns_the_forces_by_the_dose(ordinary: Sound) -> None:
    twin = faulty(ordinary, "one plate out of level", "4 degrees")
    assert twin is not None
    contact = twin.touched[0]
    middle = int((contact.first + contact.last) / 2 * ordinary.laboratory.analog_hz / ordinary.laboratory.marker_hz)
    column = 6 * (contact.plates[0] - 1)
    before, after = (
        one.recordings[contact.file].analog[middle, column : column + 3] for one in (ordinary.session, twin.session)
    )
    assert np.linalg.norm(after) == pytest.approx(np.linalg.norm(before))
    angle = np.degrees(np.arccos(before @ after / np.linalg.norm(before) ** 2))
    assert 2 < angle <= 4 + 1e-6  # a force along the axis of the lean is not turned


def test_a_cut_leaves_the_rest_where_it_was(ordinary: Sound) -> None:
    for seed in range(4):
        part, file, first = cut(ordinary.session, seed)
        whole, left = ordinary.session.recordings[file], part.recordings[file]
        assert (first > 0) == (seed % 2 == 0)
        assert 0 < len(left.markers) < len(whole.markers)
        assert part.walks == [file]
        again = frames_of(whole, first, first + len(left.markers))
        np.testing.assert_array_equal(left.markers, again.markers)
        per_frame = round(whole.analog_rate_hz / whole.marker_rate_hz)
        assert len(left.analog) == per_frame * len(left.markers)
        np.testing.assert_array_equal(left.analog[0], whole.analog[first * per_frame])


# --- the campaigns ---------------------------------------------------------------------------------------------------


def test_sound_walks_of_drawn_people_have_verdicts() -> None:
    """Each is of a stance that is valid in truth, and most stances are used without a doubt."""
    found = verdicts(18)
    assert len(found) > 5
    assert np.mean([bool(one.refused or one.doubted) for one in found]) < 0.5


def test_cuts_are_compared_with_the_whole(ordinary: Sound) -> None:
    """A cut that removes nothing under the stances leaves their moments as they are, far from the ends."""
    found = cut_outcomes(ordinary.session, range(2))
    assert found
    assert all(one.compared > 0 or one.codes for one in found)
