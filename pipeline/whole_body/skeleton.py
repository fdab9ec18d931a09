"""Frames and joint centres of trunk, head and arms, by the rules of config/upper_bodies.

A segment that a recording does not show is held in the neutral posture: its axes are those of the segment nearer to
the pelvis, and its length follows from body height. So the mass of the whole body always counts.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..body.joint_centres import Chord, chord
from ..body.landmarks import Points
from ..body.rules import AxisRule, in_full, names_in
from ..body.segment_poses import frame
from ..conventions import ARM, SIDE_SIGN, SIDES
from ..dynamics.vectors import cross, dot, unit

ARM_JOINTS = ("shoulder", "elbow", "wrist")


def _of_both_sides(names: Sequence[str]) -> dict[str, str]:
    """Return a name, with its side, by segment of each arm."""
    return {f"{segment}_{side}": f"{name}_{side}" for segment, name in zip(ARM, names, strict=True) for side in SIDES}


# the joint of each segment with the one nearer to the pelvis
JOINT = {"thorax": "waist", "head": "neck"} | _of_both_sides(ARM_JOINTS)
SEGMENTS = tuple(JOINT)
PARENT = {"thorax": "pelvis", "head": "thorax"} | _of_both_sides(("thorax", "upper_arm", "forearm"))
PARENT |= {f"upper_arm_{side}": "thorax" for side in SIDES}
ORIGIN = JOINT | {"thorax": "neck"}  # where each segment begins; the waist moves with the pelvis
END = {"thorax": "waist", "head": "head_middle"} | _of_both_sides(("elbow", "wrist", "hand"))  # its other end
JOINTS = tuple(JOINT.values())
# Lengths of segments that are not seen, per body height: arms and head (from the chin) by Drillis R, Contini R (1966),
# in Winter DA (2009) Biomechanics and Motor Control of Human Movement, figure 4.1, the hand to its knuckles; the thorax
# by Dumas and Wojtusch (2018). Shoulder centres lie further inside than half the width of the shoulders, .129 there.
LENGTH_PER_HEIGHT = {"thorax": 0.26, "head": 0.13, "upper_arm": 0.186, "forearm": 0.146, "hand": 0.054}
# beyond these multiples of it no person's segment is that long: a marker has another name, or is another point
SHORTEST, LONGEST = 0.5, 1.8
HALF_SHOULDERS_PER_HEIGHT = 0.1
# Widths and offsets: medians of what files of seven people state, who are 1.2 to 1.8 m tall.
SIZE_PER_HEIGHT = {"shoulder_offset": 0.028, "elbow_width": 0.047, "wrist_width": 0.033, "hand_thickness": 0.019}
# Centre of L5/S1 from the midpoint of the hip centres, forward and up in pelvis axes (ASIS, middle of the PSIS), per
# distance of the hip centres: Dumas R, Wojtusch J (2018) Handbook of Human Motion, chapter on body segment parameters,
# lumbar and hip centres there, mean of both sexes (-.332, .468 of men, -.270, .517 of women).
WAIST_AHEAD, WAIST_UP = -0.30, 0.49


class UpperSkeleton(NamedTuple):
    """Trunk, head and arms over time."""

    frames: dict[str, Array]  # (time, 3, 3) by segment, v_segment = rotation @ v_lab
    centres: Points  # (time, 3), m: joint centres, and the ends of head and hands
    seen: tuple[str, ...]  # the segments that have axes of their own


def build(
    rules: Mapping[str, Any], markers: Points, pelvis: Array, hips: Array, waist: Array, sizes: Mapping[str, float]
) -> UpperSkeleton | None:
    """Return the upper body, or None where the markers show no thorax.

    Args:
        rules: of config/upper_bodies.
        markers: (time, 3) by landmark, lab axes, m.
        pelvis: (time, 3, 3), v_pelvis = rotation @ v_lab.
        hips, waist: (time, 3), midpoint of the hip centres, centre of L5/S1, lab axes, m.
        sizes: ``height``, ``marker_radius``, and of each side those of :data:`SIZE_PER_HEIGHT`, as
            ``elbow_width_left``, m; ``head_tilt``, by which the markers lift the head's axis x where it is level, rad.
    """
    points, frames = {**markers, "hip_middle": hips, "waist": waist}, {"pelvis": pelvis}
    builder = _Builder(rules, points, frames, sizes)
    builder.add_points("trunk", "")
    if not builder.shows("thorax") or not builder.add_frame(rules["trunk"]["thorax"], "thorax", ""):
        return None
    builder.add_points("trunk", "")
    for side in SIDES:
        builder.add_points("arm", side)
    for segment in SEGMENTS[1:]:
        name, _, side = segment.rpartition("_")
        where = rules["arm"] if name else rules["trunk"]
        side = side if name else ""
        builder.add_neutral_start(segment, side)
        if not builder.shows(segment) or not builder.add_frame(where[name or segment], segment, side):
            frames[segment] = frames[PARENT[segment]]
            builder.add_neutral_end(segment)
        elif segment == "head":
            frames[segment] = turn_about_z(sizes.get("head_tilt", 0.0)) @ frames[segment]
    order = [*dict.fromkeys([*JOINTS, *END.values()])]
    seen = tuple(segment for segment in SEGMENTS if segment in builder.seen)
    return UpperSkeleton({name: frames[name] for name in SEGMENTS}, {name: points[name] for name in order}, seen)


def upper_sizes(stated: Mapping[str, float], height_m: float) -> dict[str, float]:
    """Return the sizes of :func:`build`, m: those that are stated, by column of participants.tsv, else by height."""
    widths = {f"{name}_{side}": share for name, share in SIZE_PER_HEIGHT.items() for side in SIDES}
    own = {name: stated.get(f"{name}_m", share * height_m) for name, share in widths.items()}
    return {"height": height_m, "marker_radius": stated["marker_diameter_m"] / 2, **own}


def waist_centre(pelvis: Array, hips: Array) -> Array:
    """Return the centre of L5/S1 (time, 3), m, from the pelvis (time, 3, 3) and the hip centres (time, side, 3)."""
    apart = np.linalg.norm(hips[:, 1] - hips[:, 0], axis=-1, keepdims=True)
    return np.asarray(hips.mean(axis=1) + apart * (WAIST_AHEAD * pelvis[:, 0] + WAIST_UP * pelvis[:, 1]))


class _Builder:
    """Points and frames of an upper body, as far as they are found."""

    def __init__(
        self, rules: Mapping[str, Any], points: Points, frames: dict[str, Array], sizes: Mapping[str, float]
    ) -> None:
        self.rules, self.points, self.frames, self.sizes = rules, points, frames, sizes
        self.seen: set[str] = set()
        self.sought: set[str] = set()  # points that are being found, so that no rule needs its own point

    def full(self, name: str, side: str) -> str:
        """Return the name of a point or segment with its side, if it has one."""
        sided = f"{name}_{side}"
        return sided if sided in self.points or sided in self.frames else name

    def add_points(self, section: str, side: str) -> None:
        """Add the points of trunk or arm that can be found."""
        for name in self.rules[section]["points"]:
            with contextlib.suppress(KeyError):
                self.point(name, side)

    def point(self, names: str | Sequence[str], side: str) -> Array:
        """Return a point (time, 3), or the mean of several; KeyError with one that cannot be found."""
        places = [self.one_point(name, side) for name in names_in(names)]
        return places[0] if len(places) == 1 else np.asarray(np.mean(places, axis=0))

    def one_point(self, name: str, side: str) -> Array:
        """Return a point (time, 3) that is known, else by the first of its rules that has all it needs."""
        section, whole = ("arm", f"{name}_{side}") if name in self.rules["arm"]["points"] else ("trunk", name)
        for known in (f"{name}_{side}", name):
            if known in self.points:
                return self.points[known]
        for rule in () if whole in self.sought else self.rules[section]["points"].get(name, ()):
            self.sought.add(whole)
            with contextlib.suppress(KeyError):
                self.points[whole] = self.place(rule, side)
            self.sought.discard(whole)
            if whole in self.points:
                return self.points[whole]
        raise KeyError(name)

    def place(self, rule: Mapping[str, Any], side: str) -> Array:
        """Return a point (time, 3) by a rule, m; KeyError with something that it needs and that cannot be found."""
        start = self.point(rule["from"], side)
        if "to" in rule:
            return np.asarray(start + rule.get("by", 0.5) * (self.point(rule["to"], side) - start))
        direction = self.direction(rule["normal"], side)
        if "proximal" in rule:
            radius = Chord(self.radius(rule, side))
            return chord(self.point(rule["proximal"], side), start, start + direction, radius, side)
        if "of" in rule:
            apart = self.point(rule["of"][1], side) - self.point(rule["of"][0], side)
            return np.asarray(start + rule["by"] * np.linalg.norm(apart, axis=-1, keepdims=True) * unit(direction))
        return np.asarray(start + self.radius(rule, side) * unit(direction))

    def radius(self, rule: Mapping[str, Any], side: str) -> float:
        """Return the distance of a marker from a joint centre, m, by the size that the rule names."""
        size = self.sizes[f"{rule['size']}_{side}"] if "size" in rule else 0.0
        return (size if rule.get("size") == "shoulder_offset" else size / 2) + self.sizes["marker_radius"]

    def direction(self, lines: Sequence[Any], side: str) -> Array:
        """Return the direction (time, 3) of a line, or the normal of two: left and right are mirror images."""
        given = [self.line(line, side) for line in lines]
        return given[0] if len(given) == 1 else SIDE_SIGN.get(side, 1.0) * cross(given[0], given[1])

    def line(self, line: str | Sequence[Any], side: str) -> Array:
        """Return the line (time, 3) from a point to another, or along the axis of a segment, as ``-thorax.y``."""
        if not isinstance(line, str):
            return self.point(line[1], side) - self.point(line[0], side)
        segment, axis = line.lstrip("-").split(".")
        sign = (-1 if line.startswith("-") else 1) * (SIDE_SIGN[side] if axis == "z" and side else 1)
        return np.asarray(sign * self.frames[self.full(segment, side)][..., "xyz".index(axis), :])

    def add_frame(self, alternatives: Sequence[Any], segment: str, side: str) -> bool:
        """Add the axes of a segment by the first rules that have all they need; return whether any have."""
        for rules in alternatives:
            axes = [in_full(AxisRule.of(rule), lambda name: self.full(name, side)) for rule in rules]
            try:
                made = frame(axes, self.points, self.frames_of(side), side or "right")
            except KeyError:
                continue
            if np.isfinite(made).all(axis=(-1, -2)).any() and not self.is_upside_down(segment, made):
                self.frames[segment] = made
                self.seen.add(segment)
                return True
        return False

    def is_upside_down(self, segment: str, made: Array) -> bool:
        """Return whether axes (time, 3, 3) have the head upside down on the thorax: its labels are exchanged."""
        if segment != "head":
            return False
        up = dot(made[..., 1, :], self.frames["thorax"][..., 1, :])
        return bool(np.median(up[np.isfinite(up)]) < 0) if np.isfinite(up).any() else True

    def frames_of(self, side: str) -> dict[str, Array]:
        """Return the frames by the names that the rules of a side use."""
        return {name.removesuffix(f"_{side}"): each for name, each in self.frames.items()}

    def shows(self, segment: str) -> bool:
        """Return whether both ends of a segment are known, as far apart as those of a person's."""
        if not {ORIGIN[segment], END[segment]} <= self.points.keys():
            return False
        length = np.linalg.norm(self.points[END[segment]] - self.points[ORIGIN[segment]], axis=-1)
        usual = LENGTH_PER_HEIGHT[bare(segment)] * self.sizes["height"]
        return bool(np.isfinite(length).any() and SHORTEST < np.nanmedian(length) / usual < LONGEST)

    def add_neutral_start(self, segment: str, side: str) -> None:
        """Add the shoulder if no marker shows it: beside the neck."""
        if side and not np.isfinite(self.points.get(ORIGIN[segment], np.nan)).any():
            aside = SIDE_SIGN[side] * HALF_SHOULDERS_PER_HEIGHT * self.sizes["height"]
            self.points[ORIGIN[segment]] = self.points["neck"] + aside * self.frames["thorax"][..., 2, :]

    def add_neutral_end(self, segment: str) -> None:
        """Add the end of a segment that is not seen, along the axes of the one nearer to the pelvis."""
        length = LENGTH_PER_HEIGHT[bare(segment)] * self.sizes["height"]
        along = (1 if segment == "head" else -1) * self.frames[segment][..., 1, :]
        self.points[END[segment]] = self.points[ORIGIN[segment]] + length * along


def of_either_side(pelvis: Array) -> Array:
    """Return (time, ...) of the left side, where it is unknown of the right, from what both have of the pelvis."""
    return np.asarray(np.where(np.isfinite(pelvis[:, 0]), pelvis[:, 0], pelvis[:, 1]), dtype=float)


def trunk_axes(thorax: Array, neck: Array, waist: Array) -> Array:
    """Return the axes (time, 3, 3) that carry the centre of mass of thorax and abdomen: y from waist to neck.

    Markers show the ribs alone. The abdomen, half of the mass, is bent between these and the pelvis, so that its centre
    follows the line rather than the ribs. Where waist and ribs are rigid, both are the same.

    Args:
        thorax: (time, 3, 3), v_thorax = rotation @ v_lab; gives the plane.
        neck, waist: (time, 3), m.
    """
    y = unit(neck - waist)
    z = unit(cross(thorax[:, 0], y))
    return np.stack([cross(y, z), y, z], axis=-2)


def head_tilt(frame: Array) -> float:
    """Return by how much axis x of the head (time, 3, 3) is lifted from level, rad: the mean, as HeadOffset in C3D."""
    lifted = np.arctan2(frame[:, 0, 1], frame[:, 1, 1])
    return float(np.mean(lifted[np.isfinite(lifted)])) if np.isfinite(lifted).any() else 0.0


def turn_about_z(angle_rad: float) -> Array:
    """Return the rotation (3, 3) from axes to those turned by -angle about z: x is lowered by the angle."""
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def bare(segment: str) -> str:
    """Return the name of a segment without its side."""
    return segment.removesuffix("_left").removesuffix("_right")
