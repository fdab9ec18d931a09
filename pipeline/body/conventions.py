"""Names, signs and constants that every module of the body shares."""

from __future__ import annotations

STANDARD_GRAVITY_M_S2 = 9.80665
LONGEST_SWING_S = 1.0
SIDE_SIGN = {"left": -1.0, "right": 1.0}
SIDES = ("left", "right")
JOINTS = ("ankle", "knee", "hip")
CHAIN = ("foot", "shank", "thigh")
SEGMENTS = (*CHAIN, "pelvis")
PROXIMAL = {"ankle": "shank", "knee": "thigh", "hip": "pelvis"}
