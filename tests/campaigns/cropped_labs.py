"""Crops of real recordings: their results are those of the whole recording, missing, or doubted.

``python -m tests.campaigns cropped_labs`` prints the largest difference of each recording, and of its crops
those above the tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from pipeline.errors import UserError
from tests.campaigns.labs import ALL_LABS, BY_HAND, Walk, choose_body_model, in_labs, set_up, walks
from tests.campaigns.runner import Report
from tests.support.studies.run_steps import run_trial

SHORT = {"labs": ("functional",)}
SHORTEST_S = 0.7
TOLERANCE = 0.02  # N m/kg, a twentieth of a usual moment of the hip
TAIL_S = 0.15  # of a stance's force after its foot off


class Crop(NamedTuple):
    """A crop and its largest difference, N m/kg, from the whole recording, where no stance is doubted and where one is.

    ``at_s`` and ``side`` are those of the first; ``lost`` is why the crop has no results.
    """

    start_s: float
    end_s: float
    sound: float
    doubted: float
    at_s: float = np.nan
    side: str = ""
    lost: str = ""


def cropped(trial: xr.Dataset, start_s: float, end_s: float) -> xr.Dataset:
    """Return the part of a trial of the step ``read`` from the first frame at or after a start to an end."""
    frames = trial.time.values[(trial.time.values >= start_s) & (trial.time.values <= end_s)]
    samples = (trial.plate_time.values >= frames[0] - 1e-9) & (trial.plate_time.values <= frames[-1] + 1e-9)
    part = trial.sel(time=frames).isel(plate_time=np.flatnonzero(samples))
    return part.assign_attrs(stored_angles="")  # their frames are numbered from the start of the file


def spans(time: Any, strikes: Any, *, seed: int, count: int) -> Iterator[tuple[float, float]]:
    """Yield spans of crops, s: half of them begin or end at a foot strike, where the filters miss most."""
    rng, yielded = np.random.default_rng(seed), 0
    for _ in range(20 * count):
        start, end = sorted(rng.uniform(time[0], time[-1], 2))
        if yielded % 2 and len(strikes):
            cut = rng.choice(strikes)
            start, end = (cut, time[-1]) if cut < time[-1] - SHORTEST_S else (time[0], cut)
        if end - start >= SHORTEST_S and yielded < count:
            yielded += 1
            yield start, end


def crops_of(walk: Walk, *, seed: int, count: int) -> Iterator[Crop]:
    """Yield crops of a walk with a calibration."""
    calibration: Any = walk.calibration
    others, mass_kg = (calibration, walk.model, walk.settings), float(calibration.attrs["body_mass_kg"])
    whole = run_trial(walk.trial, *others)
    strikes = whole["contacts"].contact_start.values
    for start, end in spans(walk.trial.time.values, strikes, seed=seed, count=count):
        try:
            part = run_trial(cropped(walk.trial, start, end), *others)
        except UserError as error:
            yield Crop(start, end, np.nan, np.nan, lost=str(error))
            continue
        loads = part["kinetics"]
        away = np.abs((loads.joint_moment_jcs - whole["kinetics"].sel(time=loads.time).joint_moment_jcs).values)
        worst = np.nan_to_num(away).max(axis=(2, 3)) / mass_kg  # (time, side)
        doubted = _doubted(part["contacts"], loads.time.values, loads.side.values.tolist())
        sound = np.where(doubted, 0.0, worst)
        frame, side = np.unravel_index(int(sound.argmax()), sound.shape)
        values = float(sound.max()), float(np.where(doubted, worst, 0.0).max())
        yield Crop(start, end, *values, float(loads.time[frame]), str(loads.side.values[side]))


def _doubted(contacts: xr.Dataset, time: Any, sides: list[str]) -> Any:
    """Return where a stance of a side is doubted (time, side)."""
    doubted = np.zeros((len(time), len(sides)), dtype=bool)
    for side, start, end, code in zip(
        *(contacts[name].values.tolist() for name in ("contact_side", "contact_start", "contact_end", "doubt_code")),
        strict=True,
    ):
        if code:
            doubted[(time > start - TAIL_S) & (time < end + TAIL_S), sides.index(side)] = True
    return doubted


def recordings(shared: Path, lab: str, folder: Path) -> Iterator[Walk]:
    """Set up a lab's recordings in a folder and yield those of gait that can be used."""
    set_up(shared, lab, folder)
    if lab in BY_HAND:
        choose_body_model(folder, BY_HAND[lab])
    for walk in walks(folder):
        if "rejected" not in walk.trial.attrs and not isinstance(walk.calibration, str):
            yield walk


def main(report: Report, *, labs: tuple[str, ...] = ALL_LABS) -> None:
    """Report the largest difference of each recording, and the crops above the tolerance."""
    report.table("lab: file", "crops", "largest difference, N m/kg", "of doubted stances")
    for lab in labs:
        for walk in in_labs(recordings, [lab], report):
            crops = [*crops_of(walk, seed=5, count=20)]
            seen = [crop for crop in crops if not crop.lost]
            most, guess = (max((getattr(c, name) for c in seen), default=0.0) for name in ("sound", "doubted"))
            share = f"{len(seen)} of {len(crops)}"
            report.row(f"{lab}: {walk.file.name}", share, f"{most:.3f}", f"{guess:.3f}")
            for crop in (one for one in seen if one.sound > TOLERANCE):
                report.text(f"    {crop}")
