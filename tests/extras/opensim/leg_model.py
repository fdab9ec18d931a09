"""A small model of OpenSim with the names of Gait2392: pelvis, trunk, legs with hinges for knee and ankle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

HIP, KNEE, ANKLE, HEEL, TOES = (-0.05, -0.08, 0.085), (0, -0.4, 0), (0, -0.42, 0), (-0.05, -0.05, 0), (0.18, 0, 0)
ORIGIN = {"pelvis": (0, 0, 0), "torso": (-0.05, 0.1, 0)}  # of bodies of the right side with all coordinates at 0
ORIGIN |= dict(zip(("femur", "tibia", "talus", "calcn"), np.cumsum([HIP, KNEE, ANKLE, HEEL], axis=0), strict=True))
MASSES = {"pelvis": 11.0, "torso": 34.0, "femur": 9.0, "tibia": 3.7, "talus": 0.1, "calcn": 1.2, "toes": 0.2}
STRENGTH_N = 6000.0
# points of each right muscle: body and place from its origin, m
MUSCLES = {
    "psoas": [("pelvis", (0.02, 0.0, 0.06)), ("femur", (-0.01, -0.06, 0.01))],
    "glut_max1": [("pelvis", (-0.13, -0.02, 0.07)), ("femur", (-0.03, -0.1, 0.02))],
    "glut_med1": [("pelvis", (-0.05, 0.04, 0.14)), ("femur", (-0.01, -0.03, 0.07))],
    "add_long": [("pelvis", (-0.03, -0.11, 0.01)), ("femur", (0.01, -0.2, 0.0))],
    "tfl": [("pelvis", (0.03, -0.06, 0.115)), ("femur", (0.0, -0.03, 0.07))],  # turns inwards
    "gem": [("pelvis", (-0.13, -0.08, 0.055)), ("femur", (0.0, -0.03, 0.07))],  # turns outwards
    "semimem": [("pelvis", (-0.12, -0.12, 0.07)), ("femur", (-0.05, -0.38, 0.0)), ("tibia", (-0.04, -0.06, 0.0))],
    "rect_fem": [("pelvis", (-0.02, -0.03, 0.09)), ("femur", (0.05, -0.38, 0.0)), ("tibia", (0.05, -0.08, 0.0))],
    "vas_lat": [("femur", (0.03, -0.2, 0.02)), ("femur", (0.05, -0.38, 0.0)), ("tibia", (0.05, -0.08, 0.0))],
    "bifemsh": [("femur", (-0.02, -0.2, 0.02)), ("tibia", (-0.04, -0.05, 0.02))],
    "med_gas": [("femur", (-0.03, -0.38, 0.0)), ("calcn", (0.0, 0.02, 0.0))],
    "soleus": [("tibia", (-0.01, -0.15, 0.0)), ("calcn", (0.0, 0.02, 0.0))],
    "tib_ant": [("tibia", (0.02, -0.2, 0.0)), ("calcn", (0.12, 0.03, 0.0))],
    "ercspn": [("pelvis", (-0.12, 0.1, 0.03)), ("torso", (-0.05, 0.15, 0.03))],  # of the trunk
}


Axes = Sequence[tuple[str, Sequence[float]]]  # coordinates of a joint, each with its axis
TURNS = [("pelvis_tilt", (0, 0, 1)), ("pelvis_list", (1, 0, 0)), ("pelvis_rotation", (0, 1, 0))]
SLIDES = [("pelvis_tx", (1, 0, 0)), ("pelvis_ty", (0, 1, 0)), ("pelvis_tz", (0, 0, 1))]


def write_leg_model(path: Path, *, without: str = "") -> Path:
    """Write the model as a file of OpenSim 4, and return its path; ``without`` is a muscle that it lacks."""
    bodies = [*(_body(name) for name in ("pelvis", "torso"))]
    joints = [_joint("ground_pelvis", "/ground", "pelvis", (0, 0, 0), TURNS, SLIDES)]
    joints.append(_joint("back", "/bodyset/pelvis", "torso", (-0.05, 0.1, 0), [("lumbar_extension", (0, 0, 1))]))
    muscles = []
    for end, side in (("r", 1.0), ("l", -1.0)):
        legs = [f"{name}_{end}" for name in ("femur", "tibia", "talus", "calcn", "toes")]
        bodies += [_body(name) for name in legs]
        above = dict(zip(legs, [f"/bodyset/{name}" for name in ("pelvis", *legs)], strict=False))
        hip: Axes = [("hip_flexion", (0, 0, 1)), ("hip_adduction", (side, 0, 0)), ("hip_rotation", (0, side, 0))]
        hinges = {"knee": "knee_angle", "ankle": "ankle_angle", "subtalar": "", "mtp": "mtp_angle"}
        turns: list[Axes] = [hip, *([(name, (0, 0, 1))] if name else [] for name in hinges.values())]
        places = [(*HIP[:2], side * HIP[2]), KNEE, ANKLE, HEEL, TOES]
        for joint, body, place, axes in zip(("hip", *hinges), legs, places, turns, strict=True):
            own = [(f"{name}_{end}", axis) for name, axis in axes]
            joints.append(_joint(f"{joint}_{end}", above[body], body, place, own))
        muscles += [_muscle(name, end, side) for name in MUSCLES if name != without]
    sets = {"BodySet": bodies, "JointSet": joints, "ForceSet": muscles}
    content = "".join(f"<{tag}><objects>{''.join(each)}</objects></{tag}>" for tag, each in sets.items())
    gravity = "<gravity>0 -9.80665 0</gravity>"
    text = f'<OpenSimDocument Version="40000"><Model name="leg_model">{gravity}{content}</Model></OpenSimDocument>'
    path.write_text(text)
    return path


def _body(name: str) -> str:
    mass = MASSES[name.removesuffix("_r").removesuffix("_l")]
    inertia = 0.02 * mass
    return (
        f'<Body name="{name}"><mass>{mass}</mass><mass_center>0 {-0.17 if mass > 2 else 0} 0</mass_center>'
        f"<inertia>{inertia} {inertia} {inertia} 0 0 0</inertia></Body>"
    )


def _joint(name: str, parent: str, child: str, place: Sequence[float], turns: Axes, slides: Axes = ()) -> str:
    """Return a joint with its coordinates; the axes of turns that it lacks are at right angles to the others."""
    free = [
        axis for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)) if axis not in [tuple(map(abs, one)) for _, one in turns]
    ]
    every = [*turns, *(("", axis) for axis in free)]
    every += [*slides] if slides else [("", axis) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    kinds = [f"{kind}{i}" for kind in ("rotation", "translation") for i in (1, 2, 3)]
    axes = "".join(
        f'<TransformAxis name="{kind}"><coordinates>{coordinate}</coordinates><axis>{_numbers(axis)}</axis>'
        + ('<LinearFunction name="function"><coefficients>1 0</coefficients></LinearFunction>' if coordinate
           else '<Constant name="function"><value>0</value></Constant>') + "</TransformAxis>"
        for kind, (coordinate, axis) in zip(kinds, every, strict=True)
    )  # fmt: skip
    reach = "-2.1 0.2" if name.startswith("knee") else "-5 5"
    coordinates = "".join(
        f'<Coordinate name="{one}"><range>{reach}</range></Coordinate>' for one, _ in (*turns, *slides)
    )
    frames = "".join(
        f'<PhysicalOffsetFrame name="{frame}"><socket_parent>{of}</socket_parent>'
        f"<translation>{_numbers(at)}</translation><orientation>0 0 0</orientation></PhysicalOffsetFrame>"
        for frame, of, at in (("above", parent, place), ("below", f"/bodyset/{child}", (0, 0, 0)))
    )
    if not turns:
        return (
            f'<WeldJoint name="{name}"><socket_parent_frame>above</socket_parent_frame>'
            f"<socket_child_frame>below</socket_child_frame><frames>{frames}</frames></WeldJoint>"
        )
    return (
        f'<CustomJoint name="{name}"><socket_parent_frame>above</socket_parent_frame>'
        f"<socket_child_frame>below</socket_child_frame><coordinates>{coordinates}</coordinates>"
        f"<frames>{frames}</frames><SpatialTransform>{axes}</SpatialTransform></CustomJoint>"
    )


def _muscle(name: str, end: str, side: float) -> str:
    points = "".join(
        f'<PathPoint name="{name}_{end}_{i}">'
        f"<socket_parent_frame>/bodyset/{_full(body, end)}</socket_parent_frame>"
        f"<location>{_numbers((x, y, side * z))}</location></PathPoint>"
        for i, (body, (x, y, z)) in enumerate(MUSCLES[name])
    )
    at = [np.add(ORIGIN[body], place) for body, place in MUSCLES[name]]
    length = sum(float(np.linalg.norm(one - other)) for one, other in pairwise(at))
    return (
        f'<Thelen2003Muscle name="{name}_{end}"><GeometryPath name="path"><PathPointSet><objects>{points}</objects>'
        f"</PathPointSet></GeometryPath><max_isometric_force>{STRENGTH_N}</max_isometric_force>"
        f"<optimal_fiber_length>{0.6 * length}</optimal_fiber_length>"
        f"<tendon_slack_length>{0.4 * length}</tendon_slack_length>"
        "<pennation_angle_at_optimal>0</pennation_angle_at_optimal></Thelen2003Muscle>"
    )


def _full(body: str, end: str) -> str:
    return body if body in ("pelvis", "torso") else f"{body}_{end}"


def _numbers(values: Iterable[float]) -> str:
    return " ".join(f"{value:g}" for value in values)
