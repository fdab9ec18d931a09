"""Commands for a study, before and after the workflow: ``python -m pipeline --help`` lists them."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from .errors import UserError, printable


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 1 where the user has something to put right, else 0."""
    chosen = _parser().parse_args(arguments)
    try:
        if chosen.command == "body-model":
            text, code = _body_model(chosen.name, chosen.file, chosen.output)
        elif chosen.command == "recover":
            return _recover(chosen.folder, chosen.cores)
        elif chosen.command == "export":
            text, code = _export(chosen.study, chosen.format, chosen.output)
        elif chosen.command == "explain":
            text, code = _explain(chosen.file, chosen.cycle)
        elif chosen.command == "show":
            text, code = _show(chosen.file, chosen.group, chosen.variable)
        elif chosen.command == "write-c3d":
            text, code = _write_c3d(chosen.folder, chosen.session, anonymous=chosen.anonymous)
        else:
            own = {"init": _init, "check": _check, "verify": _verify, "demo": _demo}
            text, code = own[chosen.command](chosen.folder)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{printable(text)}\n")
    return code


def _parser() -> argparse.ArgumentParser:
    """Return what the commands are called and take."""
    parser = argparse.ArgumentParser(prog="python -m pipeline", description="Prepare a gait study for the workflow.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in (
        ("init", "write the tables of a folder of C3D files; what exists is kept"),
        ("check", "say everything that is wrong with a study, before anything runs"),
        ("verify", "say whether recordings and results are what they were when the results were made"),
        ("demo", "write a small study with a known answer"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("folder", metavar="DIR", type=Path)
    text = "take up a run that was killed or whose disk was full: unlock the study, then run the workflow"
    command = commands.add_parser("recover", help=text, description=text)
    command.add_argument("folder", metavar="STUDY", type=Path)
    command.add_argument("--cores", default="all", help="(default: all)")
    text = "say which labels a body model looks for; draw it on a static trial"
    command = commands.add_parser("body-model", help=text, description=text)
    command.add_argument("name", metavar="NAME", help="a shipped body model, or the path of one")
    command.add_argument("file", metavar="C3D", type=Path, nargs="?", help="a static trial")
    command.add_argument("--output", metavar="HTML", type=Path, help="the page to write (default: NAME.html, here)")
    text = "say what an output file holds; with --variable its numbers"
    command = commands.add_parser("show", help=text, description=text)
    command.add_argument("file", metavar="NC", type=Path, help="an output, such as derived/study.nc")
    command.add_argument("--group", metavar="G", help="one trial only")
    command.add_argument("--variable", metavar="V", help="the numbers of one variable")
    text = "tell where one gait cycle comes from, back to the frames and plates of its recording"
    command = commands.add_parser("explain", help=text, description=text)
    command.add_argument("file", metavar="NC", type=Path, help="derived/study.nc, or the study's directory")
    command.add_argument("--cycle", metavar="N", type=int, help="its number; without it, the cycles are listed")
    text = "write study.nc as one long table, a row per cycle, variable, joint, angle and percent"
    command = commands.add_parser("export", help=text, description=text)
    command.add_argument("study", metavar="STUDY", type=Path, help="the study's directory, or its study.nc")
    command.add_argument("--format", choices=("csv", "parquet"), default="csv", help="(default: csv)")
    command.add_argument("--output", metavar="FILE", type=Path, help="the table to write (default: beside study.nc)")
    text = "write angles, moments, powers, forces and events into copies of the C3D files, once the workflow has run"
    command = commands.add_parser("write-c3d", help=text, description=text)
    command.add_argument("folder", metavar="STUDY", type=Path)
    command.add_argument("--session", metavar="S", help="one session only")
    text = "leave out the recordings' free text: it may hold names and birth dates"
    command.add_argument("--anonymous", action="store_true", help=text)
    return parser


def _init(folder: Path) -> tuple[str, int]:
    from .commands.init.command import initialise

    return initialise(folder), 0


def _check(folder: Path) -> tuple[str, int]:
    from .commands.check.command import as_text, check

    findings = check(folder)
    return as_text(findings, folder), int(any(finding.severity == "error" for finding in findings))


def _verify(folder: Path) -> tuple[str, int]:
    from .commands.verify import as_text, verify
    from .tables.terminal_table import text_width

    faults, told = verify(folder)
    return as_text(faults, told, folder, width=text_width()), int(bool(faults))


def _body_model(name: str, file: Path | None, output: Path | None) -> tuple[str, int]:
    from .commands.draw_body_model import body_model_report

    return body_model_report(name, file, output or Path(f"{Path(name).stem}.html")), 0


def _export(study: Path, form: str, output: Path | None) -> tuple[str, int]:
    from .commands.export import export

    return f"Table: {export(study, form=form, output=output)}", 0


def _explain(file: Path, cycle: int | None) -> tuple[str, int]:
    from .commands.explain.command import explain

    return explain(file, cycle=cycle), 0


def _show(file: Path, group: str | None, variable: str | None) -> tuple[str, int]:
    from .commands.show import LEVELS, show
    from .tables.terminal_table import text_width

    try:
        LEVELS.encode(sys.stdout.encoding or "ascii")
        levels = LEVELS
    except UnicodeEncodeError:
        levels = ""
    return show(file, group=group, variable=variable, width=text_width(), levels=levels), 0


def _write_c3d(folder: Path, session: str | None, *, anonymous: bool) -> tuple[str, int]:
    from .commands.write_c3d import write_c3d_files

    written, left_out = write_c3d_files(folder, session=session, anonymous=anonymous)
    lines = [*map(str, written), *(f"left out: {line}" for line in left_out), f"{len(written)} files written."]
    return "\n".join(lines), 0


def _recover(folder: Path, cores: str) -> int:
    from .commands.recover import recover

    return recover(folder, cores=cores)


def _demo(folder: Path) -> tuple[str, int]:
    from .demo.study import write_demo_study

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(str(folder), "is not empty", "give a new folder for the demonstration study")
    write_demo_study(folder, seed=0)
    return f"Demo study written.\nNext: snakemake --cores all --directory {shlex.quote(str(folder))}", 0


if __name__ == "__main__":
    sys.exit(main())
