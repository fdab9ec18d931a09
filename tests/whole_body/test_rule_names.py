"""Rules of trunk, head and arms that name what is not there, or need themselves."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.errors import UserError
from pipeline.workflow.settings import load_body_model, shipped_body_models
from tests.support.checkout import HOUSE

UPPER_BODIES = HOUSE / "config" / "upper_bodies"
Change = Callable[[dict[str, Any]], object]


def loaded(folder: Path, change: Change) -> str:
    """Return the message about a body model of one's own with changed rules of the trunk; empty if there is none."""
    rules = copy.deepcopy(yaml.safe_load((UPPER_BODIES / "markers.yaml").read_text()))
    change(rules)
    own = {"description": "", "extends": "isb_clusters", "upper_body": rules}
    (folder / "own.yaml").write_text(yaml.safe_dump(own))
    try:
        load_body_model("own.yaml", where="study.yaml", study_path=folder)
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", shipped_body_models())
def test_shipped_models_have_no_loose_ends(name: str) -> None:
    load_body_model(name, where="", study_path=HOUSE)


def in_points(section: str, name: str, *rules: dict[str, Any]) -> Change:
    return lambda whole: whole[section]["points"].update({name: [*rules]})


def in_segment(section: str, segment: str, *axes: dict[str, Any]) -> Change:
    return lambda whole: whole[section].update({segment: [[*axes]]})


Y = {"axis": "y", "from": "elbow", "to": "shoulder"}
MESSAGES: dict[str, tuple[Change, str]] = {
    "circle of one": (in_points("trunk", "neck", {"from": "neck", "to": "c7"}), "it needs neck, and so itself"),
    "circle of two": (
        lambda rules: (
            in_points("arm", "elbow", {"from": "wrist", "to": "elbow_lateral"})(rules),
            in_points("arm", "wrist", {"from": "elbow", "to": "wrist_radial"})(rules),
        ),
        "it needs wrist, and so itself",
    ),
    "circle by the thorax": (
        lambda rules: (
            in_points("trunk", "front", {"from": "clavicle", "normal": ["thorax.x"]})(rules),
            in_segment("trunk", "thorax", {"axis": "y", "from": "waist", "to": "front"}, Y | {"axis": "x"})(rules),
        ),
        "no landmark or point 'elbow'",
    ),
    "unknown point": (in_points("trunk", "neck", {"from": "c8", "to": "clavicle"}), "no landmark or point 'c8'"),
    "a side is needed in the trunk": (
        in_points("trunk", "neck", {"from": "acromion", "to": "c7"}), "no landmark or point 'acromion'",
    ),
    "unknown axis": (in_points("arm", "shoulder", {"from": "acromion", "normal": ["thorax.w"]}), "follow 'thorax.w'"),
    "later segment": (in_points("arm", "shoulder", {"from": "acromion", "normal": ["hand.x"]}), "follow 'hand.x'"),
    "axis of a later segment": (
        in_segment("arm", "upper_arm", Y, {"axis": "z", "along": "forearm.z"}), "follow 'forearm.z'",
    ),
    "axis without direction": (in_segment("arm", "upper_arm", Y, {"axis": "z"}), "axis z has no direction"),
    "point without direction": (in_points("arm", "wrist", {"from": "wrist_radial"}), "has no direction"),
    "length without its share": (
        in_points("arm", "shoulder", {"from": "acromion", "normal": ["-thorax.y"],
                                      "of": ["acromion_left", "acromion_right"]}), "lacks 'by'",
    ),
    "no neck": (lambda rules: rules["trunk"]["points"].pop("neck"), "lacks 'neck'"),
    "unknown key": (in_points("arm", "wrist", {"from": "wrist_radial", "towards": "elbow"}), "towards"),
    "unknown size": (
        in_points("arm", "wrist", {"from": "wrist_radial", "normal": ["thorax.x"], "size": "arm_width"}), "arm_width",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MESSAGES)
def test_a_message_says_what_is_wrong(tmp_path: Path, case: str) -> None:
    change, message = MESSAGES[case]
    found = loaded(tmp_path, change)
    assert "own.yaml" in found
    assert message in found


def test_the_thorax_may_not_need_itself(tmp_path: Path) -> None:
    def change(rules: dict[str, Any]) -> None:
        in_points("trunk", "front", {"from": "clavicle", "normal": ["thorax.x"]})(rules)
        x = {"axis": "x", "from": "c7", "to": "clavicle"}
        in_segment("trunk", "thorax", {"axis": "y", "from": "waist", "to": "front"}, x)(rules)

    assert "upper_body.trunk.thorax: cannot be found" in loaded(tmp_path, change)


def test_a_circle_beside_another_rule_is_no_circle(tmp_path: Path) -> None:
    """Each of two points may follow from the other, if one of them also follows from markers."""
    first, second = {"from": "wrist", "to": "elbow_lateral"}, {"from": "elbow_lateral", "to": "elbow_medial"}
    assert not loaded(tmp_path, in_points("arm", "elbow", first, second))


def test_an_unknown_file_of_rules(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("description: ''\nextends: isb_clusters\nupper_body: plug_in_gate\n")
    with pytest.raises(UserError, match=r"no upper_body 'plug_in_gate'.*plug_in_gait"):
        load_body_model("own.yaml", where="study.yaml", study_path=tmp_path)
