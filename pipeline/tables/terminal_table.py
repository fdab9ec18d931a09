"""Plain-text tables for the terminal."""

import re
import shutil
import textwrap
from collections.abc import Sequence
from itertools import zip_longest

GAP = "  "
WIDEST = 160


def text_width() -> int:
    """Return the characters per line: the terminal's, at most :data:`WIDEST`."""
    return min(shutil.get_terminal_size((120, 24)).columns, WIDEST)


def align(rows: Sequence[Sequence[str]], *, width: int) -> str:
    """Return rows as aligned columns, in lines of at most ``width`` if possible.

    Narrow columns keep their width; the others share the remaining width and wrap. Line ends in cells are kept.
    """
    longest = [max(len(line) for cell in column for line in cell.split("\n")) for column in zip(*rows, strict=True)]
    left, widths = width - len(GAP) * (len(longest) - 1), dict.fromkeys(range(len(longest)), 0)
    for place, column in enumerate(sorted(widths, key=lambda c: longest[c])):
        widths[column] = min(longest[column], max(8, left // (len(longest) - place)))
        left -= widths[column]
    lines = []
    for row in rows:
        cells = [[part for line in cell.split("\n") for part in _wrap(line, widths[i])] for i, cell in enumerate(row)]
        for parts in zip_longest(*cells, fillvalue=""):
            padded = (part.ljust(width) for part, width in zip(parts, widths.values(), strict=True))
            lines += [GAP.join(padded).rstrip()]
    return "\n".join(lines)


def _wrap(line: str, width: int) -> list[str]:
    """Return a line in parts of at most ``width``; long words break after / or _."""
    wrapper = textwrap.TextWrapper(width, break_on_hyphens=False)
    if any(len(word) > width for word in line.split()):
        wrapper.wordsep_simple_re = re.compile(r"(\s+|(?<=[/_])(?=\S))")
    return wrapper.wrap(line)
