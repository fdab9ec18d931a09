"""The results of a session with other corrections, computed by the workflow's own jobs in a folder of its own."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import xarray as xr

from ...errors import UserError
from ...results import just_written, netcdf
from ...step import every_step, steps_to
from ...workflow import checksums
from ...workflow.job_keys import Study
from ...workflow.jobs.run_job import compute

MOST_BYTES = 1e9  # of results in memory: some ten previews of a session of 20 walks


class Previews:
    """Results that were loaded or computed, in memory, so that a preview computes only what its last row changes."""

    def __init__(self) -> None:
        self.known: dict[str, xr.Dataset] = {}  # by the SHA-256 of what they are made from, the oldest first

    def preview(
        self, study: Study, session: str, *, before_each_step: Callable[[], None] | None = None
    ) -> dict[str, xr.Dataset]:
        """Return by step the results of a session that are not up to date, with the numbers that a run would give.

        The jobs are those of the workflow, with the keys that they will have, so that not a bit can differ. They take
        the results that are up to date from the study, and write into a folder that is removed.

        Args:
            study: with its corrections as they are to be.
            before_each_step: may raise, to give up.

        Raises:
            UserError: the recordings have changed since they were read, or a job cannot be done.
        """
        derived = study.path / "derived"
        made_from: dict[str, str] = {}  # the SHA-256 of what each step's result is made from
        changed: list[str] = []
        for step in steps_to("cycles"):
            needs = [*every_step()[step].inputs]
            key = json.loads(json.dumps(study.content_of_key(step, session), sort_keys=True))  # as the job gets it
            written = checksums.recorded(derived, f"{session}/{step}.nc")
            if written and written.made_with == checksums.made_with(key) and not {*changed} & {*needs}:
                made_from[step] = written.sha256
                continue
            if step == "read":
                what = "recordings, tables, settings or the program have changed since the last run"
                raise UserError(f"derived/{session}", what, f"run the study first: gaitlab run {study.path}")
            changed.append(step)
            made_from[step] = sha256(json.dumps([key, [made_from[name] for name in needs]]).encode()).hexdigest()
            if made_from[step] not in self.known:
                if before_each_step:
                    before_each_step()
                inputs = {name: self._known_or_file(made_from[name], derived / session, name) for name in needs}
                self._keep(made_from[step], _computed(step, key, inputs))
        return {step: self.known[made_from[step]] for step in changed}

    def _known_or_file(self, made_from: str, folder: Path, step: str) -> xr.Dataset:
        if made_from not in self.known:
            self._keep(made_from, netcdf.as_loaded(netcdf.load(folder / f"{step}.nc")))
        return self.known[made_from]

    def _keep(self, made_from: str, result: xr.Dataset) -> None:
        self.known[made_from] = result
        while sum(data.nbytes for data in self.known.values()) > MOST_BYTES and len(self.known) > len(every_step()):
            del self.known[next(iter(self.known))]


def _computed(step: str, key: dict[str, Any], inputs: dict[str, xr.Dataset]) -> xr.Dataset:
    """Return the result of a job that takes its inputs from memory, and writes into a folder that is removed."""
    with TemporaryDirectory(prefix="gaitlab-view-") as folder:
        files = {name: Path(folder) / f"{name}.nc" for name in (*inputs, step)}
        lent = {files[name]: data for name, data in inputs.items()}
        with just_written.lent(lent) as in_memory:
            compute(key, {name: [files[name]] for name in inputs}, {step: [files[step]]})
            return in_memory[files[step]] if files[step] in in_memory else netcdf.load(files[step])
