"""TRC, MOT and STO files written line by line, independent of every reader."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.odd_files.walk import Recorded, standing_still, walking

Array = NDArray[np.float64]
LOADED_N = 5.0  # below, programs that write MOT files state no force
TEXT_FORCE_HZ = 200.0
HEADER = ("DataRate", "CameraRate", "NumFrames", "NumMarkers", "Units")
HEADER_END = ("OrigDataRate", "OrigDataStartFrame", "OrigNumFrames")


@dataclass(frozen=True)
class Trc:
    """The cells of a TRC file; a row without a marker has empty cells."""

    header: tuple[str, ...]
    names: tuple[str, ...]  # of the numbers in the header
    labels: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]  # frame, time, coordinates

    def text(self) -> str:
        axes = "\t".join(f"{axis}{i}" for i in range(1, len(self.labels) + 1) for axis in "XYZ")
        lines = ["PathFileType\t4\t(X/Y/Z)\twalk.trc", "\t".join(self.names), "\t".join(self.header)]
        lines += ["Frame#\tTime\t" + "\t\t\t".join(self.labels) + "\t\t", "\t\t" + axes, ""]
        return "\n".join([*lines, *map("\t".join, self.rows)]) + "\n"

    def later(self, by_s: float) -> Trc:
        """Return the same at later times."""
        return replace(self, rows=tuple((row[0], f"{float(row[1]) + by_s:.5f}", *row[2:]) for row in self.rows))


@dataclass(frozen=True)
class Mot:
    """The cells of a MOT or STO file."""

    labels: tuple[str, ...]  # with time
    rows: tuple[tuple[str, ...], ...]
    header: tuple[str, ...] = field(default=())

    def text(self) -> str:
        counts = (f"nRows={len(self.rows)}", f"nColumns={len(self.labels)}")
        header = self.header or ("walk", "version=1", *counts, "inDegrees=no", "endheader")
        return "\n".join([*header, "\t".join(self.labels), *map("\t".join, self.rows)]) + "\n"

    def later(self, by_s: float) -> Mot:
        """Return the same at later times."""
        return replace(self, rows=tuple((f"{float(row[0]) + by_s:.5f}", *row[1:]) for row in self.rows))

    def scaled(self, part: str, factor: float) -> Mot:
        """Return the table with other numbers in the columns whose label has a part."""
        those = [part in label for label in self.labels]
        rows = (
            (f"{factor * float(cell):.7g}" if chosen else cell for cell, chosen in zip(row, those, strict=True))
            for row in self.rows
        )
        return replace(self, rows=tuple(map(tuple, rows)))

    def without(self, part: str) -> Mot:
        """Return the table without the columns whose label has a part."""
        kept = [i for i, label in enumerate(self.labels) if part not in label]
        rows = tuple(tuple(row[i] for i in kept) for row in self.rows)
        return replace(self, labels=tuple(self.labels[i] for i in kept), rows=rows)

    def y_up(self) -> Mot:
        """Return the loads in axes with y up: x, z, -y of each three columns."""
        rows = []
        for row in self.rows:
            cells = [row[0]]
            for i in range(1, len(row), 3):
                cells += [row[i], row[i + 2], f"{-float(row[i + 1]):.7g}"]
            rows.append(tuple(cells))
        return replace(self, rows=tuple(rows))


def trc(recorded: Recorded) -> Trc:
    """Return a recording in millimetres."""
    frames, count = recorded.markers.shape[:2]
    rate = f"{recorded.marker_hz:g}"
    rows = tuple(
        (str(i + 1), f"{i / recorded.marker_hz:.5f}", *(f"{value:.5f}" for value in row))
        for i, row in enumerate(1e3 * recorded.markers.reshape(frames, -1))
    )
    header = (rate, rate, str(frames), str(count), "mm", rate, "1", str(frames))
    return Trc(header, (*HEADER, *HEADER_END), recorded.labels, rows)


def mot(recorded: Recorded) -> Mot:
    """Return its loads: force, point of application and free torque of each plate; zeros without a force."""
    force, point, torque = loads(recorded)
    labels, columns = ["time"], [np.arange(len(force)) / recorded.force_hz]
    for plate in range(force.shape[1]):
        for values, form in (
            (force, "ground_force_{}_v{}"),
            (point, "ground_force_{}_p{}"),
            (torque, "ground_torque_{}_{}"),
        ):
            labels += [form.format(plate + 1, axis) for axis in "xyz"]
            columns += list(values[:, plate].T)
    rows = tuple(tuple(f"{value:.7g}" for value in row) for row in np.column_stack(columns))
    return Mot(tuple(labels), rows)


def loads(recorded: Recorded) -> tuple[Array, Array, Array]:
    """Return force, point on the floor and free torque (sample, plate, 3), file axes."""
    force, moment = recorded.force.copy(), recorded.moment
    unloaded = np.linalg.norm(force, axis=2) < LOADED_N
    with np.errstate(divide="ignore", invalid="ignore"):
        point = np.stack([-moment[..., 1] / force[..., 2], moment[..., 0] / force[..., 2], 0 * force[..., 2]], axis=-1)
    torque = moment - np.cross(point, force)
    for values in (force, point, torque):
        values[unloaded] = 0
    return force, point, torque


@cache
def plain_trc() -> Trc:
    return trc(walking(100.0, TEXT_FORCE_HZ))


@cache
def plain_mot() -> Mot:
    return mot(walking(100.0, TEXT_FORCE_HZ))


@cache
def plain_static() -> str:
    return trc(standing_still()).text()


def with_gap(table: Trc, label: str, first: int, last: int, cell: str) -> Trc:
    """Return a table in which the cells of a marker are others, from a frame to another, counted from 0."""
    column = 2 + 3 * table.labels.index(label)
    rows = list(table.rows)
    for i in range(first, last + 1):
        rows[i] = (*rows[i][:column], cell, cell, cell, *rows[i][column + 3 :])
    return replace(table, rows=tuple(rows))


def with_swing(table: Mot, cell: str) -> Mot:
    """Return loads of which point and torque are other cells while the force is zero."""
    rows = []
    for row in table.rows:
        cells = list(row)
        for i in range(1, len(row), 9):
            if all(float(force) == 0 for force in row[i : i + 3]):
                cells[i + 3 : i + 9] = [cell] * 6
        rows.append(tuple(cells))
    return replace(table, rows=tuple(rows))


def with_cells(table: Trc, factor: float, unit: str) -> Trc:
    """Return the markers in another unit."""
    rows = tuple((*row[:2], *(f"{factor * float(cell):.8f}" for cell in row[2:])) for row in table.rows)
    return replace(table, rows=rows, header=(*table.header[:4], unit, *table.header[5:]))


def write_pair(
    folder: Path, markers: str | bytes, forces: str | bytes | None, *, static: str | bytes | None = None,
    names: tuple[str, str, str] = ("walk.trc", "walk.mot", "static.trc"),
) -> None:  # fmt: skip
    """Write a walk, its forces and the static trial; the names may have folders."""
    texts = (markers, forces, plain_static() if static is None else static)
    for name, text in zip(names, texts, strict=True):
        if text is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)
