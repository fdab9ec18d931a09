"""What steps declare agrees with the Snakefile, and costs a process little."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.extra import rules_of_extras
from pipeline.reference import resolve
from pipeline.step import Step, every_step
from pipeline.workflow import job_keys
from pipeline.workflow.open_study import TABLES, open_study
from tests.support.checkout import DEMO, HOUSE

RULE = re.compile(r"^(?:rule|use rule \w+ as) (\w+)(?: with)?:\n(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
FILES = [HOUSE / "Snakefile", *map(Path, rules_of_extras())]
RULES = dict(rule for file in FILES for rule in RULE.findall(file.read_text()))
SECTIONS = ("input", "output", "log", "resources", "params", "run")


def named(rule: str, section: str) -> list[str]:
    """Return the names in a section of a rule, in order."""
    start = rule.partition(f"    {section}:\n")[2]
    text = re.split(rf"^    (?:{'|'.join(SECTIONS)}):\n", start, maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(r"^        (\w+)=", text, re.MULTILINE)


@pytest.mark.parametrize("has_it", [True, False])
def test_what_a_step_declares_is_in_its_key(monkeypatch: pytest.MonkeyPatch, has_it: bool) -> None:
    """Also what a step declares whose results are joined to the cycles of a study, if the study has this step."""
    study = open_study(DEMO)
    joins = replace(every_step()["kinetics"], name="joining", outputs={}, joins=True)
    before = {**every_step(), "joining": replace(joins, only_if="" if has_it else "operator:not_")}

    def declared(steps: dict[str, Step]) -> dict[str, str]:
        monkeypatch.setattr(job_keys, "every_step", lambda: steps)
        subjects = {"session": "sub-01", "participant": "sub-01", "study": None}
        opened = replace(study)  # it remembers its steps
        others = {name: step for name, step in steps.items() if not step.joins}
        return {name: opened.content_of_key(name, subjects[step.scope])["declared"] for name, step in others.items()}

    changed = dict[str, set[str]]()
    for name in ("kinetics", "joining"):
        now = declared(before | {name: replace(before[name], takes=("corrections",))})
        changed[name] = {one for one, text in declared(before).items() if text != now[one]}
    joining = {name for name, step in before.items() if step.scope != "session" and step.inputs} if has_it else set()
    assert changed == {"kinetics": {"kinetics"}, "joining": joining}


def test_each_step_has_its_rule() -> None:
    assert RULES.keys() - {"all"} == every_step().keys()


@pytest.mark.parametrize("name", [*every_step()])
def test_a_rule_has_the_files_that_its_step_declares(name: str) -> None:
    step, rule = every_step()[name], RULES[name]
    tables = [*TABLES] if "for name in TABLES" in rule else []
    assert [*tables, *named(rule, "output")] == [*step.outputs]
    for output in (one for name, one in step.outputs.items() if name not in tables):
        assert all(f'"derived/{file}"' in rule for file in output.files)
    asks = "resources" in rule and "memory_of" in rule and "minutes_of" in rule
    assert asks == (step.extra_mb > 0 or step.times_as_long > 1)
    if name == "page":  # its rule asks the study
        assert "STUDY.files_of_page" in rule
    else:
        assert named(rule, "input") == (["recordings"] if "recordings" in step.takes else [*step.inputs])


@pytest.mark.parametrize("name", [*every_step()])
def test_all_that_a_step_names_is_there(name: str) -> None:
    step = every_step()[name]
    named = [step.function, step.settings, step.job, step.cells, step.only_if, step.problems, step.metrics]
    named += [step.added_to, step.report, step.methods]
    named += [of for output in step.outputs.values() for of in (output.variables, output.made_by)]
    assert all(resolve(one) is not None for one in named if one)
    assert all(isinstance(step.loaded(one), tuple | None) for one in step.inputs)


@pytest.mark.process
def test_declarations_and_settings_import_the_standard_library_alone() -> None:
    """Every process reads them: commands, the planning of a run, each job."""
    code = (
        "import sys; before = {*sys.modules}; from pipeline.step import every_step\n"
        "from pipeline.reference import resolve\n"
        "[resolve(step.settings) for step in every_step().values()]\n"
        "print(*{name.partition('.')[0] for name in {*sys.modules} - before} - {*sys.stdlib_module_names})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=HOUSE, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["pipeline"]
