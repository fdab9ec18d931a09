"""Rare forms of C3D files rewritten as those that ezc3d 1.7.2 reads, in pieces.

It refuses numbers with their first byte first (processor type MIPS, of old workstations) and frames counted by a real
number. Of a trial of more than 65535 frames it reads 65535 without a word, and where POINT:USED counts more points than
there are, it takes one's coordinates for the next one's.

Source: Motion Lab Systems (2008) The C3D File Format User Guide.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from .integrity import BLOCK_BYTES, Header
from .records import INTEL, MIPS, Record, named, records

PIECE_FRAMES = 32767  # the most that a signed word holds


def pieces(content: bytes, header: Header) -> Iterator[bytes]:
    """Return files of a part of the frames each, in order; what else the file says is in all of them.

    Rotations are left out.
    """
    head, data = bytearray(content[: header.data_at]), content[header.data_at :][: header.frames * header.frame_bytes]
    start = BLOCK_BYTES * (max(head[0], 1) - 1)
    found = list(records(bytes(head[start:]), start, header.processor))
    parameters = named(iter(found))
    if header.processor == MIPS:
        _turn(head, start, found)
        data = np.frombuffer(data, ">u4" if header.scale < 0 else ">u2").byteswap().tobytes()
    if rotations := parameters.get(("ROTATION", "USED")):
        head[rotations.data_at : rotations.data_at + len(rotations.data)] = bytes(len(rotations.data))
    _put(head, parameters["POINT", "USED"], header.points)
    counted = parameters.get(("POINT", "FRAMES"))
    if counted and counted.kind == 4:
        counted = _made_integer(head, counted)
    for begin in range(0, header.frames, PIECE_FRAMES):
        frames = min(PIECE_FRAMES, header.frames - begin)
        struct.pack_into("<2H", head, 6, 1, frames)
        if counted:
            _put(head, counted, frames)
        yield bytes(head) + data[begin * header.frame_bytes : (begin + frames) * header.frame_bytes]


def _turn(head: bytearray, start: int, found: list[Record]) -> None:
    """Turn the bytes of every number round, in place: of the header, of the parameters and of the links between."""
    head[start + 3] = INTEL
    places = [(2, 2, 5), (12, 4, 1), (16, 2, 2), (20, 4, 1)]  # of the header: byte, size, count
    places += [(record.link_at, 2, 1) for record in found]
    places += [(record.data_at, record.kind, len(record.data) // record.kind) for record in found if record.kind > 1]
    for at, size, count in places:
        numbers = np.frombuffer(bytes(head[at : at + size * count]), f"u{size}")
        head[at : at + size * count] = numbers.byteswap().tobytes()


def _put(head: bytearray, record: Record, value: int) -> None:
    if record.kind == 2:  # ezc3d refuses others
        struct.pack_into("<H", head, record.data_at, value)


def _made_integer(head: bytearray, record: Record) -> Record:
    """Make a real number an integer in place; the two bytes that are left over go to its description."""
    at, length = record.data_at, head[record.data_at + 4]
    head[record.link_at + 2] = 2
    head[at + 2 : at + 5] = bytes([length + 2]) + b"  "
    return record._replace(kind=2)
