"""The pelvis of a model: its spines, and the scale and axes that the spines of a person give it.

A hip centre is known from spines to a centimetre or two. So the spines decide on the size and the axes of the pelvis,
and the hip centre on where it lies.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ....arrays import Array
from ..setup_files import OF_SIDE

# in names of markers
ANTERIOR, POSTERIOR, SACRAL = ("asis", "asi"), ("psis", "psi"), ("sacral", "sacrum", "sacr")
# Hip centres predicted from spines miss those of images by 5 mm (SD, Harrington et al. 2007), at most some 20 mm
FARTHEST_HIP_M = 0.025
# from bone to marker: the markers that OpenSim's own set (gait2392_Scale_MarkerSet.xml) has at the spines of Gait2392
# are .256 m apart and .180 m deep, its bone .237 and .147 m. A person's markers are as far from the bone.
SKIN_WIDTH_M, SKIN_DEPTH_M = 0.0186, 0.0336
MOST_UNLIKE = 1.1  # of the ratios by axis of two hips' places, if both pelves are one bone scaled differently


class Spines(NamedTuple):
    """The spines of a pelvis: distance of the anterior ones, and from between them to between the posterior ones."""

    width_m: float
    depth_m: float


class Bone(NamedTuple):
    """Points of a bone (3,) in the axes of its body, right side, m."""

    hip: Array
    anterior: Array
    posterior: Array


# Vertices of OpenSim's bone of each model. That of Gait2392 is 1.7 mm (RMS) from the origins of 24 muscles of the model
# and turned by 0.1 degrees from them. The axes have the anterior spines and the pubic tubercles in one frontal plane
# (Delp et al. 1990).
BONES = {
    "Gait2392": Bone(*np.array([(-0.0707, -0.0661, 0.0835), (0.0, 0.0, 0.1187), (-0.1418, 0.0374, 0.0541)])),
    "Rajagopal 2016": Bone(*np.array([(-0.0563, -0.0785, 0.0773), (0.0, 0.0, 0.1208), (-0.1374, 0.0219, 0.0415)])),
}


class Pelvis(NamedTuple):
    """The scale of a model's pelvis by axis, and its axes."""

    factors: Array  # (3,)
    # turn about z from the axes of the study's pelvis, x from between the posterior spines, to those of the model
    tilt_rad: float
    spines: str  # where those of the model come from, or why the hips decide


def fit_pelvis(
    markers: Mapping[str, Array], hips: Mapping[str, Array], person: Mapping[str, Array], spines: Spines | None
) -> Pelvis:
    """Return the pelvis of a person.

    Width and depth are scaled by the spines. No spine shows the height: it gets the mean of both. A person
    without spines, or a model of which they are not known, has its pelvis scaled by the distance of the hips, and
    turned until the hips lie in one direction from the origin.

    Args:
        markers: places (3,) of the model's markers on its pelvis, m.
        hips: places (3,) of the model's hips by side, pelvis axes, m.
        person: places (3,) of the person's hips by side, from between the anterior spines, the study's pelvis axes, m.
        spines: distances of the person's markers; None if they are not seen.
    """
    found, source = _spines_of(markers, hips)
    if found is None or spines is None:
        why = source if spines else "the person's are not seen"
        own, model = ((each["right"] + each["left"]) / 2 for each in (person, hips))
        factor = float(np.linalg.norm(person["right"] - person["left"]) / np.linalg.norm(hips["right"] - hips["left"]))
        return Pelvis(np.full(3, factor), float(_angle(own) - _angle(model)), f"hips decide: {why}")
    anterior, posterior = found
    skin_m = Spines(SKIN_WIDTH_M, SKIN_DEPTH_M) if source in BONES else Spines(0.0, 0.0)
    forward = (anterior - posterior) * (1, 1, 0)
    width = spines.width_m / (2 * anterior[2] + skin_m.width_m)
    depth = spines.depth_m / (float(np.linalg.norm(forward)) + skin_m.depth_m)
    factors = np.array([depth, (depth + width) / 2, width])
    return Pelvis(factors, float(-_angle(factors * forward)), source)


def _spines_of(markers: Mapping[str, Array], hips: Mapping[str, Array]) -> tuple[tuple[Array, Array] | None, str]:
    """Return anterior and posterior spine of a model, right side, and their source; without them the reason.

    Markers of a model are often placed by eye, centimetres from the bone. They are used if the model's hips lie from
    them as the hips of people lie from their spines.
    """
    hip = (hips["right"] + hips["left"] * (1, 1, -1)) / 2
    names = {
        kind: _right(markers, kinds)
        for kind, kinds in zip(("front", "back", "mid"), (ANTERIOR, POSTERIOR, SACRAL), strict=True)
    }
    front, back = names["front"], names["mid"] if names["back"] is None else names["back"]
    reason = "the model has no markers at its spines"
    if front is not None and back is not None:
        off_m = float(np.linalg.norm(hip - usual_hip(front, back)))
        if off_m <= FARTHEST_HIP_M:
            return (front, back), "markers of the model"
        reason = f"the markers of the model at its spines are {1000 * off_m:.0f} mm from where hips of people have them"
    ratios = {name: hip / bone.hip for name, bone in BONES.items()}
    unlike = {name: np.abs(each).max() / np.abs(each).min() for name, each in ratios.items() if (each > 0).all()}
    nearest = min(unlike, key=lambda name: unlike[name], default="")
    if not nearest or unlike[nearest] > MOST_UNLIKE:
        return None, f"{reason}, and its pelvis is that of no known model"
    bone, ratio = BONES[nearest], ratios[nearest]
    return (bone.anterior * ratio, bone.posterior * ratio), nearest


def _right(markers: Mapping[str, Array], kinds: tuple[str, ...]) -> Array | None:
    """Return the place of the marker of a kind, that of the right side or the only one; None without."""
    places = [
        place
        for name, place in markers.items()
        if any(kind in name.lower() for kind in kinds) and name.lower()[0] != OF_SIDE["left"]
    ]
    return places[0] if len(places) == 1 else None


def usual_hip(anterior: Array, posterior: Array) -> Array:
    """Return where people have their right hip, by the spines of the right side, in the axes of these, (3,), m.

    Harrington et al. 2007, J Biomech 40:595-602: regressions on width and depth of the pelvis.
    """
    forward = (anterior - posterior) * (1, 1, 0)
    depth, width = float(np.linalg.norm(forward)), 2 * float(anterior[2])
    back, down, out = 0.24 * depth + 0.0099, 0.30 * width + 0.0109, 0.33 * width + 0.0073
    x, y, z = forward / depth, np.array([-forward[1], forward[0], 0.0]) / depth, np.array([0.0, 0.0, 1.0])
    hip: Array = anterior * (1, 1, 0) - back * x - down * y + out * z
    return hip


def shifts(hips: Mapping[str, Array], person: Mapping[str, Array], tilt_rad: float) -> dict[str, Array]:
    """Return by how much each hip of the scaled model is moved (3,), pelvis axes, m; the point between them stays."""
    c, s = np.cos(tilt_rad), np.sin(tilt_rad)
    into_model = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    own, model = ((each["right"] + each["left"]) / 2 for each in (person, hips))
    return {side: into_model @ (person[side] - own) - (hips[side] - model) for side in hips}


def _angle(vector: Array) -> float:
    return float(np.arctan2(vector[1], vector[0]))
