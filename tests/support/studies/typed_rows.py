"""Rows of text as tables of results, and tables as rows of text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from pipeline.results.typed_tables import read_results
from pipeline.tables.csv_files import Kinds, read_csv


def typed(table: str, rows: Iterable[Mapping[str, str]]) -> pd.DataFrame:
    """Return rows as they are read from a file; cells that a row lacks are empty."""
    return read_results(table, pd.DataFrame([*rows]).to_csv(index=False))


def rows_of(text: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file as text, without what guards them from spreadsheets."""
    return [{str(name): cell for name, cell in row.items()} for row in read_csv(text, Kinds(())).to_dict("records")]
