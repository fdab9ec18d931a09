"""Tables as spreadsheets and people leave them: read as they are meant, or refused with what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.errors import UserError
from pipeline.tables import study_tables
from tests.support.checkout import DEMO

TEXT = (DEMO / "participants.tsv").read_text(encoding="utf-8")
TRIALS = (DEMO / "trials.tsv").read_text(encoding="utf-8")
UMLAUT = TEXT.replace("younger", "jünger")

READ: dict[str, Callable[[str], bytes]] = {
    "UTF-8 of Excel": lambda text: text.replace("\n", "\r\n").encode("utf-8-sig"),
    "Unicode text of Excel": lambda text: text.replace("\n", "\r\n").encode("utf-16"),
    "UTF-16 of other byte order": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "lines of an old Mac": lambda text: text.replace("\n", "\r").encode(),
    "commas": lambda text: text.replace("\t", ",").encode(),
    "semicolons": lambda text: text.replace("\t", ";").encode(),
    "semicolons and decimal commas": lambda text: text.replace("\t", ";").replace(".", ",").encode(),
    "decimal commas": lambda text: text.replace(".", ",").encode(),
    "no last line end": lambda text: text.rstrip("\n").encode(),
    "empty columns at the end": lambda text: text.replace("\n", "\t\t\n").encode(),
    "an empty column between": lambda text: "".join(
        f"{line.replace(chr(9), chr(9) * 2, 1)}\n" for line in text.split("\n") if line
    ).encode(),
    "empty lines": lambda text: (text.replace("\n", "\n\t\t\t\t\t\n") + "\n\n").encode(),
    "blanks round cells": lambda text: text.replace("\t", " \t ").encode(),
}


@pytest.mark.parametrize("form", READ)
def test_a_table_in_the_form_of_another_program_is_read(tmp_path: Path, form: str) -> None:
    expected = study_tables.read_participants(DEMO / "participants.tsv")
    path = tmp_path / "participants.tsv"
    path.write_bytes(READ[form](UMLAUT))
    found = study_tables.read_participants(path)
    assert {row.pop("group") for row in found.values()} >= {"jünger"}
    assert found == {
        name: {column: cell for column, cell in row.items() if column != "group"} for name, row in expected.items()
    }


def test_roles_sexes_and_paths_are_read_as_they_are_written_on_windows(tmp_path: Path) -> None:
    expected = study_tables.read_trials(DEMO / "trials.tsv", None)
    path = tmp_path / "trials.tsv"
    path.write_text(
        TRIALS.replace("sub-01/", "sub-01\\")
        .replace("\tgait\t", "\tGait\t")
        .replace("\tstatic\tstatic", "\tSTATIC\tstatic")
    )
    assert study_tables.read_trials(path, None) == expected
    path = tmp_path / "participants.tsv"
    path.write_text(TEXT.replace("\tM\t", "\tm\t").replace("\tF\t", "\tf\t"))
    assert [row["sex"] for row in study_tables.read_participants(path).values()] == ["M", "F"]


def test_plates_are_no_decimal_number(tmp_path: Path) -> None:
    header, first, *_ = TRIALS.splitlines()
    path = tmp_path / "trials.tsv"
    path.write_text(f"{header}\tplates_left\n{first}\t1,2\n")
    ((row,),) = study_tables.read_trials(path, None).values()
    assert study_tables.plates_in_row(row) == {"plates_left": "1 2"}


def upper(text: str) -> bytes:
    header, rest = text.split("\n", 1)
    return f"{header.upper()}\n{rest}".encode()


REFUSED: dict[str, tuple[Callable[[str], bytes], str]] = {
    "header in capitals": (upper, "column 'mass_kg' is missing; rename the column 'MASS_KG'"),
    "header with blanks": (
        lambda text: text.replace("participant_id", "Participant ID").encode(),
        "column 'participant_id' is missing; rename the column 'Participant ID'",
    ),
    "ANSI text of Excel": (
        lambda text: text.encode("cp1252"),
        "not UTF-8 text; save it as tab-separated text in UTF-8",
    ),
    "a workbook": (lambda _: b"PK\x03\x04\x14\x00\xff\xfe", "a workbook or archive; save it as tab-separated text"),
    "a date": (lambda text: text.replace("1.78", "01. Jul 78").encode(), "height_m is '01. Jul 78'; expected a number"),
    "thousands": (lambda text: text.replace("1.78", "1.780,0").encode(), "height_m is '1.780,0'; expected a number"),
    "a unit": (lambda text: text.replace("74.6", "74.6 kg").encode(), "mass_kg is '74.6 kg'; expected a number"),
    "somebody twice": (lambda text: (text + text.split("\n")[1]).encode(), "sub-01: two rows; keep one"),
    "a cell too many": (lambda text: text.replace("74.6", "74.6\t0").encode(), "line 2 has 7 cells, the header 6"),
}


@pytest.mark.parametrize("form", REFUSED)
def test_a_table_that_cannot_be_read_is_refused_with_what_to_do(tmp_path: Path, form: str) -> None:
    change, expected = REFUSED[form]
    path = tmp_path / "participants.tsv"
    path.write_bytes(change(UMLAUT))
    with pytest.raises(UserError) as refused:
        study_tables.read_participants(path)
    assert expected in str(refused.value)


@pytest.mark.parametrize(
    "name",
    [
        "participants.csv",
        "participants.xlsx",
        "participants.ods",
        "Participants.tsv",
        "participants (1).tsv",
        "participants.tsv.txt",
    ],
)
def test_a_missing_table_is_found_under_another_name(tmp_path: Path, name: str) -> None:
    for other in (name, "~$participants.xlsx", ".~lock.participants.ods#", "trials.tsv"):
        (tmp_path / other).write_text(TEXT)
    with pytest.raises(UserError) as refused:
        study_tables.read_participants(tmp_path / "participants.tsv")
    message = str(refused.value)
    assert f"where {name} is; this program reads participants.tsv: save it as tab-separated text" in message
