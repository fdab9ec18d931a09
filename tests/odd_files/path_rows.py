"""Odd names of folders and files, and tables as Windows writes them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from tests.odd_files.c3d_edits import BESIDE_M, Edit, move_aside, write_study
from tests.odd_files.row import REFUSED, Row, Truth

SOUND = Truth()
STUDY_YAML = "body_model: isb_clusters\n"
PARTICIPANTS = "participant_id\tmass_kg\theight_m\tsex\nsub-01\t64.0\t1.70\tF\n"
TRIALS = """\
participant_id\ttrial\tfile\trole\tcondition
sub-01\tstatic\tsub-01/static.c3d\tstatic\tstatic
sub-01\twalk\tsub-01/walk.c3d\tgait\twalk
"""
GUID = "{3F2504E0-4F89-11D3-9A0C-0305E82C3301}"
NO_SUCH = Truth(REFUSED, said=("no such file|not found|is not there", "trials.tsv|correct|letter case"))
BRACE = Truth(REFUSED, said=(r"\{", "rename|move"))


def study(name: str, folder: str, source: str, truth: Truth = SOUND) -> Row:
    """Return a row of a study in a folder of an odd name."""
    return Row(
        name, f"the study's folder is {folder!r}", source, truth, partial(_write_below, name=folder), study=folder
    )


def _write_below(folder: Path, *, name: str) -> None:
    write_study(folder / name)


def file(name: str, walk: str, source: str, truth: Truth = SOUND, *, static: str = "static.c3d") -> Row:
    """Return a row of a walk of an odd name."""
    shown = walk.encode("utf-8", "surrogateescape").decode("latin-1")
    return Row(name, f"the walk is {shown!r}", source, truth, partial(write_study, walk=walk, static=static))


def tables(
    name: str, odd: str, source: str, truth: Truth = SOUND, *, trials: str = TRIALS, participants: str = PARTICIPANTS,
    encoding: str = "utf-8", walk: str = "sub-01/walk.c3d",
) -> Row:  # fmt: skip
    """Return a row of odd tables."""
    write = partial(write_tables, trials=trials, participants=participants, encoding=encoding, walk=walk)
    return Row(name, odd, source, truth, write)


def write_tables(
    folder: Path, *, trials: str, participants: str, encoding: str, walk: str, edits: Sequence[Edit] = (),
    both: Sequence[Edit] = (),
) -> None:  # fmt: skip
    write_study(folder, walk=walk, static="sub-01/static.c3d", edits=edits, both=both)
    (folder / "study.yaml").write_text(STUDY_YAML)
    (folder / "participants.tsv").write_bytes(participants.encode(encoding))
    (folder / "trials.tsv").write_bytes(trials.encode(encoding))


def with_file(folder: Path, *, name: str, content: bytes) -> None:
    """Write a study with one more file, that is no recording."""
    write_study(folder)
    (folder / name).write_bytes(content)


def with_second(folder: Path, *, second: str, edits: Sequence[Edit] = ()) -> None:
    """Write a study with two walks, the second with edits."""
    write_study(folder, walk=second, edits=edits)
    write_study(folder)


STUDIES = (
    study("study_brackets", "ADL_Gait_[beta]", "users' folders"),
    study("study_blanks", "walks (copy 1) ü", "users' folders"),
    study("study_brace", "{1}", "users' folders", BRACE),
    study("study_guid", GUID, "Windows", BRACE),
    study("study_closing_brace", "a}b", "docs/study_directory.md"),
    study("study_con", "CON", "Windows: reserved"),
    study("study_aux", "aux.study", "Windows: reserved"),
    study("study_dot", "study.", "Windows: trailing dot"),
    study("study_blank", "study ", "Windows: trailing blank"),
    study("study_quote", 'it\'s "mine" $(x) `y`; #1 & 50%', "docs/reliability.md"),
    study("study_backslash", "a\\b", "docs/study_directory.md", Truth(REFUSED, said=(r"backslash|\\", "rename|move"))),
    study("study_dash", "-study", "any shell"),
    study("study_japanese", "歩行", "Windows"),
)

FILES = (
    file("guid_folder", f"sub-01/{GUID}/walk.c3d", "Windows", static=f"sub-01/{GUID}/static.c3d"),
    file("walk_braces", "walk {1}.c3d", "Windows"),
    file("walk_con", "CON.c3d", "Windows: reserved"),
    file("walk_nul", "NUL.c3d", "Windows: reserved"),
    file("walk_aux", "aux.c3d", "Windows: reserved"),
    file("folder_con", "con/walk.c3d", "Windows: reserved", static="con/static.c3d"),
    file("walk_upper_ending", "WALK.C3D", "Windows", static="STATIC.C3D"),
    file("walk_trailing_blank", "walk .c3d", "Windows: trailing blank"),
    file("walk_dots", "walk...c3d", "Windows: trailing dot"),
    file("folder_dot", "sub-01./walk.c3d", "Windows: trailing dot", static="sub-01./static.c3d"),
    file("folder_blank", "sub-01 /walk.c3d", "Windows: trailing blank", static="sub-01 /static.c3d"),
    file("walk_umlaut", "Gehen_ü.c3d", "Windows"),
    file("walk_umlaut_decomposed", unicodedata.normalize("NFD", "Gehen_ü.c3d"), "macOS"),
    file("walk_latin_1", b"Gehen_\xfc.c3d".decode("utf-8", "surrogateescape"), "Windows: archives in Latin-1",
         Truth(REFUSED, said=("name", "UTF-8|rename"))),
    file("walk_dash", "-walk.c3d", "any shell"),
    file("walk_long", "walk_" + "x" * 180 + ".c3d", "Windows: long names"),
    file("walk_shell", "walk $(x) 'y' \"z\" & 50%.c3d", "docs/reliability.md"),
    file("walk_line_break", "walk\n2.c3d", "docs/reliability.md", Truth(REFUSED, said=("name", "rename"))),
    Row("resource_fork", "a file ._walk.c3d of macOS", "macOS archives", SOUND,
        partial(with_file, name="._walk.c3d", content=b"\0\5\x16\7" + bytes(4092))),
    Row("office_lock", "a file ~$walk.c3d", "Office", SOUND, partial(with_file, name="~$walk.c3d", content=b"x" * 162)),
    Row("thumbs", "a file Thumbs.db", "Windows", SOUND, partial(with_file, name="Thumbs.db", content=b"\xd0\xcf" * 99)),
    Row("zone_identifier", "a file walk.c3d:Zone.Identifier", "Windows, copied by WSL", SOUND,
        partial(with_file, name="walk.c3d:Zone.Identifier", content=b"[ZoneTransfer]\r\nZoneId=3\r\n")),
    Row("shortcut", "a shortcut walk.c3d.lnk", "Windows", SOUND,
        partial(with_file, name="walk.c3d.lnk", content=b"L\0\0\0" + bytes(96))),
    Row("case_twins", "Walk.c3d and walk.c3d, other recordings", "scripts of users",
        replace(SOUND, walks=2, places_m=((0.0, 0.0, 0.0), BESIDE_M), never=("same motion",)),
        partial(with_second, second="Walk.c3d", edits=[move_aside])),
    Row("copy", "walk.c3d and walk (1).c3d with the same bytes", "Windows downloads",
        replace(SOUND, walks=1, said=("same|copy|copies|identical",)),
        partial(with_second, second="walk (1).c3d"),
        remarks=["two walks, said to be the same, were right as well, but steps would count twice"]),
)  # fmt: skip

TABLES = (
    tables("tables_plain", "nothing: tables that a person wrote", "docs/study_directory.md"),
    tables("tables_backslash", "backslashes in the column file", "Windows",
           trials=TRIALS.replace("sub-01/", "sub-01\\")),
    tables("tables_dot_backslash", "paths such as .\\sub-01\\walk.c3d", "Windows",
           trials=TRIALS.replace("sub-01/", ".\\sub-01\\")),
    tables("tables_drive", "paths such as D:\\study\\sub-01\\walk.c3d", "Windows",
           Truth(REFUSED, said=("no such file|inside the study|relative", "trials.tsv")),
           trials=TRIALS.replace("sub-01/", "D:\\study\\sub-01\\")),
    tables("tables_crlf", "line ends of Windows", "Windows", trials=TRIALS.replace("\n", "\r\n"),
           participants=PARTICIPANTS.replace("\n", "\r\n")),
    tables("tables_bom", "byte order mark", "Excel: CSV UTF-8", encoding="utf-8-sig"),
    tables("tables_utf16", "two bytes a character", "Excel: Unicode Text", encoding="utf-16"),
    tables("tables_semicolon", "semicolons and decimal commas", "Excel in German",
           trials=TRIALS.replace("\t", ";"), participants=PARTICIPANTS.replace("\t", ";").replace(".", ",")),
    tables("tables_comma", "commas", "Excel", trials=TRIALS.replace("\t", ","),
           participants=PARTICIPANTS.replace("\t", ",")),
    tables("tables_latin_1", "an umlaut in Latin-1", "Excel: Text",
           Truth(REFUSED, said=("trials.tsv", "UTF-8", "save")), encoding="latin-1",
           trials=TRIALS.replace("\twalk\n", "\tGehen für mich\n")),
    tables("tables_padded", "blanks around cells", "spreadsheets", trials=TRIALS.replace("\t", " \t "),
           participants=PARTICIPANTS.replace("\t", " \t ")),
    tables("tables_empty_rows", "empty rows at the end, of tabs alone", "spreadsheets",
           trials=TRIALS + "\t\t\t\t\n" * 3),
    tables("tables_upper_ending", "the table says walk.C3D, the file is walk.c3d", "Windows, macOS", NO_SUCH,
           trials=TRIALS.replace("walk.c3d", "walk.C3D")),
    tables("tables_upper_folder", "the table says Sub-01/walk.c3d, the folder is sub-01", "Windows, macOS", NO_SUCH,
           trials=TRIALS.replace("sub-01/walk", "Sub-01/walk")),
    tables("tables_composed", "the table has a composed umlaut, the file a decomposed one", "macOS", NO_SUCH,
           trials=TRIALS.replace("walk.c3d", "Gehen_ü.c3d"),
           walk="sub-01/" + unicodedata.normalize("NFD", "Gehen_ü.c3d")),
    tables("tables_reserved_id", "a participant called CON, whose results Windows could not write", "Windows: reserved",
           trials=TRIALS.replace("sub-01\t", "CON\t"), participants=PARTICIPANTS.replace("sub-01\t", "CON\t")),
)  # fmt: skip
