"""The child process that parses C3D files for :mod:`pipeline.c3d.parser_process`: it may die, its parent goes on.

With c3d_writer.py the only module that imports ezc3d, and little else, for it starts with every job that reads. Paths
and headers come in by standard input, pickled; contents go out by standard output: parameters pickled, then the bytes
of points and analogs. It ends when its input does, at the latest with the file it is parsing then.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, TypedDict

import numpy as np
from ezc3d import ezc3d  # the inner interface: the outer one copies residuals, camera masks and rotations too

if TYPE_CHECKING:
    from numpy.typing import NDArray


try:
    import resource
except ImportError:  # Windows has no limits
    resource = None  # type: ignore[assignment]

# ezc3d keeps a value of 2 or 4 bytes in an object of some 100
MEMORY_BYTES, MEMORY_PER_FILE_BYTE = 3 << 29, 64
LONGEST_S, LONGEST_S_PER_BYTE = 8.0, 4e-7  # of the processor, so that a busy machine harms nobody; measured: 8e-8
GROUPS = ("POINT", "ANALOG", "FORCE_PLATFORM", "EVENT", "SUBJECTS", "PROCESSING")  # no other leaves this process
TOO_MUCH = "asks for more memory than a file of its size should"


class Content(TypedDict):
    """What a file holds, in its own units and axes: points (4, point, frame), analogs (1, channel, sample)."""

    parameters: dict[str, dict[str, Any]]
    point_rate_hz: float
    analog_rate_hz: float
    points: NDArray[np.float64]
    analogs: NDArray[np.float64]


def content(path: str, other_form: Sequence[Any] | None) -> Content:
    """Parse a file whose records have been walked; a form that ezc3d cannot read goes to it rewritten.

    Args:
        path: the file.
        other_form: of such a form the values of :class:`pipeline.c3d.integrity.Header`.
    """
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib takes time to import
        return _parsed(file, path) if other_form is None else _parsed_in_pieces(file.read(), other_form)


def _parsed_in_pieces(whole: bytes, other_form: Sequence[Any]) -> Content:
    import tempfile

    from .encodings import pieces
    from .integrity import Header

    parts = []
    for piece in pieces(whole, Header(*other_form)):
        with tempfile.TemporaryFile() as file:
            file.write(piece)
            file.seek(0)
            parts.append(_parsed(file, str(file.name)))
    points, analogs = (np.concatenate([part[name] for part in parts], axis=2) for name in ("points", "analogs"))
    return {**parts[0], "points": points, "analogs": analogs}


def _parsed(file: BinaryIO, path: str) -> Content:
    """Return what ezc3d finds in an open file, so that its name, whatever it is, does not matter."""
    by_number = f"/dev/fd/{file.fileno()}"
    found = ezc3d.c3d(by_number if os.path.exists(by_number) else path)  # noqa: PTH110 - see above
    header = found.header()
    parameters: dict[str, dict[str, Any]] = {}
    for group in found.parameters().groups():
        if (name := _text(group.name())) in GROUPS:
            values = {_text(parameter.name()): _values(parameter) for parameter in group.parameters()}
            parameters.setdefault(name, {}).update(values)
    return {
        "parameters": parameters,
        "point_rate_hz": float(header.frameRate()),
        "analog_rate_hz": float(header.nbAnalogByFrame() * header.frameRate()),
        "points": found.get_points(),
        "analogs": found.get_analogs(),
    }


def _values(parameter: Any) -> list[str] | NDArray[Any]:
    """Return the texts of a parameter, or its numbers, first index fastest."""
    kind = parameter.type()
    if kind == ezc3d.CHAR:
        return [_text(text) for text in parameter.valuesAsString()]
    if kind == ezc3d.FLOAT:
        numbers = np.array(parameter.valuesAsDouble(), dtype=float)
    else:
        numbers = np.array(parameter.valuesAsByte() if kind == ezc3d.BYTE else parameter.valuesAsInt(), dtype=int)
    return numbers.reshape(parameter.dimension(), order="F")


def _text(text: str) -> str:
    """Return a text of the file as characters: UTF-8 or else Latin-1; what would steer a terminal is a blank."""
    if text.isascii() and text.isprintable():
        return text
    raw = text.encode("utf-8", "surrogateescape")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return "".join(letter if letter.isprintable() else " " for letter in text)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer each request for the content of a file with it, or with a line that says why there is none.

    A request has the arguments of :func:`content`. An answer is what can be pickled at little cost with the shapes of
    the arrays by name; the bytes of the arrays follow.
    """
    pickle.dump("ready", answers)
    answers.flush()
    for path, other_form in _requests(requests):
        arrays: dict[str, NDArray[np.float64]] = {}
        try:
            _limit(os.stat(path).st_size)  # noqa: PTH116 - see above
            found = content(path, other_form).items()
            arrays = {name: np.ascontiguousarray(value) for name, value in found if isinstance(value, np.ndarray)}
            rest: Any = {name: value for name, value in found if name not in arrays}
        except Exception as error:  # ezc3d raises whatever its C++ code throws
            rest = _said(error)
        _limit(None)
        pickle.dump((rest, {name: array.shape for name, array in arrays.items()}), answers)
        for array in arrays.values():
            answers.write(array.data)
        answers.flush()


def _requests(requests: BinaryIO) -> Iterator[tuple[str, Sequence[Any] | None]]:
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
