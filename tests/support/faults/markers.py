"""Faults of markers in generated and real walks, for step ``clean``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import xarray as xr

from pipeline.body.body_model import BodyModel
from pipeline.errors import UserError
from pipeline.steps.clean.marker_repair import EXCHANGED
from tests.steps.clean.test_label_swaps import exchanged, sided, stretch
from tests.support.faults.outcomes import ALL, FLAGGED, MISSED, REPAIRED, Row
from tests.support.walks import as_read
from tests.support.walks.person import BODY_MODELS

REPAIRED_M = 0.02  # largest error of a rebuilt marker, see the table of gaps in validation.md


def marker_rows(doses: Sequence[int], real: Sequence[tuple[xr.Dataset, BodyModel]]) -> Iterator[Row]:
    """Yield the rows of exchanged and of dropped markers; a real trial gets the dose of its number."""
    generated = {dose: as_read.generated(BODY_MODELS[dose % 4], 1000 + dose) for dose in doses}
    shares, dropped = np.linspace(0.05, 0.9, len(ALL)), np.linspace(0.05, 1, len(ALL))
    both = [  # with what step ``clean`` makes of each without a fault
        {i: (*one, as_read.cleaned(*one)) for i, one in some.items()} for some in (generated, dict(enumerate(real)))
    ]
    for name, leg in (("ankle markers exchanged", False), ("left and right leg exchanged", True)):
        for doses_of, share in (("5 to 90 % of the frames", shares), ("all frames", np.ones(len(ALL)))):
            results = [[_after_exchange(*t, share[i % len(ALL)], i, leg=leg) for i, t in some.items()] for some in both]
            yield Row(name, doses_of, *results)
    results = [[_after_drop(*t, dropped[i % len(ALL)], i) for i, t in some.items()] for some in both]
    yield Row("marker dropped", "5 to 100 % of the frames", *results)


def _ankle(chosen: Mapping[str, tuple[str, ...]]) -> str:
    return "lateral_malleolus" if "lateral_malleolus_left" in chosen else "heel"  # or in the static trial only


def _with(trial: xr.Dataset, points: Mapping[str, np.ndarray]) -> xr.Dataset:
    where = [points.get(str(m), trial.marker_position.sel(marker=m).values) for m in trial.marker.values]
    return trial.assign(marker_position=(("time", "marker", "axis"), np.stack(where, axis=1)))


def _after_exchange(
    trial: xr.Dataset, model: BodyModel, right: xr.Dataset, share: float, seed: int, *, leg: bool
) -> str:
    """Return the outcome for labels exchanged in a stretch: repaired to the frame, or the trial rejected."""
    points, chosen = as_read.used(trial, model)
    frames = stretch(len(trial.time), share, seed)
    pairs = sided(chosen) if leg else [(chosen[f"{_ankle(chosen)}_left"][0], chosen[f"{_ankle(chosen)}_right"][0])]
    if leg and model.name == "gait2354":  # its toe is the middle of two markers
        pairs = [*pairs, *zip(chosen["toe_left"], chosen["toe_right"], strict=True)]
    faulty = points
    for pair in dict.fromkeys(pairs):
        faulty = exchanged(faulty, *pair, frames)
    try:
        after = as_read.cleaned(_with(trial, faulty), model)
    except UserError as error:
        return FLAGGED if "exchanged" in str(error) and pairs[0][0] in str(error) else MISSED
    same = np.array_equal(after.marker_position, right.marker_position, equal_nan=True)
    marked = ((after.fill == EXCHANGED).any("marker").values == frames).all()
    return REPAIRED if same and marked else MISSED


def _after_drop(trial: xr.Dataset, model: BodyModel, right: xr.Dataset, share: float, seed: int) -> str:
    """Return the outcome for a missing marker: rebuilt and flagged as such, or stored as missing."""
    points, chosen = as_read.used(trial, model)
    name = f"{_ankle(chosen)}_{'left' if seed % 2 else 'right'}"
    gone = stretch(len(trial.time), share, seed)
    hidden = np.where(gone[:, None], np.nan, points[chosen[name][0]])
    after = as_read.cleaned(_with(trial, {chosen[name][0]: hidden}), model)
    if name in after.attrs["landmarks_absent"].split():
        return FLAGGED
    now, was = after.sel(marker=name), right.sel(marker=name)
    rebuilt = gone & np.isfinite(now.marker_position.values).all(axis=-1)
    close = np.abs(now.marker_position.values - was.marker_position.values)[rebuilt].max(initial=0.0) < REPAIRED_M
    recorded = abs(float(was.measured_share - now.measured_share) - gone.mean()) < 1 / len(gone)
    if not (close and recorded and (now.fill.values[rebuilt] > 0).all()):
        return MISSED
    return REPAIRED if rebuilt[gone].all() else FLAGGED
