"""UserError: a problem that the user can fix."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

T = TypeVar("T")
DIRECTION_MARKS = {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}  # change the writing direction
INVISIBLE_CATEGORIES = ("Cc", "Cs", "Zl", "Zp")
INTERRUPTED = 130  # exit code after Ctrl-C, as shells report it; after SIGTERM it is 143
ERROR, WARNING = "error", "warning"
INVALID = "invalid_input"  # code of a problem that programs need not tell from others
MOST_EXAMPLES = 3
MOST_ALONE = 10  # rows of a table that are still read, of mistakes of one kind in as many files
VARIABLE = re.compile(r"'[^']*'|\w+_\w+|[-+]?\d[\w.+-]*")
LONGEST_LINE, LONGEST_END, LEFT_OUT = 1000, 150, " ... "  # characters


class Problem(NamedTuple):
    """What is wrong with a study, a file, a trial or a stance, and what to do about it."""

    where: str  # file, table row, trial, marker, setting or plate; empty if the caller adds it
    what: str  # what is wrong with it
    remedy: str  # what the user can do; empty only if there is nothing to do, or ``what`` has it
    code: str = INVALID  # its kind, for programs; a code keeps its meaning in later versions
    # an ``error`` loses a trial, a session, a stance or the run; a ``warning`` loses a part of the results or makes
    # them doubtful
    severity: str = ERROR

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where and self.what else self.where or self.what
        line = printable(f"{text}; {self.remedy}" if self.remedy else text).replace("\n", " ")
        if len(line) > LONGEST_LINE:
            line = f"{line[: LONGEST_LINE - LONGEST_END - len(LEFT_OUT)]}{LEFT_OUT}{line[-LONGEST_END:]}"
        return line

    def within(self, place: str) -> Problem:
        """Return the problem with a place in front of where it is."""
        return self._replace(where=f"{place}: {self.where}" if self.where else place)

    def of_kind(self, code: str) -> Problem:
        """Return the problem with this code, unless it has one of its own."""
        return self._replace(code=code) if self.code == INVALID else self


def warning(where: str, what: str, remedy: str, code: str) -> Problem:
    """Return a problem that loses a part of the results or makes them doubtful."""
    return Problem(where, what, remedy, code, WARNING)


def as_json(problems: Iterable[Problem]) -> str:
    """Return problems as a JSON list of objects: severity, code, where, what, remedy."""
    import json  # no part of the help, which should appear at once

    keys = ("severity", "code", "where", "what", "remedy")
    return json.dumps([{key: getattr(problem, key) for key in keys} for problem in problems], indent=2)


def gather_alike(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems with each kind of mistake of which a file has many as one, with some examples."""
    kinds: dict[tuple[str, ...], list[Problem]] = {}
    for problem in problems:
        kinds.setdefault((problem.where.partition(":")[0], *kind_of(problem)), []).append(problem)
    gathered = []
    for (file, *_), mine in kinds.items():
        if len(mine) <= MOST_EXAMPLES + 1:
            gathered += mine
            continue
        examples = (f"{one.where.removeprefix(file).lstrip(': ')}: {one.what}".removeprefix(": ") for one in mine)
        what = f"{len(mine)} times: {join_some([*examples], MOST_EXAMPLES, between='; ')}"
        gathered.append(mine[0]._replace(where=file, what=what))
    return gathered


def in_the_same_words(problems: Sequence[Problem]) -> list[Problem]:
    """Return problems with each kind of mistake that many places have in the same words, with some examples."""
    texts: dict[tuple[str, ...], dict[str, str]] = {}  # what is wrong, and the first place of it
    for problem in problems:
        texts.setdefault(kind_of(problem), {}).setdefault(problem.what, problem.where)
    shared = {
        kind: join_some([f"{where}: {what}" for what, where in found.items()], MOST_EXAMPLES, between="; ")
        for kind, found in texts.items()
        if len(found) > MOST_ALONE
    }
    return [problem._replace(what=shared.get(kind_of(problem), problem.what)) for problem in problems]


def kind_of(problem: Problem) -> tuple[str, ...]:
    """Return what mistakes of one kind share: they differ in numbers, quoted texts and names with underscores alone."""
    what, remedy = (VARIABLE.sub("#", text) for text in (problem.what, problem.remedy))
    return problem.code, problem.severity, what, remedy


class UserError(Exception):
    """A problem that the user can fix. Any other exception is a defect and keeps its traceback.

    The texts may quote a file: invisible characters are shown as '?', long lines are shortened. For the arguments see
    :class:`Problem`.
    """

    def __init__(self, where: str, what: str, remedy: str, code: str = INVALID) -> None:
        super().__init__(where, what, remedy, code)
        self.problems: tuple[Problem, ...] = (Problem(where, what, remedy, code),)

    @classmethod
    def of(cls, problems: Iterable[Problem]) -> UserError:
        """Return one error for several problems."""
        first, *more = problems
        error = cls(*first[:4])
        error.problems = (first, *more)
        return error

    def within(self, place: str) -> Self:
        """Put a place in front of where each problem is, and return this error."""
        self.problems = tuple(problem.within(place) for problem in self.problems)
        return self

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


def find_hidden(text: str) -> str:
    """Return the first invisible character of a text as ``U+001B``, or nothing.

    Invisible are control characters, line and paragraph separators, marks of writing direction, and bytes of a file
    name that are not UTF-8.
    """
    return next((f"U+{ord(letter):04X}" for letter in text if _is_hidden(letter)), "")


def printable(text: str) -> str:
    """Return a text with '?' for each invisible character except line ends."""
    return "".join("?" if letter != "\n" and _is_hidden(letter) else letter for letter in text)


def as_argument(path: Path) -> str:
    """Return a path as an argument that a shell and a command understand, also one that begins with ``-``."""
    return shlex.quote(f"./{path}" if str(path).startswith("-") else str(path))


def _is_hidden(letter: str) -> bool:
    if letter.isprintable():
        return False
    return letter in DIRECTION_MARKS or unicodedata.category(letter) in INVISIBLE_CATEGORIES


def join_some(texts: Sequence[str], most: int, *, between: str = ", ") -> str:
    """Return the first texts in one line, and how many more there are."""
    return between.join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def nearest(name: str, names: Iterable[str]) -> str:
    """Return ``"did you mean 'x'?"`` for the most similar of some names, or nothing."""
    close = most_similar(name, names)
    return f"did you mean '{close}'?" if close else ""


def most_similar(name: str, names: Iterable[str]) -> str:
    """Return the most similar of some names, or nothing if none is similar."""
    import difflib  # no part of the help, which should appear at once

    by_lower = {candidate.lower(): candidate for candidate in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else ""


def without_problems(result: tuple[T, Sequence[Problem]]) -> T:
    """Return what was read, given it with every problem; raise UserError with these if there are any."""
    content, problems = result
    if problems:
        raise UserError.of(problems)
    return content
