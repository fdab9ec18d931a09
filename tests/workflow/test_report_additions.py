"""Logo, laboratory, referral question and notes: shown as they are, run nothing, rerun only what changes."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from pipeline.commands.check.command import check
from pipeline.errors import UserError
from pipeline.tables.report_additions import MOST_BYTES, MOST_LETTERS, logo_of, texts_of
from pipeline.workflow.open_study import look_at, open_study
from tests.support.checkout import DEMO, copy_study
from tests.support.studies.for_report import HOSTILE, Page, three_people

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9" fill="url(#a)"/>{}</svg>'


def png(bytes_of_noise: int = 0) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head, pixel = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0), zlib.compress(b"\0\0")
    parts = (chunk(b"IHDR", head), chunk(b"teXt", b"x" * bytes_of_noise), chunk(b"IDAT", pixel), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_pictures_are_embedded(tmp_path: Path) -> None:
    (tmp_path / "logo.png").write_bytes(png())
    (tmp_path / "logo.svg").write_text(SVG.format('<use href="#a"/><image href="data:image/png;base64,AA"/>'))
    assert logo_of(tmp_path, "logo.png").startswith("data:image/png;base64,")
    assert logo_of(tmp_path, "logo.svg").startswith("data:image/svg+xml;base64,")
    assert not logo_of(tmp_path, "")


@pytest.mark.parametrize(
    "inner",
    [
        "<script>alert(1)</script>", "<SCRIPT href='x'/>", "<rect onload='alert(1)'/>", "<rect\nonclick = 'a()'/>",
        "<a href='javascript:alert(1)'/>", "<image href='http://x/a.png'/>", "<image xlink:href=\"//x/a.png\"/>",
        "<style>@import 'x'</style>", "<rect fill='url(http://x)'/>", "<foreignObject/>",
    ],
)  # fmt: skip
def test_a_picture_that_may_run_or_load_something_is_refused(tmp_path: Path, inner: str) -> None:
    (tmp_path / "logo.svg").write_text(SVG.format(inner))
    with pytest.raises(UserError, match="may run or load something"):
        logo_of(tmp_path, "logo.svg")


def test_other_files_and_large_ones_are_refused(tmp_path: Path) -> None:
    (tmp_path / "large.png").write_bytes(png(MOST_BYTES))
    (tmp_path / "logo.gif").write_bytes(b"GIF89a")
    for name, words in (
        ("large.png", "at most 200"),
        ("logo.gif", "neither PNG nor SVG"),
        ("no.png", "cannot be read"),
    ):
        with pytest.raises(UserError, match=words):
            logo_of(tmp_path, name)


def test_texts_are_by_person_and_title(tmp_path: Path) -> None:
    (tmp_path / "sub-01_question.txt").write_bytes("\ufeffWhy does she\r\n\r\ntrip? ä\x07\n".encode())
    (tmp_path / "sub-01_notes.txt").write_text(" \n")
    assert texts_of(tmp_path, ".", "sub-01") == {"Referral question": "Why does she\n\ntrip? ä?"}
    assert texts_of(tmp_path, ".", "sub-02") == texts_of(tmp_path, "", "sub-01") == {}
    (tmp_path / "sub-01_notes.txt").write_bytes(b"caf\xe9")
    with pytest.raises(UserError, match="not UTF-8"):
        texts_of(tmp_path, ".", "sub-01")
    (tmp_path / "sub-01_notes.txt").write_text("x" * (MOST_LETTERS + 1))
    with pytest.raises(UserError, match="letters"):
        texts_of(tmp_path, ".", "sub-01")


def test_a_page_shows_them_as_text(tmp_path: Path) -> None:
    (tmp_path / "logo.png").write_bytes(png())
    pages = three_people().pages(
        laboratory=f"Lab {HOSTILE}", logo=logo_of(tmp_path, "logo.png"), texts={"Notes": HOSTILE}
    )
    plain = three_people().pages()
    for name, html in pages.items():
        page = Page(html)
        assert f"Lab {HOSTILE}" in page.words
        assert html.count('src="data:image/png;base64,') == 1
        assert len(page.texts["script"]) == len(Page(plain[name]).texts["script"])
        assert page.words.count(HOSTILE) == (1 if name == "report.html" else 2)
        assert "letterhead" not in plain[name].partition("<body>")[2]


def test_a_note_changes_only_the_page_of_its_person_and_a_logo_all_pages(tmp_path: Path) -> None:
    study = copy_study(DEMO, tmp_path / "study")
    (study / "notes").mkdir()
    with (study / "study.yaml").open("a") as file:
        file.write("\nreport:\n  notes: notes\n")

    def keys() -> dict[tuple[str, str | None], object]:
        opened = open_study(study)
        subjects = [("page", "sub-01"), ("page", "sub-02"), ("report", None), ("study", None), ("cycles", "sub-01")]
        return {subject: opened.content_of_key(*subject) for subject in subjects}

    before = keys()
    (study / "notes" / "sub-01_notes.txt").write_text("seen by me")
    after = keys()
    assert {subject for subject in before if before[subject] != after[subject]} == {("page", "sub-01")}
    (study / "logo.png").write_bytes(png())
    (study / "study.yaml").write_text((study / "study.yaml").read_text() + "  logo: logo.png\n")
    with_logo = keys()
    changed = {("page", "sub-01"), ("page", "sub-02"), ("report", None)}
    assert {subject for subject in before if after[subject] != with_logo[subject]} == changed
    (study / "logo.png").write_bytes(png(5))
    assert {subject for subject in before if keys()[subject] != with_logo[subject]} == changed
    (study / "notes" / "sub-1_notes.txt").write_text("whose?")
    (problem,) = look_at(study)[1]
    assert (problem.where, problem.remedy) == ("notes/sub-1_notes.txt", "did you mean 'sub-01'?")
    assert "sub-1_notes.txt" in str(check(study))
