"""Records of outputs, ``derived/checksums/<output>.sha256``: their SHA-256, their inputs and their job's key.

The checksums inside NetCDF files miss some flipped bits, and tables have none; the SHA-256 of a whole file misses
nothing. The first line of a record has the format of ``sha256sum``, which skips the second line. A job removes the
records of its outputs before it begins and writes them when all outputs are complete. A record has no time and no
absolute path: equal outputs have equal records.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import UserError
from ..results import netcdf
from .digests import sha256, sha256_of_files

FOLDER = "checksums"
CHANGED = "damaged (not the bytes that were written)"
LOST = "see to its disk or share and run again"
DATED_WITHIN_S = 2.0  # Snakemake dates an output when its job ends, a moment after its record was written
LONGEST_VALUE = 60  # characters; longer values are replaced by their SHA-256
NAMED_APART = ("settings", "arguments", "versions")  # parts of a job's key that are compared entry by entry


class Record(NamedTuple):
    """The record of an output: its SHA-256, that of each input by name, the parts of its job's key."""

    sha256: str
    inputs: dict[str, str]
    made_with: dict[str, str]


def record_path(derived: Path, name: str) -> Path:
    """Return the path of the record of an output, named relative to ``derived``."""
    return derived / FOLDER / f"{name}.sha256"


def recorded(derived: Path, name: str) -> Record | None:
    """Return the record of an output, None if it is missing or unreadable."""
    try:
        first, second, *_ = record_path(derived, name).read_text(encoding="utf-8").split("\n")
        return Record(first.split()[0], **json.loads(second.removeprefix("# ")))
    except (OSError, ValueError, TypeError, IndexError):
        return None


def withdraw(derived: Path, outputs: Iterable[Path]) -> None:
    """Remove the records of outputs before they are written; for a folder, those of its files."""
    for name in _names(derived, outputs):
        record_path(derived, name).unlink(missing_ok=True)
        shutil.rmtree(derived / FOLDER / name, ignore_errors=True)


def record(
    derived: Path, outputs: Iterable[Path], *, inputs: Mapping[str, str], key: Mapping[str, Any], flush: bool = True
) -> None:
    """Write the records of outputs; for a folder, one per file.

    Args:
        derived: the folder of all outputs.
        outputs: files and folders. Those outside of ``derived`` get no record.
        inputs: the SHA-256 of each input, as of :func:`as_written`.
        key: the job's key.
        flush: as of :func:`pipeline.results.netcdf.whole`.
    """
    made = json.dumps({"inputs": dict(inputs), "made_with": made_with(key)}, sort_keys=True)
    files = (file for output in outputs for file in (sorted(output.glob("[!.]*")) if output.is_dir() else [output]))
    for name in _names(derived, files):
        line = f"{sha256(derived / name)}  {name}\n# {made}\n"
        netcdf.write_whole(record_path(derived, name), line.encode(), flush=flush)


def changed(derived: Path, names: Iterable[str], *, cache: Path) -> tuple[list[str], list[str]]:
    """Return the outputs with other bytes than those recorded, and the outputs without a record.

    Only files with another date than their record are read, so that a run with nothing to do reads none. Those of that
    date are checked by the job that reads them, and by ``gaitlab verify``.

    Args:
        derived: the folder of all outputs.
        names: outputs, which may be absent.
        cache: a file that remembers digests, see :func:`pipeline.workflow.digests.sha256_of_files`.
    """
    expected, without = {}, []
    for name in names:
        file, known = derived / name, recorded(derived, name)
        if not os.access(file, os.R_OK):
            continue
        if known is None:
            without.append(name)
        elif differ_in_date(derived, name):
            expected[name] = known.sha256
    digests = sha256_of_files((derived / name for name in expected), cache=cache)
    return [name for name, digest in expected.items() if digests[derived / name] != digest], without


def differ_in_date(derived: Path, name: str) -> bool:
    """Return whether an output has another date than its record, as one that another program has changed."""
    dates = (path.stat().st_mtime for path in (derived / name, record_path(derived, name)))
    return abs(next(dates) - next(dates)) > DATED_WITHIN_S


def has_date_of_record(derived: Path, name: str) -> bool:
    """Return whether an output and its record are there, of the same date."""
    try:
        return not differ_in_date(derived, name)
    except OSError:
        return False


def keep_copy(table: Path) -> Path:
    """Copy a table that a person has changed to a free name next to it, once, and return the copy's path."""
    content = table.read_bytes()
    copies = (
        table.with_name(f"{table.stem}.changed{number}{table.suffix}")
        for number in itertools.chain(("",), itertools.count(2))
    )
    copy = next(copy for copy in copies if not copy.exists() or copy.read_bytes() == content)
    if not copy.exists():
        netcdf.write_whole(copy, content)
    return copy


def as_written(derived: Path, files: Iterable[Path]) -> dict[str, str]:
    """Return the SHA-256 of files below ``derived``, by name; refuse changed ones.

    Raises:
        UserError: one is not what was written. Of one without a record nothing is said.
    """
    digests = {}
    for name in _names(derived, files):
        digests[name] = sha256(derived / name)
        known = recorded(derived, name)
        if known and known.sha256 != digests[name]:
            raise UserError(str(derived / name), CHANGED, netcdf.REMEDY)
    return digests


def refuse_changed(source: Path, digest: str | None) -> None:
    """Refuse a recording that was removed or changed since the run began.

    What was read of it, if only that it is not there, would else be kept for what the recording of then gave.

    Raises:
        UserError: as of a share of the network that was lost; a run that finds it again goes on.
    """
    try:
        if digest is None or sha256(source) == digest:
            return
        what = "has changed since the run began"
    except OSError as error:
        what = str(error.strerror)
    raise UserError(str(source), what, LOST)


def made_with(key: Mapping[str, Any]) -> dict[str, str]:
    """Return the parts of a job's key; long ones as their SHA-256."""
    parts: dict[str, Any] = {}
    for name, value in key.items():
        if name in NAMED_APART:
            parts |= {f"{name}.{own}": each for own, each in value.items()}
        else:
            parts[name] = value
    texts = {name: json.dumps(value, sort_keys=True) for name, value in parts.items()}
    return {
        name: text if len(text) <= LONGEST_VALUE else hashlib.sha256(text.encode()).hexdigest()
        for name, text in texts.items()
    }


def _names(derived: Path, files: Iterable[Path]) -> list[str]:
    return [file.relative_to(derived).as_posix() for file in files if file.is_relative_to(derived)]
