"""The tables of a study, one after the other, for whatever writes them."""

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import UserError
from ...results import netcdf
from ...tables.csv_files import unguard
from ...variables.data_dictionary import IN_THE_UNITS_OF_THE_ROW
from ...variables.metrics import NUMBERS

TABLES = ("participants", "metrics", "symmetry", "quality")
KINDS = {"i": "int64", "b": "bool", "f": "double"}  # Arrow's name of a kind of numbers in study.nc


class Table(NamedTuple):
    """A table of results: its file, what its columns mean, and the kinds of those that are not text."""

    path: Path
    columns: dict[str, dict[str, Any]]
    kinds: dict[str, str]  # see KINDS

    def titles(self) -> list[str]:
        """Return the header: the columns with their units."""
        return [f"{name} ({about['Units']})" if about.get("Units") else name for name, about in self.columns.items()]

    def are_numbers(self) -> list[bool]:
        """Return which columns hold numbers."""
        return [self.kinds.get(name) in ("int64", "double") for name in self.columns]

    def rows(self) -> Iterator[list[str]]:
        """Yield the rows as text, as they were before they were guarded against spreadsheets."""
        with self.path.open(encoding="utf-8", newline="") as file:
            lines = csv.reader(file)
            next(lines)
            for line in lines:
                yield [*map(unguard, line)]


def tables_of(source: Path, names: Sequence[str] = TABLES) -> Iterator[Table]:
    """Yield tables beside a study.nc; refuse one that is not there, or has no description of its columns."""
    empty = netcdf.load(source, [*NUMBERS], rows={"cycle": slice(0, 0)})
    of_people = {str(name): KINDS[one.dtype.kind] for name, one in empty.coords.items() if one.dtype.kind in KINDS}
    for name in names:
        table = source.with_name(f"{name}.csv")
        for file in (table, table.with_suffix(".json")):
            if not file.is_file():
                raise UserError(str(file), "no such file", "create it with: gaitlab run STUDY")
        columns = json.loads(table.with_suffix(".json").read_text(encoding="utf-8"))
        measured = (column for column, about in columns.items() if about.get("Units"))
        yield Table(table, columns, of_people | dict.fromkeys((*measured, *IN_THE_UNITS_OF_THE_ROW), "double"))
