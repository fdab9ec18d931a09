"""``gaitlab run`` and ``gaitlab recover``: run Snakemake on a study from any folder, and unlock one before that."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ..errors import UserError
from ..tables.study_tables import refuse_no_study
from ..workflow.activity_lock import is_left_alone

HOUSE = Path(__file__).resolve().parents[2]  # in a checkout and in a wheel
LONGEST_WAIT_S = 60.0  # for jobs of a scheduler that was killed
# Until the workflow sets its own handlers, this one ends it at Ctrl-C or SIGTERM with one line.
START = r"""
import os, signal
def stop(number, _):
    os.write(2, b"Stopped by Ctrl-C.\n" if number == signal.SIGINT else b"Stopped by SIGTERM.\n")
    os._exit(128 + number)
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, stop)
signal.signal(signal.SIGTERM, stop)
from pipeline.workflow.run_snakemake import main
main()
"""


def run(study: Path, options: Sequence[str]) -> NoReturn:
    """Replace this process by one that runs the workflow, with the package named as in the Snakefile's imports."""
    refuse_no_study(study)
    command = [sys.executable, "-P", "-c", START, str(study), *options]
    os.execve(command[0], command, _environment())  # noqa: S606 (no shell is wanted)


def recover(study: Path, options: Sequence[str]) -> NoReturn:
    """Unlock a study and run it."""
    unlock(study)
    run(study, options)


def unlock(study: Path, *, wait_s: float = LONGEST_WAIT_S) -> None:
    """Remove Snakemake's locks from a study if no run is active.

    Snakemake looks at the locks before anything else, so this is a run of its own.

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
    if subprocess.run(command, env=_environment(), check=False).returncode:  # noqa: S603 (our own command, no shell)
        raise UserError(str(study), "cannot be unlocked", "see the message of Snakemake above")


def _environment() -> dict[str, str]:
    """Return the environment of processes that run Snakemake: they find this copy of the project first."""
    paths = [str(HOUSE), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
