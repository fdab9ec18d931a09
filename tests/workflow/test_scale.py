"""A thousand sessions: what planning costs for each, what a cluster is asked for, that clusters cost others nothing."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from pipeline.workflow.job_keys import Study
from pipeline.workflow.open_study import open_study
from tests.support.checkout import DRY_RUN, HOUSE, jobs_in, snakemake
from tests.support.step_names import SESSION_STEPS, STEPS

CLUSTERS = ("slurm", "cluster-generic")


def stub_study(path: Path, *, sessions: int, trials: int = 20) -> Path:
    """Write the tables of a study with empty files as recordings."""
    people = [f"sub-{number:04d}" for number in range(sessions)]
    names = ["static", *(f"walk_{number:02d}" for number in range(trials))]
    path.mkdir()
    (path / "study.yaml").write_text("body_model: isb_clusters\n")
    rows = ["participant_id\tmass_kg\theight_m\tsex", *(f"{who}\t70\t1.75\tM" for who in people)]
    (path / "participants.tsv").write_text("\n".join(rows) + "\n")
    rows = ["participant_id\ttrial\tfile\trole\tcondition"]
    for who in people:
        (path / who).mkdir()
        for name in names:
            (path / who / f"{name}.c3d").touch()
            role = "static" if name == "static" else "gait"
            rows.append(f"{who}\t{name}\t{who}/{name}.c3d\t{role}\twalk")
    (path / "trials.tsv").write_text("\n".join(rows) + "\n")
    return path


def plan_s(path: Path) -> tuple[Study, float]:
    """Return a study with the processor time that its tables and the keys of all its jobs take, s."""
    start = time.process_time()
    study = open_study(path)
    for session in study.sessions:
        for step in SESSION_STEPS:
            study.key(step)(SimpleNamespace(session=session))
    for step in STEPS[len(SESSION_STEPS) :]:
        study.key(step)(SimpleNamespace())
    return study, time.process_time() - start


def test_planning_costs_each_session_the_same(tmp_path: Path) -> None:
    few, many = (stub_study(tmp_path / str(count), sessions=count) for count in (50, 400))
    plan_s(few)  # imports, and digests of the code
    few_s, many_s = min(plan_s(few)[1] for _ in range(3)), plan_s(many)[1]
    # eight times as many; were anything quadratic the factor would be 64; a loaded machine varies by half
    assert many_s < 16 * few_s
    # 3 ms measured: a job that read the metadata of its libraries again would alone take 10 ms, a session 70
    assert many_s / 400 < 0.02


def test_a_cluster_is_asked_for_memory_by_the_size_of_the_recordings(tmp_path: Path) -> None:
    path = stub_study(tmp_path / "study", sessions=2, trials=1)
    empty = open_study(path).memory_mb
    (path / "sub-0001" / "static.c3d").write_bytes(bytes(10_000_000))
    (path / "sub-0000" / "walk_00.c3d").write_bytes(bytes(4_000_000))
    study = open_study(path)
    assert study.memory_mb["session"] == pytest.approx(empty["session"] + 25 * 10)  # the largest
    assert study.memory_mb["study"] == pytest.approx(empty["study"] + 25 * 10)  # it grows with the largest, too


def test_a_cluster_is_asked_for_time_by_the_size_of_the_study(tmp_path: Path) -> None:
    path = stub_study(tmp_path / "study", sessions=120, trials=1)
    assert open_study(path).runtime_min == {"session": 1, "study": 12}
    (path / "sub-0001" / "static.c3d").write_bytes(bytes(100_000_000))
    assert open_study(path).runtime_min["session"] == 4


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_runs_ten_thousand_sessions_as_some_hundreds_of_jobs(name: str) -> None:
    profile = yaml.safe_load((HOUSE / "profiles" / name / "config.yaml").read_text())
    assert profile["executor"] == name
    assert profile["groups"] == dict.fromkeys(SESSION_STEPS, "session") | {"page": "page"}
    assert 10_000 / profile["group-components"]["session"] <= 500
    assert profile["cores"] == 1  # else a job asks for the cores and the memory of all its sessions at a time
    assert profile["keep-incomplete"]  # else one session that fails takes the results of the others with it


def test_the_study_on_a_cluster_plans_its_own_job_only(tmp_path: Path) -> None:
    path = stub_study(tmp_path / "study", sessions=3, trials=1)
    for session in open_study(path).sessions:
        cycles = path / "derived" / session / "cycles.nc"
        cycles.parent.mkdir(parents=True)
        cycles.touch()
    own = ("--mode", "remote", "--target-jobs", "study:", "--allowed-rules", "study", "--force")
    plan = snakemake(path, *DRY_RUN, *own)
    assert jobs_in(plan.stdout + plan.stderr) == {"study"}, plan.stderr


def test_no_plugin_for_clusters_is_loaded_where_none_is_used() -> None:
    """Snakemake loads every plugin it finds at each start: they may come by their extras only."""
    project = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for name in CLUSTERS:
        assert extras.pop(name)[0].startswith(f"snakemake-executor-plugin-{name}>=")
    everything = [*project["dependencies"], *(one for some in extras.values() for one in some)]
    assert not [one for one in everything if one.startswith("snakemake-executor-plugin")]
