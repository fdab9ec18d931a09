"""What a C3D file says of a person in free text, taken out of its parameters; what can be reckoned with is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.read import PROCESSING_NAMES

# of all else, texts and numbers alike, nothing is known: a birth date may be a number
KEPT = {
    "POINT": r"USED|FRAMES|SCALE|RATE|DATA_START|LABELS\d*|UNITS|X_SCREEN|Y_SCREEN|TYPE_GROUPS|"
    r"(ANGLE|FORCE|MOMENT|POWER|SCALAR)(S|_UNITS)",
    "ANALOG": r"USED|LABELS\d*|GEN_SCALE|SCALE\d*|OFFSET\d*|UNITS\d*|RATE|FORMAT|BITS",
    "FORCE_PLATFORM": r"USED|TYPE|ZERO|CORNERS|ORIGIN|CHANNEL|CAL_MATRIX",
    "EVENT": r"USED|LABELS|CONTEXTS|TIMES|GENERIC_FLAGS|ICON_IDS",
    "TRIAL": r"ACTUAL_START_FIELD|ACTUAL_END_FIELD|CAMERA_RATE",
    "PROCESSING": "|".join(PROCESSING_NAMES),
}
WORDS, LONGEST_WORD = r".*UNITS\d*|[XY]_SCREEN|FORMAT|CONTEXTS", 8  # a text that is longer is something else


def without_person(parameters: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the parameters of ezc3d with which a file can be worked through, and no other.

    Args:
        parameters: by group and name.
        names: what the file calls its subjects: taken out of the labels that are kept.
    """
    subjects = sorted((name.strip() for name in names if name.strip()), key=len, reverse=True)
    pattern = "|".join(re.escape(name) for name in subjects) or "(?!)"
    prefix = re.compile(rf"^.*:|({pattern})[_. -]?", flags=re.IGNORECASE)
    kept: dict[str, dict[str, Any]] = {}
    for group, entries in parameters.items():
        if group not in KEPT:
            continue
        kept[group] = {"__METADATA__": {"DESCRIPTION": "", "IS_LOCKED": False}}
        for name, entry in entries.items():
            if not re.fullmatch(KEPT[group], name.replace(" ", "")):
                continue
            value = entry["value"]
            if isinstance(value, list):
                longest = LONGEST_WORD if re.fullmatch(WORDS, name) else None
                value = [prefix.sub("", str(text))[:longest] for text in value]
            kept[group][name] = {**entry, "value": value, "description": ""}
    return kept
