"""Run the steps of the report: the overview, some participants at a time, the page of one, or what pages share."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import xarray as xr

from ...reference import resolve
from ...results import just_written, netcdf
from ...results.job_files import Files, load_cycles, load_reference, provenance
from ...results.study_file import table_of, without_doubted
from ...results.typed_tables import read_results, results_of_people
from ...results.whole_files import write_whole
from ...step import every_step
from ...steps.report import addition
from ...steps.report.settings import Settings as ReportSettings
from ...steps.study.parts import gather
from ...steps.study.reference import describe_reference
from ...steps.study.settings import Settings
from ...tables.report_additions import logo_of
from ...variables import schema
from ...variables.cycle_variables import STANCE
from ..digests import sha256

AT_A_TIME = 50  # participants


class Sessions(Mapping[str, xr.Dataset]):
    """The files of sessions, each loaded when it is asked for, or in memory since this process wrote it."""

    def __init__(self, files: Sequence[Path], names: Sequence[str] | None) -> None:
        self.files, self.names = {file.parent.name: file for file in files}, names

    def __getitem__(self, session: str) -> xr.Dataset:
        """Return the content of a session's file."""
        return just_written.load(self.files[session], self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)


def write_overview(
    key: Mapping[str, Any], function: Callable[..., str], arguments: dict[str, Any], inputs: Files, outputs: Files
) -> None:
    """Write the overview of a study; arguments as of :func:`pipeline.workflow.jobs.run_job.run`."""
    step, settings = every_step()[key["step"]], _with_logo(arguments.pop("settings"))
    name = arguments.pop("reference")
    about = addition.AboutOverview(**arguments, reference=_table(load_reference(name) if name else None))
    parts = _parts(inputs["study"][0], about.participants, step.loaded("study") or ())
    files = [inputs[name][0] for name in addition.Tables._fields]
    tables = addition.Tables(*(results_of_people(file.stem, file, about.participants) for file in files))
    sessions = addition.OverviewFiles(*(Sessions(inputs[name], step.loaded(name)) for name in ("cycles", "calibrate")))
    html = function(parts, tables, sessions, about=about, settings=settings, additions=load_additions(key, inputs))
    write_whole(outputs["report"][0], html.encode())


def write_page(
    key: Mapping[str, Any], function: Callable[..., str], arguments: dict[str, Any], inputs: Files, outputs: Files
) -> None:
    """Write the page of a participant; arguments as of :func:`pipeline.workflow.jobs.run_job.run`.

    The participant's part of study.nc and of the tables is computed here once more, from the files of the person's
    sessions. So a page needs no file with other people's results, and stays as it is when these change.
    """
    step, settings = every_step()[key["step"]], _with_logo(arguments.pop("settings"))
    files = {name: Sessions(inputs.get(name, ()), step.loaded(name)) for name in step.inputs if name != "cycles"}
    cycles = {file.parent.name: load_cycles(file, inputs) for file in inputs["cycles"]}
    person, reference = _person_of(key, arguments, cycles)
    results = {file.parent.name: sha256(file) for file in inputs["cycles"]}
    about = addition.AboutPage(**arguments, reference=_table(reference), results=results)
    sessions = addition.PageFiles(cycles, **files)
    html = function(person, sessions, about=about, settings=settings, additions=load_additions(key, inputs))
    write_whole(outputs["page"][0], html.encode())


def _person_of(
    key: Mapping[str, Any], arguments: dict[str, Any], cycles: Mapping[str, xr.Dataset]
) -> tuple[addition.PersonShown, xr.Dataset | str | None]:
    """Return what the study has of a participant, and its reference; take from the arguments what the study needs."""
    settings = Settings(**arguments.pop("study"))
    own = provenance({**key, "step": "study", "settings": asdict(settings)}, [data.attrs for data in cycles.values()])
    shipped, name = arguments.pop("about_reference"), settings.reference
    tables = {one: arguments.pop(one) for one in ("sessions", "columns", "emg_pairs", "corrected") if one in arguments}
    reference = describe_reference(name, load_reference(name), shipped, own) if name else None
    part = gather(cycles, settings=settings, reference=reference, **tables)
    data = without_doubted(netcdf.in_double_precision(schema.describe("study", part.study))).assign_attrs(own)
    rows = (read_results(name, part.text(name).decode()) for name in ("metrics", "quality", "symmetry"))
    return addition.PersonShown(data, *rows), reference and reference.curves


def write_page_files(
    _key: Mapping[str, Any], function: Callable[[], tuple[str, str]], _: dict[str, Any], _inputs: Files, outputs: Files
) -> None:
    """Write what all pages share; arguments as of :func:`pipeline.workflow.jobs.run_job.run`."""
    for file, text in zip(outputs["page_files"], function(), strict=True):
        write_whole(file, text.encode())


def load_additions(key: Mapping[str, Any], inputs: Files) -> list[addition.Loaded]:
    """Return what is added to a page, with what it loads of the job's further inputs, or of its needs in the key."""
    further = {name: files for name, files in inputs.items() if name not in every_step()[key["step"]].inputs}
    found, needs = list[addition.Loaded](), key.get("needs", {})
    for reference in sorted(key.get("additions", {})):
        one: addition.Addition = resolve(reference)
        found.append(addition.Loaded(one, one.load(needs.get(reference, further)) if one.load else None))
    return found


def _with_logo(settings: ReportSettings) -> ReportSettings:
    """Return the settings with the picture of the logo instead of its path."""
    return replace(settings, logo=logo_of(Path(), settings.logo))


def _table(reference: xr.Dataset | str | None) -> str | None:
    """Return a reference, the study.nc of other people or the text of a table, as a table of their curves."""
    return table_of(reference) if isinstance(reference, xr.Dataset) else reference


def _parts(
    study: Path, participants: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[Sequence[str], xr.Dataset]]:
    """Yield some participants at a time, in order, with the part of study.nc in which they are."""
    of_rows = {"cycle": "participant", "stance": f"participant{STANCE}"}
    labels = netcdf.load(study, [*of_rows.values()]).variables
    counts = {row: Counter(labels[name].values.tolist()) for row, name in of_rows.items()}
    start = dict.fromkeys(of_rows, 0)
    for first in range(0, len(participants), AT_A_TIME):
        people = participants[first : first + AT_A_TIME]
        end = {row: start[row] + sum(count[name] for name in people) for row, count in counts.items()}
        rows = {row: slice(start[row], end[row]) for row in counts}
        yield people, without_doubted(netcdf.load(study, names, rows=rows))
        start = end
