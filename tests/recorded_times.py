"""The processor time of each test, recorded by ``make times``: what is slow stays out of ``make quick``.

``slow_tests.tsv`` lists the test functions that start a process, or need more than :data:`QUICK_S` of processor time in
all their cases. The time of a fixture is shared by the functions that use it. A module of which every function is
listed is one row, so that a quick run does not even import it. Functions without a row are quick, also new ones. What
works with a process that an earlier test may have started has the mark ``process``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pipeline.c3d import reader

RECORD = Path(__file__).with_name("slow_tests.tsv")
QUICK_S = 0.3
HEADER = "test\tcpu_s\tstarts_a_process\n"
STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec", "os.startfile")
PARSERS = ("parse", "parse_ahead")  # they start a process in every run but a quick one


class Cost(NamedTuple):
    """What a test function, in all its cases, or a fixture needs."""

    cpu_s: float = 0.0
    starts_a_process: bool = False

    def plus(self, other: Cost, share: int = 1) -> Cost:
        """Return the sum with another cost, of which ``share`` functions pay their part."""
        return Cost(self.cpu_s + other.cpu_s / share, self.starts_a_process or other.starts_a_process)


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


class Recorder:
    """The plugin of ``--record-times``: measures tests and the fixtures that they share, and writes the record."""

    def __init__(self) -> None:
        self.tests: dict[str, Cost] = {}
        self.fixtures: dict[tuple[str, str], Cost] = {}  # by the file that has it, or folder, and its name
        self.uses: dict[str, list[str]] = {}  # names of fixtures by test function
        self.collected: set[str] = set()
        self.skipped: set[str] = set()
        self.starts_a_process, self.parses = False, False
        self.fixtures_s = 0.0  # in the test that runs
        sys.addaudithook(self._see)
        for name in PARSERS:
            setattr(reader, name, self._not_counted(getattr(reader, name)))

    def _see(self, event: str, _: object) -> None:
        self.starts_a_process |= event in STARTS and not self.parses

    def _not_counted(self, parse: Callable[..., Any]) -> Callable[..., Any]:
        """Return the parser in a child process, which a quick run replaces, as one that starts none."""

        def parse_uncounted(*arguments: Any) -> Any:
            self.parses = True
            try:
                return parse(*arguments)
            finally:
                self.parses = False

        return parse_uncounted

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """Measure a test without the fixtures that others use, too."""
        self.starts_a_process, self.fixtures_s, start = False, 0.0, cpu_s()
        result = yield
        function = function_of(item.nodeid)
        starts = self.starts_a_process or item.get_closest_marker("process") is not None
        cost = Cost(cpu_s() - start - self.fixtures_s, starts)
        self.tests[function] = self.tests.get(function, Cost()).plus(cost)
        self.uses[function] = list(getattr(item, "fixturenames", ()))
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
        key = (fixturedef.baseid, fixturedef.argname)
        self.fixtures[key] = self.fixtures.get(key, Cost()).plus(Cost(own_s, self.starts_a_process))
        self.starts_a_process = outer
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember what was skipped, of which nothing is known."""
        if report.skipped:
            self.skipped.add(function_of(report.nodeid))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Remember every function of the modules that run."""
        self.collected |= {function_of(item.nodeid) for item in session.items}

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand over what was measured in a process of pytest-xdist, or write the record."""
        output = getattr(session.config, "workeroutput", None)
        if output is None:
            self.write()
        else:
            output["tests"] = [[name, *cost] for name, cost in self.tests.items()]
            output["fixtures"] = [[*key, *cost] for key, cost in self.fixtures.items()]
            output["uses"], output["collected"] = self.uses, sorted(self.collected)

    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a process of pytest-xdist measured."""
        output = node.workeroutput
        for name, *cost in output["tests"]:
            self.tests[name] = self.tests.get(name, Cost()).plus(Cost(*cost))
        for base, name, *cost in output["fixtures"]:
            self.fixtures[base, name] = self.fixtures.get((base, name), Cost()).plus(Cost(*cost))
        self.uses |= output["uses"]
        self.collected |= {*output["collected"]}

    def costs(self) -> dict[str, Cost]:
        """Return the cost of each test function, with its part of the fixtures that it uses."""
        costs = dict(self.tests)
        for (base, name), cost in self.fixtures.items():
            place = base.removeprefix("tests").removeprefix("/")
            users = [one for one, names in self.uses.items() if name in names and one.startswith(place)]
            for user in users:
                costs[user] = costs[user].plus(cost, share=len(users))
        return costs

    def write(self) -> None:
        """Write the record: new rows for modules that ran, the others, and of skipped functions, as they are."""
        functions = self.collected - self.skipped
        modules = {module_of(name) for name in functions}
        old = {name: row for name, row in recorded().items() if module_of(name) not in modules or name in self.skipped}
        costs = {name: cost for name, cost in self.costs().items() if name in functions}
        slow = {name: cost for name, cost in costs.items() if cost.starts_a_process or cost.cpu_s > QUICK_S}
        for module in modules:
            mine = [name for name in slow if module_of(name) == module]
            if mine and len(mine) == sum(module_of(name) == module for name in self.collected):
                whole = [slow.pop(name) for name in mine]
                slow[module] = Cost(sum(one.cpu_s for one in whole), any(one.starts_a_process for one in whole))
        new = {
            name: f"{name}\t{cost.cpu_s:.1f}\t{'yes' if cost.starts_a_process else 'no'}" for name, cost in slow.items()
        }
        rows = old | new
        RECORD.write_text(HEADER + "".join(f"{rows[name]}\n" for name in sorted(rows)), encoding="utf-8")


def cpu_s() -> float:
    """Return the processor time of this process and of its children that have ended, s."""
    return sum(os.times()[:4])


def is_slow(nodeid: str, record: Mapping[str, str]) -> bool:
    """Return whether the record lists a test or its module."""
    function = function_of(nodeid)
    return function in record or module_of(function) in record
