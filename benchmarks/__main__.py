"""Run benchmarks and store their figures: ``python -m benchmarks [PART ...] [--full] [--against COMMIT]``.

The exit code is 1 if one of them failed, after the others have run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from benchmarks import (
    archive,
    growth,
    kernel,
    memory,
    opensim_inverse_kinematics,
    opensim_tool,
    paired,
    study,
    trial,
)
from benchmarks.figures import Figure, run_all

AGAINST = "6caf5f3"  # a fixed commit: against one that moves along, a slow-down in small steps stays unseen
USUAL, FULL, SMALLEST = "usual", "full", "smallest"  # the last is for tests
SHORT = {"sessions": 1, "trials": 1, "duration_s": 1.0}
READ = "derived/sub-0001/read.nc"
ARGUMENTS: dict[ModuleType, dict[str, dict[str, Any]]] = {
    kernel: {SMALLEST: {"rounds": 1, "frames": (1000, 200, 10)}},
    trial: {SMALLEST: {"rounds": 1, "longest_s": 2.5, "trials": 2, "public": 0}},
    opensim_tool: {SMALLEST: {"rounds": 1}},
    opensim_inverse_kinematics: {SMALLEST: {"rounds": 1, "growth": (20, 40, 60)}},
    study: {
        FULL: {"sessions": 20, "trials": 20},
        SMALLEST: SHORT
        | {"rounds": 1, "per_trial_size": (1, 1), "per_trial_options": ("--until", "read"), "files": (READ,)},
    },
    archive: {FULL: {"sizes": (500, 2000)}, SMALLEST: {"sizes": (2,), "own": 1, "trials": 1, "runs": (archive.ALL,)}},
    memory: {SMALLEST: {"trials": 1, "duration_s": 0.5, "lengths_s": (1.0,), "steps": ("read",)}},
    growth: {FULL: {"sessions": (1, 10, 100)}, SMALLEST: {"lengths_s": (1.0, 1.5, 2.0), "rounds": 1}},
    paired: {
        FULL: {"sessions": 20, "trials": 20},
        SMALLEST: SHORT | {"rounds": 1, "rows": ("session steps", "gaitlab --help")},
    },
}
NAMES = {module.__name__.rpartition(".")[2]: module for module in ARGUMENTS}


def parts(
    size: str = USUAL, *, names: Collection[str] = (), against: str = AGAINST
) -> dict[str, Callable[[], list[Figure]]]:
    """Return the measurements by title; ``names`` are those of modules, none for all."""
    chosen = {NAMES[name]: ARGUMENTS[NAMES[name]].get(size, {}) for name in names or NAMES}
    if paired in chosen:
        chosen[paired] = {"against": against} | chosen[paired]
    return {module.TITLE: partial(module.measure, **arguments) for module, arguments in chosen.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line names and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="PART", help=f"all by default: {', '.join(NAMES)}")
    parser.add_argument("--full", action="store_true", help="measure larger studies")
    parser.add_argument("--against", default=AGAINST, metavar="COMMIT", help="an earlier commit (default: %(default)s)")
    given = parser.parse_args(arguments)
    if unknown := {*given.names} - NAMES.keys():
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    return 1 if run_all(parts(FULL if given.full else USUAL, names=given.names, against=given.against)) else 0


if __name__ == "__main__":
    sys.exit(main())
