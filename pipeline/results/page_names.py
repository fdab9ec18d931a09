"""Names of the report's pages; imports nothing, so that the workflow can use it."""

from collections.abc import Sequence

OVERVIEW, PAGES = "report.html", "report"


def page_names(participants: Sequence[str]) -> dict[str, str]:
    """Return each participant's page, relative to the overview.

    Names of participants have only letters, digits, ``_`` and ``-``, so they can be file names.
    """
    return {name: f"{PAGES}/{name}.html" for name in participants}
