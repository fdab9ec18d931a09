"""What the step reads back of OpenSim, against OpenSim's own tools with their own setup files, on public data."""

from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.extras.opensim.motion_files import Columns
from pipeline.extras.opensim.muscles import model_motion, step
from pipeline.extras.opensim.muscles.opensim_run import ROOM, geometry, here, share_moments
from pipeline.extras.opensim.muscles.scaled_model import opensim
from pipeline.extras.opensim.muscles.settings import Settings
from pipeline.extras.opensim.setup_files import SCALED_MODEL, Walk
from pipeline.opensim_files.mot import read_table

pytest.importorskip("opensim", reason="OpenSim is not installed")

MODEL, MOTION, LOADS = "subject01_simbody_adjusted.osim", "subject01_walk1_Kinematics.sto", "foot_floor_loads.xml"
ACTUATORS = "gait2392_SO_weak_Residual_Actuators.xml"
SPAN_S, INTERVAL = (0.7, 1.0), 10
COORDINATES = ("hip_flexion_r", "knee_angle_r", "ankle_angle_r")
MUSCLES = ("semimem_r", "psoas_r", "med_gas_r", "soleus_r", "rect_fem_r", "vas_lat_r")


@pytest.fixture(scope="module")
def public(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the example of static optimisation and joint reactions, with the model under its usual name."""
    source = shared / "data" / "muscles_gait2392"
    if not source.is_dir():
        pytest.skip("the example of OpenSim is not there")
    folder = tmp_path_factory.mktemp("gait2392")
    for path in source.iterdir():
        shutil.copy(path, folder / path.name)
        (folder / path.name).chmod(0o644)
    (folder / "subject01_simbody_adjusted_StaticOp.osim").rename(folder / MODEL)
    shutil.copy(folder / MODEL, folder / SCALED_MODEL)  # what the step runs
    return folder


@pytest.fixture(scope="module")
def by_tools(public: Path) -> dict[str, Columns]:
    """Return the results of Analyze with the setup files of the example, over a shorter time."""
    folder = public / "by_tools"
    folder.mkdir()
    for kind in ("static_optimization", "JointReaction"):
        text = (public / f"setup_{kind}.xml").read_text().replace("ResultsStaticOptimization\\", "by_tools/")
        for name, value in zip(
            ("initial_time", "final_time", "start_time", "end_time"), (*SPAN_S, *SPAN_S), strict=True
        ):
            text = re.sub(f"<{name}>[^<]*", f"<{name}>{value}", text)
        text = re.sub("<results_directory>[^<]*", "<results_directory>by_tools", text)
        if kind == "static_optimization":
            analysis = (
                "<MuscleAnalysis name='MuscleAnalysis'><on>true</on><step_interval>10</step_interval>"
                f"<muscle_list>all</muscle_list><moment_arm_coordinate_list>{' '.join(COORDINATES)}"
                "</moment_arm_coordinate_list><compute_moments>true</compute_moments></MuscleAnalysis>"
            )
            text = text.replace("<objects>\n\t\t\t\t<StaticOptimization", f"<objects>{analysis}<StaticOptimization")
            assert "MuscleAnalysis" in text
        (public / f"{kind}.xml").write_text(text)
        with here(public):
            opensim().AnalyzeTool(f"{kind}.xml").run()
    return {path.stem.removeprefix("subject01_"): read_table(path) for path in folder.glob("*.sto")}


def test_lengths_and_moment_arms_are_those_of_muscle_analysis(public: Path, by_tools: dict[str, Columns]) -> None:
    """The file of the motion has eight decimals of a degree."""
    length = by_tools["MuscleAnalysis_Length"]
    motion = read_table(public / MOTION)
    rows = np.searchsorted(motion["time"], length["time"] - 1e-6)
    found = geometry(
        public / MODEL, {name: values[rows] for name, values in motion.items()}, dict.fromkeys(MUSCLES, COORDINATES)
    )
    for muscle in MUSCLES:
        np.testing.assert_allclose(found.length[muscle], length[muscle], atol=1e-6)
        for name in COORDINATES:
            own = by_tools[f"MuscleAnalysis_MomentArm_{name}"][muscle]
            np.testing.assert_allclose(found.arm[name, muscle], own, atol=1e-6)
    assert len(rows) > 20


def test_activations_forces_and_reactions_are_those_of_the_setup_files(
    public: Path, by_tools: dict[str, Columns]
) -> None:
    found = share_moments(
        public,
        Walk(MOTION, LOADS, SPAN_S),
        actuators=ACTUATORS,
        interval=INTERVAL,
        joints=["hip_r"],
        activation_exponent=2,
    )
    pairs = [
        (found.activation, by_tools["StaticOptimization_activation"], 1.0),
        (found.force, by_tools["StaticOptimization_force"], 1000.0),
    ]
    for own, other, size in pairs:
        assert own.keys() == other.keys()
        for name, values in other.items():
            np.testing.assert_allclose(own[name], values, atol=1e-6 * size, err_msg=name)
    reaction = by_tools["JointReaction_ReactionLoads"]
    names = [f"hip_r_on_femur_r_in_femur_r_f{axis}" for axis in "xyz"]  # the example wants the femur's axes
    size = np.linalg.norm([reaction[name] for name in names], axis=0)
    np.testing.assert_allclose(np.linalg.norm(found.force_of_joint("hip_r"), axis=1), size, rtol=1e-6)


@pytest.mark.parametrize(("motion", "peak_mm"), [("normal", 437), ("crouch1", 426), ("crouch4", 440)])
def test_peak_length_of_semimembranosus_in_normal_and_crouch_gait(public: Path, motion: str, peak_mm: int) -> None:
    """The rounded lengths are those of OpenSim 4.6 with the generic Gait2392, right side."""
    columns = read_table(public / f"{motion}.mot")
    lengths = geometry(public / "gait2392_thelen2003muscle.osim", columns, {"semimem_r": ()}).length
    assert round(1000 * lengths["semimem_r"].max()) == peak_mm


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
def test_a_full_disk_is_no_refusal_of_opensim(tmp_path: Path) -> None:
    """OpenSim ends its files early then, or fails with another message, for which a walk would be refused."""
    (tmp_path / ROOM).symlink_to("/dev/full")
    full = os.strerror(errno.ENOSPC)
    with pytest.raises(OSError, match=full), here(tmp_path):
        pass
    with pytest.raises(OSError, match=full), here(tmp_path):
        raise UserError("model.osim", "OpenSim fails", "name another")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize("fails", [True, False])
def test_a_full_disk_is_no_fault_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool) -> None:
    """Already when the scaled model is written, whether or not OpenSim says that it failed."""
    (tmp_path / ROOM).symlink_to("/dev/full")

    def write(generic: Path, *_: object, **__: object) -> None:
        if fails:
            raise UserError(str(generic), "OpenSim fails", "name another")

    monkeypatch.setattr(step, "write_scaled_model", write)
    monkeypatch.setattr(model_motion, "sizes_of", lambda _: None)
    chosen = Settings(opensim=True, model="legs.osim")
    empty, cycles = xr.Dataset(), xr.Dataset(coords={"cycle": [0]})
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        step.muscles(cycles, empty, empty, empty, settings=chosen, folder=tmp_path)
