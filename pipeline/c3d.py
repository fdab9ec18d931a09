"""C3D files, read: with c3d_writer.py the only module that imports ezc3d. SI units, the file's own axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
from numpy.typing import NDArray

from pipeline.errors import UserError
from pipeline.labels import markers_of

Array = NDArray[np.float64]

LENGTH_UNITS_M = {"mm": 1e-3, "cm": 1e-2, "dm": 1e-1, "m": 1.0}
BLOCK_BYTES = 512


@dataclass(frozen=True)
class Event:
    """A gait event as the file states it; ``side`` is empty where the file gives none."""

    time_s: float
    label: str
    side: str


@dataclass(frozen=True)
class Recording:
    """A C3D file's content.

    Attributes:
        labels: marker labels, subject and common prefixes taken off, unique.
        markers: (time, marker, 3) positions, m, NaN where unseen.
        marker_rate_hz, first_frame: frames per second; number of the first frame, counted from 0.
        analog: (sample, channel) as scaled by the file.
        analog_rate_hz: samples per second; 0 where there are no channels.
        length_unit_m: metres per length unit of the file.
        force_platform: the FORCE_PLATFORM parameters by name.
        analog_units: unit text of each channel.
        events: gait events on the time axis whose 0 is frame 0.
        processing: numbers of the PROCESSING group by name without spaces, in the file's units.
        subject_names: SUBJECTS:NAMES, free text that may name a person: never to be printed or stored.
        label_notes: what is to be said about the labels, as which of two of a name is taken.
    """

    labels: list[str]
    markers: Array
    marker_rate_hz: float
    first_frame: int
    analog: Array
    analog_rate_hz: float
    length_unit_m: float
    force_platform: Mapping[str, Any]
    analog_units: list[str]
    events: list[Event]
    processing: Mapping[str, float]
    subject_names: list[str]
    label_notes: list[str] = field(default_factory=list)


def read_c3d(path: Path, *, subject: str = "", participant: str = "") -> Recording:
    """Read a C3D file.

    Args:
        path: the file.
        subject, participant: whose markers are meant where it holds several people's, see
            :func:`pipeline.labels.markers_of`.

    Raises:
        UserError: absent, not a C3D file, shorter than its header says, without markers, or of several subjects.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file; correct trials.tsv or restore the file")
    _refuse_short_file(path)
    try:
        content = ezc3d.c3d(str(path))
    except Exception as error:  # ezc3d raises whatever its C++ code throws
        said = " ".join(str(error).split()).split(" If you want to ignore")[0].rstrip(".")
        raise UserError(f"{path}: not readable as C3D ({said}); export it again") from None
    parameters = {
        group: {name: entry["value"] for name, entry in entries.items() if name != "__METADATA__"}
        for group, entries in content["parameters"].items()
    }
    point, header = parameters["POINT"], content["header"]
    rate = float(header["points"]["frame_rate"])
    points = content["data"]["points"]
    if not points.size or rate <= 0:
        raise UserError(f"{path}: holds no marker frames; exclude it in trials.tsv or export it again")
    unit = _first(point.get("UNITS"), "mm").strip().lower()
    if unit not in LENGTH_UNITS_M:
        raise UserError(f"{path}: POINT:UNITS is '{unit}', expected one of {', '.join(LENGTH_UNITS_M)}")
    subjects = [str(text) for text in parameters.get("SUBJECTS", {}).get("NAMES", [])]
    filled = (np.isfinite(points[:3]) & (points[:3] != 0)).any(axis=(0, 2))
    try:
        found, notes = markers_of(point, subjects, list(filled), subject=subject, participant=participant)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    kept = [marker.column for marker in found]
    markers = np.moveaxis(points[:3, kept], 0, 2).transpose(1, 0, 2) * LENGTH_UNITS_M[unit]
    markers[(markers == 0).all(axis=-1) | ~(np.abs(markers) < 1e3).all(axis=-1)] = np.nan
    return Recording(
        labels=[marker.name for marker in found],
        markers=markers,
        marker_rate_hz=rate,
        first_frame=int(header["points"]["first_frame"]),
        analog=_analog(content["data"]["analogs"], parameters),
        analog_rate_hz=float(header["analogs"]["frame_rate"]),
        length_unit_m=LENGTH_UNITS_M[unit],
        force_platform=parameters.get("FORCE_PLATFORM", {}),
        analog_units=[str(text) for text in parameters.get("ANALOG", {}).get("UNITS", [])],
        events=_events(parameters.get("EVENT", {}), owner=max((marker.owner for marker in found), default="")),
        processing=_processing(parameters.get("PROCESSING", {})),
        subject_names=subjects,
        label_notes=notes,
    )


def _analog(values: Array, parameters: Mapping[str, Mapping[str, Any]]) -> Array:
    """Return the channels (sample, channel) as scaled by the file.

    Where the file stores integers (POINT:SCALE positive) and ANALOG:FORMAT says UNSIGNED, ezc3d 1.7.2 takes the
    counts for signed ones: from 32768 on they come 65536 too low.
    """
    if not values.size:
        return np.empty((0, 0))
    analog: Array = values[0].T
    group = parameters.get("ANALOG", {})
    unsigned = _first(group.get("FORMAT"), "").strip().upper() == "UNSIGNED"
    if not unsigned or float(_first(parameters["POINT"].get("SCALE"), "-1")) <= 0:
        return analog
    channels = analog.shape[1]
    scale, offset = np.ones(channels), np.zeros(channels)
    for target, name in ((scale, "SCALE"), (offset, "OFFSET")):
        stated = np.ravel(group.get(name, ()))[:channels]
        target[: len(stated)] = stated
    scale *= float(_first(group.get("GEN_SCALE"), "1"))
    offset %= 65536
    counts = np.rint(analog / np.where(scale == 0, np.inf, scale) + offset) % 65536
    return np.asarray((counts - offset) * scale)


def _first(values: Any, default: str) -> str:
    return str(values[0]) if values is not None and len(values) else default


def _events(event: Mapping[str, Any], *, owner: str = "") -> list[Event]:
    """Return the events of one subject: times are minutes and seconds, sides stand in CONTEXTS or in the label.

    Some files store the pairs of minutes and seconds as one row. Events of other subjects than the markers'
    ``owner`` are left out where EVENT:SUBJECTS names it.
    """
    labels = [str(label).strip() for label in event.get("LABELS", [])]
    contexts = [str(context).strip().lower()[:1] for context in event.get("CONTEXTS", [])]
    subjects = [str(name).strip() for name in event.get("SUBJECTS", [])]
    times = np.asarray(event.get("TIMES", []), dtype=float)
    if times.ndim == 1:
        times = times[: len(times) // 2 * 2].reshape(-1, 2).T
    if times.ndim != 2 or len(times) < 2 or not labels:
        return []
    contexts += [""] * (len(labels) - len(contexts))
    subjects = (subjects if owner in subjects else []) + [owner] * len(labels)
    return [
        Event(float(second), label, {"l": "left", "r": "right"}.get(context, ""))
        for second, label, context, subject in zip(60 * times[0] + times[1], labels, contexts, subjects, strict=False)
        if subject == owner
    ]


def _processing(group: Mapping[str, Any]) -> dict[str, float]:
    numbers = {}
    for name, value in group.items():
        array = np.asarray(value)
        if array.size == 1 and array.dtype.kind in "iuf" and float(array.flat[0]):
            numbers[name.replace(" ", "")] = float(array.flat[0])
    return numbers


def _refuse_short_file(path: Path) -> None:
    """Compare the file's size with what its header promises: ezc3d reads a cut file as a shorter trial.

    Raises:
        UserError: not a C3D file, or cut off.
    """
    with path.open("rb") as handle:
        header = handle.read(BLOCK_BYTES)
        if len(header) < BLOCK_BYTES or header[1] != 0x50:
            raise UserError(f"{path}: not a C3D file (no C3D header); check the export")
        handle.seek(BLOCK_BYTES * (max(header[0], 1) - 1))
        processor = handle.read(4)[3:]
    order: Any = "big" if processor == b"\x56" else "little"
    word = [int.from_bytes(header[i : i + 2], order) for i in range(0, 24, 2)]
    points, analog, first, last, start = word[1], word[2], word[3], word[4], word[8]
    sign = {b"\x55": 13, b"\x56": 12}.get(processor, 15)  # the byte that holds the sign of the header's scale
    value_bytes = 4 if header[sign] & 0x80 else 2
    frames = last - first + 1
    if frames < 1:
        return  # a long file's last frame, 65535 here, is a lower bound: the count stands in parameters
    promised = BLOCK_BYTES * (start - 1) + frames * (4 * points + analog) * value_bytes
    size = path.stat().st_size
    if size < promised:
        raise UserError(f"{path}: cut off: {size} bytes, its header promises {promised}; copy or export it again")
