"""Plausibility of a leg: joint centres, angles and lengths that a person can have, judged without the model's rules.

The references are anatomy and single markers: both ASIS, the lateral markers of knee and ankle, heel and toe. A body
model of another marker set, exchanged labels, and sizes in another unit give legs that no person has. A measure that
needs a marker which is not there is left out.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Flags
from ..conventions import ANGLES, JOINTS, SEGMENTS, SIDE_SIGN, SIDES
from ..dynamics.vectors import cross, dot, length, rotate, unit
from .joint_angles import SIGNS, angles
from .landmarks import Points
from .skeleton import Skeleton

REMEDY = "is the body model right for these markers, and are labels and joint widths right?"
AXIS_REMEDY = (
    "check where knee marker, thigh marker or wand, or the alignment device was in the static trial; until then "
    "do not interpret hip rotation, knee adduction, and the frontal and rotation moments of knee and hip of that side"
)
REMEDY_IN_MOTION = "the static trial shows a leg that can be: are the labels right in both, and has no marker moved?"
LATERAL = {"knee": "lateral_epicondyle", "ankle": "lateral_malleolus"}
MEDIAL = {"knee": "medial_epicondyle", "ankle": "medial_malleolus"}

PAIRS = (
    ("asis_left", "asis_right"), ("lateral_epicondyle", "lateral_malleolus"), ("lateral_malleolus", "heel"),
    ("lateral_malleolus", "toe"), ("heel", "toe"),
)  # fmt: skip
SHORTEST_M = 0.05  # distance that is compared
OFTEN = 0.2  # share of the time from which a leg is refused throughout; no sound one is ever out of limits for long
# Bone pins show 2 to 8 degrees of adduction in gait (Lafortune MA et al. 1992, J Biomech 25:347-357; Benoit DL et al.
# 2006, Gait Posture 24:152-164). An axis turned by 25 adds 20, all of it in step with flexion, and moves a centre that
# is found by the chord function by 25 mm: .25 N m/kg at the knee, 2.5 times what gait services differ by.
LARGEST_AXIS_ERROR_DEG, IN_STEP = 25.0, 0.95
# Half way between what placing markers errs by, 5 degrees (Della Croce U et al. 1999, Med Biol Eng Comput 37:155-161),
# and 15; with that correlation half of the adduction's variance is the axis' own. How often generated knees with an
# axis turned by 5 and 15 degrees are beyond both: tests/body/test_plausibility.py.
SUSPECT_AXIS_ERROR_DEG, PARTLY_IN_STEP = 10.0, 0.7
# A person who stands upright has knees bent by -10 to 10 degrees, 5 more by the model's axes. Not refused: some cannot.
LARGEST_STANDING_BEND_DEG = 15.0
SMALLEST_BEND_DEG = 40.0  # of the knee, from which its axis can be judged


class Limit(NamedTuple):
    """What a measure can be."""

    # low, high: its limits, in ``unit``
    low: float
    high: float
    unit: str  # of the limits: ``mm``, ``degrees``, ``%``, or a length to which it is relative
    text: str  # what is out of limits, after the side


# The direction to the right that pelvis and foot show is off a joint's axis by the turns of hip and shank, some 45
# degrees in the extreme (anteverted femur, twisted tibia: Staheli LT et al. 1985, J Bone Joint Surg Am 67:39-47).
TURNED = 65.0
LIMITS = {
    # Half of a joint's breadth, of a child of 1 m to an obese adult (150 and 100 mm), and the marker's radius and skin.
    "knee away": Limit(20, 100, "mm", "knee centre is from its lateral marker by"),
    "ankle away": Limit(12, 75, "mm", "ankle centre is from its lateral marker by"),
    "knee side": Limit(0, TURNED, "degrees", "knee centre is not medial of its lateral marker, but off by"),
    "ankle side": Limit(0, TURNED, "degrees", "ankle centre is not medial of its lateral marker, but off by"),
    "knee medial": Limit(0, TURNED, "degrees", "medial knee marker is not medial of the lateral one, but off by"),
    "ankle medial": Limit(0, TURNED, "degrees", "medial ankle marker is not medial of the lateral one, but off by"),
    # Markers are put on the joint's axis to 10 mm, the skin slides by up to 30 (Leardini A et al. 2005, Gait Posture
    # 21:212-225).
    "knee along": Limit(-40, 40, "mm", "knee centre is above its lateral marker by"),
    "ankle along": Limit(-40, 40, "mm", "ankle centre is above its lateral marker by"),
    # The line from lateral knee to lateral ankle marker against that from the hip: 7 degrees where the axis is off by
    # 40 at 60 degrees of flexion, 5 by the thigh's slant in the frontal plane, 5 by markers 15 mm off the axis, 3 by a
    # hip centre 20 mm off, most of them towards more flexion by the markers.
    "knee off": Limit(-25, 18, "degrees", "knee flexion differs from that of the lateral markers by"),
    # The line from heel to toe marker slopes by up to 20 degrees in a flat foot.
    "ankle off": Limit(-30, 30, "degrees", "ankle dorsiflexion differs from that of the markers by"),
    # In percent of the shank: .14 to .27 from ankle to heel marker, .23 to .45 to toe marker, and plantarflexion by 80
    # (of feet on which somebody kneels), which takes the toe marker to 9 % behind.
    "heel up": Limit(-50, 20, "% of the shank", "heel marker is above the ankle marker by"),
    "heel back": Limit(-8, 45, "% of the shank", "heel marker is behind the ankle marker by"),
    "toe up": Limit(-80, 40, "% of the shank", "toe marker is above the ankle marker by"),
    "toe ahead": Limit(-10, 90, "% of the shank", "toe marker is ahead of the ankle marker by"),
    "foot turn": Limit(0, 110, "degrees", "foot, by heel and toe marker, is turned from the pelvis by"),
    # Harrington ME et al. 2007 (J Biomech 40:595-602), by magnetic resonance: .35 down, .3 back, .14 in +-.1.
    "hip down": Limit(15, 65, "% of the pelvis width", "hip centre is below its ASIS by"),
    "hip back": Limit(0, 50, "% of the pelvis width", "hip centre is behind its ASIS by"),
    "hip in": Limit(-10, 40, "% of the pelvis width", "hip centre is medial of its ASIS by"),
    "pelvis tilt": Limit(-40, 65, "degrees", "pelvis, by ASIS and sacrum or PSIS, is tilted forwards by"),
    "pelvis slope": Limit(-35, 35, "degrees", "line between the ASIS slopes by"),
    "pelvis width": Limit(12, 70, "% of thigh and shank", "distance between the ASIS is"),
    # Passive ranges of healthy and hypermobile people (Roass A, Andersson GBJ 1982, Acta Orthop Scand 53:205-208) with
    # 15 to 25 degrees for deformity and for a model's axes.
    **{f"{joint} {name}": Limit(low, high, "degrees", f"{joint} {name} is")
       for joint, name, (low, high) in zip(np.repeat(JOINTS, 3), ANGLES * 3, (
           (-80, 55), (-60, 60), (-70, 70),
           (-30, 165), (-45, 45), (-80, 80),
           (-50, 145), (-60, 60), (-80, 80),
       ), strict=True)},
    # .9 to 1.1 in adults (Dempster WT 1955), .8 to 1.25 with the errors of a hip centre.
    "proportion": Limit(65, 150, "% of the shank", "thigh is"),
    # Soft tissue deforms clusters by 3 to 10 mm (Leardini 2005, above).
    **{f"{name} cluster": Limit(0, 25, "mm", f"{name}'s markers deviate from their places in the static trial by")
       for name in SEGMENTS},
    "distances": Limit(0, 30, "%", "markers of ASIS, knee, ankle, heel and toe have distances unlike the static's by"),
    # Skin slides by up to 40 mm on the thigh, 30 on the shank (Peters A et al. 2010, Gait Posture 31:1-8).
    "thigh length": Limit(-20, 20, "%", "thigh is longer than in the static trial by"),
    "shank length": Limit(-15, 15, "%", "shank is longer than in the static trial by"),
}  # fmt: skip
FLAG_MEANINGS = " ".join(["plausible", *(name.replace(" ", "_") for name in LIMITS)])  # of the flags 0, 1, ...


def measures(
    points: Points,
    leg: Skeleton,
    side: str,
    static_m: Mapping[str, float] | None = None,
    distances_m: Mapping[tuple[str, str], float] | None = None,
) -> dict[str, Array]:
    """Return what :data:`LIMITS` limit, each (time,) in its unit; NaN where markers are not seen.

    Args:
        points: landmarks (time, 3), lab axes, m.
        static_m: lengths of thigh and shank between joint centres in the static trial, m.
        distances_m: distances of landmarks in the static trial, m.
    """
    markers = {name: points.get(f"{name}_{side}") for name in (*LATERAL.values(), *MEDIAL.values(), "heel", "toe")}
    centre = {joint: leg.centres[f"{joint}_centre"] for joint in JOINTS}
    nowhere = np.full_like(centre["hip"], np.nan)
    asis = {name: points.get(f"asis_{name}", nowhere) for name in SIDES}
    across = asis["right"] - asis["left"]
    knee, ankle, heel, toe = (markers[name] for name in (*LATERAL.values(), "heel", "toe"))
    up = centre["knee"] - centre["ankle"] if knee is None or ankle is None else knee - ankle
    foot = nowhere if heel is None or toe is None else cross(toe - heel, up)
    pelvis_right, foot_right = _unless_nan(unit(across), unit(foot)), _unless_nan(unit(foot), unit(across))
    right = {"knee": pelvis_right + foot_right, "ankle": foot_right}
    measured: dict[str, Array] = {}
    for joint, name in LATERAL.items():
        outward = SIDE_SIGN[side] * right[joint]
        measured |= _of_joint(joint, markers[name], markers[MEDIAL[joint]], centre[joint], outward, unit(up))
    from_asis = rotate(leg.frames["pelvis"], centre["hip"] - asis[side])
    back, down, inwards = (-100 * from_asis / length(across)[:, None]).T  # percent of the distance between the ASIS
    measured |= {"hip back": back, "hip down": down, "hip in": SIDE_SIGN[side] * inwards}
    rotation = np.stack([leg.frames[name] for name in SEGMENTS], axis=1)
    angle = angles(rotation[:, 1:], rotation[:, :-1], smallest_floating_axis=0.0)
    angle = np.degrees(angle) * SIGNS[SIDES.index(side)]
    measured |= {f"{j} {a}": angle[:, i, k] for i, j in enumerate(JOINTS) for k, a in enumerate(ANGLES)}
    if knee is not None and ankle is not None:
        measured["knee off"] = measured["knee flexion"] - _turn(up, centre["hip"] - knee, right["knee"])
        if heel is not None and toe is not None:
            measured["ankle off"] = measured["ankle flexion"] - 90 + _turn(toe - heel, up, foot)
            measured["foot turn"] = _between(foot, across)
            measured |= _of_foot(heel - ankle, toe - ankle, toe - heel, up)
    thigh, shank = length(centre["hip"] - centre["knee"]), length(centre["knee"] - centre["ankle"])
    measured["proportion"], measured["pelvis width"] = 100 * thigh / shank, 100 * length(across) / (thigh + shank)
    if static_m:
        measured["thigh length"] = 100 * (thigh / static_m["thigh"] - 1)
        measured["shank length"] = 100 * (shank / static_m["shank"] - 1)
        measured |= {f"{name} cluster": 1000 * residual for name, residual in leg.residuals.items()}
        measured["distances"] = _changes(points, side, distances_m or {})
    else:  # who moves may also sit, bend or lie
        measured["pelvis slope"] = np.degrees(np.arcsin(unit(across)[:, 1]))
        measured["pelvis tilt"] = -np.degrees(np.arcsin(leg.frames["pelvis"][:, 0, 1]))
    return measured


def _of_foot(heel: Array, toe: Array, along: Array, up: Array) -> dict[str, Array]:
    """Return the places of heel and toe marker from the ankle's, in percent of the shank."""
    shank, ahead = length(up), unit(along - unit(up) * dot(along, unit(up))[:, None])
    height = 100 / shank**2
    return {
        "heel up": height * dot(heel, up),
        "heel back": -100 * dot(heel, ahead) / shank,
        "toe up": height * dot(toe, up),
        "toe ahead": 100 * dot(toe, ahead) / shank,
    }


def _changes(points: Points, side: str, distances_m: Mapping[tuple[str, str], float]) -> Array:
    """Return the largest change (time,) of the distances of single markers against the static trial, percent."""
    changes = [np.zeros(len(next(iter(points.values()))))]
    for one, other in PAIRS:
        pair = (one if one in points else f"{one}_{side}", other if other in points else f"{other}_{side}")
        before_m = distances_m.get(pair, np.nan)
        if before_m > SHORTEST_M and pair[0] in points and pair[1] in points:
            changes.append(100 * np.abs(length(points[pair[0]] - points[pair[1]]) / before_m - 1))
    return np.asarray(np.fmax.reduce(changes))


def _of_joint(
    joint: str, lateral: Array | None, medial: Array | None, centre: Array, outward: Array, up: Array
) -> dict[str, Array]:
    """Return the place of knee or ankle centre against the lateral and the medial marker."""
    if lateral is None:
        return {}
    measured = {
        f"{joint} away": 1000 * length(lateral - centre),
        f"{joint} along": 1000 * dot(centre - lateral, up),
        f"{joint} side": _between(lateral - centre, outward),
    }
    if medial is not None:
        measured[f"{joint} medial"] = _between(lateral - medial, outward)
    return measured


def _between(one: Array, other: Array) -> Array:
    """Return the angle (time,) between vectors, degrees."""
    return np.asarray(np.degrees(np.arccos(np.clip(dot(unit(one), unit(other)), -1, 1))))


def _turn(start: Array, end: Array, axis: Array) -> Array:
    """Return the right-handed angle (time,) from one vector to another, seen along an axis, degrees."""
    along = unit(axis)
    cosine = dot(start, end) - dot(start, along) * dot(end, along)
    return np.asarray(np.degrees(np.arctan2(dot(cross(start, end), along), cosine)))


def _unless_nan(vector: Array, otherwise: Array) -> Array:
    return np.where(np.isfinite(vector), vector, otherwise)


def implausible(measured: Mapping[str, Array]) -> NDArray[np.int8]:
    """Return (time,) the number, from 1, in :data:`LIMITS` of the first measure out of its limits; 0 if none is."""
    flags = np.zeros(len(measured["proportion"]), dtype=np.int8)
    for number, name in reversed([*enumerate(LIMITS, 1)]):
        if name in measured:
            flags[_out(name, measured[name])] = number
    return flags


def reason_of(measured: Mapping[str, Array], side: str) -> str:
    """Return why a leg is refused, by the measure that is most often out of its limits; empty unless it often is."""
    seen = np.any([np.isfinite(values) for values in measured.values()], axis=0)
    if not seen.any() or (implausible(measured) > 0).sum() <= OFTEN * seen.sum():
        return ""
    out = {name: _out(name, measured[name]) for name in LIMITS if name in measured}
    worst = max(out, key=lambda name: int(out[name].sum()))
    limit, value = LIMITS[worst], float(np.median(measured[worst][out[worst]]))
    return f"the {side} {limit.text} {value:.0f} {limit.unit}, expected {limit.low:g} to {limit.high:g}"


def _out(name: str, values: Array) -> Flags:
    return np.asarray((values < LIMITS[name].low) | (values > LIMITS[name].high))


def reason_of_flag(flag: int, side: str) -> str:
    """Return in words which measure is out of limits, from a value of :func:`implausible`."""
    low, high, unit_name, text = [*LIMITS.values()][flag - 1]
    return f"the {side} {text} less than {low:g} or more than {high:g} {unit_name}"


def knee_axis_error(measured: Mapping[str, Array]) -> tuple[float, float]:
    """Return the turn of the knee's axis about the thigh, degrees, and how far adduction is in step with flexion.

    A hinge of which the axis is taken d away from where it is seems to adduct: sin(adduction) = sin(d) sin(flexion), by
    the first rotation of the Cardan sequence. Both are NaN for a knee that bends by less than 40 degrees (5 to 95 %).

    Returns:
        The turn by least squares, positive if the knee adducts with flexion, and the coefficient of correlation.
    """
    flexion, adduction = (np.radians(measured[f"knee {name}"]) for name in ("flexion", "adduction"))
    seen = np.isfinite(flexion) & np.isfinite(adduction)
    ends, bends = seen.sum() // 20, np.sort(flexion[seen])  # 5 % of the instants
    if not bends.size or bends[-1 - ends] - bends[ends] < np.radians(SMALLEST_BEND_DEG):
        return np.nan, np.nan
    bend, tilt = np.sin(flexion[seen]), np.sin(adduction[seen])
    (across, both), (_, along) = np.cov(bend, tilt)
    return float(np.degrees(np.arcsin(np.clip(both / across, -1, 1)))), float(both / np.sqrt(across * along))


def axis_is_suspect(turn_deg: float, in_step: float) -> bool:
    """Return whether a knee's axis is worth a look, from :func:`knee_axis_error`; NaN is not."""
    return abs(turn_deg) > SUSPECT_AXIS_ERROR_DEG and abs(in_step) > PARTLY_IN_STEP


def axis_in_words(turn_deg: float, in_step: float, adduction_deg: float, hip_deg: float) -> str:
    """Return what speaks for or against a knee's axis: :func:`knee_axis_error`, range of adduction, hip rotation."""
    moves = f"adduction moves by {adduction_deg:.1f} degrees in the gait cycle"
    hip = f"hip rotation {hip_deg:+.0f} degrees on average"
    if left_out := reason_of_axis(turn_deg, in_step, ""):
        return f"{left_out}. Angles and loads of the knee and hip rotation are left out, or the leg if it is refused"
    if np.isnan(turn_deg):
        return f"the knee bends too little to judge its axis; {moves}, {hip}"
    in_step_words = f"{moves}, in step with flexion by r {in_step:.2f}; {hip}"
    if not axis_is_suspect(turn_deg, in_step):
        return in_step_words
    turned = f"seems turned {'inwards' if turn_deg > 0 else 'outwards'} by {abs(turn_deg):.0f} degrees"
    return f"the knee's axis {turned}, and with it hip rotation and frontal moments: {in_step_words}"


def reason_of_axis(turn_deg: float, in_step: float, side: str) -> str:
    """Return why a knee is refused, from :func:`knee_axis_error`; empty if it is not."""
    if not (abs(turn_deg) > LARGEST_AXIS_ERROR_DEG and abs(in_step) > IN_STEP):
        return ""
    return (
        f"the {f'{side} ' * bool(side)}knee's axis is turned by about {abs(turn_deg):.0f} degrees: the knee seems to "
        f"{'ad' if turn_deg > 0 else 'ab'}duct whenever it bends, expected at most {LARGEST_AXIS_ERROR_DEG:.0f}"
    )
