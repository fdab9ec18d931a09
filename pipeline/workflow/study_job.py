"""Run the step ``study``: load the cycles of all sessions, save study.nc and the tables."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import xarray as xr

from ..results import netcdf, schema
from ..results.data_dictionary import as_json, data_dictionary
from ..results.study_file import differences, differences_from_conventional
from ..steps.study.step import participants_columns, per_participant
from ..tables.csv_files import csv_of
from .run_job import Files, load_reference, provenance

TIMES = ("start_time", "end_time")  # rounded, whatever the length of the recording

log = logging.getLogger("pipeline")


def run(
    key: Mapping[str, Any], function: Callable[..., Any], arguments: dict[str, Any], inputs: Files, outputs: Files
) -> None:
    """Run the job of the study; arguments as of :func:`pipeline.workflow.run_job.run`."""
    cycles = {file.parent.name: netcdf.load(file) for file in inputs["cycles"]}
    own = provenance(key, [data.attrs for data in cycles.values()])
    if name := arguments["reference"]:
        own["reference_sha256"] = key["reference"]
        arguments["reference"] = load_reference(name)
        arguments["about_reference"] = _about(name, arguments["reference"], arguments["about_reference"], own)
    dataset, metrics, quality = function(cycles, **arguments)
    dataset = schema.described("study", dataset)
    dataset.attrs |= own
    netcdf.save(outputs["study"][0], dataset)
    means, symmetry = per_participant(metrics)
    tables = {"metrics": metrics, "quality": quality, "participants": means, "symmetry": symmetry}
    exact = [*TIMES, *participants_columns(metrics)]
    for name, table in tables.items():
        file, dictionary = outputs[name]
        netcdf.write_whole(file, csv_of(table, exact=exact))
        netcdf.write_whole(dictionary, as_json(data_dictionary(name, table.columns)))


def _about(
    name: str, reference: xr.Dataset | str, shipped: Mapping[str, Any], own: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what study.nc holds of a reference: name, title, citation, people, and how it differs from this study."""
    remarks, people = differences_from_conventional(own) if shipped else [], ""
    if isinstance(reference, xr.Dataset):
        remarks = differences(reference.attrs, own)
        if "participant" in reference.coords:  # else it is no study.nc, and the step refuses it
            people = f"the {len(set(reference.participant.values.tolist()))} people of {name}"
        for remark in remarks:
            log.warning("study.reference: %s", remark)
    return {"name": name, "title": name, "citation": "", "people": people, **shipped, "remarks": remarks}
