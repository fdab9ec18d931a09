"""Odd files that people ask about in threads and forums of readers and programs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from tests.odd_files import c3d_edits as to
from tests.odd_files import plate_edits as plate
from tests.odd_files.c3d_bytes import C3D, events_group, real, whole
from tests.odd_files.c3d_edits import write_study
from tests.odd_files.c3d_rows import NO_EVENTS, NO_PLATES, SOUND, c3d
from tests.odd_files.row import Row
from tests.odd_files.text_rows import TEXT, of_line, text
from tests.odd_files.texts import Mot, Trc, mot, plain_mot, plain_trc, trc
from tests.odd_files.walk import EVENTS, standing_still, walking

LONG_FRAMES = 65600  # more than the header can count
EMPTY_FRAMES = LONG_FRAMES - 180  # before the walk
OUTPUTS = ("LKneeAngles", "LKneeMoment", "LKneePower", "LGroundReactionForce", "CentreOfMass")
VERSION_3 = ("walk", "version=3", "DataType=double", "OpenSimVersion=4.5", "nRows=360", "nColumns=28", "endheader")
VECTORS = ("DataRate=200", "DataType=Vec3", "version=3", "OpenSimVersion=4.5", "endheader")


def late_in_a_long_file(file: C3D) -> None:
    """Put minutes in which nobody is seen before the walk; only TRIAL tells how many frames there are."""
    samples = EMPTY_FRAMES * file.samples_per_frame
    nobody = np.full((EMPTY_FRAMES, *file.points.shape[1:]), np.nan)
    noise = np.random.default_rng(9).normal(size=(samples, file.analog.shape[1])) * np.tile(
        np.repeat([0.3, 10.0], 3), 3
    )
    file.points, file.analog = np.concatenate([nobody, file.points]), np.concatenate([noise, file.analog])
    file.groups["EVENT"] = events_group(first_frame=EMPTY_FRAMES + 1)
    to.put(file, "POINT", "FRAMES", whole(65535))
    to.put(file, "TRIAL", "ACTUAL_END_FIELD", whole(LONG_FRAMES % 65536, LONG_FRAMES // 65536))


def with_masks(file: C3D) -> None:
    """Write the mask of the cameras, here three, above the residual."""
    file.seen_as = 256.0 * 7 + 12


def of_one_frame(file: C3D) -> None:
    """Keep one frame of the static trial."""
    if "FORCE_PLATFORM" not in file.groups:
        file.points = file.points[:1]
        to.put(file, "POINT", "FRAMES", whole(1))
        to.put(file, "TRIAL", "ACTUAL_END_FIELD", whole(1, 0))


def nobody_at_first(file: C3D) -> None:
    file.points[:30] = np.nan


def with_outputs(file: C3D) -> None:
    """Add results of a model as points."""
    to.add_points(file, OUTPUTS)
    waves = np.sin(np.linspace(0, 6, len(file.points)))[:, None, None] * np.array([30.0, 5.0, 8.0])
    file.points[:, -len(OUTPUTS) :] = waves


def twice(file: C3D) -> None:
    """Describe plate 1 once more, with channels of its own that repeat its numbers."""
    corners = np.asarray(file.groups["FORCE_PLATFORM"]["CORNERS"], float)[..., 0].T
    plate.add_plate(file, corners_mm=corners.tolist())
    file.analog[:, -6:] = file.analog[:, :6]


def without_channels(file: C3D) -> None:
    file.analog = file.analog[:, :0]
    file.groups["ANALOG"] = {"USED": whole(0), "RATE": real(500)}


def in_newton_metres(file: C3D) -> None:
    """Write moments in N m, as "N.m", though the points are in mm."""
    file.analog *= np.tile(np.repeat([1.0, 1e-3], 3), 3)
    to.put(file, "ANALOG", "UNITS", ["N", "N", "N", "N.m", "N.m", "N.m"] * 3)


def with_data_start(content: bytes, block: int) -> bytes:
    """Write another block into POINT:DATA_START, after its name, offset, type and number of dimensions."""
    return to.with_bytes(content, content.index(b"DATA_START") + 14, block.to_bytes(2, "little"))


def y_up(table: Trc) -> Trc:
    """Return the markers with y up, as :meth:`tests.odd_files.texts.Mot.y_up` the forces."""
    rows = []
    for row in table.rows:
        cells = [*row[:2]]
        for i in range(2, len(row), 3):
            cells += [row[i], row[i + 2], f"{-float(row[i + 1]):.5f}"]
        rows.append(tuple(cells))
    return replace(table, rows=tuple(rows))


def grouped(table: Mot) -> Mot:
    """Return the columns as forces of all plates, then points of all, then torques of all."""
    order = [0, *sorted(range(1, len(table.labels)), key=lambda i: ((i - 1) % 9 // 3, i))]
    rows = tuple(tuple(row[i] for i in order) for row in table.rows)
    return replace(table, labels=tuple(table.labels[i] for i in order), rows=rows)


def as_vectors(table: Mot) -> Mot:
    """Return a column for each vector, as OpenSim writes tables of Vec3."""
    labels = ("time", *(f"{letter}{number}" for number in (1, 2, 3) for letter in "fpm"))
    rows = tuple((row[0], *(",".join(row[i : i + 3]) for i in range(1, len(row), 3))) for row in table.rows)
    return replace(table, labels=labels, rows=rows, header=VECTORS)


def with_hard_blanks(line: str) -> str:
    return line.replace("\t\t\t", "\u00a0\t\t\t")


def three_decimals(table: Trc) -> Trc:
    return replace(table, rows=tuple((row[0], f"{float(row[1]):.3f}", *row[2:]) for row in table.rows))


def standing_y_up(_: str) -> str:
    return y_up(trc(standing_still())).text()


LONG = Row(
    "frames_65600", "65,600 frames, of which the header knows no more than 65,535; the walk comes last", "ezc3d #372",
    replace(SOUND, rates_hz=(100.0, 100.0), before=EMPTY_FRAMES, start_s=EMPTY_FRAMES / 100.0),
    partial(write_study, rates_hz=(100.0, 100.0), edits=[late_in_a_long_file]),
)  # fmt: skip

REPORTED: tuple[Row, ...] = (
    c3d("type_3", "plates of type 3, eight channels each", "opensim-core #2422, #2860", plate.to_type_3),
    c3d("origin_inverted", "ORIGIN is above the surface: its vector is inverted", "BTK warns of it and inverts it",
        partial(to.scale_numbers, group="FORCE_PLATFORM", name="ORIGIN", factor=-1.0),
        remarks=["first written down as to be said; two of three real files have it, and it has one meaning"]),
    c3d("camera_masks", "the residual's word has the mask of the cameras, too", "c3d.org manual", with_masks),
    c3d("events_reversed", "the last event comes first", "Nexus, after edits",
        partial(to.set_events, events=EVENTS[::-1])),
    c3d("events_used", "EVENT:USED is 4, ten events are described", "events deleted in Mokka",
        partial(to.put, group="EVENT", name="USED", value=whole(4)),
        truth=replace(SOUND, events=EVENTS[:4], said=("EVENT:USED|not used",)),
        remarks=["that it must be said was added later"]),
    c3d("events_none", "a group EVENT without events", "KineticsToolkit #115",
        partial(to.put, group="EVENT", name="USED", value=whole(0)),
        partial(to.put, group="EVENT", name="LABELS", value=[]),
        partial(to.put, group="EVENT", name="CONTEXTS", value=[]),
        partial(to.put, group="EVENT", name="TIMES", value=np.zeros((2, 0), np.float32)), truth=NO_EVENTS),
    c3d("header_rate_0", "the header's rate is 0, POINT:RATE is right", "scripts of users",
        change=partial(to.with_bytes, at=20, new=bytes(4)),
        truth=replace(SOUND, or_refused=(r"walk\.c3d", "rate", "export"))),
    c3d("header_no_analog", "the header counts no analog values", "scripts of users",
        change=partial(to.with_bytes, at=4, new=bytes(2)),
        truth=replace(SOUND, or_refused=(r"walk\.c3d", "analog|damaged|out of step", "export"))),
    c3d("data_start", "POINT:DATA_START names another block than the header", "scripts of users",
        change=partial(with_data_start, block=3),
        truth=replace(SOUND, or_refused=(r"walk\.c3d", "DATA_START|damaged", "export"))),
    c3d("volts", "the unit of all channels is V, the numbers are N and N mm", "Nexus, Cortex",
        partial(to.put, group="ANALOG", name="UNITS", value=["V"] * 18)),
    c3d("newton_metres", "points in mm, moments in N.m", "pyCGM2 #33", in_newton_metres),
    c3d("model_outputs", "angles, moments and powers of a model as points", "opensim-core #3606", with_outputs),
    c3d("one_frame_static", "a static trial of one frame", "exports of one frame", both=[of_one_frame]),
    c3d("nobody_at_first", "no marker is seen in the first 30 frames", "recordings begun early", nobody_at_first,
        truth=replace(SOUND, hidden=("", 0, 29))),
    c3d("screen_axes", "X_SCREEN and Y_SCREEN say that y is up; z is", "scripts of users",
        both=[partial(to.put, group="POINT", name="Y_SCREEN", value=["+Y"])]),
    c3d("plate_twice", "plate 4 has the corners of plate 1 and the same numbers", "devices exported twice", twice,
        truth=replace(NO_PLATES, said=("plates? (1|4)|same force",))),
    c3d("no_channels", "three plates are described, and there is no channel", "exports of markers alone",
        without_channels, truth=replace(SOUND, plates=(), said=("plate",))),
    text("y_up_both", "markers and forces with y up", "OpenSim", markers=y_up(plain_trc()), forces=plain_mot().y_up(),
         static=standing_y_up),
    text("columns_grouped", "forces of all plates, then points of all, then torques", "OpenSim's examples",
         forces=grouped(plain_mot())),
    text("times_three_decimals", "times with three decimals, of 120 Hz", "Cortex, Motive",
         markers=three_decimals(trc(walking(120.0, 240.0))), forces=mot(walking(120.0, 240.0)),
         truth=replace(TEXT, rates_hz=(120.0, 240.0)),
         remarks=["first written with forces at 200 Hz, which docs/study_directory.md resamples"]),
    text("hard_blanks", "a hard blank after every label", "copied from a web page",
         trc=partial(of_line, number=3, change=with_hard_blanks)),
    text("version_3", "a header with DataType and OpenSimVersion", "OpenSim 4",
         forces=replace(plain_mot(), header=VERSION_3)),
    text("vectors", "one column for each vector, f1, p1, m1", "OpenSim 4: tables of Vec3",
         forces=as_vectors(plain_mot()), truth=replace(TEXT, or_refused=(r"walk\.mot", "Vec3|vector|columns?"))),
    text("first_row_twice", "the first row of forces twice", "scripts that join files",
         forces=replace(plain_mot(), rows=(plain_mot().rows[0], *plain_mot().rows)),
         truth=replace(TEXT, or_refused=(r"walk\.mot", "times?"))),
    text("before_time_0", "the times of both files begin at -0.5 s", "recordings before a trigger",
         markers=plain_trc().later(-0.5), forces=plain_mot().later(-0.5), truth=replace(TEXT, start_s=-0.5)),
)  # fmt: skip
