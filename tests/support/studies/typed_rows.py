"""Rows of text as tables of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from pipeline.results.typed_tables import read_results


def typed(table: str, rows: Iterable[Mapping[str, str]]) -> pd.DataFrame:
    """Return rows as they are read from a file; cells that a row lacks are empty."""
    return read_results(table, pd.DataFrame([*rows]).to_csv(index=False))
