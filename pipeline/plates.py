"""Force plates of a C3D file: from analog channels to the ground reaction on the subject.

What the C3D standard (c3d.org user guide, FORCE_PLATFORM) fixes:

- Plate axes: x from corner 2 to corner 1, y from corner 4 to corner 1, z = x cross y, into the plate (down in a floor).
- The channels hold the reaction on the subject: a standing person gives a negative Fz.
- Type 1: Fx Fy Fz, centre of pressure x y from the middle of the top, free moment Tz. ORIGIN does not enter.
- Type 2: Fx Fy Fz Mx My Mz about the sensor origin. ORIGIN leads from there to the middle of the top: z negative.
- Type 3: Fx12 Fx34 Fy14 Fy23 Fz1 Fz2 Fz3 Fz4. ORIGIN is a, b (distances of the sensors from the axes) and az0 (as z).
- Type 4: type 2 after CAL_MATRIX times the channels.
- Lengths are in POINT:UNITS, moments in N times that unit.

Where files, the standard and the platform filter of ezc3d 1.7.2 part:

- ORIGIN z > 0, a common slip. Types 2 and 4: the whole vector is turned round, as in ezc3d. Type 3: only az0 is; ezc3d
  turns a and b too, which mirrors the centre of pressure (of vertical forces) through the middle of the plate.
- Type 1: ezc3d's moment is F x CoP - Tz, the negative of the reaction's CoP x F + Tz returned here.
- MATRIX_STORE: CAL_MATRIX stands by column in the standard and always in ezc3d; BYROW is obeyed here.
- FPCOPPOLY shifts ezc3d's centre of pressure of type 3 plates, neither force nor moment; it is not used here.
- ZERO: ezc3d takes no baseline off, nor does `decode`; see `zero_frames`.
- A plate that cannot be decoded costs all plates of the file in ezc3d, only itself here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import UserError

Array = NDArray[np.float64]

CHANNELS_OF_TYPE = {1: 6, 2: 6, 3: 8, 4: 6}
MOST_PLATES = 255  # what a C3D array can hold; a larger USED is damage
MOMENT_UNITS_N_M = {"nm": 1.0, "ncm": 1e-2, "nmm": 1e-3}
LOADED_N = 50.0


@dataclass(frozen=True, eq=False)
class Plate:
    """One force plate as its file describes it, lengths in the file's unit.

    Attributes:
        number: place in FORCE_PLATFORM, from 1.
        problem: why the plate cannot be decoded and what would help; empty for a good plate, whose other fields hold.
        type: 1 to 4.
        channels: (6,) or (8,) analog channels, counted from 1 as stored.
        corners: (4, 3) corners 1 to 4 of the top, file axes.
        origin: (3,) ORIGIN, signs put right; zeros for type 1.
        cal_matrix: (6, 6) from channels to forces and moments, type 4 only.
    """

    number: int
    problem: str = ""
    type: int = 0
    channels: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    corners: Array = field(default_factory=lambda: np.full((4, 3), np.nan))
    origin: Array = field(default_factory=lambda: np.zeros(3))
    cal_matrix: Array | None = None


def plates_from_parameters(force_platform: Mapping[str, Any], *, channel_count: int | None = None) -> list[Plate]:
    """Return the plates in use, in the file's order; one that cannot be decoded carries its ``problem``.

    Args:
        force_platform: values of the FORCE_PLATFORM group by name, first index fastest (as ezc3d returns them).
        channel_count: analog channels in the file; None leaves the channel numbers unchecked.
    """
    plates = []
    for number in range(1, _used(force_platform) + 1):
        try:
            plates.append(_plate(force_platform, number, channel_count))
        except UserError as error:
            plates.append(Plate(number, problem=f"force plate {number}: {error}"))
    return plates


def decode(analog: Array, plate: Plate, *, length_unit_m: float, moment_unit_n_m: float) -> tuple[Array, Array]:
    """Return the force (N) and its moment about the lab origin (N m): the reaction on the subject, file axes.

    Every type but 1 is one constant matrix from channels to wrench. No baseline is taken off. A sample that is NaN
    in one of the plate's channels is NaN in the whole wrench.

    Args:
        analog: (samples, channels) all channels of the file, scaled; forces in N.
        plate: a plate without ``problem``.
        length_unit_m: metres per length unit of the file.
        moment_unit_n_m: N m per unit of the moment channels (after CAL_MATRIX for type 4); type 3 has none.

    Returns:
        force and moment, each (samples, 3).
    """
    readings = np.asarray(analog)[:, plate.channels - 1]
    if plate.type == 1:
        readings = _wrench_at_centre(readings, length_unit_m, moment_unit_n_m)
    to_centre = _channels_to_centre(plate, length_unit_m, moment_unit_n_m)
    axes, centre_m = plate_axes(plate.corners), plate.corners.mean(axis=0) * length_unit_m
    force = axes @ to_centre[:3]
    moment = axes @ to_centre[3:] + _cross_matrix(centre_m) @ force
    return readings @ force.T, readings @ moment.T


def centre_of_pressure(force: Array, moment: Array, corners_m: Array) -> tuple[Array, Array]:
    """Return the centre of pressure (m) and the free moment (N m) on the plane of a plate, however it lies.

    About the centre of pressure r the moment is along the plate's normal n. With M about the middle of the top:
    r = n x M / (F.n), free moment = M.F / (F.n).

    Args:
        force: (..., 3) reaction on the subject, N.
        moment: (..., 3) its moment about the lab origin, N m.
        corners_m: (4, 3) corners 1 to 4, m, same axes; their order tells the top from the bottom.

    Returns:
        centre of pressure (..., 3), and free moment (...) about the normal out of the top; NaN where F.n is zero.
    """
    normal = -plate_axes(corners_m)[:, 2]
    centre = corners_m.mean(axis=0)
    about_centre = moment - force @ _cross_matrix(centre).T
    pressing = force @ normal
    pressing = np.where(pressing == 0, np.nan, pressing)
    cop = centre + about_centre @ _cross_matrix(normal).T / pressing[..., None]
    return cop, np.einsum("...i,...i->...", about_centre, force) / pressing


def plate_axes(corners: Array) -> Array:
    """Return the (3, 3) rotation whose columns are the plate's x, y, z; z points into the plate."""
    x = corners[0] - corners[1]
    z = np.cross(x, corners[0] - corners[3])
    axes: Array = np.stack([x, np.cross(z, x), z], axis=1)
    axes /= np.linalg.norm(axes, axis=0)
    return axes


def moment_unit_n_m(plate: Plate, units: Sequence[str], *, length_unit_m: float, analog: Array | None = None) -> float:
    """Return N m per unit of the plate's moments: N times the file's length unit, as in the standard and ezc3d.

    ANALOG:UNITS often lies (V, mV or Nm on moments in N mm). Only where it names another moment unit is it heard,
    and then the loaded samples decide: the larger of the two units that leaves their centre of pressure on the
    plate. The units are a factor of 100 or more apart, so a wrong one puts it off the plate or into its very middle.

    Args:
        plate: a plate without ``problem``.
        units: ANALOG:UNITS by channel.
        length_unit_m: metres per length unit of the file.
        analog: (samples, channels) all channels of the file; without it the label is not heard.
    """
    channel = int(plate.channels[3]) - 1
    label = re.sub(r"[^a-z]", "", units[channel].lower()) if channel < len(units) else ""
    labelled = MOMENT_UNITS_N_M.get(label, length_unit_m)
    if analog is None or plate.type not in (2, 4) or labelled == length_unit_m:
        return length_unit_m
    readings = np.asarray(analog)[:, plate.channels - 1]
    if plate.cal_matrix is not None:
        readings = readings @ plate.cal_matrix.T
    load = np.abs(readings[:, 2])
    loaded = load > max(LOADED_N, 0.5 * np.nanmax(load, initial=0.0))
    if not loaded.any():
        return length_unit_m
    lever = np.nanmedian(np.hypot(readings[loaded, 3], readings[loaded, 4]) / load[loaded])
    reach_m = np.linalg.norm(plate.corners[0] - plate.corners[2]) / 2 * length_unit_m
    larger, smaller = max(labelled, length_unit_m), min(labelled, length_unit_m)
    return larger if lever * larger <= reach_m else smaller


def zero_frames(force_platform: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the first and last frame of FORCE_PLATFORM:ZERO, counted from 1, or None where it is switched off.

    The standard leaves it to the reader to take the mean of these frames off the channels; ezc3d 1.7.2 does not.
    (0, n) means (1, n); (0, 0), (1, 0) and an absent parameter switch it off. Nothing says that the plate is
    unloaded there, and a file that was trimmed keeps the numbers of the untrimmed one: check before use.
    """
    try:
        first, last = _entry(force_platform, "ZERO", (2,), 1).astype(int)
    except UserError:
        return None
    return (max(int(first), 1), int(last)) if last >= max(first, 1) else None


def _wrench_at_centre(readings: Array, length_unit_m: float, moment_unit_n_m: float) -> Array:
    """Turn type 1 readings (samples, 6) into force and moment about the middle of the top, plate axes, N and N m."""
    force, x, y = readings[:, :3], readings[:, 3] * length_unit_m, readings[:, 4] * length_unit_m
    free = readings[:, 5] * moment_unit_n_m
    moment = np.stack([y * force[:, 2], -x * force[:, 2], x * force[:, 1] - y * force[:, 0] + free], axis=1)
    return np.concatenate([force, moment], axis=1)


def _channels_to_centre(plate: Plate, length_unit_m: float, moment_unit_n_m: float) -> Array:
    """Return the (6, channels) matrix to force (N) and moment (N m) about the middle of the top, plate axes."""
    if plate.type == 1:
        return np.eye(6)
    a, b, _ = origin_m = plate.origin * length_unit_m
    if plate.type == 3:
        origin_m = np.array([0.0, 0.0, origin_m[2]])
        to_sensor = np.array(
            [
                [1, 1, 0, 0, 0, 0, 0, 0],
                [0, 0, 1, 1, 0, 0, 0, 0],
                [0, 0, 0, 0, 1, 1, 1, 1],
                [0, 0, 0, 0, b, b, -b, -b],
                [0, 0, 0, 0, -a, a, a, -a],
                [-b, b, a, -a, 0, 0, 0, 0],
            ]
        )
    else:
        scale = np.diag([1.0, 1.0, 1.0, *[moment_unit_n_m] * 3])
        to_sensor = scale if plate.cal_matrix is None else scale @ plate.cal_matrix
    shift = np.eye(6)
    shift[3:, :3] = -_cross_matrix(origin_m)  # M + F x origin
    return np.asarray(shift @ to_sensor)


def _cross_matrix(vector: Array) -> Array:
    """Return the (3, 3) matrix S with S v = vector x v."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _used(force_platform: Mapping[str, Any]) -> int:
    """Return FORCE_PLATFORM:USED; where it cannot be read, the number of types listed."""
    try:
        used = int(_entry(force_platform, "USED", (), 1))
    except UserError:
        used = np.size(force_platform.get("TYPE", ()))
    return min(used, MOST_PLATES)


def _plate(force_platform: Mapping[str, Any], number: int, channel_count: int | None) -> Plate:
    """Return one plate.

    Raises:
        UserError: it cannot be decoded; the message lacks the plate's name.
    """
    kind = int(_entry(force_platform, "TYPE", (), number))
    if kind not in CHANNELS_OF_TYPE:
        raise UserError(f"type {kind} is not supported; export the plate as type 2 (forces and moments)")
    corners = _entry(force_platform, "CORNERS", (3, 4), number).T
    _check_rectangle(corners)
    return Plate(
        number=number,
        type=kind,
        channels=_channels(force_platform, number, channel_count),
        corners=corners,
        origin=_origin(force_platform, number, kind),
        cal_matrix=_cal_matrix(force_platform, number) if kind == 4 else None,
    )


def _entry(force_platform: Mapping[str, Any], name: str, shape: tuple[int, ...], number: int) -> Array:
    """Return one plate's block of a parameter, shape ``shape``.

    Raises:
        UserError: absent, too short, of another layout, or not finite.
    """
    try:
        table = np.asarray(force_platform.get(name, ()), dtype=float)
    except (TypeError, ValueError):
        raise UserError(f"FORCE_PLATFORM:{name} does not hold numbers; export the file again") from None
    size = math.prod(shape)
    block = table.ravel(order="F")[(number - 1) * size : number * size]
    if block.size < size or (table.ndim > len(shape) and table.shape[: len(shape)] != shape):
        wanted = f"{' x '.join(map(str, shape))} values" if shape else "one value"
        raise UserError(f"FORCE_PLATFORM:{name} does not hold its {wanted}; fill them in and export again")
    if not np.isfinite(block).all():
        raise UserError(f"FORCE_PLATFORM:{name} holds values that are not numbers; correct it and export again")
    return block.reshape(shape, order="F")


def _channels(force_platform: Mapping[str, Any], number: int, channel_count: int | None) -> NDArray[np.int64]:
    """Return the plate's channel numbers, padding taken off.

    In a table with fewer rows than a type needs the numbers run on over the columns: from that plate on, no column
    can be trusted (a file of Motion Analysis: eight channels each of two plates in a table of six rows).

    Raises:
        UserError: such a table, or channels that are missing, named twice or not in the file.
    """
    remedy = "correct FORCE_PLATFORM:CHANNEL and export again"
    table = np.asarray(force_platform.get("CHANNEL", ()))
    rows = table.shape[0] if table.ndim > 1 else table.size // _used(force_platform)
    needed = [CHANNELS_OF_TYPE.get(kind, 0) for kind in np.ravel(force_platform["TYPE"])[:number].tolist()]
    if rows < max(needed):
        raise UserError(f"FORCE_PLATFORM:CHANNEL has {rows} rows, plates 1 to {number} need {max(needed)}; {remedy}")
    channels = _entry(force_platform, "CHANNEL", (rows,), number)[: needed[-1]].astype(np.int64)
    listed = ", ".join(map(str, channels))
    if (channels < 1).any() or np.unique(channels).size < channels.size:
        raise UserError(f"{needed[-1]} different channels are needed, listed are {listed}; {remedy}")
    if channel_count is not None and channels.max() > channel_count:
        raise UserError(f"its channels are {listed}, but the file has {channel_count}; {remedy}")
    return channels


def _origin(force_platform: Mapping[str, Any], number: int, kind: int) -> Array:
    """Return ORIGIN with its signs put right, see the top of this module.

    Raises:
        UserError: missing, or a type 3 plate without sensor distances.
    """
    if kind == 1:
        return np.zeros(3)
    origin = _entry(force_platform, "ORIGIN", (3,), number)
    if kind == 3:
        if not origin[:2].all():
            raise UserError("FORCE_PLATFORM:ORIGIN lacks the sensor distances a and b; take them from its data sheet")
        return np.abs(origin) * [1, 1, -1]
    return -origin if origin[2] > 0 else origin


def _cal_matrix(force_platform: Mapping[str, Any], number: int) -> Array:
    """Return the calibration matrix that channels are multiplied with.

    Raises:
        UserError: missing or singular.
    """
    matrix = _entry(force_platform, "CAL_MATRIX", (6, 6), number)
    if np.linalg.matrix_rank(matrix) < 6:
        raise UserError("FORCE_PLATFORM:CAL_MATRIX is singular; enter the manufacturer's matrix and export again")
    stored = [str(order).strip().upper() for order in np.ravel(force_platform.get("MATRIX_STORE", ()))]
    by_row = bool(stored) and stored[min(number, len(stored)) - 1] == "BYROW"
    return matrix.T if by_row else matrix


def _check_rectangle(corners: Array) -> None:
    """Refuse corners that are far from a rectangle in the order 1 to 4, such as all zero or one missing.

    Raises:
        UserError: they are.
    """
    x, y = corners[0] - corners[1], corners[0] - corners[3]
    sides = np.linalg.norm(x) * np.linalg.norm(y)
    diagonal = np.linalg.norm(corners[0] - corners[2])
    closing = np.linalg.norm(corners[0] - corners[1] + corners[2] - corners[3])
    if np.linalg.norm(np.cross(x, y)) <= 0.9 * sides or closing > 0.1 * diagonal:
        raise UserError("its corners are not those of a rectangle; correct FORCE_PLATFORM:CORNERS and export again")
