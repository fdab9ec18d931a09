"""``gaitlab check`` compares visits: their dates and order, bodies, and conditions."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline.commands.check.command import check
from pipeline.tables import tsv
from tests.support.checkout import DEMO
from tests.support.files.changes import edit

TRIALS = "participant_id\tsession\ttrial\tfile\trole\tcondition"
SESSIONS = """participant_id\tsession\tvisit\tdate\tvisit_number\tmass_kg\theight_m
P1\tpre\tpre\t2024-05-12\tn/a\t61.2\t1.64
P1\tpost\tpost\t2024-11-02\tn/a\t61.2\t1.64
"""
FINDINGS = {
    "date_in_future",
    "dates_differ",
    "visits_out_of_order",
    "body_shrinks",
    "no_shared_condition",
    "static_left_out",
    "order_of_visits_unknown",
}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Return a study of one person with two visits, each with a static and a walk."""
    rows = [TRIALS]
    for visit in ("pre", "post"):
        (tmp_path / visit).mkdir()
        for trial, role, condition in (("static", "static", "static"), ("comfortable_01", "gait", "walk")):
            shutil.copy(DEMO / "sub-02" / f"{trial}.c3d", tmp_path / visit)
            rows.append(f"P1\t{visit}\t{trial}\t{visit}/{trial}.c3d\t{role}\t{condition}")
    (tmp_path / "trials.tsv").write_text("\n".join([*rows, ""]))
    (tmp_path / "participants.tsv").write_text("participant_id\tmass_kg\theight_m\tsex\nP1\tn/a\tn/a\tF\n")
    (tmp_path / "sessions.tsv").write_text(SESSIONS)
    shutil.copy(DEMO / "study.yaml", tmp_path)
    return tmp_path


def found(study: Path) -> set[str]:
    return {finding.code for finding in check(study)} & FINDINGS


def test_sound_visits_have_no_findings(study: Path) -> None:
    assert found(study) == set()


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("2024-11-02", "2934-11-02", "date_in_future"),
        ("2024-11-02", "2023-11-02", "visits_out_of_order"),
        ("\t2024-11-02\tn/a", "\tn/a\tn/a", "order_of_visits_unknown"),
        ("n/a\t61.2", "1\t61.2", "order_of_visits_unknown"),  # both the first
        ("2024-11-02\tn/a\t61.2\t1.64", "2024-11-02\tn/a\t61.2\t1.55", "body_shrinks"),
        ("2024-11-02\tn/a\t61.2", "2024-11-02\tn/a\t48.5", "body_shrinks"),
    ],
)
def test_a_wrong_cell_of_sessions_is_found(study: Path, old: str, new: str, code: str) -> None:
    edit(study / "sessions.tsv", old, new)
    assert found(study) == {code}
    (finding,) = [finding for finding in check(study) if finding.code == code]
    assert (finding.severity == "error") == (code == "order_of_visits_unknown")  # no change is computed before


def test_numbers_tell_the_order_of_visits_without_dates(study: Path) -> None:
    table = study / "sessions.tsv"
    table.write_text(table.read_text().replace("2024-05-12\tn/a", "n/a\t1").replace("2024-11-02\tn/a", "n/a\t2"))
    assert found(study) == set()
    table.write_text(table.read_text().replace("n/a\t1\t", "n/a\t3\t"))
    assert found(study) == {"visits_out_of_order"}


def test_numbers_that_contradict_the_dates_are_refused(study: Path) -> None:
    edit(study / "sessions.tsv", "2024-05-12\tn/a", "2024-05-12\t2")
    edit(study / "sessions.tsv", "2024-11-02\tn/a", "2024-11-02\t1.0")
    assert "order_of_visits_unknown" in found(study)


def test_dates_of_trials_tell_the_order(study: Path) -> None:
    for date in ("2024-05-12", "2024-11-02"):
        edit(study / "sessions.tsv", date, "n/a")
    rows = (study / "trials.tsv").read_text().splitlines()
    days = ["date", "2024-05-12", "2024-05-12", "2024-11-02", "2024-11-02"]
    (study / "trials.tsv").write_text("".join(f"{row}\t{day}\n" for row, day in zip(rows, days, strict=True)))
    assert found(study) == set()


def test_dates_of_two_tables_that_differ(study: Path) -> None:
    text = (study / "trials.tsv").read_text().splitlines()
    (study / "trials.tsv").write_text(
        "\n".join(
            [f"{text[0]}\tdate", *(f"{line}\t{'2024-05-12' if 'pre' in line else '2024-11-03'}" for line in text[1:])]
        )
        + "\n"
    )
    assert found(study) == {"dates_differ"}


def test_visits_and_groups_that_share_no_condition(study: Path) -> None:
    edit(study / "trials.tsv", "post/comfortable_01.c3d\tgait\twalk", "post/comfortable_01.c3d\tgait\tshod")
    assert found(study) == {"no_shared_condition"}


def test_a_static_that_is_left_out(study: Path) -> None:
    shutil.copy(study / "pre" / "static.c3d", study / "pre" / "static_2.c3d")
    with (study / "trials.tsv").open("a") as table:
        table.write("P1\tpre\tstatic_2\tpre/static_2.c3d\texclude\tn/a\n")
    assert found(study) == {"static_left_out"}
    assert len(tsv.read_table(study / "trials.tsv", required=("file",))) == 5
