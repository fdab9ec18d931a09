"""Odd files of further threads and manuals, written down before any reader was tried on them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from tests.odd_files import c3d_edits as to
from tests.odd_files import plate_edits as plate
from tests.odd_files.c3d_bytes import C3D, real
from tests.odd_files.c3d_edits import write_study
from tests.odd_files.c3d_rows import NO_PLATES, SOUND, c3d
from tests.odd_files.path_rows import with_file
from tests.odd_files.program_rows import counting, with_points
from tests.odd_files.row import Row
from tests.odd_files.text_rows import TEXT, of_line, replaced, text
from tests.odd_files.texts import Mot, Trc, plain_mot, plain_trc
from tests.odd_files.walk import EVENTS, PLATES

HEADER_EVENTS = {("left", "foot_strike"): b"LHS ", ("left", "foot_off"): b"LTO ",
                 ("right", "foot_strike"): b"RHS ", ("right", "foot_off"): b"RTO "}  # fmt: skip
FLATTENED = ("CalibrationMatrices=Corners=DataRate=200.000000", "Origins=Types=events=DataType=double", "version=2",
             "endheader")  # fmt: skip
NEXUS_CSV = (
    b"Trajectories\r\n100\r\n,,S01:LASI,,,S01:RASI\r\nFrame,Sub Frame,X,Y,Z,X,Y,Z\r\n"
    b",,mm,mm,mm,mm,mm,mm\r\n1,0,1,2,3,4,5,6\r\n"
)
DATABASE = ("S01.Patient 1.enf", "Session 1.Session.enf", "walk.Trial.enf", "walk.x2d", "walk.xcp", "walk.system",
            "walk.history", "S01.vsk", "S01.mp")  # fmt: skip


def counted_in_bytes(file: C3D) -> None:
    """Write the numbers of FORCE_PLATFORM as whole numbers of one byte."""
    for name in ("USED", "TYPE", "CHANNEL"):
        if "FORCE_PLATFORM" in file.groups:
            to.put(file, "FORCE_PLATFORM", name, np.asarray(file.groups["FORCE_PLATFORM"][name]).astype(np.int8))


def of_markers_alone(file: C3D) -> None:
    """Leave out the groups ANALOG and FORCE_PLATFORM, and all channels."""
    file.analog, file.samples_per_frame = file.analog[:, :0], 0
    file.groups.pop("ANALOG")
    file.groups.pop("FORCE_PLATFORM", None)


def to_type_1(file: C3D) -> None:
    """Give the plates channels of type 1: force, point on the surface and torque about the vertical there."""
    for number, plate_of_walk in enumerate(PLATES):
        fx, fy, fz, mx, my, mz = file.analog[:, 6 * number : 6 * number + 6].T
        depth_mm = 1e3 * plate_of_walk.sensor_depth_m
        x, y = -(my + depth_mm * fx) / fz, (mx - depth_mm * fy) / fz
        torque = mz - (x * fy - y * fx)
        file.analog[:, 6 * number : 6 * number + 6] = np.stack([fx, fy, fz, x, y, torque], axis=1)
    file.groups["ANALOG"]["UNITS"] = ["N", "N", "N", "mm", "mm", "Nmm"] * 3
    file.groups["ANALOG"]["LABELS"] = [f"{name}{i}" for i in (1, 2, 3) for name in ("Fx", "Fy", "Fz", "Px", "Py", "Tz")]
    file.groups["FORCE_PLATFORM"] |= {"TYPE": np.ones(3, np.int16), "ORIGIN": np.zeros((3, 3), np.float32)}


def to_type_5(file: C3D) -> None:
    """Give the plates eight channels, and a matrix that makes six of them."""
    plate.to_type_3(file)
    matrix = np.zeros((6, 8, 3), np.float32)
    matrix[0, :2] = matrix[1, 2:4] = matrix[2, 4:] = 1
    file.groups["FORCE_PLATFORM"] |= {"TYPE": np.full(3, 5, np.int16), "CAL_MATRIX": matrix}


def to_volts(file: C3D) -> None:
    """Give the plates of type 4 channels in volts, and matrices with the gains of six amplifiers."""
    plate.to_type_4(file)
    gains = np.array([500.0, 500.0, 1000.0, 6e5, 4e5, 3e5])
    file.analog /= np.tile(gains, 3)
    file.groups["ANALOG"]["UNITS"] = ["V"] * 18
    to.put(file, "FORCE_PLATFORM", "CAL_MATRIX", np.repeat(np.diag(gains)[..., None], 3, axis=2).astype(np.float32))


def set_locked(file: C3D) -> None:
    file.locked = True


def set_described(file: C3D) -> None:
    file.description = "Länge der Plättchen".encode("latin-1")


def set_groups_last(file: C3D) -> None:
    file.groups_last = True


def set_parameter_block(file: C3D) -> None:
    file.parameter_block = 3


def in_lower_case(file: C3D) -> None:
    to.relabel(file, {label: label.lower() for label in to.labels_of(file)})


def with_times_in_a_row(file: C3D) -> None:
    """Write the times of events as seconds alone, without the row of minutes."""
    to.put(file, "EVENT", "TIMES", np.array([[time for time, _, _ in EVENTS]], np.float32))


def with_header_events(content: bytes) -> bytes:
    """Write the events into the header, words 150 to 234, as programs did before the group EVENT."""
    times = b"".join(np.float32(time).tobytes() for time, _, _ in EVENTS)
    labels = b"".join(HEADER_EVENTS[side, kind] for _, side, kind in EVENTS)
    header = (12345).to_bytes(2, "little") + len(EVENTS).to_bytes(2, "little") + bytes(2)
    header += times.ljust(72, b"\0") + bytes(18) + bytes(2) + labels.ljust(72, b"\0")
    return to.with_bytes(content, 298, header)


def without_marker(file: C3D) -> None:
    file.points[:, to.labels_of(file).index("LTH4")] = np.nan


def with_corners_reversed(file: C3D) -> None:
    """List the corners in the other sense of rotation, which turns the plate upside down."""
    corners = np.asarray(file.groups["FORCE_PLATFORM"]["CORNERS"])
    to.put(file, "FORCE_PLATFORM", "CORNERS", corners[:, [0, 3, 2, 1]])


def on_the_plate(file: C3D) -> None:
    """Write the forces on the plates instead of those on the person."""
    file.analog *= -1


def flattened(table: Mot) -> Mot:
    """Return labels such as ``f1_x``, as a script of OpenSim flattens a table of vectors."""
    parts = (("f", "p", "m")[i % 9 // 3] + f"{i // 9 + 1}_{'xyz'[i % 3]}" for i in range(27))
    return replace(table, labels=("time", *parts), header=FLATTENED)


def with_rows_trimmed(table: Trc) -> Trc:
    """Return rows that end after the time where nobody is seen, the first ten."""
    return replace(table, rows=tuple(row[:2] if i < 10 else row for i, row in enumerate(table.rows)))


def double_spaced(text: str) -> str:
    return text.replace("\n", "\r\r\n")


def write_database(folder: Path) -> None:
    """Write a study among the files that Vicon's database keeps beside each recording."""
    write_study(folder)
    for name in DATABASE:
        (folder / name).write_bytes(b"[SUBJECT_INFO]\r\nNAME=S01\r\n")


THREADS: tuple[Row, ...] = (
    c3d("counted_in_bytes", "numbers of FORCE_PLATFORM of one byte", "ezc3d #138", counted_in_bytes),
    c3d("markers_alone", "no groups ANALOG and FORCE_PLATFORM", "Xsens MVN, ezc3d #52", both=[of_markers_alone],
        truth=replace(SOUND, plates=(), said=("no force plate",))),
    c3d("type_1", "plates of type 1: force, point, torque", "ezc3d #138, #141", to_type_1),
    c3d("type_5", "plates of type 5: eight channels and a matrix of 6 by 8", "c3d.org manual", to_type_5,
        truth=replace(NO_PLATES, said=("plate", "type 5", "export"))),
    c3d("type_4_volts", "plates of type 4, channels in volts, gains in the matrix", "Bertec, pyCGM2 #33", to_volts),
    c3d("locked", "all names locked, by a negative length", "c3d.org manual", both=[set_locked]),
    c3d("described", "descriptions with umlauts in Latin-1", "scripts of users", both=[set_described]),
    c3d("groups_last", "records of groups after those of their parameters", "c3d.org manual: any order",
        both=[set_groups_last]),
    c3d("parameters_in_block_3", "an empty block between header and parameters", "c3d.org manual: the first byte",
        both=[set_parameter_block]),
    c3d("labels_lower", "labels in lower case", "OpenSim's users", both=[in_lower_case]),
    c3d("event_times_in_a_row", "times of events without a row of minutes", "scripts of users", with_times_in_a_row),
    c3d("header_events", "events in the header alone", "Vicon before 2002, c3d.org manual",
        partial(to.remove, group="EVENT"), change=with_header_events,
        truth=replace(SOUND, events=(), said=("events in the header",)),
        remarks=["first written down as to be read; a real file has times of 1e-29 s there"]),
    c3d("never_seen", "a marker that is hidden in every frame", "Vicon: markers of the static trial", without_marker,
        truth=replace(SOUND, hidden=("LTH4", 0, 179))),
    c3d("corners_reversed", "corners of all plates in the other sense of rotation", "ezc3d #300",
        with_corners_reversed, truth=replace(NO_PLATES, said=("plate", "corner|upside|mirror|downward"))),
    c3d("on_the_plate", "forces on the plates instead of those on the person", "Bertec, BTK's users", on_the_plate,
        truth=replace(NO_PLATES, said=("plate|force", "sign|opposite|downward|upward|pull|negative|revers"))),
    c3d("analog_rate_wrong", "ANALOG:RATE is 1000, the header has 5 samples a frame of 100 Hz", "scripts of users",
        partial(to.put, group="ANALOG", name="RATE", value=real(1000)),
        truth=replace(SOUND, or_refused=(r"walk\.c3d", "rate", "export|correct"))),
    text("flattened", "labels such as f1_x, and a header without its line ends", "opensim-core #1650",
         forces=flattened(plain_mot())),
    text("markers_counted_columns", "NumMarkers is that of the columns, 96", "opensim-core #2510",
         markers=counting(plain_trc(), 96), truth=replace(TEXT, or_refused=(r"walk\.trc", "96|markers", "export"))),
    text("no_mot_header", "forces without a header: labels in the first line", "pandas",
         mot=partial(replaced, pattern="(?s)^walk.*?endheader\n", new=""),
         truth=replace(TEXT, or_refused=(r"walk\.mot", "header"))),
    text("rows_trimmed", "rows that end after the time, where nobody is seen", "MATLAB",
         markers=with_rows_trimmed(plain_trc()), truth=replace(TEXT, hidden=("", 0, 9))),
    text("latin_label_text", "a label with an umlaut in Latin-1", "Cortex in German",
         markers=with_points(plain_trc(), "Hüfte"), encoding="latin-1"),
    text("times_with_unit", "Time (s) and time [s] as labels", "scripts of users",
         trc=partial(of_line, number=3, change=partial(replaced, pattern="Time", new="Time (s)")),
         mot=partial(replaced, pattern="(?m)^time", new="time [s]")),
    text("double_spaced", "line ends of Windows written twice", "MATLAB: fopen of wt", trc=double_spaced,
         mot=double_spaced, static=double_spaced),
    Row("nexus_csv", "a table of trajectories of Nexus beside the walk", "Nexus: Export ASCII", SOUND,
        partial(with_file, name="walk.csv", content=NEXUS_CSV)),
    Row("vicon_database", "files of Vicon's database beside the walk", "Vicon Nexus", SOUND, write_database),
)  # fmt: skip
