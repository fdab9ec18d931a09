"""Extras are found, and nothing else knows them: without one the rest is as before, with one more only that is new."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import xarray as xr

from pipeline import command_table, extra, step
from pipeline.__main__ import command_line_parser, main
from pipeline.command_table import COMMANDS, Command, every_command
from pipeline.errors import UserError
from pipeline.extra import Extra, every_extra
from pipeline.reference import resolve
from pipeline.workflow import open_study as open_study_module
from pipeline.workflow import settings
from pipeline.workflow.open_study import open_study
from tests.campaigns.extras import commands_and_jobs, python
from tests.campaigns.interruptions import write_tiny_study
from tests.support.checkout import DEMO, HOUSE, copy_product, copy_study
from tests.support.studies.for_report import Page

EXTRAS = HOUSE / "pipeline" / "extras"
OURS = sorted(path.parent.name for path in EXTRAS.glob("*/declaration.py"))
CODE = (".py", ".smk", ".yaml", "")
# what has the name of an extra and is something else: a module of Python, a book, a page
ANOTHER = re.compile(r"from statistics import|Directional statistics|\bstatistics\.md\b")
ExtrasWith = Callable[[Path], dict[str, Extra]]
# the package that the page writes, by file
PAGE = (HOUSE / "docs" / "write_your_own_step.md").read_text(encoding="utf-8")
LAB = dict(re.findall(r"^```\w+\n(?:#|<!--) (\S+)(?: -->)?\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
KEYS = """
import json, sys
from pathlib import Path
from types import SimpleNamespace
from pipeline.workflow.open_study import open_study, outputs_of

study = open_study(Path(sys.argv[1]))
jobs = dict.fromkeys(outputs_of(study).values())
wildcards = lambda subject: SimpleNamespace(session=subject, participant=subject) if subject else SimpleNamespace()
print(json.dumps({rule: study.key(rule)(wildcards(subject)) for rule, subject in jobs}))
"""


def commands_of(one: Extra) -> list[Command]:
    """Return the commands of an extra."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command_table, "every_extra", lambda: {one.name: one})
        return [command for command in every_command() if command not in COMMANDS]


def steps_of(one: Extra) -> list[str]:
    """Return the names of the steps of an extra."""
    return [resolve(reference).name for reference in one.steps]


def core_files() -> Iterator[Path]:
    """Yield each file of code, rules or settings that no extra has."""
    for folder in ("pipeline", "gaitlab", "config", "profiles", "snakemake_logger_plugin_gaitlab"):
        paths = (path for path in (HOUSE / folder).rglob("*") if path.is_file() and path.suffix in CODE)
        yield from (path for path in paths if not (path.is_relative_to(EXTRAS) and path.parent != EXTRAS))
    yield HOUSE / "Snakefile"


def named_in(text: str, one: Extra) -> list[str]:
    """Return where a text names an extra, its steps or one of its commands.

    A name in other letters is another: OpenSim is a program, of which TRC and MOT files are. The name of a step may be
    a word of the field, so it is looked for as code has it.
    """
    new = {command.name for command in commands_of(one)}
    patterns = [rf"\b(?:{one.name}|{one.name.capitalize()})\b"]
    patterns += [rf"gaitlab {name}\b|[\"']{name}[\"']" for name in sorted(new)]
    own = {*steps_of(one), *one.settings}
    patterns += [rf"[\"']{name}[\"']|\bsteps[./]{name}\b|``{name}``|^{name}:|\b{name}\.(?:nc|csv)\b" for name in own]
    return [match[0] for match in re.finditer("|".join(patterns), ANOTHER.sub("", text), re.MULTILINE)]


@pytest.mark.parametrize("name", OURS)
def test_the_core_names_no_extra(name: str) -> None:
    found = {str(path): named_in(path.read_text(encoding="utf-8"), every_extra()[name]) for path in core_files()}
    assert len(found) > 300
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize(
    "line", ["from .extras.{} import app", "import pipeline.extras.{}", 'load("{}")', "# see {}.", ":mod:`.{}`"]
)
def test_a_name_of_an_extra_is_found(name: str, line: str) -> None:
    one = every_extra()[name]
    assert named_in(line.format(name), one)
    assert not named_in(line.format("another"), one)
    for its in steps_of(one):
        for text in (f'steps["{its}"]', f"pipeline.steps.{its}.step", f"{its}:\n  on: true", f"step ``{its}``"):
            assert named_in(text, one)
    for command in commands_of(one):
        assert named_in(f'Command("{command.name}", RUN)', one)
        assert named_in(f"give 'gaitlab {command.name} STUDY'", one)


def test_extras_of_the_folder_are_found_by_it() -> None:
    assert [one for one in every_extra() if one in OURS] == OURS
    assert {path.parent.name for path in EXTRAS.glob("*/__init__.py")} == {*OURS}


@pytest.mark.parametrize("name", OURS)
def test_a_command_of_an_absent_extra_is_unknown(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    others = {other: one for other, one in every_extra().items() if other != name}
    absent = [command.name for command in commands_of(every_extra()[name])]
    assert {*absent} <= {command.name for command in every_command()}
    monkeypatch.setattr(command_table, "every_extra", lambda: others)
    listed = re.findall(r"^  (\S.*?)  ", command_line_parser(every_command()).format_help(), re.MULTILINE)
    assert not {*absent} & {*listed}
    for command in absent:
        first, *form = command.split()
        with pytest.raises(SystemExit):
            main([first, "my_study", *form])
        expected = f"unknown: {' '.join(form)}" if form else f"invalid choice: '{command}'"
        assert expected in capsys.readouterr().err


# --- of other packages -----------------------------------------------------------------------------------------------


def write_package(folder: Path, **changed: str) -> Path:
    """Write the package of a laboratory; text of some of its files may be changed, by the file's name."""
    project = tomllib.loads(LAB["pyproject.toml"])["project"]
    ((group, points),) = project["entry-points"].items()
    named = "\n".join(f"{name} = {what}" for name, what in points.items())
    about = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"  # as pip installs it
    for path in (about, folder / "our_lab"):
        path.mkdir(parents=True, exist_ok=True)
    (about / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    (about / "entry_points.txt").write_text(f"[{group}]\n{named}\n")
    for name, text in LAB.items():
        (folder / name).write_text(changed.get(Path(name).stem, text))
    return folder


@pytest.fixture
def extras_with(monkeypatch: pytest.MonkeyPatch) -> Iterator[ExtrasWith]:
    """Give a function that returns all extras where a folder is on the path of modules."""

    def forget() -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == "our_lab"]:
            del sys.modules[name]

    def found(folder: Path) -> dict[str, Extra]:
        forget()
        monkeypatch.syspath_prepend(folder)
        return dict(every_extra.__wrapped__())

    yield found
    forget()


def test_an_extra_of_another_package_is_found(
    extras_with: ExtrasWith, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = extras_with(write_package(tmp_path))
    assert [*found] == [*every_extra(), "push"]
    monkeypatch.setattr(command_table, "every_extra", lambda: found)
    assert [command.name for command in every_command()][-1] == "push-off"
    assert main(["push-off", str(tmp_path)]) == 1  # no results there


def test_a_command_without_its_libraries_says_what_to_install(
    extras_with: ExtrasWith, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = LAB["our_lab/commands.py"].replace("from gaitlab import load_study", "import no_such_library")
    declared = LAB["our_lab/declaration.py"].replace(
        '    "push",', '    "push",\n    install="pip install our-lab[all]",'
    )
    found = extras_with(write_package(tmp_path, commands=commands, declaration=declared))
    monkeypatch.setattr(command_table, "every_extra", lambda: found)
    assert main(["push-off", str(tmp_path)]) == 1
    said = "gaitlab push-off: no_such_library is not installed; install it with: pip install our-lab[all]\n"
    assert capsys.readouterr().err == said
    monkeypatch.setattr(command_table, "every_extra", lambda: {"push": found["push"]._replace(install="")})
    with pytest.raises(ModuleNotFoundError):  # a fault
        main(["push-off", str(tmp_path)])


def test_a_second_section_of_a_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    extra = Extra("push", settings={"clean": "pipeline.workflow.declared_settings:Run"})
    monkeypatch.setattr(settings, "every_extra", lambda: {"push": extra})
    with pytest.raises(UserError, match="extra 'push': there is another section of the settings 'clean'"):
        settings.sections_of_extras.__wrapped__()


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"report": {"factor": 2, "title": "x"}}, {"report": {"title": "x"}, "push": {"factor": 2}}),
        ({"report": {"factor": None}, "push": {"a": 1}}, {"report": {}, "push": {"a": 1, "factor": None}}),
        ({"report": {"factor": 2}, "push": {"factor": 3}}, {"report": {"factor": 2}, "push": {"factor": 3}}),
        ({"report": {"factor": 2}, "push": 5}, {"report": {"factor": 2}, "push": 5}),
        ({"report": None}, {"report": None}),
        ({}, {}),
    ],
)
def test_a_setting_by_its_earlier_name_is_that_of_the_extra(
    monkeypatch: pytest.MonkeyPatch, own: dict[str, object], expected: dict[str, object]
) -> None:
    """Both names at once are refused, as the earlier one is then unknown."""
    monkeypatch.setattr(extra, "every_extra", lambda: {"push": Extra("push", renamed={"report.factor": "push.factor"})})
    before = copy.deepcopy(own)
    assert settings.with_new_names(own) == expected
    assert own == before


def test_a_package_that_cannot_be_imported_is_named(extras_with: ExtrasWith, tmp_path: Path) -> None:
    write_package(tmp_path, declaration="import no_such_library")
    with pytest.raises(
        UserError, match=r"extra 'push': cannot be imported: .*no_such_library.*; install our-lab again"
    ):
        extras_with(tmp_path)


def test_an_entry_point_that_names_something_else_is_refused(extras_with: ExtrasWith, tmp_path: Path) -> None:
    write_package(tmp_path, declaration="EXTRA = 'push'")
    with pytest.raises(UserError, match=r"our_lab\.declaration:EXTRA is no Extra"):
        extras_with(tmp_path)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("run", "there is another command 'run'"),
        ("push --off", "'push --off' is a form of a command that is not there"),
    ],
)
def test_a_command_that_cannot_be_there_is_refused(
    name: str, what: str, extras_with: ExtrasWith, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = LAB["our_lab/commands.py"].replace('"push-off"', f'"{name}"')
    found = extras_with(write_package(tmp_path, commands=declared))
    monkeypatch.setattr(command_table, "every_extra", lambda: found)
    with pytest.raises(UserError, match=f"extra 'push': {what}"):
        every_command()


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('name="push"', 'name="clean"', "declares a second step or output 'clean'"),
        ('"push": Output', '"clean": Output', "declares a second step or output 'clean'"),
        ("PUSH = Step", "PULL = Step", "what it declares cannot be imported: .* 'PUSH'"),
    ],
)
def test_a_step_that_cannot_be_there_is_refused(
    old: str, new: str, what: str, extras_with: ExtrasWith, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = LAB["our_lab/push.py"]
    assert old in declared
    found = extras_with(write_package(tmp_path, push=declared.replace(old, new)))
    monkeypatch.setattr(step, "every_extra", lambda: found)
    with pytest.raises(UserError, match=f"extra 'push': {what}"):
        step.every_step.__wrapped__()


def test_a_step_that_joins_nothing_is_a_problem_of_the_study() -> None:
    study = open_study(DEMO)
    steps = {"cycles": replace(study.steps["cycles"], joins=True), "clean": replace(study.steps["clean"], joins=True)}
    vars(study)["steps"] = steps  # as the study would remember them
    (problem,) = open_study_module._joining_nothing(study)
    assert str(problem).startswith("step 'clean': its results are to be joined, but none lies along cycle")


def test_a_second_extra_of_a_name_is_refused(extras_with: ExtrasWith, tmp_path: Path) -> None:
    for place in ("one", "other"):
        write_package(tmp_path / place)
    about = (tmp_path / "other/our_lab-1.0.dist-info").rename(tmp_path / "other/their_lab-1.0.dist-info")
    (about / "METADATA").write_text("Name: their-lab\nVersion: 1.0\n")
    extras_with(tmp_path / "one")
    with pytest.raises(UserError, match="extra 'push': there is another extra 'push'"):
        extras_with(tmp_path / "other")


def test_files_that_are_no_packages_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd.dist-info").write_text("a file")
    (tmp_path / "empty.egg-info").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "odd.dist-info")
    monkeypatch.syspath_prepend(tmp_path / "nowhere")
    assert every_extra.__wrapped__() == every_extra()


# --- in processes ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the product without any extra."""
    folder = copy_product(tmp_path_factory.mktemp("bare"), *OURS)
    copy_study(DEMO, folder / "data" / "demo")
    return folder


@pytest.mark.process
def test_without_extras_the_demonstration_is_planned(bare: Path) -> None:
    commands, jobs = commands_and_jobs(bare)
    assert commands == {command.name for command in COMMANDS}
    assert "report" in jobs


@pytest.mark.process
@pytest.mark.parametrize("name", OURS)
def test_an_import_of_an_absent_extra_is_seen(bare: Path, name: str) -> None:
    """So that the test before can fail."""
    path, line = bare / "pipeline" / "__main__.py", "from . import __version__\n"
    before = path.read_text()
    path.write_text(before.replace(line, f"{line}from .extras import {name}\n"))
    with pytest.raises(AssertionError, match=rf"cannot import name '{name}'"):
        commands_and_jobs(bare)
    path.write_text(before)


def keys(house: Path, study: Path, *packages: Path) -> dict[str, str]:
    """Return the key of a job of each rule."""
    done = python(house, "-c", KEYS, str(study), packages=packages)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def tiny_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_study(tmp_path_factory.mktemp("tiny") / "study")


@pytest.fixture(scope="module")
def without(tiny_study: Path) -> dict[str, str]:
    """Return the keys with no extra of another package."""
    return keys(HOUSE, tiny_study)


@pytest.mark.process
def test_the_extras_of_the_folder_change_no_key(bare: Path, tiny_study: Path, without: dict[str, str]) -> None:
    """In a study that uses none of them."""
    assert keys(bare, tiny_study) == without


@pytest.fixture(scope="module")
def with_lab(tiny_study: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the keys with the package of a laboratory."""
    return keys(HOUSE, tiny_study, write_package(tmp_path_factory.mktemp("package")))


@pytest.mark.process
def test_an_extra_changes_the_keys_of_its_own_jobs_and_of_those_that_use_it(
    without: dict[str, str], with_lab: dict[str, str]
) -> None:
    assert with_lab.keys() - without.keys() == {"push"}
    assert {name for name in without if with_lab[name] != without[name]} == {"study", "report", "page"}


@pytest.mark.process
@pytest.mark.parametrize(
    ("without_lines", "changed"), [(("joins",), {"report", "page"}), (("joins", "report", "methods"), set[str]())]
)
def test_an_extra_changes_no_key_of_what_it_adds_nothing_to(
    tiny_study: Path, without: dict[str, str], tmp_path: Path, without_lines: tuple[str, ...], changed: set[str]
) -> None:
    declared = LAB["our_lab/push.py"]
    for name in without_lines:
        declared, count = re.subn(rf"^    {name}=.*\n", "", declared, flags=re.MULTILINE)
        assert count == 1
    found = keys(HOUSE, tiny_study, write_package(tmp_path / "lab", push=declared))
    assert found.keys() - without.keys() == {"push"}
    assert {name for name in without if found[name] != without[name]} == changed


@pytest.mark.process
def test_a_template_of_an_addition_is_in_the_keys_of_the_pages(
    tiny_study: Path, with_lab: dict[str, str], tmp_path: Path
) -> None:
    lab = write_package(tmp_path / "lab")
    (lab / "our_lab" / "weakest.html").write_text("another template")
    now = keys(HOUSE, tiny_study, lab)
    assert {name for name in now if now[name] != with_lab[name]} == {"report", "page"}


@pytest.mark.process
def test_the_package_of_the_page_adds_a_step_with_all_that_it_declares(tmp_path: Path) -> None:
    """That is its rule, setting, variable, metric, panel, table, sentence of the methods, and command."""
    lab, study = write_package(tmp_path / "lab"), write_tiny_study(tmp_path / "study")
    with (study / "study.yaml").open("a") as handle:
        handle.write("push: {factor: 2}\n")

    def gaitlab(*words: str) -> subprocess.CompletedProcess[str]:
        return python(HOUSE, "-m", "pipeline", *words, packages=[lab])

    run = gaitlab("run", str(study))
    assert run.returncode == 0, run.stderr
    found = xr.load_dataset(study / "derived" / "study.nc")
    power = found.joint_power.sel(joint="ankle", drop=True)
    xr.testing.assert_allclose(found.push_curve.drop_attrs(), 2 * power.drop_attrs(), rtol=1e-6)  # single precision
    with (study / "derived" / "metrics.csv").open() as handle:
        assert "push_of_ankle" in handle.readline()
    page = Page((study / "derived/report/sub-01.html").read_text(encoding="utf-8"))
    curves = [one["curves"] for one in page.figures()[0] if one["group"] == "Push-off"]
    assert [curve["side"] for curve in curves[0]] == ["left", "right"]
    assert "Weakest push-off of each side" in page.words
    assert "Push-off is 2 times the power of the ankle." in " ".join(gaitlab("methods", str(study)).stdout.split())
    printed = gaitlab("push-off", str(study), "--side", "left").stdout
    push = found.push_of_ankle[found.side == "left"]
    assert float(printed.removesuffix(" W/kg\n")) == pytest.approx(float(push.mean()), abs=0.005)
    again = gaitlab("run", str(study))
    assert "Nothing to do" in again.stdout + again.stderr
    without = python(HOUSE, "-m", "pipeline", "check", str(study), "--json")
    assert without.returncode == 1
    assert "no step or extra has the section 'push'" in without.stdout
