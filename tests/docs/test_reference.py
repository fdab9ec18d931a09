"""The generated reference is whole: settings, commands, functions; and names on all pages exist."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from docs import reference
from pipeline import FOR_SCRIPTS
from pipeline.__main__ import command_line_parser, main
from pipeline.command_table import every_command
from pipeline.tables import study_tables
from pipeline.variables import schema
from pipeline.variables.metrics import NUMBERS
from pipeline.variables.rows import WHOLE
from pipeline.workflow import settings
from tests.support.checkout import HOUSE

DOCS = HOUSE / "docs"
TABLES = ("metrics", "participants", "symmetry", "quality")
PAGES = sorted([*DOCS.glob("*.md"), HOUSE / "README.md", HOUSE / "CONTRIBUTING.md", HOUSE / "CHANGELOG.md"])
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
FOLDERS = ("pipeline", "config", "data", "docs", "profiles", "tests", "benchmarks", "snakemake_logger_plugin_gaitlab")
CODE = [
    *HOUSE.glob("*.*"),
    HOUSE / "Snakefile",
    *(path for folder in FOLDERS for path in (HOUSE / folder).rglob("*.*")),
]
FILES = {f"{step}.nc" for step in schema.VARIABLES} | {"study.yaml", "participants.tsv", "trials.tsv"}
FILES |= {
    "segments.tsv", "sessions.tsv", "corrections.tsv", "cycles.tsv", "study.csv", "report.html", "run.json",
    "checksums", "study.parquet", "study.xlsx", "curve_tests.csv", "repeatability.csv", "repeatability.json",
    "metrics.parquet", "quality.parquet", "study.csv.json", "study.parquet.json", "new_participants.tsv",
    "body_model_proposal.yaml", "new_sessions.tsv", "new_trials.tsv", "stances.tsv", "scale.trc", "scale.xml",
}  # fmt: skip
FILES |= {f"{name}{kind}" for name in TABLES for kind in (".csv", ".changed.csv", ".json")}


@cache
def words_of_code() -> set[str]:
    """Return all words of code, settings, pages and texts."""
    suffixes = (".py", ".yaml", ".html", ".js", ".txt", "")
    files = (path for path in CODE if path.suffix in suffixes and path.is_file() and path != Path(__file__))
    return {word for path in files for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}


# --- settings --------------------------------------------------------------------------------------------------------


def leaves(rules: dict[str, Any], above: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the path and the rule of every setting of the schema."""
    for key, rule in rules["properties"].items():
        if "properties" in rule:
            yield from leaves(rule, f"{above}{key}.")
        else:
            yield f"{above}{key}", rule


SETTINGS = dict(leaves(settings.schema("settings")))


def row_of(path: str) -> list[str]:
    """Return the cells of a setting's row: name, default, values, meaning."""
    page = dict(reference.pages_of_sections()).get(path.partition(".")[0], "settings.md")
    lines = (DOCS / page).read_text().splitlines()
    (row,) = (line for line in lines if line.startswith(f"| `{path}` |"))
    return row.strip("| ").split(" | ")


def test_every_section_of_an_extra_is_described_on_a_page() -> None:
    assert [name for name, _ in reference.pages_of_sections()] == sorted(settings.sections_of_extras())


@pytest.mark.parametrize("path", SETTINGS)
def test_row_of_a_setting_has_everything_that_the_schema_allows(path: str) -> None:
    rule = SETTINGS[path]
    _, _, values, meaning = row_of(path)
    assert values.strip()
    allowed = [*rule.get("enum", ()), *rule.get("items", {}).get("enum", ())]
    allowed += ["null"] if "null" in rule.get("type", ()) else []
    allowed += [rule["pattern"].strip("^$")] if "pattern" in rule else []
    assert [value for value in allowed if f"`{value}`" not in values] == []
    limits = [rule[name] for name in rule if name.lower().endswith(("minimum", "maximum"))]
    assert [limit for limit in limits if not re.search(rf"(above|below|at least|at most) {limit:g}\b", values)] == []
    assert rule["description"].split()[0] in meaning


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("cycles.max_disagreement_n_m", "N m"),
        ("contacts.threshold_n", "N"),
        ("contacts.max_lever_arm_m", "m"),
        ("kinetics.gravity_m_s2", "m s-2"),
        ("clean.max_gap_s", "s"),
        ("clean.force_cutoff_hz", "Hz"),
    ],
)
def test_unit_of_a_setting_is_that_of_its_name(path: str, unit: str) -> None:
    assert row_of(path)[2].split(";")[0] == unit


# --- metrics ---------------------------------------------------------------------------------------------------------


def test_every_metric_is_listed_with_its_other_names_and_a_source_that_is_cited() -> None:
    text = (DOCS / "metrics.md").read_text()
    listed = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE))
    metrics = {name: metric for name, metric in NUMBERS.items() if metric.kind != "phase"}
    assert {*listed} == {*metrics}
    text, theory = text.partition("## Sources")[2], (DOCS / "theory.md").read_text().partition("## Literature")[2]
    cited = re.findall(r"^- (\w+) [A-Z].*?\((\d{4})\)", text + theory, re.MULTILINE | re.DOTALL)
    for name, metric in metrics.items():
        assert [alias for alias in metric.aliases if alias not in listed[name]] == []
        assert metric.window.words in listed[name] or metric.window in WHOLE
        author, year = (metric.source.split()[0], metric.source.split()[-1]) if metric.source else cited[0]
        assert (author, year) in cited, metric.source


# --- commands --------------------------------------------------------------------------------------------------------

COMMANDS = reference.commands_of(command_line_parser(every_command()))


@pytest.mark.parametrize("name", COMMANDS)
def test_command_has_a_section_with_all_that_its_help_lists(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"])
    printed = capsys.readouterr().out
    section = re.split(r"^## ", (DOCS / "commands.md").read_text().split(f"## gaitlab {name}\n")[1], flags=re.M)[0]
    options = set(re.findall(r"--[a-z][\w-]+", printed.partition("Examples:")[0])) - {"--help"}
    assert [option for option in options if option not in section] == []
    examples = re.findall(rf"^ +(gaitlab {name} .*)$", printed, re.MULTILINE)
    assert examples
    assert [example for example in examples if example not in section] == []


def test_commands_of_the_pages_are_understood() -> None:
    """Every line of the pages that begins with gaitlab names a command, and options that it has."""
    wrong = []
    for page in PAGES:
        for line in re.findall(r"^(?:\$ )?gaitlab ([^#\n&]+)", page.read_text(), re.MULTILINE):
            name, *rest = line.split()
            known = COMMANDS.get(name)
            options = [word.rstrip("]") for word in rest if word.startswith("--")]
            takes_more = name in ("run", "recover")  # options of Snakemake
            if name != "--version" and (
                known is None or (not takes_more and set(options) - {*known._option_string_actions})
            ):
                wrong.append((page.name, line))
    assert wrong == []


# --- functions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FOR_SCRIPTS)
def test_function_for_scripts_is_described_with_its_arguments(name: str) -> None:
    function = getattr(importlib.import_module(FOR_SCRIPTS[name], "pipeline"), name)
    text = inspect.getdoc(function) or ""
    assert [part for part in ("Args:", "Returns:", "Example:") if part not in text] == []
    section = re.split(r"^## ", (DOCS / "python.md").read_text().split(f"## {name}\n")[1], flags=re.MULTILINE)[0]
    assert [one for one in inspect.signature(function).parameters if f"- `{one}`: " not in section] == []
    assert "``" not in section.replace("```", "")
    assert ":func:" not in section


# --- names on all pages ----------------------------------------------------------------------------------------------

EXTENSIONS = r"(nc|csv|tsv|yaml|html|json|py|md|toml|log|R|m|c3d|png|svg|cff|mot|sto|trc|xml|parquet|xlsx)"
OTHERS = {"shank.z", "read.csv", "cf_role"}  # an axis of a body model; a function of R; an attribute of CF
OTHERS |= {"page.css"}  # the style of the pages
OTHERS |= {"walk1_new.trc", "static_new.trc", "walk1_grf.sto"}  # files of a laboratory


def quoted(text: str, pattern: str) -> set[str]:
    """Return the names between backticks, outside code blocks, that match; with their value cut off."""
    found = re.findall(r"`([^`\n]+)`", FENCED.sub("", text))
    return {name.split(":")[0] for name in found if re.fullmatch(rf"{pattern}(: .*)?", name)}


def is_setting(name: str) -> bool:
    above = {".".join(path.split(".")[:count]) for path in SETTINGS for count in (1, 2)}
    return name in SETTINGS or name in above or name.endswith(".*")


def is_attribute(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    with contextlib.suppress(ImportError):
        return hasattr(importlib.import_module(module), attribute)
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_with_points_are_settings_files_or_attributes(page: Path) -> None:
    text = page.read_text()
    names = quoted(text, r"[a-z_]\w*(\.[a-z_*]\w*)+")
    files = {name for name in names if re.fullmatch(rf"[\w.]+\.{EXTENSIONS}", name)}
    known = FILES | {path.name for path in CODE} | set(re.findall(r"\w+\.\w+", "".join(FENCED.findall(text))))
    assert sorted(files - known - OTHERS) == []
    assert [name for name in sorted(names - files - OTHERS) if not (is_setting(name) or is_attribute(name))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_with_underscores_occur_in_the_code(page: Path) -> None:
    text = reference.GENERATED.sub("", page.read_text())
    names = quoted(text, r"[a-z]+(_[a-z0-9]+)+")
    known = (
        words_of_code() | {*study_tables.PARTICIPANT_COLUMNS} | set(re.findall(r"\w+", "".join(FENCED.findall(text))))
    )
    unknown = names - known - OTHERS
    assert [name for name in sorted(unknown) if re.sub(r"_(of_stance|left|right)$", "", name) not in known] == []
