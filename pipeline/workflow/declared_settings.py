"""Writes config/settings.schema.yaml and config/default.yaml from the settings that each step declares.

``python -m pipeline.workflow.declared_settings`` writes both; with ``--check`` it only says which are stale. A step
declares its section in its ``settings.py``; what belongs to no step is declared here. The workflow reads the files,
which is faster than to import every declaration.
"""

import argparse
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml

from ..reference import resolve
from ..setting import setting
from ..step import Step, every_step, steps_of_rooms

HOUSE = Path(__file__).resolve().parents[2]
TYPES = {float: "number", int: "integer", str: "string", bool: "boolean", type(None): "null"}
LONGEST_LINE = 120
ABOUT_SCHEMA = """\
# JSON Schema of the settings. Unknown keys are refused, but for sections of extras, which `gaitlab` checks.
# Defaults are in default.yaml only.
# A setting of the format path_in_study names what belongs to the study, and is refused if it leads out of it; one of
# the format path names results of another study, which may be anywhere.
# Written by `make settings`: a setting is declared in pipeline/steps/STEP/settings.py.
"""
ABOUT_DEFAULTS = """\
# Default settings. A study's study.yaml names only what differs; a body model may set its own `settings`.
# Each key is described, with its unit and source, in settings.schema.yaml.
# Written by `make settings`: a setting is declared in pipeline/steps/STEP/settings.py.
"""
BODY_MODEL = {
    "type": "string",
    "format": "path_in_study",
    "description": "name of a body model in config/body_models, or path of a file in the study",
}


@dataclass(frozen=True, kw_only=True)
class Run:
    """Section ``run`` of the settings, of ``gaitlab run``."""

    # fmt: off
    fail_on_rejection: bool = setting(False,
        "true makes a finished run with rejected trials exit with code 1 instead of 0")
    # fmt: on


def sections() -> dict[str, type]:
    """Return what declares each section of config/: those of the steps but of extras in their order, then ``run``."""
    own = {step.name for step in steps_of_rooms() if not step.section}
    return {name: section_of(step) for name, step in every_step().items() if name in own} | {"run": Run}


def section_of(step: Step) -> Any:
    """Return the dataclass of a step's section of the settings."""
    settings = resolve(step.settings)
    return getattr(sys.modules[settings.__module__], "Section", settings)


def defaults() -> dict[str, Any]:
    """Return the default of each setting by section."""
    return {name: defaults_of(section) for name, section in sections().items()}


def defaults_of(section: type) -> dict[str, Any]:
    """Return the default of each setting of a section."""
    return {field.name: field.metadata["default"] for field in fields(section)}


def schema() -> dict[str, Any]:
    """Return the JSON schema of all settings but those of extras, of which it allows any section."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_mapping({"body_model": BODY_MODEL} | {name: section_rule(one) for name, one in sections().items()}),
        "additionalProperties": {"type": "object"},
    }


def section_rule(section: type) -> dict[str, Any]:
    """Return the JSON schema of a section."""
    types = get_type_hints(section)
    return _mapping({field.name: _setting_rule(field, types[field.name]) for field in fields(section)})


def _mapping(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rule of a mapping with no other keys than these."""
    return {"type": "object", "additionalProperties": False, "properties": {**properties}}


def _setting_rule(field: Field[Any], kind: Any) -> dict[str, Any]:
    """Return the JSON schema of a setting; for what it declares see :func:`pipeline.setting.setting`."""
    declared = field.metadata
    if declared["parts"]:
        rule = _rule(get_args(kind)[1], declared)
        parts = {name: {**rule, "description": text} for name, text in declared["parts"].items()}
        return {"description": declared["description"], **_mapping(parts)}
    rule = _rule(kind | None if declared["default"] is None else kind, declared)
    return {**rule, "description": declared["description"]}


def _rule(kind: Any, declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of values of a type; what is declared of a mapping or list is said of its values."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": [*inner]}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        names = {"propertyNames": {"pattern": declared["names"]}} if declared["names"] else {}
        return {"type": "object", **names, "additionalProperties": _rule(inner[1], declared)}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        length = declared["length"]
        size: dict[str, Any] = {"minItems": length, "maxItems": length} if length else {"uniqueItems": True}
        return {"type": "array", **size, "items": _rule(inner[0], declared)}
    if declared["one_of"]:
        return {"enum": [*declared["one_of"]()]}
    types = [TYPES[one] for one in (inner if origin in (Union, UnionType) else (kind,))]
    return {"type": types if len(types) > 1 else types[0], **declared["limits"]}


class _OneLine(yaml.SafeDumper):
    """YAML with each list and each text on one line, and without anchors."""

    def ignore_aliases(self, _: Any) -> bool:
        return True


_OneLine.add_representer(list, lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, True))


def _yaml(content: Any, *, flow: bool = False) -> str:
    return yaml.dump(content, Dumper=_OneLine, default_flow_style=flow, sort_keys=False, width=sys.maxsize)


def _default_lines(name: str, value: Any) -> str:
    """Return a setting in YAML: its value on the line of its name, or below it if that line is too long."""
    line = f"{name}: {_yaml([value], flow=True)[1:-2]}\n"
    if len(line) < LONGEST_LINE or not isinstance(value, list | Mapping):
        return line
    return yaml.safe_dump({name: value}, sort_keys=False)


def files() -> dict[Path, str]:
    """Return the text of each generated file by its path."""
    parts = (
        f"{name}:\n" + textwrap.indent("".join(_default_lines(*one) for one in section.items()), "  ")
        for name, section in defaults().items()
    )
    return {
        HOUSE / "config" / "settings.schema.yaml": ABOUT_SCHEMA + _yaml(schema()),
        HOUSE / "config" / "default.yaml": ABOUT_DEFAULTS + "\n" + "\n".join(parts),
    }


def main() -> int:
    """Write the files, or say which are stale."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail if a file is stale")
    check = parser.parse_args().check
    stale = {path: text for path, text in files().items() if path.read_text(encoding="utf-8") != text}
    for path, text in stale.items():
        if check:
            sys.stdout.write(f"{path}: not what the steps declare; run make settings\n")
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
