"""An archive: a study of many sessions, planned, gathered, reported, and run with nothing to do.

``python -m benchmarks.archive 1000 10000`` measures two sizes (two hours and 24 GB of disk for these; a page of the
report is 2.3 MB). A few generated sessions are run; the others are links to their files, with records of their own.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL
from typing import NamedTuple

import psutil  # type: ignore[import-untyped]

from benchmarks.figures import Figure, run_alone
from benchmarks.generated import write_study
from benchmarks.jobs import high_water_kb
from benchmarks.timing import HOUSE
from pipeline.workflow import checksums
from pipeline.workflow.open_study import open_study, outputs_of
from tests.support.processes.browser import browsing, found_chromium

TITLE = "An archive of many sessions"
OWN, TRIALS = 4, 4  # sessions that are run, walks of each
MOST_GROWTH, MOST_MB, MOST_OVERVIEW_MB, MOST_LOAD_S = 1.1, 2000.0, 10.0, 2.0
ALL = "planned, all jobs (--dry-run --forceall)"
COMMANDS = {
    ALL: ["--dry-run", "--forceall", "--quiet", "all"],
    "study": ["derived/study.nc"],
    "pages and report": [],
    "nothing to do": [],
}


class Cost(NamedTuple):
    """Processor time of a command and its children, s, and the memory of the largest of them at its peak, MB."""

    cpu_s: float
    peak_mb: float


def measure(few: int = 50, many: int = 200) -> list[Figure]:
    """Return the cost of both sizes and its growth: the exponent of the number of sessions, 1 if proportional."""
    cost, found = {}, []
    with tempfile.TemporaryDirectory() as folder:
        base, archive = Path(folder) / "base", Path(folder) / "archive"
        write_study(base, sessions=OWN, trials=TRIALS)
        spent(base, [])
        for sessions in (few, many):
            shutil.copytree(base, archive)
            extend(archive, sessions)
            cost[sessions] = {what: spent(archive, arguments) for what, arguments in COMMANDS.items()}
            found += [_figure(sessions, what, each) for what, each in cost[sessions].items()]
            found += _overview(sessions, archive / "derived" / "report.html")
            shutil.rmtree(archive)
    grown = {what: math.log(cost[many][what].cpu_s / cost[few][what].cpu_s, many / few) for what in COMMANDS}
    return found + [
        Figure(f"{what}, exponent from {few} to {many} sessions", exponent, at_most=MOST_GROWTH)
        for what, exponent in grown.items()
    ]


def extend(study: Path, sessions: int) -> None:
    """Make a study that has run one of ``sessions`` sessions, all finished."""
    own = sorted(path.name for path in study.glob("sub-*"))
    names = {f"sub-{number:05d}": own[number % len(own)] for number in range(sessions - len(own))}
    for table in ("participants.tsv", "segments.tsv", "trials.tsv"):
        with (study / table).open("a", encoding="utf-8") as handle:
            lines = (study / table).read_text(encoding="utf-8").splitlines()[1:]
            rows = {name: [line for line in lines if line.startswith(f"{name}\t")] for name in own}
            handle.writelines(row.replace(like, name) + "\n" for name, like in names.items() for row in rows[like])
    for name, like in names.items():
        for folder in (study, study / "derived"):
            (folder / name).mkdir()
            for file in (folder / like).iterdir():
                (folder / name / file.name).hardlink_to(file)
    # Snakemake's records of jobs: one for each output, named by the Base64 of its path
    records = {urlsafe_b64decode(file.name).decode(): file for file in (study / ".snakemake" / "metadata").iterdir()}
    opened, derived = open_study(study), study / "derived"
    for output, (step, session) in outputs_of(opened).items():
        if session in names and step != "page":
            like = names[session]
            record = records[f"derived/{output.replace(session, like)}"]
            copy = record.with_name(urlsafe_b64encode(f"derived/{output}".encode()).decode())
            copy.write_text(record.read_text().replace(like, session))
            known = checksums.recorded(derived, output.replace(session, like))
            inputs = {name.replace(like, session): digest for name, digest in known.inputs.items()} if known else {}
            key = opened.content_of_key(step, session)
            checksums.record(derived, [derived / output], inputs=inputs, key=key)
            dated = (derived / output).stat().st_mtime
            os.utime(checksums.record_path(derived, output), (dated, dated))


def spent(study: Path, arguments: list[str]) -> Cost:
    """Run the workflow with these arguments and return its cost.

    Raises:
        RuntimeError: the run failed.
    """
    command = [sys.executable, "-m", "pipeline", "run", str(study), *arguments, "--cores", "1"]
    seconds, peak_kb = dict[int, float](), 0
    running = psutil.Popen(command, cwd=HOUSE, stdout=DEVNULL, stderr=DEVNULL)
    while running.poll() is None:
        with suppress(psutil.Error):
            for process in (running, *running.children(recursive=True)):
                with suppress(psutil.Error, OSError, KeyError):
                    seconds[process.pid] = sum(process.cpu_times()[:2])
                    peak_kb = max(peak_kb, high_water_kb(process.pid))
        time.sleep(0.05)
    if running.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit code {running.returncode}")
    return Cost(sum(seconds.values()), peak_kb / 1000)


def _figure(sessions: int, what: str, cost: Cost) -> Figure:
    name = f"{sessions} sessions of {TRIALS} walks, {what}: MB at peak"
    return Figure(name, cost.peak_mb, at_most=MOST_MB, detail=f"{cost.cpu_s:.1f} s of one core")


def _overview(sessions: int, page: Path) -> list[Figure]:
    """Return the size of the overview and, if there is a Chromium, the time that it takes to load."""
    name, size_mb = f"{sessions} sessions, overview of the report", page.stat().st_size / 1e6
    found = [Figure(f"{name}, MB", size_mb, at_most=MOST_OVERVIEW_MB)]
    if chromium := found_chromium():
        with tempfile.TemporaryDirectory() as profile, browsing(chromium, Path(profile)) as tab:
            tab.open(page)
            found.append(Figure(f"{name}, s until loaded", tab.open(page), at_most=MOST_LOAD_S))
    return found


if __name__ == "__main__":
    run_alone(TITLE, lambda: measure(*map(int, sys.argv[1:3])))
