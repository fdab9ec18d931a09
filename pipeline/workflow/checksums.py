"""Records of outputs, ``derived/checksums/<output>.sha256``: their SHA-256, their inputs and their job's key.

The checksums inside NetCDF files miss some flipped bits, and tables have none; the SHA-256 of a whole file misses
nothing. The first line of a record has the format of ``sha256sum``, which skips the second line. A job removes
the records of its outputs before it begins and writes them when all outputs are complete; in between there are marks.
An output with a mark alone is of a job that was killed, one with neither was changed by another program. A record has
no time and no absolute path: equal outputs have equal records.
"""

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import UserError
from ..results.whole_files import REMEDY, write_whole
from .digests import sha256, sha256_of_files

FOLDER = "checksums"
CHANGED = "damaged (not the bytes that were written)"
LOST = "see to its disk or share and run again"
DATED_WITHIN_S = 2.0  # Snakemake dates an output when its job ends, a moment after its record was written
LONGEST_VALUE = 60  # characters; longer values are replaced by their SHA-256
NAMED_APART = ("settings", "arguments", "versions")  # parts of a job's key that are compared entry by entry


class Record(NamedTuple):
    """The record of an output: its SHA-256, that of each input by name, the parts of its job's key.

    Of a file that a command of ``gaitlab`` wrote, ``command`` has its words, without the study
    (:mod:`pipeline.workflow.command_files`).
    """

    sha256: str
    inputs: dict[str, str]
    made_with: dict[str, str]
    command: Sequence[str] = ()


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


def begin(derived: Path, outputs: Iterable[Path]) -> None:
    """Replace the records of outputs by marks before they are written."""
    for name in _names(derived, outputs):
        write_whole(_mark_path(derived, name), b"", flush=False)
        record_path(derived, name).unlink(missing_ok=True)


def forget(derived: Path, name: str) -> None:
    """Remove the record of an output that is gone, and its mark."""
    record_path(derived, name).unlink(missing_ok=True)
    _mark_path(derived, name).unlink(missing_ok=True)


def is_begun(derived: Path, name: str) -> bool:
    """Return whether a job has begun to write a file, and was killed."""
    return _mark_path(derived, name).exists()


def record(
    derived: Path,
    outputs: Iterable[Path],
    *,
    inputs: Mapping[str, str],
    key: Mapping[str, Any],
    command: Sequence[str] = (),
) -> dict[str, str]:
    """Write the records of outputs, remove their marks and return their SHA-256 by name.

    Args:
        outputs: files. Those outside of ``derived`` get no record.
        inputs: the SHA-256 of each input, as of :func:`as_written`.
        command: what wrote them, of :class:`Record`; of a job nothing.
    """
    content = {"inputs": dict(inputs), "made_with": made_with(key), **({"command": [*command]} if command else {})}
    made = json.dumps(content, sort_keys=True)
    found = {}
    for name in _names(derived, outputs):
        found[name] = sha256(derived / name)
        line = f"{found[name]}  {name}\n# {made}\n"
        write_whole(record_path(derived, name), line.encode())
        _mark_path(derived, name).unlink(missing_ok=True)
    return found


def _mark_path(derived: Path, name: str) -> Path:
    """Return the path of the mark of an output that is being written; its name begins with a dot, as temporary ones."""
    path = record_path(derived, name)
    return path.with_name(f".{path.name}")


class State(NamedTuple):
    """Outputs that are not as written: with other bytes, without any record, and of a job that was killed."""

    changed: list[str]
    unrecorded: list[str]
    unfinished: list[str]


def state_of(
    derived: Path, names: Iterable[str], *, cache: Path, each: Callable[[str, Record], object] = lambda *_: None
) -> State:
    """Return the outputs that are not as written.

    Only files with another date than their record are read, so that a run with nothing to do reads none. Those of that
    date are checked by the job that reads them, and by ``gaitlab verify``.

    Args:
        cache: a file that remembers digests, see :func:`pipeline.workflow.digests.sha256_of_files`.
        each: is called with each output that has the date of its record, and with the record.
    """
    expected, state = {}, State([], [], [])
    for name in names:
        if not os.access(derived / name, os.R_OK):
            continue
        if (written := recorded(derived, name)) is None:
            (state.unfinished if is_begun(derived, name) else state.unrecorded).append(name)
        elif differs_in_date(derived, name):
            expected[name] = written.sha256
        else:
            each(name, written)
    digests = sha256_of_files((derived / name for name in expected), cache=cache)
    state.changed.extend(name for name, digest in expected.items() if digests[derived / name] != digest)
    return state


def differs_in_date(derived: Path, name: str) -> bool:
    """Return whether an output has another date than its record, as one that another program has changed."""
    dates = (path.stat().st_mtime for path in (derived / name, record_path(derived, name)))
    return abs(next(dates) - next(dates)) > DATED_WITHIN_S


def keep_copy(table: Path) -> Path:
    """Copy a table that a person has changed to a free name next to it, once, and return the copy's path."""
    content = table.read_bytes()
    copies = (
        table.with_name(f"{table.stem}.changed{number}{table.suffix}")
        for number in itertools.chain(("",), itertools.count(2))
    )
    copy = next(copy for copy in copies if not copy.exists() or copy.read_bytes() == content)
    if not copy.exists():
        write_whole(copy, content)
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
            raise UserError(str(derived / name), CHANGED, REMEDY)
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
