"""Smooth motions of the whole person with exact derivatives: walk, squat, arm swings while standing, standing still.

Pelvis, trunk, head and arms move by sums of sines; feet stand still or step forward by smooth steps, and the knees
follow from hips and ankles. Lab axes: x forward, y up, z to the right, the floor at y = 0; m, s, rad.
A walk may go up a ramp, which rises forwards through the origin: then feet follow the ramp, and the rest stays upright.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.support.whole_body import jets
from tests.support.whole_body.jets import Jet
from tests.support.whole_body.person import ANKLE_HEIGHT, JOINT_OF, PARENT, SIDES, UPPER, Person

Array = NDArray[np.float64]

UP = np.array([0.0, 1.0, 0.0])

MOTIONS = ("walk", "squat", "arm_swings")
STILL = "still"
PERIOD_S = {"walk": 1.3, "squat": 2.6, "arm_swings": 1.8, STILL: 1.0}
STRIDE = 0.42  # of the walk, share of the body height
HARMONICS = 8  # of the pelvis' sway that keeps the person balanced
SWING_S, LIFT_S, HAND_OVER_S = 0.09, 0.065, 0.02  # standard deviations of a step forward, of its height, of the load
PRESSED_M = 0.05  # point of a foot on which it presses, ahead of the ankle

# angles about z, x and y of the segment further from the pelvis in the nearer one's axes, turned in this order; right
MEAN = {
    "waist": (-0.06, 0.0, 0.0), "neck": (0.11, 0.0, 0.0), "shoulder": (0.05, -0.16, 0.1),
    "elbow": (0.45, -0.06, 0.2), "wrist": (0.1, 0.05, 0.0),
}  # fmt: skip
SIZE: dict[str, dict[str, tuple[float, float, float]]] = {
    "walk": {
        "pelvis": (0.03, 0.05, 0.09), "waist": (0.05, 0.07, 0.15), "neck": (0.05, 0.05, 0.1),
        "shoulder": (0.35, 0.06, 0.12), "elbow": (0.25, 0.04, 0.15), "wrist": (0.15, 0.08, 0.0),
    },
    "squat": {
        "pelvis": (0.15, 0.03, 0.04), "waist": (0.25, 0.04, 0.06), "neck": (0.15, 0.05, 0.1),
        "shoulder": (0.7, 0.1, 0.15), "elbow": (0.3, 0.05, 0.2), "wrist": (0.2, 0.1, 0.0),
    },
    "arm_swings": {
        "pelvis": (0.04, 0.03, 0.08), "waist": (0.08, 0.06, 0.25), "neck": (0.15, 0.1, 0.35),
        "shoulder": (1.1, 0.25, 0.4), "elbow": (0.5, 0.08, 0.35), "wrist": (0.4, 0.2, 0.0),
    },
    STILL: dict.fromkeys(("pelvis", *MEAN), (0.0, 0.0, 0.0)),
}  # fmt: skip
HEIGHT = {"walk": 0.89, "squat": 0.84, "arm_swings": 0.93, STILL: 0.985}  # of the pelvis above the ankles, in legs
BOB = {"walk": 0.01, "squat": 0.10, "arm_swings": 0.008, STILL: 0.0}  # its half range, in legs
BENT, SHORTER = (
    0.2,
    1.2,
)  # by how much a ramp lowers it, in legs, and shortens strides, both per gradient: legs reach the foot behind
TWIST = 0.08  # of thigh and shank about their lengths
SECOND = 0.25  # size of the second wave to that of the first


@dataclass(frozen=True)
class Motion:
    """A motion: which one, its phases, and the pelvis' sway; :func:`tests.support.whole_body.truth.balanced` sets it.

    ``sway`` (2, harmonic): complex amplitudes of the pelvis' x and z, m, of waves exp(2 pi i k t / period).
    """

    kind: str
    seed: int
    belt_m_s: float = 0.0  # the walk on a treadmill: the lab moves forward at this speed with the person
    slope_rad: float = 0.0  # of the ramp, uphill positive
    sway: NDArray[np.complex128] = field(default_factory=lambda: np.zeros((2, HARMONICS + 1), dtype=complex))

    @property
    def period_s(self) -> float:
        """The time after which all repeats, a walk's places apart."""
        return PERIOD_S[self.kind]

    @property
    def ramp(self) -> Array:
        """Return the axes (3, 3) of the ground as columns: uphill along it, its normal, to the right."""
        c, s = np.cos(self.slope_rad), np.sin(self.slope_rad)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def speed_m_s(self, person: Person) -> float:
        """Return the mean speed along the ground; with ``belt_m_s`` equal to it the walk stays in its place."""
        return self.stride_m(person) / self.period_s if self.kind == "walk" else 0.0

    def stride_m(self, person: Person) -> float:
        """Return the length of a stride of the walk along the ground, shorter on a ramp."""
        return STRIDE * person.height_m * (1 - SHORTER * abs(float(np.tan(self.slope_rad))))


class Moved(NamedTuple):
    """Poses in time.

    ``axes[body]`` (time, 3, 3): columns are the body's axes in the lab; ``pelvis`` (time, 3): midpoint of the hip
    centres; ``pressed`` (time, side, 3): where each foot presses on the floor, as planned; ``share`` (time, side): of
    the force, adds to 1; ``normal`` (3,): of the floor.
    """

    axes: dict[str, Jet]
    pelvis: Jet
    pressed: Array
    share: Array
    normal: Array = UP


def moved(person: Person, motion: Motion, time: Array) -> Moved:
    """Return the poses at the instants (time,), s, any."""
    now = Jet(time, np.ones_like(time))
    phase = _phases(motion)
    axes = {"pelvis": _turned(now, motion, "pelvis", phase, (-0.05, 0.0, 0.0))}
    for body in UPPER:
        joint = JOINT_OF[body]
        axes[body] = axes[PARENT[body]] @ _turned(now, motion, joint, phase, _of_side(MEAN, joint))
    pelvis = _pelvis(now, person, motion, phase["bob"][0])
    pressed, normal = [], motion.ramp[:, 1]
    for number, side in enumerate(SIDES):
        ankle, foot = _foot(now, person, motion, number)
        axes[f"foot_{side}"] = foot
        twists = [_waves(now, motion, TWIST * (motion.kind != STILL), phase[f"hip_{side}"][k]) for k in (0, 1)]
        _place_leg(axes, person, side, pelvis, ankle, twists)
        point = (ankle + foot @ np.array([PRESSED_M, 0.0, 0.0])).value
        pressed.append(point - (point @ normal)[:, None] * normal)
    return Moved(axes, pelvis, np.stack(pressed, axis=1), _share(now, motion), normal)


def _of_side(table: dict[str, tuple[float, float, float]], joint: str) -> tuple[float, float, float]:
    """Return the entry of a joint; the left side mirrors turns about x and y."""
    name, _, side = joint.rpartition("_")
    z, x, y = table[name or joint]
    return (z, -x, -y) if side == "left" else (z, x, y)


def _phases(motion: Motion) -> dict[str, Any]:
    """Return phases (angle, wave) of each joint; arms swing in turn in a walk, together in a squat."""
    rng = np.random.default_rng([motion.seed, 33])
    names = ("pelvis", "bob", *JOINT_OF.values())
    phase = {name: 2 * np.pi * rng.random((3, 2)) for name in names}
    apart = {"walk": np.pi, "squat": 0.0}.get(motion.kind)
    for name in ("shoulder", "elbow") if apart is not None else ():
        phase[f"{name}_left"][0] = phase[f"{name}_right"][0] + apart * np.array([1, 2]) + rng.uniform(-0.3, 0.3, 2)
    return phase


def _waves(now: Jet, motion: Motion, size: float, phase: Array) -> Jet:
    """Return a sum of two sines of the period and of half of it."""
    rate = 2 * np.pi / motion.period_s
    return size * (jets.sin(now * rate + phase[0]) + SECOND * jets.sin(now * (2 * rate) + phase[1]))


def _turned(now: Jet, motion: Motion, joint: str, phase: dict[str, Any], mean: tuple[float, float, float]) -> Jet:
    sizes = SIZE[motion.kind]
    size = sizes[joint if joint in sizes else joint.rpartition("_")[0]]
    z, x, y = (_waves(now, motion, size[k], phase[joint][k]) + mean[k] for k in range(3))
    return jets.turn(2, z) @ jets.turn(0, x) @ jets.turn(1, y)


def _leg_m(person: Person) -> float:
    return min(person.length(f"thigh_{side}") + person.length(f"shank_{side}") for side in SIDES)


def _pelvis(now: Jet, person: Person, motion: Motion, phase: Array) -> Jet:
    rate, leg = 2 * np.pi / motion.period_s, _leg_m(person)
    height = HEIGHT[motion.kind] - BENT * abs(float(np.tan(motion.slope_rad)))
    up = ANKLE_HEIGHT * person.height_m + leg * (height + _waves(now, motion, BOB[motion.kind] / (1 + SECOND), phase))
    aside = []
    for amplitudes in motion.sway:
        waves = [jets.cos(now * (k * rate) + float(np.angle(a))) * float(abs(a)) for k, a in enumerate(amplitudes)]
        aside.append(sum(waves[1:], start=waves[0]))
    ahead = now * (motion.speed_m_s(person) - motion.belt_m_s) * float(np.cos(motion.slope_rad)) + aside[0]
    return jets.stack([ahead, up + ahead * float(np.tan(motion.slope_rad)), aside[1]])


def _foot(now: Jet, person: Person, motion: Motion, number: int) -> tuple[Jet, Jet]:
    """Return ankle centre (time, 3) and axes (time, 3, 3) of a foot."""
    still, sign = now * 0.0, (-1, 1)[number]
    ahead, lift, pitch = still + 0.01 * sign, still, still
    if motion.kind == "walk":
        steps = _steps(now.value, motion, number)
        ahead = still + motion.stride_m(person) * (steps[0] / motion.period_s - 0.5)
        for middle in steps:
            after = now - float(middle)
            ahead = ahead + motion.stride_m(person) * jets.rise(after * (1 / SWING_S))
            lift = lift + 0.05 * person.height_m * jets.bump(after * (1 / LIFT_S))
            pitch = pitch - 0.5 * jets.bump((after + 0.06) * (1 / 0.06)) + 0.2 * jets.bump((after - 0.06) * (1 / 0.06))
        ahead = ahead - motion.belt_m_s * now
    aside = still + sign * 0.055 * person.height_m
    ankle = jets.stack([ahead - PRESSED_M, lift + ANKLE_HEIGHT * person.height_m, aside])
    return ankle @ motion.ramp.T, motion.ramp @ (jets.turn(1, still - 0.12 * sign) @ jets.turn(2, pitch))


def _steps(time: Array, motion: Motion, number: int) -> Array:
    """Return the middles of the swings of a foot around the instants, s: left at whole periods, right between."""
    first, last = np.floor(time.min() / motion.period_s) - 2, np.ceil(time.max() / motion.period_s) + 2
    return np.asarray(motion.period_s * (np.arange(first, last + 1) + 0.5 * number))


def _share(now: Jet, motion: Motion) -> Array:
    """Return each foot's share (time, side) of the force."""
    if motion.kind != "walk":
        left = 0.5 + 0.1 * np.sin(2 * np.pi * now.value / motion.period_s) * (motion.kind != STILL)
        return np.stack([left, 1 - left], axis=1)
    right = 0 * now.value
    for middle in _steps(now.value, motion, 0):  # the right foot carries around the left one's swing
        for sign in (1, -1):
            right += sign * jets.rise((now - float(middle - sign * motion.period_s / 4)) * (1 / HAND_OVER_S)).value
    return np.stack([1 - right, right], axis=1)


def _place_leg(axes: dict[str, Jet], person: Person, side: str, pelvis: Jet, ankle: Jet, twists: list[Jet]) -> None:
    """Add thigh and shank: the knee bends where the pelvis faces; each turns a little about its length."""
    hip = pelvis + axes["pelvis"] @ person.place[f"thigh_{side}"]
    span = ankle - hip
    square = jets.dot(span, span)
    thigh, shank = person.length(f"thigh_{side}"), person.length(f"shank_{side}")
    assert np.sqrt(square.value.max()) < 0.995 * (thigh + shank), "a leg is stretched"
    down = jets.unit(span)
    forward = axes["pelvis"][..., 0]
    forward = jets.unit(forward - jets.dot(forward, down) * down)
    along = (square + (thigh**2 - shank**2)) * jets.power(square, -0.5) * 0.5
    knee = hip + along * down + jets.power(thigh**2 - along * along, 0.5) * forward
    right = jets.cross(down, forward)
    for body, up, twist in zip(("thigh", "shank"), (hip - knee, knee - ankle), twists, strict=True):
        y = jets.unit(up)
        axes[f"{body}_{side}"] = jets.stack([jets.cross(y, right), y, right]) @ jets.turn(1, twist)
