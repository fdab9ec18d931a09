"""``gaitlab run``: start Snakemake on a study, from any folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ..errors import UserError

HOUSE = Path(__file__).resolve().parents[2]  # with Snakefile and profiles/, in a checkout and in a wheel
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
    if not (study / "study.yaml").is_file():
        raise UserError(str(study), "no study.yaml there", "give a study's folder; 'gaitlab init' writes one")
    command = [sys.executable, "-P", "-m", "snakemake", "--snakefile", str(HOUSE / "Snakefile")]
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
