"""Which filter comes nearest to the truth: walks with a foot impact, soft-tissue motion and marker noise.

``python -m tests.campaigns filter_truth --write`` writes the tables of docs/cutoffs.md. Protocol, fixed before the run:

- *Walks*: twenty of :func:`tests.support.walks.on_plates.any_walk` (people of 1.5 to 1.95 m, 0.9 to 1.6 m/s) over three
  plates, 100 frames and 1,000 samples a second. Each has one impact, one level of noise, and the soft-tissue motion of
  the demonstration study (thigh 10 to 20 mm, shank 5 to 10 mm, wobble after foot strike).
- *Impacts* (:mod:`tests.support.walks.impacts`), each range uniform: vertical transient of 0.1 to 0.5 body weights over
  the smooth force, peak 8 to 20 ms after foot strike (Whittle 1999, Gait Posture 9:264-275: 10 to 20 ms; Collins and
  Whittle 1989, Clin Biomech 4:179-187; sizes from memory of both; barefoot and hard heels at the upper end), backward
  force up to 0.3 of the vertical one, 0.5 to 1 of the passive answer of the leg.
- *Noise*: white, 0.2 to 1 mm of each coordinate (Merriaux et al. 2017, Sensors 17:1591: 0.15 mm at rest, up to 2 mm in
  motion), forces 0.5 to 2.5 N.
- *Filters*, markers/forces in Hz, zero-lag Butterworth of fourth order: :data:`FILTERS`; and moments computed without
  filters, then filtered themselves (Edwards, Troy and Derrick 2011, Gait Posture 34:435-438), with powers from them and
  the angular velocities of markers at 10 Hz (since the first run mirrored at unknown stances, which is nearer).
  Methods of kinematics: ``segments`` and ``linked``.
- *Errors of metrics*: of the 18 peaks :data:`PEAKS`, root mean square over the cycles with kinetics, as a share of the
  peak's usual size, the median of its true values. A peak that only truth or only the result has counts as 1; no error
  counts more.
- *Errors of curves*: of the nine joint moments and three joint powers over 0-100 %, root mean square over the cycles,
  as a share of the truth's range, a mean over the cycles.
- *Score*: mean over the 18 metrics plus mean over the 12 curves, halved, a mean of both methods. All weights are equal.
- *Decision*: the filter with the lowest score is the default, if its score is at least 5 % below that of the default
  before (10/10) with either method; otherwise 10/10 stays. Filtered moments are a reference only, as they are no
  setting.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from pipeline.conventions import ANGLES, CHAIN, JOINTS, SIDES
from pipeline.demo.recording import MARKER_NOISE_M
from pipeline.signals.filters import low_pass
from pipeline.signals.time_normalisation import at_phases, phase_frames
from pipeline.steps.cycles.peaks_and_work import peaks
from pipeline.variables.metrics import METRICS
from tests.campaigns import soft_tissue
from tests.campaigns.runner import Report
from tests.support.checkout import HOUSE
from tests.support.studies.run_steps import run_study
from tests.support.walks.impacts import Impact, strike_hard
from tests.support.walks.on_plates import any_walk

Array = NDArray[np.float64]
Curves = dict[str, Array]  # (cycle, ..., 101) by name

SHORT = {"walks": 1, "methods": ("segments",)}
PAGE = HOUSE / "docs" / "cutoffs.md"
SIZE, RISE_S, BRAKING, PASSIVE = (0.1, 0.5), (0.008, 0.02), (0.0, 0.3), (0.5, 1.0)
NOISE_MM = (0.2, 1.0)
DEFAULT = "10/10"
FILTERS: dict[str, tuple[float | None, float | None]] = {
    "6/6": (6, 6), "10/10": (10, 10), "15/15": (15, 15), "20/20": (20, 20), "10/20": (10, 20), "10/50": (10, 50),
    "10/none": (10, None),
}  # fmt: skip
MOMENTS_HZ = {"moments 10": 10.0, "moments 20": 20.0}
METHODS = ("segments", "linked")
PEAKS = [name for name, metric in METRICS.items() if metric.part and metric.part.curve.startswith("joint_") and
         name.startswith("peak_") and metric.part.curve != "joint_angle"]  # fmt: skip
CURVES = {"joint_moment_jcs": "moment", "joint_power": "power"}
LEAST_GAIN = 0.05


class Result(NamedTuple):
    """A walk by one method and filter.

    Attributes:
        truth, answer: peaks (cycle,) by name, and curves, of cycles with kinetics.
        metrics: all metrics of the walk (cycle,) by name.
    """

    truth: Curves
    answer: Curves
    metrics: Curves


def write_hard_walk(folder: Path, seed: int, *, soft_tissue_share: float = 1.0) -> xr.Dataset:
    """Write the study of one walk of the protocol, and return the exact answer."""
    rng = np.random.default_rng([seed, 30])
    impact = Impact(*(rng.uniform(*span) for span in (SIZE, RISE_S, BRAKING, PASSIVE)))
    noise = rng.uniform(*NOISE_MM) / 1e3 / MARKER_NOISE_M
    hard_motion, hard_ground = strike_hard(any_walk(seed)[0], impact)
    hard: dict[str, Any] = {"motion": lambda _: hard_motion, "ground": hard_ground}
    with patch.multiple("pipeline.demo.trials", **hard), patch.multiple(soft_tissue, **hard):
        return soft_tissue.write_study(folder, seed, noise=noise, soft_tissue=soft_tissue_share)


def results(seed: int, method: str) -> Iterator[tuple[str, Result]]:
    """Yield the results of a walk with every filter, and of filtered moments."""
    with tempfile.TemporaryDirectory() as folder:
        truth = write_hard_walk(Path(folder), seed)
        runs = {}
        for name, (markers, forces) in (FILTERS | {"none": (None, None)}).items():
            settings = {
                "kinematics": {"method": method},
                "clean": {"marker_cutoff_hz": markers, "force_cutoff_hz": forces},
            }
            (session,) = run_study(Path(folder), settings).values()
            runs[name] = session.trials["walk"]
    smooth, raw = runs[DEFAULT], runs.pop("none")
    loads = {
        name: {each: run["kinetics"][each].values / truth.mass_kg for each in CURVES} for name, run in runs.items()
    }
    for name, cutoff_hz in MOMENTS_HZ.items():
        loads[name], runs[name] = filtered_moments(smooth, raw, cutoff_hz, truth.mass_kg), smooth
    for name, run in runs.items():
        yield name, compared(run["cycles"], loads[name], truth)


def filtered_moments(
    smooth: Mapping[str, xr.Dataset], raw: Mapping[str, xr.Dataset], cutoff_hz: float, mass_kg: float
) -> Curves:
    """Return moments of unfiltered recordings, filtered, N m/kg, and powers with smooth angular velocities, W/kg."""

    def by_joint(steps: Mapping[str, xr.Dataset]) -> tuple[Array, Array]:
        """Return rotations of the distal segments and the angular velocities of joints, lab axes."""
        motion = steps["kinematics"].sel(segment=[*CHAIN, "pelvis"])
        turn, spin = motion.rotation.values, motion.angular_velocity.values
        in_lab = np.einsum("tskij,tski->tskj", turn, spin)
        return turn[:, :, :-1], in_lab[:, :, :-1] - in_lab[:, :, 1:]

    def smoothed(values: Array) -> Array:
        rate_hz = raw["clean"].attrs["marker_rate_hz"]
        # even ends: a last sample before an unknown stance has all of its noise
        return low_pass(values, rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=4, even_ends=True) / mass_kg

    turn, (_, spin) = by_joint(raw)[0], by_joint(smooth)
    moment = smoothed(np.einsum("tskij,tski->tskj", turn, raw["kinetics"].joint_moment.values))
    jcs = smoothed(raw["kinetics"].joint_moment_jcs.values)
    return {"joint_moment_jcs": jcs, "joint_power": (moment * spin).sum(axis=-1)}


def compared(cut: xr.Dataset, loads: Curves, truth: xr.Dataset) -> Result:
    """Return peaks and curves of the cycles with kinetics, from results and truth, both (time, side, ...)."""
    cut = cut.isel(cycle=np.flatnonzero(cut.kinetics_valid.values))
    frames = phase_frames(truth.time.values, cut.start_time.values, cut.end_time.values)
    side = np.array([SIDES.index(str(each)) for each in cut.side.values], dtype=int)
    others = {metric.part.curve for metric in METRICS.values() if metric.part} - {*CURVES}
    given = {name: cut[name].values for name in others if name in cut}
    both = []
    for source in ({name: truth[name].values for name in CURVES}, loads):
        curves = {name: at_phases(values, frames, side) for name, values in source.items()}
        tops = peaks(curves | given, stance_share=cut.stance_share.values)
        both.append({name: tops[name] for name in PEAKS} | curves)
    truths, answers = both
    return Result(truths, answers, {name: cut[name].values for name in METRICS if name in cut})


def errors(rows: Sequence[Result]) -> dict[str, float]:
    """Return the error of each metric, as a share of its usual size, and of each curve, as a share of its range."""
    joined = [{name: np.concatenate([each[i][name] for each in rows]) for name in rows[0][i]} for i in (0, 1)]
    truth, answer = joined
    result = {}
    for name in PEAKS:
        either = np.isfinite(answer[name]) | np.isfinite(truth[name])
        usual = np.median(np.abs(truth[name][np.isfinite(truth[name])])) if np.isfinite(truth[name]).any() else np.nan
        away = np.abs(answer[name] - truth[name])[either] / usual
        result[name] = rms(np.where(np.isnan(away), 1.0, np.minimum(away, 1.0))) if either.any() else 0.0
    for name, kind in CURVES.items():
        axes = [(f"{joint} {angle}", (j, a)) for j, joint in enumerate(JOINTS) for a, angle in enumerate(ANGLES)]
        for label, at in axes if kind == "moment" else [(joint, (j,)) for j, joint in enumerate(JOINTS)]:
            one, other = (curves[name][(slice(None), *at)] for curves in (truth, answer))
            result[f"{kind}: {label}"] = rms((other - one)[np.isfinite(other)]) / float(np.ptp(one, axis=-1).mean())
    return result


def rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def score(row: Mapping[str, float]) -> float:
    """Return the score of the protocol."""
    metrics, curves = ([row[name] for name in row if (name in PEAKS) == chosen] for chosen in (True, False))
    return (float(np.mean(metrics)) + float(np.mean(curves))) / 2


def campaign(seeds: Sequence[int], methods: Sequence[str] = METHODS) -> dict[str, dict[str, list[Result]]]:
    """Return the results by method and filter."""
    every: dict[str, dict[str, list[Result]]] = {method: {} for method in methods}
    for method in methods:
        for seed in seeds:
            for name, result in results(seed, method):
                every[method].setdefault(name, []).append(result)
    return every


def decide(scores: pd.DataFrame) -> str:
    """Return the filter that the protocol makes the default, from scores (method, filter)."""
    settings = scores[[name for name in scores if name in FILTERS]]
    best = str(settings.mean().idxmin())
    return best if (settings[best] <= (1 - LEAST_GAIN) * settings[DEFAULT]).all() else DEFAULT


def sensitivity(rows: Mapping[str, Sequence[Result]]) -> pd.DataFrame:
    """Return the median of each metric with 10/10, and with other filters as percent of it and cycles that have it."""
    table = {}
    for name in METRICS:
        values = {filters: np.concatenate([each.metrics[name] for each in rows[filters]]) for filters in FILTERS}
        usual = float(np.nanmedian(values[DEFAULT])) if np.isfinite(values[DEFAULT]).any() else np.nan
        cells = {}
        for filters, each in values.items():
            ratio = 100 * np.nanmedian(each) / usual if usual and np.isfinite(each).any() else np.nan
            share = f"{ratio:.0f} %" if np.isfinite(ratio) else "-"
            cells[filters] = f"{share} ({np.isfinite(each).mean():.0%})"
        table[name] = {"median": f"{usual:.3g} {METRICS[name].units}"} | cells
    return pd.DataFrame(table).T


def shares(rows: Mapping[str, Sequence[Result]]) -> pd.DataFrame:
    """Return the share of cycles that have each peak, in truth and with each filter, %."""
    columns = {"truth": [each.truth for each in rows[DEFAULT]]}
    columns |= {name: [each.answer for each in results] for name, results in rows.items()}
    return pd.DataFrame(
        {
            column: {name: f"{np.isfinite(np.concatenate([one[name] for one in each])).mean():.0%}" for name in PEAKS}
            for column, each in columns.items()
        }
    )


def main(report: Report, *, walks: int = 20, methods: tuple[str, ...] = METHODS, write: bool = False) -> None:
    """Report scores, shares of cycles with each peak, errors and metrics; write them into the page if asked to."""
    every = campaign(range(walks), methods)
    of_all = {method: {name: errors(rows) for name, rows in by.items()} for method, by in every.items()}
    scores = pd.DataFrame({method: {name: score(row) for name, row in by.items()} for method, by in of_all.items()}).T
    errors_of = pd.concat([pd.DataFrame(by) for by in of_all.values()]).groupby(level=0, sort=False).mean()
    nearer = 100 * (1 - scores.div(scores[DEFAULT], axis=0))
    nearer.index = [f"nearer than {DEFAULT}, %, {method}" for method in nearer.index]
    parts = {
        "scores": ("score", pd.concat([scores.map("{:.4f}".format), nearer.map("{:.1f}".format)])),
        "shares": ("share of cycles with the peak", shares(every[methods[0]])),
        "errors": ("error, %", (100 * errors_of).map("{:.1f}".format)),
        "metrics": ("metric", sensitivity(every[methods[0]])),
    }
    text = PAGE.read_text(encoding="utf-8")
    for name, (corner, table) in parts.items():
        before = len(report.lines)
        report.table(corner, *table.columns)
        for label, row in zip(table.index, table.values, strict=True):
            report.row(label, *row)
        if name == "scores":
            report.text(f"\nDefault by the protocol: markers/forces {decide(scores)} Hz.")
        start = text.index(f"<!-- {name} -->\n")
        lines = f"<!-- {name} -->\n" + "\n".join(report.lines[before:]).strip("\n") + "\n"
        text = text[:start] + lines + text[text.index("<!-- end -->", start) :]
    if write:
        PAGE.write_text(text, encoding="utf-8")
