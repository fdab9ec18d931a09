"""Force plates: position, steps on them, and the readings of their six channels.

Here in file axes: z up, metres. Plates are of C3D type 2: x and y in the surface, z down; the channels contain the
reaction on the walker, with moments about a sensor below the surface.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Flags
from .curves import mirror_to_side, rotation
from .loads import Ground
from .walk import Walk

# corners of the sole from the point under the ankle, in foot lengths: forwards, up, outwards
SOLE = np.array([[-0.26, 0, -0.16], [-0.26, 0, 0.16], [0.74, 0, 0.20], [0.74, 0, -0.20]])
PATCH_M = 0.04  # side of the patch that presses on the ground, of a heel or the ball of a foot
DIRECTIONS = {"+X": (1, 0, 0), "-X": (-1, 0, 0), "+Y": (0, 1, 0), "-Y": (0, -1, 0)}


@dataclass(frozen=True)
class ForcePlate:
    """A force plate, rotated by ``turn_deg`` about the vertical.

    ``length_m`` is along its x axis, ``width_m`` along y.
    """

    centre_m: tuple[float, float]
    length_m: float = 0.6
    width_m: float = 0.5
    turn_deg: float = 0.0
    sensor_depth_m: float = 0.04

    @property
    def axes(self) -> Array:
        """Return the plate's axes as columns in file axes."""
        turn = np.radians(self.turn_deg)
        x, down = np.array([np.cos(turn), np.sin(turn), 0.0]), np.array([0.0, 0.0, -1.0])
        return np.stack([x, np.cross(down, x), down], axis=-1)

    @property
    def corners(self) -> Array:
        """Return the corners (4, 3), m: +x +y, -x +y, -x -y, +x -y in plate axes."""
        signs = np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
        return np.append(self.centre_m, 0.0) + signs * (self.length_m / 2, self.width_m / 2, 0) @ self.axes.T

    def holds(self, points: Array) -> Flags:
        """Return true for points (..., 3), file axes, over the plate; false for NaN."""
        local = np.abs((points - np.append(self.centre_m, 0.0)) @ self.axes)
        return np.asarray((local[..., 0] <= self.length_m / 2) & (local[..., 1] <= self.width_m / 2))

    def carries(self, points: Array) -> tuple[Array, Array]:
        """Return the share (...) of an even patch around points (..., 3) that is over the plate, and its centre."""
        half = np.array([self.length_m, self.width_m, np.inf]) / 2
        local = (points - np.append(self.centre_m, 0.0)) @ self.axes
        low, high = np.maximum(local - PATCH_M / 2, -half), np.minimum(local + PATCH_M / 2, half)
        share = np.clip(high - low, 0, None)[..., :2].prod(axis=-1) / PATCH_M**2
        return np.nan_to_num(share), points + ((low + high) / 2 - local) @ self.axes.T


def file_axes(direction: str) -> Array:
    """Return R (3, 3) with v_file = R @ v_isb for a walk along +X, -X, +Y or -Y."""
    forward, up = np.array(DIRECTIONS[direction], float), np.array([0.0, 0.0, 1.0])
    return np.stack([forward, up, np.cross(forward, up)], axis=-1)


def footprint(walk: Walk, step: int, direction: str) -> Array:
    """Return the corners (4, 3) of the flat sole of one step in file axes, m."""
    sole = mirror_to_side(walk.walker.foot_m * SOLE, int(walk.side[step]))
    return np.asarray((walk.place[step] + sole @ rotation(1, walk.yaw[step]).T) @ file_axes(direction).T)


def stepping_on(walk: Walk, direction: str, plate: ForcePlate, steps: tuple[int, ...]) -> Walk:
    """Return the walk moved so that the numbered steps are centred on the plate."""
    prints = [footprint(walk, int(np.flatnonzero(walk.number == number)[0]), direction) for number in steps]
    return walk.move((np.append(plate.centre_m, 0.0) - np.mean(prints, axis=(0, 1))) @ file_axes(direction))


def verdict(walk: Walk, step: int, direction: str, plates: tuple[ForcePlate, ...]) -> tuple[str, str]:
    """Return the plates under a step ("1", "1 2", "") and the reason to reject it."""
    overlap = (walk.strike < walk.off[step]) & (walk.off > walk.strike[step]) & (walk.number != walk.number[step])
    prints = [footprint(walk, one, direction) for one in (step, *np.flatnonzero(overlap))]
    inside = [[plate.holds(foot) for foot in prints] for plate in plates]
    under = [i for i, feet in enumerate(inside) if feet[0].any()]
    names = " ".join(str(i + 1) for i in under)
    if not under:
        return names, "no plate"
    if any(foot.any() for i in under for foot in inside[i][1:]):
        return names, "two feet"
    return names, "" if inside[under[0]][0].all() else "foot partly off the plate"


def channels(on_feet: Ground, direction: str, plates: tuple[ForcePlate, ...]) -> Array:
    """Return the channels (time, plate, 6): Fx Fy Fz Mx My Mz, N and N m, plate axes.

    A foot loads the plate under the patch around its centre of pressure.
    """
    turn = file_axes(direction)
    force, point = on_feet.force @ turn.T, on_feet.pressure_centre @ turn.T
    free = on_feet.free_moment[..., None] * turn[:, 1]
    readings = np.zeros((len(force), len(plates), 6))
    for i, plate in enumerate(plates):
        share, centre = plate.carries(point)
        here, share = share[..., None] > 0, share[..., None]
        sensor = np.append(plate.centre_m, -plate.sensor_depth_m)
        moment = np.where(here, share * (np.cross(centre - sensor, force) + free), 0.0).sum(axis=1)
        readings[:, i, :3] = np.where(here, share * force, 0.0).sum(axis=1) @ plate.axes
        readings[:, i, 3:] = moment @ plate.axes
    return readings
