"""Which sessions of a study are repeated measurements, of whom, at which visit and by whom."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FEWEST_PEOPLE = 3  # with repeated measurements: of two people the variance has one degree of freedom
FACTORS = ("visit", "assessor")
Cell = tuple[str, str, str]  # person, visit, assessor
Index = NDArray[np.intp]


class Design(NamedTuple):
    """The cell of each session, and the repeated factors whose levels people share; none: ICC(1)."""

    cells: Mapping[str, Cell]
    factors: tuple[str, ...]

    @property
    def people(self) -> int:
        """Return the number of people."""
        return len({person for person, *_ in self.cells.values()})


def design_of(sessions: Mapping[str, Mapping[str, str]], visits: Collection[str]) -> Design | None:
    """Return the design of the repeated measurements; None if fewer than FEWEST_PEOPLE have two.

    A treatment between visits cannot be seen in the data, so visits count as repeated only where they are named.

    Args:
        sessions: rows of sessions.tsv by session, with ``participant_id``, ``visit`` and ``assessor``, each person's in
            the order of time.
        visits: names of visits between which nothing has changed the gait. Without any, the sessions of one visit are
            the repeated measurements: of each person, those of the first visit that has several, numbered by assessor.

    Returns:
        The visit is a factor if people share its levels. Where the assessor follows from the visit, or the visit from
        the assessor, only one of the two is a factor: their effects cannot be told apart.
    """
    of_person: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for session, row in sessions.items():
        visit, assessor = row.get("visit") or session, row.get("assessor") or ""
        if not visits or visit in visits:
            of_person.setdefault(row["participant_id"], {}).setdefault(visit, []).append((session, assessor))
    cells: dict[str, Cell] = {}
    for person, of_visit in of_person.items():
        mine: dict[str, Cell] = {}
        if visits:
            mine = {name: (person, visit, assessor) for visit, those in of_visit.items() for name, assessor in those}
        elif repeated := [those for those in of_visit.values() if len(those) > 1]:
            number = Counter[str]()  # by assessor
            for session, assessor in repeated[0]:
                number[assessor] += 1
                mine[session] = (person, str(number[assessor]), assessor)
        cells |= mine if len({*mine.values()}) > 1 else {}
    design = Design(cells, _factors([*dict.fromkeys(cells.values())], named=bool(visits)))
    return design if design.people >= FEWEST_PEOPLE else None


def _factors(cells: Sequence[Cell], *, named: bool) -> tuple[str, ...]:
    """Return the repeated factors whose levels people share and which can be told apart."""
    pairs = {(visit, assessor) for _, visit, assessor in cells}
    visits, assessors = ({pair[place] for pair in pairs} for place in range(2))
    known = len(assessors) > 1 and "" not in assessors
    if not known or len(pairs) == len(visits) > 1:
        return ("visit",) if named and len(visits) > 1 else ()
    return ("assessor",) if len(pairs) == len(assessors) else FACTORS
