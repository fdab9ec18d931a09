"""Benchmarks: each runs, a failure is not hidden, all processes are counted; goals, and the tables of their page."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import archive, figures, jobs, page, paired, per_trial, study
from benchmarks.__main__ import NAMES, SMALLEST, parts
from benchmarks.figures import Figure, commit, not_measured, run_all
from benchmarks.generated import write_study
from benchmarks.growth import grown
from benchmarks.timing import HOUSE, cost_of
from pipeline.c3d import reader
from pipeline.step import every_step, steps_to
from tests.support.checkout import planned

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="counts processes as Linux does")
BURN_S = 1.0
BURN = f"import time\nwhile time.process_time() < {BURN_S}: pass"
# a worker of the pipeline, which a server has forked, works as for Snakemake
IN_A_WORKER = f"""
from pipeline.workflow.jobs import workers
workers.PRELOADED = ()
workers._idle_worker().submit(exec, {BURN!r}).result()
"""
IN_AN_ORPHAN = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BURN!r}])"


@LINUX
@pytest.mark.parametrize("name", NAMES)
def test_each_benchmark_runs_in_its_smallest_form(name: str, finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A benchmark that no longer fits the steps is seen here; the archive is of a study that has been run.

    This checkout stands for the earlier commit, too: all modules of another one would have to be compiled.
    """
    monkeypatch.setattr(archive, "write_study", lambda base, **_: shutil.copytree(finished, base))
    monkeypatch.setattr(paired, "earlier", lambda _: nullcontext(HOUSE))
    (measure,) = parts(SMALLEST, names=[name], against="HEAD").values()
    measured = measure()
    assert measured
    if not any(one.measured for one in measured):
        pytest.skip(measured[0].name)
    assert all(math.isfinite(one.value) is one.measured for one in measured)


def test_an_earlier_commit_has_the_files_of_its_time() -> None:
    if subprocess.run(["git", "rev-parse", "HEAD"], cwd=HOUSE, check=False).returncode:
        pytest.skip("no git checkout")
    with paired.earlier("HEAD") as house:
        known = subprocess.run(["git", "show", "HEAD:Snakefile"], cwd=HOUSE, capture_output=True, check=True)
        assert (house / "Snakefile").read_bytes() == known.stdout
        assert (house / "pipeline" / "__init__.py").exists()


def test_a_benchmark_that_raises_makes_the_command_fail_after_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def broken(**_: object) -> list[Figure]:
        raise TypeError("read() got an unexpected argument")

    monkeypatch.setattr(study, "measure", broken)
    monkeypatch.setattr(archive, "measure", lambda **_: [Figure("later", 1.0)])
    monkeypatch.setattr(figures, "RESULTS", tmp_path)
    assert command.main(["study", "archive"]) == 1
    *_, stored, last = capsys.readouterr().out.splitlines()
    assert study.TITLE in last
    assert archive.TITLE not in last
    (file,) = tmp_path.iterdir()
    assert str(file) in stored
    assert [*json.loads(file.read_text(encoding="utf-8"))["parts"]] == [archive.TITLE]
    assert command.main(["archive"]) == 0


@pytest.mark.parametrize("there", [False, True], ids=["no git", "no repository"])
def test_the_commit_is_unknown_before_measuring_where_git_tells_none(
    there: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def measure() -> list[Figure]:
        monkeypatch.undo()  # what is asked from now on would be known
        monkeypatch.setattr(figures, "RESULTS", tmp_path / "results")
        return [Figure("", 1.0)]

    monkeypatch.setattr(figures, "HOUSE", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    if not there:
        monkeypatch.setenv("PATH", str(tmp_path))
    assert commit() == "unknown"
    assert run_all({"measured": measure}) == []
    (file,) = (tmp_path / "results").iterdir()
    assert json.loads(file.read_text(encoding="utf-8"))["commit"] == "unknown"


def test_a_missing_option_is_not_measured_and_a_figure_that_is_no_number_has_failed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    measured = {
        "absent": lambda: [not_measured("no such package")],
        "in part": lambda: [Figure("", 1.0), not_measured("no such example")],
        "no number": lambda: [Figure("", 1.0), Figure("", math.nan)],
    }
    monkeypatch.setattr(figures, "RESULTS", tmp_path)
    assert run_all(measured) == ["no number"]


@LINUX
def test_processor_time_counts_workers_and_orphans() -> None:
    """Workers outlive the process that started them by an instant, so that its processor time lacks theirs."""
    for code in (IN_A_WORKER, IN_AN_ORPHAN):
        assert cost_of([sys.executable, "-c", code]).cpu_s >= BURN_S


@LINUX
def test_orphans_that_do_not_end_are_killed_with_their_children(tmp_path: Path) -> None:
    """They hold the output of the command open, so that whoever reads it from a pipe would wait for their end."""
    numbers = tmp_path / "numbers"
    sleep = f"import os, time; open({str(numbers)!r}, 'a').write(f'{{os.getpid()}} '); time.sleep(60)"
    orphan = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {sleep!r}]); {sleep}"
    command = f"import subprocess, sys; print('begun'); subprocess.Popen([sys.executable, '-c', {orphan!r}])"
    with pytest.raises(RuntimeError, match=r"begun\n(?s:.*)outlived the command"):
        cost_of([sys.executable, "-c", command], longest_orphan_s=2.0)
    left = numbers.read_text().split()
    assert len(left) == 2
    assert not any(Path(f"/proc/{number}").exists() for number in left)


@LINUX
def test_a_process_that_ends_after_it_was_listed_counts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert [*jobs.descendants(ended.pid)] == []
    monkeypatch.setattr(jobs, "descendants", lambda _: [])
    alone_s, alone_mb = jobs.cpu_s(), jobs.peak_memory_mb()
    monkeypatch.setattr(jobs, "descendants", lambda _: [ended.pid])
    assert alone_s <= jobs.cpu_s() < alone_s + 1
    assert alone_mb <= jobs.peak_memory_mb() < alone_mb + 10


@LINUX
def test_a_command_that_fails_has_no_cost() -> None:
    with pytest.raises(RuntimeError, match="no reason"):
        cost_of([sys.executable, "-c", "raise SystemExit('no reason')"])


@pytest.mark.parametrize(
    ("figure", "met"),
    [
        (Figure("", 2.0), None),
        (Figure("", 2.0, at_most=2.0), True),
        (Figure("", 2.1, at_most=2.0), False),
        (Figure("", 8.0, at_least=8.0), True),
        (Figure("", 7.9, at_least=8.0), False),
        (Figure("", math.nan, at_most=2.0), False),
        (not_measured("no such package"), None),
    ],
)
def test_goal_is_met_or_not(figure: Figure, met: bool | None) -> None:
    assert figure.met is met


def test_linear_growth_meets_the_goal_and_quadratic_growth_fails() -> None:
    sizes = (5.0, 75.0, 300.0)
    assert grown("", {size: 40 + 3 * size for size in sizes}).value == pytest.approx(1)
    assert grown("", {size: 40 + size**2 for size in sizes}).met is False


def test_generated_trial_has_the_requested_size(tmp_path: Path) -> None:
    write_study(tmp_path, sessions=1, trials=1, duration_s=3.0, marker_hz=200, markers=40, plates=2)
    found = reader.read_c3d(tmp_path / "sub-0001" / "walk_01.c3d")
    assert (found.marker_rate_hz, found.analog_rate_hz) == (200, 1000)
    assert found.markers.shape == (600, 40, 3)
    assert len(found.analog_units) == 2 * 6


@LINUX
def test_jobs_of_trials_are_those_that_snakemake_plans_with_the_inputs_of_their_steps(tmp_path: Path) -> None:
    write_study(tmp_path, sessions=2, trials=3, duration_s=0.5)
    listed = cost_of([*per_trial.SNAKEMAKE, str(tmp_path), "--dry-run"]).output
    total = re.search(r"^total\s+(\d+)", listed, re.MULTILINE)
    assert total
    assert int(total[1]) == per_trial.jobs(2, 3) + 1  # and the rule all
    inputs = {
        step: {*re.findall(r"(\w+)\.nc", files)}
        for step, files in re.findall(r"^rule (\w+):\n    input: (.*)$", listed, re.MULTILINE)
        if step not in ("all", "read")
    }
    assert inputs == {step: {*every_step()[step].inputs} for step in steps_to("cycles") if step != "read"}


@LINUX
def test_archive_has_finished_sessions_of_which_the_study_is_to_be_made(study: Path) -> None:
    archive.extend(study, 4)
    assert planned(study) == {"study", "report", "page:sub-00000", "page:sub-00001"}
    assert len(planned(study, "--forceall")) == 4 * 8 + 3


def test_page_shows_the_published_figures() -> None:
    """`python -m benchmarks.page` makes its tables; a part that has none says how it is measured."""
    text, published = page.PAGE.read_text(encoding="utf-8"), json.loads(page.PUBLISHED.read_text(encoding="utf-8"))
    assert {*published} == {*re.findall(r"<!-- results: (.*) -->", text)}
    assert paired.TITLE in published
    assert published.keys() <= parts().keys()
    assert page.with_tables(text, published) == text
    rows = [{"name": "a", "value": 1234.5, "goal": "at most 2", "met": False, "detail": "ms"}]
    assert page.markdown(rows).endswith("| a (ms) | 1234 | at most 2 | no |")
