"""``gaitlab sbom``: the bill of materials of the installed software, CycloneDX 1.5 as JSON (cyclonedx.org).

It lists the program, Python, and every library that the program needs, directly or through others, as installed.
"""

import json
import platform
import uuid
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ..errors import UserError
from ..results.whole_files import write_whole

PROGRAM = "gait-lab-pipeline"
LONGEST_LICENSE = 80  # characters of a name; longer ones are whole licence texts


def write_bill(path: Path) -> str:
    """Write the bill of materials to a file and count its components; the same installation gives the same bytes.

    Raises:
        UserError: the program is not installed, as in a bare copy of its folder, or the file is a folder.
    """
    if path.is_dir():
        raise UserError(str(path), "is a folder", "give a file, such as bom.json")
    bill = bill_of_materials()
    write_whole(path, json.dumps(bill, indent=2).encode() + b"\n")
    return f"{path}: {len(bill['components'])} components"


def bill_of_materials() -> dict[str, Any]:
    """Return the bill of materials as :func:`write_bill` writes it."""
    try:
        program = metadata.distribution(PROGRAM)
    except metadata.PackageNotFoundError:
        raise UserError(PROGRAM, "is not installed, so that its libraries are unknown", "pip install .") from None
    every: dict[str, metadata.Distribution] = {}
    needs: dict[str, set[str]] = {}
    waiting = [(program, frozenset[str]())]
    seen = set()
    while waiting:
        one, extras = waiting.pop()
        name = _purl(one)
        if (name, extras) not in seen:
            seen.add((name, extras))
            every[name] = one
            needed = _needed(one, extras)
            needs.setdefault(name, set()).update(_purl(other) for other, _ in needed)
            waiting += needed
    root = _component(every.pop(_purl(program))) | {"type": "application"}
    python = {"type": "platform", "bom-ref": "python", "name": platform.python_implementation()}
    components = [python | {"version": platform.python_version()}, *(_component(every[name]) for name in sorted(every))]
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([root, components]))  # no clock, no chance
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {"component": root},
        "components": components,
        "dependencies": [{"ref": name, "dependsOn": sorted(others)} for name, others in sorted(needs.items())],
    }


def _needed(one: metadata.Distribution, extras: frozenset[str]) -> list[tuple[metadata.Distribution, frozenset[str]]]:
    """Return the installed libraries that one with some extras needs here, each with the extras that are asked for."""
    found = []
    for text in one.requires or ():
        requirement = Requirement(text)
        wanted = [{"extra": extra} for extra in (*extras, "")]
        if requirement.marker and not any(map(requirement.marker.evaluate, wanted)):
            continue
        try:
            found.append((metadata.distribution(requirement.name), frozenset(requirement.extras)))
        except metadata.PackageNotFoundError:
            continue  # pip reports broken installations
    return found


def _purl(one: metadata.Distribution) -> str:
    """Return the package URL of a library, its reference."""
    return f"pkg:pypi/{canonicalize_name(one.name)}@{one.version}"


def _component(one: metadata.Distribution) -> dict[str, Any]:
    """Return a library as a component, with its licence if it states a short one."""
    named = {"type": "library", "bom-ref": _purl(one), "name": one.name, "version": one.version, "purl": _purl(one)}
    about = one.metadata.json
    if expression := about.get("license_expression"):
        return named | {"licenses": [{"expression": expression}]}
    classified = [text.rpartition(" :: ")[2] for text in about.get("classifier", ()) if text.startswith("License ::")]
    for text in (str(about.get("license", "")), *classified):
        if text and "\n" not in text and len(text) <= LONGEST_LICENSE:
            return named | {"licenses": [{"license": {"name": text}}]}
    return named
