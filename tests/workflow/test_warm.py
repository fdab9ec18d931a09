"""Jobs as forks of one process: they end as a Python of their own would, and with whoever ordered them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.workflow.warm import start_jobs_warm
from tests.support.checkout import HOUSE

LONGEST_S = 20.0  # of what takes a moment, on a busy machine
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="jobs are started warm on Linux only")


class Job(SimpleNamespace):
    """What Snakemake's class of Python scripts is to its job, as far as that is used."""

    def execute_script(self, fname: str, **_: Any) -> None:
        """Tell that Snakemake starts the script itself."""
        self.cold.append(fname)


def warm_job(*modules: str, steps: tuple[str, ...] = ()) -> Job:
    """Return a job, of a step that is imported at once, whose class starts its scripts warm from now on."""
    start_jobs_warm(Job, modules=modules, steps=steps)
    none = dict.fromkeys(("container_img", "conda_env", "env_modules", "bench_record"))
    return Job(**none, threads=1, rulename="errors", resources={}, cold=[])


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> Job:
    """Return a job whose class is started warm until the test ends."""
    monkeypatch.setattr(Job, "execute_script", Job.execute_script)
    return warm_job("json")


def scheduler(code: str, *folders: Path) -> subprocess.Popen[str]:
    """Start a process of its own that knows ``warm_job``, and the modules in some folders."""
    paths = os.pathsep.join(map(str, (*folders, HOUSE, HOUSE / "tests")))
    command = [sys.executable, "-c", f"from test_warm import warm_job\n{code}"]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.PIPE, text=True)


def run(job: Job, path: Path, code: str) -> None:
    """Run a script that has imported os, pathlib, signal, sys, time and knows its folder as ``here``."""
    heading = "import os, pathlib, signal, sys, time\nhere = pathlib.Path(__file__).parent\n"
    path.write_text(heading + code)
    job.execute_script(str(path))


def test_scripts_are_forks_of_one_process_that_has_done_the_imports(job: Job, tmp_path: Path) -> None:
    tell = "(here / str(os.getpid())).write_text(f'{os.getppid()} {\"pipeline.errors\" in sys.modules}')"
    for _ in range(3):
        run(job, tmp_path / "script.py", tell)
    told = [path.read_text().split() for path in tmp_path.iterdir() if path.suffix != ".py"]
    assert len(told) == 3
    assert len({parent for parent, _ in told}) == 1
    assert {imported for _, imported in told} == {"True"}
    assert not job.cold


def test_a_script_runs_where_the_scheduler_is_and_its_server_elsewhere(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may outlive the run by a moment, in which the study's disk can be taken off."""
    tell = "(here / 'told').write_text(f'{os.getcwd()} {os.readlink(f\"/proc/{os.getppid()}/cwd\")}')"
    run(job, tmp_path / "script.py", tell)
    assert (tmp_path / "told").read_text() == f"{Path.cwd()} /"
    monkeypatch.chdir(tmp_path)
    run(job, tmp_path / "script.py", tell)
    assert (tmp_path / "told").read_text() == f"{tmp_path} /"


def test_the_steps_to_come_are_imported_while_nothing_is_asked(tmp_path: Path) -> None:
    """One that cannot be imported is left to its own job to tell of."""
    done, script = tmp_path / "done", tmp_path / "script.py"
    script.write_text(
        f"import pathlib, sys\nif 'pipeline.tables.tsv' in sys.modules: pathlib.Path({str(done)!r}).touch()"
    )
    code = f"""import pathlib
job = warm_job(steps=('errors', 'nothing', 'tsv'))
while not pathlib.Path({str(done)!r}).exists():
    job.execute_script({str(script)!r})
assert not job.cold"""
    with scheduler(code) as run:
        run.communicate(timeout=LONGEST_S)
        assert run.returncode == 0


def test_what_a_script_prints_and_its_traceback_are_seen(
    job: Job, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run(job, tmp_path / "script.py", "print('said')\nassert sys.stdin.read() == ''")
    with pytest.raises(subprocess.CalledProcessError) as failure:
        run(job, tmp_path / "script.py", "raise KeyError('nothing there')")
    seen = capfd.readouterr()
    assert seen.out == "said\n"
    assert failure.value.returncode == 1
    assert "Traceback" in seen.err
    assert f"{tmp_path}/script.py" in seen.err
    assert seen.err.endswith("KeyError: 'nothing there'\n")


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("sys.exit(0)", 0),
        ("sys.exit()", 0),
        ("sys.exit(3)", 3),
        ("os._exit(3)", -signal.SIGKILL),
        ("os.kill(os.getpid(), signal.SIGSEGV)", -signal.SIGKILL),
        ("os.kill(os.getpid(), signal.SIGINT); time.sleep(60)", 1),
        ("import subprocess; subprocess.run(['false'], check=True)", 1),
        ("import subprocess; subprocess.run(['true'], check=True)", 0),
    ],
)
def test_a_script_ends_as_it_would_by_itself(job: Job, tmp_path: Path, code: str, status: int) -> None:
    """However it was ended from outside, it has failed."""
    try:
        run(job, tmp_path / "script.py", code)
        ended = 0
    except subprocess.CalledProcessError as failure:
        ended = failure.returncode
    assert ended == status
    run(job, tmp_path / "script.py", "")  # the next is no worse for it
    assert not job.cold


def test_exit_handlers_run(job: Job, tmp_path: Path) -> None:
    run(job, tmp_path / "script.py", "import atexit; atexit.register((here / 'done').touch)")
    assert (tmp_path / "done").exists()


@pytest.mark.parametrize("special", [{"threads": 2}, {"conda_env": "x"}, {"container_img": "x"}, {"bench_record": 1}])
def test_special_jobs_are_snakemakes_own(job: Job, tmp_path: Path, special: dict[str, Any]) -> None:
    vars(job).update(special)
    run(job, tmp_path / "script.py", "raise AssertionError")
    assert len(job.cold) == 1


def test_where_the_process_has_died_or_runs_threads_snakemake_starts_the_scripts(job: Job, tmp_path: Path) -> None:
    """A fork has one thread only: what others held it would wait for without end."""
    run(job, tmp_path / "script.py", "(here / 'server').write_text(str(os.getppid()))")
    assert not job.cold
    os.kill(int((tmp_path / "server").read_text()), signal.SIGKILL)
    run(job, tmp_path / "script.py", "raise AssertionError")
    assert len(job.cold) == 1
    (tmp_path / "more.py").write_text("import threading, time\nthreading.Thread(target=time.sleep, args=[60]).start()")
    threaded = scheduler("job = warm_job('more'); job.execute_script('nothing.py'); print(job.cold)", tmp_path)
    assert threaded.communicate(timeout=LONGEST_S)[0] == "['nothing.py']\n"


def test_everything_ends_with_snakemake_even_if_that_is_killed(tmp_path: Path) -> None:
    """The scheduler is killed; its child ends, and the kernel ends the fork."""
    tell = "import os, time; print(os.getpid(), os.getppid(), flush=True); time.sleep(600)"
    (tmp_path / "script.py").write_text(tell)
    with scheduler(f"warm_job().execute_script({str(tmp_path / 'script.py')!r})") as killed:
        assert killed.stdout
        processes = killed.stdout.readline().split()
        assert len(processes) == 2
        killed.kill()
        assert not killed.stdout.read()  # nobody is left who could write
    give_up = time.monotonic() + LONGEST_S
    while not all(is_gone(process) for process in processes):
        assert time.monotonic() < give_up
        time.sleep(0.02)


def is_gone(process: str) -> bool:
    """Return whether a process has ended; nobody may have asked for its exit code yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
