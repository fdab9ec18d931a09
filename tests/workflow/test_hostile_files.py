"""Files of any name: read by that name, never run, and nothing written elsewhere."""

from __future__ import annotations

import csv
import os
import shutil
from pathlib import Path

import pytest
import xarray as xr

from pipeline.__main__ import main
from pipeline.tables import study_tables
from pipeline.tables.tsv import IDENTIFIER
from tests.support.checkout import HOUSE, run_study
from tests.support.files.hostile_texts import SEEN, everything_in

FILES = (
    f"$(touch {SEEN}).c3d", f"`touch {SEEN}`.c3d", f"x;touch {SEEN};.c3d", f"x|touch {SEEN}.c3d",
    f"&touch {SEEN}&.c3d", "-rf.c3d", "--help.c3d", "=1+1.c3d", "@SUM(A1).c3d", "+1.c3d", "{session}.c3d", "{}.c3d",
    "{{7*7}}.c3d", "%s%n.c3d", "a b.c3d", "a'b.c3d", 'a"b.c3d', '"".c3d', "*.c3d", "?.c3d", "[a-z].c3d", "~.c3d",
    "#.c3d", "!x.c3d", "<script>alert(1)<", "script>.c3d", "é.c3d", "\uff41.c3d", "a,b;c.c3d", "a=b.c3d", "a:b.c3d",
    "x" * 250 + ".c3d",
)  # fmt: skip


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a study with one recording under many names, prepared by ``init``."""
    study = tmp_path_factory.mktemp("hostile") / "study"
    for name in FILES:
        path = study / "sub-01" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HOUSE / "data/demo/sub-01/static.c3d", path)
    assert main(["init", str(study)]) == 0
    say_one_person(study)
    return study


def say_one_person(study: Path) -> None:
    """Answer what ``init`` asks where names tell nothing: all recordings are of one session of one person."""
    (study / "sessions.tsv").unlink(missing_ok=True)
    header, first, *_ = (study / "participants.tsv").read_text(encoding="utf-8").splitlines()
    person = "\t".join(["sub-01", *first.split("\t")[1:]])
    (study / "participants.tsv").write_text(f"{header}\n{person}\n", encoding="utf-8")
    with (study / "trials.tsv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    with (study / "trials.tsv").open("w", encoding="utf-8", newline="") as handle:
        table = csv.DictWriter(handle, [*rows[0]], delimiter="\t", lineterminator="\n")
        table.writeheader()
        files = {row["file"]: row for row in rows}  # one row each
        for number, row in enumerate(files.values()):
            own = {"participant_id": "sub-01", "session": "sub-01", "trial": f"{row['trial']}_{number}"}
            own |= {"role": "exclude", "condition": "n/a"} if number else {"role": "static", "condition": "static"}
            table.writerow(row | own)


def test_files_of_any_name_are_listed_under_plain_ids(named: Path) -> None:
    participants = study_tables.read_participants(named / "participants.tsv")
    sessions = study_tables.read_trials(named / "trials.tsv", participants)
    with (named / "trials.tsv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    assert {(named / row["file"]).resolve() for row in rows} == {*named.rglob("*.c3d")}
    assert all(IDENTIFIER.fullmatch(name) for row in rows for name in (row["participant_id"], row["trial"]))
    assert list(sessions) == ["sub-01"]
    assert main(["check", str(named)]) in (0, 1)


def test_the_workflow_runs_files_of_any_name(named: Path) -> None:
    """All in one job, which opens each by its name; then the run's own records say it is up to date."""
    before = everything_in(named.parent) | {str(named / SEEN)}
    text = (named / "trials.tsv").read_text(encoding="utf-8")
    (named / "trials.tsv").write_text(text.replace("\texclude\tn/a\t", "\tgait\twalk\t"), encoding="utf-8")
    target = "derived/sub-01/read.nc"
    result = run_study(named, target)
    assert result.returncode == 0, result.stdout + result.stderr
    with xr.open_dataset(named / target) as session:
        assert not (session.rejected != "").any()
        sources = {*session.source.values.tolist()}
    assert len(sources) == len([*named.rglob("*.c3d")])
    new = {Path(path).relative_to(named).parts[0] for path in everything_in(named.parent) - before}
    assert new == {"derived", "logs", ".snakemake"}
    assert not [path for place in (HOUSE, named) for path in place.rglob(SEEN)]


@pytest.mark.parametrize(
    "name", [b"caf\xe9.c3d", b"a\\b.c3d", b"a\nb.c3d", b"a\tb.c3d", b"\x1b[31m.c3d", "a\u202eb.c3d".encode()]
)
def test_file_names_that_no_table_holds_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: bytes
) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"")
    assert main(["init", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "rename it" in said
    assert said.replace("\n", "").isprintable()
    assert len([*tmp_path.iterdir()]) == 1
