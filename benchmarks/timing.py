"""Processor time of all processes, the least of several runs: other load disturbs it little. Linux only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.jobs import cpu_s
from pipeline.workflow.jobs.workers import ENVIRONMENT

HOUSE = Path(__file__).resolve().parent.parent
LAUNCHER = Path(__file__).with_name("launcher.py")
LONGEST_ORPHAN_S = 60.0


class Cost(NamedTuple):
    """Cost of a command with all its descendants."""

    cpu_s: float  # user and system
    peak_mb: float  # memory of the largest process at its peak
    output: str


def best_s(action: Callable[[], object], *, runs: int = 5) -> float:
    """Return the least processor time of ``runs`` calls, s."""
    return best_in_turn_s({"": action}, rounds=runs)[""]


def best_in_turn_s(actions: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, float]:
    """Return the least processor time of each action, s; with that of child processes.

    The actions run in turns, so that other load affects all alike.
    """
    best = dict.fromkeys(actions, float("inf"))
    for _ in range(rounds):
        for name, action in actions.items():
            start = cpu_s()
            action()
            best[name] = min(best[name], cpu_s() - start)
    return best


def cost_of(command: Sequence[str], *, house: Path = HOUSE, longest_orphan_s: float = LONGEST_ORPHAN_S) -> Cost:
    """Return the cost of a command that runs in a checkout, with its code and the environment of a worker.

    Raises:
        RuntimeError: the command failed, or a process that it started outlived it by too long; with the end of its
            output.
    """
    environment = os.environ | ENVIRONMENT | {"PYTHONPATH": str(house)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each process would compile all modules
    with tempfile.TemporaryDirectory() as folder:
        report, printed, errors = (Path(folder) / name for name in ("cost.json", "printed", "errors"))
        with printed.open("w") as output, errors.open("w") as error:  # a pipe would wait for all who could write to it
            done = subprocess.run(  # noqa: S603
                [sys.executable, "-I", str(LAUNCHER), str(report), str(longest_orphan_s), *command],
                cwd=house, env=environment, check=False, stdout=output, stderr=error,
            )  # fmt: skip
        words = printed.read_text()
        if done.returncode:
            raise RuntimeError(f"{house}: {' '.join(command)}:\n{(words + errors.read_text())[-3000:]}")
        return Cost(**json.loads(report.read_text(encoding="utf-8")), output=words)


def cost_of_run(study: Path, *options: str) -> Cost:
    """Return the cost of the workflow on a study; two jobs at a time on every machine."""
    return cost_of([sys.executable, "-m", "pipeline", "run", str(study), *options, "--cores", "2"])
