"""Rules of a body model for segment axes and joint centres, as written for both legs, and those of one leg.

A rule for both legs names a landmark without its side, ``heel``; a rule of one leg has the full name, ``heel_left``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..conventions import FROM_HIP

Names = tuple[str, ...]  # of landmarks or joint centres; several mean their mean position
CENTRES = tuple(f"{joint}_centre" for joint in FROM_HIP)
Rule = TypeVar("Rule", "AxisRule", "CentreRule", "SegmentRule")


@dataclass(frozen=True)
class AxisRule:
    """The direction of one segment axis."""

    axis: str  # ``x`` anterior, ``y`` proximal or ``z`` right
    # start, end: points that it leads from and to
    start: Names = ()
    end: Names = ()
    # whether these are a medial and a lateral point; reversed on the left, so that it points right
    mediolateral: bool = False
    along: str = ""  # axis of another segment in place of points, as ``shank.z``
    level: bool = False  # whether it is laid horizontal

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> AxisRule:
        """Return the rule of one item of ``axes``."""
        mediolateral = "medial" in rule
        ends = ("medial", "lateral") if mediolateral else ("from", "to")
        start, end = (names_in(rule.get(key, ())) for key in ends)
        return cls(rule["axis"], start, end, mediolateral, rule.get("along", ""), rule.get("level", False))


@dataclass(frozen=True)
class CentreRule:
    """One way to find a joint centre."""

    method: str  # ``regression``, ``midpoint``, ``chord``, ``predictive`` or ``shown``
    # segment that carries the centre in motion; empty: chord or shown point are taken in every frame
    moves_with: str = ""
    between: Names = ()  # the two points of a midpoint
    # proximal, lateral, wand: proximal joint centre, lateral marker and wand of a chord
    proximal: Names = ()
    lateral: Names = ()
    wand: Names = ()
    medial: Names = ()  # medial marker that gives the plane of a chord in place of a wand
    # the chord that is evaluated in every frame, calibrated to the centre of the static trial
    in_motion: CentreRule | None = None
    start: Names = ()  # the point that a prediction shifts, or that shows the centre
    axes: tuple[AxisRule, ...] = ()  # the axes of the shift
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)  # forward, up and lateral, as fractions of a length
    size: str = ""  # the participant's size that it takes, as ``knee_width``; empty for none
    span: Names = ()  # the two points that define the length by their distance, if it is no size

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> CentreRule:
        """Return the rule of one item of ``joint_centres``."""
        length = rule.get("width", rule.get("of", ""))
        x, y, z = (rule.get("shift", {}).get(axis, 0.0) for axis in "xyz")
        points = {name: names_in(rule.get(name, ())) for name in ("between", "proximal", "lateral", "wand", "medial")}
        return cls(
            method=rule["method"],
            moves_with=rule.get("moves_with", ""),
            **points,
            in_motion=cls.of({"method": "chord", **rule["in_motion"]}) if "in_motion" in rule else None,
            start=names_in(rule.get("from", ())),
            axes=_axes(rule.get("axes", ())),
            shift=(x, y, z),
            size=length if isinstance(length, str) else "",
            span=() if isinstance(length, str) else names_in(length),
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
    def essential_size(self) -> str:
        """Return the size that the rule cannot do without; markers on both sides show one."""
        return "" if self.method == "midpoint" or self.medial else self.size


@dataclass(frozen=True)
class SegmentRule:
    """The axes of a segment, and how its pose is found in motion."""

    axes: tuple[AxisRule, ...]  # two axes; the first is kept, the second gives the plane
    origin: Names = ()  # of the pelvis; the other segments start at their proximal joint centre
    cluster: Names = ()  # points that move rigidly with the segment; its pose in motion is fitted to them
    # without a cluster, axes built in every frame where ``axes`` are not known in motion
    technical_axes: tuple[AxisRule, ...] = ()
    # axis of another segment that the second axis follows after the angle about y between the two, the segment's
    # torsion, is taken off; or the line of the distal joint that is turned by it from an untwisted segment
    torsion: AxisRule | None = None
    markers: Names = ()  # further landmarks fixed to the segment, that only the linked leg uses

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> SegmentRule:
        """Return the rule of one item of ``segments``."""
        axes, technical = _axes(rule["axes"]), _axes(rule.get("technical_axes", ()))
        origin, cluster, markers = (names_in(rule.get(key, ())) for key in ("origin", "cluster", "markers"))
        torsion = None
        if line := rule.get("torsion"):
            points = {"along": line} if "." in line else {"medial": "ankle_centre", "lateral": line}
            torsion = AxisRule.of({"axis": "z", **points})
        return cls(axes, origin, cluster, technical, torsion, markers)

    @property
    def is_twisted(self) -> bool:
        """Return whether the axes are those of the distal joint, from which the torsion is taken off."""
        return bool(self.torsion and self.torsion.along)

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
class LegRules:
    """The rules of a body model for one leg, with the full names of its landmarks."""

    side: str  # ``left`` or ``right``
    # joint_centres, segments: as of :class:`pipeline.body.body_model.BodyModel`
    joint_centres: Mapping[str, tuple[CentreRule, ...]]
    segments: Mapping[str, SegmentRule]
    # by segment that has one, the full name of each point of its cluster by its name in the body model
    clusters: Mapping[str, Mapping[str, str]]
    devices: Mapping[str, Names]  # by landmark that an alignment device can show, the markers of its rods
    # by segment, the landmarks that the linked legs fix to it: its cluster's, or without one those of its axes and of
    # the chord at its distal end, its markers, and a point that shows the joint centre at that end
    fixed: Mapping[str, Names]

    def chord_in_motion(self, joint: str) -> CentreRule | None:
        """Return the chord by which a joint centre is found in every frame, or None if a segment carries it."""
        moving = (rule.moving for rule in self.joint_centres[joint])
        return next((rule for rule in moving if rule and rule.method == "chord"), None)

    def feet(self) -> tuple[LegRules, ...]:
        """Return the rules with the foot from heel to toe marker as they are, and with this line laid horizontal."""
        foot = self.segments["foot"]
        first, *others = foot.axes
        feet = (replace(foot, axes=(replace(first, level=level), *others)) for level in (False, True))
        return tuple(replace(self, segments={**self.segments, "foot": each}) for each in feet)


def landmarks_among(names: Iterable[str]) -> list[str]:
    """Return the landmarks among the points of a rule, in order and each once, without joint centres."""
    return [name for name in dict.fromkeys(names) if name not in CENTRES]


def find_fixed_landmarks(rule: SegmentRule, distal: Iterable[CentreRule]) -> Names:
    """Return the landmarks that the linked legs fix to a segment, from its rule and those of its distal joint."""
    names = [*(rule.cluster or rule.points), *rule.markers]
    for centre in distal:
        if centre.method == "shown":
            names += centre.start
        elif centre.moving and not rule.cluster:
            names += [*centre.moving.lateral, *centre.moving.wand]
    return tuple(landmarks_among(names))


def in_full(rule: Rule, full: Callable[[str], str]) -> Rule:
    """Return a rule with the full names of its points."""

    def convert(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(full(each) if isinstance(each, str) else convert(each) for each in value)
        if isinstance(value, AxisRule):
            return in_full(value, full)
        return in_full(value, full) if isinstance(value, CentreRule) else value

    return replace(rule, **{name: convert(value) for name, value in vars(rule).items()})


def names_in(expression: str | Iterable[str]) -> Names:
    """Return the names of an entry of a body model, which is one name or several."""
    return (expression,) if isinstance(expression, str) else tuple(expression)


def _axes(rules: Iterable[Mapping[str, Any]]) -> tuple[AxisRule, ...]:
    return tuple(AxisRule.of(rule) for rule in rules)


def _points_of(axes: Iterable[AxisRule]) -> Names:
    return tuple(name for rule in axes for name in (*rule.start, *rule.end))
