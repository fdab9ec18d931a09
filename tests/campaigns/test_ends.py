"""A walk with foot impacts, cropped anywhere: results near the new ends are those of the whole walk, or missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.variables.schema import FLAGS
from tests.campaigns.filter_truth import write_hard_walk
from tests.support.studies import run_steps

NEAR_AN_END = FLAGS["kinetics", "missing"].split().index("near_an_end")
SHORTEST_S = 0.7
TOLERANCE = 0.02  # N m/kg, a twentieth of a usual moment of the hip


def cropped(trial: xr.Dataset, start_s: float, end_s: float) -> xr.Dataset:
    """Return the part of a trial of the step ``read`` from the first frame at or after a start to an end."""
    frames = trial.time.values[(trial.time.values >= start_s) & (trial.time.values <= end_s)]
    samples = (trial.plate_time.values >= frames[0] - 1e-9) & (trial.plate_time.values <= frames[-1] + 1e-9)
    return trial.sel(time=frames).isel(plate_time=np.flatnonzero(samples))


def test_crops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the crops begin or end at a foot strike, where the filters miss most."""
    truth = write_hard_walk(tmp_path, 4)
    arguments: list[tuple[Any, ...]] = []
    run_trial = run_steps.run_trial

    def remembering(*given: Any) -> Any:
        arguments.append(given)
        return run_trial(*given)

    monkeypatch.setattr(run_steps, "run_trial", remembering)
    run_steps.run_study(tmp_path, {})
    recorded, *others = arguments[0]
    whole = run_trial(recorded, *others)
    rng, time, reach = np.random.default_rng(5), recorded.time.values, []
    strikes = whole["contacts"].contact_start.values
    for number in range(20):
        start, end = sorted(rng.uniform(time[0], time[-1], 2))
        if number % 2:
            cut = rng.choice(strikes)
            start, end = (cut, time[-1]) if cut < time[-1] - SHORTEST_S else (time[0], cut)
        if end - start < SHORTEST_S:
            continue
        part = run_trial(cropped(recorded, start, end), *others)
        loads, same = part["kinetics"], whole["kinetics"].sel(time=part["kinetics"].time)
        away = np.abs((loads.joint_moment_jcs - same.joint_moment_jcs).values) / truth.mass_kg
        assert np.nanmax(away) < TOLERANCE, f"{start:.2f} to {end:.2f} s"
        lost = np.isnan(loads.joint_moment_jcs.values) & np.isfinite(same.joint_moment_jcs.values)
        near = loads.missing.values == NEAR_AN_END
        seconds = loads.time.values - loads.time.values[0]
        from_end = np.minimum(seconds, seconds[-1] - seconds)
        assert not (near & (from_end > 0.1)[:, None, None]).any()
        reach.append(from_end[near.any(axis=(1, 2))].max())
        assert (near | (part["contacts"].ground_force.isnull().any("axis").values)[..., None])[lost.any(axis=-1)].all()
        stances = part["cycles"]
        touched = (stances.stance_start.values < loads.time.values[0] + 0.05) & (stances.stance_plates.values != "")
        assert set(stances.stance_code.values[touched]) <= {"near_an_end"}
    assert len(reach) > 10
    np.testing.assert_allclose(reach, 0.07, atol=1e-6)  # eight frames at 100 Hz, the first at 0
