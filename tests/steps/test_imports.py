"""Which large libraries each step loads: what is not needed is not paid for, and what is is known to the key."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.step import every_step
from tests.campaigns.interruptions import write_tiny_study
from tests.support.checkout import HOUSE
from tests.support.step_names import SESSION_STEPS, STEPS

LARGE = {
    *("scipy", "scipy.signal", "scipy.interpolate", "ezc3d", "pipeline.c3d.parser", "plotly", "jinja2"),
    *("yaml", "jsonschema", "matplotlib", "dask", "snakemake"),
}
SPLINES = {"scipy", "scipy.interpolate"}
AT_WORK = {"clean": SPLINES | {"scipy.signal"}, "kinematics": SPLINES, "kinetics": SPLINES}
IN_FORKS = """
def in_fork(step, work):
    if os.fork() == 0:
        work()
        print(step, *sys.modules, flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""
IMPORTED = f"""
import importlib, os, sys
import pipeline.workflow.jobs.run_job
{IN_FORKS}
for step in sys.argv[1:]:
    in_fork(step, lambda: importlib.import_module(f"pipeline.steps.{{step}}.step"))
"""
RUN = f"""
import os, sys
from pathlib import Path
from benchmarks.jobs import run_jobs
{IN_FORKS}
study, *steps = sys.argv[1:]
for step in steps:
    in_fork(step, lambda: run_jobs(Path(study), [step], ["sub-01"]))
"""


def loaded(code: str, *arguments: str) -> dict[str, set[str]]:
    """Return the large libraries that each step has loaded in a fork of its own."""
    command = [sys.executable, "-c", code, *arguments]
    lines = subprocess.run(command, cwd=HOUSE, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return {step: LARGE & set(modules) for step, *modules in (line.split() for line in lines)}


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_a_step_imports_no_large_library_but_the_report_its_own() -> None:
    """Imports are paid in every job that Snakemake starts itself."""
    expected = {step: {"plotly", "jinja2"} if step == "report" else set() for step in STEPS}
    assert loaded(IMPORTED, *STEPS) == expected


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_at_work_a_step_loads_what_it_computes_with_and_no_more(tmp_path: Path) -> None:
    """What it computes with is in its key by its version."""
    study = write_tiny_study(tmp_path / "study").resolve()
    of_this_test = {"yaml", "jsonschema", "snakemake"}
    found = {step: libraries - of_this_test for step, libraries in loaded(RUN, str(study), *SESSION_STEPS).items()}
    assert found == {step: AT_WORK.get(step, set()) for step in SESSION_STEPS}
    # filters a recording of a pressed pole, and draws errors of linked legs, which this study lacks
    elsewhere = {"read", "cycles"}
    assert {step for step in SESSION_STEPS if "scipy" in every_step()[step].libraries} == AT_WORK.keys() | elsewhere
    assert "scipy" in every_step()["report"].libraries, "the intervals of differences"


def test_a_plan_of_jobs_imports_no_library_of_results() -> None:
    """Each command that opens a study, and Snakemake, would pay for them."""
    code = "import sys; import pipeline.workflow.open_study, pipeline.workflow.command_files; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=HOUSE, capture_output=True, text=True, check=True)
    assert not {"xarray", "pandas", "netCDF4", "scipy"} & {*done.stdout.split()}
