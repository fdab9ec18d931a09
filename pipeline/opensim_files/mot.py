"""MOT and STO files: ground reaction forces as text, as OpenSim's external loads use them.

A header up to ``endheader``, or none, a line of labels, then a row for each sample. A load is a force, its point of
application and a torque there, three columns each (``ground_force_vx``, ``ground_force_px``, ``ground_torque_x``). The
labels of several loads differ in a number, side or body: ``1_ground_force_vx``, ``ground_force_r_vx``,
``ground_force_calcn_l_vx``; other names are those of an XML file beside, see :mod:`.external_loads`. Where the header
says DataType=Vec3, a column holds the three numbers of a vector, with commas between them.
Source: OpenSim's user guide, "Motion (.mot) Files" and "External Loads".
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Flags
from ..conventions import LOADED_SHARE
from ..errors import UserError, join_some
from ..recording import RATE_HZ, Load
from .external_loads import Columns, columns_named, loads_in
from .text_numbers import AGAIN, MOST_HEADER_LINES, cells_of, lines_of, refuse_disordered, refuse_rows, rows_of_numbers

KIND = "MOT file"
FORCES, POINTLESS, OTHERS = "ground reaction forces", "forces without points of application", "no forces"
HEADER_BYTES = 1 << 18  # read to know what a file holds: labels of 10,000 columns
SECONDS = re.compile(r"(?<=^time)[\s_]*[(\[]?s(ec(onds?)?)?[)\]]?$")  # the unit in the label of the times
STATED = re.compile(r"(\w+)\s*[=\s]\s*(.*)")  # nRows=500 of OpenSim, datarows 500 of SIMM
# a column: what precedes v, p, m or t, that letter, axis, number of the load; without a letter, words give its kind
WITH_LETTER = re.compile(r"(?:(.*)[_. ])?([vpmt])([xyz])(\d*)")
WITHOUT = re.compile(r"(.*?)[_. ]?()([xyz])(\d*)")
OF_C3D = re.compile(r"([fpm])(\d+)_?([xyz123])")  # f1_1, p1_1, m1_1: OpenSim's own reader of C3D files
TORQUE, POINT, FORCE = re.compile(r"torque|moment|grm"), re.compile(r"cop|point"), re.compile(r"force|grf")
NO_NAME = re.compile(r"torque|moment|grm|cop|point|force|grf|ground|reaction|free|[_. ]+")
SEVERAL_LISTED = 4
EXPECTED = (
    "give forces as ground_force_vx, _vy, _vz, their points as _px, _py, _pz, torques as ground_torque_x, _y, _z, or "
    "OpenSim's external loads (.xml) of the same name beside it"
)
LARGEST_LAB_M = 100.0  # points of application farther from the origin are in mm
# torques larger than those of the force at this distance are in N mm: of friction under a foot, about a plate's origin
LONGEST_ARM_M, LONGEST_PLATE_M = 0.15, 3.0
FREE_SHARE = 0.1  # of a torque across the force to that along it, if it is that of friction
POINTLESS_SHARE = 0.1  # of the largest force; below, programs may state no point: at 10 to 50 N
# parts of a sample: instants that differ more are uneven, as files round them to 0.1 ms or finer at 1000 Hz; and those
# that differ less are the same
UNEVEN, ROUNDING = 0.25, 0.1
LONGEST_INTERVAL_S, MOST_SAMPLES = 0.1, 2_000_000  # forces change faster; half an hour at 1000 Hz
LONGEST_STEP = 3  # intervals between samples; a longer one is a gap


class Header(NamedTuple):
    """What precedes the numbers of a file."""

    labels: list[str]  # of the columns, ``time`` first; three for a column of vectors
    first: int  # index of the first line of numbers
    rows: str  # number of rows as the file states it, or empty
    of_vectors: bool


class Forces(NamedTuple):
    """The content of a MOT file: instants (sample,), s, which rise, and the loads in the order of their columns."""

    time: Array
    loads: list[Load]


def what_it_holds(path: Path) -> str:
    """Return what a MOT file holds, by its labels or external loads: one of :data:`FORCES`, ``POINTLESS``, ``OTHERS``.

    Raises:
        UserError: absent or not a MOT file.
    """
    loads = _loads_among(_header(path, lines_of(path, kind=KIND, most_bytes=HEADER_BYTES)).labels)
    if any("p" in columns for columns in loads.values()) or loads_in(path.with_suffix(".xml")):
        return FORCES
    return POINTLESS if loads else OTHERS


def read_mot(path: Path) -> Forces:
    """Read the loads of a MOT file: those that external loads (XML) of its name beside it name, else by its labels.

    Raises:
        UserError: absent, not a MOT file, damaged, cut off, or without ground reaction forces; or its external loads
            are unusable.
    """
    lines = lines_of(path, kind=KIND)
    header = _header(path, lines)
    columns = columns_named(path.with_suffix(".xml"), header.labels) or _columns_of_loads(path, header.labels)
    rows = _numbers(path, lines, header)
    refuse_disordered(path, rows[:, 0])
    return Forces(rows[:, 0], _loads(rows, columns))


def read_table(path: Path) -> dict[str, Array]:
    """Read the columns (time,) of any MOT or STO file, such as OpenSim's tools write, by label, ``time`` first.

    Raises:
        UserError: absent, not a MOT file, damaged or cut off.
    """
    lines = lines_of(path, kind=KIND)
    header = _header(path, lines)
    return dict(zip(header.labels, _numbers(path, lines, header).T, strict=True))


def _header(path: Path, lines: Sequence[str]) -> Header:
    head = [cells_of(line) for line in lines[:MOST_HEADER_LINES]]
    begins = [SECONDS.sub("", next(filter(None, cells), "").lower()) for cells in head]
    end = begins.index("endheader") if "endheader" in begins else -1
    start = next((i for i in range(end + 1, len(head)) if begins[i] == "time" or (end >= 0 and begins[i])), -1)
    if start < 0 or begins[start] != "time":
        raise UserError(str(path), f"not a {KIND}: no line of labels that begins with 'time'", AGAIN)
    matches = (STATED.fullmatch(line.strip()) for line in lines[:start])
    stated, labels = {match[1].lower(): match[2].strip() for match in matches if match}, [*filter(None, head[start])]
    of_vectors = stated.get("datatype", "").lower() == "vec3"
    if of_vectors:
        labels = [labels[0], *(f"{label}_{axis}" for label in labels[1:] for axis in "xyz")]
    return Header(labels, start + 1, stated.get("nrows", stated.get("datarows", "")), of_vectors)


def _numbers(path: Path, lines: Sequence[str], header: Header) -> Array:
    """Return the numbers below a header (row, column)."""
    if header.of_vectors:
        lines = [*lines[: header.first], *(line.replace(",", "\t") for line in lines[header.first :])]
    rows = rows_of_numbers(lines, header.first, len(header.labels), path=path, filled=True)
    refuse_rows(path, lines, header.rows, len(rows), name="nRows")
    return rows


def _loads_among(labels: Sequence[str]) -> dict[str, Columns]:
    """Return the columns of each load by its name; of equal labels, the second belongs to a second load."""
    loads: dict[str, Columns] = {}
    for column, label in enumerate(labels):
        if parts := _parts(label.lower()):
            name, kind, axis = parts
            name += "'" * labels[:column].count(label)
            loads.setdefault(name, {}).setdefault(kind, {})[axis] = column
    return {name: columns for name, columns in loads.items() if "v" in columns}


def _parts(label: str) -> tuple[str, str, str] | None:
    """Return the name of the load, the kind and the axis of a column, or None if it is another one."""
    if match := OF_C3D.fullmatch(label):
        kind, name, axis = match.groups()
        return name, kind.replace("f", "v"), dict(zip("123", "xyz", strict=True)).get(axis, axis)
    match = WITH_LETTER.fullmatch(label) or WITHOUT.fullmatch(label)
    if not match:
        return None
    words, letter, axis, number = (part or "" for part in match.groups())
    if TORQUE.search(words) or letter == "t":
        letter = "m"
    kind = letter or ("p" if POINT.search(words) else "v" if FORCE.search(words) else "")
    return ("_".join([*NO_NAME.sub(" ", words).split(), number]).strip("_"), kind, axis) if kind else None


def _columns_of_loads(path: Path, labels: Sequence[str]) -> dict[str, Columns]:
    """Return :func:`_loads_among` labels, each with force and point; of its torque axes may be absent."""
    loads = _loads_among(labels)
    if not loads:
        what = f"no ground reaction force among its columns: {join_some(labels[1:], SEVERAL_LISTED)}"
        raise UserError(str(path), what, EXPECTED)
    for columns in loads.values():
        for kind, name in (("v", "force"), ("p", "point of application")):
            if (axes := sorted(columns.get(kind, {}))) != ["x", "y", "z"]:
                what = f"the {name} of {labels[min(columns['v'].values())]} has columns {', '.join(axes) or 'none'}"
                raise UserError(str(path), f"{what}, not x, y, z", EXPECTED)
    return loads


def _loads(rows: Array, columns: Mapping[str, Columns]) -> list[Load]:
    """Return the loads in SI units; without force a moment is the torque alone, wherever the point is.

    An absent axis of a torque is 0: a foot on the ground transmits none but the free moment.
    """
    force, point, torque = np.zeros((3, len(columns), len(rows), 3))
    for i, of_load in enumerate(columns.values()):
        for kind, values in (("v", force), ("p", point), ("m", torque)):
            for axis, column in of_load.get(kind, {}).items():
                values[i, :, "xyz".index(axis)] = rows[:, column]
    _to_si(force, point, torque)
    size = np.linalg.norm(force, axis=-1)
    pointless = ~(size > POINTLESS_SHARE * np.fmax.reduce(size, axis=None, initial=0.0))
    for one in zip(point, torque, pointless, strict=True):
        _fill_points(*one)
    lever = np.where((force == 0).all(axis=-1, keepdims=True), 0.0, point)
    return [Load(*one) for one in zip(force, np.cross(lever, force) + torque, point, strict=True)]


def _to_si(force: Array, point: Array, torque: Array) -> None:
    """Turn points (load, sample, 3) in mm into m and torques in N mm into N m, in place.

    Torques along the force are free moments, of friction under a foot; others may be about the origin of a plate.
    """
    size = np.linalg.norm(force, axis=-1)
    loaded = size > LOADED_SHARE * np.fmax.reduce(size, axis=None, initial=0.0)
    if not loaded.any():
        return
    away = np.linalg.norm(point[loaded], axis=-1)
    in_mm = float(np.median(away[np.isfinite(away)] if np.isfinite(away).any() else 0.0)) > LARGEST_LAB_M
    upright = force[loaded].mean(axis=0) / np.linalg.norm(force[loaded].mean(axis=0))
    arms = np.nan_to_num(torque[loaded] / size[loaded][:, None])
    across = np.linalg.norm(arms - np.outer(arms @ upright, upright), axis=-1)
    free = in_mm or np.median(across) <= FREE_SHARE * np.median(np.abs(arms @ upright))
    point /= 1000 if in_mm else 1
    if np.percentile(np.linalg.norm(arms, axis=-1), 98) > (LONGEST_ARM_M if free else LONGEST_PLATE_M):
        torque /= 1000


def _fill_points(point: Array, torque: Array, pointless: Flags) -> None:
    """Give a force that is too small for a point, where the file has none, one between those before and after.

    Args:
        point, torque: (sample, 3), changed in place; a torque that is missing with its point is 0.
        pointless: (sample,) whether the force is that small.
    """
    unknown = pointless & ~np.isfinite(point).all(axis=1)
    there = np.flatnonzero(~pointless & np.isfinite(point).all(axis=1))
    for axis in range(3):
        point[unknown, axis] = np.interp(np.flatnonzero(unknown), there, point[there, axis]) if len(there) else 0.0
    torque[unknown] = np.nan_to_num(torque[unknown])


def at_rate(forces: Forces, *, start_s: float, end_s: float, frame_s: float = 0.0) -> tuple[float, list[Load]]:
    """Return samples per second and the loads at even instants from a start to an end, both included.

    As in a C3D file, the samples of the file go on up to the frame that would follow.
    The rate is the file's, changed by less than a sample in the whole span. Values are interpolated linearly between
    the samples before and after; where the file has none, they are NaN. Instants that are even to a part of a sample
    are taken as even, as files round them.

    Args:
        start_s, end_s: the span of the markers, s.
        frame_s: time between their frames, s.

    Raises:
        UserError: samples that are too close or too far apart in time.
    """
    time, index = forces.time, np.arange(len(forces.time))
    interval, first = np.polyfit(index, time, 1)
    even = first + interval * index
    if np.abs(time - even).max() < UNEVEN * interval:  # else the file's instants are uneven by more than rounding
        time = even
    interval_s = float(np.median(np.diff(time)))
    count = max(round((end_s - start_s) / interval_s), 1)
    if not 1 / RATE_HZ[1] <= interval_s <= LONGEST_INTERVAL_S or count > MOST_SAMPLES:
        raise UserError("", f"its samples are {interval_s:.3g} s apart", "give its times in seconds")
    rate_hz = count / (end_s - start_s)
    further = min(int((time[-1] - end_s) * rate_hz + ROUNDING), int(np.ceil(frame_s * rate_hz - ROUNDING)) - 1)
    instants = start_s + np.arange(count + 1 + max(further, 0)) / rate_hz
    after = np.clip(np.searchsorted(time, instants), 1, len(time) - 1)
    step = time[after] - time[after - 1]
    share = (instants - time[after - 1]) / step
    nearest = np.clip(np.rint(share), 0, 1)
    at_sample = np.abs(share - nearest) * step * rate_hz < ROUNDING
    between = (instants >= time[0]) & (instants <= time[-1]) & (step * rate_hz < LONGEST_STEP)
    share = np.where(between | at_sample, np.clip(share, 0, 1), np.nan)[:, None]

    def interpolate(values: Array) -> Array:
        return np.asarray(values[after - 1] * (1 - share) + values[after] * share)

    return rate_hz, [Load(*map(interpolate, load)) for load in forces.loads]
