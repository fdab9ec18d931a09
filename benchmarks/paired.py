"""A whole study by this checkout and by an earlier commit, in turns on the same machine.

``python -m benchmarks.paired COMMIT [SESSIONS TRIALS [SECONDS]]`` checks the commit out into a temporary git worktree,
generates one study and runs it with both. Each ratio is that of the best of several runs in turn, so that other load
affects both alike.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.figures import Figure, cores, run_alone
from benchmarks.generated import write_study
from benchmarks.timing import HOUSE
from pipeline.workflow.open_study import SESSION_STEPS

TITLE = "This checkout against an earlier commit"
ROUNDS = 3
MEMORY_STEPS = ("read", "clean", "kinetics", "cycles")


def measure(commit: str, sessions: int = 6, trials: int = 20, duration_s: float = 2.5) -> list[Figure]:
    """Return the cost of runs, jobs, files and memory as shares of the commit's."""
    with earlier(commit) as before, tempfile.TemporaryDirectory() as folder:
        houses = {"before": before, "now": HOUSE}
        write_study(Path(folder) / "study", sessions=sessions, trials=trials, duration_s=duration_s)
        studies = {name: Path(folder) / name for name in houses}
        for study in studies.values():
            shutil.copytree(Path(folder) / "study", study)
        figures = []
        for what, prepare in RUNS.items():
            best = {name: float("inf") for name in houses}
            for number in range(ROUNDS):
                for name, house in houses.items():
                    prepare(studies[name], number)
                    best[name] = min(best[name], run_s(house, studies[name]))
            figures.append(_share(what, best, "s"))
        sizes = {name: _size_mb(study / "derived") for name, study in studies.items()}
        figures.append(_share("size of derived", sizes, "MB"))
        session = next(study.name for study in sorted((Path(folder) / "study").glob("sub-*")))
        alone = {name: float("inf") for name in houses}
        for _ in range(ROUNDS):
            for name, house in houses.items():
                alone[name] = min(alone[name], jobs(house, studies[name], ",".join(SESSION_STEPS), session)[0])
        figures.append(_share(f"jobs of a session of {trials} in one process", alone, "s"))
        for step in MEMORY_STEPS:
            peaks = {name: jobs(house, studies[name], step, session)[1] for name, house in houses.items()}
            figures.append(_share(f"peak memory of {step}", peaks, "MB"))
    return figures


@contextmanager
def earlier(commit: str) -> Iterator[Path]:
    """Check a commit out into a temporary git worktree."""
    with tempfile.TemporaryDirectory() as folder:
        house = Path(folder) / "house"
        git = ["git", "-C", str(HOUSE), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(house), commit], check=True)  # noqa: S603
        try:
            yield house
        finally:
            subprocess.run([*git, "remove", "--force", str(house)], check=True)  # noqa: S603


def _forget(study: Path, _: int) -> None:
    for folder in ("derived", "logs", ".snakemake"):
        shutil.rmtree(study / folder, ignore_errors=True)


def _change_a_trial(study: Path, number: int) -> None:
    shutil.copy(study / f"sub-0001/walk_{number % 2 + 2:02d}.c3d", study / "sub-0001/walk_01.c3d")


def _change_a_setting(study: Path, number: int) -> None:
    text = f"body_model: isb_clusters\nkinetics: {{gravity_m_s2: {9.8 + number / 1000}}}\n"
    (study / "study.yaml").write_text(text, encoding="utf-8")


RUNS: Mapping[str, Callable[[Path, int], object]] = {
    "cold": _forget,
    "nothing to do": lambda _study, _number: None,
    "one changed trial": _change_a_trial,
    "one changed setting of kinetics": _change_a_setting,
}


def run_s(house: Path, study: Path) -> float:
    """Return the wall time of the workflow of a checkout, s."""
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores()), "--directory", str(study)]
    start = time.perf_counter()
    _output(house, command)
    return time.perf_counter() - start


def jobs(house: Path, study: Path, steps: str, session: str) -> tuple[float, float]:
    """Return wall time, s, and peak memory, MB, of jobs of a session in one process of a checkout."""
    start = time.perf_counter()
    peak = float(_output(house, [sys.executable, "-m", "benchmarks.jobs", str(study), steps, session]))
    return time.perf_counter() - start, peak


def _output(house: Path, command: list[str]) -> str:
    environment = os.environ | {"PYTHONPATH": str(house)}
    done = subprocess.run(  # noqa: S603
        command, cwd=house, env=environment, check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{house}: {' '.join(command)}:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def _size_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def _share(what: str, values: Mapping[str, float], unit: str) -> Figure:
    return Figure(
        f"{what}, over before", values["now"] / values["before"],
        detail=f"{values['now']:.3g} {unit}, before {values['before']:.3g}",
    )  # fmt: skip


if __name__ == "__main__":
    commit, *numbers = sys.argv[1:]
    run_alone(TITLE, lambda: measure(commit, *map(int, numbers[:2]), *map(float, numbers[2:3])))
