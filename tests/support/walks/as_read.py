"""Noisy walks of the person of :mod:`person`, and real walks, as results of step ``read``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pipeline.body.body_model import BodyModel
from pipeline.body.landmarks import choose_labels, find_seen_labels
from pipeline.steps.read.step import read_trial as read
from pipeline.tables import study_tables
from pipeline.workflow import settings
from pipeline.workflow.strict_yaml import read_yaml
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.person import Landmarks, body_model, landmarks, mirrored, recorded, turned, walk

Markers = dict[str, np.ndarray]


@cache
def generated(name: str, seed: int) -> tuple[xr.Dataset, BodyModel]:
    """Return a noisy walk like step ``read``, at a random phase, usual rate and direction."""
    rng = np.random.default_rng(seed)
    rate_hz, start_s = rng.choice([60.0, 100.0, 120.0]), rng.uniform(0, 3)
    time = start_s + np.arange(round(rng.uniform(2, 4) * rate_hz)) / rate_hz
    model, points = body_model(name), landmarks(walk(time))
    points = turned(mirrored(points) if seed % 2 else points, rng.uniform(-30, 30))
    noisy: Landmarks = {key: path + rng.normal(0, 0.001, path.shape) for key, path in points.items()}
    trial = recorded(model, noisy, role="gait").assign_coords(time=time)
    return with_no_plate(trial, rate_hz), model


def with_no_plate(trial: xr.Dataset, rate_hz: float) -> xr.Dataset:
    """Add the variables without markers that ``clean`` needs."""
    plate = ("plate_time", "plate", "axis")
    nothing: dict[str, Any] = {name: (plate, np.empty((0, 0, 3))) for name in ("plate_force", "plate_moment")}
    nothing |= {"plate_corner": (("plate", "corner", "axis"), np.empty((0, 4, 3)))}
    nothing |= {
        "plate_fault": ("plate", np.empty(0, dtype=str)),
        "plate_edges_known": ("plate", np.empty(0, dtype=bool)),
    }
    attributes = {"marker_rate_hz": rate_hz, "direction_of_travel": "forwards", "plates_left_out": ""}
    times: dict[str, Any] = {"plate_time": np.empty(0), "event_side": ("event", np.empty(0, dtype=str))}
    event = {"event_time": ("event", np.empty(0))}
    return trial.assign({**nothing, **event}).assign_coords(times).assign_attrs(attributes)


def used(trial: xr.Dataset, model: BodyModel) -> tuple[Markers, dict[str, tuple[str, ...]]]:
    labels, where = [str(label) for label in trial.marker.values], trial.marker_position.values
    chosen = choose_labels(model, find_seen_labels(labels, where))
    return {label: where[:, labels.index(label)] for group in chosen.values() for label in group}, chosen


def cleaned(trial: xr.Dataset, model: BodyModel, **changes: Any) -> xr.Dataset:
    return clean(trial, body_model=model, settings=settings_of("clean", **changes))


def real_walks(shared: Path) -> Iterator[tuple[str, xr.Dataset, BodyModel]]:
    for study in ("exact", "functional", "gait2354", "plug_in_gait"):
        path = shared / "studies" / study
        chosen, model = settings.load_settings(read_yaml(path / "study.yaml"), where="study.yaml", study_path=path)
        people = study_tables.read_participants(path / "participants.tsv")
        for rows in study_tables.read_trials(path / "trials.tsv", people).values():
            for row in rows:
                if row["role"] == "gait":
                    yield row["file"], read(path / row["file"], body_model=model, **chosen["read"]), model
