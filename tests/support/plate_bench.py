"""Plates of known load: read from files, or made by statics in any pose, sensor by sensor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.plates.parameters import Plate, plates_from_parameters
from pipeline.plates.wrench import decode

Array = NDArray[np.float64]

ROUNDING = 1e-10  # double arithmetic in another order: 1e-14 measured, lever arms of 10 m allowed for


def open_c3d(path: Path, *, with_platforms: bool = True) -> tuple[Array, dict[str, Any], float, list[Any]]:
    """Return analog (samples, channels), FORCE_PLATFORM values, metres per length unit and ezc3d's platforms."""
    content = ezc3d.c3d(str(path), extract_forceplat_data=with_platforms)
    values = {k: v["value"] for k, v in content["parameters"]["FORCE_PLATFORM"].items() if k != "__METADATA__"}
    analog = content["data"]["analogs"][0].T
    length_unit_m = {"mm": 1e-3, "m": 1.0}[content["parameters"]["POINT"]["UNITS"]["value"][0]]
    return analog, values, length_unit_m, content["data"].get("platform", [])


def assert_close(actual: Array, expected: Array, relative: float = ROUNDING) -> None:
    """Compare with a tolerance relative to the largest expected value."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=relative * max(np.abs(expected).max(initial=0), 1e-12))


def about_centre(force: Array, moment: Array, plate: Plate, length_unit_m: float) -> Array:
    """Return the moment about the mean of the corners, as ezc3d has it."""
    return moment - np.cross(plate.corners.mean(axis=0) * length_unit_m, force)


class Bench:
    """A plate in a random pose and a random load on it: pressure at a point of the top plus a free moment.

    Pose and load depend on the seed only: a plate of another kind, or one whose corners are counted from another one
    on (``first_corner`` 0 to 3, its own axes turned along), bears the same.
    """

    def __init__(self, kind: int, seed: int, length_unit_m: float = 1e-3, *, first_corner: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.kind, self.unit = kind, length_unit_m
        self.axes = Rotation.random(rng=rng).as_matrix()
        self.middle_m = rng.uniform(-3, 3, 3)
        half = rng.uniform(0.2, 0.9, 2)
        self.top = -self.axes[:, 2]
        samples = 50
        self.force = rng.normal(size=(samples, 3)) * 100 + 700 * self.top
        self.cop = self.middle_m + (rng.uniform(-1, 1, (samples, 3)) * [*half, 0]) @ self.axes.T
        self.free = rng.normal(size=samples) * 10
        self.moment = np.cross(self.cop, self.force) + self.free[:, None] * self.top
        self.axes = self.axes @ Rotation.from_euler("z", first_corner * 90, degrees=True).as_matrix()
        half = half[::-1] if first_corner % 2 else half
        quadrants = np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
        self.corners_m = self.middle_m + (quadrants * [*half, 0]) @ self.axes.T
        if kind == 3:
            self.origin_m = np.array([*half * 0.8, -rng.uniform(0.02, 0.1)])
        else:
            self.origin_m = rng.uniform(-1, 1, 3) * 0.01 - [0, 0, 0.05]
        self.cal_matrix = np.diag([1.5, 1.5, 6, 700, 700, 400]) + rng.normal(size=(6, 6)) * 0.1
        self.readings = getattr(self, f"_type_{kind}")(rng)

    def _in_plate(self, vectors: Array) -> Array:
        return np.array([[vector @ axis for axis in self.axes.T] for vector in vectors])

    def _type_1(self, _: np.random.Generator) -> Array:
        in_plane = self._in_plate(self.cop - self.middle_m)[:, :2] / self.unit
        return np.column_stack([self._in_plate(self.force), in_plane, -self.free / self.unit])

    def _type_2(self, _: np.random.Generator) -> Array:
        sensor = self.middle_m - self.axes @ self.origin_m
        moment = np.cross(self.cop - sensor, self.force) + self.free[:, None] * self.top
        return np.column_stack([self._in_plate(self.force), self._in_plate(moment) / self.unit])

    def _type_3(self, rng: np.random.Generator) -> Array:
        """Put a force into each of eight sensors so that they add up to the load; two directions are free."""
        a, b, az0 = self.origin_m
        places = [[0, b], [0, -b], [a, 0], [-a, 0], [a, b], [-a, b], [-a, -b], [a, -b]]
        directions = np.eye(3)[[0, 0, 1, 1, 2, 2, 2, 2]]
        at = np.array([[x, y, -az0] for x, y in places])  # from the middle of the top, z into the plate
        effect = np.vstack([directions.T, np.cross(at, directions).T])
        moment = np.cross(self.cop - self.middle_m, self.force) + self.free[:, None] * self.top
        load = np.column_stack([self._in_plate(self.force), self._in_plate(moment)])
        free_play = np.linalg.svd(effect)[2][6:]
        readings: Array = load @ np.linalg.pinv(effect).T + rng.normal(size=(len(load), 2)) * 100 @ free_play
        return readings

    def _type_4(self, rng: np.random.Generator) -> Array:
        readings: Array = np.linalg.solve(self.cal_matrix, self._type_2(rng).T).T.astype(float)
        return readings

    def parameters(self) -> dict[str, Any]:
        return {
            "USED": np.array([1]),
            "TYPE": np.array([self.kind]),
            "CORNERS": (self.corners_m / self.unit).T[:, :, None],
            "ORIGIN": (self.origin_m / self.unit)[:, None],
            "CHANNEL": np.arange(1, self.readings.shape[1] + 1)[:, None],
            "CAL_MATRIX": self.cal_matrix[:, :, None],
            "ZERO": np.array([1, 10]),
        }

    def decode(self, parameters: dict[str, Any] | None = None) -> tuple[Array, Array]:
        plate = plates_from_parameters(parameters or self.parameters())[0]
        return decode(self.readings, plate, length_unit_m=self.unit, moment_unit_n_m=self.unit)

    def write(self, path: Path) -> None:
        content = ezc3d.c3d()
        parameters = content["parameters"]
        samples, channels = self.readings.shape
        parameters["POINT"]["LABELS"]["value"] = ["A"]
        parameters["POINT"]["RATE"]["value"] = parameters["ANALOG"]["RATE"]["value"] = [100.0]
        parameters["POINT"]["UNITS"]["value"] = [{1e-3: "mm", 1.0: "m"}[self.unit]]
        parameters["ANALOG"]["LABELS"]["value"] = [f"C{i}" for i in range(channels)]
        content["data"]["points"] = np.ones((4, 1, samples))
        content["data"]["analogs"] = self.readings.T[None]
        for name, value in self.parameters().items():
            parameters["FORCE_PLATFORM"][name]["value"] = value
        content.write(str(path))
