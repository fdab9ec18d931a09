"""What ``gaitlab compare-groups`` compares: groups, conditions and visits, and the pairs of them."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import xarray as xr

from ...errors import UserError, nearest
from ...results.differences import Pair
from ...tables.session_table import visits_of_people


def groups_of(study: xr.Dataset) -> dict[str, str]:
    """Return the group of each participant who has one; none if all have the same."""
    if "group" not in study.coords:
        return {}
    names = zip(study.participant.values.tolist(), study.group.values.astype(str).tolist(), strict=True)
    group = {person: name for person, name in names if name.lower() not in ("", "n/a", "nan")}
    return group if len({*group.values()}) > 1 else {}


def visits_of(study: xr.Dataset) -> dict[str, str]:
    """Return the visit of each session, the first visits first; empty without several in sessions.tsv of one person."""
    if "visit" not in study.coords:
        return {}
    people: dict[str, dict[str, str]] = {}
    columns = (study[name].values.tolist() for name in ("participant", "session", "visit"))
    for person, session, visit in zip(*columns, strict=True):
        people.setdefault(person, {})[session] = visit
    rows = {name: {"visit": visit} for own in people.values() for name, visit in own.items() if visit != name}
    return dict(visits_of_people([[*own.items()] for own in people.values()], rows))


def at_visits(study: xr.Dataset, visits: dict[str, str]) -> xr.Dataset:
    """Return a study with the visit in each condition, so that no two visits are averaged."""
    both = zip(study.condition.values.tolist(), study.session.values.tolist(), strict=True)
    names = [f"{condition}, {visits[session]}" if session in visits else condition for condition, session in both]
    return study.assign_coords(condition=(study.condition.dims, np.array(names, dtype=str)))


def baselines_of(conditions: Sequence[str], visits: dict[str, str], known: Collection[str]) -> dict[str, str]:
    """Return with which condition each of the known ones is compared: the first, or the same at the first visit."""
    if not visits:
        return dict.fromkeys(conditions, conditions[0])
    first, *_ = labels = [*dict.fromkeys(visits.values())]
    pairs = {f"{condition}, {visit}": f"{condition}, {first}" for condition in conditions for visit in labels}
    return {one: before if before in known else one for one, before in pairs.items() if one in known}


def chosen_pairs(
    between: Sequence[str], group: Mapping[str, str], known: Sequence[str], visits: Mapping[str, str]
) -> list[Pair]:
    """Return the pairs of two chosen groups, conditions or visits; of groups in each condition, else in each group.

    Args:
        known: conditions, with visits if there are several.
    """
    first, second = between
    groups, labels = [*dict.fromkeys(group.values())], [*dict.fromkeys(visits.values())]
    if {first, second} <= {*groups} and first != second:
        return [Pair(first, second, condition, paired=False) for condition in known]
    changes = [(first, second)] if {first, second} <= {*known} else []
    if {first, second} <= {*labels}:
        walks = (one.removesuffix(f", {first}") for one in known if one.endswith(f", {first}"))
        changes = [(f"{walk}, {first}", f"{walk}, {second}") for walk in walks if f"{walk}, {second}" in known]
    if not changes or first == second:
        every = [*groups, *labels, *known]
        unknown = next((one for one in between if one not in every), "")
        remedy = (unknown and nearest(unknown, every)) or f"give two groups, conditions or visits: {', '.join(every)}"
        raise UserError("--between", f"{first} and {second} cannot be compared", remedy)
    return [Pair(*change, name, paired=True) for name in groups or [""] for change in changes]


def pairs_in(
    conditions: Sequence[str], pairs: Sequence[Pair], every: Sequence[str], visits: Mapping[str, str]
) -> list[Pair]:
    """Return the pairs of chosen conditions alone, at whatever visit."""
    if unknown := next((one for one in conditions if one not in every), ""):
        remedy = nearest(unknown, every) or f"give some of {', '.join(every)}"
        raise UserError("--condition", f"no condition '{unknown}'", remedy)
    kept = {*conditions, *(f"{one}, {visit}" for one in conditions for visit in visits.values())}
    if found := [pair for pair in pairs if all(condition in kept for _, condition in pair.places)]:
        return found
    what = f"nothing is compared in {', '.join(conditions)}"
    raise UserError("--condition", what, "name both conditions of a pair, or leave --condition out")
