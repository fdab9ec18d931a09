"""Drop-outs of a plate's signal and lost samples, in known steps; and loads that are none."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.plates.parameters import CHANNELS_OF_TYPE
from pipeline.plates.signal_breaks import find_breaks
from tests.plates.test_channel_faults import RATE_HZ, Step
from tests.support.checkout import FULL

Array = NDArray[np.float64]

CORNERS = np.array([[0.3, 0, 0.25], [0.3, 0, -0.25], [-0.3, 0, -0.25], [-0.3, 0, 0.25]])  # m
SEEDS = range(40 if FULL else 8)
ALL, VERTICAL, SHEAR = (0, 1, 2, 3, 4, 5), (1,), (0, 2)


def wrench_of(step: Step) -> Array:
    """Return force and moment about the middle (sample, 6) in axes of which y is up from the plate."""
    force, moment = step.decode()
    about = moment - np.cross(step.middle_m, force)
    return np.hstack([part @ step.axes[:, [0, 2, 1]] * [1, -1, 1] for part in (force, about)])


def stance_of(wrench: Array) -> tuple[int, int]:
    loaded = np.flatnonzero(np.abs(wrench[:, 1]) > 0.05 * np.abs(wrench[:, 1]).max())
    return int(loaded[0]), int(loaded[-1])


@pytest.mark.parametrize(
    ("columns", "ms", "at"), [(ALL, 20, 0.5), (ALL, 50, 0.5), (ALL, 100, 0.5), (ALL, 50, 0.75), (VERTICAL, 50, 0.5)]
)
def test_a_drop_out_is_found_from_its_first_to_its_last_sample(columns: tuple[int, ...], ms: int, at: float) -> None:
    """The channels rest at their baseline, of one load of three seeds with noise of 1 N."""
    for seed in SEEDS:
        wrench = wrench_of(Step(2, seed))
        first, last = stance_of(wrench)
        begin = round(first + at * (last - first))
        stop = begin + round(ms * RATE_HZ / 1000)
        rest = np.random.default_rng(seed).normal(0, 1.0 * (seed % 3 == 0), (stop - begin, len(columns)))
        wrench[begin:stop, columns] = rest
        (found,) = find_breaks(wrench, CORNERS, RATE_HZ)
        assert (found.first, found.last, found.lost_s) == (begin, stop - 1, 0.0), seed


def test_lost_shear_is_found_where_it_comes_back() -> None:
    """Along the walk the force is small in the middle of the stance, and large 150 ms later."""
    for seed in SEEDS:
        wrench = wrench_of(Step(2, seed))
        first, last = stance_of(wrench)
        begin, stop = (first + last) // 2, (first + last) // 2 + 150
        jump = np.abs(wrench[stop, SHEAR]).max() / np.abs(wrench[:, 1]).max()
        wrench[begin:stop, SHEAR] = 0
        found = find_breaks(wrench, CORNERS, RATE_HZ)
        assert any(stop - 1 in (one.first - 1, one.last) for one in found) == (jump > 0.025) or 0.015 < jump < 0.025


@pytest.mark.parametrize("ms", [15, 30])
def test_lost_samples_are_found_with_their_time(ms: int) -> None:
    """Where the force rises or falls by a tenth of its peak or more in that time; to half of it, by the slopes."""
    for seed in SEEDS:
        wrench = wrench_of(Step(2, seed))
        first, last = stance_of(wrench)
        begin = round(first + 0.2 * (last - first))
        cut = np.concatenate([wrench[:begin], wrench[begin + ms :], wrench[-ms:]])
        change = np.abs(cut[begin, 1] - cut[begin - 1, 1]) / np.abs(wrench[:, 1]).max()
        found = find_breaks(cut, CORNERS, RATE_HZ)
        if change > 0.1:
            assert [one.first for one in found] == [begin]
            assert found[0].lost_s == pytest.approx(ms / 1000, rel=0.5)


@pytest.mark.parametrize("kind", [*CHANNELS_OF_TYPE])
@pytest.mark.parametrize("zeroed_n", [0.0, 10.0, 20.0])
def test_steps_on_sound_plates_have_no_breaks(kind: int, zeroed_n: float) -> None:
    """Stored with 12 or 16 bits; small forces set to zero by the lab."""
    for seed in range(2 * len(SEEDS)):
        wrench = wrench_of(Step(kind, seed))
        wrench[np.abs(wrench[:, 1]) < zeroed_n] = 0
        assert find_breaks(wrench, CORNERS, RATE_HZ) == [], seed


@pytest.mark.parametrize("kg", [13, 15, 20, 25])
@pytest.mark.parametrize("set_to_zero", ["all", "centre of pressure"])
def test_stances_of_children_with_small_forces_set_to_zero_have_no_breaks(kg: int, set_to_zero: str) -> None:
    """Below 10 to 50 N, up to 0.6 m from the middle: a half sine of 1.1 times the weight."""
    time = np.arange(-200, 900) / 1000
    vertical = 1.1 * 9.81 * kg * np.sin(np.pi * np.clip(time / 0.7, 0, 1))
    force = vertical[:, None] * [-0.18, 1.0, 0.05]
    for threshold_n in (10, 20, 30, 40, 50):
        for heel_m in (-0.6, -0.3, 0.0, 0.3):
            kept = (vertical >= threshold_n)[:, None]
            place = np.stack([heel_m + 0.2 * time, 0 * time, 0 * time + 0.05], axis=1) * kept
            pressed = force * kept if set_to_zero == "all" else force
            wrench = np.hstack([pressed, np.cross(place, pressed)])
            assert find_breaks(wrench, CORNERS, 1000.0) == [], (threshold_n, heel_m)
            wrench[500:550] = 0
            (found,) = find_breaks(wrench, CORNERS, 1000.0)
            assert (found.first, found.last, found.lost_s) == (500, 549, 0.0)


@pytest.mark.parametrize("rate_hz", [500, 500 * (1 - 1e-15), 1000, 2000])
def test_stamps_and_hard_heels_are_no_breaks(rate_hz: float) -> None:
    """A stamp rises to 2,000 N in 5 ms; a heel in running makes a spike of 1,000 N, 10 ms wide, on 1,800 N.

    The stamp rises as a cubic or a minimum jerk. The plate has noise of 1 N, at 0.2 m from its middle.
    """
    time = np.arange(round(2 * rate_hz)) / rate_hz
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        start = 0.5 + rng.uniform(0, 0.005)
        pressed = np.clip((time[:, None] - [start, start + 0.3]) / 0.005, 0, 1)
        cubic, smoother = pressed**2 * (3 - 2 * pressed), pressed**3 * (10 - 15 * pressed + 6 * pressed**2)
        stamps = [2000 * (rise[:, 0] - rise[:, 1]) for rise in (cubic, smoother)]
        phase, spike = np.clip((time - start) / 0.25, 0, 1), np.clip((time - start) / 0.01, 0, 1)
        heel = 1800 * np.sin(np.pi * phase) + 1000 * np.sin(np.pi * spike) ** 2
        for vertical in (*stamps, heel):
            shape = vertical[:, None] * [0.1, 1.0, 0.03, 0.02, 0.01, 0.05]
            assert find_breaks(shape + rng.normal(0, 1, shape.shape) * [1, 1, 1, 0.2, 0.2, 0.2], CORNERS, rate_hz) == []


def test_a_drop_out_is_found_at_a_rate_that_rounding_puts_below_500_hz() -> None:
    wrench = wrench_of(Step(2, 0))[::2]
    first, last = stance_of(wrench)
    begin = (first + last) // 2
    wrench[begin : begin + 25] = 0
    for rate_hz in (500.0, 500 * (1 - 1e-15)):
        (found,) = find_breaks(wrench, CORNERS, rate_hz)
        assert (found.first, found.last) == (begin, begin + 24)


def test_a_stiff_sole_that_rolls_over_an_edge_point_by_point_is_no_break() -> None:
    """Nine points of a sole of 0.2 m carry a ninth of 800 N each, on a plate with noise of 1 N at 0.2 m."""
    points, time = np.linspace(-0.1, 0.1, 9), np.arange(0, 1.2, 0.001)
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        ahead = rng.uniform(0.2, 0.28) + 0.25 * np.clip(time - 0.3, 0, 0.5)  # the middle of the sole
        place = ahead[:, None] + points
        load = 800 / 9 * np.sin(np.pi * np.clip((time - 0.1) / 0.9, 0, 1))[:, None] * (place < 0.3)
        vertical, across = load.sum(axis=1), rng.uniform(-0.1, 0.1)
        wrench = np.stack(
            [0 * time, vertical, 0 * time, -across * vertical, 0 * time, (place * load).sum(axis=1)], axis=1
        )
        noise = rng.normal(0, 1, wrench.shape) * [1, 1, 1, 0.2, 0.2, 0.2]
        assert np.abs(np.diff(vertical)).max() > 50
        assert find_breaks(wrench + noise, CORNERS, 1000.0) == [], seed


def test_lost_samples_are_told_from_a_step_at_the_edge_by_the_place_of_the_step() -> None:
    """The same 30 ms, on a large plate and on one whose edge is where the load jumps; both have one middle."""
    told = []
    for seed in SEEDS:
        wrench = wrench_of(Step(2, seed))
        first, last = stance_of(wrench)
        begin = round(first + 0.2 * (last - first))
        cut = np.concatenate([wrench[:begin], wrench[begin + 30 :], wrench[-30:]])
        jump = cut[begin] - cut[begin - 1]
        half_x = abs(jump[5] / jump[1])  # from the middle, of a vertical force
        if find_breaks(cut, 4 * CORNERS, RATE_HZ):
            told.append(seed)
            assert find_breaks(cut, CORNERS * [half_x / 0.3, 0, 8], RATE_HZ) == [], seed
    assert told


def test_values_held_from_a_lower_rate_and_coarse_counts_are_no_breaks() -> None:
    for seed in SEEDS:
        wrench = wrench_of(Step(2, seed))
        held = np.repeat(wrench[::10], 10, axis=0)
        coarse = np.round(wrench / [10, 10, 10, 5, 5, 5]) * [10, 10, 10, 5, 5, 5]
        assert find_breaks(held, CORNERS, RATE_HZ) == []
        assert find_breaks(coarse, CORNERS, RATE_HZ) == []
