"""C3D encodings that ezc3d 1.7.2 cannot read, rewritten in pieces that it can.

- Big-endian numbers (processor type MIPS, of old workstations) and a real number in POINT:FRAMES: it refuses them.
- More than 65535 frames: it reads the first 65535 without a warning.
- POINT:USED larger than the number of points: it assigns coordinates to the wrong markers.

Source: Motion Lab Systems (2008) The C3D File Format User Guide.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from .integrity import BLOCK_BYTES, Header
from .records import INTEL, MIPS, Record, named, records

PIECE_FRAMES = 32767  # the largest signed 16-bit number


def pieces(content: bytes, header: Header) -> Iterator[bytes]:
    """Yield complete C3D files with consecutive parts of the frames, no rotations."""
    head, data = bytearray(content[: header.data_at]), content[header.data_at :][: header.frames * header.frame_bytes]
    start = BLOCK_BYTES * (max(head[0], 1) - 1)
    found = list(records(bytes(head[start:]), start, header.processor))
    parameters = named(iter(found))
    if header.processor == MIPS:
        _swap_bytes(head, start, found)
        data = np.frombuffer(data, ">u4" if header.scale < 0 else ">u2").byteswap().tobytes()
    if rotations := parameters.get(("ROTATION", "USED")):
        head[rotations.data_at : rotations.data_at + len(rotations.data)] = bytes(len(rotations.data))
    _write_integer(head, parameters["POINT", "USED"], header.points)
    counted = parameters.get(("POINT", "FRAMES"))
    if counted and counted.kind == 4:
        counted = _as_integer(head, counted)
    for begin in range(0, header.frames, PIECE_FRAMES):
        frames = min(PIECE_FRAMES, header.frames - begin)
        struct.pack_into("<2H", head, 6, 1, frames)
        if counted:
            _write_integer(head, counted, frames)
        yield bytes(head) + data[begin * header.frame_bytes : (begin + frames) * header.frame_bytes]


def _swap_bytes(head: bytearray, start: int, found: list[Record]) -> None:
    """Swap the bytes of all numbers of header, parameters and links, in place."""
    head[start + 3] = INTEL
    places = [(2, 2, 5), (12, 4, 1), (16, 2, 2), (20, 4, 1)]  # in the header: byte, size, count
    places += [(record.link_at, 2, 1) for record in found]
    places += [(record.data_at, record.kind, len(record.data) // record.kind) for record in found if record.kind > 1]
    for at, size, count in places:
        numbers = np.frombuffer(bytes(head[at : at + size * count]), f"u{size}")
        head[at : at + size * count] = numbers.byteswap().tobytes()


def _write_integer(head: bytearray, record: Record, value: int) -> None:
    if record.kind == 2:  # ezc3d refuses other types
        struct.pack_into("<H", head, record.data_at, value)


def _as_integer(head: bytearray, record: Record) -> Record:
    """Make a real number an integer in place; its description takes the free bytes."""
    at, length = record.data_at, head[record.data_at + 4]
    head[record.link_at + 2] = 2
    head[at + 2 : at + 5] = bytes([length + 2]) + b"  "
    return record._replace(kind=2)
