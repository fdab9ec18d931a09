"""Names of the report's pages; imports nothing, so that the workflow can use it."""

from __future__ import annotations

from collections.abc import Sequence

OVERVIEW, PAGES = "report.html", "report"


def own_pages(participants: Sequence[str], *, max_participants_on_one_page: int) -> dict[str, str]:
    """Return each participant's page, relative to the overview; none if all fit there.

    Names of participants have only letters, digits, ``_`` and ``-``, so they can be file names.
    """
    if len(participants) <= max_participants_on_one_page:
        return {}
    return {name: f"{PAGES}/{name}.html" for name in participants}
