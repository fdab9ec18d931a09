"""Figures of the report: the mean curve, its spread and the single curves in each panel; and their legend.

Colours are in templates/report.css.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

import numpy as np
import xarray as xr

from ....arrays import select
from ....conventions import SIDES
from ....results.averages import Average, average, known_throughout, pool
from ....signals.filters import stretches
from ....signals.time_normalisation import PHASE
from ....tables import reference_curves
from ....variables.schema import VARIABLES
from .cycles import CycleCurves, Single, single_of
from .json_numbers import to_four_digits
from .lines import Line, NormalCurves, by_line
from .panels import FIRST, KINEMATICS, MOMENTS, MUSCLES, SHEETS, WHOLE_BODY, Limits, Panel, plain_unit
from .waist import notes_on_waist

SMALLEST_N = 3  # curves for a standard deviation: of two, the curves themselves are drawn


class Curve(TypedDict):
    """Mean and standard deviation along the phase; n is the largest number averaged, counts that at each percent.

    Counts are None if n is the same wherever the mean is known. Unknown values are None, as is the standard deviation
    of fewer than three. Band: the mean lower and upper percentile of the errors. Active: from and to which percent a
    muscle is active in at least half of the cycles; None if unknown.
    """

    side: str
    line: str
    condition: str
    dash: str
    n: int
    counts: list[int] | None
    foot_off: float | None
    mean: list[float | None]
    sd: list[float | None]
    band: list[list[float | None]] | None
    active: list[tuple[int, int]] | None


class Band(TypedDict):
    """Mean and standard deviation of the reference, None outside its range; the lines that it is for."""

    name: str
    lines: list[str]
    mean: list[float | None]
    sd: list[float | None]


class Change(TypedDict):
    """The minimal detectable change of a curve at each percent, None where it is not known."""

    side: str
    condition: str
    change: list[float | None]


class Figure(TypedDict):
    """A panel with its curves, the bands of the reference, the fixed range of its axis, and sentences, for JSON.

    Detectable: the changes between visits that are more than chance; None if no curve of the page has them.
    """

    group: str
    title: str
    unit: str
    sign: str
    over: str
    limits: Limits | None
    curves: list[Curve]
    reference: list[Band]
    detectable: list[Change] | None
    notes: list[str]


class Drawn(NamedTuple):
    """The lines, one figure per panel, and for each the single curves in the order of the figure's curves.

    Sheets: of each panel, by group and title. About: what is said about a group.
    """

    lines: Sequence[Line]
    figures: list[Figure]
    single: list[list[Single]]
    sheet_of: Mapping[tuple[str, str], str]
    about: Mapping[str, str]

    def with_curves(self) -> Drawn:
        """Return the figures that have curves."""
        return self._only([bool(figure["curves"]) for figure in self.figures])

    def without_unseen(self, *, also_millivolts: bool) -> Drawn:
        """Return the figures without muscles, trunk and arms that have no curves, or without any in mV."""
        always = [one["group"] not in (MUSCLES, *WHOLE_BODY) for one in self.figures]
        drawn = [bool(one["curves"]) and not (also_millivolts and one["unit"] == "mV") for one in self.figures]
        return self._only([a or b for a, b in zip(always, drawn, strict=True)])

    def sheets(self) -> dict[str, list[int]]:
        """Return the numbers of the figures with curves on each sheet, in the order of the panels."""
        sheets: dict[str, list[int]] = {}
        for i, figure in enumerate(self.figures):
            if figure["curves"]:
                sheets.setdefault(self.sheet_of[figure["group"], figure["title"]], []).append(i)
        return sheets

    def missing(self, sheet: str) -> list[str]:
        """Return the titles of a sheet's figures without curves."""
        on_sheet = (one for one in self.figures if self.sheet_of[one["group"], one["title"]] == sheet)
        return [figure["title"] for figure in on_sheet if not figure["curves"]]

    def groups(self) -> list[str]:
        """Return the groups that have curves."""
        return list(dict.fromkeys(figure["group"] for figure in self.figures if figure["curves"]))

    def _only(self, kept: Sequence[bool]) -> Drawn:
        figures = [*itertools.compress(self.figures, kept)]
        return self._replace(figures=figures, single=[*itertools.compress(self.single, kept)])


class Section(NamedTuple):
    """A part of the appendix with figures: those of some numbers, and the titles of those without curves."""

    id: str
    title: str
    drawn: Drawn
    numbers: list[int]
    missing: list[str]


def appendix(cycles: Drawn, stances: Drawn | None = None, *, with_first: bool = False) -> list[Section]:
    """Return the parts of the appendix in the order that readers of gait reports know, those of additions last.

    Args:
        stances: figures of stances for the parts of which no gait cycle has curves.
        with_first: whether kinematics show the angles of the first sheet once more, as visits are apart there.
    """
    sections = []
    for sheet in dict.fromkeys((*SHEETS, *cycles.sheet_of.values())):
        missing = cycles.missing(sheet)
        drawn, numbers = cycles, cycles.sheets().get(sheet, [])
        if not numbers and stances:
            drawn, numbers, missing = stances, stances.sheets().get(sheet, []), []
        if sheet == KINEMATICS and with_first:
            numbers = [*cycles.sheets().get(FIRST, []), *numbers]
        if sheet != FIRST and (numbers or missing):
            title = sheet[:1].upper() + sheet[1:]
            sections.append(Section(f"curves-{sheet.lower().replace(' ', '-')}", title, drawn, numbers, missing))
    return sections


class LineAverages(NamedTuple):
    """What is drawn of a side and a line: averages of curves (panel, phase), foot off () and errors (panel, 2, phase).

    The single curves are by panel.
    """

    curves: Average
    foot_off: Average
    band: Average | None
    single: list[Single]
    active: Average | None = None

    def pool(self, other: LineAverages) -> LineAverages:
        """Return the averages of the curves of both, without single curves."""
        band = pool(self.band, other.band) if self.band and other.band else None
        return LineAverages(pool(self.curves, other.curves), pool(self.foot_off, other.foot_off), band, [])


def draw_cycles(cycles: CycleCurves, *, lines: Sequence[Line], normal: Sequence[NormalCurves]) -> Drawn:
    """Return one figure per panel of a participant's averages per side and line; None of what is not seen.

    Each cycle is a single curve.
    """
    averages = {
        place: LineAverages(
            average(known_throughout(mine.curve)), average(mine.foot_off),
            None if mine.band is None else average(known_throughout(mine.band)),
            [single_of(mine.curve[:, i], mine.label) for i in range(len(mine.panels))],
            None if mine.active is None else average(mine.active),
        )
        for place, mine in by_line(cycles, lines).items()
    }  # fmt: skip
    drawn = draw_averages(cycles.panels, averages, lines=lines, normal=normal, over=cycles.over)
    for i, notes in notes_on_waist(cycles, lines).items():
        drawn.figures[i]["notes"].extend(notes)
    return drawn.without_unseen(also_millivolts=False)


def draw_averages(
    panels: Sequence[Panel],
    averages: Mapping[tuple[str, str], LineAverages],
    *,
    lines: Sequence[Line],
    normal: Sequence[NormalCurves],
    over: str = "gait cycle",
) -> Drawn:
    """Return the figures of averages by line and side."""
    sheets, about = ({(p.group, p.title): p.sheet for p in panels}, {p.group: p.about for p in panels})
    result = Drawn(lines, [_empty(panel, normal, over) for panel in panels], [[] for _ in panels], sheets, about)
    for line, side in itertools.product(lines, SIDES):
        if (line.label, side) in averages:
            _add(result, averages[line.label, side], side, line)
    return result


def _add(result: Drawn, averages: LineAverages, side: str, line: Line) -> None:
    """Add the curves of one side and line to the figures."""
    (mean, sd, n), band = averages.curves, averages.band
    sd = np.where(n < SMALLEST_N, np.nan, sd)
    off = to_four_digits(averages.foot_off.mean)
    for i in np.flatnonzero(n.any(axis=1)):
        errors = to_four_digits(band.mean[i]) if band and band.n[i].any() else None
        count, active = int(n[i].max()), averages.active
        counts = n[i].tolist() if ((n[i] > 0) & (n[i] < count)).any() else None
        known = active is not None and active.n[i].any()
        often = [(start, stop - 1) for start, stop in stretches(active.mean[i] >= 0.5)] if active and known else None
        curve = Curve(
            side=side, line=line.label, condition=line.condition, dash=line.dash, n=count, counts=counts, foot_off=off,
            mean=to_four_digits(mean[i]), sd=to_four_digits(sd[i]), band=errors, active=often,
        )  # fmt: skip
        result.figures[i]["curves"].append(curve)
        result.single[i].append(averages.single[i])


def _empty(panel: Panel, normal: Sequence[NormalCurves], over: str) -> Figure:
    """Return a figure without curves."""
    in_references = panel.variable in reference_curves.COMPONENTS
    key = reference_curves.key_of(panel.variable, panel.component) if in_references else ()
    bands = []
    for one in (each for each in normal if key in each.curves):
        curve, name = one.curves[key], one.name if one.speed is None else f"{one.name}, speed {one.speed:.2f}"
        mean, sd = (np.interp(PHASE, curve.phase, of, left=np.nan, right=np.nan) for of in (curve.mean, curve.sd))
        mean, sd = to_four_digits(panel.factor * mean), to_four_digits(sd)
        bands.append(Band(name=name, lines=one.lines, mean=mean, sd=sd))
    return Figure(
        group=panel.group,
        title=panel.title,
        unit=plain_unit(VARIABLES["study"][panel.variable].units) or "dimensionless",
        sign=panel.sign,
        over=over,
        limits=panel.limits,
        curves=[],
        notes=[],
        detectable=None,
        reference=bands,
    )


def add_detectable(drawn: Drawn, panels: Sequence[Panel], changes: xr.Dataset) -> None:
    """Add the minimal detectable changes of curves to the figures.

    Args:
        changes: by name of a curve in study.nc (condition, side, components, phase).
    """
    by_title = {(panel.group, panel.title): panel for panel in panels}
    for figure in drawn.figures:
        panel = by_title[figure["group"], figure["title"]]
        found = list[Change]()
        if panel.variable in changes:
            values = select(changes, panel.variable, "condition", "side", "phase", **panel.component)
            names = itertools.product(*(changes[name].values.tolist() for name in ("condition", "side")))
            for (condition, side), change in zip(names, values.reshape(-1, len(PHASE)), strict=True):
                if np.isfinite(change).any():
                    found.append(Change(side=side, condition=condition, change=to_four_digits(change)))
        figure["detectable"] = found


def key_of(drawn: Drawn, *, single: str) -> dict[str, Any]:
    """Return the legend of a page.

    Args:
        single: what is averaged, such as ``cycle``.

    Returns:
        The sides; the lines with name, style, whether shown at first, and n of both sides in words; whether lines
        differ by session; ``single``.
    """
    sides = {curve["side"] for figure in drawn.figures for curve in figure["curves"]}
    return {
        "sides": [side for side in SIDES if side in sides],
        "lines": [
            {**line._asdict(), "n": _counts(drawn.figures, line)}
            for line in sorted(drawn.lines, key=lambda line: not line.shown)
        ],
        "sessions": any(line.session for line in drawn.lines),
        "single": single,
    }


def _counts(figures: Sequence[Figure], line: Line) -> str:
    """Return n of each side in words; that of the kinetics if it differs."""
    words = []
    for side in SIDES:
        place = (line.label, side)
        counts = [(f["group"], c["n"]) for f in figures for c in f["curves"] if (c["line"], c["side"]) == place]
        if counts:
            most = max(n for _, n in counts)
            kinetics = max((n for group, n in counts if group == MOMENTS), default=0)
            words.append(f"{side} {most}" + (f", kinetics {kinetics}" if kinetics < most else ""))
    words += [f"{line.turning} cycle{'s turn' if line.turning > 1 else ' turns'}"] if line.turning else []
    return "; ".join(words)


def describe(figure: Figure) -> str:
    """Return a figure in words, for screen readers."""
    text = f"{figure['title']} over the {figure['over']}, {figure['unit']}, {figure['sign']}."
    for curve in figure["curves"]:
        text += f" {curve['side']}, {curve['line']}, n {curve['n']}"
        if curve["counts"]:  # largest and smallest value may be steps
            text += f" at most, {min(filter(None, curve['counts']))} at least."
            continue
        values = [(value, phase) for phase, value in enumerate(curve["mean"]) if value is not None]
        (low, at_low), (high, at_high) = min(values), max(values)
        text += f": from {low:.3g} at {at_low} % to {high:.3g} at {at_high} %"
        bottom, top = figure["limits"] or (low, high)
        if low < bottom or high > top:
            where = "all of it" if low > top or high < bottom else "in part"
            text += f", {where} outside the axis from {bottom:g} to {top:g}"
        text += "."
        text += "".join(f" Active from {start} to {end} %." for start, end in curve["active"] or ())
    return text
