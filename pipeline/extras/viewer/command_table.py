"""The command of the extra ``viewer``."""

from ...command_table import LOOK, Argument, Command

# fmt: off
COMMANDS = (
    Command("view", LOOK, "show every trial in the browser", "pipeline.extras.viewer.command:view",
            more="Show markers, legs, plates, forces, events, verdicts and curves.",
            examples=("my_study", "my_study --no-browser --port 8123"), arguments=(
        Argument("--port", type=int, default=8080, help="port of this computer (default: 8080, or the next free one)"),
        Argument("--no-browser", dest="opens_browser", action="store_false", help="only print the address"),
    )),
)
# fmt: on
