"""The command ``gaitlab``: everything that one does with a study. ``python -m pipeline`` is the same."""

import argparse
import errno
import gc
import os
import re
import sys
from argparse import SUPPRESS, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from . import __version__
from .command_table import Argument, Command, every_command
from .errors import ERROR, INTERRUPTED, UserError, as_json, nearest, printable

NO_ACCESS_OR_ROOM = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT)
COMMIT = "COMMIT"  # file in a wheel
INVALID_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)")  # argparse's words
EXAMPLES = """\
Examples:
  gaitlab demo my_demo && gaitlab run my_demo     compute a small study
  gaitlab check my_study && gaitlab run my_study  find mistakes, then compute
  gaitlab run my_study --dry-run                  list the jobs that would run
  gaitlab run --help                              explain one command
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


class ShowVersion(argparse.Action):
    """The option that prints the version and the commit."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print both and exit."""
        commit = commit_of(Path(__file__).resolve().parents[1])
        sys.stdout.write(f"gaitlab {__version__}{f', commit {commit}' if commit else ''}\n")
        parser.exit()


def commit_of(house: Path) -> str:
    """Return the commit of a checkout, with ``-dirty`` if files have changed since; else that of the wheel, or nothing.

    The wheel has it in a file, see hatch_build.py.
    """
    if not (house / ".git").exists():  # git would find a repository around it
        recorded = house / "pipeline" / COMMIT
        return recorded.read_text(encoding="utf-8").strip() if recorded.is_file() else ""
    import subprocess  # no part of the help, which should appear at once

    command = ["git", "-C", str(house), "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603 (no shell)
    except (OSError, subprocess.CalledProcessError):
        return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 1 if the user has something to correct, 130 after Ctrl-C, else 0."""
    gc.set_threshold(100_000)  # the objects of imported libraries stay, and are else searched for garbage
    try:
        commands = every_command()
        words = sys.argv[1:] if arguments is None else arguments
        parser = command_line_parser(commands, words)
        chosen, unknown = parser.parse_known_args(_with_place(words, commands))
        if unknown:
            chosen.parser.refuse_unknown(unknown, options_follow="options" in chosen)
        text, code = run_command(chosen)
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


def run_command(chosen: Namespace) -> tuple[str, int]:
    """Run the chosen command, and return the text to print and the exit code."""
    command: Command = chosen.command
    values = {one.parameter: getattr(chosen, one.parameter) for one in command.every_argument}
    for form in chosen.forms:
        for option in form.every_argument:
            name = option.parameter
            if name not in values and getattr(chosen, name) != chosen.parser.get_default(name):
                flag = form.name.split()[1]
                raise UserError(option.names[0], f"is an option of {flag}", f"add {flag}")
    try:
        answer = command.load()(chosen.path, **values)
    except ModuleNotFoundError as error:
        if not command.install or (error.name or "").startswith(("pipeline", "gaitlab")):
            raise
        remedy = f"install it with: {command.install}"
        raise UserError(f"gaitlab {command.name}", f"{error.name} is not installed", remedy) from None
    except UserError as error:
        if not values.get("json"):
            raise
        answer = as_json(error.problems), int(any(problem.severity == ERROR for problem in error.problems))
    return (answer, 0) if isinstance(answer, str) else answer


def _with_place(arguments: Sequence[str], commands: Sequence[Command]) -> list[str]:
    """Return the arguments with the folder in which the command is given, if it is a study and no other is named."""
    name, *others = arguments or [""]
    last = Path(others[-1]) if others else Path()
    named = others and (not others[0].startswith("-") or last.suffix == ".nc" or (last / "study.yaml").is_file())
    asks = {"-h", "--help"} & {*others}
    of_a_study = any(command.name == name and command.place.startswith("STUDY") for command in commands)
    if not of_a_study or named or asks or not Path("study.yaml").is_file():
        return [*arguments]
    return [name, ".", *others]


def command_line_parser(commands: Sequence[Command], words: Sequence[str] | None = None) -> Parser:
    """Return the parser of a command line, or of any; of commands that no word names, it has the names alone."""
    parser = Parser(
        prog="gaitlab",
        usage="gaitlab [-h] [--version] COMMAND ...",
        description="Compute joint angles, forces and moments of a gait study from its recordings.",
        epilog=f"{list_of_commands(commands)}\n\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="help", help=SUPPRESS)
    parser.add_argument("--version", action=ShowVersion, nargs=0, help=SUPPRESS)
    parsers = parser.add_subparsers(required=True, metavar="COMMAND", prog="gaitlab", help=SUPPRESS)
    for command in commands:
        name, *flag = command.name.split()
        own = parsers.choices.get(name) or parsers.add_parser(name)
        if words is None or name in words:
            (_add_form if flag else _add_command)(own, command)
    return parser


def list_of_commands(commands: Sequence[Command]) -> str:
    """Return the commands in their groups, each in one line."""
    width = max(len(command.name) for command in commands)
    groups: dict[str, list[str]] = {}
    for command in commands:
        groups.setdefault(command.group, []).append(f"  {command.name:{width}}  {command.text}")
    return "\n\n".join("\n".join([f"{group}:", *lines]) for group, lines in groups.items())


def _add_command(parser: Parser, command: Command) -> None:
    """Give the parser of a command its help and its arguments."""
    parser.description = " ".join([f"{command.text[0].upper()}{command.text[1:]}.", command.more]).strip()
    parser.epilog = "\n".join(["examples:", *_examples_of(command)])
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(command=command, parser=parser, forms=[])
    parser.add_argument("path", metavar=command.place, type=Path)
    _add_arguments(parser, command)


def _examples_of(command: Command) -> list[str]:
    return [f"  gaitlab {command.name.split()[0]} {example}" for example in command.examples]


def _add_arguments(parser: Parser, command: Command, present: Sequence[Argument] = ()) -> None:
    """Add the arguments of a command that are not yet present."""
    alone = parser.add_mutually_exclusive_group() if command.one_of else parser
    for one in (one for one in command.every_argument if one not in present):
        action = (alone if one in command.one_of else parser).add_argument(*one.names, **one.terms)
        action.required = action.required and action.nargs != argparse.REMAINDER  # argparse requires even no words


def _add_form(parser: Parser, form: Command) -> None:
    """Add another form of a command to its parser: the option that chooses it, and arguments that are new."""
    flag, command = form.name.split()[1], parser.get_default("command")
    parser.get_default("forms").append(form)
    parser.description = f"{parser.description} With {flag}, {form.text}."
    parser.epilog = "\n".join([parser.epilog or "", *_examples_of(form)])
    parser.add_argument(flag, dest="command", action="store_const", const=form, help=form.text)
    _add_arguments(parser, form, command.every_argument)


if __name__ == "__main__":
    sys.exit(main())
