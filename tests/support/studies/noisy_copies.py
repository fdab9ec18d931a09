"""Copies of a generated walk with random errors of the assumed sizes, which share no code with the pipeline's draws.

Errors are put where they arise: skin and noise into the recorded paths of markers, about the generator's own bones;
misplaced landmarks into static trial and walk; plates beside their true place; wrong tables of segments. All steps of
the pipeline follow, so errors pass through filters, calibration, fits, splines and equations of motion, of any size.
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
from scipy.stats import norm

from pipeline.conventions import CHAIN, SIDES
from pipeline.demo.body import MEDIAL_MARKERS, markers_in_segments
from pipeline.demo.legs import Pose
from pipeline.demo.plates import file_axes
from pipeline.demo.recording import MARKER_HZ
from pipeline.demo.trials import write_static, write_tables, write_walk
from pipeline.demo.walk import Walk, motion, standing
from pipeline.recording import Recording
from pipeline.steps.read.recording_file import Source, read_recording
from pipeline.tables import study_tables
from pipeline.variables.cycle_variables import BANDS
from pipeline.variables.metrics import METRICS
from pipeline.workflow import settings
from pipeline.workflow.settings import CONFIG
from pipeline.workflow.strict_yaml import read_yaml
from tests.support.studies.run_steps import run_session
from tests.support.walks.on_plates import STEPS, any_walk, own_plates

Array = NDArray[np.float64]
SIZES: Mapping[str, float] = read_yaml(CONFIG / "default.yaml")["kinetics"]["uncertainty_sizes"]
METHODS = ("linked", "segments")  # of kinematics
Z_95 = 1.959964
LANDMARKS = {"LEK": "knee", "MEK": "knee", "LML": "ankle", "MML": "ankle"}  # not of a cluster, by their joint
AXES = {"knee": ("thigh", "knee_axis_deg"), "ankle": ("shank", "ankle_axis_deg")}
CENTRES = ("ankle", "knee", "hip")
# hip centres are known by two markers of the static trial, so that their error is that stated, not of a regression
BODY_MODEL = """
name: marked_hips
extends: isb_clusters
landmarks: {hip_front: "{side}HJ1", hip_rear: "{side}HJ2"}
joint_centres: {hip: {method: midpoint, between: [hip_front, hip_rear], moves_with: pelvis}}
"""
HALF_M = 0.01  # of the distance of the hip's markers
NOTHING: Mapping[str, float] = dict.fromkeys(SIZES, 0.0)


@dataclass(frozen=True)
class Generated:
    """A walk of a random person over three plates, without errors, with rigid segments, and its study's tables."""

    folder: Path
    walk: Walk
    direction: str
    files: Mapping[str, Recording]  # static and walk, by path in the study
    segments: list[dict[str, Any]]  # rows of segments.tsv

    def results(
        self, method: str, *, draws: int = 0, seed: str = "", sizes: Mapping[str, float] = SIZES
    ) -> dict[str, xr.Dataset]:
        """Return the results of all steps by a method of kinematics, with draws of errors of these sizes."""
        changes = {
            "kinematics": {"method": method},
            "kinetics": {"uncertainty_draws": draws, "uncertainty_sizes": {**sizes}},
        }
        chosen, model = settings.load_settings(
            {"body_model": "marked_hips.yaml"} | changes, where="", study_path=self.folder
        )
        participants = study_tables.read_participants(self.folder / "participants.tsv")
        ((who, person),) = participants.items()
        (rows,) = study_tables.read_trials(self.folder / "trials.tsv", participants).values()
        listed = [{**row, "participant_id": who, "sha256": f"{seed} {row['trial']}"} for row in rows]
        return run_session(listed, self.files, person, model, chosen, self.segments)


def generated(folder: Path, number: int) -> Generated:
    """Return a walk of a random person, of the generator's seed ``number``."""
    walk, direction = any_walk(number)
    who = walk.walker.participant_id
    write_static(folder / who / "static.c3d", walk.walker, direction=direction, noise=0, seed=number)
    write_walk(
        folder / who / "walk.c3d", walk, own_plates(walk, direction), direction=direction, events=True, noise=0,
        seed=number,
    )  # fmt: skip
    write_tables(folder, {walk.walker: {}}, [(who, "static", "static", ""), (who, "walk", "gait", "")])
    (folder / "marked_hips.yaml").write_text(BODY_MODEL, encoding="utf-8")
    participants = study_tables.read_participants(folder / "participants.tsv")
    segments = study_tables.read_segments(folder / "segments.tsv", participants)[who]
    files = {f"{who}/{name}.c3d": read_recording(Source(folder / who / f"{name}.c3d")) for name in ("static", "walk")}
    exact = Generated(folder, walk, direction, files, segments)
    return perturbed(exact, NOTHING, np.random.default_rng(0))


def perturbed(exact: Generated, sizes: Mapping[str, float], rng: np.random.Generator) -> Generated:
    """Return a copy of a walk with a random error of everything."""
    walk, into_file = exact.walk, file_axes(exact.direction).T
    places, hips = _places(walk, sizes, rng)
    files = {}
    for (path, file), role in zip(exact.files.items(), ("static", "walk"), strict=True):
        time = np.arange(len(file.markers)) / MARKER_HZ
        still = role == "static"
        body = standing(walk.walker, time) if still else motion(walk)(time)
        skin = {} if still else _skin(walk, time, sizes, rng)
        paths = {
            label: path @ into_file for label, path in _paths(body, places, hips, skin).items()
            if still or (label not in MEDIAL_MARKERS and "HJ" not in label)
        }  # fmt: skip
        markers = np.stack(list(paths.values()), axis=1)
        if not still:
            markers = markers + sizes["marker_mm"] / 1000 * rng.standard_normal(markers.shape)
        files[path] = replace(file, labels=list(paths), markers=markers)
    walked = files[path]
    files[path] = replace(walked, force_platform=_beside_their_place(walked.force_platform, walk, sizes, rng))
    return replace(exact, files=files, segments=_segments(exact.segments, sizes, rng))


def _places(
    walk: Walk, sizes: Mapping[str, float], rng: np.random.Generator
) -> tuple[dict[str, tuple[str, int, Array]], Array]:
    """Return the markers on their bones, misplaced: label -> (segment, side, place, m), and shifts of the hips (2, 3).

    Epicondyles and malleoli turn about their segment with the axis between them, and shift with their joint centre.
    The foot's markers turn about their middle; those of the pelvis are each on their own.
    """
    turns: dict[tuple[str, int], Rotation] = {}
    shifts: dict[tuple[str, int], Array] = {}
    for side in range(len(SIDES)):
        for joint in CENTRES:
            shifts[joint, side] = sizes[f"{joint}_centre_mm"] / 1000 * rng.standard_normal(3)
        for joint, (_, size) in AXES.items():
            turns[joint, side] = Rotation.from_rotvec([0, np.radians(sizes[size]) * rng.standard_normal(), 0])
        turns["foot", side] = Rotation.from_rotvec(np.radians(sizes["foot_axes_deg"]) * rng.standard_normal(3))
    markers = markers_in_segments(walk.walker)
    by_group: dict[tuple[str, int], list[Array]] = {}
    groups = {label: LANDMARKS.get(label[1:], segment) for label, (segment, *_) in markers.items()}
    for label, (_, side, place) in markers.items():
        by_group.setdefault((groups[label], side), []).append(np.asarray(place, dtype=float))
    placed = {}
    for label, (segment, side, place) in markers.items():
        group = groups[label]
        middle, moved = np.mean(by_group[group, side], axis=0), np.asarray(place, dtype=float)
        if (group, side) in turns:
            moved = middle + turns[group, side].apply(moved - middle)
        if segment == "pelvis":
            moved = moved + sizes["pelvis_marker_mm"] / 1000 * rng.standard_normal(3)
        placed[label] = segment, side, moved + shifts.get((group, side), np.zeros(3))
    return placed, np.array([shifts["hip", side] for side in range(len(SIDES))])


def _paths(
    body: Pose, places: Mapping[str, tuple[str, int, Array]], hips: Array, skin: Mapping[tuple[str, int], Array]
) -> dict[str, Array]:
    """Return the path (time, 3) of each marker, lab axes, m; skin turns the cluster of (segment, side) on its bone."""
    clusters: dict[tuple[str, int], list[str]] = {}
    for label, (segment, side, _) in places.items():
        if label[1:] not in LANDMARKS:
            clusters.setdefault((segment, 0 if segment == "pelvis" else side), []).append(label)
    paths = {}
    for label, (segment, side, place) in places.items():
        cluster = segment, 0 if segment == "pelvis" else side
        local = np.broadcast_to(place, (len(body.pelvis_origin), 3))
        if cluster in skin and label in clusters[cluster]:
            middle = np.mean([places[other][2] for other in clusters[cluster]], axis=0)
            local = middle + Rotation.from_rotvec(skin[cluster]).apply(place - middle)
        origin, rotation = body.pelvis_origin, body.pelvis_rotation
        if segment in CHAIN:
            number = CHAIN.index(segment)
            origin, rotation = body.centre[:, side, number], body.rotation[:, side, number]
        paths[label] = origin + np.einsum("tij,tj->ti", rotation, local)
    for side, letter in enumerate("LR"):
        centre = body.centre[:, side, 2] + body.pelvis_rotation @ hips[side]
        for number, sign in ((1, 1), (2, -1)):
            paths[f"{letter}HJ{number}"] = centre + sign * HALF_M * body.pelvis_rotation[:, :, 0]
    return paths


def _skin(
    walk: Walk, time: Array, sizes: Mapping[str, float], rng: np.random.Generator
) -> dict[tuple[str, int], Array]:
    """Return the turns (time, 3) of each cluster, rad: a mean and two harmonics of the stride, of any phase."""
    stride_s = 120 / walk.gait.steps_per_min
    turns: dict[tuple[str, int], Array] = {}
    for segment, side in (("pelvis", 0), *((segment, side) for segment in CHAIN for side in range(len(SIDES)))):
        phase = 2 * np.pi * (time / stride_s + rng.uniform())
        waves = [np.ones_like(time), *(wave(k * phase) for k in (1, 2) for wave in (np.cos, np.sin))]
        size = np.radians(sizes[f"{segment}_soft_tissue_deg"]) / np.sqrt(3)
        turns[segment, side] = size * np.stack(waves, axis=1) @ rng.standard_normal((5, 3))
    return turns


def _beside_their_place(
    platform: Mapping[str, Any], walk: Walk, sizes: Mapping[str, float], rng: np.random.Generator
) -> dict[str, Any]:
    """Return the parameters of plates that lie beside where they are said to lie: all of one foot by the same."""
    off_mm = sizes["centre_of_pressure_mm"] * np.pad(rng.standard_normal((len(SIDES), 2)), ((0, 0), (0, 1)))
    side = [int(walk.side[walk.number == number][0]) for number in STEPS]
    corners = np.array(platform["CORNERS"], dtype=float)
    corners += off_mm[side].T[:, None]
    return {**platform, "CORNERS": corners}


def _segments(rows: list[dict[str, Any]], sizes: Mapping[str, float], rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return rows of segments.tsv with wrong masses, tensors and centres of mass, alike on both sides."""
    share = {name: sizes[f"segment_{name}_percent"] / 100 for name in ("mass", "com", "inertia")}
    wrong = {
        segment: (*np.exp([share["mass"], share["inertia"]] * rng.standard_normal(2)), rng.standard_normal(3))
        for segment in CHAIN
    }
    result = []
    for row in rows:
        mass, inertia, shift = wrong[row["segment"]]
        com = np.array([float(row[f"com_{axis}_m"]) for axis in "xyz"])
        com = com + np.linalg.norm(com) * share["com"] * shift
        scaled = {name: float(value) * inertia for name, value in row.items() if name.endswith("kg_m2")}
        place = dict(zip((f"com_{axis}_m" for axis in "xyz"), com, strict=True))
        numbers = {**scaled, **place, "mass_kg": float(row["mass_kg"]) * mass}
        result.append({**row, **{name: f"{value:.12g}" for name, value in numbers.items()}})
    return result


def compared(copy: Mapping[str, xr.Dataset], truth: xr.Dataset) -> dict[str, tuple[Array, Array, Array]]:
    """Return of each band whether it holds the truth, the error and its stated standard deviation.

    They are by the name of the curve (cycle, ...), and of the metric (cycle,); NaN where either is unknown.
    """
    found, result = copy["cycles"], {}
    half = half_width(found.sizes["draw"])
    for name, band in BANDS.items():
        low, high = np.moveaxis(found[band].values, -2, 0)
        right = truth[name].values
        off, known = found[name].values - right, np.isfinite(low) & np.isfinite(right)
        inside = np.where(known, (low <= right) & (right <= high), np.nan)
        result[name] = inside, np.where(known, off, np.nan), np.where(known, (high - low) / 2 / half, np.nan)
    phase = np.array([metric.kind == "phase" for metric in METRICS.values()])[:, None]
    errors = _around(found.metric_draw.values - found.metric_value.values[..., None], phase)
    known = np.isfinite(errors).mean(axis=-1) >= 0.5
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(np.isfinite(errors), errors, 0) ** 2
        spread = np.sqrt(mean.sum(axis=-1) / np.isfinite(errors).sum(axis=-1))
    off = _around(found.metric_value.values - truth.metric_value.values, phase[:, 0])
    known &= np.isfinite(off)
    inside = np.where(known, np.abs(off) <= Z_95 * spread, np.nan)
    off, spread = np.where(known, off, np.nan), np.where(known, spread, np.nan)
    return result | {name: (inside[:, k], off[:, k], spread[:, k]) for k, name in enumerate(METRICS)}


def half_width(draws: int) -> float:
    """Return the half width that a band over a number of draws of a standard normal distribution has on average.

    Percentiles at k / (n + 1) of few draws lie further out than 1.96, so that the band holds 95 % of further ones: of
    60 draws by 8 %, of 200 by 2 %. The mean of the k-th of n is that of Blom G (1958), Statistical estimates and
    transformed beta-variables.
    """
    place = min(0.975 * (draws + 1), draws)  # else that of the last one, as the bands themselves
    k = np.array([np.floor(place), np.ceil(place)])
    low, high = norm.ppf((k - 0.375) / (draws + 0.25))
    return float(low + (place - k[0]) * (high - low))


def _around(errors: Array, phase: NDArray[np.bool_]) -> Array:
    """Return errors, those of times by the shorter way round the cycle."""
    return np.where(phase, (errors + 50) % 100 - 50, errors)
