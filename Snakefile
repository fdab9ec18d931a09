# The workflow: one rule per step, in the order of the data. The key of a job holds everything that it depends on besides
# its input files (pipeline/workflow/job_keys.py).
import gc
import sys
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

from snakemake.logging import logger
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

from pipeline.errors import UserError
from pipeline.workflow.activity_lock import hold, is_left_alone
from pipeline.workflow.open_study import (
    SESSION_STEPS,
    changed_results,
    finished_sessions,
    open_study,
    sessions_of_targets,
)
from pipeline.workflow.progress import Progress, closing_lines
from pipeline.workflow.workers import run_job, stop_on_interrupt, was_interrupted

NO_LIMIT = 1_000_000  # jobs a second, as in profiles/default

stop_on_interrupt()
gc.set_threshold(100_000)  # all objects of a plan stay; to search them for garbage more often costs a sixth more time

# without --directory, which makes Snakemake ignore this, the demonstration study is run
if not Path("study.yaml").exists():

    workdir: Path(workflow.basedir) / "data" / "demo"


def refuse(reason):
    logger.error(reason)
    raise SystemExit(1)


if workflow.is_main_process and not LoggerPluginRegistry().is_installed("gaitlab"):
    refuse(f"The pipeline is not installed: pip install --editable {workflow.basedir}")
if workflow.is_main_process and workflow.resource_settings.cores == 0:
    refuse("--cores 0: no job could run; use --cores 1 or more, or --cores all")
try:
    # a job on a cluster opens the study again while others run, and may find results before their records
    forced = not workflow.is_main_process or bool({"-F", "--forceall"} & set(sys.argv))
    STUDY = open_study(Path.cwd(), overrides=config, forced=forced, only=sessions_of_targets(sys.argv))
except UserError as error:
    refuse(str(error))

logger.info(
    f"Study: {Path.cwd()}",
    extra={
        "progress": partial(
            Progress,
            partial(closing_lines, Path("derived").absolute(), fail=STUDY.settings["run"]["fail_on_rejection"]),
            interrupted=was_interrupted,
            dry_run=workflow.output_settings.dryrun,
            quiet=[choice.name.lower() for choice in workflow.output_settings.quiet or ()],
        )
    },
)
MADE_AGAIN = []
if workflow.is_main_process and is_left_alone(Path.cwd(), longest_s=0):
    try:
        MADE_AGAIN, notices = changed_results(STUDY, keep=not workflow.output_settings.dryrun)
    except UserError as error:
        refuse(str(error))
    for notice in notices:
        logger.warning(notice)
if not workflow.output_settings.dryrun:
    hold(Path.cwd())


wildcard_constraints:
    session=r"[^/]+",  # not the names: Snakemake searches the text of this expression for each file
    participant=r"[^/]+",


localrules:
    all,
    page,


if not workflow.is_main_process:  # a job on a cluster runs its steps; Slurm's plugin would start Snakemake for each

    localrules:
        read,
        calibrate,
        clean,
        contacts,
        kinematics,
        kinetics,
        cycles,
        study,
        report,


onstart:
    remove_outdated()


def key(step):
    """Return the function that gives a job's key. Snakemake calls it while it plans."""
    of_wildcards = STUDY.key(step)

    def planned(wildcards):
        adjust_settings()
        return of_wildcards(wildcards)

    return planned


def recordings(wildcards):
    """Return the files of a session."""
    if wildcards.session not in STUDY.sessions:
        refuse(f"trials.tsv has no session '{wildcards.session}'; ask for files of one that it has.")
    force_changed_results()
    return [ancient(file) for file in STUDY.recordings(wildcards.session)]


def of_every_session(output):
    """Return the function that gives an output of every session, or of every one of the participant on a page.

    Outputs of finished sessions are files without a job.
    """

    def files(wildcards):
        force_changed_results()
        participant = getattr(wildcards, "participant", None)
        sessions = STUDY.people.get(participant, []) if participant else STUDY.sessions
        if not sessions:
            refuse(f"trials.tsv has no participant '{wildcards.participant}'; ask for the page of one that it has.")
        paths = {session: f"derived/{session}/{output}.nc" for session in sessions}
        return [before_update(path) if session in finished() else path for session, path in paths.items()]

    return files


def of_unfinished_sessions(_):
    """Return all outputs of the sessions that are not finished."""
    unfinished = [session for session in STUDY.sessions if session not in finished()]
    return expand("derived/{session}/{step}.nc", session=unfinished, step=SESSION_STEPS)


@cache
def finished():
    """Return the sessions without jobs in this plan.

    There are none in a plan that is forced, or only drawn or listed, nor in that of a job on a cluster, which has no
    other jobs anyway.
    """
    forced = workflow.dag_settings.forceall or workflow.dag_settings.forcerun
    if forced or workflow.execution_settings is None or not workflow.is_main_process:
        return frozenset()
    return finished_sessions(STUDY, besides=MADE_AGAIN)


def force_changed_results():
    """Force the jobs of changed results: each plan begins with files of a session or of all."""
    with suppress(AttributeError):  # another version of Snakemake: the job that reads a changed result refuses it
        workflow.dag.forcefiles.update(MADE_AGAIN)


def remove_outdated():
    """Remove the outputs and logs of all jobs that a run on a cluster will make.

    When a group fails, Snakemake either removes the results of all its sessions, or (--keep-incomplete) records all of
    them as up to date, even if the group never began. So with that option none may be left of an earlier run.
    """
    if workflow.non_local_exec and workflow.execution_settings.keep_incomplete:
        for job in workflow.dag.needrun_jobs():
            for file in (*job.output, *job.log):
                Path(file).unlink(missing_ok=True)


def adjust_settings():
    """Change settings of Snakemake that no option can change; it reads them when it has planned.

    With a limit of jobs a second, each finished job makes Snakemake look at all waiting jobs once more every second:
    half of a core's time with 20 sessions (https://github.com/snakemake/snakemake/pull/3744). So the limit of the
    profile means none; one that the user gives is kept. Profiles do not reach the jobs of a cluster: a group of them
    gets no --keep-going, so that a session that fails would end the others, and no --force-use-threads, so that each
    of its steps would start Snakemake once more.
    """
    with suppress(AttributeError):  # another version of Snakemake: the run takes longer
        limit = workflow.scheduling_settings.max_jobs_per_timespan
        if limit and (limit.max_jobs == NO_LIMIT or not workflow.is_main_process):
            workflow.scheduling_settings.max_jobs_per_timespan = None
        if not workflow.is_main_process:
            workflow.execution_settings.use_threads = True
            workflow.execution_settings.keep_going = True


rule all:
    input:
        of_unfinished_sessions,
        "derived/report.html",
        expand("derived/report/{participant}.html", participant=STUDY.report_pages),


rule read:
    input:
        recordings=recordings,
    output:
        read="derived/{session}/read.nc",
    log:
        "logs/{session}/read.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=STUDY.runtime_min["session"],
    params:
        key=key("read"),
    run:
        run_job(key=params.key, input=input, output=output, log=log)


rule calibrate:
    input:
        read="derived/{session}/read.nc",
    output:
        calibrate="derived/{session}/calibrate.nc",
    log:
        "logs/{session}/calibrate.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=STUDY.runtime_min["session"],
    params:
        key=key("calibrate"),
    run:
        run_job(key=params.key, input=input, output=output, log=log)


rule clean:
    input:
        read="derived/{session}/read.nc",
    output:
        clean="derived/{session}/clean.nc",
    log:
        "logs/{session}/clean.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=STUDY.runtime_min["session"],
    params:
        key=key("clean"),
    run:
        run_job(key=params.key, input=input, output=output, log=log)


rule contacts:
    input:
        clean="derived/{session}/clean.nc",
    output:
        contacts="derived/{session}/contacts.nc",
    log:
        "logs/{session}/contacts.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=STUDY.runtime_min["session"],
    params:
        key=key("contacts"),
    run:
        run_job(key=params.key, input=input, output=output, log=log)


rule kinematics:
    input:
        clean="derived/{session}/clean.nc",
        calibrate="derived/{session}/calibrate.nc",
    output:
        kinematics="derived/{session}/kinematics.nc",
    log:
        "logs/{session}/kinematics.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=STUDY.runtime_min["session"],
    params:
        key=key("kinematics"),
    run:
        run_job(key=params.key, input=input, output=output, log=log)


rule kinetics:
    input:
        kinematics="derived/{session}/kinematics.nc",
        contacts="derived/{session}/contacts.nc",
        calibrate="derived/{session}/calibrate.nc",
    output:
        kinetics="derived/{session}/kinetics.nc",
    log:
        "logs/{session}/kinetics.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=STUDY.runtime_min["session"],
    params:
        key=key("kinetics"),
    run:
        run_job(key=params.key, input=input, output=output, log=log)


rule cycles:
    input:
        kinetics="derived/{session}/kinetics.nc",
        kinematics="derived/{session}/kinematics.nc",
        contacts="derived/{session}/contacts.nc",
        clean="derived/{session}/clean.nc",
        calibrate="derived/{session}/calibrate.nc",
    output:
        cycles="derived/{session}/cycles.nc",
        representative="derived/{session}/representative.nc",
    log:
        "logs/{session}/cycles.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=STUDY.runtime_min["session"],
    params:
        key=key("cycles"),
    run:
        run_job(key=params.key, input=input, output=output, log=log)


rule study:
    input:
        cycles=of_every_session("cycles"),
    output:
        study="derived/study.nc",
        metrics=["derived/metrics.csv", "derived/metrics.json"],
        quality=["derived/quality.csv", "derived/quality.json"],
        participants=["derived/participants.csv", "derived/participants.json"],
        symmetry=["derived/symmetry.csv", "derived/symmetry.json"],
    log:
        "logs/study.log",
    resources:
        mem_mb=STUDY.memory_mb["study"],
        runtime=STUDY.runtime_min["study"],
    params:
        key=key("study"),
    run:
        run_job(key=params.key, input=input, output=output, log=log)


rule report:
    input:
        study="derived/study.nc",
        metrics="derived/metrics.csv",
        quality="derived/quality.csv",
        means="derived/participants.csv",
        symmetry="derived/symmetry.csv",
        cycles=of_every_session("cycles"),
        calibrate=of_every_session("calibrate"),
    output:
        report="derived/report.html",
    log:
        "logs/report.log",
    resources:
        mem_mb=STUDY.memory_mb["study"],
        runtime=STUDY.runtime_min["study"],
    params:
        key=key("report"),
    run:
        run_job(key=params.key, input=input, output=output, log=log)


rule page:
    input:
        cycles=of_every_session("cycles"),
        representative=of_every_session("representative"),
        calibrate=of_every_session("calibrate"),
    output:
        page="derived/report/{participant}.html",
    log:
        "logs/{participant}/page.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=STUDY.runtime_min["session"],
    params:
        key=key("page"),
    run:
        run_job(key=params.key, input=input, output=output, log=log)
