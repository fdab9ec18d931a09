"""The memory that each step takes at its peak: by the length of a trial, and by the number of trials in a session.

``python -m benchmarks.memory``: each step in a process of its own, as in the workflow.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.generated import write_study
from pipeline.workflow import SESSION_STEPS

HOUSE = Path(__file__).resolve().parent.parent
LENGTHS_S = (10.0, 40.0, 160.0)
MANY = 20  # trials of the shortest length in one session


def measure() -> dict[str, float]:
    """Return MB at the peak for each step, and how a longer trial's share grows with its length.

    That is 1 where memory is linear in it: MB a second from the second to the longest trial over those from the
    shortest to the second. What importing takes hides the growth among short trials, which makes it larger.
    """
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for trials, length_s in [*((1, length) for length in LENGTHS_S), (MANY, LENGTHS_S[0])]:
            study = Path(folder) / f"{trials}_{length_s:g}"
            write_study(study, sessions=1, trials=trials, duration_s=length_s)
            for step in SESSION_STEPS:
                found[f"{step}, {trials} x {length_s:g} s, MB at peak"] = peak_mb(study, step)
    short, middle, long = LENGTHS_S
    for step in SESSION_STEPS:
        at = {length: found[f"{step}, 1 x {length:g} s, MB at peak"] for length in LENGTHS_S}
        first, then = (at[middle] - at[short]) / (middle - short), (at[long] - at[middle]) / (long - middle)
        found[f"{step}, MB a second from {middle:g} to {long:g} s"] = then
        found[f"{step}, that over MB a second from {short:g} to {middle:g} s"] = then / first if first > 0.05 else 1.0
    return found


def peak_mb(study: Path, step: str) -> float:
    """Return the most memory of one step's job for the only session of a study, MB."""
    command = [sys.executable, "-m", "benchmarks.jobs", str(study), step, "sub-0001"]
    return float(subprocess.run(command, cwd=HOUSE, check=True, capture_output=True, text=True).stdout)  # noqa: S603


if __name__ == "__main__":
    from benchmarks.__main__ import keep

    keep(measure())
