"""Run the step ``repeatability`` on study.nc."""

from collections.abc import Callable, Mapping
from typing import Any

from ....conventions import SIDES
from ....results import netcdf
from ....results.job_files import Files, provenance
from ....results.study_file import without_doubted
from ....results.whole_files import write_whole
from ....tables.csv_files import csv_of
from ....variables import schema
from ....variables.data_dictionary import Column, as_json, data_dictionary
from .variables import EFFECTS, MEAN_OF_SIDES, OF_METRICS, SINGLE, WITH_BOUNDS

COLUMNS = {  # of repeatability.csv
    "side": Column("side; mean is the mean of both", "", dict.fromkeys((*SIDES, MEAN_OF_SIDES), "")),
    "metric": Column("metric, as in metrics.csv"),
    "units": Column("units of the metric"),
    "model": Column("model of the intraclass correlation (McGraw and Wong 1996)"),
    **{
        f"{name}{ending}": Column(f"{words}{meaning}", units or "")
        for name, (units, meaning) in (WITH_BOUNDS | SINGLE | OF_METRICS).items()
        for ending, words in (("", ""), ("_lower", "lower limit of 95 %: "), ("_upper", "upper limit of 95 %: "))
        if name in WITH_BOUNDS or not ending
    },
    **{f"variance_{effect.replace(' x ', '_')}": Column(f"variance of the effect of {effect}") for effect in EFFECTS},
}


def run(
    key: Mapping[str, Any], function: Callable[..., Any], arguments: dict[str, Any], inputs: Files, outputs: Files
) -> None:
    """Write repeatability.nc, .csv and .json; arguments as of :func:`pipeline.workflow.jobs.run_job.run`."""
    (study,), (result,), (table, dictionary) = inputs["study"], outputs["repeatability"], outputs["table"]
    data, rows = function(without_doubted(netcdf.load(study)), **arguments)
    about = provenance(key, [netcdf.attributes(study)])
    netcdf.save(result, schema.describe("repeatability", data).assign_attrs(about))
    write_whole(table, csv_of(rows))
    write_whole(dictionary, as_json(data_dictionary("repeatability", rows.columns, own=COLUMNS)))
