"""Run the step ``report`` on some participants at a time; write the overview, and the pages that have changed.

With the setting ``pages: on_request`` a page that does not exist is not written until it is the output of a job.

A page of a participant has a record of its own (see :mod:`pipeline.workflow.checksums`), with the files of the
participant's sessions and a digest of all else that it shows. While these and the code are as recorded, it stays.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from ..results import netcdf
from ..results.study_file import table_of
from ..steps.report.page_names import OVERVIEW, PAGES
from ..steps.report.step import NEEDS, Page
from ..tables.csv_files import groups_of
from ..variables.cycle_variables import STANCE
from . import checksums
from .digests import sha256
from .run_job import DERIVED, Files, load_reference

TABLES = ("metrics", "quality", "means", "symmetry")
SHOWN = ("cycles", "representative", "calibrate")
AT_A_TIME = 50  # participants
OF_THE_OVERVIEW = ("participants", "recorded", "pages")  # arguments of the step; a page has its own in the digest


class Sessions(Mapping[str, xr.Dataset]):
    """The files of sessions, each loaded when it is asked for."""

    def __init__(self, files: Sequence[Path], names: Sequence[str] | None) -> None:
        self.files, self.names = {file.parent.name: file for file in files}, names

    def __getitem__(self, session: str) -> xr.Dataset:
        """Return the content of a session's file."""
        return netcdf.load(self.files[session], self.names)

    def __contains__(self, session: object) -> bool:  # that of Mapping loads the file
        return session in self.files

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)


def run(
    key: Mapping[str, Any], function: Callable[..., Any], arguments: dict[str, Any], inputs: Files, outputs: Files
) -> None:
    """Run the job of the report; arguments as of :func:`pipeline.workflow.run_job.run`."""
    if arguments["reference"]:
        reference = load_reference(arguments["reference"])
        arguments["reference"] = reference if isinstance(reference, str) else table_of(reference)
    (study,) = inputs["study"]
    people, conditions = {}, dict[str, None]()
    for row, ending in (("cycle", ""), ("stance", STANCE)):
        labels = netcdf.load(study, (f"leg_length{ending}",)).variables
        people[row] = Counter(labels[f"participant{ending}"].values.tolist())
        conditions |= dict.fromkeys(labels[f"condition{ending}"].values.tolist())
    requested = [file.stem for file in outputs.get("page", ())]
    every, on_request = arguments["participants"], arguments["pages"] == "on_request"
    arguments["participants"] = requested or every
    parts = _parts(study, every, people, {*arguments["participants"]})
    tables = {name: groups_of(inputs[name][0], "participant") for name in TABLES}
    sessions = {name: Sessions(inputs[name], NEEDS.get(name)) for name in SHOWN}
    for page in function(parts, **tables, **sessions, **arguments, conditions=[*conditions]):
        if page.name == OVERVIEW:
            if not requested:
                netcdf.write_whole(DERIVED / OVERVIEW, page.html().encode())
        elif requested or not on_request or (DERIVED / page.name).exists():
            _update(page, page_key(key))
    known = {f"{name}.html" for name in every}
    gone = [file for file in (DERIVED / PAGES).glob("[!.]*.html") if file.name not in known]  # who have left the study
    checksums.withdraw(DERIVED, gone)
    for file in gone:
        file.unlink()


def page_key(key: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a participant's page depends on of the report's key."""
    kept = {
        part: {name: value for name, value in key[part].items() if name not in OF_THE_OVERVIEW}
        for part in ("settings", "arguments")
    }
    return {**key, **kept}


def _parts(
    study: Path, participants: Sequence[str], people: Mapping[str, Counter[str]], wanted: Collection[str]
) -> Iterator[tuple[Sequence[str], xr.Dataset]]:
    """Yield some participants at a time, with the part of study.nc in which they are.

    Args:
        study: study.nc.
        participants: all participants in order.
        people: counts of their cycles and stances.
        wanted: the participants to yield.
    """
    start = dict.fromkeys(people, 0)
    for first in range(0, len(participants), AT_A_TIME):
        names = participants[first : first + AT_A_TIME]
        rows = {
            row: slice(start[row], start[row] + sum(count[name] for name in names)) for row, count in people.items()
        }
        if mine := [name for name in names if name in wanted]:
            yield mine, netcdf.load(study, NEEDS["study"], rows=rows)
        start = {row: part.stop for row, part in rows.items()}


def _update(page: Page, key: Mapping[str, Any]) -> None:
    """Write a participant's page with its record, unless both are there and as they would be written."""
    names = [f"{session}/{name}.nc" for session in page.sessions for name in SHOWN]
    records = {name: checksums.recorded(DERIVED, name) for name in names}
    made_from = {name: record.sha256 for name, record in records.items() if record}
    made_from["study.nc, of the participant"] = hashlib.sha256(page.facts.encode()).hexdigest()
    known, file = checksums.recorded(DERIVED, page.name), DERIVED / page.name
    as_made = known and known.inputs == made_from and known.made_with == checksums.made_with(key)
    if known and as_made and file.is_file() and sha256(file) == known.sha256:
        return
    checksums.withdraw(DERIVED, [file])
    # thousands of pages do not wait for the disk: the next report reads each, and writes one that is torn again
    netcdf.write_whole(file, page.html().encode(), flush=False)
    checksums.record(DERIVED, [file], inputs=made_from, key=key, flush=False)
