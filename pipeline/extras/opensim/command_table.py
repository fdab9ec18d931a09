"""The command of the extra ``opensim``, a form of ``gaitlab export``."""

from pathlib import Path

from ...command_table import EXPORTED, FILES, Argument, Command

# one argument a line, where it fits
# fmt: off
COMMANDS = (
    Command("export --opensim", FILES, "write files with which OpenSim goes on",
            "pipeline.extras.opensim.export.command:hand_over",
            examples=("my_study --opensim --model rajagopal.osim",), arguments=(
        Argument("--model", metavar="OSIM", type=Path, help="for OpenSim: the generic model to scale"),
        Argument("--markers", metavar="TSV", type=Path,
                 help="for OpenSim: a table of the model's marker for each label, columns label, marker, weight"),
        Argument("--angles", action="store_true", help="for OpenSim: also write the joint angles of the study"),
        Argument("--filter-forces", action="store_true",
                 help="for OpenSim: filter ground reactions as the study does"),
        EXPORTED,
    )),
)
# fmt: on
