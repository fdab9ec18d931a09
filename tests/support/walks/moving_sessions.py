"""Sessions of whole people who move in every way over plates: a static trial and a walk, for all steps.

The person of :mod:`moving_person` has a centre of mass and feet that obey Newton's laws; here her knees follow, head,
arms and trunk move against the legs, the ground turns her as the legs ask, and she wears the markers of one of the
shipped body models, on skin that moves. The hips are lower than in :mod:`moving_person`, and
the legs as long as the longest stride asks, so that no leg is stretched; both are constant and change no acceleration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d, uniform_filter1d

from pipeline.conventions import SIDES
from pipeline.demo.walk import FOOT_OFF
from pipeline.recording import Recording
from tests.support.faults.twins import Session
from tests.support.walks.movements import LEG_M, SOFT, Place, posed
from tests.support.walks.moving_on_plates import DEPTH_M, Z_UP, Measured, Truth, measured, soft
from tests.support.walks.moving_person import Motion, cycles_of, foot, markers
from tests.support.walks.person import (
    BODY_MODELS,
    HIP_M,
    PLACES,
    Landmarks,
    Pose,
    body_model,
    landmarks,
    of_side,
    recorded,
    standing,
)
from tests.support.walks.ways_of_moving import ADULT_M, WAYS, Person, Plan, any_person, child_of_two, planned

Array = NDArray[np.float64]

RATES_HZ = (33, 50, 60, 100, 120, 200, 250, 500)
# walking backwards is walking with the time reversed: forces and accelerations are the same
EVERY_WAY = (*WAYS, "backwards", "child of two")
STRETCHED = 0.998  # longest distance from hip to ankle, share of the straight leg: a knee bent by 7 degrees
LOWER, LOWER_DOWNSTAIRS = 0.045, 0.09  # of the hips, share of the body height
MASS_ERROR = 0.02  # largest, of participants.tsv
SKIN_M = {
    "thigh": 0.010,
    "shank": 0.005,
}  # by which markers move with the knee's bend (Benoit et al. 2006: 10 to 20 mm)
ANKLE_DEG = (-65, 48)  # of an ankle, extremes of ballet and squats
# foot, shank, thigh: share of the body mass, and of the way from the upper end to the lower (Dempster, in Winter 2009)
LEG_MASS, FROM_ABOVE = (0.0145, 0.0465, 0.100), (0.5, 0.433, 0.433)
PARTICLE_MASS = np.append(np.tile(np.repeat(LEG_MASS, 2) / 2, 2), 1 - 2 * sum(LEG_MASS))
BALL_M = (0.12, -0.05, 0.0)  # of the foot, from the ankle
REST_M = 0.32  # centre of mass of head, arms and trunk above the hips
HIPS_AHEAD_M = HIP_M[0] + 0.075  # of the middle of the pelvis
UP = np.array([0.0, 1.0, 0.0])
TURNING_HZ = 100.0
ROUNDS = 5  # of the balance, in which thighs move with the pelvis: each leaves a fifth of what is missing
STATIC_HZ, STATIC_FRAMES = 100.0, 50
# the foot of the person of `person` is on a sole 9 cm below the ankle and short behind it; hers is not
FLATTER, SHORTER, HEEL_M = 0.6, 0.8, -0.075
RADIUS_M = 0.007  # of a marker


class Whole(NamedTuple):
    """A session with one walk, and what is true of the walk's stances.

    ``human``: whether the ankles of standing feet bend no further than people's do, as some on stairs do.
    """

    session: Session
    way: str
    truths: list[Truth]
    human: bool


def whole_session(
    way: str, seed: int, chosen: Mapping[str, Any], who: Callable[[np.random.Generator], Person] = any_person
) -> Whole:
    """Return a random person's session; the body models in turn.

    Args:
        way: one of :data:`EVERY_WAY`.
        seed: of everything random.
        chosen: settings of the steps.
        who: the person of all ways but that of a child of two.
    """
    plain = "straight" if way in ("backwards", "child of two") else way
    plan = planned(plain, seed, child_of_two if way == "child of two" else who)
    made = measured(plan, np.random.default_rng([seed, 17]), RATES_HZ, turning)
    model = body_model(BODY_MODELS[seed % len(BODY_MODELS)])
    rng = made.rng
    place, scale = placed(made.plan, made.motion, made.time, rng)
    worn = _worn(scale)
    pose = posed(place)
    points = {name: scale * path for name, path in landmarks(pose, worn).items()}
    points = _on_skin(points, place, scale, rng)
    points = {name: path + soft(path, made.marker_hz, rng) for name, path in points.items()}
    still = {name: scale * path for name, path in standing(STATIC_FRAMES, worn).items()}
    still = {name: path + 0.0003 * rng.normal(size=path.shape) for name, path in still.items()}
    person = made.plan.person
    mass_kg = person.mass_kg * (1 + rng.uniform(-MASS_ERROR, MASS_ERROR))
    sizes = {f"leg_length_{side}_m": scale * (LEG_M + 0.08) for side in SIDES}
    sizes |= {f"knee_width_{side}_m": scale * 0.086 for side in SIDES}
    sizes |= {f"ankle_width_{side}_m": scale * 0.056 for side in SIDES}
    cells = {name: f"{size:.4f}" for name, size in sizes.items()}
    participant = {
        "participant_id": "sub-01", "mass_kg": f"{mass_kg:.2f}", "height_m": f"{person.height_m:.3f}", "sex": "n/a",
        "marker_diameter_m": f"{2 * RADIUS_M:.3f}", **cells,
    }  # fmt: skip
    walk = _recording(recorded(model, points), made)
    truths = made.truths(-float(made.time[0]))
    if way == "backwards":
        # the last frame stays at the instant of a sample, without those after it
        last = len(walk.analog) - made.analog_hz // made.marker_hz
        walk = replace(walk, markers=walk.markers[:0:-1], analog=walk.analog[last:0:-1])
        end_s = (len(made.time) - 1) / made.marker_hz
        truths = [truth._replace(start_s=end_s - truth.end_s, end_s=end_s - truth.start_s) for truth in truths]
    static = _bare(recorded(model, still), STATIC_HZ)
    rows = [
        {"participant_id": "sub-01", "trial": role, "file": f"{role}.c3d", "role": role, "condition": way}
        for role in ("static", "gait")
    ]
    files = {"static.c3d": static, "gait.c3d": walk}
    session = Session(f"generated {way} {seed}", rows, files, participant, (), model, chosen)
    return Whole(session, way, truths, _human(pose, made))


def _human(pose: Pose, made: Measured) -> bool:
    ahead = np.einsum("tsij,tsj->tsi", pose.rotation[:, :, 1], pose.rotation[:, :, 0, 0])
    bend = np.degrees(np.arctan2(ahead[..., 1], ahead[..., 0]))
    cycle = np.stack([cycles_of(made.plan, side, made.time) for side in (0, 1)], axis=1) % 1
    in_stance = bend[(cycle < FOOT_OFF + 0.05) | (cycle > 0.98)]
    return bool(in_stance.min() > ANKLE_DEG[0] and in_stance.max() < ANKLE_DEG[1])


def _worn(scale: float) -> dict[str, tuple[str, tuple[float, float, float]]]:
    """Return the places of markers of a person with flatter feet and with markers of the usual size."""
    places = dict(PLACES)
    for name, (segment, (x, y, z)) in PLACES.items():
        if segment == "foot" and not name.startswith(("ankle", "foot")):
            places[name] = segment, (HEEL_M if name == "heel" else SHORTER * x, FLATTER * y, z)
        elif name.endswith(("_epicondyle", "_malleolus")):
            places[name] = segment, (x, y, z + np.copysign(RADIUS_M / scale - RADIUS_M, z))
    return places


def placed(plan: Plan, motion: Motion, time: Array, rng: np.random.Generator) -> tuple[Place, float]:
    """Return pelvis and feet of a walk in lengths of the person of :mod:`person`, and the scale to metres.

    Head, arms and trunk, which move with the hips, move against the legs, so that the body obeys Newton's laws.
    """
    exact = markers(plan, motion, time, rng)
    left, right = (exact[f"asis_{side}"] for side in SIDES)
    front, rear = (left + right) / 2, (exact["psis_left"] + exact["psis_right"]) / 2
    z = _unit(right - left)
    y = _unit(np.cross(z, front - rear))
    turn = np.stack([np.cross(y, z), y, z], axis=1)
    feet = [foot(plan, side, cycles_of(plan, side, time), time) for side in (0, 1)]
    ankle = np.stack([where for where, _ in feet], axis=1)
    sole = np.stack([np.swapaxes(axes, -1, -2) for _, axes in feet], axis=1)
    knee = turn[:, None, 0] + np.cross([0.0, 1.0, 0.0], sole[:, :, 2])
    lower = LOWER_DOWNSTAIRS if plan.way == "downstairs" else LOWER
    pelvis, scale = front - lower * plan.person.height_m * UP, plan.person.height_m / ADULT_M
    stride = max(round(2 * float(np.median(np.diff(plan.strike))) / (time[1] - time[0])), 1)
    for _ in range(ROUNDS):
        for _ in range(3):  # the hips move with the scale, by little
            hip = pelvis[:, None] + scale * np.array([of_side(HIP_M, side) for side in SIDES]) @ turn
            scale = float(np.linalg.norm(hip - ankle, axis=-1).max() / (STRETCHED * LEG_M))
        place = Place(pelvis / scale, turn, ankle / scale, sole, knee)
        middle = (front + rear) / 2 + scale * HIPS_AHEAD_M * turn[:, 0]
        body = particles(place)
        hips, mass = scale * (body[:, -1] - REST_M * UP), scale * np.einsum("tpi,p->ti", body, PARTICLE_MASS)
        # the trunk leans against what the legs weigh aside over a stride
        off = middle - mass + uniform_filter1d(mass - hips, stride, axis=0, mode="nearest")
        pelvis = pelvis + off - off.mean(axis=0) * UP
    return place, scale


def particles(place: Place) -> Array:
    """Return the particles (time, particle, 3) of a body with masses :data:`PARTICLE_MASS`, of both legs and the rest.

    Two on each segment of a leg have its mass, centre of mass and radius of gyration.
    """
    centre = posed(place).centre
    ball = centre[:, :, 0] + np.einsum("tsij,i->tsj", place.foot, BALL_M)
    lower, upper = np.concatenate([ball[:, :, None], centre[:, :, :2]], axis=2), centre
    shares = np.add.outer(np.array(FROM_ABOVE), [-0.3, 0.3])[:, :, None]
    of_legs = upper[:, :, :, None] + shares * (lower - upper)[:, :, :, None]
    rest = centre[:, :, 2].mean(axis=1) + REST_M * UP
    return np.concatenate([of_legs.reshape(len(rest), -1, 3), rest[:, None]], axis=1)


def turning(plan: Plan, motion: Motion) -> Array:
    """Return the rate of angular momentum (sample, 3) of a person about her centre of mass, N m, lab axes."""
    step_s = 1 / TURNING_HZ
    time = np.arange(motion.time[0], motion.time[-1], step_s)
    place, scale = placed(plan, motion, time, np.random.default_rng(0))
    arms = scale * particles(place)
    arms -= np.einsum("tpi,p->ti", arms, PARTICLE_MASS)[:, None]
    moves = np.gradient(arms, step_s, axis=0)
    momentum = plan.person.mass_kg * np.einsum("tpi,p->ti", np.cross(arms, moves), PARTICLE_MASS)
    rate = np.gradient(gaussian_filter1d(momentum, 0.02 * TURNING_HZ, axis=0, mode="nearest"), step_s, axis=0)
    return np.stack([np.interp(motion.time, time, of) for of in rate.T], axis=1)


def _on_skin(points: Landmarks, place: Place, scale: float, rng: np.random.Generator) -> Landmarks:
    """Return the landmarks with markers of thigh and shank that move with the knee's bend."""
    reach = np.linalg.norm(place.pelvis[:, None] - place.ankle, axis=-1)
    moved = dict(points)
    for number, side in enumerate(SIDES):
        bend = np.minimum(5 * (1 - reach[:, number] / reach[:, number].max()), 1)[:, None]  # 1 at 75 degrees
        for name, path in points.items():
            if name.endswith(side) and name.startswith(SOFT):
                size = scale * SKIN_M["thigh" if name.startswith(("thigh", "lateral_epi", "medial_epi")) else "shank"]
                way = rng.normal(0, size / np.sqrt(3), 3)
                moved[name] = path + bend * way * min(1.0, 1.5 * size / float(np.linalg.norm(way)))
    return moved


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def _bare(trial: Any, rate_hz: float) -> Recording:
    """Return a recording of markers, z up."""
    labels = [str(label) for label in trial.marker.values]
    return Recording(labels, trial.marker_position.values @ Z_UP.T, rate_hz, 0.0, 1e-3)


def _recording(trial: Any, made: Measured) -> Recording:
    """Return a recording of markers and plates of type 2, in mm and N mm, z up."""
    count = len(made.tops)
    corners = np.stack([1e3 * (top.corners @ Z_UP.T).T for top in made.tops], axis=-1)
    platform = {
        "USED": np.array([count]), "TYPE": np.full(count, 2), "CORNERS": corners, "ZERO": np.array([1, 0]),
        "ORIGIN": np.array([[0.0, 0.0, -1e3 * DEPTH_M]] * count).T,
        "CHANNEL": np.arange(1, 6 * count + 1).reshape(count, 6).T,
    }  # fmt: skip
    analog = np.hstack([readings * np.repeat([1.0, 1e3], 3) for readings in made.readings])
    names = [f"{name}{i + 1}" for i in range(count) for name in ("Fx", "Fy", "Fz", "Mx", "My", "Mz")]
    return replace(
        _bare(trial, float(made.marker_hz)), analog=analog, analog_rate_hz=float(made.analog_hz),
        force_platform=platform, analog_labels=names, analog_units=["N", "N", "N", "Nmm", "Nmm", "Nmm"] * count,
    )  # fmt: skip
