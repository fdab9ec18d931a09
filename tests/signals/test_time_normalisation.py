"""Time normalisation: straight lines, gaps, ends between frames, cycles without an end."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.signals.time_normalisation import PHASE, at_phases, over_one_cycle, phase_frames
from tests.support.walks.person import PROPERTY, SEED, close

TIME = 2 + np.arange(200) / 100
INDEX = np.arange(2)


@given(SEED, st.integers(1, 5))
@PROPERTY
def test_straight_lines_are_exact_over_any_cycles(seed: int, count: int) -> None:
    """Values (time, side, 2, 3), each a line of its own; cycles begin and end between frames."""
    rng = np.random.default_rng(seed)
    slope, offset = rng.normal(size=(2, 2, 2, 3))
    values = offset + slope * (TIME - TIME[0])[:, None, None, None]
    start, length = rng.uniform(TIME[0], TIME[0] + 0.9, count), rng.uniform(0.2, 1.0, count)
    side = rng.integers(0, 2, count)
    found = at_phases(values, phase_frames(TIME, start, start + length), side)
    elapsed = (start - TIME[0])[:, None] + PHASE / 100 * length[:, None]
    close(found, (offset[side][..., None] + slope[side][..., None] * elapsed[:, None, None, :]))


def test_between_frames_the_value_is_that_of_the_chord() -> None:
    start, length = TIME[10] + 0.003, 1.0  # every instant lies 3 ms after a frame
    found = over_one_cycle(np.sin(7 * TIME), TIME, start, start + length)
    close(found, 0.7 * np.sin(7 * TIME[10:111]) + 0.3 * np.sin(7 * TIME[11:112]))


def test_gap_hides_its_neighbours_but_no_frame_that_an_instant_falls_on() -> None:
    time = np.arange(11) / 10
    values = np.stack([3 * time, np.where(np.isclose(time, 0.5), np.nan, time)], axis=1)
    found = over_one_cycle(values, time, 0.0, 1.0)
    close(found[:, 0], np.linspace(0, 3, 101))
    assert np.flatnonzero(np.isnan(found[:, 1])).tolist() == list(range(41, 60))


def test_last_frame_is_kept_where_the_next_one_is_missing() -> None:
    """The cycle ends half a frame after frame 100: 100 % lies between a known and a missing frame."""
    values = TIME.copy()
    values[101:] = np.nan
    end = TIME[100] + 0.005
    found = over_one_cycle(values, TIME, TIME[0], end)
    inside = TIME[0] + PHASE / 100 * (end - TIME[0]) <= TIME[100]
    close(found[inside], (TIME[0] + PHASE / 100 * (end - TIME[0]))[inside])
    np.testing.assert_array_equal(found[~inside], TIME[100])


def test_cycle_without_an_end_is_missing_and_others_are_not() -> None:
    values = np.stack([TIME, -TIME], axis=1)
    start = np.array([TIME[0], TIME[0]])
    found = at_phases(values, phase_frames(TIME, start, np.array([np.nan, TIME[100]])), INDEX)
    assert np.isnan(found[0]).all()
    close(found[1], -TIME[:101])


def test_no_cycle_gives_no_curve() -> None:
    none = phase_frames(TIME, np.empty(0), np.empty(0))
    assert at_phases(np.zeros((200, 2, 3)), none, np.empty(0, dtype=int)).shape == (0, 3, 101)
