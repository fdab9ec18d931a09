"""``python -m pipeline recover``: a run that was killed, or whose disk was full, unlocked and taken up again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import UserError
from ..workflow.activity_lock import is_left_alone

HOUSE = Path(__file__).resolve().parents[2]
LONGEST_WAIT_S = 60.0


def recover(study: Path, *, cores: str, further: Sequence[str] = (), wait_s: float = LONGEST_WAIT_S) -> int:
    """Unlock a study where nothing is at work on it, run the workflow and return its exit code.

    Unlocking is a run of its own: Snakemake looks at the lock before it looks at what is incomplete.

    Args:
        study: the study's directory.
        cores: as for ``snakemake --cores``.
        further: arguments for snakemake.
        wait_s: how long to wait for jobs whose scheduler was killed.

    Raises:
        UserError: no study there, or a run is at work on it.
    """
    if not (study / "study.yaml").is_file():
        raise UserError(f"{study}: no study.yaml there; is this the study directory?")
    if not is_left_alone(study, longest_s=wait_s):
        raise UserError(f"{study}: a run is at work on it; let it finish, or end it first")
    command = [sys.executable, "-m", "snakemake", "--directory", str(study.resolve())]
    if any((study / ".snakemake" / "locks").glob("*")):
        unlocked = subprocess.run([*command, "--unlock"], cwd=HOUSE, check=False)  # noqa: S603 - no shell
        if unlocked.returncode:
            return unlocked.returncode
    return subprocess.run([*command, "--cores", cores, *further], cwd=HOUSE, check=False).returncode  # noqa: S603
