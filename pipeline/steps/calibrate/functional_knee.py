"""The knee's own axis, as functional trials or walks show it (:mod:`.knee_axis`), and whether ways to find it agree.

It replaces the direction of the flexion axis that markers or a device give; the thigh turns about its long axis.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...body.body_model import BodyModel
from ...body.landmarks import Points
from ...body.rules import LegRules
from ...body.segment_poses import fit_pose
from ...body.skeleton import CalibratedSide, Skeleton, moving_legs
from ...conventions import SIDES
from ...errors import Problem, UserError, warning
from ...trials.session import AnyTrial
from ...variables.schema import with_dims
from .functional_trials import UNUSABLE, landmarks_of, sides_shown, unusable
from .knee_axis import LARGEST_DIFFERENCE_DEG, OTHERWISE, KneeAxis, Measure, knee_axis, turn_by_crosstalk, turn_by_hinge

NEAR_KNEE = 0.2  # share of a segment's length: markers on the epicondyles and the head of the fibula, which slide most
WAYS = ("functional", "functional_without_knee_markers", "least_crosstalk")
IN_WORDS = {
    "functional": "by the functional trial",
    "functional_without_knee_markers": "without the markers near the knee",
    "least_crosstalk": "by least cross-talk",
}
# by the way that is used, those that are to agree with it
BESIDE = {"functional": WAYS[1:], "least_crosstalk": ("functional",)}

Build = Callable[[str, float], CalibratedSide]  # of a side, with its knee's axis turned inwards, rad
Markers = Mapping[str, Sequence[str]]  # by segment, those of its cluster that its pose is fitted to, if not all


class KneeTrials(NamedTuple):
    """What shows the knees of a session: landmarks (time, 3) of functional trials and walks."""

    functional: Mapping[str, Mapping[str, Points]]  # by side and trial
    walks: Mapping[str, Points]

    @classmethod
    def of(
        cls, read: Mapping[str, AnyTrial], functional: Mapping[str, str], body_model: BodyModel, wanted: str
    ) -> "KneeTrials":
        """Return the trials of a session.

        Args:
            functional: condition of each functional trial: ``knee``, ``knee_left``, ``knee_right``; others are ignored.
            wanted: the setting ``calibrate.knee_axis``.

        Raises:
            UserError: the setting needs a functional trial, and there is none or one that is rejected.
        """
        bent: dict[str, dict[str, Points]] = {}
        for trial, condition in functional.items():
            for side in sides_shown(condition, "knee"):
                try:
                    bent.setdefault(side, {})[trial] = landmarks_of(read[trial], body_model, OTHERWISE)
                except UserError as error:
                    if wanted == "functional":
                        raise unusable(error, f"functional trial {trial}") from None
        if wanted == "functional" and not bent:
            what = "calibrate.knee_axis is functional, but no functional trial of a knee is listed"
            remedy = f"list one with role functional and condition knee, knee_left or knee_right, {OTHERWISE}"
            raise UserError("trials.tsv", what, remedy, UNUSABLE)
        walks = {
            name: landmarks_of(one, body_model, OTHERWISE)
            for name, one in read.items()
            if wanted == "least_crosstalk" and one.attrs["role"] == "gait" and "rejected" not in one.attrs
        }
        return cls(bent, walks)


class Knee(NamedTuple):
    """What the motion of one knee shows."""

    axes: Mapping[str, KneeAxis]  # by :data:`WAYS`
    why: Sequence[str]  # why others are unknown
    used: str  # the way that is used, or ``markers``

    @property
    def turn_rad(self) -> float:
        """Return the turn of the axis that is used from that of the markers, inwards positive, rad."""
        return float(np.radians(self.axes[self.used].turn_deg)) if self.used in self.axes else 0.0

    def text(self, wanted: str) -> str:
        """Return how the knee's axis was found, and the other ways beside it, for the setting that is wanted."""
        missing = [] if self.used == wanted else [f"nothing shows it by {wanted}"]
        beside = [
            f"{way}: {_in_words(axis)} of the markers' axis, standard error {axis.chance_deg:.1f}, flexion over "
            f"{axis.range_deg:.0f} degrees"
            for way, axis in self.axes.items()
        ]
        return "; ".join([self.used, *missing, *beside, *self.why])

    def doubts(self, where: str, side: str) -> list[Problem]:
        """Return a doubt if the axis that is used depends on the way, or on which markers are counted to the segments.

        A segment, or its skin, that turns about its long axis as the knee bends turns the axis of both ways, but not by
        the same angle.
        """
        if not (used := self.axes.get(self.used)):
            return []
        beside = {way: self.axes[way] for way in BESIDE[self.used] if way in self.axes}
        apart = [
            f"{_in_words(axis)} {IN_WORDS[way]}"
            for way, axis in beside.items()
            if abs(axis.turn_deg - used.turn_deg) > LARGEST_DIFFERENCE_DEG
        ]
        if not apart:
            return []
        what = (
            f"{IN_WORDS[self.used]} the axis of the {side} knee is {_in_words(used)} of the markers' axis, but "
            f"{' and '.join(apart)}: skin decides"
        )
        return [warning(where, what, f"use clusters away from the joint, {OTHERWISE}", "functional_knee_differs")]


def find_knees(trials: KneeTrials, wanted: str, build: Build, rules: Mapping[str, LegRules]) -> dict[str, Knee]:
    """Return by side what the motion of the knees shows, of legs that the static trial shows.

    Args:
        wanted: the setting ``calibrate.knee_axis``.

    Raises:
        UserError: a trial of the way that is wanted cannot be used.
    """
    knees = {}
    for side, leg in rules.items():
        bent = trials.functional.get(side, {})
        if not (moved := bent or trials.walks):
            continue
        try:
            still = build(side, 0.0)
        except UserError:
            continue  # the side is refused for the same reason
        knees[side] = _find_knee(moved, still, bool(bent), wanted, partial(build, side), leg)
    return knees


def knee_variables(knees: Mapping[str, Knee]) -> dict[str, Any]:
    """Return the axes of the knees as variables of the model, none without knees; NaN where a way shows none."""
    if not knees:
        return {}
    turn = np.full((len(SIDES), len(WAYS)), np.nan)
    for side, knee in knees.items():
        for way, axis in knee.axes.items():
            turn[SIDES.index(side), WAYS.index(way)] = axis.turn_deg
    return with_dims("calibrate", {"knee_axis_turn": turn}) | {"knee_axis_way": ("knee_axis_way", list(WAYS))}


def _find_knee(
    moved: Mapping[str, Points],
    still: CalibratedSide,
    is_functional: bool,
    wanted: str,
    build: Callable[[float], CalibratedSide],
    leg: LegRules,
) -> Knee:
    """Return what the motion of one knee shows; ``still`` is the leg with the axis of the markers."""
    measures: dict[str, tuple[Measure, Markers]] = {"least_crosstalk": (turn_by_crosstalk, {})}
    if is_functional:
        measures["functional"] = turn_by_hinge, {}
        if far := _far_from_knee(still):
            measures["functional_without_knee_markers"] = turn_by_hinge, far
    axes, why = {}, []
    for way in (way for way in WAYS if way in measures):
        measure, chosen = measures[way]

        def relative(turn: float, chosen: Markers = chosen) -> Array:
            return _relative(moved, leg, build(turn), chosen)

        try:
            axes[way] = knee_axis(relative, measure, leg.side)
        except UserError as error:
            if way == wanted:
                of = "functional trial" if is_functional else f"walk{'s' * (len(moved) > 1)}"
                raise unusable(error, f"{of} {', '.join(moved)}") from None
            why += [f"{way}: {problem.what}" for problem in error.problems]
    return Knee(axes, why, wanted if wanted in axes else "markers")


def _relative(moved: Mapping[str, Points], rules: LegRules, calibrated: CalibratedSide, chosen: Markers) -> Array:
    """Return rotations (frame, 3, 3) from shank to thigh axes in the frames that show both."""
    every = []
    for points in moved.values():
        count = len(next(iter(points.values())))
        leg = moving_legs(points, {rules.side: rules}, {rules.side: calibrated}, count)[rules.side]
        thigh, shank = (_turned(leg, points, rules, calibrated, name, chosen) for name in ("thigh", "shank"))
        every.append(thigh @ np.swapaxes(shank, -1, -2))
    relative = np.concatenate(every)
    return np.asarray(relative[np.isfinite(relative).all(axis=(1, 2))])


def _turned(
    leg: Skeleton, points: Points, rules: LegRules, calibrated: CalibratedSide, segment: str, chosen: Markers
) -> Array:
    """Return the rotation (time, 3, 3) of a segment, by chosen markers of its cluster if there are any."""
    if segment not in chosen:
        return leg.frames[segment]
    shown = points | leg.centres
    nowhere = np.full((len(leg.frames[segment]), 3), np.nan)
    paths = np.stack([shown.get(rules.clusters[segment][name], nowhere) for name in chosen[segment]], axis=1)
    places = np.array([calibrated.clusters[segment][name] for name in chosen[segment]])
    return fit_pose(places, paths)[0]


def _far_from_knee(calibrated: CalibratedSide) -> Markers:
    """Return by segment the markers of its cluster away from the knee; empty if these are too few or all."""
    knee = {"thigh": calibrated.joints["knee"], "shank": np.zeros(3)}
    length = {"thigh": np.linalg.norm(calibrated.joints["knee"]), "shank": np.linalg.norm(calibrated.joints["ankle"])}
    far = {
        segment: [
            name
            for name, place in calibrated.clusters[segment].items()
            if np.linalg.norm(place - knee[segment]) > NEAR_KNEE * length[segment]
        ]
        for segment in knee
        if segment in calibrated.clusters
    }
    return {name: markers for name, markers in far.items() if 3 <= len(markers) < len(calibrated.clusters[name])}


def _in_words(axis: KneeAxis) -> str:
    return f"{abs(axis.turn_deg):.1f} degrees {'inwards' if axis.turn_deg > 0 else 'outwards'}"
