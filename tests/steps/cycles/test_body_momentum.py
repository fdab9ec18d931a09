"""Momentum of the whole body over intervals with known loads: closed forms, and faults of exact walks by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.conventions import HIP, SIDES, STANDARD_GRAVITY_M_S2, UP
from pipeline.steps.cycles.momentum.known_intervals import EDGE_S, Known, figures_of, known_intervals
from pipeline.steps.cycles.momentum.laboratory_faults import faults_of_session, verdicts_of_session
from pipeline.steps.cycles.momentum.single_support import TRUNK_AND_ARMS
from pipeline.steps.cycles.momentum.unknowns import AHEAD_M, SHIFT_M, TILT

Array = NDArray[np.float64]

MASS_KG, HEIGHT_M, SPEED_M_S, STEP_S, STEPS, HZ = 70.0, 0.95, 1.2, 0.55, 4, 200
PITCH_M, GRAVITY = SPEED_M_S * STEP_S, np.array([0, -STANDARD_GRAVITY_M_S2, 0])
# between frames, trapezoids miss the curvature of forces: less than .1 mm and .01 degrees
LEVER_M, LEAN = 1e-4, np.radians(0.01)


class Walk(NamedTuple):
    """A walk over plates one after the other, each step on its own, in the axes of the walker."""

    time: Array
    place: Array
    velocity: Array
    spin: Array  # angular momentum about the centre of mass
    force: Array
    moment: Array  # about the origin, the middle of all plates
    feet: Array  # (step, 3), heel of each standing foot
    back: bool  # against the lab's axes


def walk(*, back: bool = False, phase: float = 0.0) -> Walk:
    """Return a walk that obeys both laws exactly; forces are those that its motion needs."""
    time = np.arange(int(STEPS * STEP_S * HZ) + 1) / HZ
    rate, middle = 2 * np.pi / STEP_S, STEPS * STEP_S / 2
    sizes = np.array([1.5, 2.5, 0.6])  # of the acceleration, m/s2
    rates, phases = np.array([rate, rate, rate / 2]), np.array([0.3, 1.0, 0.6]) + phase
    wave = np.outer(time, rates) + phases
    acceleration, velocity = sizes * np.cos(wave), sizes / rates * np.sin(wave)
    place = -sizes / rates**2 * np.cos(wave) + np.outer(time - middle, [SPEED_M_S, 0, 0]) + [0, HEIGHT_M, 0]
    turning = np.array([2.0, 1.0, 3.0])
    spin, spin_rate = turning * np.sin(wave), turning * rates * np.cos(wave)
    force = MASS_KG * (acceleration - GRAVITY)
    moment = spin_rate + np.cross(place, force)
    stands = (np.arange(STEPS) + 0.5) * PITCH_M - SPEED_M_S * middle
    sides = 0.08 * (-1.0) ** np.arange(STEPS)
    feet = np.stack([stands, np.full(STEPS, 0.04), sides], axis=1)
    return Walk(time, place, velocity + SPEED_M_S * np.eye(3)[0], spin, force, moment, feet, back)


def shown(made: Walk) -> tuple[xr.Dataset, xr.Dataset, xr.Dataset]:
    """Return kinematics, contacts and clean of a walk."""
    count, axis = len(made.time), ("time", "axis")
    time = ("time", made.time)
    kinematics = xr.Dataset(
        {
            "whole_body_centre_of_mass": (axis, made.place),
            "whole_body_velocity": (axis, made.velocity),
            "whole_body_acceleration": (axis, 0 * made.place),
            "angular_momentum": (("time", "body_segment", "axis"), made.spin[:, None]),
            "joint_centre_acceleration": (("time", "side", "joint", "axis"), np.zeros((count, 2, HIP + 1, 3))),
            "upper_segment_seen": ("upper_segment", np.ones(len(TRUNK_AND_ARMS))),
        },
        {"time": time, "upper_segment": list(TRUNK_AND_ARMS)},
    )
    step = np.minimum((made.time / STEP_S).astype(int), STEPS - 1)
    on = np.stack([step % 2 == i for i in range(2)], axis=1)[..., None]
    sides = np.array([SIDES[i % 2] for i in range(STEPS)])
    contacts = xr.Dataset(
        {
            "ground_force": (("time", "side", "axis"), on * made.force[:, None]),
            "ground_moment": (("time", "side", "axis"), on * made.moment[:, None]),
            "free_moment": (("time", "side"), on[..., 0] * _free(made)[:, None]),
            "contact_side": ("contact", sides),
            "contact_start": ("contact", STEP_S * np.arange(STEPS) + 1e-6),
            "contact_end": ("contact", STEP_S * np.arange(1, STEPS + 1) - 1e-6),
            "plates": ("contact", [str(1 + (STEPS - 1 - i if made.back else i)) for i in range(STEPS)]),
        },
        {"time": time},
    )
    centres = (np.arange(STEPS) - (STEPS - 1) / 2) * PITCH_M
    corner = np.array([[0.3, 0, 0.3], [-0.3, 0, 0.3], [-0.3, 0, -0.3], [0.3, 0, -0.3]])
    corners = corner + np.stack([centres, 0 * centres, 0 * centres], axis=1)[:, None]
    turned = corners * [-1, 1, -1] if made.back else corners
    markers = np.stack([np.where(step == i, 1.0, np.nan) for i in range(STEPS)], axis=1)
    heels = [np.nansum(markers[:, i::2, None] * made.feet[i::2], axis=1) for i in range(2)]
    clean = xr.Dataset(
        {
            "marker_position": (("time", "marker", "axis"), np.stack(heels, axis=1)),
            "plate_corner": (("plate", "corner", "axis"), turned),
            "plate_edges_known": ("plate", np.ones(STEPS)),
        },
        {"time": time, "marker": [f"heel_{side}" for side in SIDES], "plate": np.arange(1, STEPS + 1)},
    )
    return kinematics, contacts, clean


def _free(made: Walk) -> Array:
    """Return the free torque (time,): the moment about the vertical through the centre of pressure."""
    x, z = (np.divide(made.moment[:, i], made.force[:, UP], where=made.force[:, UP] > 0, out=np.zeros(len(made.time)))
            for i in (2, 0))  # fmt: skip
    return np.asarray(made.moment[:, UP] - (-z * made.force[:, 0] - x * made.force[:, 2]))


def known(made: Walk) -> Known:
    found = known_intervals(*shown(made), MASS_KG)
    assert found is not None
    return found


def plates_of(walks: list[Walk]) -> list[NDArray[np.str_]]:
    return [shown(made)[1]["plates"].values for made in walks]


# --- faults of a lab, in the axes of a walker; `sign` is -1 where she walks against the lab's -------------------------


def turned(made: Walk, about: list[float], degrees: float) -> Walk:
    """Return markers that are turned about the middle of the plates."""
    turn = Rotation.from_rotvec(np.radians(degrees) * np.array(about)).as_matrix()
    place, velocity, spin, feet = (part @ turn.T for part in (made.place, made.velocity, made.spin, made.feet))
    return made._replace(place=place, velocity=velocity, spin=spin, feet=feet)


def _sign(made: Walk) -> float:
    return -1.0 if made.back else 1.0


def tilt(made: Walk) -> Walk:
    return turned(made, [0.6 * _sign(made), 0, 0.8 * _sign(made)], 2.0)


def yaw(made: Walk) -> Walk:
    return turned(made, [0, 1, 0], 3.0)


def shift(made: Walk) -> Walk:
    moved = _sign(made) * np.array([0.024, 0, -0.018])
    return made._replace(moment=made.moment + np.cross(moved, made.force))


def late(made: Walk) -> Walk:
    then = made.time - 0.02
    force, moment = (
        np.stack([np.interp(then, made.time, part) for part in load.T], axis=1) for load in (made.force, made.moment)
    )
    return made._replace(force=force, moment=moment)


def lean(made: Walk) -> Walk:
    """Return plates of which all are turned against gravity, each about its middle."""
    axis = np.radians(2.0) * _sign(made) * np.array([0.8, 0, -0.6])
    middle = np.outer((np.minimum((made.time / STEP_S).astype(int), STEPS - 1) - (STEPS - 1) / 2) * PITCH_M, [1, 0, 0])
    turn = Rotation.from_rotvec(axis).as_matrix()
    about = made.moment - np.cross(middle, made.force)
    force = made.force @ turn.T
    return made._replace(force=force, moment=about @ turn.T + np.cross(middle, force))


def one_plate(made: Walk) -> Walk:
    """Return a walk of which plate 2 is shifted by 30 mm along the lab's axis."""
    at = STEPS - 2 if made.back else 1
    here = (np.minimum((made.time / STEP_S).astype(int), STEPS - 1) == at)[:, None]
    moved = _sign(made) * np.array([0.030, 0, 0])
    return made._replace(moment=made.moment + here * np.cross(moved, made.force))


def torque(made: Walk) -> Walk:
    """Return a walk of which the free torque has the wrong sign."""
    return made._replace(moment=made.moment - 2 * np.outer(_free(made), [0, 1, 0]))


def larger(made: Walk) -> Walk:
    return made._replace(place=1.03 * made.place, velocity=1.03 * made.velocity, feet=1.03 * made.feet)


def slow(made: Walk) -> Walk:
    """Return a walk of which the file states .8 of the rate: changes per time are .64 of those that forces make."""
    return made._replace(velocity=0.64 * made.velocity, spin=0.64 * made.spin)


def walk_of(made: Walk) -> Walk:
    return made


def both_ways(fault: Callable[[Walk], Walk]) -> list[Walk]:
    return [fault(walk(back=back, phase=phase)) for phase in (0.0, 0.4, 0.8) for back in (False, True)]


# --- closed forms ---------------------------------------------------------------------------------------------------


def test_a_body_in_free_fall_that_spins_leaves_nothing() -> None:
    made = walk()
    fall = np.outer(made.time, [0, -STANDARD_GRAVITY_M_S2, 0])
    spin = np.full_like(made.spin, 5.0)
    found = known(made._replace(velocity=fall, spin=spin, force=0 * made.force, moment=0 * made.moment))
    np.testing.assert_allclose(found.lean, 0, atol=1e-12)
    np.testing.assert_allclose(found.lever, 0, atol=1e-12)


def test_a_spin_that_no_force_makes_is_left_over() -> None:
    made = walk()
    fall = np.outer(made.time, [0, -STANDARD_GRAVITY_M_S2, 0])
    spin = np.outer(made.time, [0, 0, -7.0])
    found = known(made._replace(velocity=fall, spin=spin, force=0 * made.force, moment=0 * made.moment))
    np.testing.assert_allclose(found.lever, [[7.0 / MASS_KG / STANDARD_GRAVITY_M_S2, 0]] * len(found.lever), rtol=1e-9)


@pytest.mark.parametrize("back", [False, True])
def test_an_exact_walk_leaves_nothing(back: bool) -> None:
    found = known(walk(back=back))
    assert len(found.lever) == STEPS
    np.testing.assert_allclose(found.lever, 0, atol=LEVER_M)
    np.testing.assert_allclose(found.lean, 0, atol=LEAN)
    np.testing.assert_allclose(figures_of(found, STEPS), 0, atol=0.1)
    assert not faults_of_session([found], plates_of([walk(back=back)]))


def test_figures_are_of_the_person_and_its_stances() -> None:
    """A plate that is 30 mm before where the lab has it is behind one who walks back."""
    for back, sign in ((False, 1), (True, -1)):
        figures = figures_of(known(one_plate(walk(back=back))), STEPS)
        at = STEPS - 2 if back else 1
        np.testing.assert_allclose(figures[at], [30 * sign, 0, 0, 0], atol=0.5)
        # half a frame of the next step belongs to the trapezoid
        np.testing.assert_allclose(np.delete(figures, at, axis=0), 0, atol=30 / HZ / STEP_S)


# --- faults by name --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "kind", "size", "within"),
    [
        (tilt, "tilt", np.radians(2.0), np.radians(0.1)),
        (lean, "lean", np.radians(2.0), np.radians(0.1)),
        (yaw, "yaw", np.radians(3.0), np.radians(0.1)),
        (shift, "shift", 0.030, 0.001),
        (late, "late", 0.020, 0.001),
        (larger, "scale", 0.03, 0.002),
        (torque, "torque", 1.0, 0.1),
        (slow, "rate", 0.2, 0.01),
    ],
)
def test_a_fault_is_named_with_its_size(fault: Callable[[Walk], Walk], kind: str, size: float, within: float) -> None:
    walks = both_ways(fault)
    (first, *others) = faults_of_session([known(made) for made in walks], plates_of(walks))
    assert (first.kind, first.plate) == (kind, "")
    assert abs(np.linalg.norm(first.size) - size) < within
    assert {one.kind for one in others} <= {"clock"}  # late forces may be a slow clock


@pytest.mark.parametrize("fault", [tilt, walk_of])
def test_brief_single_supports_alone_show_a_tilt(fault: Callable[[Walk], Walk]) -> None:
    """Of each step a quarter of a second is known, less .05 s at its ends: that of a brisk walk over single plates."""
    walks, seen = both_ways(fault), []
    for made in walks:
        kinematics, contacts, clean = shown(made)
        of_step = np.mod(made.time, STEP_S)
        contacts["ground_force"].values[(of_step < 0.15) | (of_step > 0.4)] = np.nan
        found = known_intervals(kinematics, contacts, clean, MASS_KG)
        assert found is not None
        assert (found.end_s - found.start_s).max() < 0.2
        seen.append(found)
    named = faults_of_session(seen, plates_of(walks))
    assert [one.kind for one in named[:1]] == (["tilt"] if fault is tilt else [])
    if named:
        assert abs(np.degrees(np.linalg.norm(named[0].size)) - 2.0) < 0.5


def test_two_steps_of_one_walk_show_a_fault() -> None:
    """They scatter as they are known to, so that neither this nor the fault makes its size less certain."""
    for fault, kind, size in ((late, "late", 0.020), (lambda made: shift(shift(made)), "shift", 0.060)):
        made, named = fault(walk()), []
        kinematics, contacts, clean = shown(made)
        contacts["ground_force"].values[(made.time < STEP_S) | (made.time > 3 * STEP_S)] = np.nan
        calm = known_intervals(kinematics, contacts, clean, MASS_KG)
        assert calm is not None
        assert len(calm.start_s) == 2
        for scatter_m in (0.0, 0.007):
            one = calm._replace(lever=calm.lever + scatter_m * np.array([[1, -1], [-1, 1]]))
            faults = faults_of_session([one], plates_of([made]))
            named += [fault for fault in faults if (fault.kind, fault.plate) == (kind, "")]
        assert all(abs(np.linalg.norm(one.size) - size) < 0.15 * size for one in named)
        assert len(named) == 2
        np.testing.assert_allclose(named[0].error, named[1].error, rtol=0.1)  # 7 mm are 1.4 deviations of a lever


def test_levers_that_scatter_more_say_less() -> None:
    """By 30 mm from step to step, six times as much as is assumed."""
    rng, walks = np.random.default_rng(1), both_ways(tilt)
    seen = [known(made) for made in walks]
    scattered = [one._replace(lever=one.lever + 0.03 * rng.normal(size=one.lever.shape)) for one in seen]
    calm, first = (faults_of_session(each, plates_of(walks))[0] for each in (seen, scattered))
    assert first.kind == calm.kind == "tilt"
    assert (first.error > 1.1 * calm.error).all()


def test_a_wrong_mass_is_no_wrong_rate() -> None:
    """Nothing is said of the rate where plates do not carry the weight."""
    walks = [made._replace(force=1.12 * made.force, moment=1.12 * made.moment) for made in both_ways(walk_of)]
    seen = [known(made) for made in walks]
    assert "rate" not in {one.kind for one in faults_of_session(seen, plates_of(walks))}
    assert not any(one.carried.any() for one in seen)
    assert all(known(made).carried.all() for made in both_ways(walk_of))


def test_a_plate_is_named_and_only_its_stances_are_doubted() -> None:
    walks = both_ways(one_plate)
    plates = plates_of(walks)
    verdicts = verdicts_of_session([known(made) for made in walks], plates)
    for of_trial, names in zip(verdicts, plates, strict=True):
        assert [bool(one) for one in of_trial] == [name == "2" for name in names.tolist()]
    (one,) = {verdict for of_trial in verdicts for found in of_trial for verdict in [one.words for one in found]}
    assert re.search(r"plate 2 is shifted by 30 ± \d+ mm", one)


@pytest.mark.parametrize(("borne", "counts"), [(0.75, False), (0.92, True)])
def test_a_step_that_plates_do_not_carry_tells_nothing(borne: float, counts: bool) -> None:
    """A rail bears a quarter of one step; a mass or a gain may be wrong by a twelfth. Others still count."""
    made = walk()
    share = np.where((made.time > STEP_S) & (made.time < 2 * STEP_S), borne, 1.0)[:, None]
    whole, found = known(made), known(made._replace(force=share * made.force, moment=share * made.moment))
    assert len(found.start_s) == len(whole.start_s) - (not counts)
    assert found.timing[0] > 0.3 * whole.timing[0]
    np.testing.assert_allclose(found.lever[-1], whole.lever[-1], atol=1e-4)


def test_where_the_floor_is_unseen_and_one_way_is_walked_all_causes_are_named() -> None:
    """Markers that are tilted, shifted plates and a body that tables misplace are alike then."""
    walks = [turned(walk(phase=phase), [0, 0, 1], 4.0) for phase in (0.0, 0.4, 0.8)]
    unseen = [known(made)._replace(feet=np.zeros((0, 4))) for made in walks]
    kinds = {one.kind for one in faults_of_session(unseen, plates_of(walks)) if not one.plate}
    assert {"tilt", "shift", "centre"} <= kinds
    (first, *_) = faults_of_session([known(made) for made in walks], plates_of(walks))
    assert first.kind == "tilt"


def test_errors_of_sound_laboratories_and_tables_say_nothing() -> None:
    for sign in (1, -1):
        walks = []
        for made in both_ways(walk_of):
            moved = np.array([sign * AHEAD_M, 0, 0]) + _sign(made) * np.array([0, 0, SHIFT_M])
            shifted = made._replace(moment=made.moment + np.cross(moved, made.force))
            walks.append(turned(shifted, [0, 0, _sign(made)], np.degrees(TILT)))
        assert not faults_of_session([known(made) for made in walks], plates_of(walks))


def test_the_error_of_a_shift_that_tables_may_make_as_well_is_theirs() -> None:
    """In one direction of walking a shift is known no better than the body's centre of mass, in two it is."""
    ways = {"one": [walk(phase=phase) for phase in (0.0, 0.4, 0.8)], "both": both_ways(walk_of)}
    errors = {}
    for name, walks in ways.items():
        faults = faults_of_session([known(shift(shift(made))) for made in walks], plates_of(walks))
        (found,) = [one for one in faults if (one.kind, one.plate) == ("shift", "")]
        errors[name] = float(found.error[0])
    assert errors["one"] > AHEAD_M > errors["both"]


def test_a_large_fault_refuses_and_a_small_one_doubts() -> None:
    for degrees, code in ((1.0, "body_momentum_doubted"), (4.0, "body_momentum_disagrees")):
        walks = [turned(made, [0, 0, _sign(made)], degrees) for made in both_ways(walk_of)]
        verdicts = verdicts_of_session([known(made) for made in walks], plates_of(walks))
        assert {verdict.code for of_trial in verdicts for found in of_trial for verdict in found} == {code}


# --- what is not known -----------------------------------------------------------------------------------------------


def test_nothing_is_known_where_an_arm_is_unseen() -> None:
    kinematics, contacts, clean = shown(walk())
    kinematics["upper_segment_seen"].values[-1] = 0
    assert known_intervals(kinematics, contacts, clean, MASS_KG) is None
    assert np.isnan(figures_of(None, STEPS)).all()
    assert verdicts_of_session([None], [contacts["plates"].values]) == [[[] for _ in range(STEPS)]]


def test_beside_an_unknown_load_nothing_is_taken() -> None:
    made = walk()
    kinematics, contacts, clean = shown(made)
    contacts["ground_force"].values[made.time < STEP_S] = np.nan
    found = known_intervals(kinematics, contacts, clean, MASS_KG)
    assert found is not None
    assert len(found.start_s) == STEPS - 1
    assert found.start_s[0] >= STEP_S + EDGE_S - 1.5 / HZ
    np.testing.assert_allclose(found.lever, 0, atol=LEVER_M)


def test_feet_on_steps_show_no_floor() -> None:
    kinematics, contacts, clean = shown(walk())
    clean["plate_corner"].values[1, :, UP] = 0.15
    found = known_intervals(kinematics, contacts, clean, MASS_KG)
    assert found is not None
    assert not found.feet.size
