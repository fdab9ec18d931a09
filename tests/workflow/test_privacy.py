"""People's names and birth dates in a recording's free text: nothing of them is written or said by the pipeline."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ezc3d
import netCDF4
import numpy as np
import pytest

from pipeline.__main__ import main
from pipeline.commands.check.command import check
from tests.support.checkout import HOUSE
from tests.support.studies.for_report import Page
from tests.support.studies.small_study import run_steps

SECRETS = ("Jacquetta", "Quuxington", "1987-06-05", "Tegucigalpa")
TEXT = "Jacquetta Quuxington, born 1987-06-05, Tegucigalpa"
FREE_TEXT = (
    *(("PATIENT", name) for name in ("NAME", "FIRST_NAME", "BIRTHDATE", "ID", "DIAGNOSIS", "ADDRESS")),
    *(("MANUFACTURER", name) for name in ("COMPANY", "SOFTWARE", "USER")),
    *(("TRIAL", name) for name in ("NAME", "COMMENT", "DATE")),
    *(("PROCESSING", name) for name in ("Subject", "Notes")),
    *(
        ("POINT", "NOTES"),
        ("POINT", "X_SCREEN"),
        ("ANALOG", "NOTES"),
        ("FORCE_PLATFORM", "NOTES"),
        ("FORCE_PLATFORM", "SERIALS"),
    ),
    *(("SUBJECTS", "NAMES"), ("SUBJECTS", "MODELS"), ("SUBJECTS", "MARKER_SETS"), ("JACQUETTA", "JACQUETTA")),
)


def named_after(path: Path, *, prefix: str) -> None:
    """Write a person's name and birth date wherever a recording has free text, and before its marker labels."""
    content = ezc3d.c3d(str(path))
    parameters = content["parameters"]
    for group, name in FREE_TEXT:
        content.add_parameter(group, name, [TEXT if name != "NAMES" else "Jacquetta Quuxington"])
    for group in ("POINT", "ANALOG"):
        content.add_parameter(group, "DESCRIPTIONS", [TEXT] * len(parameters[group]["LABELS"]["value"]))
    if "EVENT" in parameters:
        count = len(parameters["EVENT"]["LABELS"]["value"])
        for name, text in (("DESCRIPTIONS", TEXT), ("SUBJECTS", "Jacquetta Quuxington")):
            content.add_parameter("EVENT", name, [text] * count)
    analog = parameters["ANALOG"]["LABELS"]["value"]
    parameters["ANALOG"]["LABELS"]["value"] = [f"Jacquetta Quuxington {label}" for label in analog]
    parameters["POINT"]["LABELS"]["value"] = [f"{prefix}{label}" for label in parameters["POINT"]["LABELS"]["value"]]
    content.write(str(path))


def leaks(study: Path, spoken: str) -> Iterator[tuple[str, str]]:
    """Return every secret and where it stands: names and bytes of files, what NetCDF and pages pack, the terminal."""
    texts = {"terminal": spoken.encode()}
    for path in (path for path in study.rglob("*") if path.is_file() and path.suffix != ".c3d"):
        texts[f"name of {path}"] = path.name.encode()
        texts[str(path)] = path.read_bytes()
        if path.suffix == ".nc":
            with netCDF4.Dataset(path) as file:
                texts[f"{path}, unpacked"] = " ".join(_texts_of(file)).encode()
        if path.suffix == ".html":
            texts[f"{path}, unpacked"] = json.dumps(Page(path.read_text(encoding="utf-8")).data()).encode()
    for place, content in texts.items():
        for secret in SECRETS:
            if secret.lower().encode() in content.lower():
                yield secret, place


def _texts_of(group: Any) -> Iterator[str]:
    for holder in (group, *group.variables.values()):
        yield from (f"{name} {holder.getncattr(name)}" for name in holder.ncattrs())
    for name, variable in group.variables.items():
        yield name
        variable.set_auto_maskandscale(False)
        variable.set_auto_chartostring(False)
        if variable.dtype == np.dtype("S1"):
            yield variable[...].tobytes().decode("latin-1")
        elif variable.dtype is str:
            yield " ".join(np.ravel(variable[...]))
    for name, part in group.groups.items():
        yield name
        yield from _texts_of(part)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    for trial in ("static", "comfortable_01", "fast_01"):
        path = tmp_path / "study" / f"{trial}.c3d"
        path.parent.mkdir(exist_ok=True)
        shutil.copy(HOUSE / "data/demo/sub-01" / path.name, path)
    return tmp_path / "study"


def test_no_name_in_a_recording_is_written_or_said(
    study: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """From ``init`` and ``check`` to the report; one recording is cut, so that its refusal is written too."""
    shutil.copy(study / "comfortable_01.c3d", study / "comfortable_02.c3d")  # labels without a name beside others
    prefixes = ("Jacquetta Quuxington:", "", "Jacquetta Quuxington_", "Jacquetta:")
    for path, prefix in zip(sorted(study.glob("*.c3d")), prefixes, strict=True):
        named_after(path, prefix=prefix)
    cut = study / "fast_01.c3d"
    cut.write_bytes(cut.read_bytes()[:-600])
    assert main(["init", str(study)]) == 0
    trials = (study / "trials.tsv").read_text(encoding="utf-8")
    (study / "trials.tsv").write_text(trials.replace("exclude\tn/a", "gait\twalk"), encoding="utf-8")
    main(["check", str(study)])
    run_steps(study, report=True)
    assert {path.name for path in (study / "derived").iterdir()} >= {"study.nc", "metrics.csv", "report.html"}
    main(["show", str(study / "derived/sub-01/read.nc")])
    main(["export", str(study)])
    spoken = capfd.readouterr()
    assert "SUBJECTS:NAMES" in spoken.out
    assert not [*leaks(study, spoken.out + spoken.err + caplog.text)]


def test_several_people_in_a_file_are_not_named(study: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Their names stand in one place, the column ``subject`` of trials.tsv, which chooses the markers."""
    for path in study.glob("*.c3d"):
        content = ezc3d.c3d(str(path))
        labels, points = content["parameters"]["POINT"]["LABELS"]["value"], content["data"]["points"]
        content["parameters"]["POINT"]["LABELS"]["value"] = [
            f"{who}:{x}" for who in ("Jacquetta Quuxington", "Jeremias Quuxington") for x in labels
        ]
        content["data"]["points"] = np.concatenate([points, points + np.array([0, 900, 0, 0])[:, None, None]], axis=1)
        content.add_parameter("SUBJECTS", "NAMES", ["Jacquetta Quuxington", "Jeremias Quuxington"])
        del content["data"]["meta_points"]
        content.write(str(path))
    assert main(["init", str(study)]) == 0
    table = (study / "trials.tsv").read_text(encoding="utf-8")
    assert "Jacquetta Quuxington" in table
    (study / "trials.tsv").write_text(
        table.replace("Jacquetta Quuxington", "").replace("Jeremias Quuxington", ""), encoding="utf-8"
    )
    main(["check", str(study)])
    run_steps(study, report=True)
    spoken = capfd.readouterr()
    assert "holds several subjects" in spoken.out
    assert "holds several subjects" in (study / "derived/quality.csv").read_text()
    assert not [*leaks(study, spoken.out + spoken.err)]


def test_a_path_that_names_the_person_is_said(study: Path) -> None:
    """Outputs name their sources as trials.tsv does: the files are the user's to rename."""
    for path in [*study.glob("*.c3d")]:
        named_after(path, prefix="")
        path.rename(path.with_name(f"quuxington_{path.name}"))
    assert main(["init", str(study)]) == 0
    said = {finding.where for finding in check(study) if "the path contains a name" in finding.what}
    assert said == {path.name for path in study.glob("*.c3d")}


def test_a_copy_without_its_free_text(study: Path) -> None:
    """``write-c3d --anonymous`` leaves out what may name a person; else the copy has all that the recording has."""
    for path in study.glob("*.c3d"):
        named_after(path, prefix="Jacquetta Quuxington:")
    (study / "fast_01.c3d").unlink()
    assert main(["init", str(study)]) == 0
    run_steps(study)
    (study / ".snakemake/metadata/any").mkdir(parents=True)  # the records that a run leaves
    copies = study / "derived/sub-01/c3d"
    assert main(["write-c3d", str(study)]) == 0
    (copy,) = copies.iterdir()
    assert b"Tegucigalpa" in copy.read_bytes()
    assert main(["write-c3d", str(study), "--anonymous"]) == 0
    content = copy.read_bytes().lower()
    assert not [secret for secret in SECRETS if secret.lower().encode() in content]
    labels = ezc3d.c3d(str(copy))["parameters"]["POINT"]["LABELS"]["value"]
    assert {"LASI", "RKneeMoment"} <= {*labels}
