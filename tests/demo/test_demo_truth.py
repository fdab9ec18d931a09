"""The exact answers in data/demo are those of an independent rigid-body library: pinocchio, recursive Newton-Euler."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation

from pipeline.conventions import SIDES
from pipeline.demo.body import Walker, segment_parameters
from pipeline.demo.legs import Pose
from pipeline.demo.loads import GRAVITY
from pipeline.demo.study import PEOPLE, demo_walk
from pipeline.demo.walk import Walk, motion
from tests.support.checkout import DEMO
from tests.support.whole_body import jets

pin: Any = pytest.importorskip("pinocchio", reason="pinocchio (pip install pin) is not installed")

Array = NDArray[np.float64]
WALKERS = {walker.participant_id: walker for walker in PEOPLE}
ROWS = [*csv.DictReader((DEMO / "trials.tsv").open(encoding="utf-8"), delimiter="\t")]
WALKS = {(row["participant_id"], row["trial"]): seed for seed, row in enumerate(ROWS) if row["role"] == "gait"}
FINE_S = 0.001


def leg_model(walker: Walker, side: int) -> Any:
    """Return the leg as a free thigh with shank and foot on ball joints; each joint has the axes of its segment."""
    model, parent, place = pin.Model(), 0, np.zeros(3)
    model.gravity.linear = np.array([0.0, -GRAVITY, 0.0])
    parameters = segment_parameters(walker)
    joints = (pin.JointModelFreeFlyer, pin.JointModelSpherical, pin.JointModelSpherical)
    for segment, joint, length in zip((2, 1, 0), joints, (walker.thigh_m, walker.shank_m, 0.0), strict=True):
        parent = model.addJoint(parent, joint(), pin.SE3(np.eye(3), place), f"joint {segment}")
        own = (array[side, segment] for array in (parameters.mass, parameters.com, parameters.inertia))
        model.appendBodyToJoint(parent, pin.Inertia(*own), pin.SE3.Identity())
        place = np.array([0.0, -length, 0.0])
    return model


def states(pose: Pose, fine: Array, time: Array, side: int) -> tuple[Array, Array, Array]:
    """Return configuration, velocity and acceleration (time, ...) of the leg, by splines through poses at ``fine``."""

    def along(values: Array) -> jets.Jet:
        spline = make_interp_spline(fine, values, k=7)
        return jets.Jet(*(spline(time, order) for order in range(3)))

    thigh, shank, foot = (along(pose.rotation[:, side, segment]) for segment in (2, 1, 0))
    hip = along(pose.centre[:, side, 2])
    moves = jets.product(lambda m, x: np.einsum("tji,tj->ti", m, x), thigh, jets.Jet(hip.first, hip.second))
    turns = [thigh, thigh.transposed() @ shank, shank.transposed() @ foot]
    spins = [jets.spin(turn) for turn in turns]
    placed = [hip.value, *(Rotation.from_matrix(turn.value).as_quat() for turn in turns)]
    moving, changing = ([first, *(spin[k] for spin in spins)] for k, first in enumerate((moves.value, moves.first)))
    return np.hstack(placed), np.hstack(moving), np.hstack(changing)


def recursive_loads(walk: Walk, answer: xr.Dataset, side: int) -> Array:
    """Return force and moment (time, joint, 2, 3) of ankle, knee and hip, lab axes, under the ground's force."""
    time = answer["time"].values - answer["time"].values[0]
    fine = np.arange(-0.02, time[-1] + 0.02, FINE_S)
    model, (q, v, a) = leg_model(walk.walker, side), states(motion(walk)(fine), fine, time, side)
    data, outside = model.createData(), pin.StdVec_Force([pin.Force.Zero() for _ in range(4)])
    to_lab = np.swapaxes(answer["rotation"].transpose("time", "segment", "local_axis", "axis").values, -1, -2)
    pushed, under, free = (answer[f"grf_{name}"].values for name in ("force", "centre_of_pressure", "free_moment"))
    turning = np.cross(under - answer["joint_centre"].sel(joint="ankle").values, pushed) + free
    loads = np.empty((len(time), 3, 2, 3))
    for k in range(len(time)):
        foot = pin.SE3(to_lab[k, 0], np.zeros(3))
        outside[3] = foot.actInv(pin.Force(pushed[k], turning[k]))
        pin.rnea(model, data, q[k], v[k], a[k], outside)
        for segment in range(3):
            load = data.f[3 - segment]
            loads[k, segment] = np.array([load.linear, load.angular]) @ to_lab[k, segment].T
    return loads


@pytest.mark.parametrize(("who", "trial"), WALKS, ids=["-".join(walk) for walk in WALKS])
def test_joint_loads_are_those_of_pinocchio(who: str, trial: str) -> None:
    answer = xr.load_dataset(DEMO / "truth" / f"{who}_{trial}.nc").fillna(0.0).astype(float)
    walk = demo_walk(WALKERS[who], trial, seed=WALKS[who, trial])
    for side, name in enumerate(SIDES):
        of_side = answer.sel(side=name)
        force, moment = np.moveaxis(recursive_loads(walk, of_side, side), 2, 0)
        assert np.abs(of_side["joint_moment_lab"]).max() > 50
        # N and N m: single precision of 1e3 N, of lever arms and of axes; the largest is 1.8e-4
        assert force == pytest.approx(of_side["joint_force"].values, abs=5e-4)
        assert moment == pytest.approx(of_side["joint_moment_lab"].values, abs=5e-4)
