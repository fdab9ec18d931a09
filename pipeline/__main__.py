"""The command ``gaitlab``: everything that one does with a study. ``python -m pipeline`` is the same."""

import argparse
import errno
import os
import re
import sys
import textwrap
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from . import __version__
from .errors import ERROR, INTERRUPTED, Problem, UserError, as_argument, as_json, nearest, printable

Answer = tuple[str, int]  # text to print, exit code
OPTIONS: dict[str, Any] = {
    "metavar": "...",
    "nargs": argparse.REMAINDER,
    "help": "options of Snakemake (default: --cores all)",
}
NO_ACCESS_OR_ROOM = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT)
# commands that need no STUDY in the folder of one
IN_A_STUDY = (
    *("check", "corrections", "run", "recover", "show", "view", "explain", "methods", "report", "verify", "export"),
    *("write-c3d", "repeatability"),
)
INVALID_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)")  # argparse's words
EXAMPLES = """\
examples:
  gaitlab demo my_demo && gaitlab run my_demo    write a small study, compute it and report on it
  gaitlab init my_study                          write the tables of a folder of recordings
  gaitlab check my_study                         list everything that is wrong with a study
  gaitlab run my_study --dry-run                 list the jobs that would run
  gaitlab show my_study                          list the results

'gaitlab COMMAND --help' explains a command, with examples.
"""


class Parser(argparse.ArgumentParser):
    """A parser that suggests the nearest choice or option."""

    def error(self, message: str) -> NoReturn:
        """Print usage, message and suggestion, and exit."""
        if match := INVALID_CHOICE.search(message):
            message = "; ".join(filter(None, [message, nearest(match[1], re.findall(r"[\w-]+", match[2]))]))
        super().error(message)

    def refuse_unknown(self, unknown: Sequence[str], *, options_follow: bool) -> NoReturn:
        """Refuse arguments that the command does not have; ``options_follow`` the study where they are Snakemake's."""
        remedy = nearest(unknown[0], re.findall(r"--[\w-]+", self.format_help()))
        remedy = "give options of Snakemake after STUDY" if options_follow else remedy
        self.error("; ".join(filter(None, [f"unknown: {' '.join(unknown)}", remedy])))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 1 if the user has something to correct, 130 after Ctrl-C, else 0."""
    try:
        parser = command_line_parser()
        chosen, unknown = parser.parse_known_args(_with_place(sys.argv[1:] if arguments is None else arguments))
        if unknown:
            chosen.parser.refuse_unknown(unknown, options_follow="options" in chosen)
        function: Callable[[Namespace], Answer] = chosen.function
        text, code = function(chosen)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except OSError as error:
        if error.errno not in NO_ACCESS_OR_ROOM:
            raise
        remedy = "use a place with room, in which you may read and write"
        sys.stderr.write(f"{UserError(str(error.filename or ''), os.strerror(error.errno), remedy)}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("Stopped by Ctrl-C.\n")
        return INTERRUPTED
    sys.stdout.write(f"{printable(text)}\n")
    return code


def _with_place(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the folder in which the command is given, if it is a study and no other is named."""
    command, *others = arguments or [""]
    last = Path(others[-1]) if others else Path()
    named = others and (not others[0].startswith("-") or last.suffix == ".nc" or (last / "study.yaml").is_file())
    asks = {"-h", "--help"} & {*others}
    if command not in IN_A_STUDY or named or asks or not Path("study.yaml").is_file():
        return [*arguments]
    return [command, ".", *others]


def command_line_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="gaitlab",
        description="Compute joint angles, forces and moments of a gait study from its recordings.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"gaitlab {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_steps_of_a_study(commands)
    _add_looks_at_results(commands)
    _add_copies_of_results(commands)
    _add_further_commands(commands)
    return parser


def _add(
    commands: Any,
    name: str,
    function: Callable[[Namespace], Answer],
    text: str,
    *examples: str,
    place: str = "STUDY",
) -> Parser:
    """Add a command with its examples and its first argument, a place, and return its parser."""
    command: Parser = commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog="\n".join(["examples:", *(f"  gaitlab {name} {example}" for example in examples)]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(function=function, parser=command)
    command.add_argument("path", metavar=place, type=Path)
    return command


def _add_json(command: Parser) -> None:
    text = "print a JSON list of findings instead: severity, code, where, what, remedy"
    command.add_argument("--json", action="store_true", help=text)


def _add_steps_of_a_study(commands: Any) -> None:
    text = "write the tables of a folder of recordings; keep existing ones, and propose rows for new recordings"
    _add(commands, "init", _init, text, "my_study", place="DIR")
    text = "list everything that is wrong with a study, before anything runs"
    _add_json(_add(commands, "check", _check, text, "my_study", "my_study --json"))
    changed = "my_study --dry-run --config 'clean={\"marker_cutoff_hz\": 8}'"
    text = "list the corrections by hand, fill in the SHA-256 of their recordings, and take over cycles.tsv"
    _add(commands, "corrections", _corrections, text, "my_study")
    text = "compute what is missing or out of date, and write the report"
    command = _add(commands, "run", _run, text, "my_study", "my_study --cores 2", "my_study --profile slurm", changed)
    command.add_argument("options", **OPTIONS).required = False


def _add_looks_at_results(commands: Any) -> None:
    text = "list the content of study.nc or another output file, or the numbers of one variable"
    angles, walk = "my_study --variable joint_angle", "my_study/derived/sub-01/kinetics.nc --trial fast_01"
    command = _add(commands, "show", _show, text, "my_study", angles, walk, place="STUDY|NC")
    command.add_argument("--trial", metavar="T", help="one trial only")
    command.add_argument(
        "--variable", metavar="V", help="print the numbers of this variable, or of a metric by another name (KAM)"
    )

    text = "show every trial in the browser: markers, legs, plates, forces, events, verdicts and curves"
    command = _add(commands, "view", _view, text, "my_study", "my_study --no-browser --port 8123")
    command.add_argument(
        "--port", type=int, default=8080, help="port of this computer (default: 8080, or the next free one)"
    )
    command.add_argument("--no-browser", action="store_true", help="only print the address")

    text = "write a page that sets two visits of a person, or two conditions, side by side"
    command = _add(commands, "compare", _compare, text, "my_study pre post --participant sub-01")
    command.add_argument("earlier", metavar="A", help="the earlier visit, or a condition")
    command.add_argument("later", metavar="B", help="the later visit, or another condition")
    command.add_argument("--participant", metavar="P", help="the person (default: the only one)")
    text = "the page to write (default: in derived/report)"
    command.add_argument("--output", metavar="HTML", type=Path, help=text)

    text = "trace one gait cycle back to the frames and plates of its recording"
    command = _add(commands, "explain", _explain, text, "my_study", "my_study --cycle 2")
    either = command.add_mutually_exclusive_group()
    either.add_argument("--cycle", metavar="N", type=int, help="its number (default: list the cycles)")
    either.add_argument("--stance", metavar="N", type=int, help="number of a stance instead, as in the list")

    text = "write the methods of a study in sentences to paste into a paper"
    _add(commands, "methods", _methods, text, "my_study")

    text = "list how far the main metrics differ when nothing has changed, and what change can be detected"
    _add(commands, "repeatability", _repeatability, text, "my_study")

    text = "list the pages of the report, or print them as PDF with an installed Chrome, Edge or Chromium"
    one = "my_study --pdf --participant sub-01 --paper letter"
    command = _add(commands, "report", _report, text, "my_study --pdf", one)
    command.add_argument("--pdf", action="store_true", help="print the overview and every page, into derived/pdf")
    text = "print only the page of this participant; may be given several times"
    command.add_argument("--participant", metavar="P", action="append", default=[], help=text)
    command.add_argument("--paper", choices=("a4", "letter"), default="a4", help="its size (default: a4)")
    text = "the browser's program (default: GAITLAB_BROWSER, or one that is installed)"
    command.add_argument("--browser", metavar="PROGRAM", type=Path, help=text)
    command.add_argument("--output", metavar="FOLDER", type=Path, help="the folder to write (default: derived/pdf)")

    text = "check that recordings and results are still those of the last run"
    _add_json(_add(commands, "verify", _verify, text, "my_study", "my_study --json"))


def _add_copies_of_results(commands: Any) -> None:
    text = "write study.nc as one long table, or files with which OpenSim goes on"
    parquet, opensim = (
        "my_study --format xlsx\n  gaitlab export my_study --format csv-tables --decimal comma",
        "my_study --opensim --model rajagopal.osim",
    )
    command = _add(commands, "export", _export, text, "my_study", parquet, opensim)
    text = (
        "xlsx: a workbook of all tables; csv-tables: these as CSV; parquet-tables: metrics.csv and quality.csv, with a "
        "folder for each participant (default: csv, one long table of all curves)"
    )
    forms = ("csv", "csv-tables", "xlsx", "parquet", "parquet-tables")
    command.add_argument("--format", choices=forms, default="csv", help=text)
    text = "for csv and csv-tables: the mark in numbers; comma also sets --separator ';', as spreadsheets expect"
    command.add_argument("--decimal", choices=("point", "comma"), default="point", help=text)
    command.add_argument(
        "--separator", choices=(",", ";", "tab"), help="for csv and csv-tables: between cells (default: ,)"
    )
    command.add_argument("--opensim", action="store_true", help="write files for OpenSim instead of a table")
    command.add_argument("--model", metavar="OSIM", type=Path, help="for OpenSim: the generic model to scale")
    text = "for OpenSim: a table of the model's marker for each label, columns label, marker, weight"
    command.add_argument("--markers", metavar="TSV", type=Path, help=text)
    command.add_argument("--angles", action="store_true", help="for OpenSim: also write the joint angles of the study")
    text = "for OpenSim: filter ground reactions as the study does"
    command.add_argument("--filter-forces", action="store_true", help=text)
    text = "the table, or the folder of the Parquet tables or for OpenSim, to write (default: next to study.nc)"
    command.add_argument("--output", metavar="FILE", type=Path, help=text)

    text = "write the norm of a study of controls: a file that another study names in study.reference"
    command = _add(commands, "norm", _norm, text, "controls --out norm.tsv", "controls --out norm.tsv --condition walk")
    command.add_argument("--out", metavar="FILE", type=Path, required=True, help="the file to write")
    command.add_argument("--condition", metavar="C", help="the condition, if the study has several")
    command.add_argument("--group", metavar="G", help="the group of participants.tsv, if it has several")

    text = "write the differences between the groups and conditions of a study, of all metrics and of chosen curves"
    example = 'my_study --out differences --curve "knee adduction moment"'
    command = _add(commands, "compare-groups", _compare_groups, text, example)
    command.add_argument("--out", metavar="DIR", type=Path, required=True, help="the folder to write")
    text = "a joint's moment or power, over stance, or angle, such as 'ankle flexion moment'; as often as needed"
    command.add_argument("--curve", metavar="C", action="append", default=[], help=text)

    text = "write angles, moments, powers, forces and events of a computed study into copies of its C3D files"
    command = _add(commands, "write-c3d", _write_c3d, text, "my_study", "my_study --session sub-01 --anonymous")
    command.add_argument("--session", metavar="S", help="one session only")
    text = "leave out the recordings' free text, which may contain names and birth dates"
    command.add_argument("--anonymous", action="store_true", help=text)


def _add_further_commands(commands: Any) -> None:
    text = "list the labels that a body model looks for; draw it on a static trial"
    example = "my_model.yaml static.c3d --output my_model.html"
    command = _add(commands, "body-model", _body_model, text, "plug_in_gait", example, place="NAME|YAML")
    command.add_argument("file", metavar="RECORDING", type=Path, nargs="?", help="a static trial")
    command.add_argument("--output", metavar="HTML", type=Path, help="the page to write (default: NAME.html, here)")

    text = "list the installed program and its libraries with versions and licences, a CycloneDX bill of materials"
    _add(commands, "sbom", _sbom, text, "bom.json", place="FILE")

    text = "continue a run that was killed or that filled the disk: unlock the study, then run it"
    _add(commands, "recover", _recover, text, "my_study").add_argument("options", **OPTIONS).required = False

    text = "write a small study with known joint moments"
    command = _add(
        commands, "demo", _demo, text, "my_demo && gaitlab run my_demo", "my_demo --soft-tissue", place="DIR"
    )
    text = "let the markers of the walks slide over the bones as skin does (default: rigid segments)"
    command.add_argument("--soft-tissue", action="store_true", help=text)


def _init(chosen: Namespace) -> Answer:
    from .commands.init.command import initialise

    return initialise(chosen.path), 0


def _check(chosen: Namespace) -> Answer:
    from .commands.check.command import as_text, check

    if chosen.json:
        return _in_json(lambda: check(chosen.path))
    findings = check(chosen.path)
    return as_text(findings, chosen.path), int(any(finding.severity == ERROR for finding in findings))


def _corrections(chosen: Namespace) -> Answer:
    from .commands.corrections import complete_corrections

    return complete_corrections(chosen.path), 0


def _run(chosen: Namespace) -> Answer:
    from .commands.run import run

    run(chosen.path, chosen.options)


def _show(chosen: Namespace) -> Answer:
    from .commands.show import LEVELS, show
    from .tables.terminal_table import text_width

    try:
        LEVELS.encode(sys.stdout.encoding or "ascii")
        levels = LEVELS
    except UnicodeEncodeError:
        levels = ""
    text = show(chosen.path, trial=chosen.trial, variable=chosen.variable, width=text_width(), levels=levels)
    return text, 0


def _view(chosen: Namespace) -> Answer:
    from .commands.view import view

    view(chosen.path, port=chosen.port, opens_browser=not chosen.no_browser)
    return "", 0


def _compare(chosen: Namespace) -> Answer:
    from .commands.compare import compare

    labels = (chosen.earlier, chosen.later)
    return f"Page: {compare(chosen.path, participant=chosen.participant, labels=labels, output=chosen.output)}", 0


def _report(chosen: Namespace) -> Answer:
    from .commands.print_pages import list_pages, print_pages

    people = chosen.participant
    if not chosen.pdf:
        return "\n".join(map(str, list_pages(chosen.path, people))), 0
    written, failed = print_pages(
        chosen.path, people=people, paper=chosen.paper, browser=chosen.browser, output=chosen.output
    )
    lines = [*map(str, written), *(f"not printed: {line}" for line in failed)]
    return "\n".join([*lines, f"{len(written)} of {len(written) + len(failed)} pages printed."]), int(bool(failed))


def _explain(chosen: Namespace) -> Answer:
    from .commands.explain.command import explain

    return explain(chosen.path, cycle=chosen.cycle, stance=chosen.stance), 0


def _methods(chosen: Namespace) -> Answer:
    from .commands.methods import methods
    from .tables.terminal_table import text_width

    return textwrap.fill(methods(chosen.path), text_width(), break_on_hyphens=False), 0


def _repeatability(chosen: Namespace) -> Answer:
    from .commands.repeatability import repeatability_of
    from .tables.terminal_table import text_width

    return repeatability_of(chosen.path, width=text_width()), 0


def _in_json(find: Callable[[], Sequence[Problem]]) -> Answer:
    """Return problems as JSON, also those for which nothing could be looked for."""
    try:
        problems = find()
    except UserError as error:
        problems = error.problems
    return as_json(problems), int(any(problem.severity == ERROR for problem in problems))


def _verify(chosen: Namespace) -> Answer:
    from .commands.verify import as_text, verify
    from .tables.terminal_table import text_width

    if chosen.json:
        return _in_json(lambda: verify(chosen.path)[0])
    faults, summary = verify(chosen.path)
    return as_text(faults, summary, chosen.path, width=text_width()), int(bool(faults))


def _export(chosen: Namespace) -> Answer:
    from .commands.export.long_table import export

    if chosen.opensim:
        return _export_opensim(chosen)
    for option in ("model", "markers", "angles", "filter_forces"):
        if getattr(chosen, option):
            raise UserError(f"--{option.replace('_', '-')}", "is of files for OpenSim", "add --opensim")
    comma = chosen.decimal == "comma"
    if (comma or chosen.separator) and not chosen.format.startswith("csv"):
        raise UserError("--decimal and --separator", "are of CSV files", "add --format csv or csv-tables")
    separator = {None: ";" if comma else ",", "tab": "\t"}.get(chosen.separator, chosen.separator)
    if comma and separator == ",":
        raise UserError("--separator ,", "numbers have a comma, too", "take --separator ';' or tab")
    locale = {"separator": separator, "decimal": "," if comma else "."}
    if chosen.format == "xlsx":
        from .commands.export.spreadsheets import export_workbook

        return f"Workbook: {export_workbook(chosen.path, output=chosen.output)}", 0
    if chosen.format.endswith("-tables"):
        from .commands.export.parquet_tables import export_tables
        from .commands.export.spreadsheets import export_csv_tables

        if chosen.format == "csv-tables":
            tables = export_csv_tables(chosen.path, folder=chosen.output, **locale)
        else:
            tables = export_tables(chosen.path, folder=chosen.output)
        return "\n".join(f"Table: {table}" for table in tables), 0
    return f"Table: {export(chosen.path, form=chosen.format, output=chosen.output, **locale)}", 0


def _export_opensim(chosen: Namespace) -> Answer:
    from .commands.opensim.command import export_opensim

    readme, lacking = export_opensim(
        chosen.path,
        output=chosen.output,
        model=chosen.model,
        markers=chosen.markers,
        angles=chosen.angles,
        filter_forces=chosen.filter_forces,
    )
    return "\n".join([*lacking, f"Next: the three commands in {readme}"]), 0


def _compare_groups(chosen: Namespace) -> Answer:
    from .commands.groups.command import compare_groups

    return compare_groups(chosen.path, output=chosen.out, curves=chosen.curve), 0


def _norm(chosen: Namespace) -> Answer:
    from .commands.norm.command import write_norm

    return write_norm(chosen.path, output=chosen.out, condition=chosen.condition, group=chosen.group), 0


def _write_c3d(chosen: Namespace) -> Answer:
    from .commands.write_c3d import write_c3d_files

    written, left_out = write_c3d_files(chosen.path, session=chosen.session, anonymous=chosen.anonymous)
    lines = [*map(str, written), *(f"left out: {line}" for line in left_out), f"{len(written)} files written."]
    return "\n".join(lines), 0


def _body_model(chosen: Namespace) -> Answer:
    from .commands.draw_body_model import body_model_report

    output = chosen.output or Path(f"{chosen.path.stem}.html")
    return body_model_report(str(chosen.path), chosen.file, output), 0


def _sbom(chosen: Namespace) -> Answer:
    from .commands.bill_of_materials import write_bill

    return f"{chosen.path}: {write_bill(chosen.path)} components", 0


def _recover(chosen: Namespace) -> Answer:
    from .commands.run import run, unlock

    unlock(chosen.path)
    run(chosen.path, chosen.options)


def _demo(chosen: Namespace) -> Answer:
    from .demo.study import write_demo_study

    folder = chosen.path
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(str(folder), "is not empty", "give a new folder for the demonstration study")
    write_demo_study(folder, seed=0, soft_tissue=float(chosen.soft_tissue))
    return f"Demo study written.\nNext: gaitlab run {as_argument(folder)}", 0


if __name__ == "__main__":
    sys.exit(main())
