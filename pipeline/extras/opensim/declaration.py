"""The extra ``opensim``: files with which OpenSim goes on, and the step ``muscles``, which runs it."""

from pathlib import Path

from ...extra import Extra, Written

FOLDER = Written(
    folder="opensim",
    record="README.md",
    code="opensim_files_outdated",
    remedy="export the files again",
    command="gaitlab export {study} --opensim  # and the options of before",
)
EXTRA = Extra(
    "opensim",
    install="pip install 'gait-lab-pipeline[opensim]'",  # of the step; the files are written without it
    commands="pipeline.extras.opensim.command_table:COMMANDS",
    steps=("pipeline.extras.opensim.muscles.declaration:MUSCLES",),
    rules=Path(__file__).with_name("rules.smk"),
    files=(FOLDER,),
)
