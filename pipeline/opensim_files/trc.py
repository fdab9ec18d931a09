"""TRC files: marker positions as text, of Motion Analysis, OpenSim, OpenCap and Pose2Sim.

Three lines of header (``PathFileType``, names of numbers, these numbers), a line with ``Frame#``, ``Time`` and a name
in front of each three columns, a line with ``X1``, ``Y1``, ``Z1``, ...; often a blank line; then a row for each frame.
Source: OpenSim's user guide, "Marker (.trc) Files".
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..c3d.reader import FARTHEST_M, LENGTH_UNITS_M, RATE_HZ
from ..errors import UserError
from .text_numbers import AGAIN, cells_of, lines_of, refuse_disordered, refuse_rows, rows_of_numbers

Array = NDArray[np.float64]

HEADER_LINES = 5
KIND = "TRC file"
OFF_GRID = 0.25  # of a frame; times have three or more decimals, so that rounding is far below
MOST_FRAMES = 10  # for each row; a file with more frames missing has wrong times


class Markers(NamedTuple):
    """The content of a TRC file.

    Attributes:
        labels: as the file spells them.
        positions: (time, marker, 3), m, axes of the file; NaN where unseen.
        rate_hz: frames per second.
        start_s: time of the first frame.
        length_unit_m: metres per length unit of the file.
    """

    labels: list[str]
    positions: Array
    rate_hz: float
    start_s: float
    length_unit_m: float


def read_trc(path: Path) -> Markers:
    """Read a TRC file.

    Frames that the file leaves out, by their times, are NaN, as are markers at exactly (0, 0, 0).

    Raises:
        UserError: absent, not a TRC file, damaged, cut off or without markers.
        OSError: its disk or share failed.
    """
    lines = lines_of(path, kind=KIND)
    if not lines or not lines[0].lstrip().lower().startswith("pathfiletype"):
        raise UserError(str(path), f"not a {KIND}: it does not begin with PathFileType", AGAIN)
    if len(lines) <= HEADER_LINES:
        raise UserError(str(path), f"cut off after {len(lines)} lines", AGAIN)
    stated = dict(zip(lines[1].split(), lines[2].split(), strict=False))
    labels = [cell for cell in cells_of(lines[3])[2:] if cell]
    if not labels:
        raise UserError(str(path), "its line 4 names no markers", AGAIN)
    if (count := stated.get("NumMarkers", "")).isdecimal() and int(count) != len(labels):
        what = f"NumMarkers is {int(count)}, its line 4 names {len(labels)} markers"
        raise UserError(str(path), what, f"correct one of them or {AGAIN}")
    unit_m = _unit_m(path, stated.get("Units", ""))
    rows = rows_of_numbers(lines, HEADER_LINES, 2 + 3 * len(labels), path=path, filled=False)
    refuse_rows(path, stated.get("NumFrames", ""), len(rows), name="NumFrames")
    time = rows[:, 1]
    refuse_disordered(path, time)
    rate_hz = _rate_hz(path, stated.get("DataRate", ""), time)
    positions = rows[:, 2:].reshape(len(rows), -1, 3) * unit_m
    missing = (positions == 0).all(axis=-1) | ~(np.abs(positions) < FARTHEST_M).all(axis=-1)
    positions[missing] = np.nan
    frames = np.rint((time - time[0]) * rate_hz).astype(int)
    whole = np.full((frames[-1] + 1, *positions.shape[1:]), np.nan)
    whole[frames] = positions
    return Markers(labels, whole, rate_hz, float(time[0]), unit_m)


def _unit_m(path: Path, unit: str) -> float:
    if unit.lower() not in LENGTH_UNITS_M:
        unit = unit if unit.isalpha() and len(unit) < 12 else "missing"
        raise UserError(str(path), f"Units is {unit}", f"give one of {', '.join(LENGTH_UNITS_M)} in its line 3")
    return LENGTH_UNITS_M[unit.lower()]


def _rate_hz(path: Path, stated: str, time: Array) -> float:
    """Return frames per second: DataRate, with which the times must agree; without it, by the times."""
    intervals = np.diff(time)
    by_times_hz = 1 / float(np.median(intervals)) if len(intervals) else 0.0
    try:
        rate_hz = float(stated) or by_times_hz
    except ValueError:
        rate_hz = by_times_hz
    if not RATE_HZ[0] <= rate_hz <= RATE_HZ[1]:
        raise UserError(str(path), f"DataRate is {rate_hz:g} frames a second", f"correct it or {AGAIN}")
    frames = (time - time[0]) * rate_hz
    off_grid = np.abs(frames - np.rint(frames)).max(initial=0.0) > OFF_GRID or not (np.diff(np.rint(frames)) > 0).all()
    if off_grid or frames[-1] > MOST_FRAMES * len(time):
        what = f"DataRate is {rate_hz:g}, but its times are those of {by_times_hz:.4g} frames a second"
        raise UserError(str(path), what, f"correct one of them or {AGAIN}")
    return rate_hz
