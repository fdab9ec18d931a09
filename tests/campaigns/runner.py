"""What all campaigns share: options, tables, what is allowed, processes; :mod:`tests.campaigns.__main__` runs one.

A campaign is a module with a function ``main(report, *, ...)``. Its keyword arguments are the options of its command,
their defaults make its full form, the module's ``SHORT`` has those of its short form. It judges generated or recorded
cases, adds rows to the report's tables, and says which share of which ends is allowed; if more is found, it fails.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from multiprocessing import Pool
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class Report:
    """The tables of a campaign, which are printed row by row, and what is wrong."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # for files of the campaign
        self.rows: list[tuple[str, ...]] = []
        self.lines: list[str] = []
        self.wrong: list[str] = []
        self._folders = 0

    def new_folder(self) -> Path:
        """Return a new empty folder."""
        self._folders += 1
        place = self.folder / str(self._folders)
        place.mkdir()
        return place

    def text(self, line: str) -> None:
        """Print a line."""
        self.lines.append(line)
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    def table(self, *columns: str) -> None:
        """Begin a table."""
        if self.rows:
            self.text("")
        self.text(f"| {' | '.join(columns)} |")
        self.text("|---" * len(columns) + "|")

    def row(self, *cells: object) -> None:
        """Print a row of the table begun last."""
        self.rows.append(tuple(map(str, cells)))
        self.text(f"| {' | '.join(self.rows[-1])} |")

    def counts(self, corner: str, ends: Iterable[tuple[str, str]], columns: Sequence[str] = ()) -> Counter[str]:
        """Print how often each end came of each kind of case, from pairs of kind and end, and return that of all.

        Args:
            columns: the ends, in their order; by default those that came, by name.
        """
        tally = Counter(ends)
        columns = columns or sorted({end for _, end in tally})
        kinds = [*dict.fromkeys(kind for kind, _ in tally)]
        self.table(corner, "n", *columns)
        for kind in kinds:
            self.row(kind, sum(tally[kind, end] for end in columns), *(tally[kind, end] for end in columns))
        total = Counter({end: sum(tally[kind, end] for kind in kinds) for end in columns})
        if len(kinds) > 1:
            self.row("all", total.total(), *total.values())
        return total

    def allow(self, share: float, wrong: Sequence[object] | int, of: int, what: str) -> None:
        """Fail if more than a share of all cases is wrong, or if there are no cases."""
        number = wrong if isinstance(wrong, int) else len(wrong)
        if number > share * of or not of:
            listed = "" if isinstance(wrong, int) else "".join(f"\n  {one}" for one in wrong)
            self.wrong.append(f"{what}: {number} of {of}, allowed are {100 * share:g} %{listed}")
            self.text(f"WRONG {self.wrong[-1]}")


def in_parallel(function: Callable[[Task], Result], tasks: Iterable[Task], jobs: int = 1) -> Iterator[Result]:
    """Yield the results of tasks in their order, computed by some processes."""
    if jobs == 1:
        yield from map(function, tasks)
        return
    with Pool(jobs) as pool:
        yield from pool.imap(function, tasks, chunksize=1)


def module_of(name: str) -> ModuleType:
    """Return a campaign: a module of this folder, or with a dot one of tests/."""
    return importlib.import_module(f"tests.{name}" if "." in name else f"tests.campaigns.{name}")


def options_of(campaign: ModuleType, arguments: Sequence[str]) -> Mapping[str, Any]:
    """Return the keyword arguments of a campaign from those of its command."""
    name = campaign.__name__.rpartition(".")[2]
    parser = argparse.ArgumentParser(
        prog=f"python -m tests.campaigns {name}",
        description=campaign.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--short", action="store_true", help="the short form, of which options can be changed")
    for option, parameter in inspect.signature(campaign.main).parameters.items():
        default = parameter.default
        if isinstance(default, bool):
            kind: dict[str, Any] = {"action": "store_true"}
        elif isinstance(default, tuple):
            kind = {"nargs": "*", "type": type(default[0]) if default else str}
        else:
            kind = {"type": type(default)}
        if option != "report":
            parser.add_argument(f"--{option.replace('_', '-')}", default=argparse.SUPPRESS, **kind)
    chosen = vars(parser.parse_args(arguments))
    return (campaign.SHORT if chosen.pop("short") else {}) | chosen


def run(name: str, folder: Path, arguments: Sequence[str] = ()) -> Report:
    """Run a campaign with the arguments of its command, files in a folder, and return its report."""
    campaign, report = module_of(name), Report(folder)
    campaign.main(report, **options_of(campaign, arguments))
    return report
