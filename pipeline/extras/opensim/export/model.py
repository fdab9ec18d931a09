"""The names of markers for a model of OpenSim, and what its file tells about it."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from ....errors import UserError, join_some
from ....tables import tsv

COLUMNS = ("label", "marker", "weight")
MOST_LISTED, LARGEST_WEIGHT = 6, 1e6
FORBIDDEN = re.compile(r"[\s\\/*+]")  # in names of OpenSim


class MarkerNames(NamedTuple):
    """The names of markers by the lab's label, None to leave one out, and their weights by name."""

    names: Mapping[str, str | None]
    weights: Mapping[str, float]

    def refuse_strange(self, labels: Iterable[str]) -> None:
        """Refuse a table without any of a session's labels."""
        if self.names and not {*self.names} & {*labels}:
            here = join_some(sorted(labels), MOST_LISTED)
            what = f"the table has none of the labels {here}"
            raise UserError("--markers", what, "give the labels of the recordings")

    def name(self, label: str) -> str | None:
        """Return the name of a label; without one in the table, the label without what OpenSim forbids."""
        return self.names.get(label, FORBIDDEN.sub("_", label))

    def rename(self, markers: Mapping[str, Any]) -> dict[str, Any]:
        """Return values under the names of the markers; raise UserError if two labels have one name."""
        result: dict[str, Any] = {}
        for label, value in markers.items():
            name = self.name(label)
            if name in result:
                raise UserError(label, f"a second marker with the name '{name}'", "give each label a name of its own")
            if name is not None:
                result[name] = value
        return result


class Model(NamedTuple):
    """Markers and bodies of a model, and the sign of flexion in ``knee_angle_r``, by the longer way of its range."""

    markers: frozenset[str]
    bodies: frozenset[str]
    knee_sign: float


def marker_names(path: Path) -> MarkerNames:
    """Return the names in a table with the columns ``label``, ``marker`` and, if wanted, ``weight``.

    A label without a marker (empty or n/a) is left out.
    """
    rows = tsv.read_table(path, required=COLUMNS[:2], allowed=COLUMNS)
    names: dict[str, str | None] = {}
    weights = {}
    for row in rows:
        where, name = f"{path.name}: {row['label']}", row["marker"]
        absent = name.lower() in tsv.ABSENT
        if row["label"] in names:
            raise UserError(where, "is there twice", "keep one row for each label")
        if not absent and FORBIDDEN.search(name):
            raise UserError(where, f"'{name}' cannot be a name in OpenSim", "write it without blanks and / \\ * +")
        names[row["label"]] = None if absent else name
        if problems := tsv.out_of_range(row, "weight", 0, LARGEST_WEIGHT, where):
            raise UserError.of(problems)
        if (weight := tsv.number(row, "weight", where=where)) is not None:
            weights[name] = weight
    return MarkerNames(names, weights)


def read_model(path: Path) -> Model:
    """Return what is needed of a model's file; raise UserError if it cannot be read or is no model."""
    try:
        root = ET.parse(path).getroot()  # noqa: S314 - the user's own file
        reach = (root.findtext(".//Coordinate[@name='knee_angle_r']/range") or "0 1").split()
        knee_sign = -1.0 if abs(float(reach[0])) > abs(float(reach[1])) else 1.0
    except (OSError, ET.ParseError, ValueError, IndexError) as error:
        raise UserError(str(path), f"cannot be read ({error})", "give a model of OpenSim (.osim)") from None
    if root.find("Model") is None:
        raise UserError(str(path), "not a model of OpenSim", "give an .osim file")
    markers, bodies = (frozenset(one.get("name", "") for one in root.iter(tag)) for tag in ("Marker", "Body"))
    return Model(markers, bodies, knee_sign)
