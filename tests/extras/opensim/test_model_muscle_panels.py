"""Muscles of a model on a participant's page: their panels, each beside its EMG, and why cycles have none."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pipeline.conventions import JOINTS
from pipeline.extras.opensim.muscle_variables import DOUBT_OF, MUSCLES, contact_doubt, muscle_refusal
from pipeline.extras.opensim.pages import ADDITION
from pipeline.extras.opensim.pages import GROUP as OF_MODEL
from pipeline.steps.report.addition import Loaded
from tests.steps.report.test_muscle_panels import with_muscles
from tests.support.studies.for_report import Made, Page, curve_of, three_people

MODEL_MUSCLES = ["semimem", "soleus", "med_gas", "quad_fem"]
REFUSED = muscle_refusal("reserves_too_large", percent=12.0, joint="ankle")
LARGE, LARGER = (contact_doubt("hip", weights, 50, {"psoas": 1.0, "soleus": 0.4}) for weights in (4.7, 6.1))


@pytest.fixture(scope="module")
def study() -> Made:
    """Return a study with EMG and with muscles of a model, the first cycle without forces."""
    made = with_muscles(three_people())
    count = made.study.sizes["cycle"]
    level = np.arange(len(MODEL_MUSCLES))[None, :, None] / 10 + np.full((count, 1, 101), 0.1)
    activation = level.copy()
    activation[0] = np.nan
    contact = np.full((count, 3, 3, 101), -30.0)
    contact[2, JOINTS.index("hip")] *= 2
    doubts = ["", LARGE.what, LARGER.what, *[""] * (count - 3)]
    variables = {
        "activation": (("cycle", "model_muscle", "phase"), activation),
        "muscle_tendon_length_of_standing": (("cycle", "model_muscle", "phase"), 1 + level),
        "joint_contact_force": (("cycle", "joint", "axis", "phase"), contact),
        "muscle_reason": ("cycle", np.array([REFUSED.what, *[""] * (count - 1)])),
        "muscle_doubt": ("cycle", np.array(doubts)),
        "muscle_doubt_code": ("cycle", np.array([DOUBT_OF["hip"] if doubt else "" for doubt in doubts])),
    }
    study = made.study.assign(variables).assign_coords(model_muscle=MODEL_MUSCLES)
    return made._replace(study=study, additions=[Loaded(ADDITION)])


def test_activations_stand_beside_the_emg_of_the_muscle(study: Made) -> None:
    figures = [one for one in Page(study.person("sub-01")).figures()[0] if one["group"] == OF_MODEL]
    titles = [one["title"] for one in figures]
    assert titles == [
        *("Semimembranosus: length", "Medial gastrocnemius: length"),
        *(f"{joint} contact force, vertical" for joint in ("Hip", "Knee", "Ankle")),
        *("Gastrocnemius medialis: activation", "Soleus: activation", "Soleus: EMG"),
    ]
    mean = np.array(curve_of(figures, "Soleus: activation", "right", "slow")["mean"], dtype=float)
    np.testing.assert_allclose(mean, 0.2, rtol=1e-3)
    assert all(one["reference"] == [] for one in figures), "no band of normal gait"
    envelope = curve_of(figures, "Soleus: EMG", "left", "slow")["mean"]
    assert envelope == curve_of(Page(study.person("sub-01")).figures()[0], "Soleus", "left", "slow")["mean"]


def test_cycles_without_forces_are_counted_with_their_reason(study: Made) -> None:
    first, other = (Page(study.person(name)).words for name in ("sub-01", "sub-02"))
    assert "Cycles without muscle forces of the model" in first
    assert REFUSED.what in first
    assert "Cycles without muscle forces of the model" not in other


def test_contact_forces_beyond_implants_are_shown_with_the_muscle_at_its_limit(study: Made) -> None:
    """One row for a joint, that of the cycle with the largest force."""
    page = Page(study.person("sub-01")).words
    assert f"doubtful: {LARGER.what}" in page
    assert "6.1 body weights" in page
    assert LARGER.what.endswith("psoas")
    assert LARGE.what not in page
    assert re.search(rf"{re.escape(LARGER.what)}\s+2 of ", page)
    assert "doubtful" not in Page(study.person("sub-02")).words


def test_a_study_without_the_step_shows_nothing_of_it() -> None:
    page = Page(three_people()._replace(additions=[Loaded(ADDITION)]).person("sub-01"))
    assert not [one for one in page.figures()[0] if one["group"] == OF_MODEL]
    assert "OpenSim" not in page.words
    assert MUSCLES not in page.words
