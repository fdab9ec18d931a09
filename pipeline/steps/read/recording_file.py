"""The reader of a recording, by the name of its file: C3D, or TRC with or without a MOT file."""

from pathlib import Path

from ...c3d.reader import read_c3d
from ...opensim_files.recording import read_opensim
from ...recording import Recording
from ...tables.study_tables import MARKER_FILES


def read_recording(
    path: Path, forces: Path | None = None, *, subject: str = "", participant: str = "", following: Path | None = None
) -> Recording:
    """Read a C3D file, or a TRC file with the MOT file of its forces.

    Arguments and UserErrors are those of :mod:`pipeline.c3d.reader` and :mod:`pipeline.opensim_files.recording`.
    OSError if a disk or share failed.
    """
    if path.suffix.lower() in MARKER_FILES:
        return read_opensim(path, forces, subject=subject, participant=participant)
    ahead = following if following and following.suffix.lower() not in MARKER_FILES else None
    return read_c3d(path, subject=subject, participant=participant, following=ahead)
