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


@pytest.mark.skipif(not (HOUSE / ".git").exists(), reason="a copy without git")
def test_they_are_printed_against_a_commit_and_a_wrong_one_is_refused() -> None:
    command = [sys.executable, "-m", "tests.code_counts"]
    run = subprocess.run([*command, "HEAD"], cwd=HOUSE, capture_output=True, text=True, check=True)
    assert "lines of the longest body" in run.stdout
    wrong = subprocess.run([*command, "0ffe"], cwd=HOUSE, capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)


def test_a_name_of_another_file_is_no_use() -> None:
    sources = {"pipeline/a.py": SHORT, "pipeline/c.py": "def _helper(a):\n    return a\n\n\nb = _helper(1)\n"}
    assert counts(sources)["private functions of at most 4 lines with one caller"] == 2
    sources["pipeline/d.py"] = "from .c import _helper\n"
    assert counts(sources)["private functions of at most 4 lines with one caller"] == 0
