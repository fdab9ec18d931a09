"""C3D encodings that ezc3d 1.7.2 cannot read, rewritten in pieces that it can.

- Big-endian numbers (processor type MIPS, of old workstations) and a real number in POINT:FRAMES: it refuses them.
- More than 65535 frames: it reads the first 65535 without a warning.
- POINT:USED larger than the number of points: it assigns coordinates to the wrong markers.
- POINT:SCALE or rates that are missing, or contradict a header that accounts for every byte: it reads out of step.
- A parameter with one letter s more or less than the standard has (ANALOG:OFFSETS): it takes it for another one.
- ANALOG:RATE / POINT:RATE that rounding leaves just below a whole number (119.88 and 1198.8 Hz): it takes one sample a
  frame too few.

Source: Motion Lab Systems (2008) The C3D File Format User Guide.
"""

import struct
from collections.abc import Iterator

import numpy as np

from .integrity import BLOCK_BYTES, Header, header_alone
from .records import DEC, INTEL, MIPS, DataRecord, Parameters, real_bytes, records

PIECE_FRAMES = 32767  # the largest signed 16-bit number


def pieces(content: bytes, header: Header) -> Iterator[bytes]:
    """Yield complete C3D files with consecutive parts of the frames, no rotations."""
    head, data = bytearray(content[: header.data_at]), content[header.data_at :][: header.frames * header.frame_bytes]
    start = BLOCK_BYTES * (max(head[0], 1) - 1)
    entries = list(records(bytes(head[start:]), start, header.processor))
    parameters = Parameters(entries, header.processor)
    numbers = _numbers_of(header, parameters) if header_alone(header, parameters, len(content)) else {}
    if header.processor == MIPS:
        _swap_bytes(head, start, entries)
        data = np.frombuffer(data, ">u4" if header.scale < 0 else ">u2").byteswap().tobytes()
    if rotations := parameters.get(("ROTATION", "USED")):
        head[rotations.data_at : rotations.data_at + len(rotations.data)] = bytes(len(rotations.data))
    _write_integer(head, parameters["POINT", "USED"], header.points)
    counted = parameters.get(("POINT", "FRAMES"))
    if counted and counted.kind == 4:  # a real number becomes an integer; its description takes the free bytes
        at, length = counted.data_at, head[counted.data_at + 4]
        head[counted.link_at + 2] = 2
        head[at + 2 : at + 5] = bytes([length + 2]) + b"  "
        counted = counted._replace(kind=2)
    for begin in range(0, header.frames, PIECE_FRAMES):
        frames = min(PIECE_FRAMES, header.frames - begin)
        struct.pack_into("<2H", head, 6, 1, frames)
        if counted:
            _write_integer(head, counted, frames)
        whole = _with_parameters(head, start, parameters, numbers, dec=header.processor == DEC)
        yield bytes(whole) + data[begin * header.frame_bytes : (begin + frames) * header.frame_bytes]


def _swap_bytes(head: bytearray, start: int, entries: list[DataRecord]) -> None:
    """Swap the bytes of all numbers of header, parameters and links, in place."""
    head[start + 3] = INTEL
    places = [(2, 2, 5), (12, 4, 1), (16, 2, 2), (20, 4, 1)]  # in the header: byte, size, count
    places += [(record.data_at, record.kind, len(record.data) // record.kind) for record in entries if record.kind > 1]
    for at, size, count in places:
        numbers = np.frombuffer(bytes(head[at : at + size * count]), f"u{size}")
        head[at : at + size * count] = numbers.byteswap().tobytes()
    for record in entries:
        struct.pack_into("<H", head, record.link_at, record.step)


def _numbers_of(header: Header, parameters: Parameters) -> dict[tuple[str, str], float]:
    """Return the parameters that the header stands for.

    ezc3d drops what follows the point of ANALOG:RATE / POINT:RATE, so the quotient is not below the count of samples.
    """
    rate_hz = np.float32(parameters.number("POINT", "RATE") or header.rate_hz)
    channels = parameters.number("ANALOG", "USED") or 1.0
    per_frame = header.analog_per_frame / channels
    analog_hz = np.float32(rate_hz * per_frame)
    if float(analog_hz) < float(rate_hz) * per_frame:
        analog_hz = np.nextafter(analog_hz, np.float32(np.inf))
    rates = {("POINT", "RATE"): float(rate_hz), ("ANALOG", "RATE"): float(analog_hz)}
    return {("POINT", "SCALE"): header.scale} | rates


def _with_parameters(
    head: bytearray, start: int, parameters: Parameters, numbers: dict[tuple[str, str], float], *, dec: bool
) -> bytearray:
    """Return header and parameters with standard names, and with these real numbers, in place or before the others."""
    head, added = head.copy(), b""
    for (group, name), value in numbers.items():
        record, four = parameters.get((group, name)), real_bytes(value, dec=dec)
        if record and record.kind == 4:
            head[record.data_at : record.data_at + 4] = four
        elif number := parameters.groups.get(group):
            added += struct.pack("bb", len(name), number) + name.encode() + b"\x09\0\x04\0" + four + b"\0"
    renamed = [(parameters[place], name) for place, name in parameters.renamed.items()]
    longer = len(added) + sum(len(name) - (record.link_at - record.at - 2) for record, name in renamed)
    if longer > 0:
        block = len(head) // BLOCK_BYTES + 2  # counted from 1
        struct.pack_into("<H", head, 16, block)
        if begin := parameters.get(("POINT", "DATA_START")):
            _write_integer(head, begin, block)
        head[start + 2] = min(head[start + 2] + 1, 255)
    for record, name in sorted(renamed, reverse=True, key=lambda pair: pair[0].at):  # from the last, so that none moves
        length = 256 - len(name) if head[record.at] > 127 else len(name)  # a negative length locks the record
        head[record.at : record.link_at] = bytes([length, record.number]) + name.encode()
    head[start + 4 : start + 4] = added
    return head + bytes(-len(head) % BLOCK_BYTES)


def _write_integer(head: bytearray, record: DataRecord, value: int) -> None:
    if record.kind == 2:  # ezc3d refuses other types
        struct.pack_into("<H", head, record.data_at, value)
