"""The counts that ``make check`` prints are those of the syntax tree."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.code_counts import counts, files_outside_of_the_room, functions_changed, room_of
from tests.support.checkout import HOUSE

SHORT = '''
def called(a, b, c, d, e, f, *, g):
    """Say what it does.

    Not counted.
    """
    return _helper(a)


def _helper(a):
    return a


def _twice(a):
    return _twice(_twice(a))
'''
LONG = "class Thing:\n    def method(self):\n" + "        self.a = 1\n" * 81


@pytest.mark.parametrize(
    ("what", "number"),
    [
        ("functions", 4),
        ("private functions of at most 4 lines with one caller", 1),
        ("functions with more than 6 arguments", 1),
        ("bodies of more than 40 lines", 1),
        ("bodies of more than 80 lines", 1),
        ("lines of the longest body", 81),
        ("lines", SHORT.count("\n") + LONG.count("\n")),
    ],
)
def test_counts(what: str, number: int) -> None:
    assert counts({"pipeline/a.py": SHORT, "pipeline/b.py": LONG})[what] == number


def test_rooms() -> None:
    names = ("pipeline/body/legs.py", "pipeline/steps/clean/step.py", "pipeline/errors.py", "Snakefile")
    assert [room_of(name) for name in names] == ["pipeline/body", "pipeline/steps/clean", "pipeline", "Snakefile"]


def test_the_room_of_a_change_is_that_with_most_changed_lines() -> None:
    before = {"pipeline/body/a.py": "x\n", "pipeline/body/b.py": "x\n", "Snakefile": "rule a:\n"}
    now = before | {"pipeline/body/a.py": "y\nz\n", "Snakefile": "rule b:\n"}
    assert files_outside_of_the_room(before, now).startswith("2 files are changed, 1 of them outside of pipeline/body")
    assert files_outside_of_the_room(before, before).startswith("no file")


def test_a_moved_line_is_no_change_of_functions() -> None:
    before = {"pipeline/a.py": SHORT}
    assert functions_changed(before, {"pipeline/a.py": f"\n{SHORT}"}) == "0 functions are added, 0 removed"
    assert functions_changed(before, {"pipeline/b.py": SHORT}) == "3 functions are added, 3 removed"


def test_they_are_printed_against_a_commit() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.code_counts", "HEAD"], cwd=HOUSE, capture_output=True, text=True, check=True
    )
    assert "lines of the longest body" in run.stdout or "left out" in run.stdout  # a copy without git
