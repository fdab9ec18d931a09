"""The pages on paper: what stands on each sheet, on A4 and US Letter, in a real browser."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pipeline.results.single_page import single_page
from pipeline.results.typed_tables import read_results
from pipeline.steps.report import metric_tables
from pipeline.steps.report.html_page import INTENDED_USE, days_of, margins
from tests.steps.report.test_muscle_panels import with_muscles
from tests.steps.report.test_whole_body import with_trunk
from tests.support.processes.browser import Tab
from tests.support.studies.for_report import HOSTILE, SHIFT, Page, made, three_people, trial_cycles, written

SHEET_PX = 703  # the width of A4 without the margins, the narrower of the two
CHINESE = "步态"
PAPER = {"A4": (8.27, 11.69), "Letter": (8.5, 11.0)}  # inches
REFERENCE = "variable,joint,angle,phase,mean,sd\njoint_angle,knee,flexion,0,10,4\njoint_angle,knee,flexion,100,10,4\n"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return three_people().pages("A study", reference=REFERENCE)


def prepared(tab: Tab, html: str, folder: Path) -> None:
    (folder / "page.html").write_text(single_page(html, written({}, folder)), encoding="utf-8")
    tab.console.clear()
    tab.size(1200, 900)
    tab.open(folder / "page.html")
    tab.until("window.Plotly && document.querySelector('.main-svg')")


def sheets_of(tab: Tab, folder: Path, paper: str = "Letter") -> list[str]:
    """Print the open page; return the words of each sheet, without any if no pdftotext is installed."""
    width, height = PAPER[paper]
    pdf = folder / "page.pdf"
    pdf.write_bytes(base64.b64decode(tab("Page.printToPDF", paperWidth=width, paperHeight=height)["data"]))
    count = len(re.findall(rb"/Type */Page\b", pdf.read_bytes()))
    assert tab.console == []
    if not shutil.which("pdftotext"):
        return [""] * count
    text = subprocess.run(["pdftotext", "-layout", pdf, "-"], check=True, capture_output=True, text=True).stdout
    sheets = [" ".join(sheet.split()) for sheet in text.split("\f")[:-1]]
    assert len(sheets) == count
    return sheets


def has_font(text: str) -> bool:
    """Return whether one font has all letters of a text; true where fc-list is absent (macOS and Windows have them)."""
    letters = " ".join(f"{ord(letter):x}" for letter in sorted({*text} - {" ", "\n"}))
    lists = shutil.which("fc-list")
    return not lists or bool(subprocess.run([lists, f":charset={letters}"], check=True, capture_output=True).stdout)


def opened_wholly(tab: Tab, html: str, folder: Path) -> None:
    """Open a page with all parts of its appendix unfolded, until all their figures are drawn."""
    prepared(tab, html, folder)
    tab.evaluate("document.querySelectorAll('details:has(> summary > h2)').forEach((part) => { part.open = true; })")
    tab.until("document.querySelectorAll('main section > details:has(> summary > h2):not([open])').length === 0")


def headings(sheet: str) -> set[str]:
    return {title for title in ("Kinematics", "Kinetics", "Powers", "EMG", "Whole body") if f" {title} " in sheet}


def test_a_page_is_printed_on_one_side_with_its_answers(tab: Tab, pages: dict[str, str], tmp_path: Path) -> None:
    prepared(tab, pages["report/sub-02.html"], tmp_path)
    printed = [sheets_of(tab, tmp_path, paper) for paper in PAPER]
    assert [len(sheets) for sheets in printed] == [1] * len(PAPER)
    if not printed[0][0]:
        pytest.skip("no pdftotext is installed")
    for (sheet,) in printed:
        assert sheet.startswith("sub-02, A study Recorded 2024-05-12")
        assert sheet.endswith(f"gaitlab 0.1.0. {INTENDED_USE} Page 1 of 1")
        assert not {"sub-01", "sub-03"} & {*re.split(r"[^\w-]+", sheet)}
        for words in (
            "Is the data good?",
            "Speed, m/s",
            "Pelvic tilt",
            "Foot progression",
            "slow (n: left 4; right 4)",
        ):
            assert words in sheet
        assert not headings(sheet)
        assert "screen" not in sheet


def test_what_is_unfolded_is_printed_after_the_first_sheet(tab: Tab, pages: dict[str, str], tmp_path: Path) -> None:
    opened_wholly(tab, pages["report/sub-02.html"], tmp_path)
    first, *others = sheets_of(tab, tmp_path)
    assert others
    if not first:
        pytest.skip("no pdftotext is installed")
    text = " ".join([first, *others])
    titles = [
        "Foot progression",
        "Kinematics",
        "Kinetics",
        "Powers",
        "All numbers",
        "Quality",
        "Settings and provenance",
    ]
    places = [text.index(title) for title in titles]
    assert places == sorted(places)
    for number, sheet in enumerate(others, start=2):
        assert sheet.startswith("sub-02, A study Recorded 2024-05-12")
        body = sheet.partition(" gaitlab 0.1.0. ")[0]
        assert not body.endswith(tuple(titles)), f"a heading alone at the foot of sheet {number}"
    assert "more on the screen" not in text


def test_a_participants_page_has_trunk_and_muscles_only_where_they_are_known(pages: dict[str, str]) -> None:
    parts = ["Angles over the gait cycle", "Kinematics", "Kinetics", "Powers"]
    whole = with_muscles(with_trunk(three_people())).person("sub-01")
    for html, further in ((pages["report/sub-01.html"], []), (whole, ["EMG", "Whole body"])):
        titles = re.findall(r"<h2[^>]*>(.*?)</h2>", html.partition('<div class="figures')[2])
        assert titles[: titles.index("All numbers")] == [*parts, *further]


def test_the_overview_has_its_people_and_nine_angles_of_them(tab: Tab, pages: dict[str, str], tmp_path: Path) -> None:
    prepared(tab, pages["report.html"], tmp_path)
    overview = sheets_of(tab, tmp_path)
    if not overview[0]:
        pytest.skip("no pdftotext is installed")
    assert all(name in overview[0] for name in SHIFT)
    assert "Pelvic tilt" in " ".join(overview)


def test_many_conditions_with_long_names_are_not_wider_than_the_sheet(tab: Tab, tmp_path: Path) -> None:
    names = [f"barefoot_with_a_stick_{number}" for number in range(6)]
    trials = {name: trial_cycles("sub-01", name, ["left", "right"]) for name in names}
    prepared(tab, made({"sub-01": trials}, {name: name for name in names}).person(), tmp_path)
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab("Emulation.setEmulatedMedia", media="print")
    tab.size(SHEET_PX, 1000)
    assert tab.evaluate("document.documentElement.scrollWidth") == SHEET_PX
    tab("Emulation.setEmulatedMedia", media="")


def test_nothing_is_clipped_and_the_screen_is_as_before(tab: Tab, pages: dict[str, str], tmp_path: Path) -> None:
    prepared(tab, pages["report/sub-03.html"], tmp_path)
    labels = "(element) => element.className + element.getAttribute('aria-labelledby')"
    order = f"[...document.querySelectorAll('main section, .key')].map({labels}).join()"
    tab.evaluate("document.getElementById('curves-kinetics').closest('details').open = true")
    before = tab.evaluate(order)
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate(order) != before
    tab("Emulation.setEmulatedMedia", media="print")
    tab.size(SHEET_PX, 1000)
    assert tab.evaluate("document.documentElement.scrollWidth") == SHEET_PX  # wider pages are printed smaller
    outside = """[...document.querySelectorAll('.panels .plot')].filter((p) => p.checkVisibility()).flatMap((plot) => {
      const box = plot.getBoundingClientRect();
      return [...plot.querySelectorAll('text')].filter((text) => {
        const { left, right, top, bottom } = text.getBoundingClientRect();
        return text.textContent && (left < box.left - 1 || right > box.right + 1
          || top < box.top - 1 || bottom > box.bottom + 1);
      }).map((text) => text.textContent);
    })"""
    assert tab.evaluate(outside) == []
    notes = "[...document.querySelectorAll('.beyond:not(:empty)')].filter((note) => note.offsetParent)"
    covered = (
        notes
        + """.filter((note) => {
      note.scrollIntoView({ block: 'center' });
      const { left, top } = note.getBoundingClientRect();
      return document.elementFromPoint(left + 5, top + 2) !== note;
    }).length"""
    )
    assert tab.evaluate(f"{notes}.length") > 0
    assert tab.evaluate(covered) == 0, "the first line of a note lies under its figure"
    tab("Emulation.setEmulatedMedia", media="")
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate(order) == before


def test_on_the_screen_the_key_covers_no_heading_and_the_buttons_no_curve(
    tab: Tab, pages: dict[str, str], tmp_path: Path
) -> None:
    prepared(tab, pages["report/sub-02.html"], tmp_path)
    tab.size(1280, 800)
    box = "((element) => { const { left, right, top, bottom } = element.getBoundingClientRect();"
    box += " return { left, right, top, bottom }; })"
    second = "document.getElementById('curves-kinetics')"
    tab.evaluate(f"{second}.closest('details').open = true, {second}.scrollIntoView()")
    key, heading = (tab.evaluate(f"{box}({it})") for it in ("document.querySelector('.key')", second))
    assert key["top"] > 0, "it stays in sight"
    assert key["right"] < heading["left"]
    first = "document.querySelector('.plot.js-plotly-plot')"
    plot, buttons = (tab.evaluate(f"{box}({first}{inner})") for inner in ("", ".querySelector('.modebar')"))
    assert buttons["bottom"] <= plot["top"] + 8, "8 px are its margin"


def test_the_overview_fits_a_window_of_1280_pixels(tab: Tab, tmp_path: Path) -> None:
    sizes = [f"{joint}_width_{side}_m" for joint in ("ankle", "knee") for side in ("left", "right")]
    own = dict.fromkeys([*sizes, "leg_length_left_m", "leg_length_right_m"], "0.105")
    own |= {"mass_source": "C3D file, 70.0 kg", "height_m": "1.755", "sex": "F", "age_years": "12"}
    people = {name: {"walk": trial_cycles(name, "slow", ["left", "right"])} for name in SHIFT}
    study = made(people, {"walk": "slow"}, dict.fromkeys(SHIFT, own))
    prepared(tab, study.overview(), tmp_path)
    tab.size(1280, 800)
    tables = "[...document.querySelectorAll('section .scroll')].filter((box) => box.offsetParent)"
    assert tab.evaluate(f"{tables}.map((box) => box.scrollWidth - box.clientWidth)").count(0) >= 2
    header, folded = (tab.evaluate(f"document.querySelectorAll('table')[{i}].tHead.textContent") for i in (0, 1))
    assert all(name in header for name in ("mass_kg", "height_m", "sex"))
    assert not any(name in header for name in sizes)
    assert all(name in folded for name in sizes)


@pytest.mark.parametrize(
    "title",
    [f'</style><script>alert(1)</script> {HOSTILE} Gangstudie Köln ü {CHINESE} "quoted" \\ back\\', "long " * 200],
)
def test_margins_show_any_title_as_text(tab: Tab, tmp_path: Path, title: str) -> None:
    title = title if has_font(CHINESE) else title.replace(CHINESE, "")
    study = made({"sub-01": {"walk": trial_cycles("sub-01", "slow", ["left", "right"])}}, {"walk": "slow"})
    html = study.person("sub-01", title)
    assert len(Page(html).texts["style"]) == len(Page(study.person("sub-01")).texts["style"])
    prepared(tab, html, tmp_path)
    sheets = sheets_of(tab, tmp_path)
    assert len(sheets) == 1
    if not sheets[0]:
        pytest.skip("no pdftotext is installed")
    shown = f"sub-01, {title}" if len(title) < 200 else "…"
    for number, sheet in enumerate(sheets, start=1):
        assert re.sub(r"\s", "", shown) in re.sub(r"\s|Recorded|2024-05-12", "", sheet)
        assert sheet.endswith(f"Page {number} of 1")


def test_a_text_of_the_margins_cannot_leave_its_string() -> None:
    style = margins('a"}</style>\\\n', "1</style>", name="sub-01")
    assert style.count('"') == 6
    assert not {"<", "\n"} & {*style}
    assert '@top-left{content:"sub\\00002d01' in style


def test_days_of_recording_name_their_sessions() -> None:
    assert days_of({"s1": ""}) == "Date of recording not stated"
    assert days_of({"s1": "2024-05-12"}) == "Recorded 2024-05-12"
    assert days_of({"s1": "2024-05-12", "s2": ""}) == "Recorded 2024-05-12 (s1), day not stated (s2)"


def test_more_conditions_leave_out_the_comparison_of_sides_on_paper() -> None:
    names = ["a", "b", "c"]
    for count, left_out in ((1, ()), (2, ("index, %",)), (3, ("index, %", "minus left"))):
        trials = {name: trial_cycles("sub-01", name, ["left", "right"]) for name in names[:count]}
        study = made({"sub-01": trials}, {name: name for name in names})
        rows, symmetry = (read_results(name, getattr(study, name)) for name in ("metrics", "symmetry"))
        table = metric_tables.metrics(rows, symmetry)[metric_tables.CLINICAL]
        unprinted = [table.header[i] for i in table.on_screen]
        assert len(unprinted) == count * len(left_out)
        assert all(title.endswith(left_out) for title in unprinted)


def test_the_intended_use_stands_on_every_page(pages: dict[str, str]) -> None:
    """On the screen below the content, on paper in the margin of each sheet."""
    for html in pages.values():
        assert f'<footer class="on-screen"><p>{INTENDED_USE}</p></footer>' in html
