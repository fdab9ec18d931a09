"""The summary of a run: its last lines, and ``derived/run.json`` for other programs."""

import csv
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .. import __version__
from ..errors import UserError, as_argument, printable
from ..json_text import from_text
from ..results.whole_files import write_whole
from ..tables.corrections import in_words, not_applied_in_words
from ..variables.data_dictionary import CORRECTIONS, NOT_CORRECTED
from ..variables.stance_verdicts import (
    DOUBTED,
    NOT_ON_A_PLATE,
    REFUSED,
    USED,
    in_general,
    rejection_in_general,
    verdicts_in,
)
from .progress import count_of

RUN = "run.json"  # of derived/; it has no record, as no job writes it
LONGEST_REJECTION = 400  # characters


class Summary(NamedTuple):
    """What quality.csv says of a study: trials, rejected ones, stances by verdict, refused and doubted contacts.

    ``corrected`` are the corrections by hand that are applied, and ``not_corrected`` those that are not and why: trials
    and words.
    """

    trials: int
    rejected: dict[tuple[str, str], dict[str, str]]
    stances: Counter[str]
    refused: list[dict[str, str]]
    doubted: list[dict[str, str]]
    corrected: dict[str, None]
    not_corrected: dict[str, None]


def summarise(
    study: Path, failures: Sequence[Mapping[str, str]], code: int, *, whole: bool, fail: bool, doubts_used: bool = False
) -> int:
    """Write run.json, print the last lines of a run, and return the exit code.

    Args:
        failures: session, step and reason of each failed job.
        whole: whether the run was one of the whole workflow, so that all tables are those of now.
        fail: whether rejected trials end the run with exit code 1; without any used trial it always does, as its
            results are empty.
        doubts_used: whether a setting takes doubted stances in.
    """
    derived = study / "derived"
    summary = summary_of(derived / "quality.csv") if whole and not failures else None
    lines = [] if failures else ["Done; the report was not requested."]
    if summary:
        lost = len(summary.rejected)
        code = 1 if lost == summary.trials or (lost and fail) else code
        lines = [*lines_of(summary, study, code, doubts_used=doubts_used)]
    content = json.dumps(content_of(summary, failures, code), indent=2, ensure_ascii=False)
    try:
        write_whole(derived / RUN, f"{content}\n".encode())
    except UserError as error:  # the results are there all the same
        sys.stderr.write(f"{error}\n")
    sys.stdout.write(printable("".join(f"{line}\n" for line in lines)))
    sys.stdout.flush()
    return code


def summary_of(quality: Path) -> Summary:
    """Return the summary of quality.csv, read line by line, so that memory does not grow with the study."""
    trials = set()
    summary = Summary(0, {}, Counter(), [], [], {}, {})
    with quality.open(encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            trials.add((row["session"], row["trial"]))
            place = f"{row['session']} {row['trial']}"
            for one in from_text(row.get(CORRECTIONS, "")):
                summary.corrected[f"{place}: {in_words(one)}"] = None
            for one in from_text(row.get(NOT_CORRECTED, "")):
                summary.not_corrected[f"{place}: {not_applied_in_words(one)}"] = None
            if row["side"]:
                summary.stances[row["verdict"]] += 1
                if row["verdict"] == REFUSED:
                    summary.refused.append(row)
                elif row["verdict"] == DOUBTED:
                    summary.doubted.append(row)
            elif row["verdict"] == REFUSED:
                summary.rejected[row["session"], row["trial"]] = row
    return summary._replace(trials=len(trials))


def lines_of(summary: Summary, study: Path, code: int, *, doubts_used: bool) -> Iterator[str]:
    """Yield the last lines of a run."""
    lost = len(summary.rejected)
    yield f"{summary.trials - lost} of {summary.trials} trials used, {_stances(summary.stances, doubts_used)}"
    yield from _rejections(summary.rejected)
    yield from _kinds(REFUSED, summary.refused, "reason_values")
    yield from _kinds(DOUBTED, summary.doubted, "doubt_values")
    if summary.corrected or summary.not_corrected:
        unfit = f", {len(summary.not_corrected)} not" if summary.not_corrected else ""
        yield f"  corrections.tsv: {count_of(len(summary.corrected), 'correction')} applied{unfit}"
    yield from (f"  {text}" for text in summary.not_corrected)
    yield f"Report: {study / 'derived' / 'report.html'}"
    if lost == summary.trials:
        command = f"gaitlab check {as_argument(study)}"
        yield f"Exit code 1, because no trial could be used. What to correct: {command}"
    elif lost and code:
        yield "Exit code 1, because trials were rejected (run.fail_on_rejection)."


def content_of(summary: Summary | None, failures: Sequence[Mapping[str, str]], code: int) -> dict[str, object]:
    """Return the content of run.json; ``trials`` and what follows are null if a step failed or was not requested."""
    of = summary or Summary(0, {}, Counter(), [], [], {}, {})
    used, doubted, refused = (of.stances[verdict] for verdict in (USED, DOUBTED, REFUSED))
    counts: dict[str, object] = {
        "trials": {"used": of.trials - len(of.rejected), "rejected": len(of.rejected)},
        "contacts": {"used": used, "doubted": doubted, "refused": refused},
        "stances_not_on_a_plate": of.stances[NOT_ON_A_PLATE],
        "rejected_trials": [_named(row) for row in of.rejected.values()],
        "refused_contacts": [_named(row) for row in of.refused],
        "doubted_contacts": [_named(row) for row in of.doubted],
        "corrections": {"applied": [*of.corrected], "not_applied": [*of.not_corrected]},
    }
    counts = counts if summary else dict.fromkeys(counts)
    return {"pipeline": __version__, "exit_code": code, **counts, "failures": [*failures]}


def _named(row: Mapping[str, str]) -> dict[str, object]:
    """Return where a row of quality.csv is, its code and its reason or doubts, also as values."""
    place = ("participant", "session", "trial", "side", "start_s", "end_s", "plates")
    texts = {name: row[name] for name in (*place, "code", "reason", "doubt_code", "doubt") if row.get(name)}
    return texts | {name: from_text(row[name]) for name in ("reason_values", "doubt_values") if row.get(name)}


def _rejections(rejected: Mapping[tuple[str, str], Mapping[str, str]]) -> Iterator[str]:
    """Yield a line for each reason, with the trials that were rejected for it; files and other places may differ."""
    alike: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for trial, row in sorted(rejected.items()):
        alike[rejection_in_general(row["reason_values"])].append(trial)
    for trials in alike.values():
        reason = rejected[trials[0]]["reason"]
        short = reason if len(reason) <= LONGEST_REJECTION else f"{reason[:LONGEST_REJECTION]} ... (quality.csv)"
        first = " ".join(trials[0])
        who = first if len(trials) == 1 else f"{len(trials)} trials ({first} and {len(trials) - 1} more)"
        yield f"  rejected: {who}: {short}"


def _kinds(verdict: str, rows: Iterable[Mapping[str, str]], column: str) -> Iterator[str]:
    """Yield a line for each kind of verdict in a column of contacts, with its trials and their number."""
    every = [(row, one) for row in rows for one in verdicts_in(row[column])]
    alike: dict[str, Counter[str]] = defaultdict(Counter)
    for (row, _), words in zip(every, in_general(one for _, one in every), strict=True):
        alike[words][f"{row['session']} {row['trial']}"] += 1
    for words, trials in alike.items():
        first = next(iter(trials))
        who = first if len(trials) == 1 else f"{len(trials)} trials ({first} and {len(trials) - 1} more)"
        yield f"  {verdict}: {who}, {count_of(trials.total(), 'plate contact')}: {words}"


def _stances(verdicts: Counter[str], doubts_used: bool) -> str:
    """Return how many contacts with plates are used; other stances are not lost."""
    doubted, others = verdicts[DOUBTED], verdicts[NOT_ON_A_PLATE]
    contacts = verdicts[USED] + doubted + verdicts[REFUSED]
    elsewhere = f"; {count_of(others, 'stance')} not on a plate" if others else ""
    suspected = f", {doubted} doubted" if doubted else ""
    suspected += ", taken in by cycles.doubted_stances" if doubted and doubts_used else ""
    return f"{verdicts[USED]} of {count_of(contacts, 'plate contact')} used{suspected}{elsewhere}."
