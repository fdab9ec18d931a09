"""A rigid pole pressed on one of several plates and tilted, by statics, in any axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.plates.loaded_pole import PlateTest
from pipeline.steps.read.plates_and_channels import compare_with_pole, decode_plates
from pipeline.steps.read.recording_file import Source, read_recording
from tests.support.files.c3d_writer import Channels, write_c3d
from tests.support.walks.as_clean import ANALOG_HZ, MARKER_HZ

Array = NDArray[np.float64]
GRAVITY_M_S2 = 9.81
REST_S, PRESSED_S = 1.5, 5.0
DEPTH_M = 0.02  # of the sensors, as write_c3d writes it
QUARTER_TURNS = list(Rotation.create_group("O").as_matrix())  # all axes that a file may have


@dataclass(frozen=True)
class Pressed:
    """A trial: markers (frame, marker, 3), m, and plates, in axes with z up; ``turn`` is from these to the file's."""

    markers: Array
    plates: list[Channels]
    plate: int  # from 0, the one that is pressed
    turn: Array

    def write(self, path: Path) -> Path:
        turned = [Channels(one.corners @ self.turn.T, one.readings) for one in self.plates]
        points = {f"M{i}": self.markers[:, i] @ self.turn.T for i in range(self.markers.shape[1])}
        return write_c3d(path, points, plates=turned, depth_m=DEPTH_M)

    def with_corners(self, corners: Array) -> Pressed:
        """Return the trial with other corners of the pressed plate in the file."""
        return self._with(Channels(corners, self.plates[self.plate].readings))

    def with_gain(self, channel: int, gain: float) -> Pressed:
        """Return the trial with another gain of a channel of the pressed plate."""
        one = self.plates[self.plate]
        return self._with(Channels(one.corners, one.readings * np.where(np.arange(6) == channel, gain, 1.0)))

    def _with(self, changed: Channels) -> Pressed:
        return replace(self, plates=[changed if i == self.plate else one for i, one in enumerate(self.plates)])


Change = Callable[[Pressed], Pressed]


def pressed_pole(seed: int, *, tilt_deg: float = 25.0, noise: float = 1.0, beside: bool = False) -> Pressed:
    """Return a pole of any length on one of one to three plates of any place and size; tip 8 cm or more off the middle.

    Args:
        tilt_deg: largest tilt, to all sides.
        noise: share of the noise of markers (0.4 mm) and channels (1 N, 0.05 N m), and of their offsets.
        beside: whether somebody stands on another plate.
    """
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 4)) + beside
    pressed = int(rng.integers(count))
    plates = [
        _corners(rng, np.array([1.3 * i - 1.0, rng.uniform(-0.3, 0.3), rng.uniform(-0.05, 0.05)])) for i in range(count)
    ]
    corners = plates[pressed]
    x, y = (corners[0] - corners[1]) / 2, (corners[0] - corners[3]) / 2
    middle = corners.mean(axis=0)
    angle = rng.uniform(0, 2 * np.pi)
    tip = middle + rng.uniform(0.55, 0.85) * (np.cos(angle) * x + np.sin(angle) * y)
    axis, height, load = _motion(rng, ANALOG_HZ, tilt_deg)
    weight_n = GRAVITY_M_S2 * rng.uniform(0.1, 1.0)
    up = np.array([0.0, 0.0, 1.0])
    across = up - (axis @ up)[:, None] * axis  # half the weight acts across a pole that is held at its upper end
    force = (load[:, None] * axis + weight_n / 2 * across) * (load > 0)[:, None]
    channels = []
    for i, own in enumerate(plates):
        on_it = force if i == pressed else np.zeros_like(force)
        point = np.broadcast_to(tip, on_it.shape)
        if beside and i == (pressed + 1) % count:
            on_it, point = np.broadcast_to(600 * up, on_it.shape), np.broadcast_to(own.mean(axis=0), on_it.shape)
        channels.append(Channels(own, _readings(rng, own, on_it, point, noise)))
    every = round(ANALOG_HZ / MARKER_HZ)
    length, number = rng.uniform(0.6, 1.6), int(rng.integers(3, 7))
    places = np.concatenate([[0.08], rng.uniform(0.15, 0.9, number - 2), [0.97]]) * length
    rng.shuffle(places)
    foot = tip + height[::every, None] * up
    markers = foot[:, None] + places[:, None] * axis[::every, None]
    markers = markers + 4e-4 * noise * rng.normal(size=markers.shape) + 1e-3 * noise * rng.normal(size=(number, 3))
    return Pressed(markers, channels, pressed, QUARTER_TURNS[int(rng.integers(len(QUARTER_TURNS)))])


def _corners(rng: np.random.Generator, middle: Array) -> Array:
    """Return corners (4, 3) of a level plate that is turned anyhow."""
    half = rng.uniform(0.2, 0.45, 2)
    signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    down = Rotation.from_euler("z", rng.uniform(0, 2 * np.pi)).as_matrix() @ np.diag([1.0, -1.0, -1.0])
    return middle + np.column_stack([signs * half, np.zeros(4)]) @ down.T


def _motion(rng: np.random.Generator, rate_hz: float, tilt_deg: float) -> tuple[Array, Array, Array]:
    """Return axis (time, 3) with z up, height of the tip over the plate, and load, N."""
    time = np.arange(round((2 * REST_S + PRESSED_S) * rate_hz)) / rate_hz
    pressed = np.clip((time - REST_S) / PRESSED_S, 0, 1)
    lean = np.radians(tilt_deg) * np.sin(np.pi * pressed) ** 0.5
    way = rng.uniform(0, 2 * np.pi) + 4 * np.pi * pressed
    axis = np.column_stack([np.sin(lean) * np.cos(way), np.sin(lean) * np.sin(way), np.cos(lean)])
    gap = np.maximum(REST_S - time, 0) + np.maximum(time - REST_S - PRESSED_S, 0)
    inside = np.clip(np.minimum(time - REST_S, REST_S + PRESSED_S - time) / 0.4, 0, 1)
    load = rng.uniform(200, 450) * inside * (1 + 0.15 * np.sin(2 * np.pi * rng.uniform(0.5, 2) * time))
    return axis, 0.3 * np.clip(gap / REST_S, 0, 1), load


def _readings(rng: np.random.Generator, corners: Array, force: Array, point: Array, noise: float) -> Array:
    """Return channels (sample, 6) of type 2 with the moment about a sensor below the top, N and N m."""
    x = corners[0] - corners[1]
    down = np.cross(x, corners[0] - corners[3])
    axes = np.stack([x, np.cross(down, x), down])
    axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    sensor = corners.mean(axis=0) + DEPTH_M * axes[2]
    clean = np.hstack([force @ axes.T, np.cross(point - sensor, force) @ axes.T])
    scale = np.repeat([1.0, 0.05], 3)
    return clean + noise * scale * (rng.normal(size=clean.shape) + rng.uniform(-10, 10, 6))


def measured(trial: Pressed, folder: Path) -> dict[int, PlateTest]:
    """Return the tests of a trial after its way through a C3D file, in the axes of the file."""
    recording = read_recording(Source(trial.write(folder / "pole.c3d")))
    axes = np.eye(3)
    return compare_with_pole(recording, decode_plates(recording, axes), axes, person=False)


def of_pressed(trial: Pressed, folder: Path) -> PlateTest:
    """Return the test of the plate under the pole, the only one that is tested."""
    ((number, test),) = measured(trial, folder).items()
    assert number == trial.plate + 1
    return test


def moved(*by_m: float) -> Change:
    return lambda trial: trial.with_corners(trial.plates[trial.plate].corners + np.array(by_m))


def ordered(*order: int) -> Change:
    return lambda trial: trial.with_corners(trial.plates[trial.plate].corners[list(order)])


def gain(channel: int, factor: float) -> Change:
    return lambda trial: trial.with_gain(channel, factor)


CHANNELS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
FAULTS: dict[str, Change] = {
    "sound": lambda trial: trial,
    **{f"{mm} mm to a side": moved(mm / 1e3, 0, 0) for mm in (8, 12, 20)},
    **{f"{mm} mm too high": moved(0, 0, mm / 1e3) for mm in (20, 40)},
    **{
        f"corners in the order {' '.join(str(i + 1) for i in order)}": ordered(*order)
        for order in [(1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2), (3, 2, 1, 0), (1, 0, 3, 2)]
    },
    **{f"{name} with the wrong sign": gain(i, -1.0) for i, name in enumerate(CHANNELS)},
    **{
        f"{name} {100 * (1 - by):.0f} % too small": gain(i, by) for by in (0.9, 0.75) for i, name in enumerate(CHANNELS)
    },
}
