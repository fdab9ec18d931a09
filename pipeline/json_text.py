"""Values as JSON in one line: attributes of files, variables of text, cells of tables."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, allow_nan=False)


def to_text(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return a list or object as JSON, the same for equal ones; an empty text if it is empty.

    NaN and infinite numbers are null, as JSON has no word for them. Letters of all alphabets stay as they are.
    """
    if not value:
        return ""
    try:
        return ENCODER.encode(value)
    except (TypeError, ValueError):  # of a mapping that is no dict, or a number that is not finite
        return ENCODER.encode(_finite(value))


def from_text(text: str) -> Any:
    """Return what :func:`to_text` has stored; an empty list for an empty text."""
    return json.loads(text) if text else []


def object_in(attributes: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the object that an attribute of a file holds as JSON; an empty one if there is none."""
    return dict(from_text(str(attributes.get(name, ""))))


def _finite(value: Any) -> Any:
    """Return a value with None in place of numbers that are not finite."""
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
