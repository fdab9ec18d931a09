"""The viewer's page in a browser: it draws, plays and obeys the keyboard."""

from __future__ import annotations

import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

viser = pytest.importorskip("viser", reason="viser is not installed")

from pipeline.extras.viewer.app import Viewer  # noqa: E402
from pipeline.extras.viewer.command import open_browser  # noqa: E402
from pipeline.extras.viewer.corrections_form import in_html  # noqa: E402
from pipeline.extras.viewer.scene import LAYERS  # noqa: E402
from pipeline.extras.viewer.server import LocalServer  # noqa: E402
from pipeline.workflow.open_study import open_study  # noqa: E402
from tests.support.processes.browser import Tab, browsing, found_chromium  # noqa: E402


@pytest.fixture(scope="module")
def viewer(small_study: Path) -> Iterator[Viewer]:
    server = LocalServer(8690)
    viewer = Viewer(open_study(small_study / "data" / "demo"), server)
    threading.Thread(target=viewer.run, daemon=True).start()
    yield viewer
    server.stop()


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory, viewer: Viewer) -> Iterator[Tab]:
    chromium = found_chromium()
    if not chromium:
        pytest.skip("no chromium is installed")
    with browsing(chromium, tmp_path_factory.mktemp("profile"), webgl=True) as tab:
        tab.size(1400, 900)
        enter(tab, viewer.server)
        tab.until("document.querySelectorAll('.uplot').length > 5")
        yield tab


def enter(tab: Tab, server: LocalServer) -> None:
    """Let a tab open the viewer as the browser of a user does."""
    tab("Page.navigate", url="about:blank")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(webbrowser, "open", lambda address: bool(tab("Page.navigate", url=address)))
        open_browser(server)
    tab.until(lambda: tab.address == f"http://127.0.0.1:{server.get_port()}/")


def until(condition: Callable[[], bool], *, seconds: float = 60) -> None:
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.05)


def seconds_shown(tab: Tab) -> float:
    """Return the time in the field of the slider."""
    numbers = "[...document.querySelectorAll('input')].map(one => one.value).filter(x => /^[0-9]+[.][0-9]+$/.test(x))"
    return float(tab.evaluate(numbers)[0])


def test_the_token_stays_in_no_window(tab: Tab, viewer: Viewer) -> None:
    """By the file, the address with the token and the cookie, the browser has come to the address without it."""
    assert viewer.server.token not in tab.evaluate("location.href + document.referrer + document.cookie")
    history = [entry["url"] for entry in tab("Page.getNavigationHistory")["entries"]]
    assert history[-1] == tab.address
    assert not [address for address in history if viewer.server.token in address]
    tab("Page.reload")
    tab.until("document.querySelectorAll('.uplot').length > 5")


def test_the_first_walk_is_drawn(tab: Tab, viewer: Viewer) -> None:
    assert viewer.name == "comfortable_01"
    assert viewer.trial is not None
    text = tab.evaluate("document.body.innerText")
    for word in ("Pelvic tilt", "not on a plate", "used", "Speed"):
        assert word in text, word
    assert not [line for line in tab.console if line.startswith("exception")]
    assert abs(seconds_shown(tab) - viewer.trial.time[viewer.scene.frame]) < 0.001


def test_layers_can_be_hidden_and_shown(tab: Tab, viewer: Viewer) -> None:
    for layer in LAYERS:
        before = layer not in viewer.scene.hidden
        for on in (not before, before):
            viewer.scene.switch(layer, on=on)
            assert (layer in viewer.scene.hidden) == (not on)
    assert not [line for line in tab.console if line.startswith("exception")]


def test_keys_step_and_go_to_events(tab: Tab, viewer: Viewer) -> None:
    frame = viewer.scene.frame
    tab.press("ArrowRight")
    until(lambda: viewer.scene.frame == frame + 1)
    tab.press("ArrowRight", shift=True)
    until(lambda: viewer.scene.frame == frame + 11)
    tab.press("ArrowLeft")
    until(lambda: viewer.scene.frame == frame + 10)
    assert viewer.trial is not None
    now = viewer.trial.time[viewer.scene.frame]
    later = min(event.time for event in viewer.trial.events if event.time > now + 0.02)
    tab.press("PageDown")
    until(lambda: abs(viewer.trial.time[viewer.scene.frame] - later) < 0.01)  # type: ignore[union-attr]
    shown = viewer.trial.time[viewer.scene.frame]
    tab.until(lambda: abs(seconds_shown(tab) - shown) < 0.001)


def test_it_plays_and_pauses(tab: Tab, viewer: Viewer) -> None:
    first = viewer.scene.frame
    tab.press(" ")
    until(lambda: viewer.scene.frame > first + 20)
    tab.press(" ")
    until(lambda: not viewer.playing.is_set())
    time.sleep(0.2)
    still = viewer.scene.frame
    time.sleep(0.3)
    assert viewer.scene.frame == still


def test_play_goes_on_from_the_frame_that_a_person_chooses(viewer: Viewer) -> None:
    assert viewer.trial is not None
    time_s = viewer.trial.time
    now = viewer._play_on(float(time_s[10]), 0.004, curves=False)
    viewer._go_to(float(time_s[40]))
    now = viewer._play_on(now, 0.0, curves=False)
    assert now == time_s[40]
    for _ in range(5):  # slower than the frames, yet it goes on
        now = viewer._play_on(now, 0.2 * (time_s[1] - time_s[0]), curves=False)
    assert viewer.scene.frame == 41
    viewer._go_to(float(time_s[-1]))
    assert viewer._play_on(float(time_s[-1]), 0.1, curves=False) == time_s[0]
    trial, viewer.trial = viewer.trial, None
    assert viewer._play_on(1.0, 0.1, curves=False) == 1.0
    viewer.trial = trial


def test_a_session_without_results_is_not_chosen(viewer: Viewer) -> None:
    """Else a correction would be of a session that nobody sees."""
    shown = viewer.session.value
    viewer.session.options = (*viewer.session.options, "another")
    viewer.session.value = "another"  # type: ignore[misc]
    assert viewer.session.value == shown
    assert viewer.trial is not None
    viewer.session.options = tuple(viewer.study.sessions)


def test_texts_of_corrections_are_text() -> None:
    html = in_html(["<img src=x>", "a | b"], ["left *out*: <script>"], [("m<", "left", "1", "2")])
    assert "<img" not in html
    assert "<script" not in html
    assert "&lt;img src=x&gt;" in html
    assert "<td>m&lt;</td>" in html


def test_the_next_trial_and_the_static_one(tab: Tab, viewer: Viewer) -> None:
    tab.press("n")
    until(lambda: viewer.name == "fast_01")
    tab.press("n")
    until(lambda: viewer.name == "static")
    assert viewer.trial is not None
    assert np.isfinite(viewer.trial.recorded[viewer.scene.frame]).any()
    tab.press("n")
    until(lambda: viewer.name == "comfortable_01")


def test_moments_have_the_cursor_on_the_curve(tab: Tab, viewer: Viewer) -> None:
    viewer.of_group.value = "Internal moments"  # type: ignore[misc]
    tab.until("document.body.innerText.includes('Knee extensor moment')")
    assert viewer.cycle_charts is not None
    assert viewer.cycle_charts.shown is not None
    cycle, _ = viewer.cycle_charts.shown
    viewer._go_to(cycle.start + 0.25 * (cycle.end - cycle.start))
    for chart, _, curve in viewer.cycle_charts.charts:
        now = np.flatnonzero(np.isfinite(chart.data[-1]))
        assert np.abs(now - 25).max() <= 2
        np.testing.assert_array_equal(chart.data[-1][now], curve[now])


def test_a_stance_is_refused_by_a_key_shown_and_taken_back(tab: Tab, viewer: Viewer) -> None:
    assert viewer.trial is not None
    used = next(one for one in viewer.trial.contacts if one.verdict == "used")
    viewer._go_to((used.start + used.end) / 2)
    viewer.of_side.value = used.side  # type: ignore[misc]
    tab.press("r")
    tab.until("document.body.innerText.includes('reason is missing')")
    viewer.form.reason.value = "seen in the video"  # type: ignore[misc]
    tab.press("r")
    tab.until("document.body.innerText.includes('refused by hand: seen in the video')")

    def verdict() -> list[str]:
        return [one.verdict for one in viewer.trial.contacts if one.start == used.start] if viewer.trial else []

    assert verdict() == ["refused"]
    viewer.form.corrected.value = False  # type: ignore[misc]
    assert verdict() == ["used"]
    viewer.form.corrected.value = True  # type: ignore[misc]
    tab.press("u")
    until(lambda: verdict() == ["used"])
    assert viewer.form.drafts.rows == []


def test_another_page_cannot_connect(tab: Tab, viewer: Viewer, tmp_path: Path) -> None:
    """The same browser has the cookie; a page of another origin is refused all the same."""
    (tmp_path / "page.html").write_text("<p>another page</p>")
    tab.open(tmp_path / "page.html")
    port = viewer.server.get_port()
    script = f"new Promise(done => {{ const s = new WebSocket('ws://127.0.0.1:{port}', ['viser-v{viser.__version__}']);"
    script += " s.onopen = () => done('open'); s.onerror = () => done('refused') })"
    assert tab.evaluate(script) == "refused"
