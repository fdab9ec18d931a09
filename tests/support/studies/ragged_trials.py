"""Trials that differ in all that trials of a session may differ in."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from tests.support.studies.rejected import rejection

LABELS = ["LASI", "RASI", "LHEE", "RHEE", "Ünterarm"]
LOST = rejection("no markers\nat  all", {"source": "lost.c3d", "source_sha256": "00", "role": "gait"}).dataset()
REASON = "no markers at all"  # in one line


def ragged_trial(
    seed: int, *, markers: int = 4, plates: int = 2, events: int = 3, contacts: int = 2, note: str = "gefüllt"
) -> xr.Dataset:
    """Return a trial of its own rate and duration, with random markers in random order, and plates."""
    rng = np.random.default_rng(seed)
    count, rate_hz = int(rng.integers(5, 30)), float(rng.choice([50, 100, 120.5]))
    shown = rng.permutation(LABELS)[:markers]
    samples = 5 * count if plates else 0
    channels = int(rng.integers(0, 4)) if plates else 0
    muscles = rng.permutation(["soleus", "rectus_femoris", "gracilis"])[:channels]
    start_s = rng.uniform(0, 5)
    values: dict[str, Any] = {
        "marker_position": (("time", "marker", "axis"), rng.normal(size=(count, markers, 3))),
        "fill": (("time", "marker"), rng.integers(0, 5, (count, markers)).astype(np.int8)),
        "joint_moment": (("time", "side"), rng.normal(size=(count, 2))),
        "plate_force": (("plate_time", "plate", "axis"), rng.normal(size=(samples, plates, 3))),
        "plate_corner": (("plate", "corner", "axis"), rng.normal(size=(plates, 4, 3))),
        "plate_drift": ("plate", rng.normal(size=plates)),
        "plate_wander": ("plate", rng.normal(size=plates)),
        "plate_prediction_error": ("plate", rng.normal(size=plates)),
        "plate_wander_of_moment": ("plate", rng.normal(size=plates)),
        "plate_prediction_error_of_moment": ("plate", rng.normal(size=plates)),
        "plate_edges_known": ("plate", rng.integers(0, 2, plates).astype(np.int8)),
        "plate_fault": ("plate", rng.choice(["", "channel Fx1 stays still"], plates).astype(str)),
        "analog": (("plate_time", "channel"), rng.normal(size=(samples, channels))),
        "analog_units": ("channel", rng.choice(["V", "mV"], channels).astype(str)),
        "emg_envelope": (("time", "side", "muscle"), rng.uniform(size=(count, 2, channels))),
        "event_time": ("event", np.sort(rng.uniform(0, 1, events))),
        "contact_start": ("contact", np.sort(rng.uniform(0, 1, contacts))),
        "lab_rotation": (("axis", "file_axis"), rng.normal(size=(3, 3))),
    }
    values["marker_position"][1][rng.random((count, markers)) < 0.2] = np.nan
    coordinates = {
        "time": start_s + np.arange(count) / rate_hz,
        "plate_time": start_s + np.arange(samples) / (5 * rate_hz),
        "marker": shown,
        "label": ("marker", np.char.add("my ", shown)),
        "cutoff_hz": ("marker", rng.uniform(5, 20, markers)),
        "channel": rng.permutation(["EMG1", "EMG2", "foot switch"])[:channels],
        "muscle": muscles,
        "plate": 1 + rng.permutation(3)[:plates].astype(np.int32),
        "axis": list("xyz"), "file_axis": list("xyz"), "side": ["left", "right"],
        "corner": np.arange(4, dtype=np.int32),
        "event": rng.choice(["foot_strike", "foot_off"], events).astype(str),
        "event_side": ("event", rng.choice(["left", "right"], events).astype(str)),
        "valid": ("contact", rng.random(contacts) < 0.5),
        "reason": ("contact", rng.choice(["", "zwei Füße"], contacts).astype(str)),
    }  # fmt: skip
    about = {"source": f"{seed}.c3d", "source_sha256": f"{seed:02}", "role": "gait", "note": note}
    return xr.Dataset(values, coordinates, about | {"marker_rate_hz": rate_hz})


SESSIONS: dict[str, dict[str, xr.Dataset]] = {
    "markers, plates and rates differ": {f"walk_{seed}": ragged_trial(seed) for seed in range(4)},
    "one trial": {"walk": ragged_trial(4)},
    "the order of the table": {name: ragged_trial(i) for i, name in enumerate(["walk_2", "b", "walk_10", "a"])},
    "more markers and plates": {
        "few": ragged_trial(5, markers=2, plates=1), "all": ragged_trial(6, markers=5, plates=3),
    },
    "a trial without plates": {"a": ragged_trial(7, plates=0), "b": ragged_trial(8), "c": ragged_trial(9, plates=0)},
    "no plates": {"a": ragged_trial(7, plates=0), "b": ragged_trial(8, plates=0)},
    "a trial without events": {"a": ragged_trial(7, events=0), "b": ragged_trial(8)},
    "no events": {"a": ragged_trial(7, events=0), "b": ragged_trial(8, events=0)},
    "a trial without contact": {"a": ragged_trial(7), "b": ragged_trial(8, contacts=0)},
    "no contacts": {"a": ragged_trial(7, contacts=0), "b": ragged_trial(8, contacts=0)},
    "no text": {"a": ragged_trial(7, note=""), "b": ragged_trial(8, note="")},
    "first rejected": {"lost": LOST, "a": ragged_trial(10), "b": ragged_trial(11)},
    "middle rejected": {"a": ragged_trial(10), "lost": LOST, "b": ragged_trial(11)},
    "last rejected": {"a": ragged_trial(10), "b": ragged_trial(11), "lost": LOST},
    "several rejected": {"lost": LOST, "also": LOST, "a": ragged_trial(10), "too": LOST},
    "all rejected": {"lost": LOST, "also": LOST},
}  # fmt: skip
