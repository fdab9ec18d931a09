"""``make quick`` starts no process and leaves out what is recorded as slow; ``make times`` records it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from tests import conftest, recorded_times
from tests.recorded_times import QUICK_S, Cost, Times, function_of, is_slow, module_of, recorded
from tests.support.checkout import HOUSE

REFUSED = "test_a_process_is_refused"
LEAST_S = QUICK_S / 2  # of what is slow in the runs of these tests
WORK = """
import time

def busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
"""
OF_A_BROWSER = f"{WORK}\nbusy({1.5 * LEAST_S})\nprint(flush=True)\ninput()"  # it lives until nobody is left to ask it
BUSY = f"""
import subprocess, sys

import pytest
{WORK}


@pytest.fixture(scope="module")
def shared():
    busy({1.5 * LEAST_S})


def test_one_user(shared):
    pass


def test_other_user(shared):
    pass


@pytest.mark.parametrize("case", range(3))
def test_in_all_cases(case):
    busy({0.5 * LEAST_S})


def test_of_a_process():
    command = [sys.executable, "-c", {OF_A_BROWSER!r}]
    subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE).stdout.readline()


def test_skipped():
    pytest.skip("nothing is known of it")


@pytest.mark.parametrize("case", range(2))
def test_in_one_case(case):
    if case:
        pytest.skip("the other one is known")
    busy({1.5 * LEAST_S})
"""
RECORDS = f"""
from pathlib import Path

from tests import recorded_times

recorded_times.RECORD = Path(__file__).with_name("record.tsv")
recorded_times.QUICK_S = {LEAST_S}


def pytest_configure(config):
    config.pluginmanager.register(recorded_times.Recorder())
"""


@pytest.mark.skipif("not config.getoption('--quick')", reason="of a quick run")
def test_a_process_is_refused(pytestconfig: pytest.Config) -> None:
    with pytest.raises(AssertionError, match="a quick test starts a process"):
        subprocess.run([sys.executable, "-c", ""], check=True)
    if hasattr(os, "fork"):
        with pytest.raises(AssertionError, match="a quick test starts a process"):
            os.fork()


def test_a_quick_run_refuses_processes() -> None:
    run = pytest_run("--quick", f"{Path(__file__)}::{REFUSED}")
    assert run.returncode == 0, run.stdout
    assert "1 passed" in run.stdout


def test_a_slow_run_has_the_tests_that_a_quick_one_leaves_out() -> None:
    slow = [name if "::" in name else f"{name}::test_any" for name in recorded()]
    every = [f"tests/{name}" for name in (*slow, "body/test_new.py::test_new", f"{slow[0]}_of_more")]

    def run(option: str) -> set[str]:
        """Return the tests that are chosen, of modules that are not ignored."""
        config: Any = SimpleNamespace(getoption=lambda name: name == option, hook=Mock())
        items: list[Any] = [SimpleNamespace(nodeid=name) for name in every]
        conftest.pytest_collection_modifyitems(config, items)
        places = {item.nodeid: HOUSE / item.nodeid.partition("::")[0] for item in items}
        return {name for name, place in places.items() if not conftest.pytest_ignore_collect(place, config)}

    assert run("--slow") == {f"tests/{name}" for name in slow}
    assert run("--quick") == {*every} - run("--slow")
    assert run("") == {*every}


@pytest.mark.parametrize("processes", [0, 2])
def test_what_is_slow_is_recorded(tmp_path: Path, processes: int) -> None:
    (tmp_path / "conftest.py").write_text(RECORDS)
    (tmp_path / "test_busy.py").write_text(BUSY)
    (tmp_path / "test_whole.py").write_text(
        "from test_busy import *\ndel test_skipped, test_one_user, test_other_user, test_in_one_case"
    )
    kept = "test_busy.py::test_skipped\t9.0\tno\ntest_other.py\t9.0\tyes\n"
    (tmp_path / "record.tsv").write_text(f"{recorded_times.HEADER}{kept}test_busy.py::test_one_user\t9.0\tno\n")
    options = [
        "--numprocesses",
        str(processes),
        "--dist",
        "loadfile",
        "--rootdir",
        str(tmp_path),
        "-p",
        "no:cacheprovider",
    ]
    run = pytest_run(*options, "--import-mode=prepend", str(tmp_path), cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    rows = [row.split("\t") for row in (tmp_path / "record.tsv").read_text().splitlines()[1:]]
    assert [(name, starts) for name, _, starts in rows] == [
        ("test_busy.py::test_in_all_cases", "no"),
        ("test_busy.py::test_in_one_case", "no"),
        ("test_busy.py::test_of_a_process", "yes"),
        ("test_busy.py::test_skipped", "no"),
        ("test_other.py", "yes"),
        ("test_whole.py", "yes"),
    ]
    (used_s,) = (float(row[1]) for row in rows if row[0] == "test_busy.py::test_of_a_process")
    assert used_s > LEAST_S or sys.platform != "linux"


def test_a_fixture_is_paid_by_all_who_use_it() -> None:
    one, other, apart = "body/test_a.py::test_one", "body/test_a.py::test_other", "body/test_b.py::test_apart"
    times = Times(
        tests={one: Cost(0.1), other: Cost(0.2), apart: Cost(0.3)},
        fixtures={("tests/body/test_a.py", "found"): Cost(1.0, starts_a_process=True)},
        uses={name: ["found"] for name in (one, other, apart)},
        collected={one: 1, other: 1, apart: 1},
        ran=Counter([one, other, apart]),
    )
    assert times.costs() == {one: (0.6, True), other: (0.7, True), apart: (0.3, False)}


def test_what_did_not_run_in_all_its_cases_keeps_its_row() -> None:
    names = [f"body/test_a.py::test_{name}" for name in ("ran", "stopped", "skipped", "partly_skipped")]
    times = Times(
        tests=dict.fromkeys(names, Cost(9.0)),
        collected=dict.fromkeys(names, 2),
        ran=Counter(dict(zip(names, (2, 1, 2, 2), strict=True))),
        skipped=Counter(dict(zip(names, (0, 0, 2, 1), strict=True))),
    )
    old = {name: f"{name}\t1.0\tno" for name in names}
    assert times.rows(old) == sorted(f"{name}\t{s}\tno" for name, s in zip(names, (9.0, 1.0, 1.0, 9.0), strict=True))
    assert Times().rows(old) == sorted(old.values())
    gone = {"body/test_a.py::test_gone": "body/test_a.py::test_gone\t1.0\tno"}
    assert times.rows(old | gone) == times.rows(old)


def test_a_row_of_a_module_is_a_row_of_each_of_its_tests() -> None:
    record = {"body/test_a.py": "", "body/test_b.py::test_one": ""}
    assert is_slow("tests/body/test_a.py::test_any[case]", record)
    assert is_slow("tests/body/test_b.py::test_one[left-1]", record)
    assert not is_slow("tests/body/test_b.py::test_one_more", record)


def test_every_recorded_test_exists() -> None:
    def exists(name: str) -> bool:
        file = HOUSE / "tests" / module_of(name)
        function = name.rpartition("::")[2]
        return file.is_file() and ("::" not in name or f"def {function}(" in file.read_text(encoding="utf-8"))

    assert [name for name in recorded() if not exists(name)] == []
    assert function_of("tests/a/test_b.py::test_c[d]") == "a/test_b.py::test_c"


def pytest_run(*arguments: str, cwd: Path = HOUSE) -> subprocess.CompletedProcess[str]:
    """Run pytest and return what it printed."""
    command = [sys.executable, "-m", "pytest", *arguments]
    environment = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    environment["PYTHONPATH"] = str(HOUSE)
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
