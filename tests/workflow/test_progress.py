"""What a run prints: progress, time left, failures, last lines; from records as Snakemake logs them."""

from __future__ import annotations

import logging
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase
from snakemake_interface_logger_plugins.tests import MockOutputSettings, TestLogHandlerBase

from pipeline.errors import INTERRUPTED
from pipeline.workflow.progress import DRY_RUN, LOCKED, NOTHING_TO_DO, SOME_FAILED, Progress, closing_lines, failure
from snakemake_logger_plugin_gaitlab import LogHandler
from tests.support.checkout import HOUSE

STEPS = ("read", "clean", "cycles")
CLOSING = "3 of 3 trials used."


class Clock:
    """Seconds, set by the test."""

    now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def progress(**settings: Any) -> Progress:
    """Return the printer of a run that has started."""
    printer = Progress(lambda: (CLOSING, False), **settings)
    log(printer, event=LogEvent.WORKFLOW_STARTED)
    return printer


def log(printer: Progress, text: str = "", *, level: int = logging.INFO, **content: Any) -> None:
    printer.show(logging.makeLogRecord({"msg": text, "levelno": level, **content}))


def plan(printer: Progress, **stats: int) -> None:
    log(printer, "Job stats", event=LogEvent.RUN_INFO, stats=stats | {"all": 1, "total": 0})


def run(printer: Progress, clock: Clock, sessions: int, *, seconds: dict[str, float]) -> None:
    """Log a run of one job at a time, step after step."""
    plan(printer, **dict.fromkeys(STEPS, sessions))
    number = 0
    for step in STEPS:
        for i in range(sessions):
            number += 1
            log(printer, event=LogEvent.JOB_INFO, jobid=number, rule_name=step, log=[f"logs/s{i}/{step}.log"])
            clock.now += seconds[step]
            log(printer, event=LogEvent.JOB_FINISHED, job_id=number)


def test_the_time_left_follows_from_the_steps_of_each_kind(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    run(progress(clock=clock), clock, 4, seconds={"read": 100, "clean": 10, "cycles": 1})
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "12 steps to do in 4 sessions; each has a log in logs/."
    # unknown kinds are taken for the mean of the others: 8 steps of 100 s
    assert lines[4] == " 4 of 12 steps, 0 of 4 sessions done, about 13 min left: s3 read"
    # 440 s for 8 steps; 4 of a kind not seen yet, 55 s each
    assert lines[8] == " 8 of 12 steps, 0 of 4 sessions done, about 4 min left: s3 clean"
    # 3 of 1 s
    assert lines[9] == " 9 of 12 steps, 1 of 4 sessions done, a few seconds left: s0 cycles"
    assert lines[12] == "12 of 12 steps, 4 of 4 sessions done: s3 cycles"


def test_two_at_a_time_take_half_the_time(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    printer = progress(clock=clock)
    plan(printer, read=12)
    for first in (0, 2):
        for job in (first, first + 1):
            log(printer, event=LogEvent.JOB_INFO, jobid=job, rule_name="read", log=[f"logs/s{job}/read.log"])
        clock.now += 60
        for job in (first, first + 1):
            log(printer, event=LogEvent.JOB_FINISHED, job_id=job)
    assert capsys.readouterr().err.splitlines()[-1] == " 4 of 12 steps done, about 4 min left: s3 read"


def test_a_large_run_prints_a_line_per_percent(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    run(progress(clock=clock), clock, 400, seconds=dict.fromkeys(STEPS, 1.0))
    lines = capsys.readouterr().err.splitlines()[1:]
    assert len(lines) == 100
    assert lines[-1].startswith("1200 of 1200 steps, 400 of 400 sessions done")


@pytest.mark.parametrize("quiet", [["progress"], ["all", "host"]])
def test_a_quiet_run_prints_its_last_lines_only(
    clock: Clock, capsys: pytest.CaptureFixture[str], quiet: list[str]
) -> None:
    printer = progress(clock=clock, quiet=quiet)
    run(printer, clock, 1, seconds=dict.fromkeys(STEPS, 1.0))
    printer.close()
    assert capsys.readouterr() == (f"{CLOSING}\n", "")


def test_remarks_of_snakemake_are_printed_only_if_no_run_follows(capsys: pytest.CaptureFixture[str]) -> None:
    for start in (True, False):
        printer = Progress(lambda: (CLOSING, False))
        log(printer, "a remark")
        log(printer, "a warning", level=logging.WARNING)
        if start:
            log(printer, event=LogEvent.WORKFLOW_STARTED)
            log(printer, "another remark")
            log(printer, "what will run", event=LogEvent.SHELLCMD)
        printer.close()
    first = f"a warning\n{NOTHING_TO_DO}\n"
    assert capsys.readouterr().err == f"{first}a warning\na remark\n"


def test_a_run_without_a_plan_has_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    progress().close()
    assert capsys.readouterr() == (f"{CLOSING}\n", f"{NOTHING_TO_DO}\n")


def test_rejected_trials_can_end_any_run_with_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    printer = Progress(lambda: (CLOSING, True))
    log(printer, event=LogEvent.WORKFLOW_STARTED)
    with pytest.raises(SystemExit) as end:
        printer.close()
    assert end.value.code == 1
    assert capsys.readouterr().out == f"{CLOSING}\n"


@pytest.mark.parametrize(("quiet", "jobs"), [([], "\nrule clean\n"), (["rules"], "")])
def test_a_dry_run_prints_the_plan_of_snakemake(
    capsys: pytest.CaptureFixture[str], quiet: list[str], jobs: str
) -> None:
    printer = progress(dry_run=True, quiet=quiet)
    plan(printer, clean=1)
    log(printer, "rule clean", event=LogEvent.JOB_INFO, jobid=1, rule_name="clean", log=["logs/s1/clean.log"])
    log(printer, "wipe your metadata")
    plan(printer, clean=1)
    printer.close()
    assert capsys.readouterr() == (f"Job stats\n{jobs}", f"{DRY_RUN}\n")


def test_an_interrupted_run_prints_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    stopped: list[bool] = []
    printer = progress(interrupted=lambda: bool(stopped))
    plan(printer, clean=1)
    capsys.readouterr()
    stopped.append(True)
    log(printer, "At least one job failed", level=logging.ERROR, event=LogEvent.ERROR, exception="WorkflowError")
    with pytest.raises(SystemExit) as end:
        printer.close()
    assert end.value.code == INTERRUPTED
    assert capsys.readouterr() == ("", "")


def job_error(printer: Progress, log_file: Path, *, step: str = "clean", indent: bool = False) -> None:
    log(printer, event=LogEvent.JOB_ERROR, level=logging.ERROR, rule_name=step, log=[str(log_file)], indent=indent)


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "s1" / "clean.log"
    path.parent.mkdir(parents=True)
    path.write_text("ERROR f.nc: damaged; remove it\n")
    return path


def test_a_failure_is_one_line_and_the_last_line_says_what_is_left(
    log_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printer = progress()
    plan(printer, clean=2)
    capsys.readouterr()
    log(printer, "UserError in line 3", level=logging.ERROR, event=LogEvent.ERROR, exception="RuleException")
    job_error(printer, log_file)
    log(printer, "Look above", level=logging.ERROR)
    log(printer, "At least one job failed", level=logging.ERROR, event=LogEvent.ERROR, exception="WorkflowError")
    printer.close()
    assert capsys.readouterr() == ("", f"s1 clean failed: f.nc: damaged; remove it\n{SOME_FAILED}\n")


def test_of_a_group_the_jobs_are_named_that_failed(log_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = log_file.with_name("read.log")
    good.write_text("WARNING walk rejected: x\n")
    jobs = [{"rule_name": path.stem, "log": [str(path)]} for path in (good, log_file)]
    printer = progress()
    log(printer, event=LogEvent.GROUP_ERROR, level=logging.ERROR, job_error_info=jobs)
    job_error(printer, good, step="read", indent=True)
    assert capsys.readouterr().err == "s1 clean failed: f.nc: damaged; remove it\n"


def test_a_group_that_left_no_reason_was_ended_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = [{"rule_name": "read", "log": [f"logs/s{number}/read.log"]} for number in (2, 1, 3)]
    printer = progress()
    log(printer, event=LogEvent.GROUP_ERROR, level=logging.ERROR, job_error_info=jobs, external_jobid="17")
    log(printer, event=LogEvent.GROUP_ERROR, level=logging.ERROR, job_error_info=jobs[:1])
    ended, refused = capsys.readouterr().err.splitlines()
    assert ended.startswith("s1 and 2 other sessions failed: the cluster's job 17 was ended from outside")
    assert refused.startswith("s2 failed: the cluster refused the job")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("WARNING walk rejected: x\nERROR f.nc: damaged; remove it\n", "s1 clean failed: f.nc: damaged; remove it"),
        ("ERROR one thing\nanother thing\n", "s1 clean failed: one thing\n  another thing"),
        (
            'ERROR Traceback (most recent call last):\n  File "x"\nKeyError: 1\n',
            "s1 clean failed: KeyError: 1\n  This is a fault of the pipeline",
        ),
        ("WARNING walk rejected: an ERROR of the lab\n", "s1 clean failed: it was ended from outside"),
    ],
)
def test_a_failure_names_step_session_and_reason(log_file: Path, written: str, shown: str) -> None:
    log_file.write_text(written)
    assert failure("clean", [str(log_file)]).startswith(shown)
    assert failure("study", ["logs/study.log"]) == "study failed: it left no log"


def test_a_failure_without_a_reason_on_a_full_disk_names_the_disk(
    log_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log could not be written either."""
    log_file.write_text("")
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1e5))
    assert failure("clean", [str(log_file)]) == "s1 clean failed: the disk is full; make room and run again"


def test_errors_before_a_run_are_printed_and_a_lock_with_its_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    printer = Progress(lambda: (CLOSING, False))
    log(printer, "No rule for x", level=logging.ERROR, event=LogEvent.ERROR, exception="MissingRuleException")
    log(printer, "Look above", level=logging.ERROR)
    log(printer, "locked", level=logging.ERROR, event=LogEvent.ERROR, exception="LockException")
    printer.close()
    assert capsys.readouterr() == ("", f"No rule for x\n{LOCKED}\n")


QUALITY = """session,trial,side,verdict,reason
s1,walk,left,used,
s1,walk,right,not on a plate,no plate
s1,walk,right,refused,two feet on the plate
s1,fast,,refused,no static trial
"""


@pytest.mark.parametrize("fail", [True, False])
def test_the_last_lines_say_what_was_used_and_what_was_lost(tmp_path: Path, fail: bool) -> None:
    assert closing_lines(tmp_path, fail=fail) == ("Done; the report was not requested.", False)
    (tmp_path / "quality.csv").write_text(QUALITY)
    (tmp_path / "report.html").touch()
    text, failed = closing_lines(tmp_path, fail=fail)
    assert text.splitlines()[:3] == [
        "1 of 2 trials used, 1 of 2 plate contacts used; 1 stance not on a plate.",
        "  rejected: s1 fast: no static trial",
        f"Report: {tmp_path}/report.html",
    ]
    assert failed == fail == ("run.fail_on_rejection" in text)


def quality_of(study: Path, reasons: dict[str, str], *, used: int = 0) -> Path:
    """Write a quality.csv with rejected trials, and others of which a stance is used; return the folder of results."""
    derived = study / "derived"
    derived.mkdir(parents=True, exist_ok=True)
    rows = [f'{name.replace(" ", ",")},,refused,"{reason}"' for name, reason in reasons.items()]
    rows += [f"s9,walk_{i},left,used," for i in range(used)]
    (derived / "quality.csv").write_text("\n".join(["session,trial,side,verdict,reason", *rows]) + "\n")
    (derived / "report.html").touch()
    return derived


def test_a_run_without_any_used_trial_fails_and_names_the_next_command(tmp_path: Path) -> None:
    """For every setting: its results are empty, so that nobody should take it for done."""
    study = tmp_path / "my study"
    lost = {f"{session} w{i}": f"{session}/static.c3d: no markers for heel left" for session in "ab" for i in range(6)}
    text, failed = closing_lines(quality_of(study, lost), fail=False)
    assert failed
    first, rejected, _, last = text.splitlines()
    assert first.startswith("0 of 12 trials used")
    assert rejected == "  rejected: 12 trials (a w0 and 11 more): a/static.c3d: no markers for heel left"
    assert last == f"Exit code 1, because no trial could be used. What to correct: gaitlab check '{study}'"
    text, failed = closing_lines(quality_of(study, lost, used=1), fail=False)
    assert not failed
    assert "Exit code" not in text


def test_rejections_of_one_reason_are_one_line_and_long_ones_are_cut(tmp_path: Path) -> None:
    reasons = {"a w1": "x.c3d: no plate", "a w2": "y.c3d: no plate", "a w3": "no markers " * 100}
    text, _ = closing_lines(quality_of(tmp_path, reasons, used=1), fail=False)
    same, long = text.splitlines()[1:3]
    assert same == "  rejected: 2 trials (a w1 and 1 more): x.c3d: no plate"
    assert long.startswith("  rejected: a w3: no markers")
    assert long.endswith("... (quality.csv)")
    assert len(long) < 500


class TestPlugin(TestLogHandlerBase):
    """Snakemake's own tests of a logger plugin."""

    __test__ = True

    def get_log_handler_cls(self) -> type[LogHandler]:
        return LogHandler

    def get_log_handler_settings(self) -> LogHandlerSettingsBase:
        return LogHandlerSettingsBase()


def handler(*, verbose: bool = False) -> LogHandler:
    settings = MockOutputSettings()
    settings.verbose = verbose
    return LogHandler(settings, None)


def record(text: str, **content: Any) -> logging.LogRecord:
    return logging.makeLogRecord({"msg": text, "levelno": logging.INFO, **content})


def test_the_plugin_hands_records_to_the_workflows_printer(capsys: pytest.CaptureFixture[str]) -> None:
    plugin = handler()
    plugin.emit(record("unseen"))
    plugin.emit(record("a wrong option", levelno=logging.ERROR))
    plugin.emit(record("Study", progress=partial(Progress, lambda: (CLOSING, False))))
    plugin.emit(record("", event=LogEvent.WORKFLOW_STARTED))
    plugin.close()
    plugin.close()  # logging closes all handlers once more
    assert capsys.readouterr() == (f"{CLOSING}\n", f"a wrong option\n{NOTHING_TO_DO}\n")


def test_a_verbose_run_prints_every_record(capsys: pytest.CaptureFixture[str]) -> None:
    plugin = handler(verbose=True)
    plugin.emit(record("seen"))
    assert capsys.readouterr().err == "seen\n"


def test_a_fault_of_the_printer_ends_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    plugin = handler()
    plugin.emit(record("Study", progress=partial(Progress, lambda: (CLOSING, False))))
    plugin.emit(record("", event=LogEvent.RUN_INFO))  # without its content
    assert "AttributeError" in capsys.readouterr().err


def test_without_the_plugin_a_run_says_how_to_install_it(demo: Path) -> None:
    code = f"""import pathlib, sys
sys.path[:] = [path for path in sys.path if not pathlib.Path(path, "snakemake_logger_plugin_gaitlab").is_dir()]
from snakemake.cli import main
main(["--cores", "1", "--directory", {str(demo)!r}])"""
    result = subprocess.run([sys.executable, "-c", code], cwd=HOUSE, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == f"The pipeline is not installed: pip install --editable {HOUSE}"
