"""Byte-wise changes of Intel C3D files, independent of the pipeline's parser."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

INTEL, DEC, MIPS = 84, 85, 86


class Place(NamedTuple):
    """Places of a record of an Intel file: its first byte, its link to the next, its type, its numbers."""

    name: str
    at: int
    link_at: int
    kind: int = 0
    shape: tuple[int, ...] = ()
    data_at: int = 0


def places(content: bytes) -> Iterator[Place]:
    at = 512 * (content[0] - 1) + 4
    while content[at]:
        link_at = at + 2 + abs(struct.unpack_from("b", content, at)[0])
        name = content[at + 2 : link_at].decode()
        (link,) = struct.unpack_from("<H", content, link_at)
        if content[at + 1] > 127:
            yield Place(name, at, link_at)
        else:
            kind, dimensions = struct.unpack_from("bB", content, link_at + 2)
            shape = tuple(content[link_at + 4 : link_at + 4 + dimensions])
            yield Place(name, at, link_at, kind, shape, link_at + 4 + dimensions)
        if not link:
            return
        at = link_at + link


def place(content: bytes, group: str, name: str) -> Place:
    """Return the place of a parameter."""
    found = list(places(content))
    number = next(256 - content[record.at + 1] for record in found if record.kind == 0 and record.name == group)
    return next(record for record in found if record.name == name and content[record.at + 1] == number)


def put(content: bytes, group: str, name: str, form: str, *values: float) -> bytes:
    """Return the file with other numbers in a parameter."""
    changed = bytearray(content)
    struct.pack_into(form, changed, place(content, group, name).data_at, *values)
    return bytes(changed)


def put_header(content: bytes, at: int, form: str, *values: float) -> bytes:
    """Return the file with other numbers in its header, at a byte counted from 0."""
    changed = bytearray(content)
    struct.pack_into(form, changed, at, *values)
    return bytes(changed)


def inserted(content: bytes, group: str, name: str, form: str, shape: tuple[int, ...], *values: float) -> bytes:
    """Return the file with one more parameter, in an existing or a new group; ``form`` as in struct."""
    groups = {record.name: 256 - content[record.at + 1] for record in places(content) if record.kind == 0}
    number = groups.get(group, max(groups.values()) + 1)
    data = struct.pack(form, *values)
    body = struct.pack("bB", len(data) // math.prod(shape), len(shape)) + bytes(shape) + data + b"\0"
    new = struct.pack("bb", len(name), number) + name.encode() + struct.pack("<H", len(body) + 2) + body
    if group not in groups:
        new += struct.pack("bb", len(group), -number) + group.encode() + struct.pack("<HB", 3, 0)
    first, start = 512 * (content[0] - 1) + 4, data_at(content)
    section = content[:first] + new + content[first:start]
    section += bytes(-len(section) % 512)
    block = len(section) // 512 + 1
    return put(put_header(section + content[start:], 16, "<H", block), "POINT", "DATA_START", "<H", block)


def data_at(content: bytes) -> int:
    return 512 * (int(struct.unpack_from("<H", content, 16)[0]) - 1)


def converted(content: bytes, processor: int) -> bytes:
    """Convert an Intel file to one of a DEC or MIPS machine."""
    changed = bytearray(content)
    changed[512 * (content[0] - 1) + 3] = processor
    start = data_at(content)
    real_data = struct.unpack_from("<f", content, 12)[0] < 0

    def turn(at: int, kind: int, count: int) -> None:
        size = kind * count
        changed[at : at + size] = _numbers(content[at : at + size], kind, processor)

    for at, kind, count in ((2, 2, 5), (12, 4, 1), (16, 2, 2), (20, 4, 1)):
        turn(at, kind, count)
    for record in places(content):
        turn(record.link_at, 2, 1)
        if record.kind > 1:
            turn(record.data_at, record.kind, math.prod(record.shape))
    kind = 4 if real_data else 2
    turn(start, kind, (len(content) - start) // kind)
    return bytes(changed)


def _numbers(content: bytes, kind: int, processor: int) -> bytes:
    if kind == 2:
        return np.frombuffer(content, "<u2").astype("<u2" if processor == DEC else ">u2").tobytes()
    values = np.frombuffer(content, "<f4")
    if processor == MIPS:
        return values.astype(">f4").tobytes()
    words = (4 * values).astype("<f4").view("<u2").reshape(-1, 2)  # DEC: exponent 2 higher, words exchanged
    return words[:, ::-1].tobytes()
