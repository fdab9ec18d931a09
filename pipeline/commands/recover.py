"""``gaitlab recover``: unlock a study after a killed run, or after one that filled the disk."""

import subprocess
import sys
from pathlib import Path

from ..errors import UserError
from ..tables.study_tables import refuse_no_study
from ..workflow.activity_lock import is_left_alone
from .shared.environment import HOUSE, environment

LONGEST_WAIT_S = 60.0


def unlock(study: Path, *, wait_s: float = LONGEST_WAIT_S) -> None:
    """Remove Snakemake's locks from a study if no run is active.

    Snakemake looks at the locks before anything else, so this is a run of its own.

    Args:
        wait_s: how long to wait for jobs of a scheduler that was killed.

    Raises:
        UserError: the directory is no study, a run is active, or Snakemake cannot unlock it.
    """
    refuse_no_study(study)
    if not is_left_alone(study, longest_s=wait_s):
        raise UserError(str(study), "a run is at work on it", "let it finish, or end it first")
    if not any((study / ".snakemake" / "locks").glob("*")):
        return
    command = [sys.executable, "-P", "-m", "snakemake", "--unlock", "--workflow-profile", "none"]
    command += ["--snakefile", str(HOUSE / "Snakefile"), "--directory", str(study.resolve())]
    if subprocess.run(command, env=environment(), check=False).returncode:  # noqa: S603 (our own command, no shell)
        raise UserError(str(study), "cannot be unlocked", "see the message of Snakemake above")
