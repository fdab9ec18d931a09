"""Parsing of C3D files in a child process with limits of memory and time.

A file that passes :mod:`pipeline.c3d.integrity` can still be damaged and crash the parser. One child serves all files
of a process in turn; a new one is started after a crash. The child can parse a file ahead, while its parent is busy.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from ..errors import UserError
from .integrity import COPY_AGAIN, Header

if TYPE_CHECKING:  # runs in the child; the import also adds the module to the job keys
    from .parser import Content


ROOT = Path(__file__).resolve().parents[2]  # the folder of pipeline/, by whichever name this module was imported
COMMAND = [sys.executable, "-P", "-m", "pipeline.c3d.parser"]  # -P: import nothing from the working directory
FROM_OUTSIDE = ("SIGKILL", "SIGTERM", "SIGHUP")  # not among the signals of the parser's own limits
NUMPY = ("ndarray", "dtype", "_reconstruct", "_frombuffer")
# by the process that started them, so that a fork starts its own
_children: dict[int, subprocess.Popen[bytes]] = {}
_asked: dict[int, tuple[str, Any]] = {}  # the request without an answer yet
_one_at_a_time = threading.Lock()


def parse(path: Path, header: Header) -> Content:
    """Return the content of a file that passed :mod:`pipeline.c3d.integrity`.

    Raises:
        UserError: the parser refused the file, crashed, or exceeded its limits.
        RuntimeError: the parser cannot be started, or was killed from outside; the file may be intact.
    """
    with _one_at_a_time:
        try:
            answers = _ask(path, header)
            answer, shapes = _Plain(answers).load()
            arrays = {name: np.empty(shape) for name, shape in shapes.items()}
            for array in arrays.values():
                if answers.readinto(array.reshape(-1).view(np.uint8)) < array.nbytes:  # type: ignore[attr-defined]
                    raise EOFError
            del _asked[os.getpid()]
        except (OSError, EOFError):
            raise _explain_end(path, end_child()) from None
        except (pickle.UnpicklingError, TypeError, ValueError, AttributeError, MemoryError):
            end_child()
            raise UserError(str(path), "damaged: its parser gave no answer", COPY_AGAIN) from None
        except BaseException:  # the pipe may hold half an answer
            end_child()
            raise
    if isinstance(answer, str):
        raise UserError(str(path), f"not readable as C3D ({answer})", "export it again")
    return cast("Content", answer | arrays)


def parse_ahead(path: Path, header: Header) -> None:
    """Let the child parse the file that :func:`parse` will be called for next, and do not wait."""
    with _one_at_a_time:
        try:
            _ask(path, header)
        except OSError:
            end_child()  # `parse` starts another
        except BaseException:
            end_child()
            raise


def _ask(path: Path, header: Header) -> BinaryIO:
    """Send the request for a file unless it is sent, and return the pipe with the answer."""
    request = (str(path.absolute()), tuple(header) if header.needs_rewriting else None)
    asked = _asked.get(os.getpid())
    if asked not in (None, request):
        end_child()
    if asked != request:
        requests = cast("BinaryIO", _running().stdin)
        pickle.dump(request, requests)
        requests.flush()
        _asked[os.getpid()] = request
    return cast("BinaryIO", _children[os.getpid()].stdout)


class _Plain(pickle.Unpickler):
    """Unpickler of arrays, numbers and texts, so that no file can run code here."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] != "numpy" or name not in NUMPY:
            raise pickle.UnpicklingError(name)
        return super().find_class(module, name)


def _running() -> subprocess.Popen[bytes]:
    """Return the child process, started if necessary."""
    child = _children.get(os.getpid())
    if child is None or child.poll() is not None:
        paths = filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))
        child = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )  # fmt: skip
        _children[os.getpid()] = child
        try:
            _Plain(cast("BinaryIO", child.stdout)).load()
        except EOFError:
            raise RuntimeError(f"the C3D parser does not start: {' '.join(COMMAND)} ended with {end_child()}") from None
        except BaseException:
            end_child()
            raise
    return child


def _explain_end(path: Path, code: int) -> Exception:
    ended = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    if ended in FROM_OUTSIDE:
        return RuntimeError(f"{path}: the C3D parser was killed from outside ({ended})")
    how = "did not end" if ended == "SIGPROF" else f"crashed ({ended})"
    return UserError(str(path), f"damaged: its parser {how}", COPY_AGAIN)


@atexit.register
def end_child() -> int:
    """End the child process, if there is one, and return its exit code."""
    child = _children.pop(os.getpid(), None)
    _asked.pop(os.getpid(), None)
    if child is None:
        return 0
    child.kill()
    child.communicate()  # closes the pipes and waits
    return child.returncode
