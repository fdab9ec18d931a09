"""What a person's page sets side by side: the visits in their order, or two of them, or two conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from ...variables.cycle_variables import STANCE
from .curves.cycles import CycleCurves
from .tables import Row


class Compared(NamedTuple):
    """The visit of each session of a person, in the order of the visits, and what is shown of them.

    Labels are the visits, or the conditions, that are shown, the earlier one first. ``by`` is the column with them:
    ``visit`` or ``condition``.
    """

    visits: Mapping[str, str]
    labels: tuple[str, ...]
    by: str = "visit"

    @property
    def within(self) -> str:
        """Return the column of which each cell has tables of its own."""
        return "visit" if self.by == "condition" else "condition"

    @property
    def several(self) -> bool:
        """Return whether there is something to compare."""
        return len(self.labels) > 1

    def rows(self, rows: list[Row]) -> list[Row]:
        """Return the rows of a table that are shown, each with its ``visit``, in the order of the visits."""
        if not self._selects:
            return rows
        place = {session: i for i, session in enumerate(self.visits)}
        ordered = sorted(rows, key=lambda row: place[row["session"]])
        return [row for row in (row | {"visit": self.visits[row["session"]]} for row in ordered) if self._shows(row)]

    def part(self, study: xr.Dataset) -> xr.Dataset:
        """Return the cycles and stances of a person's part of study.nc that are shown, in the order of the visits."""
        if not self._selects:
            return study
        place = {session: i for i, session in enumerate(self.visits)}
        chosen = {}
        for row, ending in (("cycle", ""), ("stance", STANCE)):
            if f"session{ending}" in study.variables:
                sessions, conditions = (study.variables[f"{x}{ending}"].values for x in ("session", "condition"))
                places = [place[name] for name in sessions.tolist()]
                labels = zip(sessions.tolist(), conditions.tolist(), strict=True)
                shown = [self._shows({"visit": self.visits[session], "condition": x}) for session, x in labels]
                order = np.argsort(places, kind="stable")
                chosen[row] = order[np.array(shown, dtype=bool)[order]]
        return study.isel(chosen)

    def curves(self, cycles: CycleCurves) -> CycleCurves:
        """Return cycles with their visits for sessions, so that each visit has lines of its own."""
        if not self._selects:
            return cycles
        return cycles._replace(session=np.array([self.visits[name] for name in cycles.session.tolist()], dtype=str))

    def apart(self, study: xr.Dataset) -> dict[str, xr.Dataset]:
        """Return the cycles that are compared by label, all of them without a label if there is nothing to compare."""
        if not self.several:
            return {"": study}
        values = study.variables["session" if self.by == "visit" else "condition"].values.tolist()
        own = np.array([self.visits[value] if self.by == "visit" else value for value in values], dtype=str)
        return {label: study.isel(cycle=own == label) for label in self.labels}

    @property
    def _selects(self) -> bool:
        """Return whether a page differs from that of one session with all its conditions."""
        return len(self.visits) > 1 or self.by == "condition"

    def _shows(self, row: Mapping[str, str]) -> bool:
        return row[self.by] in self.labels


def compared(visits: Sequence[tuple[str, str]], chosen: Sequence[str] = ()) -> Compared:
    """Return what a page compares: all visits, or the chosen visits or conditions.

    Args:
        visits: session and visit of each session of the person, in the order of the visits.
        chosen: the labels of two visits or, if these are none, of two conditions.
    """
    of_session = dict(visits)
    every = tuple(dict.fromkeys(of_session.values()))
    if not chosen:
        return Compared(of_session, every)
    return Compared(of_session, tuple(chosen), "visit" if {*chosen} <= {*every} else "condition")
