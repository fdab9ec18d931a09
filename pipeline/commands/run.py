"""``gaitlab run``: start Snakemake on a study, from any folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ..errors import INTERRUPTED
from ..tables.study_tables import refuse_no_study

HOUSE = Path(__file__).resolve().parents[2]  # with Snakefile and profiles/, in a checkout and in a wheel
# Until the Snakefile sets its own handler, this one ends Snakemake at Ctrl-C with one line instead of a traceback.
START = f"""
import os, runpy, signal
def stop(*_):
    os.write(2, b"Stopped by Ctrl-C.\\n")
    os._exit({INTERRUPTED})
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, stop)
runpy.run_module("snakemake", run_name="__main__", alter_sys=True)
"""
CHOOSES_CORES = ("-c", "--cores", "-j", "--jobs", "-e", "--executor", "--profile")


def run(study: Path, options: Sequence[str]) -> NoReturn:
    """Replace this process by Snakemake, so that signals and the exit code are Snakemake's own.

    Args:
        study: the study's directory.
        options: further options of Snakemake.

    Raises:
        UserError: the directory is no study.
    """
    command = snakemake_command(study, options)
    os.execve(command[0], command, environment())  # noqa: S606 (no shell is wanted)


def snakemake_command(study: Path, options: Sequence[str]) -> list[str]:
    """Return the command that runs the workflow on a study, on all cores unless the options choose.

    Raises:
        UserError: the directory is no study.
    """
    refuse_no_study(study)
    command = [sys.executable, "-P", "-c", START, "--snakefile", str(HOUSE / "Snakefile")]
    command += ["--workflow-profile", str(HOUSE / "profiles" / "default"), "--directory", str(study.resolve())]
    if not any(option.startswith(CHOOSES_CORES) for option in options):
        command += ["--cores", "all"]
    return [*command, *_with_paths_of_profiles(options)]


def environment() -> dict[str, str]:
    """Return the environment for Snakemake: it finds the logger plugin of this copy of the project first."""
    paths = [str(HOUSE), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _with_paths_of_profiles(options: Sequence[str]) -> list[str]:
    """Return the options with the path of a profile of this project, such as slurm, instead of its name."""
    shipped = {folder.name: str(folder) for folder in (HOUSE / "profiles").iterdir()}
    before = ["", *options]
    return [
        shipped.get(option, option) if previous == "--profile" else option
        for previous, option in zip(before, options, strict=False)
    ]
