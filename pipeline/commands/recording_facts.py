"""Facts of one recording, by which a study is judged before a run."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..body.body_model import BodyModel
from ..body.landmarks import Points, chosen_labels, positions, seen_labels
from ..c3d.reader import Recording, anthropometry, static_results
from ..conventions import SIDES
from ..errors import Problem, UserError
from ..person.body_weight import vertical_forces
from ..person.shown_sizes import ShownSizes, quietly
from ..steps.read import step as read
from ..steps.read.lab_axes import to_isb
from ..steps.read.recording_file import read_recording
from ..vocabulary.event_names import not_understood

SOME_FRAMES = 50

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Facts:
    """Facts of a file.

    Attributes:
        labels: marker labels.
        seen: landmarks of the study's body model that are visible at least once.
        some_frames: the markers (time, marker, 3) in some frames, ISB axes, m.
        duration_s: length of the recording.
        shown: what it shows of the person's size.
        leg_lengths_m: by side, from ASIS over knee to ankle marker with the leg straight, see :func:`_leg_lengths_m`.
        stride_m: largest distance between the heels in the heading; NaN if the heading is unknown.
        length_unit_m: metres per length unit of the file.
        marker_rate_hz, force_rate_hz: samples per second; 0 without analog channels.
        heading_problem: why up or forward is unknown, or None.
        peak_load_n: largest vertical force of each plate that can be decoded, by its number.
        plate_sides_m: longest side of each of these plates with known edges.
        plate_problems: problems of the other plates, and of the channels of these.
        event_count: gait events in the file.
        channels: labels of the analog channels that no plate uses.
        strange_events: event labels that are unknown, see :func:`pipeline.vocabulary.event_names.not_understood`.
        static_results: those of Plug-in Gait that the file states, as step ``read`` gives them; empty without any.
        sizes: anthropometry in the file, kg and m, by participants.tsv column.
        label_notes: remarks about the labels, such as which of two equal labels is used.
        name_words: words of subjects that look like a name rather than a code; never print or store them.
    """

    labels: list[str]
    seen: frozenset[str]
    some_frames: Array
    duration_s: float
    shown: ShownSizes
    leg_lengths_m: Mapping[str, float]
    stride_m: float
    length_unit_m: float
    marker_rate_hz: float
    force_rate_hz: float
    heading_problem: Problem | None
    peak_load_n: Mapping[int, float]
    plate_sides_m: Mapping[int, float]
    plate_problems: list[Problem]
    event_count: int
    channels: list[str]
    strange_events: list[str]
    static_results: str
    sizes: Mapping[str, float]
    label_notes: list[str]
    name_words: frozenset[str]

    @property
    def stated(self) -> bool:
        """Whether the file states the static results of Plug-in Gait."""
        return bool(self.static_results)


def opened(study: Path, file: str, forces: str = "", *, subject: str = "", participant: str = "") -> Recording:
    """Read a recording of a study, see :func:`pipeline.steps.read.recording_file.read_recording`.

    Raises:
        UserError: it cannot be read.
    """
    beside = study / forces if forces else None
    try:
        return read_recording(study / file, beside, subject=subject, participant=participant)
    except Exception as error:  # a failing file costs no other file
        raise failure_of(study / file, error) from None


def failure_of(path: Path, error: Exception) -> UserError:
    """Return whatever went wrong with one file as a UserError.

    A defect of the pipeline is named by kind and line only: its text may quote the file, and so a person's name.
    """
    if isinstance(error, UserError):
        return error
    if isinstance(error, OSError):
        return UserError(str(path), f"cannot be read ({error.strerror})", "give yourself the right to read it")
    last = traceback.extract_tb(error.__traceback__)[-1]
    what = f"cannot be understood ({type(error).__name__}, {Path(last.filename).name} line {last.lineno})"
    remedy = "this is a fault of the pipeline: please report it with the file, and exclude the file in trials.tsv"
    return UserError(str(path), what, remedy)


def facts_in(
    study: Path, file: str, body_model: BodyModel | None, *, forces: str = "", subject: str = "", participant: str = ""
) -> Facts:
    """Return the facts of a recording of a study; ``body_model`` is None if it cannot be read.

    Raises:
        UserError: the file, or that with its forces, cannot be read, or nothing can be made of it.
    """
    recording = opened(study, file, forces, subject=subject, participant=participant)
    try:
        return facts_of(recording, body_model)
    except Exception as error:  # a failing file costs no other file
        raise failure_of(study / file, error) from None


def facts_of(recording: Recording, body_model: BodyModel | None) -> Facts:
    """Return the facts of a recording."""
    points = positions(body_model, recording.labels, recording.markers) if body_model else {}
    heading_problem, rotation = None, np.eye(3)
    try:
        rotation = to_isb(points, quarter_turn=True)[0]
    except UserError as error:
        heading_problem = error.problems[0]
    plates = read.plate_wrenches(recording, rotation)
    force, corners, numbers = plates.force, plates.corners, plates.numbers
    vertical = vertical_forces(force, corners)
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1).max(axis=1, initial=0.0)
    return Facts(
        labels=recording.labels,
        seen=frozenset(points),
        some_frames=recording.markers[:: max(1, len(recording.markers) // SOME_FRAMES)] @ rotation.T,
        duration_s=len(recording.markers) / recording.marker_rate_hz,
        shown=read.sizes_in(recording, points, None if heading_problem else rotation, plates),
        leg_lengths_m=_leg_lengths_m(points),
        stride_m=float("nan") if heading_problem else _stride_m(points, rotation),
        length_unit_m=recording.length_unit_m,
        marker_rate_hz=recording.marker_rate_hz,
        force_rate_hz=recording.analog_rate_hz,
        heading_problem=heading_problem,
        peak_load_n=dict(zip(numbers.tolist(), vertical.max(axis=0, initial=0.0).tolist(), strict=True)),
        plate_sides_m={
            number: side_m
            for number, side_m, known in zip(numbers.tolist(), sides.tolist(), plates.edges_known, strict=True)
            if known
        },
        plate_problems=plates.problems,
        event_count=len(recording.events),
        channels=read.other_channels(recording)[1].tolist(),
        strange_events=not_understood((event.label, event.side) for event in recording.events),
        static_results=static_results(recording.processing),
        sizes=anthropometry(recording.processing),
        label_notes=recording.label_notes,
        name_words=frozenset(
            word
            for text in (*recording.subject_names, recording.owner)
            if looks_like_a_name(text)
            for word in words_of(text)
        ),
    )


def _leg_lengths_m(points: Points) -> dict[str, float]:
    """Return the 95th percentile of ASIS to lateral knee to lateral ankle marker, m, by side.

    The pelvis's drop shortens it in swing, so that the longest are of a straight leg under the pelvis. In statics and
    walks of 12 people it is within 5 % of the leg length to the medial malleolus that the lab measured, half of them
    within 2 %; of one child it is 9 % more. By the regression of Davis 5 % move a hip centre by 5 mm.
    """
    lengths = {}
    for side in SIDES:
        asis, knee, ankle = (
            points.get(f"{name}_{side}") for name in ("asis", "lateral_epicondyle", "lateral_malleolus")
        )
        if asis is not None and knee is not None and ankle is not None:
            long = np.linalg.norm(asis - knee, axis=1) + np.linalg.norm(knee - ankle, axis=1)
            lengths[side] = quietly(lambda values: np.nanpercentile(values, 95), long)
    return {side: length for side, length in lengths.items() if np.isfinite(length)}


def _stride_m(points: Points, rotation: Array) -> float:
    """Return the range (5 to 95 %) of the left heel ahead of the right, m."""
    if not {"heel_left", "heel_right"} <= points.keys():
        return float("nan")
    ahead = (points["heel_left"] - points["heel_right"]) @ rotation[0]
    return quietly(lambda values: np.subtract(*np.nanpercentile(values, [95, 5])), ahead)


def words_of(text: str) -> list[str]:
    """Return the words of three letters or more, lower case."""
    return re.findall(r"[^\W\d_]{3,}", text.lower())


def looks_like_a_name(text: str) -> bool:
    """Return whether text may be a person's name: it has a word and no digit.

    ``subject01`` and ``A22`` are codes.
    """
    return bool(re.search(r"[^\W\d_]{3}", text)) and not re.search(r"\d", text)


def seen_landmarks(body_model: BodyModel, recording: Recording) -> set[str]:
    """Return the landmarks that are visible at least once in a file."""
    return set(chosen_labels(body_model, seen_labels(recording.labels, recording.markers)))
