"""The C3D files of a folder, wherever in it they are."""

from __future__ import annotations

import os
from pathlib import Path

from pipeline.errors import UserError

OUTPUTS = ("derived", "logs")


def c3d_files(folder: Path) -> list[str]:
    """Return the C3D files in and below a study, relative to it, in order; links are followed.

    Hidden files and folders and the study's outputs are passed over. A link that leads nowhere counts: reading it
    says so. A folder that links reach again is looked at once, under its own name where it has one.

    Raises:
        UserError: there are none.
    """
    names, known = [], set()
    for place, folders, files in os.walk(folder, followlinks=True):
        if (real := os.path.realpath(place)) in known:
            folders.clear()
            continue
        known.add(real)
        within = Path(place).relative_to(folder)
        passed_over = OUTPUTS if within == Path() else ()
        shown = (name for name in folders if not name.startswith(".") and name not in passed_over)
        folders[:] = sorted(shown, key=lambda name: ((folder / within / name).is_symlink(), name))
        names += [
            (within / name).as_posix() for name in files if name.lower().endswith(".c3d") and not name.startswith(".")
        ]
    if not names:
        raise UserError(f"{folder}: no C3D files there or in folders below; give the folder that holds the recordings")
    return sorted(names)
