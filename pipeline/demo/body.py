"""The walking body: dimensions, markers in segment axes, body-segment parameters.

Segment axes: x anterior, y proximal, z to the subject's right, origin in the proximal joint centre (foot: ankle,
shank: knee, thigh: hip); pelvis: origin mid-ASIS. Lengths in metres. Sides: 0 left, 1 right.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..conventions import CHAIN
from .curves import mirror_to_side, rotation

MEDIAL_MARKERS = ("RMEK", "RMML", "LMEK", "LMML")

# fractions of body mass; then, as fractions of the segment's length: COM x y z and radii of gyration x y z
SEGMENT_TABLE = {
    "foot": (0.0140, (0.240, -0.150, 0.012), (0.130, 0.245, 0.255)),
    "shank": (0.0460, (-0.010, -0.433, 0.008), (0.275, 0.100, 0.280)),
    "thigh": (0.1080, (0.012, -0.420, 0.010), (0.325, 0.145, 0.320)),
}
INERTIA_TILT_DEG = (4.0, 2.0, -3.0)


@dataclass(frozen=True)
class Walker:
    """One person; lengths in metres."""

    participant_id: str
    sex: str
    mass_kg: float
    height_m: float
    thigh_m: float
    shank_m: float
    foot_m: float
    ankle_height_m: float
    asis_width_m: float
    pelvis_depth_m: float
    toe_out_deg: float
    pelvis_tilt_deg: float
    marker_seed: int

    @property
    def leg_m(self) -> float:
        """Height of the hip above the floor with a straight leg, m."""
        return self.thigh_m + self.shank_m + self.ankle_height_m


@dataclass(frozen=True)
class SegmentInertias:
    """Body-segment parameters in segment axes.

    ``mass`` (side, segment) kg; ``com`` (side, segment, 3) m; ``inertia`` (side, segment, 3, 3) about the COM, kg m2.
    """

    mass: Array
    com: Array
    inertia: Array


def make_walker(participant_id: str, *, sex: str, mass_kg: float, height_m: float, seed: int = 0) -> Walker:
    """Return a person with random proportions about those of Drillis & Contini (1966)."""
    rng = np.random.default_rng([seed, 1])
    vary = 1 + np.clip(rng.normal(0, 0.015, 6), -0.03, 0.03)
    lengths = height_m * vary * (0.245, 0.246, 0.150, 0.044, 0.140, 0.092)
    thigh, shank, foot, ankle, width, depth = lengths.tolist()
    toe_out_deg, pelvis_tilt_deg = 7 + rng.uniform(-2, 2), 8 + rng.uniform(-2, 2)
    return Walker(
        participant_id, sex, mass_kg, height_m, thigh, shank, foot, ankle, width, depth,
        toe_out_deg, pelvis_tilt_deg, seed,
    )  # fmt: skip


def hip_in_pelvis(walker: Walker, side: int) -> Array:
    """Return the hip centre in pelvis axes, m (Harrington et al. 2007, one variable)."""
    depth_mm, width_mm = 1e3 * walker.pelvis_depth_m, 1e3 * walker.asis_width_m
    return mirror_to_side((-0.24 * depth_mm - 9.9, -0.30 * width_mm - 10.9, 0.33 * width_mm + 7.3), side) / 1e3


def markers_in_segments(walker: Walker) -> dict[str, tuple[str, int, Array]]:
    """Return label -> (segment, side, position in segment axes).

    The joint centre is the midpoint of the lateral and medial markers. The line between them is tilted relative to the
    segment's z axis: only its plane with the long axis defines the segment.
    """
    rng = np.random.default_rng([walker.marker_seed, 2])
    thigh, shank, half = walker.thigh_m, walker.shank_m, walker.asis_width_m / 2
    right = {
        "ASI": ("pelvis", (0, 0, half)),
        "PSI": ("pelvis", (-walker.pelvis_depth_m, 0, 0.4 * half)),
        "LEK": ("thigh", (0, -thigh + 0.003, 0.052)),
        "MEK": ("thigh", (0, -thigh - 0.003, -0.052)),
        "TH1": ("thigh", (0.060, -0.45 * thigh, 0.060)),
        "TH2": ("thigh", (-0.010, -0.40 * thigh, 0.085)),
        "TH3": ("thigh", (0.045, -0.68 * thigh, 0.055)),
        "TH4": ("thigh", (-0.025, -0.63 * thigh, 0.070)),
        "LML": ("shank", (0, -shank - 0.004, 0.036)),
        "MML": ("shank", (0, -shank + 0.004, -0.036)),
        "SK1": ("shank", (0.045, -0.38 * shank, 0.040)),
        "SK2": ("shank", (-0.015, -0.33 * shank, 0.058)),
        "SK3": ("shank", (0.035, -0.66 * shank, 0.036)),
        "SK4": ("shank", (-0.020, -0.62 * shank, 0.050)),
    }
    markers = {}
    for side, prefix in ((1, "R"), (0, "L")):
        for name, (segment, position) in right.items():
            hand_placed = rng.uniform(-0.008, 0.008, 3) if name[:2] in ("TH", "SK") else 0.0
            markers[prefix + name] = (segment, side, mirror_to_side(position, side) + hand_placed)
        for name, from_floor in foot_markers_in_sole(walker, side).items():
            from_ankle = from_floor - (0, walker.ankle_height_m, 0)
            markers[prefix + name] = ("foot", side, from_ankle @ foot_in_sole(walker, side))
    return markers


def foot_markers_in_sole(walker: Walker, side: int) -> dict[str, Array]:
    """Return the foot's markers from the floor point below the ankle, sole axes, m."""
    length = walker.foot_m
    right = {
        "HEE": (-0.255 * length, 0.036, 0),
        "MT1": (0.465 * length, 0.042, -0.036),
        "MT2": (0.500 * length, 0.055, -0.006),
        "MT5": (0.385 * length, 0.028, 0.044),
    }
    return {name: mirror_to_side(position, side) for name, position in right.items()}


def foot_in_sole(walker: Walker, side: int) -> Array:
    """Return the foot's axes as columns in sole axes. x points from heel to mid-forefoot; the metatarsals define z."""
    markers = foot_markers_in_sole(walker, side)
    x = (markers["MT1"] + markers["MT5"]) / 2 - markers["HEE"]
    to_the_right = mirror_to_side((1, 1, 1), side)[2] * (markers["MT5"] - markers["MT1"])
    y = np.cross(to_the_right, x)
    x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
    return np.stack([x, y, np.cross(x, y)], axis=-1)


def segment_parameters(walker: Walker) -> SegmentInertias:
    """Return plausible parameters; the left leg mirrors the right one.

    The COM is off the long axis, and the inertia axes are tilted.
    """
    lengths = {"foot": walker.foot_m, "shank": walker.shank_m, "thigh": walker.thigh_m}
    tilt = np.eye(3)
    for axis, angle in enumerate(np.radians(INERTIA_TILT_DEG)):
        tilt = tilt @ rotation(axis, angle)
    mass, com, inertia = np.empty((2, 3)), np.empty((2, 3, 3)), np.empty((2, 3, 3, 3))
    for i, segment in enumerate(CHAIN):
        fraction, centre, radii = SEGMENT_TABLE[segment]
        mass[:, i] = fraction * walker.mass_kg
        tensor = tilt @ np.diag(mass[0, i] * (lengths[segment] * np.array(radii)) ** 2) @ tilt.T
        for side in (0, 1):
            mirror = np.diag(mirror_to_side((1, 1, 1), side))
            com[side, i] = mirror_to_side(lengths[segment] * np.array(centre), side)
            inertia[side, i] = mirror @ tensor @ mirror
    return SegmentInertias(mass, com, inertia)
