"""Results of sessions that this process has just written or read, in memory for its next jobs.

What a job reads is known by the SHA-256 that was taken of its input as it is on disk. So a file that was changed since
it was written is read, or refused, as if nothing were in memory.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import xarray as xr

from . import netcdf

AS_DOUBLE = 2  # times as large is a file of single precision in memory
MOST_BYTES = 70e6  # in memory, a quarter of what a job needs: a session of 20 short walks has 50e6

_known: dict[str, xr.Dataset] = {}  # by the SHA-256 of their files, the oldest first
_of_job: dict[Path, xr.Dataset] | None = None  # inputs and outputs of the running job; None if its digests are unknown


def known(inputs: Mapping[Path, str]) -> AbstractContextManager[object]:
    """Let a job load what is in memory of its inputs, given with the SHA-256 of their files now."""
    return lent({file: _known[digest] for file, digest in inputs.items() if digest in _known})


@contextmanager
def lent(inputs: Mapping[Path, xr.Dataset]) -> Iterator[Mapping[Path, xr.Dataset]]:
    """Let a job load what its caller has in memory of its inputs, of arrays that nobody may write to.

    What is given also has what the job then saves, unless it is large.
    """
    global _of_job  # noqa: PLW0603 (a process runs one job at a time)
    _of_job = dict(inputs)
    try:
        yield _of_job
    finally:
        _of_job = None


def load(path: Path, names: Collection[str] | None = None) -> xr.Dataset:
    """Return a file's variables as :func:`.netcdf.load`, as arrays that nobody may write to if they are in memory."""
    if _of_job and path in _of_job:
        return netcdf.select(_of_job[path], names)
    return netcdf.load(path, names)


def load_and_keep(path: Path, names: Collection[str] | None) -> xr.Dataset:
    """Return what :func:`load` gives; a file that is not large is read whole, and kept until the job's end.

    The steps of a session read the same files, and most of each. To open one takes as long as to read a third of it.
    """
    if _of_job is not None and path not in _of_job and AS_DOUBLE * path.stat().st_size <= MOST_BYTES:
        _of_job[path] = netcdf.as_read_only(netcdf.load(path))
    return load(path, names)


def save(path: Path, dataset: xr.Dataset) -> None:
    """Write a dataset as :func:`.netcdf.save`, and keep it until the job's end."""
    netcdf.save(path, dataset)
    if _of_job is not None and dataset.nbytes <= MOST_BYTES:
        _of_job[path] = netcdf.as_loaded(dataset)


def keep(files: Mapping[Path, str]) -> None:
    """Keep what the running job has saved or read for further jobs, by the SHA-256 of its files; give up the oldest."""
    for file, digest in files.items():
        if _of_job and file in _of_job:
            _known.pop(digest, None)  # it becomes the youngest
            _known[digest] = _of_job[file]
    sizes = {digest: data.nbytes for digest, data in _known.items()}  # each takes a look at all variables
    while sum(sizes.values()) > MOST_BYTES:
        oldest = next(iter(_known))
        del _known[oldest], sizes[oldest]
