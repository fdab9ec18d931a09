"""Step length, step width and stride length: footprints of known places, over ground, on a belt, in turns."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from pipeline.steps.contacts.pelvis import heading
from pipeline.steps.cycles.spatiotemporal import AT_REST_S, Heels, spatiotemporal, turning_angle
from pipeline.variables.gait_profile import turns
from tests.support.walks.moving_person import markers, moved
from tests.support.walks.ways_of_moving import WAYS, planned

Array = NDArray[np.float64]
SIDES = ("left", "right")
STEP_S, STANCE_S = 0.5, 0.6
RATE_HZ = 100.0
SLIDE_M = 0.015  # of the heel after foot strike
ON_STRAIGHT_PATHS = tuple(way for way in WAYS if way not in ("turning", "curved", "split belt"))


class Footprints:
    """A walk over given footprints (step, 2), forward and to the right, m, left foot first, a step every 0.5 s."""

    def __init__(self, places: Array, *, belt_m_s: float = 0.0, travel: str = "forwards", first: int = 0) -> None:
        self.side = [SIDES[(number + first) % 2] for number in range(len(places))]
        self.strike = 0.2 + STEP_S * np.arange(len(places))
        time = np.arange(0, self.strike[-1] + STANCE_S, 1 / RATE_HZ)
        position = {}
        for side in SIDES:
            own = [number for number, of in enumerate(self.side) if of == side]
            instants, where = [-1.0], [places[own[0]]]
            for number in own:
                ahead = places[min(number + 2, len(places) - 1)] - places[number]
                slide = SLIDE_M * ahead / max(float(np.hypot(*ahead)), 1e-9)
                start = self.strike[number]
                instants += [start, start + AT_REST_S / 2, start + STANCE_S]
                where += [places[number] - slide, places[number], places[number]]
            paths = [np.interp(time, instants, [at[axis] for at in where]) for axis in (0, 1)]
            position[side] = np.stack([paths[0] - belt_m_s * time, 0 * time, paths[1]], axis=1)
        self.heels = Heels(time, position, travel == "backwards")
        self.contacts = xr.Dataset(
            {
                "event_time": ("event", self.strike),
                "contact_start": ("contact", self.strike),
                "contact_end": ("contact", self.strike + STANCE_S),
            },
            {
                "event": ["foot_strike"] * len(places),
                "event_side": ("event", self.side),
                "contact_side": ("contact", self.side),
            },
        )

    def metrics(self, belt_m_s: float = 0.0) -> dict[str, Array]:
        """Return the metrics of all cycles, in order of their start."""
        return spatiotemporal(
            self.heels,
            self.contacts,
            side=self.side[:-2],
            start_s=self.strike[:-2],
            off_s=self.strike[:-2] + STANCE_S,
            end_s=self.strike[2:],
            belt_speed_m_s=belt_m_s,
        )


def uneven(lengths: ArrayLike, *, half_m: float = 0.06, angle: float = 0.0) -> Array:
    """Return footprints of steps of given lengths beside a line at an angle to the lab, to the right positive."""
    along = np.cumsum([0.0, *np.asarray(lengths)])
    aside = np.where(np.arange(len(along)) % 2 == 0, -half_m, half_m)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.asarray(np.stack([along, aside], axis=1) @ turn)


LENGTHS = (0.55, 0.6, 0.55, 0.62, 0.54, 0.61)


@pytest.mark.parametrize("angle", [0.0, 0.3, -0.7], ids=["along x", "17 degrees off", "40 degrees off"])
def test_uneven_steps_along_any_line(angle: float) -> None:
    """Each cycle has the step that ends it; with the step before it, of the other foot, it is the stride."""
    got = Footprints(uneven(LENGTHS, angle=angle)).metrics()
    np.testing.assert_allclose(got["step_length"], LENGTHS[1:], atol=1e-9)
    np.testing.assert_allclose(got["stride_length"], np.add(LENGTHS[1:], LENGTHS[:-1]), atol=1e-9)
    np.testing.assert_allclose(got["step_width"], 0.12, atol=1e-9)
    np.testing.assert_allclose(got["step_length"][1:] + got["step_length"][:-1], got["stride_length"][1:], atol=1e-9)
    np.testing.assert_allclose(got["walking_speed"], got["stride_length"] / (2 * STEP_S), atol=1e-9)
    np.testing.assert_allclose(got["stride_direction"], -np.degrees(angle), atol=1e-9)


@pytest.mark.parametrize("belt_m_s", [1.1, -1.1], ids=["forwards", "backwards"])
def test_a_belt_carries_the_footprints(belt_m_s: float) -> None:
    """Backwards on a belt that moves forwards, too."""
    direction = np.sign(belt_m_s)
    walk = Footprints(uneven(np.multiply(LENGTHS, direction)), belt_m_s=belt_m_s, travel="none")
    got = walk.metrics(belt_m_s)
    np.testing.assert_allclose(got["step_length"], LENGTHS[1:], atol=1e-6)
    np.testing.assert_allclose(got["stride_length"], np.add(LENGTHS[1:], LENGTHS[:-1]), atol=1e-6)
    np.testing.assert_allclose(got["step_width"], 0.12, atol=1e-6)
    np.testing.assert_allclose(got["stride_direction"], 0, atol=1e-3)


def test_walking_backwards_has_positive_lengths_and_widths() -> None:
    """The person faces forwards and travels backwards: left stays left."""
    got = Footprints(uneven(np.negative(LENGTHS)), travel="backwards").metrics()
    np.testing.assert_allclose(got["stride_direction"], 0, atol=1e-3)
    np.testing.assert_allclose(got["step_length"], LENGTHS[1:], atol=1e-9)
    np.testing.assert_allclose(got["step_width"], 0.12, atol=1e-9)


def test_crossing_feet_have_a_negative_width_and_a_step_behind_the_other_foot_a_negative_length() -> None:
    crossing = Footprints(uneven(LENGTHS, half_m=-0.02)).metrics()
    np.testing.assert_allclose(crossing["step_width"], -0.04, atol=1e-9)
    step_to = Footprints(uneven([0.6, -0.1, 0.6, -0.1, 0.6])).metrics()
    np.testing.assert_allclose(step_to["step_length"], [-0.1, 0.6, -0.1, 0.6], atol=1e-9)
    np.testing.assert_allclose(step_to["stride_length"], 0.5, atol=1e-9)


def test_a_walk_to_and_fro_has_positive_lengths() -> None:
    """Over a line and back beside it, as in a recording of two passes."""
    there = uneven([0.6, 0.6, 0.6, 0.6, 0.6])
    walk = Footprints(np.concatenate([there, there[::-1]]))
    got = walk.metrics()
    np.testing.assert_allclose(got["step_length"][:3], 0.6, atol=1e-9)
    np.testing.assert_allclose(got["step_length"][-3:], 0.6, atol=1e-9)
    np.testing.assert_allclose(got["stride_length"][-3:], 1.2, atol=1e-9)


def test_on_a_circle_the_outer_foot_goes_further() -> None:
    """Footprints on two circles about one centre, a step every 20 degrees, to the right.

    A stride is a chord of its own circle; the other foot is beside the middle of that chord.
    """
    angle, inner, outer = np.radians(20), 1.94, 2.06
    radius = np.where(np.arange(9) % 2 == 0, outer, inner)  # the left foot, first, is outside
    turned = angle * np.arange(9)
    got = Footprints(np.stack([radius * np.sin(turned), 2 - radius * np.cos(turned)], axis=1)).metrics()
    own, other = radius[:-2], radius[1:-1]
    np.testing.assert_allclose(got["stride_length"], 2 * own * np.sin(angle), atol=1e-9)
    np.testing.assert_allclose(got["step_length"], own * np.sin(angle), atol=1e-9)
    outwards = np.where(np.arange(7) % 2 == 0, 1, -1)
    np.testing.assert_allclose(got["step_width"], outwards * (own * np.cos(angle) - other), atol=1e-9)


def test_a_recording_that_ends_soon_after_the_strike_costs_the_slide_of_the_heel() -> None:
    walk = Footprints(uneven(LENGTHS))
    kept = walk.heels.time <= walk.strike[-1] + 0.02
    walk.heels = walk.heels._replace(
        time=walk.heels.time[kept], position={side: path[kept] for side, path in walk.heels.position.items()}
    )
    got = walk.metrics()
    assert got["step_length"][-1] == pytest.approx(LENGTHS[-1], abs=SLIDE_M)
    np.testing.assert_allclose(got["step_length"][:-1], LENGTHS[1:-1], atol=1e-9)


def test_a_heel_that_vanishes_counts_where_it_was_last_seen_after_the_strike() -> None:
    walk = Footprints(uneven(LENGTHS))
    hidden = (walk.heels.time > walk.strike[3] + 0.06) & (walk.heels.time < walk.strike[3] + 0.3)
    walk.heels.position["right"][hidden] = np.nan
    np.testing.assert_allclose(walk.metrics()["step_length"], LENGTHS[1:], atol=1e-9)
    hidden = (walk.heels.time > walk.strike[3] - 0.05) & (walk.heels.time < walk.strike[3] + 0.3)
    walk.heels.position["right"][hidden] = np.nan
    np.testing.assert_array_equal(
        np.isnan(walk.metrics()["step_length"]), [False, True, True, False, False]
    )  # both steps beside it


def test_without_exactly_one_step_of_the_other_foot_there_is_a_stride_and_no_step() -> None:
    walk = Footprints(uneven(LENGTHS))
    walk.contacts = walk.contacts.isel(event=[number for number in range(7) if number != 3])
    got = walk.metrics()
    assert np.isnan([got["step_length"][2], got["step_width"][2]]).all()
    assert np.isfinite(got["stride_length"]).all()


def test_steps_in_place_have_no_line_of_progression() -> None:
    got = Footprints(uneven([0.02, -0.02, 0.03, -0.03, 0.02])).metrics()
    assert np.isnan([*got["step_length"], *got["step_width"]]).all()
    assert (got["stride_length"] < 0.1).all()


def generated(way: str, seed: int) -> dict[str, Array]:
    """Return the metrics of all cycles of a generated person, with the turning angle."""
    plan = planned(way, seed)
    motion = moved(plan, 500.0, np.random.default_rng(seed))
    time = np.arange(motion.time[0], motion.time[-1], 0.01)
    paths = markers(plan, motion, time, np.random.default_rng(seed))
    pelvis = heading(paths["asis_left"], paths["asis_right"])
    heels = Heels(time, {side: paths[f"heel_{side}"] for side in SIDES}, backwards=False)
    steps = np.arange(plan.inner.start, plan.inner.stop)
    side = np.array(SIDES)[plan.side[steps]]
    contacts = xr.Dataset(
        {"event_time": ("event", plan.strike[steps])},
        {"event": ["foot_strike"] * len(steps), "event_side": ("event", side)},
    )
    found = spatiotemporal(
        heels,
        contacts,
        side=side[:-2],
        start_s=plan.strike[steps][:-2],
        off_s=plan.off[steps][:-2],
        end_s=plan.strike[steps][2:],
        belt_speed_m_s=0.0,
    )
    to_the_left = np.unwrap(np.arctan2(-pelvis[:, 2], pelvis[:, 0]))
    strikes = plan.strike[steps]
    ends = np.degrees([np.interp(strike, time, to_the_left) for strike in (strikes[:-2], strikes[2:])])
    rotation = np.where(side[:-2] == "right", ends, -ends).T[:, None] * np.array([0, 0, 1])[:, None]
    return found | {"turning_angle": turning_angle(rotation, side[:-2])}


@pytest.mark.parametrize("way", ON_STRAIGHT_PATHS)
@pytest.mark.parametrize("seed", range(3))
def test_steps_of_generated_people_add_up_to_the_stride(way: str, seed: int) -> None:
    """Runs, stairs, toes, limps: within a centimetre, as lines of successive strides differ by degrees.

    Where the sole is flat, the places are those of the plan, but for the turn of each foot about the ankle.
    """
    got = generated(way, seed)
    assert np.isfinite(got["step_length"]).all()
    away = got["step_length"][1:] + got["step_length"][:-1] - got["stride_length"][1:]
    assert np.abs(away).max() < 0.01


@pytest.mark.parametrize("way", ["straight", "slow", "limping", "short steps", "on toes"])
def test_generated_people_who_walk_straight_do_not_turn(way: str) -> None:
    for seed in range(5):
        got = generated(way, seed)
        assert not turns(got["turning_angle"], got["stride_direction"]).any()


@pytest.mark.parametrize("seed", range(5))
def test_generated_people_who_turn_by_more_than_30_degrees_are_seen(seed: int) -> None:
    """The last stride leads where the plan has it, away from where the walk starts, and the pelvis turns there, too."""
    got, plan = generated("turning", seed), planned("turning", seed)
    last = plan.inner.stop - 1
    ahead, _, right = plan.place[last] - plan.place[last - 2]
    turn = np.degrees(plan.heading[last] - plan.heading[plan.inner.start])
    assert abs(turn) > 30
    assert turns(got["turning_angle"], got["stride_direction"])[-1]
    assert got["stride_direction"][-1] == pytest.approx(-np.degrees(np.arctan2(right, ahead)), abs=5)
    furthest = got["turning_angle"][np.abs(got["turning_angle"]).argmax()]
    assert 0.5 < furthest / turn < 1.1


@pytest.mark.parametrize(("side", "sign"), [("right", 1), ("left", -1)])
def test_turning_is_positive_to_the_left_from_strike_to_strike_and_goes_on_at_180_degrees(side: str, sign: int) -> None:
    rotation = sign * np.linspace(170, 230, 101) + 5 * np.sin(np.linspace(0, 2 * np.pi, 101))
    wrapped = np.stack([np.zeros(101), np.zeros(101), (rotation + 180) % 360 - 180])
    assert turning_angle(wrapped, side) == pytest.approx(60)
    assert np.isnan(turning_angle(np.where(np.arange(101) > 99, np.nan, wrapped), side))
