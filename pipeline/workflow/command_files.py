"""Files in ``derived/`` that commands write from results: pages of ``compare``, PDF, exported tables, copies of C3D.

Snakemake knows none of them. Each has a record as results have (:mod:`pipeline.workflow.checksums`), with the command
that wrote it. So a run makes pages of ``compare`` again, or removes them, when what they show has changed, and names
the others; ``gaitlab verify`` finds them, too.
"""

import os
import shlex
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path

from ..errors import UserError, as_argument, join_some
from ..results.page_names import PAGES
from . import checksums
from .digests import sha256
from .job_keys import Study
from .jobs import comparison
from .open_study import outputs_of

OF_A_PAGE = b'<main id="main" data-study="'  # in each page of a report; see steps/report/templates/base.html
MOST_LISTED = 1  # files of a command


def recorded_files(derived: Path, *, but: Container[str]) -> dict[str, checksums.Record]:
    """Return the records of files that are there and that a command wrote, by their names below ``derived``.

    Args:
        but: names of which the records are not read, such as those of results.
    """
    found = {}
    for folder, _, files in os.walk(derived / checksums.FOLDER):
        place = Path(folder).relative_to(derived / checksums.FOLDER)
        names = ((place / file.removesuffix(".sha256")).as_posix() for file in files if file.endswith(".sha256"))
        for name in (name for name in names if name not in but):
            record = checksums.recorded(derived, name)
            if record and record.command and (derived / name).is_file():
                found[name] = record
    return dict(sorted(found.items()))


def why_outdated(study: Study, record: checksums.Record, missing: Container[str] = ()) -> str:
    """Return why a file that a command wrote does not show the results that are there now; empty if it does.

    A run writes the ``missing`` results again, as they were.
    """
    derived = study.path / "derived"
    for name, digest in record.inputs.items():
        now = checksums.recorded(derived, name)
        if name in missing and now and now.sha256 == digest:
            continue
        if not (derived / name).is_file():
            return f"made from derived/{name}, which is gone"
        if digest != (now.sha256 if now else sha256(derived / name)):
            return f"made from an earlier derived/{name}"
    if record.command[0] == comparison.COMMAND:
        return comparison.why_outdated(study, record)
    return ""


def words_of(study: Path, command: Sequence[str]) -> str:
    """Return a command of a record as one for the terminal, with the study and with files from where one is now."""
    name, *others = command
    words = [as_argument(study / word) if word.startswith("derived/") else shlex.quote(word) for word in others]
    return " ".join(["gaitlab", name, as_argument(study), *words])


def once_for_all(commands: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return commands, each for the page of a person as that for the overview, which writes all, if that is there."""
    of_all = [(one, one.index("--participant") if "--participant" in one else len(one)) for one in map(tuple, commands)]
    every = {one for one, at in of_all if at == len(one)}
    return [without if (without := one[:at] + one[at + 2 :]) in every else one for one, at in of_all]


def renew(study: Study) -> Iterator[str]:
    """Make pages of ``compare`` again that show other results, or remove them; yield lines that say so.

    The other files of commands take a browser, another program or minutes: they are named, with what writes them again.
    """
    derived, results = study.path / "derived", outputs_of(study)
    records, outdated = recorded_files(derived, but=results), dict[str, Sequence[str]]()
    for name, record in records.items():
        if not (why := why_outdated(study, record)):
            continue
        if record.command[0] == comparison.COMMAND:
            yield _renewed(study, name, record, why)
        else:
            outdated[f"derived/{name}"] = record.command
    starts = tuple(f"{name}." for name in study.people)
    for page in sorted((derived / PAGES).glob("[!.]*.html")):  # of compare, as earlier versions wrote them
        name, of_compare = f"{PAGES}/{page.name}", page.name.startswith(starts)
        if name in results or name in records or not of_compare or OF_A_PAGE not in page.read_bytes():
            continue
        page.unlink()
        yield f"Removed: derived/{PAGES}/{page.name}, as nothing records what it shows; write it by gaitlab compare."
    commands: dict[str, list[str]] = {}
    for name, command in zip(outdated, once_for_all(outdated.values()), strict=True):
        commands.setdefault(words_of(study.path, command), []).append(name)
    for words, names in commands.items():
        yield f"Of earlier results: {join_some(names, MOST_LISTED)}. Write again: {words}"


def _renewed(study: Study, name: str, record: checksums.Record, why: str) -> str:
    """Write a page of ``compare`` again, or remove it if that is refused, and return a line that says so."""
    path = study.path / "derived" / name
    try:
        comparison.write(study, comparison.Comparison.of(record.command), path)
    except UserError as error:
        path.unlink(missing_ok=True)
        checksums.forget(study.path / "derived", name)
        return f"Removed: derived/{name}, {why}, cannot be made again: {error}"
    return f"Made again: derived/{name}."
