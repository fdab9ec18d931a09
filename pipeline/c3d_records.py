"""The bytes of a C3D file before anything parses them: header, parameter records, promised size.

Parsers trust these bytes: damaged ones make ezc3d crash, hang or take all memory, and a file that is cut off within its
data reads as a shorter trial. So header and parameter records are walked here first, and nothing else is read.

Source: Motion Lab Systems (2008) The C3D File Format User Guide.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pipeline.errors import UserError

BLOCK_BYTES = 512
INTEL, DEC, MIPS = 84, 85, 86
PROCESSORS = (INTEL, DEC, MIPS)
TYPES = {-1: "text", 1: "byte", 2: "integer", 4: "real"}
MOST_DIMENSIONS = 7
UNKNOWN_COUNT = 65535  # the largest that the header's words can say: a longer file states its length in parameters


class Header(NamedTuple):
    """What the first block says: counts, the numbers of the first and last frame, block where the data start."""

    points: int
    analog_per_frame: int
    first: int
    last: int
    data_block: int
    scale: float
    rate_hz: float


class Record(NamedTuple):
    """A parameter: its group's id, name, type (of :data:`TYPES`), dimensions and raw bytes."""

    group: int
    name: str
    kind: int
    shape: tuple[int, ...]
    data: bytes


def refuse_damaged(path: Path) -> Header:
    """Walk header and parameter records, and compare the file's size with what they promise.

    Raises:
        UserError: not a C3D file, damaged at the byte, record or parameter named, or cut off.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        first = file.read(BLOCK_BYTES)
        if len(first) < BLOCK_BYTES or first[1] != 0x50:
            raise UserError(f"{path}: not a C3D file (no C3D header); check the export")
        start = BLOCK_BYTES * (max(first[0], 1) - 1)
        file.seek(start)
        section = file.read(4)
        if len(section) < 4:
            raise UserError(f"{path}: cut off: {size} bytes, its parameters begin at {start}; copy or export it again")
        try:
            header = _header(first, section[3])
            # the count of parameter blocks is one byte, and wrong in long sections: the data end them
            end = BLOCK_BYTES * (header.data_block - 1)
            end = end if start < end < size else size
            file.seek(start)
            parameters = _named(_records(file.read(end - start), start, little=section[3] != MIPS))
            promised = _promised(header, parameters, processor=section[3])
        except _DamagedError as error:
            raise UserError(f"{path}: damaged: {error}; copy or export it again") from None
    if size < promised:
        raise UserError(f"{path}: cut off: {size} bytes, its header promises {promised}; copy or export it again")
    return header


class _DamagedError(Exception):
    """What is wrong, and at which byte, record or parameter."""


def _header(block: bytes, processor: int) -> Header:
    if processor not in PROCESSORS:
        raise _DamagedError(f"processor type {processor} in byte 4 of the parameters, expected 84, 85 or 86")
    order = ">" if processor == MIPS else "<"
    points, analog, first, last = struct.unpack(f"{order}4H", block[2:10])
    (data_block,) = struct.unpack(f"{order}H", block[16:18])
    scale, rate_hz = (_real(block[at : at + 4], processor) for at in (12, 20))
    header = Header(points, analog, first, last, data_block, scale, rate_hz)
    for name, value, at in (("scale", header.scale, 13), ("frame rate", header.rate_hz, 21)):
        if not math.isfinite(value) or value == 0 or (name == "frame rate" and value < 0):
            raise _DamagedError(f"{name} {value:g} in byte {at} of the header")
    return header


def _real(four: bytes, processor: int) -> float:
    """Return a real number: IEEE of either order, or DEC's, whose words are exchanged and exponent is 2 higher."""
    if processor == DEC:
        return float(struct.unpack("<f", four[2:] + four[:2])[0]) / 4
    return float(struct.unpack("<f" if processor == INTEL else ">f", four)[0])


def _records(section: bytes, start: int, *, little: bool) -> Iterator[Record | tuple[int, str]]:
    """Walk the parameter section: groups as their id and name, parameters as records."""
    order = "<" if little else ">"
    at = 4
    while at + 2 <= len(section):
        length, number = struct.unpack("bb", section[at : at + 2])
        if length == 0 or number == 0:
            return
        name_end = at + 2 + abs(length)
        name = section[at + 2 : name_end].decode("latin-1").strip()
        where = f"'{name}' at byte {start + at}" if name.isprintable() else f"at byte {start + at}"
        if name_end + 2 > len(section):
            raise _DamagedError(f"the record {where} runs beyond the parameters")
        (step,) = struct.unpack(f"{order}H", section[name_end : name_end + 2])  # to the next record; 0 ends them
        after = name_end + step if step else len(section)
        if after > len(section):
            raise _DamagedError(f"the record {where} points beyond the parameters, to byte {start + after}")
        yield (-number, name) if number < 0 else _parameter(number, name, section[name_end + 2 : after], where)
        if not step:
            return
        if step < 3:
            raise _DamagedError(f"the record {where} is shorter than a record can be")
        at = after
    raise _DamagedError("the parameters have no end")


def _parameter(group: int, name: str, body: bytes, where: str) -> Record:
    if len(body) < 2:
        raise _DamagedError(f"the parameter {where} is cut short")
    kind, dimensions = struct.unpack("bB", body[:2])
    if kind not in TYPES or dimensions > MOST_DIMENSIONS:
        raise _DamagedError(f"the parameter {where} is of type {kind} with {dimensions} dimensions")
    shape = tuple(body[2 : 2 + dimensions])
    count = abs(kind) * math.prod(shape)
    text_at = 2 + dimensions + count
    if len(shape) < dimensions or text_at >= len(body) or text_at + 1 + body[text_at] > len(body):
        raise _DamagedError(f"the parameter {where} promises more bytes than its record holds")
    return Record(group, name, kind, shape, body[2 + dimensions : text_at])


def _named(records: Iterator[Record | tuple[int, str]]) -> dict[tuple[str, str], Record]:
    """Return the parameters by group and name, in capitals; some programs write a few that belong to no group."""
    groups: dict[int, str] = {}
    found = []
    for record in records:
        if isinstance(record, Record):
            found.append(record)
        else:
            number, name = record
            if number in groups:
                raise _DamagedError(f"the groups '{groups[number]}' and '{name}' have one number, {number}")
            groups[number] = name
    return {(groups.get(record.group, "").upper(), record.name.upper()): record for record in found}


def _refuse_without_needed(parameters: dict[tuple[str, str], Record], *, analog: bool) -> None:
    """Refuse where a number is absent or empty without which the data cannot be read."""
    needed = [("POINT", name) for name in ("USED", "SCALE", "FRAMES", "DATA_START")]
    needed += [("ANALOG", name) for name in ("USED", "GEN_SCALE", "SCALE", "OFFSET")] if analog else []
    for group, name in needed:
        if (group, name) not in parameters or not parameters[group, name].data:
            raise _DamagedError(f"the parameter {group}:{name} is missing or empty")


def _promised(header: Header, parameters: dict[tuple[str, str], Record], *, processor: int) -> int:
    """Return how many bytes header and parameters promise."""

    def number(group: str, name: str) -> float | None:
        record = parameters.get((group, name))
        if record is None or not record.data or abs(record.kind) not in (1, 2, 4):
            return None
        if record.kind == 4:
            return _real(record.data[:4], processor)
        return int.from_bytes(record.data[: abs(record.kind)], "big" if processor == MIPS else "little")

    _refuse_without_needed(parameters, analog=header.analog_per_frame > 0)
    for name, stated in (("USED", header.points), ("SCALE", header.scale)):
        value = number("POINT", name)
        if value is not None and value != stated:
            raise _DamagedError(f"POINT:{name} is {value:g}, the header says {stated:g}")
    frames = header.last - header.first + 1
    if header.last == UNKNOWN_COUNT:
        frames = max(frames, int(number("POINT", "FRAMES") or 0))
    if frames < 1:
        raise _DamagedError(f"the header counts frames from {header.first} to {header.last}")
    value_bytes = 4 if header.scale < 0 else 2
    return BLOCK_BYTES * (header.data_block - 1) + frames * (4 * header.points + header.analog_per_frame) * value_bytes
