"""Odd files of scripts and of units, written down by somebody who had not seen the readers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from tests.odd_files import c3d_edits as to
from tests.odd_files import plate_edits as plate
from tests.odd_files.c3d_bytes import C3D, plain, real, whole
from tests.odd_files.c3d_edits import write_study
from tests.odd_files.c3d_rows import NO_PLATES, SOUND, c3d
from tests.odd_files.row import REFUSED, Row, Truth
from tests.odd_files.text_rows import NO_FORCES, TEXT, text
from tests.odd_files.texts import Mot, plain_mot, plain_trc, with_cells, write_pair
from tests.odd_files.walk import EVENTS, PLATES, walking

NEWTONS = {"lb": 4.4482216, "kgf": 9.80665, "kN": 1000.0}
WEIGHT_N = 627.8
YAMADA = "山田太郎".encode("shift_jis")
ON_ALL = [[2310, 0, 0], [10, 0, 0], [10, 500, 0], [2310, 500, 0]]  # mm, of a plate whose y points to the right
BEYOND_255 = 256  # channels before those of the plates


def in_other_units(file: C3D, force: str, moment: str, metres: float) -> None:
    """Write forces and moments in units that ANALOG:UNITS states; ``metres`` is the length in that of the moment."""
    newtons = NEWTONS[force]
    per_newton_millimetre = 1e-3 / newtons / metres
    file.analog *= np.tile(np.repeat([1 / newtons, per_newton_millimetre], 3), file.analog.shape[1] // 6)
    file.groups["ANALOG"]["UNITS"] = ([force] * 3 + [moment] * 3) * (file.analog.shape[1] // 6)


def with_channels_from_0(file: C3D) -> None:
    channels = np.asarray(file.groups["FORCE_PLATFORM"]["CHANNEL"])
    to.put(file, "FORCE_PLATFORM", "CHANNEL", (channels - 1).astype(np.int16))


def with_six_scales(file: C3D) -> None:
    """State the scale of the first plate alone."""
    file.analog /= 0.25
    to.put(file, "ANALOG", "SCALE", np.full(6, 0.25, np.float32))


def in_millivolts(file: C3D) -> None:
    """Write channels in mV, and matrices for V."""
    gains = np.array([150.0, 150, 600, 3e5, 2.5e5, 1.2e5])
    plate.to_type_4(file)
    file.analog *= 1000 / np.tile(gains, 3)
    file.groups["ANALOG"]["UNITS"] = ["mV"] * 18
    to.put(file, "FORCE_PLATFORM", "CAL_MATRIX", np.repeat(np.diag(gains)[..., None], 3, axis=2).astype(np.float32))


def with_sensors_aside(file: C3D) -> None:
    """Move the sensors' origin away from the middle of the surface, as of a treadmill of Bertec."""
    aside_mm = np.array([236.0, 113.0, 0.0])
    for number in range(len(PLATES)):
        six = file.analog[:, 6 * number : 6 * number + 6]
        six[:, 3:] += np.cross(aside_mm, six[:, :3])
    origins = np.asarray(file.groups["FORCE_PLATFORM"]["ORIGIN"]) + aside_mm[:, None]
    to.put(file, "FORCE_PLATFORM", "ORIGIN", origins.astype(np.float32))


def behind_many_channels(file: C3D) -> None:
    """Put so many channels before the plates that LABELS2, SCALE2 and the like hold what is said of these."""
    noise = 1e-3 * np.random.default_rng(2).normal(size=(len(file.analog), BEYOND_255))
    file.analog = np.hstack([noise, file.analog / 0.25])
    analog, total = file.groups["ANALOG"], file.analog.shape[1]
    labels = [f"EMG{i + 1}" for i in range(BEYOND_255)] + list(analog["LABELS"])
    units = ["V"] * BEYOND_255 + list(analog["UNITS"])
    scales = np.repeat([1.0, 0.25], [BEYOND_255, total - BEYOND_255]).astype(np.float32)
    offsets = np.zeros(total, np.int16)
    analog["USED"] = whole(total)
    for name, values in (("LABELS", labels), ("UNITS", units), ("SCALE", scales), ("OFFSET", offsets)):
        analog |= {name: values[:255], f"{name}2": values[255:]}
    channels = np.asarray(file.groups["FORCE_PLATFORM"]["CHANNEL"]) + BEYOND_255
    to.put(file, "FORCE_PLATFORM", "CHANNEL", channels.astype(np.int16))


def with_combined_plate(file: C3D) -> None:
    """Add a plate that is the sum of the three, on all of their area and a little more, as Nexus combines them."""
    plate.add_plate(file, ON_ALL)
    corners = 1e-3 * np.array(ON_ALL)
    axes = np.stack([[1.0, 0, 0], [0, -1, 0], [0, 0, -1]], axis=1)
    force, moment = walking().force.sum(axis=1), walking().moment.sum(axis=1)
    about_sensor = moment - np.cross(corners.mean(axis=0) - [0, 0, 0.04], force)
    file.analog[:, -6:] = np.hstack([force @ axes, 1e3 * about_sensor @ axes])


def named_in_japanese(file: C3D) -> None:
    to.put(file, "SUBJECTS", "NAMES", [YAMADA])


def mirrored(file: C3D) -> None:
    """Write the points in left-handed axes."""
    file.points *= [1, -1, 1]


def with_wand(file: C3D) -> None:
    """Add a wand on the floor as a second subject."""
    to.label_as(file, "S01:{}")
    count = file.points.shape[1]
    to.add_points(file, [f"Wand:W{i}" for i in range(1, 6)])
    wand = np.array([[0, 2000, 20], [160, 2000, 20], [-80, 2000, 20], [0, 2240, 20], [0, 2120, 20]])
    file.points[:, count:] = wand + 0.1 * np.random.default_rng(0).normal(size=(len(file.points), 5, 3))
    file.groups["SUBJECTS"] = {
        "USED": whole(2), "NAMES": ["S01", "Wand"], "LABEL_PREFIXES": ["S01:", "Wand:"], "USES_PREFIXES": whole(1),
    }  # fmt: skip


def write_in_two_files(folder: Path) -> None:
    """Write the markers in one file and the plates in another one, without points."""
    without = walking()._replace(readings=np.empty((0, 0, 6)))
    write_study(folder)
    plain(without, events=EVENTS).write(folder / "walk.c3d")
    forces = plain(walking())
    forces.points = forces.points[:, :0]
    forces.groups["POINT"] |= {"USED": whole(0), "LABELS": [], "DESCRIPTIONS": []}
    forces.write(folder / "walk_forces.c3d")


def divided(table: Mot, by: float) -> Mot:
    """Return smaller forces and torques."""
    return table.scaled("_v", 1 / by).scaled("torque", 1 / by)


def write_beside_cortex(folder: Path) -> None:
    """Write the forces as Cortex does, and no MOT file."""
    write_pair(folder, plain_trc().text(), None)
    head = "[Force Data]\nNumberOfForcePlates=3\nSampleRate=200\nNumberOfSamples=360\n#Sample\tFX1\tFY1\tFZ1\n"
    rows = "\n".join("\t".join((str(i + 1), *row[1:4])) for i, row in enumerate(plain_mot().rows))
    (folder / "walk.forces").write_text(head + rows + "\n")


SCRIPTS: tuple[Row, ...] = (
    c3d("forces_in_lb", "forces in lb, moments in in-lb, as ANALOG:UNITS says", "AMTI NetForce",
        partial(in_other_units, force="lb", moment="in-lb", metres=0.0254)),
    c3d("forces_in_kgf", "forces in kgf, moments in kgf.m, as ANALOG:UNITS says", "older plates of Kistler",
        partial(in_other_units, force="kgf", moment="kgf.m", metres=1.0)),
    c3d("forces_in_kn", "forces in kN, moments in kNm, as ANALOG:UNITS says", "c3d.org manual: any unit",
        partial(in_other_units, force="kN", moment="kNm", metres=1.0)),
    c3d("unit_of_newtons_is_kn", "ANALOG:UNITS says kN of forces in N", "c3d.org manual: units are often wrong",
        partial(to.put, group="ANALOG", name="UNITS", value=["kN", "kN", "kN", "Nmm", "Nmm", "Nmm"] * 3)),
    c3d("plates_not_counted", "no FORCE_PLATFORM:USED", "scripts of users",
        partial(to.remove, group="FORCE_PLATFORM", name="USED")),
    c3d("gen_scale_0", "ANALOG:GEN_SCALE is 0", "scripts of users",
        partial(to.put, group="ANALOG", name="GEN_SCALE", value=real(0)),
        truth=replace(NO_PLATES, said=(r"walk\.c3d", "GEN_SCALE", "export"))),
    c3d("channels_from_0", "FORCE_PLATFORM:CHANNEL counts from 0", "scripts in Python", with_channels_from_0,
        truth=replace(NO_PLATES, said=(r"walk\.c3d", "CHANNEL counts from 0", "export"), never=("cable",))),
    c3d("six_scales", "ANALOG:SCALE of 6 of 18 channels", "scripts of users", with_six_scales,
        truth=replace(SOUND, plates=(0,), said=("plate 2", "SCALE", "export"))),
    c3d("millivolts", "plates of type 4, channels in mV, matrices for V", "c3d.org manual: gains", in_millivolts,
        truth=replace(NO_PLATES, said=("unit, gain or calibration",), never=("weigh the person",))),
    c3d("sensors_aside", "sensors aside of the middle of the plate", "Visual3D on treadmills of Bertec",
        with_sensors_aside),
    c3d("channels_beyond_255", "plates on channels 257 to 274: LABELS2, SCALE2, OFFSET2, UNITS2",
        "c3d.org manual, opensim-core #3606", behind_many_channels),
    c3d("combined_plate", "one more plate: the sum of the three, on all of their area", "Nexus: combined plates",
        with_combined_plate, truth=replace(SOUND, said=("plate 4: covers plates 1, 2, 3",))),
    c3d("japanese_name", "a name in Shift-JIS, of which ASCII letters remain", "Nexus in Japan",
        both=[named_in_japanese], truth=replace(SOUND, never=("R-c", "R c"))),
    c3d("left_handed", "points in left-handed axes", "game engines", both=[mirrored],
        truth=Truth(REFUSED, said=(r"walk\.c3d", "mirrored"))),
    c3d("wand", "a wand on the floor as a second subject", "Nexus: props", both=[with_wand]),
    Row("forces_in_another_c3d", "markers in one C3D file, plates in another one", "D-Flow",
        replace(SOUND, plates=(), said=("no marker is seen", r"walk_forces\.c3d", "one file")), write_in_two_files),
    text("walk_in_metres", "the walk in metres, of which Units says mm", "scripts of users",
         markers=with_cells(plain_trc(), 1e-3, "mm"),
         truth=Truth(REFUSED, said=(r"walk\.trc: Units is mm", "look like m"))),
    text("forces_in_kilonewtons", "forces in kN", "scripts of users", forces=divided(plain_mot(), 1e3),
         truth=replace(NO_FORCES, said=(r"walk\.mot", "largest force", "in N"), never=("cable",))),
    text("forces_by_weight", "forces divided by body weight", "scripts of users", forces=divided(plain_mot(), WEIGHT_N),
         truth=replace(NO_FORCES, said=(r"walk\.mot", "largest force", "body weight"), never=("cable",))),
    text("forces_on_the_plate", "forces on the plates instead of those on the person", "OpenSim's forum",
         forces=divided(plain_mot(), -1.0),
         truth=replace(NO_FORCES, said=(r"walk\.mot", "on the person", "sign"), never=("CORNERS",))),
    text("forces_alone_y_up", "markers with z up, forces with y up", "OpenSim's forum", forces=plain_mot().y_up(),
         truth=replace(NO_FORCES, said=("sideways", "same axes"), never=("cable", "in kN"))),
    text("forces_from_0", "markers cut out from 5 s on, forces from 0 on", "OpenSim's forum",
         markers=plain_trc().later(5.0), truth=Truth(REFUSED, said=(r"walk\.mot: its times", "clock"))),
    text("labels_with_suffix", "labels that all end in _study", "OpenCap",
         markers=replace(plain_trc(), labels=tuple(f"{label}_study" for label in plain_trc().labels)),
         truth=replace(TEXT, or_refused=("labels?", "body model"))),
    Row("forces_of_cortex", "forces beside the walk as Cortex writes them", "Cortex manual: .forces",
        replace(TEXT, plates=(), said=(r"walk\.forces", "another program"), follows=("no body mass",)),
        write_beside_cortex),
)  # fmt: skip
