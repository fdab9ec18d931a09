"""The workflow on a cluster: Slurm with one node, started here, gives the bytes of a local run. ``make test-slurm``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.workflow.open_study import open_study
from tests.support.checkout import HOUSE, copy_study, planned, run_study
from tests.support.step_names import SESSION_STEPS

CLUSTER = HOUSE / "tests" / "workflow" / "slurm" / "cluster"
FINISHED_JOBS = Path("/var/tmp/gait-lab-slurm/jobs.txt")  # noqa: S108 (where the cluster writes it)
PLUGINS = Path(sys.prefix) / "slurm"
HERE = {  # what a cluster without accounts needs besides the profile
    "slurm": (
        *("--slurm-no-account", "--slurm-status-command", "squeue"),
        *("--slurm-init-seconds-before-status-checks", "2", "--slurm-keep-successful-logs"),
        *("--default-resources", "slurm_partition=main"),
    ),
    "cluster-generic": (),
}


@pytest.fixture(scope="module")
def cluster(pytestconfig: pytest.Config) -> Iterator[None]:
    if pytestconfig.getoption("--quick"):
        pytest.skip("starts a cluster, where one is installed")
    if not PLUGINS.is_dir():
        pytest.skip("Snakemake's cluster plugins are not installed: make test-slurm")
    started = subprocess.run([CLUSTER, "start"], capture_output=True, text=True, check=False)
    if started.returncode:
        pytest.skip(f"Slurm could not be started: {started.stderr.strip()}")
    yield
    subprocess.run([CLUSTER, "stop"], check=True)


@pytest.fixture(scope="module")
def local(cluster: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a study of four sessions with one walk each, run on this machine."""
    study = copy_study(HOUSE / "data" / "demo", tmp_path_factory.mktemp("studies") / "local")
    rows = ["participant_id\tsession\ttrial\tfile\trole\tcondition"]
    for who in ("sub-01", "sub-02"):
        for walk in ("comfortable_01", "fast_01"):
            start = f"{who}\t{who}_{walk}"
            rows += [f"{start}\tstatic\t{who}/static.c3d\tstatic\tstatic"]
            rows += [f"{start}\t{walk}\t{who}/{walk}.c3d\tgait\t{walk[:-3]}"]
    (study / "trials.tsv").write_text("\n".join(rows) + "\n")
    result = run_study(study)
    assert result.returncode == 0, result.stdout + result.stderr
    return study


def run(study: Path, profile: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the workflow on the cluster, two sessions in a job."""
    command = [sys.executable, "-m", "pipeline", "run", str(study), "--profile", profile, *HERE[profile], *options]
    return subprocess.run(
        [*command, "--group-components", "session=2", "page=2", "--seconds-between-status-checks", "2"],
        cwd=HOUSE,
        env={**os.environ, "PYTHONPATH": str(PLUGINS)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def assert_same_results(study: Path, local: Path) -> None:
    results = {path.relative_to(local) for path in (local / "derived").rglob("*.*")}
    assert results == {path.relative_to(study) for path in (study / "derived").rglob("*.*")}
    different = {str(path) for path in results if (study / path).read_bytes() != (local / path).read_bytes()}
    assert not different


@pytest.mark.parametrize("profile", HERE)
def test_a_cluster_gives_the_bytes_of_a_local_run_by_one_job_for_some_sessions(
    local: Path, profile: str, tmp_path: Path
) -> None:
    study, before = copy_study(local, tmp_path / "study"), len(finished_jobs())
    result = run(study, profile)
    assert result.returncode == 0, result.stdout + result.stderr
    jobs = finished_jobs()[before:]
    assert [job["JobState"] for job in jobs] == ["COMPLETED"] * 5  # twice two sessions, study, report, pages
    own = open_study(local)
    memory, minutes = own.memory_mb["session"], own.runtime_min["session"]
    assert [job["Tres"].split(",")[:2] for job in jobs[:2]] == [["cpu=1", f"mem={memory}M"]] * 2  # of one at a time
    assert [job["TimeLimit"] for job in jobs[:2]] == [str(2 * len(SESSION_STEPS) * minutes)] * 2
    logs = [path.read_text() for path in (study / ".snakemake").rglob("*.log") if path.parent.name != "log"]
    assert [text.count("Building DAG of jobs...") for text in logs] == [1] * 5  # no second Snakemake for each step
    assert_same_results(study, local)


def test_a_session_that_fails_costs_none_of_its_job(local: Path, tmp_path: Path) -> None:
    study, before = copy_study(local, tmp_path / "study"), len(finished_jobs())
    failing = "sub-01_fast_01"
    obstacle = Path("derived") / "checksums" / failing / "clean.nc.sha256"
    (study / obstacle / "in the way").mkdir(parents=True)
    result = run(study, "slurm")
    assert result.returncode == 1
    failures = [line for line in result.stderr.splitlines() if " failed: " in line]
    assert failures == [f"{failing} clean failed: IsADirectoryError: [Errno 21] Is a directory: '{obstacle}'"]
    assert sorted(job["JobState"] for job in finished_jobs()[before:]) == ["COMPLETED", "FAILED"]
    shutil.rmtree(study / obstacle)
    left = {f"{step}:{failing}" for step in ("clean", "contacts", "kinematics", "kinetics", "cycles")}
    assert planned(study) == left | {"study", "report", "page:sub-01", "page:sub-02"}
    result = run(study, "slurm")
    assert result.returncode == 0, result.stdout + result.stderr
    assert_same_results(study, local)


def test_results_of_a_job_that_never_began_are_not_taken_for_new(local: Path, tmp_path: Path) -> None:
    study = tmp_path / "study"
    shutil.copytree(local, study)
    with (study / "study.yaml").open("a") as settings:
        settings.write("clean:\n  marker_cutoff_hz: 7\n")
    before = planned(study)
    result = run(study, "slurm", "--default-resources", "slurm_partition=none")
    assert result.returncode == 1
    assert result.stderr.count("the cluster refused the job") == 2
    assert planned(study) == before >= {"clean:sub-01_fast_01", "cycles:sub-02_fast_01", "study"}


def finished_jobs() -> list[dict[str, str]]:
    """Return what Slurm noted of each job that has ended, in the order of their submission."""
    text = FINISHED_JOBS.read_text() if FINISHED_JOBS.exists() else ""
    jobs = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in text.splitlines()]
    return sorted(jobs, key=lambda job: int(job["JobId"]))
