"""The step on the demonstration study with a small model of OpenSim that the tests write themselves."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.conventions import JOINTS, SIDES, STANDARD_GRAVITY_M_S2
from pipeline.errors import UserError
from pipeline.extras.opensim.muscle_variables import MUSCLE_METRICS, OF_MUSCLES, SHARES, WITH_FORCES
from pipeline.extras.opensim.muscles import step
from pipeline.extras.opensim.muscles.scaled_model import opensim
from pipeline.extras.opensim.muscles.settings import Settings
from pipeline.extras.opensim.muscles.step import muscles
from pipeline.opensim_files.mot import read_table
from pipeline.results import netcdf
from pipeline.trials.usable_walks import some_trials
from pipeline.variables.schema import describe
from tests.extras.opensim.leg_model import write_leg_model
from tests.support.settings import settings_of

pytest.importorskip("opensim", reason="OpenSim is not installed")

INPUTS = ("cycles", "kinematics", "contacts", "calibrate")
TRIAL = "comfortable_01"


def inputs_of(study: Path, *trials: str) -> list[xr.Dataset]:
    folder = study / "data" / "demo" / "derived" / "sub-01"
    every = [netcdf.load(folder / f"{name}.nc") for name in INPUTS]
    return [some_trials(data, trials) if "trial" in data.dims else data for data in every]


def chosen(model: Path, **changes: float) -> Settings:
    settings: Settings = settings_of("muscles", opensim=True, model=str(model), **changes)
    return settings


@pytest.fixture(scope="module")
def inputs(small_study: Path) -> list[xr.Dataset]:
    return inputs_of(small_study, TRIAL)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_leg_model(tmp_path_factory.mktemp("model") / "legs.osim")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def found(inputs: list[xr.Dataset], model: Path, folder: Path) -> xr.Dataset:
    return muscles(*inputs, settings=chosen(model), folder=folder)


def test_file_has_the_variables_of_the_schema(found: xr.Dataset) -> None:
    described = describe("muscles", found)
    assert {*described.data_vars} == OF_MUSCLES.keys() | MUSCLE_METRICS.keys()
    assert found.attrs["opensim_model"] == "legs.osim"
    assert found.attrs["opensim_version"].startswith(opensim().GetVersion()[:3])


def test_muscles_of_the_trunk_are_left_out(found: xr.Dataset) -> None:
    assert "ercspn" not in found.model_muscle
    assert {"soleus", "psoas"} <= {*found.model_muscle.values.tolist()}


def test_moment_arms_times_forces_give_the_moments(found: xr.Dataset) -> None:
    """Each factor is interpolated between frames by itself, so that the product errs by up to 1 % of the peak."""
    mass_kg = 74.6
    moment = (found.moment_arm * found.muscle_force).sum("model_muscle") / mass_kg + found.reserve_moment
    peak = np.abs(found.model_moment).max(("cycle", "phase"))
    assert (np.abs(moment - found.model_moment).max(("cycle", "phase")) < 0.01 * peak).all()
    assert (found.muscle_reason == "").all()
    assert (found.muscle_moment_error < 0.1).all()
    assert (found.reserve_share < 0.1).all()
    assert float(found.activation.min()) >= 0
    assert float(found.activation.max()) < 1


def test_moments_are_nearly_those_of_the_study(found: xr.Dataset, inputs: list[xr.Dataset]) -> None:
    """The model's masses and axes are others: published pairs of models differ by up to .23 N m/kg."""
    own = inputs[0].joint_moment_jcs
    signs = {"ankle_angle": ("ankle", "flexion", 1), "knee_angle": ("knee", "flexion", -1)}
    signs |= {"hip_flexion": ("hip", "flexion", 1), "hip_adduction": ("hip", "adduction", 1)}
    for coordinate, (joint, angle, sign) in signs.items():
        ours = own.sel(joint=joint, angle=angle).values
        model = sign * found.model_moment.sel(coordinate=coordinate).values
        assert np.sqrt(np.mean((model - ours) ** 2)) < 0.23, coordinate


def test_velocity_is_the_rate_of_the_length(found: xr.Dataset) -> None:
    duration_s = (found.end_time - found.start_time).values[:, None, None]
    rate = np.gradient(found.muscle_tendon_length.values, axis=-1) * 100 / duration_s
    inner = slice(5, -5)  # numpy's rate is one-sided at both ends
    difference = (rate - found.muscle_tendon_velocity.values)[..., inner]
    assert np.abs(difference).max() < 0.05 * np.abs(rate).max(), "frames and phases differ"


def test_contact_forces_bear_the_body(found: xr.Dataset) -> None:
    """The ground carries the leg, so that the bones of each joint press at least about as hard as body weight."""
    downwards = -found.joint_contact_force.sel(axis="y").max("phase") / STANDARD_GRAVITY_M_S2
    largest = np.linalg.norm(found.joint_contact_force, axis=2).max(axis=-1) / STANDARD_GRAVITY_M_S2
    assert (largest > 1).all()
    assert downwards.shape == (3, 3)
    for i, joint in enumerate(JOINTS):
        np.testing.assert_allclose(found[f"peak_contact_force_{joint}"], largest[:, i], rtol=1e-12)


def test_model_stands_where_the_study_does(found: xr.Dataset) -> None:
    """Hinges for knee and ankle cannot follow all of a pose; a wrong axis or side would be off by centimetres."""
    assert (found.model_misfit < 0.01).all()
    ratio = found.muscle_tendon_length_of_standing
    assert 0.7 < float(ratio.min()) < 1 < float(ratio.max()) < 1.3


def test_sides_are_alike_in_a_symmetric_walk(found: xr.Dataset) -> None:
    """The generated walker is, but for half a cycle, its speed and noise; an exchanged sign changes all of a force."""
    left, right = (found.isel(cycle=found.side.values == side).mean("cycle") for side in SIDES)
    size = np.abs(right.muscle_force).max()
    assert float(np.abs(left.muscle_force - right.muscle_force).max()) < 0.2 * float(size)


def test_weak_muscles_and_cycles_without_kinetics_have_a_reason_each_and_keep_lengths(
    inputs: list[xr.Dataset], model: Path, found: xr.Dataset, folder: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Each cycle is judged for itself: the second has no forces, muscles of a fiftieth fail in the first.

    The motion of the model, in which strength has no part, is that which OpenSim has found before.
    """
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(step, "fit_motion", lambda place, name, *_, **__: read_table(place / f"{name}.mot"))
    two = slice(2)
    cycles = inputs[0].isel(cycle=two)
    cycles = cycles.assign_coords(reason=("cycle", ["", "no plate"]))
    weak = muscles(cycles, *inputs[1:], settings=chosen(model, strength=0.02), folder=tmp_path)
    first, second = weak.muscle_reason_code.values.tolist()
    assert second == "no_kinetics"
    assert first in {"reserves_too_large", "muscle_moments_differ"}
    for name in {*WITH_FORCES} - {*SHARES}:
        assert np.isnan(weak[name]).all(), name
    assert np.isnan(weak.reserve_share[1]).all()
    assert weak.reserve_share[0].max() > 5
    assert np.isnan(weak.peak_contact_force_hip).all()
    strong = found.isel(cycle=two)
    np.testing.assert_allclose(weak.muscle_tendon_length, strong.muscle_tendon_length, rtol=1e-6)
    np.testing.assert_allclose(weak.moment_arm, strong.moment_arm, rtol=1e-6, atol=1e-9)


def test_a_model_without_the_names_is_refused_in_one_line(
    inputs: list[xr.Dataset], model: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.osim"
    other.write_text(model.read_text().replace("femur_r", "thigh_r"))
    with pytest.raises(
        UserError, match=r"other.osim: OpenSim fails: .*femur_r.*name a model with the bodies"
    ) as raised:
        muscles(*inputs, settings=chosen(other), folder=tmp_path)
    assert "\n" not in str(raised.value)


def test_scale_follows_the_joint_centres(found: xr.Dataset, inputs: list[xr.Dataset]) -> None:
    scales = dict(part.rsplit(" ", 1) for part in found.attrs["opensim_model_scale"].split(", "))
    distance = inputs[3].joint_distance
    for side in SIDES:
        for segment, body, length_m in (("thigh", "femur", 0.4), ("shank", "tibia", 0.42)):
            own = float(distance.sel(side=side, segment=segment)) / length_m
            assert float(scales[f"{body}_{side[0]}"]) == pytest.approx(own, abs=1e-4), "rounded to four digits"
