"""Charts beside the scene: forces and events over time, and the curves of the cycle in view over percent."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import viser
import xarray as xr
from viser import uplot

from ...arrays import Array, Flags, select
from ...conventions import SIDES
from ...signals.time_normalisation import PHASE
from ...steps.report.curves.panels import Panel, panels_of, plain_unit
from ...tables.reference_curves import COMPONENTS, Curves, key_of
from ...variables.schema import VARIABLES
from ...vocabulary.event_names import STRIKE
from .shown_trial import ShownTrial

MOST_SAMPLES = 1500  # of a chart over time: about as many as a screen has columns
MOST_OTHERS = 20  # other cycles behind the one in view
CSS = {"left": "#cf222e", "right": "#0969da", "norm": "rgba(120,120,120,0.25)", "other": "rgba(120,120,120,0.35)"}
NOW = "#111111"


class Cycle(NamedTuple):
    """A gait cycle: its trial, side, start and end (s), and its place among the cycles of the session."""

    trial: str
    side: str
    start: float
    end: float
    number: int


def cycles_of_session(cycles: xr.Dataset) -> list[Cycle]:
    """Return the gait cycles of a session."""
    if "cycle" not in cycles.sizes:
        return []
    names = cycles.variables["trial"].values[cycles.variables["cycle_trial"].values].tolist()
    side, start, end = (cycles.variables[name].values.tolist() for name in ("side", "start_time", "end_time"))
    return [Cycle(*row, number) for number, row in enumerate(zip(names, side, start, end, strict=True))]


class TimeChart:
    """Vertical force of each plate over time, with the events, and the time of the frame."""

    def __init__(self, gui: viser.GuiApi, trial: ShownTrial) -> None:
        every = max(1, -(-len(trial.time) // MOST_SAMPLES))
        self.time = trial.time[::every]
        upward = np.nan_to_num(trial.force[::every, :, 1])
        self.top = float(upward.max(initial=100.0))
        events = {side: np.zeros(len(self.time)) for side in SIDES}
        for event in trial.events:
            self._mark(events[event.side], event.time, self.top if event.name == STRIKE else self.top / 2)
        self.now = np.zeros(len(self.time))
        plates = [uplot.Series(label=f"plate {n} (N)", stroke="#6e7781", width=1) for n in trial.plates]
        marks = [uplot.Series(label=f"{side} strikes, offs", stroke=CSS[side], width=2) for side in SIDES]
        self.series = (uplot.Series(label="s"), *plates, *marks, uplot.Series(label="now", stroke=NOW, width=2))
        self.lines = (self.time, *upward.T, *events.values())
        self.chart = gui.add_uplot(
            (*self.lines, self.now),
            self.series,
            scales={"x": uplot.Scale(time=False), "y": uplot.Scale(range=(0.0, 1.05 * self.top))},
            legend=uplot.Legend(show=False),
            aspect=2.2,
            title="Vertical forces of the plates (N), strikes (high), offs (low)",
        )

    def set_time(self, seconds: float) -> None:
        """Move the line of the frame's time."""
        self.now = np.zeros(len(self.time))
        self._mark(self.now, seconds, self.top)
        self.chart.data = (*self.lines, self.now)

    def _mark(self, line: Array, seconds: float, height: float) -> None:
        """Let a line that is zero elsewhere rise to a height at a time."""
        line[np.abs(self.time - seconds).argmin()] = height


class CycleCharts:
    """The curves of one group (angles, moments, ...) of the cycle in view, before other cycles and the norm."""

    def __init__(self, gui: viser.GuiApi, cycles: xr.Dataset, norm: Curves, *, moment_signs: str) -> None:
        self.gui, self.norm = gui, norm
        self.data = cycles
        self.panels = panels_of(cycles, moment_signs=moment_signs) if cycles.sizes.get("cycle") else ()
        self.cycles = cycles_of_session(cycles)
        self.charts: list[tuple[viser.GuiUplotHandle, tuple[Array, ...], Array]] = []
        self.shown: tuple[Cycle, str] | None = None

    @property
    def groups(self) -> list[str]:
        """Return the groups of curves that there are."""
        return [*dict.fromkeys(panel.group for panel in self.panels)]

    def show(self, trial: str, side: str, seconds: float, group: str) -> None:
        """Show the curves of the cycle of a side at a time, and the place of that time on each."""
        mine = [one for one in self.cycles if (one.trial, one.side) == (trial, side)]
        if not mine:
            self.clear()
            return
        cycle = min(mine, key=lambda one: max(one.start - seconds, seconds - one.end, 0.0))
        percent = 100 * (seconds - cycle.start) / (cycle.end - cycle.start)
        now = np.round(percent) == PHASE
        if self.shown != (cycle, group):
            self.clear()
            self.shown = (cycle, group)
            for panel in (one for one in self.panels if one.group == group):
                self._add(panel, cycle, now)
        for chart, lines, curve in self.charts:
            chart.data = (*lines, np.where(now, curve, np.nan))

    def clear(self) -> None:
        """Remove the charts."""
        for chart, *_ in self.charts:
            chart.remove()
        self.charts, self.shown = [], None

    def _add(self, panel: Panel, cycle: Cycle, now: Flags) -> None:
        curves = panel.factor * select(self.data, panel.variable, "cycle", "phase", **panel.component).astype(float)
        others = [one.number for one in self.cycles if one.side == cycle.side and one.number != cycle.number]
        lines = [*self._norm(panel), *curves[others[:MOST_OTHERS]], curves[cycle.number]]
        if not np.isfinite(curves[cycle.number]).any():
            return
        has_norm = len(lines) - len(others[:MOST_OTHERS]) > 1
        series = [uplot.Series(label="%")]
        series += [_line(CSS["norm"], 1) for _ in (1, 2) if has_norm]
        series += [_line(CSS["other"], 1) for _ in others[:MOST_OTHERS]]
        series += [_line(CSS[cycle.side], 2)]
        series += [uplot.Series(label="now", stroke=NOW, points=uplot.Series_Points(show=True, size=9, fill=NOW))]
        data = (PHASE.astype(float), *lines)
        unit = plain_unit(VARIABLES["cycles"][panel.variable].units)
        chart = self.gui.add_uplot(
            (*data, np.where(now, curves[cycle.number], np.nan)),
            (*series,),
            title=f"{panel.title} ({unit}; {panel.sign})",
            bands=(uplot.Band(series=(1, 2), fill=CSS["norm"]),) if has_norm else None,
            scales={"x": uplot.Scale(time=False), "y": uplot.Scale(range=_range(lines))},  # NaN has no range
            legend=uplot.Legend(show=False),
            aspect=2.2,
        )
        self.charts.append((chart, data, curves[cycle.number]))

    def _norm(self, panel: Panel) -> list[Array]:
        """Return the upper and the lower edge of the normal band, mean +- 1 SD; nothing without a norm."""
        key = key_of(panel.variable, panel.component) if panel.variable in COMPONENTS else ()
        if key not in self.norm:
            return []
        curve = self.norm[key]
        mean, sd = (np.interp(PHASE, curve.phase, v, left=np.nan, right=np.nan) for v in (curve.mean, curve.sd))
        return [panel.factor * mean + sd, panel.factor * mean - sd]


def _line(stroke: str, width: float) -> uplot.Series:
    return uplot.Series(stroke=stroke, width=width, points=uplot.Series_Points(show=False))


def _range(lines: Sequence[Array]) -> tuple[float, float]:
    """Return the range of an axis that holds all lines, and some room."""
    every = np.concatenate(lines)
    low, high = np.nanmin(every), np.nanmax(every)
    room = 0.05 * (high - low) or 1.0
    return float(low - room), float(high + room)
