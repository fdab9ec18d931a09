"""The table of the report that tells where the uncertainty of the joint moments comes from."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.gait_panels import PANELS
from pipeline.report_tables import ABSENT, Table


def band_percent(study: xr.Dataset) -> float | None:
    """Return the share of the draws within the study's bands, percent; None where no errors were drawn."""
    if "joint_moment_band" not in study:
        return None
    percentile = study.percentile.values
    return float(percentile[-1] - percentile[0])


def shares(study: xr.Dataset, mine: NDArray[np.bool_]) -> Table | None:
    """Return how much each source of error adds to the variance of each joint moment, percent.

    Args:
        study: derived/study.nc.
        mine: (cycle,), the cycles to take.

    Returns:
        One row per moment: its sources' part of the variance summed over the cycles. The width of the band, squared,
        weighs the instants: it goes with the variance. None where no errors were drawn.
    """
    if "joint_moment_band" not in study:
        return None
    sources = [str(name).replace("_", " ") for name in study.error_source.values]
    rows = []
    for panel in PANELS:
        if panel.variable == "joint_moment_jcs":
            band = study.joint_moment_band.sel(panel.component).transpose("percentile", "cycle", "phase").values
            share = study.joint_moment_variance_share.sel(panel.component)
            part = share.transpose("error_source", "cycle", "phase").values[:, mine]
            weight = (band[-1, mine] - band[0, mine]) ** 2 * part
            total = np.where(np.isfinite(weight), weight, 0).sum(axis=(1, 2))
            cells = [f"{value:.0f}" for value in 100 * total / total.sum()] if total.sum() > 0 else [ABSENT] * len(part)
            rows.append([panel.title, *cells])
    return Table(["Moment", *sources], rows)
