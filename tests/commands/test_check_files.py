"""``gaitlab check``: problems of a study's files and of the rows that name them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import ezc3d
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pipeline.c3d.reader import read_c3d
from pipeline.commands.check.command import check
from pipeline.commands.check.file_findings import of_file
from pipeline.steps.read.recording_contents import contents_of
from tests.support.checkout import DEMO
from tests.support.files.changes import edit, relabel, rewrite, set_parameter
from tests.support.files.emg import add_channels
from tests.support.studies.check_findings import about, found


def test_rows_without_files_and_files_without_rows(demo: Path) -> None:
    edit(demo / "participants.tsv", "sub-02", "sub-03\t70\t1.7\tM\tyounger\t30\nsub-02")
    (demo / "sub-02" / "new.c3d").write_bytes((demo / "sub-02" / "static.c3d").read_bytes())
    findings = check(demo)
    assert about(findings, "sub-03").code == "participant_without_trials"
    assert about(findings, "sub-02/new.c3d").code == "recording_not_listed"


def test_a_file_that_counts_twice_is_named(demo: Path) -> None:
    edit(demo / "trials.tsv", "sub-01/fast_02.c3d", "sub-01/fast_01.c3d")
    assert ("warning", "sub-01/fast_01.c3d", "row_repeated") in found(demo)


def test_a_copy_of_a_recording_is_named_by_its_motion(demo: Path) -> None:
    """Also if something else in the file is changed."""
    copy = demo / "sub-01" / "fast_02.c3d"
    copy.write_bytes((demo / "sub-01" / "fast_01.c3d").read_bytes())
    set_parameter(copy, "SUBJECTS", "NAMES", ["another"])
    (copied,) = (finding for finding in check(demo) if finding.code == "recording_is_copy")
    assert {copied.where, copied.what.split()[-1]} == {"sub-01/fast_01.c3d", "sub-01/fast_02.c3d"}


def test_a_static_trial_may_be_copied_and_markers_may_be_lost_in_a_copied_walk(demo: Path) -> None:
    (demo / "sub-02" / "static.c3d").write_bytes((demo / "sub-01" / "static.c3d").read_bytes())
    file = ezc3d.c3d(str(demo / "sub-01" / "fast_01.c3d"))
    file["data"]["points"][:3, :, :60] = np.nan
    for name in ("fast_01", "fast_02"):
        file.write(str(demo / "sub-01" / f"{name}.c3d"))
    copied = [finding.where for finding in check(demo) if finding.code == "recording_is_copy"]
    assert copied in ([f"sub-01/{name}.c3d"] for name in ("fast_01", "fast_02"))


def test_links_are_followed_and_dead_ones_named(demo: Path, tmp_path: Path) -> None:
    (demo / "sub-01" / "fast_01.c3d").rename(tmp_path / "elsewhere.c3d")
    (demo / "sub-01" / "fast_01.c3d").symlink_to(tmp_path / "elsewhere.c3d")
    (demo / "again").symlink_to(demo / "sub-01")  # the same folder twice is one
    assert check(demo) == []
    (demo / "dead.C3D").symlink_to(tmp_path / "nowhere.c3d")
    assert found(demo) == {("warning", "dead.C3D", "recording_not_listed")}
    (tmp_path / "elsewhere.c3d").unlink()
    assert ("error", "sub-01/fast_01.c3d", "recording_unusable") in found(demo)


def test_a_session_needs_a_static_trial(demo: Path) -> None:
    edit(demo / "trials.tsv", "sub-02\tstatic\tsub-02/static.c3d\tstatic", "sub-02\tstatic\tsub-02/static.c3d\tgait")
    findings = check(demo)
    finding = next(finding for finding in findings if finding.where == "sub-02" and finding.severity == "warning")
    assert finding.code == "no_static_trial"
    assert "sub-02/static.c3d shows every marker" in finding.remedy


def test_a_walk_used_as_static_gives_a_warning(demo: Path) -> None:
    edit(demo / "trials.tsv", "sub-01/static.c3d", "sub-01/fast_01.c3d")
    assert found(demo) >= {
        ("warning", "sub-01/fast_01.c3d", "static_trial_moves"),
        ("error", "sub-01/fast_01.c3d", "markers_missing"),  # worn for the static trial only
        ("warning", "sub-01/static.c3d", "recording_not_listed"),
    }


def test_a_walk_in_which_nobody_walks_gives_a_warning(demo: Path) -> None:
    edit(demo / "trials.tsv", "sub-01/fast_01.c3d", "sub-01/static.c3d")
    assert ("warning", "sub-01/static.c3d", "nobody_walks") in found(demo)


def test_a_functional_trial_must_name_its_joint(demo: Path) -> None:
    edit(demo / "trials.tsv", "sub-01/fast_01.c3d\tgait", "sub-01/fast_01.c3d\tfunctional")
    assert ("warning", "sub-01/fast_01.c3d", "functional_trial_without_joint") in found(demo)


def test_a_functional_hip_centre_needs_its_trials(demo: Path) -> None:
    """Without any, the session is rejected; without one side, that side uses harrington."""
    edit(demo / "study.yaml", "isb_clusters", "isb_clusters\ncalibrate: {hip_centre: functional}")
    none = [finding for finding in check(demo) if finding.code == "functional_trial_missing"]
    assert [(finding.severity, finding.where) for finding in none] == [("error", "sub-01"), ("error", "sub-02")]
    edit(demo / "trials.tsv", "sub-01/fast_01.c3d\tgait\tfast", "sub-01/fast_01.c3d\tfunctional\tHip left")
    one = about(check(demo), "sub-01")
    assert (one.severity, one.code) == ("warning", "functional_trial_missing")
    assert "right hip: harrington" in one.what
    edit(demo / "trials.tsv", "sub-01/fast_02.c3d\tgait\tfast", "sub-01/fast_02.c3d\tfunctional\thip_right")
    assert [finding for finding in check(demo) if finding.where == "sub-01"] == []


def test_a_static_without_a_marker_names_the_nearest_label(demo: Path) -> None:
    rewrite(demo / "sub-01" / "static.c3d", relabel(LMEK="LMEKK", RMML="other"))
    finding = about(check(demo), "sub-01/static.c3d")
    assert finding.severity == "error"
    assert "medial epicondyle left (LMEK; did you mean 'LMEKK'?)" in finding.what
    assert "medial malleolus right (RMML)" in finding.what


def test_a_marker_that_is_never_visible_is_not_called_absent(demo: Path) -> None:
    def hide(content: ezc3d.c3d) -> None:
        content["data"]["points"][:3, content["parameters"]["POINT"]["LABELS"]["value"].index("LMEK")] = np.nan

    rewrite(demo / "sub-01" / "static.c3d", hide)
    assert "LMEK is never visible" in about(check(demo), "sub-01/static.c3d").what


def test_a_lost_cluster_loses_one_side_of_a_walk_or_both(demo: Path) -> None:
    """Two of the four markers of a shank do not determine its pose; one lost marker is no problem."""
    rewrite(demo / "sub-01" / "fast_01.c3d", relabel(LSK1="a", LSK2="b"))
    rewrite(demo / "sub-01" / "fast_02.c3d", relabel(LSK1="a", LSK2="b", RTH1="c", RTH3="d"))
    rewrite(demo / "sub-01" / "fast_03.c3d", relabel(LSK1="a"))
    one, both = check(demo)[::-1]
    assert (one.severity, one.where, one.what) == ("warning", "sub-01/fast_01.c3d", "lacks left shank cluster")
    assert (both.severity, both.where) == ("error", "sub-01/fast_02.c3d")
    assert both.what == "lacks right thigh cluster, left shank cluster"


@pytest.mark.parametrize(("unit", "numbers"), [("m", "mm"), ("cm", "mm")])
def test_a_length_unit_that_contradicts_the_numbers_is_an_error(demo: Path, unit: str, numbers: str) -> None:
    """The demonstration is in mm; metres would make legs of a hundred metres."""
    set_parameter(demo / "sub-01" / "fast_01.c3d", "POINT", "UNITS", [unit])
    findings = [finding for finding in check(demo) if finding.code == "length_unit_wrong"]
    assert {(finding.severity, finding.where) for finding in findings} == {("error", "sub-01/fast_01.c3d")}
    assert all(f" {numbers}:" in finding.remedy for finding in findings)


def test_a_static_in_another_unit_says_nothing_of_sizes(demo: Path) -> None:
    """Metres that are called millimetres make a leg of a millimetre, which no height is to be compared with."""

    def in_m(content: ezc3d.c3d) -> None:
        content["data"]["points"][:3] /= 1000

    rewrite(demo / "sub-01" / "static.c3d", in_m)
    findings = check(demo)
    assert any(finding.code == "length_unit_wrong" for finding in findings)
    assert not [finding for finding in findings if "expected 0.00" in finding.remedy]


@pytest.mark.filterwarnings("error")
def test_a_plate_channel_without_numbers_is_named_and_not_called_a_plate_without_load(demo: Path) -> None:
    def blank(content: ezc3d.c3d) -> None:
        content["data"]["analogs"][0, 2] = np.nan

    for walk in (demo / "sub-02").glob("*_0?.c3d"):
        rewrite(walk, blank)
    codes = {finding.code: finding for finding in check(demo)}
    assert codes.keys() == {"plate_unusable"}
    assert "Fz1" in codes["plate_unusable"].what


def test_missing_markers_are_named_by_one_label_each(demo: Path) -> None:
    """The body model anatomical knows some 15 labels of a marker."""
    edit(demo / "study.yaml", "isb_clusters", "anatomical")
    rewrite(demo / "sub-01" / "static.c3d", relabel(LLEK="a", RLEK="b", LHEE="c", RHEE="d"))
    finding = next(finding for finding in check(demo) if finding.code == "markers_missing")
    assert "other labels" in finding.what
    assert len(finding.what) < 300


@pytest.mark.parametrize(("cutoff_hz", "faults"), [("49", 0), ("50", 14), ("null", 0)])
def test_a_cutoff_must_be_below_half_the_sampling_rate(demo: Path, cutoff_hz: str, faults: int) -> None:
    """Markers of the demonstration have 100 Hz: 14 files, of which the two static trials count too."""
    edit(demo / "study.yaml", "isb_clusters", f"isb_clusters\nclean: {{marker_cutoff_hz: {cutoff_hz}}}")
    codes = [finding.code for finding in check(demo)]
    assert codes.count("cutoff_too_high") == faults
    assert {*codes} <= {"cutoff_too_high", "cutoff_unusual"}


@pytest.mark.parametrize(
    ("markers_hz", "forces_hz", "named"),
    [("2", "2", ["marker", "force"]), ("45", "45", ["marker"]), ("2", "10", ["marker"]), ("10", "3", ["force"]),
     ("6", "6", []), ("20", "null", []), ("residual", "50", [])],
)  # fmt: skip
def test_cutoffs_that_no_walk_can_have_are_named(demo: Path, markers_hz: str, forces_hz: str, named: list[str]) -> None:
    cutoffs = f"clean: {{marker_cutoff_hz: {markers_hz}, force_cutoff_hz: {forces_hz}}}"
    edit(demo / "study.yaml", "isb_clusters", f"isb_clusters\n{cutoffs}")
    found = [finding.what for finding in check(demo) if finding.code == "cutoff_unusual"]
    assert sorted(found) == sorted(what for what in found for name in named if f"clean.{name}_cutoff_hz" in what)
    assert len(found) == len(named)


def test_implausible_rates_are_named() -> None:
    recording = read_c3d(DEMO / "sub-01" / "fast_01.c3d")
    assert list(of_file("x.c3d", contents_of(recording, {}), {})) == []
    (slow,) = of_file("x.c3d", contents_of(replace(recording, marker_rate_hz=10.0), {}), {})
    assert slow.code == "marker_rate_unusual"
    (coarse,) = of_file("x.c3d", contents_of(replace(recording, analog_rate_hz=60.0), {}), {})
    assert (coarse.code, "17 ms" in coarse.what) == ("force_rate_low", True)


def test_plates_that_cannot_be_decoded_are_named(demo: Path) -> None:
    def break_plates(content: ezc3d.c3d) -> None:
        content["parameters"]["FORCE_PLATFORM"]["CORNERS"]["value"][:, :, 1] = 0

    rewrite(demo / "sub-01" / "fast_01.c3d", break_plates)
    finding = about(check(demo), "sub-01/fast_01.c3d")
    assert (finding.severity, finding.code) == ("warning", "plate_unusable")
    assert finding.what.startswith("force plate 2: ")


def test_a_plate_without_load_in_a_session_is_named(demo: Path) -> None:
    def unload(content: ezc3d.c3d) -> None:
        content["data"]["analogs"][:, 12:18] *= 0.01  # the third of three plates of six channels

    for path in (demo / "sub-02").glob("*_0*.c3d"):
        rewrite(path, unload)
    (idle,) = (finding for finding in check(demo) if finding.code == "plate_not_loaded")
    assert (idle.severity, idle.where, "force plate 3 " in idle.what) == ("warning", "sub-02", True)


def test_plates_given_to_a_foot_must_be_in_the_file(demo: Path) -> None:
    lines = (demo / "trials.tsv").read_text().splitlines()
    cells = ["plates_left", *["n/a"] * (len(lines) - 2), "2 4"]
    (demo / "trials.tsv").write_text("".join(f"{line}\t{cell}\n" for line, cell in zip(lines, cells, strict=True)))
    (finding,) = check(demo)
    assert (finding.severity, "plate 4" in finding.what) == ("error", True)


def test_unknown_events_are_named(demo: Path) -> None:
    def add_events(content: ezc3d.c3d) -> None:
        content.add_parameter("EVENT", "LABELS", ["Foot Strike", "Schritt", "Foot Off"])
        content.add_parameter("EVENT", "CONTEXTS", ["Rechts", "Links", "General"])
        content.add_parameter("EVENT", "TIMES", np.array([[0, 0, 0], [0.3, 0.5, 0.9]], dtype=float))

    rewrite(demo / "sub-01" / "fast_01.c3d", add_events)
    (finding,) = check(demo)
    assert (finding.severity, finding.where, finding.code) == ("warning", "sub-01/fast_01.c3d", "events_not_understood")
    assert finding.what.endswith(": 'Schritt', 'Foot Off'")


def test_emg_channels_without_a_muscle_and_wrong_labels_in_the_setting_are_named(demo: Path) -> None:
    wave = np.sin(np.arange(2500))
    names = ("EMG1", "EMG2", "L Tib Ant", "Trigger")
    add_channels(demo / "sub-01" / "comfortable_01.c3d", dict.fromkeys(names, ("V", wave)))
    unused, others = (one for one in check(demo) if one.where == "sub-01/comfortable_01.c3d")
    assert [one.code for one in (unused, others)] == ["emg_channel_unnamed", "channels_not_used"]
    assert {unused.severity, others.severity} == {"warning"}
    assert unused.what.endswith(": EMG1, EMG2")
    assert others.what.endswith(": Trigger")
    with (demo / "study.yaml").open("a") as file:
        file.write("clean:\n  emg_channels: {EMG1: left soleus, EMG2: null, EMG3: right soleus}\n")
    findings = check(demo)
    (absent,) = (one for one in findings if one.code == "emg_channel_absent")
    assert (absent.severity, absent.where, "'EMG3'" in absent.what) == ("warning", "study.yaml", True)
    assert not any("EMG1" in one.what for one in findings)


def test_a_session_without_the_trial_that_its_muscles_are_divided_by_is_named(demo: Path) -> None:
    with (demo / "study.yaml").open("a") as file:
        file.write("cycles:\n  emg_normalisation: reference\n")
    rows = (demo / "trials.tsv").read_text()
    (demo / "trials.tsv").write_text(f"{rows}sub-01\tmvc\tsub-01/comfortable_01.c3d\temg_reference\tmvc\n")
    (finding,) = check(demo)
    assert (finding.severity, finding.where, finding.code) == ("warning", "sub-02", "emg_reference_missing")


def test_a_muscle_without_a_side_is_refused_by_the_settings(demo: Path) -> None:
    with (demo / "study.yaml").open("a") as file:
        file.write("clean:\n  emg_channels: {EMG1: soleus}\n")
    finding = about(check(demo), "study.yaml")
    assert finding.severity == "error"
    assert 'clean.emg_channels.EMG1 is "soleus"' in finding.what
    assert "left soleus" in finding.remedy


@pytest.mark.parametrize(
    ("slope_deg", "stated_deg", "leans"),
    [(0, None, False), (10, None, True), (10, 10, False), (10, -10, True), (0, 10, True), (-10, None, True)],
)
def test_a_person_who_stands_aslant_shows_the_slope_of_the_axes(
    demo: Path, slope_deg: float, stated_deg: float | None, leans: bool
) -> None:
    """The static trial is written in axes that rise where the person faces, along x of the file."""
    static = demo / "sub-01" / "static.c3d"
    angle = np.radians(slope_deg)
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    file = ezc3d.c3d(str(static))
    points = file["data"]["points"]
    points[:3] = np.einsum("ij,jmt->imt", turn, points[:3])
    file.write(str(static))
    header, *rows = (demo / "trials.tsv").read_text().splitlines()
    cells = [stated_deg if stated_deg and "sub-01/static.c3d" in row else "n/a" for row in rows]
    lines = [f"{row}\t{cell}" for row, cell in zip([header, *rows], ["slope_degrees", *cells], strict=True)]
    (demo / "trials.tsv").write_text("\n".join(lines) + "\n")
    assert (("warning", "sub-01/static.c3d", "standing_leans") in found(demo)) == leans


@pytest.mark.parametrize("aside_deg", [10, -10, 4])
def test_a_person_who_stands_aslant_to_the_side_is_named(demo: Path, aside_deg: float) -> None:
    """Such a slope cannot be stated."""
    static = demo / "sub-01" / "static.c3d"
    angle = np.radians(aside_deg)
    turn = np.array([[1, 0, 0], [0, np.cos(angle), np.sin(angle)], [0, -np.sin(angle), np.cos(angle)]])
    file = ezc3d.c3d(str(static))
    points = file["data"]["points"]
    points[:3] = np.einsum("ij,jmt->imt", turn, points[:3])
    file.write(str(static))
    told = [one.what for one in check(demo) if one.code == "standing_leans"]
    assert len(told) == (abs(aside_deg) > 8)
    assert all(("to the left" if aside_deg > 0 else "to the right") in what for what in told)


@pytest.mark.parametrize(
    ("corners_deg", "stated_deg", "told"),
    [(0, 10, None), (10, 0, "by 10 degrees"), (10, 10, "by 20 degrees"), (-10, 10, None), (0, -10, None)],
)
def test_plates_slope_in_the_axes_that_are_stated(
    demo: Path, corners_deg: float, stated_deg: float, told: str | None
) -> None:
    """Plates that are level in the file's axes, or plumb with the slope stated, are as they are to be.

    Corners that rise along x of the file, where the person walks, by as much as the axes are said to rise, are a slope
    that is stated twice.
    """
    path = demo / "sub-01" / "comfortable_01.c3d"
    file = ezc3d.c3d(str(path))
    corners = file["parameters"]["FORCE_PLATFORM"]["CORNERS"]["value"]
    corners[2] = np.tan(np.radians(corners_deg)) * (corners[0] - corners[0].mean())
    file.write(str(path))
    header, *rows = (demo / "trials.tsv").read_text().splitlines()
    cells = [stated_deg if "sub-01/comfortable_01.c3d" in row else "n/a" for row in rows]
    lines = [f"{row}\t{cell}" for row, cell in zip([header, *rows], ["slope_degrees", *cells], strict=True)]
    (demo / "trials.tsv").write_text("\n".join(lines) + "\n")
    found_slopes = [one for one in check(demo) if one.code == "plates_slope"]
    assert len(found_slopes) == (told is not None)
    assert all(told in one.what for one in found_slopes if told)
    assert all(("stated" in one.what) == bool(stated_deg) for one in found_slopes)


@pytest.mark.parametrize(
    ("aside_deg", "stated_deg", "told"),
    [(0, 0, ""), (0, 2, ""), (0, 10, "backwards by 10"), (0, -5, "forwards by 5"), (6, 0, "to the right by 6")],
)
def test_a_walk_on_a_belt_that_no_plumb_force_holds_is_named(
    shared: Path, tmp_path: Path, aside_deg: float, stated_deg: float, told: str
) -> None:
    """A level walk is said to be on a slope, or its plates are turned about the way that it faces, +x of the file."""
    exact, study = shared / "studies" / "exact", tmp_path / "study"
    (study / "sub-01").mkdir(parents=True)
    for name in ("study.yaml", "segments.tsv", "participants.tsv"):
        (study / name).write_bytes((exact / name).read_bytes())
    for name in ("static", "walk_01"):
        (study / "sub-01" / f"{name}.c3d").write_bytes((exact / "sub-01" / f"{name}.c3d").read_bytes())
    file = ezc3d.c3d(str(study / "sub-01" / "walk_01.c3d"))
    corners = file["parameters"]["FORCE_PLATFORM"]["CORNERS"]["value"]
    turn = Rotation.from_euler("x", aside_deg, degrees=True).as_matrix()
    file["parameters"]["FORCE_PLATFORM"]["CORNERS"]["value"] = np.einsum("ij,jcp->icp", turn, corners)
    file.write(str(study / "sub-01" / "walk_01.c3d"))
    rows = [("participant_id", "trial", "file", "role", "condition", "slope_degrees"),
            ("sub-01", "static", "sub-01/static.c3d", "static", "static", "0"),
            ("sub-01", "walk_01", "sub-01/walk_01.c3d", "gait", "walk", str(stated_deg))]  # fmt: skip
    (study / "trials.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    leaning = [one.what for one in check(study) if one.code == "forces_lean"]
    assert len(leaning) == bool(told)
    assert all(told in what for what in leaning)


def test_a_plate_that_would_push_down_is_named(demo: Path) -> None:
    """Corners in the other sense of rotation turn it upside down; the run refuses its contacts."""
    walk = demo / "sub-01" / "fast_01.c3d"
    assert "plate_pushes_down" not in {code for _, _, code in found(demo)}
    corners = ezc3d.c3d(str(walk))["parameters"]["FORCE_PLATFORM"]["CORNERS"]["value"]
    set_parameter(walk, "FORCE_PLATFORM", "CORNERS", corners[:, [0, 3, 2, 1]])
    assert ("warning", "sub-01/fast_01.c3d", "plate_pushes_down") in found(demo)
