"""Which code is in the key of which job: exactly the modules that the job runs, found by running each."""

from __future__ import annotations

import ast
import functools
import inspect
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline.step import every_step
from pipeline.workflow import digests
from pipeline.workflow.job_keys import Study, code_of, without_results
from pipeline.workflow.jobs.workers import modules_for
from pipeline.workflow.open_study import open_study
from tests.support.checkout import HOUSE
from tests.support.step_names import SESSION_OUTPUTS, SESSION_STEPS, STEPS

PACKAGE = HOUSE / "pipeline"
MODULES = sorted(
    ".".join(path.relative_to(HOUSE).with_suffix("").parts)
    for path in PACKAGE.rglob("*.py")
    if path.name != "__init__.py"
)
# a process of its own for each job, forked from one that has what workers have for every step
TRACE = """
import json, os, sys
from pathlib import Path
import jsonschema, netCDF4, pandas, xarray, yaml
def paths(files): return {name: [Path(file) for file in some] for name, some in files.items()}
for line in sys.stdin:
    key, inputs, outputs = json.loads(line)
    if os.fork() == 0:
        from pipeline.workflow.jobs.run_job import run
        run(key, paths(inputs), paths(outputs))
        print(*sys.modules, flush=True)
        os._exit(0)
    if os.wait()[1]:
        sys.exit(1)
"""
# a key holds what a step declares, and the values of its settings; tables of other steps change no result
DATA = {module for module in MODULES if module.endswith(".declaration")} | without_results()
TABLES = {module for step in every_step().values() for module in step.tables}
EVERY = (*STEPS, "page", "page_files")
LARGE = {"scipy", "scipy.signal", "scipy.interpolate", "ezc3d", "pipeline.c3d.parser", "plotly", "jinja2", "matplotlib"}
LARGE |= {"dask", "snakemake"}
SPLINES = {"scipy", "scipy.interpolate"}
AT_WORK = {"clean": SPLINES | {"scipy.signal"}, "kinematics": SPLINES, "kinetics": SPLINES, "cycles": SPLINES}
IN_THE_PARSER = {"pipeline.c3d.parser", "pipeline.c3d.encodings"}  # run in a child process of the job


def files_of(study: Study, step: str) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the inputs and outputs of a job of the first session, or of the study, by name."""
    session = next(iter(study.sessions))
    if step in SESSION_STEPS:
        function = getattr(import_module(f"pipeline.steps.{step}.step"), step)
        names = [name for name in inspect.signature(function).parameters if name in SESSION_STEPS]
        written = [name for name, writer in SESSION_OUTPUTS.items() if writer == step]
        inputs, outputs = ({name: [f"derived/{session}/{name}.nc"] for name in some} for some in (names, written))
        return inputs, outputs
    shown = {name: [f"derived/{session}/{name}.nc"] for name in ("cycles", "representative", "calibrate")}
    if step == "page_files":
        return {}, {"page_files": ["derived/report/page.js", "derived/report/page.css"]}
    if step == "page":
        return shown | {"clean": [f"derived/{session}/clean.nc"]}, {"page": ["derived/report/sub-01.html"]}
    tables = {name: [f"derived/{name}.csv"] for name in ("metrics", "quality", "participants", "symmetry")}
    results = {"study": ["derived/study.nc"], **tables}
    if step == "study":
        files = results | {name: [csv, csv.replace(".csv", ".json")] for name, (csv,) in tables.items()}
        return {"cycles": [f"derived/{session}/cycles.nc" for session in study.sessions]}, files
    del shown["representative"]
    return {**results, **shown, "means": tables["participants"]}, {"report": ["derived/report.html"]}


@pytest.fixture(scope="module")
def after_jobs(small_study: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Run a job of each step in a process of its own and return the modules that the process has then."""
    folder = shutil.copytree(small_study / "data/demo", tmp_path_factory.mktemp("traced") / "demo")
    before = Path.cwd()
    os.chdir(folder)
    try:
        study, jobs = open_study(Path()), ""
        for step in EVERY:
            session = next(iter(study.sessions)) if step in SESSION_STEPS else None
            key = study.key(step)(SimpleNamespace(session=session, participant="sub-01"))
            jobs += json.dumps([key, *files_of(study, step)]) + "\n"
        environment = {**os.environ, "PYTHONPATH": str(HOUSE)}
        command = [sys.executable, "-c", TRACE]
        run = subprocess.run(command, input=jobs, env=environment, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
    finally:
        os.chdir(before)
    return dict(zip(EVERY, ({*line.split()} for line in run.stdout.splitlines()), strict=True))


@pytest.fixture(scope="module")
def run_modules(after_jobs: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the modules of the pipeline that a job of each step runs."""
    return {step: names & {*MODULES} - DATA for step, names in after_jobs.items()}


@pytest.mark.parametrize("step", EVERY)
def test_the_key_of_a_job_names_exactly_the_code_that_it_runs(step: str, run_modules: dict[str, set[str]]) -> None:
    expected = run_modules[step] | (IN_THE_PARSER if step == "read" else set())
    code = digests.imported_modules(*code_of(step)) - without_results()
    assert code <= expected
    assert expected - code <= TABLES - {*every_step()[step].tables}


@pytest.mark.parametrize("step", EVERY)
def test_a_step_names_the_large_modules_that_its_jobs_import(step: str, after_jobs: dict[str, set[str]]) -> None:
    """A module that is not named is imported by each worker; one that is named for nothing, by each run."""
    large = {module for one in every_step().values() for module in one.preloads}
    assert {"scipy.signal", "scipy.interpolate"} <= large
    assert after_jobs[step] & large == {*every_step()[step].preloads}
    assert {*every_step()[step].preloads} <= {*modules_for([step])}


@pytest.mark.parametrize("step", SESSION_STEPS)
def test_at_work_a_step_loads_what_it_computes_with_and_no_more(step: str, after_jobs: dict[str, set[str]]) -> None:
    """What it computes with is in its key by its version."""
    assert after_jobs[step] & LARGE == AT_WORK.get(step, set())
    # ``read`` filters a recording of a pressed pole, which this study lacks
    assert ("scipy" in every_step()[step].libraries) == (step in {*AT_WORK, "read"})
    assert "scipy" in every_step()["report"].libraries, "the intervals of differences"


def test_imports_are_followed_however_they_are_written_and_into_other_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "our_lab"
    package.mkdir()
    texts = {
        "__init__.py": "from . import by_package",
        "step.py": "import our_lab.absolute, pipeline.arrays\nfrom gaitlab.pipeline.dynamics import screws",
        "absolute.py": "def late():\n    from .relative import NAME",
        "relative.py": "NAME = 1",
        "by_package.py": "from our_lab import relative",
        "unused.py": "",
    }
    for name, text in texts.items():
        (package / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    found = digests.imported_modules("our_lab.step")
    own = {name for name in found if name.startswith("our_lab")}
    assert own == {"our_lab", "our_lab.step", "our_lab.absolute", "our_lab.relative", "our_lab.by_package"}
    assert {"pipeline.dynamics.screws", "pipeline.arrays", "pipeline.dynamics.vectors"} <= found


@pytest.mark.parametrize(
    "text",
    [
        "if True: import one",
        "try: from .two import (three,\n    four)  # import\nexcept ImportError: pass",
        "from .five import (six,  # seven) and\n    eight)",
        "from nine import ten, \\\n    eleven\nimport twelve",
        "from \\\n  . import thirteen",
        "from .twenty \\\n  import one",
        "value = 1; import fourteen.fifteen as sixteen, seventeen",
        "async def f():\n\tfrom...eighteen import*",
        '"""Lines of text\n\nimport the number\nfrom the file, or import it."""\nfrom . import nineteen',
    ],
)
def test_import_statements_are_found_as_by_parsing_all_of_a_module(text: str) -> None:
    assert _imports(digests._import_statements(text)) == _imports(ast.parse(text))


def test_the_imports_of_all_modules_are_found() -> None:
    for module in MODULES:
        text = (HOUSE / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
        found, expected = _imports(digests._import_statements(text)), _imports(ast.parse(text))
        assert found >= expected, module
        # this one holds a program as text, for another process
        assert found == expected or module == "pipeline.commands.run", module


def _imports(tree: ast.Module) -> set[str]:
    return {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)}


@pytest.fixture
def keys_with_a_comment_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], dict[str, str]]]:
    """Give a function that returns the code part of each step's key after a comment was added to a module.

    A comment changes no import, so what the modules import is found once; each file is looked at once.
    """
    source = digests._source
    for look in (Path.read_bytes, Path.exists):
        monkeypatch.setattr(Path, look.__name__, functools.cache(look))

    def keys(module: str) -> dict[str, str]:
        path = tmp_path / f"{module}.py"
        if module:
            path.write_bytes((source(module) or path).read_bytes() + b"\n# a comment\n")
        monkeypatch.setattr(digests, "_source", lambda name: path if name == module else source(name))
        digests.code_digest.cache_clear()
        return {step: digests.code_digest(*code_of(step), without=without_results()) for step in STEPS}

    yield keys
    digests.code_digest.cache_clear()


def test_a_comment_in_a_module_reruns_the_jobs_that_run_it(
    keys_with_a_comment_in: Callable[[str], dict[str, str]], run_modules: dict[str, set[str]]
) -> None:
    """Of every step's own module, every eighth other, and those that are named: above, all are asked for in keys."""
    before, of_steps = keys_with_a_comment_in(""), {module for module in MODULES if module.endswith(".step")}
    for module in sorted({*MODULES[::8]} | of_steps | TABLES | IN_THE_PARSER):
        after = keys_with_a_comment_in(module)
        expected = {step for step in STEPS if module in run_modules[step]}
        if module in TABLES:
            expected &= {step for step in STEPS if module in digests.imported_modules(*code_of(step))}
        expected |= {"read"} if module in IN_THE_PARSER else set()
        assert {step for step in STEPS if after[step] != before[step]} == expected, module


def test_the_template_of_a_module_is_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "our_words"
    package.mkdir()
    (package / "step.py").write_text("")
    (package / "other.txt").write_text("of no module")
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    for words in ("", "a sentence", "another"):
        if words:
            (package / "step.txt").write_text(words)
        digests.code_digest.cache_clear()
        found.append(digests.code_digest("our_words.step"))
    (package / "other.txt").write_text("of no module either")
    digests.code_digest.cache_clear()
    assert len({*found}) == 3
    assert digests.code_digest("our_words.step") == found[-1]
