"""Names of foot strikes, foot offs and sides of many makers and languages."""

from __future__ import annotations

import pytest

from pipeline.vocabulary.event_names import OFF, STRIKE, kind_in, not_understood, side_in


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        *((label, STRIKE) for label in (
            "Foot Strike", "RHS", "RON", "Heel Strike", "Initial Contact", "FOOT_CONTACT", "Fußaufsatz", "Fussaufsatz",
            "Fersenkontakt", "Initialer Bodenkontakt", "Hielcontact", "Contact initial", "Attaque du talon",
            "Début de l\u2019appui", "Pose du pied", "Appoggio", "Contatto iniziale", "Contacto inicial", "Apoyo",
            "Contato inicial")),
        *((label, OFF) for label in (
            "Foot Off", "RTO", "LOFF", "Toe Off", "toe_off", "Zehenablösung", "Fußabhebung", "Zehenabstoß",
            "Décollement des orteils", "Levée du pied", "Fin d'appui", "Distacco", "Fine appoggio", "Despegue",
            "End of contact", "Teenloslating")),
        *((label, "") for label in (
            "Opposite Foot Off", "Contralateral contact", "Mid-stance", "Mi-appui", "Doppio appoggio", "Heel Off",
            "Strike and Toe Off", "Event", "Trigger", "Lado 2", "Camera on", "ON", "")),
    ],
)  # fmt: skip
def test_names_of_many_makers_and_languages(label: str, kind: str) -> None:
    assert kind_in(label) == kind


@pytest.mark.parametrize(
    ("text", "side"),
    [
        *((text, "left") for text in ("Left", "L", "LEFT", "Links", "Gauche", "g", "Sinistro", "SX", "Izquierdo",
                                      "esquerda", "left foot")),
        *((text, "right") for text in ("Right", "r", "Rechts", "Droit", "droite", "D", "Destro", "Derecho", "dx",
                                       "direito")),
        *((text, "") for text in ("General", "", "Left and right", "Lateral", "Reference", "Both", "2")),
    ],
)  # fmt: skip
def test_contexts_of_many_languages(text: str, side: str) -> None:
    assert side_in(text, context=True) == side


def test_a_side_in_a_label_is_a_word_not_an_article() -> None:
    sides = {"Contact initial gauche": "left", "Foot Strike (R)": "right", "L'appui droit": "right", "RTO": "right",
             "L Toe Off": "left", "D. Kontakt": "", "Contact d'appui": "", "Left of right": ""}  # fmt: skip
    assert {label: side_in(label) for label in sides} == sides


def test_partly_recognised_labels_are_reported() -> None:
    good = [("Foot Strike", "left"), ("RTO", "")]
    assert not_understood(good) == []
    assert not_understood([*good, ("Trigger", "")]) == ["Trigger"]
    assert not_understood([*good, ("Knikpunkt", "right"), ("Foot Off", "")]) == ["Knikpunkt", "Foot Off"]
    assert not_understood([("Passo", ""), ("Passo", "")]) == ["Passo"], "no event of this file is recognised"
    assert not_understood([]) == []
