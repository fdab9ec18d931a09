"""What the trials of a session show before their contacts are known, and what their steps say about the plates."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...arrays import Array
from ...signals.filters import interval_s
from ...trials.session import Trial
from ...variables.stance_verdicts import Verdict
from .feet import Feet, feet_of
from .pelvis import middle_of_pelvis
from .plate_faults import forces, placement
from .plate_faults.steps import PlateStep


class BodyMotion(NamedTuple):
    """What a trial shows before its contacts are known: landmarks, feet, middle of the pelvis, steps on plates.

    ``misread``: for each plate its refusal if the steps of the whole session show that its corners are, else None.
    ``channels``: doubts about plates by the same steps.
    """

    landmarks: Mapping[str, Array]
    feet: Feet
    pelvis: Array
    steps: Sequence[PlateStep]
    misread: Sequence[Verdict | None]
    channels: Mapping[int, Verdict]


def motions_of(trials: Mapping[str, Trial], *, judged: bool) -> dict[str, BodyMotion]:
    """Return the motion of each trial of a session; ``judged``: whether steps judge the plates."""
    on_plates: dict[bytes, list[PlateStep]] = {}
    plates, motions = {}, {}
    for name, trial in trials.items():
        time, corners = trial.variables["time"].values, trial.variables["plate_corner"].values
        position = trial.variables["marker_position"].values
        landmarks = {label: position[:, i] for i, label in enumerate(trial.variables["marker"].values.tolist())}
        feet = feet_of(landmarks, time, corners, travel=trial.attrs["direction_of_travel"])
        pelvis = middle_of_pelvis(landmarks, len(time))
        force, moment = (trial.variables[of].values for of in ("plate_force", "plate_moment"))
        steps = placement.steps_of(force, moment, corners, feet, pelvis, interval_s=interval_s(time))
        keys = [placement.key_of(plate) for plate in corners]
        for step in steps:
            on_plates.setdefault(keys[step.plate], []).append(step)
        with_edges = trial.variables["plate_edges_known"].values.astype(bool)
        plates[name] = list(zip(keys, trial.variables["plate"].values.tolist(), corners, with_edges, strict=True))
        motions[name] = BodyMotion(landmarks, feet, pelvis, steps, [None] * len(keys), {})
    if not judged:
        return {name: motion._replace(steps=()) for name, motion in motions.items()}
    every = {(key, number): corners for listed in plates.values() for key, number, corners, edges in listed if edges}
    misread = {
        (key, number): placement.misreading(on_plates.get(key, ()), corners, number)
        for (key, number), corners in every.items()
    }
    met = [plates[name][step.plate] for name, motion in motions.items() for step in motion.steps]
    steps = [step for motion in motions.values() for step in motion.steps]
    channels = forces.misread_channels(steps, [of[2] for of in met], [str(of[1]) for of in met])
    return {
        name: motion._replace(
            misread=[misread.get((key, number)) for key, number, *_ in plates[name]],
            channels={
                i: channels[str(number)] for i, (_, number, *_) in enumerate(plates[name]) if str(number) in channels
            },
        )
        for name, motion in motions.items()
    }
