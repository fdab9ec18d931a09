"""Body-segment parameters: mass, centre of mass and inertia tensor of foot, shank and thigh."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...body.rules import SegmentRule
from ...body.segment_poses import frame
from ...conventions import CHAIN, SIDE_SIGN, SIDES
from ...errors import UserError


class SegmentParameters(NamedTuple):
    """Parameters of one segment."""

    mass_kg: float
    com: Array  # (3,) centre of mass from the proximal joint centre, segment axes, m
    inertia: Array  # (3, 3) tensor about the centre of mass, segment axes, kg m2
    length_m: float  # length of the segment that the table refers to; NaN for measured parameters


class Person(NamedTuple):
    """What the parameters of a person's segments follow from."""

    sizes: Mapping[str, float]  # kg and m, by column of participants.tsv
    sex: str  # ``M``, ``F`` or ``n/a``
    table: Mapping[str, Any]  # of config/segment_parameters.yaml, for the person
    measured: Mapping[tuple[str, str], SegmentParameters]  # by side (empty in the middle) and segment; they win

    def parameters(self, segment: str, side: str, landmarks: Mapping[str, Array]) -> SegmentParameters:
        """Return the parameters of a segment by the table, see :func:`from_table`."""
        mass_kg = self.sizes["mass_kg"]
        return from_table(self.table, segment, side=side, sex=self.sex, body_mass_kg=mass_kg, landmarks=landmarks)

    @property
    def legs_measured(self) -> bool:
        """Return whether all segments of both legs are measured, so that the table is not used for them."""
        return all((side, segment) in self.measured for side in SIDES for segment in CHAIN)


def from_table(
    table: Mapping[str, Any], segment: str, *, side: str, sex: str, body_mass_kg: float, landmarks: Mapping[str, Array]
) -> SegmentParameters:
    """Return a segment's parameters from a table of config/segment_parameters.yaml.

    Args:
        table: the table; ``sex`` n/a takes the mean of both entries. That of children has lines over age, as pairs, and
            the ``age_years`` to take.
        segment: ``foot``, ``shank`` or ``thigh``.
        side: on the left, the z component of the centre of mass and products with z change sign.
        sex: ``M``, ``F`` or ``n/a``.
        body_mass_kg: body mass.
        landmarks: points (3,) in the segment's own axes from its proximal joint centre, m.

    Parameters in the table's own axes are rotated to the segment's if the landmarks show these (:func:`has_its_axes`).

    Raises:
        UserError: a landmark of the segment's length is absent.
    """
    if "n/a" in table:
        rows = [_at_age(table["n/a"][segment], table["age_years"]) if "age_years" in table else table["n/a"][segment]]
    else:
        rows = [table[letter][segment] for letter in ("M", "F") if sex in (letter, "n/a")]
    results = [_from_row(row, table, segment, side, body_mass_kg, landmarks) for row in rows]
    mass, com, inertia, length = (np.mean(values, axis=0) for values in zip(*results, strict=True))
    if segment in table.get("axes", {}) and has_its_axes(table, segment, landmarks):
        to_own = frame(_rule_of_table(table, segment).axes, landmarks, {}, side)
        com, inertia = com @ to_own, to_own.T @ inertia @ to_own
    return SegmentParameters(mass, com, inertia, length)


def _at_age(row: Mapping[str, Any], years: float) -> dict[str, Any]:
    """Return a row of lines over age as an ordinary one; radii that are None follow by the parallel-axis theorem."""
    at_age = {name: value if name == "length" else _value_at(value, years) for name, value in row.items()}
    if "proximal_radius" in row:
        across = float(np.sqrt(at_age["proximal_radius"] ** 2 - at_age["com"] ** 2))
        at_age["radii"] = [across if one is None else one for one in at_age["radii"]]
    return at_age


def _value_at(value: Any, years: float) -> Any:
    """Return a value, or each of several, at an age; two numbers are a line, value at birth and change per year."""
    if not isinstance(value, list):
        return value
    numbers = len(value) == 2 and not any(isinstance(one, list) for one in value)
    return value[0] + value[1] * years if numbers else [_value_at(one, years) for one in value]


def has_its_axes(table: Mapping[str, Any], segment: str, landmarks: Mapping[str, Array]) -> bool:
    """Return whether the landmarks show the axes of the table's tensor; true if it has no axes of its own."""
    return all(np.isfinite(landmarks.get(name, np.nan)).all() for name in _rule_of_table(table, segment).points)


def _rule_of_table(table: Mapping[str, Any], segment: str) -> SegmentRule:
    """Return the table's own axes of a segment, without any if it has none."""
    return SegmentRule.of({"axes": table.get("axes", {}).get(segment, ())})


def _from_row(
    row: Mapping[str, Any],
    table: Mapping[str, Any],
    segment: str,
    side: str,
    body_mass_kg: float,
    landmarks: Mapping[str, Array],
) -> SegmentParameters:
    points = {name: place for name, place in landmarks.items() if np.isfinite(place).all()}
    if "toe" in points:
        points.setdefault("forefoot", points["toe"])
    if "toe_tip_ratio" in table and "toe_tip" not in points and {"heel", "toe"} <= points.keys():
        points["toe_tip"] = points["heel"] + table["toe_tip_ratio"] * (points["toe"] - points["heel"])
    try:
        start, end = (points[name] for name in row["length"])
    except KeyError as error:
        remedy = "add it to the body model, choose another calibrate.segment_parameters, or write segments.tsv"
        what = f"the {segment}'s parameters need the landmark {error.args[0]}"
        raise UserError("", what, remedy, "segment_parameters_wrong") from None
    length = float(np.linalg.norm(end - start))
    mirror = np.array([1.0, 1.0, SIDE_SIGN[side]])
    mass = body_mass_kg * row["mass"]
    if isinstance(row["com"], list):
        com = np.array(row["com"]) * length * mirror
    else:
        # Dempster's foot is between ankle centre and toe, but its length is from the malleolus
        origin = np.zeros(3) if row["length"][0] == "lateral_malleolus" else start
        com = origin + row["com"] * (end - origin) + np.array([row.get("ahead", 0.0) * length, 0.0, 0.0])
    inertia = np.diag((np.array(row["radii"]) * length) ** 2)
    for (i, j), radius in zip(((0, 1), (0, 2), (1, 2)), row.get("products", (0, 0, 0)), strict=True):
        inertia[i, j] = inertia[j, i] = np.sign(radius) * (radius * length) ** 2 * mirror[i] * mirror[j]
    return SegmentParameters(mass, com, mass * inertia, length)


def from_measurement(row: Mapping[str, str]) -> SegmentParameters:
    """Return measured parameters from a row of segments.tsv; refuse a tensor that no rigid body has."""
    value = {name: float(row[name]) for name in row if name not in ("participant_id", "side", "segment")}
    inertia = np.array([[value[f"i{''.join(sorted(a + b))}_kg_m2"] for b in "xyz"] for a in "xyz"])
    moments = np.linalg.eigvalsh(inertia)
    if moments[0] <= 0 or moments[2] > (moments[0] + moments[1]) * (1 + 1e-9):
        where = f"segments.tsv: {row['participant_id']} {row['side']} {row['segment']}"
        what = f"the inertia tensor's principal moments {moments} are not those of a body"
        remedy = "correct it: all are positive, and none is above the sum of the others"
        raise UserError(where, what, remedy, "segment_parameters_wrong")
    return SegmentParameters(value["mass_kg"], np.array([value[f"com_{axis}_m"] for axis in "xyz"]), inertia, np.nan)
