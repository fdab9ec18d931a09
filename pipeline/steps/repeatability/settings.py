"""Settings of the step ``repeatability``."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...setting import setting


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Section ``repeatability`` of the settings."""

    # fmt: off
    visits: Sequence[str] = setting([],
        "visits of sessions.tsv between which nothing has changed the gait, such as test and retest; with them "
        "derived/repeatability.nc is computed if three people have two. A treatment cannot be seen in the data, so "
        "visits are named here; without names only several sessions of one visit, such as those of two assessors, are "
        "repeated measurements")
