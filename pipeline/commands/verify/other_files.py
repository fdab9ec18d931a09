"""Files of results that no step writes: those of commands and extras, reviews, and what does not belong there."""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

from ...errors import Problem, join_some
from ...results.page_names import PAGES
from ...tables.session_table import has_changed_since_review
from ...workflow import checksums
from ...workflow.command_files import why_outdated
from ...workflow.job_keys import Study
from ..shared.exported_files import C3D_COPIES, PDF, SINGLE_PAGES, SPREADSHEETS
from .outputs import digests_of
from .remedies import OF_COMMANDS, WRITTEN, fault_of

# files of the system, and what a program that edits a table leaves
OF_THE_SYSTEM = re.compile(r"[.~].*|Thumbs\.db|desktop\.ini", re.IGNORECASE)
MOST_LISTED = 10


def look_at_command_files(
    study: Study, records: Mapping[str, checksums.Record], missing: Collection[str]
) -> Iterator[Problem]:
    """Yield the files written by commands that are not as written, or that do not show the results there.

    Those of ``missing`` results that a run writes again are not named: one cause has one remedy.
    """
    derived = study.path / "derived"
    digests = digests_of(derived / name for name in records)
    for name, record in records.items():
        if digests.get(derived / name) != record.sha256:
            yield fault_of(f"derived/{name}", "changed since it was written", "command_file_changed")
        elif name.removesuffix(".json") not in records.keys() - {name} and (
            why := why_outdated(study, record, missing)
        ):
            yield fault_of(f"derived/{name}", why, OF_COMMANDS[record.command[0]])


def outdated_reviews(study: Study, digests: Mapping[Path, str]) -> Iterator[Problem]:
    """Yield the sessions of which the results are others than those that were reviewed."""
    for session, row in study.session_rows.items():
        name = f"{session}/cycles.nc"
        if has_changed_since_review(row, digests.get(study.path / "derived" / name)):
            status = row.get("status", "") or "reviewed"
            yield fault_of(f"derived/{name}", f"{status}, but changed since the review", "review_outdated")


def stale_folders(derived: Path) -> Iterator[Problem]:
    """Yield the folders of extras with a result among what they were made from that was written again since."""
    for each in WRITTEN:
        record = checksums.recorded(derived, f"{each.folder}/{each.record}")
        for name, digest in record.inputs.items() if record else ():
            now = checksums.recorded(derived, name)
            if now and now.sha256 != digest:
                yield fault_of(f"derived/{each.folder}", f"made from an earlier derived/{name}", each.code)
                break


def strangers_in(study: Study, derived: Path, claimed: Collection[str]) -> str:
    """Return the files and folders that no run and no command wrote for this study, as text.

    Args:
        claimed: the files that one wrote, by their names below ``derived``.
    """
    expected = {*study.sessions, PAGES, PDF, SINGLE_PAGES, SPREADSHEETS}
    expected |= {*(f"{session}/{C3D_COPIES}" for session in study.sessions)}
    expected |= {parent.as_posix() for name in claimed for parent in PurePosixPath(name).parents}
    apart, strangers = {checksums.FOLDER, *(each.folder for each in WRITTEN)}, list[str]()
    for folder, folders, files in os.walk(derived):
        place = Path(folder).relative_to(derived)
        looked_into = []
        for name in folders:
            path = (place / name).as_posix()
            if path in expected:
                looked_into.append(name)
            elif path not in apart and not OF_THE_SYSTEM.fullmatch(name):
                strangers.append(f"derived/{path}/")
        folders[:] = looked_into
        names = ((place / name).as_posix() for name in files if not OF_THE_SYSTEM.fullmatch(name))
        strangers += [f"derived/{name}" for name in names if name not in claimed]
    if not strangers:
        return "nothing else is there."
    return f"not of this study's results, and not checked: {join_some(sorted(strangers), MOST_LISTED)}."
