"""Why trials are rejected, and contacts refused or doubted: in the whole study, as the summary of a run has it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from pipeline.steps.report.quality import reasons, verdicts_of
from pipeline.variables.stance_verdicts import Verdict, as_text
from pipeline.workflow.run_summary import lines_of, summary_of
from tests.support.studies.typed_rows import typed
from tests.workflow.test_run_summary import line, write_quality


def rejected(where: str, what: str) -> Verdict:
    return Verdict("recording_unusable", {"where": where, "what": what, "remedy": ""})


def test_the_overview_and_the_summary_of_a_run_count_the_same_reasons(tmp_path: Path) -> None:
    """A reason has the same words in all people, though its values differ between them."""
    people = {
        "s1": [
            line("s1 one", "refused", rejected("one.c3d", "cut off")),
            line("s1 two", "refused", rejected("two.c3d", "shows two people")),
            line("s1 walk left", "refused", Verdict.of("plate_drifts", newtons=31.0)),
            line("s1 walk right", "doubted", None, Verdict.of("markers_noisy", mm=1.0, error=0.1)),
        ],
        "s2": [
            line("s2 one", "refused", rejected("other.c3d", "cut off")),
            line("s2 walk left", "refused", Verdict.of("plate_drifts", newtons=50.0)),
            line("s2 walk right", "doubted", None, Verdict.of("markers_noisy", mm=1.0, error=0.2)),
        ],
    }
    write_quality(tmp_path, [row for rows in people.values() for row in rows])
    told = [*lines_of(summary_of(tmp_path / "derived/quality.csv"), tmp_path, 0, doubts_used=False)][1:-1]

    def cells(rows: list[tuple[str, str, str, str, Verdict | None, list[Verdict]]]) -> pd.DataFrame:
        return typed("quality", (
            {"verdict": verdict, "side": side, "reason_values": as_text([why] if why else ()),
             "doubt_values": as_text(doubts)}
            for _, _, side, verdict, why, doubts in rows
        ))  # fmt: skip

    (trials, contacts), (more_trials, more_contacts) = reasons([verdicts_of(cells(rows)) for rows in people.values()])
    drifts, noisy = "the plate's baseline drifts by … N", "markers are noisy by 1.0 mm, which changes the hip moment"
    assert (trials, more_trials) == ({"cut off": 1, "shows two people": 1}, {"cut off": 1})
    assert contacts == more_contacts
    assert next(iter(contacts)) == drifts
    assert [*contacts][1].startswith(f"doubted: {noisy} by some … N m/kg")
    assert told == [
        "  rejected: 2 trials (s1 one and 1 more): one.c3d: cut off",
        "  rejected: s1 two: two.c3d: shows two people",
        f"  refused: 2 trials (s1 walk and 1 more), 2 plate contacts: {drifts}",
        "  doubted: 2 trials (s1 walk and 1 more), 2 plate contacts: " + [*contacts][1].removeprefix("doubted: "),
    ]
