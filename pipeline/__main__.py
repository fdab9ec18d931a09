"""The command line: ``python -m pipeline init | check | demo DIR``."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from pipeline.errors import UserError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 1 where the user has something to put right, else 0."""
    parser = argparse.ArgumentParser(prog="python -m pipeline", description="Prepare a gait study for the workflow.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in (
        ("init", "write the tables of a folder of C3D files; what exists is kept"),
        ("check", "say everything that is wrong with a study, before anything runs"),
        ("demo", "write a small study with a known answer"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("folder", metavar="DIR", type=Path)
    chosen = parser.parse_args(arguments)
    try:
        text, code = {"init": _init, "check": _check, "demo": _demo}[chosen.command](chosen.folder)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{text}\n")
    return code


def _init(folder: Path) -> tuple[str, int]:
    from pipeline.initialise import initialise

    return initialise(folder), 0


def _check(folder: Path) -> tuple[str, int]:
    from pipeline.check import as_text, check

    findings = check(folder)
    return as_text(findings, folder), int(any(finding.severity == "error" for finding in findings))


def _demo(folder: Path) -> tuple[str, int]:
    from pipeline.demo.files import write_demo_study

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder}: is not empty; give a new folder for the demonstration study")
    write_demo_study(folder, seed=0)
    return f"Demo study written.\nNext: snakemake --cores all --directory {shlex.quote(str(folder))}", 0


if __name__ == "__main__":
    sys.exit(main())
