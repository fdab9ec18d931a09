"""Step ``repeatability``: how far the results of a study differ when nothing has changed.

One measurement is the mean of the gait cycles of one person, visit, assessor, condition and side. Conditions are apart,
and so are the sides: a person always has both, so the side is no random sample of sides but a fixed facet, which is
analysed level by level; the side ``mean`` is the mean of both.

The minimal detectable change is 1.96 sqrt(2) SEM, the largest difference of two measurements in 95 % of people who have
not changed (Weir JP (2005) Quantifying test-retest reliability using the intraclass correlation coefficient and the
SEM. J Strength Cond Res 19:231-240). The within-person standard deviation is the root of the mean variance of a
person's measurements (Bland JM, Altman DG (1996) Measurement error. BMJ 313:744).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ....arrays import Array, known_mean, quotient
from ....conventions import SIDES
from ....results.averages import average, shortest_way
from ....variables.metrics import NUMBERS
from .components import Repeatability, repeatability_of
from .design import FACTORS, FEWEST_PEOPLE, Cell, Design, design_of
from .settings import Settings
from .variables import BOUNDS, CONSISTENT, EFFECTS, MEAN_OF_SIDES, REPEATABILITY, WITH_BOUNDS

DETECTABLE = 1.96 * np.sqrt(2)
MODELS = {  # by the number of repeated factors that people share
    0: ("ICC(1), one-way random effects, single measurement", "ICC(1)"),
    1: ("ICC(A,1), two-way random effects, absolute agreement, single measurement", "ICC(C,1)"),
    2: ("ICC(A,1), persons x visits x assessors, random effects, absolute agreement, single measurement", "ICC(C,1)"),
}
MEASUREMENT = "mean of the gait cycles of one person, visit, assessor, condition and side"
EXTENT = "all people with two or more measurements"
LEVELS = tuple(f"{name}s" for name in FACTORS)
Numbers = dict[str, Array]


def repeatability(
    study: xr.Dataset, *, settings: Settings, sessions: Mapping[str, Mapping[str, str]]
) -> tuple[xr.Dataset, pd.DataFrame]:
    """Return repeatability.nc and repeatability.csv of a study.

    Args:
        study: study.nc without kinetics that are in no mean.
        sessions: as of :func:`pipeline.extras.statistics.repeatability.design.design_of`.

    Returns:
        The variables of :data:`pipeline.extras.statistics.repeatability.variables.REPEATABILITY`, NaN where fewer than
        three people have repeated measurements; and a row per condition, side and metric.
    """
    design = design_of(sessions, [str(name) for name in settings.visits])
    if design is None:
        raise ValueError(f"fewer than {FEWEST_PEOPLE} people have repeated measurements")
    conditions = list(dict.fromkeys(study.condition.values.tolist()))
    metrics = [name for name in NUMBERS if name in study]
    values = np.stack([study[name].values for name in metrics], axis=-1)
    phase = np.array([NUMBERS[name].kind == "phase" for name in metrics])
    variables = {f"metric_{name}": each for name, each in _of_all(study, values, conditions, design, phase).items()}
    data = {name: (REPEATABILITY[name].dims, each) for name, each in variables.items()}
    for name in (name for name in study.data_vars if f"{name}_sem" in REPEATABILITY):
        curve = study[name]
        flat = curve.values.reshape(len(curve), int(np.prod(curve.shape[1:])))
        for quantity, each in _of_all(study, flat, conditions, design, None).items():
            if (variable := f"{name}_{quantity}") in REPEATABILITY:
                shape = (*each.shape[:2], *curve.shape[1:], *each.shape[3:])
                data[variable] = (REPEATABILITY[variable].dims, each.reshape(shape))
    coordinates: dict[str, Any] = {"condition": conditions, "side": [*SIDES, MEAN_OF_SIDES], "bound": [*BOUNDS]}
    coordinates |= {"metric": metrics, "metric_units": ("metric", [NUMBERS[name].units for name in metrics])}
    coordinates |= {"effect": [*EFFECTS]}
    used = dict.fromkeys(str(dim) for dims, _ in data.values() for dim in dims)  # in order: the same bytes each time
    coordinates |= {name: study[name].variable for name in used if name not in coordinates}
    agreement, consistency = MODELS[len(design.factors)]
    visits, assessors = (len({cell[place] for cell in design.cells.values()}) for place in (1, 2))
    about = {
        "icc_model": f"{agreement} (McGraw and Wong 1996)",
        "icc_consistency_model": consistency,
        "measurement": MEASUREMENT,
        "repeated_factors": ", ".join(design.factors) or "none that people share",
        "design": f"{design.people} people, {visits} visits, {assessors} assessors, {len(design.cells)} sessions",
        "people_used": EXTENT,
    }
    result = xr.Dataset(data, coordinates, about)
    return result, _table(result)


def _of_all(
    study: xr.Dataset, values: Array, conditions: Sequence[str], design: Design, phase: NDArray[np.bool_] | None
) -> Numbers:
    """Return the numbers (condition, side, point, ...) of points; of curves if ``phase`` is None."""
    results = []
    for condition in conditions:
        cells, means, spread = _measurements(study, values, condition, design, phase)
        results += [_numbers(each, cells, design, curves=phase is None) for each in means]
        if phase is not None:
            results[-3:] = [one | extra for one, extra in zip(results[-3:], spread, strict=True)]
    return {
        name: np.stack([one[name] for one in results]).reshape(len(conditions), 3, *results[0][name].shape)
        for name in results[0]
    }


def _measurements(
    study: xr.Dataset, values: Array, condition: str, design: Design, phase: NDArray[np.bool_] | None
) -> tuple[list[Cell], Array, list[Numbers]]:
    """Return the cells, their means (side, cell, point), sides with their mean, and what is known of the cycles."""
    cells = list(dict.fromkeys(design.cells.values()))
    circular = np.zeros(values.shape[1], dtype=bool) if phase is None else phase
    cell_of = {name: cells.index(cell) for name, cell in design.cells.items()}
    place = np.array([cell_of.get(name, -1) for name in study.session.values.tolist()])
    place = np.where(study.condition.values == condition, place, -1)
    means, spread = np.full((3, len(cells), values.shape[1]), np.nan), []
    for i, side in enumerate(SIDES):
        mine = np.where(study.side.values == side, place, -1)
        of_cells = [average(values[mine == cell], phase=circular) for cell in range(len(cells))]
        means[i] = [each.mean for each in of_cells]
        counts = np.array([each.n for each in of_cells], dtype=float)
        squares = np.nansum([(each.n - 1) * each.sd**2 for each in of_cells], axis=0)
        free = np.sum(np.maximum(counts - 1, 0), axis=0)
        known = np.where(counts > 0, counts, np.nan)
        spread.append({"cycle_sd": np.sqrt(quotient(squares, free)), "cycles": known_mean(known, axis=0)})
    centre = average(np.concatenate(means[:2]), phase=circular).mean
    means = np.where(circular, centre + shortest_way(means - centre), means)
    means[2] = (means[0] + means[1]) / 2
    return cells, means, [*spread, {name: np.full(values.shape[1], np.nan) for name in spread[0]}]


def _numbers(values: Array, cells: Sequence[Cell], design: Design, *, curves: bool) -> Numbers:
    """Return the numbers (point, ...) of measurements (cell, point); points without the same cells are apart."""
    count = values.shape[1]
    values = np.where(np.fmax.reduce(values) > np.fmin.reduce(values), values, np.nan)  # all equal: nothing to compare
    result: Numbers = {name: np.full((count, len(BOUNDS)), np.nan) for name in WITH_BOUNDS}
    result |= {name: np.full(count, np.nan) for name in (*LEVELS, "within_person_sd", "icc_bias", "sem_bias_percent")}
    result |= {"people": np.zeros(count), "variance": np.full((count, len(EFFECTS)), np.nan)}
    people = np.array([cell[0] for cell in cells])
    patterns, pattern_of = np.unique(np.isfinite(values), axis=1, return_inverse=True)
    for number, known in enumerate(patterns.T):
        points = np.flatnonzero(pattern_of.ravel() == number)
        rows = np.flatnonzero(known)
        _, inverse, times = np.unique(people[rows], return_inverse=True, return_counts=True)
        rows = rows[times[inverse] > 1]  # of people who have two or more
        repeated = [cells[row] for row in rows.tolist()]
        for name, each in _of_rows(values[np.ix_(rows, points)], repeated, design, curves).items():
            result[name][points] = each
    return result


def _of_rows(values: Array, cells: Sequence[Cell], design: Design, curves: bool) -> Numbers:
    """Return the numbers of measurements (cell, point) without gaps; none of fewer than FEWEST_PEOPLE."""
    people = len({cell[0] for cell in cells})
    if people < FEWEST_PEOPLE:
        return {"people": np.array(people)}
    columns = [0, *(1 + FACTORS.index(name) for name in design.factors)]  # of the person and of each factor
    codes = [np.unique([cell[column] for cell in cells], return_inverse=True)[1] for column in columns]
    found = repeatability_of(values, codes)
    variance = pd.DataFrame(values).groupby(codes[0]).var().mean().to_numpy()
    numbers = _named(found, design) | {"people": np.array(people), "within_person_sd": np.sqrt(variance)}
    numbers |= {f"{name}s": np.array(len({*code})) for name, code in zip(design.factors, codes[1:], strict=True)}
    bias = () if curves else found.agreement.bias()
    return numbers | dict(zip(("icc_bias", "sem_bias_percent"), bias, strict=False))


def _named(found: Repeatability, design: Design) -> Numbers:
    """Return the estimates by the names of the variables."""
    agreement, consistency = found.agreement, found.consistency
    factors = ("person", *design.factors)
    variance = np.full((agreement.icc.shape[1], len(EFFECTS)), np.nan)
    for effect, component in found.variance.items():
        last = len(effect) > len(factors)
        variance[:, EFFECTS.index("remainder" if last else " x ".join(factors[i] for i in effect))] = component
    return {
        "icc": agreement.icc.T,
        "sem": agreement.sem.T,
        "mdc": DETECTABLE * agreement.sem.T,
        f"icc{CONSISTENT}": consistency.icc.T,
        f"sem{CONSISTENT}": consistency.sem.T,
        f"mdc{CONSISTENT}": DETECTABLE * consistency.sem.T,
        "variance": variance,
    }


def _table(data: xr.Dataset) -> pd.DataFrame:
    """Return a row per condition, side and metric."""
    shape = [data.sizes[name] for name in ("condition", "side", "metric")]
    labels = np.meshgrid(*(data[name].values for name in ("condition", "side", "metric")), indexing="ij")
    columns: dict[str, Any] = dict(zip(("condition", "side", "metric"), (each.ravel() for each in labels), strict=True))
    columns["units"] = np.broadcast_to(data.metric_units.values, shape).ravel()
    columns["model"] = data.attrs["icc_model"].partition(", ")[0]
    columns["people"] = data.metric_people.values.ravel().astype(int)
    for name in WITH_BOUNDS:
        for i, bound in enumerate(BOUNDS):
            columns[name if not i else f"{name}_{bound}"] = data[f"metric_{name}"].values[..., i].ravel()
    for name in (*LEVELS, "within_person_sd", "icc_bias", "sem_bias_percent", "cycle_sd", "cycles"):
        columns[name] = data[f"metric_{name}"].values.ravel()
    for i, effect in enumerate(EFFECTS):
        values = data.metric_variance.values[..., i].ravel()
        if np.isfinite(values).any():
            columns[f"variance_{effect.replace(' x ', '_')}"] = values
    return pd.DataFrame(columns)
