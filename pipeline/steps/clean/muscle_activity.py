"""Envelopes of the muscles with EMG among the channels of a trial."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from ...arrays import Array
from ...conventions import SIDES
from ...errors import Problem
from ...plates.wrench import at_instants
from ...signals import emg
from ...trials.session import Trial
from ...variables.left_out import LeftOut, as_text
from ...vocabulary.muscle_names import muscles_in
from .settings import Settings


def without_absent_muscles(step: Callable[..., xr.Dataset]) -> Callable[..., xr.Dataset]:
    """Remove from the result of a step what no trial has: muscles, and reasons why channels are left out."""

    @functools.wraps(step)
    def with_present(*inputs: xr.Dataset, **arguments: Any) -> xr.Dataset:
        result = step(*inputs, **arguments)
        if "emg_left_out" in result.data_vars and not (result.variables["emg_left_out"].values != "").any():
            result = result.drop_vars("emg_left_out")
        return result if result.sizes.get("muscle", 1) else result.drop_dims("muscle").drop_vars("side")

    return with_present


def muscle_activity(read: Trial, settings: Settings) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Return the envelopes of a trial.

    Args:
        read: a trial of the step ``read``.
        settings: of the step; muscles of channels that ``emg_channels`` does not name are recognised by
            :func:`pipeline.vocabulary.muscle_names.muscles_in`.

    Returns:
        ``emg_envelope`` (time, side, muscle), mV, at the marker instants, NaN for a side without a channel; its
        coordinates; and the channels of muscles that are left out, with the reasons.
    """
    parts = ("channel", "analog_units") if "analog" in read.variables else ()
    labels, units = [read.variables[name].values.tolist() for name in parts] or [[], []]
    instants, time = read.variables["plate_time"].values, read.variables["time"].values
    places = muscles_of_channels(labels, units, settings.emg_channels)
    kept: dict[tuple[str, str], Array] = {}
    reasons: dict[Problem, list[str]] = {}
    for label, place in places.items():
        column = labels.index(label)
        envelope = _envelope(read.analog.values[:, column], instants, units[column], settings)
        if (count := [*places.values()].count(place)) > 1:
            muscle = " ".join(place).replace("_", " ")
            envelope = emg.unusable("several_channels", f"one of {count} channels of {muscle}, see clean.emg_channels")
        if isinstance(envelope, Problem):
            reasons.setdefault(envelope, []).append(label)
        else:
            kept[place] = at_instants(envelope[:, None, None], instants, time)[:, 0, 0]
    muscles = list(dict.fromkeys(muscle for _, muscle in kept))
    result = np.full((len(time), len(SIDES), len(muscles)), np.nan)
    for (side, muscle), values in kept.items():
        result[:, SIDES.index(side), muscles.index(muscle)] = values
    coordinates = {"side": ("side", [*SIDES]), "muscle": ("muscle", np.array(muscles, dtype=str))}
    left_out = as_text(LeftOut(labels, problem.code, problem.what) for problem, labels in reasons.items())
    return {"emg_envelope": (("time", "side", "muscle"), result)}, coordinates, left_out


def muscles_of_channels(
    labels: Sequence[str], units: Sequence[str], channels: Mapping[str, str | None]
) -> dict[str, tuple[str, str]]:
    """Return side and muscle by label: those of the settings, then those that labels of voltages name."""
    voltages = [label for label, unit in zip(labels, units, strict=True) if emg.millivolts_per(unit)]
    listed = {label: channels[label] for label in labels if label in channels}
    recognised = {label: place for label, place in muscles_in(voltages).items() if label not in listed}
    given = {label: text.split(maxsplit=1) for label, text in listed.items() if text}
    return {label: (side, muscle.replace(" ", "_")) for label, (side, muscle) in given.items()} | recognised


def _envelope(values: Array, instants: Array, unit: str, settings: Settings) -> Array | Problem:
    """Return the envelope (sample,) of a channel, mV, or why it cannot be used."""
    rate_hz = round((len(instants) - 1) / (instants[-1] - instants[0]), 3) if len(instants) > 1 else 0.0
    if (per_unit := emg.millivolts_per(unit)) is None:
        return emg.unusable("no_voltage", f"its unit is '{unit}', not V, mV or uV")
    if rate_hz < emg.LOWEST_RATE_HZ:
        words = f"{rate_hz:.0f} samples per second, EMG needs {emg.LOWEST_RATE_HZ:.0f}"
        return emg.unusable("rate_too_low", words)
    recorded = emg.without_lost(values * per_unit, rate_hz=rate_hz)
    cutoffs = {"high_pass_hz": settings.emg_high_pass_hz, "low_pass_hz": settings.emg_low_pass_hz}
    envelope: Array = emg.envelopes(recorded[:, None], rate_hz=rate_hz, **cutoffs)[:, 0]
    return emg.fault(recorded, envelope, rate_hz=rate_hz) or envelope
