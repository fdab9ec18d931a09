"""What a run needs of a study's folder: a name that its programs understand, and folders that can be written to."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import Problem, UserError
from ..results.page_names import PAGES
from . import checksums
from .job_keys import Study

# what no path of a study has, and why; other signs do no harm
NOT_IN_NAMES = {
    "{": "Snakemake reads it as a wildcard and finds no lock of another run",
    "\\": "the library that writes NetCDF reads it as the end of a folder's name",
}
# made by Snakemake before the first job
OF_SNAKEMAKE = (
    *("auxiliary", "conda", "conda-archive", "incomplete", "iocache", "locks", "log", "metadata", "shadow"),
    "singularity",
)


def refuse_name(study: Path) -> None:
    """Refuse a study of which the path, links followed, has a sign that a program of a run misreads."""
    whole = os.path.realpath(study)
    for sign, reason in NOT_IN_NAMES.items():
        if sign in whole and sign != os.sep:
            what = f"its path has the sign {sign}: {reason}"
            raise UserError(str(study), what, "rename the folder, or move the study")


def folders_of_a_run(study: Study) -> list[str]:
    """Return every folder into which a run writes, relative to the study, each after the one that holds it."""
    checked = f"derived/{checksums.FOLDER}"
    folders = [".snakemake", *(f".snakemake/{name}" for name in OF_SNAKEMAKE)]
    folders += ["derived", f"derived/{PAGES}", checked, f"{checked}/{PAGES}"]
    folders += [f"{place}/{session}" for session in study.sessions for place in ("derived", checked)]
    return [*folders, "logs", *dict.fromkeys(f"logs/{name}" for name in (*study.sessions, *study.people))]


def find_wrong_places(study: Study) -> Iterator[Problem]:
    """Find why no run can write into a study: its name, and folders of a run, of which the outermost is named."""
    try:
        refuse_name(study.path)
    except UserError as error:
        yield from error.problems
    if not os.access(study.path, os.W_OK):
        yield Problem(str(study.path), "cannot be written to", "copy the study to where you may write")
        return
    wrong = set[Path]()
    for folder in (study.path / name for name in folders_of_a_run(study)):
        if wrong.isdisjoint(folder.parents) and (problem := _problem_of(folder)):
            wrong.add(folder)
            yield Problem(str(folder), *problem)


def _problem_of(folder: Path) -> tuple[str, str] | None:
    """Return what is wrong with a folder of a run, and what to do; None if it can be written to, or made."""
    try:
        if folder.is_dir():
            remedy = "give yourself the right to write there, or copy the study to where you may write"
            return None if os.access(folder, os.W_OK | os.X_OK) else ("cannot be written to", remedy)
        if folder.exists():
            return "is a file, but a run writes a folder of this name", "rename the file, or move it away"
        if folder.is_symlink():
            return "is a link that leads nowhere", "make the folder to which it leads, or remove the link"
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:  # which the tables refuse
            remedy = "give yourself the right to look into what it leads to, or copy the study to where you may write"
            return f"cannot be written to ({error.strerror})", remedy
    return None
