"""Corrections that are not saved yet, and what they change."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import xarray as xr

from ...conventions import SIDES
from ...errors import UserError
from ...results.averages import average
from ...tables.corrections import (
    COLUMNS,
    TABLE,
    WHY,
    append_corrections,
    corrections_of,
    in_results,
    not_applied_in_words,
    problems_of,
)
from ...tables.tsv import Row
from ...variables.metrics import METRICS
from ...workflow.job_keys import Study
from .preview import preview
from .shown_trial import Contact, ShownTrial

MOST_METRICS = 12


class Drafts:
    """Corrections of a study that a person tries, and saves or takes back."""

    def __init__(self, study: Study) -> None:
        """Start without drafts.

        Args:
            study: as of :func:`pipeline.workflow.open_study.open_study`, with the SHA-256 of the recordings.
        """
        self.study, self.path = study, study.path / TABLE
        self.rows: list[Row] = []
        self.seen = self._on_disk()

    def add(self, **cells: str) -> None:
        """Add a correction of today.

        Raises:
            UserError: it is wrong by itself, or contradicts another.
        """
        files = {row["trial"]: row["file"] for row in self.study.sessions.get(cells["session"], [])}
        digest = self.study.sha256.get(files.get(cells["trial"], ""), "")
        row = dict.fromkeys(COLUMNS, "") | cells | {"sha256": digest, "date": dt.date.today().isoformat()}
        if problems := problems_of([*self.study.every_correction, *self.rows, row], self.study.sessions):
            raise UserError.of(problems)
        self.rows.append(row)

    def undo(self) -> list[Row]:
        """Take the last correction back, if there is one, and return it."""
        self.rows, taken = self.rows[:-1], self.rows[-1:]
        return taken

    def corrected(self) -> Study:
        """Return the study with the corrections that are saved and those that are not."""
        every = {session: [*rows] for session, rows in self.study.corrections.items()}
        for row in self.rows:
            every.setdefault(row["session"], []).append(row)
        return replace(self.study, corrections=every)

    def preview(self, session: str) -> dict[str, xr.Dataset]:
        """Return by step the results of a session that the corrections change.

        Raises:
            UserError: a correction does not fit its trial.
        """
        results = preview(self.corrected(), session)
        _, unfit = in_results(data.attrs for data in results.values())
        for row in unfit:
            if {name: cell for name, cell in row.items() if name != WHY} in self.rows:
                raise UserError("Not possible", not_applied_in_words(row), "")
        return results

    def save(self) -> None:
        """Add the corrections to the table.

        Raises:
            UserError: the table has changed meanwhile; then its rows are read, and a second call saves.
        """
        if self._on_disk() != self.seen:
            corrections, problems = corrections_of(self.path, self.study.sessions)
            self.study, self.seen = replace(self.study, corrections=corrections), self._on_disk()
            what = "has been changed since it was read" + "".join(f"; {problem}" for problem in problems)
            raise UserError(str(self.path), what, "its rows are read now: look at the preview again, then save")
        append_corrections(self.path, self.rows)
        self.study, self.rows, self.seen = self.corrected(), [], self._on_disk()

    def _on_disk(self) -> bytes:
        return self.path.read_bytes() if self.path.exists() else b""


def changes(before: ShownTrial, after: ShownTrial) -> Iterator[str]:
    """Yield what differs between the events and the stances of a trial, in words."""
    events = [{(one.side, one.name, round(one.time, 3)) for one in trial.events} for trial in (before, after)]
    for words, these in (("gone", events[0] - events[1]), ("new", events[1] - events[0])):
        yield from (f"{side} {name} at {seconds:.3f} s: {words}" for side, name, seconds in sorted(these))
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
        old, new = (_means(data, trial, side) for data in (before, after))
        for i, name in enumerate(names):
            size = abs(new[i] - old[i]) / max(spread[i], 1e-9)
            if name in METRICS and METRICS[name].main and (np.isnan(old[i]) != np.isnan(new[i]) or size > 1e-9):
                rows.append((np.inf if np.isnan(size) else size, (name, side, float(old[i]), float(new[i]))))
    return [row for _, row in sorted(rows, key=lambda one: -one[0])[:MOST_METRICS]]


def _means(cycles: xr.Dataset, trial: str, side: str) -> np.ndarray:
    number = cycles.variables["trial"].values.tolist().index(trial)
    mine = (cycles.variables["cycle_trial"].values == number) & (cycles.variables["side"].values == side)
    values = cycles.variables["metric_value"].values[mine]
    count = np.isfinite(values).sum(axis=0)
    return np.where(count, np.nansum(values, axis=0) / np.maximum(count, 1), np.nan)
