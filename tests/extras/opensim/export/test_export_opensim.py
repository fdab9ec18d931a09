"""``export --opensim``: what the files hold, read back; OpenSim itself runs in tests/campaigns."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from benchmarks.opensim_tool import read_table
from pipeline.__main__ import main
from pipeline.commands.verify.command import verify
from pipeline.errors import Problem, UserError
from pipeline.extras.opensim.export.command import export_opensim
from pipeline.extras.opensim.export.trial_data import angles, markers
from pipeline.results import netcdf
from pipeline.results.session_file import load_trial
from pipeline.trials.session import Trial
from tests.support.checkout import keep_rows
from tests.support.files.changes import write_as_another_run, write_without_record
from tests.support.studies.small_study import run_steps, write_outputs

Array = NDArray[np.float64]
WALK = "comfortable_01"
SIDES = {"left": "l", "right": "r"}
MODEL = """<OpenSimDocument><Model><Coordinate name="knee_angle_r"><range>-2.1 0.2</range></Coordinate>
<MarkerSet><objects>{markers}</objects></MarkerSet></Model></OpenSimDocument>"""


def leave_out_left(study: Path) -> None:
    """Take the left foot's plates from one walk in trials.tsv."""
    header, *rows = (study / "trials.tsv").read_text().splitlines()
    cells = ["none" if row.split("\t")[1] == WALK else "n/a" for row in rows]
    lines = [f"{header}\tplates_left", *(f"{row}\t{cell}" for row, cell in zip(rows, cells, strict=True))]
    (study / "trials.tsv").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = write_outputs(tmp_path_factory.mktemp("house"), draws=0, change=leave_out_left)
    export_opensim(study, angles=True, filter_forces=True)
    return study


def trc(path: Path) -> tuple[Array, dict[str, Array]]:
    """Return time and positions (time, 3) in m of a marker file."""
    lines = path.read_text().splitlines()
    facts = dict(zip(lines[1].split("\t"), lines[2].split("\t"), strict=True))
    labels = lines[3].split("\t")[2::3]
    values = np.array([line.split("\t") for line in lines[6:]], float)
    assert (len(values), len(labels), facts["Units"]) == (int(facts["NumFrames"]), int(facts["NumMarkers"]), "mm")
    assert lines[4].split("\t")[2:] == [f"{axis}{i + 1}" for i in range(len(labels)) for axis in "XYZ"]
    assert np.array_equal(values[:, 0], np.rint(values[:, 1] * float(facts["DataRate"])) + 1)
    return values[:, 1], {label: values[:, 2 + 3 * i : 5 + 3 * i] / 1000 for i, label in enumerate(labels)}


def xml(path: Path) -> ET.Element:
    return ET.parse(path).getroot()  # noqa: S314


def vectors(table: dict[str, Array], name: str) -> Array:
    return np.stack([table[f"{name}{axis}"] for axis in "xyz"], axis=1)


def test_markers_are_those_of_the_recording_in_lab_axes(finished: Path) -> None:
    time, written = trc(finished / f"derived/opensim/sub-01/{WALK}.trc")
    read = load_trial(finished / "derived/sub-01/read.nc", WALK)
    assert np.allclose(time, read["time"].values, atol=1e-6)
    for label in read["marker"].values.tolist():
        position = written.pop(label)
        assert np.allclose(position, read["marker_position"].sel(marker=label).values, atol=1e-8, equal_nan=True)
    kinematics = load_trial(finished / "derived/sub-01/kinematics.nc", WALK)
    assert [*written] == [f"{side}{joint}JC" for side in "RL" for joint in "AKH"]
    centre = kinematics["joint_centre"].sel(side="left", joint="knee").values
    assert np.allclose(written["LKJC"], centre, atol=1e-8, equal_nan=True)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("trial", [WALK, "fast_01"])
def test_force_point_and_torque_are_the_wrench_of_valid_stances(finished: Path, trial: str, side: str) -> None:
    """Filtered as in the study, they are its ground wrench; a stance without known force, NaN there, has no load."""
    table = read_table(finished / f"derived/opensim/sub-01/{trial}_grf.mot")
    contacts = load_trial(finished / "derived/sub-01/contacts.nc", trial).sel(side=side)
    letter = SIDES[side]
    names = (f"ground_force_{letter}_v", f"ground_force_{letter}_p", f"ground_torque_{letter}_")
    force, point, torque = (vectors(table, name) for name in names)
    moment = torque + np.cross(point, force)
    for written, name in ((force, "ground_force"), (moment, "ground_moment")):
        kept = contacts[name].values
        at_frames = np.stack([np.interp(contacts.time, table["time"], column) for column in written.T], axis=1)
        acting, unknown = np.nan_to_num(kept).any(axis=1), np.isnan(kept).any(axis=1)
        assert np.allclose(at_frames[acting], kept[acting], atol=1e-5)  # N, N m; nine digits are written
        assert not at_frames[unknown].any()
    loaded = force[:, 1] > 20
    assert loaded.any() == (trial != WALK or side != "left")
    assert np.abs(torque[loaded][:, [0, 2]]).max(initial=0) < 1e-6  # a free moment, about the vertical


def test_rejected_stances_are_listed_and_carry_no_load(finished: Path) -> None:
    table = read_table(finished / f"derived/opensim/sub-01/{WALK}_grf.mot")
    assert not vectors(table, "ground_force_l_v").any()
    assert vectors(table, "ground_force_r_v").any()
    rows = [line.split("\t") for line in (finished / "derived/opensim/stances.tsv").read_text().splitlines()]
    assert rows[0] == ["session", "trial", "side", "start_s", "end_s", "loaded", "reason", "doubt"]
    left = [row for row in rows if row[1:3] == [WALK, "left"]]
    assert left
    assert all(row[5] == "no" and row[6] for row in left)


def test_a_trial_without_any_valid_stance_has_markers_alone(study: Path) -> None:
    contacts = netcdf.load(study / "derived/sub-01/contacts.nc")
    valid = contacts.valid & (contacts.contact_trial != 0)
    write_without_record(study, "contacts", contacts.assign_coords(valid=valid))
    assert len([*(study / "derived/opensim/sub-01").glob(f"{contacts.trial.values[0]}*")]) == 6  # of earlier results
    _, lacking = export_opensim(study)
    first = str(contacts.trial.values[0])
    assert lacking[0] == f"sub-01 {first}: no valid stance: no ground reaction and no inverse dynamics"
    written = {file.name for file in (study / "derived/opensim/sub-01").glob(f"{first}*")}
    assert written == {f"{first}.trc", f"{first}_ik.xml"}
    assert any(line.startswith("sub-01 gone: ") for line in lacking)
    readme = study / "derived/opensim/README.md"
    assert f"run-tool {first}_ik.xml" not in readme.read_text()  # one with all files
    write_without_record(study, "contacts", contacts.assign_coords(valid=contacts.valid & False))
    export_opensim(study)
    assert f"run-tool {first}_ik.xml" in readme.read_text()


def test_setup_files_name_the_files_next_to_them_and_the_person(finished: Path) -> None:
    folder = finished / "derived/opensim/sub-01"
    static, person = (xml(folder / "scale.xml"), netcdf.load(finished / "derived/sub-01/calibrate.nc").attrs)
    assert float(static.findtext("ScaleTool/mass") or 0) == pytest.approx(person["body_mass_kg"])
    assert float(static.findtext("ScaleTool/height") or 0) == pytest.approx(1000 * person["body_height_m"])
    pairs = [pair.text.split() for pair in static.iter("markers") if pair.text]
    known = trc(folder / "scale.trc")[1]
    assert {label for pair in pairs for label in pair} <= {*known}
    assert {body.get("name") for body in static.iter("BodyScale")} >= {"pelvis", "femur_r", "tibia_l", "calcn_r"}
    given = {"marker_file", "external_loads_file", "datafile"}
    for setup in folder.glob("*.xml"):
        files = [element.text for element in xml(setup).iter() if element.tag in given]
        assert files or setup.stem.endswith("_id")
        assert all((folder / str(file)).is_file() for file in files)
    columns = {*read_table(folder / f"{WALK}_grf.mot")}
    for force in xml(folder / f"{WALK}_grf.xml").iter("ExternalForce"):
        starts = [force.findtext(f"{kind}_identifier") for kind in ("force", "point", "torque")]
        assert {f"{start}{axis}" for start in starts for axis in "xyz"} <= columns
    made = xml(folder / f"{WALK}_id.xml")[0]
    fit = xml(folder / f"{WALK}_ik.xml")[0]
    assert made.findtext("coordinates_file") == fit.findtext("output_motion_file")
    assert made.findtext("model_file") == fit.findtext("model_file") == static.findtext(".//output_model_file")


def test_repaired_samples_and_no_others_are_those_of_clean() -> None:
    recorded = np.arange(24.0).reshape(4, 2, 3)
    recorded[1, 0] = np.nan
    read = Trial.of({"marker_position": (("time", "marker", "axis"), recorded)}, {"marker": ["LHEE", "LTOE"]})
    cleaned = {
        "marker_position": (("time", "marker", "axis"), recorded[:, :1] + 0.1),
        "fill": (("time", "marker"), np.array([[0], [1], [4], [0]])),
    }
    cleaned["marker_position"][1][1:3] = 7.0
    clean = Trial.of(cleaned, {"marker": ["heel_left"], "label": ("marker", ["LHEE"])})
    expected = np.stack([recorded[0, 0], np.full(3, 7.0), np.full(3, 7.0), recorded[3, 0]])
    written = markers(read, clean)
    assert np.array_equal(written["LHEE"], expected)
    assert np.array_equal(written["LTOE"], recorded[:, 1])


def test_inverse_kinematics_runs_where_legs_are_posed_and_markers_seen(study: Path) -> None:
    """Both legs are posed from frame 10 to 90, no marker is seen from 30 to 59, too long to fill: 60 to 90 rest."""
    folder = study / "derived/sub-01"
    kinematics, read = (netcdf.load(folder / f"{step}.nc") for step in ("kinematics", "read"))
    frames = np.arange(len(load_trial(folder / "read.nc", WALK).time))
    for data, variable, unseen in (
        (kinematics, "joint_angle", (frames < 10) | (frames > 90)),
        (read, "marker_position", (frames >= 30) & (frames < 60)),
    ):
        samples = np.flatnonzero(data.sample_trial.values == data.trial.values.tolist().index(WALK))
        data[variable][samples[unseen]] = np.nan
    write_without_record(study, "kinematics", kinematics)
    write_without_record(study, "read", read)
    export_opensim(study)
    time, _ = trc(study / f"derived/opensim/sub-01/{WALK}.trc")
    for tool in ("ik", "id"):
        text = xml(study / f"derived/opensim/sub-01/{WALK}_{tool}.xml").findtext(".//time_range") or ""
        assert np.allclose([float(part) for part in text.split()], time[[60, 90]], atol=1e-7)


@pytest.mark.parametrize(
    ("count", "moving", "expected"), [(1, False, (0, 1)), (50, True, (7, 8)), (50, False, (7, 30))]
)
def test_scale_takes_frames_that_show_all_markers(
    study: Path, count: int, moving: bool, expected: tuple[int, int]
) -> None:
    """OpenSim places no marker that one frame hides, and wants two: of a motion two, a single one twice."""
    read = netcdf.load(study / "derived/sub-01/read.nc")
    own = np.flatnonzero(read.sample_trial.values == read.trial.values.tolist().index("static"))
    hidden = np.delete(own, np.s_[7:31]) if count > 1 else own[1:]
    read.marker_position[own] += moving * np.linspace(0, 2, len(own))[:, None, None]
    read.marker_position[hidden, 0] = np.nan
    recorded = read.marker_position.values[own[:count], 0]
    write_without_record(study, "read", read.isel(sample=np.delete(np.arange(read.sizes["sample"]), own[count:])))
    export_opensim(study)
    time, written = trc(study / "derived/opensim/sub-01/scale.trc")
    found = written[str(read.marker.values[0])]
    assert np.allclose(found, np.resize(recorded, found.shape), atol=1e-8, equal_nan=True)
    text = xml(study / "derived/opensim/sub-01/scale.xml").findtext(".//time_range") or ""
    assert np.allclose([float(part) for part in text.split()], time[[*expected]], atol=1e-7)


def test_scale_measures_thighs_from_the_hip_centres_of_a_model_that_has_them(study: Path) -> None:
    """They are those of the calibration, carried by the pelvis, and fit no inverse kinematics without a weight."""
    model, table = study / "generic.osim", study / "markers.tsv"
    names = ("LASI", "RASI", "RHIP", "LHJC", "LLEK", "RLEK", "LMEK")
    model.write_text(MODEL.format(markers="".join(f'<Marker name="{name}"/>' for name in names)))
    table.write_text("label\tmarker\tweight\nRHJC\tRHIP\t2\nLASI\tLASI\t\n")
    export_opensim(study, model=model, markers=table)
    folder = study / "derived/opensim/sub-01"
    pairs = {pair.text for pair in xml(folder / "scale.xml").iter("markers")}
    assert pairs >= {"LHJC LLEK", "LHJC LMEK", "RHIP RLEK"}
    assert not {"LASI LLEK", "RASI RLEK"} & pairs
    weights = {
        task.get("name"): task.findtext("weight") for task in xml(folder / f"{WALK}_ik.xml").iter("IKMarkerTask")
    }
    assert weights["RHIP"] == "2"
    assert "LHJC" not in weights
    _, written = trc(folder / "scale.trc")
    length = np.linalg.norm(written["LHJC"] - written["LKJC"], axis=1).mean()
    known = netcdf.load(study / "derived/sub-01/calibrate.nc").joint_distance.sel(side="left", segment="thigh")
    assert length == pytest.approx(float(known), abs=1e-3)  # of one posture, and their mean


def test_a_marker_that_the_static_trial_hides_is_not_fitted_and_what_cannot_be_scaled_is_named(study: Path) -> None:
    """As after a static trial with knee alignment devices: Scale cannot place it. No walk shows LMEK."""
    read = netcdf.load(study / "derived/sub-01/read.nc")
    own = np.flatnonzero(read.sample_trial.values == read.trial.values.tolist().index("static"))
    hidden = [read.marker.values.tolist().index(label) for label in ("LLEK", "LMEK")]
    read.marker_position[own, hidden] = np.nan
    write_without_record(study, "read", read)
    _, lacking = export_opensim(study)
    assert lacking[0] == (
        "sub-01 scale.xml: no inverse kinematics by LLEK, which the static trial does not show; "
        "no markers to measure thigh_l, shank_l; add measurements"
    )
    tasks = {task.get("name") for task in xml(study / f"derived/opensim/sub-01/{WALK}_ik.xml").iter("IKMarkerTask")}
    assert "RLEK" in tasks
    assert "LLEK" not in tasks
    assert f"run-tool {WALK}_ik.xml" in (study / "derived/opensim/README.md").read_text()


def test_a_session_without_a_model_of_the_person_has_no_setup_of_scale(study: Path) -> None:
    write_without_record(study, "calibrate", xr.Dataset(attrs={"rejected": "no static trial"}))
    _, lacking = export_opensim(study)
    assert "sub-01 scale.xml: no static trial" in lacking
    assert not (study / "derived/opensim/sub-01/scale.xml").exists()


def test_files_of_a_trial_that_left_the_study_are_named(study: Path) -> None:
    keep_rows(study, lambda row: f"\t{WALK}\t" not in row)
    folder = study / "derived/opensim/sub-01"
    shutil.copy(folder / "fast_01_ik.xml", folder / "mine_ik.xml")  # of the user
    _, lacking = export_opensim(study)
    assert [line for line in lacking if "any more" in line] == [
        f"sub-01 {WALK}: no walk of the study any more; delete its files in {folder}"
    ]


def test_a_table_names_markers_and_a_model_takes_those_that_it_has(study: Path) -> None:
    labels = [*trc(study / f"derived/opensim/sub-01/{WALK}.trc")[1]]
    table = study / "markers.tsv"
    table.write_text(f"label\tmarker\tweight\n{labels[0]}\tR.ASIS\t10\n{labels[1]}\tn/a\t\n{labels[2]}\tR.Heel\t\n")
    model = study / "generic.osim"
    model.write_text(
        MODEL.format(markers='<Marker name="R.ASIS"/><Marker name="R.Heel"/><Marker name="' + labels[3] + '"/>')
    )
    export = ["export", "--opensim", str(study), "--model", str(model), "--markers", str(table), "--angles"]
    assert main(export) == 0
    folder = study / "derived/opensim/sub-01"
    assert [*trc(folder / f"{WALK}.trc")[1]] == ["R.ASIS", "R.Heel", *labels[3:]]
    tasks = xml(folder / f"{WALK}_ik.xml").iter("IKMarkerTask")
    assert {task.get("name"): task.findtext("weight") for task in tasks} == {
        "R.ASIS": "10",
        "R.Heel": "1",
        labels[3]: "1",
    }
    named = xml(folder / "scale.xml").findtext(".//GenericModelMaker/model_file") or ""
    assert (folder / named).resolve() == model
    written = read_table(folder / f"{WALK}_angles.mot")
    flexion = load_trial(study / "derived/sub-01/kinematics.nc", WALK).joint_angle.sel(side="right", angle="flexion")
    for column, joint, sign in (
        ("knee_angle_r", "knee", -1),
        ("hip_flexion_r", "hip", 1),
        ("ankle_angle_r", "ankle", 1),
    ):
        assert np.allclose(written[column], sign * flexion.sel(joint=joint), equal_nan=True)


def test_angles_are_written_while_both_legs_are_known() -> None:
    """OpenSim takes a file with nan for one that ends there."""
    shape, sides, joints, axes = (
        (4, 2, 3, 3),
        ["left", "right"],
        ["ankle", "knee", "hip"],
        ["flexion", "adduction", "rotation"],
    )
    known = np.arange(np.prod(shape), dtype=float).reshape(shape)
    known[1, 0, 2, 1] = np.nan
    labels: dict[str, Any] = {"time": np.arange(4.0), "side": sides, "joint": joints, "angle": axes}
    trial = {"joint_angle": (("time", "side", "joint", "angle"), known)}
    both = angles(Trial.of(trial, labels), knee_sign=1)
    assert both["time"].tolist() == [0, 2, 3]
    assert np.array_equal(both["ankle_angle_l"], known[[0, 2, 3], 0, 0, 0])
    known[:, 0] = np.nan
    right = angles(Trial.of(trial, labels), knee_sign=1)
    assert right["time"].tolist() == [0, 1, 2, 3]
    assert len(right) == 10


@pytest.mark.parametrize(
    ("table", "model", "said"),
    [
        ("label\tmarker\nNOT_THERE\tR.ASIS\n", None, "the table has none of the labels"),
        ("label\tmarker\n{0}\tSAME\n{1}\tSAME\n", None, "a second marker with the name 'SAME'"),
        ("label\tmarker\n{0}\tA\n{0}\tB\n", None, "is there twice"),
        ("label\tmarker\n{0}\tR ASIS\n", None, "'R ASIS' cannot be a name in OpenSim"),
        ("label\tmarker\tweight\n{0}\tA\t-1\n", None, "weight is -1"),
        ("label\n{0}\n", None, "column 'marker' is missing"),
        (None, MODEL.format(markers='<Marker name="STRN"/>'), "has none of the markers"),
        (None, "<OpenSimDocument/>", "not a model of OpenSim"),
        (None, "no XML", "cannot be read"),
    ],
)
def test_names_that_fit_nothing_are_refused(
    finished: Path, tmp_path: Path, table: str | None, model: str | None, said: str
) -> None:
    labels = [*trc(finished / f"derived/opensim/sub-01/{WALK}.trc")[1]]
    options: dict[str, Any] = {}
    for name, text in (("markers", table), ("model", model)):
        if text:
            options[name] = tmp_path / f"{name}.txt"
            options[name].write_text(text.format(*labels))
    with pytest.raises(UserError, match=said):
        export_opensim(finished, output=tmp_path / "files", **options)


@pytest.mark.parametrize("option", [["--angles"], ["--filter-forces"], ["--model", "m.osim"], ["--markers", "m.tsv"]])
def test_options_of_files_for_opensim_are_refused_for_a_table(
    finished: Path, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(finished), *option]) == 1
    assert capsys.readouterr().err == f"{option[0]}: is an option of --opensim; add --opensim\n"


def test_files_of_earlier_results_are_named_until_they_are_exported_again(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (study / "derived/opensim/sub-01/scaled_model.osim").write_text("written by OpenSim")

    def stale() -> list[Problem]:
        return [fault for fault in verify(study)[0] if fault.code == "opensim_files_outdated"]

    assert stale() == []
    assert "opensim" not in verify(study)[1]
    write_as_another_run(study, "contacts")
    (fault,) = stale()
    assert (fault.where, fault.what) == ("derived/opensim", "made from an earlier derived/sub-01/contacts.nc")
    capsys.readouterr()
    assert main(["verify", str(study)]) == 1
    assert f"  gaitlab export {shlex.quote(str(study))} --opensim" in capsys.readouterr().out
    assert main(["export", str(study), "--opensim"]) == 0
    assert stale() == []


@pytest.fixture(scope="module")
def whole(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a study of a person with markers on trunk, head and arms."""
    study, source = tmp_path_factory.mktemp("whole"), shared / "studies" / "plug_in_gait"
    for name in ("participants.tsv", "trials.tsv", "study.yaml"):
        shutil.copy(source / name, study / name)
    (study / "sub-02").symlink_to(source / "sub-02")
    keep_rows(study, lambda row: row.startswith("sub-02\t"))
    run_steps(study)
    return study


ARM = ("SHO", "ELB", "WRA", "WRB", "FIN")
ARM_BODIES = ("humerus", "ulna", "radius", "hand")


@pytest.mark.parametrize(
    ("bodies", "measured"),
    [((), ()), (("torso",), ("torso",)), (("torso", *ARM_BODIES), ("torso", "upper_arm", "forearm", "hand"))],
)
def test_trunk_and_arms_are_scaled_and_fitted_on_a_model_that_has_them(
    whole: Path, tmp_path: Path, bodies: tuple[str, ...], measured: tuple[str, ...]
) -> None:
    names = [f"{side}{marker}" for side in "LR" for marker in ("ASI", "KNE", "ANK", *(ARM if bodies else ()))]
    on_model = "".join(f'<Marker name="{name}"/>' for name in names)
    sided = [body if body == "torso" else f"{body}_{letter}" for body in bodies for letter in "lr"]
    on_model += "".join(f'<Body name="{body}"/>' for body in sided)
    (tmp_path / "whole.osim").write_text(MODEL.format(markers=on_model))
    export_opensim(whole, output=tmp_path, model=tmp_path / "whole.osim")
    scale = xml(tmp_path / "sub-02/scale.xml")
    upper = [one.get("name", "") for one in scale.iter("Measurement")]
    expected = [name if name == "torso" else f"{name}_{letter}" for name in measured for letter in "rl"]
    assert [name for name in upper if name.startswith(("torso", "upper_arm", "forearm", "hand"))] == [
        *dict.fromkeys(expected)
    ]
    scaled = [body.get("name") for body in scale.iter("BodyScale")]
    assert set(sided) == {body for body in scaled if body and body.startswith(("torso", *ARM_BODIES))}
    tasks = {task.get("name") for task in xml(tmp_path / "sub-02/walk_ik.xml").iter("IKMarkerTask")}
    assert tasks == {*names}


def test_gaps_of_arm_markers_are_filled(whole: Path, tmp_path: Path) -> None:
    study = Path(shutil.copytree(whole, tmp_path / "study", symlinks=True))
    read = netcdf.load(study / "derived/sub-02/read.nc")
    walk = np.flatnonzero(read.sample_trial.values == read.trial.values.tolist().index("walk"))
    hidden, column = slice(100, 106), read.marker.values.tolist().index("LELB")
    truth = read.marker_position.values[walk[hidden], column].copy()
    read.marker_position[walk[hidden], column] = np.nan
    write_without_record(study, "read", read, "sub-02")
    export_opensim(study, output=tmp_path / "files")
    _, written = trc(tmp_path / "files/sub-02/walk.trc")
    assert np.abs(written["LELB"][hidden] - truth).max() < 0.005
