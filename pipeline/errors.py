"""The one exception that is the user's to mend."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Something a user can put right: one plain line per problem (what, where, what would be right).

    Whatever else is raised is a defect of this package and keeps its traceback.
    """


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the known name closest to a misspelt one, else ``""``."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean '{by_lower[close[0]]}'?" if close else ""
