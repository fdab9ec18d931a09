"""The steps study and report for forty sessions, compared with writing study.nc.

``python -m benchmarks.report`` runs the demonstration study once and uses its files for all sessions.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import xarray as xr

from benchmarks.figures import Figure, run_alone
from benchmarks.timing import HOUSE
from pipeline.results import netcdf, schema
from pipeline.steps.report.page_names import PAGES
from pipeline.steps.report.step import report
from pipeline.steps.study.step import per_participant, study
from pipeline.tables.csv_files import csv_of
from pipeline.workflow import report_job

TITLE = "The report"
MOST_TIMES_WRITING = 1.0
SESSIONS = [f"sub-{i:02d}" for i in range(40)]
FILES = ("cycles", "representative", "calibrate")


def measure() -> list[Figure]:
    """Return the processor time of both steps and the size of the largest page."""
    with tempfile.TemporaryDirectory() as folder:
        derived = Path(folder) / "forty" / "derived"
        _run_demo(Path(folder) / "demo", derived)
        gathered_s = _seconds(lambda: _study(derived))
        written = netcdf.load(derived / "study.nc")
        written_s = min(_seconds(lambda: netcdf.save(derived / "again.nc", written)) for _ in range(3))
        report_s = min(_seconds(lambda: _report(derived)) for _ in range(2))
        few_s, many_s = (_gathering_s(derived, sessions=count) for count in (10, 40))
        sizes = [page.stat().st_size / 1e6 for page in derived.rglob("*.html")]
    return [
        Figure("step study of 40 sessions, files included, s", gathered_s),
        Figure("its function study alone, ms a session", 1e3 * many_s / 40),
        Figure("that, a session of 40 over one of 10", many_s / 40 / (few_s / 10)),
        Figure("step report of 40 sessions, s", report_s),
        Figure(
            "report of 40 sessions over twice writing study.nc plus 10 s", report_s / (2 * written_s + 10),
            at_most=MOST_TIMES_WRITING,
        ),
        Figure("report of 40 sessions, its largest page, MB", max(sizes)),
    ]  # fmt: skip


def _seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def _run_demo(demo: Path, derived: Path) -> None:
    """Run the demonstration study and link its files as forty sessions."""
    shutil.copytree(HOUSE / "data" / "demo", demo, ignore=shutil.ignore_patterns("derived", ".snakemake", "logs"))
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--directory", str(demo)]
    subprocess.run(command, cwd=HOUSE, check=True, capture_output=True)  # noqa: S603
    for i, session in enumerate(SESSIONS):
        (derived / session).mkdir(parents=True)
        for name in FILES:
            (derived / session / f"{name}.nc").hardlink_to(demo / "derived" / f"sub-0{i % 2 + 1}" / f"{name}.nc")


def _gathering_s(derived: Path, *, sessions: int) -> float:
    """Return the processor time of the function study, s, with inputs in memory."""
    cycles = _cycles(derived, SESSIONS[:sessions])
    about = _about(cycles)
    return min(_seconds(lambda: study(cycles, sessions=about, reference=None, gdi_features=None)) for _ in range(3))


def _cycles(derived: Path, sessions: list[str]) -> dict[str, xr.Dataset]:
    return {session: netcdf.load(derived / session / "cycles.nc") for session in sessions}


def _about(cycles: dict[str, xr.Dataset]) -> dict[str, dict[str, Any]]:
    """Return the rows of the tables, with one participant per session."""
    return {
        session: {
            "participant": {"participant_id": session, "mass_kg": "70"},
            "trials": {
                name: {"condition": name.rpartition("_")[0], "role": "gait"} for name in data.trial.values.tolist()
            },
        }
        for session, data in cycles.items()
    }


def _study(derived: Path) -> None:
    """Run the step study with its files."""
    cycles = _cycles(derived, SESSIONS)
    dataset, metrics, quality = study(cycles, sessions=_about(cycles), reference=None, gdi_features=None)
    netcdf.save(derived / "study.nc", schema.described("study", dataset))
    means, symmetry = per_participant(metrics)
    for name, table in {"metrics": metrics, "quality": quality, "means": means, "symmetry": symmetry}.items():
        netcdf.write_whole(derived / f"{name}.csv", csv_of(table))


def _report(derived: Path) -> None:
    """Run the step report as the workflow does."""
    inputs = {name: [derived / f"{name}.csv"] for name in ("metrics", "quality", "means", "symmetry")}
    inputs["study"] = [derived / "study.nc"]
    inputs |= {name: [derived / session / f"{name}.nc" for session in SESSIONS] for name in FILES}
    settings: dict[str, Any] = {
        "title": "Forty",
        "reference": None,
        "moment_signs": "clinical",
        "axes": "fixed",
        "participants": SESSIONS,
        "recorded": {},
    }
    with chdir(derived.parent):
        shutil.rmtree(Path("derived") / PAGES, ignore_errors=True)  # else the pages stay as they are
        report_job.run({"arguments": {}}, report, settings, inputs, {})


if __name__ == "__main__":
    run_alone(TITLE, measure)
