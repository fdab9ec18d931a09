"""Run the step ``repeatability`` on study.nc."""

from collections.abc import Callable, Mapping
from typing import Any

from ...results import netcdf
from ...results.job_files import Files, provenance
from ...results.study_file import without_doubted
from ...results.whole_files import write_whole
from ...tables.csv_files import csv_of
from ...variables import schema
from ...variables.data_dictionary import as_json, data_dictionary


def run(
    key: Mapping[str, Any], function: Callable[..., Any], arguments: dict[str, Any], inputs: Files, outputs: Files
) -> None:
    """Write repeatability.nc, .csv and .json; arguments as of :func:`pipeline.workflow.jobs.run_job.run`."""
    (study,), (result,), (table, dictionary) = inputs["study"], outputs["repeatability"], outputs["table"]
    data, rows = function(without_doubted(netcdf.load(study)), **arguments)
    about = provenance(key, [netcdf.attributes(study)])
    netcdf.save(result, schema.describe("repeatability", data).assign_attrs(about))
    write_whole(table, csv_of(rows))
    write_whole(dictionary, as_json(data_dictionary("repeatability", rows.columns)))
