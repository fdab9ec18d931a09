"""Figures with their goals, printed as a table and stored as JSON."""

from __future__ import annotations

import json
import os
import platform
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numpy", "scipy", "pandas", "xarray", "netCDF4", "ezc3d", "snakemake", "pin", "opensim")


@dataclass(frozen=True)
class Figure:
    """A measured value with name, optional goal and details; a ratio has no unit."""

    name: str
    value: float
    at_most: float | None = None
    at_least: float | None = None
    detail: str = ""

    @property
    def goal(self) -> str:
        """Return the goal in words, or nothing."""
        limits = {"at most": self.at_most, "at least": self.at_least}
        return " and ".join(f"{words} {limit:g}" for words, limit in limits.items() if limit is not None)

    @property
    def met(self) -> bool | None:
        """Return true if the goal is met, None without a goal. NaN meets no goal."""
        if not self.goal:
            return None
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )


def not_measured(reason: str) -> Figure:
    """Return a placeholder for figures that this machine cannot measure."""
    return Figure(f"not measured: {reason}", float("nan"))


def show(title: str, figures: Iterable[Figure]) -> None:
    """Print one part's table: measured, goal, met, name."""
    print(f"\n{title}\n{'measured':>10}  {'goal':14}{'met':5}")  # noqa: T201
    for figure in figures:
        met = {None: "", True: "yes", False: "no"}[figure.met]
        detail = f" ({figure.detail})" if figure.detail else ""
        print(f"{figure.value:10.3g}  {figure.goal:14}{met:5}{figure.name}{detail}", flush=True)  # noqa: T201


def run_all(parts: Mapping[str, Callable[[], Iterable[Figure]]]) -> None:
    """Measure, print and store all parts; a failed part does not stop the others."""
    load_before = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    began, found = time.perf_counter(), dict[str, list[Figure]]()
    for title, measure in parts.items():
        try:
            found[title] = list(measure())
        except Exception as error:
            traceback.print_exc()
            found[title] = [not_measured(f"{type(error).__name__}, see above")]
        show(title, found[title])
    now = datetime.now(UTC).isoformat(timespec="seconds")
    record = {
        "when": now,
        "took_s": round(time.perf_counter() - began),
        "machine": machine() | {"load_average_before": load_before},
        "versions": {"python": platform.python_version()} | versions(),
        "parts": {title: [_row(figure) for figure in figures] for title, figures in found.items()},
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{now.replace(':', '')}.json"
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(f"\nstored in {path}")  # noqa: T201


def run_alone(title: str, measure: Callable[[], Iterable[Figure]]) -> None:
    """Measure, print and store one part."""
    run_all({title: measure})


def machine() -> dict[str, object]:
    """Return system, processor, cores and memory of this machine."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        processor = platform.processor()
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "system": platform.platform(),
        "processor": processor,
        "cores": cores(),
        "memory_gib": round(memory_gib, 1),
    }


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def versions() -> dict[str, str | None]:
    """Return the versions of the compared packages; None if not installed."""
    found: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def _row(figure: Figure) -> dict[str, object]:
    """Return a figure for JSON, which has no NaN."""
    value = figure.value if abs(figure.value) < float("inf") else None
    return {"name": figure.name, "value": value, "goal": figure.goal, "met": figure.met, "detail": figure.detail}
