"""Peak memory of each step, for trials of several lengths and for many trials.

``python -m benchmarks.memory`` runs each step in a separate process.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.figures import Figure, run_alone
from benchmarks.generated import write_study
from benchmarks.growth import grown
from benchmarks.timing import output_of
from pipeline.workflow.open_study import SESSION_STEPS

TITLE = "Memory of a job at its peak"
LENGTHS_S = (5.0, 75.0, 150.0, 300.0)  # the first needs less than the imports, so it shows no growth
MANY, MANY_S = 20, 10.0
MOST_MB = 1074.0  # 1 GiB


def measure() -> list[Figure]:
    """Return the memory for 20 trials, MB, and its growth with the length of a trial."""
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder) / "session"
        write_study(session, sessions=1, trials=MANY, duration_s=MANY_S)
        of_session = peaks_mb(session)
        at = {}
        for length_s in LENGTHS_S:
            study = Path(folder) / f"{length_s:g}"
            write_study(study, sessions=1, trials=1, duration_s=length_s)
            at[length_s] = peaks_mb(study)
    most = {length_s: max(peaks.values()) for length_s, peaks in at.items()}
    return [
        Figure(
            f"a session of {MANY} trials of {MANY_S:g} s, MB", max(of_session.values()), at_most=MOST_MB,
            detail=_by_step(of_session),
        ),
        *(Figure(f"one trial of {length_s:g} s, MB", most[length_s], detail=_by_step(at[length_s])) for length_s in at),
        grown("MB a second of recording", {length_s: most[length_s] for length_s in LENGTHS_S[1:]}),
    ]  # fmt: skip


def peaks_mb(study: Path) -> dict[str, float]:
    """Return the peak memory of each step for the only session of a study, MB."""
    return {step: _peak_mb(study, step) for step in SESSION_STEPS}


def _peak_mb(study: Path, step: str) -> float:
    return float(output_of([sys.executable, "-m", "benchmarks.jobs", str(study), step, "sub-0001"]))


def _by_step(peaks: dict[str, float]) -> str:
    return ", ".join(f"{step} {mb:.0f}" for step, mb in peaks.items())


if __name__ == "__main__":
    run_alone(TITLE, measure)
