"""Step ``read``: markers, plate wrenches and events of C3D files in SI units and ISB lab axes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.body_model import BodyModel
from ...body.landmarks import positions
from ...c3d.reader import Recording, anthropometry, read_c3d, static_results
from ...errors import Problem, UserError
from ...plates.parameters import plates_from_parameters, zero_frames
from ...plates.wrench import decode, moment_unit_n_m
from ...results.session_steps import attempt
from ...results.trials import Trial, joined, rejection
from .lab_axes import to_isb

Array = NDArray[np.float64]


def read(trials: Iterable[Mapping[str, Any]], *, body_model: BodyModel, lab_axes: str) -> xr.Dataset:
    """Read the trials of a session; one that cannot be read is rejected.

    Args:
        trials: for each its name ``trial``, its ``file``, ``sha256`` (None for an absent file) and ``role``, and
            ``subject`` and ``participant``, the person to take if the file holds several.
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
        person = {name: row[name] for name in ("subject", "participant")}
        ahead = Path(following["file"]) if following else None
        step = partial(
            _read_trial, Path(row["file"]), body_model=body_model, lab_axes=lab_axes, following=ahead, **person
        )
        try:
            found[row["trial"]] = attempt(step, about)
        except OSError as error:
            if row["sha256"]:  # it could be read when the run began
                raise OSError(error.errno, error.strerror, row["file"]) from None
            found[row["trial"]] = rejection(f"{row['file']}: {error.strerror}", about)
    return joined(found)


def read_trial(
    path: Path, *, body_model: BodyModel, lab_axes: str, subject: str = "", participant: str = ""
) -> xr.Dataset:
    """Read one trial alone, see :func:`_read_trial`."""
    person = {"subject": subject, "participant": participant}
    return _read_trial(path, body_model=body_model, lab_axes=lab_axes, following=None, **person).dataset()


def _read_trial(
    path: Path, *, body_model: BodyModel, lab_axes: str, subject: str, participant: str, following: Path | None
) -> Trial:
    """Read one trial.

    Args:
        path: the C3D file.
        body_model: gives the labels of the landmarks that define where the person faces.
        lab_axes: ``quarter_turn`` or ``free``, see :func:`pipeline.steps.read.lab_axes.to_isb`.
        subject, participant: the person to take if the file holds several.
        following: the file to be read next, if known.

    Returns:
        ``marker_position`` (time, marker, axis); ``plate_force`` and ``plate_moment`` about the lab origin
        (plate_time, plate, axis), the reaction on the person; ``plate_corner`` (plate, corner, axis);
        ``event_time`` (event), with the file's labels; ``lab_rotation`` and ``zero_frames``, see
        :mod:`pipeline.results.trial_variables`. Markers keep the file's labels. Attributes: anthropometry and static
        results in the file, direction of travel, plates left out and why.

    Raises:
        UserError: the file is absent or cannot be used, or the person's heading cannot be determined.
        OSError: its disk or share failed.
    """
    recording = read_c3d(path, subject=subject, participant=participant, following=following)
    landmarks = positions(body_model, recording.labels, recording.markers)
    try:
        rotation, travel = to_isb(landmarks, quarter_turn=lab_axes == "quarter_turn")
    except UserError as error:
        raise error.within(str(path)) from None
    points = recording.markers.T  # (axis, marker, time), the order in memory
    markers = np.ascontiguousarray((rotation @ points.reshape(3, -1)).reshape(points.shape).T)
    forces, moments, corners, numbers, problems = plate_wrenches(recording, rotation)
    plate = ("plate_time", "plate", "axis")
    start = recording.first_frame / recording.marker_rate_hz
    zero = zero_frames(recording.force_platform)
    stated = static_results(recording.processing)
    coordinates = {
        "time": ("time", start + np.arange(len(recording.markers)) / recording.marker_rate_hz),
        "marker": ("marker", np.array(recording.labels, dtype=str)),
        "axis": ("axis", list("xyz")),
        "plate_time": ("plate_time", start + np.arange(len(forces)) / (recording.analog_rate_hz or 1.0)),
        "plate": ("plate", numbers),
        "corner": ("corner", np.arange(1, 5, dtype=np.int32)),
        "file_axis": ("file_axis", list("xyz")),
        "limit": ("limit", ["first", "last"]),
        "event": ("event", np.array([event.label for event in recording.events], dtype=str)),
        "event_side": ("event", np.array([event.side for event in recording.events], dtype=str)),
    }
    return Trial(
        {
            "marker_position": (("time", "marker", "axis"), markers),
            "plate_force": (plate, forces),
            "plate_moment": (plate, moments),
            "plate_corner": (("plate", "corner", "axis"), corners),
            "event_time": ("event", np.array([event.time_s for event in recording.events], dtype=float)),
            "lab_rotation": (("axis", "file_axis"), rotation),
            "zero_frames": ("limit", np.array(zero or [np.nan, np.nan], dtype=float)),
        },
        coordinates,
        {
            "marker_rate_hz": recording.marker_rate_hz,
            "direction_of_travel": travel,
            "plates_left_out": "; ".join(map(str, problems)),
            "label_notes": "; ".join(recording.label_notes),
            "anthropometry": json.dumps(anthropometry(recording.processing), sort_keys=True),
            "static_results": json.dumps(stated, sort_keys=True) if stated else "",
        },
    )


def plate_wrenches(
    recording: Recording, rotation: Array
) -> tuple[Array, Array, Array, NDArray[np.int32], list[Problem]]:
    """Return force, moment, corners and numbers of good plates, problems of others.

    (sample, plate, 3) about the lab origin, (plate, 4, 3), (plate,); lab axes.
    """
    unit = recording.length_unit_m
    listed = plates_from_parameters(
        recording.force_platform, channel_count=recording.analog.shape[1], length_unit_m=unit
    )
    good = [plate for plate in listed if not plate.problem]
    # a file without channels has no samples
    force, moment = np.empty((2, len(recording.analog) if good else 0, len(good), 3))
    for i, plate in enumerate(good):
        moment_unit = moment_unit_n_m(plate, recording.analog_units, length_unit_m=unit, analog=recording.analog)
        wrench = decode(recording.analog, plate, length_unit_m=unit, moment_unit_n_m=moment_unit)
        force[:, i], moment[:, i] = ((rotation @ vector.T).T for vector in wrench)
    corners = np.array([plate.corners * unit @ rotation.T for plate in good]).reshape(-1, 4, 3)
    numbers = np.array([plate.number for plate in good], dtype=np.int32)
    return force, moment, corners, numbers, [plate.problem for plate in listed if plate.problem]
