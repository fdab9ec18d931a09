"""The nine angles of the Movement Analysis Profile, and the scores of a typical person of a reference.

Baker R et al. (2009) The Gait Profile Score and Movement Analysis Profile. Gait Posture 30:265-269; equations in
Baker R et al. (2012) Gait Posture 35:612-615.
"""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from ..arrays import Array, Flags, select
from ..tables.reference_curves import Key, ReferenceCurve, key_of
from .metrics import GAIT_ANGLES

EVERY = 2  # percent
PHASE = np.arange(0.0, 101, EVERY)
# A line 10 degrees beside that of the stride adds 10 to pelvis rotation and foot progression, and so raises a Gait
# Profile Score of 6, usual in health, to 7.6: by the smallest important difference (Baker 2012). In straight walks, in
# which all strides have one line, the heading of the pelvis at successive strikes changes by 3 to 5 degrees, in one
# child 8 (standard deviation); steps of a turn change it by tens of degrees (Hase and Stein 1999).
STRAIGHT_DEGREES = 10.0
# Degrees: the mean difference between adjacent levels of the Functional Assessment Questionnaire (Baker 2012); a second
# laboratory found 1.5, 95 % interval 1.1 to 2.0 (The Edinburgh visual gait score - the minimal clinically important
# difference, 2017, Gait Posture 53:25-28). For the nine Gait Variable Scores none was found published.
SMALLEST_IMPORTANT = {"gait_profile_score": 1.6, "gait_profile_score_overall": 1.6}
OF_THE_PELVIS = np.array([name.startswith("pelvis") for name in GAIT_ANGLES])


def turns(turning_angle: ArrayLike, progression_offset: ArrayLike) -> Flags:
    """Return whether cycles (...) cannot be compared with straight gait.

    The heading leaves the line from which pelvis and foot are measured by more than STRAIGHT_DEGREES: the stride leads
    there, or turns by twice as much, from one side of its direction to the other. What is unknown, NaN, counts as
    straight.
    """
    return np.asarray(
        (np.abs(progression_offset) > STRAIGHT_DEGREES) | (np.abs(turning_angle) > 2 * STRAIGHT_DEGREES), dtype=bool
    )


def turning_cycles(study: xr.Dataset) -> Flags:
    """Return the cycles (cycle,) of a study that turn; none if the study does not know."""
    if "turning_angle" not in study:
        return np.zeros(study.sizes["cycle"], dtype=bool)
    offset = study["progression_offset" if "progression_offset" in study else "stride_direction"]  # before it existed
    return turns(study.turning_angle.values, offset.values)


def place_of(name: str) -> tuple[str, dict[str, str]]:
    """Return the variable and the labels of an angle of GAIT_ANGLES."""
    part, _, angle = name.partition("_")
    if part == "foot":
        return name, {}
    if part == "pelvis":
        return "pelvis_angle", {"angle": {"tilt": "flexion", "obliquity": "adduction"}.get(angle, angle)}
    return "joint_angle", {"joint": part, "angle": angle}


def nine_angles(study: xr.Dataset) -> Array:
    """Return the angles (cycle, 9, 51) of GAIT_ANGLES, degrees; NaN in turns, in which they are of no direction."""
    curves = [
        select(study, name, "cycle", "phase", **labels)[:, ::EVERY] for name, labels in map(place_of, GAIT_ANGLES)
    ]
    return np.where(turning_cycles(study)[:, None, None], np.nan, np.stack(curves, axis=1))


def along_cycle(curves: Mapping[Key, ReferenceCurve], what: str) -> Array:
    """Return ``mean`` or ``sd`` of the nine angles (9, 51), degrees; NaN where the table does not reach."""
    values = np.full((len(GAIT_ANGLES), len(PHASE)), np.nan)
    for i, (variable, labels) in enumerate(map(place_of, GAIT_ANGLES)):
        if curve := curves.get(key_of(variable, labels)):
            values[i] = np.interp(PHASE, curve.phase, getattr(curve, what), left=np.nan, right=np.nan)
    return values


def root_mean_square(values: Array) -> Array:
    """Return the root mean square along the last dimension."""
    return np.asarray(np.sqrt(np.mean(values**2, axis=-1)))


def typical_scores(curves: Mapping[Key, ReferenceCurve]) -> dict[str, float]:
    """Return the scores that a person of the reference has in the root mean square, degrees, by name of the score.

    The expected square of a person's difference from the mean is the variance, so that the root mean square of the
    standard deviation over the cycle is the gait variable score expected of a typical person. NaN where a curve is
    missing.
    """
    profile = root_mean_square(along_cycle(curves, "sd"))
    both_sides = np.concatenate([profile, profile[~OF_THE_PELVIS]])
    scores = {
        "gait_profile_score": root_mean_square(profile),
        "gait_profile_score_overall": root_mean_square(both_sides),
    }
    scores |= {f"gait_variable_score_{name}": score for name, score in zip(GAIT_ANGLES, profile, strict=True)}
    return {name: float(score) for name, score in scores.items()}
