"""Writing of C3D files with known points, plates and events; :mod:`as_clean` has known walks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import ezc3d
import numpy as np
from numpy.typing import NDArray

from tests.support.walks.as_clean import ANALOG_HZ, MARKER_HZ, Rectangle

Array = NDArray[np.float64]

LEVEL = np.eye(3)


class Channels(NamedTuple):
    """A type 2 plate: corners (4, 3), m, file axes, and channels (sample, 6), N and N m, plate axes."""

    corners: Array
    readings: Array


def channels(
    plate: Rectangle, force: Array, moment: Array, turn: Array, *, depth_m: float = 0.02, ramp: Array = LEVEL
) -> Channels:
    """Return a plate with its sensor below the top, from its wrench (time, 3) about the lab origin.

    Args:
        turn: (3, 3) rotation from ISB lab axes to the file's.
        ramp: (3, 3) axes of the ground that the plate is in, as columns: uphill along it, its normal, to the right.
    """
    axes = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]) @ ramp.T  # rows: plate axes in the lab
    corners = plate.corners @ ramp.T
    sensor = corners.mean(axis=0) - depth_m * ramp[:, 1]
    about_sensor = moment - np.cross(sensor, force)
    return Channels(corners @ turn.T, np.hstack([force @ axes.T, about_sensor @ axes.T]))


def write_c3d(
    path: Path,
    points: Mapping[str, Array],
    *,
    unit: str = "mm",
    first_frame: int = 1,
    outputs: Mapping[str, Mapping[str, Array]] | None = None,
    events: Sequence[tuple[float, str, str]] | None = None,
    plates: Sequence[Channels] = (),
    depth_m: float = 0.02,
    zero: tuple[int, int] = (0, 0),
    processing: Mapping[str, float] | None = None,
    marker_hz: float = MARKER_HZ,
    analog_hz: float = ANALOG_HZ,
) -> Path:
    """Write a C3D file and return its path.

    Args:
        points: label -> (frame, 3), m, file axes.
        unit: length unit of the file, mm or m.
        first_frame: number of the first frame, counted from 1.
        outputs: group (ANGLES, MOMENTS, ...) -> label -> (frame, 3): model outputs among the points.
        events: (seconds on the recording's time axis, label, context).
        plates: type 2 plates with sensors ``depth_m`` below the top.
        zero: FORCE_PLATFORM:ZERO.
        processing: numbers of the PROCESSING group.
        marker_hz, analog_hz: rates.
    """
    file, per_m = ezc3d.c3d(), {"mm": 1e3, "m": 1.0}[unit]
    stored = {label: per_m * point for label, point in points.items()}
    for group, values in (outputs or {}).items():
        file.add_parameter("POINT", group, list(values))
        stored |= values
    everything = np.moveaxis(np.stack(list(stored.values())), -1, 0)
    file["data"]["points"] = np.insert(everything, 3, 1.0, axis=0)
    file["header"]["points"]["first_frame"] = first_frame - 1
    point = file["parameters"]["POINT"]
    point["LABELS"]["value"], point["UNITS"]["value"], point["RATE"]["value"] = list(stored), [unit], [marker_hz]
    if plates:
        _add_plates(file, plates, per_m, depth_m, zero, analog_hz)
    if events is not None:
        _add_events(file, events)
    for name, value in (processing or {}).items():
        file.add_parameter("PROCESSING", name, [value])
    file.write(str(path))
    return path


def _add_plates(
    file: ezc3d.c3d, plates: Sequence[Channels], per_m: float, depth_m: float, zero: tuple[int, int], rate_hz: float
) -> None:
    """Set existing parameters; ``add_parameter`` would make floats of integers, which ezc3d refuses."""
    count = len(plates)
    scale = np.repeat([1.0, per_m], 3)
    file["data"]["analogs"] = np.hstack([plate.readings * scale for plate in plates]).T[None]
    analog, platform = file["parameters"]["ANALOG"], file["parameters"]["FORCE_PLATFORM"]
    analog["RATE"]["value"] = [rate_hz]
    analog["LABELS"]["value"] = [f"{name}{i}" for i in range(count) for name in ("Fx", "Fy", "Fz", "Mx", "My", "Mz")]
    analog["UNITS"]["value"] = ["N", "N", "N", "Nmm", "Nmm", "Nmm"] * count
    analog["SCALE"]["value"], analog["OFFSET"]["value"] = np.ones(6 * count), np.zeros(6 * count, dtype=int)
    platform["USED"]["value"], platform["TYPE"]["value"] = np.array([count]), np.full(count, 2)
    platform["ZERO"]["value"] = np.array(zero)
    platform["CORNERS"]["value"] = per_m * np.stack([plate.corners.T for plate in plates], axis=-1)
    platform["ORIGIN"]["value"] = np.tile([[0.0], [0.0], [-per_m * depth_m]], count)
    platform["CHANNEL"]["value"] = np.arange(1, 6 * count + 1).reshape(count, 6).T


def _add_events(file: ezc3d.c3d, events: Sequence[tuple[float, str, str]]) -> None:
    times = np.array([time for time, _, _ in events])
    file.add_parameter("EVENT", "LABELS", [label for _, label, _ in events])
    file.add_parameter("EVENT", "CONTEXTS", [context for _, _, context in events])
    file.add_parameter("EVENT", "TIMES", np.stack([times // 60, times % 60]))
