"""Test of force plates by a rigid pole that is pressed on them and tilted.

A pole that is loaded at its two ends alone carries force along its axis: the force that the plate measures must point
along the axis that markers show, and pass through the tip (Baker 1997, Gait Posture 5:177; Holden, Selbie and Stanhope
2003, Gait Posture 17:205-213; Lewis et al. 2007, Gait Posture 26:317-322). This tests corners, origin, order and signs
of the channels and gains that differ, together with the camera system. It does not see a gain that all channels share.

All positions are in one frame of any axes, m; the force is that of the plate on the pole, N.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, Flags
from ..dynamics.vectors import cross, unit
from ..errors import UserError
from ..signals.filters import low_pass
from .wrench import at_instants, plate_axes

FRAMES_COMPARED = 200
RIGID_M = 0.003  # largest standard deviation of a distance on the pole: twice that of markers with 1.5 mm of noise
OFF_LINE_M = 0.03  # how far a marker may be from the line through the others, as on a short stalk
SHORTEST_M, LEAST_TRAVEL_M = 0.2, 0.05  # of a pole; markers on the floor do not travel
PRESSED_N = 100.0  # below, 2 N of noise and offset turn the force by more than a degree
PRESSED_S = 0.5
CUTOFF_HZ = 10.0  # hands tilt a pole at about 1 Hz
STEEPEST_DEG = 60.0  # farther from the plate's normal it is no pole on this plate
BESIDE_M = 0.1  # a tip that far from a plate may still press it: plates in files are misplaced
REST_N, REST_S = 4.0, 0.3  # a level that lasts is unloaded, or a steady push; the lower one is unloaded
# The centre of pressure 5 and 10 mm off changes peak moments by 7 and 14 % (McCaw and DeVita 1995, J Biomech
# 28:985-988). A force turned by 1 degree passes a knee at 0.45 m by 8 mm. A pole of 1 kg under 200 N and tilted by 30
# degrees itself bends the force by 0.7 degrees: half its weight acts across it.
POSITION_MM, DIRECTION_DEG = (5.0, 10.0), (1.0, 2.0)
POLE_MM, POLE_DEG = 50.0, 10.0  # a foot presses up to its length away from the line of the shank
LEAST_TILT_DEG = 10.0  # along each axis of the plate: a shear channel with a wrong sign turns the force by twice that
GOOD, LOOK, BAD = "good", "look", "bad"
STEPS = "stand off the plates, lift the pole for a second, then press 200 N and tilt it by 20 to 30 degrees all round"


class Pole(NamedTuple):
    """The axis of a pole, NaN where it is not seen whole."""

    centre: Array  # (time, 3) a point of the axis
    axis: Array  # (time, 3) its direction, a unit vector from the first to the last marker
    markers: tuple[int, ...]  # their columns, from one end to the other


class PlateTest(NamedTuple):
    """What a pole shows of one plate."""

    position_mm: float  # distance of the line of the force from the pole's tip, root mean square
    direction_deg: float  # angle between force and pole, root mean square
    offset_mm: Sequence[float]  # mean vector from the tip to that line, axes of the markers
    tilt_deg: Sequence[float]  # largest tilt along the plate's x and y
    force_n: float  # largest
    duration_s: float  # under load
    markers: int  # on the pole

    @property
    def verdict(self) -> str:
        """Return good, look or bad."""
        beyond = [
            sum(value > limit for limit in limits)
            for value, limits in ((self.position_mm, POSITION_MM), (self.direction_deg, DIRECTION_DEG))
        ]
        return (GOOD, LOOK, BAD)[max(*beyond, int(bool(self.untested)))]

    @property
    def like_a_pole(self) -> bool:
        """Return whether it is a pole, even on a faulty plate, rather than a leg of a person without known labels."""
        return self.markers >= 3 and self.position_mm < POLE_MM and self.direction_deg < POLE_DEG

    @property
    def untested(self) -> str:
        """Return the axes of the plate along which the pole was hardly tilted, so that shear there is not tested."""
        return " and ".join(axis for axis, tilt in zip("xy", self.tilt_deg, strict=True) if tilt < LEAST_TILT_DEG)


def find_pole(markers: Array) -> Pole | None:
    """Return the pole among markers (time, marker, 3), m; None without.

    It is the longest line of most markers that keep their distances, are on one line and travel.
    """
    some = markers[:: max(1, len(markers) // FRAMES_COMPARED)]
    mean_m, spread_m, seen = np.zeros((3, markers.shape[1], markers.shape[1]))
    for k in np.flatnonzero(np.isfinite(some).all(axis=-1).mean(axis=0) > 0.5):  # a file may have hundreds of others
        apart = np.linalg.norm(some - some[:, k, None], axis=-1)
        both = np.isfinite(apart)
        count = np.maximum(both.sum(axis=0), 1)
        seen[k], mean_m[k] = both.mean(axis=0), np.where(both, apart, 0).sum(axis=0) / count
        spread_m[k] = np.sqrt((np.where(both, apart - mean_m[k], 0) ** 2).sum(axis=0) / count)
    rigid = (seen > 0.5) & (spread_m < RIGID_M)
    travels = np.nan_to_num(np.fmax.reduce(some) - np.fmin.reduce(some)).max(axis=-1) > LEAST_TRAVEL_M
    best: tuple[int, float, tuple[int, ...]] = (0, 0.0, ())
    for i, j in np.argwhere(np.triu(rigid & (mean_m > SHORTEST_M)) & (travels[:, None] | travels)).tolist():
        along = (mean_m[i] ** 2 - mean_m[j] ** 2 + mean_m[i, j] ** 2) / (2 * mean_m[i, j])
        near = np.sqrt(np.clip(mean_m[i] ** 2 - along**2, 0, None)) < OFF_LINE_M
        between = np.flatnonzero(rigid[i] & rigid[j] & near & (along >= 0) & (along <= mean_m[i, j]))
        members = sorted({i, j, *between.tolist()}, key=lambda k: float(along[k]))
        best = max(best, (len(members), float(mean_m[i, j]), tuple(members)))
    chosen = best[2]
    if not chosen:
        return None
    points, places = markers[:, chosen], mean_m[chosen[0], list(chosen)]
    centre = points.mean(axis=1)
    return Pole(centre, unit(((points - centre[:, None]) * (places - places.mean())[:, None]).sum(axis=1)), chosen)


def compare_plates(
    markers: Array, force: Array, moment: Array, corners: Array, *, time: Array, instants: Array, numbers: Sequence[int]
) -> dict[int, PlateTest]:
    """Return what a pole shows of each plate that it presses, by the plate's number.

    Args:
        markers: (time, marker, 3), m, any axes.
        force, moment: (sample, plate, 3) of the plate on the pole, N, and N m about the origin, same axes.
        corners: (plate, 4, 3), m.
        time, instants: of the markers and of the samples, s.

    Raises:
        UserError: no pole is seen, or it presses no plate.
    """
    pole = find_pole(markers)
    if pole is None:
        what = f"no pole is seen: no markers {SHORTEST_M:g} m apart or more travel and keep their distance"
        raise UserError("", what, "put three markers or more on the axis of a rigid pole", "no_pole")
    wrench = np.concatenate([force, moment], axis=-1)
    axes = [plate_axes(own) for own in corners]
    zeroed = [_at_rest_zero(wrench[:, i], own[:, 2], instants) for i, own in enumerate(axes)]
    at_frames = at_instants(np.stack(zeroed, axis=1), instants, time) if zeroed else np.zeros((len(time), 0, 6))
    every = [_on_plate(pole, at_frames[:, i], *of) for i, of in enumerate(zip(axes, corners, strict=True))]
    pressed = np.array([each.pressed for each in every], dtype=bool).reshape(len(every), len(time))
    under = pressed & np.array([each.over for each in every], dtype=bool).reshape(pressed.shape)
    pressed &= under | ~under.any(axis=0)  # somebody stands on the other plates
    step_s = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    tested = {
        number: PlateTest(
            round(float(np.sqrt((each.offset_mm[rows] ** 2).sum(axis=1).mean())), 2),
            round(float(np.sqrt((each.angle_deg[rows] ** 2).mean())), 2),
            each.offset_mm[rows].mean(axis=0).round(1).tolist(),
            each.tilt_deg[rows].max(axis=0).round(1).tolist(),
            round(float(each.force_n[rows].max()), 1),
            round(float(rows.sum() * step_s), 2),
            len(pole.markers),
        )
        for number, each, rows in zip(numbers, every, pressed, strict=True)
        if rows.sum() * step_s >= PRESSED_S
    }
    if not tested:
        what = f"the pole presses no plate with {PRESSED_N:g} N for {PRESSED_S:g} s"
        raise UserError("", what, STEPS, "pole_not_pressed")
    return tested


class _OnPlate(NamedTuple):
    """A pole on a plate over the marker frames."""

    pressed: Flags  # (time,) whether the plate is loaded and the pole may stand on it
    over: Flags  # (time,) whether its tip is over the plate
    offset_mm: Array  # (time, 3) from the tip to the line of the force
    angle_deg: Array  # (time,) between force and pole
    tilt_deg: Array  # (time, 2) along the plate's x and y
    force_n: Array  # (time,)


def _on_plate(pole: Pole, wrench: Array, axes: Array, corners: Array) -> _OnPlate:
    """Return a pole on a plate with the load ``wrench`` (time, 6), its axes as columns and its corners (4, 3)."""
    force, moment, middle = wrench[:, :3], wrench[:, 3:], corners.mean(axis=0)
    steep, size = pole.axis @ axes[:, 2], np.linalg.norm(force, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        height = ((pole.centre - middle) @ axes[:, 2] / steep)[:, None]  # of the centre along the pole
        tip, axis = pole.centre - pole.axis * height, pole.axis * np.sign(height)
        offset_mm = 1e3 * cross(force, moment - cross(tip, force)) / size[:, None] ** 2
        angle_deg = np.degrees(np.arccos(np.clip((axis * force).sum(axis=1) / size, -1, 1)))
    half = np.linalg.norm([corners[0] - corners[1], corners[0] - corners[3]], axis=1) / 2
    over = (np.abs((tip - middle) @ axes[:, :2]) < half + BESIDE_M).all(axis=1)
    pressed = (np.abs(force @ axes[:, 2]) > PRESSED_N) & (np.abs(steep) > np.cos(np.radians(STEEPEST_DEG)))
    return _OnPlate(pressed, over, offset_mm, angle_deg, np.degrees(np.arcsin(np.abs(axis @ axes[:, :2]))), size)


def _at_rest_zero(wrench: Array, normal: Array, instants: Array) -> Array:
    """Return the filtered wrench (sample, 6) of a plate without its level at rest."""
    if len(instants) < 2:
        return wrench
    rate_hz = (len(instants) - 1) / (instants[-1] - instants[0])
    smooth = low_pass(wrench, rate_hz=rate_hz, cutoff_hz=CUTOFF_HZ, order=4)
    steps = np.floor(smooth[:, :3] @ normal / REST_N)
    levels, counts = np.unique(steps[np.isfinite(steps)], return_counts=True)
    lasting = levels[counts >= REST_S * rate_hz]
    if not len(lasting):
        return smooth
    rest = lasting[np.argmin(np.abs(lasting + 0.5))]
    return np.asarray(smooth - np.median(smooth[np.abs(steps - rest) <= 1], axis=0))


def in_words(number: int | str, test: PlateTest) -> str:
    """Return the result for a plate in a line: ``plate 2: 1.2 mm, 0.4 degrees: good``."""
    text = f"plate {number}: {test.position_mm:.1f} mm, {test.direction_deg:.1f} degrees: {test.verdict}"
    if test.position_mm > POSITION_MM[0]:
        shift = ", ".join(f"{round(part):+d}" for part in test.offset_mm)
        text += f"; the force passes the tip on average by ({shift}) mm along x, y, z of the file"
    if test.untested:
        text += f"; shear along the plate's {test.untested} is not tested, the pole was tilted too little"
    return text


def as_json(tests: Mapping[int, PlateTest]) -> dict[str, Any]:
    """Return tests as a file stores them, by the plate's number."""
    return {str(number): {**test._asdict(), "verdict": test.verdict} for number, test in tests.items()}


def from_json(stored: Mapping[str, Mapping[str, Any]]) -> dict[str, PlateTest]:
    """Return tests that :func:`as_json` has stored."""
    return {number: PlateTest(*(test[name] for name in PlateTest._fields)) for number, test in stored.items()}
