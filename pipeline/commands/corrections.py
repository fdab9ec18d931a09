"""``gaitlab corrections``: list the corrections by hand of a study, fill in SHA-256, take over cycles.tsv."""

from pathlib import Path

from ..errors import UserError
from ..tables import corrections
from ..workflow.open_study import look_at


def complete_corrections(folder: Path) -> str:
    """Complete corrections.tsv, and return its rows in words.

    Rows of cycles.tsv, the table of earlier versions, are added and the file is removed. Rows without the SHA-256 of
    their recording get it.

    Raises:
        UserError: a table is wrong, or a recording has changed since it was corrected; then nothing is written.
    """
    study, problems = look_at(folder)
    if problems := [problem for problem in problems if problem.code != corrections.NO_LONGER_READ]:
        raise UserError.of(problems)
    path, old = folder / corrections.TABLE, folder / corrections.OLD_TABLE
    rows = [*corrections.read_corrections(path), *corrections.rows_of_cycles(old)]
    if problems := corrections.problems_of(rows, study.sessions):
        raise UserError.of(problems)
    digests = study.digests_of_corrected(rows)
    files = {(row["session"], row["trial"]): row["file"] for mine in study.sessions.values() for row in mine}
    for row in rows:
        row["sha256"] = row["sha256"] or digests.get(files[row["session"], row["trial"]], "")
    if problems := [*corrections.changed_recordings(rows, study.sessions, digests)]:
        raise UserError.of(problems)
    if rows and (old.exists() or rows != corrections.read_corrections(path)):
        corrections.write_corrections(path, rows)
    old.unlink(missing_ok=True)
    lines = [f"{row['session']} {row['trial']}: {corrections.in_words(row)}" for row in rows]
    return "\n".join([*lines, f"{path}: {len(rows)} corrections."])
