"""C3D files parsed by a child process that may die, within limits of memory and time.

A file that passes :mod:`pipeline.c3d_records` can still be damaged where only the parser looks. One child serves all
files of a process, one after the other, and is started again after a file that ended it.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO, cast

from pipeline.errors import UserError

LONGEST_S, LONGEST_S_PER_BYTE = 10.0, 2e-7  # measured: 2.5e-8 s per byte
_child: list[subprocess.Popen[bytes]] = []


def parse(path: Path) -> dict[str, Any]:
    """Return what :func:`pipeline.c3d_parser.content` finds in a file.

    Raises:
        UserError: the parser refused the file, crashed, or ran beyond its limits.
    """
    child = _running()
    requests, answers = cast("BinaryIO", child.stdin), cast("BinaryIO", child.stdout)
    late = threading.Timer(LONGEST_S + LONGEST_S_PER_BYTE * path.stat().st_size, child.kill)
    late.start()
    try:
        pickle.dump(str(path.resolve()), requests)
        requests.flush()
        answer: dict[str, Any] | str = pickle.load(answers)  # noqa: S301 - of the child, whose code is ours
    except (OSError, EOFError, pickle.UnpicklingError):
        _child.remove(child)
        child.kill()
        code = child.wait()
        crashed = f"crashed ({signal.Signals(-code).name})" if code < 0 else f"ended with {code}"
        how = crashed if late.is_alive() else "did not come to an end"
        raise UserError(f"{path}: damaged: its parser {how}; copy or export it again") from None
    finally:
        late.cancel()
    if isinstance(answer, str):
        raise UserError(f"{path}: not readable as C3D ({answer}); export it again")
    return answer


def _running() -> subprocess.Popen[bytes]:
    """Return the child, started where there is none; its input ends with this process, and so does it."""
    if not _child:
        house = str(Path(__file__).resolve().parent.parent)
        paths = os.pathsep.join(filter(None, (house, os.environ.get("PYTHONPATH"))))
        _child.append(
            subprocess.Popen(
                [sys.executable, "-m", "pipeline.c3d_parser"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths},
            )
        )  # fmt: skip
    return _child[0]
