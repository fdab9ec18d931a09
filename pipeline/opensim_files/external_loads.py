"""External loads of OpenSim (XML) beside a MOT file: which of its columns are force, point and torque of each load.

Source: OpenSim's user guide, "External Loads Specification"; a column is an identifier followed by its axis.
"""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from ..errors import UserError

Columns = dict[str, dict[str, int]]  # of a load, by kind (force v, point p, torque m) and axis

KINDS = {"v": "force", "p": "point", "m": "torque"}
GROUND = {"", "ground", "/ground", "unassigned"}
AXES = {"x": "xX1", "y": "yY2", "z": "zZ3"}
REMEDY = "correct it, or give it another name than the MOT file's, so that the names of columns count"


def loads_in(path: Path) -> list[dict[str, str]]:
    """Return the properties of the external forces that a file, if there is one, has and applies; refuse no XML."""
    if not path.is_file():
        return []
    try:
        root = ET.fromstring(path.read_bytes())  # noqa: S314 - expat limits what entities expand to
    except ET.ParseError as error:
        raise UserError(str(path), f"no XML: {error}", REMEDY) from None
    forces = root.iterfind(".//objects/ExternalForce")
    loads = [{part.tag: (part.text or "").strip() for part in force} for force in forces]
    without = {("isDisabled", "true"), ("appliesForce", "false")}  # of OpenSim 3 and of OpenSim 4
    return [
        load
        for load in loads
        if load.get("force_identifier") and not any(load.get(name, "").lower() == value for name, value in without)
    ]


def columns_named(path: Path, labels: Sequence[str]) -> dict[str, Columns]:
    """Return the columns of the loads that a file of external loads names; none if there is no such file.

    Raises:
        UserError: the file is no XML, or names columns that are absent, a load in another frame than ground, or none
            of its points.
    """
    columns: dict[str, Columns] = {}
    for number, load in enumerate(loads_in(path), 1):
        columns[str(number)] = of_load = {}
        for kind, name in KINDS.items():
            body, start = load.get(f"{name}_expressed_in_body", ""), load.get(f"{name}_identifier", "")
            if body.lower() not in GROUND:
                raise UserError(str(path), f"external force {number} has its {name} in axes of {body}", REMEDY)
            if kind == "m" and start.lower() in ("", "unassigned"):
                continue
            of_load[kind] = {axis: labels.index(start + end) for axis, ends in AXES.items() for end in ends
                         if start + end in labels}  # fmt: skip
            if len(of_load[kind]) < len(AXES):
                given = f"{start}x, ..." if start else "no column"
                what = f"external force {number} has its {name} in {given}, which the MOT file lacks"
                raise UserError(str(path), what, REMEDY)
    return columns
