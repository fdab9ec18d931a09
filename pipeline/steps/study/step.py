"""Step ``study``: all gait cycles and stances in one dataset, tables of metrics and quality."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ...conventions import ANGLES, JOINTS, LOADS, NO_STATIC, SAME_STRIKE_S
from ...json_text import from_text, to_text
from ...results.averages import (
    IS_PHASE,
    SESSION,
    errors_of,
    errors_of_means,
    participant_means,
    standard_uncertainty,
)
from ...results.symmetry import symmetry
from ...tables.corrections import WHY, in_results, in_words
from ...tables.csv_files import DIGITS
from ...tables.study_tables import columns_of_people
from ...tables.tsv import Row
from ...trials.session import facts_of_trials, spans_of
from ...variables.cycle_variables import (
    CURVES,
    CYCLE_METRICS,
    IDENTITY,
    IN_STUDY,
    KINETICS,
    KNEE_AXIS,
    LABELS_OF_TRUNK,
    RESIDUALS,
    SEEN,
    STANCE,
    STANCE_CURVES,
    STANCE_IDENTITY,
    STANCE_METRICS,
    STUDY,
    WITH_EMG,
    WITH_TRUNK,
)
from ...variables.data_dictionary import CORRECTED, CORRECTIONS, DOUBTED_NUMBERS, NOT_CORRECTED
from ...variables.data_dictionary import QUALITY as QUALITY_COLUMNS
from ...variables.metrics import JOINED_METRICS, METRICS, OF_STANCE, SCORES, WITH_ERRORS, co_contraction_name
from ...variables.metrics import NUMBERS as NUMBERS_OF_CYCLES
from ...variables.rows import DOUBT
from ...variables.schema import REPAIRS, separate_metrics
from ...variables.stance_verdicts import (
    BETWEEN_WORDS,
    NOT_ON_A_PLATE,
    REFUSED,
    Verdict,
    as_text,
    is_accepted,
    verdict_of,
)
from ...variables.verdict_table import VERDICTS
from ...vocabulary.muscle_names import in_order
from .gait_scores import score_cycles
from .reference import Reference
from .settings import Settings

QUALITY = tuple(QUALITY_COLUMNS)
NUMBERS = QUALITY[QUALITY.index(DOUBT[-1]) + 1 :]  # checks of a stance, then repairs of its trial
WITHOUT_MODEL = VERDICTS[NO_STATIC].sentence  # the reason of stances of which only the ground force is known
LABELS = [*dict.fromkeys(dim for variable in STUDY.values() for dim in variable.dims if dim not in ("cycle", "stance"))]
Columns = Mapping[str, Mapping[str, Any]]  # of participants.tsv by name, their cells by session


def study(
    cycles: Mapping[str, xr.Dataset],
    *,
    settings: Settings,
    sessions: Mapping[str, Mapping[str, Any]],
    reference: Reference | None = None,
    columns: Columns | None = None,
    before: tuple[int, int] = (0, 0),
    emg_pairs: Sequence[str] = (),
    corrected: bool = False,
) -> tuple[xr.Dataset, pd.DataFrame, pd.DataFrame]:
    """Gather the cycles of sessions: of all, or of some of a study that is gathered part by part.

    Args:
        sessions: of the study, per session the participant's row of participants.tsv and, per trial, its condition and
            role.
        columns: as of :func:`columns_of` the sessions, which a part need not find again.
        before: number of cycles, and of whole stances, in the parts before.
        emg_pairs: pairs of muscles with co-contraction, as the setting ``cycles.emg_pairs`` names them.
        corrected: whether the study has corrections by hand, so that quality.csv has a column of them.

    Returns:
        study.nc, the variables of :data:`pipeline.variables.cycle_variables.STUDY`: along ``stance`` every stance with
        both ends and valid kinetics. metrics.csv: by session one row per cycle, then one per such stance without a
        whole cycle; kinetics that are not used are in no column of a metric. quality.csv: one row per stance, or per
        rejected trial (:data:`pipeline.variables.data_dictionary.QUALITY`).

    Raises:
        UserError: the reference cannot be used.
    """
    used = {session: data for session, data in cycles.items() if "stance" in data.dims}  # else all trials are rejected
    muscles, shapes = emg_of(used.values())
    used = {session: with_muscles(data, muscles, shapes) for session, data in used.items()}
    columns = columns_of(sessions) if columns is None else columns
    dataset = _gather(used, sessions, columns, before) if used else _empty()
    if reference is not None:
        scores, remarks = score_cycles(dataset, reference.curves, gdi_features=settings.gdi_features)
        about = {**reference.about, "remarks": [*reference.about.get("remarks", []), *remarks]}
        dataset = dataset.assign({name: ("cycle", values) for name, values in scores.items()})
        dataset.attrs["reference"] = to_text(about)
    names = [
        *METRICS,
        *(name for name in (*SCORES, *JOINED_METRICS) if name in dataset),
        *map(co_contraction_name, emg_pairs),
    ]
    if "metric_draw" in dataset:
        names = [each for name in names for each in (name, *([f"{name}_u"] if name in WITH_ERRORS else []))]
    order = ["cycle", "part", *IDENTITY, *columns, *names, DOUBTED_NUMBERS]
    return dataset, _rows(dataset, order, used), _quality(cycles, sessions, corrected=corrected)


def per_participant(
    metrics: pd.DataFrame, draws: xr.DataArray | None = None, *, corrected: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables participants.csv and symmetry.csv from metrics.csv.

    Args:
        draws: ``metric_draw`` of study.nc. The tables then have standard uncertainties.
        corrected: whether the study has corrections by hand, so that participants.csv counts what is accepted.
    """
    names = [name for name in NUMBERS_OF_CYCLES if name in metrics]
    about = participants_columns(metrics)
    means = participant_means(metrics, names, about)
    codes = metrics.doubt_code.fillna("")  # a metrics.csv that is read again has NaN
    doubted = (metrics.part == "cycle") & (codes != "")
    by_hand = doubted & codes.map(is_accepted).astype(bool)
    counted = {"cycles_doubted": doubted & ~by_hand} | ({"cycles_accepted_by_hand": by_hand} if corrected else {})
    for name, rows in counted.items():
        counts = rows.groupby([metrics[name] for name in (*SESSION, "side")], sort=False).sum()
        means.insert([*means].index("stances_alone"), name, counts.to_numpy(dtype=int))
    if draws is None:
        return means, symmetry(means, names, about)
    errors = np.full((len(metrics), len(names), draws.sizes["draw"]), np.nan)
    errors[metrics.part == "cycle", : len(METRICS)] = errors_of(
        draws.values, metrics.loc[metrics.part == "cycle", [*METRICS]].to_numpy(dtype=float), IS_PHASE
    )
    of_means = errors_of_means(errors, metrics, means)
    spread = dict(zip(METRICS, standard_uncertainty(of_means).T, strict=False))
    columns = {}
    for column, values in means.items():
        columns[column] = values
        if str(column).endswith("_n") and (name := str(column).removesuffix("_n")) in WITH_ERRORS:
            columns[f"{name}_u"] = spread[name]
    return pd.DataFrame(columns), symmetry(means, names, about, of_means)


def participants_columns(metrics: pd.DataFrame) -> list[str]:
    """Return the columns of participants.tsv in metrics.csv."""
    columns = [*map(str, metrics.columns)]
    return columns[columns.index(IDENTITY[-1]) + 1 : columns.index(next(iter(METRICS)))]


def columns_of(sessions: Mapping[str, Mapping[str, Any]]) -> Columns:
    """Return the columns of participants.tsv by session: numbers if all cells are numbers or absent, else text."""
    return columns_of_people({session: about["participant"] for session, about in sessions.items()})


def emg_of(parts: Iterable[xr.Dataset]) -> tuple[list[str], dict[str, tuple[int, ...]]]:
    """Return the muscles of sessions, or of parts of a study, in order, and the shapes of what only some have.

    These are those of a cycle's values of a muscle, and of a cycle's curves of trunk and arms.
    """
    parts = [*parts]
    have = [data for data in parts if "muscle" in data.dims]
    shapes = {name: data[name].shape[2:] for data in have for name in WITH_EMG if name in data}
    shapes |= {name: data[name].shape[1:] for data in parts for name in WITH_TRUNK if name in data}
    return in_order(muscle for data in have for muscle in data["muscle"].values.tolist()), shapes


def with_muscles(data: xr.Dataset, muscles: list[str], shapes: Mapping[str, tuple[int, ...]]) -> xr.Dataset:
    """Return a session, or a part of a study, with all of ``emg_of``, NaN where it lacks something."""
    count = data.sizes["cycle"]
    if lacks := [name for name in shapes if name in WITH_TRUNK and name not in data]:
        none = {name: (WITH_TRUNK[name].dims, np.full((count, *shapes[name]), np.nan)) for name in lacks}
        data = data.assign(none).assign_coords({**LABELS_OF_TRUNK, "axis": list("xyz"), "angle": list(ANGLES)})
    if not muscles or "muscle" in data.dims:
        return data.reindex(muscle=muscles) if muscles else data
    none = {
        name: (variable.dims, np.full((count, len(muscles), *shapes[name]), np.nan))
        for name, variable in WITH_EMG.items()
        if name in shapes
    }
    return data.assign(none).assign_coords(muscle=muscles)


def _gather(
    used: Mapping[str, xr.Dataset], sessions: Mapping[str, Mapping[str, Any]], columns: Columns, before: tuple[int, int]
) -> xr.Dataset:
    """Return the cycles of the sessions, concatenated; the arguments are those of :func:`study`."""
    trials = {session: data.variables["cycle_trial"].values for session, data in used.items()}
    cells = _cells(used, trials, sessions, columns)
    first, *_ = used.values()
    variables: dict[Any, Any] = {}
    coordinates: dict[Any, Any] = {name: first.variables[name] for name in LABELS if name in first.variables}
    for key, variable in first.variables.items():
        if variable.dims[:1] == ("cycle",) and key != "cycle_trial":
            values = np.concatenate([data.variables[key].values for data in used.values()])
            (coordinates if key in IN_STUDY else variables)[key] = (variable.dims, values)
    variables |= separate_metrics(first.variables["metric"].values, variables.pop("metric_value")[1])
    coordinates |= {name: ("cycle", values) for name, values in cells.items()}
    coordinates["cycle"] = before[0] + np.arange(sum(map(len, trials.values())), dtype=np.int32)
    of_stances, about_stances = _stances(used, sessions, columns, before)
    return xr.Dataset(variables | of_stances, coordinates | about_stances)


def _cells(
    used: Mapping[str, xr.Dataset],
    trials: Mapping[str, NDArray[np.intp]],
    sessions: Mapping[str, Mapping[str, Any]],
    columns: Columns,
) -> dict[str, NDArray[Any]]:
    """Return participant, session, trial, condition and columns of participants.tsv of the sessions' rows.

    Sizes of sessions in sessions.tsv are those that were used.
    """
    identity = [
        (about["participant"]["participant_id"], session, trial, about["trials"][trial]["condition"])
        for session, data in used.items()
        for about in [sessions[session]]
        for trial in data.variables["trial"].values[trials[session]].tolist()
    ]
    cells = dict(zip(IDENTITY, np.array(identity, dtype=str).reshape(-1, 4).T, strict=False))
    sizes = {session: dict(from_text(data.attrs.get("session_sizes", ""))) for session, data in used.items()}
    for name, column in columns.items():
        own: list[Any] = [sizes[session].get(name, column[session]) for session in used]
        cells[name] = np.repeat(own, [len(trials[session]) for session in used])
    return cells


def _stances(
    used: Mapping[str, xr.Dataset], sessions: Mapping[str, Mapping[str, Any]], columns: Columns, before: tuple[int, int]
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return variables and coordinates along ``stance``: all stances with both ends and valid kinetics.

    ``cycle_of_stance`` is the number of the cycle that begins with the stance, -1 if none does.
    """
    whole = {session: data.variables["stance_whole"].values > 0 for session, data in used.items()}

    def chain(name: str) -> NDArray[Any]:
        return np.concatenate([data.variables[name].values for data in used.values()])

    trials = {session: data.variables["whole_stance_trial"].values for session, data in used.items()}
    cells = _cells(used, trials, sessions, columns)
    every = np.concatenate([*whole.values()])
    renamed = {"side": "side", "start_time": "start", "end_time": "end", "plates": "plates", "kinetics_valid": "used"}
    renamed |= dict(zip(DOUBT, DOUBT, strict=True))
    cells |= {name: chain(f"stance_{part}")[every] for name, part in renamed.items()}
    cells["kinetics_valid"] = cells["kinetics_valid"].astype(bool)
    cells["cycle"] = _cycles_of_stances(used, whole, before[0])
    variables: dict[Any, Any] = {name: (variable.dims, chain(name)) for name, variable in STANCE_CURVES.items()}
    values = dict(zip(METRICS, chain(f"metric_value{STANCE}").T, strict=True))
    variables |= {f"{name}{STANCE}": (("stance",), values[name]) for name in OF_STANCE}
    coordinates = {f"{name}{STANCE}": ("stance", cell) for name, cell in cells.items()}
    coordinates[SEEN] = "stance", chain(SEEN)[every]
    return variables, coordinates | {"stance": before[1] + np.arange(every.sum(), dtype=np.int32)}


def _cycles_of_stances(
    used: Mapping[str, xr.Dataset], whole: Mapping[str, NDArray[np.bool_]], before: int
) -> NDArray[np.int32]:
    """Return the number of the cycle that begins with each whole stance, -1 if none does; ``before`` are earlier."""
    numbers = []
    for session, data in used.items():
        of_stance = [data.variables[f"stance_{name}"].values[whole[session]] for name in ("trial", "side", "start")]
        trial, side, start_s = (values[:, None] for values in of_stance)
        same = (data.variables["cycle_trial"].values == trial) & (data.variables["side"].values == side)
        same &= np.abs(data.variables["start_time"].values - start_s) < SAME_STRIKE_S
        number = before + np.arange(data.sizes["cycle"])
        numbers.append(np.max(np.where(same, number, -1), axis=1, initial=-1))
        before += data.sizes["cycle"]
    return np.concatenate(numbers).astype(np.int32)


def _rows(study: xr.Dataset, columns: Sequence[str], sessions: Iterable[str]) -> pd.DataFrame:
    """Return metrics.csv: by session a row per cycle, then one per stance without a whole cycle."""
    # a study without a usable trial lacks the columns of participants.tsv
    every = {str(name): variable.values for name, variable in study.variables.items()}
    if "metric_draw" in every:
        values = np.stack([every[name] for name in METRICS], axis=-1)
        spread = standard_uncertainty(errors_of(every["metric_draw"], values, IS_PHASE))
        every |= {f"{name}_u": spread[:, [*METRICS].index(name)] for name in WITH_ERRORS}
    cycles = pd.DataFrame({name: every[name] for name in columns if name in every}).assign(part="cycle")
    alone = every[f"cycle{STANCE}"] < 0
    if alone.any():
        cells = {name: every[f"{name}{STANCE}"][alone] for name in columns if f"{name}{STANCE}" in every}
        stances = pd.DataFrame(cells).assign(part="stance", cycle=None)
        known = stances.kinetics_valid.astype(bool) | (stances.doubt_code != "")
        stances = stances.assign(reason=np.where(known, "", WITHOUT_MODEL))  # no other refused stance is among them
        cycles = pd.concat([cycles, stances]) if len(cycles) else stances
        place = {session: i for i, session in enumerate(sessions)}
        cycles = cycles.sort_values("session", key=lambda names: names.map(place), kind="stable", ignore_index=True)
    cycles = _without_doubted(cycles)
    rounded = {name: cycles[name].round(4) for name in ("start_time", "end_time") if name in cycles}  # 0.1 ms
    return cycles.assign(cycle=cycles.cycle.astype("Int64"), **rounded).reindex(columns=[*columns])


def _without_doubted(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return metrics.csv with the numbers of kinetics that are not used apart, so that a plain mean leaves them out.

    They are together in the column :data:`DOUBTED_NUMBERS`, as JSON and with as many digits as the table has. Ground
    forces that lack nothing but a model of the person stay.
    """
    measured = (metrics.reason == WITHOUT_MODEL) & (metrics.doubt_code == "")
    left_out = ~metrics.kinetics_valid.astype(bool) & ~measured
    names = [str(name) for name in metrics if str(name).removesuffix("_u") in KINETICS]
    values, apart = metrics[names].to_numpy(dtype=float, copy=True), np.full(len(metrics), "", dtype=object)
    for i in np.flatnonzero(left_out):
        known = {name: float(DIGITS % x) for name, x in zip(names, values[i].tolist(), strict=True) if np.isfinite(x)}
        apart[i] = to_text(known) if known else ""
    values[left_out] = np.nan
    used = pd.DataFrame(values, metrics.index, names).assign(**{DOUBTED_NUMBERS: apart})
    return pd.concat([metrics.drop(columns=names), used], axis=1)


def _quality(
    cycles: Mapping[str, xr.Dataset], sessions: Mapping[str, Mapping[str, Any]], *, corrected: bool
) -> pd.DataFrame:
    rows = [row for session, data in cycles.items() for row in _quality_rows(session, data, sessions[session])]
    kinds = dict.fromkeys(NUMBERS, "Float64") | dict.fromkeys(REPAIRS, "Int64")
    table = pd.DataFrame(rows, columns=list(QUALITY)).astype(kinds)
    if corrected:
        applied, unfit = _corrections_of(cycles)
        mine, place = _corrections(table, applied), list(QUALITY).index(NUMBERS[0])
        words = [[in_words(row).replace(BETWEEN_WORDS, ", ") for row in rows] for rows in mine]
        table.insert(place, CORRECTED, [BETWEEN_WORDS.join(each) for each in words])
        table.insert(place + 1, CORRECTIONS, [to_text(rows) for rows in mine])
        trials = zip(table.session, table.trial, strict=True)
        lost = [[row for row in unfit if (row["session"], row["trial"]) == trial] for trial in trials]
        table.insert(place + 2, NOT_CORRECTED, [to_text(rows) for rows in lost])
    return table


def _corrections_of(cycles: Mapping[str, xr.Dataset]) -> tuple[list[Row], list[Row]]:
    """Return the corrections that are applied and those that are not; none is in a trial that is rejected."""
    applied, unfit = in_results(data.attrs for data in cycles.values())
    rejected = {
        (session, trial)
        for session, data in cycles.items()
        for trial, facts in facts_of_trials(data).items()
        if facts.get("rejected")
    }
    in_vain = [row for row in applied if (row["session"], row["trial"]) in rejected]
    unfit += [row | {WHY: "the trial is rejected"} for row in in_vain]
    return [row for row in applied if row not in in_vain], unfit


def _corrections(table: pd.DataFrame, rows: Iterable[Mapping[str, str]]) -> list[list[Mapping[str, str]]]:
    """Return the corrections of each stance of quality.csv; a trial has those that touch no stance in each."""
    found: list[list[Mapping[str, str]]] = [[] for _ in range(len(table))]
    for row in rows:
        of_trial = (table.session == row["session"]) & (table.trial == row["trial"])
        first_s, last_s = float(row["time_s"]), float(row["to_s"] or row["time_s"])
        touched = of_trial & (table.start_s < last_s + SAME_STRIKE_S) & (table.end_s > first_s - SAME_STRIKE_S)
        touched &= (table.side == row["side"]) | (row["side"] == "")
        for i in np.flatnonzero(touched if touched.any() else of_trial):
            found[i].append(row)
    return found


def _quality_rows(session: str, data: xr.Dataset, about: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield a row per stance, or one of a trial that is rejected or in which no stance is seen."""
    values = {name: variable.values for name, variable in data.variables.items()}
    stances: list[list[Any]] = []
    if "stance" in data.dims:
        energy = np.fmax.reduce(values["stance_energy_closure"], axis=1)
        residuals = [values[f"stance_{name}"] for name in RESIDUALS | KNEE_AXIS]
        closures = [values[SEEN], values["stance_disagreement"], values["stance_forward_closure"], energy]
        checks = np.column_stack([*closures, *residuals]).tolist()
        names = ("side", "start", "end", "plates", "code", "reason", "reason_values", *DOUBT)
        texts = [values[f"stance_{name}"].tolist() for name in names]
        stances = [
            [side, round(start, 4), round(end, 4), plates, verdict_of(code, plates, words[-2]), code, *words]
            + [float(f"{check:.2e}") for check in figures]  # significant digits
            for side, start, end, plates, code, *words, figures in zip(*texts, checks, strict=True)
        ]
    spans = spans_of(data, "stance") if stances else [slice(0)] * data.sizes["trial"]
    verdicts = (values[name].tolist() for name in ("trial", "rejected_code", "rejected", "rejected_values"))
    for i, (trial, *why) in enumerate(zip(*verdicts, strict=True)):
        identity = [about["participant"]["participant_id"], session, trial, about["trials"][trial]["condition"]]
        if any(why):
            yield [*identity, "", np.nan, np.nan, "", REFUSED, *why, *[""] * len(DOUBT), *[pd.NA] * len(NUMBERS)]
        elif not stances[spans[i]]:
            unseen = Verdict.of("no_gait_event")
            verdict = [NOT_ON_A_PLATE, unseen.code, unseen.words, as_text([unseen]), *[""] * len(DOUBT)]
            yield [*identity, "", np.nan, np.nan, "", *verdict, *[pd.NA] * len(NUMBERS)]
        for stance in stances[spans[i]]:
            yield [*identity, *stance, *(values[name][i] for name in REPAIRS)]


def _empty() -> xr.Dataset:
    """Return a dataset without cycles and stances, for a study without a usable trial."""
    labels: dict[str, Any] = {"joint": JOINTS, "angle": ANGLES, "axis": "xyz", "load": LOADS}
    labels |= dict.fromkeys(("phase", "stance_phase"), np.arange(101.0))
    labels = dict.fromkeys(("cycle", "stance"), np.array([], dtype=np.int32)) | {
        name: [*values] for name, values in labels.items()
    }
    variables = {
        name: (variable.dims, np.empty([len(labels[dim]) for dim in variable.dims]))
        for name, variable in (CURVES | CYCLE_METRICS | STANCE_CURVES | STANCE_METRICS).items()
    }
    kinds = {"start_time": float, "end_time": float, "kinetics_valid": bool, "cycle": np.int32}
    identity = {name: ("cycle", np.array([], dtype=kinds.get(name, "U1"))) for name in IN_STUDY}
    identity |= {f"{name}{STANCE}": ("stance", np.array([], dtype=kinds.get(name, "U1"))) for name in STANCE_IDENTITY}
    identity[SEEN] = "stance", np.array([])
    return xr.Dataset(variables, identity | labels)
