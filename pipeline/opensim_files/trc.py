"""TRC files: marker positions as text, of Motion Analysis, OpenSim, OpenCap and Pose2Sim.

Three lines of header (``PathFileType``, names of numbers, these numbers), a line with ``Frame#``, ``Time`` and a name
in front of each three columns, a line with ``X1``, ``Y1``, ``Z1``, ...; often a blank line; then a row for each frame.
Source: OpenSim's user guide, "Marker (.trc) Files".
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import UserError
from ..recording import FARTHEST_M, LENGTH_UNITS_M, RATE_HZ, length_unit_m, simplest_rate
from .text_numbers import AGAIN, cells_of, is_number, lines_of, refuse_disordered, refuse_rows, rows_of_numbers

HEADER_LINES = 5
KIND = "TRC file"
COUNT = "NumMarkers"
OFF_GRID = 0.25  # of a frame; times have three or more decimals, so that rounding is far below
# DataRate and times: video is 0.1 % slower than its nominal rate, and programs round it to whole frames a second
RATE_ROUNDING = 0.02
ROUNDED_S = 1e-10  # of times in double precision, far below their last digit
SHOWN_ROWS = 100  # in which a time has all decimals that the program writes
MOST_FRAMES = 10  # for each row; a file with more frames missing has wrong times


class Markers(NamedTuple):
    """The content of a TRC file."""

    labels: list[str]  # as the file spells them
    positions: Array  # (time, marker, 3), m, axes of the file; NaN where unseen
    rate_hz: float  # frames per second
    start_s: float  # time of the first frame
    length_unit_m: float  # metres per length unit of the file
    note: str = ""  # how its header contradicts the rest, or empty


def read_trc(path: Path) -> Markers:
    """Read a TRC file.

    Frames that the file leaves out, by their times, are NaN, as are markers at exactly (0, 0, 0).

    Raises:
        UserError: absent, not a TRC file, damaged, cut off or without markers.
    """
    lines = lines_of(path, kind=KIND)
    if not lines or not lines[0].lstrip().lower().startswith("pathfiletype"):
        raise UserError(str(path), f"not a {KIND}: it does not begin with PathFileType", AGAIN)
    if len(lines) <= HEADER_LINES:
        raise UserError(str(path), f"cut off after {len(lines)} lines", AGAIN)
    names, numbers = (cells_of(line) for line in lines[1:3])
    if sum(map(bool, names)) == sum(map(bool, numbers)):  # in order; some have no number: by tabs
        names, numbers = ([cell for cell in cells if cell] for cells in (names, numbers))
    stated = dict(zip(names, numbers, strict=False))
    labels, axes = _labels(path, lines), cells_of(lines[HEADER_LINES - 1])
    note = _note_on_count(path, lines, labels, stated.get(COUNT, ""), axes)
    unit = stated.get("Units", "")
    unit_m = length_unit_m(unit)
    if unit_m is None:
        unit = unit if unit.isalpha() and len(unit) < 12 else "missing"
        raise UserError(str(path), f"Units is {unit}", f"give one of {', '.join(LENGTH_UNITS_M)} in its line 3")
    first = HEADER_LINES - any(is_number(cell) for cell in axes[:1])  # some files lack the line X1, Y1, Z1, ...
    rows = rows_of_numbers(lines, first, 2 + 3 * len(labels), path=path, filled=False)
    refuse_rows(path, lines, stated.get("NumFrames", ""), len(rows), name="NumFrames")
    time = rows[:, 1]
    refuse_disordered(path, time)
    rate_hz, frames = _frames(path, stated.get("DataRate", ""), time, lines[first:])
    positions = rows[:, 2:].reshape(len(rows), -1, 3) * unit_m
    missing = (positions == 0).all(axis=-1) | ~(np.abs(positions) < FARTHEST_M).all(axis=-1)
    positions[missing] = np.nan
    whole = np.full((frames[-1] + 1, *positions.shape[1:]), np.nan)
    whole[frames] = positions
    return Markers(labels, whole, rate_hz, float(time[0]), unit_m, note)


def _labels(path: Path, lines: Sequence[str]) -> list[str]:
    """Return the names of the markers; one without a name is empty if each name is above the first of its columns."""
    cells = cells_of(lines[3])[2:]
    named = [i for i, cell in enumerate(cells) if cell]
    if lines[3].strip().lower().startswith("time"):
        raise UserError(str(path), "its line 4 begins with Time: the column Frame# is missing", f"add it or {AGAIN}")
    if not named:
        raise UserError(str(path), "its line 4 names no markers", AGAIN)
    apart = len(named) > 1 and all(i % 3 == 0 for i in named)
    return cells[: named[-1] + 1 : 3] if apart else [cells[i] for i in named]


def _note_on_count(path: Path, lines: Sequence[str], labels: Sequence[str], stated: str, axes: Sequence[str]) -> str:
    """Return a note on another number of names than NumMarkers, empty without.

    Raises:
        UserError: neither the line X1, Y1, Z1, ... nor, where NumMarkers is smaller, the longest row has columns for
            the names.
    """
    if not stated.isdecimal() or int(stated) == len(labels):
        return ""
    what = f"{COUNT} is {int(stated)}, its line 4 names {len(labels)} markers"
    longest = max(len(cells_of(line.rstrip())) for line in lines[HEADER_LINES - 1 :])
    if sum(map(bool, axes)) != 3 * len(labels) and (int(stated) > len(labels) or longest != 2 + 3 * len(labels)):
        raise UserError(str(path), what, f"correct one of them or {AGAIN}")
    return what


def _frames(path: Path, stated: str, time: Array, rows: Sequence[str]) -> tuple[float, NDArray[np.int_]]:
    """Return frames per second and the frame of each instant, from 0.

    The rate is DataRate, unless the times are those of one that differs a little: OpenSim goes by the times. A rate
    that fits the times to their last digit comes first: 59.94, written as 60, would be wrong by 60 ms in a minute.
    """
    cells = [cells_of(row)[1:2] for row in rows[:SHOWN_ROWS]]
    decimals = [len(text.strip().replace(",", ".").partition(".")[2]) for (text,) in filter(None, cells)]
    digit_s = max(10.0 ** -max(decimals, default=0), ROUNDED_S)  # last digit of the times
    intervals = np.diff(time)
    by_times_hz = 1 / float(np.median(intervals)) if len(intervals) else 0.0
    try:
        rate_hz = float(stated.replace(",", ".")) or by_times_hz
    except ValueError:
        rate_hz = by_times_hz
    if not RATE_HZ[0] <= rate_hz <= RATE_HZ[1]:
        raise UserError(str(path), f"DataRate is {rate_hz:g} frames a second", f"correct it or {AGAIN}")
    steps = np.rint(intervals * rate_hz)
    follow = not len(steps) or steps.min() <= 1  # else no frame has a neighbour: the file has fewer a second
    counted = np.concatenate([[0.0], np.cumsum(steps)])
    even_hz = float(counted[-1] / (time[-1] - time[0])) if len(intervals) else rate_hz
    simple_hz = _rate_of(time, counted, digit_s) if len(intervals) else rate_hz
    exact = min(digit_s * rate_hz, OFF_GRID)  # frames: times rounded to their last digit, or cut off after it
    rates = ((rate_hz, exact), (simple_hz, exact), (rate_hz, OFF_GRID), (even_hz, OFF_GRID))
    for rate, most_off in rates if follow else ():
        frames = (time - time[0]) * rate
        whole = np.rint(frames)
        on_grid = np.abs(frames - whole).max(initial=0.0) <= most_off and (np.diff(whole) > 0).all()
        if on_grid and abs(rate / rate_hz - 1) <= RATE_ROUNDING and frames[-1] <= MOST_FRAMES * len(time):
            return rate, whole.astype(int)
    what = f"DataRate is {rate_hz:g}, but its times are those of {by_times_hz:.4g} frames a second"
    raise UserError(str(path), what, f"correct one of them or {AGAIN}")


def _rate_of(time: Array, frames: Array, digit_s: float) -> float:
    """Return the simplest rate of frames at instants that are rounded to a digit.

    A line through n instants is steeper or flatter by digit / (span sqrt(n)), one standard deviation. Ten are allowed,
    as rounding repeats itself at round rates.
    """
    from_middle_s = time - time.mean()
    rate_hz = float(from_middle_s @ (frames - frames.mean()) / (from_middle_s @ from_middle_s))
    share = digit_s / float(time[-1] - time[0]) * min(1.0, 10.0 / np.sqrt(len(time)))
    return simplest_rate(rate_hz, rate_hz * share)
