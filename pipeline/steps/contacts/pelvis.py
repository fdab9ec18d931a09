"""The motion of the pelvis: where it faces, and its middle, which stands in for the body's centre of mass."""

from collections.abc import Mapping

import numpy as np

from ...arrays import Array

BACK = ("psis_left", "psis_right", "sacrum")
# from the middle of the ASIS back to that of the pelvis, per distance between the ASIS: half the depth of the pelvis,
# which is some two thirds of that distance (Harrington et al. 2007)
BEHIND_SHARE = 0.33


def middle_of_pelvis(landmarks: Mapping[str, Array], count: int) -> Array:
    """Return the middle of the pelvis (time, 3), m, from landmarks in lab axes; NaN without both ASIS."""
    if "asis_left" not in landmarks or "asis_right" not in landmarks:
        return np.full((count, 3), np.nan)
    left, right = landmarks["asis_left"], landmarks["asis_right"]
    front = (left + right) / 2
    if back := [landmarks[name] for name in BACK if name in landmarks]:
        return np.asarray((front + np.mean(back, axis=0)) / 2)
    apart = np.sqrt(((left - right) ** 2).sum(axis=1, keepdims=True))
    return np.asarray(front - BEHIND_SHARE * apart * heading(left, right))


def heading(asis_left: Array, asis_right: Array) -> Array:
    """Return where the pelvis faces (time, 3), horizontal; x if unseen."""
    across = asis_right - asis_left
    ahead = np.stack([across[:, 2], np.zeros(len(across)), -across[:, 0]], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        ahead = ahead / np.linalg.norm(ahead, axis=1, keepdims=True)
    return np.where(np.isfinite(ahead), ahead, [1.0, 0.0, 0.0])
