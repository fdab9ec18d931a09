"""Envelopes and bursts of the muscles with EMG among the channels of a trial."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from ...arrays import Array
from ...conventions import SIDES
from ...errors import Problem
from ...plates.wrench import at_instants
from ...signals import emg
from ...trials.left_out import LeftOut, as_text
from ...trials.session import Trial
from ...vocabulary.muscle_names import muscles_in
from .settings import Settings

REFERENCE_S = 0.5  # of a maximal contraction; shorter windows repeat worse (Katsavelis and Threlkeld 2014)
Place = tuple[str, str]  # side and muscle
Levels = Mapping[Place, float]  # mV


def reference_levels(trials: Iterable[Trial], settings: Settings) -> Levels:
    """Return the highest envelopes in the session's trials ``emg_reference``, means over 0.5 s."""
    highest: dict[tuple[str, str], float] = {}
    for trial in trials:
        if trial.attrs.get("role") != "emg_reference" or "rejected" in trial.attrs:
            continue
        variables, coordinates, _ = muscle_activity(trial, settings)
        window = round(REFERENCE_S * trial.attrs["marker_rate_hz"])
        muscles = coordinates["muscle"][1].tolist()
        for place in itertools.product(SIDES, muscles):
            envelope = variables["emg_envelope"][1][:, SIDES.index(place[0]), muscles.index(place[1])]
            if len(envelope) >= window and np.isfinite(envelope).any():
                means = np.convolve(envelope, np.full(window, 1 / window), "valid")
                highest[place] = float(np.fmax(np.fmax.reduce(means), highest.get(place, np.nan)))
    return highest


def without_absent_muscles(clean: xr.Dataset) -> xr.Dataset:
    """Return a session without what no trial has: muscles, bursts, reasons why channels are left out."""
    if "emg_left_out" in clean.data_vars and not (clean.variables["emg_left_out"].values != "").any():
        clean = clean.drop_vars("emg_left_out")
    return clean if clean.sizes.get("muscle", 1) else clean.drop_dims(["muscle", "burst"]).drop_vars("side")


def muscle_activity(
    read: Trial, settings: Settings, emg_reference: Levels | None = None
) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Return the envelopes and bursts of a trial.

    Args:
        read: a trial of the step ``read``.
        settings: of the step; muscles of channels that ``emg_channels`` does not name are recognised by
            :func:`pipeline.vocabulary.muscle_names.muscles_in`.
        emg_reference: of the session, by side and muscle.

    Returns:
        ``emg_envelope`` (time, side, muscle), mV, at the marker instants, NaN for a side without a channel;
        ``emg_rest`` and ``emg_reference`` (side, muscle), mV; ``burst_start`` and ``burst_end`` (burst,), s; their
        coordinates; and the channels of muscles that are left out, with the reasons.
    """
    kept, activity, left_out = _signals(read, settings)
    instants = read.variables["plate_time"].values
    muscles = list(dict.fromkeys(muscle for _, muscle in kept))
    result = np.full((len(read.variables["time"].values), len(SIDES), len(muscles)), np.nan)
    levels = np.full((2, len(SIDES), len(muscles)), np.nan)
    for (side, muscle), values in kept.items():
        column = (SIDES.index(side), muscles.index(muscle))
        result[:, *column] = values
        levels[:, *column] = activity[side, muscle].rest, (emg_reference or {}).get((side, muscle), np.nan)
    bursts = [(*instants[[start, stop - 1]], *place) for place, one in activity.items() for start, stop in one.bursts]
    bursts.sort()
    start_s, end_s, sides, names = zip(*bursts, strict=True) if bursts else ((), (), (), ())
    variables = {
        "emg_envelope": (("time", "side", "muscle"), result),
        **{f"emg_{name}": (("side", "muscle"), one) for name, one in zip(("rest", "reference"), levels, strict=True)},
        "burst_start": ("burst", np.array(start_s, dtype=float)),
        "burst_end": ("burst", np.array(end_s, dtype=float)),
    }
    coordinates = {
        "side": ("side", [*SIDES]),
        "muscle": ("muscle", np.array(muscles, dtype=str)),
        "burst_side": ("burst", np.array(sides, dtype=str)),
        "burst_muscle": ("burst", np.array(names, dtype=str)),
    }
    return variables, coordinates, left_out


def _signals(read: Trial, settings: Settings) -> tuple[dict[Place, Array], dict[Place, emg.Activity], str]:
    """Return envelopes (time,), mV, and activity by side and muscle, and the channels that are left out in words."""
    parts = ("channel", "analog_units") if "analog" in read.variables else ()
    labels, units = [read.variables[name].values.tolist() for name in parts] or [[], []]
    instants, time = read.variables["plate_time"].values, read.variables["time"].values
    places = muscles_of_channels(labels, units, settings.emg_channels)
    kept: dict[Place, Array] = {}
    activity: dict[Place, emg.Activity] = {}
    reasons: dict[Problem, list[str]] = {}
    for label, place in places.items():
        column = labels.index(label)
        envelope, active = _signal(read["analog"].values[:, column], instants, units[column], settings)
        if (count := [*places.values()].count(place)) > 1:
            muscle = " ".join(place).replace("_", " ")
            envelope = emg.unusable("several_channels", f"one of {count} channels of {muscle}, see clean.emg_channels")
        if isinstance(envelope, Problem):
            reasons.setdefault(envelope, []).append(label)
        else:
            kept[place] = at_instants(envelope[:, None, None], instants, time)[:, 0, 0]
            activity[place] = active
    return kept, activity, as_text(LeftOut(labels, problem.code, problem.what) for problem, labels in reasons.items())


def muscles_of_channels(
    labels: Sequence[str], units: Sequence[str], channels: Mapping[str, str | None]
) -> dict[str, tuple[str, str]]:
    """Return side and muscle by label: those of the settings, then those that labels of voltages name."""
    voltages = [label for label, unit in zip(labels, units, strict=True) if emg.millivolts_per(unit)]
    listed = {label: channels[label] for label in labels if label in channels}
    recognised = {label: place for label, place in muscles_in(voltages).items() if label not in listed}
    given = {label: text.split(maxsplit=1) for label, text in listed.items() if text}
    return {label: (side, muscle.replace(" ", "_")) for label, (side, muscle) in given.items()} | recognised


def _signal(values: Array, instants: Array, unit: str, settings: Settings) -> tuple[Array | Problem, emg.Activity]:
    """Return the envelope (sample,) of a channel, mV, or why it cannot be used; and when the muscle is active."""
    none = emg.Activity([], np.nan)
    rate_hz = round((len(instants) - 1) / (instants[-1] - instants[0]), 3) if len(instants) > 1 else 0.0
    if (per_unit := emg.millivolts_per(unit)) is None:
        return emg.unusable("no_voltage", f"its unit is '{unit}', not V, mV or uV"), none
    if rate_hz < emg.LOWEST_RATE_HZ:
        words = f"{rate_hz:.0f} samples per second, EMG needs {emg.LOWEST_RATE_HZ:.0f}"
        return emg.unusable("rate_too_low", words), none
    recorded = emg.without_lost(values * per_unit, rate_hz=rate_hz)
    cutoffs = {"high_pass_hz": settings.emg_high_pass_hz, "low_pass_hz": settings.emg_low_pass_hz}
    envelope: Array = emg.envelopes(recorded[:, None], rate_hz=rate_hz, **cutoffs)[:, 0]
    if problem := emg.fault(recorded, envelope, rate_hz=rate_hz):
        return problem, none
    thresholds = {"false_alarm": settings.emg_false_alarm, "shortest_s": settings.emg_shortest_s}
    return envelope, emg.activity(recorded, rate_hz=rate_hz, high_pass_hz=settings.emg_high_pass_hz, **thresholds)
