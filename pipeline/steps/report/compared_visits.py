"""What a person's page sets side by side: the visits in their order, two of them, or two conditions.

Or two pairs of a visit and a condition, such as ``pre:barefoot`` and ``post:shoes``.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ...variables.cycle_variables import STANCE
from .curves.cycles import CycleCurves
from .tables import with_index_of

PAIR = "visit and condition"


class Compared(NamedTuple):
    """The visit of each session of a person, in the order of the visits, and what is shown of them.

    Labels are the visits, the conditions, or the pairs of both, that are shown, the earlier one first. ``by`` is the
    column with them: ``visit``, ``condition`` or PAIR.
    """

    visits: Mapping[str, str]
    labels: tuple[str, ...]
    by: str = "visit"

    @property
    def within(self) -> str:
        """Return the column of which each cell has tables of its own."""
        return {"visit": "condition", "condition": "visit"}.get(self.by, "participant")

    @property
    def several(self) -> bool:
        """Return whether there is something to compare."""
        return len(self.labels) > 1

    def rows(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a table that are shown, each with its ``visit``, in the order of the labels."""
        if not self._selects:
            return rows
        visits = [self.visits[name] for name in rows["session"]]
        pairs = map(pair_of, visits, rows["condition"])
        every = rows.assign(**{"visit": with_index_of(rows, visits), PAIR: with_index_of(rows, pairs)})
        return every.iloc[self._in_order(every["session"].tolist(), every[self.by].tolist())]

    def part(self, study: xr.Dataset) -> xr.Dataset:
        """Return the cycles and stances of a person's part of study.nc that are shown, in the order of the labels."""
        if not self._selects:
            return study
        chosen = {}
        for row, ending in (("cycle", ""), ("stance", STANCE)):
            if f"session{ending}" in study.variables:
                sessions, conditions = (study.variables[f"{x}{ending}"].values for x in ("session", "condition"))
                chosen[row] = self._in_order(sessions.tolist(), self._labels_of(sessions, conditions))
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
        own = np.array(self._labels_of(*(study.variables[x].values for x in ("session", "condition"))), dtype=str)
        return {label: study.isel(cycle=own == label) for label in self.labels}

    @property
    def _selects(self) -> bool:
        """Return whether a page differs from that of one session with all its conditions."""
        return len(self.visits) > 1 or self.by != "visit"

    def _in_order(self, sessions: Sequence[str], labels: Sequence[str]) -> list[int]:
        """Return the places of the rows with labels that are shown, in the order of these, then of the visits."""
        of_visit, of_label = ({name: i for i, name in enumerate(names)} for names in (self.visits, self.labels))
        shown = [i for i, label in enumerate(labels) if label in of_label]
        return sorted(shown, key=lambda i: (of_label[labels[i]], of_visit[sessions[i]]))

    def _labels_of(self, sessions: NDArray[np.str_], conditions: NDArray[np.str_]) -> list[str]:
        """Return what is compared of each cycle or stance, by its session and condition."""
        places = zip((self.visits[name] for name in sessions.tolist()), conditions.tolist(), strict=True)
        return [{"visit": visit, "condition": x, PAIR: pair_of(visit, x)}[self.by] for visit, x in places]


def pair_of(visit: str, condition: str) -> str:
    """Return the label of a condition in a visit."""
    return f"{visit}:{condition}"


def compared(visits: Sequence[tuple[str, str]], chosen: Sequence[str] = ()) -> Compared:
    """Return what a page compares: all visits, or the chosen visits or conditions.

    Args:
        visits: session and visit of each session of the person, in the order of the visits.
        chosen: the labels of two visits or, if these are none, of two pairs or two conditions.
    """
    of_session = dict(visits)
    every = tuple(dict.fromkeys(of_session.values()))
    if not chosen:
        return Compared(of_session, every)
    pairs = all(label.startswith(tuple(f"{visit}:" for visit in every)) for label in chosen)
    return Compared(of_session, tuple(chosen), "visit" if {*chosen} <= {*every} else PAIR if pairs else "condition")
