"""``gaitlab init``: C3D files alone give the tables that a careful person would write."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
import pytest

from pipeline.c3d.reader import read_c3d
from pipeline.commands.check.command import check
from pipeline.commands.init.command import WRITTEN, _rows_of_doubles, initialise
from pipeline.errors import UserError
from pipeline.recording import Recording
from pipeline.steps.read.recording_file import Source
from pipeline.steps.read.step import read_trial as read
from pipeline.tables import study_tables, tsv
from pipeline.workflow import settings
from pipeline.workflow.strict_yaml import read_yaml
from tests.support.checkout import DEMO, copy_study
from tests.support.files.c3d_writer import write_c3d
from tests.support.files.changes import edit, relabel, rewrite, set_parameter
from tests.support.files.opensim import as_opensim


@pytest.fixture
def study(demo: Path) -> Path:
    """Return the demonstration study without its tables."""
    return bare(demo)


def bare(study: Path) -> Path:
    """Remove the tables of a study."""
    for name in (*WRITTEN, "segments.tsv"):
        (study / name).unlink(missing_ok=True)
    return study


def trials_of(study: Path) -> dict[str, tsv.Row]:
    """Return the rows of trials.tsv by file."""
    return {row["file"]: row for row in tsv.read_table(study / "trials.tsv", required=("file",))}


def by_session(rows: dict[str, tsv.Row]) -> dict[str, list[str]]:
    """Return the files of each session."""
    sessions: dict[str, list[str]] = {}
    for file, row in rows.items():
        sessions.setdefault(row.get("session") or row["participant_id"], []).append(file)
    return sessions


def name_of_model(study: Path) -> str:
    return str(read_yaml(study / "study.yaml")["body_model"])


def test_the_demonstration_is_found_again(study: Path) -> None:
    summary = initialise(study)
    participants = study_tables.read_participants(study / "participants.tsv")
    known = study_tables.read_participants(DEMO / "participants.tsv")
    assert read_yaml(study / "study.yaml") == {"body_model": "isb_clusters"}
    assert list(participants) == list(known)
    for name, row in participants.items():
        # the files hold mass and height in single precision: seven digits, six are written
        for column in ("mass_kg", "height_m"):
            assert float(row[column]) == pytest.approx(float(known[name][column]), rel=1e-5)
        assert row["sex"] == "n/a"
        assert row["guessed"].split() == ["participant_id", "mass_kg", "height_m"]
    sessions = study_tables.read_trials(study / "trials.tsv", participants)
    wanted = study_tables.read_trials(DEMO / "trials.tsv", known)
    columns = ("participant_id", "trial", "file", "role", "condition")
    for name, rows in wanted.items():
        found = {tuple(row[column] for column in columns) for row in sessions[name]}
        assert found == {tuple(row[column] for column in columns) for row in rows}
    (ages,) = check(study)
    assert (ages.where, ages.severity) == ("participants.tsv", "warning")  # which no recording shows
    assert f"check {study}" in summary


@pytest.mark.parametrize("name", ["exact", "functional", "gait2354", "plug_in_gait"])
def test_real_studies_are_found_again(shared: Path, tmp_path: Path, name: str) -> None:
    source = shared / "studies" / name
    study = bare(copy_study(source, tmp_path / name))
    initialise(study)
    assert read_yaml(study / "study.yaml")["body_model"] == name_of_model(source)
    found = trials_of(study)
    participants = study_tables.read_participants(study / "participants.tsv")
    known = study_tables.read_participants(source / "participants.tsv")
    assert list(participants) == list(known)
    for person, row in known.items():  # the mass in the files was rounded to 0.1 kg by one lab
        assert float(participants[person]["mass_kg"]) == pytest.approx(float(row["mass_kg"]), abs=0.05)
    for file, row in trials_of(source).items():
        assert found[file]["participant_id"] == row["participant_id"]
        assert found[file]["role"] == row["role"]
    # sub-01 of plug_in_gait has three statics in one folder, each with its walk: FF, FF_N18 and noFF in their names
    paired = {frozenset(names) for names in by_session(found).values()}
    assert paired == {frozenset(names) for names in by_session(trials_of(source)).values()}
    assert [finding for finding in check(study) if finding.severity == "error"] == []


@pytest.mark.parametrize(
    ("name", "model", "statics"),
    [
        ("children", "plug_in_gait", {"HC032A01.c3d", "HC036A01.c3d", "HC040A04.c3d"}),
        ("classic", None, set()),  # clusters that no shipped model names
        ("cortex", "cortex", {"Walk1.c3d"}),
        ("emg_metres", "anatomical", {"Static Pose.c3d"}),
        ("heel_in_static", "plug_in_gait_bones", {"Vicon_analysis.c3d", "2198928.c3d"}),
        ("kad_bones", "plug_in_gait_bones", {"RCH.01.c3d"}),  # its static lacks knee markers, which bones need not
        ("kad_fmc", "plug_in_gait_kad", {"MH0222_BP01.c3d"}),  # of two statics, the one with the device
        ("kad_sydney", "plug_in_gait_kad", {"S4 AM Cal 01.c3d"}),
    ],
)
def test_labs_get_their_body_model_and_static(
    shared: Path, tmp_path: Path, name: str, model: str | None, statics: set[str]
) -> None:
    study = tmp_path / name
    shutil.copytree(shared / "labs" / name, study)
    summary = initialise(study)
    assert read_yaml(study / "study.yaml") == {"body_model": model}
    rows = tsv.read_table(study / "trials.tsv", required=("file",))
    assert {Path(row["file"]).name for row in rows if row["role"] == "static"} == statics
    assert "another study" not in summary
    assert {row["condition"] for row in rows if "/Turn/" in row["file"]} <= {"Turn"}


def test_the_only_static_of_another_model_takes_its_session_with_it(shared: Path, tmp_path: Path) -> None:
    """A static with the alignment device among others: moved alone, it would leave its walks without a static."""
    for number in (2, 3, 4):
        shutil.copytree(shared / "studies" / "plug_in_gait" / f"sub-0{number}", tmp_path / f"sub-0{number}")
    (tmp_path / "kad").mkdir()
    names = [f"S4-AM{name}.c3d" for name in ("Gait03", "Gait05")] + ["S4 AM Cal 01.c3d"]
    for name in names:
        content = (shared / "labs" / "kad_sydney" / "S4-AM" / name).read_bytes()
        for stated in (b"ThighRotation", b"ShankRotation", b"TibialTorsion", b"StaticPlantFlex"):
            content = content.replace(stated, stated[:-1] + b"_")
        (tmp_path / "kad" / name).write_bytes(content)
    summary = " ".join(initialise(tmp_path).split())
    listed = " ".join(f"kad/{name}" for name in ("S4 AM Cal 01.c3d", "S4-AMGait03.c3d", "S4-AMGait05.c3d"))
    assert f"not plug_in_gait: move them together to another study: {listed} Written" in summary


def test_walks_that_state_static_results_need_no_static(shared: Path, tmp_path: Path) -> None:
    for number in ("06", "15"):
        shutil.copy(shared / "labs" / "kad_fmc" / "MH0222" / f"MH0222_BP{number}.c3d", tmp_path)
    assert "static results of Plug-in Gait that the walks state replace it" in " ".join(initialise(tmp_path).split())
    assert read_yaml(tmp_path / "study.yaml") == {"body_model": "plug_in_gait"}
    assert {row["role"] for row in trials_of(tmp_path).values()} == {"gait"}
    assert [finding for finding in check(tmp_path) if finding.severity == "error"] == []


def test_leg_lengths_are_estimated_by_markers(shared: Path, tmp_path: Path) -> None:
    """The lab measured 0.805 and 0.8 m; without them ASIS, knee and ankle marker show them to 5 %."""
    source = shared / "labs" / "children" / "HC032A" / "Static" / "HC032A01.c3d"
    static = set_parameter(source, "PROCESSING", "LLegLength", [0.0], tmp_path / "static.c3d")
    set_parameter(static, "PROCESSING", "RLegLength", [0.0])
    (tmp_path / "study.yaml").write_text("body_model: plug_in_gait\n")
    initialise(tmp_path)
    (person,) = tsv.read_table(tmp_path / "participants.tsv", required=("participant_id",))
    assert float(person["leg_length_left_m"]) == pytest.approx(0.805, rel=0.05)
    assert float(person["leg_length_right_m"]) == pytest.approx(0.8, rel=0.05)
    assert person["leg_length_source"] == "estimate: markers"
    assert any(finding.what == "leg lengths are an estimate: markers" for finding in check(tmp_path))


def test_existing_tables_are_kept(study: Path) -> None:
    (study / "trials.tsv").write_text("mine\n")
    assert "Not changed: trials.tsv" in initialise(study)
    assert (study / "trials.tsv").read_text() == "mine\n"
    before = {name: (study / name).read_bytes() for name in WRITTEN}
    assert "nothing written" in initialise(study)
    assert {name: (study / name).read_bytes() for name in WRITTEN} == before


def test_rows_of_new_recordings_are_proposed_and_complete_the_tables(study: Path) -> None:
    initialise(study)
    (study / "sub-03").mkdir()
    for name in ("static", "fast_01"):
        shutil.copy(study / "sub-01" / f"{name}.c3d", study / "sub-03" / f"{name}.c3d")
    shutil.copy(study / "sub-01" / "fast_02.c3d", study / "sub-01" / "fast_09.c3d")
    before = {name: (study / name).read_bytes() for name in WRITTEN}
    assert {finding.what for finding in check(study) if "trials.tsv" in finding.what} == {"in no row of trials.tsv"}
    assert "in no row of trials.tsv: 3" in initialise(study)
    assert {name: (study / name).read_bytes() for name in WRITTEN} == before
    for name in ("participants.tsv", "trials.tsv"):
        header, *rows = (study / f"new_{name}").read_text().splitlines(keepends=True)
        assert (study / name).read_text().startswith(header)
        assert len(rows) == {"participants.tsv": 1, "trials.tsv": 3}[name]
        with (study / name).open("a") as table:
            table.writelines(rows)
    assert {finding.code for finding in check(study) if finding.where != "participants.tsv"} == {"recording_is_copy"}
    assert "nothing written" in initialise(study)


def test_the_body_model_of_an_existing_study_yaml_is_used(study: Path) -> None:
    shutil.copy(settings.CONFIG / "body_models" / "isb_clusters.yaml", study / "our_lab.yaml")
    (study / "study.yaml").write_text("body_model: our_lab.yaml\n")
    assert re.search(r"our_lab\.yaml +100%", initialise(study))
    assert len([row for row in trials_of(study).values() if row["role"] == "static"]) == 2


def test_a_body_model_of_ones_own_in_the_folder_is_proposed_where_it_fits(shared: Path, tmp_path: Path) -> None:
    copy = copy_study(shared / "labs" / "functional_knee", tmp_path / "knee")
    (copy / "settings.yaml").write_text("program: [another")  # no body model, and no YAML
    summary = initialise(copy)
    assert "Body model: body_model.yaml." in summary
    assert read_yaml(copy / "study.yaml")["body_model"] == "body_model.yaml"
    assert not (copy / "body_model_proposal.yaml").exists()


def test_a_body_model_of_ones_own_that_does_not_fit_is_not_counted(study: Path) -> None:
    (study / "other lab.yaml").write_text('name: other\nextends: isb_clusters\nlandmarks: {heel_left: "Q1"}\n')
    initialise(study)
    assert read_yaml(study / "study.yaml")["body_model"] == "isb_clusters"
    (study / "study.yaml").unlink()
    (study / "other lab.yaml").write_text("name: other\nextends: no_such_model\n")
    with pytest.raises(UserError, match="no_such_model"):
        initialise(study)


def test_folders_names_and_suffixes_of_any_kind(tmp_path: Path) -> None:
    """Two visits of one person, each with its static; another person without folders below; any names."""
    study = tmp_path / "a study"
    places = {
        'Grüße "1"/pre/CAL 01.C3D': "static",
        'Grüße "1"/pre/walk $(x) 1.c3d': "comfortable_01",
        'Grüße "1"/pre/walk-$(x)-1.c3d': "comfortable_02",
        'Grüße "1"/post/a.C3d': "static",
        'Grüße "1"/post/b.c3d': "fast_01",
        "P 2/still.c3d": "static",
        "P 2/Fast Walking 1.c3d": "fast_01",
    }
    for place, trial in places.items():
        (study / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(DEMO / ("sub-02" if place[0] == "P" else "sub-01") / f"{trial}.c3d", study / place)
    summary = initialise(study)
    rows = trials_of(study)
    assert set(rows) == set(places)
    sessions = ["sub-01_pre"] * 3 + ["sub-01_post"] * 2 + ["P-2"] * 2
    assert [rows[place]["session"] for place in places] == sessions
    assert [rows[place]["participant_id"] for place in places] == ["sub-01"] * 5 + ["P-2"] * 2
    assert [rows[place]["visit"] for place in places] == ["pre"] * 3 + ["post"] * 2 + [""] * 2
    listed = [line.split("\t")[1] for line in (study / "sessions.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    assert listed == ["sub-01_pre", "sub-01_post"]  # without dates in the order of the words, not of the alphabet
    assert "Numbers in place of what may be people's names" in summary
    assert {place for place, row in rows.items() if row["role"] == "static"} == {
        place for place, trial in places.items() if trial == "static"
    }
    assert rows["P 2/Fast Walking 1.c3d"]["condition"] == "Fast"
    assert [finding for finding in check(study) if finding.severity == "error"] == []


def visited_twice(shared: Path, study: Path, *, second: str) -> Path:
    """Lay two children's recordings out as one child's visits; ``second`` is the subject in the second one's files."""
    for visit, child in (("2024-05-12 pre", "HC036A"), ("20.06.2025_post", "HC032A")):
        for path in (shared / "labs" / "children" / child).rglob("*.c3d"):
            target = study / visit / path.parent.name / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            if child in ("HC036A", second):
                shutil.copy(path, target)
            else:
                set_parameter(path, "SUBJECTS", "NAMES", [second], target)
    return study


def test_two_visits_of_a_child_who_has_grown(shared: Path, tmp_path: Path) -> None:
    initialise(visited_twice(shared, tmp_path, second="HC036A"))
    rows = tsv.read_table(tmp_path / "trials.tsv", required=("session", "visit", "date"))
    assert {tuple(row[name] for name in ("participant_id", "session", "visit", "date")) for row in rows} == {
        ("HC036A", "HC036A_2024-05-12-pre", "pre", "2024-05-12"),
        ("HC036A", "HC036A_20-06-2025-post", "post", "2025-06-20"),
    }
    assert {row["condition"] for row in rows} == {"static", "Straight", "Turn"}
    assert len(rows) == 6


def test_visits_with_the_names_of_two_people_are_asked(shared: Path, tmp_path: Path) -> None:
    """Who it is stays blank, check refuses that, and either answer is a few cells."""
    summary = " ".join(initialise(visited_twice(shared, tmp_path, second="HC032A")).split())
    assert "People, or visits of one person?" in summary
    rows = tsv.read_table(tmp_path / "trials.tsv", required=("session",))
    assert {row["participant_id"] for row in rows} == {"n/a"}
    people = tsv.read_table(tmp_path / "participants.tsv", required=("participant_id",))
    assert {row["participant_id"]: row["mass_kg"] for row in people} == {"HC036A": "33", "HC032A": "60.3"}
    assert {row["session"] for row in rows} == {row["participant_id"] for row in people}
    errors = [finding for finding in check(tmp_path) if finding.severity == "error"]
    assert {finding.what for finding in errors} == {"participant_id is missing"}
    table = (tmp_path / "trials.tsv").read_text().splitlines(keepends=True)
    told = [line.replace("n/a", "HC036A" if "pre" in line else "HC032A", 1) for line in table]
    (tmp_path / "trials.tsv").write_text("".join(told))
    assert [finding for finding in check(tmp_path) if finding.severity == "error"] == []


@pytest.mark.parametrize("second", ["HC036A", "HC032A"])
def test_a_later_visit_completes_the_tables_of_the_first(shared: Path, tmp_path: Path, second: str) -> None:
    """The first visit had no session of its own; who came then is asked if the names differ, with either answer."""
    study, every = tmp_path / "study", visited_twice(shared, tmp_path / "every", second=second)
    shutil.copytree(every / "2024-05-12 pre", study / "2024-05-12 pre")
    initialise(study)
    shutil.copytree(every / "20.06.2025_post", study / "20.06.2025_post")
    summary = initialise(study)
    assert "trials.tsv lacks session: first add this to the end of its header" in summary
    assert ("People, or visits of one person?" in summary) == (second == "HC032A")
    header, *old = (study / "trials.tsv").read_text().splitlines()
    new_header, *new = (study / "new_trials.tsv").read_text().splitlines()
    assert new_header == f"{header}\tsession"
    rows = [*(f"{row}\t" for row in old), *(row.replace("n/a", second, 1) for row in new)]
    (study / "trials.tsv").write_text("\n".join([new_header, *rows, ""]))
    if second == "HC032A":
        with (study / "participants.tsv").open("a") as table:
            table.writelines((study / "new_participants.tsv").read_text().splitlines(keepends=True)[1:])
    else:
        (study / "new_sessions.tsv").rename(study / "sessions.tsv")
    assert [finding for finding in check(study) if finding.severity == "error"] == []


def test_the_static_with_more_markers_is_used(study: Path) -> None:
    """Of two static files, the one without medial markers cannot calibrate the session."""
    rewrite(study / "sub-01" / "static.c3d", relabel(LMEK="X1", RMML="X2"), study / "sub-01" / "a_static.c3d")
    summary = initialise(study)
    rows = trials_of(study)
    assert rows["sub-01/static.c3d"]["role"] == "static"
    assert rows["sub-01/a_static.c3d"]["role"] == "exclude"
    assert "another static of the session serves the body model" in summary


def test_odd_files_give_a_plain_line_each(shared: Path, tmp_path: Path) -> None:
    study = tmp_path / "odd"
    shutil.copytree(shared / "data" / "odd", study)
    summary = initialise(study)
    rows = trials_of(study)
    unreadable = {path.name for path in study.glob("*.c3d")} - rows.keys()  # and of nobody
    assert {"Empty.c3d", "badParameterOffset.c3d", "truncated_header_only_1024B.c3d"} <= unreadable
    listed = summary.partition("In no table: cannot be read")[2]
    assert "  Empty.c3d\n  badParameterOffset.c3d\n" in listed
    assert rows["unzeroed_baseline_plates.c3d"]["role"] == "static"  # the last of its rows: there is no static file
    assert "Also used as static" in summary
    assert "no force plate" in " ".join(finding.what for finding in check(study))


def test_an_unreadable_file_is_left_out_with_its_reason(study: Path) -> None:
    whole = (study / "sub-01" / "fast_01.c3d").read_bytes()
    (study / "sub-01" / "fast_01.c3d").write_bytes(whole[: len(whole) // 2])
    summary = initialise(study)
    assert trials_of(study)["sub-01/fast_01.c3d"]["role"] == "exclude"
    assert "cut off" in summary
    assert str(study / "sub-01") not in summary  # the study's own paths, relative to it


def test_many_files_that_are_cut_off_are_one_line(study: Path) -> None:
    """Beside good recordings, and alone; each is cut off elsewhere, so that no two are said to be the same."""
    whole = (study / "sub-01" / "fast_01.c3d").read_bytes()
    for i in range(12):
        (study / "sub-01" / f"cut_{i}.c3d").write_bytes(whole[: len(whole) // 2 + 512 * i])
    said = initialise(study)
    assert said.count("cut off: ") == 1
    assert "cut_0.c3d" in said
    alone = study.parent / "alone"
    alone.mkdir()
    for file in (study / "sub-01").glob("cut_*"):
        file.rename(alone / file.name)
    with pytest.raises(UserError) as refused:
        initialise(alone)
    assert len(refused.value.problems) == 2
    assert "12 times" in str(refused.value)


def test_a_defect_on_one_file_costs_only_this_file(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever reading or judging a file raises, the others get their rows, and check lists the rest."""
    for path in study.glob("sub-*/*_0[23].c3d"):
        path.unlink()

    def broken(source: Source) -> Recording:
        if source.path.name == "fast_01.c3d":
            raise IndexError("Erika Mustermann")  # texts of exceptions may quote the file
        return read_c3d(source.path, subject=source.subject, participant=source.participant)

    monkeypatch.setattr("pipeline.steps.read.recording_contents.read_recording", broken)
    summary = initialise(study)
    assert "cannot be understood (IndexError, test_init.py line" in summary
    assert "Mustermann" not in summary
    roles = {file: row["role"] for file, row in trials_of(study).items()}
    assert {file for file, role in roles.items() if role == "exclude"} == {f"sub-0{n}/fast_01.c3d" for n in (1, 2)}
    edit(study / "trials.tsv", "exclude\tn/a", "gait\tfast")
    errors = [finding for finding in check(study) if finding.severity == "error"]
    assert {finding.where for finding in errors} == {f"sub-0{n}/fast_01.c3d" for n in (1, 2)}


def test_two_trc_files_of_one_c3d_file_have_names_of_their_own(study: Path) -> None:
    for folder in ("TRC", "exported"):
        (study / "sub-01" / folder).mkdir()
        as_opensim(study / "sub-01/fast_01.c3d", study / f"sub-01/{folder}/fast_01.trc", None)
    initialise(study)
    rows = trials_of(study)
    doubles = [rows[f"sub-01/{folder}/fast_01.trc"] for folder in ("TRC", "exported")]
    assert [(row["trial"], row["role"]) for row in doubles] == [
        ("fast_01_trc", "exclude"),
        ("fast_01_trc_2", "exclude"),
    ]
    assert [finding for finding in check(study) if finding.severity == "error"] == []


def test_unknown_labels_still_give_tables(study: Path) -> None:
    """A lab with labels of its own gets its tables, its labels, and body_model as a line to fill in."""

    def name_anew(content: ezc3d.c3d) -> None:
        labels = content["parameters"]["POINT"]["LABELS"]
        labels["value"] = [f"P{i}" for i in range(len(labels["value"]))]

    for path in study.rglob("*.c3d"):
        rewrite(path, name_anew)
    summary = initialise(study)
    assert "Body model: none fits" in summary
    assert "P0, P1" in summary
    assert "The nearest is" in summary
    proposal = settings.load_body_model("body_model_proposal.yaml", where="", study_path=study)
    assert proposal.definition["name"] == "our_own"
    assert read_yaml(study / "study.yaml") == {"body_model": None}
    (unset,) = [finding for finding in check(study) if finding.severity == "error"]
    assert unset.what.startswith("body_model is not set. The nearest is")
    roles = [row["role"] for row in trials_of(study).values()]
    assert roles.count("static") == 2
    assert roles.count("exclude") == 0


def test_the_summary_shows_the_first_file_of_people_whose_names_are_hidden(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # no header is wrapped
    assert "first file" not in initialise(study)
    for name in WRITTEN:
        (study / name).unlink()
    (study / "sub-02").rename(study / "Erika Mustermann")
    summary = " ".join(initialise(study).split())
    assert "first file" in summary
    assert "Erika Mustermann/comfortable_01.c3d" in summary
    assert not any("Mustermann" in line.replace("Erika Mustermann/", "") for line in (study / "trials.tsv").open())


def test_a_mistake_in_the_folder_is_one_plain_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        initialise(tmp_path / "absent")
    with pytest.raises(UserError, match="no C3D or TRC files"):
        initialise(tmp_path)
    (tmp_path / "a.c3d").write_bytes(b"nothing")
    with pytest.raises(UserError, match="none of its 1 recordings can be read"):
        initialise(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.c3d"]


def together(path: Path, files: dict[str, Path], **processing: float) -> None:
    """Write a C3D file of several people, each from a file of their own."""
    found = {name: read_c3d(file) for name, file in files.items()}
    frames = min(len(recording.markers) for recording in found.values())
    points = {
        f"{name}:{label}": recording.markers[:frames, i]
        for name, recording in found.items()
        for i, label in enumerate(recording.labels)
    }
    write_c3d(path, points, processing=processing)


def test_two_people_in_one_file_are_two_participants(tmp_path: Path) -> None:
    """A static of each and walks of both; the step read then takes each person's markers from the same file."""
    (tmp_path / "data").mkdir()
    own = {"A22": DEMO / "sub-01", "B07": DEMO / "sub-02"}
    for name, folder in own.items():
        together(tmp_path / "data" / f"static_{name}.c3d", {name: folder / "static.c3d"}, Bodymass=70.0)
    for walk in ("comfortable_01", "fast_01"):
        both = {name: folder / f"{walk}.c3d" for name, folder in own.items()}
        together(tmp_path / "data" / f"{walk}.c3d", both, Bodymass=99.0)  # of which person?
    assert "Several people in one file" in initialise(tmp_path)
    people = study_tables.read_participants(tmp_path / "participants.tsv")
    assert {name: float(row["mass_kg"]) for name, row in people.items()} == {"A22": 70, "B07": 70}
    for name, rows in study_tables.read_trials(tmp_path / "trials.tsv", people).items():
        assert {row["file"] for row in rows if row["role"] == "static"} == {f"data/static_{name}.c3d"}
        walks = {(row["trial"], row["subject"]) for row in rows if row["role"] == "gait"}
        assert walks == {("comfortable_01", name), ("fast_01", name)}
    assert {finding.what for finding in check(tmp_path)} == {
        "no force plate and no gait events: cycles are found from the motion of the feet"
    }
    model = settings.load_body_model(name_of_model(tmp_path), where="study.yaml", study_path=tmp_path)
    for person, rows in study_tables.read_trials(tmp_path / "trials.tsv", people).items():
        for row in rows:
            chosen: Any = study_tables.person_of(row, people)
            mine = read(tmp_path / row["file"], body_model=model, lab_axes="quarter_turn", **chosen)
            source = own[person] / Path(row["file"]).name.replace(f"static_{person}", "static")
            alone = read(source, body_model=model, lab_axes="quarter_turn").isel(time=slice(mine.sizes["time"]))
            # written again in single precision, mm
            np.testing.assert_allclose(mine.marker_position, alone.marker_position, atol=1e-6)


@pytest.mark.parametrize("taken", [False, True])
def test_a_trc_twin_of_a_c3d_gets_a_trial_name_of_its_own(taken: bool) -> None:
    row = {"participant_id": "P1", "session": "P1", "role": "gait", "condition": "walk"}
    rows = [row | {"trial": "walk_01", "file": "walk_01.c3d"}]
    rows += [row | {"trial": "walk_01_trc", "file": "walk_01_trc.c3d"}] if taken else []
    found = _rows_of_doubles(rows, {"TRC/walk_01.trc": "walk_01.c3d", "again/walk_01.trc": "walk_01.c3d"})
    assert [one["file"] for one in found] == ["TRC/walk_01.trc", "again/walk_01.trc"]
    assert {(one["session"], one["role"], one["condition"]) for one in found} == {("P1", "exclude", "n/a")}
    trials = [one["trial"] for one in (*rows, *found)]
    assert len({*trials}) == len(trials)
    assert (found[0]["trial"] == "walk_01_trc") is not taken
    assert all(one["trial"].startswith("walk_01_trc") for one in found)
