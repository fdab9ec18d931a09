"""From analog channels to the ground reaction on the subject and its centre of pressure.

The channels hold the reaction on the subject in plate axes, z into the plate, so that standing gives a negative Fz
(c3d.org user guide, FORCE_PLATFORM):

- Type 1: Fx Fy Fz, centre of pressure x y from the middle of the top, free moment Tz. ORIGIN is unused.
- Type 2: Fx Fy Fz Mx My Mz about the sensor origin, moments in N times POINT:UNITS.
- Type 3: Fx12 Fx34 Fy14 Fy23 Fz1 Fz2 Fz3 Fz4.
- Type 4: CAL_MATRIX times the channels gives type 2.

The platform filter of ezc3d 1.7.2 gives the moment of a type 1 plate as F x CoP - Tz, the negative of the moment
CoP x F + Tz returned here.
"""

import functools
import re
from collections.abc import Sequence
from itertools import product

import numpy as np

from ..arrays import Array, Flags
from ..dynamics.vectors import skew
from .parameters import Plate

# names of units by their letters alone: lb-in and in.lb are units of moment
FORCE_UNITS_N = {
    "n": 1.0,
    "kn": 1e3,
    **dict.fromkeys(("lb", "lbs", "lbf"), 4.448222),
    **dict.fromkeys(("kg", "kgf", "kp"), 9.80665),
}
LENGTHS_M = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "in": 0.0254, "ft": 0.3048}
MOMENT_UNITS_N_M = {
    name: force * length
    for (of_force, force), (of_length, length) in product(FORCE_UNITS_N.items(), LENGTHS_M.items())
    for name in (of_force + of_length, of_length + of_force)
}
FORCE_CHANNELS = {1: 3, 2: 3, 3: 8, 4: 0}  # by plate type, the first ones; those of type 4 are volts
HEAVIEST_N = 20_000.0  # beyond what anybody presses: the numbers are not in the unit that the file states
NO_SPIKE = 99.9  # percent of the samples that spikes leave
NEAR_UNITS = 20.0  # units that differ by less may both keep the centre of pressure on the plate
LOADED_N = 50.0


def decode(analog: Array, plate: Plate, *, length_unit_m: float, moment_unit_n_m: float) -> tuple[Array, Array]:
    """Return the force (N) on the subject and its moment about the lab origin (N m).

    No baseline is subtracted. A sample that is NaN in one of the plate's channels is NaN in the whole wrench.

    Args:
        analog: (samples, channels) all channels of the file, scaled; forces in N.
        plate: a plate without ``problem``.
        moment_unit_n_m: N m per unit of the moment channels (after CAL_MATRIX for type 4); type 3 has none.

    Returns:
        force and moment, each (samples, 3), file axes.
    """
    readings = np.asarray(analog).T[plate.channels - 1]
    if plate.type == 1:
        readings = _wrench_at_centre(readings, length_unit_m, moment_unit_n_m)
    to_centre = channels_to_centre(plate, length_unit_m, moment_unit_n_m)
    axes, centre_m = plate_axes(plate.corners), plate.corners.mean(axis=0) * length_unit_m
    force = axes @ to_centre[:3]
    moment = axes @ to_centre[3:] + skew(centre_m) @ force
    return (force @ readings).T, (moment @ readings).T


def centre_of_pressure(force: Array, moment: Array, corners_m: Array) -> tuple[Array, Array]:
    """Return centre of pressure (m) and free moment (N m) on a plate's plane.

    About the centre of pressure r the moment is along the plate's normal n, of any direction. With M about the middle
    of the top: r = n x M / (F.n), free moment = M.F / (F.n).

    Args:
        force: (..., 3) reaction on the subject, N.
        moment: (..., 3) its moment about the lab origin, N m.
        corners_m: (4, 3) corners 1 to 4, m, same axes; their order defines the top.

    Returns:
        centre of pressure (..., 3), and free moment (...) about the normal out of the top; NaN if F.n is zero.
    """
    normal, centre, across, from_origin = _top(np.asarray(corners_m, dtype=float).tobytes())
    about_centre = moment - force @ from_origin
    pressing = force @ normal
    pressing = np.where(pressing == 0, np.nan, pressing)
    cop = centre + about_centre @ across / pressing[..., None]
    return cop, (about_centre * force).sum(axis=-1) / pressing


@functools.lru_cache(maxsize=64)
def _top(corners: bytes) -> tuple[Array, Array, Array, Array]:
    """Return a plate's upward normal, its middle and the matrices S(normal).T and S(middle).T; trials share plates."""
    corners_m = np.frombuffer(corners).reshape(4, 3)
    normal, centre = -plate_normal(corners_m), corners_m.mean(axis=0)
    return normal, centre, skew(normal).T, skew(centre).T


def plate_axes(corners: Array) -> Array:
    """Return the (3, 3) rotation with the plate's x, y, z (downwards) as columns."""
    x = corners[0] - corners[1]
    z = skew(x) @ (corners[0] - corners[3])
    axes: Array = np.array([x, skew(z) @ x, z]).T
    return np.asarray(axes / np.sqrt((axes * axes).sum(axis=0)))


def plate_normal(corners: Array) -> Array:
    """Return the z (3,) of :func:`plate_axes` alone, the unit normal downwards."""
    z = skew(corners[0] - corners[1]) @ (corners[0] - corners[3])
    return np.asarray(z / np.sqrt((z * z).sum()))


def over_each_plate(point: Array, corners: Array, margin_m: float) -> Flags:
    """Return whether points (time, 3) are over each plate (plate, 4, 3) + margin in plan (time, plate); y is up."""
    inwards, distance = _edges(np.asarray(corners, dtype=float).tobytes())
    beyond = point[:, ::2] @ inwards > distance - margin_m
    return np.asarray(beyond.reshape(len(point), len(corners), 4).all(axis=2))


@functools.lru_cache(maxsize=64)
def _edges(corners: bytes) -> tuple[Array, Array]:
    """Return the unit vectors inwards (x z, edge) of plates' edges in plan, and how far along them each edge is."""
    x, z = np.moveaxis(np.frombuffer(corners).reshape(-1, 4, 3)[..., ::2], -1, 0)  # (plate, edge)
    along_x, along_z = x[:, [1, 2, 3, 0]] - x, z[:, [1, 2, 3, 0]] - z
    turning = np.sign((x * along_z - z * along_x).sum(axis=1, keepdims=True))  # sign of twice the area
    inwards = turning * np.stack([-along_z, along_x]) / np.hypot(along_x, along_z)  # (x z, plate, edge)
    return inwards.reshape(2, -1), (inwards[0] * x + inwards[1] * z).ravel()


def heights_over(point: Array, corners: Array) -> Array:
    """Return the height of points (time, 3) over the plane of each plate (plate, 4, 3), (time, plate), m; y is up."""
    normal = np.stack([plate_normal(plate) for plate in corners])
    centre = corners.mean(axis=1)
    return np.asarray((point @ normal.T - (normal * centre).sum(axis=1)) / normal[:, 1])


def in_newtons(analog: Array, plate: Plate, units: Sequence[str]) -> Array:
    """Return all channels (samples, channels), with the forces of a plate in N if ANALOG:UNITS states another unit.

    A unit of no force (V, of channels that SCALE has made N) is ignored, and so is one that makes the plate carry more
    than anybody presses.

    Args:
        plate: a plate without ``problem``.
    """
    columns = plate.channels[: FORCE_CHANNELS[plate.type]] - 1
    factors = [FORCE_UNITS_N.get(_letters(units, column), 1.0) for column in columns.tolist()]
    if all(factor == 1 for factor in factors) or not analog.size:
        return analog
    scaled = analog.copy()
    scaled[:, columns] *= factors
    pressed = np.nanpercentile(np.abs(scaled[:, columns]), NO_SPIKE)
    return analog if pressed > HEAVIEST_N else scaled


def moment_unit_n_m(plate: Plate, units: Sequence[str], *, length_unit_m: float, analog: Array | None = None) -> float:
    """Return N m per unit of the plate's moments.

    The standard is N times the file's length unit, but files differ, and ANALOG:UNITS is often wrong (V, mV or Nm for
    moments in N mm). So the loaded samples decide: of N m, N mm, the standard and ANALOG:UNITS the largest that keeps
    their centre of pressure on the plate. A larger unit, by a factor of 100 or more, moves it off the plate. One that
    is ten times larger, as N cm, may not, where the foot stands in the middle: then ANALOG:UNITS counts. Where forces
    are stated in another unit than N, moments may be in that unit times a length, with pounds inches or feet.

    Args:
        plate: a plate without ``problem``.
        analog: (samples, channels) all channels of the file, forces in N; without it, or without load, the standard
            applies.
    """
    if analog is None or plate.type not in (2, 4):
        return length_unit_m
    readings = np.asarray(analog).T[plate.channels - 1]
    if plate.cal_matrix is not None:
        readings = plate.cal_matrix @ readings
    load = np.abs(readings[2])
    loaded = load > max(LOADED_N, 0.5 * np.nanmax(load, initial=0.0))
    if not loaded.any():
        return length_unit_m
    force, moment = (_letters(units, int(plate.channels[i]) - 1) for i in (2, 3))
    of_force = FORCE_UNITS_N.get(force, 1.0) if plate.type == 2 else 1.0
    lengths = (LENGTHS_M["in"], LENGTHS_M["ft"]) if force.startswith("lb") else (1.0, 1e-3, length_unit_m)
    lever = np.nanmedian(np.hypot(*readings[3:5, loaded]) / load[loaded])
    reach_m = np.linalg.norm(plate.corners[0] - plate.corners[2]) / 2 * length_unit_m
    standard = of_force * lengths[-1] if of_force != 1 else length_unit_m
    stated = MOMENT_UNITS_N_M.get(moment, standard)
    possible = {1.0, 1e-3, length_unit_m, *(of_force * length for length in lengths), stated}
    largest = max((unit for unit in possible if lever * unit <= reach_m), default=standard)
    return stated if stated < largest < NEAR_UNITS * stated else largest


def _letters(units: Sequence[str], column: int) -> str:
    return re.sub(r"[^a-z]", "", units[column].lower()) if column < len(units) else ""


def _wrench_at_centre(readings: Array, length_unit_m: float, moment_unit_n_m: float) -> Array:
    """Return the wrench (6, samples) about the top's middle, plate axes, type 1."""
    fx, fy, fz = readings[:3]
    x, y, free = readings[3] * length_unit_m, readings[4] * length_unit_m, readings[5] * moment_unit_n_m
    return np.stack([fx, fy, fz, y * fz, -x * fz, x * fy - y * fx + free])


def channels_to_centre(plate: Plate, length_unit_m: float, moment_unit_n_m: float) -> Array:
    """Return the matrix (6, channels) to the wrench about the top's middle."""
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
    shift[3:, :3] = -skew(origin_m)  # M + F x origin
    return np.asarray(shift @ to_sensor)


def at_instants(values: Array, instants: Array, time: Array) -> Array:
    """Return (time, plate, 3) interpolated linearly from (sample, plate, 3)."""
    if not values.size:
        return np.zeros((len(time), *values.shape[1:]))
    right = np.clip(np.searchsorted(instants, time), 1, len(instants) - 1)
    share = (time - instants[right - 1]) / (instants[right] - instants[right - 1])
    share = np.clip(np.where(np.abs(share - np.round(share)) < 1e-6, np.round(share), share), 0, 1)
    return np.asarray(values[right - 1] * (1 - share)[:, None, None] + values[right] * share[:, None, None])
