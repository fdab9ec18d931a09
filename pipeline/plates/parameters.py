"""Force plates described by the group FORCE_PLATFORM of a C3D file.

The C3D standard (c3d.org user guide, FORCE_PLATFORM) defines:

- CORNERS: plate axes are x from corner 2 to corner 1, y from corner 4 to corner 1, z = x cross y, into the plate.
- ORIGIN, types 2 and 4: from the sensor origin to the middle of the top, z negative. Type 3: a, b (distances of the
  sensors from the axes) and az0 (z). Type 1: unused.
- CHANNEL: (rows, plates), counted from 1, padded for plates with fewer channels than rows.
- Lengths in POINT:UNITS.

Differences to files in practice and to the platform filter of ezc3d 1.7.2:

- ORIGIN z > 0, a common mistake. Types 2 and 4: the whole vector is negated, as in ezc3d. Type 3: only az0 is; ezc3d
  also negates a and b, which mirrors the centre of pressure (of vertical forces) through the middle of the plate.
- MATRIX_STORE: BYROW is supported; the standard and ezc3d store CAL_MATRIX by column.
- FPCOPPOLY, with which ezc3d shifts the centre of pressure of type 3 plates, is not used.
- ZERO: ezc3d subtracts no baseline; see `zero_frames` and `pipeline.plates.baseline`.
- If one plate cannot be decoded, ezc3d drops all; here the others are kept.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..dynamics.vectors import cross
from ..errors import Problem, UserError

CHANNELS_OF_TYPE = {1: 6, 2: 6, 3: 8, 4: 6}
OTHER_TYPES = {
    5: "eight sensors with a 6 x 8 calibration matrix",
    6: "twelve sensors with a 12 x 12 calibration matrix",
    7: "eight sensors with an 8 x 8 calibration matrix",
    11: "Kistler split-belt treadmill",
    12: "Kistler Gaitway treadmill",
    21: "AMTI stairs",
}
LARGEST_PLATE_COUNT = 255  # capacity of a C3D array; a larger USED is damage
LARGEST_COSINE = 0.44  # of the angle between two sides: 26 degrees from a right angle
SAME_PLACE_M = 0.01  # centres of two plates that are one: two that lie side by side are a plate's width apart
LARGER_BY = 1.5  # a combined plate has the area of two or more
SAME_HEIGHT_M = 0.05  # of plates in one floor; a step of stairs is higher
# corners that a program enters where nobody has measured any: Vicon's are 76.2 mm apart, and no foot fits between them
PLACEHOLDER_M = 0.1
PLACEHOLDER_SHARE = 0.02  # of a side: their centre is the lab origin, but for rounding to whole millimetres
SIDE_M = (0.05, 10.0)  # of a plate or belt; corners in a wrong unit are outside by a factor of 10 or more


@dataclass(frozen=True, eq=False)
class Plate:
    """A force plate as its file describes it, lengths in the file's unit."""

    number: int  # place in FORCE_PLATFORM, from 1
    problem: Problem | None = None  # why the plate cannot be decoded, without the other fields; None for a good plate
    type: int = 0  # 1 to 4
    # (6,) or (8,) analog channels, counted from 1 as stored
    channels: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    # (4, 3) corners 1 to 4 of the top, file axes
    corners: Array = field(default_factory=lambda: np.full((4, 3), np.nan))
    origin: Array = field(default_factory=lambda: np.zeros(3))  # (3,) ORIGIN, signs corrected; zeros for type 1
    cal_matrix: Array | None = None  # (6, 6) from channels to forces and moments, type 4 only


def plates_from_parameters(
    force_platform: Mapping[str, Any],
    *,
    channel_count: int | None = None,
    length_unit_m: float | None = None,
    unread: Collection[int] = (),
) -> list[Plate]:
    """Return the plates in use, then others that are described, in order, each good or with its ``problem``.

    Args:
        force_platform: values of the FORCE_PLATFORM group by name, first index fastest (as ezc3d returns them).
        channel_count: analog channels in the file; None skips the check of channel numbers.
        length_unit_m: metres per length unit of the file; None skips the check of the plates' size.
        unread: channels, from 1, that the file scales by 0.
    """
    plates = []
    for number in range(1, _count_used(force_platform) + 1):
        try:
            plate = _plate(force_platform, number, channel_count, length_unit_m)
            if {*plate.channels.tolist()} <= {*unread}:
                what = "ANALOG:SCALE or GEN_SCALE of all its channels is 0, or absent"
                raise UserError("", what, "correct it and export again")
            plates.append(plate)
        except UserError as error:
            plates.append(_unusable(number, error))
    return [*_without_doubles(plates, length_unit_m or math.nan), *_described_only(force_platform)]


def _unusable(number: int, error: UserError) -> Plate:
    return Plate(number, error.within(f"force plate {number}").problems[0].of_kind("plate_unusable"))


def _without_doubles(plates: Sequence[Plate], length_unit_m: float) -> list[Plate]:
    """Return plates with a problem for those that have another one's channels, lie on its place, or cover several.

    Nexus lets users combine plates: the sum of their channels is one more plate, on all of their area.
    """
    doubles = {}
    sound = [plate for plate in plates if not plate.problem]
    for plate in sound:
        below = [other.number for other in sound if other is not plate and _covers(plate, other, length_unit_m)]
        if len(below) > 1:
            remedy = "export without it if its forces are their sum, else correct FORCE_PLATFORM:CORNERS"
            doubles[plate.number] = UserError("", f"covers plates {', '.join(map(str, below))}", remedy)
    good = [
        (plate, plate.corners.mean(axis=0).tolist(), {*plate.channels.tolist()})
        for plate in sound
        if plate.number not in doubles
    ]
    for (one, place, channels), (other, there, others) in combinations(good, 2):
        for mine, of in ((one, other), (other, one)):
            if channels == others:
                remedy = "correct FORCE_PLATFORM:CHANNEL and export again"
                doubles[mine.number] = UserError("", f"has the channels of plate {of.number}", remedy)
            elif math.dist(place, there) * length_unit_m < SAME_PLACE_M:
                remedy = "measure them, correct FORCE_PLATFORM:CORNERS and export again"
                doubles[mine.number] = UserError("", f"its corners are those of plate {of.number}", remedy)
    return [_unusable(plate.number, doubles[plate.number]) if plate.number in doubles else plate for plate in plates]


def _covers(plate: Plate, other: Plate, length_unit_m: float) -> bool:
    """Return whether a plate has the middle of a smaller one, and not on a step above it."""
    x, y = plate.corners[0] - plate.corners[1], plate.corners[0] - plate.corners[3]
    area, of_other = (
        cross(corners[0] - corners[1], corners[0] - corners[3]) for corners in (plate.corners, other.corners)
    )
    across = other.corners.mean(axis=0) - plate.corners.mean(axis=0)
    inside = abs(across @ x) < x @ x / 2 and abs(across @ y) < y @ y / 2
    larger = math.hypot(*area) > LARGER_BY * math.hypot(*of_other)
    height = abs(across @ area) / math.hypot(*area)
    return bool(inside and larger and height * length_unit_m < SAME_HEIGHT_M)


def _described_only(force_platform: Mapping[str, Any]) -> Iterator[Plate]:
    """Yield plates beyond FORCE_PLATFORM:USED that have corners, each with that problem."""
    used, corners = max(_count_used(force_platform), 0), np.asarray(force_platform.get("CORNERS", ()))
    described = np.size(force_platform.get("TYPE", ()))
    for number in range(used + 1, min(described, LARGEST_PLATE_COUNT) + 1):
        block = corners.ravel(order="F")[12 * (number - 1) : 12 * number]
        if corners.dtype.kind in "iuf" and block.size == 12 and np.ptp(block) > 0:
            what = f"is described, but FORCE_PLATFORM:USED is {used}"
            yield _unusable(number, UserError("", what, "correct USED if somebody stepped on it"))


def zero_frames(force_platform: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return first and last frame of FORCE_PLATFORM:ZERO, from 1; None if off.

    These frames give the baseline of the channels. (0, n) means (1, n); (0, 0), (1, 0) and an absent parameter switch
    it off. Check before use: the plate may be loaded there, and a trimmed file keeps the untrimmed numbers.
    """
    try:
        first, last = _entry(force_platform, "ZERO", (2,), 1).astype(int)
    except UserError:
        return None
    return (max(int(first), 1), int(last)) if last >= max(first, 1) else None


def _count_used(force_platform: Mapping[str, Any]) -> int:
    """Return FORCE_PLATFORM:USED, or the number of types if that cannot be read."""
    try:
        used = int(_entry(force_platform, "USED", (), 1))
    except UserError:
        used = np.size(force_platform.get("TYPE", ()))
    return min(used, LARGEST_PLATE_COUNT)


def _plate(
    force_platform: Mapping[str, Any], number: int, channel_count: int | None, length_unit_m: float | None
) -> Plate:
    """Return one plate, or raise a UserError if it cannot be decoded."""
    kind = int(_entry(force_platform, "TYPE", (), number))
    if kind not in CHANNELS_OF_TYPE:
        meaning = f" ({OTHER_TYPES[kind]})" if kind in OTHER_TYPES else ""
        raise UserError("", f"type {kind}{meaning} is not supported", "export the plate as type 2 (forces and moments)")
    corners = _entry(force_platform, "CORNERS", (3, 4), number).T
    _check_rectangle(corners, length_unit_m)
    return Plate(
        number=number,
        type=kind,
        channels=_channels(force_platform, number, channel_count),
        corners=corners,
        origin=_origin(force_platform, number, kind),
        cal_matrix=_cal_matrix(force_platform, number) if kind == 4 else None,
    )


def _entry(force_platform: Mapping[str, Any], name: str, shape: tuple[int, ...], number: int) -> Array:
    """Return one plate's block of a parameter, or raise a UserError if invalid."""
    try:
        table = np.asarray(force_platform.get(name, ()), dtype=float)
    except (TypeError, ValueError):
        raise UserError("", f"FORCE_PLATFORM:{name} does not hold numbers", "export the file again") from None
    size = math.prod(shape)
    block = table.ravel(order="F")[(number - 1) * size : number * size]
    if block.size < size or (table.ndim > len(shape) and table.shape[: len(shape)] != shape):
        wanted = f"{' x '.join(map(str, shape))} values" if shape else "one value"
        raise UserError("", f"FORCE_PLATFORM:{name} does not hold its {wanted}", "fill them in and export again")
    if not np.isfinite(block).all():
        raise UserError("", f"FORCE_PLATFORM:{name} holds values that are not numbers", "correct it and export again")
    return block.reshape(shape, order="F")


def _channels(force_platform: Mapping[str, Any], number: int, channel_count: int | None) -> NDArray[np.int64]:
    """Return the plate's channel numbers without padding.

    A table with fewer rows than a plate needs is refused for that plate and those after it: its numbers continue in
    the next columns (a file of Motion Analysis: eight channels each of two plates in a table of six rows).
    """
    remedy = "correct FORCE_PLATFORM:CHANNEL and export again"
    table = np.asarray(force_platform.get("CHANNEL", ()))
    rows = table.shape[0] if table.ndim > 1 else table.size // _count_used(force_platform)
    needed = [CHANNELS_OF_TYPE.get(kind, 0) for kind in np.ravel(force_platform["TYPE"])[:number].tolist()]
    if rows < max(needed):
        raise UserError("", f"FORCE_PLATFORM:CHANNEL has {rows} rows, plates 1 to {number} need {max(needed)}", remedy)
    if np.ravel(table).tolist().count(0) == 1 and not table.flat[0]:  # a plate that is not connected has only zeros
        raise UserError("", "FORCE_PLATFORM:CHANNEL counts from 0, the format from 1", "add 1 to all and export again")
    channels = _entry(force_platform, "CHANNEL", (rows,), number)[: needed[-1]].astype(np.int64)
    listed = channels.tolist()
    if min(listed, default=1) < 1 or len({*listed}) < len(listed):
        what = f"{needed[-1]} different channels are needed, listed are {', '.join(map(str, listed))}"
        raise UserError("", what, remedy)
    if channel_count is not None and max(listed) > channel_count:
        what = f"its channels are {', '.join(map(str, listed))}, but the file has {channel_count}"
        raise UserError("", what, remedy)
    return channels


def _origin(force_platform: Mapping[str, Any], number: int, kind: int) -> Array:
    """Return ORIGIN with its signs corrected, or raise a UserError if incomplete."""
    if kind == 1:
        return np.zeros(3)
    origin = _entry(force_platform, "ORIGIN", (3,), number)
    if kind == 3:
        if not origin[:2].all():
            what = "FORCE_PLATFORM:ORIGIN lacks the sensor distances a and b"
            raise UserError("", what, "take them from its data sheet")
        return np.abs(origin) * [1, 1, -1]
    return -origin if origin[2] > 0 else origin


def _cal_matrix(force_platform: Mapping[str, Any], number: int) -> Array:
    """Return the calibration matrix, or raise a UserError if missing or singular."""
    matrix = _entry(force_platform, "CAL_MATRIX", (6, 6), number)
    if np.linalg.matrix_rank(matrix) < 6:
        what = "FORCE_PLATFORM:CAL_MATRIX is singular"
        raise UserError("", what, "enter the manufacturer's matrix and export again")
    stored = [str(order).strip().upper() for order in np.ravel(force_platform.get("MATRIX_STORE", ()))]
    by_row = bool(stored) and stored[min(number, len(stored)) - 1] == "BYROW"
    return matrix.T if by_row else matrix


def _check_rectangle(corners: Array, length_unit_m: float | None) -> None:
    """Raise a UserError for corners of no rectangle or of a wrong size."""
    first, second, third, fourth = corners
    x, y = first - second, first - fourth
    sides, diagonal = (math.hypot(*x), math.hypot(*y)), math.dist(first, third)
    skewed = abs(x @ y) >= LARGEST_COSINE * sides[0] * sides[1]
    if skewed or math.dist(first + third, second + fourth) > 0.1 * diagonal:
        what = "its corners are not those of a rectangle"
        raise UserError("", what, "correct FORCE_PLATFORM:CORNERS and export again")
    sides_m = [side * (length_unit_m or math.nan) for side in sides]
    if max(sides_m) < PLACEHOLDER_M and np.abs(corners.mean(axis=0)).max() < PLACEHOLDER_SHARE * max(sides):
        what = f"its corners are a placeholder, {1e3 * sides_m[0]:.0f} x {1e3 * sides_m[1]:.0f} mm about the lab origin"
        raise UserError("", what, "measure them, enter FORCE_PLATFORM:CORNERS and export again")
    if min(sides_m) < SIDE_M[0] or max(sides_m) > SIDE_M[1]:
        size = " x ".join(f"{side:.3g}" for side in sides_m)
        what = f"its corners make it {size} m"
        raise UserError("", what, "give FORCE_PLATFORM:CORNERS in POINT:UNITS and export again")
