"""Step ``contacts``: known walks over plates and belts, every crossing and centre of pressure in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from recordings import (
    ANALOG_HZ,
    BODY_MODEL,
    FOOT_M,
    FREE_MOMENT_M,
    MARKER_HZ,
    SIDES,
    SOLE_M,
    SPEED_M_S,
    Footfall,
    Rectangle,
    Walk,
    cleaned,
    crossing,
    vertical,
    walk,
    wrenches,
)

from pipeline.clean import clean
from pipeline.contacts import contacts
from pipeline.errors import UserError
from pipeline.events import OFF, STRIKE, GaitEvent, file_events, kinematic_events, merge, stances
from pipeline.read import read

Array = NDArray[np.float64]

THRESHOLD_N, HIGH_N = 20.0, 100.0  # the latter takes 28 ms to reach: three frames lie below it
SETTINGS = {"threshold_n": THRESHOLD_N, "min_contact_s": 0.1, "max_cop_distance_m": 0.08, "edge_margin_m": 0.03}
SAMPLE_S = 1 / ANALOG_HZ + 1e-9  # a crossing is found at the next sample
FRAME_S = 1 / MARKER_HZ + 1e-9
ROUNDING = 1e-9  # double arithmetic of some 1000 N


def found(trial: xr.Dataset, **settings: float) -> xr.Dataset:
    return contacts(trial, **(SETTINGS | settings))


def under(step: Footfall, *, back_m: float = 0.1, front_m: float = 0.1) -> Rectangle:
    """Return a plate that one footfall has for itself."""
    return Rectangle(step.x - back_m, step.x + FOOT_M + front_m, step.z - 0.07, step.z + 0.07)


def stance(trial: xr.Dataset, step: Footfall) -> dict[str, Any]:
    """Return the one row of ``contact`` that is a footfall's."""
    middle = (step.start_s + step.end_s) / 2
    rows = [
        i
        for i in range(trial.sizes["contact"])
        if trial.contact_side[i] == step.side and trial.contact_start[i] < middle < trial.contact_end[i]
    ]
    assert len(rows) == 1, f"{len(rows)} stances for {step}"
    row = trial.isel(contact=rows[0])
    return {name: row[name].item() for name in ("contact_start", "contact_end", "plates", "valid", "reason")}


def events_of(trial: xr.Dataset, side: str) -> list[GaitEvent]:
    """Return a side's events in the order of the dataset."""
    table = zip(trial.event_time.values, trial.event.values, trial.event_side.values, trial.source.values, strict=True)
    return [GaitEvent(float(time), str(kind), str(source)) for time, kind, of, source in table if of == side]


def side_of(trial: xr.Dataset, name: str, side: str) -> Array:
    return np.asarray(trial[name].sel(side=side).values)


def within(trial: xr.Dataset, start_s: float, end_s: float) -> NDArray[np.bool_]:
    return np.asarray((trial.time.values > start_s) & (trial.time.values < end_s))


# --- one foot, one plate ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def known() -> Walk:
    return walk()


@pytest.fixture(scope="module")
def plain(known: Walk) -> xr.Dataset:
    """A plate of its own under each whole footfall."""
    return found(cleaned(known, [under(step) for step in known.seen()]))


def test_each_contact_goes_to_its_foot_and_plate(known: Walk, plain: xr.Dataset) -> None:
    for number, step in enumerate(known.seen(), start=1):
        row = stance(plain, step)
        assert (row["plates"], row["valid"], row["reason"]) == (str(number), True, "")


def test_contacts_and_events_stand_where_the_force_crosses_the_threshold(known: Walk, plain: xr.Dataset) -> None:
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


def test_the_wrench_is_the_foots_and_reaches_below_the_threshold(known: Walk) -> None:
    """Without noise it reaches to where the load is gone; the moment is about the lab origin."""
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
    """Also with noise on the plates, from which a swing must not take anything."""
    noisy = found(cleaned(known, [under(step) for step in known.seen()], noise_n=1.0))
    for side in SIDES:
        steps = [step for step in known.seen() if step.side == side]
        swing = within(noisy, steps[0].end_s, steps[1].start_s)
        assert swing.sum() > 30
        for name in ("ground_force", "ground_moment"):
            assert (side_of(noisy, name, side)[swing] == 0).all()
        assert np.isnan(side_of(noisy, "centre_of_pressure", side)[swing]).all()


def test_the_wrench_ends_at_the_noise_floor(known: Walk) -> None:
    """With noise of 1 N it is kept above 3 N: all frames of 5 N and more, none of the unloaded ones."""
    noisy = found(cleaned(known, [under(step) for step in known.seen()], noise_n=1.0))
    for step in known.seen():
        load = vertical(step, noisy.time.values)
        kept = side_of(noisy, "ground_force", step.side)[:, 1]
        here = within(noisy, step.start_s - 0.1, step.end_s + 0.1) & np.isfinite(kept)
        assert (kept[here & (load > 5)] > 0).all()
        np.testing.assert_allclose(kept[here & (load > 5)], load[here & (load > 5)], atol=5)  # five deviations
        assert (kept[here & (load == 0)] == 0).all()


def test_the_centre_of_pressure_is_under_the_sole_and_masked_below_the_threshold(known: Walk) -> None:
    trial = found(cleaned(known, [under(step) for step in known.seen()]), threshold_n=HIGH_N)
    for step in known.seen():
        load = vertical(step, trial.time.values)
        cop = side_of(trial, "centre_of_pressure", step.side)
        here = within(trial, step.start_s, step.end_s)
        assert np.isnan(cop[here & (load < HIGH_N)]).all()
        loaded = here & (load > HIGH_N)
        middle = [step.x + float(np.mean(SOLE_M)), 0.0, step.z]
        np.testing.assert_allclose(cop[loaded], np.tile(middle, (loaded.sum(), 1)), atol=ROUNDING)
        free = side_of(trial, "free_moment", step.side)
        np.testing.assert_allclose(free[loaded], FREE_MOMENT_M * load[loaded], atol=ROUNDING)
        assert np.isnan(free[here & ~loaded]).all()


def test_the_shortest_contact_is_the_stated_one(known: Walk) -> None:
    """The foot loads its plate for 689 ms."""
    step = known.seen()[0]
    trial = cleaned(known, [under(step)])
    assert stance(found(trial, min_contact_s=0.685), step)["plates"] == "1"
    assert stance(found(trial, min_contact_s=0.695), step)["plates"] == ""


# --- belts, several plates, several feet -----------------------------------------------------------------------


def test_consecutive_contacts_on_a_belt(known: Walk) -> None:
    """Each belt carries one foot; the trial begins and ends within a stance, whose other end is no event."""
    tread = walk(strides=3, belt_m_s=SPEED_M_S)
    trial = found(cleaned(tread, [Rectangle(-1, 1, 0, 0.5), Rectangle(-1, 1, -0.5, 0)]))
    assert trial.valid.all()
    assert set(trial.source.values) == {"plate"}
    for side, belt in (("right", "1"), ("left", "2")):
        mine = [step for step in tread.of(side) if step.end_s > 0 and step.start_s < trial.time[-1]]
        assert list(trial.plates.values[trial.contact_side.values == side]) == [belt] * len(mine)
        times = [time for step in mine for time in crossing(step, THRESHOLD_N) if 0 < time < trial.time[-1]]
        assert [event.time_s for event in events_of(trial, side)] == pytest.approx(times, abs=SAMPLE_S)
        force = sum(vertical(step, trial.time.values) for step in mine)
        np.testing.assert_allclose(side_of(trial, "ground_force", side)[:, 1], force, atol=ROUNDING)
    step = tread.seen()[0]
    middle = within(trial, *crossing(step, THRESHOLD_N))
    where = step.x - SPEED_M_S * (trial.time.values[middle] - step.start_s) + np.mean(SOLE_M)
    np.testing.assert_allclose(side_of(trial, "centre_of_pressure", "right")[middle, 0], where, atol=ROUNDING)


def test_two_plates_under_one_foot_are_added(known: Walk) -> None:
    """The joint between the plates lies between the two points of the sole: each carries half."""
    step = known.seen()[1]
    joint = step.x + 0.1
    halves = [Rectangle(joint - 0.4, joint, step.z - 0.07, step.z + 0.07)]
    halves.append(Rectangle(joint, joint + 0.4, step.z - 0.07, step.z + 0.07))
    trial = found(cleaned(known, halves))
    row = stance(trial, step)
    assert (row["plates"], row["valid"]) == ("1 2", True)
    assert row["contact_start"] == pytest.approx(crossing(step, 2 * THRESHOLD_N)[0], abs=SAMPLE_S), "each half at 20 N"
    here = within(trial, step.start_s, step.end_s)
    load = vertical(step, trial.time.values)
    np.testing.assert_allclose(side_of(trial, "ground_force", "left")[here, 1], load[here], atol=ROUNDING)
    cop = side_of(trial, "centre_of_pressure", "left")[here & (load > THRESHOLD_N)]
    np.testing.assert_allclose(cop[:, 0], joint, atol=ROUNDING)


def is_unknown(trial: xr.Dataset, step: Footfall) -> bool:
    """Whether no wrench is stored in the stance, and zero in the swing that follows within the trial."""
    inside = within(trial, step.start_s + 0.02, step.end_s)
    parts = [side_of(trial, name, step.side)[inside] for name in ("ground_force", "ground_moment")]
    return all(np.isnan(part).all() for part in parts)


def test_two_feet_on_one_plate_are_refused(known: Walk) -> None:
    """Both stances say so, neither has a wrench, and the next footfall, on a plate of its own, is good."""
    first, second, third = known.seen()[:3]
    large = Rectangle(first.x - 0.1, second.x + FOOT_M + 0.1, -0.2, 0.2)
    trial = found(cleaned(known, [large, under(third)]))
    for step in (first, second):
        row = stance(trial, step)
        assert (row["plates"], row["valid"], row["reason"]) == ("1", False, "two feet on the plate")
        assert is_unknown(trial, step)
    assert stance(trial, third)["valid"]


def test_a_second_foot_at_the_edge_of_the_plate_is_seen(known: Walk) -> None:
    """Its heel stands on the plate, so its force may, although the centre of pressure is that of the first foot."""
    first, second = known.seen()[:2]
    trial = found(cleaned(known, [Rectangle(first.x - 0.1, second.x + 0.03, -0.2, 0.2)]))
    assert stance(trial, first)["reason"] == "two feet on the plate"
    assert is_unknown(trial, first)


def test_a_swinging_foot_over_the_plate_is_none_on_it(known: Walk) -> None:
    """The plate is as wide as the walkway: the other foot swings over it while the first one stands."""
    first = known.seen()[0]
    row = stance(found(cleaned(known, [Rectangle(first.x - 0.1, first.x + FOOT_M + 0.1, -0.3, 0.3)])), first)
    assert (row["valid"], row["reason"]) == (True, "")


@pytest.mark.parametrize(("back_m", "front_m"), [(0.1, -0.08), (-0.07, 0.1)])
def test_a_foot_that_overhangs_is_refused(known: Walk, back_m: float, front_m: float) -> None:
    """Toe or heel is 7 to 8 cm outside: the floor beside the plate carries half of the load."""
    step = known.seen()[0]
    trial = found(cleaned(known, [under(step, back_m=back_m, front_m=front_m)]))
    assert stance(trial, step)["reason"] == "foot partly off the plate"
    assert is_unknown(trial, step)
    assert "plate" not in trial.source.values, "the force of half a foot tells no event"


def test_a_toe_marker_within_the_margin_is_on_the_plate(known: Walk) -> None:
    step = known.seen()[0]
    trial = cleaned(known, [under(step, front_m=-0.02)])
    assert stance(found(trial), step)["valid"]
    assert stance(found(trial, edge_margin_m=0.0), step)["reason"] == "foot partly off the plate"


def test_a_misplaced_plate_is_refused(known: Walk) -> None:
    """The file puts the plate 10 cm aside: the feet are still over it, the centre of pressure is not under the foot."""
    step = known.seen()[0]
    plate = Rectangle(step.x - 0.1, step.x + FOOT_M + 0.1, step.z - 0.15, step.z + 0.15)
    trial = cleaned(known, [plate])
    aside = np.array([0.0, 0.0, 0.1])
    moment = trial.plate_moment.values + np.cross(aside, trial.plate_force.values)
    trial = trial.assign(plate_corner=trial.plate_corner + aside, plate_moment=trial.plate_moment.copy(data=moment))
    row = stance(found(trial), step)
    assert not row["valid"]
    assert "centre of pressure 10 cm from the foot" in row["reason"]
    assert is_unknown(found(trial), step)


def test_without_a_plate_the_wrench_is_unknown_in_stance_and_zero_in_swing(known: Walk) -> None:
    trial = found(cleaned(known, plates_left_out="force plate 1: type 7 is not supported"))
    for step in known.seen():
        row = stance(trial, step)
        assert (row["plates"], row["valid"]) == ("", False)
        assert row["reason"] == "no plate (force plate 1: type 7 is not supported)"
        assert is_unknown(trial, step)
    for side in SIDES:
        steps = [step for step in known.seen() if step.side == side]
        # motion alone tells events to some hundredths of a second, and the wrench is unknown for 40 ms more
        swing = within(trial, steps[0].end_s + 0.1, steps[1].start_s - 0.1)
        assert swing.sum() > 15
        assert (side_of(trial, "ground_force", side)[swing] == 0).all()


def test_a_foot_without_markers_has_no_contacts(known: Walk) -> None:
    step = known.seen()[0]
    trial = cleaned(known, [under(step)]).drop_sel(marker=["heel_right"])
    result = found(trial)
    assert set(result.reason.values[result.contact_side.values == "right"]) == {"heel or toe marker of the foot absent"}
    assert np.isnan(side_of(result, "ground_force", "right")[1:]).all()


def test_a_foot_hidden_during_its_contact_is_refused(known: Walk) -> None:
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


def test_a_trial_of_one_frame_is_refused_or_empty(known: Walk) -> None:
    try:
        result = found(cleaned(known).isel(time=slice(1)))
    except UserError:
        return
    assert not result.valid.any()


# --- events ----------------------------------------------------------------------------------------------------


def file_list(known: Walk, *, late_s: float = 0.0) -> list[tuple[float, str, str]]:
    """Return the events of a walk as a C3D file lists them."""
    pairs = [((step.start_s, "Foot Strike", step.side), (step.end_s, "Foot Off", step.side)) for step in known.steps]
    return [(time + late_s, label, side) for pair in pairs for time, label, side in pair]


def test_plates_come_before_the_file_and_the_file_before_motion(known: Walk) -> None:
    """The file's events are 30 ms late and end after 1.5 s; the second footfall has a plate."""
    step = known.seen()[1]
    events = [event for event in file_list(known, late_s=0.03) if event[0] < 1.5]
    trial = found(cleaned(known, [under(step)], events=events))
    times = {side: events_of(trial, side) for side in SIDES}
    for side in SIDES:
        kinds = [event.kind for event in times[side]]
        assert all(a != b for a, b in zip(kinds, kinds[1:], strict=False)), "strikes and offs take turns"
    strike, off = crossing(step, THRESHOLD_N)
    for side, listed in times.items():
        for event in listed:
            true, own = min(
                ((s.start_s if event.kind == STRIKE else s.end_s, s) for s in known.of(side)),
                key=lambda pair: abs(pair[0] - event.time_s),
            )
            assert abs(true - event.time_s) < 0.05
            if own == step:
                assert event.source == "plate"
                assert event.time_s == pytest.approx(strike if event.kind == STRIKE else off, abs=SAMPLE_S)
            elif true + 0.03 < 1.5:
                assert event.source == "c3d"
                assert event.time_s == pytest.approx(true + 0.03)
            else:
                assert event.source == "kinematic"
    assert {event.source for listed in times.values() for event in listed} == {"plate", "c3d", "kinematic"}
    assert trial.event_time.min() >= trial.time[0], "what happened before the trial is no event of it"


STYLES = {
    "context": ("Foot Strike", "Foot Off", True),
    "heel and toe": ("Heel Strike", "Toe Off", True),
    "in words": ("{Side} Foot Strike", "{Side} Foot Off", False),
    "short": ("{S}HS", "{S}TO", False),
    "initial contact": ("{S}IC", "{S}FO", False),
    "short with a blank": ("{S} HS", "{S} TO", False),
    "underscores": ("{side}_foot_strike", "{side}_foot_off", False),
    "hyphens": ("Heel-Strike", "Toe-Off", True),
    "touch down": ("Touchdown", "Lift-off", True),
    "short touch down": ("{S}TD", "{S}TO", False),
    "run together": ("{Side}HeelStrike", "{Side}ToeOff", False),
}


@pytest.mark.parametrize("style", STYLES)
def test_labels_of_every_style_are_understood(known: Walk, style: str) -> None:
    strike, off, context = STYLES[style]
    labels = {"Foot Strike": strike, "Foot Off": off}
    events = [
        (time, labels[kind].format(side=side, Side=side.title(), S=side[0].upper()), side if context else "")
        for time, kind, side in file_list(known)
    ]
    for side in SIDES:
        expected = sorted(
            GaitEvent(time, kind, "c3d")
            for step in known.of(side)
            for time, kind in ((step.start_s, STRIKE), (step.end_s, OFF))
        )
        assert file_events(*zip(*events, strict=True), side=side) == expected


@pytest.mark.parametrize("label", ["Event", "General", "Trigger", "Stop", "Photo", "Left", "Right turn"])
def test_other_labels_are_no_gait_events(label: str) -> None:
    assert [file_events([1.0], [label], [side], side=side) for side in SIDES] == [[], []]


def test_events_of_no_side_are_left_out() -> None:
    assert [file_events([1.0], ["Foot Strike"], [""], side=side) for side in SIDES] == [[], []]


def test_repeated_events_count_once(known: Walk) -> None:
    """Files hold events twice, and a copy of one at time 0."""
    step = known.seen()[0]
    events = [(step.start_s, "Foot Strike", "right"), (step.start_s + 0.004, "Foot Strike", "right"),
              (step.end_s, "Foot Off", "right"), (step.end_s, "Foot Off", "right")]  # fmt: skip
    trial = found(cleaned(known, events=events))
    listed = [event for event in events_of(trial, "right") if event.source == "c3d"]
    assert listed == [GaitEvent(step.start_s, STRIKE, "c3d"), GaitEvent(step.end_s, OFF, "c3d")]


def test_motion_tells_foot_strike_and_off_at_the_turning_points_of_a_sine() -> None:
    """Heel farthest before, toe farthest behind the pelvis, to half a frame; a hidden turning point is no event."""
    time = np.arange(480) / 100
    forward = 0.35 * np.sin(2 * np.pi * (time - 0.313) / 1.1)
    pelvis = 1.2 * time
    events = kinematic_events(time, pelvis + forward, pelvis + forward + 0.2, pelvis)
    peaks, troughs = (np.arange(shift, 4.8, 1.1) for shift in (0.313 + 1.1 / 4, 0.313 - 1.1 / 4))
    for kind, expected in ((STRIKE, peaks), (OFF, troughs)):
        assert [event.time_s for event in events if event.kind == kind] == pytest.approx(expected, abs=0.005 + 1e-9)
    hidden = np.where(np.abs(time - peaks[1]) < 0.03, np.nan, forward)
    left = [e.time_s for e in kinematic_events(time, pelvis + hidden, pelvis + forward, pelvis) if e.kind == STRIKE]
    assert not [time_s for time_s in left if abs(time_s - peaks[1]) < 0.1]


@pytest.mark.parametrize("belt_m_s", [0.0, SPEED_M_S])
def test_motion_alone_finds_every_event_to_some_hundredths_of_a_second(belt_m_s: float) -> None:
    """The swing of the known walk is a cosine, whose turning points lie 30 ms inside the swing."""
    tread = walk(belt_m_s=belt_m_s)
    trial = found(cleaned(tread))
    assert set(trial.source.values) == {"kinematic"}
    late_s, last = 0.045, float(trial.time[-1])
    for side in SIDES:
        for kind, name in ((STRIKE, "start_s"), (OFF, "end_s")):
            true = np.array([getattr(step, name) for step in tread.of(side)])
            times = np.array([event.time_s for event in events_of(trial, side) if event.kind == kind])
            away = np.abs(times[:, None] - true)
            assert (away.min(axis=1) < late_s).all(), "no event is invented"
            inner = (true > late_s) & (true < last - late_s)
            assert ((away < late_s).sum(axis=0)[inner] == 1).all(), "each is found once"


def test_an_event_of_a_weaker_source_between_strike_and_off_is_dropped() -> None:
    plate = [GaitEvent(1.0, STRIKE, "plate"), GaitEvent(1.7, OFF, "plate")]
    stray = [GaitEvent(1.3, OFF, "c3d"), GaitEvent(1.4, STRIKE, "c3d"), GaitEvent(2.1, STRIKE, "c3d")]
    assert merge([plate, stray]) == [*plate, stray[2]]


def test_a_missing_event_leaves_the_foot_possibly_on_the_ground() -> None:
    """Two strikes without an off between them: nobody knows when the foot left."""
    events = [GaitEvent(1.0, STRIKE, "c3d"), GaitEvent(2.1, STRIKE, "c3d"), GaitEvent(2.8, OFF, "c3d")]
    rows = [(s.start_s, s.end_s, s.begins, s.ends) for s in stances(events, first_s=0.0, last_s=3.0)]
    assert rows == [(1.0, 2.1, True, False), (2.1, 2.8, True, True)]


def test_no_stance_counts_a_plate_twice() -> None:
    """A slow stance of 1.3 s, and two stray events of the file in its middle: the force is still one body's."""
    times: Sequence[tuple[str, float, float, float]] = [
        ("right", -1.8, -0.5, -0.6), ("left", -0.8, 0.5, 0.0), ("right", 0.2, 1.5, 0.6), ("left", 1.2, 2.5, 1.2),
        ("right", 2.2, 3.5, 1.8), ("left", 3.2, 4.5, 2.4),
    ]  # fmt: skip
    slow = Walk(tuple(Footfall(side, a, b, x, 0.08 if side == "right" else -0.08) for side, a, b, x in times), 3.0)
    step = slow.steps[2]
    trial = found(cleaned(slow, [under(step)], events=[(0.7, "Foot Off", "right"), (0.9, "Foot Strike", "right")]))
    force = side_of(trial, "ground_force", "right")[:, 1]
    loaded = within(trial, step.start_s, step.end_s) & np.isfinite(force)
    np.testing.assert_allclose(force[loaded], vertical(step, trial.time.values)[loaded], atol=ROUNDING)


def test_a_foot_that_stands_on_its_plate_does_not_strike(known: Walk) -> None:
    """The left foot loads its plate from before the trial until 0.35 s; the file has a stray strike at 0.15 s."""
    step = next(step for step in known.of("left") if step.start_s < 0 < step.end_s)
    trial = found(cleaned(known, [under(step)], events=[(0.15, "Foot Strike", "left")]))
    assert events_of(trial, "left")[0].kind == OFF


# --- real recordings -------------------------------------------------------------------------------------------


def test_plates_and_files_tell_the_same_events_of_real_walks(shared: Path) -> None:
    """Time axes of plates and events agree: files that begin at frame 124 to 1017, events marked from plates by eye.

    The labs set their events to the frame (10 ms), at thresholds of their own.
    """
    late = []
    for file in ("sub-01/PiG_Motion3_FF", "sub-02/HC002D06", "sub-03/HC030A05", "sub-06/PiG_Motion-FlatFoot-One"):
        raw = read(shared / "studies/plug_in_gait" / f"{file}.c3d", body_model=BODY_MODEL, lab_axes="quarter_turn")
        trial = found(
            clean(raw, body_model=BODY_MODEL, max_gap_s=0.1, marker_cutoff_hz=10, force_cutoff_hz=10, filter_order=4)
        )
        for side in SIDES:
            listed = file_events(raw.event_time.values, raw.event.values, raw.event_side.values, side=side)
            late += [
                min((event.time_s - own.time_s for own in listed if own.kind == event.kind), key=abs)
                for event in events_of(trial, side)
                if event.source == "plate"
            ]
    assert len(late) > 12
    assert np.abs(np.median(late)) < 0.01
    assert np.abs(late).max() < 0.04
