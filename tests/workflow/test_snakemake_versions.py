"""The oldest and the newest Snakemake that pyproject.toml allows give the same results, to the byte."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.campaigns.interruptions import outputs, write_tiny_study
from tests.support.checkout import HOUSE
from tests.support.processes.environments import environment


def allowed() -> tuple[str, str]:
    """Return the oldest version of Snakemake that is allowed, and the first one that is not."""
    needs = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["dependencies"]
    (need,) = (need for need in needs if need.startswith("snakemake"))
    bounds = re.fullmatch(r"snakemake>=([\d.]+),<(\d+)", need)
    assert bounds
    return bounds[1], bounds[2]


def run_with(requirement: str, folder: Path) -> tuple[str, dict[str, str]]:
    """Run a small study with a version of Snakemake; return the version and the digest of each output."""
    try:
        python = environment(folder / "environment", requirement) / "python"
    except subprocess.CalledProcessError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"pip cannot install {requirement}: {error.stderr.strip()[-200:]}")
    study = write_tiny_study(folder / "study")
    found = subprocess.run([python, "-m", "snakemake", "--version"], capture_output=True, text=True, check=True)
    command = [str(python), "-m", "pipeline", "run", str(study)]
    result = subprocess.run(command, cwd=HOUSE, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.splitlines()[-1] == f"Report: {study / 'derived' / 'report.html'}"
    return found.stdout.strip(), outputs(study)


def test_oldest_and_newest_snakemake_give_the_same_bytes(tmp_path: Path) -> None:
    oldest, beyond = allowed()
    version, expected = run_with(f"snakemake=={oldest}", tmp_path / "oldest")
    assert version.startswith(oldest)
    version, results = run_with(f"snakemake<{beyond}", tmp_path / "newest")
    assert [*map(int, version.split("."))] > [*map(int, oldest.split("."))]
    assert len(results) > 20
    assert results == expected
