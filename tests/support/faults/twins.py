"""Corrupted twins: sessions with recordings changed as labs get them wrong.

A fault changes what a file holds (:class:`pipeline.recording.Recording`), before the step ``read``: channels of the
plates as the amplifier gives them, markers in the file's axes. So every check of every step meets it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.body.body_model import BodyModel
from pipeline.plates.parameters import Plate, plates_from_parameters
from pipeline.plates.wrench import plate_axes
from pipeline.recording import Recording

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
FORCES, MOMENTS = slice(0, 3), slice(3, 6)


class Session(NamedTuple):
    """The files of a session, and all that the steps need beside them.

    ``rows`` of trials.tsv; ``recordings`` by file; ``participant`` and ``segments``: rows of the other tables;
    ``chosen``: settings.
    """

    name: str
    rows: Sequence[Mapping[str, str]]
    recordings: Mapping[str, Recording]
    participant: Mapping[str, str]
    segments: Sequence[Mapping[str, str]]
    model: BodyModel
    chosen: Mapping[str, Any]

    @property
    def walks(self) -> list[str]:
        """Return the files of the walks."""
        return [row["file"] for row in self.rows if row["role"] == "gait"]

    @property
    def static(self) -> str:
        """Return the file of the static trial; empty if there is none."""
        return next((row["file"] for row in self.rows if row["role"] == "static"), "")

    @property
    def mass_kg(self) -> float:
        """Return the mass in participants.tsv, else that in a file, else 70 kg."""
        stated = [one.sizes.get("mass_kg") for one in self.recordings.values()]
        cell = self.participant.get("mass_kg", "n/a")
        return float(cell) if cell not in ("", "n/a") else next(filter(None, stated), 70.0)


class Contact(NamedTuple):
    """A stance that the clean session uses: file, side, plates, and its first and last frame."""

    file: str
    side: str
    plates: tuple[int, ...]
    first: int
    last: int


@dataclass(frozen=True)
class Twin:
    """A corrupted session, and the stances that the corruption touches.

    ``frames``: by file the frame of the clean recording that each frame of the twin shows.
    """

    session: Session
    touched: Sequence[Contact]
    frames: Mapping[str, Counts] = field(default_factory=dict)


Corrupt = Callable[[Session, Sequence[Contact], np.random.Generator], Twin | None]


class Fault(NamedTuple):
    """A row of the table and one of its doses; ``corrupt`` returns None where a session cannot have it."""

    row: str
    dose: str
    corrupt: Corrupt


def plates_of(recording: Recording) -> list[Plate]:
    """Return the plates with six channels of forces and moments, or channels near them by a matrix (types 2 and 4)."""
    listed = plates_from_parameters(recording.force_platform, channel_count=recording.analog.shape[1])
    return [plate for plate in listed if not plate.problem and plate.type in (2, 4)]


def heading(recording: Recording) -> Array:
    """Return the horizontal unit vector (3,) along which the markers move most, file axes; of any sense on a belt."""
    plates = plates_of(recording)
    up = plate_axes(plates[0].corners)[:, 2] if plates else np.array([0.0, 0.0, 1.0])
    seen = np.isfinite(recording.markers).all(axis=2).sum(axis=0) > 1
    markers = recording.markers[:, seen]
    level = markers - (markers @ up)[..., None] * up
    moved = level - np.nanmean(level, axis=0)
    ahead = np.linalg.svd(moved[np.isfinite(moved).all(axis=2)], full_matrices=False)[2][0]
    return np.asarray(ahead * (1 if np.nanmean(np.sign(np.diff(moved @ ahead, axis=0))) >= 0 else -1))


def along(recording: Recording, plate: Plate) -> int:
    """Return 0 or 1, the axis of a plate that is more along the walk."""
    return int(np.argmax(np.abs(heading(recording) @ plate_axes(plate.corners)[:, :2])))


def with_readings(recording: Recording, changed: Mapping[int, Array]) -> Recording:
    """Return a recording with other channels (sample, 6) of some plates, by number."""
    analog = recording.analog.copy()
    for plate in plates_of(recording):
        if plate.number in changed:
            analog[:, plate.channels - 1] = changed[plate.number]
    return replace(recording, analog=analog)


def readings_of(recording: Recording) -> dict[int, Array]:
    """Return the channels (sample, 6) of each plate, by number."""
    return {plate.number: recording.analog[:, plate.channels - 1] for plate in plates_of(recording)}


def walks_with(session: Session, change: Callable[[Recording], Recording]) -> Session:
    """Return a session with all walks changed."""
    walks = {file: change(session.recordings[file]) for file in session.walks}
    return session._replace(recordings={**session.recordings, **walks})


def one_file(contacts: Sequence[Contact], rng: np.random.Generator) -> Contact:
    """Return a stance of a random file."""
    return contacts[int(rng.integers(len(contacts)))]
