"""The workflow on a cluster: Slurm with one node, started here, gives the bytes of a local run. ``make test-slurm``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.checkout import HOUSE, copy_study, snakemake

CLUSTER = HOUSE / "tests" / "workflow" / "slurm" / "cluster"
FINISHED_JOBS = Path("/var/tmp/gait-lab-slurm/jobs.txt")  # noqa: S108 (where the cluster writes it)
PLUGINS = Path(sys.prefix) / "slurm"
HERE = {  # what a cluster without accounts needs besides the profile
    "slurm": (
        *("--slurm-no-account", "--slurm-status-command", "squeue"),
        *("--slurm-init-seconds-before-status-checks", "2", "--default-resources", "slurm_partition=main"),
    ),
    "cluster-generic": (),
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    if not PLUGINS.is_dir():
        pytest.skip("Snakemake's cluster plugins are not installed: make test-slurm")
    started = subprocess.run([CLUSTER, "start"], capture_output=True, text=True, check=False)
    if started.returncode:
        pytest.skip(f"Slurm could not be started: {started.stderr.strip()}")
    yield
    subprocess.run([CLUSTER, "stop"], check=True)


@pytest.fixture(scope="module")
def local(cluster: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a study of two sessions with one walk each, run on this machine."""
    study = copy_study(HOUSE / "data" / "demo", tmp_path_factory.mktemp("studies") / "local")
    rows = (study / "trials.tsv").read_text().splitlines()
    kept = [row for row in rows[1:] if row.split("\t")[1] in ("static", "comfortable_01")]
    (study / "trials.tsv").write_text("\n".join([rows[0], *kept]) + "\n")
    result = snakemake(study)
    assert result.returncode == 0, result.stdout + result.stderr
    return study


@pytest.mark.parametrize("profile", HERE)
def test_a_cluster_gives_the_bytes_of_a_local_run_by_one_job_per_session(
    local: Path, profile: str, tmp_path: Path
) -> None:
    study, before = copy_study(local, tmp_path / "study"), finished_jobs()
    command = [sys.executable, "-m", "snakemake", "--profile", f"profiles/{profile}", *HERE[profile]]
    result = subprocess.run(
        [*command, "--directory", str(study)],
        cwd=HOUSE,
        env={**os.environ, "PYTHONPATH": str(PLUGINS)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    states = finished_jobs()[len(before) :]
    assert states == ["COMPLETED"] * 4  # two sessions, study, report
    results = {path.relative_to(local) for path in (local / "derived").rglob("*.*")}
    assert results == {path.relative_to(study) for path in (study / "derived").rglob("*.*")}
    different = {str(path) for path in results if (study / path).read_bytes() != (local / path).read_bytes()}
    assert not different


def finished_jobs() -> list[str]:
    """Return how each job of the cluster ended."""
    text = FINISHED_JOBS.read_text() if FINISHED_JOBS.exists() else ""
    return [line.split("JobState=")[1].split()[0] for line in text.splitlines()]
