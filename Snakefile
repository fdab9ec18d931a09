# The workflow: one rule per step, in the order of the data. What a job depends on is in its key:
# pipeline/workflow/job_keys.py.
import sys
from pathlib import Path

HOUSE = Path(workflow.basedir)
sys.path.insert(0, str(HOUSE))

from snakemake.io import _IOFile
from snakemake.script import PythonScript

from pipeline.errors import UserError
from pipeline.workflow.activity_lock import hold
from pipeline.workflow.open_study import SESSION_STEPS, STEPS, open_study
from pipeline.workflow.progress import closing_lines, tell
from pipeline.workflow.spared import hash_once, lift_default_limit
from pipeline.workflow.warm import start_jobs_warm

# without --directory, which makes Snakemake ignore this, the demonstration study is run
if not Path("study.yaml").exists():

    workdir: HOUSE / "data" / "demo"


def close():
    print(closing_lines(Path("derived"), fail=STUDY.settings["run"]["fail_on_rejection"]))


if workflow.is_main_process and not (workflow.output_settings.dryrun or workflow.output_settings.verbose):
    # Snakemake has no hook for a run with nothing to do: it is told by its message
    tell(workflow.logger_manager.logger, nothing_to_do=close)

try:
    # a job on a cluster opens the study anew, in the midst of a first run
    forced = not workflow.is_main_process or bool({"-F", "--forceall"} & set(sys.argv))
    STUDY = open_study(Path.cwd(), overrides=config, forced=forced)
except UserError as error:
    raise WorkflowError(str(error)) from None
if not workflow.output_settings.dryrun:
    hold(Path.cwd())
start_jobs_warm(
    PythonScript, modules=("pipeline.workflow.run_job", "snakemake.iocontainers", "snakemake.logging"), steps=STEPS
)
hash_once(_IOFile)


wildcard_constraints:
    session="|".join(STUDY.sessions),


localrules:
    all,


rule all:
    input:
        expand("derived/{session}/{step}.nc", session=STUDY.sessions, step=SESSION_STEPS),
        "derived/report.html",


rule read:
    input:
        c3d=lambda wildcards: [ancient(file) for file in STUDY.c3d_files(wildcards.session)],
    output:
        "derived/{session}/read.nc",
    log:
        "logs/{session}/read.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=10,
    params:
        key=STUDY.key("read"),
    script:
        "pipeline/workflow/run_job.py"


rule calibrate:
    input:
        read="derived/{session}/read.nc",
    output:
        "derived/{session}/calibrate.nc",
    log:
        "logs/{session}/calibrate.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=10,
    params:
        key=STUDY.key("calibrate"),
    script:
        "pipeline/workflow/run_job.py"


rule clean:
    input:
        read="derived/{session}/read.nc",
    output:
        "derived/{session}/clean.nc",
    log:
        "logs/{session}/clean.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=10,
    params:
        key=STUDY.key("clean"),
    script:
        "pipeline/workflow/run_job.py"


rule contacts:
    input:
        clean="derived/{session}/clean.nc",
    output:
        "derived/{session}/contacts.nc",
    log:
        "logs/{session}/contacts.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=10,
    params:
        key=STUDY.key("contacts"),
    script:
        "pipeline/workflow/run_job.py"


rule kinematics:
    input:
        clean="derived/{session}/clean.nc",
        calibrate="derived/{session}/calibrate.nc",
    output:
        "derived/{session}/kinematics.nc",
    log:
        "logs/{session}/kinematics.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=10,
    params:
        key=STUDY.key("kinematics"),
    script:
        "pipeline/workflow/run_job.py"


rule kinetics:
    input:
        kinematics="derived/{session}/kinematics.nc",
        contacts="derived/{session}/contacts.nc",
        calibrate="derived/{session}/calibrate.nc",
    output:
        "derived/{session}/kinetics.nc",
    log:
        "logs/{session}/kinetics.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=10,
    params:
        key=STUDY.key("kinetics"),
    script:
        "pipeline/workflow/run_job.py"


rule cycles:
    input:
        kinetics="derived/{session}/kinetics.nc",
        kinematics="derived/{session}/kinematics.nc",
        contacts="derived/{session}/contacts.nc",
        clean="derived/{session}/clean.nc",
        calibrate="derived/{session}/calibrate.nc",
    output:
        "derived/{session}/cycles.nc",
    log:
        "logs/{session}/cycles.log",
    resources:
        mem_mb=STUDY.memory_mb["session"],
        runtime=10,
    params:
        key=STUDY.key("cycles"),
    script:
        "pipeline/workflow/run_job.py"


rule study:
    input:
        cycles=expand("derived/{session}/cycles.nc", session=STUDY.sessions),
    output:
        study="derived/study.nc",
        metrics="derived/metrics.csv",
        quality="derived/quality.csv",
        participants="derived/participants.csv",
        symmetry="derived/symmetry.csv",
    log:
        "logs/study.log",
    resources:
        mem_mb=STUDY.memory_mb["study"],
        runtime=10,
    params:
        key=STUDY.key("study"),
    script:
        "pipeline/workflow/run_job.py"


# It looks into files of the sessions, too, which any change remakes before the study. Were they inputs, Snakemake would
# hash those of all sessions where one has changed.
rule report:
    input:
        study="derived/study.nc",
        metrics="derived/metrics.csv",
        quality="derived/quality.csv",
        means="derived/participants.csv",
        symmetry="derived/symmetry.csv",
    output:
        report="derived/report.html",
        pages=[f"derived/{page}" for page in STUDY.report_pages],
    log:
        "logs/report.log",
    resources:
        mem_mb=STUDY.memory_mb["study"],
        runtime=10,
    params:
        key=STUDY.key("report"),
    script:
        "pipeline/workflow/run_job.py"


onstart:
    lift_default_limit(workflow.scheduler)


onsuccess:
    close()


onerror:
    print(
        "Some steps failed, see above and logs/; what does not depend on them is finished, older results of theirs stay."
    )
