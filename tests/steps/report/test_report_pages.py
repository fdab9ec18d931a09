"""The pages of the report: small, with a script and a style beside them, for screen readers."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import pytest
import xarray as xr
from plotly.offline import get_plotlyjs

from pipeline.errors import UserError
from pipeline.results.page_names import SCRIPT, STYLE
from pipeline.results.single_page import single_page
from tests.support.studies.for_report import SHIFT, Made, Page, made, trial_cycles, written

MOST_BYTES = 500_000  # of a page


def rules_of(page: Page) -> dict[str, set[str]]:
    """Return what the policy of a page allows, by directive."""
    metas = page.all("meta")
    (policy,) = [meta["content"] or "" for meta in metas if meta.get("http-equiv") == "Content-Security-Policy"]
    parts = (rule.split() for rule in policy.split(";"))
    return {name: {*sources} for name, *sources in parts}


def digests_of(texts: Iterable[str]) -> set[str]:
    return {f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts}


def test_the_policy_allows_the_files_beside_a_page_and_no_other_text_than_its_own(three_people: Made) -> None:
    for html in three_people.pages().values():
        page = Page(html)
        rules = rules_of(page)
        assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == {"'none'"}
        assert rules["script-src"] == {"'self'", "file:"} | digests_of([get_plotlyjs()])
        assert rules["style-src"] == {"'self'", "file:"} | digests_of(page.texts["style"])


def test_a_page_is_small_and_shares_one_script_and_one_style(three_people: Made, tmp_path: Path) -> None:
    pages = three_people.pages()
    assert set(pages) == {"report.html", *(f"report/{name}.html" for name in SHIFT)}
    written(pages, tmp_path)
    for name, html in pages.items():
        page = Page(html)
        assert len(html.encode()) < MOST_BYTES
        named = {a.get("src") or a["href"] for tag, a in page.tags if tag == "link" or "src" in a}
        found = {(tmp_path / name).parent.joinpath(each or "").relative_to(tmp_path).as_posix() for each in named}
        assert found == {SCRIPT, STYLE}
        assert all((tmp_path / each).is_file() for each in found)
        assert page.programs() == []
        assert not [a for tag, a in page.tags if tag in ("img", "iframe") or "style" in a or "integrity" in a]
        for link in (a["href"] or "" for a in page.all("a")):
            there = str((Path(name).parent / link).as_posix()).replace("report/../", "")
            assert link.startswith("#") or there in pages, link


def test_a_single_page_has_all_inside_and_allows_no_file(three_people: Made, tmp_path: Path) -> None:
    pages = three_people.pages()
    written(pages, tmp_path)
    for html in pages.values():
        page = Page(single_page(html, tmp_path))
        rules = rules_of(page)
        assert not [a for tag, a in page.tags if tag == "link" or "src" in a]
        assert rules["script-src"] == digests_of([get_plotlyjs(), *page.programs()])
        assert rules["style-src"] == digests_of(page.texts["style"])
        assert page.programs() == [(tmp_path / SCRIPT).read_text()]
        assert "\r" not in html  # a browser would turn it into a line feed and the hashes would not hold
    (tmp_path / SCRIPT).unlink()
    with pytest.raises(UserError, match=r"page.js: No such file.*gaitlab run"):
        single_page(html, tmp_path)


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
        html += json.dumps(Page(html).data())
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
