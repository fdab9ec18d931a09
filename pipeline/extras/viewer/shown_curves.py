"""The curves of the gait cycles of a trial, before other cycles of the session and the norm."""

from typing import Any

import numpy as np
import xarray as xr

from ...arrays import Array, select
from ...conventions import SIDES
from ...signals.time_normalisation import PHASE
from ...steps.report.curves.panels import Panel, panels_of, plain_unit
from ...tables.reference_curves import (
    COMPONENTS,
    BySpeed,
    Curves,
    at_speed,
    key_of,
    reference_file,
    reference_of,
    speeds_of,
)
from ...tables.tsv import decode_text
from ...variables.schema import VARIABLES
from ...workflow.job_keys import Study
from .shown_trial import packed

MOST_OTHERS = 20  # other cycles of a side behind those of the trial


def shown_curves(cycles: xr.Dataset, trial: str, norm: BySpeed, *, moment_signs: str) -> dict[str, Any]:
    """Return the panels, the cycles of a trial and of others, and their curves (panel, cycle, phase), as JSON."""
    if not cycles.sizes.get("cycle"):
        return {"cycles": [], "panels": [], "curves": packed(np.empty((0, 0, len(PHASE))))}
    names = cycles.variables["trial"].values[cycles.variables["cycle_trial"].values]
    sides = cycles.variables["side"].values
    others = [np.flatnonzero((names != trial) & (sides == side)) for side in SIDES]
    chosen = np.concatenate([np.flatnonzero(names == trial), *(each[:MOST_OTHERS] for each in others)])
    panels, own_norm = panels_of(cycles, moment_signs=moment_signs), _at_own_speed(norm, cycles)
    curves = [
        one.factor * select(cycles, one.variable, "cycle", "phase", **one.component).astype(float)[chosen]
        for one in panels
    ]
    start, end = (cycles.variables[name].values[chosen].tolist() for name in ("start_time", "end_time"))
    rows = zip(sides[chosen].tolist(), start, end, (names[chosen] == trial).tolist(), strict=True)
    return {
        "cycles": [dict(zip(("side", "start", "end", "own"), row, strict=True)) for row in rows],
        "panels": [
            {
                "group": one.group,
                "title": one.title,
                "unit": plain_unit(VARIABLES["cycles"][one.variable].units),
                "sign": one.sign,
                "norm": _band(one, own_norm),
            }
            for one in panels
        ],
        "curves": packed(np.stack(curves)),
    }


def norm_of(study: Study) -> BySpeed:
    """Return the normal curves of a study by speed; none if it has none, or those of another study."""
    name = study.settings["study"]["reference"]
    file = reference_file(name, study_path=study.path) if name else None
    if file is None or file.suffix == ".nc":
        return {}
    return reference_of(decode_text(file.read_bytes()), where="study.reference")


def _at_own_speed(norm: BySpeed, cycles: xr.Dataset) -> Curves:
    """Return the normal curves at the median speed of a session's cycles."""
    if not norm:
        return {}
    names = cycles.variables["metric"].values.tolist()
    speeds = cycles.variables["metric_value"].values[:, names.index("walking_speed_dimensionless")]
    known, available = speeds[np.isfinite(speeds)], speeds_of(norm)
    middle = available[len(available) // 2] if available else 0
    return at_speed(norm, float(np.median(known)) if known.size else middle)


def _band(panel: Panel, norm: Curves) -> dict[str, Any] | None:
    """Return the lower and the upper edge of the normal band (2, phase), mean -+ 1 SD; None without a norm."""
    key = key_of(panel.variable, panel.component) if panel.variable in COMPONENTS else ()
    if key not in norm:
        return None
    curve = norm[key]
    mean, sd = (np.interp(PHASE, curve.phase, v, left=np.nan, right=np.nan) for v in (curve.mean, curve.sd))
    edges: Array = np.stack([panel.factor * mean - sd, panel.factor * mean + sd])
    return packed(edges)
