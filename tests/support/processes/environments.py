"""Virtual environments with the packages of this one and something else installed in addition."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path


def environment(folder: Path, *requirements: str) -> Path:
    """Install requirements into a new virtual environment and return its folder of programs.

    It also finds the packages of this environment, except those that are only linked here, such as an editable install.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    binaries = folder / "bin"
    (packages_of(folder) / "packages.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", "--python", str(binaries / "python"), "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--upgrade", *requirements], check=True, capture_output=True, text=True)
    return binaries


def packages_of(folder: Path) -> Path:
    """Return the folder of a virtual environment's packages."""
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
