"""Walks of whole people that obey mechanics: steps are planned, and the body finds a path that they can carry.

Feet move as :mod:`tests.support.walks.moving_person` moves them over the steps of
:mod:`tests.support.walks.ways_of_moving`; pelvis, trunk, head and arms turn as people's do; knees follow. The height of
the hips compromises between knees that bend as people's do and a vertical force with the shape of people's. The path
over the ground brings the centre of pressure to where the feet press. Forces follow from the motion
(:mod:`tests.support.drawn.dynamics`): nothing is left over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline
from scipy.ndimage import gaussian_filter1d

from pipeline.demo.curves import Curve, cyclic, passage, rotation
from pipeline.demo.walk import FOOT_OFF
from tests.support.drawn.dynamics import GRAVITY_M_S2, UP, Body, Path, State, Total, turned
from tests.support.walks import ways_of_moving
from tests.support.walks.moving_person import foot, pressed_at, shape_of, solved
from tests.support.walks.ways_of_moving import Plan
from tests.support.whole_body.person import BODIES, PARENT, SIDES, Person

Array = NDArray[np.float64]

STEP_S = 0.0125  # between samples of the spline: curves over the cycle have no waves above 15 Hz
BESIDE = 2  # steps before and after those recorded
SMOOTH_S = 0.006  # of the planned centre of pressure, which has kinks where feet begin and end to bear
ROUNDS = 3
END_S = 0.2  # of the motion's ends, where derivatives of a spline are uncertain, and no step is recorded
KNOT_S = 0.08  # of the hips' height
KNEE_M, FORCE = 0.0029, 0.093  # by which the hips' height, and the vertical force in body weights, may miss
STRAIGHTEST_DEG = 3.0
PRESS_SIDE_M = 0.8  # the ground's force on each foot points to this height above the hips, in legs, as the demo's

# Over the cycle in percent from foot strike, foot off at 62: flexion of the knee that the hips' height aims at, the way
# of the centre of pressure ahead of the ankle in foot lengths, and the pitch of the sole, toes up. They begin with
# Winter (1991) and are fitted to angles, forces and moments of Schwartz et al. (2008) of people who walk slowly, freely
# and fast: in ordinary walks, 88 % of the samples of angles and moments lie within two standard deviations, 95 % within
# three.
KNEE_DEG = cyclic(
    (0, 5), (6, 14), (13, 22.5), (20, 17), (30, 8), (38, -2), (46, 2.5), (52, 25), (75, 11), (90, 4), (95, 7.5)
)
HEEL_FIRST = ways_of_moving.HEEL_FIRST._replace(
    pressed=cyclic(
        (0, -0.175), (12, 0.093), (20, 0.172), (30, 0.366), (40, 0.48), (48, 0.567), (56, 0.769), (62, 0.711),
        (75, 0.711), (92, -0.175),
    ),
    pitch=cyclic(
        (0, 26), (7, 0), (33, 0), (38, -1.3), (43, 0.2), (47, -6), (51, -16.5), (56, -33), (62, -74.5), (67, -84),
        (72, -52), (78, -34), (83, -2), (88, -11), (95, 53),
    ),
    ahead=passage((63.8, 0), (68, 0.099), (72.5, 0.273), (77, 0.42), (82, 0.61), (87, 0.751), (92, 0.919), (97, 1)),
)  # fmt: skip
# the two peaks of the vertical force as a factor of those in ways_of_moving at 1.25 m/s of an adult, and its growth
# with the speed; by how much the first peak is higher, and that for each m/s more
PEAKS, PEAKS_GROW, FIRST_PEAK, FIRST_GROWS = 0.88, 0.5, 0.21, 0.42


@dataclass(frozen=True)
class Style:
    """How a person holds and turns her body, degrees; ``knee_deg``: (side,) more flexion of the knee in stance.

    ``pelvis``: tilt, and half ranges of obliquity and rotation; ``trunk``: lean and half range of rotation against the
    pelvis; ``arms``: half ranges of the swing at shoulder and elbow, (side,); ``turns``: of thigh and shank about
    their lengths; ``knee``: factor of the curve of the knee.
    """

    knee_deg: tuple[float, float]
    knee: float
    pelvis: tuple[float, float, float]
    trunk: tuple[float, float]
    arms: tuple[float, float]
    elbow_deg: float
    turns: float
    sway_deg: float


class Feet(NamedTuple):
    """Of a plan at some instants: cycles (time, side), ankles (time, side, 3), axes of the soles (time, side, 3, 3)."""

    counted: Array
    ankle: Array
    sole: Array


class Loads(NamedTuple):
    """The ground's force (step, time, 3) on each foot, where it presses (step, time, 3), and the free moment."""

    force: Array
    pressed: Array
    free: Array


@dataclass(frozen=True)
class Walk:
    """A walk: who, her steps, and the motion, valid ``from_s`` to ``until_s``."""

    person: Person
    body: Body
    plan: Plan
    style: Style
    path: Path
    from_s: float
    until_s: float

    def at(self, time: Array) -> State:
        return self.path.at(self.body, time)

    def moved(self, by: Array) -> Walk:
        """Return the walk elsewhere on the floor."""
        spline = self.path.spline
        shifted = BSpline(spline.t, spline.c + np.concatenate([by, np.zeros(3 * len(BODIES))]), spline.k)
        return replace(self, plan=replace(self.plan, place=self.plan.place + by), path=Path(shifted))

    def on_feet(self, time: Array, total: Total, hips: Array) -> Loads:
        """Return the loads of each foot, which together are ``total`` at the instants (time,), exactly.

        Each step bears its planned share of the vertical force where planned, all shifted alike to where the total
        presses. In double support feet push against each other, as each force points towards the trunk.

        Args:
            hips: midpoint of the hips (time, 3), m.
        """
        share, pressed = _shares(self.plan, time)
        share = share / share.sum(axis=0)
        at = np.stack([total.moment[:, 2], 0 * time, -total.moment[:, 0]], axis=1) / total.force[:, 1:2]
        pressed += at - np.einsum("st,sti->ti", share, pressed)
        leg = self.person.length("thigh_left") + self.person.length("shank_left")
        aim = hips + PRESS_SIDE_M * leg * UP - pressed
        force = (share * total.force[:, 1])[..., None] * aim / aim[..., 1:2]
        force += share[..., None] * (total.force - force.sum(axis=0))
        free = share * (total.moment[:, 1] - np.cross(pressed, force)[..., 1].sum(axis=0))
        return Loads(force, pressed, free)


def walked(person: Person, plan: Plan, style: Style) -> Walk:
    """Return a person's walk over planned steps."""
    first, last = plan.inner.start - BESIDE, plan.inner.stop - 1 + BESIDE
    time = np.arange(plan.strike[first], plan.off[last], STEP_S)
    body, feet = Body.of(person), _feet(plan, time)
    axes = _upper(plan, style, feet.counted, time)
    shapes, pressed = _shares(plan, time)
    target = np.einsum("st,sti->ti", shapes / shapes.sum(axis=0), pressed)
    target = gaussian_filter1d(target, SMOOTH_S / STEP_S, axis=0, mode="nearest")
    wanted = _evened(shapes.sum(axis=0), plan, time)
    heights = _Heights(person, style, feet, time)
    pelvis = np.zeros((len(time), 3))
    stiff = np.full(len(time), GRAVITY_M_S2 / (0.57 * person.height_m))
    for axis in (0, 2):
        first, last = target[[0, -1], axis].tolist()
        pelvis[:, axis] = solved(-stiff * target[:, axis], stiff, first, last, 1 / STEP_S)
    beside = np.zeros(len(time))  # acceleration of the centre of mass upwards, beyond that of the hips
    inside = np.clip(np.minimum(time - time[0], time[-1] - time) / END_S - 0.3, 0, 1)
    for _ in range(ROUNDS):
        pelvis[:, 1] = heights.fitted(axes["pelvis"], pelvis, GRAVITY_M_S2 * (wanted - 1) - beside)
        pelvis[:, 1] = heights.lowered(axes["pelvis"], pelvis)
        path = Path.through(time, pelvis, _with_legs(axes, person, style, feet, pelvis))
        state = path.at(body, time)
        force, moment = state.ground
        at = np.stack([moment[:, 2], -moment[:, 0]], axis=1) / force[:, 1:2]
        high = state.centre_of_mass[:, 1]
        stiff = (force[:, 1] / person.mass_kg) / high
        for column, axis in enumerate((0, 2)):
            missing = inside * (target[:, axis] - at[:, column])
            pelvis[:, axis] += solved(-stiff * missing, stiff, missing[0], missing[-1], 1 / STEP_S)
        beside = inside * (force[:, 1] / person.mass_kg - GRAVITY_M_S2 - path.spline(time, 2)[:, 1])
    pelvis[:, 1] = heights.lowered(axes["pelvis"], pelvis)
    path = Path.through(time, pelvis, _with_legs(axes, person, style, feet, pelvis))
    return Walk(person, body, plan, style, path, float(time[0]), float(time[-1]))


# --- feet and forces -------------------------------------------------------------------------------------------------


def _feet(plan: Plan, time: Array) -> Feet:
    counted = counted_of(plan, time)
    feet = [foot(plan, side, counted[:, side], time) for side in (0, 1)]
    ankle, sole = (np.stack(parts, axis=1) for parts in zip(*feet, strict=True))
    return Feet(counted, ankle, sole)


def counted_of(plan: Plan, time: Array) -> Array:
    """Return the smooth counts of cycles (time, side): integers at strikes of a foot, FOOT_OFF more at its offs."""
    counted = []
    for side in (0, 1):
        own = np.flatnonzero(plan.side == side)
        instants = np.stack([plan.strike[own], plan.off[own]], axis=1).ravel()
        counts = np.add.outer(np.arange(len(own)), [0, FOOT_OFF]).ravel()
        counted.append(make_interp_spline(instants, counts, k=3)(time))
    return np.stack(counted, axis=1)


def _shares(plan: Plan, time: Array) -> tuple[Array, Array]:
    """Return the shape (step, time) of each step's vertical force, and where it is planned to press (step, time, 3)."""
    shapes, pressed = np.zeros((len(plan.side), len(time))), np.zeros((len(plan.side), len(time), 3))
    for step, ends in enumerate(np.stack([plan.strike, plan.off], axis=1)):
        on = slice(*time.searchsorted(ends))
        if on.stop > on.start:
            shapes[step, on], pressed[step, on] = shape_of(plan, step, time[on]), pressed_at(plan, step, time[on])
    return shapes, pressed


def _evened(shape: Array, plan: Plan, time: Array) -> Array:
    """Return the vertical force (time,) in body weights, of mean 1 over each step, without its kinks."""
    step_s = float(np.median(np.diff(plan.strike)))
    mean = gaussian_filter1d(shape, 0.5 * step_s / STEP_S, mode="nearest")
    return np.asarray(gaussian_filter1d(shape / mean, SMOOTH_S / STEP_S, mode="nearest"))


# --- the height of the hips ------------------------------------------------------------------------------------------


class _Heights:
    """Heights of the hips that legs of a person allow over her feet."""

    def __init__(self, person: Person, style: Style, feet: Feet, time: Array) -> None:
        self.feet, self.time = feet, time
        self.hip = np.stack([person.place[f"thigh_{side}"] for side in SIDES])
        self.length = np.array([[person.length(f"{bone}_{side}") for bone in ("thigh", "shank")] for side in SIDES])
        cycle = feet.counted % 1
        more = np.array(style.knee_deg) * np.clip(1 - 4 * np.clip(cycle - FOOT_OFF, 0, 0.25), 0, 1)
        self.knee = np.radians(style.knee * KNEE_DEG(cycle) + more)
        count = int((time[-1] - time[0]) / KNOT_S) + 1
        knots = time[0] + (time[-1] - time[0]) * (np.arange(-5, count + 6)) / count
        self.basis = BSpline.design_matrix(np.clip(time, knots[5], knots[-6] - 1e-9), knots, 5).toarray()
        self.second = BSpline(knots, np.eye(self.basis.shape[1]), 5)(time, 2)

    def allowed(self, turn: Array, pelvis: Array, flexion: Array | float) -> Array:
        """Return the height (time, side) of the midpoint of the hips for a flexion of the knees, rad."""
        thigh, shank = self.length.T
        square = thigh**2 + shank**2 + 2 * thigh * shank * np.cos(flexion)
        away = np.einsum("tij,sj->tsi", turn, self.hip) + (pelvis * [1, 0, 1])[:, None] - self.feet.ankle
        return np.asarray(np.sqrt(np.maximum(square - away[..., 0] ** 2 - away[..., 2] ** 2, 0.01)) - away[..., 1])

    def fitted(self, turn: Array, pelvis: Array, acceleration: Array) -> Array:
        """Return the heights (time,) nearest to those of the knees and to an acceleration, below straight legs."""
        wanted = -KNEE_M / 2 * np.logaddexp.reduce(-2 * self.allowed(turn, pelvis, self.knee) / KNEE_M, axis=1)
        straight = self.allowed(turn, pelvis, np.radians(STRAIGHTEST_DEG)).min(axis=1)
        pull = self.second / (FORCE * GRAVITY_M_S2)
        left, right = pull.T @ pull, pull.T @ (acceleration / (FORCE * GRAVITY_M_S2))
        weight, height = np.full(len(wanted), 1.0), wanted
        for _ in range(5):
            rows = self.basis * weight[:, None] / KNEE_M**2
            height = self.basis @ np.linalg.solve(
                left + rows.T @ self.basis, right + self.basis.T @ (weight * wanted) / KNEE_M**2
            )
            over = height > straight - 0.001
            wanted, weight = np.where(over, straight - 0.002, wanted), np.where(over, 10 * weight, weight)
        return np.asarray(height)

    def lowered(self, turn: Array, pelvis: Array) -> Array:
        """Return the heights (time,) of a path, lowered as a whole where a leg would be too straight."""
        straight = self.allowed(turn, pelvis, np.radians(STRAIGHTEST_DEG)).min(axis=1)
        return np.asarray(pelvis[:, 1] - max(0.0, float((pelvis[:, 1] - straight).max())))


# --- segments --------------------------------------------------------------------------------------------------------


def _upper(plan: Plan, style: Style, counted: Array, time: Array) -> dict[str, Array]:
    """Return the axes (time, 3, 3) of pelvis, trunk, head and arms; columns are the axes in the lab."""
    right = 2 * np.pi * counted[:, 1]
    middle = (plan.strike + plan.off) / 2
    step_s = float(np.median(np.diff(plan.strike)))
    facing = gaussian_filter1d(np.interp(time, middle, plan.heading), 0.6 * step_s / STEP_S, mode="nearest")
    tilt, drop, yaw = np.radians(style.pelvis)
    axes = {"pelvis": turned(
        facing + yaw * np.cos(right), -drop * np.sin(right - 0.1), -tilt - np.radians(1.2) * np.cos(2 * right)
    )}  # fmt: skip
    lean, twist = np.radians(style.trunk)
    axes["thorax"] = turned(
        facing - twist * np.cos(right - 0.2), np.radians(style.sway_deg) * np.sin(right - 0.3),
        -lean + np.radians(0.8) * np.cos(2 * right + 0.5),
    )  # fmt: skip
    axes["head"] = turned(facing, 0.2 * np.radians(style.sway_deg) * np.sin(right), np.radians(-2) + 0 * right)
    for number, (side, sign) in enumerate(zip(SIDES, (-1, 1), strict=True)):
        swing = np.cos(2 * np.pi * counted[:, number] - 0.25)  # the arm is behind as the foot of its side strikes
        reach, bend = np.radians(style.arms[number]), np.radians(style.elbow_deg)
        upper = turned(0.1 * sign + 0 * swing, -0.1 * sign + 0 * swing, -reach * swing - 0.05)
        axes[f"upper_arm_{side}"] = axes["thorax"] @ upper
        elbow = turned(0.15 * sign + 0 * swing, 0 * swing, bend - 0.4 * reach * swing)
        axes[f"forearm_{side}"] = axes[f"upper_arm_{side}"] @ elbow
        axes[f"hand_{side}"] = axes[f"forearm_{side}"] @ turned(0 * swing, 0 * swing, 0.1 - 0.1 * reach * swing)
    return axes


THIGH_TURN_DEG: Curve = cyclic((0, 2), (15, -3), (45, 2), (70, -2))
SHANK_TURN_DEG: Curve = cyclic((0, -8), (20, -4), (50, -9), (75, -3))


def _with_legs(axes: dict[str, Array], person: Person, style: Style, feet: Feet, pelvis: Array) -> Array:
    """Return the axes (time, body, 3, 3) of all bodies; the knees bend across the line from hip to ankle."""
    whole = dict(axes)
    for number, side in enumerate(SIDES):
        inwards, cycle = (-1, 1)[number], feet.counted[:, number]
        thigh, shank = (person.length(f"{bone}_{side}") for bone in ("thigh", "shank"))
        ankle, sole = feet.ankle[:, number], feet.sole[:, number]
        hip = pelvis + axes["pelvis"] @ person.place[f"thigh_{side}"]
        length = np.linalg.norm(hip - ankle, axis=1, keepdims=True)
        up = (hip - ankle) / length
        hinge = np.cross(axes["pelvis"][:, :, 0] + sole[:, :, 0], up)
        hinge /= np.linalg.norm(hinge, axis=1, keepdims=True)
        along = (shank**2 + length**2 - thigh**2) / (2 * length)
        knee = ankle + along * up + np.sqrt(np.maximum(shank**2 - along**2, 1e-8)) * np.cross(up, hinge)
        for bone, y, curve in (
            (f"thigh_{side}", (hip - knee) / thigh, THIGH_TURN_DEG),
            (f"shank_{side}", (knee - ankle) / shank, SHANK_TURN_DEG),
        ):
            turn = rotation(1, inwards * style.turns * np.radians(curve(cycle)))
            whole[bone] = np.stack([np.cross(y, hinge), y, hinge], axis=-1) @ turn
        whole[f"foot_{side}"] = sole
    assert {*whole} == {*BODIES}, PARENT
    return np.stack([whole[body] for body in BODIES], axis=1)
