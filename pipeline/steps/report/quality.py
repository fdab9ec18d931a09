"""The quality tables of the report: what was rejected and why, what was filled, how well the kinetics check."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...results.schema import REPAIRS
from .tables import ABSENT, Row, Table, has_kinetics, rejected_trials

CHECKS = {
    "disagreement_n_m": "Formulations differ by, N m",
    "forward_closure_ankle_deg": "Forward closure: ankle, deg",
    "forward_closure_knee_deg": "knee, deg",
    "forward_closure_hip_deg": "hip, deg",
    "energy_closure_w": "Energy closure, W",
}
FILLED = tuple(name for name in REPAIRS if name.startswith("filled_by_"))
OTHER_REPAIRS = {
    "spikes removed": "spikes_removed",
    "labels exchanged back": "labels_exchanged_back",
    "plates left out": "plates_left_out",
}
# attributes of clean.nc that the report tells of each trial
TOLD = ("source", "source_sha256", "filled_frames", *FILLED, *OTHER_REPAIRS.values())
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\.?\w)")  # but not one within a name, as of a file
Trials = Mapping[str, Mapping[str, Mapping[str, Any]]]


def rejected(quality: list[Row]) -> Table:
    """Return one row per trial that lost something: whole, or the stances that were not used, each with its reason."""
    rows = []
    for trial, mine in _by_trial(quality).items():
        lost = [row for row in mine if row["verdict"] == "rejected"]
        if not lost:
            continue
        if not mine[0]["side"]:
            rows.append([*trial, "whole trial", mine[0]["reason"]])
            continue
        stances: dict[str, list[str]] = {}
        for row in lost:
            stances.setdefault(row["reason"], []).append(_stance(row))
        why = "; ".join(f"{reason}: {', '.join(which)}" for reason, which in stances.items())
        rows.append([*trial, f"{len(lost)} of {len(mine)} stances", why])
    rows.sort(key=lambda row: row[2] != "whole trial")  # stable: whole trials first
    return Table(["Session", "Trial", "Rejected", "Why, and which"], rows)


def checks(quality: list[Row], clean: Trials) -> Table:
    """Return one row per trial that was worked through: what was mended, and the checks, the worse side of each."""
    rows = []
    for trial, mine in _by_trial(quality).items():
        if mine[0]["side"]:
            cells = [[float(row[name] or "nan") for name in CHECKS] for row in mine]
            about = clean.get(trial[0], {}).get(trial[1], {})
            rows.append(
                [*trial, _filled(about), _notes(about), *(_worst(column) for column in zip(*cells, strict=True))]
            )
    return Table(["Session", "Trial", "Marker samples filled", "Other repairs", *CHECKS.values()], rows)


def reasons(cycles: list[Row], quality: list[Row]) -> Table:
    """Return how many trials, stances and cycles each reason cost; those that differ in numbers are one."""
    trials = Counter(_kind(row) for row in rejected_trials(quality))
    stances = Counter(_kind(row) for row in quality if row["verdict"] == "rejected" and row["side"])
    lost = Counter(_kind(row) for row in cycles if not has_kinetics(row))
    order = (trials + stances + lost).most_common()
    return Table(
        ["Reason", "Trials", "Stances", "Cycles without kinetics"],
        [[reason, str(trials[reason]), str(stances[reason]), str(lost[reason])] for reason, _ in order],
    )


def sources(clean: Trials, sessions: Iterable[str]) -> Table:
    """Return the walking trials' files of some sessions with their SHA-256."""
    files = {
        str(about["source"]): str(about.get("source_sha256", ""))
        for session in sessions
        for about in clean.get(session, {}).values()
        if "source" in about
    }
    return Table(["File", "SHA-256"], [list(item) for item in sorted(files.items())])


def _by_trial(quality: list[Row]) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for row in quality:
        found.setdefault((row["session"], row["trial"]), []).append(row)
    return found


def _stance(row: Row) -> str:
    plates = f" on plate {row['plates']}" if row["plates"] else ""
    return f"{row['side']} {float(row['start_s']):.2f} to {float(row['end_s']):.2f} s{plates}"


def _filled(about: Mapping[str, Any]) -> str:
    """Return how many marker samples were filled, and how where that is known: ``17 (12 spline, 5 cluster)``."""
    how = [f"{about[name]} {name.removeprefix('filled_by_')}" for name in FILLED if about.get(name)]
    return str(about.get("filled_frames", ABSENT)) + (f" ({', '.join(how)})" if how else "")


def _notes(about: Mapping[str, Any]) -> str:
    return "; ".join(f"{what}: {about[name]}" for what, name in OTHER_REPAIRS.items() if about.get(name)) or "none"


def _worst(column: Iterable[float]) -> str:
    known = [value for value in column if np.isfinite(value)]
    return f"{max(known):.1g}" if known else ABSENT


def _kind(row: Row) -> str:
    return NUMBER.sub("…", row["reason"])
