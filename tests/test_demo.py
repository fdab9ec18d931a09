"""The demonstration study: a body that walks as people do, and answers that obey mechanics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import ezc3d
import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.demo import files
from pipeline.demo.body import SIDES, hip_in_pelvis, markers_in_segments, segment_parameters
from pipeline.demo.forces import GRAVITY, Ground, ground
from pipeline.demo.legs import Pose
from pipeline.demo.plates import SOLE, channels, file_axes
from pipeline.demo.recording import marker_paths
from pipeline.demo.steps import Walk, cycles
from pipeline.demo.truth import STEP_S, Wrenches, axial, joint_wrenches, mass_centres
from pipeline.demo.walk import BALL_ARC, HEEL_ARC, Motion, motion, stand

Array = NDArray[np.float64]
WALKERS = {walker.participant_id: walker for walker in files.PEOPLE}
TRIALS = [("sub-01", "comfortable_02"), ("sub-01", "fast_01"), ("sub-02", "comfortable_03"), ("sub-02", "fast_02")]


@dataclass(frozen=True)
class Example:
    """One walk of the study without noise, at 200 instants a second."""

    walk: Walk
    bodies: Motion
    time: Array
    body: Pose
    feet: Ground
    wrenches: Wrenches

    def in_stance(self, side: int, start: float, end: float) -> list[tuple[int, NDArray[np.bool_]]]:
        """Return each step of a foot with the instants between two fractions of the gait cycle after its strike."""
        counted = cycles(self.walk, side, self.time)
        own = np.flatnonzero(self.walk.side == side)
        windows = [(int(step), counted - self.walk.number[step] / 2) for step in own]
        return [(step, (since > start) & (since < end)) for step, since in windows if ((since > start) & (since < end)).any()]


@pytest.fixture(scope="module", params=TRIALS, ids="-".join)
def example(request: pytest.FixtureRequest) -> Example:
    who, trial = request.param
    walk = files.demo_walk(WALKERS[who], trial, seed=3)
    bodies, time = motion(walk), np.arange(0, walk.gait.duration_s, 0.005)
    body = bodies(time)
    feet = ground(walk, body, time)
    wrenches = joint_wrenches(bodies, time, segment_parameters(walk.walker), feet)
    return Example(walk, bodies, time, body, feet, wrenches)


@pytest.fixture(scope="module")
def exact_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo")
    files.write_demo_study(path, noise=0.0)
    return path


def flexion(proximal: Array, distal: Array) -> Array:
    """Return the angle about the proximal z axis, degrees, of the distal segment's long axis."""
    long_axis = np.einsum("...ji,...j->...i", proximal, distal[..., 1])
    return np.degrees(np.arctan2(-long_axis[..., 0], long_axis[..., 1]))


def test_joint_angles_stay_in_the_range_of_walking(example: Example) -> None:
    rotation = example.body.rotation
    hip = flexion(example.body.pelvis_rotation[:, None], rotation[:, :, 2])
    knee = -flexion(rotation[:, :, 2], rotation[:, :, 1])
    ankle = flexion(rotation[:, :, 1], rotation[:, :, 0])
    # Winter 1991, normal walking with two standard deviations
    assert -20 < hip.min() < 0 < 28 < hip.max() < 48
    assert 2 < knee.min() < 12 < 50 < knee.max() < 70
    assert -32 < ankle.min() < -10 < 5 < ankle.max() < 22
    for side in (0, 1):
        for _, loading in example.in_stance(side, 0.08, 0.18):
            assert 12 < knee[loading, side].max() < 28


def test_joint_moments_stay_in_the_range_of_walking(example: Example) -> None:
    moment = np.einsum("tskji,tskj->tski", example.body.rotation, example.wrenches.moment)[..., 2]
    ankle, knee, hip = np.moveaxis(moment, -1, 0) / example.walk.walker.mass_kg
    assert 1.2 < -ankle.min() < 1.8  # plantarflexor
    assert 0.3 < knee.max() < 1.2  # extensor
    assert np.abs(hip).max() < 2.2


def test_weight_is_carried_over_a_stride(example: Example) -> None:
    first = example.walk.strike[example.walk.number == 0][0]
    second = example.walk.strike[example.walk.number == 2][0]
    stride = (example.time >= first) & (example.time < second)
    mean = example.feet.force[stride].sum(axis=1).mean(axis=0) / (example.walk.walker.mass_kg * GRAVITY)
    # irregular steps leave the centre of mass a little faster or higher than before
    assert mean == pytest.approx([0, 1, 0], abs=0.03)


def test_vertical_force_has_two_humps(example: Example) -> None:
    weight = example.walk.walker.mass_kg * GRAVITY
    for side in (0, 1):
        for parts in zip(*(example.in_stance(side, *span) for span in ((0.08, 0.2), (0.25, 0.37), (0.42, 0.54))), strict=False):
            early, middle, late = (example.feet.force[instants, side, 1] / weight for _, instants in parts)
            assert early.max() > 1.05 > 0.9 > middle.min()
            assert late.max() > 1.05


def sole_points(example: Example) -> Array:
    """Return (time, side, point, 3): points along the sole from heel to toe in lab axes."""
    walker, angle = example.walk.walker, np.radians(np.arange(0, 91, 1))
    arcs = [
        np.stack([place + sign * radius * np.sin(angle), radius * (1 - np.cos(angle)), 0 * angle], axis=-1)
        for (place, radius), sign in ((HEEL_ARC, -1), (BALL_ARC, 1))
    ]
    from_ankle = walker.foot_m * np.concatenate(arcs) - (0, walker.ankle_height_m, 0)
    markers, feet = markers_in_segments(walker), []
    for side, prefix in enumerate("LR"):
        # the foot's axes from its markers: heel and forefoot are level, so the sole's x is horizontal in a flat foot
        heel, first, fifth = (markers[prefix + name][2] for name in ("HEE", "MT1", "MT5"))
        assert np.cross(first - heel, fifth - heel) @ (0, 1, 0) != 0
        feet.append(from_ankle @ foot_rows(walker, side))
    local = np.stack(feet)
    return example.body.centre[:, :, None, 0] + np.einsum("tsij,spj->tspi", example.body.rotation[:, :, 0], local)
