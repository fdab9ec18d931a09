"""A TRC file and the MOT file with its forces as one recording, as of a C3D file."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from ..errors import UserError
from ..recording import Recording
from ..vocabulary.marker_labels import choose_person
from . import mot
from .trc import read_trc


def read_opensim(markers: Path, forces: Path | None, *, subject: str = "", participant: str = "") -> Recording:
    """Read a TRC file of one person, see :mod:`pipeline.vocabulary.marker_labels`, and its forces if there are any.

    The forces are taken at their own rate from the first frame to the last, by the times of both files. A single frame
    has none.

    Args:
        forces: the MOT or STO file with the ground reaction forces, in the axes of the TRC file.

    Raises:
        UserError: a file is absent, damaged or of another kind, or the two have no time in common.
        OSError: a disk or share failed.
    """
    content = read_trc(markers)
    filled = [bool(np.isfinite(marker).any()) for marker in content.positions.swapaxes(0, 1)]
    try:
        person = choose_person(content.labels, [], filled, subject=subject, participant=participant)
    except UserError as error:
        raise error.within(str(markers)) from None
    recording = Recording(
        labels=person.names,
        markers=content.positions[:, person.columns],
        marker_rate_hz=content.rate_hz,
        first_frame=content.start_s * content.rate_hz,
        length_unit_m=content.length_unit_m,
        label_notes=[content.note, *person.notes] if content.note else person.notes,
        subjects=person.subjects,
        owner=person.owner,
    )
    return _with_loads(recording, content.start_s, forces) if forces and len(recording.markers) > 1 else recording


def _with_loads(recording: Recording, start_s: float, path: Path) -> Recording:
    end_s = start_s + (len(recording.markers) - 1) / recording.marker_rate_hz
    forces = mot.read_mot(path)
    if len(forces.time) < 2 or forces.time[0] >= end_s or forces.time[-1] <= start_s:
        what = f"its times, {forces.time[0]:g} to {forces.time[-1]:g} s, are not those of the markers"
        raise UserError(str(path), f"{what}, {start_s:g} to {end_s:g} s", "give the forces of this trial, on one clock")
    try:
        rate_hz, loads = mot.at_rate(forces, start_s=start_s, end_s=end_s, frame_s=1 / recording.marker_rate_hz)
    except UserError as error:
        raise error.within(str(path)) from None
    return replace(recording, analog=np.empty((len(loads[0].force), 0)), analog_rate_hz=rate_hz, loads=loads)
