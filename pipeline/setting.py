"""How a setting is declared: default, description and bounds beside its name and type, in the step's ``settings.py``.

``make settings`` writes config/settings.schema.yaml and config/default.yaml from these declarations. This module and
those that declare settings import little, since the command line reads them.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import field
from functools import partial
from typing import Any


def setting(
    default: Any,
    description: str,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    shortest: int | None = None,
    longest: int | None = None,
    pattern: str | None = None,
    example: str | None = None,
    form: str | None = None,
    one_of: Callable[[], Sequence[str]] | None = None,
    names: str | None = None,
    length: int | None = None,
    parts: Mapping[str, str] | None = None,
) -> Any:
    """Declare a field of a dataclass as a setting; the type is the field's annotation.

    Limits of a mapping or list are those of each of its values. A setting with the default None may be null. A list
    without a ``length`` has no value twice.

    Args:
        default: its value unless the study or the body model gives another.
        description: what it means, with the unit and the source of the default.
        at_least, above, at_most, below: limits of a number.
        shortest, longest: number of letters of a text.
        pattern, example: regular expression of a text, and a text that messages show in its place.
        form: ``path_in_study`` of a path that may not lead out of the study, ``path`` of any other.
        one_of: gives the texts that are allowed, for those that are declared elsewhere; others are a ``Literal``.
        names: regular expression of the keys of a mapping.
        length: number of the values of a list.
        parts: description by key, of a mapping that has these keys only.
    """
    limits = {
        "minimum": at_least,
        "exclusiveMinimum": above,
        "maximum": at_most,
        "exclusiveMaximum": below,
        "minLength": shortest,
        "maxLength": longest,
        "pattern": pattern,
        "examples": example and [example],
        "format": form,
    }
    metadata = {
        "default": default,
        "description": description,
        "limits": {name: value for name, value in limits.items() if value is not None},
        "one_of": one_of,
        "names": names,
        "length": length,
        "parts": parts,
    }
    return field(default_factory=partial(deepcopy, default), metadata=metadata)


def group(description: str, *, parts: Mapping[str, tuple[Any, str]], **limits: Any) -> Any:
    """Declare a mapping with fixed keys as settings of one type.

    Args:
        description: what they have in common.
        parts: default and description of each.
        limits: as of :func:`setting`, the same for all.
    """
    default = {name: value for name, (value, _) in parts.items()}
    return setting(default, description, parts={name: text for name, (_, text) in parts.items()}, **limits)
