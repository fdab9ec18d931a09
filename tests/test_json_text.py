"""JSON in one line of text: what is stored comes back, and equal values give equal texts."""

from __future__ import annotations

import json
import math

import pytest

from pipeline.json_text import from_text, object_in, to_text


@pytest.mark.parametrize("value", [[], {}, [1, 2.5, "Füße"], {"b": [None, True], "a": {"c": "x; y"}}])
def test_what_is_stored_comes_back(value: object) -> None:
    assert from_text(to_text(value)) == (value or [])  # type: ignore[arg-type]
    assert "\n" not in to_text(value)  # type: ignore[arg-type]


def test_equal_objects_give_equal_texts_and_letters_stay() -> None:
    assert to_text({"b": 1, "a": "Füße"}) == to_text({"a": "Füße", "b": 1}) == '{"a": "Füße", "b": 1}'


def test_numbers_that_json_does_not_know_are_null() -> None:
    """Readers of R and MATLAB refuse NaN."""

    def refuse(word: str) -> None:
        raise AssertionError(word)

    text = to_text({"one": math.nan, "two": [math.inf, 1.0]})
    assert json.loads(text, parse_constant=refuse) == {"one": None, "two": [None, 1.0]}


@pytest.mark.parametrize(("attributes", "content"), [({"a": '{"b": 1}'}, {"b": 1}), ({"a": ""}, {}), ({}, {})])
def test_an_attribute_without_an_object_has_an_empty_one(attributes: dict[str, str], content: object) -> None:
    assert object_in(attributes, "a") == content
