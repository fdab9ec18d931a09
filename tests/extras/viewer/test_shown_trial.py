"""What the viewer draws of a trial is what the results hold."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.extras.viewer.shown_trial import Session, shown_trial, trials_of_session
from pipeline.plates.wrench import over_each_plate
from pipeline.results import netcdf
from pipeline.trials.session import one_trial
from pipeline.variables.stance_verdicts import USED

STEPS = ("read", "calibrate", "clean", "contacts", "kinematics", "kinetics", "cycles")


@pytest.fixture(scope="module")
def session(small_study: Path) -> dict[str, xr.Dataset]:
    return {step: netcdf.load(small_study / "data" / "demo" / "derived" / "sub-01" / f"{step}.nc") for step in STEPS}


def test_every_trial_is_listed_with_the_reason_of_its_rejection(session: Session) -> None:
    trials = trials_of_session(session)
    assert trials.pop("gone") == ("gait", "sub-01/gone.c3d: no such file; correct trials.tsv or restore the file")
    assert trials == {"static": ("static", ""), "comfortable_01": ("gait", ""), "fast_01": ("gait", "")}


def test_a_rejected_trial_has_its_reason_and_nothing_to_draw(session: Session) -> None:
    trial = shown_trial(session, "gone")
    assert "no such file" in trial.notes
    assert trial.recorded.size == trial.repaired.size == 0


def test_what_the_page_gets_are_the_numbers_of_the_trial(session: Session) -> None:
    trial = shown_trial(session, "fast_01")
    message = json.loads(json.dumps(trial.message(), allow_nan=False))
    for name in ("recorded", "repaired", "fill", "residual", "force"):
        values = np.frombuffer(b64decode(message[name]["values"]), dtype="<f4").reshape(message[name]["shape"])
        np.testing.assert_array_equal(values, getattr(trial, name).astype(np.float32))
    assert [one["time"] for one in message["events"]] == [event.time for event in trial.events]
    assert {*message["soles"]} == {"left", "right"}


def test_a_landmark_has_its_repairs_and_residuals(session: Session) -> None:
    trial, clean = shown_trial(session, "fast_01"), one_trial(session["clean"], "fast_01")
    assert trial.landmark == clean.label.values.tolist()
    np.testing.assert_array_equal(trial.fill, clean.fill.values)
    motion = one_trial(session["kinematics"], "fast_01")
    if "marker_residual" in motion:
        np.testing.assert_array_equal(trial.residual, motion.marker_residual.values)


def test_recorded_and_repaired_markers_are_at_one_place(session: Session) -> None:
    """A filter of 6 Hz moves a marker by a few millimetres; axes that are exchanged move it by metres."""
    trial, clean = shown_trial(session, "fast_01"), one_trial(session["clean"], "fast_01")
    column = trial.marker.index(str(clean["label"].values[clean.marker.values.tolist().index("heel_left")]))
    repaired = trial.repaired[:, clean.marker.values.tolist().index("heel_left")]
    assert np.abs(trial.recorded[:, column] - repaired).max() < 0.02


def test_forces_act_inside_their_plates_during_used_stances(session: Session) -> None:
    trial = shown_trial(session, "comfortable_01")
    used = [one for one in trial.contacts if one.verdict == USED]
    assert used
    for one in used:
        plate = trial.plates.index(int(one.plates))
        inside = (trial.time > one.start + 0.1) & (trial.time < one.end - 0.1)
        assert over_each_plate(trial.pressure[inside, plate], trial.corners, 0.0)[:, plate].all()
        assert (trial.force[inside, plate, 1] > 0).all()


def test_events_and_contacts_are_those_of_the_results(session: Session) -> None:
    trial, contacts = shown_trial(session, "fast_01"), one_trial(session["contacts"], "fast_01")
    assert sorted(event.time for event in trial.events) == sorted(contacts.event_time.values.tolist())
    assert sorted(one.start for one in trial.contacts) == sorted(contacts.contact_start.values.tolist())


def test_lines_have_ends_on_markers_and_joint_centres(session: Session) -> None:
    trial = shown_trial(session, "fast_01")
    ends = trial.figure.reshape(len(trial.time), -1, 3)
    known = np.concatenate([trial.repaired, trial.centres], axis=1)
    away = np.linalg.norm(ends[:, :, None] - known[:, None], axis=-1).min(axis=2)
    assert np.nanmax(away) == 0
    assert trial.round.shape == (len(trial.time), 0, 3)  # no trunk, no head
    assert len(trial.sides) == trial.figure.shape[1]
    lengths = np.linalg.norm(np.diff(trial.axes, axis=2), axis=-1)
    np.testing.assert_allclose(lengths, 0.08, rtol=1e-12)


def test_soles_hold_heel_and_toe(session: Session) -> None:
    trial, clean = shown_trial(session, "fast_01"), one_trial(session["clean"], "fast_01")
    names = clean.marker.values.tolist()
    assert {*trial.soles} == {"left", "right"}
    for side, outline in trial.soles.items():
        toe = clean.marker_position.values[:, names.index(f"toe_{side}")]
        middle = outline[:, :, 0].mean(axis=1)
        assert np.linalg.norm((middle - toe)[:, [0, 2]], axis=1).max() < 0.2
        np.testing.assert_array_equal(outline[:, :, 1], np.roll(outline[:, :, 0], -1, axis=1))


def test_a_static_trial_has_only_its_markers(session: Session) -> None:
    trial = shown_trial(session, "static")
    assert np.isfinite(trial.recorded).all(axis=(0, 2)).sum() >= 30
    assert trial.figure.shape[1:] == (0, 2, 3)
    assert (trial.events, trial.contacts, trial.soles) == ([], [], {})
