"""Wrong settings and tables are refused with plain messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import UserError
from pipeline.tables import study_tables
from pipeline.workflow import settings
from pipeline.workflow.open_study import open_study
from pipeline.workflow.run_snakemake import run
from pipeline.workflow.strict_yaml import LARGEST_FILE_BYTES, read_yaml
from tests.support.files.changes import edit

SCHEMA = settings.schema("settings")


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_study_wins_over_body_model_and_body_model_over_default(tmp_path: Path) -> None:
    def chosen(own: dict[str, object]) -> str:
        return str(settings.load_settings(own, where="study.yaml", study_path=tmp_path)[0]["calibrate"]["hip_centre"])

    assert chosen({"body_model": "isb_clusters"}) == "harrington"
    assert chosen({"body_model": "plug_in_gait"}) == "davis"
    assert chosen({"body_model": "plug_in_gait", "calibrate": {"hip_centre": "hara"}}) == "hara"


def test_the_age_of_a_child_is_part_of_its_calibration_and_that_of_an_adult_is_not(demo: Path) -> None:
    def of_people() -> list[dict[str, Any]]:
        study = open_study(demo)
        return [study.calibration_of(session) for session in study.sessions]

    before = of_people()
    edit(demo / "participants.tsv", "58", "59")
    assert of_people() == before
    edit(demo / "participants.tsv", "59", "8")
    adult, child = of_people()
    assert adult == before[0]
    assert (child["segment_table"]["name"], child["segment_table"]["age_years"]) == ("jensen", 8)


@pytest.mark.parametrize(
    ("name", "method"), [("isb_clusters", "linked"), ("cast", "linked"), ("opencap", "segments"), ("cgm2", "segments")]
)
def test_clusters_of_four_are_linked_unless_the_study_says_otherwise(tmp_path: Path, name: str, method: str) -> None:
    def chosen(**own: object) -> object:
        study = {"body_model": name, **own}
        return settings.load_settings(study, where="study.yaml", study_path=tmp_path)[0]["kinematics"]["method"]

    assert chosen() == method
    assert all(chosen(kinematics={"method": each}) == each for each in ("segments", "linked"))


def test_every_problem_is_reported_at_once_with_the_nearest_name(tmp_path: Path) -> None:
    own = {"body_model": "isb_clusters", "cleen": {}, "clean": {"marker_cutoff_hz": -1, "filter_ordre": 4}}
    with pytest.raises(UserError) as error:
        settings.load_settings(own, where="study.yaml", study_path=tmp_path)
    lines = str(error.value).splitlines()
    assert len(lines) == 3
    assert "study.yaml: unknown key 'cleen'; did you mean 'clean'?" in lines
    assert "study.yaml: unknown key 'clean.filter_ordre'; did you mean 'filter_order'?" in lines
    assert "study.yaml: clean.marker_cutoff_hz is -1; expected a number above 0 or residual or null" in lines


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (
            {"calibrate": {"hip_centre": "harington"}},
            "calibrate.hip_centre is \"harington\"; did you mean 'harrington'?",
        ),
        ({"calibrate": {"hip_centre": "x"}}, 'calibrate.hip_centre is "x"; expected one of harrington, harr'),
        (
            {"kinematics": {"joint_limits": {"knee": [-5, 5]}}},
            'joint_limits is "knee"; expected (hip|knee|ankle) (flex',
        ),
        (
            {"kinematics": {"marker_weights": {"heel": 2, "toe_left": 2, "tigh": 2}}},
            "study.yaml: kinematics.marker_weights: the linked legs have no segment and no marker 'tigh'; did you mean",
        ),
        (
            {"kinematics": {"marker_weights": {"lateral_malleolus": 2}}},
            "no marker 'lateral_malleolus'; expected one of pelvis",
        ),
        ({"marker_cutoff_hz": 6}, "unknown key 'marker_cutoff_hz'; write it below 'clean:'"),
        ({"clean": {"marker_mm": 1}}, "unknown key 'clean.marker_mm'; write it below 'kinetics.uncertainty_sizes:'"),
        ({"kinetics": {"uncertainty_draws": 20_000}}, "expected a whole number of at least 0 and at most 10000"),
        ({"report": {"title": ["x"]}}, 'report.title is ["x"]; expected text of at most 200 characters'),
        ({"clean": 5}, "clean is 5; expected 'key: value' lines"),
        (
            {"push": {"factor": 2}},
            "study.yaml: no step or extra has the section 'push'; install the extra that has it (docs/extras.md), or",
        ),
        ({"push": 2}, "study.yaml: unknown key 'push'; expected one of body_model, "),
        ({"cycels": {}}, "study.yaml: unknown key 'cycels'; did you mean 'cycles'?"),
        ({"clean": {"push": {"factor": 2}}}, "study.yaml: unknown key 'clean.push'; expected one of "),
    ],
)
def test_the_remedy_for_a_wrong_setting_names_the_right_ones(
    tmp_path: Path, own: dict[str, object], expected: str
) -> None:
    with pytest.raises(UserError) as error:
        settings.load_settings({"body_model": "isb_clusters", **own}, where="study.yaml", study_path=tmp_path)
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &x [1]\nb: *x\n", "aliases"),
        ("clean: {max_gap_s: 1}\nclean: {max_gap_s: 2}\n", "given twice"),
        ("- a\n- b\n", "expected 'key: value' lines"),
        ("a: [", "not valid YAML"),
        *(
            (f"a: !!{kind} {text}", "not valid YAML")
            for kind in ("int", "float", "bool")
            for text in ('""', '"-"', "x")
        ),
        *((f"a: !!{kind} {text}", "not valid YAML") for kind in ("map", "set") for text in ("x", "[x]", "[[x, y]]")),
        ("# " + "x" * LARGEST_FILE_BYTES, "larger than"),
    ],
)
def test_unsafe_or_broken_yaml_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        read_yaml(write(tmp_path / "study.yaml", text))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        *(("012", "10"), ("-012", "-10"), ("0_1", "1"), ("1:30", "90"), ("1:30.5", "90.5"), ("190:20:30", "685230")),
        *(("0x10", "16"), ("0b11", "3"), ("0o12", "10"), ("1_000", "1000"), ("1_0.5", "10.5")),
        *((".inf", "inf"), ("-.inf", "-inf"), (".nan", "nan"), ("!!int 012", "10"), ("!!float 1:30", "90")),
    ],
)
def test_a_number_that_yaml_reads_as_another_is_refused_by_its_key(tmp_path: Path, text: str, read: str) -> None:
    digits = text.rpartition(" ")[2]
    for content, key in (
        (f"clean:\n  marker_cutoff_hz: {text}\n", "clean.marker_cutoff_hz"),
        (f"clean: {{marker_cutoff_hz: {text} }}\n", "clean.marker_cutoff_hz"),
        (f"kinematics: {{joint_limits: {{knee flexion: [{text}, 5]}}}}\n", "kinematics.joint_limits.knee flexion"),
        (f"clean: {{emg_channels: {{{text} : left soleus}}}}\n", "clean.emg_channels"),
        (f"- {text}\n", "the value"),
        (f"{text}\n", "the value"),
    ):
        path = write(tmp_path / "study.yaml", content)
        with pytest.raises(UserError) as error:
            read_yaml(path)
        (line,) = str(error.value).splitlines()
        assert line.startswith(f"{path}: {key} is {digits}, which YAML reads as {read}; write ")


def test_numbers_in_body_models_and_command_lines_are_read_alike(tmp_path: Path) -> None:
    write(tmp_path / "ours.yaml", "name: ours\nextends: isb_clusters\nsettings:\n  clean: {marker_cutoff_hz: 012}\n")
    with pytest.raises(UserError, match=r"ours.yaml: settings.clean.marker_cutoff_hz is 012, which YAML reads as 10; "):
        settings.load_body_model("ours.yaml", where="study.yaml", study_path=tmp_path)
    with pytest.raises(
        UserError, match=r"^--config or --configfile: clean.max_gap_s: the value is 1:30, which YAML reads as 90"
    ):
        settings.typed({"clean": {"max_gap_s": "1:30"}}, SCHEMA)
    path = write(tmp_path / "more.yaml", "clean: {marker_cutoff_hz: 012}\n")
    with pytest.raises(UserError, match=r"more.yaml: clean.marker_cutoff_hz is 012, which YAML reads as 10; "):
        run(tmp_path, ["--configfile", str(path), "--cores", "1"])


def test_every_such_number_of_a_file_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "study.yaml", "clean: {marker_cutoff_hz: 012, force_cutoff_hz: 10, max_gap_s: 1:00}\n")
    with pytest.raises(UserError) as error:
        read_yaml(path)
    named = [line.removeprefix(f"{path}: ").partition(" is ")[0] for line in str(error.value).splitlines()]
    assert named == ["clean.marker_cutoff_hz", "clean.max_gap_s"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(
            ("12", 12),
            ("+5", 5),
            ("-5", -5),
            ("0", 0),
            ("-0", 0),
            (".5", 0.5),
            ("5.", 5.0),
            ("0.5", 0.5),
            ("00.5", 0.5),
        ),
        *(("12e0", 12.0), ("1e-3", 0.001), ("1E5", 1e5), ("1.5e3", 1500.0), ("-.5e+1", -5.0), ("+1.e2", 100.0)),
        *(("'012'", "012"), ('"1:30"', "1:30"), ("!!str 012", "012"), ("1.2.3", "1.2.3"), ("e5", "e5"), ("1e", "1e")),
        *(("08", "08"), ("walk_01", "walk_01"), ("0o9", "0o9"), ("10 Hz", "10 Hz"), ("no", False), ("null", None)),
    ],
)
def test_plain_numbers_and_texts_are_what_they_look_like(tmp_path: Path, text: str, value: object) -> None:
    (read,) = read_yaml(write(tmp_path / "study.yaml", f"a: {text}\n")).values()
    assert (read, type(read)) == (value, type(value))


def test_a_body_model_may_be_a_file_of_the_study(tmp_path: Path) -> None:
    shipped = (settings.CONFIG / "body_models" / "isb_clusters.yaml").read_text()
    write(tmp_path / "mine.yaml", shipped.replace("name: isb_clusters", "name: mine"))
    assert settings.load_body_model("mine.yaml", where="study.yaml", study_path=tmp_path).name == "mine"
    write(tmp_path / "bad.yaml", shipped.replace("landmarks:", "landmark:"))
    with pytest.raises(UserError, match="unknown key 'landmark'; did you mean 'landmarks'"):
        settings.load_body_model("bad.yaml", where="study.yaml", study_path=tmp_path)


def test_a_body_model_may_name_only_what_it_has(tmp_path: Path) -> None:
    shipped = (settings.CONFIG / "body_models" / "isb_clusters.yaml").read_text()
    broken = shipped.replace("medial_malleolus], moves_with: shank", "medial_maleolus]").replace(
        "cluster: [heel", "cluster: [heal"
    )
    write(tmp_path / "bad.yaml", broken)
    with pytest.raises(UserError) as error:
        settings.load_body_model("bad.yaml", where="study.yaml", study_path=tmp_path)
    assert str(error.value).splitlines() == [
        "bad.yaml: joint_centres.ankle: midpoint lacks 'moves_with' or 'in_motion'; add it",
        "bad.yaml: joint_centres.ankle: no landmark 'medial_maleolus'; did you mean 'medial_malleolus'?",
        "bad.yaml: segments.foot: no landmark 'heal'; did you mean 'heel'?",
    ]


def test_values_from_the_command_line_are_typed() -> None:
    """Snakemake gives nested --config values as text."""
    clean = {"max_gap_s": "0.2", "marker_cutoff_hz": "null", "force_cutoff_hz": "1e1", "marker_filter": "butterworth"}
    given: dict[str, Any] = {"clean": clean, "run": {"fail_on_rejection": "true"}, "report": {"laboratory": "~"}}
    given["kinematics"] = {"marker_weights": {"thigh": "2"}, "upper_body": "no"}
    assert settings.typed(given, SCHEMA) == {
        "clean": clean | {"max_gap_s": 0.2, "marker_cutoff_hz": None, "force_cutoff_hz": 10.0},
        "run": {"fail_on_rejection": True},
        "report": {"laboratory": None},
        "kinematics": {"marker_weights": {"thigh": 2}, "upper_body": False},
    }


@pytest.mark.parametrize("text", ["2024", "Lab: one", "no", "012", "1:30", "[x]", "'", "2024-01-01", "# 5"])
def test_a_text_of_the_command_line_stays_one_where_the_setting_is_a_text(demo: Path, text: str) -> None:
    """As Snakemake gives it, of ``--config`` or quoted in a file of ``--configfile``."""
    for name in ("title", "laboratory"):
        study = open_study(demo, overrides={"report": {name: text}})
        assert study.settings["report"][name] == text
    assert settings.typed({"clean": {"emg_channels": {"1": "left soleus"}}}, SCHEMA) == {
        "clean": {"emg_channels": {"1": "left soleus"}}
    }


def test_null_is_a_text_only_where_nothing_can_be_meant(demo: Path) -> None:
    report = open_study(demo, overrides={"report": {"title": "null", "laboratory": "null"}}).settings["report"]
    assert (report["title"], report["laboratory"]) == ("null", None)


PARTICIPANTS = "participant_id\tmass_kg\theight_m\tsex\tgroup\n"
TRIALS = "participant_id\ttrial\tfile\trole\tcondition\n"


def test_participants_are_read_as_text_with_free_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "participants.tsv", "\ufeff" + PARTICIPANTS + "012\t70.5\tn/a\tF\tno\n")
    assert study_tables.read_participants(path)["012"]["group"] == "no"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("../x\t70\t1.7\tM\t1", "use letters"),
        ("a\t1.070,5\t1.7\tM\t1", "write a point, not a comma"),
        ("a\t7000\t1.7\tM\t1", "mass_kg is 7000; expected 2 to 400"),
        ("a\t70\t170\tM\t1", "height_m is 170; give metres: 1.7 m"),
        ("a\t70\t1.7\tmale\t1", "sex is 'male'"),
        ("a\t70\t1.7\tM", "line 2 has 4 cells, the header 5"),
        ("a\t70\t1.7\tM\t1\na\t70\t1.7\tM\t1", "a: two rows"),
        ("a\tnan\tinf\tM\t1", "height_m is 'inf'"),
    ],
)
def test_wrong_participants_are_refused(tmp_path: Path, row: str, expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        study_tables.read_participants(write(tmp_path / "participants.tsv", PARTICIPANTS + row + "\n"))


def test_a_misspelt_optional_column_is_reported(tmp_path: Path) -> None:
    text = PARTICIPANTS.replace("group", "knee_width_rigth_m") + "a\t70\t1.7\tM\t0.1\n"
    with pytest.raises(UserError, match="did you mean 'knee_width_right_m'"):
        study_tables.read_participants(write(tmp_path / "participants.tsv", text))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("a\tw/1\tw.c3d\tgait\tx", "use letters"),
        ("b\tw\tw.c3d\tgait\tx", "participant 'b' is not in participants.tsv"),
        ("a\tw\tw.c3d\twalk\tx", "role is 'walk'"),
        ("a\tw\t../w.c3d\tgait\tx", "not inside the study"),
        ("a\tw\t/etc/passwd\tgait\tx", "not inside the study"),
        ("a\tw\tw.c3d\tgait\tx\na\tw\tv.c3d\tgait\tx", "two trials of this name"),
        ("a\ts\tw.c3d\tstatic\tx\na\tt\tv.c3d\tstatic\tx", "2 static trials"),
        ("a\tw\tw.c3d\texclude\tx", "no trials"),
    ],
)
def test_wrong_trials_are_refused(tmp_path: Path, rows: str, expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        study_tables.read_trials(write(tmp_path / "trials.tsv", TRIALS + rows + "\n"), {"a": {}})


def test_a_date_as_a_key_below_a_setting_is_refused(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("body_model: {2000-01-01: null, lab: 1}\n")
    with pytest.raises(UserError, match=r'body_model is \{"lab": 1\}'):
        settings.load_settings(read_yaml(tmp_path / "study.yaml"), where="study.yaml", study_path=tmp_path)


@pytest.mark.parametrize("path", sorted(settings.CONFIG.rglob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_files_are_read_as_strictly_as_those_of_a_study(path: Path) -> None:
    name = path.relative_to(settings.CONFIG).with_suffix("").as_posix()
    assert settings._config(name) == read_yaml(path)


def test_excluded_trials_are_left_out_and_sessions_default_to_the_participant(tmp_path: Path) -> None:
    rows = "a\tw\tw.c3d\tgait\tx\na\tv\tv.c3d\texclude\tx\n"
    sessions = study_tables.read_trials(write(tmp_path / "trials.tsv", TRIALS + rows), {"a": {}})
    assert [row["trial"] for row in sessions["a"]] == ["w"]


def test_segments_are_complete_and_known(tmp_path: Path) -> None:
    header = "\t".join(study_tables.SEGMENT_COLUMNS)
    good = "a\tleft\tfoot\t1\t0.05\t-0.04\t0\t0.001\t0.004\t0.004\t0\t0\t0\n"
    path = write(tmp_path / "segments.tsv", f"{header}\n{good}")
    assert study_tables.read_segments(path, {"a": {}})["a"][0]["segment"] == "foot"
    write(path, f"{header}\n{good.replace('left', 'both').replace('0.001', '')}")
    with pytest.raises(UserError, match=r"(?s)unknown side or segment.*ixx_kg_m2 is missing"):
        study_tables.read_segments(path, {"a": {}})
    assert study_tables.read_segments(tmp_path / "absent.tsv", {"a": {}}) == {}
