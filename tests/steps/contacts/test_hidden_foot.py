"""A foot of which heel or toe are hidden during its contact: the contact is its own, never the other foot's."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.conventions import SIDES
from tests.support.plates.stances import found
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.moving_on_plates import BODY_MODEL, recorded

Row = dict[str, Any]
WALKS = [("straight", 41), ("slow", 42), ("short steps", 43), ("upstairs", 44), ("running", 45), ("split belt", 46)]
SAME_S = 0.03  # events of one foot from motion shift when those of the other are lost


def rows(raw: xr.Dataset) -> list[Row]:
    trial = found(clean(raw, body_model=BODY_MODEL, settings=settings_of("clean")))
    names = ("contact_side", "plates", "contact_start", "contact_end", "reason_code")
    columns = (trial[name].values.tolist() for name in names)
    return [
        dict(zip(("side", "plates", "start", "end", "code"), row, strict=True)) for row in zip(*columns, strict=True)
    ]


@cache
def walk_and_rows(way: str, seed: int) -> tuple[xr.Dataset, list[Row]]:
    """Return a recording, to read only, and its contacts."""
    raw = recorded(way, seed).trial
    return raw, rows(raw)


def hidden(raw: xr.Dataset, labels: list[str], start_s: float, end_s: float) -> xr.Dataset:
    """Return a recording without some markers in a time."""
    bad = raw.copy(deep=True)
    inside = (bad.time.values > start_s) & (bad.time.values < end_s)
    bad.marker_position.values[np.ix_(inside, np.isin(bad.marker.values.astype(str), labels))] = np.nan
    return bad


@pytest.mark.parametrize("markers", [("HEE",), ("TOE",), ("HEE", "TOE")])
@pytest.mark.parametrize(("way", "seed"), WALKS)
def test_the_contact_of_a_hidden_foot_is_its_own(way: str, seed: int, markers: tuple[str, ...]) -> None:
    raw, before = walk_and_rows(way, seed)
    used = [row for row in before if not row["code"]]
    assert used
    for row in used:
        labels = [f"{row['side'][0].upper()}{name}" for name in markers]
        after = rows(hidden(raw, labels, row["start"] - 0.1, row["end"] + 0.1))
        middle = (row["start"] + row["end"]) / 2
        mine = [one for one in after if one["side"] == row["side"] and one["start"] < middle < one["end"]]
        assert [(one["plates"], one["code"]) for one in mine] == [(row["plates"], "feet_not_seen")]
        for other in (one for one in used if one["side"] != row["side"]):
            same = [
                one for one in after if one["side"] == other["side"] and abs(one["start"] - other["start"]) < SAME_S
            ]
            assert [(one["plates"], one["code"]) for one in same] == [(other["plates"], "")]


def test_a_foot_at_rest_under_the_force_keeps_its_contact_while_the_other_is_hidden() -> None:
    raw, before = walk_and_rows("straight", 41)
    used = [row for row in before if not row["code"]]
    row = used[len(used) // 2]
    (other,) = {*SIDES} - {row["side"]}
    after = rows(hidden(raw, [f"{other[0].upper()}HEE"], row["start"] - 0.1, row["end"] + 0.1))
    same = [one for one in after if one["side"] == row["side"] and one["plates"] == row["plates"]]
    assert [one["code"] for one in same] == [""]
