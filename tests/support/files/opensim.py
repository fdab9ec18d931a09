"""TRC and MOT files of known content, and those of the generated study's recordings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.c3d.reader import read_c3d
from pipeline.plates.wrench import centre_of_pressure
from pipeline.steps.read.plates_and_channels import decode_plates

Array = NDArray[np.float64]
UNITS_M = {"mm": 1e-3, "m": 1.0}
LOADED_N = 5.0  # below, programs that write MOT files state no force


def trc_text(
    labels: Sequence[str],
    positions: Array,
    rate_hz: float,
    *,
    start_s: float = 0.0,
    unit: str = "mm",
    blank: bool = True,
) -> str:
    """Return a TRC file of positions (time, marker, 3), m; NaN gives empty cells.

    Args:
        labels, positions, rate_hz: of the markers.
        start_s: time of the first frame.
        unit: of the file.
        blank: whether a blank line follows the header.
    """
    frames, count = positions.shape[:2]
    names = ["DataRate", "CameraRate", "NumFrames", "NumMarkers", "Units"]
    names += ["OrigDataRate", "OrigDataStartFrame", "OrigNumFrames"]
    lines = ["PathFileType\t4\t(X/Y/Z)\twalk.trc", "\t".join(names)]
    lines.append(f"{rate_hz:g}\t{rate_hz:g}\t{frames}\t{count}\t{unit}\t{rate_hz:g}\t1\t{frames}")
    lines.append("Frame#\tTime\t" + "\t\t\t".join(labels) + "\t\t")
    lines.append("\t\t" + "\t".join(f"{axis}{i}" for i in range(1, count + 1) for axis in "XYZ"))
    lines += [""] * blank
    for frame, row in enumerate(positions.reshape(frames, -1) / UNITS_M[unit]):
        cells = ("" if np.isnan(value) else f"{value:.6f}" for value in row)
        lines.append("\t".join([str(frame + 1), f"{start_s + frame / rate_hz:.6f}", *cells]))
    return "\n".join(lines) + "\n"


def mot_text(time: Array, columns: dict[str, Array]) -> str:
    """Return a MOT file of columns (sample,) by label at instants (sample,), s."""
    rows = np.column_stack([time, *columns.values()])
    header = f"walk\nversion=1\nnRows={len(rows)}\nnColumns={rows.shape[1]}\ninDegrees=yes\nendheader\n"
    body = "\n".join("\t".join(f"{value:.8g}" for value in row) for row in rows)
    return header + "\t".join(["time", *columns]) + "\n" + body + "\n"


def load_columns(force: Array, point: Array, torque: Array, *, before: str = "", after: str = "") -> dict[str, Array]:
    """Return the columns of a load (sample, 3) by their labels, with texts before and after ``ground_force``."""
    kinds = ((f"{before}ground_force{after}_v", force), (f"{before}ground_force{after}_p", point))
    found = {f"{start}{axis}": values[:, i] for start, values in kinds for i, axis in enumerate("xyz")}
    return found | {f"{before}ground_torque{after}_{axis}": torque[:, i] for i, axis in enumerate("xyz")}


def as_opensim(c3d: Path, markers: Path, forces: Path | None, *, turn: Array | None = None) -> None:
    """Write a C3D file as TRC and MOT files: a load for each plate, at its centre of pressure.

    Args:
        c3d: the recording.
        markers, forces: the files to write.
        turn: (3, 3) from the axes of the C3D file to those of the files; None for the same.
    """
    turn = np.eye(3) if turn is None else turn
    recording = read_c3d(c3d)
    start_s = recording.first_frame / recording.marker_rate_hz
    text = trc_text(recording.labels, recording.markers @ turn.T, recording.marker_rate_hz, start_s=start_s)
    markers.write_text(text)
    if not forces:
        return
    plates, columns = decode_plates(recording, turn), dict[str, Array]()
    for i, corners in enumerate(plates.corners):
        force, moment = plates.force[:, i], plates.moment[:, i]
        loaded = np.linalg.norm(force, axis=1) > LOADED_N
        point = np.zeros_like(force)
        point[loaded] = centre_of_pressure(force[loaded], moment[loaded], corners)[0]
        force = np.where(loaded[:, None], force, 0.0)
        torque = np.where(loaded[:, None], moment - np.cross(point, force), 0.0)
        columns |= load_columns(force, point, torque, before=f"{i}_" if i else "")
    time = start_s + np.arange(len(plates.force)) / recording.analog_rate_hz
    forces.write_text(mot_text(time, columns))
