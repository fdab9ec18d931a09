"""Step ``read``: markers, plate wrenches and events of recordings in SI units and ISB lab axes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ...body.body_model import BodyModel
from ...body.landmarks import positions
from ...body.skeleton import state_torsion
from ...conventions import JOINTS, SIDES
from ...errors import UserError
from ...json_text import to_text
from ...plates import loaded_pole
from ...plates.parameters import zero_frames
from ...recording import Recording
from ...tables.study_tables import SLOPE
from ...trials import left_out
from ...trials.left_out import LeftOut
from ...trials.session import Trial, join_trials, rejected_by
from .lab_view import view_in_lab_axes
from .plates_and_channels import Plates, compare_with_pole, label_other_channels
from .recording_file import Source, read_recording
from .settings import Settings

UNUSABLE = "recording_unusable"  # code of a problem
ANGLES_SHOWN = 25  # frames of stored angles, for a median


def read(trials: Iterable[Mapping[str, Any]], *, body_model: BodyModel, settings: Settings) -> xr.Dataset:
    """Read the trials of a session; one that cannot be read is rejected.

    Args:
        trials: for each its name ``trial``, its ``file``, ``sha256`` (None for an absent file) and ``role``,
            ``subject`` and ``participant``, the person to take if the file holds several, and ``forces``, the file
            with its forces, with ``forces_sha256``, if it has one; ``slope_degrees``, in place of the setting.
        body_model: gives the labels of the landmarks that define where the person faces.

    Returns:
        The variables of :func:`read_trial` along ``sample``, ``plate_sample``, ``event`` and ``trial``. If trials of
        role ``equipment`` test plates, the attribute ``plate_tests`` has for each file what they show, or why nothing.

    Raises:
        OSError: a file that has a SHA-256 cannot be read.
    """
    by_name, tests = {}, {}
    rows = [*trials]
    sloping = settings.slope_deg or any(row.get(SLOPE) for row in rows)
    for row, following in zip_longest(rows, rows[1:]):
        about = {"source": row["file"], "source_sha256": row["sha256"] or "", "role": row["role"]}
        if row.get("forces"):
            about |= {"force_source": row["forces"], "force_source_sha256": row["forces_sha256"] or ""}
        slope_deg = float(row.get(SLOPE, settings.slope_deg))
        about |= {SLOPE: slope_deg} if sloping else {}
        try:
            forces = Path(row["forces"]) if row.get("forces") else None
            ahead = Path(following["file"]) if following else None
            source = Source(Path(row["file"]), forces, row["subject"], row["participant"], ahead)
            trial = _read_trial(
                source, body_model=body_model, lab_axes=settings.lab_axes, slope_deg=slope_deg, role=row["role"]
            )
            trial.attrs.update(about)
        except UserError as error:
            trial = rejected_by(error, about, UNUSABLE)
        except OSError as error:
            failed = error.filename or row["file"]
            if all(row[name] for name in ("sha256", "forces_sha256") if name in row):  # readable when the run began
                raise OSError(error.errno, error.strerror, failed) from None
            trial = rejected_by(UserError(str(failed), str(error.strerror), ""), about, UNUSABLE)
        if row["role"] == "equipment":
            tests[row["file"]] = trial.attrs.get("rejected") or trial.attrs.pop("plate_tests")
        by_name[row["trial"]] = trial
    session = join_trials(by_name)
    return session.assign_attrs(plate_tests=to_text(tests)) if tests else session


def read_trial(
    path: Path, *, forces: Path | None = None, subject: str = "", participant: str = "", **options: Any
) -> xr.Dataset:
    """Read one trial alone; other options are those of :func:`_read_trial`."""
    return _read_trial(Source(path, forces, subject, participant), **options).dataset()


def _read_trial(
    source: Source, *, body_model: BodyModel, lab_axes: str, slope_deg: float = 0.0, role: str = "gait"
) -> Trial:
    """Read one trial.

    Args:
        body_model: gives the labels of the landmarks that define where the person faces.
        lab_axes: ``quarter_turn`` or ``free``, see :func:`pipeline.steps.read.lab_axes.to_isb`.
        slope_deg: of the axes of the file, see there; where the heading is unknown, they are taken as they are.
        role: for ``emg_reference`` and ``equipment`` the axes of the file do if the heading is unknown. ``equipment``
            shows a pole on a plate and no person: sizes and results in the file are of others.

    Returns:
        The variables of :data:`pipeline.variables.session_variables.OF_TRIALS`; those of the trial as a whole that are
        numbers or texts are attributes. Markers and events keep the file's labels.

    Raises:
        UserError: the file is absent or cannot be used, or the person's heading cannot be determined.
        OSError: its disk or share failed.
    """
    recording = read_recording(source)
    view = view_in_lab_axes(recording, body_model, quarter_turn=lab_axes == "quarter_turn", slope_deg=slope_deg)
    if view.problem and role not in ("emg_reference", "equipment"):
        raise UserError.of([view.problem]).within(str(source.path))
    rotation, plates = view.rotation, view.plates
    channels = label_other_channels(recording, plates.channels)
    tests = {}
    if role == "equipment":
        shown = compare_with_pole(recording, plates, rotation, person=bool(view.landmarks))
        tests = {"plate_tests": loaded_pole.as_json(shown)}
        recording = replace(recording, processing={}, stored_angles={})
    points = recording.markers.T  # (axis, marker, time), the order in memory
    markers = np.ascontiguousarray((rotation @ points.reshape(3, -1)).reshape(points.shape).T)
    units = [*recording.analog_units, *[""] * recording.analog.shape[1]]
    plate, unknown = ("plate_time", "plate", "axis"), [np.nan, np.nan]
    return Trial.of(
        {
            "marker_position": (("time", "marker", "axis"), markers),
            "plate_force": (plate, plates.force),
            "plate_moment": (plate, plates.moment),
            "plate_corner": (("plate", "corner", "axis"), plates.corners),
            "plate_edges_known": ("plate", plates.edges_known),
            "plate_fault": ("plate", np.array(plates.faults, dtype=str)),
            "analog": (("plate_time", "channel"), recording.analog[:, [*channels]]),
            "analog_units": ("channel", np.array([units[i] for i in channels], dtype=str)),
            "event_time": ("event", np.array([event.time_s for event in recording.events], dtype=float)),
            "lab_rotation": (("axis", "file_axis"), rotation),
            "zero_frames": ("limit", np.array(zero_frames(recording.force_platform) or unknown, dtype=float)),
        },
        _coordinates(recording, plates, [*channels.values()]),
        {
            "marker_rate_hz": recording.marker_rate_hz,
            "direction_of_travel": view.travel,
            "plates_left_out": left_out.as_text(
                LeftOut([number], problem.code, str(problem)) for number, problem in plates.problems.items()
            ),
            "label_notes": "; ".join(recording.label_notes),
            "shown_sizes": view.shown.text(),
            "anthropometry": to_text(recording.sizes),
            "static_results": _static_results(recording, body_model),
            "stored_angles": _some_stored_angles(recording),
            **tests,
        },
    )


def _static_results(recording: Recording, body_model: BodyModel) -> str:
    """Return the static results that the file states, JSON, or with bones in it the tibial torsion that they show."""
    stated = recording.static_results
    if not body_model.shows_untwisted_shank:
        return stated
    points = positions(body_model, recording.labels, recording.markers)
    ankle = {side: angle for (side, joint), angle in recording.stored_angles.items() if joint == "ankle"}
    return state_torsion(points, body_model.legs, ankle, stated) if points else stated


def _some_stored_angles(recording: Recording) -> str:
    """Return numbers of some frames, and the joint angles of Plug-in Gait stored there, JSON; empty if none are."""
    if not recording.stored_angles:
        return ""
    stored = recording.stored_angles
    frames = np.flatnonzero(np.any([np.isfinite(angles.T).any(axis=0) for angles in stored.values()], axis=0))
    frames = (
        frames[np.unique(np.linspace(0, len(frames) - 1, ANGLES_SHOWN).round().astype(int))] if len(frames) else frames
    )
    unknown = np.full((len(frames), 3), np.nan)
    shown = [stored[key][frames] if key in stored else unknown for key in product(SIDES, JOINTS)]
    every = np.stack(shown, axis=1).reshape(-1, len(SIDES), len(JOINTS), 3).round(2)
    known = every.astype(object)
    known[~np.isfinite(every)] = None
    return to_text([frames.tolist(), known.tolist()])


def _coordinates(recording: Recording, plates: Plates, channels: Sequence[str]) -> dict[str, Any]:
    """Return the coordinates of a trial; ``channels`` are the labels of those that no plate uses."""
    start = recording.first_frame / recording.marker_rate_hz
    return {
        "time": ("time", start + np.arange(len(recording.markers)) / recording.marker_rate_hz),
        "marker": ("marker", np.array(recording.labels, dtype=str)),
        "axis": ("axis", list("xyz")),
        "plate_time": ("plate_time", start + np.arange(len(recording.analog)) / (recording.analog_rate_hz or 1.0)),
        "corner": ("corner", np.arange(1, 5, dtype=np.int32)),
        "file_axis": ("file_axis", list("xyz")),
        "limit": ("limit", ["first", "last"]),
        "event": ("event", np.array([event.label for event in recording.events], dtype=str)),
        "event_side": ("event", np.array([event.side for event in recording.events], dtype=str)),
        "plate": ("plate", plates.numbers),
        "channel": ("channel", np.array(channels, dtype=str)),
    }
