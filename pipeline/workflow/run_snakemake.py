"""Prepare a study, run Snakemake on it, and say how the run ended: the command ``gaitlab run``.

Snakemake alone runs the workflow, too. This module adds what Snakemake cannot know (see
:mod:`pipeline.workflow.preparation`), plain lines of progress, and a summary of the run.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import snakemake_logger_plugin_gaitlab as plugin

from ..errors import UserError, printable
from .activity_lock import is_left_alone
from .jobs.workers import exit_code_of_stop, plan, stop_on_signals, was_stopped

if TYPE_CHECKING:
    from argparse import Namespace

    from .job_keys import Study

HOUSE = Path(__file__).resolve().parents[2]  # with Snakefile and profiles/, in a checkout and in a wheel
PROFILES = HOUSE / "profiles"
CHOOSES_CORES = ("-c", "--cores", "-j", "--jobs", "-e", "--executor", "--profile")
# Snakemake's arguments by which jobs run although nothing has changed, and what else it looks at if it is asked to
FORCES = ("force", "forceall", "forcerun")
FURTHER_TRIGGERS = {"CODE", "INPUT"}
LIMITS_RATE = "--max-jobs-per-"
# Snakemake's arguments for a part of the workflow, and those that run no job
PARTS = ("targets", "target_jobs", "until", "omit_from", "batch")
NO_RUN = ("unlock", "touch", "lint", "summary", "detailed_summary", "dag", "rulegraph", "filegraph", "d3dag", "report",
          "list_rules", "list_target_rules", "list_changes", "list_untracked", "archive", "cleanup_metadata",
          "delete_all_output", "delete_temp_output")  # fmt: skip


def main() -> NoReturn:
    """Run the command line ``STUDY [options of Snakemake]`` and exit with its exit code."""
    stop_on_signals()
    study, *options = sys.argv[1:]
    sys.argv[0] = "gaitlab run"  # as usage errors begin
    try:
        code = run(Path(study).resolve(), options)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        code = 1
    except OSError as error:
        remedy = "see that you may read and write there, and that there is room"
        sys.stderr.write(f"{UserError(str(error.filename or study), str(error.strerror), remedy)}\n")
        code = 1
    sys.exit(exit_code_of_stop() if was_stopped() else code)


def run(path: Path, options: Sequence[str]) -> int:
    """Run the workflow on a study and return the exit code; refuse wrong settings or tables, and lost records."""
    gc.set_threshold(1_000_000)  # modules and the plan stay, and are else searched for garbage: a fifth more time
    from snakemake.cli import args_to_api, parse_args, parse_config
    from snakemake.exceptions import print_exception
    from snakemake.settings.types import ConfigSettings

    from .open_study import open_once
    from .preparation import reasons_to_run
    from .progress import Progress
    from .run_summary import RUN
    from .strict_yaml import read_yaml

    try:
        parser, arguments = parse_args(snakemake_arguments(path, options))
        config = ConfigSettings(config=parse_config(arguments.config), configfiles=arguments.configfile or ())
    except Exception as error:  # a wrong option, as Snakemake's own command words it
        print_exception(error)
        return 1
    if arguments.cores == 0:
        raise UserError("--cores 0", "no job could run", "use --cores 1 or more, or --cores all")
    # with any limit Snakemake looks at all waiting jobs every second, which takes half of a core with 20 sessions
    # (https://github.com/snakemake/snakemake/pull/3744); its API knows no limit, its command line always sets one
    if not any(option.startswith(LIMITS_RATE) for option in options):
        arguments.max_jobs_per_timespan = None
    runs = not any(getattr(arguments, name, None) for name in NO_RUN)
    writes = runs and not arguments.dryrun and os.access(path, os.W_OK)  # open_once refuses a read-only study
    if writes and is_left_alone(path, longest_s=0):
        with suppress(OSError):  # of a wrong place; open_once says which
            (path / "derived" / RUN).unlink(missing_ok=True)  # of an earlier run, also if this one cannot begin
    for file in config.configfiles:
        read_yaml(file)  # refuses numbers such as 012, which Snakemake's loader, that gives the values, reads as others
    study = open_once(path, config.overwrite_config)
    whole = runs and not any(getattr(arguments, name, None) for name in PARTS)
    _prepare(study, arguments, whole=whole)
    quiet = [choice.name.lower() for choice in arguments.quiet or ()]
    reasons = partial(reasons_to_run, study)
    progress = Progress(interrupted=was_stopped, dry_run=arguments.dryrun, reasons=reasons, planned=plan, quiet=quiet)
    plugin.show = progress.show
    with without_pandas():
        code = 0 if args_to_api(arguments, parser) else 1
    return _tell_results(path, study, progress.failures, code, whole=whole) if progress.finish() and runs else code


@contextmanager
def without_pandas() -> Iterator[None]:
    """Have Snakemake take pandas for not installed: it would load it, .2 s, to ask whether a key is one of its tables.

    A plugin that uses pandas has loaded it before, with the options; jobs run in other processes.
    """
    loaded = "pandas" in sys.modules
    if not loaded:
        sys.modules["pandas"] = None  # type: ignore[assignment] # so Python says that a module is not to be found
    try:
        yield
    finally:
        if not loaded:
            sys.modules.pop("pandas", None)


def _prepare(study: Study, arguments: Namespace, *, whole: bool) -> None:
    """Prepare a run, and have Snakemake do again or leave out what the preparation says."""
    from .finished import leave_out
    from .preparation import prepare

    prepared = prepare(study, dry_run=arguments.dryrun, forced=arguments.forceall, whole=whole)
    more = any(getattr(arguments, name) for name in FORCES)
    more = more or not FURTHER_TRIGGERS.isdisjoint(trigger.name for trigger in arguments.rerun_triggers)
    leave_out([] if more else prepared.finished)
    arguments.forcerun = {*arguments.forcerun, *prepared.rerun}
    for notice in prepared.notices:
        sys.stderr.write(f"{notice}\n")


def _tell_results(path: Path, study: Study, failures: Sequence[Mapping[str, str]], code: int, *, whole: bool) -> int:
    """Print how the run ended, renew pages of commands that show other results, and return the exit code."""
    from .command_files import renew
    from .run_summary import summarise

    fail = study.settings["run"]["fail_on_rejection"]
    used = study.settings["cycles"]["doubted_stances"] == "use"
    code = summarise(path, failures, code, whole=whole, fail=fail, doubts_used=used)
    for line in renew(study) if whole and not failures else ():
        sys.stdout.write(printable(f"{line}\n"))
    return code


def snakemake_arguments(path: Path, options: Sequence[str]) -> list[str]:
    """Return the arguments of Snakemake: those of profiles/default, all cores unless the options choose, the options.

    The profile's options are given one by one, because Snakemake prints a line about a profile.
    """
    from .strict_yaml import read_yaml

    arguments = list[str]()
    for name, value in read_yaml(PROFILES / "default" / "config.yaml").items():
        values = value if isinstance(value, list) else [] if value is True else [value]
        arguments += [f"--{name}", *map(str, values)]
    arguments += ["--logger", "gaitlab", "--workflow-profile", "none"]
    arguments += ["--snakefile", str(HOUSE / "Snakefile"), "--directory", str(path)]
    if not any(option.startswith(CHOOSES_CORES) for option in options):
        arguments += ["--cores", "all"]
    shipped = {folder.name: str(folder) for folder in PROFILES.iterdir()}
    before = ["", *options]
    return arguments + [
        shipped.get(option, option) if previous == "--profile" else option
        for previous, option in zip(before, options, strict=False)
    ]
