# The study with one job per trial and step, as in common workflows; to compare with one job per session and step.
import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir).parent))

from pipeline.workflow.open_study import open_study

STUDY = open_study(Path.cwd())
FILES = {session: {row["trial"]: row["file"] for row in rows} for session, rows in STUDY.sessions.items()}


rule all:
    input:
        [
            f"derived/{session}/{row['trial']}/cycles.nc"
            for session, rows in STUDY.sessions.items()
            for row in rows
            if row["role"] == "gait"
        ],


rule read:
    input:
        recordings=lambda wildcards: FILES[wildcards.session][wildcards.trial],
    output:
        "derived/{session}/{trial}/read.nc",
    params:
        key=STUDY.key("read"),
    script:
        "per_trial_job.py"


use rule read as calibrate with:
    input:
        read="derived/{session}/static/read.nc",
    output:
        "derived/{session}/calibrate.nc",
    params:
        key=STUDY.key("calibrate"),


use rule read as clean with:
    input:
        read="derived/{session}/{trial}/read.nc",
    output:
        "derived/{session}/{trial}/clean.nc",
    params:
        key=STUDY.key("clean"),


use rule read as contacts with:
    input:
        clean="derived/{session}/{trial}/clean.nc",
    output:
        "derived/{session}/{trial}/contacts.nc",
    params:
        key=STUDY.key("contacts"),


use rule read as kinematics with:
    input:
        clean="derived/{session}/{trial}/clean.nc",
        calibrate="derived/{session}/calibrate.nc",
    output:
        "derived/{session}/{trial}/kinematics.nc",
    params:
        key=STUDY.key("kinematics"),


use rule read as kinetics with:
    input:
        kinematics="derived/{session}/{trial}/kinematics.nc",
        contacts="derived/{session}/{trial}/contacts.nc",
        calibrate="derived/{session}/calibrate.nc",
    output:
        "derived/{session}/{trial}/kinetics.nc",
    params:
        key=STUDY.key("kinetics"),


use rule read as cycles with:
    input:
        kinetics="derived/{session}/{trial}/kinetics.nc",
        kinematics="derived/{session}/{trial}/kinematics.nc",
        contacts="derived/{session}/{trial}/contacts.nc",
        clean="derived/{session}/{trial}/clean.nc",
        calibrate="derived/{session}/calibrate.nc",
    output:
        "derived/{session}/{trial}/cycles.nc",
    params:
        key=STUDY.key("cycles"),
