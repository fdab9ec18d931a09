# The workflow: one rule per step, in the order of the data.
#
# gaitlab run STUDY prepares a study and starts Snakemake with this file; snakemake --directory STUDY works, too.
# The key of a job holds all that it depends on besides its input files, such as settings, cells of tables and a digest
# of its code: Snakemake runs a job again when its key changes.
from functools import partial
from pathlib import Path

from pipeline.extra import rules_of_extras
from pipeline.workflow.finished import is_left_out, mark_left_out
from pipeline.workflow.open_study import TABLES, open_for_snakemake, outputs_of
from pipeline.workflow.activity_lock import hold
from pipeline.workflow.jobs.workers import run_job

if not Path("study.yaml").exists():  # without --directory: the demonstration study

    workdir: Path(workflow.basedir) / "data" / "demo"


STUDY = open_for_snakemake(Path.cwd(), config)
hold(STUDY.path)  # so that gaitlab recover waits
key = STUDY.key  # of a step: the function from wildcards to the key of a job


with_left_out = partial(mark_left_out, before_update)


include: "pipeline/workflow/cluster.smk"  # for a run on a cluster


rule all:
    input:
        [file for file in expand("derived/{output}", output=outputs_of(STUDY)) if not is_left_out(file)],


rule read:
    input:
        recordings=lambda wildcards: ancient(STUDY.recordings(wildcards.session)),
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


use rule read as calibrate with:
    input:
        read="derived/{session}/read.nc",
    output:
        calibrate="derived/{session}/calibrate.nc",
    log:
        "logs/{session}/calibrate.log",
    params:
        key=key("calibrate"),


use rule read as clean with:
    input:
        read="derived/{session}/read.nc",
    output:
        clean="derived/{session}/clean.nc",
    log:
        "logs/{session}/clean.log",
    params:
        key=key("clean"),


use rule read as contacts with:
    input:
        clean="derived/{session}/clean.nc",
    output:
        contacts="derived/{session}/contacts.nc",
    log:
        "logs/{session}/contacts.log",
    params:
        key=key("contacts"),


use rule read as kinematics with:
    input:
        clean="derived/{session}/clean.nc",
        calibrate="derived/{session}/calibrate.nc",
    output:
        kinematics="derived/{session}/kinematics.nc",
    log:
        "logs/{session}/kinematics.log",
    params:
        key=key("kinematics"),


use rule read as kinetics with:
    input:
        kinematics="derived/{session}/kinematics.nc",
        contacts="derived/{session}/contacts.nc",
        calibrate="derived/{session}/calibrate.nc",
    output:
        kinetics="derived/{session}/kinetics.nc",
    log:
        "logs/{session}/kinetics.log",
    params:
        key=key("kinetics"),


use rule read as cycles with:
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
    params:
        key=key("cycles"),


use rule read as study with:
    input:
        **with_left_out(STUDY.added("study")),
        cycles=with_left_out(expand("derived/{session}/cycles.nc", session=STUDY.sessions)),
    output:
        **{name: [f"derived/{name}.csv", f"derived/{name}.json"] for name in TABLES},
        study="derived/study.nc",
    log:
        "logs/study.log",
    resources:
        mem_mb=STUDY.memory_mb["study"],
        runtime=STUDY.runtime_min["study"],
    params:
        key=key("study"),


use rule study as page_files with:
    input:
        [],  # it is the same for every study
    output:
        page_files=[update("derived/report/page.js"), update("derived/report/page.css")],
    log:
        "logs/page_files.log",
    priority: 1  # every page waits for them
    params:
        key=key("page_files"),


use rule study as report with:
    input:
        **with_left_out(STUDY.added("report")),
        study="derived/study.nc",
        metrics="derived/metrics.csv",
        quality="derived/quality.csv",
        means="derived/participants.csv",
        symmetry="derived/symmetry.csv",
        cycles=with_left_out(expand("derived/{session}/cycles.nc", session=STUDY.sessions)),
        calibrate=with_left_out(expand("derived/{session}/calibrate.nc", session=STUDY.sessions)),
    output:
        report=update("derived/report.html"),  # the earlier one stays until then
    log:
        "logs/report.log",
    params:
        key=key("report"),


use rule read as page with:
    input:
        unpack(lambda wildcards: with_left_out(STUDY.files_of_page(wildcards.participant))),
    output:
        page=update("derived/report/{participant}.html"),
    log:
        "logs/{participant}/page.log",
    priority: 1  # while a worker has the session's results in memory
    params:
        key=key("page"),


for file in rules_of_extras():  # the steps of pipeline/extras/ and of other packages

    include: file
