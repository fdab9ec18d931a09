"""Reading of C3D files: SI units, the file's own axes.

The bytes are checked (:mod:`pipeline.c3d.integrity`), a child process parses them
(:mod:`pipeline.c3d.parser_process`), and this module interprets the content.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..vocabulary.event_names import side_in
from ..vocabulary.marker_labels import SEPARATORS, choose_person
from .integrity import refuse_damaged
from .parser_process import parse, parse_ahead
from .point_labels import label_points, listed

Array = NDArray[np.float64]

LENGTH_UNITS_M = {"mm": 1e-3, "cm": 1e-2, "dm": 1e-1, "m": 1.0}
RATE_HZ = (0.1, 1e5)  # marker frames per second; others are damage
FARTHEST_M, LARGEST_READING = 1e3, 1e9  # values beyond these are missing
# columns of participants.tsv by PROCESSING names of Plug-in Gait, which states lengths in mm
PROCESSING_NAMES = {
    "Bodymass": "mass_kg",
    "Height": "height_m",
    "MarkerDiameter": "marker_diameter_m",
    "InterAsisDistance": "asis_distance_m",
    **{
        f"{letter}{name}": f"{column}_{side}_m"
        for letter, side in (("L", "left"), ("R", "right"))
        for name, column in (
            ("KneeWidth", "knee_width"),
            ("AnkleWidth", "ankle_width"),
            ("LegLength", "leg_length"),
            ("AsisTrocanterDistance", "asis_trochanter_distance"),
        )
    },
}
LONGEST_SIZE_M = 3.0  # larger numbers are mm
OLDER_PROCESSING = "LStaticPlantFlex"  # marks the group that stands for PROCESSING, see parser.py
# static results of Plug-in Gait by PROCESSING name, without the side's letter
STATIC_RESULTS = {
    "ThighRotation": "thigh_rotation",
    "ShankRotation": "shank_rotation",
    "AnkleAbAdd": "ankle_abduction",
    "TibialTorsion": "tibial_torsion",
    "StaticPlantFlex": "plantar_flexion",
    "StaticRotOff": "rotation_offset",
}
# files state radians; Vicon Clinical Manager stated degrees. No offset of a leg is as large as 57 degrees, and one of
# the results is larger than a degree
LARGEST_RESULT_RAD = 1.0


@dataclass(frozen=True)
class Event:
    """A gait event as the file states it; ``side`` may be empty."""

    time_s: float
    label: str
    side: str


class Load(NamedTuple):
    """A load on the person that is known without its plate, as in files of OpenSim; axes of the file.

    Attributes:
        force: (sample, 3), N.
        moment: (sample, 3) about the lab origin, N m.
        point: (sample, 3), point of application, m; it means little without force.
    """

    force: Array
    moment: Array
    point: Array


@dataclass(frozen=True)
class Recording:
    """The content of a C3D file, or of other files with the same content.

    Attributes:
        labels: marker labels without subject and common prefixes, unique.
        markers: (time, marker, 3) positions, m, NaN where unseen.
        marker_rate_hz, first_frame: frames per second; number of the first frame, counted from 0, which is that of
            time 0. It is whole in C3D files.
        analog: (sample, channel) as scaled by the file.
        analog_rate_hz: samples per second; 0 without channels.
        length_unit_m: metres per length unit of the file.
        force_platform: the FORCE_PLATFORM parameters by name.
        analog_labels, analog_units: label and unit text of each channel; may be fewer.
        events: gait events; time 0 is frame 0.
        processing: numbers of the PROCESSING group by name without spaces, in the file's units; only those of the
            chosen person if the file holds several. Vicon Clinical Manager has them in a group named as the subject.
        subject_names: SUBJECTS:NAMES, free text that may name a person: never print or store it.
        label_notes: notes on repeated labels.
        subjects: the people in the file; empty if it holds one.
        owner: the subject in the labels of the chosen markers (``A22:LKNE``), or empty.
        loads: forces on the person that are stated instead of plates, at the samples of ``analog``.
    """

    labels: list[str]
    markers: Array
    marker_rate_hz: float
    first_frame: float
    analog: Array
    analog_rate_hz: float
    length_unit_m: float
    force_platform: Mapping[str, Any]
    analog_labels: list[str]
    analog_units: list[str]
    events: list[Event]
    processing: Mapping[str, float]
    subject_names: list[str]
    label_notes: list[str] = field(default_factory=list)
    subjects: list[str] = field(default_factory=list)
    owner: str = ""
    loads: Sequence[Load] = ()


def read_c3d(path: Path, *, subject: str = "", participant: str = "", following: Path | None = None) -> Recording:
    """Read a C3D file.

    Args:
        path: the file.
        subject, participant: the person to take if it holds several, see
            :func:`pipeline.vocabulary.marker_labels.choose_person`.
        following: the file to be read next, which the child process parses in the meantime.

    Raises:
        UserError: absent, not a C3D file, damaged, cut off, without markers, or of several subjects
            (:class:`pipeline.vocabulary.marker_labels.SeveralSubjectsError`).
    """
    if not path.is_file():
        raise UserError(str(path), "no such file", "correct trials.tsv or restore the file")
    header = refuse_damaged(path)
    content = parse(path, header)
    if following:
        with contextlib.suppress(OSError, UserError):  # raised again when it is read
            parse_ahead(following, refuse_damaged(following))
    parameters, points, rate = content["parameters"], content["points"], content["point_rate_hz"]
    point = parameters["POINT"]
    if not points.size or rate == 0:
        raise UserError(str(path), "holds no marker frames", "exclude it in trials.tsv or export it again")
    if not RATE_HZ[0] <= rate <= RATE_HZ[1]:
        raise UserError(str(path), f"POINT:RATE is {rate:g} frames a second", "correct it or export the file again")
    _refuse_out_of_step(path, content["analogs"], points.shape[2], header.analog_per_frame)
    unit_m = _length_unit_m(path, point)
    group = parameters.get("SUBJECTS", {})
    subjects = [str(text) for text in group.get("NAMES", [])]
    prefixes = [str(text).strip().rstrip(f":{SEPARATORS}") for text in group.get("LABEL_PREFIXES", [])]
    filled = (np.isfinite(points) & (points != 0)).any(axis=(0, 2))
    try:
        person = choose_person(
            label_points(point, len(filled)),
            list(dict.fromkeys([*subjects, *prefixes])),
            list(filled),
            subject=subject,
            participant=participant,
        )
    except UserError as error:
        raise error.within(str(path)) from None
    return Recording(
        labels=person.names,
        markers=_markers(points[:, person.columns], unit_m),
        marker_rate_hz=rate,
        first_frame=max(header.first, 1) - 1,
        analog=_analog(content["analogs"], parameters),
        analog_rate_hz=content["analog_rate_hz"],
        length_unit_m=unit_m,
        force_platform=parameters.get("FORCE_PLATFORM", {}),
        analog_labels=listed(parameters.get("ANALOG", {}), "LABELS"),
        analog_units=listed(parameters.get("ANALOG", {}), "UNITS"),
        events=_events(parameters.get("EVENT", {}), owner=person.owner),
        processing=_model_numbers(parameters, of=person.owner if person.subjects else ""),
        subject_names=subjects,
        label_notes=person.notes,
        subjects=person.subjects,
        owner=person.owner,
    )


def anthropometry(processing: Mapping[str, float]) -> dict[str, float]:
    """Return the sizes in PROCESSING, kg and m, by column of participants.tsv."""
    found = {}
    for name, column in PROCESSING_NAMES.items():
        if value := processing.get(name):
            in_mm = column != "mass_kg" and value > LONGEST_SIZE_M
            found[column] = value / 1000 if in_mm else value
    return found


def static_results(processing: Mapping[str, float]) -> str:
    """Return the static results of Plug-in Gait that the file states as JSON: rad, by side and name.

    Names are those of :data:`STATIC_RESULTS`. Empty unless both sides have a static plantar flexion, which a static
    trial always gives; absent others are zero.
    """
    if not all(processing.get(f"{letter}StaticPlantFlex") for letter in "LR"):
        return ""
    found = {
        side: {name: processing.get(f"{letter}{label}", 0.0) for label, name in STATIC_RESULTS.items()}
        for side, letter in (("left", "L"), ("right", "R"))
    }
    largest = max(abs(value) for results in found.values() for value in results.values())
    if largest > LARGEST_RESULT_RAD:
        found = {side: {name: math.radians(value) for name, value in own.items()} for side, own in found.items()}
    return json.dumps(found, sort_keys=True)


def _length_unit_m(path: Path, point: Mapping[str, Any]) -> float:
    unit = _first(point.get("UNITS"), "mm").strip().lower()
    if unit not in LENGTH_UNITS_M:
        unit = unit if unit.isalpha() and len(unit) < 12 else "no unit"
        raise UserError(str(path), f"POINT:UNITS is '{unit}'", f"give one of {', '.join(LENGTH_UNITS_M)}")
    return LENGTH_UNITS_M[unit]


def _markers(points: Array, length_unit_m: float) -> Array:
    """Return positions (time, marker, 3), m, NaN if missing, of (3, marker, time)."""
    points = points * length_unit_m
    missing = (points == 0).all(axis=0) | ~(np.abs(points) < FARTHEST_M).all(axis=0)
    np.copyto(points, np.nan, where=missing)
    return points.T


def _analog(values: Array, parameters: Mapping[str, Mapping[str, Any]]) -> Array:
    """Return the channels (sample, channel) as scaled by the file, NaN if missing.

    ezc3d 1.7.2 takes unsigned integers (POINT:SCALE positive, ANALOG:FORMAT UNSIGNED) for signed ones: counts from
    32768 on are 65536 too low. This is corrected.
    """
    if not values.size:
        return np.empty((0, 0))
    readings = values[0]
    if not (readings.max() < LARGEST_READING and readings.min() > -LARGEST_READING):
        readings = np.where(np.abs(readings) < LARGEST_READING, readings, np.nan)
    analog: Array = readings.T
    group = parameters.get("ANALOG", {})
    unsigned = _first(group.get("FORMAT"), "").strip().upper() == "UNSIGNED"
    if not unsigned or float(_first(parameters["POINT"].get("SCALE"), "-1")) <= 0:
        return analog
    channels = analog.shape[1]
    scale, offset = np.ones(channels), np.zeros(channels)
    for target, name in ((scale, "SCALE"), (offset, "OFFSET")):
        stated = np.ravel(group.get(name, ()))[:channels]
        target[: len(stated)] = stated
    scale *= float(_first(group.get("GEN_SCALE"), "1"))
    offset %= 65536
    counts = np.rint(analog / np.where(scale == 0, np.inf, scale) + offset) % 65536
    return np.asarray((counts - offset) * scale)


def _first(values: Any, default: str) -> str:
    return str(values[0]) if values is not None and len(values) else default


def _events(event: Mapping[str, Any], *, owner: str = "") -> list[Event]:
    """Return the events of one subject; times are minutes and seconds.

    Some files store times as one row of pairs. Events of other subjects are ignored if EVENT:SUBJECTS names the
    markers' ``owner``. An event without a label is named by its context: some files have LHS, RTO there.
    """
    contexts = [str(context).strip() for context in event.get("CONTEXTS", [])]
    named = zip_longest((str(label).strip() for label in event.get("LABELS", [])), contexts, fillvalue="")
    labels = [label or context for label, context in named]
    sides = [side_in(context, context=True) for context in contexts]
    subjects = [str(name).strip() for name in event.get("SUBJECTS", [])]
    times = np.asarray(event.get("TIMES", []))
    if times.dtype.kind not in "iuf":
        return []
    if times.ndim == 1:
        times = times[: len(times) // 2 * 2].reshape(-1, 2).T
    if times.ndim != 2 or len(times) < 2 or not labels:
        return []
    sides += [""] * (len(labels) - len(sides))
    subjects = (subjects if owner in subjects else []) + [owner] * len(labels)
    return [
        Event(float(second), label, side)
        for second, label, side, subject in zip(60 * times[0] + times[1], labels, sides, subjects, strict=False)
        if subject == owner and math.isfinite(second)
    ]


def _model_numbers(parameters: Mapping[str, Mapping[str, Any]], *, of: str = "") -> dict[str, float]:
    """Return sizes and static results by name: of PROCESSING, else of the group that states a static plantar flexion.

    Vicon Clinical Manager wrote it, named as the subject, and the markers' diameter as SEG:MARKER_DIAMETER.
    """
    numbers = _processing(parameters.get("PROCESSING", {}), of=of)
    own = next((group for name, group in parameters.items() if name != "PROCESSING" and OLDER_PROCESSING in group), {})
    if not own or OLDER_PROCESSING in numbers:
        return numbers
    diameter = _processing(parameters.get("SEG", {})).get("MARKER_DIAMETER", 0.0)
    return _processing(own) | ({"MarkerDiameter": diameter} if diameter else {}) | numbers


def _processing(group: Mapping[str, Any], *, of: str = "") -> dict[str, float]:
    """Return the numbers of the group with names that begin with ``of``, without it."""
    numbers = {}
    mine = {name[len(of) :].lstrip(f":{SEPARATORS}"): value for name, value in group.items() if name.startswith(of)}
    for name, value in mine.items():
        array = np.asarray(value)
        number = float(array.flat[0]) if array.size == 1 and array.dtype.kind in "iuf" else 0.0
        if number and math.isfinite(number):
            numbers[name.replace(" ", "")] = number
    return numbers


def _refuse_out_of_step(path: Path, analog: Array, frame_count: int, stated: int) -> None:
    """Refuse a file in which header and parameters count analog values differently.

    Analog values follow the markers of their frame, so ezc3d, which goes by the parameters, would misplace all data.
    """
    channels, samples = analog.shape[1:]
    counted = channels * samples // frame_count
    if counted != stated:
        raise UserError(
            str(path),
            f"markers and analog values are out of step: the header counts {stated} analog values per frame, "
            f"ANALOG:USED and ANALOG:RATE {counted}",
            "correct these, or export it again",
        )
