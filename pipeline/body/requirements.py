"""Requirements of a body model: landmarks of static and walking trials, sizes of the participant."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ..conventions import FROM_HIP, SIDES
from ..errors import UserError
from .body_model import BodyModel, CentreRule, Names
from .joint_centres import hip_centre as hip_regression
from .landmarks import virtual_heels

FEWEST_CLUSTER_MARKERS = 3


def virtual_landmarks(body_model: BodyModel, seen: Collection[str]) -> dict[str, tuple[Names, str]]:
    """Return the unseen landmarks that an alignment device shows: the markers of its rods, and the side."""
    found = {}
    for name, rods in body_model.virtual.items():
        for side in SIDES:
            markers = tuple(f"{marker}_{side}" for marker in rods)
            if f"{name}_{side}" not in seen and set(seen) >= {*markers, "asis_left", "asis_right"}:
                found[f"{name}_{side}"] = (markers, side)
    return found


def _shown(body_model: BodyModel, seen: Collection[str]) -> set[str]:
    """Return the landmarks of a static trial: seen, shown by an alignment device, or virtual heels."""
    shown = {*seen, *virtual_landmarks(body_model, seen)}
    return shown | virtual_heels(shown)


def chosen_rules(body_model: BodyModel, seen: Collection[str], side: str) -> dict[str, CentreRule]:
    """Return the rule of each joint centre: the first that a static trial showing ``seen`` allows, else the first."""
    shown = _shown(body_model, seen)
    return {
        joint: next((rule for rule in rules if shown >= {*body_model.of_side(rule.points, side)}), rules[0])
        for joint in FROM_HIP
        for rules in [body_model.joint_centres[joint]]
    }


def lacking_landmarks(body_model: BodyModel, seen: Collection[str], side: str) -> list[str]:
    """Return the landmarks of one side that a static trial lacks, those of clusters left out.

    The markers of an alignment device are needed too; a landmark that they show is not lacking.
    """
    named = [
        *(rule.points for rule in chosen_rules(body_model, seen, side).values()),
        *(rule.points for rule in body_model.segments.values()),
        *body_model.virtual.values(),
    ]
    needed = body_model.of_side((name for names in named for name in names), side)
    return sorted({*needed} - _shown(body_model, seen))


def lacking_when_static(body_model: BodyModel, seen: Collection[str]) -> list[str]:
    """Return the landmarks and clusters that a static trial showing ``seen`` lacks."""
    names = {name for side in SIDES for name in lacking_landmarks(body_model, seen, side)}
    return sorted(names) + _lacking_clusters(body_model, {*seen, *virtual_landmarks(body_model, seen)}, SIDES)


def legs_when_static(body_model: BodyModel, seen: Collection[str]) -> list[str]:
    """Return the sides for which a static trial showing ``seen`` lacks nothing."""
    shown = {*seen, *virtual_landmarks(body_model, seen)}
    return [
        side
        for side in SIDES
        if not lacking_landmarks(body_model, seen, side) and not _lacking_clusters(body_model, shown, [side])
    ]


def lacking_in_motion(body_model: BodyModel, seen: Collection[str], static: Collection[str]) -> list[str]:
    """Return the landmarks and clusters that a walking trial lacks: heels, toes, those needed in every frame.

    A heel that other landmarks replace (:func:`pipeline.body.landmarks.with_heels`) is not lacking.

    Args:
        body_model: the body model.
        seen: landmarks of the walking trial.
        static: landmarks of the static trial, which decide how joint centres are found.
    """
    built = [rule for rule in body_model.segments.values() if not rule.cluster]
    names = {f"{name}_{side}" for name in ("heel", "toe") for side in SIDES}
    for side in SIDES:
        named = [name for rule in built for name in rule.points_in_motion]
        for centre in chosen_rules(body_model, static, side).values():
            named += centre.moving.points if centre.moving else ()
        names.update(body_model.of_side(named, side))
    shown = {*seen, *virtual_heels(seen)}
    return sorted(names - shown) + _lacking_clusters(body_model, shown, SIDES)


def needed_sizes(body_model: BodyModel, static: Collection[str], *, hip_centre: str) -> list[str]:
    """Return the participants.tsv columns that the joint centres need, given the static trial's landmarks."""
    columns = [
        f"{rule.needed_size}_{side}_m"
        for side in SIDES
        for rule in chosen_rules(body_model, static, side).values()
        if rule.needed_size
    ]
    if body_model.joint_centres["hip"][0].method == "shown":
        return sorted(set(columns))
    try:  # a regression raises where it lacks a size that markers do not show
        hip_regression(hip_centre, "left", {"pelvis_width": 0.25, "pelvis_depth": 0.15, "marker_radius": 0.007})
    except UserError:
        columns += [f"leg_length_{side}_m" for side in SIDES]
    return sorted(set(columns))


def _lacking_clusters(body_model: BodyModel, seen: Collection[str], sides: Iterable[str]) -> list[str]:
    """Return the clusters of some sides with fewer than three markers; joint centres in them always count."""
    lacking = []
    for segment, rule in body_model.segments.items():
        for side in sides if rule.cluster else ():
            unseen = set(body_model.of_side(rule.cluster, side)) - set(seen)
            if len(rule.cluster) - len(unseen) < FEWEST_CLUSTER_MARKERS:
                lacking.append("pelvis cluster" if segment == "pelvis" else f"{side} {segment} cluster")
    return list(dict.fromkeys(lacking))


# m per cube root of kg, as for bodies of one shape. Least deviation from the 507 adults, mostly young and active, of
# Heinz G, Peterson LJ, Johnson RW, Kerk CJ (2003) J Stat Educ 11(2), knee and ankle diameters pressed to the bone:
# standard deviation 4.4 mm (knee) and 4.2 mm (ankle), means of men and women within 0.4 and 2 %.
M_PER_CUBE_ROOT_KG = {"knee": 0.0230, "ankle": 0.0170}
SOURCE = "estimate: body mass"


def width_of_mass(column: str, mass_kg: float) -> float | None:
    """Return the joint width, m, that body mass suggests for a column ``knee_width_left_m``; None for other columns."""
    joint = re.fullmatch(r"(knee|ankle)_width_(left|right)_m", column)
    return M_PER_CUBE_ROOT_KG[joint[1]] * mass_kg ** (1 / 3) if joint else None
