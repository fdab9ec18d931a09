"""Verdicts on stances and trials: a code with values, which files hold beside the words.

A refusal must be right: its kinetics are not in the results. A doubt names a suspicion: the numbers are in the results,
marked, and by default in no mean. A stance has one reason at most, and may have several doubts. A trial is rejected by
the UserError of a step, of which the words are where it is raised: the values are where, what and remedy. Words are
made from code and values by :mod:`.verdict_table`, never read again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conventions import NO_STATIC
from ..errors import Problem
from ..json_text import from_text, to_text
from .rows import DOUBT, REASON
from .verdict_table import ACCEPTED, BOTH_LEGS, BY_HAND, DOUBTS, LEG, VERDICTS

Value = float | int | str
USED, DOUBTED, NOT_ON_A_PLATE, REFUSED = "used", "doubted", "not on a plate", "refused"
BETWEEN_WORDS, BETWEEN_CODES = "; ", " "
PROBLEM = {"where", "what", "remedy"}  # the values of a rejected trial


@dataclass(frozen=True)
class Verdict:
    """A reason to refuse a stance, or a trial, or to doubt it."""

    code: str  # of :data:`.verdict_table.VERDICTS`; of a trial any code of a UserError
    values: dict[str, Value]  # of its sentence, or those of a problem

    @classmethod
    def of(cls, code: str, **values: Any) -> Verdict:
        """Return a verdict with those of the values that its sentence has, and of some codes the leg."""
        row = VERDICTS[code]
        kept = {name: values[name] for name in [*row.values, *[LEG] * row.of_leg]}
        return cls(
            code, {name: value.item() if isinstance(value, np.generic) else value for name, value in kept.items()}
        )

    @property
    def words(self) -> str:
        """Return the verdict as a sentence."""
        if self.is_of_trial:
            return str(Problem(**{name: str(value) for name, value in self.values.items()}))
        return VERDICTS[self.code].sentence.format(**self.values)

    @property
    def kind(self) -> tuple[Value, ...]:
        """Return what verdicts share that are reported together.

        It is the code, and the plate if the values number it; of a trial what is wrong and what to do, wherever.
        """
        if self.is_of_trial:
            return self.values["what"], self.values["remedy"]
        return self.code, self.values.get("number", "")

    def concerns(self, side: str) -> bool:
        """Return whether it is about a leg; one whose values name none is about both."""
        return self.values.get(LEG, BOTH_LEGS) in (side, BOTH_LEGS)

    @property
    def is_doubt(self) -> bool:
        """Return whether it leaves the kinetics in the results."""
        return VERDICTS[self.code].severity == DOUBTS

    @property
    def leaves_force(self) -> bool:
        """Return whether it is a refusal of joint moments alone: the ground force of the stance stays."""
        return self.code == NO_STATIC

    @property
    def is_of_trial(self) -> bool:
        """Return whether its values are those of the problem of a trial, which may have any code."""
        return self.values.keys() == PROBLEM


def accepted(reason: str, refusals: Iterable[Verdict]) -> list[Verdict]:
    """Return the doubts about a stance that is accepted by hand: why it is, and what it was refused for."""
    return [Verdict.of(ACCEPTED, reason=reason), *refusals]


def is_accepted(doubt_code: str) -> bool:
    """Return whether a stance with these codes of doubts is accepted by hand."""
    return ACCEPTED in doubt_code.split(BETWEEN_CODES)


def each_once(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return verdicts without those that say the same as one before."""
    unique: dict[str, Verdict] = {}
    for one in verdicts:
        unique.setdefault(one.words, one)
    return [*unique.values()]


def as_text(verdicts: Iterable[Verdict]) -> str:
    """Return verdicts as files hold them: a JSON list of code and values, empty without any."""
    return to_text([{"code": one.code, "values": one.values} for one in verdicts])


def verdicts_in(text: str) -> tuple[Verdict, ...]:
    """Return the verdicts that a file holds; a value that is not known is NaN."""
    stored = ((one["code"], one["values"].items()) for one in from_text(text))
    return tuple(
        Verdict(code, {name: math.nan if value is None else value for name, value in values}) for code, values in stored
    )


def reason_columns(reasons: Iterable[Verdict | None]) -> dict[str, NDArray[np.str_]]:
    """Return words, code and values of the reason of each stance, empty for None, by the names of ``REASON``."""
    rows = [(one.words, one.code, as_text([one])) if one else ("", "", "") for one in reasons]
    return _by_name(REASON, rows)


def doubt_columns(doubts: Iterable[Iterable[Verdict]]) -> dict[str, NDArray[np.str_]]:
    """Return words, codes and values of the doubts about each stance or trial, by the names of ``DOUBT``.

    Words, and values with their codes, have each doubt once and in the same order; codes are each once.
    """
    rows = []
    for every in map(each_once, doubts):
        words = [one.words.replace(BETWEEN_WORDS, ", ") for one in every]
        codes = dict.fromkeys(one.code for one in every)
        rows.append((BETWEEN_WORDS.join(words), BETWEEN_CODES.join(codes), as_text(every)))
    return _by_name(DOUBT, rows)


def _by_name(names: Sequence[str], rows: Sequence[tuple[str, ...]]) -> dict[str, NDArray[np.str_]]:
    return {name: np.array([row[i] for row in rows], dtype=str) for i, name in enumerate(names)}


def verdict_of(code: str, plates: str, doubt_code: str = "") -> str:
    """Return the verdict on a stance: the kinetics of one that no plate measured are not lost, they never were.

    Args:
        code: of the reason for which its kinetics are not valid; empty if they are.
        plates: the plates that were loaded by the foot; empty if none was.
        doubt_code: of the doubts about its kinetics; empty without.
    """
    if not code:
        return DOUBTED if doubt_code and not is_accepted(doubt_code) else USED
    return REFUSED if plates or code == BY_HAND else NOT_ON_A_PLATE


def in_general(verdicts: Iterable[Verdict]) -> list[str]:
    """Return the words of each verdict, the same for all of its kind; of the values those that all of a kind share."""
    every = [*verdicts]
    kinds: dict[tuple[Value, ...], list[Verdict]] = {}
    for one in every:
        kinds.setdefault(one.kind, []).append(one)
    general = {kind: _words_of_kind(alike) for kind, alike in kinds.items()}
    return [general[one.kind] for one in every]


def rejection_in_general(reason_values: str) -> str:
    """Return why a trial is rejected, in the same words for the same problems wherever they are."""
    return BETWEEN_WORDS.join(in_general(verdicts_in(reason_values)))


def _words_of_kind(alike: Sequence[Verdict]) -> str:
    """Return the words of verdicts of a kind: its values if all share them, dots for numbers, the first of texts."""
    first = alike[0]
    if first.is_of_trial:
        return Verdict(first.code, first.values | {"where": ""}).words
    row, words = VERDICTS[first.code], ""
    if row.general:
        return row.general
    for literal, name, form, _ in Formatter().parse(row.sentence):
        words += literal
        if name:
            one, *others = dict.fromkeys(format(each.values[name], form or "") for each in alike)
            words += one if not others else f"{one} …" if isinstance(first.values[name], str) else "…"
    return words
