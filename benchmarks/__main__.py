"""Run every benchmark, print the ratios, store them as JSON: ``python -m benchmarks``."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import kernel, report, study, trial, workflow
from pipeline.provenance import versions

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Measure side by side in one run: machines differ, ratios hold."""
    keep(kernel.measure() | trial.measure() | workflow.measure() | report.measure() | study.measure())


def keep(ratios: dict[str, float]) -> None:
    """Print ratios and store them with what they were measured on."""
    for name, value in ratios.items():
        print(f"{value:10.3g}  {name}")  # noqa: T201
    record = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"cores": os.cpu_count(), "processor": platform.machine(), "python": platform.python_version()},
        "versions": versions(["numpy", "scipy", "xarray", "netCDF4", "ezc3d", "snakemake"]),
        "ratios": ratios,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{record['when'].replace(':', '')}.json"  # type: ignore[attr-defined]
    path.write_text(json.dumps(record, indent=2) + "\n")
    print(f"stored in {path}")  # noqa: T201


if __name__ == "__main__":
    main()
