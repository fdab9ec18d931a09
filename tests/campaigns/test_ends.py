"""A walk with foot impacts, cropped anywhere: results near the new ends are those of the whole walk, or missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.steps.cycles.verdicts import LEAST_SEEN
from pipeline.variables.schema import FLAGS
from tests.campaigns.cropped_labs import SHORTEST_S, TOLERANCE, cropped, crops_of, recordings
from tests.campaigns.filter_truth import write_hard_walk
from tests.support.studies import run_steps

NEAR_AN_END = FLAGS["kinetics", "missing"].split().index("near_an_end")


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
        little = stances.stance_seen_percent.values < LEAST_SEEN
        assert (stances.stance_code.values[touched] == np.where(little[touched], "near_an_end", "")).all()
    assert len(reach) > 10
    np.testing.assert_allclose(reach, 0.07, atol=1e-6)  # eight frames at 100 Hz, the first at 0


def test_crops_of_a_recording(shared: Path, tmp_path: Path) -> None:
    """Plate 3 drifts by 5 N under its load: a crop that does not show it before the load doubts that stance."""
    (walk,) = recordings(shared, "functional", tmp_path)
    crops = [crop for crop in crops_of(walk, seed=5, count=8) if not crop.lost]
    assert len(crops) >= 6
    assert max(crop.sound for crop in crops) < TOLERANCE
    assert max(crop.doubted for crop in crops) > TOLERANCE
