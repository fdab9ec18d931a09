"""Frames and joint centres of trunk, head and arms by the markers that there are."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.body.body_model import BodyModel
from pipeline.body.landmarks import positions
from pipeline.conventions import SIDES
from pipeline.whole_body.skeleton import (
    JOINTS,
    LENGTH_PER_HEIGHT,
    PARENT,
    SEGMENTS,
    SIZE_PER_HEIGHT,
    UpperSkeleton,
    build,
    head_tilt,
    turn_about_z,
    waist_centre,
)
from pipeline.workflow.settings import load_body_model
from tests.support.checkout import HOUSE
from tests.support.whole_body.person import MARKER_RADIUS_M, Person, random_person
from tests.support.whole_body.study import marker_places, paths
from tests.support.whole_body.truth import generated, truth

pytest.importorskip("pinocchio", reason="pinocchio (pip install pin) is not installed")

Array = NDArray[np.float64]

SEED = 31
HANDS = ("LFIN", "RFIN")
HEAD = tuple(f"{side}{name}" for side in "LR" for name in ("FHD", "BHD"))
ARMS = tuple(f"{side}{name}" for side in "LR" for name in ("ELB", "ELBM", "WRA", "WRB", "FIN"))
SPINE = ("C7", "CLAV", "STRN", "T10")


@cache
def known() -> tuple[Person, xr.Dataset]:
    person = random_person(SEED)
    return person, truth(person, generated(person, "arm_swings", SEED), np.arange(0, 1.8, 0.1))


def seen(shoulder: str = "rab") -> dict[str, Array]:
    return paths(known()[1], marker_places(known()[0], shoulder))


def built(markers: dict[str, Array], model_name: str = "isb_clusters", **sizes: float) -> UpperSkeleton | None:
    """Return the upper body by markers (time, 3) by label, with the pelvis as it is."""
    person, of = known()
    model = load_body_model(model_name, where="", study_path=HOUSE)
    labels = [*markers]
    landmarks = positions(BodyModel("", model.upper_landmarks), labels, np.stack([*markers.values()], axis=1))
    pelvis = of.rotation.sel(body="pelvis").values
    hips = np.stack([of.joint_centre.sel(joint=f"hip_{side}").values for side in SIDES], axis=1)
    known_sizes = {"height": person.height_m, "marker_radius": MARKER_RADIUS_M}
    for side in SIDES:
        known_sizes |= {f"{name}_{side}": share * person.height_m for name, share in SIZE_PER_HEIGHT.items()}
        known_sizes[f"shoulder_offset_{side}"] = person.shoulder_offset[side]
    waist = waist_centre(pelvis, hips)
    return build(model.upper_body, landmarks, pelvis, hips.mean(axis=1), waist, known_sizes | sizes)


def without(markers: dict[str, Array], *labels: str) -> dict[str, Array]:
    return {label: path for label, path in markers.items() if label not in labels}


def skeleton(markers: dict[str, Array], *, head_tilt: float = 0.0) -> UpperSkeleton:
    found = built(markers, head_tilt=head_tilt)
    assert found is not None
    return found


def same(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12)


def test_all_markers_give_all_segments() -> None:
    of, found = known()[1], skeleton(seen())
    assert found.seen == SEGMENTS
    for segment in SEGMENTS:
        same(found.frames[segment], of.rotation.sel(body=segment).values)
    for joint in JOINTS:
        same(found.centres[joint], of.joint_centre.sel(joint=joint).values)


@pytest.mark.parametrize("side", SIDES)
def test_an_acromion_alone_gives_the_shoulder_by_its_size(side: str) -> None:
    other = "RSHO" if side == "left" else "LSHO"
    found = skeleton(without(seen("below"), other))
    same(found.centres[f"shoulder_{side}"], known()[1].joint_centre.sel(joint=f"shoulder_{side}").values)


def test_the_rule_of_plug_in_gait_gives_the_shoulders() -> None:
    found = built(seen("plug_in_gait"), "plug_in_gait")
    assert found is not None
    for side in SIDES:
        same(found.centres[f"shoulder_{side}"], known()[1].joint_centre.sel(joint=f"shoulder_{side}").values)


@pytest.mark.parametrize(
    ("left_out", "unseen"),
    [
        (HANDS, {"hand_left", "hand_right"}),
        (("LFIN",), {"hand_left"}),
        (HEAD, {"head"}),
        (ARMS, {*SEGMENTS[2:]}),
        (("LWRA", "LWRB"), {"forearm_left", "hand_left"}),
        ((*HEAD, *ARMS), {*SEGMENTS[1:]}),
        ((*SPINE, *HEAD, *ARMS), {*SEGMENTS[1:]}),
    ],
)
def test_what_is_not_seen_is_in_neutral_posture(left_out: tuple[str, ...], unseen: set[str]) -> None:
    """It has the axes of the segment nearer to the pelvis, and the length of its share of body height."""
    found, height = skeleton(without(seen(), *left_out)), known()[0].height_m
    assert {*SEGMENTS} - {*found.seen} == unseen
    for segment in unseen:
        same(found.frames[segment], found.frames[PARENT[segment]])
    for side in SIDES:
        if f"forearm_{side}" in unseen:
            length = np.linalg.norm(found.centres[f"wrist_{side}"] - found.centres[f"elbow_{side}"], axis=1)
            same(length, np.full(len(length), LENGTH_PER_HEIGHT["forearm"] * height))
    for joint in JOINTS:
        assert np.isfinite(found.centres[joint]).all(), joint


def test_the_markers_of_the_shoulders_alone_show_a_trunk() -> None:
    found = skeleton({label: seen()[label] for label in ("LSHO", "RSHO")})
    assert found.seen == ("thorax",)
    across = seen()["RSHO"] - seen()["LSHO"]
    right = (found.frames["thorax"][:, 2] * across).sum(axis=1) / np.linalg.norm(across, axis=1)
    assert right.min() > 0.95


def test_no_thorax_is_no_upper_body() -> None:
    assert built({label: path for label, path in seen().items() if label in (*ARMS, *HEAD)}) is None


@pytest.mark.parametrize(
    ("label", "place_of", "unseen"),
    [
        ("LFIN", "LBHD", "hand_left"),  # a hand that is as long as an arm
        ("RELB", "RSHO", "upper_arm_right"),
        ("LWRA", "RANK", "forearm_left"),
    ],
)
def test_an_implausible_segment_is_not_used(label: str, place_of: str, unseen: str) -> None:
    """Two labels are exchanged, or one is on another point: no person's segment is that long or short."""
    markers = seen()
    markers["RANK"] = known()[1].joint_centre.sel(joint="ankle_right").values
    wrong = markers | {label: markers[place_of]}
    if label == "RELB":
        wrong["RELBM"] = markers["RSHO"]
    if label == "LWRA":
        wrong["LWRB"] = markers["RANK"]
    found = skeleton(wrong)
    assert unseen not in found.seen
    same(found.frames[unseen], found.frames[PARENT[unseen]])
    assert "head" in found.seen
    assert "thorax" in found.seen


@pytest.mark.parametrize("tilt", [0.3, -0.2])
def test_the_head_is_level_where_it_stood(tilt: float) -> None:
    level = np.eye(3)[None].repeat(5, axis=0)
    markers_up = np.swapaxes(turn_about_z(tilt), 0, 1) @ level
    assert head_tilt(markers_up) == pytest.approx(tilt)
    same(turn_about_z(tilt) @ markers_up, level)
    plain, turned = skeleton(seen()), skeleton(seen(), head_tilt=tilt)
    same(turned.frames["head"], turn_about_z(tilt) @ plain.frames["head"])


def test_a_head_that_exchanged_labels_turn_upside_down_is_not_taken() -> None:
    markers = seen()
    for name in ("FHD", "BHD"):
        markers[f"L{name}"], markers[f"R{name}"] = markers[f"R{name}"], markers[f"L{name}"]
    found = skeleton(markers)
    assert found.seen == tuple(name for name in SEGMENTS if name != "head")
    same(found.frames["head"], found.frames["thorax"])


def test_markers_of_the_trunk_that_are_never_seen_together_give_no_trunk() -> None:
    markers = seen("below")
    middle = len(markers["C7"]) // 2
    markers["T10"], markers["STRN"] = markers["T10"].copy(), markers["STRN"].copy()
    markers["T10"][:middle], markers["STRN"][middle:] = np.nan, np.nan
    assert found_thorax_is_by_shoulders(built(markers))


def found_thorax_is_by_shoulders(found: UpperSkeleton | None) -> bool:
    """The second rule of the thorax, from waist to neck, needs neither; without shoulders there is no thorax."""
    return found is not None and bool(np.isfinite(found.frames["thorax"]).all())
