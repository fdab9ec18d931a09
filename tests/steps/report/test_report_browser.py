"""The report in a real browser: every figure is drawn, the console is empty, every control works."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from pipeline.results.single_page import single_page
from pipeline.steps.report.html_page import pack, pack_data
from tests.support.processes.browser import Tab
from tests.support.studies.for_report import HOSTILE, made, three_people, trial_cycles, written

PANELS, OF_A_WALK = 31, 4  # butterflies of two sides, terms and causes
FIRST = 9  # angles on the first sheet
UNFOLDED = "[...document.querySelectorAll('.plot')].filter((p) => !p.closest('details:not([open])'))"
WAITING = f"{UNFOLDED}.filter((p) => !p.querySelector('.main-svg')).length"
TIME, PLAY, VIEW = (f"document.querySelector('[data-do={name}]')" for name in ("time", "play", "view"))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the pages of a study of three, each participant on a page."""
    return written(three_people().pages(reference=REFERENCE), tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the pages of a study in which every text would be markup or a program."""
    trials = {person: {HOSTILE: trial_cycles(person, HOSTILE, ["left", "right"])} for person in ("sub-01", "sub-02")}
    pages = made(trials, {HOSTILE: HOSTILE}).pages(HOSTILE, reference=REFERENCE)
    return written(pages, tmp_path_factory.mktemp("hostile"))


REFERENCE = "variable,joint,angle,phase,mean,sd\njoint_angle,knee,flexion,0,10,4\njoint_angle,knee,flexion,100,10,4\n"


def opened(tab: Tab, page: Path, *, height: int = 900) -> Tab:
    """Open a page in a window of a height; figures are drawn when they come near it."""
    tab.console.clear()
    tab.size(1200, height)
    tab.open(page)
    return tab


def drawn_wholly(tab: Tab, page: Path) -> Tab:
    """Open a page in a window that shows all figures, until they are drawn."""
    opened(tab, page, height=30_000)
    tab.evaluate("document.querySelectorAll('details:has(> summary > h2)').forEach((part) => { part.open = true; })")
    tab.until("document.querySelectorAll('main section > details:has(> summary > h2):not([open])').length === 0")
    tab.until(f"{WAITING} === 0")
    tab.size(1200, 900)
    return tab


@pytest.fixture
def person(tab: Tab, pages: Path) -> Tab:
    return opened(tab, pages / "report" / "sub-02.html")


def scroll_to(tab: Tab, place: str) -> None:
    """Scroll to a plot, in an unfolded part, until it is drawn."""
    tab.evaluate(f"{place}.closest('section').querySelector(':scope > details')?.setAttribute('open', '')")
    tab.evaluate(f"{place}.scrollIntoView({{block: 'center'}})")
    tab.until(f"{place}.querySelector('.main-svg')")


def unfold(tab: Tab, part: str) -> None:
    """Open a part of the appendix."""
    tab.evaluate(f"document.getElementById('{part}').closest('details').open = true")
    if part == "walk":
        tab.until("document.querySelector('.scene path')?.getAttribute('d')")


def drawn(tab: Tab) -> int:
    return int(tab.evaluate("document.querySelectorAll('.js-plotly-plot .main-svg:first-of-type').length"))


def stick(tab: Tab) -> str:
    return str(tab.evaluate("[...document.querySelectorAll('.scene path')].map((p) => p.getAttribute('d')).join()"))


def test_numbers_that_the_page_unpacks_are_those_that_were_packed(person: Tab) -> None:
    rng = np.random.default_rng(7)
    rounded = [np.round(rng.normal(0, 10.0**size, 101), max(3 - size, 0)).tolist() for size in range(-4, 5)]
    gap = [None, None, *rounded[0][2:50], None, *rounded[0][51:100], None]
    never = [None] * 101
    data = {"rounded": rounded, "a gap": gap, "never": never, "short": [1.25, None], "words": ["a"] * 30, "one": 2}
    script = f"Object.assign(document.createElement('script'), {{textContent: '{pack_data(data)}'}})"
    assert json.loads(person.evaluate(f"dataOf({script}).then(JSON.stringify)")) == data


@pytest.mark.parametrize(("page", "figures"), [("report.html", PANELS), ("report/sub-01.html", PANELS + OF_A_WALK)])
def test_every_figure_is_drawn_in_light_dark_phone_and_print(
    tab: Tab, hostile: Path, page: str, figures: int, tmp_path: Path
) -> None:
    """Whatever text stands in it; that of a person as a single page, which may lie anywhere."""
    place = hostile / page
    if page != "report.html":
        opened(tab, place)  # with script and style beside it, under another policy
        assert tab.evaluate("document.querySelectorAll('x-evil').length") == 0
        assert tab.console == []
        text = single_page(place.read_text(encoding="utf-8"), hostile)
        place = tmp_path / "alone.html"
        place.write_text(text, encoding="utf-8")
    drawn_wholly(tab, place)
    assert drawn(tab) == figures
    assert tab.evaluate("document.querySelectorAll('x-evil').length") == 0
    assert tab.evaluate(f"{UNFOLDED}.filter((p) => !p.querySelector('.js-line')).map((p) => p.ariaLabel)") == []
    if page != "report.html":  # the script is the same
        tab.dark(True)
        paper = "getComputedStyle(document.querySelector('.main-svg')).backgroundColor"
        tab.until(f"{paper} === 'rgb(22, 22, 22)'")
        tab.dark(False)
        tab.until(f"{paper} === 'rgb(255, 255, 255)'")
    tab.size(390, 844, phone=True)
    tab.until("document.documentElement.scrollWidth === 390")  # nothing makes the page itself scroll sideways
    assert len(tab("Page.printToPDF")["data"]) > 50_000
    assert tab.console == []


def test_figures_are_drawn_when_they_come_near_and_all_for_paper(tab: Tab, pages: Path) -> None:
    opened(tab, pages / "report" / "sub-01.html")
    tab.evaluate(f"{UNFOLDED}[0].scrollIntoView()")
    in_view = f"{UNFOLDED}.filter((p) => p.getBoundingClientRect().top < 900)"
    tab.until(f"{in_view}.every((p) => p.querySelector('.main-svg'))")
    assert 0 < drawn(tab) < FIRST
    unfold(tab, "walk")
    tab.evaluate("document.querySelector('[data-parts=terms]').scrollIntoView()")
    tab.until("document.querySelector('[data-parts=terms] .main-svg')")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert drawn(tab) == FIRST + OF_A_WALK, "what is folded is not printed"
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.console == []


def test_hover_reads_and_zoom_enlarges(person: Tab) -> None:
    plot = "document.querySelector('[data-figure=\"6\"]')"
    shown = f"{plot}._fullLayout.xaxis.range.join()"
    scroll_to(person, plot)
    person.drag('[data-figure="6"] .nsewdrag', (60, 40))
    person.until(f"{shown} !== '0,100'")
    person.evaluate(f"{plot}.querySelector('[data-attr=zoom][data-val=reset]').dispatchEvent(new Event('click'))")
    person.until(f"{shown} === '0,100'")
    person.until(f"[...{plot}.querySelectorAll('.hoverlayer text')].some((t) => t.textContent.includes('n 4'))")
    assert person.console == []


def test_sides_conditions_and_reference_can_be_hidden_by_keyboard(person: Tab) -> None:
    lines = "document.querySelectorAll('[data-figure=\"6\"] .js-line').length"
    scroll_to(person, "document.querySelector('[data-figure=\"6\"]')")
    # a line and the edge of its band for two sides at two speeds and for the reference
    assert person.evaluate(lines) == 10
    for what, left in (("side left", 6), ("line fast", 4), ("reference", 2)):
        person.evaluate(f"document.querySelector('[data-hides=\"{what}\"]').focus()")
        person.press(" ")
        person.until(f"{lines} === {left}")
    assert person.console == []


def test_visits_stand_with_the_sides_apart_until_a_reader_wants_them_together(tab: Tab, tmp_path: Path) -> None:
    trials = {f"sub-02_{when}": {"walk": trial_cycles("sub-02", "slow", ["left", "right"])} for when in ("pre", "post")}
    study = made(trials, {"walk": "slow"})
    for chosen, columns in (((), {"x", "x2"}), (("sub-02_pre", "sub-02_post"), {"x", "x2", "x3"})):
        pages = written(study._replace(chosen=chosen).pages(), tmp_path)
        opened(tab, pages / "report" / "sub-02.html")
        place = plot("Knee flexion moment")
        scroll_to(tab, place)
        places = f"[...new Set({place}.data.filter((t) => t.mode === 'lines').map((t) => t.xaxis ?? 'x'))].join()"
        assert {*tab.evaluate(places).split(",")} == columns
        means = f"{place}.data.filter((t) => t.line?.width === 2 && t.yaxis !== 'y2')"
        colours = f"new Set({means}.map((t) => t.line.color)).size"
        assert tab.evaluate(colours) == 2, "a colour a visit, the same for both sides"
        assert tab.evaluate(f"{place}.layout.yaxis.range.join()") == "-1.5,1", "one scale for both sides"
        tab.evaluate("document.querySelector('[data-hides=apart]').click()")
        tab.until(f"{places} === 'x'")
        assert tab.evaluate(colours) == 2, "a colour a side"
    assert tab.console == []


def plot(title: str) -> str:
    """Return the expression of the plot of a title."""
    captions = "[...document.querySelectorAll('figcaption')]"
    return f"{captions}.find((c) => c.textContent === '{title}').parentElement.querySelector('.plot')"


def test_left_has_circles_so_that_sides_differ_without_colour(person: Tab) -> None:
    scroll_to(person, plot("Knee flexion"))
    marked = f"{plot('Knee flexion')}.data.filter((t) => t.mode === 'markers' && t.marker.symbol === 'circle').length"
    assert person.evaluate(marked) == 2  # one for each speed
    person.evaluate("document.querySelector('[data-hides=\"side left\"]').click()")
    person.until(f"{marked} === 0")
    assert person.evaluate("document.querySelectorAll('.key .left circle').length") == 1
    assert person.evaluate("document.querySelectorAll('.key .right circle').length") == 0


def test_fixed_axes_are_those_of_all_and_a_curve_that_leaves_is_marked_until_they_fit(person: Tab) -> None:
    scroll_to(person, plot("Knee flexion"))
    axis = f"{plot('Knee flexion')}.layout.yaxis.range?.join()"
    triangles = f"{plot('Knee flexion')}.data.filter((t) => t.marker?.symbol?.startsWith('triangle')).length"
    words = f"{plot('Knee flexion')}.parentElement.querySelector('.beyond').textContent"
    assert person.evaluate(axis) == "-20,80"
    # of the left side at slow speed the mean ends at the edge, at -20; its SD is .58
    names = {"left, slow, band": "20.6", "left, fast": "30", "right, fast": "24"}
    expected = "Beyond the axis: " + "; ".join(f"{name} to \u2212{at} at 75 %" for name, at in names.items())
    assert person.evaluate(words) == expected
    assert person.evaluate(triangles) == 2
    person.evaluate("document.querySelector('[data-hides=axes]').focus({preventScroll: true})")
    person.press(" ")
    person.until(f"{words} === ''")
    assert person.evaluate(triangles) == 0
    assert person.evaluate(f"{plot('Knee flexion')}._fullLayout.yaxis.range[0]") < -30
    assert person.console == []


def test_a_curve_wholly_beyond_its_axis_is_named(tab: Tab, tmp_path: Path) -> None:
    trial = trial_cycles("sub-02", "slow", ["left", "right"])
    trial["joint_angle"][{"cycle": trial.side.values == "left"}] -= 60
    pages = written(made({"sub-02": {"walk": trial}}, {"walk": "slow"}).pages(), tmp_path)
    scroll_to(opened(tab, pages / "report" / "sub-02.html"), plot("Knee flexion"))
    words = tab.evaluate(f"{plot('Knee flexion')}.parentElement.querySelector('.beyond').textContent")
    assert words == "Beyond the axis: left, slow wholly, to \u221280 at 75 %"
    assert tab.console == []


def test_every_cycle_is_drawn_by_a_switch_and_two_always(tab: Tab, pages: Path) -> None:
    thin = f"{plot('Knee flexion')}.data.filter((t) => t.line?.width === 0.8)"
    thin += ".map((t) => t.y.filter((y) => y === null).length).join()"  # one gap after each cycle
    for name, before, after in (("sub-01", "2,2,2,2", "2,2,2,2"), ("sub-02", "", "4,4,4,4")):
        opened(tab, pages / "report" / f"{name}.html")
        scroll_to(tab, plot("Knee flexion"))
        assert tab.evaluate(thin) == before
        tab.evaluate("document.querySelector('[data-hides=single]').focus({preventScroll: true})")
        tab.press(" ")
        tab.until(f"{plot('Knee flexion')}.layout.hovermode === 'closest'")
        assert tab.evaluate(thin) == after
    assert tab.console == []


@pytest.mark.parametrize("form", ["svg", "png"])
def test_a_saved_panel_has_participant_title_legend_and_light_colours(person: Tab, tmp_path: Path, form: str) -> None:
    person("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    person.dark(True)
    scroll_to(person, plot("Knee flexion moment"))
    button = f"{plot('Knee flexion moment')}.querySelector('[data-title=\"Save as {form.upper()}\"]')"
    person.evaluate(f"{button}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    file = tmp_path / f"sub-02_Knee_flexion_moment.{form}"
    person.until(file.exists)
    person.dark(False)
    if form == "png":
        assert file.read_bytes()[:4] == b"\x89PNG"
        return
    texts = re.findall(r">([^<>]+)</(?:text|tspan)", file.read_text())
    assert {"Knee flexion moment", "sub-02, A study"} <= {*texts}
    assert [text for text in texts if "(n" in text] == [
        f"{side}, {speed} (n 4)" for speed in ("slow", "fast") for side in ("left", "right")
    ]
    assert "rgb(22, 22, 22)" not in file.read_text()
    assert person.console == []


@pytest.mark.parametrize("width", [900, 1300])
def test_the_metrics_of_two_conditions_fit_the_window(tab: Tab, pages: Path, width: int) -> None:
    tab.size(width, 900)
    tab.open(pages / "report" / "sub-02.html")
    tab.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    over = "[...document.querySelectorAll('.scroll:has(.metrics)')].map((box) => box.scrollWidth - box.clientWidth)"
    assert {*tab.evaluate(over)} == {0}


def test_the_contents_stay_in_view_and_mark_the_section_that_is_read(tab: Tab, pages: Path) -> None:
    drawn_wholly(tab, pages / "report" / "sub-02.html")
    assert drawn(tab) == PANELS + OF_A_WALK
    for width, phone in ((1300, False), (390, True)):
        tab.size(width, 844, phone=phone)
        contents_follow(tab, width)
    assert tab.console == []


def contents_follow(tab: Tab, width: int) -> None:
    """Assert that the contents stay in view and mark what is read, in a window of a width."""
    for section in ("metrics", "quality", "curves"):
        tab.evaluate(f"document.querySelector('.contents [href=\"#{section}\"]').click()")
        tab.until(f"document.querySelector('.contents [aria-current]').hash === '#{section}'")
        box = "document.querySelector('.contents').getBoundingClientRect()"
        assert tab.evaluate(f"{box}.top >= 0 && {box}.top < 50")
        marked = "document.querySelector('.contents [aria-current]').getBoundingClientRect()"
        tab.until(f"{marked}.left >= 0 && {marked}.right <= {width}")
        assert tab.evaluate(f"document.getElementById('{section}').getBoundingClientRect().top >= 0")
    tab.press("ArrowRight")  # also sections too short to reach the top of the window
    to_the_end = "scrollTo(0, document.documentElement.scrollHeight)"  # again, since figures that are drawn add words
    tab.until(f"{to_the_end}, document.querySelector('.contents [aria-current]').hash === '#provenance'")
    assert tab.evaluate(f"document.documentElement.scrollWidth === {width}")


def test_the_stick_figure_is_scrubbed_by_keyboard(person: Tab) -> None:
    unfold(person, "walk")
    person.evaluate(f"{TIME}.focus()")
    before, said = stick(person), person.evaluate(f"{TIME}.getAttribute('aria-valuetext')")
    for _ in range(20):
        person.press("ArrowRight")
    assert stick(person) != before
    assert person.evaluate(f"{TIME}.getAttribute('aria-valuetext')") != said
    person.evaluate(
        f"{TIME}.value = 10; {TIME}.dispatchEvent(new Event('input'))"
    )  # 0.2 s: the left foot is on the ground
    force = "document.querySelector('.scene .left.force').getAttribute('d')"
    assert person.evaluate(force)
    person.evaluate(f"{TIME}.value = 40; {TIME}.dispatchEvent(new Event('input'))")  # 0.8 s: it does not
    assert person.evaluate(force) == ""
    assert "left 80 % of its cycle" in person.evaluate("document.querySelector('.instant').textContent")


def test_the_stick_figure_plays_and_pauses(person: Tab) -> None:
    unfold(person, "walk")
    person.evaluate(f"{PLAY}.focus()")
    person.press(" ")
    assert person.evaluate(f"{PLAY}.getAttribute('aria-pressed')") == "true"
    start = person.evaluate(f"{TIME}.value")
    person.until(f"{TIME}.value !== '{start}'")
    person.press(" ")
    still = person.evaluate(f"[{PLAY}.textContent, {TIME}.value].join()")
    person.evaluate("new Promise((done) => setTimeout(done, 200))")
    assert person.evaluate(f"[{PLAY}.textContent, {TIME}.value].join()") == still
    assert still.startswith("Play,")


def test_the_stick_figure_turns_by_view_slider_and_pointer(person: Tab) -> None:
    unfold(person, "walk")
    seen = {stick(person)}
    person.evaluate(f"{VIEW}.value = '90 0'; {VIEW}.dispatchEvent(new Event('change'))")
    seen.add(stick(person))
    person.evaluate("document.querySelector('[data-do=turn]').focus()")
    person.press("ArrowRight")
    seen.add(stick(person))
    person.drag(".scene", (80, 30))
    seen.add(stick(person))
    assert len(seen) == 4
    assert person.console == []


def test_parts_of_another_moment_are_drawn_and_described(person: Tab) -> None:
    unfold(person, "walk")
    said = "document.querySelector('[data-largest=terms]').textContent"
    person.evaluate("document.querySelector('[data-parts=terms]').scrollIntoView()")
    person.until("document.querySelector('[data-parts=terms] .main-svg')")
    before = person.evaluate(said)
    # the ground term is 70 N m about z at every joint; knee flexion is clockwise about z, mass 70 kg
    assert "ground 1.00" in before
    joint = "document.querySelector('select[data-do=joint]')"
    person.evaluate(f"{joint}.value = 'knee'; {joint}.dispatchEvent(new Event('change'))")
    assert "ground \u22121.00" in person.evaluate(said)
    assert person.evaluate("document.querySelectorAll('[data-parts=terms] .fills path').length") > 0
    assert person.console == []


def test_the_page_opens_within_two_seconds(tab: Tab, pages: Path) -> None:
    # the second of two: the machine may be busy
    assert min(tab.open(pages / "report" / "sub-01.html") for _ in range(3)) < 2


SEEN = "getComputedStyle(document.querySelector('{}')).display !== 'none'"


def test_a_page_without_its_script_or_style_says_so_in_words(tab: Tab, pages: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(pages, tmp_path / "pages"))
    page = folder / "report" / "sub-01.html"
    said = {"page.js": ".no-script", "page.css": ".no-style"}
    for lost, words in (("", ""), ("page.js", "beside this page does not run"), ("page.css", "has lost its style")):
        written({}, folder)
        if lost:
            (folder / "report" / lost).unlink()
        opened(tab, page)
        tab.until("document.readyState === 'complete'")
        assert tab.evaluate("document.querySelector('.no-script') !== null") is (lost == "page.js")
        assert tab.evaluate(SEEN.format(".no-style")) is (lost == "page.css")
        if lost:
            shown = tab.evaluate(f"document.querySelector('{said[lost]}').innerText")
            assert lost in shown
            assert words in shown
            assert "gaitlab run" in shown
            assert tab.evaluate("document.querySelectorAll('table').length") > 5
        else:
            assert tab.console == []


def test_a_page_and_a_script_of_two_versions_say_so(tab: Tab, pages: Path, tmp_path: Path) -> None:
    """The policy of a page names the drawing library; another one does not run, nor does a script inside the page."""
    folder = Path(shutil.copytree(pages, tmp_path / "pages"))
    page, script = folder / "report" / "sub-01.html", folder / "report" / "page.js"
    text = script.read_text()
    packed = text.partition('PACKED_LIBRARY = "')[2].partition('"')[0]
    script.write_text(text.replace(packed, pack("window.Plotly = {};"), 1))
    page.write_text(page.read_text().replace("</main>", "</main><script>document.title = 'run'</script>"))
    opened(tab, page)
    tab.until("!document.getElementById('unsupported').hidden")
    assert "of another version" in tab.evaluate("document.getElementById('unsupported').innerText")
    assert tab.evaluate("window.Plotly === undefined && document.title !== 'run'")
    tab.console.clear()
