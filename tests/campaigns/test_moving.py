"""Every way of moving: that the generator obeys mechanics and moves as people do, and the stances found in it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.campaigns.moving_campaign import Judged, judged
from tests.support.checkout import FULL
from tests.support.walks import moving_person
from tests.support.walks.moving_on_plates import VALID, Recorded, measured, recorded
from tests.support.walks.moving_person import GRAVITY, markers
from tests.support.walks.moving_sessions import PARTICLE_MASS, particles, placed, turning
from tests.support.walks.ways_of_moving import WAYS, planned

SEEDS = (0, 1, 2) if FULL else (0,)
CLEAN = range(100, 150 if FULL else 106)
CLEAN_OF = {
    "limping": range(100, 150 if FULL else 112),
    "curved": range(100, 150 if FULL else 108),
}  # few stances are valid


@pytest.fixture(scope="module", params=[(way, seed) for way in WAYS for seed in SEEDS], ids=str)
def walk(request: pytest.FixtureRequest) -> Recorded:
    return recorded(*request.param)


@pytest.mark.parametrize("way", WAYS)
def test_forces_accelerate_the_whole_body_with_its_legs(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the sway and lean of the trunk, left out here, and the pelvis, which turns about the vertical."""
    for size in ("SWINGS_M", "LEAN_M"):
        monkeypatch.setattr(moving_person, size, 0.0)
    made = measured(planned(way, 0), np.random.default_rng(0), (250,), turning)
    plan, motion = made.plan, made.motion
    place, scale = placed(plan, motion, motion.time, made.rng)
    step_s = motion.time[1] - motion.time[0]
    mass = scale * np.einsum("tpi,p->ti", particles(place), PARTICLE_MASS)
    acceleration = np.gradient(np.gradient(mass, step_s, axis=0), step_s, axis=0)
    off = motion.force.sum(axis=0) / plan.person.mass_kg - [0, GRAVITY, 0] - acceleration
    here = slice(*motion.time.searchsorted([plan.strike[plan.inner.start], plan.off[plan.inner.stop - 1]]))
    assert np.sqrt((off[here] ** 2).sum(axis=1).mean()) < 0.08 * GRAVITY


def inner(walk: Recorded) -> slice:
    """Return the samples of the recorded steps."""
    plan, time = walk.plan, walk.motion.time
    return slice(*time.searchsorted([plan.strike[plan.inner.start], plan.off[plan.inner.stop - 1]]))


def test_forces_accelerate_the_mass(walk: Recorded) -> None:
    """Sum of the forces = m (a - g), with a from differences of the solution: exact but for rounding."""
    motion, mass_kg = walk.motion, walk.plan.person.mass_kg
    step_s = motion.time[1] - motion.time[0]
    acceleration = np.diff(motion.mass, n=2, axis=0) / step_s**2
    total = motion.force.sum(axis=0)[1:-1] / mass_kg - [0, GRAVITY, 0]
    # positions of some metres, rounded at 1e-15 and differentiated twice
    np.testing.assert_allclose(total, acceleration, rtol=0, atol=1e-6 + 1e-14 / step_s**2)


def test_forces_turn_the_body_a_little(walk: Recorded) -> None:
    """Their moment about the centre of mass, per weight and height, is that of published gait.

    Walking changes the angular momentum by up to 0.05 of weight times height (Herr & Popovic 2008: momenta of 0.05
    mass x speed x height that change at 1 to 2 Hz); running by several times that, as its forces are.
    """
    motion, person = walk.motion, walk.plan.person
    moment = np.cross(motion.pressed - motion.mass, motion.force).sum(axis=0)[inner(walk)]
    size = np.abs(moment).max() / (person.mass_kg * GRAVITY * person.height_m)
    assert size < (0.3 if walk.plan.spring else 0.1)


def test_people_are_people(walk: Recorded) -> None:
    """Speeds, forces in body weights, and where the feet are, lie in the ranges of published gait."""
    motion, plan, here = walk.motion, walk.plan, inner(walk)
    weight = plan.person.mass_kg * GRAVITY
    velocity = np.gradient(motion.mass, motion.time, axis=0)[here]
    speed = np.hypot(velocity[:, 0], velocity[:, 2])
    force = motion.force[plan.inner.start : plan.inner.stop] / weight
    running = plan.spring
    assert (1.8 if running else 0) < speed.mean() < (4.8 if running else 1.8)
    assert speed.std() < 0.25
    assert (1.8 if running else 0.95) < force[..., 1].max() < (3.5 if running else 1.8)
    assert np.hypot(force[..., 0], force[..., 2]).max() < (0.75 if running else 0.4)
    assert np.ptp(motion.mass[here, 1]) < (0.9 if plan.way.endswith("stairs") else 0.13)
    assert (force[..., 1] >= 0).all()
    total = motion.force[:, here, 1].sum(axis=0)
    assert (total.min() == 0) if running else (total.min() > 0.5 * weight)


def test_feet_rest_while_they_are_loaded_and_do_not_dig_into_the_ground(walk: Recorded) -> None:
    """The middle of the foot is still while flat, and soles stay above floor and treads within a centimetre."""
    plan, motion = walk.plan, walk.motion
    time = np.arange(motion.time[0], motion.time[-1], 0.005)
    paths = markers(plan, motion, time, np.random.default_rng(0))
    for step in plan.inner:
        side = "right" if plan.side[step] else "left"
        flat = (time > plan.strike[step] + 0.25 * (plan.off - plan.strike)[step]) & (
            time < plan.strike[step] + 0.45 * (plan.off - plan.strike)[step]
        )
        toe = paths[f"toe_{side}"][flat] + np.outer(time[flat], [plan.belt_m_s[plan.side[step]], 0, 0])
        assert np.ptp(toe, axis=0).max() < 0.02
        assert np.abs(paths[f"toe_{side}"][flat, 1] - plan.place[step, 1]).max() < 0.1
        pelvis = (paths["asis_left"] + paths["psis_right"])[flat] / 2
        leg = np.linalg.norm(pelvis - paths[f"ankle_{side}"][flat], axis=1)
        assert leg.min() / plan.person.height_m > 0.35
        assert leg.max() / plan.person.height_m < 0.62


def test_plates_measure_what_feet_press(walk: Recorded) -> None:
    """On valid stances the vertical force of their plates is the foot's, but for offset, noise and crosstalk."""
    for truth in walk.stances:
        if truth.verdict == VALID:
            rows = [number in truth.plates for number in walk.trial.plate.values]
            time = walk.trial.plate_time.values
            inside = (time > truth.start_s) & (time < truth.end_s)
            measured = walk.trial.plate_force.values[inside][:, rows, 1].sum(axis=1)
            late_s = truth.start_s - walk.plan.strike[truth.step]
            true = np.interp(time[inside] - late_s, walk.motion.time, walk.motion.force[truth.step, :, 1])
            assert np.std(measured - true) < 4 * len(truth.plates) + 0.01 * true.max()


@pytest.mark.parametrize("way", ["turning", "upstairs", "split belt"])
def test_a_file_gives_the_same_trial(way: str, tmp_path: Path) -> None:
    made, written = recorded(way, 4), recorded(way, 4, tmp_path)
    for name in ("marker_position", "plate_force", "plate_moment", "plate_corner"):
        np.testing.assert_allclose(
            written.trial[name], made.trial[name], rtol=0, atol=1e-3 if "plate_" in name else 1e-6
        )
    of_file = {name: written.trial.attrs[name] for name in ("static_results", "shown_sizes", "stored_angles")}
    assert written.trial.attrs == made.trial.attrs | of_file
    assert written.stances == made.stances


@cache
def clean_stances(way: str) -> list[Judged]:
    """Return the valid stances of clean walks."""
    return [
        each for seed in CLEAN_OF.get(way, CLEAN) for each in judged(recorded(way, seed)) if each.truth.verdict == VALID
    ]


@pytest.mark.parametrize("way", WAYS)
def test_clean_stances_are_used(way: str) -> None:
    """One of them in a hundred may be refused; here, of some tens of each way, one."""
    valid = clean_stances(way)
    assert len(valid) >= 5
    assert len([each for each in valid if each.reason]) <= max(1, len(valid) / 100)


@pytest.mark.parametrize("way", ["upstairs", "downstairs", "split belt"])
def test_every_foot_is_on_its_plate(way: str) -> None:
    """Treads overlap in plan; belts carry one foot each."""
    stances = clean_stances(way)
    assert len(stances) >= 3 * len(CLEAN)
    assert [each for each in stances if each.plates != each.truth.plates or each.reason] == []
