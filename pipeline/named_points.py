"""Which points the rules of a body model name; plain data, so that the workflow can ask before anything is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def names_in_centre(rule: Mapping[str, Any]) -> list[str]:
    """Return the landmarks and joint centres that a joint-centre rule names."""
    return [*rule.get("between", ()), *(rule[key] for key in ("proximal", "lateral", "wand") if key in rule)]


def names_in_frame(segment: Mapping[str, Any]) -> list[str]:
    """Return the landmarks and joint centres that a segment's origin and axes name, its cluster aside."""
    expressions = [segment.get("origin", [])]
    for rule in (*segment["axes"], *segment.get("technical_axes", ())):
        expressions += [rule[key] for key in ("from", "to", "medial", "lateral") if key in rule]
    return [name for item in expressions for name in ([item] if isinstance(item, str) else item)]
