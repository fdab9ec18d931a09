"""Output files of a small study with all optional content."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterable
from contextlib import chdir
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pipeline.results.job_files import Files
from pipeline.results.page_names import SCRIPT, STYLE
from pipeline.workflow import checksums, settings
from pipeline.workflow.job_keys import Study
from pipeline.workflow.jobs import run_job
from pipeline.workflow.open_study import open_study
from tests.support.checkout import HOUSE, copy_study, keep_rows
from tests.support.step_names import SESSION_OUTPUTS, SESSION_STEPS

ON_TOP = """
kinetics: {{uncertainty_draws: {draws}}}
cycles: {{further_curves: [{curves}]}}
"""


def write_outputs(
    folder: Path, *, walk: str = r"\w+_01", draws: int = 5, change: Callable[[Path], object] | None = None
) -> Path:
    """Run one person of the demonstration study below folder/data/demo.

    The workflow's own processes, which test_workflow.py runs, would take several times as long to write the same.

    Args:
        folder: where to.
        walk: which walks, as a regular expression of their names.
        draws: of errors, which take most of the time of the step cycles.
        change: what to do to the study before it runs.
    """
    study = copy_study(HOUSE / "data" / "demo", folder / "data" / "demo")
    keep_rows(study, re.compile(rf"sub-01\t(static|{walk})\t").match)
    with (study / "trials.tsv").open("a") as table:
        table.write("sub-01\tgone\tsub-01/gone.c3d\tgait\tfast\n")
    header, *rows = (study / "participants.tsv").read_text().splitlines()
    people = [f"{header}\ttown", *(f"{row}\tJyväskylä" for row in rows)]
    (study / "participants.tsv").write_text("\n".join(people) + "\n", encoding="utf-8")
    curves = settings.schema("settings")["properties"]["cycles"]["properties"]["further_curves"]["items"]["enum"]
    with (study / "study.yaml").open("a") as handle:
        handle.write(ON_TOP.format(draws=draws, curves=", ".join(curves)))
    if change:
        change(study)
    run_steps(study)
    return study


def run_steps(
    study: Path, *, tables: bool = True, report: bool = False, overrides: dict[str, Any] | None = None
) -> None:
    """Run every step of a study of which a result is not there or outdated.

    Args:
        tables: whether study.nc and the tables are made, too.
        report: whether the report is, which shows these.
        overrides: other settings.
    """
    with chdir(study):  # as Snakemake does: paths of a key are relative to the study
        opened = open_study(Path(), overrides=overrides)
        _run_sessions(opened)
        if tables:
            _gather(opened)
        if report:
            _report(opened)


def write_report(study: Path) -> Path:
    """Write the report of a study of which every other result is there, and return the study."""
    with chdir(study):
        _report(open_study(Path()))
    return study


REPORT = {"report": "derived/report.html"}


def _report(opened: Study) -> None:
    for person in opened.people:
        of_page = opened.files_of_page(person)
        key, output = opened.key("page")(SimpleNamespace(participant=person)), f"derived/report/{person}.html"
        run_job.run(key, paths_of(of_page), paths_of({"page": output}))
    inputs: dict[str, Any] = _of_sessions(opened.sessions, "cycles", "calibrate")
    tables = {"metrics": "metrics", "quality": "quality", "means": "participants", "symmetry": "symmetry"}
    inputs |= {name: f"derived/{file}.csv" for name, file in tables.items()} | {"study": "derived/study.nc"}
    inputs |= opened.added("report")
    run_job.run(opened.key("report")(None), paths_of(inputs), paths_of(REPORT))


def _of_sessions(sessions: Iterable[str], *files: str) -> dict[str, Any]:
    return {name: [f"derived/{session}/{name}.nc" for session in sessions] for name in files}


def _run_sessions(opened: Study) -> None:
    shared = {"page_files": [f"derived/{name}" for name in (SCRIPT, STYLE)]}
    run_job.run(opened.key("page_files")(None), {}, paths_of(shared))
    for session in opened.sessions:
        for step in SESSION_STEPS:
            arguments = inspect.signature(
                getattr(importlib.import_module(f"pipeline.steps.{step}.step"), step)
            ).parameters
            inputs = {name: f"derived/{session}/{name}.nc" for name in arguments if name in SESSION_STEPS}
            key = opened.key(step)(SimpleNamespace(session=session))
            outputs = {
                name: f"derived/{session}/{name}.nc" for name, writer in SESSION_OUTPUTS.items() if writer == step
            }
            _run_if_needed(key, paths_of(inputs), paths_of(outputs))


def _gather(opened: Study) -> None:
    tables: dict[str, Any] = {
        name: [f"derived/{name}.csv", f"derived/{name}.json"]
        for name in ("metrics", "quality", "participants", "symmetry")
    }
    cycles = [f"derived/{session}/cycles.nc" for session in opened.sessions]
    tables["study"] = "derived/study.nc"
    _run_if_needed(opened.key("study")(None), paths_of({"cycles": cycles}), paths_of(tables))


def _run_if_needed(key: str, inputs: Files, outputs: Files) -> None:
    """Run a job unless its outputs were made with the same key from the same inputs, as Snakemake does."""
    derived, written = Path("derived"), [*chain(*outputs.values())]
    wanted = checksums.as_written(derived, chain(*inputs.values())), checksums.made_with(json.loads(key))
    records = [checksums.recorded(derived, file.relative_to(derived).as_posix()) for file in written if file.exists()]
    made = [(record.inputs, record.made_with) for record in records if record]
    if made != [wanted] * len(written):
        run_job.run(key, inputs, outputs)


def paths_of(files: dict[str, Any]) -> dict[str, list[Path]]:
    """Return named files as lists of paths."""
    return {name: [Path(file) for file in ([one] if isinstance(one, str) else one)] for name, one in files.items()}
