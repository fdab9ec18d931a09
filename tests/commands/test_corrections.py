"""``gaitlab corrections``: completes the table, takes over that of earlier versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.commands.check.command import check
from pipeline.commands.corrections import complete_corrections
from pipeline.errors import UserError
from pipeline.tables.corrections import append_corrections, read_corrections
from pipeline.workflow.digests import sha256
from pipeline.workflow.open_study import open_study
from tests.support.checkout import DEMO, copy_study
from tests.support.studies.corrected import correction

OLD = "session\ttrial\tside\tstart_s\treason\nsub-01\tfast_01\tright\t1,5\tstumbled\n"
WALK = "sub-02/fast_02.c3d"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return copy_study(DEMO, tmp_path / "study")


def test_the_table_of_earlier_versions_is_refused_until_it_is_taken_over(study: Path) -> None:
    (study / "cycles.tsv").write_text(OLD)
    with pytest.raises(UserError, match=r"cycles.tsv: is no longer read; 'gaitlab corrections STUDY' takes its rows"):
        open_study(study)
    assert "right cycle at 1.5 s left out: stumbled" in complete_corrections(study)
    (row,) = read_corrections(study / "corrections.tsv")
    assert (row["kind"], row["side"], row["time_s"], row["reason"]) == ("leave_out_cycle", "right", "1.5", "stumbled")
    assert row["sha256"] == sha256(study / "sub-01/fast_01.c3d")
    assert not (study / "cycles.tsv").exists()
    assert open_study(study).corrections == {"sub-01": [row]}


def test_a_row_gets_the_digest_of_its_recording_and_loses_its_force_when_that_changes(study: Path) -> None:
    where = {"session": "sub-02", "trial": "fast_02", "side": "left", "time_s": "1"}
    append_corrections(study / "corrections.tsv", [correction("accept_contact", **where)])
    with pytest.raises(UserError, match="sha256 of the recording is missing; 'gaitlab corrections STUDY' fills it in"):
        open_study(study)
    assert "sub-02 fast_02: left contact at 1 s accepted: seen on video" in complete_corrections(study)
    open_study(study)
    (study / WALK).write_bytes((study / WALK).read_bytes() + b"x")
    for refuse in (open_study, complete_corrections):
        with pytest.raises(UserError, match=f"left accept_contact 1: {WALK} has changed since"):
            refuse(study)
    assert any(f"{WALK} has changed since" in finding.what for finding in check(study))


def test_nothing_is_written_while_a_row_is_wrong(study: Path) -> None:
    (study / "cycles.tsv").write_text(OLD.replace("right", "both"))
    with pytest.raises(UserError, match="side is 'both'"):
        complete_corrections(study)
    assert (study / "cycles.tsv").exists()
    assert not (study / "corrections.tsv").exists()
