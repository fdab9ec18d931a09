"""Walks in which one foot has no markers: the stances of the other are judged by its rests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.steps.contacts.events import Stance
from pipeline.steps.contacts.feet import feet_of
from pipeline.steps.contacts.foot_on_plate import reject_shared
from pipeline.steps.contacts.plate_contacts import Contact
from tests.support.faults.plates import judged
from tests.support.walks.on_plates import raw_walk
from tests.support.walks.shown import shown_walk

OTHER = {"left": "right", "right": "left"}


def without_foot(raw: xr.Dataset, side: str) -> xr.Dataset:
    """Return a recorded walk without the markers of one foot."""
    labels = {f"{side[0].upper()}{name}" for name in ("HEE", "MT1", "MT2", "MT5")}
    return raw.sel(marker=[label for label in raw.marker.values if str(label) not in labels])


@pytest.mark.parametrize("side", ["left", "right"])
def test_stances_of_the_seen_foot_are_those_with_both_or_left_open(tmp_path: Path, side: str) -> None:
    used = known = 0
    for number in range(8):
        raw = raw_walk(tmp_path, number)
        both = [row for row in judged(raw) if row.side == OTHER[side] and not row.reason]
        alone = judged(without_foot(raw, side))
        mine = [row for row in alone if not row.reason]
        assert all(row in both for row in mine)
        assert {row.code for row in alone if row.code} <= {"foot_without_markers", "other_foot_without_markers"}
        used, known = used + len(mine), known + len(both)
    assert known >= used > known - 3  # cut off by the trial, or seen to rest only in part


@pytest.mark.parametrize(("start_s", "end_s"), [(0.8, 1.4), (1.0, 1.55), (0.9, 2.1), (0.4, 1.5)])
def test_a_plate_loaded_for_longer_than_a_foot_rests_may_hold_the_other(start_s: float, end_s: float) -> None:
    """The foot swings past 0 and 2 m about 0.7 and 1.7 s, and rests in between."""
    time = np.arange(301) / 100
    x = np.tanh(8 * (time - 0.7)) + np.tanh(8 * (time - 1.7))
    heel = np.stack([x, 0 * x + 0.03, 0 * x], axis=1)
    places = {"heel_left": heel, "toe_left": heel + np.array([0.18, 0, 0])}
    plate = np.array([[[-0.2, 0, -0.2], [-0.2, 0, 0.2], [0.4, 0, 0.2], [0.4, 0, -0.2]]])
    feet = feet_of(places, time, plate, travel="forwards")
    (found,) = reject_shared([Contact((0,), start_s, end_s, start_s, end_s, "left")], shown_walk(time, plate, feet))
    assert bool(found.reason) == (end_s - start_s > 1)


@pytest.mark.parametrize(("beside_m", "shared"), [(0.03, True), (0.10, False)])
def test_a_load_that_its_foot_leaves_behind_is_the_other_foots(beside_m: float, shared: bool) -> None:
    """The right foot swings from 1.2 s; its belt stays loaded to 1.5 s by the left one, on the seam between belts.

    The left foot stands beside the seam at z = 0 from 1 s. From 10 cm off its sole does not reach the other belt.
    """
    time = np.arange(301) / 100
    swing = np.stack([np.tanh(8 * (time - 1.35)), 0 * time + 0.03, 0 * time + 0.1], axis=1)
    stand = np.stack([np.tanh(8 * (time - 0.6)), 0 * time + 0.03, 0 * time - beside_m], axis=1)
    places = {"heel_right": swing - [0.9, 0, 0], "heel_left": stand - [0.9, 0, 0]}
    places |= {name.replace("heel", "toe"): path + np.array([0.18, 0, 0]) for name, path in places.items()}
    belts = np.array(
        [[[-2, 0, -0.5], [-2, 0, 0], [2, 0, 0], [2, 0, -0.5]], [[-2, 0, 0], [-2, 0, 0.5], [2, 0, 0.5], [2, 0, 0]]]
    )
    loads = [Contact((0,), 1.0, 2.0, 1.0, 2.0, "left"), Contact((1,), 0.3, 1.5, 0.3, 1.5, "right")]
    stances = {"left": [Stance(1.0, 2.0)], "right": [Stance(0.3, 1.2)]}
    feet = feet_of(places, time, belts, travel="forwards")
    left, right = reject_shared(loads, shown_walk(time, belts, feet, stances=stances))
    codes = [each.reason.code if each.reason else "" for each in (left, right)]
    assert codes == (["foot_on_two_plates", "two_feet_on_plate"] if shared else ["", ""])
