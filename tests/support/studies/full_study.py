"""A study that has everything that a study may have: every table with every column, every file and every job.

Three people walk twice each, with the recordings of the demonstration study, which they share.
"""

from __future__ import annotations

import hashlib
import importlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.tables.study_tables import ANTHROPOMETRY_RANGES
from tests.support.checkout import DEMO, HOUSE
from tests.support.plates.pressed_pole import pressed_pole

Cells = dict[str, str]
TABLES = ("participants.tsv", "trials.tsv", "sessions.tsv", "segments.tsv", "corrections.tsv")
VISITS = ("first", "second")
WALKS = {"first": "comfortable_01", "second": "comfortable_02"}  # by visit
PEOPLE = {
    "sub-02": ("61.2", "1.64", "F", "58"),
    "sub-01": ("74.6", "1.78", "M", "27"),
    "sub-03": ("30.5", "1.35", "n/a", "9"),
}
SOURCES = {"mass_source": "scales", "width_source": "caliper", "leg_length_source": "tape"}
CORRECTED = "fast_01"  # a trial of the first session, apart from the others because its corrections name no real event
SETTINGS = """body_model: model.yaml
cycles: {emg_normalisation: peak}
study: {reference: norm.csv}
report: {logo: logo.svg, notes: notes}
"""
NORM = "variable,joint,angle,phase,mean,sd\n" + "".join(
    f"joint_angle,{joint},flexion,{phase},{phase},1\n" for joint in ("ankle", "knee", "hip") for phase in (0, 100)
)
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg"/>\n'
# what the settings name, and another of each that they could name
FILES = {
    "norm.csv": NORM,
    **dict.fromkeys(("logo.svg", "other.svg"), PICTURE),
    **dict.fromkeys(("notes/sub-01_question.txt", "notes/sub-01_notes.txt", "other_notes/sub-01_notes.txt"), "Why?\n"),
    **dict.fromkeys(("sub-01/treadmill.trc", "sub-01/treadmill.mot", "sub-01/treadmill.xml"), "no recording\n"),
}


def of_extras() -> Iterator[Any]:
    """Yield the module ``full_study`` of the tests of each extra that has one: what the study has of that extra."""
    for path in sorted((HOUSE / "tests" / "extras").glob("*/full_study.py")):
        yield importlib.import_module(f"tests.extras.{path.parent.name}.full_study")


def settings_with_extras(*, slow: bool = True) -> str:
    """Return the settings of the study, if wanted without those of extras of which some jobs take minutes."""
    return "".join([SETTINGS, *(extra.SETTINGS for extra in of_extras() if slow or not extra.SLOW)])


def write_full_study(folder: Path) -> Path:
    """Write the study and return its folder; files of one trial are stubs."""
    ignored = shutil.ignore_patterns("derived", "logs", ".snakemake", "truth", "*.tsv", "fast_0[23].c3d")
    shutil.copytree(DEMO, folder, ignore=ignored)
    shutil.copy(HOUSE / "config/body_models/isb_clusters.yaml", folder / "model.yaml")
    (folder / "study.yaml").write_text(settings_with_extras())
    for extra in of_extras():
        extra.write(folder)
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    pressed_pole(4).write(folder / "sub-01" / "pole.c3d")
    digest = hashlib.sha256((folder / "sub-01" / f"{CORRECTED}.c3d").read_bytes()).hexdigest()
    for name, rows in zip(TABLES, (participants(), trials(), sessions(), segments(), corrected(digest)), strict=True):
        write_table(folder / name, rows)
    return folder


def write_table(path: Path, rows: list[Cells]) -> None:
    """Write rows with all columns that any of them has, n/a where a row has none."""
    columns = dict.fromkeys(column for row in rows for column in row)
    lines = ["\t".join(columns), *("\t".join(row.get(column, "n/a") for column in columns) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def sizes() -> dict[str, str]:
    """Return a plausible cell of every measured size, and of the columns that say how it was measured."""
    middle = {name: (low + high) / 2 for name, (low, high) in ANTHROPOMETRY_RANGES.items()}
    return {**{name: f"{value:.4g}" for name, value in middle.items()}, **SOURCES}


def participants() -> list[Cells]:
    """Return people; the sessions of the first one state no size of their own."""
    names = ("mass_kg", "height_m", "sex", "age_years")
    rows: list[Cells] = [
        {"participant_id": person, **dict(zip(names, cells, strict=True))} for person, cells in PEOPLE.items()
    ]
    more = {"group": "older", "subject": "Anna", "acq_time": "2024-05-11", "date": "2024-05-11", "remark": "none"}
    return [rows[0] | sizes() | more, *(row | {"group": "younger"} for row in rows[1:])]


def trials() -> list[Cells]:
    """Return a static trial and a walk of each session, and in the first session of sub-01 one of each other kind."""
    rows: list[Cells] = []
    for person in ("sub-01", "sub-02", "sub-03"):
        for visit in VISITS:
            for trial, role in (("static", "static"), (WALKS[visit], "gait")):
                file = f"{'sub-02' if person == 'sub-03' else person}/{trial}.c3d"
                name = {"participant_id": person, "session": f"{person}_{visit}", "trial": trial, "file": file}
                rows.append(name | {"role": role, "condition": "comfortable" if role == "gait" else "static"})
    first = {"participant_id": "sub-01", "session": "sub-01_first"}
    days = {"acq_time": "2024-05-12T09:30:00", "date": "2024-05-12"}
    stated = {"belt_speed_m_s": "1.2", "subject": "Anna", "plates_left": "1", "plates_right": "2", "remark": "none"}
    stated |= {"hands_bear_weight": "yes", "slope_degrees": "4"}
    treadmill = {"file": "sub-01/treadmill.trc", "forces": "sub-01/treadmill.mot", "role": "gait", "condition": "belt"}
    swing = {"trial": "swing", "file": "sub-01/comfortable_03.c3d", "role": "functional", "condition": "left"}
    contraction = {"trial": "maximum", "file": "sub-01/static.c3d", "role": "emg_reference", "condition": "maximum"}
    empty = {"trial": "empty", "file": "sub-01/static.c3d", "role": "equipment", "condition": "empty"}
    pole = {"trial": "pole", "file": "sub-01/pole.c3d", "role": "equipment"}  # its forces are filtered, others are not
    fast = {"trial": CORRECTED, "file": f"sub-01/{CORRECTED}.c3d", "role": "gait", "condition": "fast"}
    more = ({"trial": "treadmill", **treadmill, **stated, **days}, swing, contraction, empty, pole, fast)
    return [*(first | row for row in more), *rows]


def sessions() -> list[Cells]:
    """Return a row of each session; sub-01's second one states every size."""
    about = {"reviewed_by": "Dr. B", "status": "amended", "amendments": "2024-06-01: mass", "age_years": "28"}
    about |= {"review_date": "2024-05-30", "review_sha256": "ab" * 32}
    own = about | {"mass_kg": "75.1", "height_m": "1.79", "remark": "none"} | sizes()
    dates = {(person, visit): f"2024-0{5 + VISITS.index(visit)}-12" for person in PEOPLE for visit in VISITS}
    dates["sub-01", "first"] = "n/a"  # trials.tsv has it
    return [
        {"participant_id": person, "session": f"{person}_{visit}", "date": dates[person, visit], "visit": visit}
        | {"assessor": "A", "visit_number": str(1 + VISITS.index(visit))}
        | (own if (person, visit) == ("sub-01", "second") else {})
        for visit in reversed(VISITS)
        for person in ("sub-01", "sub-02", "sub-03")
    ]


def segments() -> list[Cells]:
    """Return the left leg of sub-01 as measured, so that each cell can be changed for one of the right leg."""
    header, *rows = ((DEMO / "segments.tsv").read_text()).splitlines()
    cells = [dict(zip(header.split("\t"), row.split("\t"), strict=True)) for row in rows]
    return [row for row in cells if (row["participant_id"], row["side"]) == ("sub-01", "left")]


def corrected(digest: str) -> list[Cells]:
    """Return a correction of each step that takes any."""
    about = {"session": "sub-01_first", "trial": CORRECTED, "reason": "seen on video", "by": "A", "date": "2024-05-13"}
    about |= {"sha256": digest}
    kinds: list[Cells] = [
        {"kind": "move_foot_strike", "side": "left", "time_s": "1", "to_s": "1.02"},
        {"kind": "leave_out_cycle", "side": "left", "time_s": "1"},
        {"kind": "hide_marker", "time_s": "0.5", "to_s": "0.6", "given": "LHEE"},
    ]
    return [about | row for row in kinds]
