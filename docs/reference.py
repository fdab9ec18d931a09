"""Tables of docs/settings.md and docs/outputs.md, from the schemas.

``python docs/reference.py`` writes them between the lines ``<!-- generated -->`` and ``<!-- end -->`` of the pages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gaitlab.pipeline.results import schema
from gaitlab.pipeline.workflow import settings

DOCS = Path(__file__).resolve().parent
GENERATED = re.compile(r"(?<=<!-- generated -->\n).*(?=<!-- end -->)", re.DOTALL)
UNITS = {"_m_s2": "m s-2", "_n_m": "N m", "_hz": "Hz", "_s": "s", "_n": "N", "_m": "m", "_body_weights": "body weights"}
UNITS |= {"_mm": "mm", "_percent": "percent"}
TYPES = {"f8": "double", "f4": "single", "i1": "int8", "i4": "int32", "U": "text"}
LIMITS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}


def settings_tables() -> str:
    """Return one table per section: setting, default, unit and values, meaning."""
    defaults = settings.read_yaml(settings.CONFIG / "default.yaml")
    parts = []
    for name, part in settings.schema("settings")["properties"].items():
        if part["type"] == "object":
            rows = list(_setting_rows(name, part, defaults[name]))
        else:
            rows = [(f"`{name}`", "none, must be set", _values(name, part), part["description"])]
        parts.append(f"## {name}\n\n" + _table(("setting", "default", "unit, values", "meaning"), rows))
    return "\n".join(parts)


def _setting_rows(name: str, part: Mapping[str, Any], defaults: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for key, rule in part["properties"].items():
        if rule.get("type") == "object":
            yield from _setting_rows(f"{name}.{key}", rule, defaults[key])
        else:
            yield f"`{name}.{key}`", f"`{_as_yaml(defaults[key])}`", _values(key, rule), rule["description"]


def output_tables() -> str:
    """Return one table of variables per file, and one of the named coordinates."""
    steps = "\n".join(_variables(step) for step in schema.VARIABLES)
    rows = [(f"`{name}`", units, meaning) for name, (units, meaning) in schema.COORDINATES.items()]
    return f"{steps}\n### Coordinates\n\n" + _table(("coordinate", "units", "meaning"), rows)


def _variables(step: str) -> str:
    heading = f"### {step}.nc\n\n{schema.TITLES[step]}"
    variables, cycles = schema.VARIABLES[step], schema.VARIABLES["cycles"]
    remark = ""
    if step == "study":
        absent = ", ".join(f"`{name}`" for name in cycles if name not in variables)
        remark = f": the variables of cycles.nc, without {absent}; and the metrics of each cycle, "
        remark += "with the scores if `study.reference` is set"
        variables = {name: variable for name, variable in variables.items() if cycles.get(name) != variable}
    rows = [
        (f"`{name}`", f"`({', '.join(dims)})`", units, TYPES[dtype], meaning)
        for name, (dims, units, meaning, dtype) in variables.items()
    ]
    return f"{heading}{remark}.\n\n" + _table(("variable", "dimensions", "units", "stored as", "meaning"), rows)


PAGES: Mapping[str, Callable[[], str]] = {"settings.md": settings_tables, "outputs.md": output_tables}


def page(name: str) -> str:
    """Return the text of a page with new tables."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return GENERATED.sub(lambda _: f"\n{PAGES[name]()}\n", text, count=1)


def _as_yaml(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _values(name: str, rule: Mapping[str, Any]) -> str:
    return "; ".join(_value_parts(name, rule))


def _value_parts(name: str, rule: Mapping[str, Any]) -> Iterator[str]:
    kinds = rule.get("type", [])
    yield from [unit for suffix, unit in UNITS.items() if name.endswith(suffix)][:1]
    if "enum" in rule:
        yield ", ".join(f"`{value}`" for value in rule["enum"])
    if kinds == "boolean":
        yield "`true`, `false`"
    if kinds == "string":
        yield "text"
    yield from (f"{word} {rule[limit]:g}" for limit, word in LIMITS.items() if limit in rule)
    if "null" in kinds:
        yield "or `null`"


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = (header, ("---",) * len(header), *rows)
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |\n" for line in lines)


if __name__ == "__main__":
    for target in PAGES:
        (DOCS / target).write_text(page(target), encoding="utf-8")
