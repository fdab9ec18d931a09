"""Results of finished sessions, and pages, which ``gaitlab run`` leaves out of Snakemake's plan.

Snakemake takes a millisecond for each job that it looks at, also if there is nothing to do. A session is finished if
each of its results has the date of its record, the key of now, and was made from inputs that are the same now, finished
themselves and no newer; a page likewise. Of all others Snakemake compares keys and dates; those that were made from
other bytes than those there, which dates need not show, are forced. Everything is planned where only a part of the
workflow runs, or without ``gaitlab run``.
"""

import functools
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..step import every_step
from .checksums import Record, is_begun, made_with
from .job_keys import Study

_left_out = set[str]()


def leave_out(files: Collection[str]) -> None:
    """Let the Snakefile plan no jobs for these files, relative to the study, in this process."""
    _left_out.clear()
    _left_out.update(files)


def is_left_out(file: str) -> bool:
    """Return whether the Snakefile plans no job for a file, relative to the study."""
    return file in _left_out


def mark_left_out(mark: Callable[[str], Any], files: Any) -> Any:
    """Return input files of a rule, also by name, with a mark on those for which the Snakefile plans no job."""
    if isinstance(files, Mapping):
        return {name: mark_left_out(mark, some) for name, some in files.items()}
    return [mark(file) if is_left_out(file) else file for file in files]


class UpToDate:
    """Finds the results that are up to date, and which of them can be left out of the plan.

    Args:
        outputs: step and subject of every output by its name below ``derived``, as of
            :func:`pipeline.workflow.open_study.outputs_of`, each after those that it is made from.
    """

    def __init__(self, study: Study, outputs: Mapping[str, tuple[str, str | None]]) -> None:
        self.study, self.outputs, self.derived = study, outputs, study.path / "derived"
        self.known: dict[str, tuple[str, float]] = {}  # SHA-256 and date by name, of results with the date of a record
        self.found = set[str]()  # those that are up to date
        self.outdated: list[str] = []  # made from other bytes than those there, which their dates do not show
        self.of_job: dict[tuple[str, str | None], list[str]] = {}
        for name, job in outputs.items():
            self.of_job.setdefault(job, []).append(name)
        # the last one is that of the next output, too, if a job has several
        self.now = functools.lru_cache(1)(lambda step, subject: made_with(study.content_of_key(step, subject)))

    def add(self, name: str, record: Record) -> None:
        """Look at an output that has the date of its record; to be called in the order of the outputs."""
        (step, subject), date = self.outputs[name], (self.derived / name).stat().st_mtime
        self.known[name] = record.sha256, date
        known = {one: self.known[one] for one in record.inputs if one in self.known}
        if any(sha256 != record.inputs[one] and dated <= date for one, (sha256, dated) in known.items()):
            self.outdated.append(name)
        if step == "page":  # to which an extra may add files that are not in its key
            shown = {file for files in self.study.files_of_page(str(subject)).values() for file in files}
            if shown != {f"derived/{one}" for one in record.inputs}:
                return
        same = all(  # with all others of its job, which would write it again, too
            one in self.outputs
            and self.found.issuperset(self.of_job[self.outputs[one]])
            and known[one][0] == digest
            and known[one][1] <= date
            for one, digest in record.inputs.items()
        )
        if same and record.made_with == self.now(step, subject) and not is_begun(self.derived, name):
            self.found.add(name)

    def to_leave_out(self) -> list[str]:
        """Return the results of finished sessions, and the pages, relative to the study."""
        scopes = {name: step.scope for name, step in every_step().items()}
        jobs = {name: (scopes[step], subject) for name, (step, subject) in self.outputs.items()}
        to_do = {job for name, job in jobs.items() if name not in self.found}
        return [f"derived/{name}" for name, (scope, who) in jobs.items() if who and (scope, who) not in to_do]
