"""Step ``contacts`` on walks over plates and belts with events and centres of pressure in closed form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from pipeline.conventions import SIDES
from pipeline.errors import UserError
from pipeline.steps.contacts.events import GaitEvent
from pipeline.trials.left_out import LeftOut, as_text
from pipeline.vocabulary.event_names import OFF, STRIKE
from tests.support.plates.stances import (
    ROUNDING,
    SAMPLE_S,
    THRESHOLD_N,
    events_of,
    file_list,
    found,
    is_unknown,
    side_of,
    stance,
    under,
    within,
)
from tests.support.walks.as_clean import (
    FOOT_M,
    FREE_MOMENT_M,
    SPEED_M_S,
    Rectangle,
    Walk,
    cleaned,
    crossing,
    pressed,
    vertical,
    walk,
    wrenches,
)

HIGH_N = 100.0  # reached after 28 ms, three frames


# --- one foot, one plate ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain(known: Walk) -> xr.Dataset:
    """Return the walk with a plate under each whole footfall."""
    return found(cleaned(known, [under(step) for step in known.seen()]))


def test_each_contact_goes_to_its_foot_and_plate(known: Walk, plain: xr.Dataset) -> None:
    for number, step in enumerate(known.seen(), start=1):
        row = stance(plain, step)
        assert (row["plates"], row["valid"], row["reason"]) == (str(number), True, "")


def test_contacts_and_events_are_where_the_force_crosses_the_threshold(known: Walk, plain: xr.Dataset) -> None:
    for step in known.seen():
        strike, off = crossing(step, THRESHOLD_N)
        row = stance(plain, step)
        assert row["contact_start"] == pytest.approx(strike, abs=SAMPLE_S)
        assert row["contact_end"] == pytest.approx(off, abs=SAMPLE_S)
        from_plate = [event for event in events_of(plain, step.side) if event.source == "plate"]
        assert GaitEvent(row["contact_start"], STRIKE, "plate") in from_plate
        assert GaitEvent(row["contact_end"], OFF, "plate") in from_plate


def test_a_higher_threshold_shortens_the_contact_in_closed_form(known: Walk) -> None:
    step = known.seen()[0]
    row = stance(found(cleaned(known, [under(step)]), threshold_n=200.0), step)
    assert (row["contact_start"], row["contact_end"]) == pytest.approx(crossing(step, 200.0), abs=SAMPLE_S)


def test_the_wrench_of_the_foot_reaches_below_the_threshold(known: Walk) -> None:
    """Without noise it reaches to the end of the load; the moment is about the lab origin."""
    trial = found(cleaned(known, [under(step) for step in known.seen()]), threshold_n=HIGH_N)
    for side in SIDES:
        mine = replace(known, steps=tuple(step for step in known.seen() if step.side == side))
        force, moment = (total.sum(axis=1) for total in wrenches(mine, [Rectangle(-9, 9, -9, 9)], trial.time.values))
        seen = np.isfinite(side_of(trial, "ground_force", side)).all(axis=1)
        assert seen.sum() > 100
        np.testing.assert_allclose(side_of(trial, "ground_force", side)[seen], force[seen], atol=ROUNDING)
        np.testing.assert_allclose(side_of(trial, "ground_moment", side)[seen], moment[seen], atol=ROUNDING)
        light = seen & (force[:, 1] > 0) & (force[:, 1] < HIGH_N)
        assert light.any(), "frames below the threshold that the wrench must hold"


def test_the_wrench_is_exactly_zero_in_swing(known: Walk) -> None:
    """Also with noise on the plates."""
    noisy = found(cleaned(known, [under(step) for step in known.seen()], noise_n=1.0))
    for side in SIDES:
        steps = [step for step in known.seen() if step.side == side]
        swing = within(noisy, steps[0].end_s, steps[1].start_s)
        assert swing.sum() > 30
        for name in ("ground_force", "ground_moment"):
            assert (side_of(noisy, name, side)[swing] == 0).all()
        assert np.isnan(side_of(noisy, "centre_of_pressure", side)[swing]).all()


def test_the_wrench_ends_at_the_noise_floor(known: Walk) -> None:
    """With noise of 1 N it is kept above 3 N: in all frames above 5 N and no unloaded one."""
    noisy = found(cleaned(known, [under(step) for step in known.seen()], noise_n=1.0))
    for step in known.seen():
        load = vertical(step, noisy.time.values)
        kept = side_of(noisy, "ground_force", step.side)[:, 1]
        here = within(noisy, step.start_s - 0.1, step.end_s + 0.1) & np.isfinite(kept)
        assert (kept[here & (load > 5)] > 0).all()
        np.testing.assert_allclose(kept[here & (load > 5)], load[here & (load > 5)], atol=5)  # five standard deviations
        assert (kept[here & (load == 0)] == 0).all()


def test_the_centre_of_pressure_is_under_the_sole_and_masked_below_the_threshold(known: Walk) -> None:
    trial = found(cleaned(known, [under(step) for step in known.seen()]), threshold_n=HIGH_N)
    for step in known.seen():
        load = vertical(step, trial.time.values)
        cop = side_of(trial, "centre_of_pressure", step.side)
        here = within(trial, step.start_s, step.end_s)
        assert np.isnan(cop[here & (load < HIGH_N)]).all()
        loaded = here & (load > HIGH_N)
        along = step.x + pressed(step, trial.time.values[loaded])
        under_sole = np.stack([along, 0 * along, np.full_like(along, step.z)], axis=1)
        np.testing.assert_allclose(cop[loaded], under_sole, atol=ROUNDING)
        free = side_of(trial, "free_moment", step.side)
        np.testing.assert_allclose(free[loaded], FREE_MOMENT_M * load[loaded], atol=ROUNDING)
        assert np.isnan(free[here & ~loaded]).all()


def test_the_shortest_contact_is_that_of_the_settings(known: Walk) -> None:
    """The foot loads its plate for 689 ms."""
    step = known.seen()[0]
    trial = cleaned(known, [under(step)])
    assert stance(found(trial, min_contact_s=0.685), step)["plates"] == "1"
    assert stance(found(trial, min_contact_s=0.695), step)["plates"] == ""


# --- belts, several plates, several feet -----------------------------------------------------------------------


@pytest.mark.parametrize("right_m_s", [SPEED_M_S, 0.7])
def test_the_speed_of_each_belt_is_that_of_the_heel_on_it(right_m_s: float) -> None:
    """Tied or split; one that trials.tsv states wins; over ground it is zero."""
    clean = cleaned(walk(strides=3, belt_m_s=SPEED_M_S), [])
    faster = (SPEED_M_S - right_m_s) * (clean.time - clean.time.mean())
    for name in ("heel_right", "toe_right"):
        clean.marker_position.loc[{"marker": name, "axis": "x"}] += faster
    np.testing.assert_allclose(found(clean).belt_speed, [SPEED_M_S, right_m_s], atol=1e-9)
    np.testing.assert_array_equal(found(clean, belt_speed_m_s=1.0).belt_speed, [1, 1])
    np.testing.assert_array_equal(found(clean.assign_attrs(direction_of_travel="forwards")).belt_speed, [0, 0])


def test_consecutive_contacts_on_a_belt(known: Walk) -> None:
    """Each belt carries one foot; the trial begins and ends within stances, which have one event each."""
    tread = walk(strides=3, belt_m_s=SPEED_M_S)
    trial = found(cleaned(tread, [Rectangle(-1, 1, 0, 0.5), Rectangle(-1, 1, -0.5, 0)]))
    assert trial.valid.all()
    assert set(trial.event_source.values) == {"plate"}
    for side, belt in (("right", "1"), ("left", "2")):
        mine = [step for step in tread.of(side) if step.end_s > 0 and step.start_s < trial.time[-1]]
        assert list(trial.plates.values[trial.contact_side.values == side]) == [belt] * len(mine)
        times = [time for step in mine for time in crossing(step, THRESHOLD_N) if 0 < time < trial.time[-1]]
        assert [event.time_s for event in events_of(trial, side)] == pytest.approx(times, abs=SAMPLE_S)
        force = sum(vertical(step, trial.time.values) for step in mine)
        np.testing.assert_allclose(side_of(trial, "ground_force", side)[:, 1], force, atol=ROUNDING)
    step = tread.seen()[0]
    middle = within(trial, *crossing(step, THRESHOLD_N))
    time = trial.time.values[middle]
    where = step.x - SPEED_M_S * (time - step.start_s) + pressed(step, time)
    np.testing.assert_allclose(side_of(trial, "centre_of_pressure", "right")[middle, 0], where, atol=ROUNDING)


def test_two_plates_under_one_foot_are_added(known: Walk) -> None:
    """The load moves from one plate to the other below the sole."""
    step = known.seen()[1]
    joint = step.x + 0.1
    halves = [Rectangle(joint - 0.4, joint, step.z - 0.07, step.z + 0.07)]
    halves.append(Rectangle(joint, joint + 0.4, step.z - 0.07, step.z + 0.07))
    trial = found(cleaned(known, halves))
    row = stance(trial, step)
    assert (row["plates"], row["valid"]) == ("1 2", True)
    assert (row["contact_start"], row["contact_end"]) == pytest.approx(crossing(step, THRESHOLD_N), abs=SAMPLE_S)
    here = within(trial, step.start_s, step.end_s)
    load = vertical(step, trial.time.values)
    np.testing.assert_allclose(side_of(trial, "ground_force", "left")[here, 1], load[here], atol=ROUNDING)
    loaded = here & (load > THRESHOLD_N)
    cop = side_of(trial, "centre_of_pressure", "left")[loaded]
    np.testing.assert_allclose(cop[:, 0], step.x + pressed(step, trial.time.values[loaded]), atol=ROUNDING)


def test_two_feet_on_one_plate_are_rejected(known: Walk) -> None:
    """Both stances have the reason and no wrench; the next footfall, on its own plate, is good."""
    first, second, third = known.seen()[:3]
    large = Rectangle(first.x - 0.1, second.x + FOOT_M + 0.1, -0.2, 0.2)
    trial = found(cleaned(known, [large, under(third)]))
    for step in (first, second):
        row = stance(trial, step)
        assert (row["plates"], row["valid"], row["reason_code"]) == ("1", False, "two_feet_on_plate")
        assert is_unknown(trial, step)
    assert stance(trial, third)["valid"]


def test_a_second_foot_at_the_edge_of_the_plate_rejects_both(known: Walk) -> None:
    """Its heel is on the plate, although the centre of pressure is below the first foot."""
    first, second = known.seen()[:2]
    trial = found(cleaned(known, [Rectangle(first.x - 0.1, second.x + 0.03, -0.2, 0.2)]))
    assert stance(trial, first)["reason_code"] == "two_feet_on_plate"
    assert is_unknown(trial, first)


def test_a_foot_swinging_over_the_plate_is_not_on_it(known: Walk) -> None:
    """The plate is as wide as the walkway."""
    first = known.seen()[0]
    row = stance(found(cleaned(known, [Rectangle(first.x - 0.1, first.x + FOOT_M + 0.1, -0.3, 0.3)])), first)
    assert (row["valid"], row["reason"]) == (True, "")


@pytest.mark.parametrize(("back_m", "front_m"), [(0.1, -0.08), (-0.07, 0.1)])
def test_a_foot_partly_off_the_plate_is_rejected(known: Walk, back_m: float, front_m: float) -> None:
    """Toe or heel is 7 to 8 cm outside, where the floor carries half of the load."""
    step = known.seen()[0]
    trial = found(cleaned(known, [under(step, back_m=back_m, front_m=front_m)]))
    assert stance(trial, step)["reason_code"] == "foot_partly_off_plate"
    assert is_unknown(trial, step)
    assert "plate" not in trial.event_source.values, "the force of half a foot gives no event"


def test_toes_within_the_margin_are_on_the_plate(known: Walk) -> None:
    """The pad of the big toe is 4 cm in front of the toe marker, and 2 cm in front of the plate."""
    step = known.seen()[0]
    trial = cleaned(known, [under(step, front_m=0.02)])
    assert stance(found(trial), step)["valid"]
    assert stance(found(trial, edge_margin_m=0.0), step)["reason_code"] == "foot_partly_off_plate"


def test_a_misplaced_plate_is_rejected(known: Walk) -> None:
    """With corners 10 cm to the side the feet are over the plate, but the centre of pressure is not under the foot."""
    step = known.seen()[0]
    plate = Rectangle(step.x - 0.1, step.x + FOOT_M + 0.1, step.z - 0.15, step.z + 0.15)
    trial = cleaned(known, [plate])
    aside = np.array([0.0, 0.0, 0.1])
    moment = trial.plate_moment.values + np.cross(aside, trial.plate_force.values)
    trial = trial.assign(plate_corner=trial.plate_corner + aside, plate_moment=trial.plate_moment.copy(data=moment))
    row = stance(found(trial), step)
    assert not row["valid"]
    assert row["reason_code"] == "plate_shifted"
    row = stance(found(trial, misread_plates="ignore"), step)
    assert row["reason_code"] == "force_off_foot"
    assert "10 cm" in row["reason"]
    assert is_unknown(found(trial), step)


def test_without_a_plate_the_wrench_is_unknown_in_stance_and_zero_in_swing(known: Walk) -> None:
    lost = LeftOut([1], "plate_unusable", "force plate 1: type 7 is not supported; take load 2: of type 2")
    trial = found(cleaned(known, plates_left_out=as_text([lost])))
    for step in known.seen():
        row = stance(trial, step)
        assert (row["plates"], row["valid"]) == ("", False)
        assert row["reason_code"] == "no_plate_left"
        assert is_unknown(trial, step)
    for side in SIDES:
        steps = [step for step in known.seen() if step.side == side]
        # events from motion alone are accurate to hundredths of a second; the wrench is unknown for 40 ms more
        swing = within(trial, steps[0].end_s + 0.1, steps[1].start_s - 0.1)
        assert swing.sum() > 15
        assert (side_of(trial, "ground_force", side)[swing] == 0).all()


def test_a_foot_without_markers_has_no_contacts(known: Walk) -> None:
    step = known.seen()[0]
    trial = cleaned(known, [under(step)]).drop_sel(marker=["heel_right"])
    result = found(trial)
    assert {*result.reason_code.values[result.contact_side.values == "right"]} == {"foot_without_markers"}
    assert np.isnan(side_of(result, "ground_force", "right")[1:]).all()


def test_a_foot_hidden_during_its_contact_is_rejected(known: Walk) -> None:
    step = known.seen()[0]
    trial = cleaned(known, [under(step)], events=file_list(known))
    hidden = trial.marker_position.copy()
    hidden.loc[{"marker": ["heel_right", "toe_right"], "time": slice(step.start_s - 0.05, step.end_s + 0.05)}] = np.nan
    result = found(trial.assign(marker_position=hidden))
    assert not stance(result, step)["valid"]
    assert is_unknown(result, step)


def test_trials_of_a_few_frames_have_stances_without_events(known: Walk) -> None:
    whole = cleaned(known, [Rectangle(-9, 9, -9, 9)])
    for frames in (2, 5, 12):
        cut = whole.isel(time=slice(30, 30 + frames), plate_time=slice(300, 300 + 10 * frames))
        result = found(cut)
        assert result.sizes["contact"] >= 2
        assert not result.valid.any()


@pytest.mark.parametrize("seen_s", [0.02, 0.06])
def test_a_contact_that_the_end_of_the_recording_cuts_off_may_be_short(known: Walk, seen_s: float) -> None:
    """Else its force would count as none from the noise floor on, in frames before the strike as well."""
    step = known.seen()[0]
    whole = cleaned(known, [under(step)])
    cut = whole.sel(time=slice(None, step.start_s + seen_s), plate_time=slice(None, step.start_s + seen_s))
    result = found(cut)
    (there,) = np.flatnonzero(result.contact_side.values == step.side)
    assert result.valid.values[there]
    assert result.plates.values[there] == "1"
    assert abs(result.contact_start.values[there] - step.start_s) < 0.02


def test_a_trial_of_one_frame_is_refused_or_empty(known: Walk) -> None:
    try:
        result = found(cleaned(known).isel(time=slice(1)))
    except UserError:
        return
    assert not result.valid.any()
