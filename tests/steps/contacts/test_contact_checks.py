"""Contacts, their rejection and assignments in trials.tsv, in known walks with a single fault."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.errors import UserError
from pipeline.steps.contacts import contact_checks
from pipeline.steps.contacts.body_motion import Shown
from pipeline.steps.contacts.foot_on_plate import combine
from pipeline.steps.contacts.plate_contacts import Contact, detect
from pipeline.steps.contacts.plate_faults import forces
from pipeline.trials.session import join_trials
from pipeline.variables.stance_verdicts import Verdict, verdicts_in
from pipeline.variables.verdict_table import DOUBTS, REFUSES, VERDICTS, Row
from tests.support.plates.stances import (
    SAMPLE_S,
    STOPS_AT_ONCE,
    THRESHOLD_N,
    found,
    is_unknown,
    side_of,
    stance,
    under,
    within,
)
from tests.support.settings import settings_of
from tests.support.steps import contacts
from tests.support.walks.as_clean import ANALOG_HZ, FOOT_M, Rectangle, Walk, as_stored, cleaned, crossing

Array = NDArray[np.float64]


def with_plate(trial: xr.Dataset, plate: int, **values: Array) -> xr.Dataset:
    """Return a trial with other values of one plate, including its vertical force."""
    changed = {name: trial[name].copy(deep=True) for name in ("plate_force", "plate_moment", "vertical_force")}
    for name, value in values.items():
        changed[name][:, plate] = value
    changed["vertical_force"][:, plate] = changed["plate_force"].values[:, plate, 1]
    return trial.assign(changed)


# --- where a contact begins and ends ---------------------------------------------------------------------------


def contacts_of(vertical: Array, *, min_contact_s: float = 0.1) -> list[tuple[float, float]]:
    """Return start and end of the contacts of one plate."""
    time = np.arange(len(vertical)) / ANALOG_HZ
    found = detect(time, vertical, vertical, 0, threshold_n=THRESHOLD_N, min_contact_s=min_contact_s)
    return [(contact.start_s, contact.end_s) for contact in found]


def pulse(start_s: float, end_s: float, newtons: float) -> Array:
    time = np.arange(2000) / ANALOG_HZ
    return np.where((time >= start_s) & (time < end_s), newtons, 0.0)


def test_a_force_around_the_threshold_is_one_contact() -> None:
    """In the last 0.2 s the force is 12 to 28 N at 10 Hz, below the threshold for 50 ms at a time."""
    time = np.arange(2000) / ANALOG_HZ
    load = pulse(0.5, 1.0, 600) + np.where((time >= 1.0) & (time < 1.2), 20 + 8 * np.cos(20 * np.pi * time), 0)
    ((start_s, end_s),) = contacts_of(load)
    assert start_s == pytest.approx(0.5, abs=SAMPLE_S)
    assert end_s == pytest.approx(1.2, abs=0.026), "the last crossing of the threshold, a quarter of a swing before"


def test_a_vibrating_plate_has_no_contacts() -> None:
    """A motor shakes it with 30 N at 45 Hz; the pauses are short enough to be bridged."""
    shaking = 30 * np.sin(2 * np.pi * 45 * np.arange(2000) / ANALOG_HZ)
    assert contacts_of(shaking, min_contact_s=0.0) == []
    ((start_s, end_s),) = contacts_of(shaking + pulse(0.5, 1.2, 700))
    assert (start_s, end_s) == pytest.approx((0.5, 1.2), abs=2 * SAMPLE_S)


def test_short_touches_before_and_after_do_not_lengthen_a_contact() -> None:
    """A touch of 30 ms ends 50 ms before the strike, and one follows foot off."""
    load = pulse(0.42, 0.45, 80) + pulse(0.5, 1.2, 700) + pulse(1.26, 1.3, 80)
    assert contacts_of(load) == [pytest.approx((0.5, 1.199), abs=SAMPLE_S)]


def test_a_foot_that_bounces_at_its_strike_strikes_once() -> None:
    """A first contact of 15 ms, a gap of 10 ms, then the load: the strike is at the first contact."""
    load = pulse(0.5, 0.515, 300) + pulse(0.525, 1.2, 700)
    assert contacts_of(load) == [pytest.approx((0.5, 1.199), abs=SAMPLE_S)]


# --- doubts ----------------------------------------------------------------------------------------------------


@pytest.fixture
def hot(monkeypatch: pytest.MonkeyPatch) -> None:
    """A doubt that the product does not have."""
    monkeypatch.setitem(VERDICTS, "hot", Row(DOUBTS, "plate at {celsius} degrees", "it is hot"))


@pytest.mark.usefixtures("hot")
def test_a_contact_on_two_plates_has_the_doubts_of_both() -> None:
    first, second = Contact((0,), 1.0, 1.5, 1.0, 1.5, "left"), Contact((1,), 1.3, 2.0, 1.3, 2.0, "left")
    (both,) = combine([first.doubted("hot", celsius=30).doubted("hot", celsius=35), second.doubted("hot", celsius=40)])
    assert [doubt.values for doubt in both.doubts] == [{"celsius": celsius} for celsius in (30, 35, 40)]
    assert combine([first, second])[0].doubts == ()


@pytest.mark.usefixtures("hot")
def test_a_doubted_contact_keeps_its_force(known: Walk, plated: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = found(plated)

    def check(contacts: Sequence[Contact], _: object) -> list[Contact]:
        return [contact.doubted("hot", celsius=41) if contact.plates == (1,) else contact for contact in contacts]

    judge = contact_checks.Judge(contact_checks.ON_ONE_PLATE, ("hot",), check)
    monkeypatch.setattr(contact_checks, "CONTACT_JUDGES", (*contact_checks.CONTACT_JUDGES, judge))
    trial = found(plated)
    (doubted,) = np.flatnonzero(trial.contact_start.values == sound.contact_start.values[sound.plates.values == "2"])
    assert (trial.doubt.values[doubted], trial.doubt_code.values[doubted]) == ("plate at 41 degrees", "hot")
    assert not np.delete(trial.doubt_code.values, doubted).any()
    np.testing.assert_array_equal(trial.valid, sound.valid)
    np.testing.assert_array_equal(trial.ground_force, sound.ground_force)


@pytest.mark.parametrize("kind", dict.fromkeys(one.of for one in contact_checks.CONTACT_JUDGES))
def test_a_new_witness_is_a_row_that_sees_what_the_walk_shows(
    known: Walk, plated: xr.Dataset, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Whatever it judges; here that no contact on the second plate may last longer than 0.1 s."""
    monkeypatch.setitem(VERDICTS, "too_long", Row(REFUSES, "lasts {seconds:.1f} s of {whole:.0f}", "for 0.1 s"))

    def check(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
        whole = shown.span["last_s"] - shown.span["first_s"]
        return [
            one.refuse("too_long", seconds=one.end_s - one.start_s, whole=whole) if one.plates == (1,) else one
            for one in contacts
        ]

    judge = contact_checks.Judge(kind, ("too_long",), check)
    monkeypatch.setattr(contact_checks, "CONTACT_JUDGES", (*contact_checks.CONTACT_JUDGES, judge))
    trial, step = found(plated), known.seen()[1]
    refused = trial.contact.values[trial.reason_code.values == "too_long"]
    (values,) = [verdicts_in(text)[0].values for text in trial.reason_values.values[refused].tolist()]
    assert values["seconds"] == pytest.approx(step.end_s - step.start_s, abs=0.02)


def test_the_codes_of_all_judges_are_in_the_table() -> None:
    codes = [one.codes for one in contact_checks.PLATE_JUDGES] + [one.codes for one in contact_checks.CONTACT_JUDGES]
    assert all(codes)
    assert {code for row in codes for code in row} <= {*VERDICTS}


# --- time ------------------------------------------------------------------------------------------------------


def late(trial: xr.Dataset, plate: int, seconds: float) -> xr.Dataset:
    count = round(seconds * ANALOG_HZ)
    names = ("plate_force", "plate_moment")
    return with_plate(trial, plate, **{name: np.roll(trial[name].values[:, plate], count, axis=0) for name in names})


@pytest.mark.parametrize("seconds", [-0.3, -0.1, 0.1, 0.3])
def test_only_a_plate_out_of_time_is_rejected(known: Walk, plated: xr.Dataset, seconds: float) -> None:
    """Feet of these walks stop instantly, 24 ms earlier than real feet, so the doses are larger."""
    trial = found(late(plated, 1, seconds))
    rows = [stance(trial, step) for step in known.seen()]
    assert [row["valid"] for row in rows] == [number != 1 for number in range(len(rows))]
    assert rows[1]["reason_code"] == "plate_out_of_time"
    told_ms = float(rows[1]["reason"].split()[1])
    assert told_ms == pytest.approx(1000 * abs(seconds), abs=35)
    strikes = trial.event_time.values[(trial.event_source.values == "plate")]
    assert not np.isclose(strikes[:, None], np.array(crossing(known.seen()[1], THRESHOLD_N)) + seconds, atol=0.01).any()


@pytest.mark.parametrize("seconds", [-0.1, 0.1])
def test_the_wrench_is_unknown_wherever_a_refused_plate_is_loaded(
    known: Walk, plated: xr.Dataset, seconds: float
) -> None:
    """Motion knows when the foot is down, but a part of the load is before or after that, in what is called swing."""
    step, trial = known.seen()[1], late(plated, 1, seconds)
    result = found(trial)
    assert stance(result, step)["reason_code"] == "plate_out_of_time"
    loaded = trial.plate_time.values[trial.plate_force.values[:, 1, 1] > 1.0]
    frames = within(result, loaded[0], loaded[-1])
    assert frames.sum() > 50
    assert np.isnan(side_of(result, "ground_force", step.side)[frames]).all()


def test_a_time_offset_may_be_allowed(known: Walk, plated: xr.Dataset) -> None:
    trial = found(late(plated, 1, 0.1), max_time_offset_s=0.2)
    assert stance(trial, known.seen()[1])["valid"]


# --- place, order, signal --------------------------------------------------------------------------------------


def test_a_force_far_from_the_ankle_is_rejected(known: Walk, plated: xr.Dataset) -> None:
    """By its moment it acts 28 cm to the side; the check of the centre of pressure is off."""
    far = plated.plate_moment.values[:, 0] + np.cross([0, 0, 0.28], plated.plate_force.values[:, 0])
    others = {"max_cop_distance_m": 9.0, "misread_plates": "ignore"}
    trial = found(with_plate(plated, 0, plate_moment=far), **others)
    row = stance(trial, known.seen()[0])
    assert row["reason_code"] == "force_off_ankle"
    assert float(row["reason"].split()[1]) == pytest.approx(28, abs=3)
    allowed = found(with_plate(plated, 0, plate_moment=far), max_lever_arm_m=0.5, **others)
    assert stance(allowed, known.seen()[0])["valid"]


@pytest.mark.parametrize("raised_m", [-0.12, -0.02, 0.0, 0.02, 0.08])
def test_a_plate_that_is_higher_than_the_sole_or_far_below_it_is_doubted(plated: xr.Dataset, raised_m: float) -> None:
    """Its corners and the place of its force are raised; heel and toe marker are 3 cm or more above the true top."""
    up = raised_m * np.array([0.0, 1.0, 0.0])
    moment = plated.plate_moment + np.cross(up, plated.plate_force)
    trial = found(plated.assign(plate_corner=plated.plate_corner + up, plate_moment=moment))
    on_plates = trial.plates.values != ""
    assert on_plates.sum() > 2
    codes = {*trial.doubt_code.values[on_plates].tolist()}
    assert codes == ({"plate_height_suspect"} if abs(raised_m) > 0.05 else {""})


@pytest.mark.parametrize(("newtons", "ahead_m"), [(0, 0.2), (150, 0.02), (80, 0.2), (150, 0.2), (400, 0.2)])
def test_a_load_before_the_toes_late_in_a_stance_is_doubted(
    known: Walk, plated: xr.Dataset, newtons: float, ahead_m: float
) -> None:
    """It grows in the last 15 % of a step and leaves with it; 2 cm ahead of the toe marker the foot presses itself."""
    step = known.seen()[0]
    share = (plated.plate_time.values - step.start_s) / (step.end_s - step.start_s)
    load = np.outer(newtons * np.where(share < 1, np.clip((share - 0.85) / 0.15, 0, None), 0), [0, 1, 0])
    place = [step.x + FOOT_M + ahead_m, 0, step.z]
    force, moment = (plated[f"plate_{name}"].values[:, 0] for name in ("force", "moment"))
    trial = found(with_plate(plated, 0, plate_force=force + load, plate_moment=moment + np.cross(place, load)))
    codes = trial.doubt_code.values[trial.plates.values == "1"].tolist()
    assert codes == ["force_beyond_toes" if newtons and ahead_m > 0.1 else ""]


def test_small_loads_of_a_child_show_no_place_beyond_the_toes(plated: xr.Dataset) -> None:
    """With a baseline of 3 N m the centre of pressure under a tenth of 160 N is 19 cm off, under 60 N 5 cm."""
    child = 160 / plated.plate_force.values[:, 0, 1].max()
    force, moment = (child * plated[f"plate_{name}"].values[:, 0] for name in ("force", "moment"))
    trial = found(with_plate(plated, 0, plate_force=force, plate_moment=moment + np.array([0, 0, 3.0])))
    assert "force_beyond_toes" not in trial.doubt_code.values.tolist()


def test_a_signal_with_a_gap_is_rejected(known: Walk, plated: xr.Dataset) -> None:
    step = known.seen()[0]
    middle = np.abs(plated.plate_time.values - (step.start_s + step.end_s) / 2) < 0.005
    names = ("plate_force", "plate_moment")
    gap = {name: np.where(middle[:, None], np.nan, plated[name].values[:, 0]) for name in names}
    trial = found(with_plate(plated, 0, **gap))
    assert stance(trial, step)["reason_code"] == "plate_signal_missing"
    assert is_unknown(trial, step)


def test_a_large_unknown_drift_is_rejected(known: Walk, plated: xr.Dataset) -> None:
    drift = np.zeros(plated.sizes["plate"])
    drift[0] = -31.0
    trial = found(plated.assign(plate_drift=("plate", drift)))
    first, second = (stance(trial, step) for step in known.seen()[:2])
    assert first["reason_code"] == "plate_drifts"
    assert "31 N" in first["reason"]
    assert second["valid"]


@pytest.mark.parametrize(("wander_n", "error_n", "lead_s", "code"), [
    (3.0, np.nan, 0.05, "plate_baseline_unknown"),
    (3.0, np.nan, 0.40, ""),
    (1.1, np.nan, 0.05, "plate_baseline_unknown"),
    (0.5, np.nan, 0.05, ""),
    (np.nan, np.nan, 0.05, "plate_baseline_unknown"),
    (3.0, 0.5, 0.05, ""),
    (np.nan, 0.5, 0.05, ""),
    (0.5, 3.0, 0.05, "plate_baseline_unknown"),
])  # fmt: skip
def test_a_baseline_that_is_seen_on_one_side_of_a_load_only_is_doubted(
    known: Walk, plated: xr.Dataset, wander_n: float, error_n: float, lead_s: float, code: str
) -> None:
    """Unless the plate tells by its other loads, or else where it is unloaded, that a hip is not wrong by more."""
    step = known.seen()[1]
    wander, error = np.zeros(plated.sizes["plate"]), np.zeros(plated.sizes["plate"])
    wander[1], error[1] = wander_n, error_n
    seen = slice(step.start_s - lead_s, None)
    trial = plated.assign(plate_wander=("plate", wander), plate_prediction_error=("plate", error))
    result = found(trial.sel(time=seen, plate_time=seen))
    codes = dict(zip(result.plates.values.tolist(), result.doubt_code.values.tolist(), strict=True))
    assert codes["2"] == code
    assert stance(result, step)["valid"]
    assert codes["3"] == ""


def test_an_unknown_baseline_is_worse_in_a_lighter_person(known: Walk, plated: xr.Dataset) -> None:
    """One newton at a hip one metre above the plate is .014 N m/kg of 70 kg, .03 of 30."""
    step, error = known.seen()[1], np.ones(plated.sizes["plate"])
    seen = slice(step.start_s - 0.05, None)
    trial = plated.assign(plate_prediction_error=("plate", error)).sel(time=seen, plate_time=seen)
    light = trial.assign({name: 0.4 * trial[name] for name in ("plate_force", "plate_moment", "vertical_force")})
    codes = [dict(zip(r.plates.values.tolist(), r.doubt_code.values.tolist(), strict=True))["2"]
             for r in (found(trial), found(light))]  # fmt: skip
    assert codes == ["", "plate_baseline_unknown"]


@pytest.mark.parametrize(("error_n_m", "code"), [(1.0, ""), (1.7, "plate_baseline_unknown")])
def test_an_unknown_baseline_of_the_moment_counts_as_it_is(
    known: Walk, plated: xr.Dataset, error_n_m: float, code: str
) -> None:
    """It passes to the hip without a lever: .02 N m/kg of 70 kg are 1.4 N m."""
    step, error = known.seen()[1], np.full(plated.sizes["plate"], error_n_m)
    seen = slice(step.start_s - 0.05, None)
    trial = plated.assign(plate_prediction_error_of_moment=("plate", error)).sel(time=seen, plate_time=seen)
    result = found(trial)
    codes = dict(zip(result.plates.values.tolist(), result.doubt_code.values.tolist(), strict=True))
    assert codes["2"] == code


def test_a_plate_that_cannot_be_read_says_nothing_of_the_others(
    plated: xr.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps tell of channels by what is usual of a person, which a faulty plate does not show."""
    heard: list[str] = []

    def misread_channels(
        steps: Sequence[object], corners: Sequence[Array], names: Sequence[str], trials: Sequence[str]
    ) -> tuple[str, dict[str, Verdict]]:
        heard[:] = names
        return "", {}

    monkeypatch.setattr(forces, "misread_channels", misread_channels)
    found(plated)
    every = {*heard}
    assert {"1", "2"} <= every
    fault = plated.plate_fault.values.astype(object)
    fault[0] = "channel 3 is dead"
    found(plated.assign(plate_fault=("plate", fault.astype(str))))
    assert {*heard} == every - {"1"}


# --- trials.tsv -------------------------------------------------------------------------------------------


def test_an_assigned_plate_is_not_checked_for_its_edges(known: Walk) -> None:
    """Markers may be away from the sole; the user may know that the foot was on the plate."""
    step = known.seen()[0]
    assert step.side == "right"
    trial = cleaned(known, [under(step, back_m=-0.06)])
    assert stance(found(trial), step)["reason_code"] == "foot_partly_off_plate"
    for word in ("1", " 1 "):
        row = stance(found(trial, plates_right=word, **STOPS_AT_ONCE), step)
        assert (row["plates"], row["valid"]) == ("1", True)


def test_a_plate_that_is_not_assigned_is_left_out(known: Walk, plated: xr.Dataset) -> None:
    steps = [step for step in known.seen() if step.side == "right"]
    assert len(steps) >= 2
    trial = found(plated, plates_right="1")
    first, other = (stance(trial, step) for step in steps[:2])
    assert first["valid"]
    assert (other["valid"], other["reason_code"]) == (False, "plate_given_to_other_foot")
    none = found(plated, plates_right="none")
    assert [stance(none, step)["reason_code"] for step in steps] == ["plate_given_to_other_foot"] * len(steps)
    left = [step for step in known.seen() if step.side == "left"]
    assert all(stance(none, step)["valid"] for step in left), "the cell of the left foot is empty"


@pytest.mark.parametrize("word", [None, "", "n/a"])
def test_an_empty_cell_changes_nothing(plated: xr.Dataset, word: str | None) -> None:
    xr.testing.assert_identical(found(plated, plates_left=word, plates_right=word), found(plated))


def test_a_foot_that_is_not_over_its_assigned_plate_is_rejected(known: Walk, plated: xr.Dataset) -> None:
    """The right foot is on plate 1; the left one swings past it."""
    first = known.seen()[0]
    trial = found(plated, plates_left="1")
    rows = [i for i, plates in enumerate(trial.plates.values) if plates == "1"]
    assert [str(trial.contact_side.values[i]) for i in rows] == ["left"]
    assert trial.reason_code.values[rows[0]] == "foot_not_over_given_plate"
    assert not stance(trial, first)["valid"]


def test_two_feet_on_an_assigned_plate_are_rejected(known: Walk) -> None:
    first, second = known.seen()[:2]
    trial = cleaned(known, [Rectangle(first.x - 0.1, second.x + FOOT_M + 0.1, -0.2, 0.2)])
    assert stance(found(trial, plates_right="1"), first)["reason_code"] == "two_feet_on_plate"


def test_a_plate_that_the_file_does_not_have_is_an_error(plated: xr.Dataset) -> None:
    with pytest.raises(UserError, match="plates_left names plate 9, the file has plates 1 2"):
        found(plated, plates_left="1 9")


def test_a_session_of_which_every_trial_names_such_a_plate_is_rejected_whole(plated: xr.Dataset) -> None:
    session, cells = join_trials({"only": as_stored(plated)}), {"only": {"plates_left": "1 9"}}
    result = contacts(session, settings=settings_of("contacts"), by_trial=cells)
    assert result.rejected_code.values.tolist() == ["plate_number_unknown"]


def test_toes_of_the_other_foot_on_the_plate_reject_both(known: Walk) -> None:
    """Its toe marker is 3 cm behind the plate's edge; its toe tips are 6 cm in front of the marker."""
    first, second = known.seen()[:2]
    plate = Rectangle(first.x + FOOT_M + 0.03, second.x + FOOT_M + 0.1, -0.2, 0.2)
    assert stance(found(cleaned(known, [plate])), second)["reason_code"] == "two_feet_on_plate"


def test_a_foot_over_two_plates_of_which_one_is_shared_is_told_so(known: Walk) -> None:
    """Its heel alone is on the first plate: nobody else is, so that "two feet" would be wrong of it."""
    first, second = known.seen()[:2]
    edge = first.x + FOOT_M / 2
    plates = [Rectangle(first.x - 0.1, edge, -0.2, 0.2), Rectangle(edge, second.x + FOOT_M + 0.1, -0.2, 0.2)]
    trial = found(cleaned(known, plates))
    assert stance(trial, first)["reason_code"] == "foot_on_two_plates"
    assert stance(trial, second)["reason_code"] == "two_feet_on_plate"


@pytest.mark.parametrize(("out_m", "valid"), [(0.02, True), (0.04, False)])
def test_a_sole_over_the_side_of_the_plate_is_partly_off(known: Walk, out_m: float, valid: bool) -> None:
    """The ball of the foot is 4.8 cm to either side of its line."""
    step = known.seen()[0]
    side = step.z + 0.048 - out_m
    plate = Rectangle(step.x - 0.1, step.x + FOOT_M + 0.1, step.z - 0.1, side)
    row = stance(found(cleaned(known, [plate])), step)
    assert row["valid"] == valid
    assert row["reason_code"] == ("" if valid else "foot_partly_off_plate")


def test_a_plate_that_is_loaded_far_from_the_foot_takes_no_part(known: Walk) -> None:
    """A plate in a corner reads 100 N all the time; the foot is whole on its own."""
    steps = known.seen()
    trial = cleaned(known, [*(under(step) for step in steps), Rectangle(5, 5.5, 3, 3.5)])
    force = trial.plate_force.values[:, -1] + [0, 100.0, 0]
    moment = np.cross([5.25, 0, 3.25], force)
    rows = [stance(found(with_plate(trial, -1, plate_force=force, plate_moment=moment)), step) for step in steps]
    assert [(row["plates"], row["reason"]) for row in rows] == [(str(i + 1), "") for i in range(len(steps))]
