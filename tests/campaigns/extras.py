"""Each extra is deleted from a copy of the checkout, with its tests, and all of them together: does the rest work?

``make test-extras``. Without it, no command and no step of it is there, the demonstration study is planned as with it,
every test can be imported, and those of ``make quick`` pass; but not those of the pages, which describe all extras.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from pipeline.extra import every_extra
from pipeline.reference import resolve
from tests.campaigns.mutations import copy_checkout
from tests.campaigns.runner import Report
from tests.support.checkout import DRY_RUN, HOUSE, jobs_in
from tests.support.studies.full_study import of_extras

EXTRAS = sorted(path.parent.name for path in (HOUSE / "pipeline" / "extras").glob("*/declaration.py"))
ROWS = ("tests/slow_tests.tsv", "tests/campaigns/reruns.tsv")  # tables with a line for each test or module
SHORT: dict[str, Any] = {}
BLOCKS = "tests/campaigns/mutations.txt"


def delete(names: Collection[str], checkout: Path) -> None:
    """Delete extras from a copy, with their tests and what is recorded of both: of code, settings and files."""
    sections = [resolve(step).name for name in names for step in every_extra()[name].steps]
    sections += [section for name in names for section in every_extra()[name].settings]
    files = [file for one in of_extras() if one.__name__.split(".")[-2] in names for file in one.FILES]
    recorded = [rf"\bextras/(?:{'|'.join(names)})/"]
    recorded += [rf"^setting\t{section}\." for section in sections]
    recorded += [rf"^study file\t{re.escape(file)}\t" for file in files]
    of_them = re.compile("|".join(recorded)).search
    for name in names:
        for folder in ("pipeline", "tests"):
            shutil.rmtree(checkout / folder / "extras" / name)
    for table in ROWS:
        _keep(checkout / table, "\n", lambda line: not of_them(line))
    _keep(checkout / BLOCKS, "\n\n", lambda block: not of_them(block))
    python(checkout, "-m", "tests.walls").check_returncode()  # which lists the rooms


def _keep(path: Path, separator: str, is_kept: Callable[[str], bool]) -> None:
    parts = path.read_text(encoding="utf-8").split(separator)
    path.write_text(separator.join(filter(is_kept, parts)), encoding="utf-8")


def python(checkout: Path, *arguments: str, packages: Iterable[Path] = ()) -> subprocess.CompletedProcess[str]:
    """Run Python in a copy, with the packages of further folders."""
    paths = os.pathsep.join(map(str, (checkout, *packages)))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)


def commands_and_jobs(checkout: Path) -> tuple[set[str], set[str]]:
    """Return the commands in the help of a copy, and the jobs that its demonstration study has."""
    shown = python(checkout, "-m", "pipeline", "--help")
    assert shown.returncode == 0, shown.stderr
    planned = python(checkout, "-m", "pipeline", "run", "data/demo", *DRY_RUN)
    assert planned.returncode == 0, planned.stdout + planned.stderr
    listed = shown.stdout.partition("Examples:")[0]
    return {*re.findall(r"^  (\S.*?)  ", listed, re.MULTILINE)}, jobs_in(planned.stdout + planned.stderr)


def faults(names: Collection[str], checkout: Path) -> Iterator[str]:
    """Yield what is wrong with a copy after extras are deleted from it."""
    commands, jobs = commands_and_jobs(checkout)
    declared = [every_extra()[name] for name in names]
    commands -= {command.name for extra in declared if extra.commands for command in resolve(extra.commands)}
    steps = {resolve(step).name for extra in declared for step in extra.steps}
    jobs = {job for job in jobs if job.partition(":")[0] not in steps}
    delete(names, checkout)
    try:
        if commands_and_jobs(checkout) != (commands, jobs):
            yield f"other commands or jobs than {sorted(commands)}, {sorted(jobs)}"
    except AssertionError as error:
        yield f"a command fails:\n{error}"
    for words in (("--collect-only",), ("--quick", "--ignore=tests/docs", "--tb=short")):
        run = python(checkout, "-m", "pytest", "-p", "no:cacheprovider", *words, "tests")
        if run.returncode:
            yield f"pytest {' '.join(words)} ends with {run.returncode}:\n{run.stdout[-3000:]}{run.stderr[-1000:]}"


def main(report: Report) -> None:
    """Report what is wrong without each extra, and without all of them."""
    for names in dict.fromkeys([*((name,) for name in EXTRAS), tuple(EXTRAS)]):
        found = [*faults(names, copy_checkout(HOUSE, report.new_folder()))]
        report.text("\n  ".join([f"without {' and '.join(names)}:", *(found or ["the rest works"])]))
        report.allow(0, len(found), 1, f"the rest without {' and '.join(names)}")
