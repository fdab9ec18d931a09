"""Stances on a plate whose signal breaks, in generated walks from the raw recording on."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from tests.steps.clean.test_impossible_motion import rows
from tests.support.plates.stances import found
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.moving_on_plates import BODY_MODEL, recorded


def contacts_of(raw: xr.Dataset) -> xr.Dataset:
    return found(clean(raw, body_model=BODY_MODEL, settings=settings_of("clean")))


@pytest.mark.parametrize("ms", [20, 50, 100])
def test_a_drop_out_leaves_one_stance_refused_and_the_others_as_they_are(ms: int) -> None:
    """Its channels rest at their baseline in the middle of a stance, which is not taken for two."""
    raw = recorded("straight", 708).trial
    whole = rows(contacts_of(raw))
    used = [row for row in whole if not row["reason_code"]]
    hit = used[len(used) // 2]
    plate = raw.plate.values.tolist().index(int(hit["plates"]))
    middle_s = (hit["contact_start"] + hit["contact_end"]) / 2
    inside = (raw.plate_time.values >= middle_s) & (raw.plate_time.values < middle_s + ms / 1000)
    for name in ("plate_force", "plate_moment"):
        raw[name].values[inside, plate] = np.median(raw[name].values[:, plate], axis=0)
    after = rows(contacts_of(raw))
    assert len(after) == len(whole)
    for row in after:
        if row["plates"] == hit["plates"] and abs(row["contact_start"] - hit["contact_start"]) < 0.06:
            assert row["reason_code"] == "plate_drops_out"
            assert row["contact_end"] == pytest.approx(hit["contact_end"], abs=0.06)
        elif row in used:
            assert not row["reason_code"]
    assert [row["reason_code"] for row in after].count("plate_drops_out") == 1


def test_after_samples_that_plates_alone_have_lost_stances_are_doubted() -> None:
    raw = recorded("straight", 708).trial
    used = [row for row in rows(contacts_of(raw)) if not row["reason_code"]]
    hit, lost = used[len(used) // 2], 30
    rising_s = hit["contact_start"] + 0.2 * (hit["contact_end"] - hit["contact_start"])
    at = int(np.searchsorted(raw.plate_time.values, rising_s))
    for name in ("plate_force", "plate_moment"):
        values = raw[name].values
        raw[name].values[:] = np.concatenate([values[:at], values[at + lost :], np.repeat(values[-1:], lost, axis=0)])
    after = [row for row in rows(contacts_of(raw)) if row["plates"]]
    (broken,) = (row for row in after if row["reason_code"] == "plate_loses_time")
    assert broken["plates"] == hit["plates"]
    for row in after:
        late = row["contact_start"] > rising_s
        assert ("plate_time_lost_before" in row["doubt_code"]) == late
