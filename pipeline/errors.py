"""The one exception that is the user's to mend."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable

STEERING = {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}  # turn the direction of what follows
UNSEEN = ("Cc", "Cs", "Zl", "Zp")
LONGEST_LINE, SHOWN_OF_ITS_END = 1000, 150  # characters


class UserError(Exception):
    """Something a user can put right: one plain line per problem (what, where, what would be right).

    Whatever else is raised is a defect of this package and keeps its traceback. Its text may quote a file: what would
    steer a terminal is shown as '?', and of a line of pages the beginning and the end.
    """

    def __str__(self) -> str:
        return "\n".join(map(_shortened, printable(super().__str__()).split("\n")))


def hidden_in(text: str) -> str:
    """Return the first character of a text that cannot be seen but does something, such as U+001B, or an empty text.

    These are control characters, line and paragraph separators, directions of writing that last, and bytes of a file
    name that are not UTF-8.
    """
    return next((f"U+{ord(letter):04X}" for letter in text if _is_hidden(letter)), "")


def printable(text: str) -> str:
    """Return a text, line ends kept, with '?' for each character of :func:`hidden_in`."""
    return "".join("?" if letter != "\n" and _is_hidden(letter) else letter for letter in text)


def _is_hidden(letter: str) -> bool:
    return not letter.isprintable() and (letter in STEERING or unicodedata.category(letter) in UNSEEN)


def _shortened(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    gap = " ... "
    return line[: LONGEST_LINE - SHOWN_OF_ITS_END - len(gap)] + gap + line[-SHOWN_OF_ITS_END:]


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the known name closest to a misspelt one, else ``""``."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean '{by_lower[close[0]]}'?" if close else ""
