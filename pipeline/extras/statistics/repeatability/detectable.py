"""The minimal detectable changes in repeatability.csv and .nc, of this study or of another one of the laboratory."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ....conventions import SIDES
from ....results import netcdf
from ....steps.report.visit_changes import DetectableCurves
from ....tables.csv_files import Kinds, read_csv
from ....variables.cycle_variables import CURVES
from .variables import OF_METRICS, SINGLE, WITH_BOUNDS

ENDS = ("", "_lower", "_upper")
ENOUGH_PEOPLE = 30  # with fewer, correlation and SEM are too small on average
NUMBERS = (*(f"{name}{end}" for name in WITH_BOUNDS for end in ENDS), *SINGLE, *OF_METRICS)


def table_of(files: Sequence[Path]) -> pd.DataFrame | None:
    """Return the table of a file, None without one; raise ValueError if it is none."""
    return next((read_csv(file.read_text(encoding="utf-8"), Kinds(NUMBERS)) for file in files), None)


def detectable_changes(table: pd.DataFrame | None) -> dict[str, dict[str, dict[str, float]]]:
    """Return the minimal detectable changes by condition, side and metric, as far as known.

    Raises:
        KeyError: this is another table.
    """
    changes: dict[str, dict[str, dict[str, float]]] = {}
    if table is not None:
        known = table[["condition", "side", "metric", "mdc"]].dropna()
        for condition, side, metric, change in known.itertuples(index=False, name=None):
            changes.setdefault(condition, {}).setdefault(side, {})[metric] = change
    return changes


class Known(NamedTuple):
    """What a page takes of a repeatability: its table, None without one, and the file with its curves, if any."""

    table: pd.DataFrame | None
    curves: Path | None = None
    source: str = ""  # in words


def known_here(files: Mapping[str, Sequence[Path]]) -> Known:
    """Return what is known by this study's own repeatability, by further inputs of a job."""
    own = files.get("repeatability", [])
    return Known(table_of(own), next((file for file in own if file.suffix == ".nc"), None), "this study")


def known_elsewhere(needs: Mapping[str, str]) -> Known:
    """Return what is known by the table of another study, by what a page needs of it."""
    file = Path(needs["file"])
    return Known(table_of([file]), file.with_suffix(".nc") if "curves" in needs else None, needs["file"])


def detectable_curves(known: Known) -> DetectableCurves | None:
    """Return the minimal detectable changes of curves at each percent, None if no curve has them."""
    if known.curves is None:
        return None
    data = netcdf.load(known.curves, [f"{curve}_{name}" for curve in CURVES for name in ("mdc", "people")])
    if not data.data_vars:
        return None
    data = data.sel(side=[*SIDES])
    changes = data[[name for name in data if str(name).endswith("_mdc")]].sel(bound="value", drop=True)
    measured = [data[str(name).replace("_mdc", "_people")].values[np.isfinite(one)] for name, one in changes.items()]
    counts = np.unique(np.concatenate([*measured, np.empty(0)]).astype(int)).tolist()
    if not counts:
        return None
    people = f"n {' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} people"
    people += ", so too small on average" if counts[0] < ENOUGH_PEOPLE else ""
    names = {name: str(name).removesuffix("_mdc") for name in changes}
    return DetectableCurves(changes.rename(names), people, known.source)
