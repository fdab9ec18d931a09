"""The variables of repeatability.nc and the columns of repeatability.csv: dimensions, units and meaning."""

from ....variables.cycle_variables import CURVES
from ....variables.rows import Variable

COORDINATES = {  # units and meaning
    "bound": ("", "value, or lower or upper limit of its interval of 95 %"),
    "effect": ("", "random effect of the model; remainder: all that the others do not explain"),
}
BOUNDS = ("value", "lower", "upper")
MEAN_OF_SIDES = "mean"
CONSISTENT = "_consistency"
EFFECTS = (
    *("person", "visit", "assessor", "person x visit", "person x assessor", "visit x assessor", "remainder"),
)  # fmt: skip
# by name: units, None for those of the curve or metric, and meaning
WITH_BOUNDS: dict[str, tuple[str | None, str]] = {
    "icc": ("1", "intraclass correlation, model in the attribute icc_model"),
    "sem": (None, "standard error of measurement: all differences between measurements of an unchanged person"),
    "mdc": (None, "minimal detectable change, 1.96 sqrt(2) standard errors of measurement"),
    f"icc{CONSISTENT}": ("1", "intraclass correlation without differences that all people share"),
    f"sem{CONSISTENT}": (None, "standard error of measurement without differences that all people share"),
    f"mdc{CONSISTENT}": (None, "minimal detectable change without differences that all people share"),
}
SINGLE: dict[str, tuple[str | None, str]] = {
    "within_person_sd": (None, "root of the mean variance of a person's measurements (Bland and Altman 1996)"),
    "people": ("1", "number of people with repeated measurements"),
}
OF_METRICS: dict[str, tuple[str | None, str]] = {
    "visits": ("1", "number of visits that people share, if any; two cannot tell how much visits differ"),
    "assessors": ("1", "number of assessors that people share, if any; two cannot tell how much assessors differ"),
    "icc_bias": ("1", "expected error of the estimated intraclass correlation in a study of this size"),
    "sem_bias_percent": ("percent", "expected error of the standard error of measurement in a study of this size"),
    "cycle_sd": (None, "standard deviation of gait cycles within a measurement, trial to trial"),
    "cycles": ("1", "mean number of gait cycles in a measurement"),
}
OF_CURVES = ("icc", "sem", "mdc", *SINGLE)
_PLACE = ("condition", "side")
_OWN_UNITS = "1"  # of metrics, each in its metric_units
REPEATABILITY = {
    f"metric_{name}": Variable(
        (*_PLACE, "metric", *(("bound",) if name in WITH_BOUNDS else ())),
        units or _OWN_UNITS,
        meaning if units else f"{meaning}; in metric_units",
    )
    for name, (units, meaning) in (WITH_BOUNDS | SINGLE | OF_METRICS).items()
} | {
    "metric_variance": Variable(
        (*_PLACE, "metric", "effect"), "1", "variance of each random effect, in the square of metric_units"
    )
}
REPEATABILITY |= {
    f"{curve}_{name}": Variable(
        (*_PLACE, *variable.dims[1:], *(("bound",) if name in WITH_BOUNDS else ())),
        units or variable.units,
        f"{meaning}, of {variable.long_name}",
        "f4",
        optional=True,
    )
    for curve, variable in CURVES.items()
    if curve != "pelvis_residual"  # a check of the measurement, and nothing that is measured
    for name, (units, meaning) in (WITH_BOUNDS | SINGLE).items()
    if name in OF_CURVES
}
