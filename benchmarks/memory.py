"""Peak memory of each step, for trials of several lengths and for many trials.

Each step runs in a separate process.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import jobs
from benchmarks.figures import Figure
from benchmarks.generated import write_study
from benchmarks.growth import grown
from benchmarks.timing import cost_of
from pipeline.step import steps_to

TITLE = "Memory of a job at its peak"
LENGTHS_S = (5.0, 75.0, 150.0, 300.0)  # the first needs less than the imports, so it shows no growth
MOST_MB = 1074.0  # 1 GiB


def measure(
    trials: int = 20, duration_s: float = 10.0, *, lengths_s: Sequence[float] = LENGTHS_S,
    steps: Sequence[str] = steps_to("cycles"),
) -> list[Figure]:  # fmt: skip
    """Return the memory for a session of several trials, MB, and its growth with the length of a trial."""
    with tempfile.TemporaryDirectory() as folder:
        write_study(Path(folder) / "session", sessions=1, trials=trials, duration_s=duration_s)
        peaks = {f"a session of {trials} trials of {duration_s:g} s, MB": peaks_mb(Path(folder) / "session", steps)}
        for length_s in lengths_s:
            write_study(Path(folder) / f"{length_s:g}", sessions=1, trials=1, duration_s=length_s)
            peaks[f"one trial of {length_s:g} s, MB"] = peaks_mb(Path(folder) / f"{length_s:g}", steps)
    figures = [
        Figure(name, max(mb.values()), at_most=None if number else MOST_MB, detail=_by_step(mb))
        for number, (name, mb) in enumerate(peaks.items())
    ]
    most = {length_s: figure.value for length_s, figure in zip(lengths_s[1:], figures[2:], strict=True)}
    return [*figures, grown("MB a second of recording", most)] if most else figures


def peaks_mb(study: Path, steps: Sequence[str]) -> dict[str, float]:
    """Return the peak memory of each step for the only session of a study, MB."""
    command = [sys.executable, "-P", jobs.__file__, str(study), "1"]
    return {step: json.loads(cost_of([*command, step, "sub-0001"]).output)["peak_mb"] for step in steps}


def _by_step(peaks: dict[str, float]) -> str:
    return ", ".join(f"{step} {mb:.0f}" for step, mb in peaks.items())
