"""What a run prints: progress, time left, failures, last lines; from records as Snakemake logs them."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase
from snakemake_interface_logger_plugins.tests import MockOutputSettings, TestLogHandlerBase

from pipeline.workflow.progress import DRY_RUN, LOCKED, NOTHING_TO_DO, SOME_FAILED, Progress
from snakemake_logger_plugin_gaitlab import LogHandler

STEPS = ("read", "clean", "cycles")


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
    printer = Progress(**settings)
    log(printer, event=LogEvent.WORKFLOW_STARTED)
    return printer


def log(printer: Progress, text: str = "", *, level: int = logging.INFO, **content: Any) -> None:
    printer.show(logging.makeLogRecord({"msg": text, "levelno": level, **content}), logging.LogRecord.getMessage)


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
def test_a_quiet_run_prints_its_summary_only(
    clock: Clock, capsys: pytest.CaptureFixture[str], quiet: list[str]
) -> None:
    printer = progress(clock=clock, quiet=quiet)
    run(printer, clock, 1, seconds=dict.fromkeys(STEPS, 1.0))
    assert printer.finish()
    assert capsys.readouterr() == ("", "")


def test_remarks_of_snakemake_are_printed_only_if_no_run_follows(capsys: pytest.CaptureFixture[str]) -> None:
    for start in (True, False):
        printer = Progress()
        log(printer, "a remark")
        log(printer, "a warning", level=logging.WARNING)
        if start:
            log(printer, event=LogEvent.WORKFLOW_STARTED)
            log(printer, "another remark")
            log(printer, "what will run", event=LogEvent.SHELLCMD)
        assert printer.finish() == start
    first = f"a warning\n{NOTHING_TO_DO}\n"
    assert capsys.readouterr().err == f"{first}a warning\na remark\n"


def test_a_run_without_a_plan_has_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert progress().finish()
    assert capsys.readouterr() == ("", f"{NOTHING_TO_DO}\n")


def test_the_steps_of_a_plan_are_told_before_anything_else_is_done() -> None:
    told: list[str] = []
    printer = progress(planned=told.extend, reasons=lambda steps: [f"{told} {[*steps]}"])
    plan(printer, kinetics=2, cycles=2)
    assert told == ["kinetics", "cycles"]


@pytest.mark.parametrize(("quiet", "jobs"), [([], "\nrule clean\n"), (["rules"], "")])
def test_a_dry_run_prints_the_plan_of_snakemake(
    capsys: pytest.CaptureFixture[str], quiet: list[str], jobs: str
) -> None:
    printer = progress(dry_run=True, quiet=quiet)
    plan(printer, clean=1)
    log(printer, "rule clean", event=LogEvent.JOB_INFO, jobid=1, rule_name="clean", log=["logs/s1/clean.log"])
    log(printer, "wipe your metadata")
    plan(printer, clean=1)
    assert not printer.finish()
    assert capsys.readouterr() == (f"Job stats\n{jobs}", f"{DRY_RUN}\n")


def test_an_interrupted_run_prints_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    stopped: list[bool] = []
    printer = progress(interrupted=lambda: bool(stopped))
    plan(printer, clean=1)
    capsys.readouterr()
    stopped.append(True)
    log(printer, "At least one job failed", level=logging.ERROR, event=LogEvent.ERROR, exception="WorkflowError")
    assert not printer.finish()
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
    assert printer.finish()
    assert printer.failures == [{"session": "s1", "step": "clean", "reason": "f.nc: damaged; remove it"}]
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
def test_a_failure_names_step_session_and_reason(
    log_file: Path, capsys: pytest.CaptureFixture[str], written: str, shown: str
) -> None:
    log_file.write_text(written)
    printer = progress()
    job_error(printer, log_file)
    job_error(printer, Path("logs/study.log"), step="study")
    text = capsys.readouterr().err
    assert text.startswith(shown)
    assert text.endswith("study failed: it left no log\n")


def test_a_failure_without_a_reason_on_a_full_disk_names_the_disk(
    log_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log could not be written either."""
    log_file.write_text("")
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1e5))
    job_error(progress(), log_file)
    assert capsys.readouterr().err == "s1 clean failed: the disk is full; make room and run again\n"


def test_errors_before_a_run_are_printed_and_a_lock_with_its_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    printer = Progress()
    log(printer, "No rule for x", level=logging.ERROR, event=LogEvent.ERROR, exception="MissingRuleException")
    log(printer, "Look above", level=logging.ERROR)
    log(printer, "locked", level=logging.ERROR, event=LogEvent.ERROR, exception="LockException")
    assert not printer.finish()
    assert capsys.readouterr() == ("", f"No rule for x\n{LOCKED}\n")


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


def test_the_plugin_hands_records_to_the_workflows_printer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin, printer = handler(), Progress()
    monkeypatch.setattr("snakemake_logger_plugin_gaitlab.show", printer.show)
    plugin.emit(record("a wrong option", levelno=logging.WARNING))
    plugin.emit(record("", event=LogEvent.WORKFLOW_STARTED))
    assert printer.finish()
    assert capsys.readouterr() == ("", f"a wrong option\n{NOTHING_TO_DO}\n")


@pytest.mark.parametrize("show", [None, lambda *_: None])
def test_without_a_printer_or_if_verbose_every_record_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, show: Any
) -> None:
    monkeypatch.setattr("snakemake_logger_plugin_gaitlab.show", show)
    handler(verbose=show is not None).emit(record("seen"))
    assert capsys.readouterr().err == "seen\n"


def test_a_fault_of_the_printer_ends_no_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("snakemake_logger_plugin_gaitlab.show", Progress().show)
    handler().emit(record("", event=LogEvent.RUN_INFO))  # without its content
    assert "AttributeError" in capsys.readouterr().err
