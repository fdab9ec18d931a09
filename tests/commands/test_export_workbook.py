"""``gaitlab export --format xlsx`` and ``csv-tables``, read back by another library and by pandas."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from pipeline.__main__ import main
from pipeline.commands.export.command import export_as
from pipeline.commands.export.tables import TABLES
from pipeline.results import netcdf
from pipeline.tables.csv_files import csv_of
from tests.commands.test_export import stored  # noqa: F401 (a fixture)

NASTY = ["=1+1", "007", "+49", "@cmd", '=HYPERLINK("http://x")', "1e5", "http://example.org", "ü"]


@pytest.fixture
def study(stored: Path) -> Path:  # noqa: F811 (the fixture)
    """Return a study with tables of which the ids look like formulas, numbers and links."""
    derived = stored / "derived"
    rows = len(NASTY)
    table = pd.DataFrame({
        "participant": NASTY, "session": NASTY, "walking_speed": [-1.25, 1e-7, 1.5, None, 0.1, 2, 3, 4], "note": NASTY,
        "kinetics_valid": [True] * rows,
    })  # fmt: skip
    about = {
        name: {"Description": f"what {name} is"} | ({"Units": "m s-1"} if name == "walking_speed" else {})
        for name in table
    }
    for name in TABLES:
        (derived / f"{name}.csv").write_bytes(csv_of(table))
        (derived / f"{name}.json").write_text(json.dumps(about))
    return stored


def test_a_workbook_has_a_sheet_per_table_with_units_numbers_and_texts(study: Path) -> None:
    export_as(study, form="xlsx")
    path = study / "derived" / "study.xlsx"
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == [*TABLES, "columns"]
    for name in TABLES:
        header, *rows = book[name].iter_rows(values_only=True)
        assert header == ("participant", "session", "walking_speed (m s-1)", "note", "kinetics_valid")
        assert [row[0] for row in rows] == NASTY
        assert [row[3] for row in rows] == NASTY
        assert [row[2] for row in rows] == [-1.25, 1e-7, 1.5, None, 0.1, 2, 3, 4]
        kinds = {cell.data_type for row in book[name].iter_rows() for cell in row if cell.value is not None}
        assert kinds == {"s", "n"}, "no formula"
        assert not any(cell.hyperlink for row in book[name].iter_rows() for cell in row)
    assert ("metrics", "walking_speed", "m s-1", "what walking_speed is") in {*book["columns"].values}
    first = path.read_bytes()
    export_as(study, form="xlsx")
    assert path.read_bytes() == first, "the same results are the same file"
    assert main(["export", str(study), "--format", "xlsx", "--output", str(study / "other.xlsx")]) == 0


def test_csv_tables_of_another_locale_are_read_by_it(study: Path) -> None:
    export_as(study, form="csv-tables", decimal="comma")
    for name in TABLES:
        path = study / "derived" / "tables" / f"{name}.csv"
        assert path.read_bytes().startswith(b"\xef\xbb\xbf"), "Excel knows UTF-8 by this mark"
        table = pd.read_csv(path, sep=";", decimal=",", dtype={"note": str})
        assert table["walking_speed (m s-1)"].dropna().tolist() == [-1.25, 1e-7, 1.5, 0.1, 2, 3, 4]
        assert table.note.tolist() == [f"'{text}" if text[0] in "=@" else text for text in NASTY]


def test_the_long_table_has_the_locale_too(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(study), "--output", str(study / "plain.csv")]) == 0
    assert main(["export", str(study), "--decimal", "comma", "--output", str(study / "comma.csv")]) == 0
    plain = pd.read_csv(study / "plain.csv", low_memory=False)
    comma = pd.read_csv(study / "comma.csv", sep=";", decimal=",", low_memory=False)
    pd.testing.assert_frame_equal(plain, comma)
    capsys.readouterr()
    for options, words in (
        (["--decimal", "comma", "--separator", ","], "numbers have a comma"),
        (["--format", "xlsx", "--decimal", "comma"], "are of CSV files"),
    ):
        assert main(["export", str(study), *options]) == 1
        assert words in capsys.readouterr().err


def test_a_missing_table_and_a_missing_library_are_named(
    study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.move(study / "derived" / "quality.csv", study / "quality.csv")
    assert main(["export", str(study), "--format", "xlsx"]) == 1
    assert "gaitlab run STUDY" in capsys.readouterr().err
    monkeypatch.setitem(__import__("sys").modules, "xlsxwriter", None)
    assert main(["export", str(study), "--format", "xlsx"]) == 1
    assert "pip install XlsxWriter" in capsys.readouterr().err
    assert netcdf.load(study / "derived" / "study.nc").sizes["cycle"]
