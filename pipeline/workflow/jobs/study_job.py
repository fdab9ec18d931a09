"""Run the step ``study``: open cycles.nc of some sessions at a time, save the parts, join them."""

import logging
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import xarray as xr

from ...results import netcdf
from ...results.job_files import Files, load_cycles, load_reference, provenance
from ...results.whole_files import whole, write_whole
from ...steps.study.parts import StudyPart, gather_in_parts, sort_by_participant
from ...steps.study.reference import describe_reference
from ...steps.study.step import emg_of, with_muscles
from ...variables import schema
from ...variables.data_dictionary import as_json, data_dictionary
from ...vocabulary.muscle_names import in_order

PART_BYTES = 32e6  # of cycles.nc in memory at a time
Emg = tuple[list[str], dict[str, tuple[int, ...]]]  # muscles, and shapes of their values, of a part
PARTS = ".study.parts"  # folder next to study.nc while the job runs

log = logging.getLogger("pipeline")


def run(
    key: Mapping[str, Any], _: Callable[..., Any], arguments: dict[str, Any], inputs: Files, outputs: Files
) -> None:
    """Run the job of the study; arguments as of :func:`pipeline.workflow.jobs.run_job.run`.

    In all outputs the sessions of a participant follow each other.
    """
    by_session = {file.parent.name: file for file in inputs["cycles"]}
    files = [by_session[name] for name in sort_by_participant(by_session, arguments["sessions"])]
    name, shipped = arguments["settings"].reference, arguments.pop("about_reference")
    if name:
        attributes = provenance(key, [netcdf.attributes(files[0])])
        reference = describe_reference(name, load_reference(name), shipped, attributes)
        arguments["reference"] = reference
        for remark in reference.about["remarks"] if isinstance(reference.curves, xr.Dataset) else ():
            log.warning("study.reference: %s", remark)
    (study,) = outputs["study"]
    folder = study.with_name(PARTS)
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed
    roots: list[dict[str, str]] = []
    try:
        parts = _save_parts(gather_in_parts(_load_in_groups(files, roots, inputs), **arguments), folder, outputs)
        attributes = provenance(key, roots) | ({"reference_sha256": key["reference"]} if name else {})
        netcdf.join(study, _align(parts), along=("cycle", "stance"), attributes=attributes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _load_in_groups(
    files: Sequence[Path], roots: list[dict[str, str]], inputs: Files
) -> Iterator[dict[str, xr.Dataset]]:
    """Yield cycles.nc of some sessions at a time; add the attributes of each file to ``roots``."""
    for some in _by_size(files):
        cycles = {file.parent.name: load_cycles(file, inputs) for file in some}
        roots += [{name: sys.intern(str(value)) for name, value in data.attrs.items()} for data in cycles.values()]
        yield cycles


def _by_size(files: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield groups of files, each of at most PART_BYTES or of a single file."""
    group, size = list[Path](), 0
    for file in files:
        if group and size + file.stat().st_size > PART_BYTES:
            yield group
            group, size = [], 0
        group.append(file)
        size += file.stat().st_size
    yield group


def _save_parts(parts: Iterator[StudyPart], folder: Path, outputs: Files) -> dict[Path, Emg]:
    """Save parts of study.nc in a folder, and the tables whole; return the parts but empty ones, with their EMG."""
    muscles, empty = dict[Path, Emg](), list[Path]()
    with ExitStack() as stack:
        paths = {name: stack.enter_context(whole(outputs[name][0])) for name in outputs if name != "study"}
        for number, part in enumerate(parts):
            path = folder / f"{number}.nc"
            netcdf.save(path, schema.describe("study", part.study))
            if part.study.sizes["cycle"] or part.study.sizes["stance"]:
                muscles[path] = emg_of([part.study])
            else:
                empty.append(path)
            for name in part.tables:
                with paths[name].open("ab") as handle:
                    handle.write(part.text(name, header=not number))
    for name, table in part.tables.items():
        write_whole(outputs[name][1], as_json(data_dictionary(name, table.columns)))
    return muscles or {empty[0]: ([], {})}


def _align(parts: Mapping[Path, Emg]) -> list[Path]:
    """Return the parts of study.nc after each has the muscles of all."""
    every = in_order(muscle for muscles, _ in parts.values() for muscle in muscles)
    shapes = {name: shape for _, own in parts.values() for name, shape in own.items()}
    for path, (muscles, own) in parts.items():
        if muscles != every or own.keys() != shapes.keys():
            netcdf.save(path, schema.describe("study", with_muscles(netcdf.load(path), every, shapes)))
    return [*parts]
