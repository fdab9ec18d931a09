"""Margins of printed pages: what stands on each of them, so that a loose sheet can be told from another person's.

Pages are numbered by the style sheet. Margin boxes need Chromium or Edge 131 or newer. Other browsers leave them out;
their own margins have the title of the page, which begins with the participant's name.
"""

from __future__ import annotations

from collections.abc import Mapping

MOST_LETTERS = {"top-left": 240, "top-right": 105}  # what three lines of the upper margin hold


def margins(title: str, version: str, *, name: str = "", recorded: str = "") -> str:
    """Return the style rule of the margins: name and title, days of recording, version of the program.

    Args:
        title: heading of the study, any text; shortened to what fits.
        version: of the program, empty if it is not known.
        name: the participant; empty on the overview.
        recorded: the days of recording of the participant, in words; empty on the overview.
    """
    boxes = {
        "top-left": f"{name}, {title}" if name else title,
        "top-right": recorded,
        "bottom-left": f"gaitlab {version or '(version unknown)'}",
    }
    rules = "".join(f'@{box}{{content:"{_escaped(_cut(text, MOST_LETTERS.get(box)))}"}}' for box, text in boxes.items())
    return f"@page{{{rules}}}"


def days_of(recorded: Mapping[str, str]) -> str:
    """Return the days of recording in words, with the sessions if there are several."""
    if not any(recorded.values()):
        return "Date of recording not stated"
    if len(recorded) == 1:
        return f"Recorded {next(iter(recorded.values()))}"
    days = [f"{day or 'day not stated'} ({session})" for session, day in recorded.items()]
    return f"Recorded {', '.join(days)}"


def _cut(text: str, most: int | None) -> str:
    return text if most is None or len(text) <= most else f"{text[: most - 1]}…"


def _escaped(text: str) -> str:
    """Return a text as it may stand in a CSS string inside an HTML element: all but letters and digits as numbers."""
    return "".join(x if x.isascii() and x.isalnum() else f"\\{ord(x):06x}" for x in text)
