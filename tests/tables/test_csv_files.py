"""Tables as CSV text: the bytes of pandas' own writer, which is the known reference here, for every kind of column."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.tables.csv_files import DIGITS, Kinds, csv_of, guard_formulas, read_csv, tables_of
from tests.support.studies.typed_rows import rows_of

MIXED = pd.DataFrame(
    {
        "float": [1.23456789, np.nan, np.inf, -np.inf, -0.0, 1e-300],
        "single": np.arange(6, dtype=np.float32) / 3,
        "Float64": pd.array([1.123456789, None, 3, 4e-9, 5, 6], dtype="Float64"),
        "Int64": pd.array([1, None, 3, 4, 5, 6], dtype="Int64"),
        "int": range(6),
        "bool": [True, False] * 3,
        "boolean": pd.array([True, None] * 3, dtype="boolean"),
        "text": pd.Series(["a", "=b", None, '"', "é,\n", "\r"], dtype="str"),
        "objects": pd.Series([1.5, "-5", None, np.nan, pd.NA, True], dtype=object),
        "=formula": ["", "=1+1", "'=1", "+4.5", " ", "@x"],
    }
)


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("rows", [6, 1, 0])
def test_a_table_has_the_bytes_of_pandas_writer(rows: int, header: bool) -> None:
    table = MIXED.head(rows)
    expected = guard_formulas(table).to_csv(index=False, header=header, lineterminator="\n", float_format=DIGITS)
    assert csv_of(table, header=header) == expected.encode()


@pytest.mark.parametrize("name", [*MIXED])
def test_a_single_column_has_the_bytes_of_pandas_writer(name: str) -> None:
    expected = guard_formulas(MIXED[[name]]).to_csv(index=False, lineterminator="\n", float_format=DIGITS)
    assert csv_of(MIXED[[name]]) == expected.encode()


def test_exact_columns_keep_all_digits_and_no_more_than_they_have() -> None:
    table = pd.DataFrame({"=mass_kg": [70.0, 71.2345678, np.nan], "time": [1234.5678, 0.1, 1e-300], "work": 1.23456789})
    lines = csv_of(table, exact=["=mass_kg", "time", "absent"]).decode().splitlines()
    assert lines == ["'=mass_kg,time,work", "70,1234.5678,1.23457", "71.2345678,0.1,1.23457", ",1e-300,1.23457"]
    rows = rows_of(csv_of(table, exact=["time"]).decode())
    assert [float(row["time"]) for row in rows] == table["time"].tolist()


def test_a_table_that_a_spreadsheet_saved_again_is_read() -> None:
    """With a byte-order mark, a line of blanks, and cells left out at the end of a line."""
    table = read_csv("\ufeffname,value,note\nfirst,1.5,x\n  \n\nsecond,2\n", Kinds({"value"}))
    assert table.to_dict("list") == {"name": ["first", "second"], "value": [1.5, 2.0], "note": ["x", ""]}


def test_a_short_line_of_a_result_is_refused(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text("participant,value,note\na,1.5,x\na,2\n")
    with pytest.raises(ValueError, match="shorter"):
        next(tables_of(tmp_path / "metrics.csv", "participant", ["a"], Kinds({"value"})))
