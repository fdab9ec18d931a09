"""What is looked at before Snakemake: records of results, and pages of people who have left the study."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline.errors import UserError
from pipeline.workflow import checksums
from pipeline.workflow.preparation import refuse_lost_records, remove_pages_of_others

PAGES = ("left.html", "left.2024_2025.html", "stays.html")


@pytest.mark.parametrize("kind", ["metadata", "incomplete", "locks", None])
def test_results_without_any_record_of_their_jobs_are_refused(tmp_path: Path, kind: str | None) -> None:
    """The only record may be that of an unfinished step, after the first run was killed."""
    refuse_lost_records(tmp_path)
    (tmp_path / "derived" / "sub-01").mkdir(parents=True)
    (tmp_path / "derived" / "sub-01" / "read.nc").touch()
    if kind:
        (tmp_path / ".snakemake" / kind).mkdir(parents=True)
        (tmp_path / ".snakemake" / kind / "cmVhZC5uYw==").touch()
    known = kind in ("metadata", "incomplete")
    with nullcontext() if known else pytest.raises(UserError, match="is gone; add --forceall"):
        refuse_lost_records(tmp_path)


@pytest.mark.parametrize("written_by", ["a run", "a run that was killed", "a person"])
def test_only_pages_that_a_run_has_written_are_removed(tmp_path: Path, written_by: str) -> None:
    derived = tmp_path / "derived"
    pages = [derived / "report" / name for name in PAGES]
    if written_by != "a person":
        checksums.begin(derived, [pages[0], pages[2]])
    for page in pages:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("a page")
    if written_by == "a run":
        checksums.record(derived, [pages[0], pages[2]], inputs={}, key={})
    study = SimpleNamespace(path=tmp_path, people={"stays": ["stays"]})
    remove_pages_of_others(study)  # type: ignore[arg-type]
    left = {page.name for page in pages if page.exists()}
    assert left == ({*PAGES} if written_by == "a person" else {"stays.html"})
    assert not checksums.recorded(derived, "report/left.html")
    assert not checksums.is_begun(derived, "report/left.html")
