"""``gaitlab compare``: two visits or two conditions of a person side by side."""

from __future__ import annotations

import re
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipeline.__main__ import main
from pipeline.commands.compare import write_comparison
from pipeline.errors import UserError
from pipeline.results.page_names import PAGES
from pipeline.steps.report.metric_tables import title_of
from pipeline.variables.metrics import SCORES
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
        (("slow:comfortable", "a_quick:fst"), "no visit and no condition 'a_quick:fst'; did you mean 'a_quick:fast'?"),
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
    with pytest.raises(UserError, match=r"no participant 'sub-3'; did you mean '.*'\? give one of sub-01, sub-02$"):
        write_comparison(demo, participant="sub-3", **speeds)
    with pytest.raises(UserError, match="--participant: no participant 'Anna'; give one of sub-01, sub-02"):
        write_comparison(demo, participant="Anna", **speeds)


ROW = re.compile(r'<th scope="row">([^<]+)(<td.*?)(?=<tr|</tbody>)', re.DOTALL)
CELL = re.compile(r"<td[^>]*>([^<\n]*)", re.DOTALL)
COMPARISON: dict[str, Any] = {"participant": "sub-01", "earlier": "comfortable", "later": "fast"}


def test_every_change_is_that_of_plain_pandas_on_participants_csv(small_study: Path, tmp_path: Path) -> None:
    study, page = small_study / "data/demo", tmp_path / "page.html"
    write_comparison(study, **COMPARISON, output=page)
    assert not [*(study / "derived/report").glob("*.html")]
    assert "<link" not in page.read_text(), "a page elsewhere is one file"
    assert "<script src=" not in page.read_text()
    means: Any = pd.read_csv(study / "derived/participants.csv").set_index(["condition", "side"])
    named = {title_of(name): name for name in means.columns}
    html = page.read_text().partition('id="metrics"')[2].partition('id="walk"')[0]
    counted = 0
    for title, row in ROW.findall(html):
        if named[title] in SCORES:  # which the page leaves out between an adult and a reference of children
            continue
        cells = CELL.findall(row)
        for side, (before, after, change) in {"left": cells[1:4], "right": cells[4:7]}.items():
            then, now = (means.loc[(condition, side), named[title]] for condition in ("comfortable", "fast"))
            for cell, mean in ((before, then), (after, now)):
                assert (cell == "n/a") == np.isnan(mean), (title, side)
            if cell_of_change := re.match(r"[+-][\d.]+", change):
                text = cell_of_change[0]
                expected = now - then
                if title.lower().startswith("phase") or " phase" in title.lower():
                    expected = (expected + 50) % 100 - 50
                decimals = len(text.partition(".")[2])
                assert abs(float(text) - expected) <= 0.5001 * 10.0**-decimals, (title, side)
                counted += 1
            else:
                assert np.isnan(now - then), (title, side)
    assert counted > 150
    first = ROW.findall(html)[0][0]
    assert first == "Walking speed"
    speeds = means.walking_speed.groupby("condition").mean()
    assert f"{100 * (speeds['fast'] / speeds['comfortable'] - 1):+.0f}\N{NO-BREAK SPACE}%" in html


def with_cycles(study: Path, *places: tuple[str, str]) -> None:
    """Let a study look as if it had run, with cycles of sub-01 in some sessions and conditions."""
    for file in (file for own in look_at(study)[0].files_of_page("sub-01").values() for file in own):
        (study / file).parent.mkdir(parents=True, exist_ok=True)
        (study / file).touch()
    rows = ["participant,session,condition", *(f"sub-01,{session},{condition}" for session, condition in places)]
    (study / "derived/participants.csv").write_text("\n".join([*rows, ""]))


def test_visits_that_share_no_condition_are_refused_with_what_each_has(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = with_visits(demo)
    with_cycles(study, ("sub-01_a_quick", "fast"), ("sub-01_slow", "comfortable"))
    assert main(["compare", str(study), "a_quick", "slow", "--participant", "sub-01"]) == 1
    said = capsys.readouterr().err
    assert "no condition is shared: a_quick has fast; slow has comfortable" in said
    assert "give pairs, such as a_quick:fast slow:comfortable" in said
    assert main(["compare", str(study), "fast", "comfortable", "--participant", "sub-01"]) == 1
    assert "no visit is shared: fast has a_quick; comfortable has slow" in capsys.readouterr().err
    assert not [*(study / "derived/report").glob("*.html")]


def test_a_visit_without_a_cycle_is_no_comparison(demo: Path) -> None:
    study = with_visits(demo)
    with_cycles(study, ("sub-01_slow", "comfortable"))
    with pytest.raises(UserError, match="a_quick has none with a gait cycle; slow has comfortable"):
        write_comparison(study, participant="sub-01", earlier="a_quick", later="slow", output=None)


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
