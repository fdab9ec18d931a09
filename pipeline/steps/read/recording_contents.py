"""What a recording contains, as step ``read`` sees it: ``init`` guesses roles by it, ``check`` finds problems in it."""

import re
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Array
from ...body.body_model import BodyModel
from ...body.landmarks import Points, choose_labels, find_seen_labels
from ...conventions import SIDES
from ...errors import Problem, UserError
from ...person.body_weight import LOADED_N, vertical_forces
from ...person.shown_sizes import ShownSizes, quietly
from ...plates.loaded_pole import PlateTest
from ...recording import Recording
from ...vocabulary.marker_labels import SeveralSubjectsError
from .lab_axes import leans_deg
from .lab_view import LabView, view_in_lab_axes
from .plates_and_channels import compare_with_pole, label_other_channels
from .recording_file import Source, read_recording

SOME_FRAMES = 50
# of the median of the vertical force, its least while a person walks; shares of time; a walk of some steps
LEAST_BORNE, MOSTLY, LEAST_ON_BELT_S = 0.2, 0.95, 2.0
UNKNOWN_LEANS = (float("nan"), float("nan"))
HEELS = frozenset(("heel_left", "heel_right"))
CLOSE_HEELS_M = 0.15  # by which the heels of somebody who does not walk part at most
STILL_SHARE = 0.3  # of what the markers span: of a person who stands .05, of one foot .2, of a walk 1 or more
NOTHING, NO_SIZES = Recording([], np.empty((0, 0, 3)), 1.0, 0.0, 1.0), ShownSizes()


@dataclass(frozen=True)
class Contents:
    """What a recording contains of one person, without its samples."""

    name: str  # path of the file relative to the study
    forces: str = ""  # path of the file with its forces, or empty
    problems: tuple[Problem, ...] = ()  # why it cannot be read; the rest is empty then, but for ``recording.subjects``
    # what the file states, with some frames of its markers, and no samples of plates and channels
    recording: Recording = NOTHING
    frame_count: int = 0  # marker frames
    visible: tuple[str, ...] = ()  # labels of the markers that are seen at least once
    # landmarks that are seen at least once, by body model
    seen: Mapping[str, frozenset[str]] = field(default_factory=dict)
    axes_problem: Problem | None = None  # why up or forward is unknown, or None
    span_m: float = float("nan")  # largest side of the box around the markers, median over time
    shown: ShownSizes = NO_SIZES  # what it shows of the person's size
    # by side, from ASIS over knee to ankle marker with the leg straight, see :func:`_leg_lengths_m`
    leg_lengths_m: Mapping[str, float] = field(default_factory=dict)
    stride_m: float = float("nan")  # range of one heel ahead of the other; if several models, in any direction
    leans_deg: tuple[float, float] = UNKNOWN_LEANS  # see :func:`.lab_axes.leans_deg`; NaN unless the person stands
    forces_lean_deg: tuple[float, float] = UNKNOWN_LEANS  # see :func:`_forces_lean_deg`
    # largest vertical force of each plate that can be decoded, by its number
    peak_load_n: Mapping[int, float] = field(default_factory=dict)
    # largest downward force of each of these plates, 0 if it pushes up by more; empty if it is not known what is up
    downward_n: Mapping[int, float] = field(default_factory=dict)
    # longest side of each of these plates with known edges
    plate_sides_m: Mapping[int, float] = field(default_factory=dict)
    # unit normal (3,) of each of these plates in lab axes with no slope stated, up or down
    plate_normals: Mapping[int, Array] = field(default_factory=dict)
    plate_problems: tuple[Problem, ...] = ()  # problems of the other plates, and of the channels of these
    channels: tuple[str, ...] = ()  # labels of the analog channels that no plate uses
    plate_tests: Mapping[int, PlateTest] = field(default_factory=dict)  # by a pole, where no person is seen
    no_plate_test: Problem | None = None  # why there are none

    @property
    def key(self) -> str:
        """The file's name, for a shared file with the subject; unique in a study."""
        return key_of(self.name, self.subject if self.has_several_people else "")

    @property
    def landmarks(self) -> frozenset[str]:
        """The landmarks that are seen at least once, by the only body model."""
        return next(iter(self.seen.values()), frozenset())

    @property
    def duration_s(self) -> float:
        """The length of the recording."""
        return self.frame_count / self.recording.marker_rate_hz

    @property
    def stands(self) -> bool:
        """Whether the markers hardly move."""
        return _hardly_moves(self.shown, self.span_m)

    @property
    def states_results(self) -> bool:
        """Whether the file states the static results of Plug-in Gait."""
        return bool(self.recording.static_results)

    @property
    def sizes(self) -> Mapping[str, float]:
        """The sizes that the file states, by column of participants.tsv."""
        return self.recording.sizes

    @property
    def has_several_people(self) -> bool:
        """Whether the file holds several people's markers; these are of one."""
        return bool(self.recording.subjects)

    @property
    def subject(self) -> str:
        """The person: the subject in the labels of a shared file, else the only one of SUBJECTS:NAMES.

        It may name a person; never print or store it unless it has a digit.
        """
        names = [text.strip() for text in self.recording.subject_names if text.strip()]
        return names[0] if len(names) == 1 and not self.has_several_people else self.recording.owner

    @property
    def name_words(self) -> frozenset[str]:
        """The words of subjects that look like a name rather than a code; never print or store them."""
        texts = (*self.recording.subject_names, self.recording.owner)
        return frozenset(word for text in texts if looks_like_a_name(text) for word in words_of(text))


def key_of(name: str, subject: str) -> str:
    """Return :attr:`Contents.key` of a file's name and a shared file's subject."""
    return f"{name}:{subject}" if subject else name


def look_through(
    study: Path,
    name: str,
    models: Mapping[str, BodyModel],
    *,
    forces: str = "",
    subject: str = "",
    participant: str = "",
    following: str = "",
) -> Contents:
    """Return what a recording of a study contains; of one that fails in any way, its problems.

    Args:
        models: body models by name. Axes and distances of landmarks are known if it is only one.
    """
    path = study / name
    try:
        ahead = study / following if following else None
        recording = read_recording(Source(path, study / forces if forces else None, subject, participant, ahead))
        return replace(contents_of(recording, models), name=name, forces=forces)
    except SeveralSubjectsError as error:
        several = replace(NOTHING, subjects=error.subjects)
        return Contents(name, forces, error.problems, several)
    except Exception as error:  # a failing file costs no other file
        return Contents(name, forces, problems_of(path, error))


def problems_of(path: Path, error: Exception) -> tuple[Problem, ...]:
    """Return whatever went wrong with one file.

    A defect of the pipeline is named by kind and line only: its text may quote the file, and so a person's name.
    """
    if isinstance(error, UserError):
        return error.problems
    if isinstance(error, OSError):
        return (Problem(str(path), f"cannot be read ({error.strerror})", "give yourself the right to read it"),)
    last = traceback.extract_tb(error.__traceback__)[-1]
    what = f"cannot be understood ({type(error).__name__}, {Path(last.filename).name} line {last.lineno})"
    remedy = "this is a fault of the pipeline: please report it with the file, and exclude the file in trials.tsv"
    return (Problem(str(path), what, remedy),)


def contents_of(recording: Recording, models: Mapping[str, BodyModel]) -> Contents:
    """Return what a recording contains; ``models`` as of :func:`look_through`."""
    only = next(iter(models.values())) if len(models) == 1 else None
    view = view_in_lab_axes(recording, only, quarter_turn=True)
    points = view.landmarks
    visible = find_seen_labels(recording.labels, recording.markers)
    some = recording.markers[:: max(1, len(recording.markers) // SOME_FRAMES)] @ view.rotation.T
    chosen = {name: choose_labels(model, visible) for name, model in models.items()}
    seen = {name: frozenset(points if only else labels) for name, labels in chosen.items()}
    no_test, tests = None, dict[int, PlateTest]()
    try:
        tests = compare_with_pole(recording, view.plates, view.rotation, person=any(seen.values()))
    except UserError as error:
        no_test = error.problems[0]
    box = np.fmax.reduce(some, axis=1, initial=-np.inf) - np.fmin.reduce(some, axis=1, initial=np.inf)
    longest = box.max(axis=1)
    span_m = float(np.median(longest[longest >= 0])) if (longest >= 0).any() else float("nan")
    stands = _hardly_moves(view.shown, span_m)
    return Contents(
        "",
        recording=replace(recording, markers=some, analog=np.empty((0, 0)), loads=()),
        frame_count=len(recording.markers),
        visible=tuple(visible),
        seen=seen,
        axes_problem=view.problem,
        span_m=span_m,
        shown=view.shown,
        leg_lengths_m=_leg_lengths_m(points),
        stride_m=_stride_m(recording, view, [*chosen.values()]),
        leans_deg=leans_deg(points, view.rotation) if stands and not view.problem else UNKNOWN_LEANS,
        forces_lean_deg=UNKNOWN_LEANS if stands else _forces_lean_deg(view, recording.analog_rate_hz),
        channels=tuple(label_other_channels(recording, view.plates.channels).values()),
        plate_tests=tests,
        no_plate_test=no_test,
        **_of_plates(view),
    )


def _of_plates(view: LabView) -> dict[str, Any]:
    """Return what :class:`Contents` has of plates: their loads, sizes, slopes and problems."""
    force, corners = view.plates.force, view.plates.corners
    numbers, blank = view.plates.numbers.tolist(), ~np.isfinite(force).all(axis=2).any(axis=0)
    peak_n = np.where(blank, np.nan, vertical_forces(force, corners).max(axis=0, initial=0.0))
    lowest, highest = (of.reduce(force[..., 1], axis=0, initial=0.0) for of in (np.fmin, np.fmax))
    downward_n = np.where(-lowest > highest, -lowest, 0.0)
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1).max(axis=1, initial=0.0)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 3] - corners[:, 0])
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    edged = np.flatnonzero(view.plates.edges_known)
    return {
        "peak_load_n": dict(zip(numbers, peak_n.tolist(), strict=True)),
        "downward_n": {} if view.problem else dict(zip(numbers, downward_n.tolist(), strict=True)),
        "plate_sides_m": {numbers[i]: float(sides[i]) for i in edged},
        "plate_normals": {numbers[i]: normals[i] for i in edged},
        "plate_problems": tuple(view.plates.problems.values()),
    }


def _forces_lean_deg(view: LabView, rate_hz: float) -> tuple[float, float]:
    """Return by how much the mean force on a person who walks on a belt leans forwards and to the right of lab y.

    Who does not travel is held by a force that is plumb on average, whatever the slope of the belt. Over a part of a
    stride it leans by up to a degree in two seconds. NaN if plates do not bear the person all the time.
    """
    total = np.nansum(view.plates.force, axis=1)
    bears = total[:, 1] > LEAST_BORNE * np.median(total[:, 1]) if len(total) else np.zeros(0, dtype=bool)
    whole = len(total) > LEAST_ON_BELT_S * rate_hz and bears.mean() > MOSTLY
    if view.problem or view.travel != "none" or not whole or np.median(total[:, 1]) < LOADED_N:
        return UNKNOWN_LEANS
    ahead, up, aside = total.mean(axis=0)
    return float(np.degrees(np.arctan2(ahead, up))), float(np.degrees(np.arctan2(aside, up)))


def _hardly_moves(shown: ShownSizes, span_m: float) -> bool:
    """Return whether markers hardly move, in metres and by the size of what they show: a unit may be wrong."""
    return shown.stands and not shown.extent_m > STILL_SHARE * span_m


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


def _stride_m(recording: Recording, view: LabView, chosen: Sequence[Mapping[str, Sequence[str]]]) -> float:
    """Return the range (5 to 95 %) of the left heel ahead of the right, m; NaN if it is not known.

    Args:
        chosen: labels of landmarks by each body model. With several, it is the largest range along the file's axes.
    """
    heels, axes = {} if view.problem else view.landmarks, view.rotation[:1]
    if len(chosen) != 1:
        labels = next((one for one in chosen if one.keys() >= HEELS), {})
        heels = {name: recording.markers[:, recording.labels.index(labels[name][0])] for name in labels.keys() & HEELS}
        axes = np.eye(3)
    if not heels.keys() >= HEELS:
        return float("nan")
    ahead = (heels["heel_left"] - heels["heel_right"]) @ axes.T
    return quietly(lambda values: np.subtract(*np.nanpercentile(values, [95, 5], axis=0)).max(), ahead)


def words_of(text: str) -> list[str]:
    """Return the words of three letters or more, lower case."""
    return re.findall(r"[^\W\d_]{3,}", text.lower())


def looks_like_a_name(text: str) -> bool:
    """Return whether text may be a person's name: it has a word and no digit. ``subject01`` and ``A22`` are codes."""
    return bool(re.search(r"[^\W\d_]{3}", text)) and not re.search(r"\d", text)
