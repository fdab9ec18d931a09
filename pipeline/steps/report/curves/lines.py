"""Lines of the figures: for which cycles each stands, its style, and the reference beside it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....conventions import SIDES
from ....tables import reference_curves
from .cycles import CycleCurves

# line styles of the conditions, as SVG dashes
DASHES = ("", "8px,4px", "2px,3px", "9px,3px,2px,3px", "14px,4px", "14px,3px,2px,3px,2px,3px")
ONE_SPEED = 0.13  # of two groups of Schwartz et al. (2008); half of it, to the mean, is .1 to .4 SD of the angles
MOST_LINES = 2  # to show before a reader chooses, each with two sides: more than four curves a panel are a tangle
MOST_APART = 4  # the same where each side has a place of its own


class Line(NamedTuple):
    """What a line style stands for: a condition, of one session if there are several.

    Shown: at first; compared: as one of two of which the later one is set against the earlier one; turns: most of its
    cycles do, so that it is not shown; turning: how many do.
    """

    label: str
    session: str | None
    condition: str
    dash: str
    shown: bool = True
    compared: bool = False
    turns: bool = False
    turning: int = 0

    def selects(self, cycles: CycleCurves) -> NDArray[np.bool_]:
        """Return which cycles (cycle,) the line stands for."""
        mine: NDArray[np.bool_] = cycles.condition == self.condition
        return mine if self.session is None else mine & (cycles.session == self.session)


class NormalCurves(NamedTuple):
    """Curves of the reference at a dimensionless speed, None if it is for any; the lines that they are for; a name."""

    curves: Mapping[reference_curves.Key, reference_curves.ReferenceCurve]
    lines: list[str]
    speed: float | None
    name: str


def dash_styles(conditions: Sequence[str]) -> dict[str, str]:
    """Return the line style of each condition; empty for a solid line."""
    return {name: DASHES[i % len(DASHES)] for i, name in enumerate(conditions)}


def lines_of(
    cycles: CycleCurves,
    *,
    dashes: Mapping[str, str],
    over_participants: bool,
    asked: str = "",
    groups: Sequence[Sequence[str]] = (),
) -> list[Line]:
    """Return the lines to draw: one for each condition, and for each session of a participant with several.

    Args:
        dashes: line style of each condition, the same in the whole report.
        over_participants: whether to average the participants' means; their sessions are averaged, too.
        asked: within what a reader compares: ``condition``, ``visit`` or ``participant``; empty if nobody chose.
        groups: the lines of each group, in the same order; the first one of each is shown, and others if few are.
    """
    pairs = list(dict.fromkeys(zip(cycles.session.tolist(), cycles.condition.tolist(), strict=True)))
    sessions = {session for session, _ in pairs}
    if over_participants or len(sessions) < 2:
        present = {condition for _, condition in pairs}
        return _choose(
            [Line(name, None, name, dash) for name, dash in dashes.items() if name in present],
            cycles,
            asked=asked,
            groups=groups,
        )
    pairs.sort(key=lambda pair: [*dashes].index(pair[1]))  # sessions of one condition follow one another
    several = len({condition for _, condition in pairs}) > 1
    styles = dash_styles([f"{session}, {x}" if several else session for session, x in pairs])
    lines = (Line(label, *pair, dash) for pair, (label, dash) in zip(pairs, styles.items(), strict=True))
    return _choose([*lines], cycles, asked=asked)


def _choose(lines: list[Line], cycles: CycleCurves, *, asked: str, groups: Sequence[Sequence[str]] = ()) -> list[Line]:
    """Return the lines with those that are shown at first: of one condition the first and the last visit, else two.

    Turns are never drawn over straight walks before a reader wants it. ``asked`` and ``groups`` are of
    :func:`lines_of`.
    """
    turning = {line.label: cycles.turns[line.selects(cycles)] for line in lines}
    turn = {label: not asked and turns.mean() >= 0.5 for label, turns in turning.items()}
    straight = [line for line in lines if not turn[line.label]] or lines
    within = [{"visit": line.session, "participant": None}.get(asked, line.condition) for line in straight]
    most = max(within, key=within.count, default=None)
    of_one = [line for line, name in zip(straight, within, strict=True) if name == most]
    chosen = [of_one[0], of_one[-1]] if len(of_one) > 1 else straight[:MOST_LINES]
    if groups:
        chosen = []
        for same in zip(*groups, strict=True):
            alike = [line for line in straight if line.label in same]
            if not chosen or len(chosen + alike) <= MOST_APART:
                chosen += alike[:MOST_APART]
    return [
        line._replace(
            shown=line in chosen,
            compared=line in chosen and len(of_one) > 1,
            turns=turn[line.label] and line not in chosen,
            turning=int(turning[line.label].sum()),
        )
        for line in lines
    ]


def normal_of(
    cycles: CycleCurves, lines: Sequence[Line], reference: reference_curves.BySpeed, name: str = "normal"
) -> list[NormalCurves]:
    """Return the reference for the lines: at the median of the speeds that study.nc compares their cycles with.

    Lines of nearly the same speed have one, at the mean of their speeds. A line without a speed, of running, has none,
    nor has one if all its cycles turn.
    """
    if not reference_curves.speeds_of(reference):
        straight = [line.label for line in lines if not cycles.turns[line.selects(cycles)].all()]
        return [NormalCurves(curves, straight, None, name) for curves in reference.values() if straight]
    speeds = [(cycles.reference_speed[line.selects(cycles)], line.label) for line in lines]
    medians = [(float(np.nanmedian(speed)), label) for speed, label in speeds if np.isfinite(speed).any()]
    groups: list[list[tuple[float, str]]] = []
    for speed, label in sorted(medians):
        if not groups or speed - groups[-1][0][0] > ONE_SPEED:
            groups.append([])
        groups[-1].append((speed, label))
    means = [(float(np.mean([speed for speed, _ in group])), [label for _, label in group]) for group in groups]
    return [NormalCurves(reference_curves.at_speed(reference, speed), labels, speed, name) for speed, labels in means]


def by_line(cycles: CycleCurves, lines: Sequence[Line]) -> dict[tuple[str, str], CycleCurves]:
    """Return the cycles of each line and side that has some."""
    places = {(line.label, side): line.selects(cycles) & (cycles.side == side) for line in lines for side in SIDES}
    return {place: cycles.at(mine) for place, mine in places.items() if mine.any()}


def people_with_sessions(cycles: CycleCurves) -> int:
    """Return the number of participants with several sessions in one condition."""
    visits = {*zip(*(x.tolist() for x in (cycles.participant, cycles.condition, cycles.session)), strict=True)}
    several = Counter(visit[:2] for visit in visits)
    return len({person for (person, _), n in several.items() if n > 1})
