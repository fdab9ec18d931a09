"""The reader of a recording, by the name of its file: C3D, or TRC with or without a MOT file."""

from pathlib import Path
from typing import NamedTuple

from ...c3d.reader import read_c3d
from ...opensim_files.recording import read_opensim
from ...recording import Recording
from ...tables.study_tables import MARKER_FILES


class Source(NamedTuple):
    """The file of a recording, and of whom it is read."""

    path: Path
    forces: Path | None = None  # the MOT file with the forces of a TRC file
    subject: str = ""  # of a file of several people, the person that is taken
    participant: str = ""  # the person by the study, which tells the subject where that is not given
    following: Path | None = None  # the file that is read next, parsed in the meantime


def read_recording(source: Source) -> Recording:
    """Read a C3D file, or a TRC file with the MOT file of its forces.

    UserErrors are those of :mod:`pipeline.c3d.reader` and :mod:`pipeline.opensim_files.recording`.
    OSError if a disk or share failed.
    """
    path, forces, subject, participant, following = source
    if path.suffix.lower() in MARKER_FILES:
        return read_opensim(path, forces, subject=subject, participant=participant)
    ahead = following if following and following.suffix.lower() not in MARKER_FILES else None
    return read_c3d(path, subject=subject, participant=participant, following=ahead)
