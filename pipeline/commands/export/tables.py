"""The tables of a study, one after the other, for whatever writes them; and what keeps an export from being written."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import UserError
from ...results import netcdf
from ...results.study_file import study_path
from ...results.whole_files import write_whole
from ...tables.csv_files import unguard
from ...variables.data_dictionary import as_json
from ...variables.metrics import NUMBERS
from ...workflow.digests import sha256
from ..shared.exported_files import MADE_FROM, sidecar

TABLES = ("participants", "metrics", "symmetry", "quality")
KINDS = {"i": "int64", "b": "bool", "f": "double"}  # Arrow's name of a kind of numbers in study.nc
IN_THE_UNITS_OF_THE_ROW = ("left", "right", "difference", "difference_u")  # of symmetry.csv


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


def tables_of(path: Path, names: Sequence[str] = TABLES) -> Iterator[Table]:
    """Yield tables of a study; refuse one that is not there, or has no description of its columns."""
    source = study_path(path)
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


@contextmanager
def writing(output: Path, *, form: str, library: str) -> Iterator[None]:
    """Refuse an export that needs a library which is not installed, or a place where nothing can be written."""
    try:
        yield
    except ImportError:
        raise UserError(f"--format {form}", f"needs {library}", f"pip install {library}") from None
    except OSError as error:
        what = f"cannot be written ({error.strerror or error})"
        raise UserError(str(output), what, "choose another --output") from None


def write_sidecar(output: Path, source: Path, about: Mapping[str, Any]) -> None:
    """Write what the columns of an exported table mean, and of which study.nc it was made."""
    write_whole(sidecar(output), as_json({MADE_FROM: {source.name: sha256(source)}, **about}))
