"""Who reviewed a session, its status and amendments: on page, sheets and overview, and in the results."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import pytest

from pipeline.commands.check.command import check
from pipeline.commands.verify.command import verify
from pipeline.errors import ERROR
from pipeline.results import netcdf
from pipeline.steps.report import tables
from tests.support.studies.for_report import Page
from tests.support.studies.small_study import run_steps, write_outputs, write_report
from tests.support.studies.typed_rows import typed

REVIEWED = (
    "participant_id\tsession\treviewed_by\tstatus\tamendments\nsub-01\tsub-01\tDr. <B>\tamended\tmass, 2024-06-01\n"
)


def row(session: str, *cells: str) -> dict[str, str]:
    names = ("status", "reviewed_by", "amendments", "review_date", "review_sha256")
    return {"session": session} | dict(zip(names, [*cells, *["n/a"] * (5 - len(cells))], strict=True))


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
    rows = typed("metrics", [row("a", *cells), row("b", "final", "C", "n/a")])
    assert tables.reviews(rows, {}) == ({"a": text} if text else {}) | {"b": "final, reviewed by C"}


def test_statuses_of_several_sessions_are_all_on_each_sheet() -> None:
    rows = typed("metrics", [row("a", "final", "", ""), row("b", "draft", "", ""), row("c", "n/a", "", "")])
    assert tables.statuses(rows, {}) == ["status final / draft / n/a"]
    assert tables.statuses(typed("metrics", [row("c", "n/a", "", ""), {"session": "d"}]), {}) == []
    assert tables.statuses(typed("metrics", [{"session": "d"}]), {}) == []


def test_results_that_are_others_than_those_reviewed_are_named() -> None:
    rows = [row("a", "final", "Dr. B", "n/a", "2024-06-01", "AB" * 6), row("b", "final", "C", "n/a")]
    table = typed("metrics", rows)
    same, others = ({"a": digest * 32, "b": "00" * 32} for digest in ("ab", "cd"))
    assert tables.reviews(table, same)["a"] == "final, reviewed by Dr. B on 2024-06-01"
    changed = "final, reviewed by Dr. B on 2024-06-01; the results have changed since the review"
    assert tables.reviews(table, others) == {"a": changed, "b": "final, reviewed by C"}
    assert tables.statuses(table, same) == ["status final"]
    assert tables.statuses(table, others) == ["status final, changed since the review / final"]


HEADER = "participant_id\tsession\tstatus\treviewed_by\treview_date\treview_sha256"


@pytest.mark.parametrize(
    ("cells", "missing"),
    [
        ("final\tn/a\tn/a\tn/a", ["reviewed_by", "review_date", "review_sha256"]),
        ("final\tDr. B\t2024-06-01\tn/a", ["review_sha256"]),
        (f"final\tDr. B\t2024-06-01\t{'ab' * 32}", []),
        ("draft\tn/a\tn/a\tn/a", []),
    ],
)
def test_check_refuses_a_final_session_without_who_when_and_what(demo: Path, cells: str, missing: list[str]) -> None:
    (demo / "sessions.tsv").write_text(f"{HEADER}\nsub-01\tsub-01\t{cells}\n")
    found = [finding for finding in check(demo) if finding.where.startswith("sessions.tsv")]
    assert [finding.what for finding in found] == [f"final, but {name} is missing" for name in missing]
    assert all(finding.severity == ERROR and finding.remedy for finding in found)


@pytest.mark.parametrize("column", ["review_date", "review_sha256"])
@pytest.mark.parametrize("cell", ["June", "abc", "x" * 64])
def test_what_is_no_date_and_no_digest_is_refused(demo: Path, column: str, cell: str) -> None:
    (demo / "sessions.tsv").write_text(f"participant_id\tsession\t{column}\nsub-01\tsub-01\t{cell}\n")
    assert any(f"{column} is '{cell}'" in finding.what for finding in check(demo))


def test_page_and_verify_say_that_reviewed_results_have_changed(tmp_path: Path) -> None:
    draft = f"{HEADER}\nsub-01\tsub-01\tdraft\tn/a\tn/a\tn/a\n"
    study = write_outputs(tmp_path, walk="fast_01", draws=2, change=lambda s: (s / "sessions.tsv").write_text(draft))
    digest = hashlib.sha256((study / "derived/sub-01/cycles.nc").read_bytes()).hexdigest()
    pages = {}
    for reviewed in (digest[:12], "0" * 12):
        (study / "sessions.tsv").write_text(f"{HEADER}\nsub-01\tsub-01\tfinal\tDr. B\t2024-06-01\t{reviewed}\n")
        run_steps(study, report=True)
        pages[reviewed] = " ".join(Page((study / "derived/report/sub-01.html").read_text()).words.split())
        outdated = [fault.code for fault in verify(study)[0]]
        assert outdated == ([] if reviewed == digest[:12] else ["review_outdated"])
    written = hashlib.sha256((study / "derived/sub-01/cycles.nc").read_bytes()).hexdigest()
    assert written == digest  # a review changes no result of a session
    assert digest in pages[digest[:12]]  # to be written into the table
    assert "changed since the review" not in pages[digest[:12]]
    assert "final, reviewed by Dr. B on 2024-06-01; the results have changed since the review." in pages["0" * 12]


def test_they_reach_pages_and_results(tmp_path: Path) -> None:
    study = write_outputs(tmp_path, walk="fast_01", draws=2, change=lambda s: (s / "sessions.tsv").write_text(REVIEWED))
    write_report(study)
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
