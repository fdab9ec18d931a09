"""The first sheet of a participant's page: the main numbers beside normal values, and what they say in sentences."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...arrays import Array
from ...conventions import SIDES
from ...tables.reference_curves import BySpeed, numbers_of, speeds_of
from ...variables.gait_profile import SMALLEST_IMPORTANT
from ...variables.metrics import NUMBERS
from .curves.figures import SMALLEST_N
from .curves.lines import Line
from .curves.panels import plain_unit
from .metric_tables import places_of
from .movement_profile import (
    GPS,
    OVERALL,
    Norm,
    Profile,
    column_of,
    mean_of,
    movement_profiles,
    turning,
    typical_of,
    without_comparison,
)
from .tables import ABSENT, Table, Totals
from .visit_changes import SINGLE, Detectable, change_of, limits_of

SPEED = "walking_speed"
MOST_CHANGED = 2  # scores of angles
SHOWN = {  # rows of the table: metric and side, of both together without one
    "Speed": (SPEED, ""),
    "Cadence": ("cadence", ""),
    "Step left": ("step_length", "left"),
    "Step right": ("step_length", "right"),
    "GPS left": (GPS, "left"),
    "GPS right": (GPS, "right"),
    "GPS": (OVERALL, ""),
}


class FirstSheet(NamedTuple):
    """What the first sheet has besides its curves, and what of the same kind the appendix has of other lines."""

    numbers: Table
    sentences: list[str]
    profiles: list[Profile]
    caveats: list[str]
    further_profiles: list[Profile]
    further_caveats: list[str]


class Shown(NamedTuple):
    """The gait cycles of a line of the first sheet: rows of metrics.csv, and of which visit and condition they are."""

    line: Line
    rows: pd.DataFrame

    def mean(self, metric: str, side: str = "") -> float:
        """Return the mean of a metric over the cycles of a side, or of both; NaN if it is not known."""
        values = column_of(self.rows, metric)
        return mean_of(values[self.rows["side"].to_numpy() == side] if side else values)

    def fewest(self, metric: str) -> int:
        """Return how many cycles of a side have a metric, of the side with fewer."""
        is_known = ~np.isnan(column_of(self.rows, metric))
        return min(int((is_known & (self.rows["side"].to_numpy() == side)).sum()) for side in SIDES)


def first_sheet(
    lines: Sequence[Line],
    cycles: pd.DataFrame,
    norm: Norm,
    *,
    angles: Array | None = None,
    detectable: Detectable,
    totals: Totals,
) -> FirstSheet:
    """Return the first sheet of a person.

    Args:
        lines: those of the curves.
        cycles: rows of metrics.csv that are cycles, numbered, without scores that compare with other people's norm.
        angles: as of :func:`pipeline.steps.report.movement_profile.movement_profiles`.
        detectable: the smallest changes beyond the laboratory's own repeatability.
    """
    shown, conditions, on_sheet = [], cycles["condition"].to_numpy(), np.zeros(len(cycles), dtype=bool)
    visits = cycles["visit" if "visit" in cycles else "session"].to_numpy()
    for line in (line for line in lines if line.shown):
        is_mine = (conditions == line.condition) & (line.session is None or visits == line.session)
        shown += [Shown(line, cycles[is_mine])] if is_mine.any() else []
        on_sheet |= is_mine
    with_norm = norm.curves and not norm.is_of_others
    normal = {one.line.label: normal_values(one, norm.curves) for one in shown} if with_norm else {}
    profiles = movement_profiles(cycles, norm.curves, angles)
    first = [one for each in shown for one in profiles if one.title == each.line.label]
    here, elsewhere = cycles[on_sheet], cycles[~on_sheet]
    hidden = [line.label for line in lines if not line.shown]
    caveats = [*without_comparison(here), *([] if norm.is_of_others else norm.another_age)]
    return FirstSheet(
        numbers=numbers_table(shown, normal, detectable),
        sentences=sentences(shown, first, normal, totals, norm.apart)
        + ([f"Not shown here: {'; '.join(hidden)}."] if hidden else []),
        profiles=first,
        caveats=caveats if norm.curves else [],
        further_profiles=[one for one in profiles if one not in first],
        further_caveats=without_comparison(elsewhere) if norm.curves else [],
    )


def numbers_table(shown: Sequence[Shown], normal: Mapping[str, Mapping[str, str]], detectable: Detectable) -> Table:
    """Return speed, cadence, step length and Gait Profile Score of each line, their change, and normal values.

    Args:
        normal: the normal values of some lines by metric, in words; empty if no norm fits.
        detectable: the smallest changes beyond the laboratory's own repeatability.
    """
    compared = _are_compared(shown)
    of_visits = compared and len({one.line.condition for one in shown}) == 1
    names = {one.line.label: one.line.session if of_visits and one.line.session else one.line.label for one in shown}
    titles = [with_turns(title, one.rows) for title, one in zip(names.values(), shown, strict=True)]
    about = [f"Normal ({names[label]})" if len(shown) > 1 else "Normal" for label in normal]
    header = ["", *titles, *["Change"] * compared, *about]
    rows = []
    for title, (metric, side) in SHOWN.items():
        values, places = [one.mean(metric, side) for one in shown], places_of(metric)
        if not np.isfinite(values).any():
            continue
        cells = [f"{value:.{places}f}" if np.isfinite(value) else ABSENT for value in values]
        if compared:
            single = min(one.fewest(metric) for one in shown) == 1  # then no limit tells the change from chance
            limits = detectable.get(shown[0].line.condition, {}).get(side or "mean", {})
            cells.append(change_of(values[1] - values[0], places, {} if single else limits_of(metric, limits)))
        cells += [one.get(metric, ABSENT) for one in normal.values()]
        rows.append([f"{title}, {plain_unit(NUMBERS[metric].units)}", *cells])
    return Table(header, rows)


def with_turns(title: str, cycles: pd.DataFrame) -> str:
    """Return the title of a column of means with the number of cycles in them that turn, if there are any."""
    return f"{title} ({count} of {len(cycles)} cycles turn)" if (count := turning(cycles).sum()) else title


def normal_values(shown: Shown, reference: BySpeed) -> dict[str, str]:
    """Return normal values of a line in words by metric: those of the norm's people, and scores of a typical person.

    Without a number for speed: the middle one of the norm's speeds, for the length of this person's legs.
    """
    numbers = numbers_of(reference)
    values = {name: f"{mean:.{places_of(name)}f} ({sd:.{places_of(name)}f})" for name, (mean, sd) in numbers.items()}
    if speeds := speeds_of(reference):
        per_unit = shown.mean(SPEED) / shown.mean(f"{SPEED}_dimensionless")
        values |= {SPEED: f"{speeds[len(speeds) // 2] * per_unit:.2f}"} if np.isfinite(per_unit) else {}
    typical = typical_of(shown.rows, reference).get(GPS)
    return values | (dict.fromkeys((GPS, OVERALL), f"{typical:.1f}") if typical else {})


def sentences(
    shown: Sequence[Shown],
    profiles: Sequence[Profile],
    normal: Mapping[str, Mapping[str, str]],
    totals: Totals,
    apart: str,
) -> list[str]:
    """Return what the first sheet shows, in sentences: how much is measured, speed, difference from normal, change.

    Args:
        profiles: the Movement Analysis Profile of each line, if any.
        normal: the normal values of some lines by metric, in words.
        apart: whose age does not fit the norm, in words.
    """
    used = f"{totals.trials_used} of {totals.trials} trials and {totals.contacts_used} of {totals.contacts}"
    text = f"{used} plate contacts are used"
    if not shown:
        return [f"{text}; no gait cycle could be."]
    few = min(one.fewest(SPEED) for one in shown)
    texts = [f"{text}; only {few} gait cycle{'s' * (few != 1)} a side." if few < SMALLEST_N else f"{text}."]
    last = shown[-1 if _are_compared(shown) else 0]
    text = f"{last.line.label[:1].upper()}{last.line.label[1:]}: {last.mean(SPEED):.2f} m/s"
    normal_speed = {label: f" (normal {values[SPEED]})" for label, values in normal.items() if SPEED in values}
    texts += [
        f"{text}{normal_speed.get(last.line.label, '')}.",
        *(one.words for one in profiles if one.title == last.line.label),
    ]
    texts += [f"Not compared with normal gait: {apart}."] if apart and not profiles else []
    if not _are_compared(shown):
        return texts
    before, after = shown
    return [*texts, _change(before, after, normal_speed.get(before.line.label, ""), _scores_changed_most(profiles))]


def _change(before: Shown, after: Shown, normal_before: str, scores: str) -> str:
    """Return what changed between two visits, or differs between what a reader compares, in a sentence.

    ``normal_before``: the normal speed of the first; ``scores``: of the angles that changed most, in words.
    """
    first, speed = before.mean(SPEED), after.mean(SPEED)
    text = f"From {before.line.label} to {after.line.label}: speed {speed - first:+.2f} m/s"
    text += f" ({100 * (speed / first - 1):+.0f}\xa0%) from {first:.2f}{normal_before}"
    score = after.mean(OVERALL) - before.mean(OVERALL)
    if np.isfinite(score):
        important = SMALLEST_IMPORTANT[OVERALL]
        less = abs(score) < important
        text += (
            f", Gait Profile Score {score:+.1f} ({'below' if less else 'above'} the {important} that matter){scores}"
        )
    single = min(before.fewest(SPEED), after.fewest(SPEED)) == 1
    return f"{text}{f'; {SINGLE}s, perhaps chance' if single else ''}."


def _scores_changed_most(profiles: Sequence[Profile]) -> str:
    """Return the scores of single angles that differ most between two profiles, in words; none without two."""
    if len(profiles) != 2:
        return ""
    before, after = (
        {(bars.title, side): x for bars in one.bars[:-1] for side, x in bars.scores.items()} for one in profiles
    )
    changes = {place: after[place] - before[place] for place in before.keys() & after.keys()}
    most = sorted(changes, key=lambda place: (-abs(changes[place]), place))[:MOST_CHANGED]
    words = (f"{title.lower()} {side} {changes[title, side]:+.1f}".replace(" both", "") for title, side in most)
    return f"; most: {', '.join(words)}" if most else ""


def _are_compared(shown: Sequence[Shown]) -> bool:
    """Return whether there are two lines, of which the later one is set against the earlier one."""
    return len(shown) == 2 and all(one.line.compared for one in shown)
