"""Figures with their goals, printed as a table and stored as JSON."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

MEASURED = ("pipeline", "config", "profiles", "Snakefile")
HOUSE = Path(__file__).resolve().parents[1]
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
    measured: bool = True  # false where an optional package or example is not there; the value is then NaN

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
    """Return a placeholder for figures that need an optional package or example, which is not there."""
    return Figure(f"not measured: {reason}", float("nan"), measured=False)


def show(title: str, figures: Iterable[Figure]) -> None:
    """Print one part's table: measured, goal, met, name."""
    print(f"\n{title}\n{'measured':>10}  {'goal':14}{'met':5}")  # noqa: T201
    for figure in figures:
        met = {None: "", True: "yes", False: "no"}[figure.met]
        detail = f" ({figure.detail})" if figure.detail else ""
        print(f"{figure.value:10.3g}  {figure.goal:14}{met:5}{figure.name}{detail}", flush=True)  # noqa: T201


def run_all(parts: Mapping[str, Callable[[], Iterable[Figure]]]) -> list[str]:
    """Measure, print and store all parts, and return the titles of those that failed; these do not stop the others."""
    load_before, measured_commit = round(os.getloadavg()[0], 2), commit()
    began, found, failed = time.perf_counter(), dict[str, list[Figure]](), list[str]()
    for title, measure in parts.items():
        try:
            found[title] = [*measure()]
        except Exception:
            traceback.print_exc()
            failed.append(title)
            continue
        show(title, found[title])
        if any(one.measured and not math.isfinite(one.value) for one in found[title]):
            failed.append(title)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    record = {
        "when": now,
        "took_s": round(time.perf_counter() - began),
        "machine": machine() | {"load_average_before": load_before},
        "commit": measured_commit,
        "versions": {"python": platform.python_version()} | versions(),
        "parts": {
            title: [_row(figure) for figure in figures] for title, figures in found.items() if title not in failed
        },
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{now.replace(':', '')}.json"
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(f"\nstored in {path}")  # noqa: T201
    print(f"failed: {'; '.join(failed)}" if failed else f"all {len(parts)} parts ran")  # noqa: T201
    return failed


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


def commit() -> str:
    """Return the commit that last changed what is measured, and whether it has been changed since.

    It is unknown without git, and where the files are not those of a commit, as in a downloaded archive.
    """
    git = ["git", "-C", str(HOUSE)]
    try:
        last, changed = (
            subprocess.run([*git, *arguments, "--", *MEASURED], check=True, capture_output=True, text=True).stdout  # noqa: S603
            for arguments in (["log", "-1", "--format=%h"], ["status", "--porcelain"])
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return last.strip() + " and changes" * bool(changed) if last else "unknown"


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


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
