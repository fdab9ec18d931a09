"""People drawn around several published sources, unknown to the pipeline: sizes, masses, and where they wear markers.

No table of ``pipeline`` or ``config`` is read, so that its errors for a person are those that it has for people. The
whole person is that of :mod:`tests.support.whole_body.person`. Shares of mass but Plagenhoef's, and the numbers of
Della Croce, Drillis & Contini, Dumas, Knutson and WHO, are quoted from memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.support.walks.ways_of_moving import Person as Walker
from tests.support.whole_body.person import BODIES, SIDES, Person
from tests.support.whole_body.person import random_person as any_whole_person

Array = NDArray[np.float64]
Places = dict[str, tuple[str, Array]]  # body of each marker, and its place from the body's origin, body's axes, m

# percent of body mass: pelvis, thorax with abdomen, head with neck, upper arm, forearm, hand, thigh, shank, foot.
# Dempster (1955) in Winter (2009); de Leva (1996) of men and of women, the lower part of the trunk as pelvis;
# Plagenhoef et al. (1983) of both, whose trunk is divided as Dempster's; Dumas et al. (2007) of both
SOURCES = {
    "Dempster": (14.2, 35.5, 8.1, 2.8, 1.6, 0.6, 10.0, 4.65, 1.45),
    "de Leva, men": (11.17, 32.29, 6.94, 2.71, 1.62, 0.61, 14.16, 4.33, 1.37),
    "de Leva, women": (12.47, 30.10, 6.68, 2.55, 1.38, 0.56, 14.78, 4.81, 1.29),
    "Plagenhoef, men": (13.4, 33.44, 8.96, 3.25, 1.87, 0.65, 10.5, 4.75, 1.43),
    "Plagenhoef, women": (12.9, 32.1, 8.2, 2.9, 1.57, 0.5, 11.75, 5.35, 1.33),
    "Dumas, men": (14.2, 33.3, 6.7, 2.4, 1.7, 0.6, 12.3, 4.8, 1.2),
    "Dumas, women": (14.6, 30.4, 6.7, 2.2, 1.3, 0.5, 14.6, 4.5, 1.0),
}
KINDS = ("pelvis", "thorax", "head", "upper_arm", "forearm", "hand", "thigh", "shank", "foot")
# Predictions by tables miss individual masses by 5 to 40 % (Durkin & Dowling 2003, J Biomech Eng 125:515), de Leva's by
# up to 60 % (Merrill et al. 2019): the sources' own spread, and 12 % of each segment more (SD)
MASS_SD, SIDE_SD = 0.12, 0.02
# a child's head and thigh per year of age below 16, percent of body mass (Jensen 1986, J Biomech 19:359)
HEAD_PER_YEAR, THIGH_PER_YEAR = -1.1, 0.36
# centre of mass along each segment, share of its length (SD): 40 to 46 % in the sources above
COM_SD, RADIUS_SD = 0.04, 0.08
# The trunk's centre is 8 mm behind the line from the neck to L5/S1 (Dumas et al. 2007: 17 and 7 mm); by computed
# tomography it lies up to 50 mm ahead of the lower thoracic vertebrae and 20 mm ahead of L1/L2, and differs between
# people (Pearsall et al. 1996, Ann Biomed Eng 24:198). SD 12 mm; of the pelvis 8 mm
TRUNK_AHEAD_M, TRUNK_AHEAD_SD_M, PELVIS_AHEAD_SD_M = -0.008, 0.012, 0.008
# Regressions predict the hip centres of those they were fitted to with 4.8, 3.6 and 4.7 mm (root mean square, x y z, CT
# of 158 people, studylib.net/doc/10720131; Hara et al. 2016, Sci Rep 6:37707, is alike); with other people and
# markers, Harrington's miss by 12.3 +- 5.9 mm (Mantovani et al. 2016)
HIP_SD_M = (0.006, 0.005, 0.006)
LENGTH_SD = {"thigh": 0.03, "shank": 0.03, "upper_arm": 0.03, "forearm": 0.03}  # about Drillis & Contini (1966)
LEG_DIFFERENCE_SD = 0.004  # of a leg's bones, left and right: 5 mm in a leg is usual (Knutson 2005)
PER_HEIGHT = {"thigh": 0.245, "shank": 0.246, "upper_arm": 0.172, "forearm": 0.157}
# Palpated by one examiner, landmarks of pelvis and leg are placed with 6 to 21 mm, between examiners with up to 25
# (Della Croce et al. 1999 and 2005, Gait Posture 21:226): 5 to 10 mm root mean square in three directions, each side
# for itself
PLACED_M = (0.005, 0.010)
RADIUS_M = 0.007  # of a marker
ANKLE_HEIGHT = 0.039  # per height, as the feet of :mod:`tests.support.walks.moving_person`


class Drawn(NamedTuple):
    """A drawn person.

    ``whole``: her bodies; ``walker``: what plans her steps; ``age_years``; ``sex``; ``sizes``: what is measured with
    calipers and tape, by column of participants.tsv, m; ``markers``: where she wears them, by landmark of the body
    models, or by label of those of trunk, head and arms.
    """

    whole: Person
    walker: Walker
    age_years: float
    sex: str
    sizes: Mapping[str, float]
    markers: Places


def drawn_person(rng: np.random.Generator) -> Drawn:
    """Return a person from 5 to 80 years, thin to heavy."""
    age = rng.uniform(5, 16) if rng.random() < 0.25 else rng.uniform(18, 80)
    sex = "FM"[int(rng.integers(2))]
    if age < 16:  # medians and spreads of WHO (2007): 110 cm at 5 years, 170 at 16; body mass index 15 to 20
        height = (1.10 + 0.055 * (age - 5)) * (1 + 0.04 * _normal(rng))
        index = (15.2 + 0.45 * (age - 5)) * np.exp(0.12 * _normal(rng))
    else:
        height = (1.77 if sex == "M" else 1.64) + 0.07 * _normal(rng)
        index = 25 * np.exp(0.16 * _normal(rng))
    whole = _whole(rng, float(height), float(index * height**2), float(age))
    foot = height * rng.uniform(0.146, 0.158)
    walker = Walker(
        whole.mass_kg, float(height), float(foot), np.radians(rng.uniform(0, 14)),
        float(height / 1.75 * rng.uniform(0.035, 0.075)), float(rng.normal(0, 0.02)),
    )  # fmt: skip
    widths = {"knee": height / 1.75 * rng.uniform(0.088, 0.108), "ankle": height / 1.75 * rng.uniform(0.062, 0.074)}
    markers = _placed(_worn(whole, walker.foot_m, widths), rng)
    return Drawn(whole, walker, float(age), sex, _measured(whole, widths, rng), markers)


def _normal(rng: np.random.Generator) -> float:
    return float(np.clip(rng.normal(), -2.2, 2.2))


def _whole(rng: np.random.Generator, height: float, mass_kg: float, age: float) -> Person:
    """Return the bodies, about the shape of the whole person of tests, whose proportions are not those of a table."""
    base = any_whole_person(int(rng.integers(2**31)))
    scale = height / base.height_m
    shares = dict(zip(KINDS, rng.dirichlet(np.full(len(SOURCES), 0.3)) @ np.array([*SOURCES.values()]), strict=True))
    younger = max(16 - age, 0)
    shares["head"] -= younger * HEAD_PER_YEAR
    shares["thigh"] -= younger * THIGH_PER_YEAR
    shares = {kind: share * np.exp(MASS_SD * _normal(rng)) for kind, share in shares.items()}
    mass = {body: shares[_kind(body)] * (1 + SIDE_SD * _normal(rng)) for body in BODIES}
    mass = {body: mass_kg * share / sum(mass.values()) for body, share in mass.items()}
    place = {body: scale * where for body, where in base.place.items()}
    for kind, child in (("thigh", "shank"), ("shank", "foot"), ("upper_arm", "forearm"), ("forearm", "hand")):
        length = height * PER_HEIGHT[kind] * (1 + LENGTH_SD[kind] * _normal(rng))
        for side in SIDES:
            place[f"{child}_{side}"] = np.array([0.0, -length * (1 + LEG_DIFFERENCE_SD * _normal(rng)), 0.0])
    waist = scale * base.waist_in_thorax
    com = {body: _com(rng, body, place, waist, height) for body in BODIES}
    tensor = {
        body: base.tensor[body] * (mass[body] / base.mass[body]) * (scale * (1 + RADIUS_SD * _normal(rng))) ** 2
        for body in BODIES
    }
    # where the regressions of hips, on width and depth of the pelvis, are wrong for her
    signs = {"left": np.array([1, 1, -1]), "right": np.ones(3)}
    off = {side: np.array(HIP_SD_M) * [_normal(rng) for _ in range(3)] * signs[side] for side in SIDES}
    middle = (off["left"] + off["right"]) / 2
    for side in SIDES:
        place[f"thigh_{side}"] = scale * base.place[f"thigh_{side}"] + off[side] - middle
    width, asis = scale * base.pelvis_width, scale * base.asis - middle
    return Person(
        height, mass, com, tensor, place, waist, width, scale * base.pelvis_depth, asis,
        {side: scale * base.shoulder_offset[side] for side in SIDES},
    )  # fmt: skip


def _com(rng: np.random.Generator, body: str, place: Mapping[str, Array], waist: Array, height: float) -> Array:
    """Return a centre of mass (3,) from the body's origin, in its axes, m."""
    kind, side = _kind(body), body.rpartition("_")[2]
    along, ahead = COM_SD * _normal(rng), _normal(rng)
    if kind == "thorax":
        line = (0.41 + along) * waist
        return np.asarray(line + np.array([TRUNK_AHEAD_M + TRUNK_AHEAD_SD_M * ahead, 0, 0.003 * _normal(rng)]))
    if kind == "pelvis":
        return np.array([PELVIS_AHEAD_SD_M * ahead, height * (0.028 + 0.15 * along), 0.002 * _normal(rng)])
    if kind == "head":
        return np.array([height * 0.008 + 0.006 * ahead, height * (0.075 + 0.15 * along), 0.0])
    if kind == "foot":
        return np.array([height * (0.032 + 0.15 * along), -height * 0.02, 0.003 * _normal(rng)])
    if kind == "hand":
        return np.array([0.0, -height * (0.032 + 0.1 * along), 0.0])
    child = {"thigh": "shank", "shank": "foot", "upper_arm": "forearm", "forearm": "hand"}[kind]
    share = {"thigh": 0.425, "shank": 0.435, "upper_arm": 0.44, "forearm": 0.43}[kind]
    beside = 0.005 * np.array([_normal(rng), 0, _normal(rng)])
    return np.asarray((share + along) * place[f"{child}_{side}"] + beside)


def _kind(body: str) -> str:
    return body.removesuffix("_left").removesuffix("_right")


Right = dict[str, tuple[str, tuple[float, float, float]]]  # kind of body, and place on the right side

# on thigh and shank of an adult: ahead, m, along the segment, share of its length, and outwards, m
CLUSTER = {
    "1": (0.06, -0.42, 0.05), "2": (-0.01, -0.38, 0.08), "3": (0.05, -0.68, 0.05), "4": (-0.02, -0.63, 0.07),
    "5": (0.03, -0.55, 0.08), "upper": (0.01, -0.38, 0.08), "front": (0.07, -0.62, 0.02), "rear": (-0.03, -0.67, 0.07),
}  # fmt: skip
# of the thorax, per height
TRUNK = {"C7": (-0.035, 0.012, 0), "CLAV": (0.035, -0.012, 0), "STRN": (0.06, -0.09, 0), "T10": (-0.065, -0.12, 0)}


def _worn(whole: Person, foot_m: float, widths: Mapping[str, float]) -> Places:
    """Return where markers would be placed without error, by landmark, and by label above the pelvis."""
    places: Places = {label: ("thorax", whole.height_m * np.array(where)) for label, where in TRUNK.items()}
    front = whole.asis + np.array([RADIUS_M, 0, 0])
    back = whole.asis - np.array([whole.pelvis_depth + RADIUS_M, 0, 0])
    for side, sign in zip(SIDES, (-1, 1), strict=True):
        outwards, letter = np.array([1, 1, sign]), side[0].upper()
        for name, (kind, where) in _on_leg(whole, side, foot_m, widths).items():
            places[f"{name}_{side}"] = f"{kind}_{side}", np.array(where) * outwards
        for name, (kind, where) in _on_arm_and_head(whole, side).items():
            places[letter + name] = kind if kind == "head" else f"{kind}_{side}", np.array(where) * outwards
        raised = np.array([0, whole.shoulder_offset[side] + RADIUS_M, 0])
        places[f"{letter}SHO"] = "thorax", whole.place[f"upper_arm_{side}"] + raised
        places[f"asis_{side}"] = "pelvis", front + np.array([0, 0, sign * whole.pelvis_width / 2])
        places[f"psis_{side}"] = "pelvis", back + np.array([0, 0, sign * 0.028 * whole.height_m])
    return places | {"sacrum": ("pelvis", back)}


def _on_leg(whole: Person, side: str, foot_m: float, widths: Mapping[str, float]) -> Right:
    size, floor = whole.height_m / 1.75, -ANKLE_HEIGHT * whole.height_m
    thigh, shank = (whole.length(f"{bone}_{side}") for bone in ("thigh", "shank"))
    knee, ankle = (widths[joint] / 2 + RADIUS_M for joint in ("knee", "ankle"))
    places: Right = {
        "lateral_epicondyle": ("thigh", (0, 0.003 - thigh, knee)),
        "medial_epicondyle": ("thigh", (0, -0.003 - thigh, -knee)),
        "trochanter": ("thigh", (-0.01, -0.02, 0.09 * size)),
        "thigh_wand": ("thigh", (0.005, -0.55 * thigh, knee + 0.05)),
        "lateral_malleolus": ("shank", (0, -0.004 - shank, ankle)),
        "medial_malleolus": ("shank", (0, 0.004 - shank, -ankle)),
        "tibial_wand": ("shank", (0.003, -0.55 * shank, ankle + 0.045)),
        "heel": ("foot", (-0.25 * foot_m, floor + 0.036 * size, 0)),
        "metatarsal_1": ("foot", (0.465 * foot_m, floor + 0.042 * size, -0.036 * size)),
        "metatarsal_5": ("foot", (0.385 * foot_m, floor + 0.028 * size, 0.044 * size)),
        "toe": ("foot", (0.50 * foot_m, floor + 0.055 * size, -0.006 * size)),
        "toe_tip": ("foot", (0.68 * foot_m, floor + 0.03 * size, -0.005 * size)),
        "midfoot_superior": ("foot", (0.22 * foot_m, -0.01, 0)),
        "midfoot_lateral": ("foot", (0.18 * foot_m, floor + 0.03 * size, 0.04 * size)),
    }
    for name, (x, y, z) in CLUSTER.items():
        places[f"thigh_{name}"] = "thigh", (size * x, thigh * y, size * z)
        places[f"shank_{name}"] = "shank", (0.8 * size * x, shank * y, 0.75 * size * z)
    return places


def _on_arm_and_head(whole: Person, side: str) -> Right:
    h, arm, fore = whole.height_m, whole.length(f"upper_arm_{side}"), whole.length(f"forearm_{side}")
    elbow, wrist = 0.02 * h + RADIUS_M, 0.015 * h + RADIUS_M
    return {
        "FHD": ("head", (0.055 * h, 0.09 * h, 0.035 * h)),
        "BHD": ("head", (-0.045 * h, 0.09 * h, 0.035 * h)),
        "ELB": ("upper_arm", (0, 0.003 - arm, elbow)),
        "ELBM": ("upper_arm", (0, -0.003 - arm, -elbow)),
        "WRA": ("forearm", (0, -fore, wrist)),
        "WRB": ("forearm", (0, -fore, -wrist)),
        "FIN": ("hand", (0, -0.05 * h, 0)),
    }


def _placed(places: Places, rng: np.random.Generator) -> Places:
    """Return the places with errors of palpation, drawn for each marker on each side."""
    size = rng.uniform(*PLACED_M) / np.sqrt(3)
    moved = {
        name: (body, where + size * np.clip(rng.normal(size=3), -2.2, 2.2)) for name, (body, where) in places.items()
    }
    sides = [moved[f"psis_{side}"][1] for side in SIDES]
    return moved | {"sacrum": ("pelvis", (sides[0] + sides[1]) / 2)}


def _measured(whole: Person, widths: Mapping[str, float], rng: np.random.Generator) -> dict[str, float]:
    """Return sizes measured with errors of 1 cm by tape and 2 mm by calipers (SD)."""
    sizes = {}
    for side in SIDES:
        leg = whole.length(f"thigh_{side}") + whole.length(f"shank_{side}")
        sizes[f"leg_length_{side}_m"] = leg + abs(whole.asis[1]) + 0.01 * _normal(rng)
        sizes[f"knee_width_{side}_m"] = widths["knee"] + 0.002 * _normal(rng)
        sizes[f"ankle_width_{side}_m"] = widths["ankle"] + 0.002 * _normal(rng)
        sizes[f"shoulder_offset_{side}_m"] = whole.shoulder_offset[side] + 0.003 * _normal(rng)
    return sizes
