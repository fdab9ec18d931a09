"""The processor time of each test, recorded by ``make times``: what is slow stays out of ``make quick``.

``slow_tests.tsv`` lists the test functions that start a process, or need more than :data:`QUICK_S` of processor time in
all their cases. The time of a fixture is shared by the functions that use it. A module of which every function is
listed is one row, so that a quick run does not even import it. Functions without a row are quick, also new ones. What
works with a process that an earlier test may have started has the mark ``process``.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from benchmarks.jobs import GONE, descendants
from benchmarks.launcher import PR_SET_CHILD_SUBREAPER
from pipeline.c3d import reader

RECORD = Path(__file__).with_name("slow_tests.tsv")
QUICK_S = 0.3
HEADER = "test\tcpu_s\tstarts_a_process\n"
STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec", "os.startfile")
looking_s = [0.0]  # processor time that measuring has taken
PARSERS = ("parse", "parse_ahead")  # they start a process in every run but a quick one


class Cost(NamedTuple):
    """What a test function, in all its cases, or a fixture needs."""

    cpu_s: float = 0.0
    starts_a_process: bool = False

    @property
    def is_slow(self) -> bool:
        """Return whether a quick run leaves it out."""
        return self.starts_a_process or self.cpu_s > QUICK_S

    def plus(self, other: Cost, share: int = 1) -> Cost:
        """Return the sum with another cost, of which ``share`` functions pay their part."""
        return Cost(self.cpu_s + other.cpu_s / share, self.starts_a_process or other.starts_a_process)

    def row(self, name: str) -> str:
        """Return the row of the record."""
        return f"{name}\t{self.cpu_s:.1f}\t{'yes' if self.starts_a_process else 'no'}"


@dataclass
class Times:
    """What one or several processes of a test run have measured; each process collects the same cases."""

    tests: dict[str, Cost] = field(default_factory=dict)
    fixtures: dict[tuple[str, str], Cost] = field(default_factory=dict)  # by the file that has it, or folder, and name
    uses: dict[str, list[str]] = field(default_factory=dict)  # names of fixtures by test function
    collected: dict[str, int] = field(default_factory=dict)  # number of cases by test function
    ran: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    def add(self, other: Times) -> None:
        """Add what another process has measured."""
        for name, cost in other.tests.items():
            self.tests[name] = self.tests.get(name, Cost()).plus(cost)
        for key, cost in other.fixtures.items():
            self.fixtures[key] = self.fixtures.get(key, Cost()).plus(cost)
        self.uses |= other.uses
        self.collected |= other.collected
        self.ran.update(other.ran)
        self.skipped.update(other.skipped)

    def costs(self) -> dict[str, Cost]:
        """Return the cost of each function that ran in all its cases, with its part of the fixtures that it uses."""
        costs = dict(self.tests)
        for (base, name), cost in self.fixtures.items():
            place = base.removeprefix("tests").removeprefix("/")
            users = [one for one, names in self.uses.items() if name in names and one.startswith(place)]
            for user in users:
                costs[user] = costs[user].plus(cost, share=len(users))
        whole = (name for name, cases in self.collected.items() if self.ran[name] == cases > self.skipped[name])
        return {name: costs[name] for name in whole}

    def rows(self, old: Mapping[str, str]) -> list[str]:
        """Return the record: new rows of what ran in all its cases, the other rows as they were."""
        costs = self.costs()
        slow = {name: cost.row(name) for name, cost in costs.items() if cost.is_slow}
        for module in {module_of(name) for name in slow}:
            functions = [name for name in self.collected if module_of(name) == module]
            if all(name in slow for name in functions):
                whole = Cost()
                for name in functions:
                    whole = whole.plus(costs[name])
                    del slow[name]
                slow[module] = whole.row(module)
        modules = {module_of(name) for name in self.collected}
        unknown = self.collected.keys() - costs.keys()
        kept = [row for name, row in old.items() if name in unknown or module_of(name) not in modules]
        return sorted([*kept, *slow.values()])


def recorded() -> dict[str, str]:
    """Return the rows of the record by test function or module, named relative to tests/."""
    rows = RECORD.read_text(encoding="utf-8").splitlines()[1:] if RECORD.exists() else []
    return {row.partition("\t")[0]: row for row in rows}


def function_of(nodeid: str) -> str:
    """Return a test function as the record names it, without its case."""
    return nodeid.removeprefix("tests/").partition("[")[0]


def module_of(function: str) -> str:
    """Return the module of a test function, named relative to tests/."""
    return function.partition("::")[0]


def is_slow(nodeid: str, record: Mapping[str, str]) -> bool:
    """Return whether the record lists a test or its module."""
    function = function_of(nodeid)
    return function in record or module_of(function) in record


def cpu_s() -> float:
    """Return the processor time of this process and of its descendants, s: living ones, as browsers, only on Linux.

    What it takes to look at these, some ms for a browser, is left out.
    """
    start, ticks = time.process_time(), 0
    for pid in descendants(os.getpid()):
        with suppress(*GONE):  # of the process and of its children that have ended, see proc_pid_stat(5)
            ticks += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
    used_s = sum(os.times()[:4]) + (ticks / os.sysconf("SC_CLK_TCK") if ticks else 0)
    looking_s[0] += time.process_time() - start
    return used_s - looking_s[0]


class Recorder:
    """The plugin of ``--record-times``: measures tests and the fixtures that they share, and writes the record."""

    def __init__(self) -> None:
        self.times = Times()
        self.starts_a_process, self.parses, self.is_complete = False, False, True
        self.fixtures_s = 0.0  # in the test that runs

    def pytest_sessionstart(self) -> None:
        """Look at each start of a process, but for those of the parser that a quick run replaces; inherit orphans."""
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        sys.addaudithook(self._see)
        for name in PARSERS:
            setattr(reader, name, self._not_counted(getattr(reader, name)))

    def _see(self, event: str, _: object) -> None:
        self.starts_a_process |= event in STARTS and not self.parses

    def _not_counted(self, parse: Callable[..., Any]) -> Callable[..., Any]:
        """Return a parser in a child process as one that starts none."""

        def parse_uncounted(*arguments: Any) -> Any:
            self.parses = True
            try:
                return parse(*arguments)
            finally:
                self.parses = False

        return parse_uncounted

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the cases of each function; a record is of whole modules."""
        if any("::" in argument for argument in session.config.args) or session.config.getoption("keyword"):
            raise pytest.UsageError("--record-times takes modules and folders: leave out :: and -k")
        self.times.collected = dict(Counter(function_of(item.nodeid) for item in session.items))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """Measure a test without the fixtures that others use, too."""
        self.starts_a_process, self.fixtures_s, start = False, 0.0, cpu_s()
        result = yield
        function, times = function_of(item.nodeid), self.times
        starts = self.starts_a_process or item.get_closest_marker("process") is not None
        cost = Cost(cpu_s() - start - self.fixtures_s, starts)
        times.tests[function] = times.tests.get(function, Cost()).plus(cost)
        times.uses[function] = list(getattr(item, "fixturenames", ()))
        times.ran[function] += 1
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[Any]:
        """Measure a fixture that several tests share, without those that it uses itself."""
        if fixturedef.scope == "function":
            return (yield)
        outer, self.starts_a_process = self.starts_a_process, False
        start, inner_s = cpu_s(), self.fixtures_s
        result = yield
        own_s = cpu_s() - start - (self.fixtures_s - inner_s)
        self.fixtures_s += own_s
        key, fixtures = (fixturedef.baseid, fixturedef.argname), self.times.fixtures
        fixtures[key] = fixtures.get(key, Cost()).plus(Cost(own_s, self.starts_a_process))
        self.starts_a_process = outer
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count skipped cases in the process that ran them; a function without another one is not known."""
        if not hasattr(report, "node"):
            self.times.skipped[function_of(report.nodeid)] += report.skipped

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand over what was measured in a process of pytest-xdist, or write the record."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["times"] = pickle.dumps(self.times)
        elif self.is_complete:
            rows = self.times.rows(recorded())
            RECORD.write_text(HEADER + "".join(f"{row}\n" for row in rows), encoding="utf-8")

    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a process of pytest-xdist measured; of one that crashed nothing is known."""
        output = getattr(node, "workeroutput", {})
        self.is_complete &= "times" in output
        if "times" in output:
            self.times.add(pickle.loads(output["times"]))  # noqa: S301 (of a process of this run)
