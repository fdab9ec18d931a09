"""Odd files as programs export them, and as people leave them who opened one in a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from tests.odd_files import c3d_edits as to
from tests.odd_files import plate_edits as plate
from tests.odd_files.c3d_bytes import C3D, whole
from tests.odd_files.c3d_rows import DAMAGED, SOUND, c3d
from tests.odd_files.row import REFUSED, Row, Truth
from tests.odd_files.text_rows import TEXT, of_line, replaced, text
from tests.odd_files.texts import TEXT_FORCE_HZ, Mot, Trc, mot, plain_mot, plain_trc, trc, with_cells
from tests.odd_files.walk import walking

EARLIER = Truth(REFUSED, said=(r"walk\.mot", "times", "give|export|correct"))
SIMM = "name walk\ndatacolumns 28\ndatarows 360\nrange 0 1.795\nendheader"
EVERY_RATE_HZ = (120.0, TEXT_FORCE_HZ)


def mac(text: str) -> str:
    return text.replace("\n", "\r")


def from_frame_0(table: Trc) -> Trc:
    return replace(table, rows=tuple((str(i), *row[1:]) for i, row in enumerate(table.rows)))


def empty_rows(text: str) -> str:
    return text + ("\t" * 97 + "\n") * 30


def with_points(table: Trc, *labels: str) -> Trc:
    """Return the markers with others that stand still beside the walk."""
    still = [cell for i in range(len(labels)) for cell in (f"{100 * i}", "5000", "300")]
    header = (*table.header[:3], str(len(table.labels) + len(labels)), *table.header[4:])
    return replace(
        table, labels=(*table.labels, *labels), header=header, rows=tuple((*row, *still) for row in table.rows)
    )


def counting(table: Trc, markers: int) -> Trc:
    return replace(table, header=(*table.header[:3], str(markers), *table.header[4:]))


def with_times(table: Trc, form: Callable[[float], str]) -> Trc:
    return replace(table, rows=tuple((row[0], form(float(row[1])), *row[2:]) for row in table.rows))


def with_rate(table: Trc, rate: str) -> Trc:
    return replace(table, header=(rate, rate, *table.header[2:5], rate, *table.header[6:]))


def with_numbers(table: Trc, form: Callable[[float], str]) -> Trc:
    rows = tuple((*row[:2], *(form(float(cell)) for cell in row[2:])) for row in table.rows)
    return replace(table, rows=rows)


def without_frames(table: Trc, first: int, last: int) -> Trc:
    kept = (*table.rows[:first], *table.rows[last + 1 :])
    return replace(table, rows=kept, header=(*table.header[:2], str(len(kept)), *table.header[3:]))


def without_first_column(text: str) -> str:
    lines = text.split("\n")
    return "\n".join([*lines[:3], *(line.partition("\t")[2] for line in lines[3:])])


def in_milliseconds(table: Mot) -> Mot:
    return replace(table, rows=tuple((f"{1e3 * float(row[0]):.0f}", *row[1:]) for row in table.rows))


def numbered_last(table: Mot) -> Mot:
    """Return the loads with labels such as ``ground_force_1_vx`` and ``ground_moment_1_mx``."""
    moments = (re.sub(r"ground_torque_(\d)_", r"ground_moment_\1_m", label) for label in table.labels)
    return replace(table, labels=tuple(moments))


def without_points(file: C3D) -> None:
    """Leave out every marker, with all that is said of them."""
    file.points = file.points[:, :0]
    file.groups["POINT"] |= {"LABELS": [""], "DESCRIPTIONS": [""], "USED": whole(0)}


def as_archive(content: bytes) -> bytes:
    return b"PK\x03\x04\x14\0\0\0\x08\0" + content[10:]


PROGRAMS: tuple[Row, ...] = (
    text("mac_line_ends", "line ends of one carriage return", "Excel for Mac: Text (Macintosh)", trc=mac, mot=mac,
         static=mac),
    text("frames_from_0", "frames counted from 0", "Motive", markers=from_frame_0(plain_trc())),
    text("late_times", "the times of both files begin at 12.5 s", "a part of a longer recording",
         markers=plain_trc().later(12.5), forces=plain_mot().later(12.5), truth=replace(TEXT, start_s=12.5)),
    text("inches_text", "the unit is in", "scripts of users", markers=with_cells(plain_trc(), 1 / 25.4, "in"),
         truth=Truth(REFUSED, said=(r"walk\.trc", "unit", "in"))),
    text("centimetres_text", "centimetres", "scripts of users", markers=with_cells(plain_trc(), 0.1, "cm")),
    text("unit_in_words_text", "the unit is Millimeters", "scripts of users",
         markers=with_cells(plain_trc(), 1, "Millimeters")),
    text("empty_rows", "thirty rows of tabs alone at the end", "Excel", trc=empty_rows),
    text("duplicate_label_text", "a second LHEE, at another place", "Cortex",
         markers=with_points(plain_trc(), "LHEE"), truth=replace(TEXT, said=("LHEE",))),
    text("markers_counted_wrong", "the header counts 45 markers, 32 are there", "scripts that delete columns",
         markers=counting(plain_trc(), 45), truth=replace(TEXT, or_refused=(r"walk\.trc", "45|markers", "export"))),
    text("times_two_decimals", "times with two decimals, of 120 Hz", "Excel: cells of two decimals",
         markers=with_times(trc(walking(*EVERY_RATE_HZ)), "{:.2f}".format), forces=mot(walking(*EVERY_RATE_HZ)),
         truth=replace(TEXT, rates_hz=EVERY_RATE_HZ, or_refused=(r"walk\.trc", "times|time|rate"))),
    text("rate_and_times", "the header says 200 Hz, the times 100", "scripts of users",
         markers=with_rate(plain_trc(), "200"),
         truth=replace(TEXT, said=(r"walk\.trc", "rate"), or_refused=(r"walk\.trc", "rate"))),
    text("scientific", "numbers such as 1.2345e+03", "MATLAB",
         markers=with_numbers(plain_trc(), "{:.8e}".format)),
    text("thousands", "commas between thousands, as in 1,234.56", "Excel",
         markers=with_numbers(plain_trc(), "{:,.3f}".format),
         truth=replace(TEXT, or_refused=(r"walk\.trc", "comma|not a number|number"))),
    text("nul_tail", "a thousand bytes of zero at the end", "a computer that lost power",
         trc=lambda text: text + "\0" * 1000, truth=replace(TEXT, or_refused=(r"walk\.trc", "export|copy"))),
    text("further_markers", "markers with accents and blanks in their names", "Nexus in French",
         markers=with_points(plain_trc(), "Épaule G", "Left hand 1", "Hüfte")),
    text("no_frame_column", "the column of frames is deleted", "Excel", trc=without_first_column,
         truth=replace(TEXT, or_refused=(r"walk\.trc", "frame|column|labels"))),
    text("frames_left_out", "five frames are left out, with their rows", "Motive: frames that were dropped",
         markers=without_frames(plain_trc(), 90, 94), truth=replace(TEXT, hidden=("", 90, 94)),
         remarks=["first written down as to be refused; the times tell which frames are absent"]),
    text("milliseconds", "the times of the forces are in milliseconds", "MATLAB", forces=in_milliseconds(plain_mot()),
         truth=EARLIER),
    text("numbered_last", "labels such as ground_force_1_vx", "AddBiomechanics", forces=numbered_last(plain_mot())),
    text("simm_header", "a header of SIMM", "SIMM, old OpenSim",
         mot=partial(replaced, pattern=r"(?s)^walk.*?endheader", new=SIMM)),
    text("label_line_in_quotes", "quotes around every label", "R: write.table",
         trc=partial(of_line, number=3, change=partial(re.sub, r"[^\t]+", r'"\g<0>"'))),
    c3d("rotations_alone", "rotations of three segments, too few for poses, and no marker", "Theia",
        without_points, to.add_rotations, truth=Truth(REFUSED, said=(r"walk\.c3d", "marker"))),
    c3d("archive", "an archive of the file, called .c3d", "e-mail programs", change=as_archive,
        truth=replace(DAMAGED, said=(r"walk\.c3d", "not a c3d file"))),
    c3d("sloped_plates", "plates that slope by 10 degrees along the walk, as under a treadmill that is raised",
        "AMMR4 #95, Reznick et al. 2021", partial(plate.slope, degrees=10.0),
        truth=replace(SOUND, said=("plate.*(slope|inclin|tilt)",))),
)  # fmt: skip
