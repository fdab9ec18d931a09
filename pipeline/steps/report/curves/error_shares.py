"""Errors of moments and powers: the band in the figures, and the share of each source in it."""

from collections.abc import Iterable, Mapping

import numpy as np
import xarray as xr

from ....arrays import Array
from ..tables import ABSENT, Table
from .panels import Panel


def band_percent(study: xr.Dataset) -> float | None:
    """Return the percentage of draws in the error bands; None without draws."""
    if "joint_moment_band" not in study:
        return None
    percentile = study.percentile.values
    return float(percentile[-1] - percentile[0])


def share_sums(study: xr.Dataset, panels: Iterable[Panel]) -> dict[str, Array]:
    """Return, by moment, the sums over cycles and phases to which the shares (source,) are proportional.

    Shares are weighted by the squared width of the error band, which is proportional to the variance. Empty if no
    errors were drawn.
    """
    sums = {}
    for panel in panels if "joint_moment_band" in study else ():
        if panel.variable == "joint_moment_jcs":
            band = study.joint_moment_band.sel(panel.component).transpose("percentile", "cycle", "phase").values
            share = study.joint_moment_variance_share.sel(panel.component)
            weight = (band[-1] - band[0]) ** 2 * share.transpose("error_source", "cycle", "phase").values
            sums[panel.title] = np.where(np.isfinite(weight), weight, 0).sum(axis=(1, 2))
    return sums


def shares(study: xr.Dataset, sums: Mapping[str, Array]) -> Table | None:
    """Return the share of each error source in each moment's variance, percent; None if no errors were drawn."""
    if not sums:
        return None
    rows = []
    for title, total in sums.items():
        cells = [f"{value:.0f}" for value in 100 * total / total.sum()] if total.sum() > 0 else [ABSENT] * len(total)
        rows.append([title, *cells])
    return Table(["Moment", *(str(name).replace("_", " ") for name in study.error_source.values)], rows)
