"""The report: its numbers against closed forms, its text against hostile names, its page in a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import xarray as xr

from pipeline import netcdf
from pipeline.report import report
from pipeline.study import study
from pipeline.vocabulary import METRICS, VARIABLES, described

PHASE = np.arange(101.0)
CURVES = {name: variable.dims[1:-1] for name, variable in VARIABLES["study"].items() if name not in METRICS}
JOINTS, ANGLES, AXES = ["ankle", "knee", "hip"], ["flexion", "adduction", "rotation"], ["x", "y", "z"]
SHIFT = {"sub-01": -2.0, "sub-02": 0.0, "sub-03": 2.0}  # of a participant's curves; their SD is 2
REPEATS = {"sub-01": 2, "sub-02": 4, "sub-03": 6}  # cycles per side and trial, in pairs that differ by +-WOBBLE
WOBBLE = 0.5
SIDE_GAIN = {"left": 1.0, "right": 0.8}
CONDITION_GAIN = {"slow": 1.0, "fast": 1.5}
HOSTILE = "\"><x-evil onload='alert(1)'><script>alert(1)</script>%{y}{{ 7 * 7 }}</script><!--<script>"
# what one figure's four-digit rounding may cost: half a unit of the fourth digit
ROUNDING = 5.1e-4


def amplitude(joint: str, angle: str) -> float:
    """Return a different amplitude for each joint and angle."""
    return 10.0 * (1 + JOINTS.index(joint)) + ANGLES.index(angle)


def mean_flexion(joint: str, side: str, condition: str) -> Any:
    """Return the closed form of the study's mean: the shifts of the participants sum to zero."""
    return amplitude(joint, "flexion") * SIDE_GAIN[side] * CONDITION_GAIN[condition] * np.sin(2 * np.pi * PHASE / 100)


class Made(NamedTuple):
    """The arguments of the report."""

    study: xr.Dataset
    metrics: str
    quality: str

    def page(self, title: str = "A study") -> str:
        return report(self.study, metrics=self.metrics, quality=self.quality, title=title)


def trial_cycles(person: str, condition: str, sides: list[str], *, valid: bool = True, reason: str = "") -> xr.Dataset:
    """Return a trial's cycles.nc: sines whose amplitude tells joint, angle, side and condition apart."""
    side = np.array([name for name in sides for _ in range(REPEATS[person])])
    count = len(side)
    gain = np.array([SIDE_GAIN[name] for name in side]) * CONDITION_GAIN.get(condition, 1.0)
    offset = SHIFT[person] + WOBBLE * (-1.0) ** np.arange(count)
    sizes = np.array([[amplitude(joint, angle) for angle in ANGLES] for joint in JOINTS])
    curves = {}
    for name, dims in CURVES.items():
        size = sizes if len(dims) == 2 else sizes[:, 0]
        wave = np.multiply.outer(np.multiply.outer(gain, size), np.sin(2 * np.pi * PHASE / 100))
        known = 1.0 if valid or name == "joint_angle" else np.nan
        curves[name] = (
            ("cycle", *dims, "phase"),
            known * (wave + offset.reshape(-1, *[1] * (wave.ndim - 1))),
        )
    metrics = {name: ("cycle", np.array(1.0 + offset)) for name in METRICS} | {"stance_share": ("cycle", 60 + offset)}
    start = np.arange(count, dtype=float)
    group = xr.Dataset(
        curves | metrics | {"stance_start": ("stance", start), "stance_end": ("stance", start + 0.6)},
        {"phase": PHASE, "joint": JOINTS, "angle": ANGLES, "axis": AXES},
    ).assign_coords(
        side=("cycle", side),
        start_time=("cycle", start),
        end_time=("cycle", start + 1),
        kinetics_valid=("cycle", np.full(count, valid)),
        reason=("cycle", np.full(count, reason)),
        stance_side=("stance", side),
        stance_plates=("stance", np.full(count, "1+2")),
        stance_reason=("stance", np.full(count, reason)),
    )
    return described("cycles", group)


def made(trials: dict[str, dict[str, xr.Dataset]], conditions: dict[str, str], **column: str) -> Made:
    """Return the study of sessions of the same names as their participants."""
    sessions = {
        person: {
            "participant": {"participant_id": person, "mass_kg": "70", **column},
            "trials": {trial: {"condition": conditions[trial], "role": "gait"} for trial in groups},
        }
        for person, groups in trials.items()
    }
    dataset, metrics, quality = study(trials, sessions=sessions)
    dataset = described("study", dataset)
    dataset.attrs = {
        "title": "Gait cycles of a study",
        "history": "read: pipeline 0.1.0\nstudy: pipeline 0.1.0",
        "pipeline_version": "0.1.0",
        "settings": json.dumps({"clean": {"marker_cutoff_hz": 10}}),
        "source_sha256": json.dumps({"sub-01/walk.c3d": "ab" * 32}),
    }
    return Made(dataset, metrics.to_csv(index=False), quality.to_csv(index=False))


@pytest.fixture(scope="module")
def three_people() -> Made:
    conditions = {"walk_1": "slow", "walk_2": "fast", "walk_3": "fast"}
    both = ["left", "right"]
    trials = {
        person: {"walk_1": trial_cycles(person, "slow", both), "walk_2": trial_cycles(person, "fast", both)}
        for person in SHIFT
    }
    trials["sub-01"]["walk_3"] = xr.Dataset(attrs={"rejected": "walk_3.c3d: the file ends early"})
    trials["sub-03"]["walk_3"] = trial_cycles("sub-03", "fast", ["left"], valid=False, reason="two feet on plate 1")
    return made(trials, conditions, group="control")


class Page(HTMLParser):
    """The elements of a page: tags with attributes, and the text of scripts, styles and everything else."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": []}
        self.words = self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside in self.texts:
            self.texts[self.inside][-1] += data
        else:
            self.words += f" {' '.join(data.split())}"

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def figures(self) -> list[list[dict[str, Any]]]:
        """Return the figures of the study, then of each participant."""
        return [json.loads(text) for kind, text in self._scripts() if kind == "application/json"]

    def programs(self) -> list[str]:
        return [text for kind, text in self._scripts() if kind != "application/json"]

    def _scripts(self) -> list[tuple[str | None, str]]:
        return [(a.get("type"), text) for a, text in zip(self.all("script"), self.texts["script"], strict=True)]


def curve_of(figures: list[dict[str, Any]], title: str, side: str, condition: str) -> dict[str, Any]:
    (figure,) = [figure for figure in figures if figure["title"] == title]
    (curve,) = [curve for curve in figure["curves"] if (curve["side"], curve["condition"]) == (side, condition)]
    return dict(curve)


def test_study_curves_are_the_mean_and_spread_of_participants(three_people: Made) -> None:
    figures = Page(three_people.page()).figures()[0]
    for joint in JOINTS:
        for side in SIDE_GAIN:
            for condition in CONDITION_GAIN:
                for kind in ("flexion angle", "flexion moment", "power"):
                    curve = curve_of(figures, f"{joint.capitalize()} {kind}", side, condition)
                    # the cycles pooled would not do: sub-03 walked more than sub-01; 1e-12 for zero itself
                    expected = mean_flexion(joint, side, condition)
                    np.testing.assert_allclose(curve["mean"], expected, rtol=ROUNDING, atol=1e-12)
                    np.testing.assert_allclose(curve["sd"], 2.0, rtol=ROUNDING)
                    assert curve["n"] == 3


def test_each_panel_shows_its_own_component(three_people: Made) -> None:
    figures = Page(three_people.page()).figures()[0]
    expected = {
        "Knee adduction moment": amplitude("knee", "adduction"),
        "Hip adduction moment": amplitude("hip", "adduction"),
        # the made force has the amplitudes of ankle, knee, hip along x, y, z
        "Fore-aft force": amplitude("ankle", "flexion"),
        "Vertical force": amplitude("knee", "flexion"),
    }
    for title, size in expected.items():
        assert curve_of(figures, title, "left", "slow")["mean"][25] == pytest.approx(size, rel=ROUNDING)
    assert len(figures) == 13


def test_a_participants_curves_are_the_mean_and_spread_of_cycles(three_people: Made) -> None:
    _, *people = Page(three_people.page()).figures()
    assert len(people) == 3
    for person, figures in zip(SHIFT, people, strict=True):
        curve = curve_of(figures, "Knee flexion angle", "right", "slow")
        n = REPEATS[person]
        expected = mean_flexion("knee", "right", "slow") + SHIFT[person]
        np.testing.assert_allclose(curve["mean"], expected, rtol=ROUNDING, atol=1e-12)
        np.testing.assert_allclose(curve["sd"], WOBBLE * np.sqrt(n / (n - 1)), rtol=ROUNDING)
        assert curve["n"] == n


def test_cycles_without_kinetics_count_for_angles_only(three_people: Made) -> None:
    *_, figures = Page(three_people.page()).figures()
    assert curve_of(figures, "Ankle flexion angle", "left", "fast")["n"] == 12
    assert curve_of(figures, "Ankle flexion moment", "left", "fast")["n"] == 6


def test_one_participant_is_spread_over_cycles() -> None:
    html = made({"sub-02": {"walk": trial_cycles("sub-02", "slow", ["left"])}}, {"walk": "slow"}).page()
    (figures,) = Page(html).figures()
    curve = curve_of(figures, "Ankle flexion angle", "left", "slow")
    np.testing.assert_allclose(curve["sd"], WOBBLE * np.sqrt(4 / 3), rtol=ROUNDING)
    assert {curve["side"] for figure in figures for curve in figure["curves"]} == {"left"}
    assert "one standard deviation over cycles" in html
    assert "participant means" not in html


def test_metric_table_gives_mean_and_sd_over_participants(three_people: Made) -> None:
    words = Page(three_people.page()).words
    # metrics are 1 + shift: mean 1, SD 2; stance share 60 + shift
    assert re.search(r"Stride time\W+s\s+1\.00 \(2\.00\)", words)
    assert re.search(r"Stance share\W+60\.0 \(2\.0\)", words)
    for name in METRICS:
        assert name.replace("_", " ").capitalize() in words


def test_everything_rejected_is_named_and_counted(three_people: Made) -> None:
    words = Page(three_people.page()).words
    summary = "3 participants, 3 sessions; 7 trials used, 1 rejected; 54 gait cycles;"
    assert f"{summary} 48 of 54 stances with kinetics." in words
    assert "whole trial" in words
    assert "walk_3.c3d: the file ends early" in words
    assert words.count("two feet on plate 1") == 6
    # reasons that differ in their numbers are counted as one: no trial, six stances, six cycles
    assert re.search(r"two feet on plate …\s+0\s+6\s+6 ", words)


def test_provenance_stands_on_the_page(three_people: Made) -> None:
    words = Page(three_people.page()).words
    assert '"marker_cutoff_hz": 10' in words
    for text in ("version 0.1.0", "study: pipeline 0.1.0", "sub-01/walk.c3d", "ab" * 32, "control"):
        assert text in words


def test_missing_samples_are_left_out_not_zero() -> None:
    trial = trial_cycles("sub-01", "slow", ["left"])
    trial["joint_angle"][0, :, :, :20] = np.nan
    trial["joint_angle"][:, :, :, 50] = np.nan
    trial["joint_force"][:] = np.nan
    trial["joint_power"][:] = np.inf
    trial["step_width"][0] = np.nan
    trial["step_length"][:] = np.nan
    html = made({"sub-01": {"walk": trial}}, {"walk": "slow"}).page()
    (figures,) = Page(html).figures()
    curve = curve_of(figures, "Hip flexion angle", "left", "slow")
    assert curve["mean"][50] is None
    assert set(curve["sd"][:20]) == {None}  # one cycle is left there
    assert curve["mean"][10] == pytest.approx(mean_flexion("hip", "left", "slow")[10] - 2.0 - WOBBLE, rel=ROUNDING)
    assert not next(figure for figure in figures if figure["title"] == "Hip power")["curves"]
    assert html.count("Not known in any cycle.") == 3
    words = Page(html).words
    assert "slow, left (n 2)" in words
    # the other cycle's: 1 + shift - wobble
    assert re.search(r"Step width\W+m\s+-1\.500, n 1 ", words)
    assert re.search(r"Step length\W+m\s+n/a ", words)


def test_a_study_without_cycles_says_why() -> None:
    trials = {"sub-01": {"walk": xr.Dataset(attrs={"rejected": "no marker 'LKNE'"})}}
    page = Page(made(trials, {"walk": "slow"}).page())
    assert "no marker 'LKNE'" in page.words
    assert "1 participant, 1 session; 0 trials used, 1 rejected; 0 gait cycles" in page.words
    assert not page.figures()


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
    html = hostile.page(title=HOSTILE)
    page = Page(html)
    assert not page.all("x-evil")
    assert "<script>alert" not in html
    assert "{{ 7 * 7 }}" in page.words
    assert len(page.programs()) == 2
    assert page.figures()[0][0]["curves"][0]["condition"] == HOSTILE


def test_the_policy_allows_the_pages_own_scripts_and_nothing_else(three_people: Made) -> None:
    page = Page(three_people.page())
    (policy,) = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in (policy or "").split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in (policy or "")
    for directive, texts in (("script-src", page.programs()), ("style-src", page.texts["style"])):
        digests = {f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts}
        assert set(rules[directive].split()) == digests


def test_the_page_is_complete_in_itself(three_people: Made) -> None:
    html = three_people.page()
    page = Page(html)
    assert sum("plotly.js v" in text for text in page.programs()) == 1
    assert not [a for tag, a in page.tags if tag in ("link", "img", "iframe") or "src" in a or "style" in a]
    assert {(a["href"] or "")[0] for a in page.all("a")} == {"#"}
    assert "\r" not in html  # a browser would turn it into a line feed and the hashes would not hold


def test_the_page_reads_without_seeing_it(three_people: Made) -> None:
    page = Page(three_people.page())
    assert len(page.all("main")) == len(page.all("h1")) == 1
    assert len(page.all("caption")) == len(page.all("table"))
    assert all(cell.get("scope") in ("col", "row") for cell in page.all("th"))
    plots = [a for a in page.all("div") if a.get("class") == "plot"]
    assert len(plots) == 4 * 13
    assert all(a["role"] == "img" for a in plots)
    assert "left, slow: from -10 at 75 % to 10 at 25 %" in (plots[0]["aria-label"] or "")
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))


def test_equal_studies_give_equal_pages_also_after_a_file(three_people: Made, tmp_path: Path) -> None:
    netcdf.save(tmp_path / "study.nc", three_people.study)
    loaded = three_people._replace(study=netcdf.load(tmp_path / "study.nc"))
    assert three_people.page() == three_people.page() == loaded.page()


def test_two_hundred_cycles_take_less_than_a_second(three_people: Made) -> None:
    many = {f"walk_{i}": trial_cycles("sub-02", "slow", ["left", "right"]) for i in range(25)}
    large = made({"sub-02": many}, dict.fromkeys(many, "slow"))
    assert large.study.sizes["cycle"] == 200
    start = time.process_time()
    large.page()
    assert time.process_time() - start < 1.0


@pytest.fixture
def chromium() -> str:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not found:
        pytest.skip("no chromium is installed")
    return found


def browse(chromium: str, html: str, folder: Path) -> tuple[Page, list[str]]:
    """Return the page after its scripts have run, and what they said on the console."""
    (folder / "report.html").write_text(html, encoding="utf-8")
    options = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-sync",
    )
    quiet = (
        "--disable-background-networking",
        "--disable-component-update",
        f"--user-data-dir={folder / 'profile'}",
    )
    task = ("--enable-logging=stderr", "--v=0", "--virtual-time-budget=10000", "--dump-dom")
    command = [chromium, *options, *quiet, *task, (folder / "report.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return Page(done.stdout), [line for line in done.stderr.splitlines() if ":CONSOLE" in line]


def test_a_browser_draws_every_figure_and_obeys_no_hostile_text(chromium: str, tmp_path: Path) -> None:
    trials = {person: {HOSTILE: trial_cycles(person, HOSTILE, ["left", "right"])} for person in ("sub-01", "sub-02")}
    html = made(trials, {HOSTILE: HOSTILE}).page(HOSTILE)
    unfolded = html.replace('<details class="participant">', '<details class="participant" open>', 1)
    page, console = browse(chromium, unfolded, tmp_path)
    assert console == []
    drawn = [a for a in page.all("div") if "js-plotly-plot" in (a.get("class") or "")]
    assert len(drawn) == 2 * 13  # of the study and of the participant that is unfolded
    assert sum("main-svg" in (a.get("class") or "") for a in page.all("svg")) >= len(drawn)
    lines = [a for a in page.all("path") if a.get("class") == "js-line"]
    assert len(lines) == 2 * 13 * 2 * 2  # a line and the edge of its band per side
    assert not page.all("x-evil")
