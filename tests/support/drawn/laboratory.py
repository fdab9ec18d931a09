"""A sound laboratory: plates under walks, their readings, markers on skin that moves, with the errors of labs.

The walker's axes are ISB lab axes with x along the walk; the plates lie in the lab, and a walk back meets them turned.
Sizes of plates, and the numbers of Collins, Holden, Richards and Windolf, are quoted from memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.demo.soft_tissue import TISSUE, Tissue
from tests.support.drawn.dynamics import LEG, NUMBER, State
from tests.support.drawn.people import Drawn, Places
from tests.support.walks.moving_on_plates import NEAR_M, SURE_M, Top, outline
from tests.support.walks.ways_of_moving import Plan
from tests.support.whole_body.person import SIDES

Array = NDArray[np.float64]

# length and width of the tops of usual plates, m: AMTI OR6 and BP400600, Kistler 9281 and 9287, Bertec 4060 and 6090
TOPS_M = ((0.508, 0.464), (0.6, 0.4), (0.9, 0.6), (0.464, 0.508), (0.4, 0.6))
RATES_HZ, SAMPLES = (60, 100, 120, 150, 200, 240, 250, 300), (1, 2, 4, 5, 10, 20)
MOST_SAMPLES_HZ = 2500
# Spot checks with an instrumented pole find centres of pressure within 1 to 3 mm and axes within some tenths of a
# degree of a well kept lab (Holden et al. 2003; Collins et al. 2009, Gait Posture 29:59)
MISPLACED_M, MISTURNED_DEG = (0.001, 0.003), (0.1, 0.3)
GAIN, CROSSTALK = 0.005, 0.01  # makers state at most 1 and 2 %
FORCE_NOISE_N, DRIFT_N = (0.3, 2.0), 3.0
# of a marker: cameras of a calibrated volume, 0.1 mm to the 1.5 mm of old or few ones (Richards 1999; Windolf et al.
# 2008)
NOISE_M = (0.0001, 0.0015)
SKIN = (0.4, 1.1)  # factor of the motion of skin over bones in :data:`pipeline.demo.soft_tissue.TISSUE`, lean to stout
UPPER_SKIN = Tissue((2.0, 6.0), (0.5, 2.0), (1.0, 3.0))
# with which fat and muscle swing after foot strike, and until when (Wakeling & Nigg 2001)
SWINGS_HZ, SWINGS_S, SWING_SHARE = (9.0, 18.0), 0.05, (0.05, 0.3)


class Laboratory(NamedTuple):
    """A laboratory: plates as they lie, and as its files have them (plate, 4, 3); rates; noise of markers, m."""

    tops: list[Top]
    stated: Array
    marker_hz: int
    analog_hz: int
    noise_m: float


def drawn_laboratory(rng: np.random.Generator, step_m: float) -> Laboratory:
    """Return a laboratory whose plates a person can meet with steps of ``step_m`` one after another, mostly."""
    length, width = TOPS_M[int(rng.integers(len(TOPS_M)))]
    if rng.random() < 0.6:  # the plates are moved to suit the walker, where a lab can
        pitch = max(length + 0.003, step_m * rng.uniform(0.95, 1.05))
    else:
        pitch = length + rng.choice([0.003, 0.005, 0.02, 0.1])
    aside = rng.choice([0.0, 0.0, 0.06, 0.1]) * rng.choice([-1, 1])  # every second plate beside the line
    tops = []
    for number in range(int(rng.integers(2, 5))):
        back, left = number * pitch, -width / 2 + aside * (-1) ** number
        tops.append(Top(float(back), float(back + length), float(left), float(left + width), 0.0, int(rng.integers(4))))
    marker_hz = int(rng.choice(RATES_HZ))
    factors = [factor for factor in SAMPLES if factor * marker_hz <= MOST_SAMPLES_HZ]
    analog_hz = marker_hz * int(factors[-1 - int(min(rng.geometric(0.45) - 1, len(factors) - 1))])
    return Laboratory(
        tops, np.stack([_misplaced(top.corners, rng) for top in tops]), marker_hz, analog_hz,
        float(np.exp(rng.uniform(*np.log(NOISE_M)))),
    )  # fmt: skip


def _misplaced(corners: Array, rng: np.random.Generator) -> Array:
    """Return the corners (4, 3) of a plate as calibration finds them."""
    shift, axis = _direction(rng) * rng.uniform(*MISPLACED_M), _direction(rng)
    turn = Rotation.from_rotvec(np.radians(rng.uniform(*MISTURNED_DEG)) * axis)
    middle = corners.mean(axis=0)
    return np.asarray(turn.apply(corners - middle) + middle + shift)


def _direction(rng: np.random.Generator) -> Array:
    vector = rng.normal(size=3)
    return np.asarray(vector / np.linalg.norm(vector))


def met_from(tops: Sequence[Top], back: bool) -> list[Top]:
    """Return plates in the axes of a person who walks along x, or back: turned by half a turn about the vertical."""
    if not back:
        return list(tops)
    return [Top(-top.front, -top.back, -top.right, -top.left, top.height, (top.turn + 2) % 4) for top in tops]


def aimed(plan: Plan, tops: Sequence[Top], rng: np.random.Generator) -> Array:
    """Return the shift (3,) of a plan by which the most feet are whole and alone on plates, mostly.

    Walkers are asked to start so that they meet the plates; some miss.
    """
    steps = np.array([*plan.inner])
    soles = np.stack([outline(plan, int(step)) for step in range(len(plan.side))])
    middle = np.array([np.mean([top.front for top in tops] + [top.back for top in tops]), 0.0, 0.0])
    start = middle - soles[steps].mean(axis=(0, 1)) * [1, 0, 1]
    ahead, aside = np.meshgrid(np.linspace(-0.8, 0.8, 27), np.linspace(-0.08, 0.08, 3))
    shifts = start + np.stack([ahead.ravel(), 0 * ahead.ravel(), aside.ravel()], axis=1)
    shifts = shifts + rng.uniform(-0.01, 0.01, shifts.shape) * [1, 0, 1]
    edges = np.array([[top.back, -top.front, top.left, -top.right] for top in tops])
    x, z = (soles[None, ..., axis] + shifts[:, None, None, axis] for axis in (0, 2))  # (shift, step, point)
    inside = np.minimum.reduce([
        x[..., None] - edges[:, 0], -edges[:, 1] - x[..., None], z[..., None] - edges[:, 2], -edges[:, 3] - z[..., None]
    ])  # fmt: skip
    whole, near = inside.min(axis=2) > SURE_M, inside.max(axis=2) > -NEAR_M  # (shift, step, plate)
    together = (
        (plan.strike[:, None] < plan.off) & (plan.off[:, None] > plan.strike) & ~np.eye(len(plan.side), dtype=bool)
    )
    alone = ~np.einsum("so,kop->ksp", together, near)
    good = (whole & alone)[:, steps].any(axis=2).sum(axis=1)
    best = np.flatnonzero(good == good.max()) if rng.random() < 0.85 else np.flatnonzero(good >= min(1, good.max()))
    return np.asarray(shifts[int(rng.choice(best))])


def read_out(readings: Array, rng: np.random.Generator) -> Array:
    """Return the channels (sample, 6) as an amplifier gives them: gain, crosstalk, offset, drift, noise, steps."""
    units = np.repeat([1.0, 0.1], 3)  # a moment is measured with a lever of some 10 cm
    mixed = np.diag(1 + rng.uniform(-GAIN, GAIN, 6))
    mixed += rng.uniform(-CROSSTALK, CROSSTALK, (6, 6)) * np.outer(units, 1 / units) * (1 - np.eye(6)) / 2
    offset = units * rng.uniform(-40, 40, 6) * (rng.random() < 0.5)
    drift = np.linspace(0, 1, len(readings))[:, None] * units * rng.uniform(-DRIFT_N, DRIFT_N, 6)
    noise = rng.uniform(*FORCE_NOISE_N) * units * rng.normal(size=readings.shape)
    step = rng.uniform(0.05, 0.6) * units
    return np.asarray(np.round((readings @ mixed.T + offset + drift + noise) / step) * step)


# --- markers ---------------------------------------------------------------------------------------------------------


class Skin(NamedTuple):
    """How the skin of a person moves: of each body, directions of shift and turn, and of each marker, per signal."""

    shift: dict[str, Array]
    turn: dict[str, Array]
    own: dict[str, Array]
    hz: dict[str, float]


def drawn_skin(drawn: Drawn, rng: np.random.Generator) -> Skin:
    """Return a person's skin: the same in all her walks, as it is repeatable within people (Leardini et al. 2005)."""
    size, swing = rng.uniform(*SKIN), rng.uniform(*SWING_SHARE)
    weight = np.array([1.0, 0.5, swing])[:, None]  # of bent joints, of the time in the cycle, and of impacts
    bodies = {body for body, _ in drawn.markers.values()}
    shift, turn, hz = {}, {}, {}
    for body in sorted(bodies):
        tissue = TISSUE.get(body.rpartition("_")[0] or body, UPPER_SKIN)
        shift[body] = size * rng.uniform(*tissue.shift_mm) / 1e3 * weight * _directions(rng)
        about = np.array(tissue.turn_about) * _directions(rng)
        turn[body] = size * np.radians(rng.uniform(*tissue.turn_deg)) * weight * about
        hz[body] = float(rng.uniform(*SWINGS_HZ))
    own = {}
    for name, (body, _) in drawn.markers.items():
        tissue = TISSUE.get(body.rpartition("_")[0] or body, UPPER_SKIN)
        own[name] = size * rng.uniform(*tissue.own_mm) / 1e3 * weight * _directions(rng)
    return Skin(shift, turn, own, hz)


def _directions(rng: np.random.Generator) -> Array:
    """Return a unit vector for each of the three signals."""
    return np.stack([_direction(rng) for _ in range(3)])


def marker_paths(markers: Places, state: State, origins: dict[str, Array]) -> dict[str, Array]:
    """Return the paths (time, 3) of markers fixed to the bones, lab axes, m; ``origins`` as :func:`origins_of`."""
    return {name: origins[body] + state.turn[:, NUMBER[body]] @ where for name, (body, where) in markers.items()}


def origins_of(state: State, drawn: Drawn) -> dict[str, Array]:
    """Return the origins (time, 3) of the bodies in which markers are placed; of the thorax the neck centre."""
    origins = {body: state.joint[:, number] for body, number in NUMBER.items()}
    waist = state.turn[:, NUMBER["thorax"]] @ drawn.whole.waist_in_thorax
    return origins | {"thorax": origins["thorax"] - waist}


def slid(drawn: Drawn, skin: Skin, state: State, plan: Plan, time: Array, counted: Array) -> dict[str, Array]:
    """Return how far (time, 3) each marker's skin is from its place on the bone, lab axes, m.

    It follows the bend of the joints beside its segment, the time in the gait cycle, and swings after foot strikes.
    """
    bent = {f"{segment}_{side}": _bent(state, segment, side) for side in SIDES for segment in LEG}
    result: dict[str, Array] = {}
    for body in skin.shift:
        side = body.rpartition("_")[2]
        number = SIDES.index(side) if side in SIDES else 1
        struck = plan.strike[plan.side == number] if side in SIDES else plan.strike
        signals = np.stack([
            bent.get(body, 0.3 * np.sin(2 * np.pi * counted[:, 1])),
            np.sin(2 * np.pi * counted[:, number] + skin.hz[body]),
            _swinging(time[:, None] - struck, skin.hz[body]).sum(axis=1),
        ], axis=1)  # fmt: skip
        names = [name for name, (own, _) in drawn.markers.items() if own == body]
        places = np.stack([drawn.markers[name][1] for name in names])
        arms = places - places.mean(axis=0)
        turned = np.cross((signals @ skin.turn[body])[:, None], arms)
        local = turned + (signals @ skin.shift[body])[:, None]
        local = local + np.stack([signals @ skin.own[name] for name in names], axis=1)
        in_lab = np.einsum("tij,tmj->mti", state.turn[:, NUMBER[body]], local)
        result |= dict(zip(names, in_lab, strict=True))
    return result


def _bent(state: State, segment: str, side: str) -> Array:
    """Return the mean bend of the joints beside a segment, as a share of its range in walking."""
    chain = ("foot", "shank", "thigh", "pelvis")
    rows = [f"{name}_{side}" if name != "pelvis" else name for name in chain]
    number, ranges = chain.index(segment), (0.5, 1.05, 0.75)  # of ankle, knee and hip (Winter 1991), rad
    total = np.zeros(len(state.turn))
    for joint in range(max(number - 1, 0), number + 1):
        upper, lower = (state.turn[:, NUMBER[rows[joint + i]]] for i in (1, 0))
        total += np.arctan2(np.einsum("ti,ti->t", upper[:, :, 0], lower[:, :, 1]),
                            np.einsum("ti,ti->t", upper[:, :, 1], lower[:, :, 1])) / ranges[joint]  # fmt: skip
    return total / min(number + 1, 2)


def _swinging(since_s: Array, frequency_hz: float) -> Array:
    """Return a damped oscillation from foot strikes on, smooth at its start."""
    since = np.clip(since_s, 0, None)
    rise = 1 - (1 + since / 0.01) * np.exp(-since / 0.01)
    return np.asarray(rise * np.exp(-since / SWINGS_S) * np.sin(2 * np.pi * frequency_hz * since))
