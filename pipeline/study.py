"""Step ``study``: the cycles of every session in one dataset, the metrics and the quality as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.gait_scores import reference_gait, scores
from pipeline.participant_means import participant_means, symmetry
from pipeline.tables import ABSENT
from pipeline.vocabulary import METRICS, REPAIRS, SCORES

IDENTITY = (
    "participant",
    "session",
    "trial",
    "condition",
    "side",
    "start_time",
    "end_time",
    "kinetics_valid",
    "reason",
)
QUALITY = (
    "participant", "session", "trial", "condition", "side", "start_s", "end_s", "plates", "verdict", "reason",
    "disagreement_n_m", "forward_closure_ankle_deg", "forward_closure_knee_deg", "forward_closure_hip_deg",
    "energy_closure_w", *REPAIRS,
)  # fmt: skip
NOT_COORDINATES = ("participant_id", "guessed")


def study(
    cycles: Mapping[str, Mapping[str, xr.Dataset]],
    *,
    sessions: Mapping[str, Mapping[str, Any]],
    reference: xr.Dataset | str | None,
    gdi_features: int | None,
) -> tuple[xr.Dataset, pd.DataFrame, pd.DataFrame]:
    """Gather every session.

    Args:
        cycles: trials by name, by session; a rejected trial is a group with the attribute ``rejected``.
        sessions: per session the participant's row of participants.tsv and, per trial, its condition and role.
        reference: other people's study.nc, or the text of a table of their mean curves, for the gait scores.
        gdi_features: number of features of the Gait Deviation Index; None for all directions.

    Returns:
        study.nc: curves and metrics along ``cycle``, with participant, session, trial, condition, side, times,
        validity and every column of participants.tsv as coordinates. metrics.csv: one row per cycle.
        quality.csv: one row per trial, side and stance, used or rejected and why, with the largest disagreement of
        the formulations of the trial, the closures of the side, and how many marker samples of the trial were mended
        and how; a rejected trial is one row.

    Raises:
        UserError: the reference cannot be used.
    """
    parts = []
    for session, trial, group in _trials(cycles):
        if "rejected" in group.attrs or not group.sizes["cycle"]:
            continue
        part = group.drop_dims(["stance", "segment"])
        count = part.sizes["cycle"]
        about = sessions[session]
        own = {
            "participant": about["participant"]["participant_id"],
            "session": session,
            "trial": trial,
            "condition": about["trials"][trial]["condition"],
        }
        columns = {name: text for name, text in about["participant"].items() if name not in NOT_COORDINATES}
        parts.append(part.assign_coords({name: ("cycle", [text] * count) for name, text in (own | columns).items()}))
    dataset = xr.concat(parts, dim="cycle", combine_attrs="drop") if parts else _empty()
    dataset = dataset.assign_coords(cycle=np.arange(dataset.sizes["cycle"], dtype=np.int32))
    columns = next(iter(sessions.values()))["participant"]
    for name in columns:
        if name in dataset.coords:
            dataset = dataset.assign_coords({name: ("cycle", _typed([str(v) for v in dataset[name].values]))})
    if reference is not None:
        found = scores(dataset, reference_gait(reference), gdi_features=gdi_features)
        dataset = dataset.assign({name: ("cycle", values) for name, values in found.items()})
    names = [*METRICS, *(name for name in SCORES if name in dataset)]
    metrics = dataset[names].to_dataframe().reset_index()
    order = ["cycle", *IDENTITY, *(name for name in columns if name not in NOT_COORDINATES), *names]
    return dataset, metrics.reindex(columns=order), _quality(cycles, sessions)


def per_participant(metrics: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return participants.csv, means of each side, and symmetry.csv, the symmetry index, from metrics.csv."""
    names = [*METRICS, *(name for name in SCORES if name in metrics)]
    means = participant_means(metrics, names)
    return means, symmetry(means, names)


def _trials(cycles: Mapping[str, Mapping[str, xr.Dataset]]) -> Iterator[tuple[str, str, xr.Dataset]]:
    for session, trials in cycles.items():
        for trial, group in trials.items():
            yield session, trial, group


def _typed(cells: list[str]) -> Any:
    """Return a column as numbers where all its cells are numbers or absent, else as text."""
    try:
        return np.array([np.nan if cell.lower() in ABSENT else float(cell) for cell in cells])
    except ValueError:
        return np.array(cells, dtype=str)


def _quality(cycles: Mapping[str, Mapping[str, xr.Dataset]], sessions: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    rows = []
    for session, trial, group in _trials(cycles):
        about = sessions[session]
        own = [about["participant"]["participant_id"], session, trial, about["trials"][trial]["condition"]]
        if "rejected" in group.attrs:
            rows.append(
                [*own, "", np.nan, np.nan, "", "rejected", group.attrs["rejected"], *[pd.NA] * (len(QUALITY) - 10)]
            )
            continue
        for i in range(group.sizes["stance"]):
            row = group.isel(stance=i)
            reason = str(row.stance_reason.item())
            rows.append(
                [
                    *own,
                    str(row.stance_side.item()),
                    round(float(row.stance_start), 4),
                    round(float(row.stance_end), 4),
                    str(row.stance_plates.item()),
                    "rejected" if reason else "used",
                    reason,
                    *(_short(value) for value in (row.stance_disagreement, *row.stance_forward_closure.values)),
                    _short(row.stance_energy_closure.max()),
                    *(group.attrs.get(name, pd.NA) for name in REPAIRS),
                ]
            )
    kinds = dict.fromkeys(QUALITY[10:], "Float64") | dict.fromkeys(REPAIRS, "Int64")
    return pd.DataFrame(rows, columns=list(QUALITY)).astype(kinds)


def _short(value: Any) -> float:
    """Return a check with the digits that mean something."""
    return float(f"{float(value):.2e}")


def _empty() -> xr.Dataset:
    """Return a dataset of no cycles, so that a study without a usable trial still has its files."""
    from pipeline.vocabulary import ON_REQUEST, VARIABLES

    sizes = {"cycle": 0, "joint": 3, "angle": 3, "axis": 3, "phase": 101}
    variables = {
        name: (variable.dims, np.empty([sizes[dim] for dim in variable.dims]))
        for name, variable in VARIABLES["study"].items()
        if name not in (*ON_REQUEST, *SCORES)
    }
    text = np.array([], dtype="U1")
    coordinates: dict[str, Any] = dict.fromkeys(IDENTITY, ("cycle", text))
    coordinates |= {name: ("cycle", np.array([])) for name in ("start_time", "end_time")}
    coordinates["kinetics_valid"] = ("cycle", np.array([], dtype=bool))
    names = {"joint": ["ankle", "knee", "hip"], "angle": ["flexion", "adduction", "rotation"], "axis": list("xyz")}
    return xr.Dataset(variables, coordinates | names | {"phase": np.arange(101.0)})
