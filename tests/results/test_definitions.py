"""Numbers of another study are refused where its definitions differ, one by one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from pipeline.errors import UserError
from pipeline.results.definitions import SETTINGS, definitions_of, refuse_others

NAMES = [(step, name) for step, names in SETTINGS.items() for name in names]


def attributes(
    changed: Mapping[str, Mapping[str, Any]] = {}, *, version: str = "0.1.0", model: str = "cast"
) -> dict[str, str]:
    used = {step: dict.fromkeys(names, "this") | {**changed.get(step, {})} for step, names in SETTINGS.items()}
    return {"settings": json.dumps({**used, "body_model": model}), "pipeline_version": version}


def refusals(there: dict[str, str]) -> str:
    with pytest.raises(UserError) as caught:
        refuse_others(definitions_of(there), attributes(), where="norm.tsv", remedy="make it again")
    return str(caught.value)


@pytest.mark.parametrize(("step", "name"), NAMES)
def test_each_setting_that_changes_numbers_refuses_a_file(step: str, name: str) -> None:
    text = refusals(attributes({step: {name: None}}))
    assert text == f"norm.tsv: made with {step}.{name} none, this study with this; make it again"


def test_another_model_and_another_version_refuse_a_file_a_correction_of_the_version_does_not() -> None:
    assert "made with body_model ior, this study with cast" in refusals(attributes(model="ior"))
    assert "made with pipeline_version 0.2.0, this study with 0.1.0" in refusals(attributes(version="0.2.0"))
    refuse_others(definitions_of(attributes(version="0.1.7")), attributes(), where="", remedy="")
    assert len(refusals({}).splitlines()) == len(NAMES) + 2
