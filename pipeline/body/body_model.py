"""BodyModel: a marker set, and the rules for joint centres and segment axes.

config/body_model.schema.yaml describes each entry. Names only, no arrays: the workflow checks a model without numpy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..conventions import DISTAL, FROM_HIP, FROM_PELVIS, SIDES
from ..errors import Problem, nearest

Names = tuple[str, ...]  # of landmarks or joint centres; several mean their mean position
CENTRES = tuple(f"{joint}_centre" for joint in FROM_HIP)
REQUIRED = {
    "regression": ("moves_with",),
    "midpoint": ("between",),
    "chord": ("proximal", "lateral", "width"),
    "shown": ("from",),
    "predictive": ("from", "axes", "shift", "of", "moves_with"),
}


@dataclass(frozen=True)
class AxisRule:
    """The direction of one segment axis.

    Attributes:
        axis: ``x`` anterior, ``y`` proximal or ``z`` right.
        start, end: points that it leads from and to.
        mediolateral: whether these are a medial and a lateral point; reversed on the left, so that it points right.
        along: axis of another segment in place of points, as ``shank.z``.
        level: whether it is laid horizontal.
    """

    axis: str
    start: Names = ()
    end: Names = ()
    mediolateral: bool = False
    along: str = ""
    level: bool = False

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> AxisRule:
        """Return the rule of one item of ``axes``."""
        mediolateral = "medial" in rule
        ends = ("medial", "lateral") if mediolateral else ("from", "to")
        start, end = (_names(rule.get(key, ())) for key in ends)
        return cls(rule["axis"], start, end, mediolateral, rule.get("along", ""), rule.get("level", False))


@dataclass(frozen=True)
class CentreRule:
    """One way to find a joint centre.

    Attributes:
        method: ``regression``, ``midpoint``, ``chord``, ``predictive`` or ``shown``.
        moves_with: segment that carries the centre in motion; empty: chord or shown point are taken in every frame.
        between: the two points of a midpoint.
        proximal, lateral, wand: proximal joint centre, lateral marker and wand of a chord.
        medial: medial marker that gives the plane of a chord in place of a wand.
        in_motion: the chord that is evaluated in every frame, calibrated to the centre of the static trial.
        start: the point that a prediction shifts, or that shows the centre.
        axes: the axes of the shift.
        shift: forward, up and lateral, as fractions of a length.
        size: the participant's size that it takes, as ``knee_width``; empty for none.
        span: the two points that define the length by their distance, if it is no size.
    """

    method: str
    moves_with: str = ""
    between: Names = ()
    proximal: Names = ()
    lateral: Names = ()
    wand: Names = ()
    medial: Names = ()
    in_motion: CentreRule | None = None
    start: Names = ()
    axes: tuple[AxisRule, ...] = ()
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    size: str = ""
    span: Names = ()

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> CentreRule:
        """Return the rule of one item of ``joint_centres``."""
        length = rule.get("width", rule.get("of", ""))
        x, y, z = (rule.get("shift", {}).get(axis, 0.0) for axis in "xyz")
        return cls(
            method=rule["method"],
            moves_with=rule.get("moves_with", ""),
            between=_names(rule.get("between", ())),
            proximal=_names(rule.get("proximal", ())),
            lateral=_names(rule.get("lateral", ())),
            wand=_names(rule.get("wand", ())),
            medial=_names(rule.get("medial", ())),
            in_motion=cls.of({"method": "chord", **rule["in_motion"]}) if "in_motion" in rule else None,
            start=_names(rule.get("from", ())),
            axes=_axes(rule.get("axes", ())),
            shift=(x, y, z),
            size=length if isinstance(length, str) else "",
            span=() if isinstance(length, str) else _names(length),
        )

    @property
    def points(self) -> Names:
        """Return the landmarks and joint centres that the rule names."""
        parts = (self.between, self.proximal, self.lateral, self.wand, self.medial, self.start, self.span)
        further = self.in_motion.points if self.in_motion else ()
        return (*(name for part in parts for name in part), *_points_of(self.axes), *further)

    @property
    def moving(self) -> CentreRule | None:
        """Return the chord that is evaluated in every frame, or None for a centre that a segment carries."""
        return None if self.moves_with else self.in_motion or self

    @property
    def needed_size(self) -> str:
        """Return the size that the rule cannot do without; markers on both sides show one."""
        return "" if self.method == "midpoint" or self.medial else self.size


@dataclass(frozen=True)
class SegmentRule:
    """The axes of a segment, and how its pose is found in motion.

    Attributes:
        axes: two axes; the first is kept, the second gives the plane.
        origin: of the pelvis; the other segments start at their proximal joint centre.
        cluster: points that move rigidly with the segment; its pose in motion is fitted to them.
        technical_axes: without a cluster, axes built in every frame where ``axes`` are not known in motion.
        torsion: axis of another segment, as ``thigh.z``, or a landmark ahead, that the second axis follows after the
            angle about y between the two, the segment's torsion, is taken off; empty for none.
        markers: further landmarks fixed to the segment, that only the linked leg uses.
    """

    axes: tuple[AxisRule, ...]
    origin: Names = ()
    cluster: Names = ()
    technical_axes: tuple[AxisRule, ...] = ()
    torsion: str = ""
    markers: Names = ()

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> SegmentRule:
        """Return the rule of one item of ``segments``."""
        axes, technical = _axes(rule["axes"]), _axes(rule.get("technical_axes", ()))
        origin, cluster, markers = (_names(rule.get(key, ())) for key in ("origin", "cluster", "markers"))
        return cls(axes, origin, cluster, technical, rule.get("torsion", ""), markers)

    @property
    def points_in_motion(self) -> Names:
        """Return the points that origin and axes need in every frame of a segment without a cluster."""
        return (*self.origin, *_points_of(self.axes_in_motion))

    @property
    def axes_in_motion(self) -> tuple[AxisRule, ...]:
        """Return the axes that are built in every frame of a segment without a cluster."""
        return self.technical_axes or self.axes

    @property
    def points(self) -> Names:
        """Return the landmarks and joint centres that origin and axes name, without the cluster's."""
        return (*self.origin, *_points_of(self.axes), *_points_of(self.technical_axes))


@dataclass(frozen=True)
class BodyModel:
    """A marker set, and the rules for joint centres and segment axes.

    Attributes:
        name: of its file.
        landmarks: ``heel_left``, ``heel_right``, or ``sacrum`` on the midline: alternatives, the first one that a file
            has is used; each is the labels that the landmark is the mean of.
        joint_centres: by joint, the ways to find the centre; the first that the seen landmarks allow is used.
        segments: by segment.
        shoulders: ``shoulder_left`` and ``shoulder_right``, as landmarks; empty if the set has none. Apart from
            these, as nothing but the upper body follows them and no file needs them.
        virtual: landmarks that an alignment device replaces in the static trial: the markers of its three rods.
        stated_results: whether static results that the walks state (Plug-in Gait) may define the model.
        description: for whom it is and where it comes from.
        settings: settings that it prefers to the defaults.
        definition: what it was built from, without the settings: plain JSON, for the keys of jobs.
    """

    name: str
    landmarks: Mapping[str, tuple[Names, ...]]
    joint_centres: Mapping[str, tuple[CentreRule, ...]] = field(default_factory=dict)
    segments: Mapping[str, SegmentRule] = field(default_factory=dict)
    shoulders: Mapping[str, tuple[Names, ...]] = field(default_factory=dict)
    virtual: Mapping[str, Names] = field(default_factory=dict)
    stated_results: bool = False
    description: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
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
            {name: _names(rule["markers"]) for name, rule in definition.get("virtual", {}).items()},
            definition.get("stated_results", False),
            definition.get("description", ""),
            definition.get("settings", {}),
            {key: value for key, value in definition.items() if key != "settings"},
        )

    @property
    def may_be_stated(self) -> bool:
        """Return whether static results in a file may define the model: it is a Plug-in Gait one in motion."""
        chords = all(self.chord_in_motion(joint) for joint in ("knee", "ankle"))
        rigid = any(rule.cluster for rule in self.segments.values())
        return self.stated_results and chords and not rigid and bool(self.segments["foot"].technical_axes)

    def feet(self) -> tuple[BodyModel, ...]:
        """Return the model with the foot from heel to toe marker as they are, and with this line laid horizontal."""
        foot = self.segments["foot"]
        first, *others = foot.axes
        axes = ((replace(first, level=level), *others) for level in (False, True))
        return tuple(replace(self, segments={**self.segments, "foot": replace(foot, axes=each)}) for each in axes)

    def chord_in_motion(self, joint: str) -> CentreRule | None:
        """Return the chord by which a joint centre is found in every frame, or None if a segment carries it."""
        moving = (rule.moving for rule in self.joint_centres[joint])
        return next((rule for rule in moving if rule and rule.method == "chord"), None)

    def fixed_to(self, segment: str, side: str) -> list[str]:
        """Return the landmarks of one side that the linked legs fix to a segment.

        They are its cluster's, or without one those of its axes and of the chord at its distal end, its markers, and a
        point that shows the joint centre at its distal end.
        """
        rule = self.segments[segment]
        names = [*(rule.cluster or rule.points), *rule.markers]
        for centre in self.joint_centres[DISTAL[segment]] if segment in DISTAL else ():
            if centre.method == "shown":
                names += centre.start
            elif centre.moving and not rule.cluster:
                names += [*centre.moving.lateral, *centre.moving.wand]
        return self.of_side(dict.fromkeys(names), side)

    def of_side(self, names: Iterable[str], side: str) -> list[str]:
        """Return the landmarks among names, those of both sides with this side: ``heel`` is ``heel_left``."""
        full = (f"{name}_{side}" if name not in self.landmarks else name for name in names)
        return [name for name in full if name in self.landmarks]


def loose_ends(definition: Mapping[str, Any]) -> list[Problem]:
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
    return list(dict.fromkeys(problems)) or unknown_weights(model, weights, where="settings")


def unknown_weights(model: BodyModel, weights: Iterable[str], *, where: str) -> list[Problem]:
    """Return the names of ``kinematics.marker_weights`` that are no marker or segment of the linked legs."""
    fixed = dict.fromkeys(name for part in FROM_PELVIS for side in SIDES for name in model.fixed_to(part, side))
    bare = dict.fromkeys(name.removesuffix("_left").removesuffix("_right") for name in fixed)
    known = [*FROM_PELVIS, *bare]
    return [
        Problem(
            f"{where}: kinematics.marker_weights",
            f"the linked legs have no segment and no marker '{name}'",
            nearest(name, [*known, *fixed])
            or f"expected one of {', '.join(known)}, the markers also with _left or _right",
        )
        for name in weights
        if name not in {*known, *fixed}
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


def _names(expression: str | Iterable[str]) -> Names:
    return (expression,) if isinstance(expression, str) else tuple(expression)


def _axes(rules: Iterable[Mapping[str, Any]]) -> tuple[AxisRule, ...]:
    return tuple(AxisRule.of(rule) for rule in rules)


def _points_of(axes: Iterable[AxisRule]) -> Names:
    return tuple(name for rule in axes for name in (*rule.start, *rule.end))


def _landmarks(definition: Mapping[str, Any]) -> dict[str, tuple[Names, ...]]:
    """Return the alternatives of each landmark, those with ``{side}`` or by side as one landmark of each side."""
    result: dict[str, tuple[Names, ...]] = {}
    for name, alternatives in definition["landmarks"].items():
        if isinstance(alternatives, Mapping):
            result |= {f"{name}_{side}": ((alternatives[side],),) for side in SIDES}
            continue
        groups = tuple(_names(item) for item in _names(alternatives))
        if any("{side}" in label for group in groups for label in group):
            for side, text in definition["side_labels"].items():
                result[f"{name}_{side}"] = tuple(tuple(label.replace("{side}", text) for label in g) for g in groups)
        else:
            result[name] = groups
    return result
