"""Files that appear complete or not at all.

A file is written under a temporary name, flushed to disk and renamed. Commands and plans of jobs write some, so this
module imports the standard library alone.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import UserError

NEARLY_FULL_BYTES = 20e6  # of free disk: more than a session's largest file of usual size
REMEDY = "remove it and run again"  # of a damaged file of results


def write_whole(path: Path, content: bytes, *, flush: bool = True) -> None:
    """Write bytes so that the file appears complete or not at all; ``flush`` as of :func:`whole`."""
    with whole(path, flush=flush) as partial:
        partial.write_bytes(content)


@contextmanager
def whole(path: Path, *, flush: bool = True) -> Iterator[Path]:
    """Give a temporary name to write to, which becomes the file if all goes well.

    Args:
        flush: whether to wait for the disk, so that the file is complete even after a loss of power. Without it, a
            file has to have a record of its SHA-256 by which a later run finds it torn.

    Raises:
        UserError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for stale in path.parent.glob(f".{path.name}.*.partial"):
        stale.unlink(missing_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        if flush:
            with partial.open("rb") as handle:
                os.fsync(handle.fileno())
        partial.replace(path)
    except (OSError, RuntimeError) as error:  # NetCDF's own errors have other names for a full disk
        raise not_written(path, error) from None
    finally:
        partial.unlink(missing_ok=True)


def not_written(path: Path, error: Exception) -> UserError:
    """Return why a file or folder cannot be written, and what to do."""
    free = shutil.disk_usage(path.parent).free
    if free < NEARLY_FULL_BYTES:
        what = f"cannot be written: {free / 1e6:.0f} MB are left on its disk"
        return UserError(str(path), what, "make room and run again")
    reason = getattr(error, "strerror", None) or str(error)
    remedy = "close it in other programs, see to its disk and to the right to write there, and run again"
    return UserError(str(path), f"cannot be written ({reason})", remedy)
