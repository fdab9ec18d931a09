"""Events from motion: all directions, turns and runs; real walks against plates and files."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.conventions import SIDES
from pipeline.steps.contacts.kinematic_events import handsaker, oconnor, zeni
from pipeline.steps.contacts.pelvis import heading
from pipeline.vocabulary.event_names import OFF, STRIKE
from tests.support.plates.stances import SAMPLE_S, THRESHOLD_N, events_of, found, under, within
from tests.support.walks import as_clean
from tests.support.walks.as_clean import SPEED_M_S, Footfall, Walk, cleaned, crossing, walk
from tests.support.walks.real import cleaned_walks

Array = NDArray[np.float64]


# --- other ways of walking -------------------------------------------------------------------------------------


def turned(trial: xr.Dataset, angle: Array, about: Array) -> xr.Dataset:
    """Return a trial with its markers turned to the left by an angle (time,) about a vertical line."""
    arm = trial.marker_position.values - about
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    result = arm.copy()
    result[..., 0], result[..., 2] = cos * arm[..., 0] + sin * arm[..., 2], cos * arm[..., 2] - sin * arm[..., 0]
    return trial.assign(marker_position=trial.marker_position.copy(data=result + about))


@pytest.mark.parametrize("method", ["zeni", "oconnor"])
@pytest.mark.parametrize("degrees", [30.0, 45.0, 90.0, 180.0])
def test_events_do_not_depend_on_the_direction(method: str, degrees: float) -> None:
    straight = cleaned(walk())
    diagonal = turned(straight, np.full(straight.sizes["time"], np.radians(degrees)), np.zeros(3))
    one, other = (found(trial, kinematic_events=method) for trial in (straight, diagonal))
    np.testing.assert_array_equal(other.event.values, one.event.values)
    np.testing.assert_allclose(other.event_time.values, one.event_time.values, atol=1e-6)


def test_events_of_a_turn() -> None:
    """Treadmill steps along a curve of 180 degrees in 3.5 s, as in walking up and down a corridor.

    In lab axes the feet are first before and then behind the pelvis; in those of the pelvis nothing changes.
    """
    tread = walk(strides=3, belt_m_s=SPEED_M_S)
    straight = cleaned(tread)
    time = straight.time.values
    angle = np.pi * (1 - np.cos(np.pi * (time - time[0]) / (time[-1] - time[0]))) / 2
    bent = turned(straight, angle, np.array([0.0, 0.0, -2.0]))
    names = list(bent.marker.values)
    point = {name: bent.marker_position.values[:, names.index(name)] for name in names}
    forward = heading(point["asis_left"], point["asis_right"])
    np.testing.assert_allclose(forward, np.stack([np.cos(angle), 0 * angle, -np.sin(angle)], axis=1), atol=1e-9)
    for side in SIDES:
        pelvis = (point["asis_left"] + point["asis_right"]) / 2
        events = zeni(time, point[f"heel_{side}"], point[f"toe_{side}"], pelvis, forward)
        for kind, name in ((STRIKE, "start_s"), (OFF, "end_s")):
            true = [t for step in tread.of(side) if 0.05 < (t := getattr(step, name)) < time[-1] - 0.05]
            times = [event.time_s for event in events if event.kind == kind]
            assert len(times) == len(true)
            assert times == pytest.approx(true, abs=0.045), "as on a straight line"


def running() -> Walk:
    """Return a run: each stance ends before the other foot strikes."""
    stance_s, flight_s = 0.25, 0.1
    half = stance_s + flight_s
    steps = []
    for number in range(-4, 10):
        side, strike = SIDES[(number + 1) % 2], 0.2 + number * half
        steps.append(Footfall(side, strike, strike + stance_s, SPEED_M_S * strike, 0.05 if side == "right" else -0.05))
    return Walk(tuple(steps), 0.2 + 5.5 * half)


def test_a_run_over_plates_has_flights_and_no_double_support(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(as_clean, "DRIVE", 0.06)  # in so short a stance, the body hardly passes over the foot
    run = running()
    trial = found(cleaned(run, [under(step) for step in run.seen()]))
    for step in run.seen():
        (row,) = [i for i in range(trial.sizes["contact"]) if abs(trial.contact_start.values[i] - step.start_s) < 0.02]
        assert trial.valid.values[row], trial.reason.values[row]
        assert trial.contact_end.values[row] == pytest.approx(crossing(step, THRESHOLD_N)[1], abs=SAMPLE_S)
    force = trial.ground_force.values[..., 1]
    flight = [(a.end_s, b.start_s) for a, b in zip(run.seen(), run.seen()[1:], strict=False)]
    for start_s, end_s in flight:
        assert (np.nan_to_num(force[within(trial, start_s, end_s)]) == 0).all()
    assert not ((force > 0).all(axis=1)).any(), "never both feet"


def landing(time: Array, stance_s: float, cycle_s: float, strike_s: float) -> tuple[Array, Array, list[float]]:
    """Return heights of heel and toe (time,) and the strikes of a foot that lands and takes off at 1 m/s."""
    since = (time - strike_s) % cycle_s
    air = np.clip((since - stance_s) / (cycle_s - stance_s), 0, 1)
    swing = (cycle_s - stance_s) * air * (1 - air)  # leaves and lands at 1 m/s
    return 0.04 + swing, 0.03 + swing, list(np.arange(strike_s, time[-1], cycle_s))


def test_the_method_for_running_finds_landing_and_take_off() -> None:
    """Acceleration peaks where a foot that falls at 1 m/s stops, and jerk where it takes off."""
    time = np.arange(600) / 200
    heel_up, toe_up, strikes = landing(time, 0.25, 0.7, 0.3)
    flat = np.zeros((600, 3))
    heel, toe = (np.stack([0 * time, up, 0 * time], axis=1) for up in (heel_up, toe_up))
    events = handsaker(time, heel, toe, flat, flat)
    for kind, true in ((STRIKE, strikes), (OFF, [strike + 0.25 for strike in strikes])):
        times = [event.time_s for event in events if event.kind == kind]
        inner = [t for t in true if 0.15 < t < time[-1] - 0.15]
        assert times == pytest.approx(inner, abs=0.016), "three frames"


def test_the_vertical_velocity_gives_strikes_and_offs() -> None:
    """O'Connor: the foot's middle falls fastest at strike, with the heel low, and rises fastest at off."""
    time = np.arange(400) / 100
    phase = 2 * np.pi * (time % 1.0)
    middle = 0.1 + 0.03 * np.cos(2 * phase) - 0.02 * np.cos(phase)  # falls fastest twice in a cycle
    heel = 0.1 - 0.08 * np.cos(phase - 0.5)  # low at one of the two
    heel_path, toe_path = (np.stack([0 * time, up, 0 * time], axis=1) for up in (heel, 2 * middle - heel))
    events = oconnor(time, heel_path, toe_path, np.zeros((400, 3)), np.zeros((400, 3)))
    speed = -0.06 * np.sin(2 * phase) + 0.02 * np.sin(phase)
    one = speed[:100]
    first_half = np.flatnonzero(heel[:100] < 0.02 + 0.35 * 0.16)
    strike = first_half[np.argmin(one[first_half])] / 100
    strikes = [event.time_s % 1.0 for event in events if event.kind == STRIKE]
    assert len(strikes) >= 3
    assert strikes == pytest.approx([strike] * len(strikes), abs=0.02)
    assert {round(event.time_s % 1.0, 2) for event in events if event.kind == OFF} <= set(
        np.round(np.flatnonzero(one > one.max() / 2) / 100, 2)
    )


# --- real recordings -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real_walks(shared: Path) -> dict[str, xr.Dataset]:
    return cleaned_walks(shared)


def differences_s(events: xr.Dataset, other: xr.Dataset, *, source: str, kind: str) -> list[float]:
    """Return how much later events of a source are than the nearest ones of plates, up to 150 ms."""
    result = []
    for side in SIDES:
        mine = [event.time_s for event in events_of(events, side) if (event.source, event.kind) == (source, kind)]
        plates = [event.time_s for event in events_of(other, side) if (event.source, event.kind) == ("plate", kind)]
        result += [min((time_s - plate_s for time_s in mine), key=abs, default=np.inf) for plate_s in plates]
    return [away for away in result if abs(away) < 0.15]


def without(trial: xr.Dataset, *, events: bool) -> xr.Dataset:
    """Return a trial without plates and, unless ``events``, without the file's events."""
    bare = trial.isel(plate=slice(0), plate_time=slice(0))
    return bare if events else bare.isel(event=slice(0))


def test_plates_and_files_agree_in_real_walks(real_walks: Mapping[str, xr.Dataset]) -> None:
    """Files begin at frame 124 to 1017; labs place their events to the frame, with their own thresholds."""
    for kind in (STRIKE, OFF):
        late = [
            away
            for trial in real_walks.values()
            for away in differences_s(found(without(trial, events=True)), found(trial), source="c3d", kind=kind)
        ]
        sys.stdout.write(f"c3d {kind}: {summary(late)}\n")
        assert len(late) >= 10
        assert np.median(np.abs(late)) < 0.02
        assert np.abs(late).max() < 0.05


@pytest.mark.parametrize("method", ["zeni", "oconnor"])
def test_motion_alone_finds_the_events_of_real_walks(real_walks: Mapping[str, xr.Dataset], method: str) -> None:
    """Without plates and file events, which would correct those from motion."""
    for kind in (STRIKE, OFF):
        late = []
        for trial in real_walks.values():
            alone = found(without(trial, events=False), kinematic_events=method)
            assert set(alone.event_source.values) == {"kinematic"}
            late += differences_s(alone, found(trial), source="kinematic", kind=kind)
        sys.stdout.write(f"{method} {kind}: {summary(late)}\n")
        assert len(late) >= 30
        assert np.median(np.abs(late)) < 0.03


def summary(late_s: Sequence[float]) -> str:
    low, middle, high = 1000 * np.percentile(late_s, [25, 50, 75])
    away = 1000 * np.median(np.abs(late_s))
    return f"{len(late_s)} events, median {middle:+.0f} ms ({low:+.0f} to {high:+.0f}), {away:.0f} ms away"


# --- markers that appear late ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seen_from_s", [0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5])
def test_the_first_sight_of_a_foot_is_no_event(seen_from_s: float) -> None:
    """Wherever in the stride its markers appear, in noise of 1 mm: every event is one of the whole recording."""
    known = walk(strides=3)
    trial = cleaned(known)
    time, names = trial.time.values, list(trial.marker.values)
    rng = np.random.default_rng(round(100 * seen_from_s))
    path = trial.marker_position.values + 0.001 * rng.normal(size=trial.marker_position.shape)
    heel, toe, left, right = (
        path[:, names.index(f"{name}")] for name in ("heel_left", "toe_left", "asis_left", "asis_right")
    )
    arguments = (left + right) / 2, np.tile([1.0, 0.0, 0.0], (len(time), 1))
    whole = zeni(time, heel, toe, *arguments)
    hidden = np.where((time < time[0] + seen_from_s)[:, None], np.nan, heel)
    late = zeni(time, hidden, toe, *arguments)
    assert {event for event in late if event.kind == STRIKE} <= set(whole)
    before = [event for event in whole if event.time_s > time[0] + seen_from_s + 0.2]
    assert set(before) <= set(late)


def test_a_foot_that_pauses_in_swing_when_it_appears_has_no_strike() -> None:
    """It is ahead of the middle of its range, but far behind where the other strides end."""
    time = np.arange(400) / 100
    ahead = -0.25 * np.cos(2 * np.pi * time)
    pause = time < 0.2
    ahead[pause] = 0.12 - 20 * (time[pause] - 0.12) ** 2
    ahead[time < 0.05] = np.nan
    heel = np.stack([ahead, 0 * time, 0 * time], axis=1)
    forward = np.tile([1.0, 0.0, 0.0], (400, 1))
    strikes = [
        event.time_s for event in zeni(time, heel, heel - 0.2 * forward, 0 * heel, forward) if event.kind == STRIKE
    ]
    np.testing.assert_allclose(strikes, [0.5, 1.5, 2.5, 3.5])
