"""Generated whole people through C3D files and all steps: trunk, head and arms, balance, the residual at the pelvis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.steps.kinematics.upper_body import BODIES
from pipeline.whole_body.skeleton import JOINTS, SEGMENTS
from tests.campaigns.test_whole_body_study import as_known
from tests.support.checkout import FULL
from tests.support.studies.run_steps import Session, run_study
from tests.support.whole_body.motions import MOTIONS
from tests.support.whole_body.person import Person, random_person
from tests.support.whole_body.study import write_study
from tests.support.whole_body.truth import GRAVITY_M_S2

pytest.importorskip("pinocchio", reason="pinocchio (pip install pin) is not installed")

SEEDS = (6, 21, 22) if FULL else (6,)
# Without filters, accelerations are those of quintic splines through 100 Hz. They miss the fastest waves of the feet a
# little, and are free at the ends. Found are up to .10 N m within and .42 N m at the ends.
INNER = slice(10, -10)
MOMENT_N_M, MOMENT_AT_ENDS_N_M = 0.2, 1.0
OF_WEIGHT = 5e-4
CENTRE_OF_MASS_MM = 0.01
CENTRE_M = 1e-6  # 32-bit numbers of the file are exact to 0.1 micrometres


class Found:
    """A person, what is true of the trials and what the steps find."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.person = folder, random_person(seed)
        self.known = write_study(folder, self.person, seed=seed)
        (self.session,) = run_study(folder, {}).values()

    def __iter__(self) -> Iterator[tuple[xr.Dataset, xr.Dataset, xr.Dataset]]:
        for trial, steps in self.session.trials.items():
            yield self.known[trial], steps["kinematics"], steps["kinetics"]


@pytest.fixture(scope="module")
def of_seed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Found]:
    """Return a function that gives what is found of a person, computed once."""
    return cache(lambda seed: Found(tmp_path_factory.mktemp("whole_body"), seed))


@pytest.fixture(scope="module", params=SEEDS)
def found(request: pytest.FixtureRequest, of_seed: Callable[[int], Found]) -> Found:
    return of_seed(request.param)


def test_every_motion_is_there(found: Found) -> None:
    assert {*found.session.trials} == {*MOTIONS}
    for _, kinematics, _ in found:
        assert (kinematics.upper_segment_seen == 1).all()


def test_legs_and_pressures_are_found(found: Found) -> None:
    as_known(found.session, found.known)


def test_masses_are_those_that_were_measured(found: Found) -> None:
    of, calibration = found.known["walk"], found.session.calibration
    mass = of.mass.sel(body=list(SEGMENTS)).values
    np.testing.assert_allclose(calibration.upper_segment_mass.values, mass, rtol=1e-10)
    whole = mass.sum() + calibration.pelvis_mass + calibration.segment_mass.values.sum()
    assert float(whole) == pytest.approx(found.person.mass_kg, rel=1e-10)


def test_centres_and_axes_are_found(found: Found) -> None:
    for of, kinematics, _ in found:
        centre = kinematics.upper_joint_centre.values - of.joint_centre.sel(joint=list(JOINTS)).values
        assert np.abs(centre).max() < CENTRE_M
        turn = kinematics.upper_rotation.values - of.rotation.sel(body=list(SEGMENTS)).values
        assert np.abs(turn).max() < 2e-5  # a micrometre of the 70 mm between the markers of a wrist


def test_moments_of_trunk_and_arms(found: Found) -> None:
    for of, _, kinetics in found:
        error = np.abs(kinetics.upper_joint_moment.values - of.joint_moment_local.sel(joint=list(JOINTS)).values)
        assert error[INNER].max() < MOMENT_N_M
        assert error.max() < MOMENT_AT_ENDS_N_M
        force = np.abs(kinetics.upper_joint_force.values - of.joint_force.sel(joint=list(JOINTS)).values)
        assert force[INNER].max() < OF_WEIGHT * found.person.mass_kg * GRAVITY_M_S2
        terms = kinetics.upper_joint_moment_term.sum("term", skipna=False) - kinetics.upper_joint_moment
        assert float(np.abs(terms).max()) < 1e-4  # 32 bits of 1000 N m


def test_nothing_is_left_at_the_pelvis(found: Found) -> None:
    weight = found.person.mass_kg * GRAVITY_M_S2
    for _, _, kinetics in found:
        force, moment = kinetics.pelvis_residual_force.values, kinetics.pelvis_residual_moment.values
        assert np.isfinite(force[INNER]).all()
        assert np.nanmax(np.abs(force)) < OF_WEIGHT * weight
        assert np.nanmax(np.abs(moment)) < OF_WEIGHT * weight * found.person.height_m
        waist = kinetics.upper_joint_force.values[:, JOINTS.index("waist")]
        assert np.abs(waist - kinetics.waist_force_from_legs.values)[INNER].max() < OF_WEIGHT * weight


def test_centre_of_mass_and_angular_momentum(found: Found) -> None:
    for of, kinematics, _ in found:
        apart = kinematics.whole_body_centre_of_mass.values - of.centre_of_mass.values
        assert 1000 * np.abs(apart).max() < CENTRE_OF_MASS_MM
        velocity = kinematics.whole_body_velocity.values - of.centre_of_mass_velocity.values
        assert np.abs(velocity[INNER]).max() < 1e-4
        part = of.angular_momentum_part.sel(body=list(BODIES)).values
        momentum = kinematics.angular_momentum.sel(body_segment=list(BODIES)).values
        assert np.abs(momentum - part)[INNER].max() < 1e-3  # of some 1 to 10 kg m2/s


@pytest.fixture(scope="module")
def with_and_without_trunk(of_seed: Callable[[int], Found]) -> tuple[Session, Session]:
    """Return a session with the segments of the trunk, and as one stiff body."""
    found = of_seed(SEEDS[0])
    (without,) = run_study(found.folder, {"kinematics": {"upper_body": False}}).values()
    return found.session, without


def test_residual_without_trunk_is_larger(with_and_without_trunk: tuple[Session, Session]) -> None:
    """As one stiff body, trunk, head and arms leave most of their swinging unexplained."""
    forces = (one.trials["arm_swings"]["kinetics"].pelvis_residual_force.values for one in with_and_without_trunk)
    with_trunk, without = (float(np.sqrt(np.nanmean(force**2))) for force in forces)
    assert with_trunk < 0.02 * without


OF_TRUNK = ("upper_", "whole_body_", "waist_", "angular_momentum", "pelvis_residual", "stance_residual", "margin_of_",
            "assumed_part", "stance_momentum", "residual_with_trunk",
            "smallest_margin", "range_of_angular_momentum", "range_of_centre_of_mass", "range_of_thorax",
            "range_of_shoulder", "range_of_elbow", "centre_of_mass_displacement", "body_segment", "direction",
            "metric")  # fmt: skip


def test_trunk_and_arms_change_no_leg(with_and_without_trunk: tuple[Session, Session]) -> None:
    """Every variable that is not of trunk, arms, balance or residual is the same bit for bit without them."""
    results = [{"calibrate": one.calibration, **one.trials["walk"]} for one in with_and_without_trunk]
    with_trunk, without = results
    for step, dataset in without.items():
        for name, values in dataset.variables.items():
            if not str(name).startswith(OF_TRUNK):
                np.testing.assert_array_equal(with_trunk[step].variables[name].values, values.values, err_msg=str(name))
    new = {
        str(name) for step in with_trunk for name in with_trunk[step].variables if name not in without[step].variables
    }
    assert new
    assert all(name.startswith(OF_TRUNK) for name in new), new
    same = ~np.char.startswith(without["cycles"].metric.values.astype(str), OF_TRUNK[0])
    for prefix in OF_TRUNK[1:]:
        same &= ~np.char.startswith(without["cycles"].metric.values.astype(str), prefix)
    assert same.sum() > 100
    for name in ("metric_value", "metric_value_of_stance"):
        here, there = (one["cycles"][name].values[:, same] for one in results)
        np.testing.assert_array_equal(here, there)


def session_of(folder: Path, *leave_out: str) -> tuple[Session, Person]:
    """Return the session of arm swings in which some markers are in no file, with masses by the table."""
    person = random_person(SEEDS[0])
    write_study(folder, person, ["arm_swings"], seed=SEEDS[0], leave_out=leave_out, upper_segments=False)
    (session,) = run_study(folder, {}).values()
    return session, person


HAND, HEAD = ("LFIN",), tuple(f"{side}{name}" for side in "LR" for name in ("FHD", "BHD"))
ARMS = tuple(f"{side}{name}" for side in "LR" for name in ("ELB", "ELBM", "WRA", "WRB", "FIN"))
TRUNK = ("C7", "CLAV", "STRN", "T10")
CASES = {
    "hand": (HAND, {"hand_left"}),
    "head": (HEAD, {"head"}),
    "arms": (ARMS, {*SEGMENTS[2:]}),
    "all but the shoulders": ((*HEAD, *ARMS, *TRUNK), {*SEGMENTS[1:]}),
}


@pytest.mark.parametrize("case", CASES)
def test_markers_that_no_file_has(tmp_path: Path, case: str) -> None:
    """The rest works: the mass of a segment that is not seen counts in a neutral posture, its joint has no load."""
    left_out, unseen = CASES[case]
    session, person = session_of(tmp_path, *left_out)
    steps, calibration = session.trials["arm_swings"], session.calibration
    whole = (
        calibration.upper_segment_mass.values.sum() + calibration.pelvis_mass + calibration.segment_mass.values.sum()
    )
    assert float(whole) == pytest.approx(person.mass_kg, rel=1e-10)
    kinematics, kinetics = steps["kinematics"], steps["kinetics"]
    seen = kinematics.upper_segment_seen.values.ravel()
    assert {name for name, one in zip(SEGMENTS, seen, strict=True) if not one} == unseen
    for i, segment in enumerate(SEGMENTS):
        known = np.isfinite(kinetics.upper_joint_moment.values[:, i]).all()
        assert known == (segment not in unseen), segment
    assert np.isfinite(kinematics.whole_body_centre_of_mass.values).all()
    assert np.isfinite(kinematics.angular_momentum.values).all()
    part = {"head": ("head", "neck"), "hand_left": ("wrist",)}
    for segment, parts in part.items():
        angle = kinematics.upper_angle.sel(upper_part=list(parts), side="left").values
        assert np.isnan(angle).all() == (segment in unseen)
    assert np.isfinite(kinematics.upper_angle.sel(upper_part="thorax").values).all()
    assert np.isfinite(kinetics.pelvis_residual_force.values[INNER]).all()


def test_no_thorax_leaves_the_rest(tmp_path: Path) -> None:
    """Arms and head alone carry nothing: the results are those without a trunk."""
    session, _ = session_of(tmp_path, *TRUNK, "LSHO", "RSHO")
    steps = session.trials["arm_swings"]
    assert "upper_segment_mass" not in session.calibration
    assert "upper_rotation" not in steps["kinematics"]
    assert np.isfinite(steps["kinetics"].pelvis_residual_force.values[INNER]).all()
