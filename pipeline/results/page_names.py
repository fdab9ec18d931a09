"""Names of the report's pages and of the files that they share; imports nothing, so that the workflow can use it."""

from collections.abc import Sequence

OVERVIEW, PAGES = "report.html", "report"
SCRIPT, STYLE = f"{PAGES}/page.js", f"{PAGES}/page.css"  # beside the pages, made once
SHARED = "'self' file:"  # sources of both in the policy of a page; for browsers to which no local file is 'self'


def page_names(participants: Sequence[str]) -> dict[str, str]:
    """Return each participant's page, relative to the overview.

    Names of participants have only letters, digits, ``_`` and ``-``, so they can be file names.
    """
    return {name: f"{PAGES}/{name}.html" for name in participants}
