"""What becomes of an injected fault."""

from __future__ import annotations

from dataclasses import dataclass, field

ALL = tuple(range(20))  # numbers of the doses
FLAGGED, MENDED = "flagged with the right reason", "mended"
REFUSED, MISSED = "refused for another reason", "missed"


@dataclass
class Row:
    """A fault, its doses, and what became of each, by where it was put."""

    fault: str
    doses: str
    generated: list[str] = field(default_factory=list)
    real: list[str] = field(default_factory=list)
