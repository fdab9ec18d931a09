"""Joint centres: hip regressions, chord function, predictive shift, knee alignment device."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.body.alignment_device import device_corner
from pipeline.body.joint_centres import (
    REGRESSIONS,
    Chord,
    chord,
    chord_through,
    hip_centre,
    shift_centre,
)
from tests.support.walks.person import PROPERTY, SEED, close, random_turns

FLIP = np.diag([1.0, 1, -1])

HIP_TABLE = {  # mm per mm of pelvis width, pelvis depth and leg length, and mm; rows anterior, up, lateral
    "harrington": [(0, -0.24, 0, -9.9), (-0.30, 0, 0, -10.9), (0.33, 0, 0, 7.3)],
    "harrington_multiple": [(0, -0.24, 0, -9.9), (-0.16, 0, -0.04, -7.1), (0.16, 0.28, 0, 7.9)],
    "sangeux": [(-0.138, 0, 0, -10.4), (-0.305, 0, 0, -10.9), (0.33, 0, 0, 7.3)],
    "bell": [(-0.19, 0, 0, 0), (-0.30, 0, 0, 0), (0.36, 0, 0, 0)],
    "hara": [(0, 0, -0.063, 11), (0, 0, -0.078, -9), (0, 0, 0.086, 8)],
}


@given(st.floats(150, 300), st.floats(100, 220), st.floats(500, 1100))
@PROPERTY
def test_hip_regressions_are_the_published_ones(width: float, depth: float, leg: float) -> None:
    sizes = {"pelvis_width": width / 1000, "pelvis_depth": depth / 1000, "leg_length": leg / 1000}
    for method, rows in HIP_TABLE.items():
        anterior, up, lateral = np.array(rows) @ (width, depth, leg, 1)
        close(1000 * hip_centre(method, "right", sizes), [anterior, up, lateral])
        close(1000 * hip_centre(method, "left", sizes), [anterior, up, -lateral])
    assert set(REGRESSIONS) == {*HIP_TABLE, "davis", "functional"}


@given(st.floats(150, 300), st.floats(500, 1100), st.floats(500, 1100))
@PROPERTY
def test_hip_centre_of_davis(width: float, leg: float, other_leg: float) -> None:
    c = 0.115 * (leg + other_leg) / 2 - 15.3
    measured = {"pelvis_width": width, "leg_length": leg, "leg_length_mean": (leg + other_leg) / 2, "marker_radius": 7}
    for distance, known in ((0.1288 * leg - 48.56, {}), (83.0, {"asis_trochanter_distance": 83.0})):
        sizes = {name: value / 1000 for name, value in (measured | known).items()}
        cos_t, sin_t, cos_b, sin_b = (f(np.radians(a)) for a in (28.4, 18) for f in (np.cos, np.sin))
        back, down = -distance - 7, c * cos_t
        expected = np.array([back * cos_b + down * sin_b, back * sin_b - down * cos_b, width / 2 - c * sin_t])
        close(1000 * hip_centre("davis", "right", sizes), expected)
        close(1000 * hip_centre("davis", "left", sizes), expected @ FLIP)


@given(SEED, st.floats(0.01, 0.99))
@PROPERTY
def test_chord_is_a_right_angle_in_the_markers_plane_away_from_the_wand(seed: int, share: float) -> None:
    proximal, lateral, wand = np.random.default_rng(seed).normal(size=(3, 3))
    radius = share * float(np.linalg.norm(proximal - lateral))
    centre = chord(proximal, lateral, wand, Chord(radius), "right")
    arm, up, away = centre - lateral, proximal - lateral, wand - lateral
    close(np.linalg.norm(arm), radius)
    close([arm @ (centre - proximal), np.linalg.det([arm, up, away])], 0)
    assert np.cross(up, arm) @ np.cross(up, away) < 0


@given(SEED, st.sampled_from(["left", "right"]))
@PROPERTY
def test_calibrated_chord_gives_the_centre_that_it_was_calibrated_to(seed: int, side: str) -> None:
    """The wand is a marker of the lateral side, so that its angle from the lateral marker is less than a right one."""
    draw = np.random.default_rng(seed)
    proximal, lateral = np.array([[0.02, 0.4, -0.03], [0, 0, 0.05]]) + draw.normal(scale=0.01, size=(2, 3))
    wand = np.array([0.03, 0.2, 0.1]) + draw.normal(scale=0.02, size=3)
    centre = draw.normal(scale=0.01, size=3)
    place = chord_through(proximal[None], lateral[None], wand[None], centre[None], side)
    close(chord(proximal, lateral, wand, place, side), centre)
    mirrored = place._replace(rotation_rad=-place.rotation_rad)
    other = {"left": "right", "right": "left"}[side]
    close(chord(proximal, lateral, wand, mirrored, other), centre)


def test_rotation_of_a_chord_is_the_angle_from_wand_to_lateral_marker_about_the_axis() -> None:
    """Seen from the centre along the segment, inwards positive: on the right, forwards from a wand behind."""
    proximal, lateral = np.array([0, 0.4, 0.0]), np.array([0, 0.0, 0.06])
    place = Chord(0.06, np.radians(20))
    for side, sign in (("right", 1), ("left", -1)):
        wand = np.array([-0.1 * np.sin(np.radians(20)), 0.2, sign * 0.1 * np.cos(np.radians(20))])
        close(chord(proximal, lateral * sign, wand, place, side), 0)


def test_chord_of_a_joint_wider_than_its_segment_is_nan() -> None:
    proximal, wand = np.array([[0, 0.4, 0], [0, 0.05, 0]]), np.array([0.0, 0.2, 0.1])
    centre = chord(proximal, np.zeros(3), wand, Chord(0.06), "right")
    assert np.isfinite(centre[0]).all()
    assert np.isnan(centre[1]).all()


@given(SEED)
@PROPERTY
def test_device_corner_is_where_the_rods_meet(seed: int) -> None:
    """Three perpendicular rods of equal length, one of them sideways; the order of their markers does not matter."""
    rng = np.random.default_rng(seed)
    corner, rod = rng.normal(size=3), rng.uniform(0.05, 0.2)
    for side, out in (("right", 1.0), ("left", -1.0)):
        turn = random_turns(rng, 1)[0]
        to_right = turn[2]
        # the rods as seen from the knee: sideways, and two at right angles to it
        ends = [corner + rod * direction for direction in (out * turn[2], turn[0], turn[1])]
        for order in ((0, 1, 2), (1, 0, 2), (2, 0, 1)):
            found = device_corner(tuple(ends[i] for i in order), to_right, side)
            close(found, corner)


@given(SEED)
@PROPERTY
def test_predicted_centre_is_a_share_of_a_length_along_the_axes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start, axes, length = rng.normal(size=3), random_turns(rng, 1)[0], rng.uniform(0.05, 0.5)
    shift = (0.0, -0.027, 0.5)
    for side, out in (("right", 1), ("left", -1)):
        x, y, z = axes @ (shift_centre(start, axes, shift, length, side) - start)
        close([x, y, z], [0, -0.027 * length, out * 0.5 * length])
