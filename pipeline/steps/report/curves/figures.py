"""Figures of the report: the mean curve, its spread and the single curves in each panel; and their legend.

Colours are in templates/report.css.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypedDict

import numpy as np

from ....conventions import SIDES
from ....results.averages import Average, average, pooled
from ....signals.time_normalisation import PHASE
from ....tables import reference_curves
from ....variables.schema import VARIABLES
from ..json_numbers import shortened
from .cycles import CycleCurves, Single, single_of
from .lines import Line, NormalCurves, by_line
from .panels import ANGLES, MOMENTS, MUSCLES, Limits, Panel, plain_unit

SHEETS = {ANGLES: "kinematics", MUSCLES: "EMG"}  # printed pages of groups; the others are on the page of kinetics
SMALLEST_N = 3  # curves for a standard deviation: of two, the curves themselves are drawn


class Curve(TypedDict):
    """Mean and standard deviation along the phase; n is the largest number averaged.

    Unknown values are None, as is the standard deviation of fewer than three. Band: the mean lower and upper percentile
    of the errors.
    """

    side: str
    line: str
    dash: str
    n: int
    foot_off: float | None
    mean: list[float | None]
    sd: list[float | None]
    band: list[list[float | None]] | None


class Band(TypedDict):
    """Mean and standard deviation of the reference, None outside its range; the lines that it is for."""

    name: str
    lines: list[str]
    mean: list[float | None]
    sd: list[float | None]


class Figure(TypedDict):
    """A panel with its curves, the bands of the reference and the fixed range of its axis, ready for JSON."""

    group: str
    title: str
    unit: str
    sign: str
    over: str
    limits: Limits | None
    curves: list[Curve]
    reference: list[Band]


class KeyLine(TypedDict):
    """A line of the legend: its name, style, whether it is shown at first, and n of both sides in words."""

    label: str
    dash: str
    shown: bool
    n: str


class Key(TypedDict):
    """The legend of a page: sides, lines, whether they differ by session, and what a single curve is."""

    sides: list[str]
    lines: list[KeyLine]
    sessions: bool
    single: str


class Drawn(NamedTuple):
    """The lines, one figure per panel, and for each the single curves in the order of the figure's curves."""

    lines: Sequence[Line]
    figures: list[Figure]
    single: list[list[Single]]

    def with_curves(self) -> Drawn:
        """Return the figures that have curves."""
        return self._only([bool(figure["curves"]) for figure in self.figures])

    def with_own_muscles(self, *, any_muscle: bool) -> Drawn:
        """Return the figures without muscles that have no curves, or without any."""
        muscle = [figure["group"] == MUSCLES for figure in self.figures]
        known = [any_muscle and bool(figure["curves"]) for figure in self.figures]
        return self._only([own or not of for own, of in zip(known, muscle, strict=True)])

    def page_starts(self, not_on_paper: Collection[str]) -> set[str]:
        """Return the groups that begin a printed page: the first of kinetics, and EMG, if curves are before and after.

        Groups without curves are a line of text, which needs no page.
        """
        groups = [group for group in self.groups() if group not in not_on_paper]
        pages = [SHEETS.get(group, "kinetics") for group in groups]
        return {group for group, page, before in zip(groups[1:], pages[1:], pages, strict=False) if page != before}

    def groups(self) -> list[str]:
        """Return the groups that have curves."""
        return list(dict.fromkeys(figure["group"] for figure in self.figures if figure["curves"]))

    def missing(self, group: str) -> list[str]:
        """Return the titles of a group's figures without curves."""
        return [figure["title"] for figure in self.figures if figure["group"] == group and not figure["curves"]]

    def _only(self, kept: Sequence[bool]) -> Drawn:
        found = [i for i, keep in enumerate(kept) if keep]
        return self._replace(figures=[self.figures[i] for i in found], single=[self.single[i] for i in found])


class Averaged(NamedTuple):
    """What is drawn of a side and a line: averages of curves (panel, phase), foot off () and errors (panel, 2, phase).

    The single curves are by panel.
    """

    curves: Average
    foot_off: Average
    band: Average | None
    single: list[Single]

    def pooled(self, other: Averaged) -> Averaged:
        """Return the averages of the curves of both, without single curves."""
        band = pooled(self.band, other.band) if self.band and other.band else None
        return Averaged(pooled(self.curves, other.curves), pooled(self.foot_off, other.foot_off), band, [])


def averaged(mine: CycleCurves) -> Averaged:
    """Return what is drawn of the cycles of one side and line, each cycle being a single curve."""
    single = [single_of(mine.curve[:, i], mine.label) for i in range(len(mine.panels))]
    return Averaged(
        average(mine.curve), average(mine.foot_off), None if mine.band is None else average(mine.band), single
    )


def figures(cycles: CycleCurves, *, lines: Sequence[Line], normal: Sequence[NormalCurves]) -> Drawn:
    """Average the cycles of a participant per side and line.

    Args:
        cycles: the cycles to average.
        lines: of :func:`lines_of`.
        normal: the reference for these lines, of :func:`normal_of`.

    Returns:
        One figure per panel, without curves that have no known sample. None of a muscle without EMG.
    """
    found = {place: averaged(mine) for place, mine in by_line(cycles, lines).items()}
    return drawn(cycles.panels, found, lines=lines, normal=normal, over=cycles.over).with_own_muscles(any_muscle=True)


def drawn(
    panels: Sequence[Panel],
    found: Mapping[tuple[str, str], Averaged],
    *,
    lines: Sequence[Line],
    normal: Sequence[NormalCurves],
    over: str = "gait cycle",
) -> Drawn:
    """Return the figures of averages by line and side."""
    empty = [_empty(panel, normal, over) for panel in panels]
    result = Drawn(lines, empty, [[] for _ in empty])
    for line in lines:
        for side in SIDES:
            if (line.label, side) in found:
                _add(result, found[line.label, side], side, line)
    return result


def _add(result: Drawn, found: Averaged, side: str, line: Line) -> None:
    """Add the curves of one side and line to the figures."""
    (mean, sd, n), bands = found.curves, found.band
    means, sds = shortened(mean), shortened(np.where(n < SMALLEST_N, np.nan, sd))
    off = shortened(found.foot_off.mean)
    for i in np.flatnonzero(n.any(axis=1)):
        errors = shortened(bands.mean[i]) if bands and bands.n[i].any() else None
        count = int(n[i].max())
        curve = Curve(
            side=side, line=line.label, dash=line.dash, n=count, foot_off=off, mean=means[i], sd=sds[i], band=errors
        )
        result.figures[i]["curves"].append(curve)
        result.single[i].append(found.single[i])


def _empty(panel: Panel, normal: Sequence[NormalCurves], over: str) -> Figure:
    """Return a figure without curves."""
    known = panel.variable in reference_curves.COMPONENTS
    key = reference_curves.key_of(panel.variable, panel.component) if known else ()
    return Figure(
        group=panel.group,
        title=panel.title,
        unit=plain_unit(VARIABLES["study"][panel.variable].units),
        sign=panel.sign,
        over=over,
        limits=panel.limits,
        curves=[],
        reference=[_band(each, each.curves[key], panel.factor) for each in normal if key in each.curves],
    )


def _band(normal: NormalCurves, curve: reference_curves.Reference, factor: int) -> Band:
    name = "normal" if normal.speed is None else f"normal, speed {normal.speed:.2f}"
    mean, sd = (np.interp(PHASE, curve.phase, values, left=np.nan, right=np.nan) for values in (curve.mean, curve.sd))
    return Band(name=name, lines=normal.lines, mean=shortened(factor * mean), sd=shortened(sd))


def key_of(drawn: Drawn, *, single: str) -> Key:
    """Return the legend of figures; ``single`` names what is averaged, such as ``cycle``."""
    sides = {curve["side"] for figure in drawn.figures for curve in figure["curves"]}
    return Key(
        sides=[side for side in SIDES if side in sides],
        lines=[KeyLine(label=x.label, dash=x.dash, shown=x.shown, n=_counts(drawn.figures, x)) for x in drawn.lines],
        sessions=any(x.session for x in drawn.lines),
        single=single,
    )


def _counts(figures: Sequence[Figure], line: Line) -> str:
    """Return n of each side in words; that of the kinetics if it differs."""
    words = []
    for side in SIDES:
        found = [
            (f["group"], c["n"]) for f in figures for c in f["curves"] if (c["line"], c["side"]) == (line.label, side)
        ]
        if found:
            most = max(n for _, n in found)
            kinetics = max((n for group, n in found if group == MOMENTS), default=0)
            words.append(f"{side} {most}" + (f", kinetics {kinetics}" if kinetics < most else ""))
    return "; ".join(words)


def spoken(figure: Figure) -> str:
    """Return a figure in words, for screen readers."""
    text = f"{figure['title']} over the {figure['over']}, {figure['unit']}, {figure['sign']}."
    for curve in figure["curves"]:
        known = [(value, phase) for phase, value in enumerate(curve["mean"]) if value is not None]
        (low, at_low), (high, at_high) = min(known), max(known)
        text += f" {curve['side']}, {curve['line']}, n {curve['n']}:"
        text += f" from {low:.3g} at {at_low} % to {high:.3g} at {at_high} %{_beyond(figure['limits'], low, high)}."
    return text


def _beyond(limits: Limits | None, low: float, high: float) -> str:
    """Return words on a curve that leaves the range of its axis."""
    if limits is None or (limits[0] <= low and high <= limits[1]):
        return ""
    whole_curve = low > limits[1] or high < limits[0]
    return f", {'all of it' if whole_curve else 'in part'} outside the axis from {limits[0]:g} to {limits[1]:g}"
