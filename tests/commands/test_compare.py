"""``gaitlab compare``: two visits or two conditions of a person side by side."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from pipeline.commands.compare import write_comparison
from pipeline.errors import UserError
from pipeline.steps.report.page_names import PAGES
from pipeline.workflow import checksums
from pipeline.workflow.open_study import look_at
from pipeline.workflow.preparation import remove_pages_of_others


def with_visits(study: Path) -> Path:
    """Give each speed of the demonstration study its own session, the fast one first by its date."""
    lines = (study / "trials.tsv").read_text(encoding="utf-8").splitlines()
    rows = [[*line.split("\t")] for line in lines]
    at = rows[0].index("condition")
    table = [[*rows[0], "session", "date"]]
    for row in rows[1:]:
        day = "2024-01-01" if row[at] == "fast" else "2025-01-01"
        table.append([*row, f"{row[0]}_{'a_quick' if row[at] == 'fast' else 'slow'}", day])
    (study / "trials.tsv").write_text("\n".join("\t".join(row) for row in table) + "\n", encoding="utf-8")
    return study


def test_visits_are_in_the_order_of_their_days_with_and_without_sessions_tsv(demo: Path) -> None:
    study = with_visits(demo)
    visits = look_at(study)[0].content_of_key("page", "sub-01")["arguments"]["visits"]
    assert visits == [("sub-01_a_quick", "a_quick"), ("sub-01_slow", "slow")]
    rows = ["participant_id\tsession\tdate\tvisit", "sub-01\tsub-01_slow\t2023-05-01\tpre"]
    (study / "sessions.tsv").write_text("\n".join([*rows, "sub-01\tsub-01_a_quick\t2024-05-01\tpost\n"]))
    visits = look_at(study)[0].content_of_key("page", "sub-01")["arguments"]["visits"]
    assert visits == [("sub-01_slow", "pre"), ("sub-01_a_quick", "post")]


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (("comfortable", "fst"), "no visit and no condition 'fst'; did you mean 'fast'?"),
        (("slow", "fast"), "one visit and one condition; give two visits or two conditions: "),
        (("fast", "fast"), "is compared with itself"),
    ],
)
def test_labels_that_cannot_be_compared_are_refused(demo: Path, labels: tuple[str, str], words: str) -> None:
    with pytest.raises(UserError) as refused:
        write_comparison(with_visits(demo), participant="sub-01", earlier=labels[0], later=labels[1], output=None)
    assert words in str(refused.value)


def test_a_study_of_several_people_or_without_results_is_refused(demo: Path) -> None:
    speeds: dict[str, Any] = {"earlier": "comfortable", "later": "fast", "output": None}
    with pytest.raises(UserError, match="--participant: is missing; give one of sub-01, sub-02"):
        write_comparison(demo, participant=None, **speeds)
    with pytest.raises(UserError, match="run the workflow first"):
        write_comparison(demo, participant="sub-02", **speeds)
    with pytest.raises(UserError, match="no participant 'sub-03'"):
        write_comparison(demo, participant="sub-03", **speeds)


def test_pages_of_somebody_who_left_go_with_the_person_and_no_others(demo: Path) -> None:
    study, folder = look_at(demo)[0], demo / "derived" / PAGES
    folder.mkdir(parents=True)
    kept = {"sub-01.html", "sub-01.slow.fast.html", "notes.of.mine.html"}
    for name in (*kept, "gone.html", "gone.pre.post.html"):
        (folder / name).write_text(name)
    with chdir(demo):
        checksums.begin(Path("derived"), [Path("derived") / PAGES / f"{name}.html" for name in ("sub-01", "gone")])
    for name in ("sub-01.html", "gone.html"):
        (folder / name).write_text(name)
    remove_pages_of_others(study)
    assert {path.name for path in folder.glob("*.html")} == kept
