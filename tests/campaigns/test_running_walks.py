"""Running: flights, short stances, large forces, over plates and on a treadmill with two belts."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.conventions import SIDES
from pipeline.steps.cycles.spatiotemporal import support
from pipeline.vocabulary.event_names import OFF, STRIKE
from tests.support.plates.stances import SAMPLE_S, STOPS_AT_ONCE, THRESHOLD_N, events_of, found, side_of, stance, under
from tests.support.walks.as_clean import PEAK_N, Rectangle, crossing
from tests.support.walks.running import FLIGHT_S, GRAVITY_M_S2, MASS_KG, PEAK_BODY_WEIGHTS, STANCE_S, run, run_cleaned

PEAK = PEAK_BODY_WEIGHTS * MASS_KG * GRAVITY_M_S2
SAME_N = THRESHOLD_N * PEAK_N / PEAK  # the threshold, scaled to the larger force
CYCLE_S = 2 * (STANCE_S + FLIGHT_S)


@pytest.mark.parametrize("belt", [False, True])
def test_every_stance_is_valid_and_carries_the_whole_force(belt: bool) -> None:
    """Each foot is on a separate plate or belt, under the pelvis, with short lever arms."""
    known = run(belt=belt)
    plates = [Rectangle(-2, 2, 0, 0.5), Rectangle(-2, 2, -0.5, 0)] if belt else [under(step) for step in known.seen()]
    trial = found(run_cleaned(known, plates), **STOPS_AT_ONCE)
    for step in known.seen():
        row = stance(trial, step)
        assert row["valid"], row["reason"]
        assert (row["contact_start"], row["contact_end"]) == pytest.approx(crossing(step, SAME_N), abs=SAMPLE_S)
        force = side_of(trial, "ground_force", step.side)[:, 1]
        here = (trial.time.values > step.start_s) & (trial.time.values < step.end_s)
        assert force[here].max() == pytest.approx(PEAK, rel=0.01), "marker frames are 10 ms apart"
    flights = zip(known.seen(), known.seen()[1:], strict=False)
    for before, after in flights:
        air = (trial.time.values > before.end_s) & (trial.time.values < after.start_s)
        assert not np.nan_to_num(trial.ground_force.values[air]).any()


def test_flight_is_no_double_support() -> None:
    """Single support is the whole stance, and double support is 0."""
    known = run()
    trial = found(run_cleaned(known, [under(step) for step in known.seen()]))
    for side in SIDES:
        strikes = [event.time_s for event in events_of(trial, side) if event.kind == STRIKE and event.source == "plate"]
        offs = [event.time_s for event in events_of(trial, side) if event.kind == OFF and event.source == "plate"]
        for start_s, off_s, end_s in zip(strikes, offs, strikes[1:], strict=False):
            shares = support(trial, side=side, start_s=start_s, off_s=off_s, end_s=end_s)
            assert shares["double_support_share"] == 0
            assert shares["single_support_share"] == pytest.approx(100 * (off_s - start_s) / (end_s - start_s))
            assert shares["step_time"] == pytest.approx(CYCLE_S / 2, abs=2 * SAMPLE_S)


@pytest.mark.parametrize("belt", [False, True])
def test_motion_alone_gives_landing_and_take_off(belt: bool) -> None:
    """Each is found once, within three frames, the documented accuracy of the method."""
    known = run(belt=belt)
    trial = found(run_cleaned(known), kinematic_events="handsaker")
    for side in SIDES:
        for kind, name in ((STRIKE, "start_s"), (OFF, "end_s")):
            true = [t for step in known.of(side) if 0.15 < (t := getattr(step, name)) < known.end_s - 0.15]
            times = [
                e.time_s for e in events_of(trial, side) if e.kind == kind and 0.15 < e.time_s < known.end_s - 0.15
            ]
            assert times == pytest.approx(true, abs=0.03)
