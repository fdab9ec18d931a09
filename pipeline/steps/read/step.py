"""Step ``read``: markers, plate wrenches and events of recordings in SI units and ISB lab axes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.body_model import BodyModel
from ...body.landmarks import Points, positions
from ...c3d.reader import Recording, anthropometry, static_results
from ...errors import Problem, UserError
from ...person.shown_sizes import ShownSizes, shown_sizes
from ...plates.channel_faults import channel_fault
from ...plates.parameters import plates_from_parameters, zero_frames
from ...plates.pressed_area import pressed_area, sideways
from ...plates.wrench import decode, moment_unit_n_m
from ...trials.session import Trial, joined, rejection
from ...trials.step_on_session import attempt
from .lab_axes import to_isb
from .recording_file import read_recording

Array = NDArray[np.float64]

SAME_AXES = "give forces and markers in the same axes; the contacts of this load are not used"
REPAIR = "check cables, amplifier and range of the plate; its contacts are not used"


def read(trials: Iterable[Mapping[str, Any]], *, body_model: BodyModel, lab_axes: str) -> xr.Dataset:
    """Read the trials of a session; one that cannot be read is rejected.

    Args:
        trials: for each its name ``trial``, its ``file``, ``sha256`` (None for an absent file) and ``role``,
            ``subject`` and ``participant``, the person to take if the file holds several, and ``forces``, the file
            with its forces, with ``forces_sha256``, if it has one.
        body_model, lab_axes: as of :func:`read_trial`.

    Returns:
        The variables of :func:`read_trial` along ``sample``, ``plate_sample``, ``event`` and ``trial``.

    Raises:
        OSError: a file that has a SHA-256 cannot be read.
    """
    found = {}
    rows = [*trials]
    for row, following in zip_longest(rows, rows[1:]):
        about = {"source": row["file"], "source_sha256": row["sha256"] or "", "role": row["role"]}
        if row.get("forces"):
            about |= {"force_source": row["forces"], "force_source_sha256": row["forces_sha256"] or ""}
        chosen = {name: row[name] for name in ("subject", "participant")} | {"forces": _forces_of(row)}
        ahead = Path(following["file"]) if following else None
        step = partial(
            _read_trial, Path(row["file"]), body_model=body_model, lab_axes=lab_axes, following=ahead, **chosen
        )
        try:
            found[row["trial"]] = attempt(step, about)
        except OSError as error:
            failed = error.filename or row["file"]
            if all(row[name] for name in ("sha256", "forces_sha256") if name in row):  # readable when the run began
                raise OSError(error.errno, error.strerror, failed) from None
            found[row["trial"]] = rejection(f"{failed}: {error.strerror}", about)
    return joined(found)


def _forces_of(row: Mapping[str, Any]) -> Path | None:
    return Path(row["forces"]) if row.get("forces") else None


def read_trial(
    path: Path,
    *,
    body_model: BodyModel,
    lab_axes: str,
    subject: str = "",
    participant: str = "",
    forces: Path | None = None,
) -> xr.Dataset:
    """Read one trial alone, see :func:`_read_trial`."""
    person = {"subject": subject, "participant": participant}
    trial = _read_trial(path, body_model=body_model, lab_axes=lab_axes, forces=forces, following=None, **person)
    return trial.dataset()


def _read_trial(
    path: Path,
    *,
    body_model: BodyModel,
    lab_axes: str,
    subject: str,
    participant: str,
    forces: Path | None,
    following: Path | None,
) -> Trial:
    """Read one trial.

    Args:
        path: the C3D or TRC file.
        body_model: gives the labels of the landmarks that define where the person faces.
        lab_axes: ``quarter_turn`` or ``free``, see :func:`pipeline.steps.read.lab_axes.to_isb`.
        subject, participant: the person to take if the file holds several.
        forces: the MOT file with the forces of a TRC file.
        following: the file to be read next, if known.

    Returns:
        ``marker_position`` (time, marker, axis); ``plate_force`` and ``plate_moment`` about the lab origin
        (plate_time, plate, axis), the reaction on the person; ``plate_corner`` (plate, corner, axis);
        ``plate_edges_known`` (plate), false for a load of a MOT file, with the area on which it pressed as corners;
        ``plate_fault`` (plate), what is wrong with its channels; ``analog`` (plate_time, channel), the channels that
        no plate uses, and ``analog_units`` (channel); ``event_time`` (event), with the file's labels; ``lab_rotation``
        and ``zero_frames``, see :mod:`pipeline.variables.session_variables`. Markers keep the file's labels.
        Attributes: anthropometry and static results in the file, sizes that the recording shows, direction of travel,
        plates left out and why.

    Raises:
        UserError: the file is absent or cannot be used, or the person's heading cannot be determined.
        OSError: its disk or share failed.
    """
    recording = read_recording(path, forces, subject=subject, participant=participant, following=following)
    landmarks = positions(body_model, recording.labels, recording.markers)
    try:
        rotation, travel = to_isb(landmarks, quarter_turn=lab_axes == "quarter_turn")
    except UserError as error:
        raise error.within(str(path)) from None
    points = recording.markers.T  # (axis, marker, time), the order in memory
    markers = np.ascontiguousarray((rotation @ points.reshape(3, -1)).reshape(points.shape).T)
    plates = plate_wrenches(recording, rotation)
    analog, channels, units = other_channels(recording)
    plate = ("plate_time", "plate", "axis")
    zero = zero_frames(recording.force_platform)
    return Trial(
        {
            "marker_position": (("time", "marker", "axis"), markers),
            "plate_force": (plate, plates.force),
            "plate_moment": (plate, plates.moment),
            "plate_corner": (("plate", "corner", "axis"), plates.corners),
            "plate_edges_known": ("plate", plates.edges_known),
            "plate_fault": ("plate", np.array(plates.faults, dtype=str)),
            "analog": (("plate_time", "channel"), analog),
            "analog_units": ("channel", units),
            "event_time": ("event", np.array([event.time_s for event in recording.events], dtype=float)),
            "lab_rotation": (("axis", "file_axis"), rotation),
            "zero_frames": ("limit", np.array(zero or [np.nan, np.nan], dtype=float)),
        },
        _coordinates(recording, plates.numbers, channels),
        {
            "marker_rate_hz": recording.marker_rate_hz,
            "direction_of_travel": travel,
            "plates_left_out": "; ".join(map(str, plates.problems)),
            "label_notes": "; ".join(recording.label_notes),
            "shown_sizes": sizes_in(recording, landmarks, rotation, plates).text(),
            "anthropometry": json.dumps(anthropometry(recording.processing), sort_keys=True),
            "static_results": static_results(recording.processing),
        },
    )


def _coordinates(recording: Recording, plates: NDArray[np.int32], channels: NDArray[np.str_]) -> dict[str, Any]:
    """Return the coordinates of a trial, given the numbers of its plates and the labels of its other channels."""
    start = recording.first_frame / recording.marker_rate_hz
    return {
        "time": ("time", start + np.arange(len(recording.markers)) / recording.marker_rate_hz),
        "marker": ("marker", np.array(recording.labels, dtype=str)),
        "axis": ("axis", list("xyz")),
        "plate_time": ("plate_time", start + np.arange(len(recording.analog)) / (recording.analog_rate_hz or 1.0)),
        "plate": ("plate", plates),
        "channel": ("channel", channels),
        "corner": ("corner", np.arange(1, 5, dtype=np.int32)),
        "file_axis": ("file_axis", list("xyz")),
        "limit": ("limit", ["first", "last"]),
        "event": ("event", np.array([event.label for event in recording.events], dtype=str)),
        "event_side": ("event", np.array([event.side for event in recording.events], dtype=str)),
    }


def sizes_in(recording: Recording, points: Points, rotation: Array | None, plates: PlateWrenches) -> ShownSizes:
    """Return what a recording shows of the person's size.

    Args:
        recording: the recording.
        points: its landmarks (time, 3), axes of the file, m.
        rotation: (3, 3) from these to lab axes; None if they are unknown.
        plates: its plates, lab axes.
    """
    return shown_sizes(
        recording.markers, points, rotation, plates.force, plates.corners, plates.edges_known, plates.faults,
        rate_hz=recording.analog_rate_hz, alone=not recording.subjects,
    )  # fmt: skip


class PlateWrenches(NamedTuple):
    """The plates that can be decoded, in lab axes, and the problems of all.

    Attributes:
        force, moment: (sample, plate, 3), N, and N m about the lab origin.
        corners: (plate, 4, 3), m; for a load without a plate those of the area on which it pressed.
        edges_known: (plate,) whether corners are those of a plate.
        numbers: (plate,).
        faults: what is wrong with the channels of each, or empty.
        problems: of the plates that cannot be decoded, then of those with a fault.
    """

    force: Array
    moment: Array
    corners: Array
    edges_known: NDArray[np.bool_]
    numbers: NDArray[np.int32]
    faults: list[str]
    problems: list[Problem]


def plate_wrenches(recording: Recording, rotation: Array) -> PlateWrenches:
    """Return the plates of a recording; ``rotation`` (3, 3) is from its axes to lab axes."""
    if recording.loads:
        return _wrenches_of_loads(recording, rotation)
    unit, analog = recording.length_unit_m, recording.analog
    listed = plates_from_parameters(recording.force_platform, channel_count=analog.shape[1], length_unit_m=unit)
    good = [plate for plate in listed if not plate.problem]
    force, moment = np.empty((2, len(analog), len(good), 3))
    faults = []
    for i, plate in enumerate(good):
        moment_unit = moment_unit_n_m(plate, recording.analog_units, length_unit_m=unit, analog=analog)
        wrench = decode(analog, plate, length_unit_m=unit, moment_unit_n_m=moment_unit)
        fault = partial(channel_fault, plate, analog, recording.analog_labels, *wrench)
        faults.append(fault(rate_hz=recording.analog_rate_hz, length_unit_m=unit, moment_unit_n_m=moment_unit))
        force[:, i], moment[:, i] = ((rotation @ vector.T).T for vector in wrench)
    corners = np.array([plate.corners * unit @ rotation.T for plate in good]).reshape(-1, 4, 3)
    numbers = np.array([plate.number for plate in good], dtype=np.int32)
    problems = [plate.problem for plate in listed if plate.problem]
    problems += [Problem(f"force plate {n}", fault, REPAIR) for n, fault in zip(numbers, faults, strict=True) if fault]
    known = np.ones(len(good), dtype=bool)
    return PlateWrenches(force, moment, corners, known, numbers, faults, problems)


def _wrenches_of_loads(recording: Recording, rotation: Array) -> PlateWrenches:
    """Return loads without plates as plates with unknown edges."""
    force, moment, point = (np.stack(parts, axis=1) @ rotation.T for parts in zip(*recording.loads, strict=True))
    corners = np.stack([pressed_area(force[:, i], point[:, i]) for i in range(len(recording.loads))])
    numbers = np.arange(1, len(corners) + 1, dtype=np.int32)
    faults = [sideways(force[:, i]) for i in range(len(corners))]
    problems = [Problem(f"load {n}", fault, SAME_AXES) for n, fault in zip(numbers, faults, strict=True) if fault]
    known = np.zeros(len(corners), dtype=bool)
    return PlateWrenches(force, moment, corners, known, numbers, faults, problems)


def other_channels(recording: Recording) -> tuple[Array, NDArray[np.str_], NDArray[np.str_]]:
    """Return the channels that no plate uses, such as EMG: values (sample, channel), labels, units.

    Channels that never change are left out: nothing is connected. Labels are made unique by the channel's number in the
    file, from 1, which replaces an empty one.
    """
    analog, unit = recording.analog, recording.length_unit_m
    count = analog.shape[1]
    listed = plates_from_parameters(recording.force_platform, channel_count=count, length_unit_m=unit)
    used = {int(channel) for plate in listed for channel in plate.channels}
    kept = [i for i in range(count) if i + 1 not in used and len(analog) and np.ptp(analog[:, i]) > 0]
    labels = [*recording.analog_labels, *[""] * count][:count]
    units = [*recording.analog_units, *[""] * count][:count]
    unique = [
        " ".join(filter(None, [labels[i], "" if labels[i] and labels.count(labels[i]) == 1 else f"channel {i + 1}"]))
        for i in kept
    ]
    return analog[:, kept], np.array(unique, dtype=str), np.array([units[i] for i in kept], dtype=str)
