"""A finished study run again, against the start of Snakemake itself."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import best_s

HOUSE = Path(__file__).resolve().parent.parent
SNAKEMAKE = [sys.executable, "-m", "snakemake"]


def measure() -> dict[str, float]:
    """Return the time of a rerun with nothing to do over that of ``snakemake --version``."""
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "demo"
        shutil.copytree(HOUSE / "data" / "demo", study, ignore=shutil.ignore_patterns("derived", ".snakemake", "logs"))
        run = [*SNAKEMAKE, "--cores", "2", "--directory", str(study)]
        _quietly(run)
        again = best_s(lambda: _quietly(run), runs=5)
        version = best_s(lambda: _quietly([*SNAKEMAKE, "--version"]), runs=5)
    return {"rerun of the demo with nothing to do over snakemake --version": again / version}


def _quietly(command: list[str]) -> None:
    subprocess.run(command, cwd=HOUSE, check=True, capture_output=True)  # noqa: S603
