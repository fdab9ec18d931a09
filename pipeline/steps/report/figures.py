"""Figures of the report: the mean curve, its spread and the single curves in each panel.

Colours are in templates/report.css, the line style of each condition in :data:`DASHES`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...conventions import SIDES
from ...results.averages import Array, Average, Text, average, pooled
from ...results.cycle_variables import STANCE, STANCE_CURVES
from ...results.gait_profile import turns
from ...results.schema import VARIABLES
from ...signals.time_normalisation import PHASE
from ...tables import reference_curves
from .json_numbers import select, shortened, whole
from .panels import ANGLES, MOMENTS, MUSCLES, Limits, Panel, plain_unit

# line styles of the conditions, as SVG dashes
DASHES = ("", "8px,4px", "2px,3px", "9px,3px,2px,3px", "14px,4px", "14px,3px,2px,3px,2px,3px")
SHEETS = {ANGLES: "kinematics", MUSCLES: "EMG"}  # printed pages of groups; the others are on the page of kinetics
BANDS = {"joint_moment_jcs": "joint_moment_band", "joint_power": "joint_power_band"}
SMALLEST_N = 3  # curves for a standard deviation: of two, the curves themselves are drawn
MOST_SINGLE = 20  # single curves of one side and condition: more are a grey mass, and the page grows
EVERY = 2  # percent between the samples of single curves
ONE_SPEED = 0.13  # of two groups of Schwartz et al. (2008); half of it, to the mean, is .1 to .4 SD of the angles
MOST_LINES = 4  # conditions and sessions to show before a reader chooses


class Cycles(NamedTuple):
    """Curves (cycle, panel, phase), foot off (cycle,) in percent, labels (cycle,); of stances, over stance.

    Curves have the signs of their panels. ``label`` names trial and time. Band: if errors were drawn, their lower and
    upper percentile (cycle, panel, 2, phase), only of moments and powers.
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

    def of(self, participant: str) -> Cycles:
        """Return one participant's cycles."""
        return self.at(self.participant == participant)

    def at(self, mine: NDArray[np.bool_]) -> Cycles:
        """Return the cycles at which ``mine`` (cycle,) is true."""
        parts: dict[str, Any] = {
            name: values[mine] for name, values in self._asdict().items() if isinstance(values, np.ndarray)
        }
        return self._replace(**parts)


def joined(parts: Sequence[Cycles]) -> Cycles:
    """Return the cycles of all parts."""
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name, values in parts[0]._asdict().items()
        if isinstance(values, np.ndarray)
    }
    return parts[0]._replace(**arrays)


class Line(NamedTuple):
    """What a line style stands for: a condition, of one session if there are several; whether it is shown at first."""

    label: str
    session: str | None
    condition: str
    dash: str
    shown: bool = True

    def drawn_from(self, cycles: Cycles) -> NDArray[np.bool_]:
        """Return which cycles (cycle,) the line stands for."""
        mine: NDArray[np.bool_] = cycles.condition == self.condition
        return mine if self.session is None else mine & (cycles.session == self.session)


class Normal(NamedTuple):
    """Curves of the reference at a dimensionless speed, None if it is for any, and the lines that they are for."""

    curves: Mapping[reference_curves.Key, reference_curves.Reference]
    lines: list[str]
    speed: float | None = None


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


class Single(TypedDict):
    """The single curves of a mean: whole numbers of ``step``, every second percent; n of them if all were drawn."""

    step: float
    labels: list[str]
    curves: list[list[int | None]]


class Band(TypedDict):
    """Mean and standard deviation of the reference, None outside its range; the lines that it is for."""

    name: str
    lines: list[str]
    mean: list[float | None]
    sd: list[float | None]


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


def cycles_of(study: xr.Dataset, panels: tuple[Panel, ...]) -> Cycles:
    """Return the cycles of a study for the figures."""
    curves = [p.factor * select(study, p.variable, "cycle", "phase", **p.component) for p in panels]
    curve = np.stack(curves, axis=1).astype(float)
    foot_off = select(study, "stance_share", "cycle").astype(float)
    speed = select(study, "reference_speed", "cycle") if "reference_speed" in study else np.full(len(curve), np.nan)
    turning = turns(study.variables["turning_angle"].values, study.variables["stride_direction"].values)
    return Cycles(
        panels, curve, foot_off, **_labels(study, "cycle", ""),
        band=_bands(study, panels), reference_speed=speed, turns=turning,
    )  # fmt: skip


def stances_of(study: xr.Dataset, panels: tuple[Panel, ...]) -> Cycles:
    """Return the whole stances of a study for the figures; panels without curves over stance are NaN."""
    curve = np.full((study.sizes.get("stance", 0), len(panels), len(PHASE)), np.nan)
    for i, p in enumerate(panels):
        if f"{p.variable}{STANCE}" in STANCE_CURVES:
            curve[:, i] = p.factor * select(study, f"{p.variable}{STANCE}", "stance", "stance_phase", **p.component)
    off = np.full(len(curve), np.nan)
    return Cycles(
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


def dash_styles(conditions: Sequence[str]) -> dict[str, str]:
    """Return the line style of each condition; empty for a solid line."""
    return {name: DASHES[i % len(DASHES)] for i, name in enumerate(conditions)}


def lines_of(cycles: Cycles, *, dashes: Mapping[str, str], over_participants: bool) -> list[Line]:
    """Return the lines to draw: one for each condition, and for each session of a participant with several.

    Args:
        cycles: the cycles, of a study or of one participant.
        dashes: line style of each condition, the same in the whole report.
        over_participants: whether to average the participants' means; their sessions are averaged, too.
    """
    pairs = list(dict.fromkeys(zip(cycles.session.tolist(), cycles.condition.tolist(), strict=True)))
    sessions = {session for session, _ in pairs}
    if over_participants or len(sessions) < 2:
        present = {condition for _, condition in pairs}
        return [Line(name, None, name, dash) for name, dash in dashes.items() if name in present]
    pairs.sort(key=lambda pair: [*dashes].index(pair[1]))  # sessions of one condition follow one another
    of_condition = {name: sum(condition == name for _, condition in pairs) for _, name in pairs}
    first = max(of_condition, key=lambda name: of_condition[name])
    few = len(pairs) <= MOST_LINES
    styles = dash_styles([session if len(of_condition) == 1 else f"{session}, {x}" for session, x in pairs])
    return [
        Line(label, session, condition, dash, shown=few or condition == first)
        for (session, condition), (label, dash) in zip(pairs, styles.items(), strict=True)
    ]


def normal_of(cycles: Cycles, lines: Sequence[Line], reference: reference_curves.BySpeed) -> list[Normal]:
    """Return the reference for the lines: at the median of the speeds that study.nc compares their cycles with.

    Lines of nearly the same speed have one, at the mean of their speeds. A line without a speed, of running, has none,
    nor has one if all its cycles turn.
    """
    if not reference_curves.speeds_of(reference):
        straight = [line.label for line in lines if not cycles.turns[line.drawn_from(cycles)].all()]
        return [Normal(curves, straight) for curves in reference.values() if straight]
    known = [(cycles.reference_speed[line.drawn_from(cycles)], line.label) for line in lines]
    medians = [(float(np.nanmedian(speed)), label) for speed, label in known if np.isfinite(speed).any()]
    groups: list[list[tuple[float, str]]] = []
    for speed, label in sorted(medians):
        if not groups or speed - groups[-1][0][0] > ONE_SPEED:
            groups.append([])
        groups[-1].append((speed, label))
    means = [(float(np.mean([speed for speed, _ in group])), [label for _, label in group]) for group in groups]
    return [Normal(reference_curves.at_speed(reference, speed), labels, speed) for speed, labels in means]


def people_with_sessions(cycles: Cycles) -> int:
    """Return the number of participants with several sessions in one condition."""
    visits = {*zip(*(x.tolist() for x in (cycles.participant, cycles.condition, cycles.session)), strict=True)}
    several = Counter(visit[:2] for visit in visits)
    return len({person for (person, _), n in several.items() if n > 1})


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


def averaged(mine: Cycles) -> Averaged:
    """Return what is drawn of the cycles of one side and line, each cycle being a single curve."""
    single = [single_of(mine.curve[:, i], mine.label) for i in range(len(mine.panels))]
    return Averaged(
        average(mine.curve), average(mine.foot_off), None if mine.band is None else average(mine.band), single
    )


def by_line(cycles: Cycles, lines: Sequence[Line]) -> dict[tuple[str, str], Cycles]:
    """Return the cycles of each line and side that has some."""
    found = {}
    for line in lines:
        for side in SIDES:
            mine = line.drawn_from(cycles) & (cycles.side == side)
            if mine.any():
                found[line.label, side] = cycles.at(mine)
    return found


def figures(cycles: Cycles, *, lines: Sequence[Line], normal: Sequence[Normal]) -> Drawn:
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
    normal: Sequence[Normal],
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


def single_of(values: Array, labels: NDArray[np.str_]) -> Single:
    """Return at most 20 of the curves (n, phase) that are known, evenly chosen."""
    values = np.where(np.isfinite(values), values, np.nan)
    known = np.flatnonzero(np.isfinite(values).any(axis=1))
    chosen = known[np.unique(np.linspace(0, len(known) - 1, min(len(known), MOST_SINGLE)).round().astype(int))]
    curves = values[chosen, ::EVERY]
    largest = max(np.nanmax(np.abs(curves), initial=0), 1e-6)
    step = 10.0 ** np.floor(np.log10(largest / 200))  # at most .5 % of the largest value
    return Single(step=float(step), labels=labels[chosen].tolist(), curves=whole(curves / step))


def _empty(panel: Panel, normal: Sequence[Normal], over: str) -> Figure:
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


def _band(normal: Normal, curve: reference_curves.Reference, factor: int) -> Band:
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
