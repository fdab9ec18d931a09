"""ResolvedModel: a body model in one recording, resolved once: labels, rules of both legs, and what is missing."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ..conventions import FROM_HIP, SIDES
from ..errors import UserError
from .body_model import BodyModel
from .joint_centres import hip_centre as hip_regression
from .landmarks import virtual_heels
from .rules import CentreRule, LegRules, Names, SegmentRule, landmarks_among

FEWEST_CLUSTER_MARKERS = 3


@dataclass(frozen=True)
class ResolvedLeg:
    """One leg of a body model in a recording."""

    rules: LegRules  # of the leg
    # the rule of each joint centre: the first that the recording allows, else the first
    centres: Mapping[str, CentreRule]
    # the landmarks that a static trial needs and the recording lacks, sorted, those of clusters left out. The markers
    # of an alignment device are needed too; a landmark that they show is not lacking.
    lacking: list[str]

    def texts(self) -> dict[str, str]:
        """Return how each joint centre is found, but for a hip centre that the settings choose."""
        ending = f"_{self.rules.side}"
        return {
            joint: f"{rule.method}: {', '.join(name.removesuffix(ending) for name in rule.points)}"
            for joint, rule in self.centres.items()
            if joint != "hip" or rule.method != "regression"
        }


@dataclass(frozen=True)
class ResolvedModel:
    """A body model in one recording."""

    body_model: BodyModel
    # of each landmark that is ever seen, as the file spells them; empty where nobody needs them
    labels: Mapping[str, Names]
    # the unseen landmarks that an alignment device shows: the markers of its rods, and the side
    devices: Mapping[str, tuple[Names, str]]
    legs: Mapping[str, ResolvedLeg]  # by side

    @cached_property
    def lacking(self) -> list[str]:
        """Return the landmarks and clusters that the recording lacks as static trial."""
        names = {name for leg in self.legs.values() for name in leg.lacking}
        return sorted(names) + _lacking_clusters(self.body_model, self.landmarks, SIDES)

    def complete_legs(self) -> list[str]:
        """Return the sides for which the recording lacks nothing as static trial."""
        return [
            side
            for side, leg in self.legs.items()
            if not leg.lacking and not _lacking_clusters(self.body_model, self.landmarks, [side])
        ]

    def lacking_in_motion(self, seen: Collection[str]) -> list[str]:
        """Return what a walking trial lacks: heels, toes, landmarks and clusters that are needed in every frame.

        A heel that other landmarks replace (:func:`pipeline.body.landmarks.with_heels`) is not lacking. This recording
        is the static trial, which decides how joint centres are found.
        """
        shown = {*seen, *virtual_heels(seen)}
        return sorted(self._needed_in_motion - shown) + _lacking_clusters(self.body_model, shown, SIDES)

    @cached_property
    def _needed_in_motion(self) -> set[str]:
        """Return the heels, toes and landmarks that are needed in every frame, those of clusters left out."""
        names = [f"{name}_{side}" for name in ("heel", "toe") for side in SIDES]
        for leg in self.legs.values():
            built = [rule for rule in leg.rules.segments.values() if not rule.cluster]
            names += [name for rule in built for name in rule.points_in_motion]
            names += [name for rule in leg.centres.values() if rule.moving for name in rule.moving.points]
        return {*landmarks_among(names)}

    def find_needed_sizes(self, *, hip_centre: str) -> list[str]:
        """Return the participants.tsv columns that the joint centres need, with this recording as static trial."""
        rules = [(side, rule) for side, leg in self.legs.items() for rule in leg.centres.values()]
        columns = {f"{rule.essential_size}_{side}_m" for side, rule in rules if rule.essential_size}
        if all(leg.centres["hip"].method != "regression" for leg in self.legs.values()):
            return sorted(columns)
        try:  # a regression raises where it lacks a size that markers do not show
            hip_regression(hip_centre, "left", {"pelvis_width": 0.25, "pelvis_depth": 0.15, "marker_radius": 0.007})
        except UserError:
            columns |= {f"leg_length_{side}_m" for side in SIDES}
        return sorted(columns)

    @property
    def landmarks(self) -> set[str]:
        """Return the landmarks that are seen, or shown by an alignment device."""
        return {*self.labels, *self.devices}


def resolve(model: BodyModel, seen: Mapping[str, Names] | Collection[str]) -> ResolvedModel:
    """Resolve a body model in a recording, from the labels of its landmarks or their names; a frozen set is kept."""
    if isinstance(seen, frozenset):
        return _resolve_names(model, seen)
    labels = seen if isinstance(seen, Mapping) else dict.fromkeys(seen, ())
    devices = {
        landmark: (leg.devices[landmark], side)
        for name in model.virtual
        for side, leg in model.legs.items()
        for landmark in [f"{name}_{side}"]
        if landmark not in labels and labels.keys() >= {*leg.devices[landmark], "asis_left", "asis_right"}
    }
    shown = {*labels, *devices}
    shown |= virtual_heels(shown)
    legs = {}
    for side, leg in model.legs.items():
        centres = {
            joint: next((rule for rule in rules if shown >= {*landmarks_among(rule.points)}), rules[0])
            for joint in FROM_HIP
            for rules in [leg.joint_centres[joint]]
        }
        every: list[CentreRule | SegmentRule] = [*centres.values(), *leg.segments.values()]
        needed = [name for part in (*(rule.points for rule in every), *leg.devices.values()) for name in part]
        legs[side] = ResolvedLeg(leg, centres, sorted({*landmarks_among(needed)} - shown))
    return ResolvedModel(model, labels, devices, legs)


@lru_cache(maxsize=1024)
def _resolve_names(model: BodyModel, seen: frozenset[str]) -> ResolvedModel:
    return resolve(model, dict.fromkeys(seen, ()))


def _lacking_clusters(model: BodyModel, seen: Collection[str], sides: Iterable[str]) -> list[str]:
    """Return the clusters of some sides with fewer than three markers; joint centres in them always count."""
    lacking = []
    for segment in model.segments:
        for side in sides:
            cluster = model.legs[side].segments[segment].cluster
            unseen = {*landmarks_among(cluster)} - {*seen}
            if cluster and len(cluster) - len(unseen) < FEWEST_CLUSTER_MARKERS:
                lacking.append("pelvis cluster" if segment == "pelvis" else f"{side} {segment} cluster")
    return list(dict.fromkeys(lacking))
