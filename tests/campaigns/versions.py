"""The same numbers from other versions of Python and of the libraries. ``make test-versions``.

``python -m tests.campaigns versions --environments python3.11=oldest python3.13=newest ...`` creates an environment
for each, with the lowest versions that pyproject.toml allows or with the newest ones. It runs the demonstration study,
and the shared studies if present, and compares every number of every output with this environment.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from tests.campaigns.runner import Report
from tests.support.checkout import HOUSE

ENVIRONMENTS = HOUSE / ".venv" / "versions"
STUDIES = (HOUSE / "data" / "demo", *sorted(HOUSE.parent.glob("shared/studies/*/study.yaml")))
SHORT: dict[str, Any] = {}
RELATIVE = 1e-9  # of a variable's largest number: far above rounding, far below measurement errors
ROUNDING = "disagreement"  # of the formulations is rounding itself and only has to stay small
OF_POWERS, POWER_W = "energy_closure", 100.0  # a small difference of powers of 100 W and more; milliwatts without noise

PRINT_VERSIONS = """
import platform
from importlib.metadata import version
print("Python", platform.python_version(), *(f"{name} {version(name)}" for name in ("numpy", "scipy", "xarray")))
"""


def main(report: Report, *, environments: tuple[str, ...] = ("python3.11=oldest",)) -> None:
    """Report the largest difference in each environment; those of Pythons that are not on this machine are left out."""
    studies = [path if path.is_dir() else path.parent for path in STUDIES]
    here = run_all(Path(sys.executable).parent, studies, report.new_folder())
    for name in environments:
        python, _, versions = name.partition("=")
        if not is_here(python):
            report.text(f"{name:20} not on this machine")
            continue
        binaries = environment(python, oldest=versions == "oldest")
        try:
            there = run_all(binaries, studies, report.new_folder())
            worst, where = max(differences(one, other) for one, other in zip(here, there, strict=True))
        except subprocess.CalledProcessError as error:
            worst, where = np.inf, error.stderr[-2000:]
        report.text(f"{name:20} {described(binaries)}: largest difference {worst:.1e} ({where})")
        report.allow(0, int(worst > RELATIVE), 1, f"{name}: other numbers")


def is_here(python: str) -> bool:
    """Return true if a Python starts; version managers also have commands for absent ones."""
    return (
        bool(shutil.which(python)) and not subprocess.run([python, "-V"], check=False, capture_output=True).returncode
    )


def environment(python: str, *, oldest: bool) -> Path:
    """Create or update a virtual environment with the project; return its bin folder."""
    path = ENVIRONMENTS / f"{python}-{'oldest' if oldest else 'newest'}"
    subprocess.run([python, "-m", "venv", path], check=True)
    install: list[str | Path] = [
        path / "bin" / "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--editable",
        HOUSE,
    ]
    if oldest:
        needs = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["dependencies"]
        (path / "oldest.txt").write_text("\n".join(need.replace(">=", "==") for need in needs))
        install += ["--constraint", path / "oldest.txt"]
    subprocess.run(install, check=True)
    return path / "bin"


def run_all(binaries: Path, studies: list[Path], folder: Path) -> list[Path]:
    """Run copies of the studies with an environment's Snakemake and return their folders."""
    copies = [folder / study.name for study in studies]
    for study, copy in zip(studies, copies, strict=True):
        shutil.copytree(study, copy, ignore=shutil.ignore_patterns("derived", "logs", ".snakemake"))
        command: list[str | Path] = [binaries / "python", "-m", "snakemake", "--cores", "all", "--directory", copy]
        subprocess.run(command, cwd=HOUSE, check=True, capture_output=True, text=True)
    return copies


def described(binaries: Path) -> str:
    """Return the versions of Python and the numeric libraries of an environment."""
    return subprocess.run(
        [binaries / "python", "-c", PRINT_VERSIONS], check=True, capture_output=True, text=True
    ).stdout.strip()


def differences(one: Path, other: Path) -> tuple[float, str]:
    """Return the largest relative difference between the outputs of two studies, and where.

    It is relative to the variable's largest number. A difference in text, files or variables is infinite.
    """
    files, others = (
        {file.relative_to(study): file for file in study.glob("derived/**/*.nc")} for study in (one, other)
    )
    if files.keys() != others.keys() or not files:
        return np.inf, f"{one.name}: other files"
    worst = (0.0, "none")
    for name, file in files.items():
        with xr.open_dataset(file) as data, xr.open_dataset(others[name]) as theirs:
            if [*data.variables] != [*theirs.variables]:
                return np.inf, f"{one.name}/{name}: other variables"
            found = [(difference(data[key], theirs[key]), f"{one.name}/{name}: {key}") for key in data.variables]
        worst = max([worst, *found])
    return worst


def difference(one: xr.DataArray, other: xr.DataArray) -> float:
    """Return the largest difference of two variables relative to the first, or to powers.

    Neighbours in single precision, to which two doubles on either side of the middle are rounded, do not differ.
    """
    if one.shape != other.shape or one.dtype.kind not in "fiu":
        return 0.0 if one.shape == other.shape and (one == other).all() else np.inf
    a, b = (np.nan_to_num(np.asarray(array, float), nan=0.0) for array in (one, other))
    if (np.isnan(one) != np.isnan(other)).any():
        return np.inf
    if str(one.name).endswith(ROUNDING):
        return float(np.abs(b).max(initial=0.0))
    apart_by = np.abs(a - b)
    if one.dtype == np.float32:
        apart_by[apart_by <= np.spacing(np.abs(b).astype(np.float32))] = 0.0
    apart = apart_by.max(initial=0.0)
    least = POWER_W if str(one.name).endswith(OF_POWERS) else 0.0
    return float(apart / max(np.abs(a).max(), least)) if apart else 0.0
