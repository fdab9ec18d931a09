"""Which points the rules of a body model name; plain data, so that the workflow can ask before anything is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..conventions import SIDES
from ..errors import Problem, nearest

CENTRES = ("hip_centre", "knee_centre", "ankle_centre")
NEEDED = {
    "regression": ("moves_with",),
    "midpoint": ("between", "moves_with"),
    "chord": ("proximal", "lateral", "wand", "width"),
    "predictive": ("from", "axes", "shift", "of", "moves_with"),
}


def names_in_centre(rule: Mapping[str, Any]) -> list[str]:
    """Return the landmarks and joint centres that a joint-centre rule names."""
    listed = [rule[key] for key in ("proximal", "lateral", "wand", "from") if key in rule]
    if isinstance(rule.get("of"), list):
        listed += rule["of"]
    return [*rule.get("between", ()), *_names(listed), *_names_in_axes(rule.get("axes", ()))]


def size_of_centre(rule: Mapping[str, Any]) -> str:
    """Return the size of the person that a joint-centre rule needs (``knee_width``), or an empty text."""
    size = rule.get("width", rule.get("of", ""))
    return size if isinstance(size, str) else ""


def names_in_frame(segment: Mapping[str, Any]) -> list[str]:
    """Return the landmarks and joint centres that a segment's origin and axes name, its cluster aside."""
    axes = (*segment["axes"], *segment.get("technical_axes", ()))
    return [*_names([segment.get("origin", [])]), *_names_in_axes(axes)]


def loose_ends(model: Mapping[str, Any]) -> list[Problem]:
    """Return what a body model names but does not have, and what its joint-centre rules lack."""
    points = {*CENTRES, *model["landmarks"]}
    known = points | {f"{name}_{side}" for name in model["landmarks"] for side in SIDES}
    problems, named = [], []
    for joint, rules in model["joint_centres"].items():
        for rule in [rules] if isinstance(rules, dict) else rules:
            lacking = sorted(set(NEEDED[rule["method"]]) - rule.keys())
            problems += [
                Problem(f"joint_centres.{joint}", f"{rule['method']} lacks '{key}'", "add it") for key in lacking
            ]
            named += [(f"joint_centres.{joint}", name) for name in names_in_centre(rule)]
    for name, rule in model.get("virtual", {}).items():
        named += [("virtual", name), *((f"virtual.{name}", marker) for marker in rule["markers"])]
    for segment, rules in model["segments"].items():
        named += [(f"segments.{segment}", name) for name in (*names_in_frame(rules), *rules.get("cluster", ()))]
    problems += [
        Problem(where, f"no landmark '{name}'", nearest(name, points) or "add it to landmarks")
        for where, name in named
        if name not in known
    ]
    if "origin" not in model["segments"]["pelvis"]:
        problems.append(Problem("segments.pelvis", "lacks 'origin'", "add it"))
    return list(dict.fromkeys(problems))


def _names_in_axes(axes: Iterable[Mapping[str, Any]]) -> list[str]:
    return _names(rule[key] for rule in axes for key in ("from", "to", "medial", "lateral") if key in rule)


def _names(expressions: Iterable[str | list[str]]) -> list[str]:
    return [name for item in expressions for name in ([item] if isinstance(item, str) else item)]
