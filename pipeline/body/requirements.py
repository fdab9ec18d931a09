"""What a body model needs: which markers of a static and of a walking file, which sizes of the person."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conventions import SIDES
from ..errors import UserError
from .joint_centres import hip_centre as hip_regression
from .landmarks import landmark_labels
from .model_rules import size_of_centre
from .static_skeleton import static_rules, virtual_landmarks

Array = NDArray[np.float64]
FEWEST_CLUSTER_MARKERS = 3


def lacking_when_static(body_model: Mapping[str, Any], seen: Collection[str]) -> list[str]:
    """Return the landmarks and clusters that a static trial showing ``seen`` lacks."""
    names = {name for side in SIDES for name in _rules(body_model, seen, side)[1]}
    return sorted(names) + _lacking_clusters(body_model, {*seen, *virtual_landmarks(body_model, seen)})


def lacking_in_motion(body_model: Mapping[str, Any], seen: Collection[str], static: Collection[str]) -> list[str]:
    """Return the landmarks and clusters that a walking trial lacks: heels, toes, what each frame is built from.

    Args:
        body_model: see config/body_model.schema.yaml.
        seen: landmarks of the walking trial.
        static: landmarks of the static trial, by which joint centres are found in one way or another.
    """
    built = {
        name: {**rules, "axes": rules.get("technical_axes", rules["axes"]), "technical_axes": []}
        for name, rules in body_model["segments"].items()
        if "cluster" not in rules
    }
    names = {f"{name}_{side}" for name in ("heel", "toe") for side in SIDES} - set(seen)
    for side in SIDES:
        centres = {
            joint: {"method": "carried"} if "moves_with" in rule else rule
            for joint, rule in _rules(body_model, static, side)[0].items()
        }
        names.update(_rules({**body_model, "segments": built, "joint_centres": centres, "virtual": {}}, seen, side)[1])
    return sorted(names) + _lacking_clusters(body_model, seen)


def needed_sizes(body_model: Mapping[str, Any], static: Collection[str], *, hip_centre: str) -> list[str]:
    """Return the participants.tsv columns that the joint centres need, given the static trial's landmarks."""
    columns = [
        f"{size}_{side}_m"
        for side in SIDES
        for rule in _rules(body_model, static, side)[0].values()
        if (size := size_of_centre(rule))
    ]
    try:  # a regression refuses where it lacks a size that markers do not show
        hip_regression(hip_centre, "left", {"pelvis_width": 0.25, "pelvis_depth": 0.15, "marker_radius": 0.007})
    except UserError:
        columns += [f"leg_length_{side}_m" for side in SIDES]
    return sorted(set(columns))


def _rules(body_model: Mapping[str, Any], seen: Collection[str], side: str) -> tuple[dict[str, Any], list[str]]:
    return static_rules(dict.fromkeys(seen, np.empty(0)), body_model, side)


def _lacking_clusters(body_model: Mapping[str, Any], seen: Collection[str]) -> list[str]:
    """Return the clusters of which fewer than three are at hand; joint centres in them always are."""
    known = landmark_labels(body_model)
    lacking = []
    for segment, rules in body_model["segments"].items():
        for side in SIDES if "cluster" in rules else ():
            names = [name if name in known else f"{name}_{side}" for name in rules["cluster"]]
            if sum(name in seen or name not in known for name in names) < FEWEST_CLUSTER_MARKERS:
                lacking.append("pelvis cluster" if segment == "pelvis" else f"{side} {segment} cluster")
    return list(dict.fromkeys(lacking))


# m per cube root of kg: people of any size of one shape. Least deviation from the 507 adults, mostly young and active,
# of Heinz G, Peterson LJ, Johnson RW, Kerk CJ (2003) J Stat Educ 11(2), knee and ankle diameters pressed to the bone:
# standard deviation 4.4 mm (knee) and 4.2 mm (ankle), means of men and women within 0.4 and 2 %.
M_PER_CUBE_ROOT_KG = {"knee": 0.0230, "ankle": 0.0170}
SOURCE = "estimate: body mass"


def width_of_mass(column: str, mass_kg: float) -> float | None:
    """Return the width, m, that a column of participants.tsv (``knee_width_left_m``) is for; None of other columns."""
    joint = re.fullmatch(r"(knee|ankle)_width_(left|right)_m", column)
    return M_PER_CUBE_ROOT_KG[joint[1]] * mass_kg ** (1 / 3) if joint else None
