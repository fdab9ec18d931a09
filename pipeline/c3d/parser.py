"""The child process that parses C3D files for :mod:`pipeline.c3d.parser_process`, which survives its crashes.

Standard input brings pickled paths and headers; standard output takes the contents: pickled parameters, then the bytes
of points and analogs. The process ends when its input ends, after the file that it is parsing.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypedDict

import numpy as np
from ezc3d import ezc3d  # the inner interface, which does not copy residuals and camera masks

from .records import OLDER_PROCESSING

if TYPE_CHECKING:
    from numpy.typing import NDArray


try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

MEMORY_BYTES, MEMORY_PER_FILE_BYTE = 3 << 29, 64  # ezc3d needs about 100 bytes for each value of 2 or 4
LONGEST_S, LONGEST_S_PER_BYTE = 8.0, 4e-7  # processor time; measured: 8e-8
# that the parent gets
GROUPS = ("POINT", "ANALOG", "FORCE_PLATFORM", "EVENT", "SUBJECTS", "PROCESSING", "SEG", "ROTATION", "THEIA3D")
TOO_MUCH = "asks for more memory than a file of its size should"


class Content(TypedDict):
    """File content, own units: points (3, point, frame), analogs (1, channel, sample).

    rotations: (4, 4, segment, sample).
    """

    parameters: dict[str, dict[str, Any]]
    point_rate_hz: float
    analog_rate_hz: float
    points: NDArray[np.float64]
    analogs: NDArray[np.float64]
    rotations: NDArray[np.float64]


def content(path: str, header: Sequence[Any] | None) -> Content:
    """Parse a file that passed :mod:`pipeline.c3d.integrity`; ``header`` has its values if it needs rewriting."""
    with Path(path).open("rb") as file:
        if header is None:
            return _parse(file, path)
        whole = file.read()
    import tempfile

    from .encodings import pieces
    from .integrity import Header

    parts = []
    for piece in pieces(whole, Header(*header)):
        with tempfile.TemporaryFile() as copy:
            copy.write(piece)
            copy.seek(0)
            parts.append(_parse(copy, str(copy.name)))
    points, analogs = (np.concatenate([part[name] for part in parts], axis=2) for name in ("points", "analogs"))
    return {**parts[0], "points": points, "analogs": analogs}


def _parse(file: BinaryIO, path: str) -> Content:
    """Parse an open file, by its descriptor so that any file name works."""
    by_number = f"/dev/fd/{file.fileno()}"
    parsed = ezc3d.c3d(by_number if Path(by_number).exists() else path)
    header = parsed.header()
    parameters: dict[str, dict[str, Any]] = {}
    for group in parsed.parameters().groups():
        names = [_text(parameter.name()) for parameter in group.parameters()]
        if (name := _text(group.name())) in GROUPS or OLDER_PROCESSING in names:
            values = {_text(parameter.name()): _values(parameter) for parameter in group.parameters()}
            parameters.setdefault(name, {}).update(values)
    return {
        "parameters": parameters,
        "point_rate_hz": float(header.frameRate()),
        "analog_rate_hz": float(header.nbAnalogByFrame() * header.frameRate()),
        "points": parsed.get_points()[:3],
        "analogs": parsed.get_analogs(),
        "rotations": parsed.get_rotations(),
    }


def _values(parameter: Any) -> list[str] | NDArray[Any]:
    """Return the texts or numbers of a parameter, numbers with Fortran order."""
    kind = parameter.type()
    if kind == ezc3d.CHAR:
        return [_text(text) for text in parameter.valuesAsString()]
    if kind == ezc3d.FLOAT:
        numbers = np.array(parameter.valuesAsDouble(), dtype=float)
    else:
        numbers = np.array(parameter.valuesAsByte() if kind == ezc3d.BYTE else parameter.valuesAsInt(), dtype=int)
    return numbers.reshape(parameter.dimension(), order="F")


def _text(text: str) -> str:
    """Decode a text as UTF-8, else Latin-1, with blanks for unprintable characters."""
    if text.isascii() and text.isprintable():
        return text
    raw = text.encode("utf-8", "surrogateescape")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return "".join(letter if letter.isprintable() else " " for letter in text)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer each request with a file's content or a line that says why not.

    A request holds the arguments of :func:`content`. An answer is the pickled content without its arrays and the shapes
    of these by name, then the arrays' bytes.
    """
    pickle.dump("ready", answers)
    answers.flush()
    for path, header in _requests(requests):
        arrays: dict[str, NDArray[np.float64]] = {}
        try:
            _limit(Path(path).stat().st_size)
            parts = content(path, header).items()
            arrays = {name: np.ascontiguousarray(value) for name, value in parts if isinstance(value, np.ndarray)}
            rest: Any = {name: value for name, value in parts if name not in arrays}
        except Exception as error:  # ezc3d raises whatever its C++ code throws
            rest = _message(error)
        _limit(None)
        pickle.dump((rest, {name: array.shape for name, array in arrays.items()}), answers)
        for array in arrays.values():
            answers.write(array.data)
        answers.flush()


def _requests(requests: BinaryIO) -> Iterator[tuple[str, Sequence[Any] | None]]:
    with contextlib.suppress(EOFError):
        while True:
            yield pickle.load(requests)  # noqa: S301 - from the parent


def _message(error: Exception) -> str:
    text = " ".join(str(error).split()).split(" If you want to ignore")[0].rstrip(".")
    if isinstance(error, MemoryError) or any(word in text for word in ("alloc", "vector", "basic_string")):
        return TOO_MUCH
    return text or type(error).__name__


def _limit(file_bytes: int | None) -> None:
    """Limit memory and processor time for a file; None ends the limit of time."""
    if resource is None:
        return
    longest_s = 0.0 if file_bytes is None else LONGEST_S + LONGEST_S_PER_BYTE * file_bytes
    signal.setitimer(signal.ITIMER_PROF, longest_s)
    if file_bytes is not None:
        now, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = MEMORY_BYTES + MEMORY_PER_FILE_BYTE * file_bytes
        if most != resource.RLIM_INFINITY:
            wanted = min(wanted, most)
        # never lower the limit: freed memory may stay allocated
        resource.setrlimit(resource.RLIMIT_AS, (max(wanted, now if now != resource.RLIM_INFINITY else 0), most))


def main() -> None:
    """Serve the parent through its pipes, cut off from its terminal and Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    for printed in (1, 2):  # discard what the parser prints
        os.dup2(os.open(os.devnull, os.O_WRONLY), printed)
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
