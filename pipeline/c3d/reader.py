"""Reading of C3D files: SI units, the file's own axes.

The bytes are checked (:mod:`pipeline.c3d.integrity`), a child process parses them
(:mod:`pipeline.c3d.parser_process`), and this module interprets the content.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..conventions import JOINTS
from ..errors import Problem, UserError, join_some, warning
from ..recording import FARTHEST_M, LENGTH_UNITS_M, RATE_HZ, Recording, length_unit_m, simplest_rate
from ..vocabulary.marker_labels import SEPARATORS, PersonMarkers, choose_person
from ..vocabulary.stated_sizes import SIDES, anthropometry
from .events import event_remarks, read_events
from .integrity import Header, refuse_damaged
from .parser_process import parse, parse_ahead
from .point_labels import join_lists, label_points
from .records import OLDER_PROCESSING
from .segment_poses import read_poses

if TYPE_CHECKING:
    from .parser import Content

LARGEST_READING = 1e9  # values beyond it are missing
STORED_ANGLES = {
    f"{letter}{joint.title()}Angles{version}": (side, joint)
    for (letter, side), joint, version in product(SIDES.items(), JOINTS, ("V", ""))
}
CENTRES = {"knee": ("KNE", "FEO"), "ankle": ("ANK", "TIO")}  # marker and joint centre in files of Plug-in Gait
MOST_LISTED = 4
SAME_M = 0.001  # differences of stored places and sizes: they are stored to 0.1 mm or better


def read_c3d(path: Path, *, subject: str = "", participant: str = "", following: Path | None = None) -> Recording:
    """Read a C3D file: the person of :func:`pipeline.vocabulary.marker_labels.choose_person` if it holds several.

    Args:
        following: the file to be read next, which the child process parses in the meantime.

    Raises:
        UserError: absent, not a C3D file, damaged, cut off, without frames or all samples, or of several subjects
            (:class:`pipeline.vocabulary.marker_labels.SeveralSubjectsError`).
    """
    if not path.is_file():
        raise UserError(str(path), "no such file", "correct trials.tsv or restore the file")
    header = refuse_damaged(path)
    content = parse(path, header)
    _refuse_unusable(path, content, header)
    parameters, points, analogs, rate = (
        content["parameters"], content["points"], content["analogs"], content["point_rate_hz"]
    )  # fmt: skip
    rate_hz = simplest_rate(rate, float(np.spacing(np.float32(rate))) / 2)  # the file has it in single precision
    point, channels, events = (parameters.get(name, {}) for name in ("POINT", "ANALOG", "EVENT"))
    unit_m = _length_unit_m(path, point)
    person, subjects = _choose_person(path, parameters, points, subject=subject, participant=participant)
    if following:
        with contextlib.suppress(OSError, UserError):  # raised again when it is read
            parse_ahead(following, refuse_damaged(following))
    labels = join_lists(point, "LABELS")[: points.shape[1]]  # of the person's markers and results
    mine = (label.removeprefix(person.owner).lstrip(f":{SEPARATORS}") for label in labels)
    stored = {label: points[:, i] for i, label in enumerate(mine)}
    numbers = _model_numbers(parameters, of=person.owner if person.subjects else "")
    unread, unscaled = _channels_without_scale(channels, analogs.shape[1])
    beside = content["rotations"].shape[2] if points.size else 0
    poses, ends = read_poses(parameters, content["rotations"], points.shape[2], unit_m)
    plates = parameters.get("FORCE_PLATFORM", {})
    return Recording(
        labels=[*person.names, *poses],
        markers=_markers(np.concatenate([points[:, person.columns], ends], axis=1), unit_m),
        marker_rate_hz=rate_hz,
        first_frame=max(header.first, 1) - 1,
        analog=_analog(analogs, parameters, unscaled),
        analog_rate_hz=rate_hz * analogs.shape[2] / points.shape[2] if content["analog_rate_hz"] else 0.0,
        length_unit_m=unit_m,
        force_platform={name: value for name, value in plates.items() if name != "USED" or header.counts_plates},
        analog_labels=join_lists(channels, "LABELS"),
        analog_units=join_lists(channels, "UNITS"),
        unread_channels=[*unread, *unscaled],
        events=read_events(events, owner=person.owner),
        processing=_show_marker_diameter(stored, unit_m, numbers) | numbers,
        subject_names=subjects,
        label_notes=person.notes,
        remarks=[*_remarks(header, beside, unread, unscaled), *event_remarks(events, header.events)],
        subjects=person.subjects,
        owner=person.owner,
        stored_angles={key: _markers(stored[name], 1.0) for name, key in STORED_ANGLES.items() if name in stored},
    )


def _refuse_unusable(path: Path, content: Content, header: Header) -> None:
    """Refuse a file without frames, with a rate of no laboratory, or with samples out of step with its frames."""
    points, rate = content["points"], content["point_rate_hz"]
    empty = not any(data.size for data in (points, content["analogs"], content["rotations"]))
    if not points.shape[2] or empty or rate == 0:
        raise UserError(str(path), "holds no marker frames", "exclude it in trials.tsv or export it again")
    if not RATE_HZ[0] <= rate <= RATE_HZ[1]:
        raise UserError(str(path), f"POINT:RATE is {rate:g} frames a second", "correct it or export the file again")
    channels, samples = content["analogs"].shape[1:]
    stated, counted = header.analog_per_frame, channels * samples // points.shape[2]
    if counted != stated:  # analog values follow the markers of their frame: ezc3d, which counts, misplaces all data
        what = f"markers and analog values are out of step: the header counts {stated} analog values per frame, "
        what += f"ANALOG:USED and ANALOG:RATE {counted}"
        raise UserError(str(path), what, "correct these, or export it again")


def _choose_person(
    path: Path, parameters: Mapping[str, Any], points: Array, *, subject: str, participant: str
) -> tuple[PersonMarkers, list[str]]:
    """Return the person to take, and the names of the subjects that the file states."""
    group = parameters.get("SUBJECTS", {})
    subjects = [str(text) for text in group.get("NAMES", [])]
    prefixes = [str(text).strip().rstrip(f":{SEPARATORS}") for text in group.get("LABEL_PREFIXES", [])]
    filled = (np.isfinite(points) & (points != 0)).any(axis=(0, 2)).tolist()
    labels, names = label_points(parameters["POINT"], len(filled)), list(dict.fromkeys([*subjects, *prefixes]))
    try:
        return choose_person(labels, names, filled, subject=subject, participant=participant), subjects
    except UserError as error:
        raise error.within(str(path)) from None


def _show_marker_diameter(stored: Mapping[str, Array], unit_m: float, numbers: Mapping[str, float]) -> dict[str, float]:
    """Return MarkerDiameter, m, as the joint centres of Plug-in Gait show it; none if they do not agree on one.

    The model puts knee and ankle half the joint's width and the marker's radius from the marker beside it.

    Args:
        stored: points (3, time) by name, in units of ``unit_m``.
        numbers: the sizes that the file states, by name.
    """
    sizes, widths_m, ends = anthropometry(numbers), [], []
    for (letter, side), (joint, (marker, centre)) in product(SIDES.items(), CENTRES.items()):
        width_m = sizes.get(f"{joint}_width_{side}_m")
        if width_m is not None and {letter + marker, letter + centre} <= stored.keys():
            widths_m.append(width_m)
            ends.append((stored[letter + marker], stored[letter + centre]))
    if not ends:
        return {}
    markers, centres = (_markers(np.stack(points, axis=1), unit_m) for points in zip(*ends, strict=True))
    shown = []
    for width_m, distance_m in zip(widths_m, np.linalg.norm(markers - centres, axis=-1).T, strict=True):
        seen = distance_m[np.isfinite(distance_m)]
        shown += [2 * float(np.median(seen)) - width_m] if seen.size and np.ptp(seen) < SAME_M else []
    agreed = len(shown) > 1 and max(shown) - min(shown) < SAME_M and min(shown) > 0
    return {"MarkerDiameter": round(float(np.median(shown)), 4)} if agreed else {}


def _length_unit_m(path: Path, point: Mapping[str, Any]) -> float:
    unit = _first(point.get("UNITS"), "mm").strip() or "mm"
    unit_m = length_unit_m(unit)
    if unit_m is None:
        unit = unit if unit.isalpha() and len(unit) < 12 else "no unit"
        raise UserError(str(path), f"POINT:UNITS is '{unit}'", f"give one of {', '.join(LENGTH_UNITS_M)}")
    return unit_m


def _markers(points: Array, length_unit_m: float) -> Array:
    """Return positions (time, marker, 3), m, NaN if missing, of (3, marker, time)."""
    points = points * length_unit_m
    missing = (points == 0).all(axis=0) | ~(np.abs(points) < FARTHEST_M).all(axis=0)
    np.copyto(points, np.nan, where=missing)
    return points.T


def _channels_without_scale(analog: Mapping[str, Any], channels: int) -> tuple[list[int], list[int]]:
    """Return the channels, from 1, that SCALE or GEN_SCALE makes zero, and those without a number in SCALE or OFFSET.

    For the latter ezc3d 1.7.2 takes whatever its memory holds.
    """
    general = np.ravel(analog.get("GEN_SCALE", 1))
    zero = [i + 1 for i, scale in enumerate(np.ravel(analog.get("SCALE", ()))) if scale == 0]
    if general.size and not general.any():
        zero = [*range(1, channels + 1)]
    stated = [
        sum(np.size(numbers) for key, numbers in analog.items() if re.fullmatch(rf"{name}\d*", key))
        for name in ("SCALE", "OFFSET")
    ]
    return zero, [*range(min(stated) + 1, channels + 1)]


def _analog(values: Array, parameters: Mapping[str, Mapping[str, Any]], unscaled: Sequence[int]) -> Array:
    """Return the channels (sample, channel) as scaled by the file, NaN if missing or ``unscaled`` (from 1).

    ezc3d 1.7.2 takes unsigned integers (POINT:SCALE positive, ANALOG:FORMAT UNSIGNED) for signed ones: counts from
    32768 on are 65536 too low. This is corrected.
    """
    if not values.size:
        return np.empty((0, 0))
    readings = values[0]
    readings[[channel - 1 for channel in unscaled]] = np.nan
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


def _remarks(header: Header, rotations: int, unread: Sequence[int], unscaled: Sequence[int]) -> list[Problem]:
    """Return what a file calls otherwise than the standard, and what it holds that is not used or cannot be."""
    remarks = []
    if header.renamed:
        what = f"not a name of the standard, taken as one: {join_some(header.renamed, MOST_LISTED)}"
        remarks.append(
            warning("", what, "check that it is meant; correct it where the file is written", "name_not_standard")
        )
    if rotations:
        what = f"{rotations} rotations of segments (group ROTATION) beside the markers"
        remedy = "nothing, if motion is to come from the markers; else choose the body model segment_poses"
        remarks.append(warning("", what, remedy, "rotations_beside_markers"))
    if unread:
        listed = join_some([*map(str, unread)], 2 * MOST_LISTED)
        what = f"ANALOG:SCALE or GEN_SCALE is 0, so that nothing is read, of channels {listed}"
        remarks.append(warning("", what, "correct it where the file is written, and export again", "scale_is_zero"))
    if unscaled:
        listed = join_some([*map(str, unscaled)], 2 * MOST_LISTED)
        what = f"ANALOG:SCALE or OFFSET has no number, so that nothing is read, for channels {listed}"
        remarks.append(warning("", what, "correct it where the file is written, and export again", "scale_is_missing"))
    return remarks


def _first(values: Any, default: str) -> str:
    return str(values[0]) if values is not None and len(values) else default


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
