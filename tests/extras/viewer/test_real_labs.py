"""The viewer on recordings of laboratories: it opens, plays, corrects, and its preview is what a run gives."""

from __future__ import annotations

import shutil
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

viser = pytest.importorskip("viser", reason="viser is not installed")

from pipeline.commands.init.command import initialise  # noqa: E402
from pipeline.extras.viewer.app import Viewer  # noqa: E402
from pipeline.extras.viewer.server import LocalServer  # noqa: E402
from pipeline.results import netcdf  # noqa: E402
from pipeline.workflow.open_study import open_study  # noqa: E402
from tests.extras.viewer.test_page import enter, until  # noqa: E402
from tests.support.processes.browser import Tab, browsing, found_chromium  # noqa: E402
from tests.support.studies.small_study import run_steps  # noqa: E402

LABS = {  # folder in ../shared, files to leave out
    "children": ("labs/children/HC036A", ()),
    "treadmill": ("studies/exact", ("sub-02", "*.tsv", "*.yaml", "walk_03*")),
    "opencap_trc": ("labs/opencap_trc", ()),
}


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    chromium = found_chromium()
    if not chromium:
        pytest.skip("no chromium is installed")
    with browsing(chromium, tmp_path_factory.mktemp("profile"), webgl=True) as tab:
        tab.size(1400, 900)
        yield tab


@pytest.mark.parametrize("lab", LABS)
def test_a_laboratory(lab: str, shared: Path, tmp_path: Path, tab: Tab) -> None:
    source, left_out = LABS[lab]
    study = Path(shutil.copytree(shared / source, tmp_path / lab, ignore=shutil.ignore_patterns(*left_out)))
    for path in study.rglob("*"):
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
    initialise(study)
    run_steps(study)
    server = LocalServer(8790)
    try:
        viewer = Viewer(open_study(study), server)
        threading.Thread(target=viewer.run, daemon=True).start()
        enter(tab, server)
        tab.until("document.querySelectorAll('.uplot').length > 0")
        session = _session_with_a_used_stance(viewer)
        frame = viewer.scene.frame
        tab.press(" ")
        until(lambda: viewer.scene.frame != frame)
        tab.press(" ")
        until(lambda: not viewer.playing.is_set())
        assert viewer.trial is not None
        stance = next(one for one in viewer.trial.contacts if one.verdict == "used")
        viewer.of_side.value = stance.side  # type: ignore[misc]
        viewer._go_to((stance.start + stance.end) / 2)
        viewer.form.reason.value = "seen in the video"  # type: ignore[misc]
        tab.press("r")
        tab.until("document.body.innerText.includes('refused by hand: seen in the video')")
        viewer.form.save()
        shown = viewer.preview[session]
    finally:
        server.stop()
    run_steps(study)
    for step, data in shown.items():
        assert netcdf.load(study / "derived" / session / f"{step}.nc").identical(data), step


def _session_with_a_used_stance(viewer: Viewer) -> str:
    """Show the first trial with a used stance, and return its session."""
    for session in viewer.study.sessions:
        viewer.session.value = session  # type: ignore[misc]
        for trial in viewer.trials.options:
            viewer.trials.value = trial  # type: ignore[misc]
            if viewer.trial and any(one.verdict == "used" for one in viewer.trial.contacts):
                return session
    raise AssertionError("no stance is used")
