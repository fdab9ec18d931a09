"""The step ``study`` on some sessions at a time, so that memory does not grow with their number."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd
import xarray as xr

from ...tables.csv_files import csv_of
from .step import columns_of, participants_columns, per_participant, study

TIMES = ("start_time", "end_time")  # rounded to .1 ms already, whatever their number of digits


class StudyPart(NamedTuple):
    """What study.nc, metrics.csv, quality.csv, participants.csv and symmetry.csv have of some sessions."""

    study: xr.Dataset
    metrics: pd.DataFrame
    quality: pd.DataFrame
    participants: pd.DataFrame
    symmetry: pd.DataFrame

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables by name."""
        return {name: table for name, table in self._asdict().items() if name != "study"}

    def text(self, name: str, *, header: bool = True) -> bytes:
        """Return a table as CSV; times and columns of participants.tsv keep all digits."""
        return csv_of(self.tables[name], exact=[*TIMES, *participants_columns(self.metrics)], header=header)


def gather(cycles: Mapping[str, xr.Dataset], **arguments: Any) -> StudyPart:
    """Return the part of sessions; arguments as of :func:`pipeline.steps.study.step.study`."""
    dataset, metrics, quality = study(cycles, **arguments)
    means = per_participant(metrics, dataset.get("metric_draw"), corrected=arguments.get("corrected", False))
    return StudyPart(dataset, metrics, quality, *means)


def gather_in_parts(
    groups: Iterable[Mapping[str, xr.Dataset]], *, sessions: Mapping[str, Mapping[str, Any]], **arguments: Any
) -> Iterator[StudyPart]:
    """Yield the part of each group of sessions; cycles and stances are numbered through all of them.

    Args:
        groups: cycles.nc by session, the sessions of all groups as of :func:`sort_by_participant`.
        arguments: further ones of :func:`pipeline.steps.study.step.study`.
    """
    columns, before = columns_of(sessions), (0, 0)
    for cycles in groups:
        part = gather(cycles, sessions=sessions, columns=columns, before=before, **arguments)
        yield part
        before = (before[0] + part.study.sizes["cycle"], before[1] + part.study.sizes["stance"])


def sort_by_participant(names: Iterable[str], sessions: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return sessions so that those of a participant follow each other, participants as they first appear."""
    people: dict[str, list[str]] = {}
    for name in names:
        people.setdefault(sessions[name]["participant"]["participant_id"], []).append(name)
    return [name for group in people.values() for name in group]
