"""Which pages a report consists of; plain names, so that the workflow can ask before anything is loaded."""

from __future__ import annotations

from collections.abc import Sequence

OVERVIEW, PAGES = "report.html", "report"


def own_pages(participants: Sequence[str], *, max_participants_on_one_page: int) -> dict[str, str]:
    """Return the file of each participant's own page, relative to the overview; none where all fit on that.

    Participants are named by letters, digits, ``_`` and ``-`` only, which makes them names of files.
    """
    if len(participants) <= max_participants_on_one_page:
        return {}
    return {name: f"{PAGES}/{name}.html" for name in participants}
