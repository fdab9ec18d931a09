"""What the trials of a session show before their contacts are known, and what their steps say about the plates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...signals.filters import interval_s
from ...trials.session import Trial
from ...variables.stance_verdicts import Verdict
from .events import Stance
from .feet import Feet, feet_of
from .pelvis import middle_of_pelvis
from .plate_contacts import Contact, Given
from .plate_faults import forces, placement
from .plate_faults.steps import PlateStep
from .settings import Settings


class BodyMotion(NamedTuple):
    """What a trial shows before its contacts are known: landmarks, feet, middle of the pelvis, steps on plates.

    ``misread``: for each plate its refusal if the steps of the whole session show that its corners are, else None.
    ``channels``: doubts about plates by the same steps. ``prediction_error`` (plate, 2): the largest
    ``plate_prediction_error`` and ``plate_prediction_error_of_moment`` of each plate in the session, N, N m.
    """

    landmarks: Mapping[str, Array]
    feet: Feet
    pelvis: Array
    steps: Sequence[PlateStep]
    misread: Sequence[Verdict | None]
    channels: Mapping[int, Verdict]
    prediction_error: Array


@dataclass(frozen=True)
class Shown:
    """What a walk shows, and what people say about it: all that the judges of its contacts know."""

    data: Mapping[str, NDArray[Any]]  # variables of the step ``clean``, by name
    motion: BodyMotion
    settings: Settings
    motion_breaks: str = ""  # variable of the step ``clean``, and the next
    plate_breaks: str = ""
    given: Given = field(default_factory=dict)  # by trials.tsv
    corrections: Sequence[Mapping[str, str]] = ()  # rows of corrections.tsv
    refused_plates: Sequence[Verdict | None] = ()  # why each plate cannot be used; None if it can
    stances: Mapping[str, Sequence[Stance]] = field(default_factory=dict)  # by side, once events are known
    contacts: Sequence[Contact] = ()  # of both feet with plates, once they are judged

    @property
    def time(self) -> Array:
        """Return the instants (time,) of the marker frames, s."""
        return self.data["time"]

    @property
    def span(self) -> dict[str, float]:
        """Return the first and the last instant, s."""
        return {"first_s": float(self.time[0]), "last_s": float(self.time[-1])}

    @property
    def feet(self) -> Feet:
        """Return the feet by side."""
        return self.motion.feet

    @property
    def numbers(self) -> list[int]:
        """Return the numbers of the plates."""
        return list(self.data["plate"].tolist())

    @property
    def corners(self) -> Array:
        """Return the corners (plate, 4, 3) of the plates, m."""
        return self.data["plate_corner"]

    @property
    def edges_known(self) -> Flags:
        """Return whether these are those of a plate (plate,); else the load's file states none."""
        return self.data["plate_edges_known"].astype(bool)


def motions_of(trials: Mapping[str, Trial], *, judged: bool) -> dict[str, BodyMotion]:
    """Return the motion of each trial of a session; ``judged``: whether steps judge the plates."""
    on_plates: dict[bytes, list[PlateStep]] = {}
    plates, motions, errors = {}, {}, largest_prediction_errors(trials.values())
    for name, trial in trials.items():
        motions[name], numbers = _motion_of(trial, errors), trial.variables["plate"].values.tolist()
        keys = [placement.key_of(plate) for plate in trial.variables["plate_corner"].values]
        for step in motions[name].steps:
            on_plates.setdefault(keys[step.plate], []).append(step)
        about = (trial.variables[f"plate_{of}"].values for of in ("corner", "edges_known", "fault"))
        plates[name] = list(zip(keys, numbers, *about, strict=True))
    if not judged:
        return {name: motion._replace(steps=()) for name, motion in motions.items()}
    every = {(key, number): corners for listed in plates.values() for key, number, corners, edges, _ in listed if edges}
    misread = {of: placement.misreading(on_plates.get(of[0], ()), corners, of[1]) for of, corners in every.items()}
    met = [(name, step, *plates[name][step.plate]) for name, motion in motions.items() for step in motion.steps]
    sound = [
        (step, at, str(no), name)
        for name, step, key, no, at, _, fault in met
        if not fault and not misread.get((key, no))
    ]
    alone, channels = forces.misread_channels(*map(list, zip(*sound, strict=True))) if sound else ("", {})
    return {
        name: motion._replace(
            misread=[misread.get((key, number)) for key, number, *_ in plates[name]],
            channels={
                i: channels[str(of[1])]
                for i, of in enumerate(plates[name])
                if str(of[1]) in channels and alone in ("", name)
            },
        )
        for name, motion in motions.items()
    }


def _motion_of(trial: Trial, errors: Mapping[int, Array]) -> BodyMotion:
    """Return the motion of a trial, as if all plates were right; ``errors`` by the plate's number."""
    time, corners = (trial.variables[name].values for name in ("time", "plate_corner"))
    names, position = trial.variables["marker"].values.tolist(), trial.variables["marker_position"].values
    landmarks = dict(zip(names, position.swapaxes(0, 1), strict=True))
    feet = feet_of(landmarks, time, corners, travel=trial.attrs["direction_of_travel"])
    pelvis = middle_of_pelvis(landmarks, len(time))
    force, moment = (trial.variables[of].values for of in ("plate_force", "plate_moment"))
    steps = placement.steps_of(force, moment, corners, feet, pelvis, interval_s=interval_s(time))
    known = np.array([errors[number] for number in trial.variables["plate"].values.tolist()]).reshape(-1, 2)
    return BodyMotion(landmarks, feet, pelvis, steps, [None] * len(corners), {}, known)


def largest_prediction_errors(trials: Iterable[Trial]) -> dict[int, Array]:
    """Return the largest errors of prediction (2,), N, N m, of each plate of a session; NaN if no trial shows them."""
    found: dict[int, Array] = {}
    for trial in trials:
        both = [trial.variables[f"plate_prediction_error{of}"].values for of in ("", "_of_moment")]
        for number, errors in zip(trial.variables["plate"].values.tolist(), np.stack(both, axis=-1), strict=True):
            found[number] = np.fmax(found.get(number, np.nan), errors)
    return found
