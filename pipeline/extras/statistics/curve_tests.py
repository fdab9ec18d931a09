"""Pictures and words that ``gaitlab compare-groups`` has written of curves, for the overview."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import Problem, UserError, printable
from ...tables.report_additions import picture_of, read_named

if TYPE_CHECKING:
    from ...workflow.job_keys import Study

FOLDER = "curve_tests.folder"  # the setting
MOST_BYTES = 2_000_000  # of a picture, which is in the overview alone: curves of some hundred people


def curve_tests_of(study: Path, folder: str) -> list[dict[str, str]]:
    """Return the pictures in a folder of the study, data URIs, with the words on each."""
    return [
        {
            "picture": picture_of(study, FOLDER, path.relative_to(study).as_posix(), MOST_BYTES),
            "words": printable(read_named(path.with_suffix(".txt"), FOLDER, path.stem).decode("utf-8", "replace")),
        }
        for path in files_of_curve_tests(study, folder)
    ]


def files_of_curve_tests(study: Path, folder: str) -> list[Path]:
    """Return the pictures in a folder; refuse one without any."""
    found = sorted((study / folder).glob("*.svg"))
    if not found:
        raise UserError(f"{FOLDER}: {folder}", "no picture there", "write some by: gaitlab compare-groups --curve")
    return found


def needs_of_overview(study: Study, rule: str, _: str | None) -> dict[str, Any] | None:
    """Return folder and digests of the pictures and words that the overview shows, None if it shows none."""
    folder = study.settings["curve_tests"]["folder"]
    if rule != "report" or not folder:
        return None
    files = [one for path in files_of_curve_tests(study.path, folder) for one in (path, path.with_suffix(".txt"))]
    return {"folder": folder, "sha256": {path.name: study.digest(path) for path in files}}


def find_problems(study: Study) -> Iterator[Problem]:
    """Yield what is wrong with the pictures and words."""
    if folder := study.settings["curve_tests"]["folder"]:
        try:
            curve_tests_of(study.path, folder)
        except UserError as error:
            yield from error.problems
