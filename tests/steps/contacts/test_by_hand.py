"""Events and contacts corrected by hand, in known walks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.steps.contacts.events import GaitEvent
from pipeline.variables.verdict_table import ACCEPTED
from tests.support.plates.stances import events_of, is_unknown, side_of, stance, under, within
from tests.support.settings import settings_of
from tests.support.steps import contacts
from tests.support.studies.corrected import correction
from tests.support.walks.as_clean import FOOT_M, Footfall, Rectangle, Walk, as_stored, cleaned


def corrected(trial: xr.Dataset, *rows: dict[str, str], **changes: Any) -> xr.Dataset:
    return contacts(as_stored(trial), settings=settings_of("contacts", **changes), corrections=rows)


def at(kind: str, step: Footfall, **cells: str) -> dict[str, str]:
    return correction(kind, **{"side": step.side, "time_s": f"{step.start_s:.4f}"} | cells)


def test_no_correction_changes_no_bit(plated: xr.Dataset) -> None:
    xr.testing.assert_identical(corrected(plated), corrected(plated, correction("leave_out_cycle", side="left")))


@pytest.mark.parametrize("late_s", [0.02, -0.03, 0.1])
def test_a_strike_is_moved_and_nothing_else(known: Walk, plated: xr.Dataset, late_s: float) -> None:
    """The stance begins where the person says; its force stays as the plate measured it."""
    step, before = known.seen()[1], corrected(plated)
    to_s = step.start_s + late_s
    after = corrected(plated, at("move_foot_strike", step, to_s=repr(to_s)))
    changed = set(events_of(after, step.side)) - set(events_of(before, step.side))
    assert changed == {GaitEvent(to_s, "foot_strike", "hand")}
    assert stance(after, step) == stance(before, step) | {"contact_start": to_s}
    xr.testing.assert_identical(after.ground_force, before.ground_force)


def test_a_strike_is_removed_and_another_added(known: Walk, plated: xr.Dataset) -> None:
    step = known.seen()[1]
    without = corrected(plated, at("remove_foot_strike", step))
    assert all(
        abs(event.time_s - step.start_s) > 0.1 for event in events_of(without, step.side) if "strike" in event.kind
    )
    other = next(one for one in known.seen() if one.side != step.side)
    assert stance(without, other)["valid"]
    remade = corrected(plated, at("remove_foot_strike", step), at("add_foot_strike", step))
    assert (
        events_of(remade, step.side)[1:]
        == [
            event
            if abs(event.time_s - step.start_s) > 0.01
            else GaitEvent(float(at("x", step)["time_s"]), event.kind, "hand")
            for event in events_of(corrected(plated), step.side)
        ][1:]
    )
    assert stance(remade, step)["valid"]


@pytest.mark.parametrize(
    ("kind", "cells", "message"),
    [
        ("add_foot_strike", {}, "there is a right foot strike at .* s; move that one"),
        ("remove_foot_strike", {"time_s": "77"}, "there is no right foot strike; give one of "),
        ("remove_foot_off", {}, "there is no right foot off"),
        ("move_foot_strike", {"to_s": "99"}, "99 s is outside the trial; give 0.000 to "),
        ("add_foot_strike", {"time_s": "99"}, "99 s is outside the trial"),
        ("accept_contact", {"time_s": "77"}, "no right stance begins then; give one of"),
        ("give_contact", {"given": "9"}, "no contact with plate 9 begins then; there is none"),
        ("give_contact", {"given": "2"}, "no contact with plate 2 begins then; give one of"),
    ],
)
def test_a_correction_that_matches_nothing_says_so(
    known: Walk, plated: xr.Dataset, kind: str, cells: dict[str, str], message: str
) -> None:
    step = known.seen()[0]
    assert step.side == "right"
    with pytest.raises(UserError, match=f"^corrections.tsv: .*{message}.*remove the row"):
        corrected(plated, at(kind, step, **cells))


def test_a_strike_is_not_moved_past_another_event(known: Walk, plated: xr.Dataset) -> None:
    step = known.seen()[0]
    with pytest.raises(UserError, match="another event of the foot is passed; move that one first"):
        corrected(plated, at("move_foot_strike", step, to_s=repr(step.end_s + 0.05)))


def test_a_sound_contact_is_refused_once(known: Walk, plated: xr.Dataset) -> None:
    step, other = known.seen()[:2]
    row = at("refuse_contact", step)
    trial = corrected(plated, row)
    assert stance(trial, step)["reason_code"] == "refused_by_hand"
    assert is_unknown(trial, step)
    assert stance(trial, other)["valid"]
    with pytest.raises(UserError, match="the contact is refused already: the plate's baseline drifts"):
        corrected(drifting(plated), row)


@pytest.mark.parametrize("by_s", [-0.02, -0.08, 0.08])
def test_a_judged_stance_may_have_its_strike_moved(known: Walk, plated: xr.Dataset, by_s: float) -> None:
    """However far, and in whichever order: the judgement is of the stance, not of the time that its strike had."""
    step, other = known.seen()[1:3]
    refuse, to_s = at("refuse_contact", step), step.start_s + by_s
    move = at("move_foot_strike", step, to_s=f"{to_s:.3f}")
    for rows in ((refuse, move), (move, refuse)):
        trial = corrected(plated, *rows)
        starts = trial.contact_start.values[trial.contact_side.values == step.side]
        i = int(np.flatnonzero(trial.contact_start.values == starts[np.abs(starts - to_s).argmin()])[0])
        assert abs(float(trial.contact_start[i]) - to_s) < 0.01
        assert trial.reason.values[i] == "refused by hand: seen on video"
        assert stance(trial, other)["valid"]


def drifting(plated: xr.Dataset) -> xr.Dataset:
    drift = plated.plate_drift.copy(deep=True)
    drift[0] = 50.0
    return plated.assign(plate_drift=drift)


def test_a_refusal_that_is_a_judgement_is_accepted_with_the_force_of_the_plate(known: Walk, plated: xr.Dataset) -> None:
    step = known.seen()[0]
    assert stance(corrected(drifting(plated)), step)["reason_code"] == "plate_drifts"
    trial, sound = corrected(drifting(plated), at("accept_contact", step)), corrected(plated)
    assert stance(trial, step)["valid"]
    i = int(np.flatnonzero(trial.plates.values == "1")[0])
    assert trial.doubt_code.values[i] == f"{ACCEPTED} plate_drifts"
    assert "50 N" in trial.doubt.values[i]
    inside = within(trial, step.start_s + 0.02, step.end_s - 0.02)
    np.testing.assert_array_equal(
        side_of(trial, "ground_force", step.side)[inside], side_of(sound, "ground_force", step.side)[inside]
    )


def test_what_makes_the_numbers_impossible_is_accepted_by_nobody(known: Walk, plated: xr.Dataset) -> None:
    first, second = known.seen()[:2]
    shared = cleaned(known, [Rectangle(first.x - 0.1, second.x + FOOT_M + 0.1, -0.2, 0.2)])
    (start_s,) = corrected(shared).contact_start.values[corrected(shared).reason_code.values == "two_feet_on_plate"][:1]
    side = str(corrected(shared).contact_side.values[corrected(shared).reason_code.values == "two_feet_on_plate"][0])
    with pytest.raises(UserError, match="no person can accept this contact: two feet on the plate"):
        corrected(shared, correction("accept_contact", side=side, time_s=repr(float(start_s))))
    dead = plated.plate_fault.astype("U20")
    dead[0] = "Fz is dead"
    with pytest.raises(UserError, match="no person can accept this contact: plate 1: Fz is dead"):
        corrected(plated.assign(plate_fault=dead), at("accept_contact", first))
    bare = cleaned(known, [under(second)])
    row = at("accept_contact", first, time_s=repr(stance(corrected(bare), first)["contact_start"]))
    with pytest.raises(UserError, match="no person can accept this contact: no plate"):
        corrected(bare, row)


def test_a_contact_is_given_to_a_foot(known: Walk) -> None:
    """A foot on the edge is accepted where the person says so, and the other foot is not taken for it."""
    step = known.seen()[0]
    edge = cleaned(known, [under(step, back_m=-0.08)])
    row = correction("give_contact", side=step.side, given="1", time_s=f"{step.start_s + 0.06:.3f}")
    assert stance(corrected(edge), step)["reason_code"] == "foot_partly_off_plate"
    assert stance(corrected(edge, row), step)["valid"]
    other = {"left": "right", "right": "left"}[step.side]
    with pytest.raises(UserError, match=f"the {other} foot is not over the plate; give the contact to the other foot"):
        corrected(edge, row | {"side": other})
