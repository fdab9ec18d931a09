"""The child process that parses C3D files for :mod:`pipeline.c3d_guard`: it may die, its parent goes on.

With c3d_writer.py the only module that imports ezc3d. Paths and headers come in by standard input, contents go out by
standard output, all pickled. It ends when its input does, at the latest with the file it is parsing then.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypedDict

import ezc3d
import numpy as np
from numpy.typing import NDArray

from pipeline.c3d_forms import pieces
from pipeline.c3d_records import Header

try:
    import resource
except ImportError:  # Windows has no limits
    resource = None  # type: ignore[assignment]

# ezc3d keeps a value of 2 or 4 bytes in an object of some 100
MEMORY_BYTES, MEMORY_PER_FILE_BYTE = 3 << 29, 64
LONGEST_S, LONGEST_S_PER_BYTE = 8.0, 4e-7  # of the processor, so that a busy machine harms nobody; measured: 8e-8
TOO_MUCH = "asks for more memory than a file of its size should"


class Content(TypedDict):
    """What a file holds, in its own units and axes: points (4, point, frame), analogs (1, channel, sample)."""

    parameters: dict[str, dict[str, Any]]
    point_rate_hz: float
    analog_rate_hz: float
    points: NDArray[np.float64]
    analogs: NDArray[np.float64]


def content(path: str, header: Header) -> Content:
    """Parse a file whose records have been walked; a form that ezc3d cannot read goes to it rewritten."""
    with Path(path).open("rb") as file:
        if not header.in_other_form:
            return _parsed(file, path)
        whole = file.read()
    parts = []
    for piece in pieces(whole, header):
        with tempfile.TemporaryFile() as file:
            file.write(piece)
            file.seek(0)
            parts.append(_parsed(file, str(file.name)))
    points, analogs = (np.concatenate([part[name] for part in parts], axis=2) for name in ("points", "analogs"))
    return {**parts[0], "points": points, "analogs": analogs}


def _parsed(file: BinaryIO, path: str) -> Content:
    """Return what ezc3d finds in an open file, so that its name, whatever it is, does not matter."""
    by_number = f"/dev/fd/{file.fileno()}"
    found = ezc3d.c3d(by_number if Path(by_number).exists() else path)
    header, data = found["header"], found["data"]
    return {
        "parameters": {
            _text(group): {_text(name): _texts(entry["value"]) for name, entry in entries.items() if name[:2] != "__"}
            for group, entries in found["parameters"].items()
        },
        "point_rate_hz": float(header["points"]["frame_rate"]),
        "analog_rate_hz": float(header["analogs"]["frame_rate"]),
        "points": data["points"],
        "analogs": data["analogs"],
    }


def _texts(value: Any) -> Any:
    return [_text(text) for text in value] if isinstance(value, list) else value


def _text(text: str) -> str:
    """Return a text of the file as characters: UTF-8 or else Latin-1; what would steer a terminal is a blank."""
    raw = text.encode("utf-8", "surrogateescape")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return "".join(letter if letter.isprintable() else " " for letter in text)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer each path and header with the content, or with a line that says why there is none."""
    pickle.dump("ready", answers)
    answers.flush()
    for path, header in _requests(requests):
        try:
            _limit(Path(path).stat().st_size)
            answer = pickle.dumps(content(path, header), protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # ezc3d raises whatever its C++ code throws
            answer = pickle.dumps(_said(error))
        _limit(None)
        answers.write(answer)
        answers.flush()


def _requests(requests: BinaryIO) -> Iterator[tuple[str, Header]]:
    with contextlib.suppress(EOFError):
        while True:
            yield pickle.load(requests)  # noqa: S301 - of the parent


def _said(error: Exception) -> str:
    text = " ".join(str(error).split()).split(" If you want to ignore")[0].rstrip(".")
    if isinstance(error, MemoryError) or any(word in text for word in ("alloc", "vector", "basic_string")):
        return TOO_MUCH
    return text or type(error).__name__


def _limit(file_bytes: int | None) -> None:
    """Limit memory and time for a file, or, without one, stop the clock."""
    if resource is None:
        return
    longest_s = 0.0 if file_bytes is None else LONGEST_S + LONGEST_S_PER_BYTE * file_bytes
    signal.setitimer(signal.ITIMER_PROF, longest_s)
    if file_bytes is not None:
        now, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = MEMORY_BYTES + MEMORY_PER_FILE_BYTE * file_bytes
        if most != resource.RLIM_INFINITY:
            wanted = min(wanted, most)
        # never lowered: memory that was freed is not always given back
        resource.setrlimit(resource.RLIMIT_AS, (max(wanted, now if now != resource.RLIM_INFINITY else 0), most))


def main() -> None:
    """Serve the parent: by the pipes it made, away from its terminal and its Control-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    for printed in (1, 2):  # what the parser prints gets neither among the answers nor on the screen
        os.dup2(os.open(os.devnull, os.O_WRONLY), printed)
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
