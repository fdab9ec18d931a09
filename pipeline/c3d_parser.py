"""The child process that parses C3D files for :mod:`pipeline.c3d_guard`: it may die, its parent goes on.

With c3d_writer.py the only module that imports ezc3d. Paths come in by standard input, contents go out by standard
output, both pickled; it ends when its input does.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import Any, BinaryIO

import ezc3d

try:
    import resource
except ImportError:  # Windows has no limits
    resource = None  # type: ignore[assignment]

MEMORY_BYTES, MEMORY_PER_FILE_BYTE = 2 << 30, 64  # ezc3d keeps a value of 2 or 4 bytes in an object of some 100


def content(path: str) -> dict[str, Any]:
    """Return parameters {group: {name: value}}, frame rates, first frame, points (4, point, time), analogs."""
    file = ezc3d.c3d(path)
    header, data = file["header"], file["data"]
    return {
        "parameters": {
            group: {name: entry["value"] for name, entry in entries.items() if name != "__METADATA__"}
            for group, entries in file["parameters"].items()
        },
        "point_rate_hz": float(header["points"]["frame_rate"]),
        "analog_rate_hz": float(header["analogs"]["frame_rate"]),
        "first_frame": int(header["points"]["first_frame"]),
        "points": data["points"],
        "analogs": data["analogs"],
    }


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer each path with its content, or with a line that says why there is none."""
    while True:
        try:
            path = pickle.load(requests)  # noqa: S301 - of the parent
        except EOFError:
            return
        try:
            _limit_memory(path)
            answer: dict[str, Any] | str = content(path)
        except MemoryError:
            answer = "takes more memory to parse than a file of its size should"
        except Exception as error:  # ezc3d raises whatever its C++ code throws
            answer = " ".join(str(error).split()).split(" If you want to ignore")[0].rstrip(".") or type(error).__name__
        pickle.dump(answer, answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()


def _limit_memory(path: str) -> None:
    if resource:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = MEMORY_BYTES + MEMORY_PER_FILE_BYTE * Path(path).stat().st_size
        resource.setrlimit(resource.RLIMIT_AS, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))


def _main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the parser prints must not get among the answers
    if resource:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    _main()
