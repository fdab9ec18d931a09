# mypy: allow-untyped-defs
"""``python -m pipeline init``: from bare C3D files back to the tables that a careful person would write."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import ezc3d
import numpy as np
import pytest
from conftest import HOUSE, copy_study
from recordings import write_c3d

from pipeline import guesses, needs, settings, tables
from pipeline.c3d import read_c3d
from pipeline.check import check
from pipeline.errors import UserError
from pipeline.guessed_people import people_and_sessions
from pipeline.guesses import File
from pipeline.initialise import WRITTEN, initialise
from pipeline.read import read

DEMO = HOUSE / "data" / "demo"


def bare(source: Path, target: Path) -> Path:
    """Copy a study without its tables."""
    copy_study(source, target)
    for name in (*WRITTEN, "segments.tsv"):
        (target / name).unlink(missing_ok=True)
    return target


def standing(name: str) -> File:
    return File(name, extent_m=0.001)


def moving(name: str) -> File:
    return File(name, extent_m=3.0)


def trials_of(study: Path) -> dict[str, tables.Row]:
    """Return the rows of trials.tsv by file."""
    return {row["file"]: row for row in tables.read_table(study / "trials.tsv", required=("file",))}


def test_the_demonstration_is_found_again(tmp_path: Path) -> None:
    study = bare(DEMO, tmp_path / "demo")
    summary = initialise(study)
    participants = tables.read_participants(study / "participants.tsv")
    known = tables.read_participants(DEMO / "participants.tsv")
    assert settings.read_yaml(study / "study.yaml") == {"body_model": "isb_clusters"}
    assert list(participants) == list(known)
    for name, row in participants.items():
        # the files hold mass and height in single precision: seven digits, six are written
        for column in ("mass_kg", "height_m"):
            assert float(row[column]) == pytest.approx(float(known[name][column]), rel=1e-5)
        assert row["sex"] == "n/a"
        assert row["guessed"].split() == ["participant_id", "mass_kg", "height_m"]
    sessions = tables.read_trials(study / "trials.tsv", participants)
    wanted = tables.read_trials(DEMO / "trials.tsv", known)
    columns = ("participant_id", "trial", "file", "role", "condition")
    for name, rows in wanted.items():
        found = {tuple(row[column] for column in columns) for row in sessions[name]}
        assert found == {tuple(row[column] for column in columns) for row in rows}
    assert check(study) == []
    assert f"check {study}" in summary


@pytest.mark.parametrize("name", ["exact", "functional", "gait2354", "plug_in_gait"])
def test_real_studies_are_found_again(shared: Path, tmp_path: Path, name: str) -> None:
    source = shared / "studies" / name
    study = bare(source, tmp_path / name)
    initialise(study)
    assert settings.read_yaml(study / "study.yaml")["body_model"] == name_of_model(source)
    found = trials_of(study)
    participants = tables.read_participants(study / "participants.tsv")
    known = tables.read_participants(source / "participants.tsv")
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


def by_session(rows: dict[str, tables.Row]) -> dict[str, list[str]]:
    """Return the files of each session."""
    sessions: dict[str, list[str]] = {}
    for file, row in rows.items():
        sessions.setdefault(row.get("session") or row["participant_id"], []).append(file)
    return sessions


def name_of_model(study: Path) -> str:
    return str(settings.read_yaml(study / "study.yaml")["body_model"])


def test_odd_files_end_in_a_plain_line_each(shared: Path, tmp_path: Path) -> None:
    study = tmp_path / "odd"
    shutil.copytree(shared / "data" / "odd", study)
    summary = initialise(study)
    rows = trials_of(study)
    assert set(rows) == {path.name for path in study.glob("*.c3d")}
    for name in ("Empty.c3d", "badParameterOffset.c3d", "truncated_header_only_1024B.c3d"):
        assert rows[name]["role"] == "exclude"
        assert f"  {name}\n" in summary
    assert rows["nan_markers_no_forces.c3d"]["role"] == "static"  # the last of its two rows: no file stands still
    assert "Its own static" in summary
    assert "no force plate" in " ".join(finding.what for finding in check(study))


def test_what_exists_is_kept(tmp_path: Path) -> None:
    study = bare(DEMO, tmp_path / "demo")
    (study / "trials.tsv").write_text("mine\n")
    assert "Kept as they are: trials.tsv" in initialise(study)
    assert (study / "trials.tsv").read_text() == "mine\n"
    before = {name: (study / name).read_bytes() for name in WRITTEN}
    assert "nothing written" in initialise(study)
    assert {name: (study / name).read_bytes() for name in WRITTEN} == before


def test_a_body_model_already_chosen_is_the_one_that_counts(tmp_path: Path) -> None:
    study = bare(DEMO, tmp_path / "demo")
    shutil.copy(settings.CONFIG / "body_models" / "isb_clusters.yaml", study / "our_lab.yaml")
    (study / "study.yaml").write_text("body_model: our_lab.yaml\n")
    assert re.search(r"our_lab\.yaml +100%", initialise(study))
    assert len([row for row in trials_of(study).values() if row["role"] == "static"]) == 2


def test_folders_names_and_suffixes_of_any_kind(tmp_path: Path) -> None:
    """Two visits of one person, each with its static; another person without folders below; names with anything in."""
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
        shutil.copy(DEMO / "sub-01" / f"{trial}.c3d", study / place)
    initialise(study)
    rows = trials_of(study)
    assert set(rows) == set(places)
    sessions = ["Grue-1_pre"] * 3 + ["Grue-1_post"] * 2 + ["P-2"] * 2
    assert [rows[place]["session"] for place in places] == sessions
    assert [rows[place]["participant_id"] for place in places] == ["Grue-1"] * 5 + ["P-2"] * 2
    assert {place for place, row in rows.items() if row["role"] == "static"} == {
        place for place, trial in places.items() if trial == "static"
    }
    assert rows["P 2/Fast Walking 1.c3d"]["condition"] == "Fast-Walking"
    assert [finding for finding in check(study) if finding.severity == "error"] == []


def test_the_static_that_shows_more_is_taken(tmp_path: Path) -> None:
    """Of two files standing still, the one without medial markers cannot calibrate the session."""
    study = bare(DEMO, tmp_path / "demo")
    relabel(study / "sub-01" / "static.c3d", study / "sub-01" / "a_static.c3d", {"LMEK": "X1", "RMML": "X2"})
    summary = initialise(study)
    rows = trials_of(study)
    assert rows["sub-01/static.c3d"]["role"] == "static"
    assert rows["sub-01/a_static.c3d"]["role"] == "exclude"
    assert "another static serves the session" in summary


def test_an_unreadable_file_is_left_out_with_its_reason(tmp_path: Path) -> None:
    study = bare(DEMO, tmp_path / "demo")
    whole = (study / "sub-01" / "fast_01.c3d").read_bytes()
    (study / "sub-01" / "fast_01.c3d").write_bytes(whole[: len(whole) // 2])
    summary = initialise(study)
    assert trials_of(study)["sub-01/fast_01.c3d"]["role"] == "exclude"
    assert "cut off" in summary
    assert str(study / "sub-01") not in summary  # the study's own paths, relative to it


def test_unknown_labels_leave_the_roles_to_be_named_later(tmp_path: Path) -> None:
    """A lab with labels of its own gets its tables, and is told that no shipped body model fits."""
    study = bare(DEMO, tmp_path / "demo")
    for path in study.rglob("*.c3d"):
        relabel(path, path, {})
    summary = initialise(study)
    assert "none knows these labels" in summary
    roles = [row["role"] for row in trials_of(study).values()]
    assert roles.count("static") == 2
    assert roles.count("exclude") == 0


def test_names_inside_files_go_nowhere(tmp_path: Path) -> None:
    study = bare(DEMO, tmp_path / "demo")
    content = ezc3d.c3d(str(study / "sub-01" / "static.c3d"))
    content["parameters"]["SUBJECTS"]["NAMES"]["value"] = ["Erika Mustermann"]
    content.write(str(study / "sub-01" / "static.c3d"))
    told = initialise(study) + "".join((study / name).read_text() for name in WRITTEN)
    told += "".join(" ".join(finding) for finding in check(study))
    assert "Mustermann" not in told


def test_a_mistake_in_the_folder_is_one_plain_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        initialise(tmp_path / "absent")
    with pytest.raises(UserError, match="no C3D files"):
        initialise(tmp_path)
    (tmp_path / "a.c3d").write_bytes(b"nothing")
    with pytest.raises(UserError, match="none of its 1 C3D files can be read"):
        initialise(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.c3d"]


@pytest.mark.parametrize(
    ("names", "people", "sessions"),
    [
        (["a.c3d", "b.c3d"], ["sub-01"] * 2, ["sub-01"] * 2),
        (["P1/a.c3d", "P2/a.c3d"], ["P1", "P2"], ["P1", "P2"]),
        (["raw/P1/a.c3d", "raw/P2/a.c3d"], ["P1", "P2"], ["P1", "P2"]),
        (["session1/P1/a.c3d", "session2/P1/a.c3d"], ["P1"] * 2, ["P1"] * 2),
        (["P1/day1/a.c3d", "P1/day2/a.c3d"], ["P1"] * 2, ["P1_day1", "P1_day2"]),
        (["2024-05-01/a.c3d", "2024-06-01/a.c3d"], ["sub-01"] * 2, ["sub-01_2024-05-01", "sub-01_2024-06-01"]),
        (["controls/P1/a.c3d", "patients/P9/a.c3d"], ["P1", "P9"], ["P1", "P9"]),
        (["p1/a.c3d", "P1/a.c3d"], ["p1", "P1_2"], ["p1", "P1_2"]),
        (["a.c3d", "P1/a.c3d"], ["unsorted", "P1"], ["unsorted", "P1"]),
        (["lab/Patient 1/New Session/a.c3d"], ["Patient-1"], ["Patient-1"]),
        (["Clinic/Ann B/Session 1/a.c3d", "Clinic/Cy D/Session 1/a.c3d"], ["Ann-B", "Cy-D"], ["Ann-B", "Cy-D"]),
        (["young/sub-01/a.c3d", "old/sub-01/a.c3d"], ["young_sub-01", "old_sub-01"], ["young_sub-01", "old_sub-01"]),
        (["S01_walk_1.c3d", "S02_walk_1.c3d", "S02_cal.c3d"], ["S01", "S02", "S02"], ["S01", "S02", "S02"]),
        (["walk01_a.c3d", "walk02_b.c3d"], ["sub-01"] * 2, ["sub-01"] * 2),
    ],
)
def test_people_and_sessions_from_folders(names: list[str], people: list[str], sessions: list[str]) -> None:
    found = people_and_sessions([standing(name) for name in names])
    assert [person for person, _ in found] == people
    assert [session for _, session in found] == sessions


@pytest.mark.parametrize(
    ("subjects", "people"),
    [
        (["A22", "A22", ""], ["A22"] * 3),  # a blank one goes with the only one
        (["A22", "B7", ""], ["A22", "B7", "unsorted"]),
        (["Ann Bee", "Cy Dee", "Ann Bee"], ["sub-01", "sub-02", "sub-01"]),  # told apart, not named
        (["Ann Bee", "", ""], ["sub-01"] * 3),
    ],
)
def test_people_from_what_files_call_their_subject(subjects: list[str], people: list[str]) -> None:
    files = [replace(moving(f"{number}.c3d"), subject=name) for number, name in enumerate(subjects)]
    assert [person for person, _ in people_and_sessions(files)] == people


@pytest.mark.parametrize(
    ("folder", "people"),
    [
        ("", ["A22", "B07", "A22", "B07"]),  # a static of each, then both in two files
        ("Session 1/", ["A22", "B07", "A22", "B07"]),
        ("pair1/", ["pair1_A22", "pair1_B07", "pair1_A22", "pair1_B07"]),
    ],
)
def test_people_who_share_a_file_are_told_by_their_markers(folder: str, people: list[str]) -> None:
    files = [
        replace(standing(f"{folder}S1_a.c3d"), subject="A22"),
        replace(standing(f"{folder}S1_b.c3d"), subject="B07"),
    ]
    files += [replace(moving(f"{folder}S2_walk.c3d"), subject=name, shared=True) for name in ("A22", "B07")]
    assert [person for person, _ in people_and_sessions(files)] == people


def test_who_shares_a_file_may_have_a_folder_of_their_own() -> None:
    own = [replace(standing(f"{name}/static.c3d"), subject=name) for name in ("A22", "B07")]
    both = [replace(moving("A22/duo.c3d"), subject=name, shared=True) for name in ("A22", "B07")]
    assert [person for person, _ in people_and_sessions(own + both)] == ["A22", "B07", "A22", "B07"]


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
    """A static of each, and walks that show both; the step read then takes each one's markers from the same file."""
    (tmp_path / "data").mkdir()
    own = {"A22": DEMO / "sub-01", "B07": DEMO / "sub-02"}
    for name, folder in own.items():
        together(tmp_path / "data" / f"static_{name}.c3d", {name: folder / "static.c3d"}, Bodymass=70.0)
    for walk in ("comfortable_01", "fast_01"):
        both = {name: folder / f"{walk}.c3d" for name, folder in own.items()}
        together(tmp_path / "data" / f"{walk}.c3d", both, Bodymass=99.0)  # whose?
    assert "Several people in one file" in initialise(tmp_path)
    people = tables.read_participants(tmp_path / "participants.tsv")
    assert {name: float(row["mass_kg"]) for name, row in people.items()} == {"A22": 70, "B07": 70}
    for name, rows in tables.read_trials(tmp_path / "trials.tsv", people).items():
        assert {row["file"] for row in rows if row["role"] == "static"} == {f"data/static_{name}.c3d"}
        walks = {(row["trial"], row["subject"]) for row in rows if row["role"] == "gait"}
        assert walks == {("comfortable_01", name), ("fast_01", name)}
    assert {finding.what for finding in check(tmp_path)} == {
        "no force plate and no gait events: cycles are told by the motion of the feet"
    }
    model = settings.load_body_model(name_of_model(tmp_path), where="study.yaml", study_path=tmp_path)
    for rows in tables.read_trials(tmp_path / "trials.tsv", people).values():
        for row in rows:
            mine = read(tmp_path / row["file"], body_model=model, lab_axes="quarter_turn", **tables.whose(row, people))
            source = own[row["participant_id"]] / Path(row["file"]).name.replace(
                f"static_{row['participant_id']}", "static"
            )
            alone = read(source, body_model=model, lab_axes="quarter_turn").isel(time=slice(mine.sizes["time"]))
            # written again in single precision, mm
            np.testing.assert_allclose(mine.marker_position, alone.marker_position, atol=1e-6)


def test_statics_in_one_folder_make_sessions_where_names_pair_them() -> None:
    files = [standing("Cal_pre.c3d"), moving("Walk_pre_1.c3d"), standing("Cal_post.c3d"), moving("Walk_post_1.c3d")]
    roles = {file.name: "static" if file.stands else "gait" for file in files}
    groups = guesses.by_static(files, roles)
    assert groups == {"pre": files[:2], "post": files[2:]}
    files[1] = moving("Walk_fast_1.c3d")  # of which static?
    assert guesses.by_static(files, roles | {"Walk_fast_1.c3d": "gait"}) == {"": files}


def test_walks_that_share_a_name_share_a_condition() -> None:
    files = {name: moving(name) for name in ("A_flat_1.c3d", "A_flat_2.c3d", "A_odd.c3d", "Trial1.c3d", "Trial2.c3d")}
    found = guesses.conditions(files, dict.fromkeys(files, "gait"), dict.fromkeys(files, "A"))
    assert list(found.values()) == ["flat", "flat", "walk", "walk", "walk"]


def test_folders_with_one_static_between_them_are_one_session() -> None:
    files = [standing("P1/static/a.c3d"), moving("P1/walking/b.c3d"), moving("P2/walking/c.c3d")]
    assert [session for _, session in people_and_sessions(files)] == ["P1", "P1", "P2"]


@pytest.mark.parametrize(
    ("file", "role", "condition"),
    [
        (standing("walk_01.c3d"), "static", "static"),  # motion tells more than names
        (moving("Static.c3d"), "static", "static"),
        (moving("walk_01.c3d"), "gait", "walk"),
        (moving("HC002D06.c3d"), "gait", "walk"),
        (moving("slow walk 12.c3d"), "gait", "slow-walk"),
        (moving("FunctionalLHip.c3d"), "functional", "hip_left"),
        (moving("right_knee_func.c3d"), "functional", "knee_right"),
        (moving("FunctionalWalk.c3d"), "gait", "walk"),
        (moving("hip_replacement_walk_3.c3d"), "gait", "walk"),  # said once, it may mean anything
        (moving("walk_fast_01.c3d"), "gait", "walk_fast"),
        (moving("Barefoot 1.c3d"), "gait", "Barefoot"),
        (moving("LHJC.c3d"), "functional", "hip_left"),
        (standing("Stat.c3d"), "static", "static"),
    ],
)
def test_roles_by_motion_then_by_name(file: File, role: str, condition: str) -> None:
    assert guesses.role(file, "any", labelled=False) == role
    assert guesses.conditions({file.name: file}, {file.name: role}, {file.name: "sub-01"}) == {file.name: condition}


@pytest.mark.parametrize("text", ["a b", "ß", "-x-", "../../x", "日本", "a\tb", "x" * 300, "$(rm)", "", "1", "Ünï"])
def test_trial_names_are_valid_and_unique(text: str) -> None:
    names = guesses.trial_names([moving(f"{text}/{text}.c3d"), moving("a-b.c3d"), moving("A-B.c3d")])
    assert all(tables.IDENTIFIER.fullmatch(name) for name in names)
    assert len({name.lower() for name in names}) == 3


def test_extent_of_standing_and_walking() -> None:
    """White noise of 1 mm spans 2 x 1.645 standard deviations between its 5 and 95 % points on each axis."""
    rng = np.random.default_rng(1)
    still = rng.normal(scale=0.001, size=(2000, 20, 3))
    span = 2 * 1.645 * 0.001 * np.sqrt(3)
    # 200 frames are looked at: the points of a tail are then known to a tenth, the largest markers somewhat above
    assert needs.extent_m(still) == pytest.approx(span, rel=0.2)
    walking = still + np.linspace(0, 4, 2000)[:, None, None] * [1, 0, 0]
    assert needs.extent_m(walking) == pytest.approx(0.9 * 4, rel=0.01)  # nine tenths of the way
    still[:, 0] += np.linspace(0, 4, 2000)[:, None]  # one marker of twenty is somebody else's
    still[500:1200, 1:] = np.nan
    assert needs.extent_m(still) < needs.STANDING_M
    assert np.isnan(needs.extent_m(np.full((10, 3, 3), np.nan)))


def relabel(source: Path, target: Path, new: dict[str, str]) -> None:
    """Write a C3D file with other labels: those of ``new``, or all others where it is empty."""
    content = ezc3d.c3d(str(source))
    labels = content["parameters"]["POINT"]["LABELS"]["value"]
    content["parameters"]["POINT"]["LABELS"]["value"] = [
        new.get(label, label if new else f"our{label}") for label in labels
    ]
    content.write(str(target))
