"""The pages of the report: self-contained, accessible to screen readers, no markup from the study's text."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import xarray as xr

from tests.support.studies.for_report import HOSTILE, REPEATS, SHIFT, Made, Page, curve_of, made, trial_cycles


def test_hostile_text_stays_text() -> None:
    trials = {
        HOSTILE: trial_cycles("sub-01", HOSTILE, ["left"]),
        "bad": xr.Dataset(attrs={"rejected": HOSTILE}),
    }
    hostile = made({"sub-01": trials}, {HOSTILE: HOSTILE, "bad": HOSTILE}, **{HOSTILE: HOSTILE})
    hostile.study.attrs |= {
        "history": HOSTILE,
        "settings": json.dumps({HOSTILE: HOSTILE}),
        "pipeline_version": HOSTILE,
    }
    hostile.study.attrs["source_sha256"] = json.dumps({HOSTILE: HOSTILE})
    for html in hostile.pages(title=HOSTILE).values():
        page = Page(html)
        assert not page.all("x-evil")
        assert "<script>alert" not in html
        assert "{{ 7 * 7 }}" in page.words
        assert len(page.programs()) == 8
    assert page.figures()[0][0]["curves"][0]["line"] == HOSTILE


def test_the_policy_allows_the_pages_own_scripts_and_nothing_else(three_people: Made) -> None:
    for html in three_people.pages().values():
        page = Page(html)
        metas = page.all("meta")
        (policy,) = [meta["content"] for meta in metas if meta.get("http-equiv") == "Content-Security-Policy"]
        rules = dict(rule.strip().split(" ", 1) for rule in (policy or "").split(";"))
        assert rules["default-src"] == "'none'"
        assert "unsafe" not in (policy or "")
        for directive, texts in (("script-src", page.programs()), ("style-src", page.texts["style"])):
            digests = {
                f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts
            }
            assert set(rules[directive].split()) == digests


def test_every_page_is_self_contained(three_people: Made) -> None:
    pages = three_people.pages()
    assert set(pages) == {"report.html", *(f"report/{name}.html" for name in SHIFT)}
    for name, html in pages.items():
        page = Page(html)
        assert sum("plotly.js v" in text for text in page.programs()) == 1
        assert not [a for tag, a in page.tags if tag in ("link", "img", "iframe") or "src" in a or "style" in a]
        for link in (a["href"] or "" for a in page.all("a")):
            there = str((Path(name).parent / link).as_posix()).replace("report/../", "")
            assert link.startswith("#") or there in pages, link
        assert "\r" not in html  # a browser would turn it into a line feed and the hashes would not hold


def test_a_study_has_a_page_for_each_participant(three_people: Made) -> None:
    pages = {name: Page(html) for name, html in three_people.pages().items()}
    overview = pages.pop("report.html")
    assert len(overview.figures()) == 1
    assert not overview.walks()
    assert "the file ends early" not in overview.words.split("plate contacts by reason")[1].split("Settings")[1]
    for name, page in pages.items():
        person = Path(name).stem
        (figures,) = page.figures()
        assert curve_of(figures, "Knee flexion", "left", "slow")["n"] == REPEATS[person]
        assert len(page.walks()) == 1
        assert ("the file ends early" in page.words) == (person == "sub-01")
        assert ("two feet on plate 1:" in page.words) == (person == "sub-03")


def test_a_participants_page_holds_nothing_of_another() -> None:
    """Ids, sessions, trials, conditions, sources, cells of the tables, reasons; also in the data of the figures."""
    words = {name: [f"{what}-{name}" for what in ("walk", "pace", "refused", "town", "file")] for name in SHIFT}
    trials: dict[str, dict[str, xr.Dataset]] = {}
    conditions: dict[str, str] = {}
    for name, (walk, pace, refused, _, file) in words.items():
        trials[name] = {
            walk: trial_cycles(name, pace, ["left", "right"], alone=1).assign_attrs(source=f"{file}.c3d"),
            f"bad-{name}": trial_cycles(name, pace, ["left"], valid=False, reason=refused),
        }
        conditions |= {walk: pace, f"bad-{name}": pace}
    own = {name: {"town": towns} for name, (*_, towns, _) in words.items()}
    pages = made(trials, conditions, own).pages()
    for name, others in {name: {*words} - {name} for name in words}.items():
        html = pages[f"report/{name}.html"]
        assert all(text in html for text in (name, *words[name]))
        assert not [text for other in others for text in (other, *words[other]) if text in html]


def test_the_page_works_with_a_screen_reader(three_people: Made) -> None:
    page = Page(three_people.person())
    assert page.all("html") == [{"lang": "en", "data-colours": "orange_blue"}]
    assert page.all("caption")
    assert all(cell.get("scope") in ("col", "colgroup", "row") for cell in page.all("th"))
    plots = [a for a in page.all("div") if "data-figure" in a]
    assert len(plots) == 31
    assert all(a["role"] == "img" for a in page.all("div") if (a.get("class") or "").startswith("plot"))
    spoken = {(a["aria-label"] or "") for a in plots}
    assert any("Pelvic tilt" in text and "left, slow, n 2: from -12 at 75 % to 8 at 25 %" in text for text in spoken)
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
