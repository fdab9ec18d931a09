"""The table of metrics: names, phases of gait and other names."""

from __future__ import annotations

import pytest

from pipeline.variables.metrics import METRICS, NUMBERS, OF_STANCE
from pipeline.variables.rows import PEAKS, Window


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("KAM", "peak_knee_abductor_moment"),
        ("KAM1", "peak_knee_abductor_moment_first"),
        ("second peak external knee adduction moment", "peak_knee_abductor_moment_second"),
        ("A2", "peak_ankle_power"),
        ("H3", "peak_power_h3"),
        ("Fz2", "lowest_vertical_force"),
        ("GPS", "gait_profile_score"),
    ],
)
def test_the_names_of_the_field_lead_to_one_metric(name: str, metric: str) -> None:
    assert [own for own, entry in NUMBERS.items() if name in entry.aliases] == [metric]


def test_no_other_name_has_two_meanings() -> None:
    names = [*NUMBERS, *(alias for entry in NUMBERS.values() for alias in entry.aliases)]
    assert sorted(names) == sorted(set(names))


def test_every_peak_has_a_phase_of_gait_a_sign_and_a_source() -> None:
    for name in (name for name, metric in METRICS.items() if metric.group == PEAKS):
        metric, phase = METRICS[name], METRICS[f"phase_of_{name}"]
        assert metric.positive, name
        assert metric.source, name
        assert metric.window.words in metric.long_name, name
        assert (phase.kind, phase.window) == ("phase", metric.window), name


def test_signed_metrics_are_those_that_may_cross_zero() -> None:
    """An angle, a moment of knee or flexors, the step width; a hip extensor or a plantarflexor is one by its sign."""
    signed = {name for name, metric in METRICS.items() if metric.kind == "signed"}
    assert {"peak_hip_extension", "peak_knee_extensor_moment", "peak_knee_abductor_moment", "step_width"} <= signed
    assert not signed & {"stride_length", "peak_hip_extensor_moment", "peak_ankle_power", "peak_vertical_force"}


def test_metrics_of_a_stance_end_with_it() -> None:
    """Work of push-off may go on after foot off, so it is not among them."""
    assert {"stance_time", "leg_length", "peak_knee_abductor_moment_second", "work_h2"} <= {*OF_STANCE}
    assert not {*OF_STANCE} & {"peak_hip_extension", "peak_knee_flexion", "work_a2", "stride_length", "peak_power_h3"}
    assert all(METRICS[name].window.end <= 1 for name in OF_STANCE if name != "leg_length")


@pytest.mark.parametrize(
    ("window", "words"),
    [
        (Window("early stance", 0.08, 0.5), "early stance, 8 to 50 % of stance"),
        (Window("push-off", 0.6, 1), "push-off, 60 % of stance to foot off"),
        (Window("loading", 0, 0.35), "loading, foot strike to 35 % of stance"),
        (Window("swing", 1.4, 2.2), "swing, 40 % of swing to 20 % of the next stance"),
        (Window("late swing", 1.4, 2), "late swing, 40 % of swing to foot strike"),
    ],
)
def test_words_of_windows(window: Window, words: str) -> None:
    assert window.words == words
