"""Print the progress of a run and what failed, in plain lines instead of Snakemake's account.

It prints lines only, on a terminal as in a log file. Snakemake's own account is in .snakemake/log. The records come
from the logger plugin ``snakemake_logger_plugin_gaitlab``.
"""

import logging
import re
import shutil
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from snakemake_interface_logger_plugins.common import LogEvent

from ..results.whole_files import NEARLY_FULL_BYTES

LONGEST_REASON = 8  # lines
NOTHING_TO_DO = "Nothing to do, all results are up to date."
DRY_RUN = "Dry run: nothing was run."
SOME_FAILED = (
    "Some steps failed (see above and logs/). All other steps finished. "
    "Results that depend on the failed steps are those of an earlier run, if any."
)
LOCKED = (
    "The study is locked: another run uses it, or a run was killed. "
    "If no run is active, 'gaitlab recover STUDY' unlocks it and continues the run."
)
OF_THE_USER = re.compile(r"^ *UserError: (.*)", re.MULTILINE)  # in Snakemake's account of a rule's function
OF_A_FAILED_JOB = ("RuleException", "WorkflowError")  # Snakemake logs them besides the job's failure itself


class Progress:
    """Print what matters to a user of a run's log records.

    Args:
        interrupted: returns whether the user has stopped the run.
        dry_run: whether the run is one.
        reasons: returns why jobs of some steps run again, in lines.
        planned: called with the steps that have jobs, before the first one begins.
        quiet: what not to print, in Snakemake's words: "rules" (in a dry run), "progress", "all".
        clock: returns seconds, for the time left.
    """

    def __init__(
        self,
        *,
        interrupted: Callable[[], bool] = lambda: False,
        dry_run: bool = False,
        reasons: Callable[[Collection[str]], Iterable[str]] = lambda _: (),
        planned: Callable[[Collection[str]], object] = lambda _: None,
        quiet: Collection[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.interrupted, self.dry_run, self.quiet, self.clock = interrupted, dry_run, quiet, clock
        self.reasons, self.on_plan = reasons, planned
        self.started = self.planned = self.failed = False
        self.failures: list[dict[str, str]] = []  # step, session and reason of each failed job
        self.remarks: list[str] = []  # of a command that runs no workflow, such as --unlock
        self.begun: dict[int, tuple[str, str, float]] = {}  # step, session, time, by job
        self.to_do: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.took_s: dict[str, float] = defaultdict(float)
        self.start = clock()
        self.of_events: dict[str, Callable[[Any], None]] = {
            LogEvent.WORKFLOW_STARTED: self._started,
            LogEvent.RUN_INFO: self._plan,
            LogEvent.JOB_INFO: self._begin,
            LogEvent.JOB_FINISHED: self._finish,
            LogEvent.JOB_ERROR: self._job_error,
            LogEvent.GROUP_ERROR: self._group_error,
            LogEvent.ERROR: self._error,
        }

    def show(self, record: logging.LogRecord, as_text: Callable[[logging.LogRecord], str]) -> None:
        """Print what matters to a user of a record, if anything; ``as_text`` gives Snakemake's own text of it."""
        event, self.as_text = getattr(record, "event", None), as_text
        if self.interrupted():
            return
        if event is not None:
            self.of_events.get(event, lambda _: None)(record)
        elif record.levelno >= logging.ERROR:
            self._error(record)
        elif record.levelno >= logging.WARNING:
            _say(record.getMessage())
        elif not self.started:
            self.remarks.append(record.getMessage())

    def finish(self) -> bool:
        """Print the last lines of a run, and return whether it has run to its end, so that a summary can follow."""
        for remark in filter(None, self.remarks):
            _say(remark)
        if self.interrupted() or not self.started or (self.failed and not self.failures):
            return False
        if self.failures:
            _say(SOME_FAILED)
        elif not self.planned:
            _say(NOTHING_TO_DO)
        if self.dry_run:
            _say(DRY_RUN)
        return not self.dry_run

    def _started(self, _: Any) -> None:
        self.started, self.start = True, self.clock()
        self.remarks.clear()

    def _plan(self, run: Any) -> None:
        if self.dry_run and not self.planned:
            _say(self.as_text(run), sys.stdout)
        self.to_do = Counter({step: count for step, count in run.stats.items() if step not in ("all", "total")})
        self.on_plan(self.to_do.keys())
        for line in self.reasons(self.to_do.keys()) if not self.planned else ():
            self._progress(line)
        self.planned = True
        self.start = self.clock()
        if not self.dry_run:
            where = f" in {count_of(self.to_do['cycles'], 'session')}" if self.to_do["cycles"] else ""
            self._progress(f"{count_of(self.to_do.total(), 'step')} to do{where}; each has a log in logs/.")

    def _begin(self, job: Any) -> None:
        self.begun[job.jobid] = job.rule_name, _session(job.log), self.clock()
        if self.dry_run and not {"rules", "all"} & {*self.quiet}:
            _say(f"\n{self.as_text(job)}", sys.stdout)

    def _finish(self, job: Any) -> None:
        step, session, since = self.begun.pop(job.job_id, ("all", "", 0.0))
        if step not in self.to_do:
            return
        before = self.done.total()
        self.done[step] += 1
        self.took_s[step] += self.clock() - since
        if _percent(before, self.to_do) != _percent(before + 1, self.to_do):
            self._progress(self._line(f"{session} {step}".strip()))

    def _job_error(self, job: Any) -> None:
        if not job.indent:  # else the failure of its group was shown
            self._fail(job.rule_name, _session(job.log), reason_of(job.log))

    def _group_error(self, group: Any) -> None:
        """Show the jobs of a group that failed; those that ended well before are reported, too."""
        jobs = [(job["rule_name"], job["log"]) for job in group.job_error_info]
        failed = [job for job in jobs if _reason(job[1])]
        for step, logs in failed:
            self._fail(step, _session(logs), reason_of(logs))
        if not failed:
            first, *others = sorted({_session(log) for _, log in jobs})
            who = f"{first} and {count_of(len(others), 'other session')}" if others else first
            number = getattr(group, "external_jobid", None)  # of the cluster
            ended = f"the cluster's job {number} was ended from outside, or ran out of time or memory"
            refused = "the cluster refused the job; check its partition, account, time and memory (docs/scale.md)"
            self._fail("", who, ended if number else refused)

    def _fail(self, step: str, session: str, reason: str) -> None:
        self.failed = True
        self.failures.append({"session": session, "step": step, "reason": reason})
        _say(f"{f'{session} {step}'.strip()} failed: {reason}")

    def _error(self, record: Any) -> None:
        """Show an error, unless it only repeats that a job has failed."""
        name = getattr(record, "exception", "")
        repeats = (self.planned and name in OF_A_FAILED_JOB) or (self.failed and not name)
        self.failed = True
        if name == "LockException":
            _say(LOCKED)
        elif not repeats:
            problem = OF_THE_USER.search(record.getMessage())
            _say(problem[1] if problem else record.getMessage())

    def _line(self, what: str) -> str:
        done, total = self.done.total(), self.to_do.total()
        of = count_of(self.to_do["cycles"], "session")
        sessions = f", {self.done['cycles']} of {of}" if self.to_do["cycles"] else ""
        left = f", {_spoken(self._left_s())} left" if 1 < done < total else ""
        return f"{done:>{len(str(total))}} of {total} steps{sessions} done{left}: {what}"

    def _left_s(self) -> float:
        """Return how long the other steps will take if each takes what its kind took so far, as many at a time."""
        took, done = sum(self.took_s.values()), self.done.total()
        mean = {step: self.took_s[step] / self.done[step] for step in self.done}
        work = sum((count - self.done[step]) * mean.get(step, took / done) for step, count in self.to_do.items())
        return work * (self.clock() - self.start) / took if took > 0 else 0.0

    def _progress(self, text: str) -> None:
        if not {"progress", "all"} & {*self.quiet}:
            _say(text)


def reason_of(logs: Sequence[str]) -> str:
    """Return why a job failed, from its log."""
    if not logs or not Path(logs[0]).is_file():
        return "it left no log"
    lines = _reason(logs)
    if not lines and shutil.disk_usage(logs[0]).free < NEARLY_FULL_BYTES:
        return "the disk is full; make room and run again"
    if not lines:
        return f"it was ended from outside, or ran out of memory; see {logs[0]}"
    if lines[0].startswith("Traceback"):
        return f"{lines[-1]}\n  This is a fault of the pipeline or of an extra, not of the study; see {logs[0]}"
    return "\n  ".join(lines[:LONGEST_REASON])


def _reason(logs: Sequence[str]) -> list[str]:
    """Return the lines of the last error in a job's log."""
    try:
        text = Path(logs[0]).read_text(encoding="utf-8", errors="replace")
    except (OSError, IndexError):
        return []
    _, found, error = f"\n{text}".rpartition("\nERROR ")
    return error.strip().splitlines() if found else []


def _session(logs: Sequence[str]) -> str:
    """Return the session of a job from its log, logs/SESSION/STEP.log; empty for a job of the whole study."""
    parent = Path(logs[0]).parent.name if logs else "logs"
    return "" if parent == "logs" else parent


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural but for 1."""
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


def _say(text: str, stream: TextIO | None = None) -> None:
    stream = stream or sys.stderr
    stream.write(f"{text}\n")
    stream.flush()
