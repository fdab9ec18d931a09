"""Groups and parameters of a C3D file's parameter section.

Messages quote bytes, records and standard parameters, never other text of the file, which may name a person.

Source: Motion Lab Systems (2008) The C3D File Format User Guide.
"""

import math
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

INTEL, DEC, MIPS = 84, 85, 86  # processor types
BYTES_OF_TYPE = {-1: 1, 1: 1, 2: 2, 4: 4}  # text, byte, integer, real
MOST_GROUPS, MOST_DIMENSIONS, MOST_PASSES = 127, 7, 65535
STANDARD = """
POINT ANALOG FORCE_PLATFORM EVENT EVENT_CONTEXT TRIAL SUBJECTS PROCESSING ROTATION MANUFACTURER ANALYSIS
USED SCALE RATE FRAMES LONG_FRAMES DATA_START LABELS LABELS2 LABELS3 DESCRIPTIONS DESCRIPTIONS2 UNITS X_SCREEN Y_SCREEN
GEN_SCALE OFFSET FORMAT BITS GAIN RATIO TYPE TYPE_GROUPS ANGLES FORCES MOMENTS POWERS SCALARS ZERO CORNERS ORIGIN
CHANNEL CAL_MATRIX MOVIE_DELAY CONTEXTS TIMES NAMES ACTUAL_START_FIELD ACTUAL_END_FIELD
"""
NAMES = frozenset(STANDARD.split())
# names that mean the same with one letter s more or less; FRAME, of other programs, is no count of frames
EITHER = """
SCALE GEN_SCALE OFFSET RATE FORMAT LABELS DESCRIPTIONS UNITS TYPE CORNERS ORIGIN CHANNEL CAL_MATRIX CONTEXTS TIMES
"""
IN_ANY_NUMBER = frozenset(EITHER.split())
GROUPS_OF_DATA = ("POINT", "ANALOG", "FORCE_PLATFORM", "EVENT")
# in files of Vicon Clinical Manager, where a group named as the subject is PROCESSING
OLDER_PROCESSING = "LStaticPlantFlex"


class DataRecord(NamedTuple):
    """A group (negative number, kind 0) or a parameter, with places in the file; ``step`` links to the next record."""

    number: int
    name: str
    at: int
    link_at: int
    step: int
    kind: int = 0
    shape: tuple[int, ...] = ()
    data_at: int = 0
    data: bytes = b""


class DamagedError(Exception):
    """Damage of a C3D file, with its byte, record or parameter."""


def records(section: bytes, start: int, processor: int) -> Iterator[DataRecord]:
    """Yield the records of the parameter section that begins at byte ``start``."""
    link = ">H" if processor == MIPS else "<H"
    at = 4
    while at + 2 <= len(section):
        length, number = struct.unpack_from("bb", section, at)
        if length == 0 or number == 0:
            return
        link_at = at + 2 + abs(length)
        name = section[at + 2 : link_at].decode("latin-1").strip()
        if link_at + 2 > len(section):
            raise DamagedError(f"the record {_place(name, start + at)} runs beyond the parameters")
        (step,) = struct.unpack_from(link, section, link_at)  # to the next record; 0 ends them
        if processor == MIPS:
            step = _step_of_appended(section[link_at:], step, is_group=number < 0)
        after = link_at + step if step else len(section)
        if after > len(section):
            where = _place(name, start + at)
            raise DamagedError(f"the record {where} points beyond the parameters, to byte {start + after}")
        record, body = DataRecord(number, name, start + at, start + link_at, step), section[link_at + 2 : after]
        if number < 0 and (number < -MOST_GROUPS or not body or 1 + body[0] > len(body)):
            raise DamagedError(f"the group {_place(name, start + at)} has no number, or no end")
        yield record if number < 0 else _parameter(record, body)
        if not step:
            return
        at = after
    raise DamagedError("the parameters have no end")


def _place(name: str, at: int) -> str:
    """Return a record in words: by its name only if the standard has it, else by its byte."""
    return f"'{name}' at byte {at}" if name.upper() in NAMES else f"at byte {at}"


def _step_of_appended(rest: bytes, step: int, *, is_group: bool) -> int:
    """Return the length that a record has by its own content, if its little-endian link says so, else ``step``.

    Programs on PCs append such records, with texts or bytes, to big-endian files.
    """
    if is_group:
        description_at = 2
    elif len(rest) > 4 and rest[2] in (1, 0xFF):
        description_at = 4 + rest[3] + math.prod(rest[4 : 4 + rest[3]])
    else:
        return step
    length = description_at + 1 + int.from_bytes(rest[description_at : description_at + 1], "little")
    return length if length == int.from_bytes(rest[:2], "little") else step


def _parameter(record: DataRecord, body: bytes) -> DataRecord:
    """Return the record of a parameter, with what its body says; for some hundred of a file, so in few operations."""
    if len(body) < 2:
        raise DamagedError(f"the parameter {_place(record.name, record.at)} is cut short")
    kind, dimensions = struct.unpack_from("bB", body)
    if kind not in BYTES_OF_TYPE or dimensions > MOST_DIMENSIONS or (kind == -1 and not dimensions):
        where = _place(record.name, record.at)
        raise DamagedError(f"the parameter {where} is of type {kind} with {dimensions} dimensions")
    data_at = 2 + dimensions
    shape = tuple(body[2:data_at])
    values = passes = math.prod(shape)
    if not values:  # the parser's loops also pass through an empty table
        passes = math.prod([length or 1 for length in shape])
    data_end = data_at + BYTES_OF_TYPE[kind] * values
    if (
        len(shape) < dimensions
        or passes > MOST_PASSES
        or data_end >= len(body)
        or data_end + 1 + body[data_end] > len(body)
    ):
        where = _place(record.name, record.at)
        raise DamagedError(f"the parameter {where} promises more bytes than its record holds")
    number, name, at, link_at, step = record[:5]
    return DataRecord(number, name, at, link_at, step, kind, shape, link_at + 2 + data_at, body[data_at:data_end])


class Parameters(dict[tuple[str, str], DataRecord]):
    """The parameters of a file by group and name; the group may be empty.

    ``groups`` has the groups' numbers by name, ``renamed`` the standard name of those with another one, under
    both of which they are found.

    Raises:
        DamagedError: two groups have one number.
    """

    def __init__(self, entries: Iterable[DataRecord], processor: int) -> None:
        groups: dict[int, str] = {}
        parameters = []
        for entry in entries:
            if entry.number > 0:
                parameters.append(entry)
            elif -entry.number in groups:
                raise DamagedError(f"two groups have one number, {-entry.number}, the second at byte {entry.link_at}")
            else:
                groups[-entry.number] = entry.name
        super().__init__({(groups.get(entry.number, ""), entry.name): entry for entry in parameters})
        self.renamed: dict[tuple[str, str], str] = {}
        for group in GROUPS_OF_DATA:
            names = [name for of, name in self if of == group]
            found: dict[str, str] = {}  # OFFSETS is OFFSET and CORNER is CORNERS, unless a parameter has that name
            for name in [name for name in names if name not in NAMES]:
                for standard in (f"{name}S", name.removesuffix("S")):
                    if standard in IN_ANY_NUMBER and standard not in {*names, *found.values()}:
                        found[name] = standard
            for name, standard in found.items():
                self.renamed[group, name] = standard
                self[group, standard] = self[group, name]
        self.processor = processor
        self.groups = {name: number for number, name in groups.items()}

    def number(self, group: str, name: str) -> float:
        """Return a parameter's first number (unsigned, or 32 bits of two), 0 if absent."""
        record = self.get((group, name))
        if record is None or not record.data or record.kind == -1:
            return 0.0
        if record.kind == 4:
            return real(record.data[:4], self.processor)
        count, order = len(record.data) // record.kind, ">" if self.processor == MIPS else "<"
        words = struct.unpack(f"{order}{count}{'B' if record.kind == 1 else 'H'}", record.data)
        return float(words[0] + 65536 * words[1] if count == 2 else words[0])


def real_bytes(value: float, *, dec: bool) -> bytes:
    """Return the four bytes of a real number, little-endian IEEE or DEC, see :func:`real`."""
    four = struct.pack("<f", 4 * value if dec else value)
    return four[2:] + four[:2] if dec else four


def real(four: bytes, processor: int) -> float:
    """Return a real number: IEEE, or DEC (words exchanged, exponent 2 higher)."""
    if processor == DEC:
        return float(struct.unpack("<f", four[2:] + four[:2])[0]) / 4
    return float(struct.unpack("<f" if processor == INTEL else ">f", four)[0])
