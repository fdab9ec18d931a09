"""C3D files written byte by byte, by the format's manual, independent of every reader."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.odd_files.walk import EVENTS, MARKER_HZ, PLATES, Event, Recorded

Value = Sequence[str] | Sequence[bytes] | NDArray[np.int16] | NDArray[np.float32] | NDArray[np.int8]
BLOCK, INTEL, LAST_IN_HEADER = 512, 84, 65535
PLATE_CHANNELS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")


def whole(*numbers: int) -> NDArray[np.int16]:
    """Return numbers of two bytes; those above 32,767 as their bits without a sign."""
    return np.array(numbers, np.int64).astype(np.uint16).view(np.int16)


def real(*numbers: float) -> NDArray[np.float32]:
    return np.array(numbers, np.float32)


@dataclass
class C3D:
    """The content of a C3D file.

    ``points`` (frame, point, 3) in the file's unit, NaN where hidden; ``analog`` (sample, channel) as stored, before
    any scale. ``groups`` has the parameters by group and name: texts, or numbers whose first dimension is the format's
    first. ``point_scale`` is positive where points are integers.
    """

    points: NDArray[np.float64]
    analog: NDArray[np.float64]
    marker_hz: float
    samples_per_frame: int
    groups: dict[str, dict[str, Value]]
    first_frame: int = 1
    point_scale: float = -1.0
    hidden_as: tuple[float, float] = (0.0, -1.0)  # coordinates and residual of a hidden marker
    seen_as: float = 0.0  # residual of the others
    analog_type: str = "<f4"
    padding: bytes = b" "
    header_first: int | None = None  # what the header says of the first and last frame, if not the truth
    header_last: int | None = None
    parameter_block: int = 2  # where the parameters begin, counted from 1
    groups_last: bool = False  # records of groups after those of the parameters
    locked: bool = False  # names have a negative length, which forbids changes
    description: bytes = b""  # of every group and parameter
    after: list[NDArray[np.float32]] = field(default_factory=list)  # after the data, from a block of its own

    def write(self, path: Path) -> None:
        """Write the file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        blocks = -(-len(self._parameters(0)) // BLOCK)
        data_block = self.parameter_block + blocks
        parameters = self._parameters(data_block).ljust(blocks * BLOCK, b"\0")
        header = self._header(data_block).ljust((self.parameter_block - 1) * BLOCK, b"\0")
        content = header + parameters + self._data()
        for extra in self.after:
            content += bytes(-len(content) % BLOCK) + extra.astype("<f4").tobytes()
        path.write_bytes(content)

    def _header(self, data_block: int) -> bytes:
        frames, points = self.points.shape[:2]
        first = self.first_frame if self.header_first is None else self.header_first
        last = self.first_frame + frames - 1 if self.header_last is None else self.header_last
        channels = self.analog.shape[1] * self.samples_per_frame
        ends = (min(number, LAST_IN_HEADER) for number in (first, last))
        header = struct.pack("<BB5H", self.parameter_block, 80, points, channels, *ends, 10)
        header += struct.pack("<fHHf", self.point_scale, data_block, self.samples_per_frame, self.marker_hz)
        return header.ljust(BLOCK, b"\0")

    def _parameters(self, data_block: int) -> bytes:
        starts = {"POINT": data_block, "ROTATION": data_block + len(self._data()) // BLOCK}
        records = []
        for number, (group, parameters) in enumerate(self.groups.items(), 1):
            records.append((group, -number, b""))
            for name, value in parameters.items():
                at = whole(starts[group]) if name == "DATA_START" else value
                records.append((name, number, self._parameter(at)))
        if self.groups_last:
            records.sort(key=lambda record: record[1], reverse=True)
        content = b""
        for name, number, body in records:
            content += struct.pack("bb", -len(name) if self.locked else len(name), number) + name.encode("latin-1")
            content += struct.pack("<H", len(body) + len(self.description) + 3) + body
            content += bytes([len(self.description)]) + self.description
        blocks = -(-(len(content) + 6) // BLOCK)
        return bytes([1, 80, blocks, INTEL]) + content + b"\0\0"

    def _parameter(self, value: Value) -> bytes:
        if isinstance(value, np.ndarray):
            shape = value.shape if value.shape != (1,) else ()
            data = value.ravel(order="F").astype(value.dtype.newbyteorder("<")).tobytes()
            return struct.pack("bB", value.dtype.itemsize, len(shape)) + bytes(shape) + data
        texts = [text.encode() if isinstance(text, str) else text for text in value]
        width = max((len(text) for text in texts), default=0)
        joined = b"".join(text.ljust(width, self.padding) for text in texts)
        return struct.pack("bB", -1, 2) + bytes([width, len(texts)]) + joined

    def _data(self) -> bytes:
        frames, points = self.points.shape[:2]
        value, residual = self.hidden_as
        rows = np.full((frames, points, 4), self.seen_as)
        rows[..., :3] = self.points
        rows[np.isnan(self.points).any(axis=2)] = [value, value, value, residual]
        kind = "<f4" if self.point_scale < 0 else "<i2"
        if self.point_scale > 0:
            rows[..., :3] = np.round(rows[..., :3] / self.point_scale)
        stored = self.analog if self.analog_type == "<f4" else np.round(self.analog)
        analog = stored.astype(self.analog_type).reshape(frames, -1)
        both = np.hstack([rows.astype(kind).reshape(frames, -1).view(np.uint8), analog.view(np.uint8)])
        data = both.tobytes()
        return data + bytes(-len(data) % BLOCK)


def plain(recorded: Recorded, *, mass_kg: float = 64.0, events: Sequence[Event] = ()) -> C3D:
    """Return a recording as Vicon writes it: millimetres, plates of type 2, events with contexts."""
    frames, count = recorded.markers.shape[:2]
    plates = recorded.readings.shape[1]
    per_frame = round(recorded.force_hz / recorded.marker_hz) if plates else 0
    analog = recorded.readings.reshape(len(recorded.readings), 6 * plates) * np.tile(np.repeat([1.0, 1e3], 3), plates)
    groups: dict[str, dict[str, Value]] = {
        "POINT": {
            "USED": whole(count), "SCALE": real(-1), "RATE": real(recorded.marker_hz), "DATA_START": whole(0),
            "FRAMES": whole(frames), "LABELS": list(recorded.labels), "DESCRIPTIONS": [""] * count, "UNITS": ["mm"],
            "X_SCREEN": ["+X"], "Y_SCREEN": ["+Z"],
        },
        "ANALOG": {"USED": whole(6 * plates), "RATE": real(recorded.force_hz if plates else 0)},
        "TRIAL": {"ACTUAL_START_FIELD": whole(1, 0), "ACTUAL_END_FIELD": whole(frames, 0)},
        "SUBJECTS": {"USED": whole(1), "NAMES": ["S01"]},
        "PROCESSING": {"Bodymass": real(mass_kg), "Height": real(1700)},
    }  # fmt: skip
    if plates:
        groups["ANALOG"] |= {
            "LABELS": [f"{name}{i + 1}" for i in range(plates) for name in PLATE_CHANNELS],
            "UNITS": ["N", "N", "N", "Nmm", "Nmm", "Nmm"] * plates,
            "GEN_SCALE": real(1), "SCALE": np.ones(6 * plates, np.float32), "OFFSET": np.zeros(6 * plates, np.int16),
        }  # fmt: skip
        groups["FORCE_PLATFORM"] = platform(plates)
    if events:
        groups["EVENT"] = events_group(events)
    return C3D(1e3 * recorded.markers, analog, recorded.marker_hz, per_frame, groups)


def platform(plates: int) -> dict[str, Value]:
    """Return the FORCE_PLATFORM group of the first plates."""
    used = PLATES[:plates]
    return {
        "USED": whole(plates), "TYPE": whole(*[2] * plates), "ZERO": whole(0, 0),
        "CORNERS": (1e3 * np.stack([plate.corners.T for plate in used], axis=-1)).astype(np.float32),
        "ORIGIN": np.array([[0, 0, -1e3 * plate.sensor_depth_m] for plate in used], np.float32).T,
        "CHANNEL": np.arange(1, 6 * plates + 1, dtype=np.int16).reshape(plates, 6).T,
    }  # fmt: skip


def events_group(events: Sequence[Event] = EVENTS, *, first_frame: int = 1) -> dict[str, Value]:
    """Return the EVENT group: minutes and seconds since frame 1 of the recording."""
    times = np.array([time + (first_frame - 1) / MARKER_HZ for time, _, _ in events])
    names = {"foot_strike": "Foot Strike", "foot_off": "Foot Off"}
    return {
        "USED": whole(len(events)),
        "CONTEXTS": [side.capitalize() for _, side, _ in events],
        "LABELS": [names[kind] for _, _, kind in events],
        "TIMES": np.stack([times // 60, times % 60]).astype(np.float32),
    }
