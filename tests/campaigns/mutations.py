"""One-line mistakes of a maintainer, each put into a copy of the product: do the tests see them?

``make mutations`` runs all of mutations.txt: that each named test passes without a change, then that it fails with its
change. ``--quick`` takes only tests that are in ``make quick``, and tells how many changes these see.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple, NoReturn

HOUSE = Path(__file__).resolve().parents[2]  # not from tests.support: a child imports the tests of its copy
LIST = Path(__file__).with_name("mutations.txt")
NOT_COPIED = (".git", ".venv", ".*_cache", ".hypothesis", ".snakemake", "derived", "logs", "_build")
PRODUCT = ("pipeline", "gaitlab", "tests")  # packages that a child takes from its copy
# imported once, before children are forked: most of the time that a test of milliseconds takes
SHARED_IMPORTS = (
    "pytest", "hypothesis", "numpy", "pandas", "xarray", "netCDF4", "scipy.signal", "scipy.interpolate", "scipy.linalg",
    "ezc3d", "yaml", "jsonschema", "jinja2", "plotly.offline",
)  # fmt: skip
LONGEST_CPU_S, LONGEST_S = 30, 1200  # of the tests of one change, which may send them into an endless loop
BY_TIME = (-signal.SIGXCPU, -signal.SIGALRM)  # codes of a process that took too long, of no other
PASSED, FAILED = 0, 1  # exit codes of pytest; others are no verdict


class Mutation(NamedTuple):
    """A change of one line of the product, and the tests that must fail with it."""

    file: str  # relative to the checkout
    line: str  # without indentation; no other line of the file is the same
    becomes: str
    tests: tuple[str, ...]  # as pytest names them, without parameters


class Ended(NamedTuple):
    """A run of tests: pytest's exit code, negative by a signal; what it printed; seconds of processor time."""

    code: int
    output: str
    cpu_s: float

    @property
    def failed(self) -> set[str]:
        """Return the tests that failed, without parameters."""
        return set(re.findall(r"^(?:FAILED|ERROR) ([^\s\[]+::[^\s\[]+)", self.output, re.MULTILINE))

    def verdict(self, tests: Sequence[str]) -> str:
        """Return whether all of these tests see a change."""
        if self.code in BY_TIME:
            return "killed by time"
        if self.code not in (PASSED, FAILED):
            return "NOT RUN"
        return "killed" if {*tests} <= self.failed else "SURVIVED"


def read_mutations(text: str) -> list[Mutation]:
    """Return the changes of a list: blocks of a file and of each change ``- `` its line, ``+ `` another, and tests."""
    blocks = ([line for line in block.splitlines() if not line.startswith("#")] for block in text.split("\n\n"))
    mutations = []
    for file, *lines in filter(None, blocks):
        starts = sorted({0, *(i for i, line in enumerate(lines) if line.startswith("- "))})
        for own in (lines[first:stop] for first, stop in pairwise([*starts, len(lines)])):
            if [line[:2] for line in own[:2]] != ["- ", "+ "] or not own[2:]:
                sys.exit(f"{file}: expected a line with '- ', one with '+ ', and tests, not {own}")
            mutations.append(Mutation(file, own[0][2:], own[1][2:], tuple(own[2:])))
    return mutations


def problems_of(mutation: Mutation, checkout: Path = HOUSE) -> Iterator[str]:
    """Yield why a change is none of this checkout."""
    lines = [line.strip() for line in (checkout / mutation.file).read_text(encoding="utf-8").splitlines()]
    if (count := lines.count(mutation.line)) != 1:
        yield f"{mutation.file} has this line {count} times, not once; correct the list of mutations: {mutation.line}"
    for test in mutation.tests:
        path, _, name = test.partition("[")[0].partition("::")
        text = (checkout / path).read_text(encoding="utf-8") if (checkout / path).is_file() else ""
        if not re.search(rf"^def {re.escape(name)}\(", text, re.MULTILINE):
            yield f"{mutation.file}: no test {test}; correct the list of mutations"


def copy_checkout(source: Path, folder: Path) -> Path:
    """Copy a checkout with its compiled code into a folder, where ``shared`` is beside it as well."""
    copy = folder / "checkout"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
    if (shared := source.parent / "shared").is_dir():
        (folder / "shared").symlink_to(shared.resolve())
    return copy


def change(mutation: Mutation, checkout: Path) -> None:
    """Put a change into a copy, and keep the file beside."""
    path = checkout / mutation.file
    shutil.copy2(path, path.with_suffix(".before"))
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    (number,) = (i for i, line in enumerate(lines) if line.strip() == mutation.line)
    lines[number] = lines[number].replace(mutation.line, mutation.becomes)
    path.write_text("".join(lines), encoding="utf-8")


def restore(mutation: Mutation, checkout: Path) -> None:
    """Take a change back. The file has its old date, so that its compiled code is valid again."""
    path = checkout / mutation.file
    path.with_suffix(".before").replace(path)


def start(checkout: Path, arguments: Sequence[str], output: IO[str], *, changed: bool) -> int:
    """Start pytest in a copy, in a child process, and return the process's number."""
    if child := os.fork():
        return child
    try:
        _run_pytest(checkout, arguments, output, changed=changed)
    except BaseException:
        traceback.print_exc(file=output)
        output.flush()
    finally:
        os._exit(os.EX_SOFTWARE)  # of an exception above; pytest's own exit code is given there


def _run_pytest(checkout: Path, arguments: Sequence[str], output: IO[str], *, changed: bool) -> NoReturn:
    """Run pytest in this process, within limited time, and end it.

    Args:
        changed: whether the copy has a change: then compiled code is not kept.
    """
    import pytest

    signal.alarm(LONGEST_S)
    # at the first limit the process gets SIGXCPU, at the second one SIGKILL, which could have other reasons
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_CPU_S, LONGEST_CPU_S + 5))
    sys.dont_write_bytecode = changed
    for stream in (1, 2):
        os.dup2(output.fileno(), stream)
    os.chdir(checkout)
    sys.path[:] = [str(checkout), *(place for place in sys.path if place not in ("", str(HOUSE)))]
    for name in [name for name in sys.modules if name.partition(".")[0] in PRODUCT]:
        del sys.modules[name]
    basetemp = checkout.parent / "temporary"
    code = pytest.main(["--tb=no", "-rfE", "-p", "no:cacheprovider", f"--basetemp={basetemp}", *arguments])
    sys.stdout.flush()
    os._exit(code)


def wait(outputs: dict[int, IO[str]]) -> tuple[int, Ended]:
    """Wait for the end of one of the started processes, by their numbers; return which one, and how it ended."""
    child, status, used = os.wait4(-1, 0)
    output = outputs.pop(child)
    output.seek(0)
    return child, Ended(os.waitstatus_to_exitcode(status), output.read(), used.ru_utime + used.ru_stime)


def run_alone(checkout: Path, *arguments: str) -> Ended:
    """Run pytest in a copy without a change."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        return wait({start(checkout, arguments, output, changed=False): output})[1]


def run_each(
    mutations: Collection[Mutation], checkouts: Sequence[Path], *options: str, changed: bool
) -> Iterator[tuple[Mutation, Ended]]:
    """Yield how the tests of each change end, in the order of their ends; as many at a time as there are copies.

    Args:
        options: of pytest.
        changed: whether the change is made.
    """
    waiting, idle = deque(mutations), deque(checkouts)
    outputs: dict[int, IO[str]] = {}
    running: dict[int, tuple[Mutation, Path]] = {}
    while waiting or running:
        while waiting and idle:
            mutation, checkout = waiting.popleft(), idle.popleft()
            if changed:
                change(mutation, checkout)
            output = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 (open until its process ends)
            child = start(checkout, [*options, *mutation.tests], output, changed=changed)
            outputs[child], running[child] = output, (mutation, checkout)
        child, ended = wait(outputs)
        mutation, checkout = running.pop(child)
        if changed:
            restore(mutation, checkout)
        idle.append(checkout)
        yield mutation, ended


def pass_without_change(mutations: Sequence[Mutation], checkouts: Sequence[Path], *options: str) -> float:
    """Return the processor time of the tests without a change, s; exit if any do not pass, or not within limits."""
    groups, failures, seconds = {one.tests: one for one in mutations}, list[str](), 0.0
    for one, run in run_each(groups.values(), checkouts, *options, changed=False):
        seconds += run.cpu_s
        if run.code != PASSED:
            failures.append(f"without a change, {', '.join(one.tests)} ended with {run.code}:\n{run.output}")
    if failures:
        sys.exit("\n".join(failures))
    return seconds


def quick_tests(checkout: Path) -> set[str]:
    """Return the tests that ``make quick`` contains, without parameters."""
    collected = run_alone(checkout, "--quick", "--collect-only", "tests")
    if collected.code != PASSED:
        sys.exit(f"the tests of `make quick` cannot be collected:\n{collected.output}")
    return set(re.findall(r"^(tests/[^\s\[]+::[^\s\[]+)", collected.output, re.MULTILINE))


def main(arguments: Sequence[str]) -> int:
    """Run the campaign and print a line for each change; return 1 if one survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.mutations", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="run only tests that are in `make quick`")
    parser.add_argument("--jobs", type=int, default=1, help="changes at a time, each in its own copy")
    parser.add_argument("--only", default="", metavar="TEXT", help="only changes of files with this in their path")
    parser.add_argument("--list", type=Path, default=LIST, help="another list of changes")
    chosen = parser.parse_args(arguments)
    mutations = [one for one in read_mutations(chosen.list.read_text(encoding="utf-8")) if chosen.only in one.file]
    if not mutations:
        sys.exit(f"{chosen.list} has no change of a file with {chosen.only!r} in its path; correct --only or the list")
    if problems := [problem for one in mutations for problem in problems_of(one)]:
        sys.exit("\n".join(problems))
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported: a process with threads should not fork
    for name in SHARED_IMPORTS:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        copies = [copy_checkout(HOUSE, Path(folder) / str(i)) for i in range(chosen.jobs)]
        if chosen.quick:
            quick, every = quick_tests(copies[0]), mutations
            mutations = [one._replace(tests=seen) for one in every if (seen := tuple(sorted({*one.tests} & quick)))]
            print(f"{len(mutations)} of {len(every)} changes have a test in `make quick`", flush=True)  # noqa: T201
            if not mutations:
                sys.exit("no test that is named is in `make quick`; run all tests, without --quick")
        options = ["--quick"] if chosen.quick else []
        before_s = pass_without_change(mutations, copies, *options)
        return report(run_each(mutations, copies, *options, changed=True), before_s=before_s)


def report(ended: Iterator[tuple[Mutation, Ended]], *, before_s: float) -> int:
    """Print a line for each change, and the total; return 1 if one is not killed.

    Args:
        before_s: processor time of the tests without a change.
    """
    count, killed, seconds = 0, 0, before_s
    for mutation, run in ended:
        verdict = run.verdict(mutation.tests)
        count, killed, seconds = count + 1, killed + verdict.startswith("killed"), seconds + run.cpu_s
        missed = sorted({*mutation.tests} - run.failed) if verdict == "SURVIVED" else mutation.tests
        words = f"{mutation.file}: {mutation.becomes}  ({', '.join(missed)})"
        print(f"{verdict:14} {run.cpu_s:5.1f} s  {words}", flush=True)  # noqa: T201
        if verdict == "NOT RUN":
            print(run.output)  # noqa: T201
    print(f"{killed} of {count} changes killed, {seconds:.0f} s of processor time")  # noqa: T201
    return int(killed < count)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
