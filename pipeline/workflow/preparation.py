"""What comes before Snakemake: changed results, lost records, pages of people who have left, and why jobs run again.

Snakemake sees missing files and changed keys, but not that the bytes of a result have changed. Such results are made
again, and of an edited table a copy is kept. Of a changed key it does not say what in it has changed.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import UserError, join_some
from ..results.page_names import PAGES
from . import checksums
from .activity_lock import is_left_alone
from .finished import UpToDate, is_left_out
from .job_keys import Study
from .open_study import outputs_of

MOST_LISTED = 3  # results in a notice
KEPT_AS_SHA = 64  # characters
CHANGED = "Changed since the last run: {what}. Runs again"
FOLLOWS, MISSING = "Runs again after these", "Not there yet"
VERSION, OF_CODE = "pipeline", ("code", "declared", "templates", "additions")  # parts of a key
OF_THE_KEY = {  # the user's name for each part of a job's key
    "code": "the code of this step",
    "declared": "the code of this step",
    "files": "a file that the step reads besides the recordings",
    "of_outputs": "rows of trials.tsv",
    "trials": "rows of trials.tsv, or the recordings in them",
    "by_trial": "rows of trials.tsv or corrections.tsv",
    "arguments.sessions": "rows of trials.tsv, sessions.tsv or participants.tsv",
    "arguments.participants": "rows of trials.tsv",
    "arguments.functional": "rows of trials.tsv",
    "arguments.conditions": "rows of trials.tsv",
    "arguments.recorded": "rows of trials.tsv, sessions.tsv or participants.tsv",
    "arguments.columns": "sessions.tsv or participants.tsv",
    "arguments.pages": "report.pages",
    "arguments.texts": "texts of report.notes",
    "logo": "the picture of report.logo",
    "arguments.study": "the reference",
    "arguments.participant": "the row of participants.tsv",
    "arguments.session_row": "the row of sessions.tsv",
    "order": "visit_number or dates of sessions.tsv",
    "arguments.segments": "segments.tsv",
    "arguments.segment_table": "the table of segment parameters",
    "arguments.body_model": "the body model",
    "arguments.reference": "the reference",
    "arguments.about_reference": "the reference",
    "reference": "the reference",
    "templates": "the code of this step",
    "additions": "the code of this step",
    "needs": "files that the pages show",
}


class Prepared(NamedTuple):
    """Results that Snakemake must make again, notices for the user, and results that need no plan.

    The results are relative to the study.
    """

    rerun: list[str]
    notices: list[str]
    finished: list[str]


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
        return Prepared([], [], [])
    if not dry_run:
        remove_pages_of_others(study)
    return changed_results(study, keep=not dry_run)


def refuse_lost_records(path: Path) -> None:
    """Refuse results without any of Snakemake's records, which show whether they are up to date."""
    results = any((path / "derived").glob("*/*.nc"))
    # after the first run was killed, the only record may be that of an unfinished step
    records = any(any((path / ".snakemake" / kind).glob("*")) for kind in ("metadata", "incomplete"))
    if results and not records:
        what = "holds results, but .snakemake with the records of how they were made is gone"
        raise UserError(str(path / "derived"), what, "add --forceall to run every step again")


def changed_results(study: Study, *, keep: bool) -> Prepared:
    """Return the results to make again because another program changed them; ``keep`` a copy of each changed table."""
    derived, records, outputs = study.path / "derived", study.path / ".snakemake", outputs_of(study)
    up_to_date = UpToDate(study, outputs)
    state = checksums.state_of(derived, outputs, cache=records / "result_sha256.json", each=up_to_date.add)
    notices = []
    causes = {
        "Changed since written": state.changed,
        "Without a record": state.unrecorded,
        "Made from other results than those there": up_to_date.outdated,
    }
    for what, names in causes.items():
        if names:
            own = [name for name in names if name.endswith(".csv") and name not in up_to_date.known]  # of a person
            kept = f" Copies are kept: {', '.join(_keep_copy(derived / name) for name in own)}." if own and keep else ""
            results = join_some([f"derived/{name}" for name in names], MOST_LISTED)
            notices.append(f"{what}, and made again: {results}.{kept}")
    interrupted = any((records / "incomplete").glob("*"))  # Snakemake makes its jobs again, whatever they have written
    finished = [] if interrupted else up_to_date.to_leave_out()
    again = dict.fromkeys(name for names in (*state, up_to_date.outdated) for name in names)
    return Prepared([f"derived/{name}" for name in again], notices, finished)


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


def changed_parts(step: str, then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return in words which parts of a job's key differ from those in a record, as of checksums.made_with."""
    parts = [part for part in (*now, *(part for part in then if part not in now)) if then.get(part) != now.get(part)]
    changed = (_difference(step, part, then.get(part), now.get(part)) for part in parts)
    return [*dict.fromkeys(changed)]


def _difference(step: str, part: str, then: str | None, now: str | None) -> str:
    if part in OF_THE_KEY:
        return OF_THE_KEY[part]
    section, _, key = part.partition(".")
    what = {"settings": f"{'report' if step == 'page' else step}.{key}", "versions": key}.get(section, part)
    if KEPT_AS_SHA in (len(then or ""), len(now or "")):
        return what
    return f"{what} {_plain(then)}, now {_plain(now)}"


def _plain(text: str | None) -> str:
    value: Any = json.loads(text) if text is not None else "not there"
    return value if isinstance(value, str) else str(text)


def reasons_to_run(study: Study, steps: Collection[str]) -> Iterator[str]:
    """Yield a line for each reason for which jobs run again, with their number by step; none for a first run.

    Args:
        steps: those that have jobs to do.
    """
    derived, again, because = study.path / "derived", set[str](), dict[str, Counter[str]]()
    jobs = dict[tuple[str, str | None], list[str]]()
    for name, job in outputs_of(study).items():
        if not is_left_out(f"derived/{name}"):
            jobs.setdefault(job, []).append(name)
    for (step, subject), names in jobs.items():
        record = checksums.recorded(derived, names[0])
        if record is None or not (derived / names[0]).is_file():
            reasons = [MISSING]
        else:
            now = checksums.made_with(study.content_of_key(step, subject))
            reasons = _reasons_in_words(step, record.made_with, now)
            reasons = reasons or ([FOLLOWS] if not again.isdisjoint(record.inputs) else [])
        again |= {*names} if reasons else set()
        for reason in reasons if step in steps else ():
            because.setdefault(reason, Counter())[step] += 1
    if because.keys() - {MISSING}:
        for reason, counts in because.items():
            yield f"{reason}: {', '.join(f'{step} {count}' for step, count in counts.items())}"


def _reasons_in_words(step: str, then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return why a job runs again; a new version is the reason for changed code and for what is new in a key."""
    if then.get(VERSION) == now[VERSION]:
        changed = changed_parts(step, then, now)
    else:
        others = {part: text for part, text in now.items() if part not in (VERSION, *OF_CODE) and part in then}
        changed = [f"the version of gaitlab {_plain(then.get(VERSION))}, now {_plain(now[VERSION])}"]
        changed += changed_parts(step, {part: then[part] for part in others}, others)
    return [CHANGED.format(what=part) for part in changed]
