"""Run the step ``report``: load the study and the trials that it shows, write the pages."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from typing import Any

from ..results import netcdf
from ..results.study_file import table_of
from ..steps.report.page_names import PAGES
from ..steps.report.quality import USED_ATTRIBUTES
from ..steps.report.representative_trial import USED_VARIABLES, representative
from . import checksums
from .run_job import DERIVED, Files, load_reference

TABLES = ("metrics", "quality", "means", "symmetry")


def run(
    _key: Mapping[str, Any], function: Callable[..., Any], arguments: dict[str, Any], inputs: Files, _outputs: Files
) -> None:
    """Run the job of the report; arguments as of :func:`pipeline.workflow.run_job.run`."""
    study = netcdf.load(inputs["study"][0])
    shown = {(trial.session, trial.trial) for trial in representative(study).values()}
    sessions = [file.parent.name for file in inputs["clean"]]
    wanted = {session: {trial for of, trial in shown if of == session} for session in sessions}
    trials: dict[str, Any] = {}
    for step, variables in USED_VARIABLES.items():
        of_all = step == "clean"  # the attributes of every trial
        files = {file.parent.name: file for file in inputs[step] if of_all or wanted[file.parent.name]}
        attributes = USED_ATTRIBUTES if of_all else ()
        loaded = netcdf.load_parts(files, variables, trials=wanted, others=of_all, attributes=attributes)
        trials[step] = {session: groups for session, (groups, _) in loaded.items()}
    texts = {name: inputs[name][0].read_text(encoding="utf-8") for name in TABLES}
    if arguments["reference"]:
        reference = load_reference(arguments["reference"])
        arguments["reference"] = reference if isinstance(reference, str) else table_of(reference)
    pages = function(study, **texts, **trials, **arguments)
    shutil.rmtree(DERIVED / PAGES, ignore_errors=True)  # pages of participants who have left the study
    checksums.withdraw(DERIVED, [DERIVED / PAGES])
    for name, page in pages.items():
        netcdf.write_whole(DERIVED / name, page.encode())
