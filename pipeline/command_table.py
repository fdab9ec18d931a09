"""The commands of ``gaitlab``: one declaration each, in the order of the help; extras declare theirs.

This is data: the function of a command is imported when that command runs.
"""

from argparse import REMAINDER
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from .errors import UserError
from .extra import every_extra, load_declared, refuse_second
from .reference import Reference, resolve

Answer = str | tuple[str, int]  # text to print, and the exit code where it may differ from 0


class Argument:
    """A further argument or an option of a command, in the terms of ``ArgumentParser.add_argument``."""

    def __init__(self, *names: str, **terms: Any) -> None:
        self.names, self.terms = names, terms
        self.parameter: str = terms.get("dest", names[-1].lstrip("-").replace("-", "_"))  # of the command's function


class Command(NamedTuple):
    """A command, such as ``export``, or another form of one that an option chooses, such as ``export --FORM``.

    Its function takes the path that the command names first and, by keyword, each of the arguments. A form follows its
    command in the table; arguments that both have are the same objects.
    """

    name: str
    group: str  # heading in the help
    text: str  # what it does: one line of the help
    function: Reference
    arguments: tuple[Argument, ...] = ()
    one_of: tuple[Argument, ...] = ()  # options of which only one may be given
    more: str = ""  # sentences that only its own help has
    examples: tuple[str, ...] = ("my_study",)  # what follows the name of the command
    place: str = "STUDY"  # what its path is; STUDY may be left out in the folder of a study
    install: str = ""  # the command that installs the libraries of the extra that has it

    @property
    def every_argument(self) -> tuple[Argument, ...]:
        """All arguments but the path."""
        return (*self.arguments, *self.one_of)

    def load(self) -> Callable[..., Answer]:
        """Import the function of the command."""
        function: Callable[..., Answer] = resolve(self.function)
        return function


RUN, LOOK, COMPARE = "Run a study", "Look at results", "Compare people and visits"
FILES, QUALITY = "Files and body models", "Quality"
# one argument a line, where it fits
# fmt: off
SNAKEMAKE = Argument("options", metavar="...", nargs=REMAINDER, help="options of Snakemake (default: --cores all)")
JSON = Argument("--json", action="store_true",
                help="print a JSON list of findings instead: severity, code, where, what, remedy")
EXPORTED = Argument("--output", metavar="FILE", type=Path,
                    help="the table, or the folder, to write (default: next to study.nc)")
COMMANDS = (
    Command("demo", RUN, "write a small study with known joint moments", "pipeline.demo.study:write_new_study",
            examples=("my_demo && gaitlab run my_demo", "my_demo --soft-tissue"), place="DIR", arguments=(
        Argument("--soft-tissue", action="store_true",
                 help="let the markers of the walks slide over the bones as skin does (default: rigid segments)"),
    )),
    Command("init", RUN, "write the tables of a folder of recordings", "pipeline.commands.init.command:initialise",
            more="Keep existing tables, and propose rows for new recordings.", place="DIR"),
    Command("check", RUN, "list everything that is wrong with a study, before it runs",
            "pipeline.commands.check.command:report_findings",
            examples=("my_study", "my_study --json"), arguments=(JSON,)),
    Command("run", RUN, "compute what is missing or out of date, and write the report", "pipeline.commands.run:run",
            examples=("my_study", "my_study --cores 2", "my_study --profile slurm",
                      "my_study --dry-run --config 'clean={\"marker_cutoff_hz\": 8}'"), arguments=(SNAKEMAKE,)),
    Command("recover", RUN, "continue a run that was killed or that filled the disk", "pipeline.commands.run:recover",
            more="Unlock the study, then run it.", arguments=(SNAKEMAKE,)),
    Command("corrections", RUN, "list the corrections made by hand, and complete their table",
            "pipeline.commands.corrections:complete_corrections",
            more="Fill in the SHA-256 of their recordings, and take over cycles.tsv."),

    Command("show", LOOK, "list what an output file holds, or the numbers of a variable",
            "pipeline.commands.show:show_in_terminal", more="For a study, show its study.nc.",
            examples=("my_study", "my_study --variable joint_angle",
                      "my_study/derived/sub-01/kinetics.nc --trial fast_01"), place="STUDY|NC", arguments=(
        Argument("--trial", metavar="T", help="one trial only"),
        Argument("--variable", metavar="V",
                 help="print the numbers of this variable, or of a metric by another name (KAM)"),
    )),
    Command("report", LOOK, "list the pages of the report, print or pass them on",
            "pipeline.commands.print_pages:list_or_print_pages",
            more="Printing needs an installed Chrome, Edge or Chromium.",
            examples=("my_study --pdf", "my_study --pdf --participant sub-01 --paper letter",
                      "my_study --single-file --participant sub-01"), one_of=(
        Argument("--pdf", action="store_true", help="print the overview and every page, into derived/pdf"),
        Argument("--single-file", action="store_true",
                 help="write each with its script and style inside, to be passed on alone, into derived/single"),
    ), arguments=(
        Argument("--participant", dest="people", metavar="P", action="append", default=[],
                 help="only the page of this participant; may be given several times"),
        Argument("--paper", choices=("a4", "letter"), default="a4", help="the size of PDF (default: a4)"),
        Argument("--browser", metavar="PROGRAM", type=Path,
                 help="the browser's program (default: GAITLAB_BROWSER, or one that is installed)"),
        Argument("--output", metavar="FOLDER", type=Path, help="the folder to write (default: derived/pdf or single)"),
    )),
    Command("explain", LOOK, "trace one gait cycle back to its recording", "pipeline.commands.explain.command:explain",
            more="List the frames and plates that it comes from.",
            examples=("my_study", "my_study --cycle 2"), one_of=(
        Argument("--cycle", metavar="N", type=int, help="its number (default: list the cycles)"),
        Argument("--stance", metavar="N", type=int, help="number of a stance instead, as in the list"),
    )),
    Command("methods", LOOK, "write a study's methods in sentences to paste into a paper",
            "pipeline.commands.methods:methods"),

    Command("compare", COMPARE, "set two visits of a person, or two conditions, side by side",
            "pipeline.commands.compare:write_comparison", more="Write a page with both.",
            examples=("my_study pre post --participant sub-01",
                      "my_study pre:barefoot post:shoes --participant sub-01"), arguments=(
        Argument("earlier", metavar="A", help="the earlier visit, or a condition, or both as VISIT:CONDITION"),
        Argument("later", metavar="B", help="the later visit, or another condition, or both"),
        Argument("--participant", metavar="P", help="the person (default: the only one)"),
        Argument("--output", metavar="HTML", type=Path, help="the page to write (default: in derived/report)"),
    )),

    Command("export", FILES, "write results as one long table, a workbook or other tables",
            "pipeline.commands.export.command:export_as",
            examples=("my_study", "my_study --format xlsx", "my_study --format csv-tables --decimal comma"), arguments=(
        Argument("--format", dest="form", choices=("csv", "csv-tables", "xlsx", "parquet", "parquet-tables"),
                 default="csv",
                 help="xlsx: a workbook of all tables; csv-tables: these as CSV; parquet-tables: metrics.csv and "
                      "quality.csv, with a folder for each participant (default: csv, one long table of all curves)"),
        Argument("--decimal", choices=("point", "comma"), default="point",
                 help="for csv and csv-tables: the mark in numbers; comma also sets --separator ';', as spreadsheets "
                      "expect"),
        Argument("--separator", choices=(",", ";", "tab"), help="for csv and csv-tables: between cells (default: ,)"),
        EXPORTED,
    )),
    Command("write-c3d", FILES, "write results into copies of the C3D files",
            "pipeline.commands.write_c3d:write_c3d_files",
            more="Write angles, moments, powers, forces and events of a computed study.",
            examples=("my_study", "my_study --session sub-01 --anonymous"), arguments=(
        Argument("--session", metavar="S", help="one session only"),
        Argument("--anonymous", action="store_true",
                 help="leave out the recordings' free text, which may contain names and birth dates"),
    )),
    Command("body-model", FILES, "list the labels that a body model looks for, or draw it",
            "pipeline.commands.draw_body_model:body_model_report", more="Draw it on a static trial.",
            examples=("plug_in_gait", "my_model.yaml static.c3d --output my_model.html"), place="NAME|YAML", arguments=(
        Argument("file", metavar="RECORDING", type=Path, nargs="?", help="a static trial"),
        Argument("--output", metavar="HTML", type=Path, help="the page to write (default: NAME.html, here)"),
    )),

    Command("verify", QUALITY, "check that recordings and results are those of the last run",
            "pipeline.commands.verify.command:report_changes",
            examples=("my_study", "my_study --json"), arguments=(JSON,)),
    Command("sbom", QUALITY, "list the installed program and libraries with their licences",
            "pipeline.commands.bill_of_materials:write_bill",
            more="Write them with versions, as a CycloneDX bill of materials.", examples=("bom.json",), place="FILE"),
)
# fmt: on


def every_command() -> list[Command]:
    """Return the commands above and those of the extras; a form of a command follows it.

    Raises:
        UserError: an extra has a command of another's name, a form of none, or commands that cannot be imported.
    """
    commands = {command.name: command for command in COMMANDS}
    for extra in every_extra().values():
        for command in chain(*load_declared(extra, filter(None, [extra.commands]))):
            refuse_second("command", command.name, commands, extra)
            base, *form = command.name.split()
            if form and base not in commands:
                what = f"'{command.name}' is a form of a command that is not there"
                raise UserError(f"extra '{extra.name}'", what, "name one that is there, or uninstall it")
            commands[command.name] = command._replace(install=extra.install)
    order = {name: number for number, name in enumerate(name for name in commands if " " not in name)}
    return sorted(commands.values(), key=lambda command: order[command.name.split()[0]])
