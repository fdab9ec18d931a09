"""The last lines of a run: what was used, what was lost, where the report is."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path


def closing_lines(derived: Path, *, fail: bool) -> str:
    """Return the closing summary of a finished run.

    Args:
        derived: the output directory of the study.
        fail: whether rejected trials end the run with exit code 1.

    Raises:
        SystemExit: trials were rejected and ``fail`` is set.
    """
    if not (derived / "report.html").is_file() or not (derived / "quality.csv").is_file():
        return "Done; the report was not asked for."
    with (derived / "quality.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    trials = {(row["session"], row["trial"]) for row in rows}
    lost = {
        (row["session"], row["trial"]): row["reason"]
        for row in rows
        if row["verdict"] == "rejected" and not row["side"]
    }
    stances = Counter(row["verdict"] for row in rows if row["side"])
    lines = [
        f"{len(trials) - len(lost)} of {len(trials)} trials used, "
        f"{stances['used']} of {stances.total()} stances with kinetics.",
        *(f"  rejected: {session} {trial}: {reason}" for (session, trial), reason in sorted(lost.items())),
        f"Report: {(derived / 'report.html').resolve()}",
    ]
    if lost and fail:
        raise SystemExit("\n".join([*lines, "Exit code 1, for trials were rejected (run.fail_on_rejection)."]))
    return "\n".join(lines)
