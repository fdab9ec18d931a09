"""Who reviewed a session, its status and amendments: on page, sheets and overview, and in the results."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pipeline.results import netcdf
from pipeline.steps.report import tables
from tests.support.studies.for_report import Page
from tests.support.studies.small_study import run_steps, write_outputs

REVIEWED = (
    "participant_id\tsession\treviewed_by\tstatus\tamendments\nsub-01\tsub-01\tDr. <B>\tamended\tmass, 2024-06-01\n"
)


def row(session: str, *cells: str) -> dict[str, str]:
    return {"session": session} | dict(zip(("status", "reviewed_by", "amendments"), cells, strict=True))


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (("final", "Dr. B", "n/a"), "final, reviewed by Dr. B"),
        (("draft", "n/a", "n/a"), "draft, not reviewed"),
        (("amended", "Dr. B", "mass"), "amended, reviewed by Dr. B; amendments: mass"),
        (("n/a", "Dr. B", "n/a"), "reviewed by Dr. B"),
        (("n/a", "n/a", "mass"), "amendments: mass"),
        (("n/a", "n/a", "n/a"), None),
    ],
)
def test_each_session_is_named_with_what_is_known(cells: tuple[str, str, str], text: str | None) -> None:
    rows = [row("a", *cells), row("b", "final", "C", "n/a")]
    assert tables.reviews(rows) == ({"a": text} if text else {}) | {"b": "final, reviewed by C"}


def test_statuses_of_several_sessions_are_all_on_each_sheet() -> None:
    rows = [row("a", "final", "", ""), row("b", "draft", "", ""), row("c", "n/a", "", "")]
    assert tables.statuses(rows) == ["status final / draft / n/a"]
    assert tables.statuses([row("c", "n/a", "", ""), {"session": "d"}]) == []


def test_they_reach_pages_and_results(tmp_path: Path) -> None:
    study = write_outputs(tmp_path, walk="fast_01", change=lambda s: (s / "sessions.tsv").write_text(REVIEWED))
    run_steps(study, report=True)
    derived = study / "derived"
    page, overview = (Page((derived / name).read_text()) for name in ("report/sub-01.html", "report.html"))
    assert "sub-01: amended, reviewed by Dr. <B>; amendments: mass, 2024-06-01." in " ".join(page.words.split())
    assert "; status amended" in page.words
    for words in ("Dr. <B>", "amended", "mass, 2024-06-01"):
        assert words in overview.words
    data = netcdf.load(derived / "study.nc")
    assert {*data.status.values.tolist()} == {"amended"}
    assert {*data.reviewed_by.values.tolist()} == {"Dr. <B>"}
    with (derived / "metrics.csv").open(newline="") as handle:
        assert {one["amendments"] for one in csv.DictReader(handle)} == {"mass, 2024-06-01"}
