"""Single curves of a study: those of its gait cycles, of its whole stances, and the ones to draw behind a mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypedDict

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ....arrays import Array, select
from ....results.averages import Text
from ....signals.time_normalisation import PHASE
from ....variables.cycle_variables import BANDS, STANCE, STANCE_CURVES
from ....variables.gait_profile import turning_cycles
from .json_numbers import to_whole_numbers
from .panels import MUSCLES, Panel

MOST_SINGLE = 20  # single curves of one side and condition: more are a grey mass, and the page grows
EVERY = 2  # percent between the samples of single curves


class CycleCurves(NamedTuple):
    """Curves (cycle, panel, phase), foot off (cycle,) in percent, labels (cycle,); of stances, over stance.

    Curves have the signs of their panels. ``label`` names trial and time. Band: if errors were drawn, their lower and
    upper percentile (cycle, panel, 2, phase), only of joint angles, moments, powers. Active: if there is EMG,
    whether the muscle is (cycle, panel, phase), NaN if it is unknown.
    """

    panels: tuple[Panel, ...]
    curve: Array
    foot_off: Array
    participant: Text
    session: Text
    condition: Text
    side: Text
    label: Text
    band: Array | None
    reference_speed: Array
    turns: NDArray[np.bool_]
    over: str = "gait cycle"
    active: Array | None = None

    def at(self, mine: NDArray[np.bool_]) -> CycleCurves:
        """Return the cycles at which ``mine`` (cycle,) is true."""
        parts: dict[str, Any] = {
            name: values[mine] for name, values in self._asdict().items() if isinstance(values, np.ndarray)
        }
        return self._replace(**parts)


def join_cycles(parts: Sequence[CycleCurves]) -> CycleCurves:
    """Return the cycles of all parts."""
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name, values in parts[0]._asdict().items()
        if isinstance(values, np.ndarray)
    }
    return parts[0]._replace(**arrays)


def cycles_of(study: xr.Dataset, panels: tuple[Panel, ...]) -> CycleCurves:
    """Return the cycles of a study for the figures."""
    curves = [p.factor * select(study, p.variable, "cycle", "phase", **p.component) for p in panels]
    curve = np.stack(curves, axis=1).astype(float)
    foot_off = select(study, "stance_share", "cycle").astype(float)
    speed = select(study, "reference_speed", "cycle") if "reference_speed" in study else np.full(len(curve), np.nan)
    turning = turning_cycles(study)
    return CycleCurves(
        panels, curve, foot_off, **_labels(study, "cycle", ""),
        band=_bands(study, panels), reference_speed=speed, turns=turning, active=_active(study, panels),
    )  # fmt: skip


def stances_of(study: xr.Dataset, panels: tuple[Panel, ...]) -> CycleCurves:
    """Return the whole stances of a study for the figures; panels without curves over stance are NaN."""
    curve = np.full((study.sizes.get("stance", 0), len(panels), len(PHASE)), np.nan)
    for i, p in enumerate(panels):
        if f"{p.variable}{STANCE}" in STANCE_CURVES:
            curve[:, i] = p.factor * select(study, f"{p.variable}{STANCE}", "stance", "stance_phase", **p.component)
    off = np.full(len(curve), np.nan)
    return CycleCurves(
        panels, curve, off, **_labels(study, "stance", STANCE),
        band=None, reference_speed=off, turns=np.zeros(len(curve), dtype=bool), over="stance",
    )  # fmt: skip


def _labels(study: xr.Dataset, row: str, ending: str) -> dict[str, Any]:
    """Return participant, session, condition, side, and as label the trial with the time of the start."""
    names = ("participant", "session", "condition", "side", "trial")
    labels = {name: select(study, f"{name}{ending}", row).astype(str) for name in names}
    start = select(study, f"start_time{ending}", row)
    times = [f"{name}, {seconds:.2f} s" for name, seconds in zip(labels.pop("trial"), start, strict=True)]
    return labels | {"label": np.array(times, dtype=str)}


def _bands(study: xr.Dataset, panels: tuple[Panel, ...]) -> Array | None:
    if "joint_moment_band" not in study:
        return None
    result = np.full((study.sizes["cycle"], len(panels), 2, len(PHASE)), np.nan)
    for i, p in enumerate(panels):
        if p.variable in BANDS:
            band = p.factor * select(study, BANDS[p.variable], "cycle", "percentile", "phase", **p.component)
            result[:, i] = band[:, [0, -1][:: p.factor]]
    return result


def _active(study: xr.Dataset, panels: tuple[Panel, ...]) -> Array | None:
    if "emg_onset" not in study:
        return None
    result = np.full((study.sizes["cycle"], len(panels), len(PHASE)), np.nan)
    for i, p in enumerate(panels):
        if p.group == MUSCLES:
            on, off = (select(study, f"emg_{name}", "cycle", "activity", **p.component) for name in ("onset", "offset"))
            share = select(study, "emg_active", "cycle", **p.component)[:, None]
            first, last = np.where(np.isnan(on), np.where(np.isnan(off), np.inf, 0), on), np.fmin(off, 100)
            inside = (first[..., None] <= PHASE) & (last[..., None] >= PHASE)
            result[:, i] = np.where(np.isnan(share), np.nan, inside.any(axis=1) | (share > 99.99))
    return result


class Single(TypedDict):
    """The single curves of a mean: whole numbers of ``step``, every second percent; n of them if all were drawn."""

    step: float
    labels: list[str]
    curves: list[list[int | None]]


def single_of(values: Array, labels: NDArray[np.str_]) -> Single:
    """Return at most 20 of the curves (n, phase) that are known, evenly chosen."""
    values = np.where(np.isfinite(values), values, np.nan)
    with_values = np.flatnonzero(np.isfinite(values).any(axis=1))
    count = len(with_values)
    chosen = with_values[np.unique(np.linspace(0, count - 1, min(count, MOST_SINGLE)).round().astype(int))]
    curves = values[chosen, ::EVERY]
    largest = max(np.nanmax(np.abs(curves), initial=0), 1e-6)
    step = 10.0 ** np.floor(np.log10(largest / 200))  # at most .5 % of the largest value
    return Single(step=float(step), labels=labels[chosen].tolist(), curves=to_whole_numbers(curves / step))


class Chosen:
    """Some of many curves, evenly chosen as they come, from which :func:`single_of` takes those that are drawn."""

    def __init__(self) -> None:
        self.curves: list[tuple[str, Array]] = []
        self.every, self.seen = 1, 0

    def add(self, label: str, curve: Array) -> None:
        """Take a curve (phase,), or leave it out."""
        if not np.isfinite(curve).any():
            return
        if self.seen % self.every == 0:
            self.curves.append((label, curve))
        self.seen += 1
        if len(self.curves) > 2 * MOST_SINGLE:
            self.curves, self.every = self.curves[::2], 2 * self.every

    def single(self) -> Single:
        """Return the curves that are drawn, in the order of their labels."""
        ordered = sorted(self.curves, key=lambda one: one[0])
        values = np.array([curve for _, curve in ordered]).reshape(len(ordered), len(PHASE))
        return single_of(values, np.array([label for label, _ in ordered], dtype=str))
