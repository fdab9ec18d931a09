"""Run the step ``study`` on some sessions at a time, so that memory does not grow with their number."""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from ..results import netcdf
from ..results.study_file import differences, differences_from_conventional
from ..steps.study.step import columns_of, muscles_of, participants_columns, per_participant, with_muscles
from ..tables.csv_files import csv_of
from ..variables import schema
from ..variables.data_dictionary import as_json, data_dictionary
from ..vocabulary.muscle_names import in_order
from .run_job import Files, load_reference, provenance

TIMES = ("start_time", "end_time")  # rounded, whatever the length of the recording
TABLES = ("metrics", "quality", "participants", "symmetry")
PART_BYTES = 32e6  # of cycles.nc in memory at a time
PARTS = ".study.parts"  # folder next to study.nc while the job runs
Part = tuple[list[dict[str, str]], xr.Dataset, list[pd.DataFrame]]

log = logging.getLogger("pipeline")


def run(
    key: Mapping[str, Any], function: Callable[..., Any], arguments: dict[str, Any], inputs: Files, outputs: Files
) -> None:
    """Run the job of the study; arguments as of :func:`pipeline.workflow.run_job.run`.

    In all outputs the sessions of a participant follow each other.
    """
    files = _by_participant(inputs["cycles"], arguments["sessions"])
    if name := arguments["reference"]:
        own = provenance(key, [netcdf.attributes(files[0])])
        arguments["reference"], about = reference_of(name, arguments["about_reference"], own)
        arguments["about_reference"] = about
        for remark in about["remarks"] if isinstance(arguments["reference"], xr.Dataset) else ():
            log.warning("study.reference: %s", remark)
    (study,) = outputs["study"]
    folder = study.with_name(PARTS)
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed
    try:
        roots, parts = _save_parts(_parts(function, arguments, files), folder, [outputs[name] for name in TABLES])
        own = provenance(key, roots) | ({"reference_sha256": key["reference"]} if name else {})
        netcdf.join(study, _aligned(parts), along=("cycle", "stance"), attributes=own)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _by_participant(files: Sequence[Path], sessions: Mapping[str, Mapping[str, Any]]) -> list[Path]:
    """Return the files of sessions in the order of their participants, as these first appear."""
    people = [sessions[file.parent.name]["participant"]["participant_id"] for file in files]
    place = {name: i for i, name in enumerate(dict.fromkeys(people))}
    return [file for _, file in sorted(zip(people, files, strict=True), key=lambda pair: place[pair[0]])]


def _parts(function: Callable[..., Any], arguments: Mapping[str, Any], files: Sequence[Path]) -> Iterator[Part]:
    """Yield the attributes of the files of some sessions at a time, and their part of study.nc and of the tables."""
    columns, before = columns_of(arguments["sessions"]), (0, 0)
    for some in _by_size(files):
        cycles = {file.parent.name: netcdf.load(file) for file in some}
        roots = [{name: sys.intern(str(value)) for name, value in data.attrs.items()} for data in cycles.values()]
        dataset, metrics, quality = function(cycles, **arguments, columns=columns, before=before)
        yield roots, dataset, [metrics, quality, *per_participant(metrics)]
        before = (before[0] + dataset.sizes["cycle"], before[1] + dataset.sizes["stance"])


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


def _save_parts(
    parts: Iterator[Part], folder: Path, tables: Sequence[Sequence[Path]]
) -> tuple[list[dict[str, str]], dict[Path, list[str]]]:
    """Save the parts of study.nc in a folder, and the tables whole.

    Returns:
        The attributes of the sessions' files; the parts of study.nc with their muscles, without empty ones.
    """
    found, muscles, empty = list[dict[str, str]](), dict[Path, list[str]](), list[Path]()
    with ExitStack() as stack:
        paths = [stack.enter_context(netcdf.whole(file)) for file, _ in tables]
        for number, (roots, dataset, own) in enumerate(parts):
            found += roots
            part = folder / f"{number}.nc"
            netcdf.save(part, schema.described("study", dataset))
            if dataset.sizes["cycle"] or dataset.sizes["stance"]:
                muscles[part] = muscles_of([dataset])
            else:
                empty.append(part)
            for path, text in zip(paths, tables_of(own, header=not number), strict=True):
                with path.open("ab") as handle:
                    handle.write(text)
    for (_, dictionary), table in zip(tables, own, strict=True):
        netcdf.write_whole(dictionary, as_json(data_dictionary(dictionary.stem, table.columns)))
    return found, muscles or {empty[0]: []}


def tables_of(tables: Sequence[pd.DataFrame], *, header: bool = True) -> list[bytes]:
    """Return metrics.csv and other tables of a study; times and columns of participants.tsv keep all digits."""
    exact = [*TIMES, *participants_columns(tables[0])]
    return [csv_of(table, exact=exact, header=header) for table in tables]


def _aligned(parts: Mapping[Path, list[str]]) -> list[Path]:
    """Return the parts of study.nc after each has the muscles of all."""
    every = in_order(muscle for muscles in parts.values() for muscle in muscles)
    for part, muscles in parts.items():
        if muscles != every:
            netcdf.save(part, schema.described("study", with_muscles(netcdf.load(part), every)))
    return [*parts]


def reference_of(
    name: str | None, shipped: Mapping[str, Any], own: Mapping[str, Any]
) -> tuple[xr.Dataset | str | None, dict[str, Any]]:
    """Return a reference, and what study.nc holds of it: name, title, citation, people, how it differs from this study.

    Args:
        name: of a shipped reference, or the file; None without a reference.
        shipped: the facts of a shipped reference.
        own: attributes of this study.nc.
    """
    if name is None:
        return None, {}
    reference = load_reference(name)
    remarks, people = differences_from_conventional(own) if shipped else [], ""
    if isinstance(reference, xr.Dataset):
        remarks = differences(reference.attrs, own)
        if "participant" in reference.coords:  # else it is no study.nc, and the step refuses it
            people = f"the {len(set(reference.participant.values.tolist()))} people of {name}"
    return reference, {"name": name, "title": name, "citation": "", "people": people, **shipped, "remarks": remarks}
