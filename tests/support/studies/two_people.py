"""Known cycles of two people, and the step ``study`` applied to them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from pipeline.steps.study.step import study
from pipeline.trials.session import join_trials
from pipeline.variables.cycle_variables import (
    CURVES,
    JOINED,
    KNEE_AXIS,
    ON_REQUEST,
    RESIDUALS,
    WITH_DRAWS,
    WITH_EMG,
    WITH_TRUNK,
)
from pipeline.variables.metrics import CO_CONTRACTION, JOINED_METRICS, METRICS, SCORES
from pipeline.variables.rows import DOUBT
from pipeline.variables.schema import stack_metrics
from pipeline.variables.stance_verdicts import Verdict, as_text
from tests.support.settings import settings_of
from tests.support.studies.rejected import rejection
from tests.support.studies.step_results import UNREPAIRED, as_loaded, constant_stances

Array = NDArray[np.float64]
Trials = dict[str, dict[str, xr.Dataset]]

ABSENT = (*ON_REQUEST, *SCORES, *CO_CONTRACTION, *WITH_DRAWS, *WITH_EMG, *WITH_TRUNK, *JOINED, *JOINED_METRICS)
ALONE: dict[str, Any] = {"settings": settings_of("study", reference=None, gdi_features=15)}
NAMES: dict[str, Any] = {
    "joint": ["ankle", "knee", "hip"], "segment": ["foot", "shank", "thigh"], "axis": list("xyz"),
    "angle": ["flexion", "adduction", "rotation"], "phase": np.arange(101.0), "stance_phase": np.arange(101.0),
    "load": ["force", "moment"],
    "cause": ["ankle", "knee", "hip", "pelvis", "translation"], "motion": ["acceleration", "velocity"],
}  # fmt: skip
PEOPLE = {
    "p1": {"participant_id": "p1", "mass_kg": "70.5", "height_m": "1.8", "sex": "M", "age_years": "31", "group": "a"},
    "p2": {"participant_id": "p2", "mass_kg": "60", "height_m": "n/a", "sex": "F", "age_years": "", "group": "7"},
}
PERSON = {"s1": "p1", "s2": "p2"}  # by session


def trial(
    level: float,
    sides: str,
    *,
    invalid: tuple[int, ...] = (),
    doubted: tuple[int, ...] = (),
    further: tuple[str, ...] = (),
    alone: bool = False,
) -> xr.Dataset:
    """Return a trial of cycles.nc: cycle ``i`` is ``level + i``, and so is its stance; sides as in ``rlr``.

    A last stance, of the right foot, has no cycle, and no kinetics unless ``alone``. Checks of a stance: disagreement
    ``level`` * 1e-9, forward closure 1, 2, 3 degrees, energy closure 4, 6, 5 W, all with more digits than mean
    something. Doubted cycles keep their kinetics, but are in no mean. ``further`` names curves on request.
    """
    values = level + np.arange(float(len(sides)))
    reason = np.array(["two feet on the plate" if i in invalid else "" for i in range(len(sides))], dtype=str)
    side = np.array([{"r": "right", "l": "left"}[letter] for letter in sides], dtype=str)
    curves, (metrics, names) = _curves(values, further), stack_metrics(dict.fromkeys(METRICS, values))
    two = ("hot; wet", "h w", as_text([Verdict("h", {}), Verdict("w", {})]))
    doubts = [np.array([text if i in doubted else "" for i in range(len(sides))]) for text in two]
    of_cycles = dict(zip(DOUBT, doubts, strict=True))
    codes = np.append(np.where(reason, "two_feet_on_plate", ""), "" if alone else "no_plate")
    reason_values = np.array([as_text([Verdict.of(str(code))]) if code else "" for code in codes])
    starts, used = np.append(values, level + len(sides)), np.append(reason == "", alone)
    for name in ("joint_moment_jcs", "joint_power"):
        curves[name][1][list(invalid)] = np.nan
    dims = {dim for dims, _ in curves.values() for dim in dims[1:]} | {"segment", "stance_phase"}
    own = {
        "side": ("cycle", side), "start_time": ("cycle", values), "end_time": ("cycle", values + 1),
        "kinetics_valid": ("cycle", (reason == "") & (doubts[0] == "")), "reason": ("cycle", reason),
        "stance_side": ("stance", np.append(side, "right")),
        "stance_plates": ("stance", np.append(np.full(len(sides), "1 2"), "")),
        **{name: ("cycle", texts) for name, texts in of_cycles.items()},
        **{f"stance_{name}": ("stance", np.append(texts, "")) for name, texts in of_cycles.items()},
        "stance_reason": ("stance", np.append(reason, "" if alone else "no plate")),
        "stance_code": ("stance", codes), "stance_reason_values": ("stance", reason_values),
        "reason_code": ("cycle", codes[:-1]), "reason_values": ("cycle", reason_values[:-1]),
    }  # fmt: skip
    coordinates = names | {name: NAMES[name] for name in NAMES if name in dims} | own
    of_stances = constant_stances(np.where(used, starts, np.nan))
    of_stances["stance_used"] = ("stance", used & (np.append(doubts[0], "") == ""))
    return xr.Dataset(curves | metrics | of_stances | _checks(level, starts), coordinates, UNREPAIRED)


def _curves(values: Array, further: tuple[str, ...]) -> dict[str, tuple[tuple[str, ...], Array]]:
    """Return dimensions and values of every curve, constant over a cycle."""
    curves = {}
    for name, variable in (CURVES | {name: ON_REQUEST[name] for name in further}).items():
        shape = [len(values), *(len(NAMES[dim]) for dim in variable.dims[1:])]
        curves[name] = (variable.dims, np.broadcast_to(values.reshape(-1, *[1] * (len(shape) - 1)), shape).copy())
    return curves


def _checks(level: float, start: Array) -> dict[str, Any]:
    """Return the checks of the stances, given their starts."""
    count = len(start)
    return {
        "stance_start": ("stance", start), "stance_end": ("stance", start + 0.61234567),
        "stance_seen_percent": ("stance", np.full(count, 90.0)),
        "stance_disagreement": ("stance", np.full(count, level * 1.0001e-9)),
        "stance_forward_closure": (("stance", "joint"), np.tile([1.0001, 2.0001, 3.0001], (count, 1))),
        "stance_energy_closure": (("stance", "segment"), np.tile([4.0001, 6.0001, 5.0001], (count, 1))),
        **{f"stance_{name}": ("stance", np.full(count, 7.0001 + i)) for i, name in enumerate(RESIDUALS | KNEE_AXIS)},
    }  # fmt: skip


LOST = rejection("cut off: 3 bytes", {}).dataset()
CYCLES: Trials = {
    "s1": {"fast_1": trial(10, "rl"), "slow_1": trial(20, "rlr", invalid=(1,)), "lost": LOST},
    "s2": {"fast_1": trial(30, "lr"), "none": trial(0, "")},
}


def sessions(cycles: Trials = CYCLES, /, **columns: str) -> dict[str, dict[str, Any]]:
    """Return the table rows of trials named condition_number, with more columns."""
    return {
        session: {
            "participant": PEOPLE[PERSON[session]] | columns,
            "trials": {name: {"condition": name.partition("_")[0], "role": "gait"} for name in trials},
        }
        for session, trials in cycles.items()
    }


def stored(cycles: Trials) -> dict[str, xr.Dataset]:
    """Return the content of cycles.nc by session."""
    return {session: as_loaded("cycles", join_trials(trials)) for session, trials in cycles.items()}


@cache
def gathered() -> tuple[xr.Dataset, pd.DataFrame, pd.DataFrame]:
    """Return the study of :data:`CYCLES`, its tables of metrics and quality."""
    return study(stored(CYCLES), sessions=sessions(), **ALONE)
