"""docs/paper has the form that the Journal of Open Source Software asks for, and every reference is cited."""

from __future__ import annotations

import re

import yaml

from tests.support.checkout import HOUSE

TEXT = (HOUSE / "docs" / "paper" / "paper.md").read_text()
BIBLIOGRAPHY = (HOUSE / "docs" / "paper" / "paper.bib").read_text()
_, HEAD, BODY = TEXT.split("---\n", 2)


def test_the_head_names_what_the_journal_needs() -> None:
    head, citation = yaml.safe_load(HEAD), yaml.safe_load((HOUSE / "CITATION.cff").read_text())
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= head.keys()
    assert head["title"] == citation["title"]
    assert [author["name"] for author in head["authors"]] == [author["name"] for author in citation["authors"]]
    assert (HOUSE / "docs" / "paper" / head["bibliography"]).exists()


def test_it_has_the_sections_and_the_length() -> None:
    sections = re.findall(r"^# (.*)$", BODY, re.MULTILINE)
    assert sections[:3] == ["Summary", "Statement of need", "State of the field"]
    assert sections[-1] == "References"
    assert 250 <= len(BODY.split()) <= 1000


def test_each_reference_is_cited_and_each_citation_is_there() -> None:
    cited = {*re.findall(r"@(\w+)", BODY)}
    listed = re.findall(r"^@article\{(\w+),", BIBLIOGRAPHY, re.MULTILINE)
    assert cited == {*listed}
    assert listed == sorted(listed)
    for field in ("author", "title", "journal", "year", "volume", "pages"):
        assert BIBLIOGRAPHY.count(f" {field} = {{") == len(listed)
