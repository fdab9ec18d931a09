"""Changes of the channels and plates of the plain C3D files; each changes the content of one file in place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tests.odd_files.c3d_bytes import C3D, real, whole
from tests.odd_files.c3d_edits import PLATE_UNITS, put, remove


def digitise(file: C3D, steps: Sequence[float], offset: int, *, kind: str = "<i2", name: str = "OFFSET") -> None:
    """Write channels as integers: steps of force (N) and moment (N mm), and the number that means zero."""
    plates = file.analog.shape[1] // 6
    scales = np.tile(np.repeat(steps, 3), plates)
    file.analog = file.analog / scales + offset
    file.analog_type = kind
    remove(file, "ANALOG", "OFFSET")
    file.groups["ANALOG"] |= {"SCALE": scales.astype(np.float32), name: whole(*[offset] * len(scales))}


def scale_floats(file: C3D, general: float, steps: Sequence[float], offset: int) -> None:
    """Write channels as real numbers that SCALE, OFFSET and GEN_SCALE convert."""
    plates = file.analog.shape[1] // 6
    scales = np.tile(np.repeat(steps, 3), plates).astype(np.float32)
    file.analog = file.analog / scales / general + offset
    file.groups["ANALOG"] |= {"GEN_SCALE": real(general), "SCALE": scales, "OFFSET": whole(*[offset] * len(scales))}


def add_channels(file: C3D, names: Sequence[str], *, units: Sequence[str] = (), labelled: bool = True) -> None:
    """Add channels with small numbers after those of the plates."""
    samples, count = len(file.analog), len(names)
    waves = np.sin(np.arange(samples)[:, None] * np.linspace(0.01, 0.05, count)) / 2
    file.analog = np.hstack([file.analog, waves])
    analog = file.groups["ANALOG"]
    total = file.analog.shape[1]
    if labelled:
        analog["LABELS"] = [*analog["LABELS"], *names]
        analog["UNITS"] = [*analog["UNITS"], *(units or ["V"] * count)]
    analog |= {"USED": whole(total), "SCALE": np.ones(total, np.float32), "OFFSET": np.zeros(total, np.int16)}


def shuffle_channels(file: C3D) -> None:
    """Store the channels in another order, with the plates' numbers changed alike."""
    order = np.random.default_rng(3).permutation(file.analog.shape[1])
    file.analog = file.analog[:, order]
    labels = list(file.groups["ANALOG"]["LABELS"])
    units = list(file.groups["ANALOG"]["UNITS"])
    file.groups["ANALOG"] |= {"LABELS": [labels[i] for i in order], "UNITS": [units[i] for i in order]}
    place = np.argsort(order).astype(np.int16) + np.int16(1)
    put(file, "FORCE_PLATFORM", "CHANNEL", place.reshape(-1, 6).T.astype(np.int16))


def add_plate(file: C3D, corners_mm: Sequence[Sequence[float]]) -> None:
    """Add a plate that nobody steps on, with channels of nothing but noise."""
    noise = np.random.default_rng(5).normal(size=(len(file.analog), 6)) * np.repeat([0.3, 10.0], 3)
    total = file.analog.shape[1] + 6
    number = total // 6
    file.analog = np.hstack([file.analog, noise])
    analog, platform = file.groups["ANALOG"], file.groups["FORCE_PLATFORM"]
    analog["LABELS"] = [*analog["LABELS"], *(f"{name}{number}" for name in ("Fx", "Fy", "Fz", "Mx", "My", "Mz"))]
    analog["UNITS"] = [*analog["UNITS"], *PLATE_UNITS]
    analog |= {"USED": whole(total), "SCALE": np.ones(total, np.float32), "OFFSET": np.zeros(total, np.int16)}
    new = np.array(corners_mm, np.float32).T[..., None]
    platform["CORNERS"] = np.concatenate([np.asarray(platform["CORNERS"], np.float32), new], axis=2)
    platform["ORIGIN"] = np.hstack([np.asarray(platform["ORIGIN"], np.float32), [[0], [0], [-40]]]).astype(np.float32)
    platform["CHANNEL"] = np.arange(1, total + 1, dtype=np.int16).reshape(-1, 6).T
    platform |= {"USED": whole(number), "TYPE": whole(*[2] * number)}


def all_corners(file: C3D, corners_mm: Sequence[Sequence[float]]) -> None:
    """Give every plate the same corners."""
    same = np.repeat(np.array(corners_mm, np.float32).T[..., None], 3, axis=2)
    put(file, "FORCE_PLATFORM", "CORNERS", same)


def drop_channels(file: C3D, count: int) -> None:
    """Leave out the last channels, with all that is said of them."""
    kept = file.analog.shape[1] - count
    file.analog = file.analog[:, :kept]
    analog = file.groups["ANALOG"]
    for name in ("LABELS", "UNITS", "SCALE", "OFFSET"):
        analog[name] = analog[name][:kept]
    analog["USED"] = whole(kept)


def to_type_4(file: C3D) -> None:
    """Give the plates a calibration matrix that changes nothing."""
    put(file, "FORCE_PLATFORM", "TYPE", whole(4, 4, 4))
    put(file, "FORCE_PLATFORM", "CAL_MATRIX", np.repeat(np.eye(6, dtype=np.float32)[..., None], 3, axis=2))


def to_type_3(file: C3D, a_mm: float = 120.0, b_mm: float = 200.0) -> None:
    """Give the plates the eight channels of four sensors, ``a_mm`` and ``b_mm`` from the middle along x and y."""
    fx, fy, fz, mx, my, mz = np.moveaxis(file.analog.reshape(len(file.analog), -1, 6), 2, 0)
    by_x, by_y = my / a_mm, mx / b_mm
    horizontal = [fx / 2 - mz / b_mm / 4, fx / 2 + mz / b_mm / 4, fy / 2 + mz / a_mm / 4, fy / 2 - mz / a_mm / 4]
    vertical = [(fz + by_y - by_x) / 4, (fz + by_y + by_x) / 4, (fz - by_y + by_x) / 4, (fz - by_y - by_x) / 4]
    channels = np.stack([*horizontal, *vertical], axis=2)
    plates = channels.shape[1]
    file.analog = channels.reshape(len(channels), -1)
    names = ("fx12", "fx34", "fy14", "fy23", "fz1", "fz2", "fz3", "fz4")
    file.groups["ANALOG"] |= {
        "USED": whole(8 * plates), "LABELS": [f"{i + 1}{name}" for i in range(plates) for name in names],
        "UNITS": ["N"] * 8 * plates, "SCALE": np.ones(8 * plates, np.float32),
        "OFFSET": np.zeros(8 * plates, np.int16),
    }  # fmt: skip
    origins = np.asarray(file.groups["FORCE_PLATFORM"]["ORIGIN"], np.float32)
    origins[:2] = [[a_mm], [b_mm]]
    file.groups["FORCE_PLATFORM"] |= {
        "TYPE": whole(*[3] * plates), "ORIGIN": origins,
        "CHANNEL": np.arange(1, 8 * plates + 1, dtype=np.int16).reshape(plates, 8).T,
    }  # fmt: skip


def slope(file: C3D, degrees: float) -> None:
    """Turn the plates about the axis across the walk, with the same loads: those of the plain walk."""
    turn = _rising(degrees)
    corners = np.asarray(file.groups["FORCE_PLATFORM"]["CORNERS"], float)
    middle = corners.mean(axis=1, keepdims=True)
    turned = middle + np.einsum("ij,jkp->ikp", turn, corners - middle)
    origins = np.asarray(file.groups["FORCE_PLATFORM"]["ORIGIN"], float)
    for number in range(corners.shape[2]):
        level, sloped = _axes(corners[..., number]), _axes(turned[..., number])
        six = slice(6 * number, 6 * number + 6)
        force, moment = np.split(file.analog[:, six], 2, axis=1)
        # the moment about the transducer's origin, which moves with the plate: it lies below the middle of the surface
        before, after = (middle[:, 0, number] - axes @ origins[:, number] for axes in (level, sloped))
        force, moment = force @ level.T, moment @ level.T
        moment = moment + np.cross(before - after, force)
        file.analog[:, six] = np.hstack([force @ sloped, moment @ sloped])
    put(file, "FORCE_PLATFORM", "CORNERS", turned.astype(np.float32))


def lean_axes(file: C3D, degrees: float) -> None:
    """Write points and corners in axes that rise along the walk, as of cameras calibrated on a raised treadmill."""
    turn = _rising(degrees)
    file.points = file.points @ turn
    if "FORCE_PLATFORM" in file.groups:
        corners = np.asarray(file.groups["FORCE_PLATFORM"]["CORNERS"], float)
        put(file, "FORCE_PLATFORM", "CORNERS", np.einsum("ji,jkp->ikp", turn, corners).astype(np.float32))


def _rising(degrees: float) -> NDArray[np.float64]:
    """Return the rotation about the axis across the walk that lifts what lies ahead."""
    angle = np.deg2rad(degrees)
    return np.array([[np.cos(angle), 0, -np.sin(angle)], [0, 1, 0], [np.sin(angle), 0, np.cos(angle)]])


def _axes(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the axes of a plate by its corners (axis, corner): x to corners 1 and 4, y to 1 and 2, z downwards."""
    x = corners[:, 0] - corners[:, 1]
    y = corners[:, 0] - corners[:, 3]
    x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
    return np.stack([x, y, np.cross(x, y)], axis=1)
