"""Step ``contacts`` on walks of closed form, and look-ups in its result."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.steps.contacts.events import GaitEvent
from tests.support.settings import settings_of
from tests.support.steps import contacts
from tests.support.walks.as_clean import ANALOG_HZ, FOOT_M, Footfall, Rectangle, Walk, as_stored

Array = NDArray[np.float64]

THRESHOLD_N = settings_of("contacts").threshold_n
SAMPLE_S = 1 / ANALOG_HZ + 1e-9  # a crossing is detected at the next sample
STOPS_AT_ONCE = {"max_time_offset_s": 0.05}  # feet in closed form, 42 ms earlier than real ones at foot off
ROUNDING = 1e-9  # double precision at 1000 N


def found(trial: xr.Dataset, **changes: Any) -> xr.Dataset:
    """Return the contacts of a trial, with changed settings and cells of trials.tsv."""
    cells = {name: changes.pop(name) for name in ("plates_left", "plates_right", "belt_speed_m_s") if name in changes}
    return contacts(as_stored(trial), settings=settings_of("contacts", **changes), **cells)


def under(step: Footfall, *, back_m: float = 0.1, front_m: float = 0.1) -> Rectangle:
    """Return a plate under one footfall."""
    return Rectangle(step.x - back_m, step.x + FOOT_M + front_m, step.z - 0.1, step.z + 0.1)


def stance(trial: xr.Dataset, step: Footfall) -> dict[str, Any]:
    """Return the row of ``contact`` of a footfall."""
    middle = (step.start_s + step.end_s) / 2
    rows = [
        i
        for i in range(trial.sizes["contact"])
        if trial.contact_side[i] == step.side and trial.contact_start[i] < middle < trial.contact_end[i]
    ]
    assert len(rows) == 1, f"{len(rows)} stances for {step}"
    row = trial.isel(contact=rows[0])
    return {
        name: row[name].item() for name in ("contact_start", "contact_end", "plates", "valid", "reason", "reason_code")
    }


def events_of(trial: xr.Dataset, side: str) -> list[GaitEvent]:
    """Return a side's events in the order of the dataset."""
    table = zip(
        trial.event_time.values, trial.event.values, trial.event_side.values, trial.event_source.values, strict=True
    )
    return [GaitEvent(float(time), str(kind), str(source)) for time, kind, of, source in table if of == side]


def side_of(trial: xr.Dataset, name: str, side: str) -> Array:
    return np.asarray(trial[name].sel(side=side).values)


def within(trial: xr.Dataset, start_s: float, end_s: float) -> NDArray[np.bool_]:
    return np.asarray((trial.time.values > start_s) & (trial.time.values < end_s))


def is_unknown(trial: xr.Dataset, step: Footfall) -> bool:
    """Return whether no wrench is stored in the stance."""
    inside = within(trial, step.start_s + 0.02, step.end_s)
    parts = [side_of(trial, name, step.side)[inside] for name in ("ground_force", "ground_moment")]
    return all(np.isnan(part).all() for part in parts)


def file_list(known: Walk, *, late_s: float = 0.0) -> list[tuple[float, str, str]]:
    """Return the events of a walk as a C3D file lists them."""
    pairs = [((step.start_s, "Foot Strike", step.side), (step.end_s, "Foot Off", step.side)) for step in known.steps]
    return [(time + late_s, label, side) for pair in pairs for time, label, side in pair]
