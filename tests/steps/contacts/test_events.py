"""Gait events from plates, files with typical errors, and motion, and their merging."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.conventions import SIDES
from pipeline.steps.contacts.event_sources import file_events
from pipeline.steps.contacts.events import GaitEvent, merge, stances
from pipeline.steps.contacts.kinematic_events import zeni
from pipeline.trials.left_out import from_text
from pipeline.vocabulary.event_names import OFF, STRIKE
from tests.support.plates.stances import (
    ROUNDING,
    SAMPLE_S,
    THRESHOLD_N,
    events_of,
    file_list,
    found,
    side_of,
    under,
    within,
)
from tests.support.walks.as_clean import SPEED_M_S, Footfall, Walk, cleaned, crossing, vertical, walk

Array = NDArray[np.float64]


def test_plates_come_before_the_file_and_the_file_before_motion(known: Walk) -> None:
    """The file's events are 30 ms late and end at 1.5 s; the second footfall has a plate."""
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
def test_labels_of_every_style_are_recognised(known: Walk, style: str) -> None:
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
def test_other_labels_are_not_gait_events(label: str) -> None:
    assert [file_events([1.0], [label], [side], side=side) for side in SIDES] == [[], []]


def test_events_without_a_side_are_ignored() -> None:
    assert [file_events([1.0], ["Foot Strike"], [""], side=side) for side in SIDES] == [[], []]


def test_repeated_events_count_once(known: Walk) -> None:
    """Files may repeat events and have a copy of one at time 0."""
    step = known.seen()[0]
    events = [(step.start_s, "Foot Strike", "right"), (step.start_s + 0.004, "Foot Strike", "right"),
              (step.end_s, "Foot Off", "right"), (step.end_s, "Foot Off", "right")]  # fmt: skip
    once = [GaitEvent(step.start_s, STRIKE, "c3d"), GaitEvent(step.end_s, OFF, "c3d")]
    assert file_events(*zip(*events, strict=True), side="right") == once
    trial = found(cleaned(known, events=events))
    listed = [event for event in events_of(trial, "right") if event.source == "c3d"]
    assert listed == [GaitEvent(step.start_s, STRIKE, "c3d"), GaitEvent(step.end_s, OFF, "c3d")]


def test_motion_gives_events_at_the_turning_points_of_a_sine() -> None:
    """Heel farthest in front of, toe farthest behind the pelvis, to half a frame; hidden turning points give none.

    Nor does that 38 ms after the start, as the foot has hardly been seen to move there.
    """
    time = np.arange(480) / 100
    forward = 0.35 * np.sin(2 * np.pi * (time - 0.313) / 1.1)
    ahead, pelvis = np.tile([1.0, 0.0, 0.0], (480, 1)), np.outer(1.2 * time, [1.0, 0.0, 0.0])
    toe = pelvis + (forward + 0.2)[:, None] * ahead

    def times(kind: str, heel_before: Array) -> list[float]:
        events = zeni(time, pelvis + heel_before[:, None] * ahead, toe, pelvis, ahead)
        return [event.time_s for event in events if event.kind == kind]

    peaks, troughs = (np.arange(shift, 4.8, 1.1) for shift in (0.313 + 1.1 / 4, 0.313 - 1.1 / 4))
    for kind, expected in ((STRIKE, peaks), (OFF, troughs[1:])):
        assert times(kind, forward) == pytest.approx(expected, abs=0.005 + 1e-9)
    hidden = np.where(np.abs(time - peaks[1]) < 0.03, np.nan, forward)
    assert not [time_s for time_s in times(STRIKE, hidden) if abs(time_s - peaks[1]) < 0.1]


@pytest.mark.parametrize("belt_m_s", [0.0, SPEED_M_S])
def test_motion_alone_finds_every_event_to_hundredths_of_a_second(belt_m_s: float) -> None:
    """The swing of the known walk is a cosine with turning points 30 ms inside the swing."""
    tread = walk(belt_m_s=belt_m_s)
    trial = found(cleaned(tread))
    assert set(trial.event_source.values) == {"kinematic"}
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
    """Two strikes without an off in between: the end of the first stance is unknown."""
    events = [GaitEvent(1.0, STRIKE, "c3d"), GaitEvent(2.1, STRIKE, "c3d"), GaitEvent(2.8, OFF, "c3d")]
    rows = [(s.start_s, s.end_s, s.begins, s.ends) for s in stances(events, first_s=0.0, last_s=3.0)]
    assert rows == [(1.0, 2.1, True, False), (2.1, 2.8, True, True)]


def test_a_foot_that_stands_at_an_end_without_an_event_is_on_the_ground() -> None:
    """Recordings are cut in stances, of which motion alone may miss the off or strike."""
    events = [GaitEvent(1.0, STRIKE, "kinematic"), GaitEvent(1.6, OFF, "kinematic")]
    stands = [(0.0, 0.4), (0.95, 1.5), (2.1, 2.6)]
    rows = [(s.start_s, s.end_s, s.begins, s.ends) for s in stances(events, first_s=0.0, last_s=2.6, stands=stands)]
    assert rows == [(0.0, 0.4, False, False), (1.0, 1.6, True, True), (2.1, 2.6, False, False)]


@pytest.mark.parametrize("cut_s", [0.3, 0.4, 0.5, 0.6])
def test_a_load_at_a_cut_is_no_load_of_a_foot_in_swing(known: Walk, cut_s: float) -> None:
    """Without the rest of a stance before the cut, its force is known or missing, never zero."""
    step = next(step for step in known.of("left") if step.start_s > 0)
    start_s = step.start_s + cut_s * (step.end_s - step.start_s)
    part = slice(start_s, None)
    trial = found(cleaned(known, [under(step)]).sel(time=part, plate_time=part))
    force = side_of(trial, "ground_force", "left")[:, 1]
    loaded = within(trial, start_s, step.end_s - 0.05)
    assert not (force[loaded] == 0).any()


def test_no_stance_counts_a_plate_twice() -> None:
    """A slow stance of 1.3 s with two wrong events of the file in its middle."""
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


def test_a_foot_on_its_plate_does_not_strike(known: Walk) -> None:
    """The left foot loads its plate until 0.35 s; the file has a wrong strike at 0.15 s."""
    step = next(step for step in known.of("left") if step.start_s < 0 < step.end_s)
    trial = found(cleaned(known, [under(step)], events=[(0.15, "Foot Strike", "left")]))
    assert events_of(trial, "left")[0].kind == OFF


# --- errors of files --------------------------------------------------------------------------------------


def from_file(known: Walk, events: Sequence[tuple[float, str, str]], *, start_s: float = 0.0) -> list[GaitEvent]:
    """Return the events that remain of those of the file, in a trial of known motion without plates."""
    trial = found(cleaned(walk(start_s=start_s), events=events))
    return [event for side in SIDES for event in events_of(trial, side) if event.source == "c3d"]


def inner(known: Walk, side: str) -> list[float]:
    """Return the times of a side's events well within the trial."""
    times = [time_s for step in known.of(side) for time_s in (step.start_s, step.end_s)]
    return [time_s for time_s in times if known.start_s + 0.1 < time_s < known.end_s - 0.1]


def test_good_events_are_kept(known: Walk) -> None:
    times = [event.time_s for event in from_file(known, file_list(known))]
    assert set(inner(known, "left") + inner(known, "right")) <= set(times)


def test_events_of_the_wrong_side_are_dropped(known: Walk) -> None:
    other = {"left": "right", "right": "left"}
    assert from_file(known, [(time_s, label, other[side]) for time_s, label, side in file_list(known)]) == []


def test_exchanged_strikes_and_offs_are_dropped(known: Walk) -> None:
    other = {"Foot Strike": "Foot Off", "Foot Off": "Foot Strike"}
    assert from_file(known, [(time_s, other[label], side) for time_s, label, side in file_list(known)]) == []


def test_one_wrong_event_is_dropped_alone(known: Walk) -> None:
    wrong = (known.seen()[1].start_s, "Foot Strike", "right")  # a strike of the left foot
    believed = from_file(known, [*file_list(known), wrong])
    assert believed == from_file(known, file_list(known))


def test_events_outside_the_trial_and_at_time_0_are_dropped(known: Walk) -> None:
    outside = [(known.end_s + 0.2, "Foot Strike", "right"), (-0.5, "Foot Off", "left"), (0.0, "Foot Strike", "left")]
    assert from_file(known, outside) == []


def test_times_from_the_files_first_frame_are_corrected() -> None:
    """The recording began 7.3 s before the file; some software counts events from the file's first frame."""
    start_s = 7.3
    late = walk(start_s=start_s)
    right = from_file(late, file_list(late), start_s=start_s)
    slip = from_file(
        late, [(time_s - start_s, label, side) for time_s, label, side in file_list(late)], start_s=start_s
    )
    assert len(right) > 6
    assert [event.time_s for event in slip] == pytest.approx([event.time_s for event in right])


@pytest.mark.parametrize("late_s", [-0.3, -0.2, -0.1, 0.1, 0.2, 0.3])
def test_events_that_plates_contradict_are_not_used(known: Walk, late_s: float) -> None:
    """Plates carry one step of each foot; without its events the file leaves the rest to motion."""
    plates = [under(known.of(side)[1]) for side in SIDES]
    trial = found(cleaned(known, plates, events=file_list(known, late_s=late_s)))
    (unlike,) = from_text(trial.attrs["events_left_out"])
    assert unlike.code == "events_shifted"
    times = {side: [event.time_s for event in events_of(trial, side)] for side in SIDES}
    without = found(cleaned(known, plates))
    assert times == {side: [event.time_s for event in events_of(without, side)] for side in SIDES}


def test_one_event_decides_if_the_file_has_none_near_the_other_events_of_plates(known: Walk) -> None:
    """A strike .2 s late on the plate, and an off a stride later; in the second file that strike is right."""
    step = known.of("right")[1]
    for late_s, unlike in ((0.2, True), (0.0, False)):
        events = [(step.start_s + late_s, "Foot Strike", "right"), (step.end_s + 1.1 + late_s, "Foot Off", "right")]
        trial = found(cleaned(known, [under(step)], events=events))
        assert bool(trial.attrs["events_left_out"]) == unlike
    alone = found(cleaned(known, [under(step)], events=[(step.start_s + 0.2, "Foot Strike", "right")]))
    assert "shifted" not in alone.attrs["events_left_out"]


def test_an_event_that_a_plate_contradicts_alone_leaves_the_others(known: Walk) -> None:
    step = known.of("right")[1]
    plates = [under(step), under(known.of("left")[1])]
    events = [
        (time_s + 0.1 * (abs(time_s - step.start_s) < 0.01), label, side) for time_s, label, side in file_list(known)
    ]
    trial = found(cleaned(known, plates, events=events))
    assert not trial.attrs["events_left_out"]
    assert "c3d" in trial.event_source.values


@pytest.mark.parametrize("late_s", [-0.1, 0.1])
def test_events_stay_where_plates_are_late_and_motion_is_not(known: Walk, late_s: float) -> None:
    """The events are right: of three clocks it is that of the plates which is off."""
    plates = [under(known.of(side)[1]) for side in SIDES]
    data = cleaned(known, plates, events=file_list(known))
    interval_s = float(data.plate_time[1] - data.plate_time[0])
    forces = {name: one for name, one in data.items() if one.dims[0] == "plate_time"}
    later = {name: one.roll(plate_time=round(late_s / interval_s)) for name, one in forces.items()}
    assert not found(data.assign(later)).attrs["events_left_out"]


def test_exchanged_sides_are_named(known: Walk) -> None:
    plates = [under(known.of(side)[1]) for side in SIDES]
    other = dict(zip(SIDES, reversed(SIDES), strict=True))
    events = [(time_s, label, other[side]) for time_s, label, side in file_list(known)]
    (unlike,) = from_text(found(cleaned(known, plates, events=events)).attrs["events_left_out"])
    assert unlike.code in ("events_exchanged", "events_contradicted")
