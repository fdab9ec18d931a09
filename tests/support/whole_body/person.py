"""A random whole person of fifteen rigid segments: sizes, masses, centres of mass, inertia tensors, joints.

All axes: x anterior, y up along the hanging limb, z to the person's right on both sides. Lengths in m, masses in kg.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SIDES = ("left", "right")
UPPER = ("thorax", "head", *(f"{name}_{side}" for name in ("upper_arm", "forearm", "hand") for side in SIDES))
LEGS = tuple(f"{name}_{side}" for name in ("thigh", "shank", "foot") for side in SIDES)
BODIES = ("pelvis", *UPPER, *LEGS)
PARENT = {
    "thorax": "pelvis",
    "head": "thorax",
    **{f"upper_arm_{side}": "thorax" for side in SIDES},
    **{f"forearm_{side}": f"upper_arm_{side}" for side in SIDES},
    **{f"hand_{side}": f"forearm_{side}" for side in SIDES},
    **{f"thigh_{side}": "pelvis" for side in SIDES},
    **{f"shank_{side}": f"thigh_{side}" for side in SIDES},
    **{f"foot_{side}": f"shank_{side}" for side in SIDES},
}
_JOINT = {
    "upper_arm": "shoulder",
    "forearm": "elbow",
    "hand": "wrist",
    "thigh": "hip",
    "shank": "knee",
    "foot": "ankle",
}
# the joint at the end of each body that is nearer to the pelvis
JOINT_OF = {"thorax": "waist", "head": "neck"} | {
    body: f"{_JOINT[body.rpartition('_')[0]]}_{body.rpartition('_')[2]}" for body in (*UPPER[2:], *LEGS)
}

# share of the body mass; from the origin, m per body height: centre of mass (right side), radii of gyration
_MASS = {
    "pelvis": 0.142, "thorax": 0.355, "head": 0.081, "upper_arm": 0.028, "forearm": 0.016, "hand": 0.006,
    "thigh": 0.1, "shank": 0.0465, "foot": 0.0145,
}  # fmt: skip
_COM = {
    "pelvis": (0.005, 0.03, 0.0), "thorax": (0.01, -0.13, 0.0), "head": (0.01, 0.08, 0.0),
    "upper_arm": (0.0, -0.075, 0.0), "forearm": (0.0, -0.065, 0.0), "hand": (0.0, -0.03, 0.0),
    "thigh": (0.0, -0.106, 0.0), "shank": (0.0, -0.106, 0.0), "foot": (0.03, -0.02, 0.0),
}  # fmt: skip
_RADII = {
    "pelvis": (0.05, 0.055, 0.045), "thorax": (0.09, 0.06, 0.085), "head": (0.05, 0.035, 0.05),
    "upper_arm": (0.053, 0.024, 0.053), "forearm": (0.043, 0.018, 0.043), "hand": (0.023, 0.015, 0.023),
    "thigh": (0.08, 0.035, 0.08), "shank": (0.074, 0.03, 0.074), "foot": (0.018, 0.04, 0.038),
}  # fmt: skip
WAIST = (-0.30, 0.49, 0.0)  # L5/S1: Dumas and Wojtusch 2018, mean of both sexes
MARKER_RADIUS_M = 0.007
THIGH, SHANK, ANKLE_HEIGHT = 0.245, 0.246, 0.042  # per body height


@dataclass(frozen=True, eq=False)  # a person is equal to herself alone
class Person:
    """A person; ``place[body]`` is where the body's joint to its parent is, from the parent's origin in its axes.

    Origins: of the pelvis the midpoint of the hip centres, of thorax and head the neck centre, of every other body its
    joint to its parent. For the thorax, ``place`` is the waist (L5/S1) from the pelvis' origin.
    """

    height_m: float
    mass: dict[str, float]  # kg
    com: dict[str, Array]  # (3,) from the body's origin, in its axes, m
    tensor: dict[str, Array]  # (3, 3) about the centre of mass, in the body's axes, kg m2
    place: dict[str, Array]  # (3,) m
    waist_in_thorax: Array  # (3,) the waist from the neck centre, in thorax axes, m
    pelvis_width: float  # between the anterior superior iliac spines (ASIS), m
    pelvis_depth: float  # from the midpoint of the posterior ones (PSIS) to that of the ASIS, m
    asis: Array  # (3,) midpoint of the ASIS from the pelvis' origin, m
    shoulder_offset: dict[str, float]  # by side, from the shoulder centre to the acromion's skin, m

    @property
    def mass_kg(self) -> float:
        """The mass of the whole body."""
        return sum(self.mass.values())

    def length(self, body: str) -> float:
        """Return the distance from the body's joint to that of its only child, m."""
        child = next(child for child, parent in PARENT.items() if parent == body)
        return float(np.linalg.norm(self.place[child]))


@cache
def random_person(seed: int) -> Person:
    """Return a person of any size and mass; both sides differ, no tensor is along the segment's axes.

    The hip centres are where the single-variable regression of Harrington et al. (2007) finds them, and the waist is
    at :data:`WAIST`, from the midpoint of the hip centres, in pelvis axes and per distance of the hip centres.
    """
    rng = np.random.default_rng([seed, 32])
    height = rng.uniform(1.5, 1.95)
    share = {body: _of(_MASS, body) * rng.uniform(0.85, 1.15) for body in BODIES}
    total = rng.uniform(21, 27) * height**2
    mass = {body: total * value / sum(share.values()) for body, value in share.items()}
    com = {body: height * (np.array(_of(_COM, body)) + rng.uniform(-0.006, 0.006, 3)) for body in BODIES}
    tensor = {body: _tensor(mass[body], height * np.array(_of(_RADII, body)), rng) for body in BODIES}
    width, depth = height * rng.uniform(0.13, 0.15), height * rng.uniform(0.08, 0.095)
    hip = np.array([-0.24 * depth - 0.0099, -0.30 * width - 0.0109, 0.33 * width + 0.0073])  # right, from the mid-ASIS
    place = {"thorax": 2 * hip[2] * np.array(WAIST), "head": np.zeros(3)}
    for side, sign in zip(SIDES, (-1, 1), strict=True):
        place[f"upper_arm_{side}"] = height * np.array([0.01, -0.03, sign * 0.105]) + rng.uniform(-0.012, 0.012, 3)
        place[f"thigh_{side}"] = np.array([0.0, 0.0, sign * hip[2]])
        for body, length in (("forearm", 0.17), ("hand", 0.15), ("shank", THIGH), ("foot", SHANK)):
            place[f"{body}_{side}"] = np.array([0.0, -height * length * rng.uniform(0.98, 1.02), 0.0])
    return Person(
        height_m=height,
        mass=mass,
        com=com,
        tensor=tensor,
        place=place,
        waist_in_thorax=height * np.array([0.02, -0.29, 0.0]) + rng.uniform(-0.015, 0.015, 3),
        pelvis_width=width,
        pelvis_depth=depth,
        asis=-hip * [1, 1, 0],
        shoulder_offset={side: rng.uniform(0.03, 0.05) for side in SIDES},
    )


def _of(table: dict[str, Any], body: str) -> Any:
    return table[body if body in table else body.rpartition("_")[0]]


def _tensor(mass: float, radii: Array, rng: np.random.Generator) -> Array:
    """Return the tensor of a distribution of mass about its centre, turned by some 10 degrees: it is always possible.

    Radii of gyration r about the axes mean spreads along them of (sum(r^2) / 2 - r^2).
    """
    radii = radii * rng.uniform(0.9, 1.1, 3)
    spread = np.maximum((radii**2).sum() / 2 - radii**2, 0.02 * (radii**2).sum())
    turned, _ = np.linalg.qr(np.eye(3) + rng.uniform(-0.2, 0.2, (3, 3)))
    second = mass * (turned * spread) @ turned.T
    return np.asarray(np.trace(second) * np.eye(3) - second)
