"""Tables of results with the types of their declarations: numbers, flags, and all else text.

Columns of participants.tsv are text, as the laboratory wrote them: 001 stays 001. What describes a mean, such as its
standard deviation, is left out.
"""

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from ..tables.csv_files import Kinds, read_csv, tables_of
from ..variables.cycle_variables import IDENTITY
from ..variables.data_dictionary import ENDINGS, IN_THE_UNITS_OF_THE_ROW, OWN_COLUMNS
from ..variables.metrics import NUMBERS
from ..variables.schema import COORDINATES

FLAG = {"True", "False"}  # the levels of one


def read_results(table: str, text: str) -> pd.DataFrame:
    """Return metrics.csv, quality.csv, participants.csv or symmetry.csv, ``table``, from its text."""
    return read_csv(text, kinds_of(table))


def results_of_people(table: str, file: Path, people: Iterable[str]) -> Iterator[pd.DataFrame]:
    """Yield each participant's rows of a file as of :func:`read_results`; the file has the people in this order."""
    return tables_of(file, "participant", people, kinds_of(table))


@functools.cache
def kinds_of(table: str) -> Kinds:
    """Return the kinds of a table's columns: those with units hold numbers; what describes a mean is left out."""
    own = OWN_COLUMNS[table].items()
    times = [name for name in IDENTITY if COORDINATES[name][0]]
    numbers = (*NUMBERS, *(name for name, column in own if column.units), *times)
    of_row = IN_THE_UNITS_OF_THE_ROW if table == "symmetry" else ()
    flags = (name for name, column in own if {*column.levels} == FLAG)
    left_out = (f"{name}{ending}" for name in NUMBERS for ending in ENDINGS)
    return Kinds(frozenset((*numbers, *of_row)), frozenset(flags), frozenset(left_out))
