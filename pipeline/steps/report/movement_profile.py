"""How a person differs from normal: the Movement Analysis Profile as bars, with what a typical person has.

Baker R et al. (2009) The Gait Profile Score and Movement Analysis Profile. Gait Posture 30:265-269. A difference of
1.6 degrees of the Gait Profile Score is the smallest of clinical importance: Baker R et al. (2012) The minimal
clinically important difference for the Gait Profile Score. Gait Posture 35:612-615.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...arrays import Array, Flags
from ...conventions import SIDES
from ...person.size_findings import ADULT_AGE_YEARS
from ...tables.reference_curves import BySpeed, at_speed
from ...variables.gait_profile import STRAIGHT_DEGREES, along_cycle, place_of, root_mean_square, turns, typical_scores
from ...variables.metrics import GAIT_ANGLES
from .curves.panels import sign_of_angle
from .tables import ABSENT, Table

AXIS_DEGREES = 30.0  # so that charts can be compared by eye; longer if a score is larger
STEP_DEGREES = 10
MOST_NAMED = 3
ONE_WAY = 0.5  # of a score, from which the mean difference is said to be the direction of the score
GPS, OVERALL, GVS = "gait_profile_score", "gait_profile_score_overall", "gait_variable_score_"


class Bars(NamedTuple):
    """One angle, or the Gait Profile Score: scores in degrees by side or ``both``, and that of a typical person.

    ``ways`` are words on the direction of each score, where the curves are known.
    """

    title: str
    scores: dict[str, float]
    typical: float | None
    metric: str
    ways: Mapping[str, str] = {}


class Profile(NamedTuple):
    """The chart of a session and condition: its bars, the ticks of its axis and its text in words."""

    title: str
    bars: list[Bars]
    ticks: list[int]
    words: str
    table: Table


class Norm(NamedTuple):
    """The curves of normal gait beside a person, empty without any, what study.nc says of them, and the person's age.

    ``age`` is in years, NaN if it is not stated.
    """

    curves: BySpeed
    about: Mapping[str, Any]
    age: float

    @property
    def is_of_others(self) -> bool:
        """Return whether it is of children and the person an adult, or the other way round: no score compares them."""
        return bool(self.curves) and compares_children_and_adults(self.age, self.about)

    @property
    def another_age(self) -> list[str]:
        """Return how the person's age does not fit that of the norm, in words; empty if it does, or without a norm."""
        youngest, oldest = self.about.get("ages", (-np.inf, np.inf))
        if not self.curves or not (self.age < youngest or self.age > oldest or self.is_of_others):
            return []
        text = f"{age_in_words(self.age)}, the reference is of {self.about['people']}"
        text += ": no score compares them, and their band is only a help for the eye" if self.is_of_others else ""
        return [f"{text}; give age_years in participants.tsv" if np.isnan(self.age) else text]

    @property
    def apart(self) -> str:
        """Return why nothing is compared, in words; empty if it is."""
        of = self.about.get("people", "others")
        return f"{age_in_words(self.age)}, the norm is of {of}" if self.is_of_others else ""


def movement_profiles(cycles: pd.DataFrame, reference: BySpeed, angles: Array | None = None) -> list[Profile]:
    """Return the Movement Analysis Profile of each session and condition; none without scores.

    Args:
        cycles: a participant's rows of metrics.csv that are cycles, numbered; scores are averaged over them.
        angles: the nine angles (cycle, 9, 51) of all cycles, degrees, which tell the direction of a score.
    """
    if not reference or GPS not in cycles:
        return []
    profiles = []
    header = ["Angle", "Left", "Right", "Both", "Typical person"]
    for title, mine in _places_of(cycles).items():
        rows = cycles.iloc[mine]
        bars = bars_of(rows, typical_of(rows, reference))
        if not any(one.scores for one in bars):
            continue
        if angles is not None:
            normal = along_cycle(at_speed(reference, mean_of(column_of(rows, "reference_speed"))), "mean")
            of_sides = {side: angles[rows.index[rows["side"] == side]] - normal for side in SIDES}
            bars = [one._replace(ways=_ways(i, of_sides)) for i, one in enumerate(bars[:-1])] + bars[-1:]
        values = [value for one in bars for value in (*one.scores.values(), one.typical or 0.0)]
        end = max(AXIS_DEGREES, STEP_DEGREES * np.ceil(max(values) / STEP_DEGREES))
        scores = [[*(one.scores.get(side) for side in (*SIDES, "both")), one.typical] for one in bars]
        cells = [[one.title, *map(score_in_words, mine)] for one, mine in zip(bars, scores, strict=True)]
        ticks = [*range(0, int(end) + 1, STEP_DEGREES)]
        profiles.append(Profile(title, bars, ticks, _words(bars), Table(header, cells)))
    return profiles


def _ways(number: int, of_sides: Mapping[str, Array]) -> dict[str, str]:
    """Return by side to which side of normal an angle is on average; the pelvis is that of one side's cycles.

    ``of_sides``: by side, the nine angles of its cycles minus normal ones (cycle, 9, 51), degrees.
    """
    name, ways = GAIT_ANGLES[number], dict[str, str]()
    below, _, above = sign_of_angle(*place_of(name)).partition(" < 0 < ")
    for side, mine in of_sides.items():
        known = mine[np.isfinite(mine[:, number]).all(axis=1), number]
        if not len(known):
            continue
        apart = known.mean(axis=0)
        if abs(apart.mean()) < ONE_WAY * root_mean_square(apart):
            ways[side] = "both ways"
        else:
            word = above if apart.mean() > 0 else below
            of_side = name in ("pelvis_obliquity", "pelvis_rotation")
            ways[side] = f"{side} side {word.removeprefix('side ')}" if of_side else f"more {word}"
    return {"both": next(iter(ways.values()))} if name.startswith("pelvis") and ways else ways


def without_comparison(cycles: pd.DataFrame) -> list[str]:
    """Return how many cycles of each session and condition turn, so that they have no scores, in words."""
    texts, turn = [], turning(cycles)
    for title, mine in _places_of(cycles).items() if GPS in cycles else ():
        if count := turn[mine].sum():
            texts.append(
                f"{title}: {count} of {len(mine)} cycles turn by more than {2 * STRAIGHT_DEGREES:.0f} degrees, or lead "
                f"more than {STRAIGHT_DEGREES:.0f} degrees away from the line from which pelvis and foot are measured: "
                "no comparison with normal gait"
            )
    return texts


def turning(cycles: pd.DataFrame) -> Flags:
    """Return which gait cycles turn."""
    return turns(*(column_of(cycles, name) for name in ("turning_angle", "progression_offset")))


def compares_children_and_adults(age: float, reference: Mapping[str, Any]) -> bool:
    """Return whether a reference is of children and the person, of an age in years or NaN, is not known to be one.

    The same the other way round: a child and a reference of adults.
    """
    youngest, oldest = reference.get("ages", (-np.inf, np.inf))
    return bool(
        (oldest < ADULT_AGE_YEARS and not age < ADULT_AGE_YEARS)
        or (youngest >= ADULT_AGE_YEARS and age < ADULT_AGE_YEARS)
    )


def age_in_words(age: float) -> str:
    """Return a person's age, years or NaN, in words."""
    return "the age of this person is not known" if np.isnan(age) else f"this person is {age:g} years old"


def _places_of(cycles: pd.DataFrame) -> dict[str, list[int]]:
    """Return the rows of each visit, else session, and condition by title, which is that of its line in the curves."""
    visits, conditions = cycles["visit" if "visit" in cycles else "session"].tolist(), cycles["condition"].tolist()
    several_visits, several = len({*visits}) > 1, len({*conditions}) > 1
    places: dict[str, list[int]] = {}
    for condition in dict.fromkeys(conditions):
        for i, visit in enumerate(visits):
            if conditions[i] == condition:
                title = f"{visit}, {condition}" if several else visit
                places.setdefault(title if several_visits else condition, []).append(i)
    return places


def typical_of(rows: pd.DataFrame, reference: BySpeed) -> dict[str, float]:
    """Return the scores of a typical person of the reference at the speed that the rows are compared with."""
    curves = at_speed(reference, mean_of(column_of(rows, "reference_speed")))
    return typical_scores(curves) if curves else {}


def bars_of(rows: pd.DataFrame, typical: Mapping[str, float] = {}) -> list[Bars]:
    """Return the bars of the nine angles and the score of all. The pelvis is one body: it is that of the left cycles.

    Without left cycles, it is that of the right ones (the overall score of Baker 2009 takes the left).
    """
    result, of = [], {side: rows["side"].to_numpy() == side for side in SIDES}
    for name in (*GAIT_ANGLES, ""):
        score = f"{GVS}{name}" if name else GPS
        values = column_of(rows, score)
        scores = {side: mean_of(values[mine]) for side, mine in of.items()}
        if name.startswith("pelvis"):
            scores = {"both": next((value for value in scores.values() if np.isfinite(value)), float("nan"))}
        elif not name:
            scores["both"] = mean_of(column_of(rows, OVERALL))
        expected = typical.get(score, float("nan"))
        scores = {side: value for side, value in scores.items() if np.isfinite(value)}
        title = name.replace("_", " ").capitalize() or "Gait Profile Score"
        result.append(Bars(title, scores, expected if np.isfinite(expected) else None, score))
    return result


def mean_of(values: Array) -> float:
    """Return the mean of the values that are known, NaN if there is none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def column_of(rows: pd.DataFrame, name: str) -> Array:
    """Return a column of numbers, NaN if it is absent."""
    return rows[name].to_numpy() if name in rows else np.full(len(rows), np.nan)


def _words(bars: list[Bars]) -> str:
    """Return the scores that are largest beside those of a typical person, in words."""
    ratios = [
        (
            value / one.typical,
            f"{one.title.lower()} {'' if side == 'both' else side} {value:.1f} ({one.typical:.1f})"
            + (f", {one.ways[side]}" if side in one.ways else ""),
        )
        for one in bars[:-1]
        for side, value in one.scores.items()
        if one.typical
    ]
    beyond = sorted((one for one in ratios if one[0] > 1), reverse=True)
    most = [" ".join(text.split()) for _, text in beyond[:MOST_NAMED]]
    *sides, both = [bars[-1].scores.get(side) for side in (*SIDES, "both")]
    found = ", ".join(f"{side} {value:.1f}" for side, value in zip(SIDES, sides, strict=True) if value is not None)
    found += f"; typical {bars[-1].typical:.1f}" if bars[-1].typical else ""
    text = f"Gait Profile Score {score_in_words(both)} degrees ({found})."
    if most:
        return f"{text} Furthest beyond typical (in brackets): {'; '.join(most)}."
    return f"{text} No angle is beyond a typical person's." if ratios else text


def score_in_words(value: float | None) -> str:
    """Return a score with one decimal."""
    return ABSENT if value is None else f"{value:.1f}"
