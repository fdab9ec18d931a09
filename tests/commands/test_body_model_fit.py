"""``gaitlab init`` chooses the body model by the labels of a session's static trial and walks."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.body.landmarks import choose_labels
from pipeline.commands.shared import body_model_fit
from pipeline.commands.shared.trial_roles import best_static, shows_a_foot
from pipeline.steps.read.recording_contents import Contents
from pipeline.workflow import settings
from tests.support.studies.contents import moving, standing

MODELS = {
    name: settings.load_body_model(name, where="test", study_path=Path()) for name in settings.shipped_body_models()
}
SIZES = {f"{letter}{size}": 100.0 for size in ("KneeWidth", "AnkleWidth", "LegLength") for letter in "LR"}
WALK = "ASI PSI THI KNE TIB ANK HEE TOE"
DEVICE = "ASI PSI THI TIB ANK HEE TOE MED KAX KD1 KD2"


def file(name: str, labels: str, *, stands: bool = False, stated: Mapping[str, float] = SIZES) -> Contents:
    """Return a file with these markers on both sides; by default it states all sizes."""
    both = [side + label for side in "LR" for label in labels.split()]
    seen = {model: frozenset(choose_labels(MODELS[model], both)) for model in MODELS}
    return replace((standing if stands else moving)(name, processing=stated), seen=seen)


def chosen(*files: Contents) -> str:
    """Return the body model of a session."""
    return next(iter(body_model_fit.fits([files], MODELS)))


@pytest.mark.parametrize(
    ("static", "walk", "model"),
    [
        (WALK, WALK, "plug_in_gait"),
        (f"{WALK} KNM MED", WALK, "plug_in_gait_medial"),
        (DEVICE, WALK, "plug_in_gait_kad"),
        (f"{WALK} THAP THAD TIAP TIAD KNM MED", f"{WALK} THAP THAD TIAP TIAD", "cgm2"),
        ("ASI PSI GRT THI LFC TTB SHA LMA CAL TOE MFC MMA", "ASI PSI GRT THI LFC TTB SHA LMA CAL TOE", "anatomical"),
        ("_IAS _IPS _FLE _FME _FAL _TAM _FCC _FM1 _FM2 _FM5 _TTC _FAX _FTC", "", "qualisys"),
    ],
)
def test_the_static_decides_between_models_of_one_family(static: str, walk: str, model: str) -> None:
    session = [file("static", static, stands=True), file("walk", walk or static)]
    assert chosen(*session) == model
    assert body_model_fit.strangers([session], MODELS, model) == {}, "walks without the markers of the static"


def test_of_several_statics_one_serves_the_model() -> None:
    """A static with a knee alignment device and one with medial markers: the device decides."""
    device, medial = file("b", DEVICE, stands=True), file("a", f"{WALK} KNM MED", stands=True)
    session = [medial, device, file("walk", WALK)]
    model = chosen(*session)
    assert model == "plug_in_gait_kad"
    assert best_static(session[:2], model, MODELS[model]) is device
    assert body_model_fit.fits([session], MODELS)[model].share == 1
    assert body_model_fit.strangers([session], MODELS, model) == {}


def test_markers_of_another_lab_are_strangers() -> None:
    other = file("other", "_IAS _IPS _FLE _FME _FAL _TAM _FCC _FM1 _FM2 _FM5 _TTC _FAX _FTC")
    session = [file("static", WALK, stands=True), file("walk", WALK), other]
    assert chosen(*session) == "plug_in_gait"
    assert body_model_fit.strangers([session], MODELS, "plug_in_gait") == {"qualisys": ["other"]}


def test_chance_proposes_no_model() -> None:
    """Labels of four random letters with a side, or markers of a pelvis alone, name no leg in any model."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        text = " ".join("".join(rng.choice(list(string.ascii_uppercase), 3)) for _ in range(30))
        assert not any(fit.essential for fit in body_model_fit.fits([[file("walk", text)]], MODELS).values())
    assert not any(fit.essential for fit in body_model_fit.fits([[file("walk", "ASI PSI THI")]], MODELS).values())


def test_bones_in_the_file_are_taken_only_where_no_model_can_compute_them() -> None:
    """Without static and stated results nothing else shows in which planes the wands are, whether widths are known."""
    bones = " FEP FEO FEA TIO TIA FOO FOP FOA"
    lost = file("walk", WALK.replace(" HEE", "") + bones, stated={})
    assert chosen(lost) == "plug_in_gait_bones"
    assert chosen(file("walk", WALK + bones)) == "plug_in_gait_bones"
    assert chosen(file("static", WALK + bones, stands=True), file("walk", WALK + bones)) == "plug_in_gait"
    stated = file("walk", WALK + bones, stated=SIZES | {"LStaticPlantFlex": 0.1, "RStaticPlantFlex": 0.1})
    assert chosen(stated) == "plug_in_gait"


def test_a_heel_marker_in_the_static_only_is_enough() -> None:
    walk = file("walk", WALK.replace(" HEE", ""))
    assert chosen(file("static", WALK, stands=True), walk) == "plug_in_gait"
    assert chosen(walk) == "plug_in_gait"
    assert shows_a_foot(walk, "plug_in_gait")
