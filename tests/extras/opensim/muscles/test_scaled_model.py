"""Moment arms at the hip of a scaled model of OpenSim that the tests write themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.conventions import SIDES
from pipeline.extras.opensim.muscles.pelvis import Spines
from pipeline.extras.opensim.muscles.scaled_model import Sizes, opensim, write_scaled_model
from tests.extras.opensim.leg_model import HIP, write_leg_model
from tests.extras.opensim.leg_model import MUSCLES as POINTS

pytest.importorskip("opensim", reason="OpenSim is not installed")

LENGTHS = {(side, name): length for side in SIDES for name, length in (("thigh", 0.4), ("shank", 0.42), ("foot", 0.18))}
SPINES = (("R.ASIS", "0 0 0.12"), ("L.ASIS", "0 0 -0.12"), ("R.PSIS", "-0.15 0 0.05"), ("L.PSIS", "-0.15 0 -0.05"))
COORDINATES, MUSCLES = ("hip_flexion_r", "hip_adduction_r", "hip_rotation_r"), ("psoas_r", "glut_med1_r", "semimem_r")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = write_leg_model(tmp_path_factory.mktemp("model") / "legs.osim")
    markers = "".join(
        f'<Marker name="{name}"><socket_parent_frame>/bodyset/pelvis</socket_parent_frame>'
        f"<location>{place}</location></Marker>"
        for name, place in SPINES
    )
    text = path.read_text().replace("</Model>", f"<MarkerSet><objects>{markers}</objects></MarkerSet></Model>")
    path.write_text(text)
    return path


def arms_of(model: Path, output: Path, *, hip: tuple[float, ...], spines: Spines) -> dict[tuple[str, str], float]:
    """Return the moment arms at the hip of the scaled model in its neutral posture by muscle and coordinate, m."""
    sizes = Sizes({"right": np.array(hip), "left": np.array(hip) * (1, 1, -1)}, LENGTHS, 70.0, spines)
    found = write_scaled_model(model, output, sizes, strength=1.0, reserve_n_m=1.0)
    assert found.pelvis.spines == "markers of the model"
    scaled = opensim().Model(str(output))
    state = scaled.initSystem()
    frames = scaled.getBodySet()
    apart = [frames.get(f"femur_{end}").getPositionInGround(state).get(2) for end in "rl"]
    assert apart[0] - apart[1] == pytest.approx(2 * hip[2]), "the hips are where the person has them"
    every = {name: scaled.getCoordinateSet().get(name) for name in COORDINATES}
    return {
        (name, of): scaled.getMuscles().get(name).computeMomentArm(state, coordinate)
        for name in MUSCLES
        for of, coordinate in every.items()
    }


def test_hip_arms_follow_the_spines_and_not_the_hip_centre(model: Path, tmp_path: Path) -> None:
    own = Spines(0.24, 0.15)
    generic = opensim().Model(str(model))
    state = generic.initSystem()
    arms = arms_of(model, tmp_path / "same.osim", hip=HIP, spines=own)
    for (name, of), arm in arms.items():
        coordinate = generic.getCoordinateSet().get(of)
        assert arm == pytest.approx(generic.getMuscles().get(name).computeMomentArm(state, coordinate), abs=1e-6)
    narrow = arms_of(model, tmp_path / "narrow.osim", hip=(-0.04, -0.07, 0.065), spines=own)
    for key, arm in arms.items():
        assert narrow[key] == pytest.approx(arm, abs=1e-6), "a pelvis is not shrunk by hips that are near"
    wide = arms_of(model, tmp_path / "wide.osim", hip=HIP, spines=Spines(0.48, 0.15))
    (_, origin), (_, insertion) = POINTS["glut_med1"]
    from_hip = (np.array(origin) - HIP) * (1, 1.5, 2)  # depth, height, width
    along = (np.array(insertion) - from_hip) / np.linalg.norm(np.array(insertion) - from_hip)
    assert wide["glut_med1_r", "hip_adduction_r"] == pytest.approx(np.cross(from_hip, -along)[0], abs=1e-6)
