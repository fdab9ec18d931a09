"""What an extra is: an optional part with commands and steps of its own, which can be deleted or added.

An extra is a folder in ``pipeline/extras/`` whose ``declaration.py`` holds an :class:`Extra` named ``EXTRA``, or a
package of others that names one by an entry point of the group ``gaitlab.extras``. The rest of the project names no
extra: it takes what they declare. A new or deleted extra changes no key of a job but of its own steps and of those that
join their results.

This module and the declarations import the standard library alone, as each command and each job reads them.
"""

import functools
import importlib
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .errors import UserError
from .reference import Reference, resolve

GROUP = "gaitlab.extras"  # of entry points


class OnPages(NamedTuple):
    """What an extra adds to pages of the report where a setting asks for it, whatever steps the study has."""

    report: Reference  # of a pipeline.steps.report.addition.Addition
    # of a function of a Study, a rule (report or page) and a participant or None. It returns what the addition loads,
    # such as names and digests of files, which is then in the key of the job; None if nothing is added.
    needs: Reference


class Written(NamedTuple):
    """A folder in ``derived/`` that a command writes from results; ``gaitlab verify`` tells when these have changed."""

    folder: str
    record: str  # the file in it of which workflow.checksums records what the folder was made from
    code: str  # of the problem
    remedy: str
    command: str  # which writes it again, with {study}


class Extra(NamedTuple):
    """An optional part of the project."""

    name: str
    install: str = ""  # the command that installs the libraries that it needs
    commands: Reference = ""  # of a tuple of pipeline.command_table.Command
    steps: tuple[Reference, ...] = ()  # of each pipeline.step.Step
    rules: Path | None = None  # the file with the rules of its steps, which the Snakefile includes
    pages: tuple[OnPages, ...] = ()
    problems: Reference = ""  # of a function that yields the problems of a Study's settings
    settings: Mapping[str, Reference] = {}  # of each section of no step, by name, the dataclass that has its settings
    renamed: Mapping[str, str] = {}  # by the name that a setting had, "section.setting", the one that it has now
    files: tuple[Written, ...] = ()  # what its commands write


@functools.cache
def every_extra() -> Mapping[str, Extra]:
    """Return the extras by name: those of the folder, then those of other packages.

    Raises:
        UserError: an extra of another package cannot be imported, or has the name of one that is there.
    """
    found: dict[str, Extra] = {}
    folders = sorted(Path(__file__).with_name("extras").glob("*/declaration.py"))
    names = [f".extras.{file.parent.name}.declaration" for file in folders]
    own = [importlib.import_module(name, __package__).EXTRA for name in names]
    for extra in (*own, *_of_packages()):
        refuse_second("extra", extra.name, found, extra)
        found[extra.name] = extra
    return found


def rules_of_extras() -> list[str]:
    """Return the files of rules that the Snakefile includes."""
    return [str(extra.rules) for extra in every_extra().values() if extra.rules]


def load_declared(extra: Extra, references: Iterable[Reference]) -> list[Any]:
    """Import what an extra declares.

    Raises:
        UserError: it cannot be imported.
    """
    try:
        return [resolve(reference) for reference in references]
    except (ImportError, AttributeError) as error:
        what = f"what it declares cannot be imported: {error}"
        raise UserError(f"extra '{extra.name}'", what, "correct its declaration, or uninstall it") from None


def refuse_second(what: str, name: str, present: Collection[str], extra: Extra) -> None:
    """Refuse an extra that declares what is there already, such as a second command of one name."""
    if name in present:
        raise UserError(f"extra '{extra.name}'", f"there is another {what} '{name}'", "uninstall or delete one of both")


def renamed_settings() -> dict[str, str]:
    """Return the names now of settings that extras have renamed, by those before."""
    return {old: new for extra in every_extra().values() for old, new in extra.renamed.items()}


def _of_packages() -> Iterator[Extra]:
    if not any(GROUP.encode() in text for text in _entry_points()):
        return
    from importlib.metadata import entry_points  # costs more than most commands take to start

    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            extra = point.load()
            if not isinstance(extra, Extra):
                raise TypeError(f"{point.value} is no Extra")
        except Exception as error:
            package = point.dist.name if point.dist else point.module
            what = f"cannot be imported: {type(error).__name__}: {error}"
            raise UserError(f"extra '{point.name}'", what, f"install {package} again, or uninstall it") from None
        yield extra


def _entry_points() -> Iterator[bytes]:
    """Yield the text of each file with the entry points of an installed package."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208 (half the time)
        except OSError:  # no folder, or one that may not be read
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                try:
                    yield Path(folder, name, "entry_points.txt").read_bytes()
                except OSError:  # it has none
                    continue
