"""Stances that a person accepts, by corrections of their contacts."""

from __future__ import annotations

from collections.abc import Iterable

from ...conventions import SAME_STRIKE_S
from ...tables.corrections import COLUMNS
from ...tables.tsv import Row
from ...trials.session import AnyTrial
from ...variables.stance_verdicts import is_accepted

ACCEPT = "accept_contact"  # kind of correction


def acceptances_of(contacts: AnyTrial, stated: Iterable[Row]) -> list[Row]:
    """Return the correction of each stance that is accepted by hand: as stated, else as far as contacts.nc knows it."""
    codes, rows = contacts.variables["doubt_code"].values.tolist(), [*stated]
    return [acceptance_of(contacts, i, rows) for i, own in enumerate(codes) if is_accepted(own)]


def acceptance_of(contacts: AnyTrial, i: int, rows: Iterable[Row]) -> Row:
    """Return the correction that accepts a stance by its number, see :func:`acceptances_of`."""
    touched = contacts.variables
    side, start_s = str(touched["contact_side"].values[i]), float(touched["contact_start"].values[i])
    for row in rows:
        if (row["kind"], row["side"]) == (ACCEPT, side) and abs(float(row["time_s"]) - start_s) < SAME_STRIKE_S:
            return row
    return dict.fromkeys(COLUMNS, "") | {"kind": ACCEPT, "side": side, "time_s": f"{start_s:.3f}"}
