"""Run the step ``study``: load the cycles of all sessions, save study.nc and the tables."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import xarray as xr

from ..results import netcdf, schema
from ..results.study_file import differences
from ..steps.study.step import per_participant
from ..tables.csv_files import csv_of
from .run_job import Files, load_reference, provenance

log = logging.getLogger("pipeline")


def run(
    key: Mapping[str, Any], function: Callable[..., Any], arguments: dict[str, Any], inputs: Files, outputs: Files
) -> None:
    """Run the job of the study; arguments as of :func:`pipeline.workflow.run_job.run`."""
    cycles = {file.parent.name: netcdf.load(file) for file in inputs["cycles"]}
    own = provenance(key, [data.attrs for data in cycles.values()])
    if arguments["reference"]:
        own["reference_sha256"] = key["reference"]
        arguments["reference"] = load_reference(arguments["reference"])
        if isinstance(arguments["reference"], xr.Dataset):
            own |= _reference_differs(arguments["reference"], own)
    dataset, metrics, quality = function(cycles, **arguments)
    dataset = schema.described("study", dataset)
    dataset.attrs |= own
    netcdf.save(outputs["study"][0], dataset)
    means, symmetry = per_participant(metrics)
    tables = {"metrics": metrics, "quality": quality, "participants": means, "symmetry": symmetry}
    for name, table in tables.items():
        netcdf.write_whole(outputs[name][0], csv_of(table))


def _reference_differs(reference: xr.Dataset, own: Mapping[str, Any]) -> dict[str, str]:
    if found := differences(reference.attrs, own):
        log.warning("study.reference: %s; angles may mean something else", found)
    return {"reference_differs": found} if found else {}
