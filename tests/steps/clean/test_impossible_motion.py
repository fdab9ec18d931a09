"""Frames that are frozen, lost or repeated, in generated walks of every way of moving."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.signals.filters import low_pass
from pipeline.steps.clean.impossible_motion import (
    displaced_frames,
    find_breaks,
    frozen_frames,
    held_frames,
    straight_frames,
)
from tests.support.plates.stances import found
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.moving_on_plates import BODY_MODEL, recorded
from tests.support.walks.ways_of_moving import WAYS

Array = NDArray[np.float64]
SECONDS = 0.06


def breaks_of(position: Array, interval_s: float) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    frozen = frozen_frames(position, interval_s)
    found = find_breaks(np.where(frozen[:, None, None], np.nan, position), frozen, interval_s)
    return found.frozen, found.lost


def damaged(path: Array, kind: str, at: int, count: int) -> Array:
    """Return a path (time, ...) with frames from ``at`` on damaged; as long, its end lost or seen as missing."""
    if kind == "frozen":
        return np.concatenate([path[:at], np.repeat(path[at - 1 : at], count, axis=0), path[at + count :]])
    if kind == "lost":
        return np.concatenate([path[:at], path[at + count :], np.full_like(path[:count], np.nan)])
    again = np.repeat(path[at - 1 : at], count, axis=0) if kind == "repeated" else path[at - count : at]
    return np.concatenate([path[:at], again, path[at:-count]])


def rounded(position: Array, unit_m: float) -> Array:
    return np.asarray(np.round(position / unit_m) * unit_m)


@pytest.mark.parametrize("way", WAYS)
def test_damage_is_found_where_it_is_and_nothing_else(way: str) -> None:
    for seed in (701, 702):
        raw = recorded(way, seed).trial
        position, rate_hz = raw.marker_position.values, raw.attrs["marker_rate_hz"]
        assert breaks_of(position, 1 / rate_hz) == ([], [])
        assert breaks_of(rounded(position, 1e-4), 1 / rate_hz) == ([], [])
        at, count = len(position) // 2, round(SECONDS * rate_hz)
        for kind in ("frozen", "lost", "repeated", "block"):
            frozen, lost = breaks_of(damaged(position, kind, at, count), 1 / rate_hz)
            stands = kind in ("frozen", "repeated")
            assert frozen == ([(at, at + count)] if stands else [])
            assert lost == ([] if kind == "frozen" else [(at, at + count if kind == "repeated" else at + 1)])


@pytest.mark.parametrize("rate_hz", [25, 33, 50, 500])
def test_walks_of_any_rate_have_no_breaks(rate_hz: int) -> None:
    """A walk is resampled by a spline: at 500 Hz its noise is smooth, at 25 Hz a stride has 25 frames."""
    from scipy.interpolate import CubicSpline

    for way in ("straight", "slow", "running", "split belt"):
        raw = recorded(way, 703).trial
        time = raw.time.values
        walk = CubicSpline(time, raw.marker_position.values)(np.arange(time[0], time[-1], 1 / rate_hz))
        for unit_m in (0.0, 1e-4):
            position = rounded(walk, unit_m) if unit_m else walk
            assert breaks_of(position, 1 / rate_hz) == ([], [])
            assert not displaced_frames(position, 1 / rate_hz).any()


def test_a_person_who_stands_without_noise_before_walking_is_not_frozen() -> None:
    """From rest at 3 m/s2, in a file without noise or one of whole millimetres, one foot resting all the time."""
    time = np.arange(300)[:, None, None] / 100
    place = np.linspace(0, 1, 12).reshape(1, 12, 1) * np.ones((1, 12, 3))
    walk = place + np.where(time > 1, 1.5 * (time - 1) ** 2, 0) * np.array([1.0, 0, 0])
    assert breaks_of(walk, 0.01) == ([], [])
    assert breaks_of(rounded(walk, 0.001), 0.01) == ([], [])


def test_every_second_frame_of_a_doubled_recording_is_a_gap() -> None:
    raw = recorded("straight", 701).trial
    frozen, lost = breaks_of(np.repeat(raw.marker_position.values[:100], 2, axis=0), 0.5 / raw.attrs["marker_rate_hz"])
    assert len(frozen) == 100
    assert lost == []


def rows(trial: xr.Dataset) -> list[dict[str, Any]]:
    names = ("contact_side", "plates", "contact_start", "contact_end", "reason_code", "doubt_code")
    return [dict(zip(names, row, strict=True)) for row in zip(*(trial[n].values.tolist() for n in names), strict=True)]


@pytest.mark.parametrize(("kind", "reason", "doubt"), [("frozen", "", "markers_frozen"), ("lost", "frames_lost", "")])
def test_stances_with_damage_are_judged_and_others_left(kind: str, reason: str, doubt: str) -> None:
    """After lost frames, stances on plates are doubted: markers may be out of step; those before are left."""
    raw = recorded("straight", 708).trial
    settings = settings_of("clean")
    whole = clean(raw, body_model=BODY_MODEL, settings=settings)
    used = [row for row in rows(found(whole)) if not row["reason_code"]]
    row = used[len(used) // 2]
    at = int(np.searchsorted(raw.time.values, (row["contact_start"] + row["contact_end"]) / 2))
    count = round(0.02 * raw.attrs["marker_rate_hz"]) if kind == "lost" else round(0.08 * raw.attrs["marker_rate_hz"])
    bad = raw.copy(deep=True)
    bad.marker_position.values[:] = damaged(raw.marker_position.values, kind, at, count)
    result = clean(bad, body_model=BODY_MODEL, settings=settings)
    assert [one[0] for one in json.loads(result.attrs["motion_breaks"])] == [kind]
    after = {(one["contact_side"], one["plates"]): one for one in rows(found(result))}
    hit = after[row["contact_side"], row["plates"]]
    assert (hit["reason_code"], hit["doubt_code"]) == (reason, doubt)
    for one in used:
        if one["contact_start"] > row["contact_end"] or one["contact_end"] < row["contact_start"]:
            same = after[one["contact_side"], one["plates"]]
            late = kind == "lost" and one["contact_start"] > row["contact_end"] and one["plates"]
            assert (same["reason_code"], same["doubt_code"]) == ("", "frames_lost_before" if late else "")


@pytest.mark.parametrize(("way", "seed"), [("straight", 708), ("straight", 709), ("slow", 711)])
@pytest.mark.parametrize("share_s", [0.02, 0.05])
def test_a_break_is_forgiven_if_the_plates_show_that_they_lost_the_same(way: str, seed: int, share_s: float) -> None:
    """Feet rest after their contacts as late as before the break, unless the markers alone lost frames."""
    raw = recorded(way, seed).trial
    settings, rate_hz = settings_of("clean"), raw.attrs["marker_rate_hz"]
    used = [row for row in rows(found(clean(raw, body_model=BODY_MODEL, settings=settings))) if not row["reason_code"]]
    row, count = used[len(used) // 2], round(share_s * rate_hz)
    at = int(np.searchsorted(raw.time.values, (row["contact_start"] + row["contact_end"]) / 2))
    samples = round(len(raw.plate_time) / len(raw.time))
    codes: dict[bool, list[str]] = {}
    for plates_too in (True, False):
        bad = raw.copy(deep=True)
        bad.marker_position.values[:] = damaged(raw.marker_position.values, "lost", at, count)
        for name in ("plate_force", "plate_moment") if plates_too else ():
            bad[name].values[:] = np.nan_to_num(damaged(raw[name].values, "lost", at * samples, count * samples))
        result = found(clean(bad, body_model=BODY_MODEL, settings=settings))
        after = [one for one in rows(result) if one["plates"] and one["contact_start"] > raw.time.values[at]]
        codes[plates_too] = [one["reason_code"] or one["doubt_code"] for one in after]
    assert "" in codes[True]
    assert "frames_lost_before" not in codes[True]
    assert codes[False]
    assert "" not in codes[False]


@pytest.mark.parametrize("frames", [1, 2, 5, 20])
@pytest.mark.parametrize("before", [True, False])
def test_a_place_that_is_repeated_while_the_marker_moves_was_not_measured(frames: int, before: bool) -> None:
    """The last place before a gap, or the first behind it; a single repetition may be chance in rounded numbers."""
    raw = recorded("straight", 709).trial
    path = raw.marker_position.values.copy()
    marker = int(np.linalg.norm(np.diff(path, axis=0), axis=2).mean(axis=0).argmax())
    gap = slice(80, 80 + frames)  # where it swings
    path[gap, marker] = path[79 if before else 80 + frames, marker]
    where = np.zeros(path.shape[:2], dtype=bool)
    where[gap, marker] = frames > 1
    np.testing.assert_array_equal(held_frames(path), where)


@pytest.mark.parametrize("way", WAYS)
def test_a_foot_that_rests_in_a_file_of_rounded_numbers_is_measured(way: str) -> None:
    for seed in (701, 702):
        raw = recorded(way, seed).trial
        path, rate_hz = raw.marker_position.values, raw.attrs["marker_rate_hz"]
        smooth = low_pass(path, rate_hz=rate_hz, cutoff_hz=6.0, order=4)
        for unit_m in (1e-4, 1e-3):
            assert not held_frames(rounded(smooth, unit_m)).any(), unit_m
            assert not held_frames(rounded(path, unit_m)).any(), unit_m


@pytest.mark.parametrize("rate_hz", [50, 100, 200])
@pytest.mark.parametrize("unit_m", [1e-4, 5e-4, 1e-3])
@pytest.mark.parametrize("stops_s", [0.02, 0.03, 0.04])
@pytest.mark.parametrize("leaves_m_s2", [2.0, 10.0])
def test_a_foot_that_the_ground_stops_at_once_is_measured(
    rate_hz: int, unit_m: float, stops_s: float, leaves_m_s2: float
) -> None:
    """It swings at 3 m/s as a quarter of a sine, rests for .3 s in rounded numbers, and leaves gradually."""
    time = np.arange(0, 1.5, 1 / rate_hz)
    swing = (
        np.cumsum(3.0 * np.clip((0.5 + stops_s - time) / stops_s, 0, 1) * np.sin(np.pi * np.fmin(time, 0.5))) / rate_hz
    )
    path = swing + leaves_m_s2 / 2 * np.clip(time - 0.8, 0, None) ** 2
    assert not held_frames(rounded(path[:, None, None] * np.array([1.0, 0.1, 0.2]), unit_m)).any()


@pytest.mark.parametrize("frames", [4, 8, 20])
def test_a_straight_path_of_a_marker_that_moves_was_not_measured(frames: int) -> None:
    """At 100 Hz: four frames are short, in longer ones the ends are measured; noise and standing are never straight."""
    raw = recorded("straight", 709).trial
    path = raw.marker_position.values.copy()
    assert not straight_frames(path, 0.01).any()
    marker = int(np.linalg.norm(np.diff(path, axis=0), axis=2).mean(axis=0).argmax())
    first, last = 80, 80 + frames + 1  # where it swings
    share = np.linspace(0, 1, frames + 2)[:, None]
    path[first : last + 1, marker] = (1 - share) * path[first, marker] + share * path[last, marker]
    path = path.astype(np.float32).astype(float)
    where = np.zeros(path.shape[:2], dtype=bool)
    where[first + 1 : last, marker] = frames > 4
    np.testing.assert_array_equal(straight_frames(path, 0.01), where)
    cleaned = clean(raw.assign(marker_position=(raw.marker_position.dims, path)), body_model=BODY_MODEL,
                    settings=settings_of("clean"))  # fmt: skip
    assert (cleaned.fill.values > 0).sum() == where.sum()


@pytest.mark.parametrize("rate_hz", [60, 100, 200, 500])
@pytest.mark.parametrize("cutoff_hz", [6.0, None])
def test_measured_paths_that_are_nearly_straight_stay(rate_hz: int, cutoff_hz: float | None) -> None:
    """A foot on a belt of 1.2 m/s and a pelvis over ground, filtered and rounded, as labs export them."""
    time = np.arange(10 * rate_hz) / rate_hz
    swing = np.clip((time % 1 - 0.6) / 0.4, 0, 1)
    done = swing**3 * (10 - 15 * swing + 6 * swing**2)
    foot = np.stack([1.2 * (done - time % 1), 0.05 + 0.4 * done * (1 - done), 0 * time], axis=-1)
    sway = 0.02 * np.sin(np.outer(time, [4 * np.pi, 4 * np.pi, 2 * np.pi]))
    path = np.stack([foot, sway + np.outer(time, [1.2, 0, 0])], axis=1)
    path += 1e-4 * np.random.default_rng(rate_hz).normal(size=path.shape)
    path = low_pass(path, rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=4)
    for grid_m in (1e-9, 1e-4, 1.2 / rate_hz / round(1200 / rate_hz)):
        rounded = (np.round(path / grid_m) * grid_m).astype(np.float32).astype(float)
        assert not straight_frames(rounded, 1 / rate_hz).any()


@pytest.mark.parametrize("way", WAYS)
def test_a_marker_that_jumps_away_and_back_is_not_seen_in_between(way: str) -> None:
    """By 12 mm for .3 s, in any direction; not if it goes there in .05 s, as loose skin may, or does not return."""
    rng = np.random.default_rng(7)
    for seed in (701, 702):
        raw = recorded(way, seed).trial
        position, rate_hz = raw.marker_position.values, raw.attrs["marker_rate_hz"]
        assert not displaced_frames(position, 1 / rate_hz).any()
        first, count = len(position) // 2, round(0.3 * rate_hz)
        marker = int(rng.integers(position.shape[1]))
        shift = rng.normal(size=3)
        shift *= 0.012 / np.linalg.norm(shift)
        share = np.zeros(len(position))
        share[first : first + count] = 1
        ramp = np.ones(max(2, round(0.05 * rate_hz)))
        gradual, stays = np.convolve(share, ramp / len(ramp), "same"), np.maximum.accumulate(share)
        for path, is_found in ((share, True), (gradual, False), (stays, False)):
            moved = position.copy()
            moved[:, marker] += path[:, None] * shift
            away = displaced_frames(moved, 1 / rate_hz)
            expected = np.zeros_like(away)
            expected[:, marker] = is_found & (share > 0)
            seen = np.isfinite(moved[first - 6 : first + count + 6, marker]).all()
            assert (away == (expected & seen)).all(), (way, seed, is_found)


def test_between_two_times_away_a_marker_is_seen() -> None:
    """Twice .2 s away by 12 mm, .2 s apart."""
    time = np.arange(200) / 100
    walk = 1.3 * time[:, None, None] * [1.0, 0, 0] + np.arange(6.0)[:, None] * [0.1, 0.2, 0]
    is_away = ((time >= 0.6) & (time < 0.8)) | ((time >= 1.0) & (time < 1.2))
    walk[:, 2] += 0.012 * is_away[:, None] * [0, 0, 1]
    away = displaced_frames(walk, 0.01)
    assert (away[:, 2] == is_away).all()
    assert not away[:, [0, 1, 3, 4, 5]].any()
