"""Sessions of whole people who move in every way over plates: a static trial and a walk, for all steps.

The person of :mod:`moving_person` has a pelvis and feet that obey Newton's laws; here her knees follow, and she wears
the markers of one of the shipped body models, on skin that moves. The hips are lower than in :mod:`moving_person`, and
the legs as long as the longest stride asks, so that no leg is stretched; both are constant and change no acceleration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.conventions import SIDES
from pipeline.demo.walk import FOOT_OFF
from pipeline.recording import Recording
from tests.support.faults.twins import Session
from tests.support.walks.movements import LEG_M, SOFT, Place, posed
from tests.support.walks.moving_on_plates import DEPTH_M, Z_UP, Measured, Truth, measured, soft
from tests.support.walks.moving_person import cycles_of, foot, markers
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
from tests.support.walks.ways_of_moving import ADULT_M, WAYS, Person, any_person, child_of_two, planned

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
STATIC_HZ, STATIC_FRAMES = 100.0, 50
# the foot of the person of `person` is on a sole 9 cm below the ankle and short behind it; hers is not
FLATTER, SHORTER, HEEL_M = 0.6, 0.8, -0.075


class Whole(NamedTuple):
    """A session with one walk, and what is true of the walk's stances.

    ``human``: whether the ankles of standing feet bend no further than people's do, as some on stairs do.
    """

    session: Session
    way: str
    truths: list[Truth]
    human: bool


def whole_session(
    way: str,
    seed: int,
    chosen: Mapping[str, Any],
    model_name: str = "",
    who: Callable[[np.random.Generator], Person] = any_person,
) -> Whole:
    """Return a random person's session; the body model in turn unless named.

    Args:
        way: one of :data:`EVERY_WAY`.
        seed: of everything random.
        chosen: settings of the steps.
        model_name: one of :data:`tests.support.walks.person.BODY_MODELS`.
        who: the person of all ways but that of a child of two.
    """
    plain = "straight" if way in ("backwards", "child of two") else way
    plan = planned(plain, seed, child_of_two if way == "child of two" else who)
    made = measured(plan, np.random.default_rng([seed, 17]), RATES_HZ)
    model = body_model(model_name or BODY_MODELS[seed % len(BODY_MODELS)])
    rng = made.rng
    place, scale = _placed(made)
    worn = _worn()
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
        "marker_diameter_m": "0.014", **cells,
    }  # fmt: skip
    walk = _recording(recorded(model, points), made)
    truths = made.truths(-float(made.time[0]))
    if way == "backwards":
        walk = replace(walk, markers=walk.markers[::-1], analog=walk.analog[::-1])
        end_s = (len(walk.markers) - 1) / made.marker_hz
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


def _worn() -> dict[str, tuple[str, tuple[float, float, float]]]:
    """Return the places of markers of a person with flatter feet."""
    places = dict(PLACES)
    for name, (segment, (x, y, z)) in PLACES.items():
        if segment == "foot" and not name.startswith(("ankle", "foot")):
            places[name] = segment, (HEEL_M if name == "heel" else SHORTER * x, FLATTER * y, z)
    return places


def _placed(made: Measured) -> tuple[Place, float]:
    """Return pelvis and feet of a walk in lengths of the person of :mod:`person`, and the scale to metres."""
    plan, time = made.plan, made.time
    exact = markers(plan, made.motion, time, made.rng)
    left, right = (exact[f"asis_{side}"] for side in SIDES)
    front, rear = (left + right) / 2, (exact["psis_left"] + exact["psis_right"]) / 2
    z = _unit(right - left)
    y = _unit(np.cross(z, front - rear))
    turn = np.stack([np.cross(y, z), y, z], axis=1)
    feet = [foot(plan, side, cycles_of(plan, side, time), time) for side in (0, 1)]
    ankle = np.stack([where for where, _ in feet], axis=1)
    sole = np.stack([np.swapaxes(axes, -1, -2) for _, axes in feet], axis=1)
    size = plan.person.height_m / ADULT_M
    lower = LOWER_DOWNSTAIRS if plan.way == "downstairs" else LOWER
    pelvis = front - lower * plan.person.height_m * np.array([0.0, 1.0, 0.0])
    # the hips move with the scale, by little: two rounds are enough
    scale = size
    for _ in range(3):
        hip = pelvis[:, None] + scale * np.array([of_side(HIP_M, side) for side in SIDES]) @ turn
        scale = float(np.linalg.norm(hip - ankle, axis=-1).max() / (STRETCHED * LEG_M))
    ahead = np.cross([0.0, 1.0, 0.0], sole[:, :, 2])
    return Place(pelvis / scale, turn, ankle / scale, sole, turn[:, None, 0] + ahead), scale


def _on_skin(points: Landmarks, place: Place, scale: float, rng: np.random.Generator) -> Landmarks:
    """Return the landmarks with markers of thigh and shank that move with the knee's bend."""
    reach = np.linalg.norm(place.pelvis[:, None] - place.ankle, axis=-1)
    moved = dict(points)
    for number, side in enumerate(SIDES):
        bend = (1 - reach[:, number] / reach[:, number].max())[:, None] * 5
        for name, path in points.items():
            if name.endswith(side) and name.startswith(SOFT):
                size = scale * SKIN_M["thigh" if name.startswith(("thigh", "lateral_epi", "medial_epi")) else "shank"]
                moved[name] = path + bend * rng.normal(0, size / np.sqrt(3), 3)
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
