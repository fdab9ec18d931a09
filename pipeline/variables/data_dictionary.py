"""Data dictionaries of the tables, as BIDS has them, and the search for a metric by the name that the field uses.

``metrics.json`` describes each column of ``metrics.csv``, ``participants.json`` those of ``participants.csv``, and so
on: the file next to a table that has its name. Units are there and not in the names of columns, so that a metric has
one name in tables, study.nc and scripts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..conventions import SIDES
from ..errors import UserError, nearest
from .cycle_variables import IN_STUDY, KNEE_AXIS, RESIDUALS, SEEN, SEEN_SHARE, STANCE, STANCE_IDENTITY, STUDY
from .metrics import NUMBERS
from .rows import AS_JSON, DOUBT, Metric
from .schema import COLUMN_UNITS, COORDINATES, REPAIRS, about_column
from .stance_verdicts import DOUBTED, NOT_ON_A_PLATE, REFUSED, USED
from .trial_facts import FACTS

KINDS = {
    "size": "never changes its sign, has a symmetry index",
    "signed": "may cross zero, has no symmetry index",
    "phase": "percent of the gait cycle, where 0 and 100 are the same; averaged on the circle, has no symmetry index",
}
ENDINGS = {
    "_sd": "standard deviation (n - 1; of phases the circular one) over the cycles: ",
    "_n": "number of cycles with a known value: ",
    "_u": "standard uncertainty by errors of measurement, see uncertainty.md: ",
}


class Column(NamedTuple):
    """Description, units and, of categories, the meaning of each value of a column."""

    description: str
    units: str = ""
    levels: Mapping[str, str] = {}


VERDICTS = {
    USED: "the kinetics are in the results",
    DOUBTED: "the kinetics are in the results, marked, but in no mean unless cycles.doubted_stances is use",
    NOT_ON_A_PLATE: "no plate measured the stance, so nothing is lost",
    REFUSED: "a plate measured, but the kinetics cannot be used, or the trial cannot be read",
}
# columns of quality.csv if the study has corrections.tsv
CORRECTED, CORRECTIONS, NOT_CORRECTED = "corrected_by_hand", "corrections", "corrections_not_applied"
DOUBTED_NUMBERS = "doubted_numbers"  # of metrics.csv
_CLOSURE = "largest angle, root mean square, by which moments integrated forwards miss the measured motion of the"
QUALITY = {
    **{name: Column(COORDINATES[name][1]) for name in ("participant", "session", "trial", "condition")},
    "side": Column("side of the stance; empty for a trial as a whole", "", {side: f"{side} foot" for side in SIDES}),
    "start_s": Column("start of the stance, on the file's own time axis", "s"),
    "end_s": Column("end of the stance, on the file's own time axis", "s"),
    "plates": Column("plates under the foot"),
    "verdict": Column("whether the kinetics of the stance, or the trial, are used", "", VERDICTS),
    "code": Column("code of the reason, for programs; empty if they are used"),
    "reason": Column("why they are not used; empty if they are"),
    "reason_values": Column(f"the reason, {AS_JSON}; of a trial where, what and remedy; empty without one"),
    **{name: Column(COORDINATES[f"stance_{name}"][1]) for name in DOUBT},
    SEEN: Column(SEEN_SHARE, "percent"),
    "disagreement_n_m": Column("largest difference of four formulations from the trial's stored joint moments", "N m"),
    **{
        f"forward_closure_{joint}_deg": Column(f"{_CLOSURE} {joint}, of trial and side", "degree")
        for joint in ("ankle", "knee", "hip")
    },
    "energy_closure_w": Column("largest error of the energy balance of a segment, of trial and side", "W"),
    **{name: Column(long_name, units) for name, (units, long_name) in (RESIDUALS | KNEE_AXIS).items()},
    **{name: Column(f"{FACTS[name].long_name}, in the trial", "1") for name in REPAIRS},
}
_OF_METRICS = {
    "cycle": Column("number of the gait cycle in study.nc; empty for a stance without one"),
    "part": Column(
        "what the row is", "", {"cycle": "a gait cycle", "stance": "a stance without a whole gait cycle, in no mean"}
    ),
    "side": Column(COORDINATES["side"][1], "", dict.fromkeys(SIDES, "")),
    "kinetics_valid": Column(
        COORDINATES["kinetics_valid"][1], "", {"True": "used", "False": "not used, see reason or doubt"}
    ),
    "sex": Column("column sex of participants.tsv", "", {"M": "male", "F": "female"}),
    DOUBTED_NUMBERS: Column(
        "metrics of kinetics that are doubted and not used, which have no cell of their own in the row, JSON: name and "
        "number, in the units of the metric; doubt_code says why"
    ),
}
_OF_MEANS = {
    "cycles": Column("number of gait cycles", "1"),
    "cycles_doubted": Column("number of gait cycles with doubted kinetics", "1"),
    "cycles_accepted_by_hand": Column(
        "number of gait cycles with kinetics accepted by hand, which are in the means", "1"
    ),
    "stances_alone": Column("number of stances without a whole gait cycle, rows of metrics.csv, in no mean", "1"),
}
_OF_SYMMETRY = {
    "metric": Column("metric, as in metrics.csv", "", {name: metric.long_name for name, metric in NUMBERS.items()}),
    "kind": Column("what the metric is compared by", "", KINDS),
    **{side: Column(f"mean of the {side} side, in the row's units") for side in SIDES},
    "difference": Column("right minus left, in the row's units; of phases the shorter way round, -50 to 50"),
    "difference_u": Column("standard uncertainty of the difference, in which errors that both sides share cancel"),
    "units": Column("units of the metric"),
    "symmetry_index": Column(
        "100 (R - L) / ((R + L) / 2) of the sizes of the means of the sides (Robinson et al. 1987): 0 if equal, "
        "positive if the right side is larger; empty unless kind is size",
        "percent",
    ),
}
IN_THE_UNITS_OF_THE_ROW = (*SIDES, "difference", "difference_u")  # numbers of symmetry.csv without units of their own
_OF_EXPORT = {
    **{name: _OF_METRICS[name] for name in ("side", "kinetics_valid", "sex")},
    "doubt_code": Column(COORDINATES["doubt_code"][1]),
    "cycle": Column("number of the gait cycle in study.nc; empty for a stance"),
    "stance": Column("number of the stance in study.nc; empty for a gait cycle"),
    "variable": Column("variable of study.nc"),
    "value": Column("value of the variable, in the row's units; empty if missing, or of kinetics that are not used"),
    "doubted_value": Column("value of kinetics that are doubted and not used, in the row's units; empty otherwise"),
    "units": Column("units of the value"),
}
OWN_COLUMNS = {  # besides those of metrics and of participants.tsv
    "metrics": _OF_METRICS,
    "participants": _OF_METRICS | _OF_MEANS,
    "symmetry": _OF_METRICS | _OF_SYMMETRY,
    "quality": QUALITY
    | {
        CORRECTED: Column("corrections by hand that touch the stance, of corrections.tsv; empty without one"),
        CORRECTIONS: Column("the same rows of corrections.tsv, JSON"),
        NOT_CORRECTED: Column("rows of corrections.tsv for the trial that are not applied, each with the reason, JSON"),
    },
    "study": _OF_EXPORT,
}
# names that a column of participants.tsv cannot have, because study.nc or a table has them
RESERVED = frozenset(
    (
        *("part", SEEN, DOUBTED_NUMBERS, *STUDY, *IN_STUDY),
        *(*STANCE_IDENTITY, *(f"{name}{STANCE}" for name in STANCE_IDENTITY)),
        *(dim for variable in STUDY.values() for dim in variable.dims),
        *(*_OF_MEANS, *_OF_SYMMETRY, *(f"{name}{ending}" for name in NUMBERS for ending in ENDINGS)),
    )
)


def data_dictionary(
    table: str, columns: Iterable[str], *, own: Mapping[str, Column] | None = None
) -> dict[str, dict[str, Any]]:
    """Return what each column of a table means: LongName, Description, Units, Levels; of metrics more.

    Args:
        own: columns of a table that OWN_COLUMNS lacks.
    """
    return {name: _column(table, name, own) for name in columns}


def as_json(dictionary: Mapping[str, Any]) -> bytes:
    """Return a data dictionary as JSON."""
    return (json.dumps(dictionary, indent=2, ensure_ascii=False) + "\n").encode()


def _column(table: str, name: str, own: Mapping[str, Column] | None) -> dict[str, Any]:
    columns = OWN_COLUMNS[table] if own is None else own
    if name in columns:
        return _entry(name, columns[name])
    if metric := NUMBERS.get(name):
        statistic = "mean over the cycles: " if table == "participants" else ""
        about = {"Kind": metric.kind, "Window": metric.window.words, "Positive": metric.positive}
        column = Column(statistic + metric.long_name, metric.units)
        return _entry(name, column, **about, Source=metric.source, Aliases=[*metric.aliases])
    for ending, statistic in ENDINGS.items():
        if name.endswith(ending) and (metric := NUMBERS.get(name.removesuffix(ending))):
            units = metric.units if ending != "_n" else "1"
            return _entry(name, Column(statistic + metric.long_name, units))
    if name in COORDINATES:
        units, description = COORDINATES[name]
        return _entry(name, Column(description, units))
    units = next((unit for ending, unit in COLUMN_UNITS.items() if name.endswith(ending)), "")
    return _entry(name, Column(about_column(name), units))


def _entry(name: str, column: Column, **more: Any) -> dict[str, Any]:
    entry = {"LongName": name.replace("_", " ").capitalize(), "Description": column.description}
    more = {"Units": column.units, "Levels": dict(column.levels), **more}
    return entry | {key: value for key, value in more.items() if value}


def find_metric(text: str) -> list[str]:
    """Return the names of the metrics that a text means, best first: ``find_metric("KAM")``.

    Each name is a variable of study.nc and a column of metrics.csv.

    Args:
        text: a name, an alias that the field uses (KAM, A2, "gait speed"), or words of the meaning; capitals, "_" and
            "-" do not matter.

    Returns:
        The names, those that are known by just this text first.

    Raises:
        UserError: no metric is known by it.

    Example:
        >>> from gaitlab import load_study
        >>> find_metric("KAM")[0]
        'peak_knee_abductor_moment'
        >>> study = load_study("data/demo")
        >>> [study[name].units for name in find_metric("first peak knee adduction moment")]
        ['N m kg-1']
        >>> peaks = study[find_metric("knee adduction moment")]  # all of them, along ``cycle``
    """
    wanted = _plain(text)
    ranks = {name: _rank(wanted, name, metric) for name, metric in NUMBERS.items()}
    names = [name for name, rank in ranks.items() if rank is not None]
    if not wanted or not names:
        terms = [*NUMBERS, *(alias for metric in NUMBERS.values() for alias in metric.aliases)]
        remedy = nearest(text, terms) or "see derived/metrics.json, or outputs.md"
        raise UserError("find_metric", f"no metric is known as {text!r}", remedy)
    return sorted(names, key=lambda name: (ranks[name], NUMBERS[name].kind == "phase"))


def _rank(wanted: str, name: str, metric: Metric) -> int | None:
    """Return how well a metric fits, 0 best; None if it does not.

    All words are begun by words of the name and the aliases, so that KAM finds KAM1 and KAM2, or of the meaning.
    """
    names = [_plain(name), *map(_plain, metric.aliases)]
    if wanted in names:
        return 0
    for rank, within in enumerate((names, [" ".join([*names, _plain(metric.long_name)])]), start=1):
        if any(all(f" {word}" in f" {one}" for word in wanted.split()) for one in within):
            return rank
    return None


def _plain(text: str) -> str:
    """Return a text in lower case, its words separated by one blank."""
    return " ".join(re.split(r"[\W_]+", text.lower())).strip()
