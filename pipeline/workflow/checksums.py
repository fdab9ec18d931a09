"""What was written, from what and with what: a record of each output, ``derived/checksums/<output>.sha256``.

NetCDF's own checksums miss some flipped bits and tables have none; the SHA-256 of a whole file misses nothing. The
first line of a record is that of ``sha256sum``, which skips the second: that needs nothing of this package. A job
alone writes the records of its own outputs, takes them away before it begins and writes them when all are in place:
jobs do not meet, and no record outlives its file. Nothing in it tells time or place: equal outputs have equal records.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import UserError
from ..results import netcdf
from .digests import sha256

FOLDER = "checksums"
CHANGED = "damaged (not the bytes that were written)"
LOST = "see to its disk or share and run again"
LONGEST_VALUE = 60  # characters; of what is longer the SHA-256 is kept
NAMED_APART = ("settings", "arguments", "versions")  # parts of a job's key whose parts are compared one by one


class Record(NamedTuple):
    """What is known of an output: its SHA-256, that of each input by name, and the parts of its job's key."""

    sha256: str
    inputs: dict[str, str]
    made_with: dict[str, str]


def record_path(derived: Path, name: str) -> Path:
    """Return where the record of an output is, whose name is relative to ``derived``."""
    return derived / FOLDER / f"{name}.sha256"


def recorded(derived: Path, name: str) -> Record | None:
    """Return the record of an output; None where there is none that can be read."""
    try:
        first, second, *_ = record_path(derived, name).read_text(encoding="utf-8").split("\n")
        return Record(first.split()[0], **json.loads(second.removeprefix("# ")))
    except (OSError, ValueError, TypeError, IndexError):
        return None


def withdraw(derived: Path, outputs: Iterable[Path]) -> None:
    """Remove the records of outputs that are about to be written again; of a folder, those of its files."""
    for name in _names(derived, outputs):
        record_path(derived, name).unlink(missing_ok=True)
        shutil.rmtree(derived / FOLDER / name, ignore_errors=True)


def record(derived: Path, outputs: Iterable[Path], *, inputs: Mapping[str, str], key: Mapping[str, Any]) -> None:
    """Record what was written; of a folder, each file in it.

    Args:
        derived: the folder of all outputs.
        outputs: files and folders. Those outside of ``derived`` get no record.
        inputs: the SHA-256 of each input, as of :func:`as_written`.
        key: the job's key.
    """
    made = json.dumps({"inputs": dict(inputs), "made_with": made_with(key)}, sort_keys=True)
    files = (file for output in outputs for file in (sorted(output.glob("[!.]*")) if output.is_dir() else [output]))
    for name in _names(derived, files):
        line = f"{sha256(derived / name)}  {name}\n# {made}\n"
        netcdf.write_whole(record_path(derived, name), line.encode())


def as_written(derived: Path, files: Iterable[Path]) -> dict[str, str]:
    """Return the SHA-256 of the outputs among some files, by their names below ``derived``.

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
    """Stop where a recording that was there when the run began is gone by now, or another.

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
    """Return the parts of a job's key, as they are or, where long, by their SHA-256."""
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
