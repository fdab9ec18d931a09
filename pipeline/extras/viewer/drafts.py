"""Corrections: those that are saved, those that a person tries, and what they change."""

import datetime as dt
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ...conventions import SIDES
from ...errors import UserError, without_problems
from ...json_text import to_text
from ...results.averages import average
from ...steps.report.curves.panels import plain_unit
from ...steps.report.metric_tables import title_of
from ...tables import corrections
from ...tables.corrections import COLUMNS, TABLE, WHY, action_of, in_words, where_of
from ...tables.tsv import Row
from ...trials.session import facts_of_trials
from ...variables.metrics import METRICS
from ...workflow.job_keys import Study
from .shown_trial import Contact, Session, ShownTrial, shown_trial, trials_of_session

MOST_METRICS = 12


class Saved(NamedTuple):
    """The table of corrections as it is on the disk: its rows by session, and the SHA-256 of the file."""

    rows: dict[str, list[Row]]
    sha256: str


def as_saved(study: Study) -> Saved:
    """Return the corrections of a study as they are saved now.

    Raises:
        UserError: the table has mistakes.
    """
    path = study.path / TABLE
    digest = sha256(path.read_bytes() if path.exists() else b"").hexdigest()
    return Saved(without_problems(corrections.corrections_of(path, study.sessions)), digest)


def completed(study: Study, cells: Mapping[str, str]) -> Row:
    """Return a correction of today as a row of the table, with the SHA-256 of the recording.

    Args:
        study: as of :func:`pipeline.workflow.open_study.open_study`, with the SHA-256 of the recordings.
    """
    files = {row["trial"]: row["file"] for row in study.sessions.get(cells.get("session", ""), [])}
    digest = study.sha256.get(files.get(cells.get("trial", ""), ""), "")
    today = {"sha256": digest, "date": dt.date.today().isoformat()}
    return {name: " ".join(str(cells.get(name, "")).split()) for name in COLUMNS} | today


def with_drafts(study: Study, saved: Saved, drafts: Sequence[Row]) -> Study:
    """Return the study with the corrections that are saved and with further ones.

    Raises:
        UserError: a correction is wrong by itself, or contradicts another.
    """
    every = {session: [*rows] for session, rows in saved.rows.items()}
    for row in drafts:
        every.setdefault(row["session"], []).append(row)
    rows = [row for mine in every.values() for row in mine]
    if drafts and (problems := corrections.problems_of(rows, study.sessions)):
        words = {where_of(row): action_of(row) for row in drafts if row["kind"] in corrections.KINDS}
        raise UserError.of([one._replace(where=words.get(one.where, one.where)) for one in problems])
    return replace(study, corrections=every)


def refuse_unfit(results: Session, drafts: Sequence[Row]) -> None:
    """Raise UserError if a draft does not fit its trial, by the results that were computed with it."""
    for row in _unfit(results):
        if {name: cell for name, cell in row.items() if name != WHY} in drafts:
            raise UserError(f"Not possible: {action_of(row)}", row[WHY].removesuffix(", or remove the row"), "")


def listed(saved: Sequence[Row], results: Session) -> list[dict[str, Any]]:
    """Return the saved corrections of a session with words, and why one is not applied."""
    why = {to_text({name: row[name] for name in COLUMNS}): row[WHY] for row in _unfit(results)}
    return [{"row": row, "words": in_words(row), "why": why.get(to_text(row), "")} for row in saved]


def _unfit(results: Session) -> list[Row]:
    return corrections.in_results(data.attrs for data in results.values())[1]


def save(study: Study, drafts: Sequence[Row], seen: str) -> None:
    """Add corrections to the table.

    Args:
        seen: the SHA-256 of the table that the person has seen.

    Raises:
        UserError: the table has changed meanwhile, or a row contradicts another.
    """
    saved = as_saved(study)
    if saved.sha256 != seen:
        remedy = "its rows are read now: look at what changes again, then save"
        raise UserError(str(study.path / TABLE), "has been changed since it was read", remedy)
    with_drafts(study, saved, drafts)
    corrections.append_corrections(study.path / TABLE, drafts)


def take_back(study: Study, row: Row) -> None:
    """Take one saved row out of the table; the others stay as they are.

    Raises:
        UserError: it is no longer there.
    """
    rows = corrections.read_corrections(study.path / TABLE)
    if row not in rows:
        raise UserError(str(study.path / TABLE), "this row is no longer there", "its rows are read now")
    rows.remove(row)
    corrections.write_corrections(study.path / TABLE, rows)


def effect(before: Session, after: Session, trial: str) -> dict[str, Any]:
    """Return what differs between two results of a trial: events and stances in words, means before and after."""
    rejected = [trials_of_session(data)[trial][1] for data in (before, after)]
    if any(rejected):
        return {"changes": ["the trial: " + ", then ".join(why or "not rejected" for why in rejected)], "metrics": []}
    put_back = [facts_of_trials(data["clean"])[trial].get("labels_exchanged_back", "") for data in (before, after)]
    changed = [*changes(*(shown_trial(data, trial) for data in (before, after)))]
    if put_back[1] != put_back[0]:
        changed.append(f"labels that are put right when markers are cleaned: {put_back[1] or 'none'}")
    metrics = []
    for name, side, *numbers in changed_metrics(before["cycles"], after["cycles"], trial):
        old, new = (f"{x:.3g}" if math.isfinite(x) else "none" for x in numbers)
        title = ", ".join(filter(None, (title_of(name), plain_unit(METRICS[name].units))))
        metrics += [[title, side, old, new]] if old != new else []
    nothing = "no event and no stance" if metrics else "no event, no stance and no main number"
    return {"changes": changed or [nothing], "metrics": metrics}


def changes(before: ShownTrial, after: ShownTrial) -> Iterator[str]:
    """Yield what differs between the events and the stances of a trial, in words."""
    events = [{(one.side, one.name, round(one.time, 3)) for one in trial.events} for trial in (before, after)]
    for words, these in (("gone", events[0] - events[1]), ("new", events[1] - events[0])):
        yield from (
            f"{side} {name.replace('_', ' ')} at {seconds:.3f} s: {words}" for side, name, seconds in sorted(these)
        )
    for old, new in _stances(before, after):
        at = new or old
        verdicts = [
            f"{one.verdict} ({one.why})" if one and one.why else one.verdict if one else "none" for one in (old, new)
        ]
        if at and verdicts[0] != verdicts[1]:
            yield f"{at.side} stance at {at.start:.2f} s: {verdicts[0]}, then {verdicts[1]}"


def _stances(before: ShownTrial, after: ShownTrial) -> Iterator[tuple[Contact | None, Contact | None]]:
    """Yield the stances of both that overlap for the most part, and those without another."""
    left = [*after.contacts]
    for one in before.contacts:
        like = [x for x in left if x.side == one.side and min(x.end, one.end) - max(x.start, one.start) > 0]
        best = max(like, key=lambda x: min(x.end, one.end) - max(x.start, one.start), default=None)
        if best:
            left.remove(best)
        yield one, best
    yield from ((None, one) for one in left)


def changed_metrics(before: xr.Dataset, after: xr.Dataset, trial: str) -> list[tuple[str, str, float, float]]:
    """Return metric, side, and the means over the cycles of a trial before and after; the largest changes first.

    A change is measured by the metric's spread over the cycles of the session.
    """
    names = before.variables["metric"].values.tolist()
    rows: list[tuple[float, tuple[str, str, float, float]]] = []
    spread = np.nan_to_num(average(before.variables["metric_value"].values).sd)
    for side in SIDES:
        both = []
        for data in (before, after):
            number = data.variables["trial"].values.tolist().index(trial)
            mine = (data.variables["cycle_trial"].values == number) & (data.variables["side"].values == side)
            both.append(average(data.variables["metric_value"].values[mine]).mean)
        old, new = both
        for i, name in enumerate(names):
            size = abs(new[i] - old[i]) / max(spread[i], 1e-9)
            if name in METRICS and METRICS[name].main and (np.isnan(old[i]) != np.isnan(new[i]) or size > 1e-9):
                rows.append((np.inf if np.isnan(size) else size, (name, side, float(old[i]), float(new[i]))))
    return [row for _, row in sorted(rows, key=lambda one: -one[0])[:MOST_METRICS]]
