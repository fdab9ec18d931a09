"""Files that harm the parser's child process, and replacements of that process."""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from pipeline.c3d import parser_process
from pipeline.c3d.integrity import refuse_damaged
from pipeline.c3d.reader import read_c3d
from tests.support.checkout import DEMO
from tests.support.files.c3d_bytes import place

WALK = DEMO / "sub-01" / "fast_01.c3d"
HASTY = "import pipeline.c3d.parser as parser; parser.LONGEST_S, parser.LONGEST_S_PER_BYTE = 1.0, 0.0; parser.main()"
CRASH: tuple[int, ...] = (-1,)  # a text without dimensions
HANG = (2, 255, 255, 255, 255, 255, 255, 0)  # an empty table of 10^14 rows
GLUTTON = (4, 255, 255, 255, 255)  # 4 x 10^9 numbers


def deadly(path: Path, kind: int, *shape: int) -> Path:
    """Write a walk with a harmful POINT:LABELS, which the integrity check would refuse."""
    content = bytearray(WALK.read_bytes())
    at = place(bytes(content), "POINT", "LABELS").link_at + 2
    content[at : at + 2 + len(shape)] = bytes([kind % 256, len(shape), *shape])
    path.write_bytes(bytes(content))
    return path


def reads_on() -> bool:
    return len(read_c3d(WALK).markers) > 0


def child_id() -> int:
    return parser_process._children[os.getpid()].pid


def is_alive(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return False


def ends_within(process: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while is_alive(process) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_alive(process)


def parse(path: Path) -> object:
    """Parse a file without the integrity check."""
    return parser_process.parse(path, refuse_damaged(WALK))


@contextmanager
def another_child(code: str) -> Iterator[None]:
    """Let the next child processes run other code."""
    parser_process.end_child()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser_process, "COMMAND", [sys.executable, "-P", "-c", code])
        try:
            yield
        finally:
            parser_process.end_child()


def answering(answer: object, *, arrays: bytes = b"", then: str = "input()") -> AbstractContextManager[None]:
    """Let the next child processes answer with an object and bytes of arrays, then run other code."""
    answers = pickle.dumps("ready") + pickle.dumps(answer) + arrays
    return another_child(f"import sys; sys.stdout.buffer.write({answers!r}); sys.stdout.flush(); {then}")
