"""What comes before Snakemake: results that another program has changed, lost records, pages of people who have left.

Snakemake sees missing files and changed keys, but not that the bytes of a result have changed. Such results are made
again, and of an edited table a copy is kept.
"""

from pathlib import Path
from typing import NamedTuple

from ..errors import UserError, join_some
from ..steps.report.page_names import PAGES
from . import checksums
from .activity_lock import is_left_alone
from .job_keys import Study
from .open_study import outputs_of

MOST_LISTED = 3  # results in a notice


class Prepared(NamedTuple):
    """Results that Snakemake must make again, relative to the study, and notices for the user."""

    rerun: list[str]
    notices: list[str]


def prepare(study: Study, *, dry_run: bool, forced: bool, whole: bool) -> Prepared:
    """Prepare a study for Snakemake, which then only has to look at files and keys.

    Args:
        dry_run: whether nothing may be written.
        forced: whether every job will run anyway (``--forceall``), so that no records are needed.
        whole: whether the whole workflow runs. Of a part, a job that reads a changed result refuses it.

    Raises:
        UserError: the records of results are gone, or no copy of an edited table can be kept.
    """
    if not forced:
        refuse_lost_records(study.path)
    if not whole or not is_left_alone(study.path, longest_s=0):  # of another run, its results are being written
        return Prepared([], [])
    if not dry_run:
        remove_pages_of_others(study)
    return changed_results(study, keep=not dry_run)


def refuse_lost_records(path: Path) -> None:
    """Refuse results without any of Snakemake's records, which show whether they are up to date."""
    results = any((path / "derived").glob("*/*.nc"))
    # after the first run was killed, the only record may be that of an unfinished step
    records = any(any((path / ".snakemake" / kind).glob("*")) for kind in ("metadata", "incomplete"))
    if results and not records:
        raise UserError(
            str(path / "derived"),
            "holds results, but .snakemake with the records of how they were made is gone",
            "add --forceall to run every step again",
        )


def changed_results(study: Study, *, keep: bool) -> Prepared:
    """Return the results to make again because another program changed them; ``keep`` a copy of each changed table."""
    derived = study.path / "derived"
    state = checksums.state_of(derived, outputs_of(study), cache=study.path / ".snakemake" / "result_sha256.json")
    notices = []
    for names, what in ((state.changed, "Changed since written"), (state.unrecorded, "Without a record")):
        if names:
            copies = [_keep_copy(derived / name) for name in names if keep and name.endswith(".csv")]
            kept = f" Copies are kept: {', '.join(copies)}." if copies else ""
            results = join_some([f"derived/{name}" for name in names], MOST_LISTED)
            notices.append(f"{what}, and made again: {results}.{kept}")
    return Prepared([f"derived/{name}" for names in state for name in names], notices)


def remove_pages_of_others(study: Study) -> None:
    """Remove pages of people who have left the study that a run has written, and their pages of ``compare``."""
    derived = study.path / "derived"
    people = {*study.people}
    for page in sorted((derived / PAGES).glob("[!.]*.html")):
        name = f"{PAGES}/{page.name}"
        record = checksums.recorded(derived, name)
        by_a_run = not record.command if record else checksums.is_begun(derived, name)
        if page.stem not in people and by_a_run:
            for gone in (page, *page.parent.glob(f"{page.stem}.*.html")):
                gone.unlink()
                checksums.forget(derived, f"{PAGES}/{gone.name}")


def _keep_copy(table: Path) -> str:
    try:
        return f"derived/{checksums.keep_copy(table).name}"
    except OSError as error:
        what = f"was changed, and no copy can be kept ({error.strerror})"
        raise UserError(str(table), what, "make room for it, or move it away") from None
