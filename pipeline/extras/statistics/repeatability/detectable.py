"""The minimal detectable changes in repeatability.csv, of this study or of another one of the laboratory."""

from collections.abc import Sequence
from pathlib import Path

from ....tables.csv_files import rows_of

Row = dict[str, str]


def rows_of_files(files: Sequence[Path]) -> list[Row]:
    """Return the rows of tables."""
    return [row for file in files for row in rows_of(file.read_text(encoding="utf-8"))]


def detectable_changes(rows: Sequence[Row]) -> dict[str, dict[str, dict[str, float]]]:
    """Return the minimal detectable changes by condition, side and metric, as far as known.

    Raises:
        ValueError, KeyError: these are rows of another table.
    """
    changes: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        if row["mdc"]:
            changes.setdefault(row["condition"], {}).setdefault(row["side"], {})[row["metric"]] = float(row["mdc"])
    return changes
