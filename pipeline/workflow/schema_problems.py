"""What is wrong with settings by a JSON schema, and what is allowed instead."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema

from ..errors import Problem, nearest
from ..extra import renamed_settings
from ..tables.tsv import bad_path, leaves_study
from .strict_yaml import LONGEST_VALUE

LIMITS = {
    "exclusiveMinimum": "above {:g}",
    "minimum": "of at least {:g}",
    "exclusiveMaximum": "below {:g}",
    "maximum": "at most {:g}",
}
PATH_IN_STUDY = "path_in_study"  # format of a setting, see config/settings.schema.yaml
FORMATS = jsonschema.FormatChecker(formats=())
OF_ONE_VALUE = ("type", "enum", "pattern", "minLength", "maxLength", *LIMITS)


@FORMATS.checks(PATH_IN_STUDY)
def _stays_in_study(value: object) -> bool:
    """Return whether a setting of this format has it; what is no text, or empty, is refused by its type."""
    return not (isinstance(value, str) and value and leaves_study(value))


def problems_in(
    content: Mapping[str, Any], schema: Mapping[str, Any], *, where: str, of_extras: bool = False
) -> list[Problem]:
    """Return the problems of ``content`` according to a JSON schema; ``of_extras``: an extra may add sections to it."""
    validator = jsonschema.Draft202012Validator(schema, format_checker=FORMATS)
    problems = []
    errors = [cause for error in validator.iter_errors(content) for cause in _causes(error)]
    for error in sorted(errors, key=lambda e: [str(p) for p in e.absolute_path]):
        key = ".".join(str(part) for part in error.absolute_path)
        if error.validator == "additionalProperties":
            known = error.schema["properties"]
            for name, value in ((str(name), value) for name, value in error.instance.items() if name not in known):
                whole = ".".join(filter(None, [key, name]))
                what, new = f"unknown key '{whole}'", renamed_settings().get(whole) if of_extras else None
                remedy = f"it is '{new}' now, which is set, too: remove one of both" if new else ""
                if not remedy and (sections := [section for section, names in _sections(schema) if name in names]):
                    remedy = f"write it below '{' or '.join(sections)}:'"
                remedy = remedy or nearest(name, known)
                if of_extras and not key and not remedy and isinstance(value, Mapping):
                    what = f"no step or extra has the section '{name}'"
                    remedy = "install the extra that has it (docs/extras.md), or remove it"
                problems.append(Problem(where, what, remedy or f"expected one of {', '.join(known)}"))
        elif error.validator == "format":
            problems += bad_path(error.instance, key, where)
        elif error.validator in OF_ONE_VALUE:
            value = json.dumps(error.instance, default=str, skipkeys=True)  # a key may be a date
            what = f"{key or 'the file'} is {value[:LONGEST_VALUE]}"
            problems.append(Problem(where, what, _remedy(str(error.instance), error.schema)))
        else:
            place = f"{where}: {key}" if key else where
            problems.append(Problem(place, error.message, error.schema.get("description", "correct it")))
    return problems


def _causes(error: Any) -> list[Any]:
    """Return what is wrong within a mapping of which several kinds are allowed, by the only kind that has mappings."""
    if error.validator == "anyOf" and isinstance(error.instance, Mapping):
        kinds = [error.schema_path[0] for error in error.context if error.validator == "type" and not error.path]
        inner = [each for each in error.context if each.schema_path[0] not in kinds]
        if inner and len({each.schema_path[0] for each in inner}) == 1:
            return [cause for each in inner for cause in _causes(each)]
    return [error]


def _sections(schema: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the dotted name and the properties of each section of a schema."""
    for name, node in schema.get("properties", {}).items():
        if "properties" in node:
            yield above + name, node["properties"]
            yield from _sections(node, f"{above}{name}.")


def _remedy(value: str, schema: Mapping[str, Any]) -> str:
    """Return which values a schema allows in place of another."""
    if "enum" in schema:
        allowed = [str(name) for name in schema["enum"]]
        return nearest(value, allowed) or f"expected one of {', '.join(allowed)}"
    limits = " and ".join(words.format(schema[name]) for name, words in LIMITS.items() if name in schema)
    length = f" of at most {schema['maxLength']} characters" if "maxLength" in schema else ""
    text = f"text such as '{schema['examples'][0]}'" if "examples" in schema else schema.get("pattern", "text")
    words = {
        "number": f"a number {limits}".strip(),
        "integer": f"a whole number {limits}".strip(),
        "string": f"{text.strip('^$')}{length}",
        "boolean": "true or false",
        "array": "a list",
        "object": "'key: value' lines",
    }
    kind = schema.get("type", "string")  # the schema of a name has no type
    kinds = [kind] if isinstance(kind, str) else kind
    return f"expected {' or '.join(words.get(kind, kind) for kind in kinds)}"
