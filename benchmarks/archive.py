"""An archive: a study of many sessions, planned, gathered, reported, and run with nothing to do.

A few generated sessions are run; the others are links to their files, with records of their own. A page of the report
is 2.3 MB: 1,000 and 10,000 sessions of four walks take two hours and 24 GB of disk.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path

from benchmarks.figures import Figure, not_measured
from benchmarks.generated import write_study
from benchmarks.timing import Cost, cost_of_run
from pipeline.workflow import checksums
from pipeline.workflow.open_study import open_study, outputs_of
from tests.support.processes.browser import browsing, found_chromium

TITLE = "An archive of many sessions"
MOST_GROWTH, MOST_MB, MOST_OVERVIEW_MB, MOST_LOAD_S = 1.1, 2000.0, 10.0, 2.0
ALL = "planned, all jobs (--dry-run --forceall)"
RUNS = {
    ALL: ["--dry-run", "--forceall", "--quiet", "all"],
    "study": ["derived/study.nc"],
    "pages and report": [],
    "nothing to do": [],
}


def measure(
    sizes: Sequence[int] = (50, 200), *, own: int = 4, trials: int = 4, runs: Collection[str] = tuple(RUNS)
) -> list[Figure]:
    """Return the cost of some sizes and its growth: the exponent of the number of sessions, 1 if proportional.

    Args:
        own, trials: sessions that are run, and walks of each.
    """
    cost, figures = dict[int, dict[str, Cost]](), []
    with tempfile.TemporaryDirectory() as folder:
        base, archive = Path(folder) / "base", Path(folder) / "archive"
        write_study(base, sessions=own, trials=trials)
        cost_of_run(base)
        for sessions in sizes:
            shutil.copytree(base, archive)
            extend(archive, sessions)
            cost[sessions] = {what: cost_of_run(archive, *RUNS[what]) for what in runs}
            for what, each in cost[sessions].items():
                name = f"{sessions} sessions of {trials} walks, {what}: MB at peak"
                figures.append(Figure(name, each.peak_mb, at_most=MOST_MB, detail=f"{each.cpu_s:.1f} s of one core"))
            figures += _overview(sessions, archive / "derived" / "report.html")
            shutil.rmtree(archive)
    for few, many in pairwise(sizes):
        for what in runs:
            exponent = math.log(cost[many][what].cpu_s / cost[few][what].cpu_s, many / few)
            name = f"{what}, exponent from {few} to {many} sessions"
            figures.append(Figure(name, exponent, at_most=MOST_GROWTH))
    return figures


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


def _overview(sessions: int, page: Path) -> list[Figure]:
    """Return the size of the overview and, if there is a Chromium, the time that it takes to load."""
    name = f"{sessions} sessions, overview of the report"
    size = Figure(f"{name}, MB", page.stat().st_size / 1e6, at_most=MOST_OVERVIEW_MB)
    if not (chromium := found_chromium()):
        return [size, not_measured("the time to load it, there is no Chromium")]
    with tempfile.TemporaryDirectory() as profile, browsing(chromium, Path(profile)) as tab:
        tab.open(page)
        return [size, Figure(f"{name}, s until loaded", tab.open(page), at_most=MOST_LOAD_S)]
