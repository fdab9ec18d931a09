"""The extra ``viewer``: the command ``gaitlab view``."""

from ...extra import Extra

EXTRA = Extra(
    "viewer", install="pip install 'gait-lab-pipeline[view]'", commands="pipeline.extras.viewer.command_table:COMMANDS"
)
