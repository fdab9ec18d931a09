"""Copies of a generated walk with random errors of the assumed sizes, made apart from the pipeline's own draws.

Markers are moved before the pose is fitted, and the calibration is that of a person with misplaced landmarks: so
errors pass through poses, splines and equations of motion, of any size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.body.body_model import BodyModel
from pipeline.conventions import JOINTS, SEGMENTS, SIDES
from pipeline.demo.trials import write_static, write_tables, write_walk
from pipeline.signals.filters import low_pass
from pipeline.variables.cycle_variables import BANDS
from pipeline.variables.metrics import METRICS
from pipeline.workflow import settings
from pipeline.workflow.settings import CONFIG, read_yaml
from tests.support.settings import settings_of
from tests.support.steps import cycles, kinematics, kinetics
from tests.support.studies.run_steps import run_study
from tests.support.walks.on_plates import any_walk, own_plates

Array = NDArray[np.float64]
SETTINGS: Mapping[str, Any] = read_yaml(CONFIG / "default.yaml")
SIZES: Mapping[str, float] = SETTINGS["kinetics"]["uncertainty_sizes"]
RIGID: dict[str, Any] = {"kinematics": {"method": "segments"}}  # each segment follows its own markers
Z_95 = 1.959964


@dataclass(frozen=True)
class Recorded:
    """A walk of the step ``clean``, its contacts and calibration, and the body model."""

    clean: xr.Dataset
    contacts: xr.Dataset
    calibration: xr.Dataset
    model: BodyModel
    chosen: Mapping[str, Any]  # settings

    def results(self, *, draws: int = 0, sizes: Mapping[str, float] = SIZES, seed: str = "") -> dict[str, xr.Dataset]:
        """Return the results of the steps from kinematics to cycles."""
        own = {step: dict(self.chosen[step]) for step in ("kinematics", "kinetics", "cycles")}
        own["kinetics"] |= {"uncertainty_draws": draws, "uncertainty_sizes": sizes}
        of = {step: settings_of(step, **values) for step, values in own.items()}
        moved = kinematics(self.clean, self.calibration, body_model=self.model, settings=of["kinematics"])
        moved.attrs["source_sha256"] = seed
        loaded = kinetics(moved, self.contacts, self.calibration, settings=of["kinetics"])
        cut = cycles(loaded, moved, self.contacts, self.clean, self.calibration, settings=of["cycles"])
        return {"kinematics": moved, "kinetics": loaded, "cycles": cut}


def generated(folder: Path, number: int) -> Recorded:
    """Return a walk of a random person over three plates, without errors, with rigid segments."""
    walk, direction = any_walk(number)
    who = walk.walker.participant_id
    write_static(folder / who / "static.c3d", walk.walker, direction=direction, noise=0, seed=number)
    write_walk(
        folder / who / "walk.c3d", walk, own_plates(walk, direction), direction=direction, events=True, noise=0,
        seed=number,
    )  # fmt: skip
    write_tables(folder, {walk.walker: {}}, [(who, "static", "static", ""), (who, "walk", "gait", "")])
    (folder / "study.yaml").write_text("body_model: isb_clusters\n", encoding="utf-8")
    (session,) = run_study(folder, RIGID).values()
    chosen, model = settings.load_settings({"body_model": "isb_clusters"} | RIGID, where="", study_path=folder)
    steps = session.trials["walk"]
    return Recorded(steps["clean"], steps["contacts"], session.calibration, model, chosen)


def perturbed(trial: Recorded, base: xr.Dataset, sizes: Mapping[str, float], rng: np.random.Generator) -> Recorded:
    """Return a copy of a walk with a random error of everything; ``base`` is its kinematics without errors."""
    clean = trial.clean.copy(deep=True)
    _move_skin(clean, trial.calibration, base, sizes, rng)
    noise = sizes["marker_mm"] / 1000 * rng.standard_normal(clean.marker_position.shape)
    clean.marker_position.values += low_pass(
        noise,
        rate_hz=1 / float(np.diff(clean.time[:2])[0]),
        cutoff_hz=float(clean.cutoff_hz[0]),
        order=int(clean.attrs["marker_filter_order"]),
    )
    contacts = trial.contacts.copy(deep=True)
    offset = sizes["centre_of_pressure_mm"] / 1000 * rng.standard_normal((2, 3)) * (1, 0, 1)
    contacts.ground_moment.values += np.cross(offset, contacts.ground_force.values)
    return replace(trial, clean=clean, contacts=contacts, calibration=misplaced(trial.calibration, sizes, rng))


def _move_skin(
    clean: xr.Dataset, calibration: xr.Dataset, base: xr.Dataset, sizes: Mapping[str, float], rng: np.random.Generator
) -> None:
    """Turn the markers of each segment about their middle, as a mean and two harmonics of the stride.

    The markers of a side have their own phase in the draws too; here it is random.
    """
    pelvis = _angles(base, sizes["pelvis_soft_tissue_deg"], rng)
    names = clean.marker.values.tolist()
    for i, side in enumerate(SIDES):
        for segment in SEGMENTS:
            mine = (calibration.cluster_side.values == side) & (calibration.cluster_segment.values == segment)
            if segment == "pelvis" and i:
                continue
            turn = pelvis if segment == "pelvis" else _angles(base, sizes[f"{segment}_soft_tissue_deg"], rng)
            pose = base.rotation.sel(side=side, segment=segment).values
            columns = [_column(names, str(label), side) for label in calibration.cluster_marker.values[mine]]
            path = clean.marker_position.values[:, columns]
            middle = path.mean(axis=1, keepdims=True)
            local = np.einsum("tij,tmj->tmi", pose, path - middle)
            moved = np.stack([Rotation.from_rotvec(turn).apply(local[:, k]) for k in range(len(columns))], axis=1)
            clean.marker_position.values[:, columns] = middle + np.einsum("tji,tmj->tmi", pose, moved)


def _column(names: list[str], label: str, side: str) -> int:
    return names.index(label) if label in names else names.index(f"{label}_{side}")


def _angles(base: xr.Dataset, size_deg: float, rng: np.random.Generator) -> Array:
    """Return turns (time, 3), rad."""
    time = base.time.values
    phase = 2 * np.pi * (time / base.attrs["stride_s"] + rng.uniform())
    waves = [wave(k * phase) for k in (1, 2) for wave in (np.cos, np.sin)]
    basis = np.stack([np.ones_like(time), *waves], axis=1)
    turns: Array = np.radians(size_deg) / np.sqrt(3) * basis @ rng.standard_normal((5, 3))
    return turns


def misplaced(calibration: xr.Dataset, sizes: Mapping[str, float], rng: np.random.Generator) -> xr.Dataset:
    """Return the calibration of a person of whom landmarks, joint centres and segment parameters are wrong."""
    model = calibration.copy(deep=True)
    share = {name: sizes[f"segment_{name}_percent"] / 100 for name in ("mass", "com", "inertia")}
    mass, inertia = (np.exp(share[name] * rng.standard_normal(3)) for name in ("mass", "inertia"))
    shift = share["com"] * rng.standard_normal((3, 3))
    model.segment_mass.values[:] *= mass
    model.segment_inertia.values[:] *= inertia[:, None, None]
    model.segment_com.values[:] += np.linalg.norm(model.segment_com.values, axis=-1, keepdims=True) * shift
    apart = calibration.static_distance.sel(landmark="asis_left")
    width, depth = (float(apart.sel(landmark_2=name)) for name in ("asis_right", "psis_left"))
    each = sizes["pelvis_marker_mm"] / 1000
    pelvis = rng.standard_normal(3) * [np.sqrt(2) * each / width, np.sqrt(2) * each / width, each / depth]
    for i, side in enumerate(SIDES):
        off = {joint: sizes[f"{joint}_centre_mm"] / 1000 * rng.standard_normal(3) for joint in JOINTS}
        turns = {
            "foot": np.radians(sizes["foot_axes_deg"]) * rng.standard_normal(3),
            "shank": np.array([0, np.radians(sizes["ankle_axis_deg"]) * rng.standard_normal(), 0]),
            "thigh": np.array([0, np.radians(sizes["knee_axis_deg"]) * rng.standard_normal(), 0]),
            "pelvis": pelvis,
        }
        _turn_segments(model, i, side, turns, off)
    model.static_distance.values[:] += 1e-3 * rng.standard_normal(model.static_distance.shape)  # another static trial
    return model


def _turn_segments(model: xr.Dataset, i: int, side: str, turns: Mapping[str, Array], off: Mapping[str, Array]) -> None:
    """Move the origin of each segment with its proximal joint, turn its axes, and put its markers into these."""
    origins = {"foot": off["ankle"], "shank": off["knee"], "thigh": off["hip"], "pelvis": np.zeros(3)}
    ends = {"shank": "ankle", "thigh": "knee"}
    length = dict(zip(("shank", "thigh"), model.joint_distance.sel(segment=["shank", "thigh"]).values[i], strict=True))
    for segment, turn in turns.items():
        into = Rotation.from_rotvec(turn).inv()
        if segment in ends:
            axis = np.array([0, length[segment], 0]) + origins[segment] - off[ends[segment]]
            into *= Rotation.align_vectors([[0, 1, 0]], [axis])[0]
        mine = (model.cluster_side.values == side) & (model.cluster_segment.values == segment)
        model.cluster_position.values[mine] = into.apply(model.cluster_position.values[mine] - origins[segment])
        for j, joint in enumerate(JOINTS):
            if model.joint_carrier.values[i, j] == segment:
                place = model.joint_position.values[i, j] + off[joint] - origins[segment]
                model.joint_position.values[i, j] = into.apply(place)


def held(copy: Mapping[str, xr.Dataset], truth: xr.Dataset) -> dict[str, Array]:
    """Return whether the bands of a copy hold the cycles of the truth: curves (cycle, ...), metrics (cycle,)."""
    found, result = copy["cycles"], {}
    for name, band in BANDS.items():
        low, high = np.moveaxis(found[band].values, -2, 0)
        right = truth[name].values
        known = np.isfinite(low) & np.isfinite(right)
        result[name] = np.where(known, (low <= right) & (right <= high), np.nan)
    errors = found.metric_draw.values - found.metric_value.values[..., None]
    phase = np.array([metric.kind == "phase" for metric in METRICS.values()])[:, None]
    errors = np.where(phase, (errors + 50) % 100 - 50, errors)
    known = np.isfinite(errors).mean(axis=-1) >= 0.5
    with np.errstate(invalid="ignore"):
        spread = np.sqrt(np.nanmean(np.where(known[..., None], errors, 0) ** 2, axis=-1))
    off = truth.metric_value.values - found.metric_value.values
    off = np.where(phase[:, 0], (off + 50) % 100 - 50, off)
    inside = np.where(known & np.isfinite(off), np.abs(off) <= Z_95 * spread, np.nan)
    return result | {name: inside[:, k] for k, name in enumerate(METRICS)}
