"""The summary of a run: its last lines, run.json and the exit code."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import pytest

from pipeline import __version__
from pipeline.errors import UserError
from pipeline.workflow.run_snakemake import run
from pipeline.workflow.run_summary import summarise

QUALITY = """session,trial,side,verdict,code,reason,doubt,doubt_code
s1,walk,left,used,,,,
s1,walk,right,not on a plate,no_plate,no plate,,
s1,walk,right,refused,two_feet,two feet on the plate,,
s1,fast,,refused,no_static,no static trial,,
"""
DOUBTED = """s1,walk,left,doubted,,,hot; wet,h w
s1,walk,right,doubted,,,hot,h
s2,walk,left,doubted,,,hot,h
"""


def run_json(study: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((study / "derived/run.json").read_text())
    return content


@pytest.mark.parametrize("fail", [True, False])
def test_the_last_lines_say_what_was_used_and_what_was_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fail: bool
) -> None:
    derived = tmp_path / "derived"
    derived.mkdir()
    assert summarise(tmp_path, [], 0, whole=False, fail=fail) == 0
    assert capsys.readouterr().out == "Done; the report was not requested.\n"
    (derived / "quality.csv").write_text(QUALITY)
    (derived / "report.html").touch()
    code = summarise(tmp_path, [], 0, whole=True, fail=fail)
    text = capsys.readouterr().out
    assert text.splitlines()[:4] == [
        "1 of 2 trials used, 1 of 2 plate contacts used; 1 stance not on a plate.",
        "  rejected: s1 fast: no static trial",
        "  refused: s1 walk, 1 plate contact: two feet on the plate",
        f"Report: {derived}/report.html",
    ]
    assert bool(code) == fail == ("run.fail_on_rejection" in text)
    assert run_json(tmp_path) == {
        "pipeline": __version__,
        "exit_code": code,
        "trials": {"used": 1, "rejected": 1},
        "contacts": {"used": 1, "doubted": 0, "refused": 1},
        "stances_not_on_a_plate": 1,
        "rejected_trials": [{"session": "s1", "trial": "fast", "code": "no_static", "reason": "no static trial"}],
        "refused_contacts": [
            {"session": "s1", "trial": "walk", "side": "right", "code": "two_feet", "reason": "two feet on the plate"}
        ],
        "doubted_contacts": [],
        "corrections": {"applied": [], "not_applied": []},
        "failures": [],
    }


def test_a_doubt_is_named_once_with_its_trials_and_contacts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "derived").mkdir()
    (tmp_path / "derived/quality.csv").write_text(QUALITY + DOUBTED)
    assert summarise(tmp_path, [], 0, whole=True, fail=False) == 0
    first, _, _, *doubts, _ = capsys.readouterr().out.splitlines()
    assert first == "2 of 3 trials used, 1 of 5 plate contacts used, 3 doubted; 1 stance not on a plate."
    assert doubts == [
        "  doubted: 2 trials (s1 walk and 1 more), 3 plate contacts: hot",
        "  doubted: s1 walk, 1 plate contact: wet",
    ]
    assert summarise(tmp_path, [], 0, whole=True, fail=False, doubts_used=True) == 0
    assert "1 of 5 plate contacts used, 3 doubted, taken in by cycles.doubted_stances; 1" in capsys.readouterr().out
    content = run_json(tmp_path)
    assert content["contacts"] == {"used": 1, "doubted": 3, "refused": 1}
    first_doubted = {"session": "s1", "trial": "walk", "side": "left", "doubt_code": "h w", "doubt": "hot; wet"}
    assert content["doubted_contacts"][0] == first_doubted


def test_after_a_failure_the_summary_has_the_failure_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables may be those of an earlier run."""
    failure = {"session": "s1", "step": "clean", "reason": "the disk is full"}
    quality_of(tmp_path, {}, used=1)
    assert summarise(tmp_path, [failure], 1, whole=True, fail=False) == 1
    assert capsys.readouterr().out == ""
    content = run_json(tmp_path)
    assert content["failures"] == [failure]
    assert content["trials"] is content["refused_contacts"] is None


def quality_of(study: Path, reasons: dict[str, str], *, used: int = 0) -> None:
    """Write a quality.csv with rejected trials, and others of which a stance is used."""
    derived = study / "derived"
    derived.mkdir(parents=True, exist_ok=True)
    rows = [f'{name.replace(" ", ",")},,refused,"{reason}"' for name, reason in reasons.items()]
    rows += [f"s9,walk_{i},left,used," for i in range(used)]
    (derived / "quality.csv").write_text("\n".join(["session,trial,side,verdict,reason", *rows]) + "\n")
    (derived / "report.html").touch()


def test_a_run_without_any_used_trial_fails_and_names_the_next_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For every setting: its results are empty, so that nobody should take it for done."""
    study = tmp_path / "my study"
    lost = {f"{session} w{i}": f"{session}/static.c3d: no markers for heel left" for session in "ab" for i in range(6)}
    quality_of(study, lost)
    assert summarise(study, [], 0, whole=True, fail=False) == 1
    first, rejected, _, last = capsys.readouterr().out.splitlines()
    assert first.startswith("0 of 12 trials used")
    assert rejected == "  rejected: 12 trials (a w0 and 11 more): a/static.c3d: no markers for heel left"
    assert last == f"Exit code 1, because no trial could be used. What to correct: gaitlab check '{study}'"
    quality_of(study, lost, used=1)
    assert summarise(study, [], 0, whole=True, fail=False) == 0
    assert "Exit code" not in capsys.readouterr().out


def test_rejections_of_one_reason_are_one_line_and_long_ones_are_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reasons = {"a w1": "x.c3d: no plate", "a w2": "y.c3d: no plate", "a w3": "no markers " * 100}
    quality_of(tmp_path, reasons, used=1)
    assert summarise(tmp_path, [], 0, whole=True, fail=False) == 0
    same, long = capsys.readouterr().out.splitlines()[1:3]
    assert same == "  rejected: 2 trials (a w1 and 1 more): x.c3d: no plate"
    assert long.startswith("  rejected: a w3: no markers")
    assert long.endswith("... (quality.csv)")
    assert len(long) < 500


def test_a_run_that_cannot_begin_removes_the_summary_of_the_run_before(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gc, "set_threshold", lambda _: None)
    earlier = demo / "derived/run.json"
    earlier.parent.mkdir()
    earlier.write_text('{"exit_code": 0}')
    (demo / "study.yaml").write_text("clean: {filter_order: wrong}\n")
    for options, stays in ((["--dry-run"], True), (["--summary"], True), ([], False)):
        with pytest.raises(UserError, match="filter_order"):
            run(demo, options)
        assert earlier.exists() == stays
