"""Generated walks over plates, and faults of plates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.body.body_model import BodyModel
from pipeline.demo.body import make_walker
from pipeline.demo.plates import ForcePlate, footprint
from pipeline.demo.trials import write_walk
from pipeline.demo.walk import Gait, Walk, plan_walk
from pipeline.plates.wrench import plate_axes
from pipeline.signals.filters import stretches
from pipeline.steps.read.step import read_trial as read

Array = NDArray[np.float64]
Fault = Callable[[xr.Dataset, int, float], xr.Dataset]

STEPS = (0, 1, 2)  # with a plate
BODY_MODEL = BodyModel.of(
    {
        "name": "pelvis_and_feet",
        "side_labels": {"left": "L", "right": "R"},
        "landmarks": {"asis": "{side}ASI", "heel": "{side}HEE", "toe": "{side}MT2"},
    }
)


def any_walk(seed: int) -> tuple[Walk, str]:
    """Return a walk of a random person, speed and step length, and its direction in file axes."""
    rng = np.random.default_rng([seed, 77])
    height_m = rng.uniform(1.5, 1.95)
    speed_m_s = rng.uniform(0.9, 1.6)
    step_m = height_m * rng.uniform(0.36, 0.42) * (speed_m_s / 1.3) ** 0.4
    step_m = min(step_m, 0.43 * height_m)
    walker = make_walker("sub-01", sex="M", mass_kg=rng.uniform(45, 110), height_m=height_m, seed=seed)
    cadence = 60 * speed_m_s / step_m
    duration_s = round(0.4 + 5.5 * 60 / cadence, 2)  # whole frames
    gait = Gait(speed_m_s, cadence, duration_s, first_foot=seed % 2, stance_percent=rng.uniform(60, 64))
    return plan_walk(walker, gait, seed=seed), ("+X", "-X")[seed // 2 % 2]


def own_plates(walk: Walk, direction: str) -> tuple[ForcePlate, ...]:
    """Return a plate under each of three steps, reaching halfway to the feet before and after."""
    prints = [_print(walk, number, direction) for number in range(STEPS[0] - 1, STEPS[-1] + 2)]
    plates = []
    for before, own, after in zip(prints, prints[1:], prints[2:], strict=False):
        ends = np.sort([before.mean(axis=0)[0], own.mean(axis=0)[0], after.mean(axis=0)[0]])
        gaps = [_middle_gap(a, b) for a, b in ((before, own), (own, after))]
        low, high = sorted(gaps)
        assert ends[0] < low < ends[1] < high < ends[2]
        plates.append(_plate(low + 0.005, high - 0.005, own[:, 1].mean()))
    return tuple(plates)


def plate_reaching(walk: Walk, direction: str, number: int, overlap_m: float) -> ForcePlate:
    """Return a plate under one step that reaches under the next foot's heel (or the last one's toes, if negative)."""
    neighbour = _print(walk, number + (1 if overlap_m > 0 else -1), direction)
    own, beyond = _print(walk, number, direction), _print(walk, number - (1 if overlap_m > 0 else -1), direction)
    free = _middle_gap(own, beyond)
    ahead = np.sign(neighbour[:, 0].mean() - own[:, 0].mean())
    near = (neighbour[:, 0] * ahead).min() * ahead
    low, high = sorted([free, near + ahead * abs(overlap_m)])
    return _plate(low, high, own[:, 1].mean())


def _print(walk: Walk, number: int, direction: str) -> Array:
    return footprint(walk, int(np.flatnonzero(walk.number == number)[0]), direction)


def _middle_gap(one: Array, other: Array) -> float:
    first, second = sorted([one[:, 0], other[:, 0]], key=lambda x: float(x.mean()))
    return float(first.max() + second.min()) / 2


def _plate(low: float, high: float, across: float) -> ForcePlate:
    return ForcePlate(((low + high) / 2, across), high - low, 0.6)


def written(folder: Path, walk: Walk, plates: tuple[ForcePlate, ...], direction: str, *, seed: int) -> Path:
    """Write the walk's file and return its path."""
    path = folder / f"walk_{seed}.c3d"
    write_walk(path, walk, plates, direction=direction, events=False, first_frame=1 + seed % 50, seed=seed)
    return path


def recorded(folder: Path, walk: Walk, plates: tuple[ForcePlate, ...], direction: str, *, seed: int) -> xr.Dataset:
    """Return the result of step ``read`` for the walk's file."""
    path = written(folder, walk, plates, direction, seed=seed)
    dataset = read(path, body_model=BODY_MODEL, lab_axes="quarter_turn")
    path.unlink()
    return dataset


def raw_walk(folder: Path, number: int) -> xr.Dataset:
    """Return a walk over three plates as a result of step ``read``."""
    walk, direction = any_walk(number)
    return recorded(folder, walk, own_plates(walk, direction), direction, seed=number)


# --- faults of a plate with a dose, in trials of step `read` or `clean` -----------------------------------------


def late(trial: xr.Dataset, plate: int, seconds: float) -> xr.Dataset:
    """Return the trial with one plate's signals late."""
    trial = trial.copy(deep=True)
    time = trial.plate_time.values
    for name in ("plate_force", "plate_moment"):
        values = trial[name].values[:, plate]
        values[:] = np.stack([np.interp(time - seconds, time, column) for column in values.T], axis=1)
    if "vertical_force" in trial:
        values = trial.vertical_force.values[:, plate]
        values[:] = np.interp(time - seconds, time, values)
    return trial


def drifting(trial: xr.Dataset, plate: int, newtons: float) -> xr.Dataset:
    """Return the trial with a linear drift of a plate's baseline."""
    return _loaded_with(trial, plate, newtons * np.linspace(0, 1, trial.sizes["plate_time"]))


def jumping(trial: xr.Dataset, plate: int, newtons: float) -> xr.Dataset:
    """Return the trial with a baseline that jumps in the middle of the plate's longest load."""
    load = trial.plate_force.values[:, plate, 1]
    start, stop = max(stretches(load > 0.5 * load.max()), key=lambda ends: ends[1] - ends[0])
    middle = (start + stop) / 2
    return _loaded_with(trial, plate, np.where(np.arange(len(load)) > middle, newtons, 0.0))


def _loaded_with(trial: xr.Dataset, plate: int, vertical: Array) -> xr.Dataset:
    trial = trial.copy(deep=True)
    extra = vertical[:, None] * [0.0, 1.0, 0.0]
    trial.plate_force.values[:, plate] += extra
    trial.plate_moment.values[:, plate] += np.cross(trial.plate_corner.values[plate].mean(axis=0), extra)
    return trial


def shifted(trial: xr.Dataset, plate: int, by: Array) -> xr.Dataset:
    """Return the trial with wrong corners of one plate."""
    trial = trial.copy(deep=True)
    trial.plate_corner.values[plate] += by
    trial.plate_moment.values[:, plate] += np.cross(by, trial.plate_force.values[:, plate])
    return trial


def reread(trial: xr.Dataset, plate: int, order: list[int]) -> xr.Dataset:
    """Return the trial with the corners of a plate in another order, which turns its wrench."""
    before = trial.plate_corner.values[plate]
    turn = plate_axes(before[order]) @ plate_axes(before).T
    result = _turned(trial, plate, turn, turn)
    result.plate_corner.values[plate] = before[order]
    return result


def mirrored(trial: xr.Dataset, plate: int, axis: int) -> xr.Dataset:
    """Return the trial with one horizontal axis of a plate's channels reversed."""
    turned = plate_axes(trial.plate_corner.values[plate])[:, axis]
    mirror = np.eye(3) - 2 * np.outer(turned, turned)
    return _turned(trial, plate, mirror, -mirror)


def negative(trial: xr.Dataset, plate: int) -> xr.Dataset:
    """Return the trial with the signs of all channels of a plate reversed."""
    return _turned(trial, plate, -np.eye(3), -np.eye(3))


def _turned(trial: xr.Dataset, plate: int, of_force: Array, of_moment: Array) -> xr.Dataset:
    """Return the trial with two matrices (3, 3) applied to force and moment, about the middle, of one plate."""
    trial = trial.copy(deep=True)
    middle = trial.plate_corner.values[plate].mean(axis=0)
    force, moment = trial.plate_force.values[:, plate], trial.plate_moment.values[:, plate]
    about = (moment - np.cross(middle, force)) @ of_moment.T
    force[:] = force @ of_force.T
    moment[:] = about + np.cross(middle, force)
    if "vertical_force" in trial:
        trial.vertical_force.values[:, plate] *= of_force[1, 1]
    return trial
