"""The minimal detectable changes in repeatability.csv, of this study or of another one of the laboratory."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ....tables.csv_files import read_csv
from .variables import OF_METRICS, SINGLE, WITH_BOUNDS

ENDS = ("", "_lower", "_upper")
NUMBERS = (*(f"{name}{end}" for name in WITH_BOUNDS for end in ENDS), *SINGLE, *OF_METRICS)


def table_of(files: Sequence[Path]) -> pd.DataFrame | None:
    """Return the table of a file, None without one; raise ValueError if it is none."""
    return next((read_csv(file.read_text(encoding="utf-8"), NUMBERS) for file in files), None)


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
