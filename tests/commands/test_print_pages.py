"""``gaitlab report --pdf``: what a browser is asked for, what happens if it fails, and a real one."""

from __future__ import annotations

import re
import shutil
import sys
import time
from pathlib import Path

import pytest

from pipeline.__main__ import main
from pipeline.commands import print_pages as module
from pipeline.commands.print_pages import find_browser, list_pages, print_pages
from pipeline.errors import UserError
from pipeline.results.page_names import SCRIPT, STYLE
from pipeline.workflow import checksums
from tests.support.processes.browser import found_chromium
from tests.support.studies.for_report import Page, three_people, written

PEOPLE = ["sub-01", "sub-02", "sub-03"]
FAKE = """#!{python}
import sys, time
from pathlib import Path
options = dict(one.split("=", 1) for one in sys.argv[1:] if "=" in one)
page = sys.argv[-1]
Path({log!r}).open("a").write(page + chr(10))
assert Path(options["--user-data-dir"]).parent.is_dir()
if "sub-02" in page and {fault!r} == "hangs":
    time.sleep(60)
if "sub-02" in page and {fault!r} == "fails":
    sys.exit("no space left")
Path(options["--print-to-pdf"]).write_bytes(b"%PDF-1.4 " + page.encode() + b" %%EOF")
"""
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the browser of these tests is a script")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(three_people().pages(), tmp_path_factory.mktemp("pages"))


@pytest.fixture
def study(pages: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pages, tmp_path / "study" / "derived")).parent


def fake(folder: Path, fault: str = "") -> Path:
    program = folder / "browser"
    program.write_text(FAKE.format(python=sys.executable, log=str(folder / "log"), fault=fault))
    program.chmod(0o755)
    return program


def test_every_page_is_printed_one_after_the_other_and_nothing_else_is_left(study: Path, tmp_path: Path) -> None:
    written, failed = print_pages(study, browser=fake(tmp_path))
    assert [path.name for path in written] == ["report.pdf", *(f"{name}.pdf" for name in PEOPLE)]
    assert failed == []
    assert {path.name for path in (study / "derived/pdf").iterdir()} == {path.name for path in written}
    assert len((tmp_path / "log").read_text().splitlines()) == 4
    assert all(path.stem in path.read_text() for path in written)


@pytest.mark.parametrize(("fault", "words"), [("fails", "no space left"), ("hangs", "not printed within 2 s")])
def test_a_page_that_fails_is_named_keeps_its_earlier_file_and_stops_no_other(
    study: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fault: str,
    words: str,
) -> None:
    monkeypatch.setattr(module, "LONGEST_S", 2.0)
    monkeypatch.setenv("GAITLAB_BROWSER", str(fake(tmp_path, fault)))
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "sub-02.pdf").write_text("earlier")
    began = time.monotonic()
    assert main(["report", str(study), "--pdf", "--output", str(folder)]) == 1
    assert time.monotonic() - began < 30
    out = capsys.readouterr().out
    assert "3 of 4 pages printed." in out
    assert re.search(f"not printed: .*sub-02.html: .*{words}", out)
    assert (folder / "sub-02.pdf").read_text() == "earlier"
    assert sorted(path.name for path in folder.iterdir()) == ["report.pdf", *(f"{name}.pdf" for name in PEOPLE)]


def test_without_a_browser_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GAITLAB_BROWSER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    if not any(Path("/Applications").glob("*Chrom*")):
        with pytest.raises(UserError, match=r"no Chrome, Edge or Chromium was found.*install one"):
            find_browser()
    edge = tmp_path / "programs" / "Microsoft/Edge/Application/msedge.exe"  # a usual place of Windows
    edge.parent.mkdir(parents=True)
    edge.touch()
    monkeypatch.setenv("PROGRAMFILES(X86)", str(tmp_path / "programs"))
    assert find_browser() == str(edge)
    with pytest.raises(UserError, match="no such program"):
        find_browser(Path("nothing"))


def test_a_study_or_person_without_a_page_is_refused(study: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="gaitlab run STUDY"):
        list_pages(tmp_path)
    with pytest.raises(UserError, match=r"sub-09.html: no such file.*derived/report/sub-09.html"):
        list_pages(study, ["sub-09"])
    assert [page.stem for page in list_pages(study, ["sub-03"])] == ["sub-03"]


@pytest.mark.skipif(not found_chromium(), reason="no chromium is installed")
@pytest.mark.parametrize(("paper", "points"), [("a4", (595, 842)), ("letter", (612, 792))])
def test_a_real_browser_prints_figures_and_numbers_on_the_paper_that_is_asked_for(
    study: Path, paper: str, points: tuple[int, int]
) -> None:
    (path,), failed = print_pages(study, people=["sub-02"], paper=paper)
    assert failed == []
    content = path.read_bytes()
    boxes = {tuple(round(float(x)) for x in box.split()[2:]) for box in re.findall(rb"/MediaBox *\[([^]]*)\]", content)}
    assert boxes == {points}
    assert len(re.findall(rb"/Type */Page\b", content)) > 2, "curves and numbers of the appendix are missing"
    assert len(content) > 200_000, "the figures are missing"


def test_pages_to_be_passed_on_are_one_file_each_and_lead_to_one_another(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    derived = study / "derived"
    (derived / checksums.FOLDER).mkdir()
    assert main(["report", str(study), "--single-file"]) == 0
    names = ["report.html", *(f"report/{name}.html" for name in PEOPLE)]
    assert capsys.readouterr().out.split() == [str(derived / "single" / name) for name in names]
    for name in names:
        page = Page((derived / "single" / name).read_text())
        assert not page.all("link")
        assert len(page.programs()) == 1
        record = checksums.recorded(derived, f"single/{name}")
        assert record is not None
        assert {*record.inputs} == {name, SCRIPT, STYLE}
        assert record.command[:2] == ["report", "--single-file"]
    folder = tmp_path / "for_the_patient"
    assert main(["report", str(study), "--single-file", "--participant", "sub-02", "--output", str(folder)]) == 0
    assert [path.name for path in folder.rglob("*.html")] == ["sub-02.html"]
    before = (derived / "report.html").read_bytes()
    assert main(["report", str(study), "--single-file", "--output", str(derived)]) == 1
    assert (derived / "report.html").read_bytes() == before
    assert "holds the pages of the run" in capsys.readouterr().err
    (derived / SCRIPT).unlink()
    assert main(["report", str(study), "--single-file"]) == 1
    assert "page.js: No such file or directory; write it with: gaitlab run STUDY" in capsys.readouterr().err
