"""What is made again after which change: exactly the jobs that use what changed, by content and not by the clock.

Each change is planned by ``gaitlab run`` and by Snakemake alone, which sees all but bytes that another program changed.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.checkout import DEMO, DRY_RUN, HOUSE, copy_study, jobs_in, keep_rows, planned, snakemake
from tests.support.files.changes import edit
from tests.support.step_names import SESSION_STEPS
from tests.support.studies.corrected import correct

SESSIONS = ("sub-01", "sub-02")  # each of a person of the same name
STUDY = ("study", "report")
PAGES = {f"page:{session}" for session in SESSIONS}
LONG_AGO_S = 1e9
REFERENCE = "variable,joint,angle,phase,mean,sd\n" + "".join(
    f"joint_angle,{joint},flexion,{phase},{phase},1\n" for joint in ("ankle", "knee", "hip") for phase in (0, 100)
)
VISITS = """participant_id	session	date	assessor	height_m
sub-01	sub-01	2024-05-12	A	1.77
sub-02	sub-02	2024-05-13	B	n/a
"""
SETTINGS = """
body_model: model.yaml
study: {reference: scored.csv}
"""


def of(session: str, *steps: str) -> set[str]:
    """Return a session's jobs, and those that follow any change of a session: its person's page and the study's two."""
    return {f"{step}:{session}" for step in steps} | {f"page:{session}", *STUDY}


def everywhere(*steps: str) -> set[str]:
    """Return the same of every session."""
    return set().union(*(of(session, *steps) for session in SESSIONS))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a study of two people that has been run."""
    study = copy_study(DEMO, tmp_path_factory.mktemp("rerun") / "study")
    keep_rows(study, re.compile(r"\t(static|\w+_01)\t").search)
    shutil.copy(HOUSE / "config/body_models/isb_clusters.yaml", study / "model.yaml")
    (study / "study.yaml").write_text(SETTINGS)
    (study / "scored.csv").write_text(REFERENCE)
    (study / "sessions.tsv").write_text(VISITS)
    result = snakemake(study)
    assert result.returncode == 0, result.stdout + result.stderr
    return study


@pytest.fixture
def study(finished: Path, tmp_path: Path) -> Path:
    """Return a copy of the study to change, with the records of the run and the time stamps."""
    return Path(shutil.copytree(finished, tmp_path / "study", copy_function=shutil.copy2))


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def write(path: Path, rows: list[str]) -> None:
    path.write_text("\n".join(rows) + "\n")


def append(path: Path, *rows: str) -> None:
    write(path, [*lines(path), *rows])


def set_in(study: Path, section: str, setting: str) -> None:
    """Set something in study.yaml, where the section may stand."""
    text = (study / "study.yaml").read_text()
    opened = f"{section}: {{"
    (study / "study.yaml").write_text(
        text.replace(opened, f"{opened}{setting}, ") if opened in text else f"{text}{opened}{setting}}}\n"
    )


def add_column(path: Path, name: str, values: dict[str, str]) -> None:
    """Add a column; ``values`` by the beginning of a row, n/a elsewhere."""
    header, *rows = lines(path)
    given = (next((value for start, value in values.items() if row.startswith(start)), "n/a") for row in rows)
    write(path, [f"{header}\t{name}", *(f"{row}\t{value}" for row, value in zip(rows, given, strict=True))])


def remove_row(path: Path, beginning: str) -> None:
    write(path, [line for line in lines(path) if not line.startswith(beginning)])


def touch_everything(study: Path) -> None:
    for path in (*study.rglob("*.c3d"), *study.glob("*.*")):
        path.touch()


def copy_sources_anew(study: Path) -> None:
    """Put the same bytes there as other files, as from a backup: older than the results."""
    for path in study.rglob("*.c3d"):
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
        os.utime(path, (LONG_AGO_S, LONG_AGO_S))


def change_in_place(study: Path) -> None:
    """Change one bit of a recording and keep its size and time stamp."""
    path = study / "sub-01/comfortable_01.c3d"
    status, content = path.stat(), bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replace_by_an_older_file(study: Path) -> None:
    path = study / "sub-02/fast_01.c3d"
    shutil.copy(study / "sub-02/comfortable_01.c3d", path)
    os.utime(path, (LONG_AGO_S, LONG_AGO_S))


def add_a_session(study: Path) -> None:
    shutil.copytree(study / "sub-02", study / "sub-03")
    append(study / "participants.tsv", "sub-03\t70\t1.7\tF\tolder\t60")
    own = [row for row in lines(study / "trials.tsv") if row.startswith("sub-02")]
    append(study / "trials.tsv", *(row.replace("sub-02", "sub-03") for row in own))


def leave_out_a_cycle(study: Path) -> None:
    """Leave out a cycle of metrics.csv, by its own words."""
    header, *rows = (line.split(",") for line in lines(study / "derived/metrics.csv"))
    named = next(dict(zip(header, row, strict=True)) for row in rows if "sub-02" in row)
    correct(study, "leave_out_cycle", **{name: named[name] for name in ("session", "trial", "side")},
            time_s=named["start_time"])  # fmt: skip


def damage(file: Path) -> None:
    """Change a byte in the middle of a file some time after the run."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    later = time.time() + 60
    os.utime(file, (later, later))


Change = Callable[[Path], object]
AFTER_CLEAN = of("sub-01", "clean", "contacts", "kinematics", "kinetics", "cycles")
MODEL = ("calibrate", "kinematics", "kinetics", "cycles")  # what a person's model is made of and used in
# changes that have no job in common are made and planned together
OF_THE_STUDY: dict[str, tuple[list[Change], set[str]]] = {
    "time stamps, recordings restored from a backup, what no job uses": (
        [
            touch_everything,
            lambda s: copy_sources_anew(s / "sub-02"),
            lambda s: set_in(s, "run", "fail_on_rejection: false"),
            lambda s: append(s / "study.yaml", "# a comment"),
            lambda s: edit(
                (s / "model.yaml").rename(s / "other.yaml").parent / "study.yaml", "model.yaml", "other.yaml"
            ),
        ],
        set(),
    ),
    "a recording, same size and time stamp; another by an older file": (
        [change_in_place, replace_by_an_older_file],
        everywhere(*SESSION_STEPS),
    ),
    "a setting of clean": (
        [lambda s: set_in(s, "clean", "marker_cutoff_hz: 7")],
        everywhere("clean", "contacts", "kinematics", "kinetics", "cycles"),
    ),
    "a setting of contacts": (
        [lambda s: set_in(s, "contacts", "threshold_n: 25")],
        everywhere("contacts", "kinetics", "cycles"),
    ),
    "a setting of kinetics": (
        [lambda s: set_in(s, "kinetics", "gravity_m_s2: 9.81")],
        everywhere("kinetics", "cycles"),
    ),
    "a setting of report": ([lambda s: set_in(s, "report", "title: Another")], {"report", *PAGES}),
    "the body model": (
        [
            lambda s: edit(
                s / "model.yaml",
                "between: [lateral_malleolus, medial_malleolus]",
                "between: [medial_malleolus, lateral_malleolus]",
            )
        ],
        everywhere(*SESSION_STEPS),
    ),
    "a mass, a measured segment, a session more": (
        [
            add_a_session,
            lambda s: edit(s / "participants.tsv", "61.2", "66.6"),
            lambda s: edit(s / "segments.tsv", "1.0444", "1.05"),
        ],
        of("sub-01", *MODEL) | of("sub-02", *MODEL) | of("sub-03", *SESSION_STEPS),
    ),
    "an age, a trial more": (
        [
            lambda s: edit(s / "participants.tsv", "58", "59"),
            lambda s: append(s / "trials.tsv", "sub-01\tmore\tsub-01/comfortable_02.c3d\tgait\tcomfortable"),
        ],
        of("sub-01", *SESSION_STEPS) | {"page:sub-02"},
    ),
    "a height of a session": ([lambda s: edit(s / "sessions.tsv", "1.77", "1.76")], of("sub-01", *MODEL)),
    "who measured, a row of sessions.tsv less": (
        [lambda s: edit(s / "sessions.tsv", "\tA\t", "\tC\t"), lambda s: remove_row(s / "sessions.tsv", "sub-02")],
        of("sub-02", *MODEL) | PAGES,
    ),
    "who reviewed, a status and an amendment": (
        [
            lambda s: add_column(s / "sessions.tsv", "reviewed_by", {"sub-01": "Dr. B"}),
            lambda s: add_column(s / "sessions.tsv", "status", {"sub-01": "amended"}),
            lambda s: add_column(s / "sessions.tsv", "amendments", {"sub-01": "2024-06-01: mass corrected"}),
        ],
        {*PAGES, *STUDY},
    ),
    "a new column about people": (
        [lambda s: add_column(s / "participants.tsv", "shoe", {"sub-01": "flat"})],
        {*PAGES, *STUDY},
    ),
    "a condition": (
        [lambda s: edit(s / "trials.tsv", "sub-01/fast_01.c3d\tgait\tfast", "sub-01/fast_01.c3d\tgait\tquick")],
        of("sub-01", "cycles") | PAGES,
    ),
    "the plate that a foot was on, a belt speed": (
        [
            lambda s: add_column(s / "trials.tsv", "plates_left", {"sub-01\tfast_01": "2"}),
            lambda s: add_column(s / "trials.tsv", "belt_speed_m_s", {"sub-02\tfast_01": "1.2"}),
        ],
        of("sub-01", "contacts", "kinetics", "cycles") | of("sub-02", "contacts", "kinetics", "cycles"),
    ),
    "a trial less, a cycle left out": (
        [lambda s: keep_rows(s, lambda row: not row.startswith("sub-01\tfast_01")), leave_out_a_cycle],
        of("sub-01", *SESSION_STEPS) | of("sub-02", "cycles"),
    ),
    "what the study is scored by": ([lambda s: edit(s / "scored.csv", ",1\n", ",2\n")], {*PAGES, *STUDY}),
}


# results that another program removed or changed: the jobs by gaitlab run, and by Snakemake alone
OF_THE_RESULTS: dict[str, tuple[list[Change], set[str], set[str]]] = {
    "a result and a page gone": (
        [lambda s: (s / "derived/sub-01/clean.nc").unlink(), lambda s: (s / "derived/report/sub-02.html").unlink()],
        AFTER_CLEAN | {"page:sub-02"},
        AFTER_CLEAN | {"page:sub-02"},
    ),
    "a result damaged, a page edited": (
        [lambda s: damage(s / "derived/sub-01/clean.nc"), lambda s: damage(s / "derived/report/sub-02.html")],
        AFTER_CLEAN | {"page:sub-02"},
        AFTER_CLEAN - {"clean:sub-01"},
    ),
    "a result without a record": (
        [lambda s: (s / "derived/checksums/sub-01/clean.nc.sha256").unlink()],
        AFTER_CLEAN,
        set(),
    ),
    "a table edited": ([lambda s: damage(s / "derived/metrics.csv")], {*STUDY}, {"report"}),
    "a table gone": ([lambda s: (s / "derived/quality.csv").unlink()], {*STUDY}, {*STUDY}),
    "the study gone": ([lambda s: (s / "derived/study.nc").unlink()], {*STUDY}, {*STUDY}),
    "all records gone": (
        [lambda s: shutil.rmtree(s / "derived/checksums")],
        everywhere(*SESSION_STEPS) | {"page_files"},
        set(),
    ),
}


def planned_by_snakemake(study: Path) -> set[str]:
    result = snakemake(study, *DRY_RUN)
    assert result.returncode == 0, result.stdout + result.stderr
    return jobs_in(result.stdout + result.stderr)


@pytest.mark.parametrize("what", OF_THE_STUDY)
def test_a_change_of_the_study_reruns_what_depends_on_it(study: Path, what: str) -> None:
    changes, expected = OF_THE_STUDY[what]
    for change in changes:
        change(study)
    assert planned(study) == expected
    assert planned_by_snakemake(study) == expected


@pytest.mark.parametrize("what", OF_THE_RESULTS)
def test_a_changed_result_is_made_again_with_what_follows(study: Path, what: str) -> None:
    changes, expected, by_snakemake_alone = OF_THE_RESULTS[what]
    for change in changes:
        change(study)
    assert planned(study) == expected
    assert planned_by_snakemake(study) == by_snakemake_alone


def test_snakemake_alone_refuses_a_changed_result_in_one_line(study: Path) -> None:
    damage(study / "derived/sub-01/clean.nc")
    result = snakemake(study)
    assert result.returncode == 1
    log = (study / "logs/sub-01/contacts.log").read_text()
    assert log == "ERROR derived/sub-01/clean.nc: damaged (not the bytes that were written); remove it and run again\n"
