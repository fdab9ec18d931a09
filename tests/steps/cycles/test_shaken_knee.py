"""The doubt about a stance in which the knee marker shakes as at no other time."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from pipeline.arrays import Array
from pipeline.signals.filters import low_pass
from pipeline.steps.cycles.knee_checks import TIMES, fast_distances, strongest_shake
from tests.support.walks.as_clean import walk
from tests.support.walks.for_cycles import trial

RATE_HZ = 100.0
TIME = np.arange(300) / RATE_HZ
NAMES = [
    "lateral_epicondyle_left",
    "thigh_wand_left",
    "lateral_malleolus_left",
    "heel_left",
    "lateral_epicondyle_right",
]
STANCE = (1.0, 1.6)


def leg(moved: Array | None = None, noise_m: float = 0.0) -> tuple[xr.Dataset, xr.Dataset]:
    """Return markers, and hip centres, of a leg that swings as one stiff piece; ``moved`` of its knee marker (time, 3).

    It turns about the hip by 30 degrees once in .9 s, and the hip goes on at 1.2 m/s.
    """
    angle = np.radians(30) * np.sin(2 * np.pi * TIME / 0.9)
    down = np.stack([np.sin(angle), -np.cos(angle), 0 * angle], axis=1)
    ahead = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    hip = np.stack([1.2 * TIME, 0.9 + 0 * TIME, 0 * TIME], axis=1)
    places = [(0.40, 0.0), (0.25, 0.08), (0.80, 0.0), (0.85, -0.05), (0.40, 0.0)]  # below and before the hip
    position = np.stack([hip + d * down + a * ahead for d, a in places], axis=1)
    position += noise_m * np.random.default_rng(1).normal(size=position.shape)
    if moved is not None:
        position[:, 0] += moved
    clean = xr.Dataset(
        {"marker_position": (("time", "marker", "axis"), position)}, coords={"time": TIME, "marker": NAMES}
    )
    centre = np.repeat(np.repeat(hip[:, None, None], 2, axis=1), 3, axis=2)
    return clean, xr.Dataset({"joint_centre": (("time", "side", "joint", "axis"), centre)}, coords={"time": TIME})


def held(position: Array, first: int, count: int, cutoff_hz: float) -> Array:
    """Return what holding a path (time, 3) for some frames, and a filter after it, change of it."""
    gap = position.copy()
    gap[first : first + count] = gap[first]
    return low_pass(gap, rate_hz=RATE_HZ, cutoff_hz=cutoff_hz, order=4) - low_pass(
        position, rate_hz=RATE_HZ, cutoff_hz=cutoff_hz, order=4
    )


def test_the_shake_is_the_largest_fast_part_against_that_of_the_rest() -> None:
    fast = np.full((len(TIME), 2), 0.0004)
    fast[120, 0], fast[200, 0] = 0.003, 0.001  # three times
    fast[130, 1], fast[104, 1], fast[157, 1] = 0.001, 0.009, 0.009  # at the ends of the stance: not counted
    found = strongest_shake(fast, TIME, *STANCE)
    assert found == pytest.approx((3.0, 0.003))


@pytest.mark.parametrize("why", ["below half a millimetre", "less than a stride beside it", "unknown", "no distance"])
def test_there_is_no_shake(why: str) -> None:
    fast = np.full((len(TIME), 1), 0.0001)
    fast[120] = 0.0004 if why == "below half a millimetre" else 0.003
    if why == "less than a stride beside it":
        fast[TIME < 0.5], fast[TIME > 2.0] = np.nan, np.nan  # .9 s are left
    if why == "unknown":
        fast[:] = np.nan
    found = strongest_shake(fast if why != "no distance" else fast[:, :0], TIME, *STANCE)
    assert found == (0, 0)


@pytest.mark.parametrize("cutoff_hz", [6.0, 10.0])
def test_a_gap_that_was_held_and_filtered_shakes_the_marker_of_its_side(cutoff_hz: float) -> None:
    """For 100 ms, in which the marker goes 120 mm and more."""
    clean, kinematics = leg()
    moved = held(clean["marker_position"].values[:, 0], 125, 10, cutoff_hz)
    noisy = leg(moved, noise_m=0.0002)
    assert strongest_shake(fast_distances(*noisy, "left"), TIME, *STANCE)[0] > TIMES
    assert fast_distances(clean, kinematics, "left").max() < 1e-4
    assert strongest_shake(fast_distances(*leg(noise_m=0.001), "left"), TIME, *STANCE)[0] < TIMES


def test_slow_motion_of_the_marker_on_the_skin_is_no_shake() -> None:
    """By 20 mm, twice a second."""
    slow = 0.02 * np.sin(2 * np.pi * 2 * TIME)[:, None] * np.array([0.6, 0.8, 0.0])
    assert strongest_shake(fast_distances(*leg(slow), "left"), TIME, *STANCE)[0] < TIMES


def test_a_leg_without_knee_marker_or_at_a_low_rate_has_no_distance() -> None:
    clean, kinematics = leg()
    assert fast_distances(clean, kinematics, "left").shape == (300, 3)
    assert fast_distances(clean.isel(marker=[1, 2, 3]), kinematics, "left").shape == (300, 0)
    slow = {"time": slice(None, None, 6)}
    assert fast_distances(clean.isel(slow), kinematics.isel(slow), "left").shape == (50, 0)


@pytest.mark.parametrize(("clusters", "doubted"), [(["heel", "toe"], [0.75]), (["thigh_1", "toe"], [])])
def test_only_the_stance_with_the_shake_is_doubted_and_not_with_clusters(
    clusters: list[str], doubted: list[float]
) -> None:
    """A knee marker goes with the hip, but for a trembling of .1 mm, and of 5 mm in the left stance from .75 s on."""
    known = walk(strides=3)
    made = trial(known)
    clean, hips = made["clean"], made["kinematics"]["joint_centre"].values[:, 0, 2]
    time, step = clean["time"].values, known.of("left")[2]
    middle = (step.start_s + step.end_s) / 2
    trembling = 1e-4 + 5e-3 * np.exp(-(((time - middle) / 0.03) ** 2))
    knee = hips + np.array([0.0, -0.4, 0.0]) + (trembling * np.cos(2 * np.pi * 10 * time))[:, None]
    names = clean["marker"].values.tolist()
    added = clean.isel(marker=[*range(len(names)), 0]).assign_coords(marker=[*names, "lateral_epicondyle_left"])
    added["marker_position"].values[:, -1] = knee
    made["clean"] = added
    made["calibrate"]["cluster_marker"] = ("cluster", clusters * 2)
    found = made.cut()
    codes = found.stance_doubt_code.values.astype(str)
    assert found.stance_start.values[np.char.count(codes, "knee_marker_shaken") > 0] == pytest.approx(doubted)
