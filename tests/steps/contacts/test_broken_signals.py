"""Stances on a plate whose signal breaks, in generated walks from the raw recording on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from pipeline.json_text import to_text
from pipeline.steps.contacts.broken_signals import doubt_after_loss, reject_broken
from pipeline.steps.contacts.plate_contacts import Contact
from pipeline.variables.stance_verdicts import Verdict
from tests.steps.clean.test_impossible_motion import rows
from tests.support.plates.stances import found
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.moving_on_plates import BODY_MODEL, recorded
from tests.support.walks.shown import shown_walk


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
        assert ("plate_time_lost_before" in row["doubt_code"]) == (row["contact_end"] > rising_s)


@pytest.mark.parametrize(("refused", "doubted"), [(None, True), ("plate_faulty", False)])
@pytest.mark.parametrize("reason", [None, "plate_out_of_time", "foot_partly_off_plate", "no contact"])
def test_a_loss_casts_doubt_unless_its_foot_may_roll_over_an_edge(
    reason: str | None, refused: str | None, doubted: bool
) -> None:
    """Plate 1 loses 30 ms at 1.5 s; a foot is on plate 2 from 1.4 to 2.1 s, and one was until then."""
    corners, refusals = np.zeros((2, 4, 3)), [Verdict(refused, {}) if refused else None, None]
    shown = shown_walk(np.arange(0, 3, 0.01), corners, {}, plate_breaks=to_text([[1, 1500, 1499, 300.0, 0.03]]))
    shown = replace(shown, data={**shown.data, "plate_time": np.arange(3000) / 1000}, refused_plates=refusals)
    of_loss = Contact((0,), 1.0, 1.7, 1.0, 1.7, "left", reason=Verdict(reason, {}) if reason else None)
    before, across = (Contact((1,), a, b, a, b, "right") for a, b in ((0.6, 1.3), (1.4, 2.1)))
    contacts = [before, across, *[of_loss] * (reason != "no contact")]
    doubted &= reason != "foot_partly_off_plate"
    judged = doubt_after_loss(reject_broken(contacts, shown), shown)
    assert [bool(contact.doubts) for contact in judged] == [False, doubted, *[doubted] * (len(contacts) - 2)]
    if doubted:
        assert judged[1].doubts[0].values == {"number": 1, "second": 1.5, "ms": 30.0}
