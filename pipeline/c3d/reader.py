"""Reading of C3D files: SI units, the file's own axes.

The bytes are checked (:mod:`pipeline.c3d.integrity`), a child process parses them
(:mod:`pipeline.c3d.parser_process`), and this module interprets the content.
"""

import contextlib
import math
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import UserError
from ..recording import FARTHEST_M, LENGTH_UNITS_M, RATE_HZ, Event, Recording
from ..vocabulary.event_names import side_in
from ..vocabulary.marker_labels import SEPARATORS, choose_person
from ..vocabulary.stated_sizes import SIDES
from .integrity import refuse_damaged
from .parser_process import parse, parse_ahead
from .point_labels import join_lists, label_points
from .records import OLDER_PROCESSING

LARGEST_READING = 1e9  # values beyond it are missing


def read_c3d(path: Path, *, subject: str = "", participant: str = "", following: Path | None = None) -> Recording:
    """Read a C3D file: the person of :func:`pipeline.vocabulary.marker_labels.choose_person` if it holds several.

    Args:
        following: the file to be read next, which the child process parses in the meantime.

    Raises:
        UserError: absent, not a C3D file, damaged, cut off, without markers, or of several subjects
            (:class:`pipeline.vocabulary.marker_labels.SeveralSubjectsError`).
    """
    if not path.is_file():
        raise UserError(str(path), "no such file", "correct trials.tsv or restore the file")
    header = refuse_damaged(path)
    content = parse(path, header)
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
    if following:
        with contextlib.suppress(OSError, UserError):  # raised again when it is read
            parse_ahead(following, refuse_damaged(following))
    return Recording(
        labels=person.names,
        markers=_markers(points[:, person.columns], unit_m),
        marker_rate_hz=rate,
        first_frame=max(header.first, 1) - 1,
        analog=_analog(content["analogs"], parameters),
        analog_rate_hz=content["analog_rate_hz"],
        length_unit_m=unit_m,
        force_platform=parameters.get("FORCE_PLATFORM", {}),
        analog_labels=join_lists(parameters.get("ANALOG", {}), "LABELS"),
        analog_units=join_lists(parameters.get("ANALOG", {}), "UNITS"),
        events=_events(parameters.get("EVENT", {}), owner=person.owner),
        processing=_model_numbers(parameters, of=person.owner if person.subjects else ""),
        subject_names=subjects,
        label_notes=person.notes,
        subjects=person.subjects,
        owner=person.owner,
        ankle_angles=_ankle_angles(points, join_lists(point, "LABELS"), person.owner),
    )


def _ankle_angles(points: Array, labels: list[str], owner: str) -> dict[str, Array]:
    """Return the ankle angles (time, 3) that Plug-in Gait stored for a person, by side, of points (3, point, time)."""
    mine = (label.removeprefix(owner).lstrip(f":{SEPARATORS}") for label in labels[: points.shape[1]])
    columns = {label: i for i, label in enumerate(mine)}
    names = {side: f"{letter}AnkleAngles" for letter, side in SIDES.items()}
    return {side: _markers(points[:, columns[name]], 1.0) for side, name in names.items() if name in columns}


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
    older = next(
        (group for name, group in parameters.items() if name != "PROCESSING" and OLDER_PROCESSING in group), {}
    )
    if not older or OLDER_PROCESSING in numbers:
        return numbers
    diameter = _processing(parameters.get("SEG", {})).get("MARKER_DIAMETER", 0.0)
    return _processing(older) | ({"MarkerDiameter": diameter} if diameter else {}) | numbers


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
