"""The summary of a run: its last lines, run.json and the exit code."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipeline import __version__
from pipeline.errors import UserError
from pipeline.variables.stance_verdicts import Verdict, doubt_columns, reason_columns
from pipeline.workflow.run_snakemake import run
from pipeline.workflow.run_summary import summarise

PLACE = ("session", "trial", "side", "verdict")
Line = tuple[str, str, str, str, Verdict | None, list[Verdict]]


def line(place: str, verdict: str, reason: Verdict | None = None, *doubts: Verdict) -> Line:
    """Return a stance or trial: session, trial and side in words, its verdict, the reason, the doubts."""
    session, trial, side = f"{place} ".split(" ")[:3]
    return session, trial, side, verdict, reason, [*doubts]


def lost(where: str, what: str) -> Verdict:
    """Return the verdict on a rejected trial."""
    return Verdict("own", {"where": where, "what": what, "remedy": ""})


def write_quality(study: Path, lines: list[Line]) -> None:
    """Write a quality.csv as the step study does."""
    (study / "derived").mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame([one[:4] for one in lines], columns=PLACE)
    table = table.assign(**reason_columns(one[4] for one in lines), **doubt_columns(one[5] for one in lines))
    table.rename(columns={"reason_code": "code"}).to_csv(study / "derived" / "quality.csv", index=False)
    (study / "derived" / "report.html").touch()


STATIC = lost("a/static.c3d", "no static trial")
QUALITY = [
    line("s1 walk left", "used"),
    line("s1 walk right", "not on a plate", Verdict.of("no_plate")),
    line("s1 walk right", "refused", Verdict.of("two_feet_on_plate")),
    line("s1 fast", "refused", STATIC),
]


def run_json(study: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((study / "derived/run.json").read_text())
    return content


@pytest.mark.parametrize("fail", [True, False])
def test_the_last_lines_say_what_was_used_and_what_was_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fail: bool
) -> None:
    (tmp_path / "derived").mkdir()
    assert summarise(tmp_path, [], 0, whole=False, fail=fail) == 0
    assert capsys.readouterr().out == "Done; the report was not requested.\n"
    write_quality(tmp_path, QUALITY)
    code = summarise(tmp_path, [], 0, whole=True, fail=fail)
    text = capsys.readouterr().out
    assert text.splitlines()[:4] == [
        "1 of 2 trials used, 1 of 2 plate contacts used; 1 stance not on a plate.",
        "  rejected: s1 fast: a/static.c3d: no static trial",
        "  refused: s1 walk, 1 plate contact: two feet on the plate",
        f"Report: {tmp_path}/derived/report.html",
    ]
    assert bool(code) == fail == ("run.fail_on_rejection" in text)
    assert run_json(tmp_path) == {
        "pipeline": __version__,
        "exit_code": code,
        "trials": {"used": 1, "rejected": 1},
        "contacts": {"used": 1, "doubted": 0, "refused": 1},
        "stances_not_on_a_plate": 1,
        "rejected_trials": [
            {
                "session": "s1", "trial": "fast", "code": "own", "reason": "a/static.c3d: no static trial",
                "reason_values": [{"code": "own", "values": STATIC.values}],
            }
        ],
        "refused_contacts": [
            {
                "session": "s1", "trial": "walk", "side": "right", "code": "two_feet_on_plate",
                "reason": "two feet on the plate", "reason_values": [{"code": "two_feet_on_plate", "values": {}}],
            }
        ],
        "doubted_contacts": [],
        "corrections": {"applied": [], "not_applied": []},
        "failures": [],
    }  # fmt: skip


def test_a_doubt_is_named_once_with_its_trials_and_contacts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frozen = [Verdict.of("markers_frozen", first=first, last=9.0) for first in (1.0, 2.0, 3.0)]
    noisy = Verdict.of("markers_noisy", mm=1.0, error=0.1)
    doubted = [
        line("s1 walk left", "doubted", None, frozen[0], noisy),
        line("s1 walk right", "doubted", None, frozen[1]),
        line("s2 walk left", "doubted", None, frozen[2]),
    ]
    write_quality(tmp_path, QUALITY + doubted)
    assert summarise(tmp_path, [], 0, whole=True, fail=False) == 0
    first, _, _, *doubts, _ = capsys.readouterr().out.splitlines()
    assert first == "2 of 3 trials used, 1 of 5 plate contacts used, 3 doubted; 1 stance not on a plate."
    still = "all markers stand still from … to 9.00 s, where their motion is filled in"
    assert doubts == [
        f"  doubted: 2 trials (s1 walk and 1 more), 3 plate contacts: {still}",
        f"  doubted: s1 walk, 1 plate contact: {noisy.words}",
    ]
    assert summarise(tmp_path, [], 0, whole=True, fail=False, doubts_used=True) == 0
    assert "1 of 5 plate contacts used, 3 doubted, taken in by cycles.doubted_stances; 1" in capsys.readouterr().out
    content = run_json(tmp_path)
    assert content["contacts"] == {"used": 1, "doubted": 3, "refused": 1}
    first_doubted = content["doubted_contacts"][0]
    assert first_doubted["doubt_code"] == "markers_frozen markers_noisy"
    assert [one["values"] for one in first_doubted["doubt_values"]] == [frozen[0].values, noisy.values]


def test_after_a_failure_the_summary_has_the_failure_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables may be those of an earlier run."""
    failure = {"session": "s1", "step": "clean", "reason": "the disk is full"}
    write_quality(tmp_path, QUALITY)
    assert summarise(tmp_path, [failure], 1, whole=True, fail=False) == 1
    assert capsys.readouterr().out == ""
    content = run_json(tmp_path)
    assert content["failures"] == [failure]
    assert content["trials"] is content["refused_contacts"] is None


def test_a_run_without_any_used_trial_fails_and_names_the_next_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For every setting: its results are empty, so that nobody should take it for done."""
    study = tmp_path / "my study"
    rejected = [
        line(f"{session} w{i}", "refused", lost(f"{session}/static.trc", "no markers for heel left"))
        for session in "ab"
        for i in range(6)
    ]
    write_quality(study, rejected)
    assert summarise(study, [], 0, whole=True, fail=False) == 1
    first, reason, _, last = capsys.readouterr().out.splitlines()
    assert first.startswith("0 of 12 trials used")
    assert reason == "  rejected: 12 trials (a w0 and 11 more): a/static.trc: no markers for heel left"
    assert last == f"Exit code 1, because no trial could be used. What to correct: gaitlab check '{study}'"
    write_quality(study, [*rejected, *QUALITY[:1]])
    assert summarise(study, [], 0, whole=True, fail=False) == 0
    assert "Exit code" not in capsys.readouterr().out


def test_rejections_of_one_reason_are_one_line_and_long_ones_are_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever kind of recording they are of."""
    problems = {
        "a w1": lost("x.c3d", "no plate"),
        "a w2": lost("y.trc", "no plate"),
        "a w3": lost("z", "no markers " * 100),
    }
    write_quality(tmp_path, [*(line(trial, "refused", one) for trial, one in problems.items()), QUALITY[0]])
    assert summarise(tmp_path, [], 0, whole=True, fail=False) == 0
    same, long = capsys.readouterr().out.splitlines()[1:3]
    assert same == "  rejected: 2 trials (a w1 and 1 more): x.c3d: no plate"
    assert long.startswith("  rejected: a w3: z: no markers")
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
