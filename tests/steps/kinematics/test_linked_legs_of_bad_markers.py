"""The linked legs where markers are missing, or are not where their labels put them."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from pipeline.workflow.settings import defaults
from tests.support.settings import settings_of
from tests.support.steps import kinematics
from tests.support.walks.person import Landmarks, body_model, calibrated, cleaned, close, landmarks, standing, walk

TIME = np.arange(100) / 100
MODEL = body_model("isb_clusters")
POSE = walk(TIME)
BAD = slice(40, 60)
LEG = ("thigh", "shank", "metatarsal", "heel", "toe", "lateral", "medial")


def linked(points: Landmarks) -> xr.Dataset:
    settings = settings_of("kinematics", **defaults(MODEL)["kinematics"] | {"method": "linked"})
    return kinematics(cleaned(MODEL, points, TIME), calibrated(MODEL, standing()), body_model=MODEL, settings=settings)


@pytest.fixture
def points() -> Landmarks:
    return {name: where.copy() for name, where in landmarks(POSE).items()}


def test_leg_without_markers_is_unknown_and_the_other_exact(points: Landmarks) -> None:
    for name in points:
        if name.endswith("_left") and name.startswith(LEG):
            points[name][BAD] = np.nan
    found = linked(points)
    assert not np.isfinite(found.joint_angle.sel(side="left").values[BAD]).any()
    assert np.isfinite(found.joint_angle.sel(side="left").values[: BAD.start]).all()
    close(found.rotation.sel(side="right"), POSE.rotation[:, 1], 1e-7)


def test_leg_that_no_person_has_does_not_move_pelvis_and_other_leg(points: Landmarks) -> None:
    """A shank 0.3 m from its knee, for longer than single markers go astray."""
    for name in points:
        if name.endswith("_left") and name.startswith(("shank", "metatarsal", "heel", "toe")):
            points[name][BAD] += [0.3, 0.0, 0.0]
    found = linked(points)
    assert (found.implausible.sel(side="left").values[BAD] > 0).all()
    close(found.rotation.sel(side="right"), POSE.rotation[:, 1], 1e-7)
    close(found.joint_centre.sel(side="right"), POSE.centre[:, 1], 1e-7)


def test_pose_with_a_marker_far_from_its_place_is_unknown(points: Landmarks) -> None:
    """Too short to be a leg that no person has; the residual shows which marker it is."""
    points["thigh_1_right"][50:53] += [0.0, 0.2, 0.2]
    found = linked(points)
    unknown = np.isnan(found.rotation.values).any(axis=(1, 2, 3, 4))
    assert np.flatnonzero(unknown).tolist() == [50, 51, 52]
    residual = found.marker_residual.isel(time=51)
    assert str(found.marker.values[int(np.nanargmax(residual.values))]) == "thigh_1_right"


@pytest.mark.parametrize("markers", [("thigh_1", "thigh_2"), ("heel", "metatarsal_1", "metatarsal_5")])
def test_markers_of_one_segment_may_be_missing_where_the_joints_hold_it(
    points: Landmarks, markers: tuple[str, ...]
) -> None:
    """Two centres and one marker hold a thigh; a foot without markers is unknown, and its leg is not."""
    for name in markers:
        points[f"{name}_left"][BAD] = np.nan
    found = linked(points)
    close(found.rotation.sel(segment=["shank", "thigh", "pelvis"]), POSE.rotation[:, :, 1:], 1e-7)
