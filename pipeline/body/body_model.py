"""BodyModel: a marker set, and the rules for joint centres and segment axes.

config/body_model.schema.yaml describes each entry. Names only, no arrays: the workflow checks a model without numpy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..conventions import DISTAL, FROM_HIP, FROM_PELVIS, SIDES
from ..errors import Problem, nearest
from .rules import CENTRES, AxisRule, CentreRule, LegRules, Names, SegmentRule, find_fixed_landmarks, in_full, names_in

REQUIRED = {
    "regression": ("moves_with",),
    "midpoint": ("between",),
    "chord": ("proximal", "lateral", "width"),
    "shown": ("from",),
    "predictive": ("from", "axes", "shift", "of", "moves_with"),
}


@dataclass(frozen=True, eq=False)  # a model is equal to itself alone, so that what it resolves to can be kept
class BodyModel:
    """A marker set, and the rules for joint centres and segment axes."""

    name: str  # of its file
    # ``heel_left``, ``heel_right``, or ``sacrum`` on the midline: alternatives, the first one that a file has is used;
    # each is the labels that the landmark is the mean of
    landmarks: Mapping[str, tuple[Names, ...]]
    # by joint, the ways to find the centre; the first that the seen landmarks allow is used
    joint_centres: Mapping[str, tuple[CentreRule, ...]] = field(default_factory=dict)
    segments: Mapping[str, SegmentRule] = field(default_factory=dict)  # by segment
    # ``shoulder_left`` and ``shoulder_right``, as landmarks; empty if the set has none. Apart from these, as nothing
    # but the upper body follows them and no file needs them.
    shoulders: Mapping[str, tuple[Names, ...]] = field(default_factory=dict)
    # rules of trunk, head and arms, of config/upper_bodies, and their landmarks; empty if the model has none
    upper_body: Mapping[str, Any] = field(default_factory=dict)
    upper_landmarks: Mapping[str, tuple[Names, ...]] = field(default_factory=dict)
    # landmarks that an alignment device replaces in the static trial: the markers of its three rods
    virtual: Mapping[str, Names] = field(default_factory=dict)
    stated_results: bool = False  # whether static results that the walks state (Plug-in Gait) may define the model
    description: str = ""  # for whom it is and where it comes from
    settings: Mapping[str, Any] = field(default_factory=dict)  # settings that it prefers to the defaults
    # what it was built from, without the settings: plain JSON, for the keys of jobs
    definition: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, definition: Mapping[str, Any]) -> BodyModel:
        """Return the model of a mapping that follows config/body_model.schema.yaml."""
        centres = {
            joint: tuple(CentreRule.of(rule) for rule in ([rules] if isinstance(rules, Mapping) else rules))
            for joint, rules in definition.get("joint_centres", {}).items()
        }
        return cls(
            definition["name"],
            _landmarks(definition),
            centres,
            {name: SegmentRule.of(rule) for name, rule in definition.get("segments", {}).items()},
            _landmarks({**definition, "landmarks": {name: definition[name] for name in {"shoulder"} & {*definition}}}),
            definition.get("upper_body") or {},
            _landmarks(definition["upper_body"]) if definition.get("upper_body") else {},
            {name: names_in(rule["markers"]) for name, rule in definition.get("virtual", {}).items()},
            definition.get("stated_results", False),
            definition.get("description", ""),
            definition.get("settings", {}),
            {key: value for key, value in definition.items() if key != "settings"},
        )

    @cached_property
    def upper_clusters(self) -> tuple[Names, ...]:
        """Return the landmarks of the first axes of thorax and of head, each of which is rigid."""
        axes = [self.upper_body["trunk"][name][0] for name in ("thorax", "head")] if self.upper_body else []
        ends = [[rule.get(end, ()) for rule in rules for end in ("from", "to")] for rules in axes]
        named = [dict.fromkeys(name for names in each for name in names_in(names)) for each in ends]
        return tuple(tuple(name for name in each if name in self.upper_landmarks) for each in named)

    @property
    def may_be_stated(self) -> bool:
        """Return whether static results in a file may define the model: it is a Plug-in Gait one in motion."""
        leg = self.legs["left"]
        chords = all(leg.chord_in_motion(joint) for joint in ("knee", "ankle"))
        rigid = any(rule.cluster for rule in leg.segments.values())
        return self.stated_results and chords and not rigid and bool(leg.segments["foot"].technical_axes)

    @property
    def takes_poses(self) -> bool:
        """Return whether files show its joint centres and all segments, as poses: a static trial gives sizes alone."""
        leg = self.legs["left"]
        shown = all(rules[0].method == "shown" for rules in leg.joint_centres.values())
        return shown and all(rule.cluster for rule in leg.segments.values())

    @property
    def shows_untwisted_shank(self) -> bool:
        """Return whether it takes the shank from points of the file, untwisted as Plug-in Gait writes it."""
        shank = self.segments.get("shank")
        return shank is not None and shank.torsion is not None and not shank.is_twisted

    @cached_property
    def legs(self) -> dict[str, LegRules]:
        """Return the rules of each leg, with the full names of landmarks, by side."""
        return {side: self._leg(side) for side in SIDES}

    def _leg(self, side: str) -> LegRules:
        def full(name: str) -> str:
            return name if name in self.landmarks or name in CENTRES else f"{name}_{side}"

        centres = {joint: tuple(in_full(rule, full) for rule in rules) for joint, rules in self.joint_centres.items()}
        segments = {name: in_full(rule, full) for name, rule in self.segments.items()}
        clusters = {name: {point: full(point) for point in rule.cluster} for name, rule in self.segments.items()}
        devices = {f"{name}_{side}": tuple(f"{rod}_{side}" for rod in rods) for name, rods in self.virtual.items()}
        fixed = {
            name: find_fixed_landmarks(segments[name], centres.get(DISTAL.get(name, ""), ())) for name in FROM_PELVIS
        }
        return LegRules(side, centres, segments, clusters, devices, fixed)


def find_loose_ends(definition: Mapping[str, Any]) -> list[Problem]:
    """Return names in a model that it does not define, and keys that its joint-centre rules lack."""
    model = BodyModel.of(definition)
    points = {*CENTRES, *definition["landmarks"]}
    problems, named = [], []
    for joint, rules in definition["joint_centres"].items():
        for rule in [rules] if isinstance(rules, Mapping) else rules:
            problems += [
                Problem(f"joint_centres.{joint}", f"{rule['method']} lacks '{key}'", "add it") for key in _lacking(rule)
            ]
        if len({centre.moving for centre in model.joint_centres[joint]} - {None}) > 1:
            what = "has rules with different chords in motion"
            problems.append(Problem(f"joint_centres.{joint}", what, "give them the same in_motion"))
        for centre in model.joint_centres[joint]:
            named += [(f"joint_centres.{joint}", name) for name in centre.points]
            problems += _axis_problems(f"joint_centres.{joint}", centre.axes, FROM_PELVIS[: FROM_HIP.index(joint)])
    for name, markers in model.virtual.items():
        named += [("virtual", name), *((f"virtual.{name}", marker) for marker in markers)]
    for segment, built in model.segments.items():
        named += [(f"segments.{segment}", name) for name in (*built.points, *built.cluster, *built.markers)]
        for axes in (built.axes, built.technical_axes):
            problems += _axis_problems(f"segments.{segment}", axes, FROM_PELVIS[: FROM_PELVIS.index(segment)])
    problems += [
        Problem(where, f"no landmark '{name}'", nearest(name, points) or "add it to landmarks")
        for where, name in named
        if name not in points | model.landmarks.keys()
    ]
    if not model.segments["pelvis"].origin:
        problems.append(Problem("segments.pelvis", "lacks 'origin'", "add it"))
    weights = model.settings.get("kinematics", {}).get("marker_weights", {})
    return list(dict.fromkeys(problems)) or find_unknown_weights(model, weights, where="settings")


def find_unknown_weights(model: BodyModel, weights: Iterable[str], *, where: str) -> list[Problem]:
    """Return the names of ``kinematics.marker_weights`` that are no marker or segment of the linked legs."""
    fixed = dict.fromkeys(name for part in FROM_PELVIS for side in SIDES for name in model.legs[side].fixed[part])
    bare = dict.fromkeys(name.removesuffix("_left").removesuffix("_right") for name in fixed)
    allowed = [*FROM_PELVIS, *bare]
    return [
        Problem(
            f"{where}: kinematics.marker_weights",
            f"the linked legs have no segment and no marker '{name}'",
            nearest(name, [*allowed, *fixed])
            or f"expected one of {', '.join(allowed)}, the markers also with _left or _right",
        )
        for name in weights
        if name not in {*allowed, *fixed}
    ]


def _lacking(rule: Mapping[str, Any]) -> list[str]:
    """Return the keys that a joint-centre rule lacks, alternatives as one text."""
    needed = {key: {key} for key in REQUIRED[rule["method"]]}
    if rule["method"] == "chord":
        needed["wand' or 'medial"] = {"wand", "medial"}
    if rule["method"] == "midpoint" or "medial" in rule:  # markers that may be there in the static trial only
        needed["moves_with' or 'in_motion"] = {"moves_with", "in_motion"}
    return sorted(text for text, keys in needed.items() if not keys & rule.keys())


def _axis_problems(where: str, axes: Iterable[AxisRule], before: Collection[str]) -> Iterator[Problem]:
    """Find axes without a direction, or along an axis of a segment that is not built before."""
    for rule in axes:
        segment, _, letter = rule.along.partition(".")
        if not rule.along and not (rule.start and rule.end):
            yield Problem(where, f"axis {rule.axis} has no direction", "add from and to, medial and lateral, or along")
        elif rule.along and (segment not in before or letter not in ("x", "y", "z")):
            yield Problem(where, f"cannot follow '{rule.along}'", "name an axis of a more proximal segment, as shank.z")


def _landmarks(definition: Mapping[str, Any]) -> dict[str, tuple[Names, ...]]:
    """Return the alternatives of each landmark, those with ``{side}`` or by side as one landmark of each side."""
    result: dict[str, tuple[Names, ...]] = {}
    for name, alternatives in definition["landmarks"].items():
        if isinstance(alternatives, Mapping):
            result |= {f"{name}_{side}": (names_in(alternatives[side]),) for side in SIDES}
            continue
        groups = tuple(names_in(item) for item in names_in(alternatives))
        if any("{side}" in label for group in groups for label in group):
            for side, texts in definition["side_labels"].items():
                result[f"{name}_{side}"] = tuple(
                    tuple(label.replace("{side}", text) for label in g) for text in names_in(texts) for g in groups
                )
        else:
            result[name] = groups
    return result
