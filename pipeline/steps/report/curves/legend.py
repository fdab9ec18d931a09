"""Legend of the figures: sides and lines, with the number of curves in each mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from ....conventions import SIDES
from .figures import Drawn, Figure
from .lines import Line
from .panels import MOMENTS


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
