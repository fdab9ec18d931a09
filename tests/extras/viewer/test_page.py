"""The viewer's page in a browser: events are dragged, markers picked, corrections tried and taken back."""

from __future__ import annotations

import shutil
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pipeline.commands.corrections import complete_corrections
from pipeline.extras.viewer.answers import Answers
from pipeline.extras.viewer.command import open_browser
from pipeline.extras.viewer.drafts import completed
from pipeline.extras.viewer.server import LocalServer
from pipeline.extras.viewer.shown_trial import Event, ShownTrial, shown_trial
from pipeline.tables.corrections import COLUMNS, TABLE, append_corrections, as_text, read_corrections
from pipeline.workflow.open_study import open_study
from tests.support.files.hostile_texts import SCRIPTS
from tests.support.processes.browser import Tab, browsing, found_chromium

TRIAL = "comfortable_01"
READY = "document.body?.getAttribute('aria-busy') === 'false' && document.querySelectorAll('#line .event').length > 0"


class Viewing:
    """A study of its own, its server and its answers."""

    def __init__(self, study: Path) -> None:
        self.study, self.answers = study, Answers(open_study(study))
        self.trial: ShownTrial = shown_trial(self.answers._as_run("sub-01"), TRIAL)  # as last run
        self.server = LocalServer(8690, self.answers)

    def start_anew(self) -> None:
        """Remove the corrections that are saved."""
        (self.study / TABLE).unlink(missing_ok=True)


@pytest.fixture(scope="module")
def viewing(small_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewing]:
    copy = shutil.copytree(small_study / "data" / "demo", tmp_path_factory.mktemp("view") / "study")
    viewing = Viewing(Path(copy))
    yield viewing
    viewing.server.stop()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, viewing: Viewing) -> Iterator[Tab]:
    chromium = found_chromium()
    if not chromium:
        pytest.skip("no chromium is installed")
    with browsing(chromium, tmp_path_factory.mktemp("profile")) as tab:
        enter(tab, viewing.server)
        yield tab


@pytest.fixture
def tab(browser: Tab, viewing: Viewing) -> Iterator[Tab]:
    """Give the page as it opens, of a study without corrections."""
    viewing.start_anew()
    open_page(browser, viewing)
    yield browser
    assert [line for line in browser.console if line.startswith(("exception", "error")) and "422" not in line] == []
    browser.console.clear()


def enter(tab: Tab, server: LocalServer) -> None:
    """Let a tab open the viewer as the browser of a user does."""
    tab("Page.navigate", url="about:blank")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(webbrowser, "open", lambda address: bool(tab("Page.navigate", url=address)))
        open_browser(server)
    tab.until(lambda: tab.address == f"http://127.0.0.1:{server.server_port}/")


def open_page(tab: Tab, viewing: Viewing) -> None:
    tab.renew()
    tab.size(1280, 800)
    tab.open(f"http://127.0.0.1:{viewing.server.server_port}/")
    tab.evaluate("window.confirm = () => true")
    tab.until(READY)


def until_ready(tab: Tab) -> None:
    tab.until(READY)


def say_why(tab: Tab, reason: str = "seen in the video") -> None:
    tab.evaluate(f"document.getElementById('reason').value = '{reason}'; document.getElementById('by').value = 'AB'")


def seconds_shown(tab: Tab) -> float:
    return float(tab.evaluate("document.getElementById('now').textContent").split()[0])


def text_of(tab: Tab, name: str) -> str:
    return str(tab.evaluate(f"document.getElementById('{name}').innerText"))


def box_of(tab: Tab, selector: str) -> tuple[float, float, float, float]:
    """Return left, top, width and height of an element in the window, px."""
    box = f"document.querySelector('{selector}').getBoundingClientRect()"
    left, top, width, height = tab.evaluate(f"(({{x, y, width, height}}) => [x, y, width, height])({box})")
    return left, top, width, height


def events_shown(tab: Tab) -> list[str]:
    """Return the events of the time line in words."""
    return list(tab.evaluate("[...document.querySelectorAll('#line .event title')].map(one => one.textContent)"))


def choose(tab: Tab, selector: str, value: str) -> None:
    """Choose in a field, as a person does."""
    field = f"document.querySelector('{selector}')"
    tab.evaluate(f"{field}.value = '{value}'; {field}.dispatchEvent(new Event('change'))")


def a_strike(trial: ShownTrial) -> tuple[int, Event]:
    """Return the number of a foot strike on the time line, and it."""
    return [(i, one) for i, one in enumerate(trial.events) if one.name == "foot_strike"][1]


def px_per_s(tab: Tab, trial: ShownTrial) -> float:
    _, _, width, _ = box_of(tab, "#line .frame")
    return width / float(trial.time[-1] - trial.time[0])


def drag_a_strike(tab: Tab, trial: ShownTrial, by_s: float) -> Event:
    number, strike = a_strike(trial)
    tab.drag(f"#line .event[data-index='{number}'] rect", (round(by_s * px_per_s(tab, trial)), 0))
    return strike


def test_the_token_stays_in_no_window(tab: Tab, viewing: Viewing) -> None:
    """By the file, the address with the token and the cookie, the browser has come to the address without it."""
    assert viewing.server.token not in tab.evaluate("location.href + document.referrer + document.cookie")
    assert not [
        entry["url"] for entry in tab("Page.getNavigationHistory")["entries"] if viewing.server.token in entry["url"]
    ]


def test_curves_scene_and_corrections_are_in_one_view(tab: Tab, viewing: Viewing) -> None:
    for place in ("#scene canvas", "#curves svg", "#correct form", "#line", "#force"):
        x, y, width, height = box_of(tab, place)
        assert min(width, height) > 50, place
        middle = x + width / 2, y + height / 2
        assert 0 < middle[0] < 1280, place
        assert 0 < middle[1] < 800, place
    assert "Pelvic tilt" in tab.evaluate("document.getElementById('curves').textContent")
    line = tab.evaluate("document.getElementById('line').textContent")
    for contact in viewing.trial.contacts:
        if contact.plates:
            assert f"plate {contact.plates}" in line
    assert len(viewing.trial.events) == tab.evaluate("document.querySelectorAll('#line .event').length")


def test_a_rejected_trial_is_listed_with_its_reason(tab: Tab) -> None:
    assert "gone: sub-01/gone.c3d: no such file" in tab.evaluate("document.getElementById('rejected').textContent")
    assert "gone (rejected)" in tab.evaluate("document.getElementById('trial').textContent")


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window(width: int, tab: Tab) -> None:
    tab.size(width, 800, phone=width < 1000)
    tab.until(f"innerWidth === {width}")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.size(1280, 800)


def test_the_report_has_the_colours(tab: Tab) -> None:
    """There is no second list: the page has those of the style sheet of the report."""
    for side in ("left", "right"):
        stroke = f"getComputedStyle(document.querySelector('#line .event.{side} line')).stroke"
        tab.evaluate(f"document.documentElement.style.setProperty('--{side}', 'rgb(1, 2, 3)')")
        assert tab.evaluate(stroke) == "rgb(1, 2, 3)"
    assert "--left:" in tab.evaluate("fetch('/report.css').then(answer => answer.text())")


def test_keys_step_and_go_to_events(tab: Tab, viewing: Viewing) -> None:
    trial, first = viewing.trial, seconds_shown(tab)
    frame = int(np.abs(trial.time - first).argmin())
    for key, shift, by in (("ArrowRight", False, 1), ("ArrowRight", True, 11), ("ArrowLeft", False, 10)):
        tab.press(key, shift=shift)
        assert abs(seconds_shown(tab) - trial.time[frame + by]) < 0.001
    later = min(event.time for event in trial.events if event.time > seconds_shown(tab) + 0.006)
    tab.press("PageDown")
    assert abs(seconds_shown(tab) - later) < 0.01


def test_it_plays_and_pauses(tab: Tab) -> None:
    first = seconds_shown(tab)
    tab.press(" ")
    tab.until(lambda: seconds_shown(tab) > first + 0.1)
    tab.press(" ")
    still = seconds_shown(tab)
    tab.evaluate("new Promise(done => setTimeout(done, 300))")
    assert seconds_shown(tab) == still


def test_a_click_on_the_time_line_goes_there(tab: Tab, viewing: Viewing) -> None:
    trial = viewing.trial
    tab.drag("#line .frame", (0, 0))
    assert abs(seconds_shown(tab) - (trial.time[0] + trial.time[-1]) / 2) < 0.02
    tab.drag("#force .frame", (0, 0))
    assert abs(seconds_shown(tab) - (trial.time[0] + trial.time[-1]) / 2) < 0.02


def test_a_dragged_event_is_a_correction_like_one_by_hand(tab: Tab, viewing: Viewing, tmp_path: Path) -> None:
    say_why(tab)
    strike = drag_a_strike(tab, viewing.trial, 0.03)
    until_ready(tab)
    (words,) = [text for text in text_of(tab, "drafts").splitlines() if text.strip() != "Take back"]
    to_s = float(words.split(" moved to ")[1].split()[0])
    assert abs(to_s - strike.time - 0.03) < 0.012
    assert "The last row changes" in text_of(tab, "effect")
    assert f"{strike.side} foot strike at {to_s:.3f} s: new" in text_of(tab, "effect")
    tab.until("!document.getElementById('save').disabled")
    tab.drag("#save", (0, 0))
    tab.until("document.getElementById('message').innerText.includes('1 saved in')")
    until_ready(tab)

    hand = {**dict.fromkeys(COLUMNS, ""), "session": "sub-01", "trial": TRIAL, "kind": "move_foot_strike"}
    hand |= {"side": strike.side, "time_s": f"{strike.time:.3f}", "to_s": f"{to_s:.3f}"}
    hand |= {"reason": "seen in the video", "by": "AB", "date": completed(viewing.answers.study, {})["date"]}
    by_hand = Path(shutil.copytree(viewing.study, tmp_path / "by_hand", ignore=shutil.ignore_patterns("derived")))
    (by_hand / TABLE).write_text(as_text([hand]), encoding="utf-8")
    complete_corrections(by_hand)  # 'gaitlab corrections' fills in the SHA-256 of the recording
    assert (viewing.study / TABLE).read_bytes() == (by_hand / TABLE).read_bytes()


def test_a_correction_waits_for_its_reason(tab: Tab, viewing: Viewing) -> None:
    strike = drag_a_strike(tab, viewing.trial, 0.03)
    assert "say why, then press Enter" in text_of(tab, "message")
    assert "Move a foot strike" in text_of(tab, "message")
    assert tab.evaluate("document.activeElement.id") == "reason"
    assert "None." in text_of(tab, "drafts")
    say_why(tab)
    tab.press("Enter")
    tab.until(f"document.getElementById('drafts').innerText.includes('{strike.side} foot strike at')")


def drafts(tab: Tab) -> list[str]:
    """Return the rows that are not saved, in words."""
    return list(tab.evaluate("[...document.querySelectorAll('#drafts li')].map(one => one.firstChild.textContent)"))


def test_an_event_under_the_mark_of_the_frame_can_be_dragged_and_again(tab: Tab, viewing: Viewing) -> None:
    """The second drag changes the row of the first; Escape gives one up."""
    say_why(tab)
    number, strike = a_strike(viewing.trial)
    tab.drag(f"#line .event[data-index='{number}'] rect", (0, 0))
    assert abs(seconds_shown(tab) - strike.time) < 0.01
    for by_s in (0.03, 0.02):
        drag_a_strike(tab, viewing.trial, by_s)
        tab.until("document.querySelectorAll('#drafts button').length === 1")
        until_ready(tab)
    (words,) = drafts(tab)
    assert words.startswith(f"{TRIAL}: {strike.side} foot strike at {strike.time:.3f} s moved to ")
    assert abs(float(words.split(" moved to ")[1].split()[0]) - strike.time - 0.05) < 0.022  # two frames
    x, y, width, height = box_of(tab, f'#line .event[data-index="{number}"] rect')
    at = {"button": "left", "buttons": 1, "clickCount": 1, "y": y + height / 2}
    tab("Input.dispatchMouseEvent", type="mousePressed", x=x + width / 2, **at)
    tab("Input.dispatchMouseEvent", type="mouseMoved", x=x + width / 2 + 30, **at)
    tab.press("Escape")
    tab("Input.dispatchMouseEvent", type="mouseReleased", x=x + width / 2 + 30, **at)
    assert drafts(tab) == [words]


def test_a_time_that_is_missing_or_outside_the_trial_is_no_row(tab: Tab) -> None:
    say_why(tab)
    choose(tab, "#what", "add_foot_strike")
    for seconds in ("", "-1", "99"):
        tab.evaluate(f"document.getElementById('time_s').value = '{seconds}'")
        tab.drag("#try", (0, 0))
        assert tab.evaluate("document.body.getAttribute('aria-busy')") == "false", seconds
        assert not tab.evaluate("document.querySelector('#correct form').checkValidity()"), seconds
    assert drafts(tab) == []


def test_after_a_list_is_used_with_the_mouse_keys_are_those_of_the_time_line(tab: Tab) -> None:
    tab.drag("#speed", (0, 0))
    tab.evaluate("document.getElementById('speed').dispatchEvent(new Event('change', {bubbles: true}))")
    assert tab.evaluate("document.activeElement === document.body")
    first = seconds_shown(tab)
    tab.press("ArrowRight")
    assert seconds_shown(tab) > first


def test_a_window_that_is_loaded_again_has_its_trial(tab: Tab) -> None:
    tab.press("n")
    until_ready(tab)
    tab.until("location.hash.includes('fast_01')")
    address = tab.address
    tab.renew()
    tab.open(address)
    tab.until("document.getElementById('trial').value === 'fast_01'")


def test_the_effect_is_that_of_the_last_row_alone(tab: Tab, viewing: Viewing) -> None:
    say_why(tab)
    used = next(one for one in viewing.trial.contacts if one.verdict == "used")
    drag_a_strike(tab, viewing.trial, 0.03)
    until_ready(tab)
    choose(tab, "select.side", used.side)
    go_to(tab, viewing.trial, (used.start + used.end) / 2)
    tab.press("r")
    tab.until("document.querySelectorAll('#drafts li').length === 2")
    until_ready(tab)
    assert "refused by hand: seen in the video" in text_of(tab, "effect")
    assert "foot strike" not in text_of(tab, "effect")
    tab.press("u")
    tab.until("document.querySelectorAll('#drafts li').length === 1")
    until_ready(tab)
    assert "foot strike" in text_of(tab, "effect")
    tab.drag("#before", (0, 0))
    until_ready(tab)
    tab.until("document.getElementById('save').disabled")
    times = events_shown(tab)
    assert len(times) == len(viewing.trial.events)
    for event in viewing.trial.events:  # as before the row
        assert any(f"at {event.time:.3f} s" in time for time in times), event


def go_to(tab: Tab, trial: ShownTrial, seconds: float) -> None:
    """Click on the graph of the forces."""
    x = 52 + (seconds - float(trial.time[0])) * px_per_s(tab, trial)
    left, top, *_ = box_of(tab, "#force")
    click(tab, left + x, top + 30)


def click(tab: Tab, x: float, y: float) -> None:
    for what in ("mousePressed", "mouseReleased"):
        tab("Input.dispatchMouseEvent", type=what, x=x, y=y, button="left", buttons=1, clickCount=1)


def test_keys_add_and_remove_events(tab: Tab, viewing: Viewing) -> None:
    say_why(tab)
    trial = viewing.trial
    first, second = [one.time for one in trial.events if one.side == "left"][1:3]
    choose(tab, "select.side", "left")
    number, strike = a_strike(trial)
    tab.drag(f"#line .event[data-index='{number}'] rect", (0, 0))  # choose it
    assert abs(seconds_shown(tab) - strike.time) < 0.01
    tab.press("x")
    removed = f"{strike.side} foot strike at {strike.time:.3f} s removed"
    tab.until(f"document.getElementById('drafts').innerText.includes('{removed}')")
    until_ready(tab)
    assert tab.evaluate("document.querySelectorAll('#line .event').length") == len(trial.events) - 1
    go_to(tab, trial, (first + second) / 2)
    tab.press("a")
    tab.until("document.getElementById('drafts').innerText.includes('left foot strike added at')")


def test_a_saved_row_is_taken_back_and_others_stay(tab: Tab, viewing: Viewing) -> None:
    strikes = [one for one in viewing.trial.events if one.name == "foot_strike"]
    rows = [
        completed(
            viewing.answers.study,
            {"session": "sub-01", "trial": TRIAL, "kind": "move_foot_strike", "side": one.side, "reason": words}
            | {"time_s": f"{one.time:.3f}", "to_s": f"{one.time + 0.02:.3f}"},
        )
        for one, words in zip(strikes[1:3], ("first", SCRIPTS[0]), strict=True)
    ]
    append_corrections(viewing.study / TABLE, rows)
    open_page(tab, viewing)
    tab.until("document.querySelectorAll('#saved li').length === 2")
    assert " ".join(SCRIPTS[0].split()) in " ".join(text_of(tab, "saved").split())  # a text, no script
    tab.drag("#saved li button", (0, 0))
    tab.until("document.querySelectorAll('#saved li').length === 1")
    until_ready(tab)
    assert read_corrections(viewing.study / TABLE) == rows[1:]
    at = events_shown(tab)
    assert any(f"{strikes[1].side} foot strike at {strikes[1].time:.3f} s" in text for text in at)  # as it was
    assert not any(f"{strikes[2].side} foot strike at {strikes[2].time:.3f} s" in text for text in at)


def test_a_marker_is_picked_in_the_scene(tab: Tab, viewing: Viewing) -> None:
    """The test projects the marker itself, from the side: x to the right, y up."""
    trial, (left, top, width, height) = viewing.trial, box_of(tab, "#scene canvas")
    frame = int(np.abs(trial.time - seconds_shown(tab)).argmin())
    centres = trial.centres[frame]
    middle = np.nanmean(centres[np.isfinite(centres).all(axis=1)], axis=0) * [1, 0, 1] + [0, 0.8, 0]
    heel = trial.repaired[frame, trial.landmark.index("RHEE")] - middle
    above = np.radians(8)
    depth = 3.4 - (heel[1] * np.sin(above) + heel[2] * np.cos(above))
    focal = 1.5 * min(height, 1.2 * width)
    up = heel[1] * np.cos(above) - heel[2] * np.sin(above)
    click(tab, left + width / 2 + focal * heel[0] / depth, top + height / 2 - focal * up / depth)
    assert tab.evaluate("document.querySelector('#picked select').value") == "RHEE"
    shown = tab.evaluate("document.getElementById('of-marker').textContent")
    for words in ("RHEE x, forward", "RHEE y, up", "RHEE z, right", "0 frames not seen"):
        assert words in shown, words
    assert tab.evaluate("document.getElementById('marker').value") == "RHEE"


def test_the_markers_of_the_trial_are_proposed(tab: Tab, viewing: Viewing) -> None:
    names = tab.evaluate("[...document.getElementById('marker').options].map(one => one.value)")
    assert names == viewing.trial.marker


def test_two_windows_never_move_each_other(
    tab: Tab, viewing: Viewing, tmp_path_factory: pytest.TempPathFactory
) -> None:
    chromium = found_chromium()
    assert chromium
    with browsing(chromium, tmp_path_factory.mktemp("profile")) as other:
        other.size(1280, 800)
        other("Page.navigate", url=viewing.server.address)
        other.until(READY)
        first = seconds_shown(tab)
        other.press("n")
        other.until("document.getElementById('trial').value === 'fast_01'")
        until_ready(other)
        other.press("ArrowRight", shift=True)
        say_why(other)
        other.press("a")
        other.until("document.querySelectorAll('#drafts button').length === 1")
        assert tab.evaluate("document.getElementById('trial').value") == TRIAL
        assert seconds_shown(tab) == first
        assert "None." in text_of(tab, "drafts")
        tab.press("ArrowRight")
        assert seconds_shown(tab) > first
        assert other.evaluate("document.getElementById('trial').value") == "fast_01"


def test_it_says_that_it_computes_and_the_newest_request_replaces_older_ones(tab: Tab, viewing: Viewing) -> None:
    """While a computation takes long, several trials are chosen: only the last is shown, and it is said meanwhile."""
    with viewing.answers.computing:
        for _ in range(4):
            tab.press("n")
        tab.until("document.getElementById('busy').textContent.startsWith('Reading')")
        assert tab.evaluate("document.getElementById('save').disabled")
    until_ready(tab)
    assert tab.evaluate("document.getElementById('busy').textContent") == ""
    assert tab.evaluate("document.getElementById('trial').value") == "fast_01"


def test_a_save_waits_for_no_computation(tab: Tab, viewing: Viewing) -> None:
    say_why(tab)
    drag_a_strike(tab, viewing.trial, 0.03)
    tab.until("document.querySelectorAll('#drafts button').length === 1")
    until_ready(tab)
    with viewing.answers.computing:
        tab.drag("#save", (0, 0))
        tab.until("document.getElementById('message').innerText.includes('1 saved in')")
        assert len(read_corrections(viewing.study / TABLE)) == 1
    until_ready(tab)
