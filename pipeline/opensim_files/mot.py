"""MOT and STO files: ground reaction forces as text, as OpenSim's external loads use them.

A header up to ``endheader``, a line of labels, then a row for each sample. A load is a force, its point of application
and a torque there, three columns each (``ground_force_vx``, ``ground_force_px``, ``ground_torque_x``). The labels of
several loads differ in a number, side or body: ``1_ground_force_vx``, ``ground_force_r_vx``,
``ground_force_calcn_l_vx``.
Source: OpenSim's user guide, "Motion (.mot) Files" and "External Loads".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..c3d.reader import RATE_HZ, Load
from ..errors import UserError, listed
from .text_numbers import AGAIN, cells_of, lines_of, refuse_disordered, refuse_rows, rows_of_numbers

Array = NDArray[np.float64]

KIND = "MOT file"
MOST_HEADER_LINES = 500
LABEL = re.compile(r"(.*?)_?([vpmt]?)([xyz])")
TORQUE_WORDS = re.compile(r"torque|moment")
SEVERAL_LISTED = 4
EXPECTED = "give forces as ground_force_vx, _vy, _vz, their points as _px, _py, _pz, torques as ground_torque_x, _y, _z"
LARGEST_LAB_M = 100.0  # points of application farther from the origin are in mm
LOADED_SHARE = 0.05  # of the largest force; below, points of application mean little
# parts of a sample: instants that differ more are uneven, as files round them to 0.1 ms or finer at 1000 Hz; and those
# that differ less are the same
UNEVEN, ROUNDING = 0.25, 0.1
LONGEST_INTERVAL_S, MOST_SAMPLES = 0.1, 2_000_000  # forces change faster; half an hour at 1000 Hz
LONGEST_STEP = 3  # intervals between samples; a longer one is a gap


class Forces(NamedTuple):
    """The content of a MOT file: instants (sample,), s, which rise, and the loads in the order of their columns."""

    time: Array
    loads: list[Load]


def has_forces(path: Path) -> bool:
    """Return whether a MOT file holds ground reaction forces, by its labels.

    Raises:
        UserError: absent or not a MOT file.
        OSError: its disk or share failed.
    """
    lines = lines_of(path, kind=KIND)
    return bool(_loads_among(_header(path, lines)[1]))


def read_mot(path: Path) -> Forces:
    """Read the loads of a MOT file.

    Raises:
        UserError: absent, not a MOT file, damaged, cut off, or without ground reaction forces.
        OSError: its disk or share failed.
    """
    lines = lines_of(path, kind=KIND)
    stated, labels, first = _header(path, lines)
    columns = _columns_of_loads(path, labels)
    rows = rows_of_numbers(lines, first, len(labels), path=path, filled=True)
    refuse_rows(path, stated.get("nrows", stated.get("datarows", "")), len(rows), name="nRows")
    refuse_disordered(path, rows[:, 0])
    loads = [_load(rows, own) for own in columns.values()]
    _refuse_wrong_unit(path, loads)
    return Forces(rows[:, 0], loads)


def _header(path: Path, lines: Sequence[str]) -> tuple[dict[str, str], list[str], int]:
    """Return the header's values by name, the labels of the columns, and the index of the first line of numbers."""
    end = next((i for i, line in enumerate(lines[:MOST_HEADER_LINES]) if line.strip().lower() == "endheader"), None)
    if end is None:
        raise UserError(str(path), f"not a {KIND}: no line 'endheader'", AGAIN)
    stated = {name.strip().lower(): value.strip() for name, _, value in (line.partition("=") for line in lines[:end])}
    start = next((i for i, line in enumerate(lines[end + 1 :], end + 1) if line.strip()), end)
    labels = [label for label in cells_of(lines[start]) if label]
    if start == end or labels[0].lower() != "time":
        raise UserError(str(path), "its first column is not 'time'", AGAIN)
    return stated, labels, start + 1


def _loads_among(labels: Sequence[str]) -> dict[str, dict[str, list[int]]]:
    """Return by name of a load the columns of its force ``v``, point ``p`` and torque ``m``."""
    found: dict[str, dict[str, list[int]]] = {}
    for column, label in enumerate(labels):
        if match := LABEL.fullmatch(label.lower()):
            words, letter, _ = match.groups()
            kind = "m" if TORQUE_WORDS.search(words) or letter in ("m", "t") else letter
            name = re.sub(r"force|torque|moment|ground|__+", "", words).strip("_")
            found.setdefault(name, {}).setdefault(kind, []).append(column)
    return {name: own for name, own in found.items() if "v" in own}


def _columns_of_loads(path: Path, labels: Sequence[str]) -> dict[str, dict[str, list[int]]]:
    """Return :func:`_loads_among` labels, each with columns x, y, z; a torque may be absent."""
    loads = _loads_among(labels)
    if not loads:
        what = f"no ground reaction force among its columns: {listed(labels[1:], SEVERAL_LISTED)}"
        raise UserError(str(path), what, EXPECTED)
    for own in loads.values():
        for kind, name in (("v", "force"), ("p", "point of application"), ("m", "torque")):
            axes = [labels[column].lower()[-1] for column in own.get(kind, [])]
            if axes != ["x", "y", "z"] and (axes or kind != "m"):
                first = labels[own["v"][0]]
                what = f"the {name} of {first} has columns {', '.join(axes) or 'none'}, not x, y, z"
                raise UserError(str(path), what, EXPECTED)
    return loads


def _load(rows: Array, columns: dict[str, list[int]]) -> Load:
    """Return one load; without force its moment is the torque alone, wherever the point is."""
    force, point = rows[:, columns["v"]], rows[:, columns["p"]]
    torque = rows[:, columns["m"]] if "m" in columns else np.zeros_like(force)
    lever = np.where((force == 0).all(axis=1, keepdims=True), 0.0, point)
    return Load(force, np.cross(lever, force) + torque, point)


def _refuse_wrong_unit(path: Path, loads: Sequence[Load]) -> None:
    """Refuse points of application in mm."""
    for load in loads:
        size = np.linalg.norm(load.force, axis=1)
        loaded = size > LOADED_SHARE * np.fmax.reduce(size, initial=0.0)
        away_m = float(np.nanmedian(np.linalg.norm(load.point[loaded], axis=1))) if loaded.any() else 0.0
        if not away_m < LARGEST_LAB_M:
            what = f"points of application are {away_m:.0f} m from the lab's origin"
            raise UserError(str(path), what, "give them in m, forces in N, torques in N m")


def at_rate(forces: Forces, *, start_s: float, end_s: float) -> tuple[float, list[Load]]:
    """Return samples per second and the loads at even instants from a start to an end, both included.

    The rate is the file's, changed by less than a sample in the whole span. Values are interpolated linearly between
    the samples before and after; where the file has none, they are NaN. Instants that are even to a part of a sample
    are taken as even, as files round them.

    Args:
        forces: of a file, two samples or more.
        start_s, end_s: the span of the markers.

    Raises:
        UserError: samples that are too close or too far apart in time.
    """
    time = _evened(forces.time)
    interval_s = float(np.median(np.diff(time)))
    count = max(round((end_s - start_s) / interval_s), 1)
    if not 1 / RATE_HZ[1] <= interval_s <= LONGEST_INTERVAL_S or count > MOST_SAMPLES:
        raise UserError("", f"its samples are {interval_s:.3g} s apart", "give its times in seconds")
    rate_hz = count / (end_s - start_s)
    instants = np.linspace(start_s, end_s, count + 1)
    after = np.clip(np.searchsorted(time, instants), 1, len(time) - 1)
    step = time[after] - time[after - 1]
    share = (instants - time[after - 1]) / step
    nearest = np.clip(np.rint(share), 0, 1)
    at_sample = np.abs(share - nearest) * step * rate_hz < ROUNDING
    between = (instants >= time[0]) & (instants <= time[-1]) & (step * rate_hz < LONGEST_STEP)
    share = np.where(between | at_sample, np.clip(share, 0, 1), np.nan)[:, None]

    def resampled(values: Array) -> Array:
        return np.asarray(values[after - 1] * (1 - share) + values[after] * share)

    return rate_hz, [Load(*map(resampled, load)) for load in forces.loads]


def _evened(time: Array) -> Array:
    """Return instants (sample,), s, without the rounding of a file if they are even, else as they are."""
    index = np.arange(len(time))
    interval, first = np.polyfit(index, time, 1)
    even = first + interval * index
    return np.asarray(even if np.abs(time - even).max() < UNEVEN * interval else time)
