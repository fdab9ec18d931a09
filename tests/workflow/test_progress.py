"""What a run prints: progress, time left, failures; fed with records as Snakemake logs them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from pipeline.workflow.progress import Terminal, failure, tell

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


def nothing() -> None:
    raise AssertionError("there was something to do")


def log(terminal: Terminal, text: str = "", **content: Any) -> None:
    terminal.handle(logging.makeLogRecord({"msg": text, "levelno": logging.INFO, **content}))


def run(terminal: Terminal, clock: Clock, sessions: int, *, seconds: dict[str, float]) -> None:
    """Log a run of one job at a time, step after step."""
    log(terminal, "Job stats", event="run_info", stats=dict.fromkeys(STEPS, sessions) | {"all": 1, "total": 0})
    number = 0
    for step in STEPS:
        for i in range(sessions):
            number += 1
            log(terminal, event="job_info", jobid=number, rule_name=step, log=[f"logs/s{i}/{step}.log"])
            clock.now += seconds[step]
            log(terminal, event="job_finished", job_id=number)


def test_time_left_is_what_the_steps_of_each_kind_took(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    run(Terminal(nothing, clock=clock), clock, 4, seconds={"read": 100, "clean": 10, "cycles": 1})
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "12 steps to do in 4 sessions; logs/ tells more of each."
    # unknown kinds are taken for the mean of the others: 8 steps of 100 s
    assert lines[4] == " 4 of 12 steps, 0 of 4 sessions done, about 13 min left: s3 read"
    # 440 s for 8 steps; 4 of a kind not seen yet, 55 s each
    assert lines[8] == " 8 of 12 steps, 0 of 4 sessions done, about 4 min left: s3 clean"
    # 3 of 1 s
    assert lines[9] == " 9 of 12 steps, 1 of 4 sessions done, a few seconds left: s0 cycles"
    assert lines[12] == "12 of 12 steps, 4 of 4 sessions done: s3 cycles"


def test_two_at_a_time_take_half_the_time(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(nothing, clock=clock)
    log(terminal, event="run_info", stats={"read": 12})
    for first in (0, 2):
        for job in (first, first + 1):
            log(terminal, event="job_info", jobid=job, rule_name="read", log=[f"logs/s{job}/read.log"])
        clock.now += 60
        for job in (first, first + 1):
            log(terminal, event="job_finished", job_id=job)
    assert capsys.readouterr().err.splitlines()[-1] == " 4 of 12 steps done, about 4 min left: s3 read"


def test_a_large_run_prints_a_line_per_percent(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    run(Terminal(nothing, clock=clock), clock, 400, seconds=dict.fromkeys(STEPS, 1.0))
    lines = capsys.readouterr().err.splitlines()[1:]
    assert len(lines) == 100
    assert lines[-1].startswith("1200 of 1200 steps, 400 of 400 sessions done")


def test_of_the_rest_only_what_is_not_known_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(nothing)
    for text in ("Select jobs to execute...", "Building DAG of jobs...", "RuleException:\nCalledProcessError in file"):
        log(terminal, text)
    log(terminal, "Execute 2 jobs...", event="job_started")
    log(
        terminal,
        'WorkflowError in file "/x/Snakefile", line 3:\nstudy.yaml: wrong\n  File "/x/Snakefile", line 3, in m',
    )
    log(terminal, "Error: Directory cannot be locked.")
    assert capsys.readouterr().err == "study.yaml: wrong\nError: Directory cannot be locked.\n"


def test_nothing_to_do_is_said_and_may_end_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    def close() -> None:
        raise SystemExit(1)

    with pytest.raises(SystemExit):
        log(Terminal(close), "Nothing to be done (all requested files are present and up to date).")
    assert capsys.readouterr().err == "Nothing to do, all results are up to date.\n"


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("WARNING walk rejected: x\nERROR f.nc: damaged; remove it\n", "s1 clean failed: f.nc: damaged; remove it"),
        ("ERROR one thing\nanother thing\n", "s1 clean failed: one thing\n  another thing"),
        (
            'ERROR Traceback (most recent call last):\n  File "x"\nKeyError: 1\n',
            "s1 clean failed: KeyError: 1\n  a fault",
        ),
        ("WARNING walk rejected: an ERROR of the lab\n", "s1 clean failed: it was ended from outside"),
    ],
)
def test_a_failure_names_step_session_and_reason(tmp_path: Path, written: str, told: str) -> None:
    path = tmp_path / "logs" / "s1" / "clean.log"
    path.parent.mkdir(parents=True)
    path.write_text(written)
    assert failure({"rule_name": "clean", "log": [str(path)]}).startswith(told)
    assert failure({"rule_name": "study", "log": ["logs/study.log"]}) == "study failed: it left no log"


def test_only_snakemakes_own_printer_is_replaced() -> None:
    logger = logging.Logger("x")
    own, chosen = logging.StreamHandler(), logging.StreamHandler()
    own.name = "DefaultStreamHandler"
    for handler in (own, chosen):
        logger.addHandler(handler)
    tell(logger, nothing_to_do=nothing)
    assert own not in logger.handlers
    assert chosen in logger.handlers
    assert any(isinstance(handler, Terminal) for handler in logger.handlers)
