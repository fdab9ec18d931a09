"""Odd TRC, MOT and STO files, and the names by which they belong together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from tests.odd_files.c3d_edits import HIDDEN
from tests.odd_files.row import REFUSED, Row, Truth
from tests.odd_files.texts import TEXT_FORCE_HZ as FORCE_HZ
from tests.odd_files.texts import (
    Mot,
    Trc,
    plain_mot,
    plain_static,
    plain_trc,
    with_cells,
    with_gap,
    with_swing,
    write_pair,
)

Form = Callable[[str], str]
# six significant digits of 900 N and of 2.5 m: 0.0005 N, 5e-7 m and so 0.002 N m
TEXT = Truth(rates_hz=(100.0, FORCE_HZ), events=None, loads=True, force_n=2e-3, moment_n_m=1e-2)
WITH_GAP = replace(TEXT, hidden=HIDDEN)
NO_FORCES = replace(TEXT, plates=None, follows=("no body mass",))  # the mass was to be estimated from them
MISSING = {
    "empty": "", "nan": "nan", "nan_mixed": "NaN", "nan_upper": "NAN", "minus_nan": "-nan", "nan_ind": "-nan(ind)",
    "plus_nan_ind": "nan(ind)", "nan_snan": "nan(snan)", "ind": "-1.#IND", "ind_digits": "-1.#IND00",
    "plus_ind": "1.#IND", "qnan": "1.#QNAN", "minus_qnan": "-1.#QNAN", "snan": "1.#SNAN", "windows_inf": "1.#INF",
    "windows_minus_inf": "-1.#INF", "inf": "inf", "minus_inf": "-Inf", "infinity": "Infinity", "na": "NA",
    "n_a": "N/A", "n_a_lower": "n/a", "excel_na": "#N/A", "excel_na_german": "#NV", "excel_value": "#VALUE!",
    "excel_div": "#DIV/0!", "null": "NULL", "null_lower": "null", "none": "None", "dot": ".", "hyphen": "-",
    "hyphens": "--", "cortex": "9999999", "zero": "0.000000",
}  # fmt: skip
OF_FORCES = ("empty", "nan_mixed", "nan_ind", "ind", "qnan", "na", "n_a", "excel_na", "null", "hyphen", "dot")
MISSING_SOURCES = {
    "nan_ind": "OpenSim on Windows", "ind": "Visual C++ before 2015", "qnan": "Visual C++ before 2015",
    "na": "R", "excel_na": "Excel", "excel_na_german": "Excel in German", "null": "databases", "dot": "Stata, SAS",
    "cortex": "Cortex", "none": "Python", "nan_mixed": "MATLAB, OpenSim, Vicon",
}  # fmt: skip


def text(
    name: str, odd: str, source: str, *, trc: Form | None = None, mot: Form | None = None, static: Form | None = None,
    markers: Trc | None = None, forces: Mot | None = None, truth: Truth = TEXT, encoding: str = "utf-8",
    remarks: Sequence[str] = (),
) -> Row:  # fmt: skip
    """Return a row of a TRC file and a MOT file: other cells, then other forms of the text, then an encoding."""
    write = partial(_write, trc=trc, mot=mot, static=static, markers=markers, forces=forces, encoding=encoding)
    return Row(name, odd, source, truth, write, remarks=remarks)


def _write(
    folder: Path, *, trc: Form | None, mot: Form | None, static: Form | None, markers: Trc | None, forces: Mot | None,
    encoding: str,
) -> None:  # fmt: skip
    texts = ((markers or plain_trc()).text(), (forces or plain_mot()).text(), plain_static())
    forms = (trc, mot, static)
    made = [form(text) if form else text for text, form in zip(texts, forms, strict=True)]
    write_pair(folder, made[0].encode(encoding), made[1].encode(encoding), static=made[2].encode(encoding))


# ---- forms of a text


def with_separator(text: str, separator: str, *, comma: bool = False) -> str:
    """Write another separator for each tab, with decimal commas if ``comma``."""
    head, body = text[:30], text[30:]  # the first line of a TRC file names a file
    return head + (body.replace(".", ",") if comma else body).replace("\t", separator)


def in_quotes(text: str, separator: str) -> str:
    """Write decimal commas, quotes around the cells that have one, and a separator for each tab."""
    head, body = text[:30], text[30:].replace(".", ",")
    quoted = re.sub(r"[^\t\n]*,[^\t\n]*", lambda cell: f'"{cell[0]}"', body)
    return head + quoted.replace("\t", separator)


def with_blanks(text: str) -> str:
    return text.replace("\t", "   ")


def with_decimal_commas(text: str) -> str:
    return text[:60] + text[60:].replace(".", ",")


def of_line(text: str, number: int, change: Form) -> str:
    """Change one line, counted from 0."""
    lines = text.split("\n")
    lines[number] = change(lines[number])
    return "\n".join(lines)


def one_tab(line: str) -> str:
    return re.sub("\t+", "\t", line)


def with_seven_keys(text: str) -> str:
    lines = text.split("\n")
    lines[1:3] = ["\t".join(line.split("\t")[:7]) for line in lines[1:3]]
    return "\n".join(lines)


def from_x5(line: str) -> str:
    return re.sub(r"\d+", lambda number: str(int(number[0]) + 4), line)


def blanks_in_labels(line: str) -> str:
    return line.replace("\t\t\t", "\t \t \t")


def prefixed(text: str, form: str) -> str:
    """Write every label in a form such as ``S1:{}``."""
    return of_line(text, 3, partial(re.sub, r"\b([LR][A-Z]{2}[A-Z0-9])\b", form.format(r"\1")))


def ending_in_line(text: str) -> str:
    return text[: int(0.7 * len(text))]


def tabs_at_ends(text: str) -> str:
    return "\n".join(f"{line}\t\t" if "\t" in line else line for line in text.split("\n"))


def windows(text: str) -> str:
    return text.replace("\n", "\r\n")


def with_bom(text: str) -> str:
    return "\ufeff" + windows(text)


def with_path(text: str) -> str:
    return text.replace("walk.trc", "C:\\Müller\\Gehen.trc", 1)


def renamed(text: str, old: str, new: str) -> str:
    return text.replace(old, new)


def replaced(text: str, pattern: str, new: str) -> str:
    return re.sub(pattern, new, text)


def missing_numbers() -> Iterator[Row]:
    """Yield every spelling of a number that is missing: of a hidden marker, of the point of a force that is zero."""
    label, first, last = HIDDEN
    for name, cell in MISSING.items():
        source = MISSING_SOURCES.get(name, "scripts of users")
        yield text(f"missing_{name}", f"a hidden marker as {cell!r}", source, truth=WITH_GAP,
                   markers=with_gap(plain_trc(), label, first, last, cell))  # fmt: skip
        if name in OF_FORCES:
            yield text(f"missing_point_{name}", f"the point of a force of zero as {cell!r}", source,
                       forces=with_swing(plain_mot(), cell))  # fmt: skip


def separators() -> Iterator[Row]:
    """Yield every separator, of markers and of forces."""
    named = replace(TEXT, or_refused=(r"walk\.trc", "separator|comma|tabs"))
    for name, separator in (("comma", ","), ("semicolon", ";")):
        form = partial(with_separator, separator=separator)
        yield text(f"separator_{name}", f"{separator!r} between the cells of all files", "pandas", trc=form,
                   mot=form, static=form, truth=named)  # fmt: skip
        yield text(f"separator_{name}_mot", f"{separator!r} between the cells of the MOT file", "pandas", mot=form)
    form = partial(with_separator, separator=";", comma=True)
    yield text("semicolon_decimal_comma", "semicolons and decimal commas, as a German Excel writes", "Excel", trc=form,
               mot=form, static=form, truth=named)  # fmt: skip
    for name, separator in (("comma", ","), ("tab", "\t")):
        form = partial(in_quotes, separator=separator)
        yield text(f"quoted_decimal_{name}", f"decimal commas in quotes, {separator!r} between the cells",
                   "LibreOffice, Excel", trc=form, mot=form, static=form)  # fmt: skip
    yield text("decimal_comma", "tabs and decimal commas", "OpenSim's users", trc=with_decimal_commas,
               mot=with_decimal_commas, static=with_decimal_commas)  # fmt: skip
    yield text("blanks", "blanks for all tabs", "OpenMA #59", trc=with_blanks, mot=with_blanks,
               static=with_blanks)  # fmt: skip


HEADERS = (
    text("plain_text", "nothing: the walk that all others hold", "tests/odd_files/walk.py"),
    text("seven_keys", "seven keys in the header", "MOtoNMS, opensim-core #2289",
         trc=with_seven_keys),
    text("from_x5", "coordinates counted from X5", "opensim-core #2345",
         trc=partial(of_line, number=4, change=from_x5)),
    text("blanks_in_labels", "blanks in the line of labels", "opensim-gui #1112",
         trc=partial(of_line, number=3, change=blanks_in_labels)),
    text("one_tab", "one tab between the names", "MoCapTools #1",
         trc=partial(of_line, number=3, change=one_tab)),
    text("tabs_at_ends", "extra tabs at line ends", "jam", trc=tabs_at_ends, mot=tabs_at_ends),
    text("crlf", "line ends of Windows", "OpenSim's users", trc=windows, mot=windows, static=windows),
    text("bom", "byte order mark", "opensim-creator #1068", trc=with_bom, mot=with_bom, static=with_bom),
    text("latin_path", "a path in Latin-1 in the first line", "OpenSim's users", trc=with_path, encoding="latin-1"),
    text("utf16", "two bytes a character", "Excel: Unicode Text", encoding="utf-16"),
    text("rows_too_few", "20 rows fewer than the header says, ending within one", "OpenMA #59",
         trc=ending_in_line, truth=Truth(REFUSED, said=("walk.trc", "cut off", "export"))),
    text("mot_rows_too_few", "the MOT file ends within a row", "OpenSim's users", mot=ending_in_line,
         truth=Truth(REFUSED, said=(r"walk\.mot", "cut off", "export"))),
    text("wrong_rows", "nRows is wrong", "OpenSim's users", mot=partial(replaced, pattern="nRows=.*", new="nRows=7")),
    text("degrees", "inDegrees=yes", "opensim-core #3251",
         mot=partial(renamed, old="inDegrees=no", new="inDegrees=yes")),
    text("upper_axes", "labels of forces in upper case", "scripts of users",
         mot=partial(replaced, pattern="(?m)^time.*$", new=plain_mot().text().split("\n")[6].upper())),
    text("metres_text", "metres, as OpenCap writes", "OpenCap", markers=with_cells(plain_trc(), 1e-3, "m"),
         truth=replace(TEXT, marker_mm=6e-3)),
    text("mm_points", "points of forces in millimetres", "nimblephysics #130",
         forces=plain_mot().scaled("_p", 1e3)),
    text("mm_points_torques", "points in millimetres, torques in N mm", "OpenSim from C3D",
         forces=plain_mot().scaled("_p", 1e3).scaled("torque", 1e3)),
    text("y_up_forces", "forces with y up, markers with z up", "docs/faq.md", forces=plain_mot().y_up(),
         truth=replace(NO_FORCES, said=("sideways|axes",))),
    text("later_forces", "the forces begin after the markers end", "docs/study_directory.md",
         forces=plain_mot().later(60.0), truth=Truth(REFUSED, said=(r"walk\.mot", "times", "give"))),
    text("no_points", "forces without points of application", "OpenSim's simulations", forces=plain_mot().without("_p"),
         truth=replace(NO_FORCES, said=(r"walk\.mot",))),
    text("frame_zeros", "numbers of frames with leading zeros", "scripts of users",
         trc=partial(replaced, pattern=r"(?m)^(\d+)(?=\t\d+\.)", new=r"00\1")),
    text("rate_digits", "rates with six digits", "Cortex",
         trc=partial(of_line, number=2, change=partial(renamed, old="100\t", new="100.000000\t"))),
    text("lower_keys", "keys of the header in lower case", "scripts of users",
         trc=partial(of_line, number=1, change=str.lower), truth=replace(TEXT, or_refused=(r"walk\.trc", "Units"))),
    text("no_blank_line", "no blank line after the header", "OpenCap", trc=partial(renamed, old="\n\n", new="\n")),
    text("no_keys", "a header without numbers of frames and markers", "scripts of users",
         trc=partial(of_line, number=2, change=partial(replaced, pattern="180\t32\t", new="\t\t"))),
)  # fmt: skip


def prefixes() -> Iterator[Row]:
    """Yield labels with a person's name before them."""
    for name, form in (("colon", "Subject:{}"), ("number", "Skeleton 001_{}"), ("hyphen", "S1-{}"), ("dot", "S1.{}"),
                       ("blank", "S1 {}"), ("nothing", "S1{}")):  # fmt: skip
        change = partial(prefixed, form=form)
        yield text(f"trc_prefix_{name}", f"labels such as {form.format('RASI')}", "OpenSim's users", trc=change,
                   static=change)  # fmt: skip
