"""Checks of a C3D file's bytes before it is parsed: header, parameter records, file size.

Damaged files make ezc3d crash, hang or use all memory; one cut off within its data reads as a shorter trial. These
checks refuse them and read nothing else. Messages quote bytes, records and standard parameters, never other text of
the file, which may name a person.

Source: Motion Lab Systems (2008) The C3D File Format User Guide.
"""

import functools
import math
import struct
from pathlib import Path
from typing import NamedTuple

from ..errors import UserError
from .records import DEC, INTEL, MIPS, DamagedError, Parameters, real, records

BLOCK_BYTES = 512
PROCESSORS = (INTEL, DEC, MIPS)
LARGEST_SECTION_BYTES = 4 << 20  # the largest of the real files has 54 kB
LARGEST_SAMPLES = 10_000  # per frame, in files without channels
RATE_TOLERANCE = 0.01  # the header's rate may be rounded
HEADER_EVENTS, MOST_HEADER_EVENTS = 12345, 18  # the key of events with labels of four letters
LARGEST_HEADER_COUNT = 65535  # frames; longer files state their length in parameters
ROTATION_VALUES = 17  # a 4 x 4 matrix and its reliability, per rotation and sample
NUMBERS = {
    "POINT": ("USED", "SCALE", "RATE", "FRAMES", "DATA_START"),
    "ANALOG": ("USED", "GEN_SCALE", "RATE"),
    "ROTATION": ("USED", "DATA_START", "RATIO", "RATE"),
}
COPY_AGAIN = "copy or export it again"


class Header(NamedTuple):
    """The first block, with ``first`` and ``frames`` from parameters if too large.

    ``needs_rewriting``: ezc3d 1.7.2 cannot read the file correctly, see :mod:`pipeline.c3d.encodings`.
    """

    processor: int
    points: int
    analog_per_frame: int
    first: int
    last: int
    data_block: int
    scale: float
    rate_hz: float
    frames: int = 0
    needs_rewriting: bool = False
    events: int = 0  # in the header itself
    counts_plates: bool = True  # whether there is FORCE_PLATFORM:USED; ezc3d 1.7.2 makes it 0 if there is not
    renamed: tuple[str, ...] = ()  # parameters with their standard names, such as ``ANALOG:OFFSETS as OFFSET``

    @property
    def data_at(self) -> int:
        """Return the byte at which the data begin."""
        return BLOCK_BYTES * (self.data_block - 1)

    @property
    def frame_bytes(self) -> int:
        """Return the size of one frame: its points, then its analog values."""
        return (4 * self.points + self.analog_per_frame) * (4 if self.scale < 0 else 2)


def refuse_damaged(path: Path) -> Header:
    """Return the header of a C3D file; refuse a file by header, parameter records and size, and name the damage."""
    now = path.stat()
    return _refuse_damaged(path, now.st_size, (now.st_mtime_ns, now.st_ctime_ns, now.st_ino))


@functools.lru_cache(maxsize=2)  # a file is checked when it is parsed ahead, and again when it is read
def _refuse_damaged(path: Path, size: int, _: tuple[int, ...]) -> Header:
    with path.open("rb") as file:
        block = file.read(BLOCK_BYTES)
        if len(block) < BLOCK_BYTES or block[1] != 0x50:
            raise UserError(str(path), "not a C3D file (no C3D header)", "check the export")
        start = BLOCK_BYTES * (max(block[0], 1) - 1)
        file.seek(start)
        section = file.read(4)
        if len(section) < 4:
            raise UserError(str(path), f"cut off: {size} bytes, its parameters begin at {start}", COPY_AGAIN)
        try:
            header = _header(block, section[3])
            file.seek(start)
            # the section ends where the data begin: its length in blocks is one byte, too small for long sections
            end = header.data_at if start < header.data_at < size else size
            section = file.read(min(end - start, LARGEST_SECTION_BYTES))
            parameters = Parameters(records(section, start, header.processor), header.processor)
            # beyond 65535 the header holds the first frame's number or that modulo 65536
            first, most = parameters.number("TRIAL", "ACTUAL_START_FIELD"), LARGEST_HEADER_COUNT
            beyond = math.isfinite(first) and first > most and header.first in (most, first % (most + 1))
            first = int(first) if beyond else header.first
            header = header._replace(frames=_frames(header, parameters, size), first=first)
            promised = _compute_size(header, parameters, size)
            counted, points = parameters.get(("POINT", "FRAMES")), parameters.number("POINT", "USED")
            is_real = counted is not None and counted.kind == 4
            unlike = header.processor == MIPS or header.frames > most or is_real or points != header.points
            header = header._replace(
                needs_rewriting=unlike or header_alone(header, parameters, size) or bool(parameters.renamed),
                counts_plates=("FORCE_PLATFORM", "USED") in parameters,
                renamed=tuple(f"{group}:{name} as {other}" for (group, name), other in parameters.renamed.items()),
            )
        except DamagedError as error:
            raise UserError(str(path), f"damaged: {error}", COPY_AGAIN) from None
    if size < promised:
        raise UserError(str(path), f"cut off: {size} bytes, its header promises {promised}", COPY_AGAIN)
    return header


def _header(block: bytes, processor: int) -> Header:
    if processor not in PROCESSORS:
        raise DamagedError(f"processor type {processor} in byte 4 of the parameters, expected 84, 85 or 86")
    order = ">" if processor == MIPS else "<"
    points, analog, first, last = struct.unpack(f"{order}4H", block[2:10])
    (data_block,) = struct.unpack(f"{order}H", block[16:18])
    scale, rate_hz = (real(block[at : at + 4], processor) for at in (12, 20))
    if not math.isfinite(scale) or scale == 0:
        raise DamagedError(f"scale {scale:g} in byte 13 of the header")
    if not math.isfinite(rate_hz) or rate_hz < 0:
        raise DamagedError(f"frame rate {rate_hz:g} in byte 21 of the header")
    key, events = struct.unpack(f"{order}2H", block[298:302])
    events = events if key == HEADER_EVENTS and events <= MOST_HEADER_EVENTS else 0
    return Header(processor, points, analog, first, last, data_block, scale, rate_hz, events=events)


def _frames(header: Header, parameters: Parameters, size: int) -> int:
    """Return the number of frames.

    If it exceeds 65535, the header holds the last frame as 65535 or modulo 65536, and one of POINT:FRAMES (as a real
    number), POINT:LONG_FRAMES and TRIAL:ACTUAL_END_FIELD gives the count.
    """

    def count(group: str, name: str) -> int:
        value = parameters.number(group, name)
        return int(value) if math.isfinite(value) else 0

    most = LARGEST_HEADER_COUNT
    frames, counted = header.last - header.first + 1, count("POINT", "FRAMES")
    trial = count("TRIAL", "ACTUAL_END_FIELD") - count("TRIAL", "ACTUAL_START_FIELD") + 1
    for stated in (counted, count("POINT", "LONG_FRAMES"), trial):
        if stated > most and (header.last == most or (stated - frames) % (most + 1) == 0):
            return stated
    if header.last == most:
        frames = max(frames, counted)
        left = size - header.data_at - frames * header.frame_bytes
        if left >= BLOCK_BYTES + header.frame_bytes and not count("ROTATION", "USED"):
            raise DamagedError(f"no parameter states more than the {frames} frames that the header can count, but "
                                f"{left} bytes follow these")  # fmt: skip
    if frames < 1:
        raise DamagedError(f"the header counts frames from {header.first} to {header.last}")
    if counted not in (0, frames):
        raise DamagedError(f"POINT:FRAMES is {counted}, the header counts {frames} frames")
    return frames


def header_alone(header: Header, parameters: Parameters, size: int) -> bool:
    """Return whether the header accounts for every byte of the data and the parameters, as ezc3d takes them, do not.

    BTS omits POINT:SCALE and the rates. Others state ANALOG:RATE as the converter had it, not as a multiple of the
    frames: 1000 of 60 frames, of which the file holds 17 samples each. Rates such as 119.88 and 1198.8 Hz are rounded
    to single precision, which leaves 9.9999999 samples a frame, and ezc3d drops what follows the point. That error is
    far below the third digit, to which the number is rounded here.
    """

    def fits(values: float) -> bool:
        end = header.data_at + header.frames * values * (4 if header.scale < 0 else 2)
        return 0 <= size - end <= BLOCK_BYTES  # the last block is filled; some programs add one where it is full

    number = parameters.number
    without_scale = ("POINT", "SCALE") not in parameters
    channels, rate_hz = number("ANALOG", "USED"), number("POINT", "RATE") or header.rate_hz or math.inf
    whole = number("POINT", "USED") == header.points and fits(4 * header.points + header.analog_per_frame)
    per_frame = number("ANALOG", "RATE") / rate_hz
    if not whole or not math.isfinite(per_frame) or header.analog_per_frame % (channels or math.inf):
        return False
    counted, rounded = channels * int(per_frame), channels * round(per_frame, 3)
    other = rounded == header.analog_per_frame or not fits(4 * header.points + counted)
    return without_scale or (counted != header.analog_per_frame and other)


def _compute_size(header: Header, parameters: Parameters, size: int) -> int:
    """Return the file size by header and parameters, after checking their agreement.

    The header's number of points may differ from POINT:USED if the file has exactly the size that it gives.
    """
    number = parameters.number
    alone = header_alone(header, parameters, size)
    _refuse_without_numbers(parameters, analog=header.analog_per_frame > 0, scale=not alone)
    ends = [header.data_at + header.frames * header.frame_bytes]
    fits = 0 <= size - ends[0] <= BLOCK_BYTES
    for name, in_header in (("USED", header.points), ("SCALE", header.scale), ("DATA_START", header.data_block)):
        value = number("POINT", name)
        real_data = name == "SCALE" and max(value, in_header) < 0  # no scale applies to real numbers
        ignored = real_data or (name == "USED" and fits) or (alone and ("POINT", name) not in parameters)
        if value != in_header and not ignored and (name != "DATA_START" or value):
            raise DamagedError(f"POINT:{name} is {value:g}, the header says {in_header:g}")
    rate_hz = number("POINT", "RATE") or header.rate_hz
    if not abs(rate_hz - (header.rate_hz or rate_hz)) <= RATE_TOLERANCE * rate_hz:
        raise DamagedError(f"POINT:RATE is {rate_hz:g}, the header says {header.rate_hz:g}")
    samples = number("ANALOG", "RATE") / (rate_hz or math.inf)  # per frame; the parser allocates all of them
    most = header.analog_per_frame / (number("ANALOG", "USED") or math.inf) + 1
    if not alone and not 0 <= samples <= (most if header.analog_per_frame else LARGEST_SAMPLES):
        raise DamagedError(
            f"ANALOG:RATE is {number('ANALOG', 'RATE'):g}, the header counts {header.analog_per_frame} analog values "
            "per frame"
        )
    if rotations := number("ROTATION", "USED"):
        ratio = number("ROTATION", "RATIO") or number("ROTATION", "RATE") / (rate_hz or 1.0)
        start = BLOCK_BYTES * (number("ROTATION", "DATA_START") - 1)
        end = start + 4 * ROTATION_VALUES * header.frames * rotations * ratio
        if not math.isfinite(end):
            raise DamagedError("one of ROTATION:USED, DATA_START, RATIO and RATE is no number")
        ends.append(int(end))
    return max(ends)


def _refuse_without_numbers(parameters: Parameters, *, analog: bool, scale: bool) -> None:
    """Refuse needed parameters that are missing and numeric ones without numbers."""
    needed = [("POINT", name) for name in ("USED", "SCALE") if scale or name == "USED"]
    needed += [("ANALOG", name) for name in ("USED", "SCALE", "OFFSET")] if analog else []
    for group, name in needed:
        if (group, name) not in parameters or not parameters[group, name].data:
            raise DamagedError(f"the parameter {group}:{name} is missing or empty")
    for group, names in NUMBERS.items():
        for name in names:
            record = parameters.get((group, name))
            if record and (record.kind == -1 or not record.data):
                raise DamagedError(f"the parameter {group}:{name} holds no number")
