"""Free choices of a lab change no result: axes, units, names, start time, left for right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

import pipeline.steps.read.recording_file
from pipeline.c3d.reader import read_c3d
from pipeline.recording import Event, Recording
from tests.support.checkout import HOUSE, copy_study, keep_rows
from tests.support.studies.run_steps import Session, run_study
from tests.support.walks.person import Array

Change = Callable[[Recording], Recording]
QUANTITIES = (
    ("kinematics", "joint_angle"),
    ("kinematics", "pelvis_angle"),
    ("kinetics", "joint_moment"),
    ("kinetics", "joint_moment_jcs"),
    ("kinetics", "joint_power"),
    ("contacts", "free_moment"),
)
# Coordinates of metres are rounded at 1e-16 m; differentiated twice at 100 Hz and filtered that is 1e-11 m/s2.
TOLERANCE = 1e-9
TRIAL = "comfortable_01"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one person's static trial and one walk, with segments from a table."""
    folder = copy_study(HOUSE / "data" / "demo", tmp_path_factory.mktemp("one") / "study")
    (folder / "segments.tsv").unlink()
    keep_rows(folder, lambda row: row.startswith(("sub-01\tstatic\t", f"sub-01\t{TRIAL}\t")))
    keep_rows(folder, lambda row: row.startswith("sub-01"), "participants.tsv")
    return folder


@pytest.fixture(scope="module")
def plain(study: Path) -> Session:
    return run_study(study, {})["sub-01"]


@pytest.fixture
def changed(study: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Session]:
    def run(change: Change, overrides: dict[str, Any] | None = None) -> Session:
        module = pipeline.steps.read.recording_file
        monkeypatch.setattr(module, "read_c3d", lambda path, **names: change(read_c3d(path, **names)))
        return run_study(study, overrides or {})["sub-01"]

    return run


def same(found: Session, expected: Session, order: slice = slice(None)) -> None:
    """Compare results frame by frame; ``order`` exchanges the sides."""
    compared = 0
    for step, name in QUANTITIES:
        values, wanted = (session.trials[TRIAL][step][name].values for session in (found, expected))
        np.testing.assert_allclose(values[:, order], wanted, rtol=0, atol=TOLERANCE, err_msg=name)
        compared += int(np.isfinite(wanted).sum())
    assert compared > 10_000
    for name in ("peak_ankle_plantarflexor_moment", "stride_length", "step_width", "effective_foot_mass"):
        one, other = (session.trials[TRIAL]["cycles"] for session in (found, expected))
        np.testing.assert_allclose(np.sort(one[name].values), np.sort(other[name].values), atol=TOLERANCE, err_msg=name)
    assert found.trials[TRIAL]["contacts"].valid.sum() == expected.trials[TRIAL]["contacts"].valid.sum()


def turned(recording: Recording, rotation: Array) -> Recording:
    platform = dict(recording.force_platform)
    if platform["USED"][0]:
        platform["CORNERS"] = np.einsum("ij,jck->ick", rotation, platform["CORNERS"])
    return replace(recording, markers=recording.markers @ rotation.T, force_platform=platform)


# whole quarter turns, so that no coordinate is rounded: about the vertical, and up along each axis of the file
QUARTER = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
UP_TO_Y = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
UP_TO_X = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    "rotation", [QUARTER, QUARTER @ QUARTER, QUARTER.T, UP_TO_Y, UP_TO_X], ids=["90", "180", "270", "y-up", "x-up"]
)
def test_axes_of_the_lab(plain: Session, changed: Callable[..., Session], rotation: Array) -> None:
    same(changed(lambda recording: turned(recording, rotation)), plain)


def test_a_moved_origin(plain: Session, changed: Callable[..., Session]) -> None:
    away = np.array([1.5, -2.0, 0.25])

    def moved(recording: Recording) -> Recording:
        platform = dict(recording.force_platform)
        if platform["USED"][0]:
            platform["CORNERS"] = platform["CORNERS"] + away[:, None, None] / recording.length_unit_m
        return replace(recording, markers=recording.markers + away, force_platform=platform)

    same(changed(moved), plain)


def test_metres_for_millimetres(plain: Session, changed: Callable[..., Session]) -> None:
    def in_metres(recording: Recording) -> Recording:
        if not recording.force_platform["USED"][0]:
            return replace(recording, length_unit_m=1.0)
        lengths = {name: np.asarray(recording.force_platform[name]) / 1000 for name in ("CORNERS", "ORIGIN")}
        moments = np.array([unit == "Nmm" for unit in recording.analog_units])
        return replace(
            recording,
            length_unit_m=1.0,
            force_platform={**recording.force_platform, **lengths},
            analog=recording.analog * np.where(moments, 1e-3, 1.0),
            analog_units=["Nm" if unit == "Nmm" else unit for unit in recording.analog_units],
        )

    same(changed(in_metres), plain)


def test_a_recording_that_starts_later(plain: Session, changed: Callable[..., Session]) -> None:
    frames = 64  # at 100 Hz not an exact binary number: equal results, rounded times

    def later(recording: Recording) -> Recording:
        shift = frames / recording.marker_rate_hz
        events = [Event(event.time_s + shift, event.label, event.side) for event in recording.events]
        platform = {name: value for name, value in recording.force_platform.items() if name != "ZERO"}
        return replace(recording, first_frame=frames, events=events, force_platform=platform)

    same(changed(later), plain)


def test_other_names_of_the_markers(study: Path, plain: Session, changed: Callable[..., Session]) -> None:
    text = (HOUSE / "config" / "body_models" / "isb_clusters.yaml").read_text()
    model = yaml.safe_load(text)
    model["name"], model["side_labels"] = "ours", {"left": "izq_", "right": "der_"}
    (study / "ours.yaml").write_text(yaml.safe_dump(model))

    def renamed(recording: Recording) -> Recording:
        side = {"L": "izq_", "R": "der_"}
        return replace(recording, labels=[side[label[0]] + label[1:] for label in recording.labels])

    same(changed(renamed, {"body_model": "ours.yaml"}), plain)


@pytest.mark.parametrize("slope_deg", [10.0, -7.0])
def test_axes_that_rise_where_the_person_faces(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch, slope_deg: float
) -> None:
    """Walks to +x, -x and +y of a lab, in axes that lean as trials.tsv says; the static trial in the lab's own."""
    study = copy_study(shared / "studies" / "exact", tmp_path / "study")
    keep_rows(study, lambda row: row.startswith("sub-01"))
    level = run_study(study, {})["sub-01"]
    header, *rows = (study / "trials.tsv").read_text().splitlines()
    cells = ["n/a" if "static" in row else f"{slope_deg}" for row in rows]
    lines = [f"{row}\t{cell}" for row, cell in zip([header, *rows], ["slope_degrees", *cells], strict=True)]
    (study / "trials.tsv").write_text("\n".join(lines) + "\n")
    down = Rotation.from_euler("z", -slope_deg, degrees=True).as_matrix()  # the vertical leans forward in such axes
    to_lab = {name: steps["read"].lab_rotation.values for name, steps in level.trials.items()}

    def leaning(path: Path, **names: Any) -> Recording:
        own = to_lab.get(path.stem, np.eye(3))
        return turned(read_c3d(path, **names), own.T @ down @ own if path.stem in to_lab else np.eye(3))

    monkeypatch.setattr(pipeline.steps.read.recording_file, "read_c3d", leaning)
    found = run_study(study, {})["sub-01"]
    assert {tuple(axes[0]) for axes in to_lab.values()} == {(1, 0, 0), (-1, 0, 0), (0, 1, 0)}
    for trial, steps in level.trials.items():
        for step, name in (*QUANTITIES, ("contacts", "event_time"), ("cycles", "stride_length")):
            values, wanted = (session.trials[trial][step][name].values for session in (found, level))
            size = np.nanmax(np.abs(wanted))
            np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-6 * size, err_msg=name)
        assert np.isfinite(steps["kinetics"].joint_moment.values).any()
        np.testing.assert_array_equal(found.trials[trial]["cycles"].stance_code, steps["cycles"].stance_code)
        np.testing.assert_array_equal(
            found.trials[trial]["cycles"].stance_doubt_code, steps["cycles"].stance_doubt_code
        )


def test_left_for_right(plain: Session, changed: Callable[..., Session]) -> None:
    """In a mirror, markers have the names of the other side; plates stay right-handed with x reversed.

    Force is a vector, moment an axial one: of channels Fx Fy Fz Mx My Mz then Fx, My and Mz change their signs.
    """
    mirror = np.array([1.0, -1, 1])
    signs = np.array([-1.0, 1, 1, 1, -1, -1])
    other = {"L": "R", "R": "L"}
    sides = {"left": "right", "right": "left", "": ""}

    def mirrored(recording: Recording) -> Recording:
        platform = dict(recording.force_platform)
        analog = recording.analog
        if platform["USED"][0]:
            platform["CORNERS"] = (platform["CORNERS"] * mirror[:, None, None])[:, [1, 0, 3, 2]]
            platform["ORIGIN"] = np.asarray(platform["ORIGIN"]) * [[-1.0], [1], [1]]
            analog = analog * np.tile(signs, analog.shape[1] // 6)
        return replace(
            recording,
            labels=[other[label[0]] + label[1:] for label in recording.labels],
            markers=recording.markers * mirror,
            analog=analog,
            force_platform=platform,
            events=[Event(event.time_s, event.label, sides[event.side]) for event in recording.events],
        )

    found = changed(mirrored)
    # vectors in segment axes are mirrored, too; clinical joint moments are the same
    exchanged = found.trials[TRIAL]
    moment = exchanged["kinetics"].joint_moment
    moment.values[...] = moment.values * [-1, -1, 1]
    exchanged["contacts"].free_moment.values[...] *= -1
    same(found, plain, slice(None, None, -1))
