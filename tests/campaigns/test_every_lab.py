"""Recordings of eight labs with ``init``, ``check`` and a run, with at most the body model chosen by hand."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import ezc3d
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.c3d.reader import read_c3d
from pipeline.commands.check.command import check
from pipeline.commands.init.command import initialise
from pipeline.plates.parameters import plates_from_parameters
from pipeline.plates.wrench import centre_of_pressure, decode, moment_unit_n_m, plate_axes
from pipeline.tables import study_tables
from pipeline.workflow import settings
from pipeline.workflow.strict_yaml import read_yaml
from tests.campaigns.labs import (
    BY_HAND,
    LABS,
    MASS_BY_HAND,
    Outcome,
    bare_copy,
    choose_body_model,
    outcome_of_steps,
    outcomes,
    set_up,
    walks,
)
from tests.campaigns.used_stances import lost
from tests.support.checkout import copy_study, keep_rows
from tests.support.files.c3d_writer import Channels, write_c3d
from tests.support.settings import settings_of
from tests.support.steps import clean, contacts, kinematics
from tests.support.studies.references import JOINTS, MOMENTS, SIDES, outputs, plug_in_gait
from tests.support.studies.run_steps import ResultsOfLab, Session, run_study
from tests.support.studies.swing import against_stored

WITHOUT_WIDTHS = ("codamotion 1997", "codamotion 2015", "sample10 2, 4", "sample10 2a, 4a")  # joint widths not stated
DOSES = 20

Array = NDArray[np.float64]


def moments(*limits: float) -> dict[str, float]:
    """Return limits of the moments of :data:`MOMENTS`, RMS, N m/kg."""
    return {f"{name} rms": limit for name, limit in zip(MOMENTS, limits, strict=True)}


# Largest median difference of a file from its stored results: centres m, angles degrees, moments. Those of Plug-in Gait
# are twice the limits of the medians over all stances of all files.
PLUG_IN_GAIT = {"centre": 0.003, "angle": 2, **moments(0.04, 0.08, 0.04, 0.16)}
LIMITS: dict[str, dict[str, float]] = {
    "plug_in_gait": PLUG_IN_GAIT,
    "plug_in_gait, feet not flat": PLUG_IN_GAIT,
    "functional": {"centre": 0.003, "angle": 2},  # moments: tests/campaigns/test_real_data.py
    # effect of filters and of Dempster's segments; segments.tsv with the true ones is absent
    "exact": {"centre": 0.0003, **moments(0.02, 0.03, 0.02, 0.05)},
    "gait2354": {
        "ankle flexion rms": 0.09,
        "knee flexion rms": 0.24,
    },  # another model, see tests/campaigns/test_real_data.py
    "opensim_walking": {"ankle centre": 0.001, "knee centre": 0.02},  # theirs moves with the thigh, ours with the shank
}


@pytest.mark.parametrize("lab", LABS)
def test_every_walk_runs_and_agrees_with_its_stored_results(shared: Path, tmp_path: Path, lab: str) -> None:
    findings = set_up(shared, lab, tmp_path)
    assert [finding for finding in findings if finding.severity == "error"] == []
    assert (lab in WITHOUT_WIDTHS) == any("widths are an estimate" in finding.what for finding in findings)
    if lab in BY_HAND:
        choose_body_model(tmp_path, BY_HAND[lab])
    rows = list(outcomes(tmp_path, lab, shared=shared))
    assert rows
    assert lost(lab, rows) == []
    for row in rows:
        assert row.lost == ""
        assert "" not in row.reasons  # each invalid stance has a reason
        assert row.cycles
        # somebody steps on a plate in each of these walks; the only one of sub-05 is wrong, those of TYPE-2 out of time
        assert row.verdicts
        if not row.valid:
            assert {"momentum_disagrees", "plates_not_in_time"} & {*dict(row.verdicts).values()}
            continue
        # healthy people and their children (Schwartz et al. 2008: 1.23 +- 0.24); one mass is from a single step
        assert not row.with_kinetics or 0.7 < row.peak < 2
        assert bool(row.reference) == (lab in LIMITS)
        for name, limit in LIMITS.get(lab, {}).items():
            found = {key: value for key, value in row.compared.items() if key.endswith(name)}
            assert found
            assert all(value <= limit for value in found.values()), (row.file, found)


STATES_RESULTS = ("children", "kad_fmc", "kad_sydney")


@pytest.mark.parametrize("lab", ["children", "cortex", "emg_metres", "kad_fmc", "kad_sydney", "plate_channels"])
def test_stances_are_used_if_one_foot_is_wholly_on_a_plate_that_works(
    labs: Path, results_of_lab: ResultsOfLab, tmp_path: Path, lab: str
) -> None:
    rows = of_known(*results_of_lab(lab)) if lab in STATES_RESULTS else set_up_and_run(labs, lab, tmp_path)
    scores = [row.score for row in rows if row.score]
    assert scores
    assert [(score.refused, score.wrong) for score in scores if score.refused or score.wrong] == []
    assert lost(lab, rows) == []


@pytest.mark.parametrize("lab", ["bts_type1", "heel_in_static"])
def test_stances_that_were_used_and_sound_are_used(
    labs: Path, results_of_lab: ResultsOfLab, tmp_path: Path, lab: str
) -> None:
    rows = of_known(*results_of_lab(lab)) if lab == "heel_in_static" else set_up_and_run(labs, lab, tmp_path)
    assert lost(lab, rows) == []


def of_known(study: Path, sessions: Mapping[str, Session]) -> list[Outcome]:
    """Return the outcomes of walks whose results other tests use, too."""
    return [
        outcome_of_steps(study.name, study / steps["read"].attrs["source"], steps, session.calibration)
        for session in sessions.values()
        for steps in session.trials.values()
    ]


def set_up_and_run(labs: Path, lab: str, study: Path) -> list[Outcome]:
    set_up(labs, lab, study)
    return [*outcomes(study, lab)]  # not compared with what the files store


WHOLE_ANGLES = {"ankle": (1, -1, 1), "knee": (1, 1, 1)}  # signs of Plug-in Gait's angles against clinical ones
LARGEST_ANGLE = 0.3  # degrees, of all three angles


@pytest.mark.parametrize("with_static", [True, False])
@pytest.mark.parametrize("lab", STATES_RESULTS)
def test_models_by_stated_results_agree_in_centres_and_every_angle(
    labs: Path, tmp_path: Path, lab: str, with_static: bool
) -> None:
    set_up(labs, lab, tmp_path)
    if not with_static:
        keep_rows(tmp_path, lambda row: "\tstatic\t" not in row)
    for file, steps in unfiltered(tmp_path):
        stored = outputs(file)
        for (side, joint), centre in plug_in_gait(stored, steps).centre.items():
            away = steps["kinematics"].joint_centre.sel(side=side, joint=joint).values - centre
            assert np.nanmedian(np.linalg.norm(away, axis=1)) <= 0.001, (file, side, joint)
        for side, joint in itertools.product(SIDES, WHOLE_ANGLES):
            error = angle_errors(stored, steps, side, joint)
            assert (error <= LARGEST_ANGLE).all(), (file, side, joint, error)


def unfiltered(study: Path) -> Iterator[tuple[Path, dict[str, xr.Dataset]]]:
    """Yield the file of each walk, and the recording and the kinematics of its markers as they are in the file."""
    for file, raw, calibration, model, chosen in walks(study):
        assert isinstance(calibration, xr.Dataset)
        as_recorded = settings_of("clean", **chosen["clean"] | {"marker_cutoff_hz": None})
        cleaned = clean(raw, body_model=model, settings=as_recorded)
        of_motion = settings_of("kinematics", **chosen["kinematics"])
        yield file, {"read": raw, "kinematics": kinematics(cleaned, calibration, body_model=model, settings=of_motion)}


def angle_errors(stored: Mapping[str, Array], steps: Mapping[str, xr.Dataset], side: str, joint: str) -> Array:
    """Return the RMS difference (3,) of the angles of a joint from the stored ones, degrees."""
    theirs = stored[f"{SIDES[side]}{joint.title()}Angles"] * WHOLE_ANGLES[joint]
    theirs[(theirs == 0).all(axis=1)] = np.nan
    ours = steps["kinematics"].joint_angle.sel(side=side, joint=joint).values
    return np.asarray(np.sqrt(np.nanmean((ours - theirs) ** 2, axis=0)))


@pytest.mark.parametrize("lab", ["kad_bones", "heel_in_static"])
def test_bones_in_a_file_give_its_stored_angles(labs: Path, tmp_path: Path, lab: str) -> None:
    """The knee has the untwisted shank, the ankle the twisted one, though a static trial shows it otherwise."""
    set_up(labs, lab, tmp_path)
    for file, steps in unfiltered(tmp_path):
        stored = outputs(file)
        for side, joint in itertools.product(SIDES, WHOLE_ANGLES):
            # the ankle of D123, by other software, has an inversion that no torsion gives exactly
            limit = 1.1 if joint == "ankle" and "Vicon" in file.name else 0.1
            error = angle_errors(stored, steps, side, joint)
            assert (error <= limit).all(), (file, side, joint, error)


# N m/kg with 10 Hz markers and 50 Hz forces
AT_50_HZ = {"ankle flexion rms": 0.02, "knee flexion rms": 0.06, "hip flexion rms": 0.08}


@pytest.mark.parametrize("lab", [*STATES_RESULTS, "heel_in_static"])
def test_moments_of_other_labs_agree_with_their_stored_results(
    labs: Path, results_of_lab: ResultsOfLab, lab: str
) -> None:
    """Centres within 4 mm, moments within :data:`AT_50_HZ`; of D123 (an unknown mass) only the ankle's."""
    study, sessions = results_of_lab(lab)
    chosen, model = settings.load_settings(read_yaml(study / "study.yaml"), where="study.yaml", study_path=study)
    at_50_hz = settings_of("clean", **chosen["clean"] | {"force_cutoff_hz": 50})
    assert any(session.trials for session in sessions.values())
    for session in sessions.values():
        for known in session.trials.values():
            cleaned = clean(known["read"], body_model=model, settings=at_50_hz)
            touched = contacts(cleaned, settings=settings_of("contacts", **chosen["contacts"]))
            steps = {**known, "clean": cleaned, "contacts": touched}  # markers and motion are the same
            found = pd.DataFrame(against_stored(study, labs, session.calibration, steps)).median(numeric_only=True)
            file = known["read"].attrs["source"]
            joints = ("ankle",) if "D123" in file else JOINTS
            limits = {f"{joint} centre": 0.004 for joint in JOINTS}
            limits |= {name: AT_50_HZ[name] for name in (f"{joint} flexion rms" for joint in joints)}
            for name, limit in limits.items():
                assert found[name] <= limit, (file, name)


def test_widths_by_body_mass_are_marked_until_measured_ones_replace_them(shared: Path, tmp_path: Path) -> None:
    set_up(shared, "sample10 2a, 4a", tmp_path)
    path = tmp_path / "participants.tsv"
    (row,) = study_tables.read_participants(path).values()
    assert row["width_source"] == "estimate: body mass"
    assert "knee_width_left_m" in row["guessed"].split()
    path.write_text(path.read_text().replace("estimate: body mass", "n/a"))
    assert not any("widths" in finding.what for finding in check(tmp_path))
    path.write_text(path.read_text().replace(row["knee_width_left_m"], "n/a"))
    (error,) = (finding for finding in check(tmp_path) if finding.severity == "error")
    assert "knee_width_left_m" in error.what
    assert f"(by body mass knee {row['knee_width_left_m']}" in error.remedy


@pytest.mark.parametrize("lab", MASS_BY_HAND)
def test_no_mass_is_guessed_from_single_or_uneven_steps(shared: Path, tmp_path: Path, lab: str) -> None:
    initialise(bare_copy(shared, lab, tmp_path))
    (row,) = study_tables.read_participants(tmp_path / "participants.tsv").values()
    assert row["mass_kg"] == "n/a"
    assert "mass_missing" in {finding.code for finding in check(tmp_path) if finding.severity == "error"}


@pytest.mark.parametrize("lab", ["c3dparser_AUC", "qualisys_cast"])
def test_a_mass_from_plates_is_marked(shared: Path, tmp_path: Path, lab: str) -> None:
    findings = set_up(shared, lab, tmp_path)
    (row,) = study_tables.read_participants(tmp_path / "participants.tsv").values()
    assert row["mass_source"].startswith("estimate: plates")
    assert "mass_kg" in row["guessed"].split()
    assert 30 < float(row["mass_kg"]) < 90  # a child and an adult
    assert any(finding.what == f"mass_kg is an {row['mass_source']}" for finding in findings)


@pytest.mark.parametrize("factor", [1000, 100])
def test_sizes_in_millimetres_or_centimetres_are_found(tmp_path: Path, factor: int) -> None:
    """Twenty people from 1.0 to 1.95 m, with one size at a time in the wrong unit."""
    for dose in range(DOSES):
        height_m = 1.0 + 0.05 * dose
        sizes = {"marker_diameter_m": 0.014, "height_m": height_m}
        shares = {"knee_width_left_m": 0.06, "ankle_width_left_m": 0.042, "leg_length_left_m": 0.52}
        sizes |= {name: share * height_m for name, share in shares.items()}
        for wrong in sizes:
            given = {name: f"{value * (factor if name == wrong else 1):.4g}" for name, value in sizes.items()}
            cells = {"participant_id": "A1", "mass_kg": "50", "sex": "F"} | given
            path = tmp_path / "participants.tsv"
            path.write_text("\t".join(cells) + "\n" + "\t".join(cells.values()) + "\n")
            _, problems = study_tables.participants_of(path)
            assert any(problem.what.startswith(f"{wrong} is") for problem in problems)


def test_remedy_for_a_size_in_another_unit_is_its_value_in_metres(shared: Path, tmp_path: Path) -> None:
    study = copy_study(shared / "studies" / "functional", tmp_path / "functional")
    text = (study / "participants.tsv").read_text().replace("1.68", "1680")
    (study / "participants.tsv").write_text(text)
    assert "give metres: 1.68 m if this is in mm" in {finding.remedy for finding in check(study)}


# ---- other axes, other plates: one walk rewritten

Y_UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # from a lab with z up to one with y up
WALK, STANDING = (f"studies/plug_in_gait/sub-03/HC030A0{number}.c3d" for number in (5, 1))


def rewritten(source: Path, target: Path, *, turn: Array, plate_type: int) -> Path:
    """Write a recording in other axes and with another plate type."""
    recording = read_c3d(source)
    assert (recording.marker_rate_hz, recording.analog_rate_hz) == (100, 1000)  # the rates of write_c3d
    written = []
    for plate in plates_from_parameters(
        recording.force_platform, channel_count=recording.analog.shape[1], length_unit_m=recording.length_unit_m
    ):
        unit_n_m = moment_unit_n_m(plate, recording.analog_units, length_unit_m=1e-3, analog=recording.analog)
        wrench = decode(recording.analog, plate, length_unit_m=1e-3, moment_unit_n_m=unit_n_m)
        force, moment = (part @ turn.T for part in wrench)
        corners = plate.corners / 1000 @ turn.T
        axes, middle = plate_axes(corners), corners.mean(axis=0)
        rest = (moment - np.cross(middle, force)) @ axes
        if plate_type == 1:  # centre of pressure from the centre of the top, and free moment about z (down)
            cop, free = centre_of_pressure(force, moment, corners)
            rest = np.column_stack([((cop - middle) @ axes)[:, :2], -free])
        written.append(Channels(corners, np.nan_to_num(np.hstack([force @ axes, rest]))))
    points = {name: recording.markers[:, i] @ turn.T for i, name in enumerate(recording.labels)}
    events = [(event.time_s, event.label, event.side.title()) for event in recording.events]
    write_c3d(
        target, points, first_frame=round(recording.first_frame) + 1, events=events or None, plates=written,
        depth_m=0.0, processing=recording.processing,
    )  # fmt: skip
    file = ezc3d.c3d(str(target))
    file["parameters"]["FORCE_PLATFORM"]["TYPE"]["value"] = np.full(len(written), plate_type)
    file.write(str(target))
    return target


@pytest.fixture(scope="module")
def as_recorded(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, xr.Dataset]:
    """Return the steps of a walk and its static trial as recorded: z up, plates of type 2."""
    study = tmp_path_factory.mktemp("as_recorded")
    for name in (WALK, STANDING):
        shutil.copyfile(shared / name, study / Path(name).name)
    return steps_of(study)


def steps_of(study: Path) -> dict[str, xr.Dataset]:
    """Return the steps of a study's only walk after ``init`` and a ``check`` without errors."""
    initialise(study)
    assert [finding for finding in check(study) if finding.severity == "error"] == []
    (session,) = run_study(study, {}).values()
    (steps,) = session.trials.values()
    return steps


@pytest.mark.parametrize(("up", "plate_type"), [("y", 2), ("z", 1), ("y", 1)])
def test_axes_and_plate_type_of_the_file_do_not_matter(
    shared: Path, tmp_path: Path, as_recorded: dict[str, xr.Dataset], up: str, plate_type: int
) -> None:
    """The same walk in a lab with y up, and on plates of type 1, which record the centre of pressure.

    A quarter turn keeps the 32 bits of markers; plate channels are rounded again, to 1e-7 of about 100 N m.
    """
    for name in (WALK, STANDING):
        turn = Y_UP if up == "y" else np.eye(3)
        rewritten(shared / name, tmp_path / Path(name).name, turn=turn, plate_type=plate_type)
    steps = steps_of(tmp_path)
    for name in ("contact_side", "plates", "valid", "reason"):
        np.testing.assert_array_equal(steps["contacts"][name], as_recorded["contacts"][name])
    assert steps["contacts"].valid.sum() == 2
    for kind in ("joint_moment", "joint_force"):  # N m, N
        np.testing.assert_allclose(steps["kinetics"][kind], as_recorded["kinetics"][kind], rtol=0, atol=1e-4)
    turned = steps["read"].lab_rotation.values
    assert (turned[1] == ([0, 1, 0] if up == "y" else [0, 0, 1])).all()  # the upward axis of the file


FASTEST_M = 0.12  # of a marker in a frame of 1/60 or 1/100 s; out of step they jump by a metre


@pytest.mark.parametrize(
    "file",
    [
        "data/odd/evart_fp_channel_not_filled.c3d",
        "data/odd/type1_no_analog_sample28_type1.c3d",
        "labs/bts_type1/sample28/dynamic.C3D",
        "labs/bts_type1/sample28/standing.C3D",
    ],
)
def test_a_header_that_accounts_for_every_byte_wins_over_parameters(shared: Path, file: str) -> None:
    recording = read_c3d(shared / file)
    assert np.nanmax(np.linalg.norm(np.diff(recording.markers, axis=0), axis=2)) < FASTEST_M


def test_the_plate_of_a_bts_file_bears_the_person(shared: Path) -> None:
    """Standing, all of the 59 kg (plate of type 1); walking, the centre of pressure beside the right ankle and toe."""
    standing, walking = (read_c3d(shared / f"labs/bts_type1/sample28/{name}.C3D") for name in ("standing", "dynamic"))
    assert -np.median(standing.analog[:, 2]) == pytest.approx(579, abs=2)
    (plate,) = plates_from_parameters(walking.force_platform, channel_count=6, length_unit_m=1e-3)
    force, moment = decode(walking.analog, plate, length_unit_m=1e-3, moment_unit_n_m=1e-3)
    cop, _ = centre_of_pressure(force, moment, plate.corners / 1000)
    loaded = np.linalg.norm(force, axis=1) > 300
    outside = [walking.markers[:, walking.labels.index(name)] for name in ("r mall", "r met")]
    x, z = cop[loaded][:, 0], cop[loaded][:, 2]
    assert (np.abs(z - np.mean([marker[loaded, 2] for marker in outside], axis=0)) < 0.08).all()  # half a foot's width
    ankle, toe = (marker[loaded, 0] for marker in outside)
    assert (np.minimum(ankle, toe) - 0.08 < x).all()
    assert (x < np.maximum(ankle, toe) + 0.08).all()
