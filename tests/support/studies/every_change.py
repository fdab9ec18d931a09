"""Everything that can change from one run of the workflow to the next, one thing at a time, with its new content.

That is each file of the checkout, the version of each library, and each setting, each column of each table and each
other file of two studies: of the demonstration study and of one that has everything.
"""

from __future__ import annotations

import csv
import itertools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from pipeline.workflow import settings
from tests.support.checkout import HOUSE
from tests.support.studies.full_study import TABLES, of_extras

STUDIES = ("demo", "full")
CODE = b"\nCHANGED_ON_PURPOSE = True\n"
EXTRAS_OF_USERS = ("parquet", "xlsx", "statistics", "opensim")
# of files that a key holds by content and not by bytes: what is changed in them, once in each of their parts
BODY_MODEL = {
    "comment": ("side_labels:", "# a comment\nside_labels:"),
    "description": ("Rigid clusters of four", "Clusters of four"),
    "settings": ("method: linked", "method: segments"),
    "landmarks": ('heel: "{side}HEE"', 'heel: "{side}HEEL"'),
    "joint_centres": ("[lateral_malleolus, medial_malleolus]", "[medial_malleolus, lateral_malleolus]"),
    "segments": ("cluster: [heel, toe, metatarsal_1, metatarsal_5]", "cluster: [heel, toe, metatarsal_1]"),
}
CONTENT = {
    "config/default.yaml": {"cycles": ("longest_cycle_s: 3.0", "longest_cycle_s: 3.1")},
    "config/segment_parameters.yaml": {
        "by_age": ("adult_years: 16", "adult_years: 17"),
        "jensen": ("mass: [0.0187, 0.00015]", "mass: [0.0188, 0.00015]"),
        "dempster": ("mass: 0.0145", "mass: 0.0146"),
        "de_leva": ("mass: 0.0129", "mass: 0.0128"),
    },
    "config/normative/sources.yaml": {
        "schwartz2008": ("model: conventional", "model: another"),
        "pinzone2014": ("(Pinzone et al. 2014)", "(Pinzone and others 2014)"),
    },
    "config/upper_bodies/markers.yaml": {
        "description": ("Trunk, head and arms by", "Trunk, arms and head by"),
        "landmarks": ("c7: [C7, C7_study,", "c7: [C7,"),
    },
    "config/body_models/isb_clusters.yaml": BODY_MODEL,
    "model.yaml": BODY_MODEL,
}
# another valid value of a setting, where its schema does not show one or where a study has this one already
OTHER_VALUES: dict[str, Any] = {
    "body_model": "isb_clusters_2002",
    "clean.emg_channels": {"EMG1": "left soleus"},
    "kinematics.method": "segments",
    "kinematics.joint_limits": {"knee flexion": [-10, 150]},
    "cycles.emg_normalisation": "mean",
    "cycles.emg_pairs": ["tibialis anterior - soleus"],
    "cycles.further_curves": ["joint_angle_in_stance"],
    "study.reference": "pinzone2014",
    "study.gdi_features": 15,
    "report.title": "Another title",
    "report.laboratory": "Another laboratory",
    "report.logo": "other.svg",
    "report.notes": "other_notes",
}
# another valid cell, where it is neither a number nor any text
OTHER_CELLS = {
    "role": {
        "static": "exclude",
        "gait": "exclude",
        "functional": "exclude",
        "emg_reference": "gait",
        "equipment": "gait",
    },
    "sex": {"M": "F", "F": "M"},
    "side": {"left": "right", "right": "left"},
    "segment": {"foot": "hand"},
    "status": {"amended": "preliminary"},
    "kind": {"move_foot_strike": "move_foot_off"},
    "plates_left": {"1": "3"},
    "plates_right": {"2": "3"},
    "hands_bear_weight": {"yes": "no"},
}


class Change(NamedTuple):
    """One thing that changes."""

    kind: str
    what: str
    files: Mapping[str, bytes]  # the new content of files, by their paths in the folder of :func:`every_change`


def every_change(folder: Path) -> list[Change]:
    """Return everything that can change.

    Args:
        folder: with the checkout in ``house``, the studies, and a folder ``libraries`` on the path of modules.
    """
    changes = (changes_of_code, changes_of_settings, changes_of_cells, changes_of_files)
    return [*(one for find in changes for one in find(folder)), *changes_of_libraries()]


def changes_of_code(folder: Path) -> Iterator[Change]:
    """Yield each file of the checkout."""
    house = folder / "house"
    for path in sorted(path for path in house.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        name = path.relative_to(house).as_posix()
        if name in CONTENT:
            yield from changes_of_parts(folder, "file", name, [f"house/{name}"])
        else:
            content = path.read_bytes() + (CODE if path.suffix == ".py" else b"\n")
            yield Change("module" if path.suffix == ".py" else "file", name, {f"house/{name}": content})


def changes_of_parts(folder: Path, kind: str, name: str, places: Iterable[str]) -> Iterator[Change]:
    """Yield each part of a file of which a key holds the content."""
    for part, (old, new) in CONTENT[name].items():
        texts = {place: (folder / place).read_text(encoding="utf-8") for place in places}
        assert all(old in text for text in texts.values()), (name, old)
        files = {place: text.replace(old, new, 1).encode() for place, text in texts.items()}
        yield Change(kind, f"{name} {part}", files)


def changes_of_settings(folder: Path) -> Iterator[Change]:
    """Yield each setting, by study.yaml."""
    others = OTHER_VALUES | {name: value for extra in of_extras() for name, value in extra.OTHER_VALUES.items()}
    for name, value in {"body_model": None, **dict(leaves(settings.every_default()))}.items():
        other = others[name] if name in others else another(value, settings.schema("settings"), name.split("."))
        files = {f"{study}/study.yaml": study_with(folder / study, name, other, value) for study in STUDIES}
        yield Change("setting", name, files)


def study_with(folder: Path, name: str, value: Any, default: Any) -> bytes:
    """Return study.yaml with another value of a setting; with its default if it has the other one already."""
    own = yaml.safe_load((folder / "study.yaml").read_text(encoding="utf-8"))
    *sections, last = name.split(".")
    section = own
    for each in sections:
        section = section.setdefault(each, {})
    section[last] = default if section.get(last) == value else value
    return yaml.safe_dump(own).encode()


def changes_of_cells(folder: Path) -> Iterator[Change]:
    """Yield each column of each table, in trials.tsv of each role: the first cell with a value is changed."""
    found: dict[str, dict[str, bytes]] = {}
    for study, name in itertools.product(STUDIES, TABLES):
        path = folder / study / name
        header, *rows = csv.reader(path.open(encoding="utf-8"), delimiter="\t") if path.exists() else [list[str]()]
        changed = set[str]()
        for (place, column), row in itertools.product(enumerate(header), rows):
            what = f"{name} {column}" + (f" of {row[header.index('role')]}" if "role" in header else "")
            if row[place] != "n/a" and what not in changed:
                changed.add(what)
                other = [[*each] for each in rows]
                other[rows.index(row)][place] = another_cell(column, row[place])
                text = "".join("\t".join(cells) + "\n" for cells in (header, *other))
                found.setdefault(what, {})[f"{study}/{name}"] = text.encode()
    yield from (Change("cell", what, files) for what, files in sorted(found.items()))


def changes_of_files(folder: Path) -> Iterator[Change]:
    """Yield each other file of a study, such as its recordings."""
    found: dict[str, list[str]] = {}
    for study in STUDIES:
        for path in (path for path in (folder / study).rglob("*") if path.is_file()):
            name = path.relative_to(folder / study).as_posix()
            if name not in TABLES and name != "study.yaml" and not name.startswith("."):
                found.setdefault(name, []).append(f"{study}/{name}")
    for name, places in sorted(found.items()):
        if name in CONTENT:
            yield from changes_of_parts(folder, "study file", name, places)
        else:
            more = b"more\n" if name.endswith(".txt") else b"\n"
            yield Change("study file", name, {place: (folder / place).read_bytes() + more for place in places})


def changes_of_libraries() -> Iterator[Change]:
    """Yield the version of each library that the project asks for."""
    project = tomllib.loads((HOUSE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = (one for name in EXTRAS_OF_USERS for one in project["optional-dependencies"][name])
    names = {re.split(r"[\s<>=!~;\[]", one, maxsplit=1)[0] for one in [*project["dependencies"], *extras]}
    for name in sorted(names, key=str.lower):
        yield Change("library", name, {f"libraries/{name}-99.egg-info": version_file(name, 99)})


def version_file(name: str, version: int) -> bytes:
    """Return the content of the file by which Python knows the version of an installed library."""
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()


def leaves(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted name and the value of each setting."""
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{above}{name}.")
        else:
            yield above + name, value


def another(value: Any, schema: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return a value other than the default that the schema allows."""
    for name in names:
        properties = schema.get("properties", {})
        schema = properties[name] if name in properties else schema["additionalProperties"]
    if "enum" in schema:
        return next(one for one in schema["enum"] if one != value)
    if isinstance(value, bool):
        return not value
    assert isinstance(value, (int, float)), f"write another value of {'.'.join(names)} into OTHER_VALUES"
    return value + 1 if isinstance(value, int) else value * 0.99 or 0.5


def another_cell(column: str, cell: str) -> str:
    """Return another cell that the column may have: a number 1 % larger, a text with a letter more."""
    if column in OTHER_CELLS:
        return OTHER_CELLS[column][cell]
    if column in ("date", "acq_time"):
        return cell.replace("2024", "2023")
    if column == "sha256":
        return cell[::-1]
    if column in ("file", "forces"):
        return cell.replace(".", "_moved.")
    try:
        return f"{float(cell) * 1.01:.6g}"
    except ValueError:
        return f"{cell}x"
