"""The results of a session with other corrections, computed by the workflow's own jobs in a folder of its own."""

import importlib
import inspect
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import xarray as xr

from ..results import netcdf
from ..workflow.job_keys import Study
from ..workflow.jobs.run_job import compute
from ..workflow.open_study import SESSION_STEPS


def preview(before: Study, after: Study, session: str) -> dict[str, xr.Dataset]:
    """Return by step the results of a session that change, with the numbers that a run of the study would give.

    The jobs are those of the workflow, with the keys that they will have, so that not a bit can differ; they read the
    results of ``before`` from its folder and write into a folder that is removed.

    Args:
        before: the study as it was run.
        after: the same with other corrections, or with other settings of steps that read no recording.
    """
    with TemporaryDirectory(prefix="gaitlab-view-") as folder:
        changed: dict[str, Path] = {}
        for step in (name for name in SESSION_STEPS if name != "read"):
            needs = inputs_of(step)
            old, new = (json.dumps(study.content_of_key(step, session), sort_keys=True) for study in (before, after))
            if old != new or not changed.keys().isdisjoint(needs):
                inputs = {name: [changed.get(name, before.path / "derived" / session / f"{name}.nc")] for name in needs}
                changed[step] = Path(folder) / f"{step}.nc"
                compute(json.loads(new), inputs, {step: [changed[step]]})
        return {step: netcdf.load(file) for step, file in changed.items()}


def inputs_of(step: str) -> list[str]:
    """Return the steps that a step takes the results of."""
    module = importlib.import_module(f"..steps.{step}.step", __package__)
    return [name for name in inspect.signature(getattr(module, step)).parameters if name in SESSION_STEPS]
