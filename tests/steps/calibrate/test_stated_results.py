"""Static results that a file states give the same model as the static trial that they came from."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr

from pipeline.body.static_results import plantar_flexion
from pipeline.conventions import SIDE_SIGN, SIDES
from pipeline.steps.calibrate.step import calibrate
from pipeline.trials.session import join_trials
from tests.support.walks.person import body_model, calibration_of, close, recorded, standing


def test_a_walk_that_states_its_results_needs_no_static_trial() -> None:
    """Of a person with thigh wands and tibial torsion that medial markers show; the walk is of the same posture."""
    model, person = body_model("plug_in_gait_medial"), standing()
    for side in SIDES:
        person[f"thigh_wand_{side}"] = person[f"thigh_wand_{side}"] + [0.03, 0, 0]
        person[f"medial_malleolus_{side}"] = person[f"medial_malleolus_{side}"] + [0.02, 0, 0]
    choices = calibration_of()
    own = calibrate(join_trials({"s": recorded(model, person)}), body_model=model, **choices)
    assert (np.abs(own.chord_rotation.sel(joint="knee")) > 0.1).all()
    assert (np.abs(own.tibial_torsion) > 0.1).all()
    stated = {}
    for side in SIDES:
        mine = own.sel(side=side)
        foot = mine.technical_rotation.sel(pose="foot").values
        stated[side] = {
            "thigh_rotation": float(mine.chord_rotation.sel(joint="knee")),
            "shank_rotation": float(mine.chord_rotation.sel(joint="ankle")),
            "ankle_abduction": float(mine.chord_abduction.sel(joint="ankle")),
            "tibial_torsion": float(mine.tibial_torsion),
            "plantar_flexion": plantar_flexion(foot),
            "rotation_offset": float(SIDE_SIGN[side] * np.arctan2(-foot[0, 2], foot[2, 2])),
        }
    walk = recorded(model, person, role="gait").assign_attrs(static_results=json.dumps(stated))
    found = calibrate(join_trials({"w": walk}), body_model=model, **choices)
    assert found.attrs["static_results"] == "stated in gait.c3d"
    for name in ("chord_radius", "chord_rotation", "tibial_torsion"):
        close(found[name], own[name], 1e-7)
    leg, foot = found.pose != "foot", found.pose == "foot"
    close(found.static_rotation[:, leg], own.static_rotation[:, leg], 1e-7)
    close(found.static_rotation[:, foot], own.static_rotation[:, foot], 0.03)  # two angles state it to second order


@pytest.mark.parametrize(("stating", "taken", "asks"), [("ab", True, False), ("b", False, True), ("", False, False)])
def test_a_walk_that_alone_states_results_does_not_define_the_model(stating: str, taken: bool, asks: bool) -> None:
    """As a walk of another person among those of a session, whose static trial states none."""
    model, person = body_model("plug_in_gait"), standing()
    other = {side: {"thigh_rotation": 0.3, "shank_rotation": 0.2, "tibial_torsion": 0.3} for side in SIDES}
    alone = {"s": recorded(model, person)}
    walks = {name: recorded(model, person, role="gait") for name in "ab"}
    walks |= {name: walks[name].assign_attrs(static_results=json.dumps(other)) for name in stating}
    found, own = (calibrate(join_trials(of), body_model=model, **calibration_of()) for of in (alone | walks, alone))
    assert bool(found.attrs["static_results"]) == taken
    assert np.allclose(found.chord_rotation, own.chord_rotation, rtol=0, atol=1e-9, equal_nan=True) != taken
    assert ("some walks (b)" in found.attrs["leg_findings"]) == asks


@pytest.mark.parametrize("name", ["plug_in_gait", "plug_in_gait_flat_foot"])
def test_a_static_that_states_its_plantar_flexion_tells_whether_the_foot_was_taken_flat(name: str) -> None:
    """Whatever the body model has; the heel marker is 3 cm higher than the toe marker."""
    person = standing()
    for side in SIDES:
        person[f"heel_{side}"] = person[f"toe_{side}"] * [0, 1, 0] + person[f"heel_{side}"] * [1, 0, 1] + [0, 0.03, 0]
    choices = calibration_of(static_results="static")

    def of_static(model: str, stated: str) -> xr.Dataset:
        static = recorded(body_model(model), person).assign_attrs(static_results=stated)
        return calibrate(join_trials({"s": static}), body_model=body_model(model), **choices)

    own = of_static(name, "")
    foot = own.technical_rotation.sel(pose="foot")
    stated = {side: {"plantar_flexion": plantar_flexion(foot.sel(side=side).values)} for side in SIDES}
    other = "plug_in_gait" if name == "plug_in_gait_flat_foot" else "plug_in_gait_flat_foot"
    unstated, found = of_static(other, ""), of_static(other, json.dumps(stated))
    assert np.abs(unstated.technical_rotation - own.technical_rotation).max() > 0.05
    close(found.technical_rotation, own.technical_rotation)
    assert (
        f"left foot {'flat' if 'flat' in name else 'as marked'}, by its stated plantar flexion" in found.attrs["note"]
    )
