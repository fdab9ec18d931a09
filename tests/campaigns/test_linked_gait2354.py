"""The linked legs and OpenSim's inverse kinematics on its example Gait2354, with its joints and weights.

OpenSim's angles and moments are those of its files; only what the files lack needs OpenSim itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import xarray as xr

from tests.campaigns.opensim_gait2354 import (
    JOINTS,
    LINKED,
    METHODS,
    SIDES,
    differences,
    linked_marker_errors,
    opensim_marker_errors,
    opensim_poses,
    together,
    walk,
)

OPENSIM_MARKER_ERROR_M = 0.0125  # of the 27 markers of pelvis and legs, OpenSim 4.6


@pytest.fixture(scope="module")
def linked(shared: Path) -> dict[str, xr.Dataset]:
    return walk(shared, LINKED)


def test_flexion_follows_opensim(shared: Path, linked: dict[str, xr.Dataset]) -> None:
    """After the offset: the zero of an angle is a choice of each model. Gait services differ by 1.7 degrees."""
    assert (differences(shared, linked).angle <= 3).all()


def test_markers_are_no_farther_from_their_places_than_in_opensim(linked: dict[str, xr.Dataset]) -> None:
    errors = linked_marker_errors(linked)
    assert len(errors) == 27
    assert together(errors.values()) <= OPENSIM_MARKER_ERROR_M


def test_moments_are_nearer_to_opensim_where_joint_centres_are(shared: Path, linked: dict[str, xr.Dataset]) -> None:
    """Hinges at knee and ankle, as in OpenSim; the right knee's centre is nearer to OpenSim's by the shank alone."""
    apart, together_ = differences(shared, walk(shared, METHODS["segments"])).moment, differences(shared, linked).moment
    assert together_["left", "knee"] < 0.22
    assert together_["left", "knee"] < apart["left", "knee"]
    for side in SIDES:
        assert together_[side, "ankle"] < 0.6 * apart[side, "ankle"]


def test_moments_about_the_same_centres_and_axes_agree_with_opensim(
    shared: Path, linked: dict[str, xr.Dataset]
) -> None:
    """What is left comes from segment masses and filters."""
    pytest.importorskip("opensim", reason="needs OpenSim: pip install -e '.[bench]'")
    found = differences(shared, linked, opensim_poses(shared))["about theirs"]
    for joint, limit in dict(zip(JOINTS, (0.1, 0.06, 0.03), strict=True)).items():
        assert (found.xs(joint, level="joint") <= limit).all(), joint


def test_opensim_marker_error_is_as_stated(shared: Path, linked: dict[str, xr.Dataset]) -> None:
    pytest.importorskip("opensim", reason="needs OpenSim: pip install -e '.[bench]'")
    theirs = opensim_marker_errors(shared)
    assert together(theirs[label] for label in linked_marker_errors(linked)) == pytest.approx(
        OPENSIM_MARKER_ERROR_M, abs=5e-5
    )
