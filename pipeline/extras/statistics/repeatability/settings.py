"""Settings of the step ``repeatability``."""

from collections.abc import Sequence
from dataclasses import dataclass

from ....setting import setting


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of section ``repeatability`` that the step gets."""

    # fmt: off
    visits: Sequence[str] = setting([],
        "visits of sessions.tsv between which nothing has changed the gait, such as test and retest; with them "
        "derived/repeatability.nc is computed if three people have two. A treatment cannot be seen in the data, so "
        "visits are named here; without names only several sessions of one visit, such as those of two assessors, are "
        "repeated measurements")
    # fmt: on


@dataclass(frozen=True, kw_only=True)
class Section(Settings):
    """Section ``repeatability`` of the settings, with those that are not passed to the step."""

    # fmt: off
    table: str | None = setting(None,
        "path of the repeatability.csv of another study of the laboratory, relative to the study or absolute; changes "
        "between visits that are within its minimal detectable change are marked so, where condition and side are the "
        "same; null for that of this study, if it has one", longest=500, form="path")
