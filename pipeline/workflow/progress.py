"""What a run prints: a line per finished step and what failed and why, in place of Snakemake's own account.

Lines only, in a terminal as in a log. The full account stays in .snakemake/log. It needs nothing of Snakemake but the
records that it logs.
"""

from __future__ import annotations

import csv
import logging
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

UNTOLD_EVENTS = {
    *("workflow_started", "run_info", "resources_info", "shellcmd"),
    *("job_info", "job_started", "job_finished", "progress"),
}
UNTOLD = (
    *("Building DAG of jobs", "Using shell:", "Select jobs to execute", "Complete log(s):", "Elapsed time:"),
    *("RuleException:", "At least one job did not complete", "WorkflowError:\nAt least one job did not complete"),
    *("Exiting because a job execution failed", "Shutting down, this might take some time"),
)
NOTHING_TO_DO = "Nothing to be done"
LONGEST_REASON = 8  # lines
LOCKED = (
    "The study is locked: another run is at work on it, or one was killed. "
    "'python -m pipeline recover STUDY' unlocks it where none is, and takes the run up."
)


class Terminal(logging.Handler):
    """Prints a run's progress and failures.

    Args:
        nothing_to_do: what to call where every result is up to date; it may raise SystemExit.
        clock: seconds, for the time that is left.
    """

    def __init__(self, nothing_to_do: Callable[[], None], *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.nothing_to_do, self.clock = nothing_to_do, clock
        self.begun: dict[int, tuple[str, str, float]] = {}  # step, session, when, by job
        self.to_do: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.took_s: dict[str, float] = defaultdict(float)
        self.start = clock()

    def emit(self, record: logging.LogRecord) -> None:
        """Print what a record says to a user, if anything."""
        event, text = str(getattr(record, "event", None) or ""), str(record.msg or "")
        if text.startswith(NOTHING_TO_DO):
            _say("Nothing to do, all results are up to date.")
            self.nothing_to_do()
            return
        try:
            if event == "run_info":
                self._plan(vars(record)["stats"])
            elif event == "job_info":
                job = vars(record)
                self.begun[job["jobid"]] = job["rule_name"], _session(job), self.clock()
            elif event == "job_finished":
                self._finish(vars(record)["job_id"])
            elif event == "job_error":
                _say(failure(vars(record)))
            elif event not in UNTOLD_EVENTS and text and not text.startswith(UNTOLD):
                _say(_without_place(text))
        except Exception:  # what cannot be shown must not end a run
            self.handleError(record)

    def _plan(self, stats: Mapping[str, int]) -> None:
        self.to_do = Counter({step: count for step, count in stats.items() if step not in ("all", "total")})
        self.start = self.clock()
        where = f" in {_count(self.to_do['cycles'], 'session')}" if self.to_do["cycles"] else ""
        _say(f"{_count(self.to_do.total(), 'step')} to do{where}; logs/ tells more of each.")

    def _finish(self, job: int) -> None:
        step, session, since = self.begun.pop(job, ("all", "", 0.0))
        if step not in self.to_do:
            return
        before = self.done.total()
        self.done[step] += 1
        self.took_s[step] += self.clock() - since
        if _percent(before, self.to_do) != _percent(before + 1, self.to_do):
            _say(self._line(f"{session} {step}".strip()))

    def _line(self, what: str) -> str:
        done, total = self.done.total(), self.to_do.total()
        of = _count(self.to_do["cycles"], "session")
        sessions = f", {self.done['cycles']} of {of}" if self.to_do["cycles"] else ""
        left = f", {_spoken(self._left_s())} left" if 1 < done < total else ""
        return f"{done:>{len(str(total))}} of {total} steps{sessions} done{left}: {what}"

    def _left_s(self) -> float:
        """Return how long the other steps will take if each takes what its kind took so far, as many at a time."""
        took, done = sum(self.took_s.values()), self.done.total()
        mean = {step: self.took_s[step] / self.done[step] for step in self.done}
        work = sum((count - self.done[step]) * mean.get(step, took / done) for step, count in self.to_do.items())
        return work * (self.clock() - self.start) / took if took > 0 else 0.0


def tell(logger: logging.Logger, *, nothing_to_do: Callable[[], None]) -> None:
    """Print in place of Snakemake's own printer; one that the user has chosen (``--logger``) is left alone."""
    for handler in [*logger.handlers]:
        if handler.name == "DefaultStreamHandler":
            logger.removeHandler(handler)
            logger.addHandler(Terminal(nothing_to_do))


def failure(job: Mapping[str, Any]) -> str:
    """Return which step failed, in which session, and why, from its log."""
    what = f"{_session(job)} {job['rule_name']}".strip()
    log = Path(job["log"][0]) if job["log"] else None
    if log is None or not log.is_file():
        return f"{what} failed: it left no log"
    text = log.read_text(encoding="utf-8", errors="replace")
    _, found, error = f"\n{text}".rpartition("\nERROR ")
    lines = error.strip().splitlines()
    if not found or not lines:
        return f"{what} failed: it was ended from outside, or ran out of memory; see {log}"
    if lines[0].startswith("Traceback"):
        return f"{what} failed: {lines[-1]}\n  a fault of the pipeline, not of the study; its traceback is in {log}"
    return f"{what} failed: " + "\n  ".join(lines[:LONGEST_REASON])


def _session(job: Mapping[str, Any]) -> str:
    """Return the session, which a failed job's record tells by its log alone: logs/SESSION/STEP.log."""
    parent = Path(job["log"][0]).parent.name if job["log"] else "logs"
    return "" if parent == "logs" else parent


def _without_place(text: str) -> str:
    """Return what is wrong with a study without where in the Snakefile that was found."""
    if text.startswith("LockException"):
        return LOCKED
    if not text.startswith("WorkflowError in file"):
        return text
    return "\n".join(line for line in text.splitlines()[1:] if not line.startswith('  File "'))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _percent(done: int, to_do: Counter[str]) -> int:
    return 100 * done // max(to_do.total(), 1)


def _spoken(seconds: float) -> str:
    if seconds < 10:
        return "a few seconds"
    if seconds < 90:
        return f"about {round(seconds, -1):.0f} s"
    minutes = round(seconds / 60)
    return f"about {minutes} min" if minutes < 60 else f"about {minutes // 60} h {minutes % 60} min"


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def closing_lines(derived: Path, *, fail: bool) -> str:
    """Return the closing summary of a finished run.

    Args:
        derived: the output directory of the study.
        fail: whether rejected trials end the run with exit code 1.

    Raises:
        SystemExit: trials were rejected and ``fail`` is set.
    """
    if not (derived / "report.html").is_file() or not (derived / "quality.csv").is_file():
        return "Done; the report was not asked for."
    with (derived / "quality.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    trials = {(row["session"], row["trial"]) for row in rows}
    lost = {
        (row["session"], row["trial"]): row["reason"]
        for row in rows
        if row["verdict"] == "rejected" and not row["side"]
    }
    stances = Counter(row["verdict"] for row in rows if row["side"])
    lines = [
        f"{len(trials) - len(lost)} of {len(trials)} trials used, "
        f"{stances['used']} of {stances.total()} stances with kinetics.",
        *(f"  rejected: {session} {trial}: {reason}" for (session, trial), reason in sorted(lost.items())),
        f"Report: {(derived / 'report.html').resolve()}",
    ]
    if lost and fail:
        raise SystemExit("\n".join([*lines, "Exit code 1, for trials were rejected (run.fail_on_rejection)."]))
    return "\n".join(lines)
