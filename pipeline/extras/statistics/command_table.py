"""The commands of the extra ``statistics``."""

from pathlib import Path

from ...command_table import COMPARE, Argument, Command

# one argument a line, where it fits
# fmt: off
COMMANDS = (
    Command("compare-groups", COMPARE, "write the differences between groups and conditions",
            "pipeline.extras.statistics.groups:compare_groups",
            more="Compare all metrics, and the curves that are chosen.",
            examples=('my_study --out differences --curve "knee adduction moment"',
                      "my_study --out differences --between control patient --condition walk"), arguments=(
        Argument("--out", dest="output", metavar="DIR", type=Path, required=True, help="the folder to write"),
        Argument("--between", nargs=2, metavar=("A", "B"),
                 help="compare two groups, conditions or visits alone: B minus A"),
        Argument("--condition", dest="conditions", metavar="C", action="append", default=[],
                 help="compare in this condition alone; as often as needed"),
        Argument("--curve", dest="curves", metavar="C", action="append", default=[],
                 help="a joint's moment or power, over stance, or angle, such as 'ankle flexion moment'; as often as "
                      "needed"),
    )),
    Command("repeatability", COMPARE, "list how far main metrics differ when nothing has changed",
            "pipeline.extras.statistics.repeatability.command:repeatability_of",
            more="Also list what change can be detected."),
    Command("norm", COMPARE, "write the norm of a study of controls, for other studies",
            "pipeline.extras.statistics.norm:write_norm", more="Another study names this file in study.reference.",
            examples=("controls --out norm.tsv", "controls --out norm.tsv --condition walk"), arguments=(
        Argument("--out", dest="output", metavar="FILE", type=Path, required=True, help="the file to write"),
        Argument("--condition", metavar="C", help="the condition, if the study has several"),
        Argument("--group", metavar="G", help="the group of participants.tsv, if it has several"),
    )),
)
# fmt: on
