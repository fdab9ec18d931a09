"""Step ``study``: all gait cycles in one dataset, tables of metrics and quality."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ...conventions import ANGLES, JOINTS
from ...results.averages import participant_means, symmetry
from ...results.cycle_variables import CURVES, CYCLES, IDENTITY
from ...results.metrics import METRICS, SCORES
from ...results.schema import REPAIRS, Group, separate_metrics
from ...tables.tsv import ABSENT
from .gait_scores import reference_gait, scores

QUALITY = (
    "participant", "session", "trial", "condition", "side", "start_s", "end_s", "plates", "verdict", "reason",
    "disagreement_n_m", "forward_closure_ankle_deg", "forward_closure_knee_deg", "forward_closure_hip_deg",
    "energy_closure_w", *REPAIRS,
)  # fmt: skip
LABELS = {dim for variable in CYCLES.values() for dim in variable.dims} | {"metric_units"}  # the same in all trials
STANCE = ("side", "start", "end", "plates", "reason", "disagreement", "forward_closure", "energy_closure")
USED_ATTRIBUTES = ("rejected", *REPAIRS)  # of a trial in cycles.nc
NOT_COORDINATES = ("participant_id", "guessed")  # columns of participants.tsv


def study(
    cycles: Mapping[str, Mapping[str, Group]],
    *,
    sessions: Mapping[str, Mapping[str, Any]],
    reference: xr.Dataset | str | None,
    gdi_features: int | None,
) -> tuple[xr.Dataset, pd.DataFrame, pd.DataFrame]:
    """Gather the cycles of all sessions.

    Args:
        cycles: trials by name, by session; a rejected trial has the attribute ``rejected``.
        sessions: per session the participant's row of participants.tsv and, per trial, its condition and role.
        reference: for the gait scores, the study.nc of other people or the text of a table of their mean curves.
        gdi_features: number of features of the Gait Deviation Index; None for all directions.

    Returns:
        study.nc: curves and metrics along ``cycle``, with participant, session, trial, condition, side, times,
        validity and every column of participants.tsv as coordinates. metrics.csv: one row per cycle.
        quality.csv: one row per stance, or per rejected trial: used or rejected, the reason, the largest disagreement
        of the trial's formulations, the closures of the side, and the counts of repaired marker samples of the trial.

    Raises:
        UserError: the reference cannot be used.
    """
    used = [
        (session, trial, group.variables)
        for session, trial, group in _trials(cycles)
        if "rejected" not in group.attrs and group.variables["start_time"].size
    ]
    columns = [name for name in next(iter(sessions.values()))["participant"] if name not in NOT_COORDINATES]
    labels = {
        name: variable
        for *_, group in _trials(cycles)
        for name, variable in group.variables.items()
        if variable.dims == (name,)
    }
    dataset = _gathered(used, labels, sessions, columns) if used else _empty()
    if reference is not None:
        found = scores(dataset, reference_gait(reference), gdi_features=gdi_features)
        dataset = dataset.assign({name: ("cycle", values) for name, values in found.items()})
    names = [*METRICS, *(name for name in SCORES if name in dataset)]
    order = ["cycle", *IDENTITY, *columns, *names]
    # a study without cycles lacks the columns of participants.tsv
    known = {name: dataset.variables[name].values for name in order if name in dataset.variables}
    return dataset, pd.DataFrame(known).reindex(columns=order), _quality(cycles, sessions)


def per_participant(metrics: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables participants.csv and symmetry.csv from metrics.csv."""
    names = [*METRICS, *(name for name in SCORES if name in metrics)]
    means = participant_means(metrics, names)
    return means, symmetry(means, names)


def _trials(cycles: Mapping[str, Mapping[str, Group]]) -> Iterator[tuple[str, str, Group]]:
    for session, trials in cycles.items():
        for trial, group in trials.items():
            yield session, trial, group


def _gathered(
    used: Sequence[tuple[str, str, Mapping[Any, xr.Variable]]],
    labels: Mapping[Any, xr.Variable],
    sessions: Mapping[str, Mapping[str, Any]],
    columns: Sequence[str],
) -> xr.Dataset:
    """Return the cycles of all trials (session, trial, variables), concatenated."""
    identity = [
        {
            "participant": sessions[session]["participant"]["participant_id"],
            "session": session,
            "trial": trial,
            "condition": sessions[session]["trials"][trial]["condition"],
        }
        for session, trial, _ in used
    ]
    cells = {name: np.array([row[name] for row in identity]) for name in identity[0]}
    cells |= {name: _typed([str(sessions[session]["participant"][name]) for session, *_ in used]) for name in columns}
    count = [len(trial["start_time"]) for *_, trial in used]
    variables: dict[Any, Any] = {}
    coordinates: dict[Any, Any] = {name: each for name, each in labels.items() if name not in ("segment", "metric")}
    for name, first in used[0][2].items():
        if first.dims[:1] == ("cycle",):
            values = np.concatenate([trial[name].values for *_, trial in used])
            (coordinates if name in IDENTITY else variables)[name] = (first.dims, values)
    variables |= separate_metrics(labels["metric"].values, variables.pop("metric_value")[1])
    coordinates |= {name: ("cycle", np.repeat(column, count)) for name, column in cells.items()}
    coordinates["cycle"] = np.arange(sum(count), dtype=np.int32)
    return xr.Dataset(variables, coordinates)


def _typed(cells: list[str]) -> Any:
    """Return a column as numbers if all its cells are numbers or absent, else as text."""
    try:
        return np.array([np.nan if cell.lower() in ABSENT else float(cell) for cell in cells])
    except ValueError:
        return np.array(cells, dtype=str)


def _quality(cycles: Mapping[str, Mapping[str, Group]], sessions: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    rows: list[list[Any]] = []
    for session, trial, group in _trials(cycles):
        about = sessions[session]
        own = [about["participant"]["participant_id"], session, trial, about["trials"][trial]["condition"]]
        if "rejected" in group.attrs:
            unknown = [pd.NA] * (len(QUALITY) - 10)
            rows.append([*own, "", np.nan, np.nan, "", "rejected", group.attrs["rejected"], *unknown])
            continue
        sides, starts, ends, plates, reasons, disagreements, forward, energy = (
            group.variables[f"stance_{name}"].values for name in STANCE
        )
        checks = np.column_stack([disagreements, forward, np.fmax.reduce(energy, axis=1)])
        rows += [
            [*own, side, round(start, 4), round(end, 4), plate, "rejected" if reason else "used", reason]
            + [float(f"{check:.2e}") for check in found]  # significant digits
            + [group.attrs.get(name, pd.NA) for name in REPAIRS]
            for side, start, end, plate, reason, found in zip(
                *(values.tolist() for values in (sides, starts, ends, plates, reasons, checks)), strict=True
            )
        ]
    kinds = dict.fromkeys(QUALITY[10:], "Float64") | dict.fromkeys(REPAIRS, "Int64")
    return pd.DataFrame(rows, columns=list(QUALITY)).astype(kinds)


def _empty() -> xr.Dataset:
    """Return a dataset without cycles, for a study without a usable trial."""
    labels: dict[str, Any] = {"joint": JOINTS, "angle": ANGLES, "axis": "xyz", "phase": np.arange(101.0)}
    labels = {"cycle": np.array([], dtype=np.int32)} | {name: [*values] for name, values in labels.items()}
    variables = {
        name: (variable.dims, np.empty([len(labels[dim]) for dim in variable.dims]))
        for name, variable in (CURVES | METRICS).items()
    }
    kinds = {"start_time": float, "end_time": float, "kinetics_valid": bool}
    identity = {name: ("cycle", np.array([], dtype=kinds.get(name, "U1"))) for name in IDENTITY}
    return xr.Dataset(variables, identity | labels)
