"""A lock that shows whether a run is active: its processes hold it, and it is released when they end."""

import time
from pathlib import Path
from typing import TextIO

try:
    import fcntl
except ImportError:  # Windows: nobody is known to be at work
    fcntl = None  # type: ignore[assignment]

POLL_S = 0.2
_held: list[TextIO] = []  # until the process ends, however it ends


def hold(study: Path) -> None:
    """Hold the lock of a study until this process ends; do nothing if it cannot be written."""
    if fcntl is None:
        return
    try:
        handle = _file(study).open("a")
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return
    _held.append(handle)


def is_left_alone(study: Path, *, longest_s: float) -> bool:
    """Return whether no run of a study is active, or the last one ends within ``longest_s``.

    The jobs of a scheduler that was killed go on for a while.
    """
    if fcntl is None or not _file(study).exists():
        return True
    give_up = time.monotonic() + longest_s
    with _file(study).open("a") as handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > give_up:
                    return False
                time.sleep(POLL_S)
            else:
                return True


def _file(study: Path) -> Path:
    return study / ".snakemake" / "at_work"
