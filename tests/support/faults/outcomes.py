"""Outcomes of injected faults."""

from __future__ import annotations

from dataclasses import dataclass, field

ALL = tuple(range(20))  # numbers of the doses
FLAGGED, REPAIRED = "flagged with the right reason", "repaired"
REFUSED, MISSED = "refused for another reason", "missed"
HARMLESS = "not flagged, as it changes little"


@dataclass
class Row:
    """A fault, its doses, and the outcomes in generated walks, in generated ways of moving, and in real walks."""

    fault: str
    doses: str
    generated: list[str] = field(default_factory=list)
    real: list[str] = field(default_factory=list)
    moving: list[str] = field(default_factory=list)
