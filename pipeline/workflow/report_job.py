"""Run the step ``report``: load the study and the trials that it shows, write the pages."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..results import netcdf
from ..results.study_file import table_of
from ..steps.report.page_names import PAGES
from . import checksums
from .run_job import DERIVED, Files, load_reference

TABLES = ("metrics", "quality", "means", "symmetry")


def run(
    _key: Mapping[str, Any], function: Callable[..., Any], arguments: dict[str, Any], inputs: Files, _outputs: Files
) -> list[Path]:
    """Run the job of the report and return its outputs that the rule does not name.

    Arguments as of :func:`pipeline.workflow.run_job.run`.
    """
    study = netcdf.load(inputs["study"][0])
    cycles = {file.parent.name: netcdf.load(file, ()) for file in inputs["cycles"]}
    trials = {file.parent.name: netcdf.load(file) for file in inputs["representative"]}
    models = {file.parent.name: netcdf.load(file, ("leg_refused",)) for file in inputs["calibrate"]}
    texts = {name: inputs[name][0].read_text(encoding="utf-8") for name in TABLES}
    if arguments["reference"]:
        reference = load_reference(arguments["reference"])
        arguments["reference"] = reference if isinstance(reference, str) else table_of(reference)
    pages = function(study, **texts, cycles=cycles, representative=trials, calibrate=models, **arguments)
    shutil.rmtree(DERIVED / PAGES, ignore_errors=True)  # pages of participants who have left the study
    checksums.withdraw(DERIVED, [DERIVED / PAGES])
    for name, page in pages.items():
        netcdf.write_whole(DERIVED / name, page.encode())
    return [DERIVED / PAGES]
