"""Walks cropped anywhere: results near the new ends are those of the whole walk, or missing, or doubted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.steps.cycles.verdicts import LEAST_SEEN
from pipeline.variables.schema import FLAGS
from tests.campaigns.filter_truth import write_hard_walk
from tests.campaigns.labs import BY_HAND, choose_body_model, set_up, walks
from tests.support.studies import run_steps

NEAR_AN_END = FLAGS["kinetics", "missing"].split().index("near_an_end")
SHORTEST_S = 0.7
TOLERANCE = 0.02  # N m/kg, a twentieth of a usual moment of the hip
TAIL_S = 0.15  # of a stance's force after its foot off


def crops(trial: xr.Dataset, strikes: Any, *, count: int) -> Iterator[xr.Dataset]:
    """Yield parts of a trial of the step ``read``: half of them begin or end at a foot strike.

    There the filters miss most.
    """
    rng, time, yielded = np.random.default_rng(5), trial.time.values, 0
    while yielded < count:
        start, end = sorted(rng.uniform(time[0], time[-1], 2))
        if yielded % 2:
            cut = rng.choice(strikes)
            start, end = (cut, time[-1]) if cut < time[-1] - SHORTEST_S else (time[0], cut)
        if end - start >= SHORTEST_S:
            yielded += 1
            frames = time[(time >= start) & (time <= end)]
            samples = (trial.plate_time.values >= frames[0] - 1e-9) & (trial.plate_time.values <= frames[-1] + 1e-9)
            part = trial.sel(time=frames).isel(plate_time=np.flatnonzero(samples))
            yield part.assign_attrs(stored_angles="")  # their frames are numbered from the start of the file


def test_crops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a walk with foot impacts."""
    truth = write_hard_walk(tmp_path, 4)
    arguments: list[tuple[Any, ...]] = []
    run_trial = run_steps.run_trial

    def remembering(*given: Any) -> Any:
        arguments.append(given)
        return run_trial(*given)

    monkeypatch.setattr(run_steps, "run_trial", remembering)
    (session,) = run_steps.run_study(tmp_path, {}).values()
    (whole,), (recorded, *others) = session.trials.values(), arguments[0]
    reach = []
    for crop in crops(recorded, whole["contacts"].contact_start.values, count=12):
        part = run_trial(crop, *others)
        loads, same = part["kinetics"], whole["kinetics"].sel(time=part["kinetics"].time)
        away = np.abs((loads.joint_moment_jcs - same.joint_moment_jcs).values) / truth.mass_kg
        assert np.nanmax(away) < TOLERANCE, crop.time.values[[0, -1]]
        lost = np.isnan(loads.joint_moment_jcs.values) & np.isfinite(same.joint_moment_jcs.values)
        near = loads.missing.values == NEAR_AN_END
        seconds = loads.time.values - loads.time.values[0]
        from_end = np.minimum(seconds, seconds[-1] - seconds)
        assert not (near & (from_end > 0.1)[:, None, None]).any()
        reach.append(from_end[near.any(axis=(1, 2))].max())
        assert (near | (part["contacts"].ground_force.isnull().any("axis").values)[..., None])[lost.any(axis=-1)].all()
        stances = part["cycles"]
        touched = (stances.stance_start.values < loads.time.values[0] + 0.05) & (stances.stance_plates.values != "")
        little = stances.stance_seen_percent.values < LEAST_SEEN
        assert (stances.stance_code.values[touched] == np.where(little[touched], "near_an_end", "")).all()
    np.testing.assert_allclose(reach, 0.07, atol=1e-6)  # eight frames at 100 Hz, the first at 0


def test_crops_of_a_recording(shared: Path, tmp_path: Path) -> None:
    """Plate 3 drifts by 5 N under its load: a crop that does not show it before the load doubts that stance."""
    set_up(shared, "functional", tmp_path)
    choose_body_model(tmp_path, BY_HAND["functional"])
    (walk,) = walks(tmp_path)
    calibration: Any = walk.calibration
    others, mass_kg = (calibration, walk.model, walk.settings), float(calibration.attrs["body_mass_kg"])
    whole = run_steps.run_trial(walk.trial, *others)
    sound, guessed = [], []
    for crop in crops(walk.trial, whole["contacts"].contact_start.values, count=8):
        try:
            part = run_steps.run_trial(crop, *others)
        except UserError:
            continue
        loads = part["kinetics"]
        away = np.abs((loads.joint_moment_jcs - whole["kinetics"].sel(time=loads.time).joint_moment_jcs).values)
        worst = np.nan_to_num(away).max(axis=(2, 3)) / mass_kg  # (time, side)
        doubted = is_doubted(part["contacts"], loads)
        sound.append(worst[~doubted].max(initial=0))
        guessed.append(worst[doubted].max(initial=0))
    assert len(sound) >= 6
    assert max(sound) < TOLERANCE < max(guessed)


def is_doubted(contacts: xr.Dataset, loads: xr.Dataset) -> Any:
    """Return where a stance of a side is doubted (time, side)."""
    time, sides = loads.time.values, loads.side.values.tolist()
    doubted = np.zeros((len(time), len(sides)), dtype=bool)
    names = ("contact_side", "contact_start", "contact_end", "doubt_code")
    for side, start, end, code in zip(*(contacts[name].values.tolist() for name in names), strict=True):
        if code:
            doubted[(time > start - TAIL_S) & (time < end + TAIL_S), sides.index(side)] = True
    return doubted
