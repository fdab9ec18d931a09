"""OpenSim itself on exported files: equal moments and marker errors, and setup files that run as the README has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.signals.filters import design_cutoff_hz
from tests.extras.opensim import hand_over, on_labs
from tests.extras.opensim.hand_over import EXAMPLE, compared, exported, marker_errors, only_theirs, run_setups
from tests.support.studies.references import rms

opensim = pytest.importorskip("opensim", reason="OpenSim is not installed (pip install -e '.[bench]')")


@pytest.fixture(scope="module")
def session(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(tmp_path_factory.mktemp("export"))


def test_moments_are_those_of_the_published_loads(session: Path, tmp_path: Path) -> None:
    """The C3D holds the loads in single precision; where a stance is refused, the published load is left out too."""
    assert sum(end - start for start, end in only_theirs(session)) < 0.1
    rows = compared(session, tmp_path)
    assert len(rows) > 20
    assert {row.name: row for row in rows if row.correlation < 0.9999 or row.rms > 0.5} == {}


def test_markers_fit_as_the_published_ones_do(session: Path, tmp_path: Path) -> None:
    files = EXAMPLE / "subject01_walk1.trc", session / "walk1.trc"
    theirs, ours = (rms(marker_errors(file, tmp_path)["marker_error_RMS"]) for file in files)
    assert ours == pytest.approx(theirs, rel=0.01)


def test_the_three_commands_of_the_readme_run(session: Path) -> None:
    """A model scaled by the static trial of the same person stays as it is."""
    fit, moments = run_setups(session)
    assert rms(fit["marker_error_RMS"]) < 0.025  # of the published model with its own weights: 0.023 m
    assert 80 < -moments["ankle_angle_r_moment"].min() < 160  # N m; 72.6 kg at 1.1 to 2.2 N m/kg
    before, after = (opensim.Model(str(file)) for file in (hand_over.MODEL, session / "scaled_model.osim"))
    for body in ("femur_r", "tibia_l"):
        assert after.getBodySet().get(body).getMass() == pytest.approx(
            before.getBodySet().get(body).getMass(), rel=0.01
        )


def test_files_of_a_lab_run_with_a_model_of_other_names(shared: Path, tmp_path: Path) -> None:
    """Metres, plates of type 4, Plug-in Gait: all files load, the tools run, and forces act under the foot."""
    assert shared
    rows = [*on_labs.of_study("emg_metres", tmp_path)]
    assert [row.leg.rpartition(" ")[2] for row in rows] == ["right", "left"]
    for row in rows:
        (ankle, away), *_ = row.moments
        share, lowest_n = row.foot
        assert row.fit < 0.02
        assert ankle > 0.99
        assert away < 0.15  # N m/kg: centres of the ankle 15 mm apart, at the body's weight
        assert share > 0.97
        assert lowest_n > -10


@pytest.mark.parametrize("cutoff_hz", [6.0, 10.0])
def test_the_cutoff_of_inverse_dynamics_is_that_of_the_studys_filter(cutoff_hz: float) -> None:
    """OpenSim's filter halves a sine at its own cut-off; the corrected one takes 3 dB at the study's."""
    rate_hz, time = 100.0, np.arange(0, 20, 0.01)
    given = np.sin(2 * np.pi * cutoff_hz * time)
    for chosen_hz, gain in ((cutoff_hz, 0.5), (design_cutoff_hz(cutoff_hz, rate_hz, order=3), 0.5**0.5)):
        storage, labels = opensim.Storage(), opensim.ArrayStr()
        for label in ("time", "sine"):
            labels.append(label)
        storage.setColumnLabels(labels)
        for instant, value in zip(time.tolist(), given.tolist(), strict=True):
            storage.append(instant, opensim.Vector(1, value))
        storage.lowpassIIR(chosen_hz)
        column = opensim.ArrayDouble()
        storage.getDataColumn("sine", column)
        filtered = np.array([column.get(i) for i in range(column.size())])
        inner = slice(500, 1500)  # away from the ends
        assert np.std(filtered[inner]) / np.std(given[inner]) == pytest.approx(gain, rel=1e-3)
