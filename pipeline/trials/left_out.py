"""Plates, channels of muscles and events that a trial has but does not use: JSON along ``trial``, read as values."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from .. import json_text


class LeftOut(NamedTuple):
    """Plates, channels of muscles, or events of the file, that are not used, and why."""

    which: list[Any]  # numbers of plates, labels of channels, or times of events, s
    code: str  # kind of the reason, for programs
    words: str  # the reason, for people


def as_text(listed: Iterable[LeftOut]) -> str:
    """Return a list as the text that a file stores: JSON, empty if nothing is left out."""
    return json_text.to_text([each._asdict() for each in listed])


def from_text(text: str) -> list[LeftOut]:
    """Return the list that :func:`as_text` has stored."""
    return [LeftOut(**row) for row in json_text.from_text(text)]


def in_words(text: str) -> str:
    """Return the reasons of a stored list in one line."""
    return "; ".join(each.words for each in from_text(text))
