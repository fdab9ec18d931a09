"""Wall times: the best of several runs, which other load disturbs least."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

HOUSE = Path(__file__).resolve().parent.parent


def best_s(action: Callable[[], object], *, runs: int = 5) -> float:
    """Return the shortest wall time of ``runs`` calls, s."""
    return best_in_turn_s({"": action}, rounds=runs)[""]


def best_in_turn_s(actions: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, float]:
    """Return the shortest wall time of each action, s.

    The actions run in turns, so that other load affects all alike.
    """
    best = dict.fromkeys(actions, float("inf"))
    for _ in range(rounds):
        for name, action in actions.items():
            start = time.perf_counter()
            action()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def command_s(command: Sequence[str]) -> float:
    """Return the wall time of a command run in the project's folder, s."""
    start = time.perf_counter()
    output_of(command)
    return time.perf_counter() - start


def output_of(command: Sequence[str]) -> str:
    """Return the output of a command run in the project's folder.

    Raises:
        RuntimeError: the command failed; with the end of its output.
    """
    done = subprocess.run(command, cwd=HOUSE, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout
