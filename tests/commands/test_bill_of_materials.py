"""``gaitlab sbom``: all that is installed because of the program, in the form of CycloneDX."""

from __future__ import annotations

import errno
import json
import re
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

import jsonschema
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pipeline import __version__
from pipeline.__main__ import main
from pipeline.commands.bill_of_materials import bill_of_materials

PROGRAM = f"pkg:pypi/gait-lab-pipeline@{__version__}"
# what the published schema bom-1.5.schema.json requires of the parts that are written, and the values that it allows
COMPONENT = {
    "type": "object",
    "required": ["type", "name"],
    "additionalProperties": False,
    "properties": {
        "type": {"enum": ["application", "framework", "library", "container", "platform", "operating-system"]},
        "bom-ref": {"type": "string", "minLength": 1},
        "name": {"type": "string"},
        "version": {"type": "string"},
        "purl": {"type": "string", "pattern": "^pkg:pypi/[a-z0-9.-]+@"},
        "licenses": {
            "type": "array",
            "maxItems": 1,
            "items": {
                "oneOf": [
                    {"required": ["expression"], "additionalProperties": False, "properties": {"expression": {}}},
                    {
                        "required": ["license"],
                        "additionalProperties": False,
                        "properties": {"license": {"required": ["name"], "properties": {"name": {"type": "string"}}}},
                    },
                ]
            },
        },
    },
}
SCHEMA = {
    "type": "object",
    "required": ["bomFormat", "specVersion"],
    "additionalProperties": False,
    "properties": {
        "bomFormat": {"const": "CycloneDX"},
        "specVersion": {"const": "1.5"},
        "serialNumber": {"pattern": "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
        "version": {"type": "integer", "minimum": 1},
        "metadata": {"properties": {"component": COMPONENT}},
        "components": {"type": "array", "uniqueItems": True, "items": COMPONENT},
        "dependencies": {
            "type": "array",
            "uniqueItems": True,
            "items": {"required": ["ref"], "properties": {"dependsOn": {"type": "array", "uniqueItems": True}}},
        },
    },
}


@pytest.fixture(scope="module")
def bill() -> dict[str, Any]:
    return bill_of_materials()


def test_it_has_the_form_of_the_schema(bill: dict[str, Any]) -> None:
    jsonschema.validate(bill, SCHEMA)
    references = [one["bom-ref"] for one in (bill["metadata"]["component"], *bill["components"])]
    assert len({*references}) == len(references)
    used = {name for one in bill["dependencies"] for name in (one["ref"], *one["dependsOn"])}
    assert used == {*references} - {"python"}


def test_every_library_is_there_as_installed(bill: dict[str, Any]) -> None:
    listed = {one["name"].lower().replace("_", "-"): one["version"] for one in bill["components"]}
    every = map(Requirement, metadata.requires("gait-lab-pipeline") or ())
    wanted = [one for one in every if not one.marker or "extra" not in str(one.marker)]
    assert len(wanted) > 10
    for requirement in wanted:
        version = listed[canonicalize_name(requirement.name)]
        assert version == metadata.version(requirement.name)
        assert requirement.specifier.contains(version, prereleases=True)
    assert {"python-dateutil", "jsonschema-specifications", "markupsafe"} <= {*listed}  # needed by the needed
    assert not {"pytest", "ruff", "sphinx"} & {*listed}
    (own,) = (one for one in bill["dependencies"] if one["ref"] == PROGRAM)
    assert len(own["dependsOn"]) == len(wanted)


def test_what_an_extra_needs_is_there(bill: dict[str, Any]) -> None:
    """Snakemake asks for an extra of its interface or of others only by name; each is resolved with its marker."""
    for one in bill["dependencies"]:
        name = re.sub(r"^pkg:pypi/|@.*", "", one["ref"])
        for text in metadata.distribution(name).requires or ():
            requirement = Requirement(text)
            if requirement.marker is None:
                assert any(f"/{canonicalize_name(requirement.name)}@" in other for other in one["dependsOn"]), text


def test_the_same_installation_gives_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / name for name in ("a.json", "b.json")]
    assert [main(["sbom", str(file)]) for file in files] == [0, 0]
    assert len({file.read_bytes() for file in files}) == 1
    count = len(json.loads(files[0].read_text())["components"])
    assert f"{files[0]}: {count} components" in capsys.readouterr().out
    assert {*tmp_path.iterdir()} == {*files}  # no half file is left


def test_a_full_disk_leaves_the_bill_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "bom.json"
    file.write_text("{}")

    def full(path: Path, content: bytes) -> NoReturn:
        with path.open("wb") as handle:
            handle.write(content[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert main(["sbom", str(file)]) == 1
    assert file.read_text() == "{}"


def test_another_version_gives_another_number(monkeypatch: pytest.MonkeyPatch, bill: dict[str, Any]) -> None:
    monkeypatch.setattr("platform.python_version", lambda: "3.99.0")
    assert bill_of_materials()["serialNumber"] != bill["serialNumber"]


def test_what_cannot_be_listed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sbom", str(tmp_path)]) == 1
    monkeypatch.setattr("pipeline.commands.bill_of_materials.PROGRAM", "not-installed-here")
    assert main(["sbom", str(tmp_path / "bom.json")]) == 1
    assert "pip install ." in capsys.readouterr().err
    assert not (tmp_path / "bom.json").exists()
