"""The results of a session with other corrections, computed by the workflow's own jobs in a folder of its own."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import xarray as xr

from ...errors import UserError
from ...results import netcdf
from ...step import every_step, steps_to
from ...workflow import checksums
from ...workflow.job_keys import Study
from ...workflow.jobs.run_job import compute


def preview(study: Study, session: str) -> dict[str, xr.Dataset]:
    """Return by step the results of a session that are not up to date, with the numbers that a run would give.

    The jobs are those of the workflow, with the keys that they will have, so that not a bit can differ. They read the
    results that are up to date from the study, and write into a folder that is removed.

    Args:
        study: with its corrections as they are to be.

    Raises:
        UserError: the recordings have changed since they were read, or a job cannot be done.
    """
    derived = study.path / "derived"
    with TemporaryDirectory(prefix="gaitlab-view-") as folder:
        changed: dict[str, Path] = {}
        for step in steps_to("cycles"):
            needs = [*every_step()[step].inputs]
            key = json.loads(json.dumps(study.content_of_key(step, session), sort_keys=True))  # as the job gets it
            written = checksums.recorded(derived, f"{session}/{step}.nc")
            as_made = written is not None and written.made_with == checksums.made_with(key)
            if as_made and changed.keys().isdisjoint(needs):
                continue
            if step == "read":
                raise UserError(
                    f"derived/{session}", "is not of these recordings", "run the study first: gaitlab run STUDY"
                )
            inputs = {name: [changed.get(name, derived / session / f"{name}.nc")] for name in needs}
            changed[step] = Path(folder) / f"{step}.nc"
            compute(key, inputs, {step: [changed[step]]})
        return {step: netcdf.load(file) for step, file in changed.items()}
