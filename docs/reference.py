"""The generated parts of the pages: settings, outputs, metrics, commands, functions and teaching modules.

``python docs/reference.py`` writes them from the schemas, the command line and the docstrings, between the lines
``<!-- generated -->`` and ``<!-- end -->`` of the pages. A section of the settings that an extra has is on the page
with the line ``<!-- settings of SECTION -->``.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any

from gaitlab import pipeline
from gaitlab.pipeline.__main__ import command_line_parser
from gaitlab.pipeline.command_table import every_command
from gaitlab.pipeline.step import every_step
from gaitlab.pipeline.variables import schema
from gaitlab.pipeline.variables.cycle_variables import ON_REQUEST
from gaitlab.pipeline.variables.metrics import JOINED_METRICS, NUMBERS
from gaitlab.pipeline.variables.verdict_table import DOUBTS, REFUSES, REJECTS, VERDICTS, Row
from gaitlab.pipeline.workflow import settings
from gaitlab.pipeline.workflow.strict_yaml import read_yaml

DOCS = Path(__file__).resolve().parent
GENERATED = re.compile(r"(?<=<!-- generated -->\n).*?(?=<!-- end -->)", re.DOTALL)
OF_SECTION = re.compile(r"(<!-- settings of (\w+) -->\n).*?(?=<!-- end -->)", re.DOTALL)
UNITS = {"_m_s2": "m s-2", "_n_m": "N m", "_hz": "Hz", "_s": "s", "_n": "N", "_m": "m", "_body_weights": "body weights"}
UNITS |= {"_mm": "mm", "_percent": "percent"}
TYPES = {"f8": "double", "f4": "single", "i1": "int8", "i4": "int32", "U": "text"}
KINDS = {
    "boolean": "`true`, `false`",
    "string": "text",
    "integer": "whole number",
    "object": "`name: value`, any number",
}
LIMITS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}


def settings_tables() -> str:
    """Return one table per section but those of extras, which their own pages have."""
    own = read_yaml(settings.CONFIG / "settings.schema.yaml")["properties"]
    pages = _table(("section, described on its page",), [(f"[{name}]({page})",) for name, page in pages_of_sections()])
    tables = [f"## {name}\n\n{section_table(name)}" for name in own]
    return "\n".join([*tables, f"## Sections of extras\n\n{pages}"])


def section_table(name: str) -> str:
    """Return the settings of a section: setting, default, unit and values, meaning."""
    part = settings.schema("settings")["properties"][name]
    if part["type"] == "object":
        rows = list(_setting_rows(name, part, settings.every_default()[name]))
    else:
        rows = [(f"`{name}`", "none, must be set", _values(name, part), part["description"])]
    return _table(("setting", "default", "unit, values", "meaning"), rows)


def _setting_rows(name: str, part: Mapping[str, Any], defaults: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for key, rule in part["properties"].items():
        if "properties" in rule:
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
    variables, cycles, remark = schema.VARIABLES[step], schema.VARIABLES["cycles"], ""
    joined = [name for name, one in every_step().items() if one.joins]
    if step in joined:  # metrics.md has its metrics
        variables = {name: row for name, row in variables.items() if name not in JOINED_METRICS}
    if step == "study":
        absent = ", ".join(f"`{name}`" for name in cycles if name not in variables)
        remark = f": the variables of cycles.nc, without {absent}; and the metrics of each cycle, "
        remark += "with the scores if `study.reference` is set"
        remark += "".join(f"; with the step `{name}`, the variables of {name}.nc" for name in joined)
        described = {name: row[:4] for one in ("cycles", *joined) for name, row in schema.VARIABLES[one].items()}
        variables = {name: row for name, row in variables.items() if described.get(name) != row[:4]}
    asked = "; only if `cycles.further_curves` names it" if step == "cycles" else ""
    rows = [
        (f"`{name}`", f"`({', '.join(dims)})`", units, TYPES[dtype], meaning + asked * (name in ON_REQUEST))
        for name, (dims, units, meaning, dtype, *_) in variables.items()
    ]
    return f"{heading}{remark}.\n\n" + _table(("variable", "dimensions", "units", "stored as", "meaning"), rows)


def metric_tables() -> str:
    """Return one table of metrics per group; the times of the peaks are left out, they are named alike."""
    groups: dict[str, list[tuple[str, ...]]] = {}
    for name, metric in NUMBERS.items():
        if metric.kind != "phase":
            hidden = metric.positive.split(";")[0] not in metric.long_name or ";" in metric.positive
            meaning = metric.long_name + (f"; positive: {metric.positive.replace(';', ',')}" if hidden else "")
            cells = metric.units, meaning, ", ".join(metric.aliases), metric.source
            groups.setdefault(metric.group, []).append((f"`{name}`", *cells))
    header = ("metric", "units", "meaning", "also called", "source")
    return "\n".join(f"## {title}\n\n{_table(header, rows)}" for title, rows in groups.items())


def verdict_tables() -> str:
    """Return a table of the refusals, one of the doubts, and one of the rejected trials."""
    titles = {REFUSES: "Refusals of stances", DOUBTS: "Doubts about stances", REJECTS: "Rejected trials"}
    header = ("code", "words", "when", "the limit is in", "what may help", "accepted by hand")
    parts = []
    for severity, title in titles.items():
        columns = len(header) - (severity != REFUSES)
        rows = [_verdict(code, row)[:columns] for code, row in VERDICTS.items() if row.severity == severity]
        parts.append(f"## {title}\n\n{_table(header[:columns], rows)}")
    return "\n".join(parts)


class NumbersInWords(Formatter):
    """A format for numbers in SI units: ``mm``, ``ms``, ``percent``, ``chance``, and those of Python."""

    def format_field(self, value: Any, spec: str) -> str:
        """Return a number in words."""
        if spec == "chance":
            return f"1 in {1 / value:,.0f}"
        if spec == "percent":
            return f"{100 * value:g} %"
        return f"{1000 * value:g} {spec}" if spec in ("mm", "ms") else format(value, spec)


def _verdict(code: str, row: Row) -> tuple[str, ...]:
    defaults, limits, numbers = settings.every_default(), list[str](), dict[str, Any]()
    for name in row.source:
        place, _, last = name.rpartition(".")
        if place in defaults:
            limits.append(f"`{name}`")
            numbers[last] = defaults[place][last]
        else:
            limits.append(f"[`{last}`](../pipeline/{place.replace('.', '/')}.py)")
            numbers[last] = getattr(importlib.import_module(f"gaitlab.pipeline.{place}"), last)
    see = f" ([more]({row.see}))" if row.see else ""
    when = NumbersInWords().vformat(row.limit, (), numbers)
    words = re.sub(r"\{(\w+).*?\}", r"*\1*", row.sentence).replace("_", "\\_")
    return f"`{code}`", words, f"{when}{see}", ", ".join(limits), row.remedy, "may be" if row.judged else ""


# --- commands --------------------------------------------------------------------------------------------------------


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command by name."""
    found = (action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(next(found))


def command_sections() -> str:
    """Return the groups of commands, and a section for each command: usage, meaning, arguments, examples."""
    groups: dict[str, list[str]] = {}
    for one in every_command():
        link = f"[{one.name}](#gaitlab-{one.name.split()[0]})"
        groups.setdefault(one.group, []).append(f"{link}: {one.text}")
    rows = [(group if i == 0 else "", line) for group, lines in groups.items() for i, line in enumerate(lines)]
    sections = [_command(*one) for one in commands_of(command_line_parser(every_command())).items()]
    return "\n".join([_table(("to", "command"), rows), *sections])


def _command(name: str, parser: argparse.ArgumentParser) -> str:
    actions = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    together = {id(action): group for group in parser._mutually_exclusive_groups for action in group._group_actions}
    usage = dict.fromkeys(
        " | ".join(_spelling(one) for one in together[id(action)]._group_actions)
        if id(action) in together
        else _spelling(action)
        for action in actions
    )
    needed = {_spelling(action) for action in actions if not action.option_strings and action.nargs is None}
    line = " ".join(["gaitlab", name, *(text if text in needed else f"[{text}]" for text in usage)])
    parts = [f"## gaitlab {name}\n\n{parser.description}\n\n```text\n{line}\n```\n"]
    if rows := [(f"`{_spelling(action)}`", _meaning(action)) for action in actions if action.help]:
        parts.append(_table(("argument", "meaning"), rows))
    parts.append(f"Examples:\n\n```sh\n{inspect.cleandoc((parser.epilog or '').removeprefix('examples:'))}\n```\n")
    return "\n".join(parts)


def _spelling(action: argparse.Action) -> str:
    named = " ".join(action.metavar) if isinstance(action.metavar, tuple) else action.metavar
    values = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else named or action.dest.upper()
    if not action.option_strings:
        return str(values)
    return action.option_strings[-1] if action.nargs == 0 else f"{action.option_strings[-1]} {values}"


def _meaning(action: argparse.Action) -> str:
    return str(action.help) % vars(action)


# --- functions -------------------------------------------------------------------------------------------------------

SECTION = re.compile(r"^(Args|Returns|Raises|Example|Examples|Attributes):\n((?:(?:    .*)?\n?)+)", re.MULTILINE)
ITEM = re.compile(r"^([\w*, ]+): ", re.MULTILINE)
QUOTED = re.compile(r"(?<!`)``([^`]+)``(?!`)")
ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`")


def function_sections() -> str:
    """Return a section for each function of ``gaitlab``: how it is called, and its docstring as Markdown."""
    parts = []
    for name, module in sorted(pipeline.FOR_SCRIPTS.items()):
        function = getattr(importlib.import_module(module, pipeline.__name__), name)
        text = _as_markdown(inspect.getdoc(function) or "")
        parts.append(f"## {name}\n\n```text\n{_call(name, function)}\n```\n\n{text}\n")
    return "\n".join(parts)


def _call(name: str, function: Callable[..., Any]) -> str:
    """Return how a function is called, with types: one line, or one for each argument."""
    signature = inspect.signature(function)
    parts = []
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        default = "" if one.default is one.empty else f" = {one.default!r}"
        parts.append(f"{one.name}: {one.annotation}{default}")
    line = f"{name}({', '.join(parts)}) -> {signature.return_annotation}"
    if len(line) > 100:
        line = f"{name}(\n    {f',{chr(10)}    '.join(parts)},\n) -> {signature.return_annotation}"
    return line.replace("xr.", "xarray.")


def _as_markdown(docstring: str) -> str:
    """Return a docstring in Google's style as Markdown."""
    text = SECTION.sub(lambda match: f"{_section(match[1], textwrap.dedent(match[2]).strip())}\n", f"{docstring}\n")
    return QUOTED.sub(r"`\1`", ROLE.sub(r"`\1`", text)).strip()


def _section(title: str, text: str) -> str:
    if title.startswith("Example"):
        return f"```pycon\n{text}\n```\n"
    if title in ("Args", "Raises", "Attributes"):
        lines = ITEM.sub(lambda match: f"- `{match[1].replace(', ', '`, `')}`: ", text)
        return f"{'Arguments' if title == 'Args' else title}:\n\n{re.sub('^    ', '  ', lines, flags=re.MULTILINE)}\n"
    return f"{title}: {text}\n"


# --- teaching modules ------------------------------------------------------------------------------------------------

TEACHING = DOCS.parent / "pipeline" / "extras" / "teaching"
# from one or two links to any chain, then what drives them
MODULES = (
    *("planar", "pendulum", "open_chain", "equations_of_motion", "reaching", "control", "muscles", "hill"),
    *("muscle_driven", "muscle_forces"),
)
BLOCK = re.compile(r"::\n\n((?: +.*\n?|\n)+)")
MATH = re.compile(r":math:`([^`]+)`")
VERBATIM = re.compile(r"(```.*?```|`[^`\n]+`|\$[^$]+\$)", re.DOTALL)


def teaching_sections() -> str:
    """Return a section for each teaching module: its docstring, its functions, and its classes with their fields."""
    return "\n".join(_module(name) for name in MODULES)


def _module(name: str) -> str:
    source = (TEACHING / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    link = f"[{name}.py](../pipeline/extras/teaching/{name}.py)"
    parts = [f"## {name}\n\n{link}: {_plain(ast.get_docstring(tree) or '')}\n"]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            text = _plain(ast.get_docstring(node) or "")
            parts.append(f"### {name}.{node.name}\n\n```text\n{_head(node, source)}\n```\n\n{text}\n")
    return "\n".join(parts)


def _head(node: ast.FunctionDef | ast.ClassDef, source: str) -> str:
    """Return how a function is called, or the fields of a class with their comments."""
    if isinstance(node, ast.FunctionDef):
        returned = ast.unparse(node.returns) if node.returns else "None"
        line = f"{node.name}({ast.unparse(node.args)}) -> {returned}"
        return line if len(line) <= 100 else f"{node.name}(\n    {ast.unparse(node.args)},\n) -> {returned}"
    lines = source.splitlines()[node.body[0].end_lineno : node.end_lineno]
    return f"class {node.name}:\n" + "\n".join(lines).strip("\n")


def _plain(docstring: str) -> str:
    """Return a docstring as Markdown, with its indented blocks fenced."""
    text = BLOCK.sub(lambda match: f":\n\n```text\n{textwrap.dedent(match[1]).strip()}\n```\n\n", f"{docstring}\n")
    parts = VERBATIM.split(_as_markdown(MATH.sub(r"$\1$", text)))
    return "".join(part if i % 2 else part.replace("_", r"\_") for i, part in enumerate(parts))


PAGES: Mapping[str, Callable[[], str]] = {
    "settings.md": settings_tables,
    "outputs.md": output_tables,
    "metrics.md": metric_tables,
    "verdicts.md": verdict_tables,
    "commands.md": command_sections,
    "python.md": function_sections,
    "teaching.md": teaching_sections,
}


def page(name: str) -> str:
    """Return the text of a page with new tables."""
    text = (DOCS / name).read_text(encoding="utf-8")
    if name in PAGES:
        text = GENERATED.sub(lambda _: f"\n{PAGES[name]()}\n", text, count=1)
    return OF_SECTION.sub(lambda match: f"{match[1]}\n{section_table(match[2])}\n", text)


def pages_of_sections() -> list[tuple[str, str]]:
    """Return each section that an extra has and a page describes, with the page."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
    return sorted((match[2], name) for name, text in texts.items() for match in OF_SECTION.finditer(text))


def _as_yaml(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _values(name: str, rule: Mapping[str, Any]) -> str:
    return "; ".join(_value_parts(name, rule))


def _value_parts(name: str, rule: Mapping[str, Any]) -> Iterator[str]:
    kinds = [rule["type"]] if isinstance(rule.get("type"), str) else rule.get("type", [])
    yield from [unit for suffix, unit in UNITS.items() if name.endswith(suffix)][:1]
    if "enum" in rule:
        yield ", ".join(f"`{value}`" for value in rule["enum"])
    if "array" in kinds:
        items = rule["items"].get("enum", ())
        yield "list of any of " + ", ".join(f"`{value}`" for value in items) if items else "list of texts"
    yield from (word for kind, word in KINDS.items() if kind in kinds and not ("pattern" in rule and kind == "string"))
    yield from (f"{word} {rule[limit]:g}" for limit, word in LIMITS.items() if limit in rule)
    if "maxLength" in rule:
        yield f"at most {rule['maxLength']} characters"
    if "pattern" in rule:
        yield f"or `{rule['pattern'].strip('^$')}`"
    if "null" in kinds:
        yield "or `null`"


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = (header, ("---",) * len(header), *rows)
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |\n" for line in lines)


if __name__ == "__main__":
    for target in dict.fromkeys([*PAGES, *(name for _, name in pages_of_sections())]):
        (DOCS / target).write_text(page(target), encoding="utf-8")
