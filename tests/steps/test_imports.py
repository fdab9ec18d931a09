"""Which large libraries each step loads: what is not needed is not paid for, and what is is known to the key."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.checkout import HOUSE
from tests.support.step_names import STEPS

LARGE = {
    *("scipy", "scipy.signal", "scipy.interpolate", "ezc3d", "pipeline.c3d.parser", "plotly", "jinja2"),
    *("yaml", "jsonschema", "matplotlib", "dask", "snakemake"),
}
IMPORTED = """
import importlib, os, sys
import pipeline.workflow.jobs.run_job
for step in sys.argv[1:]:
    if os.fork() == 0:
        importlib.import_module(f"pipeline.steps.{step}.step")
        print(step, *sys.modules, flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
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


def test_a_plan_of_jobs_imports_no_library_of_results() -> None:
    """Each command that opens a study, and Snakemake, would pay for them."""
    code = "import sys; import pipeline.workflow.open_study, pipeline.workflow.command_files; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=HOUSE, capture_output=True, text=True, check=True)
    assert not {"xarray", "pandas", "netCDF4", "scipy"} & {*done.stdout.split()}
