"""Writing of a layout as small recordings: a person who stands, walks, flexes a leg or squats for a second."""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path

import ezc3d
import numpy as np
from numpy.typing import NDArray

from tests.commands.init.layouts.layout import Layout, Recording
from tests.support.files.opensim import load_columns, mot_text, trc_text

Array = NDArray[np.float64]
FRAMES, RATE_HZ = 10, 10.0
SPEED_M_S = 1.2
NOISE_M = 3e-4  # of a camera system
PLACES = {  # of the left side while standing, per height: ahead, left, up
    "ASI": (0.05, 0.07, 0.55),
    "PSI": (-0.06, 0.03, 0.56),
    "THI": (0.0, 0.09, 0.4),
    "KNE": (0.0, 0.085, 0.285),
    "TIB": (0.0, 0.085, 0.16),
    "ANK": (0.0, 0.07, 0.045),
    "HEE": (-0.04, 0.055, 0.02),
    "TOE": (0.09, 0.06, 0.02),
}
HIP = 0.52  # height of the hip joint, per height
LEG = [name not in ("ASI", "PSI") for name in PLACES]
Y_UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # rows: axes of OpenSim in those of C3D, x ahead, z up


def write(layout: Layout, folder: Path) -> Path:
    """Write all files of a layout below a folder, and return the folder."""
    for path, recording in layout.recordings.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if not recording.copy_of:
            _write_recording(folder / path, recording, zlib.crc32(f"{layout.name}/{path}".encode()))
    for path, recording in layout.recordings.items():
        if recording.copy_of:
            shutil.copyfile(folder / recording.copy_of, folder / path)
    for path in layout.others:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(_unloaded_plates() if path.endswith(".mot") else "[Node Information]\n")
    return folder


def body(recording: Recording, seed: int) -> dict[str, Array]:
    """Return the markers (frame, 3) of a person, m, x ahead, z up; the movement is that of the role."""
    rng = np.random.default_rng(seed)
    height = recording.height_m or 1.5 + zlib.crc32(recording.person.encode()) % 40 / 100
    time = np.arange(FRAMES) / RATE_HZ
    wave = np.sin(2 * np.pi * time / 1.1)
    travel, swing, sink = np.zeros((3, FRAMES))
    if recording.role == "walk":
        travel, swing = SPEED_M_S * time, 0.4 * wave
    elif recording.role == "functional":
        swing = 0.6 * wave
    elif recording.role == "other":
        sink = 0.15 * height * wave**2
    found = {}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        turn = swing * (sign if recording.role == "walk" else sign > 0)
        for moves, (name, place) in zip(LEG, PLACES.items(), strict=True):
            ahead, left, up = height * np.array(place)
            drop, turned = height * HIP - up, turn * moves
            x = travel + ahead * np.cos(turned) + drop * np.sin(turned)
            z = height * HIP + ahead * np.sin(turned) - drop * np.cos(turned) - sink * up / (height * HIP)
            found[side + name] = np.column_stack([x, np.full(FRAMES, sign * left), z])
    return {label: place + rng.normal(0, NOISE_M, place.shape) for label, place in found.items()}


def _write_recording(path: Path, recording: Recording, seed: int) -> None:
    points = body(recording, seed)
    if path.suffix == ".trc":
        positions = np.stack(list(points.values()), axis=1) @ Y_UP.T
        path.write_text(trc_text(list(points), positions, RATE_HZ))
        return
    file = ezc3d.c3d()
    file["data"]["points"] = np.insert(1e3 * np.stack(list(points.values()), axis=1).transpose(2, 1, 0), 3, 1.0, axis=0)
    point = file["parameters"]["POINT"]
    point["LABELS"]["value"], point["UNITS"]["value"], point["RATE"]["value"] = list(points), ["mm"], [RATE_HZ]
    if recording.subject:
        file.add_parameter("SUBJECTS", "NAMES", [recording.subject])
    if recording.mass_kg:
        file.add_parameter("PROCESSING", "Bodymass", [recording.mass_kg])
    if recording.height_m:
        file.add_parameter("PROCESSING", "Height", [1e3 * recording.height_m])
    file.write(str(path.with_suffix(".c3d")))  # ezc3d adds it behind another one
    path.with_suffix(".c3d").rename(path)


def _unloaded_plates() -> str:
    """Return a MOT file of a plate that nobody steps on."""
    zero = np.zeros((FRAMES, 3))
    return mot_text(np.arange(FRAMES) / RATE_HZ, load_columns(zero, zero, zero))
