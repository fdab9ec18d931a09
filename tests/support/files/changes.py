"""Changes of study files: text of tables, content of C3D files, results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ezc3d
import xarray as xr

from pipeline.results import netcdf
from pipeline.workflow import checksums
from pipeline.workflow.open_study import open_study

Change = Callable[[ezc3d.c3d], None]


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text, which must be in the file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def rewrite(path: Path, change: Change, target: Path | None = None) -> Path:
    """Write a changed C3D file to its own path or another, and return the path."""
    content = ezc3d.c3d(str(path))
    change(content)
    content.write(str(target or path))
    return target or path


def set_parameter(path: Path, group: str, name: str, value: Any, target: Path | None = None) -> Path:
    """Set or add a parameter of a C3D file and return the path."""

    def change(content: ezc3d.c3d) -> None:
        if group in content["parameters"] and name in content["parameters"][group]:
            content["parameters"][group][name]["value"] = value  # add_parameter would make floats of integers
        else:
            content.add_parameter(group, name, value)

    return rewrite(path, change, target)


def relabel(**new: str) -> Change:
    """Return the change from old point labels to new ones."""

    def change(content: ezc3d.c3d) -> None:
        labels = content["parameters"]["POINT"]["LABELS"]
        labels["value"] = [new.get(label, label) for label in labels["value"]]

    return change


def write_as_another_run(study: Path, step: str) -> None:
    """Write a result of sub-01, or of the study, with another title and its record."""
    derived, name = study / "derived", "study.nc" if step == "study" else f"sub-01/{step}.nc"
    known = checksums.recorded(derived, name)
    assert known is not None
    netcdf.save(derived / name, netcdf.load(derived / name).assign_attrs(title="of other settings"))
    key = open_study(study).content_of_key(step, None if step == "study" else "sub-01")
    checksums.record(derived, [derived / name], inputs=known.inputs, key=key)


def write_without_record(study: Path, step: str, data: xr.Dataset, session: str = "sub-01") -> None:
    """Write a result of a session without a record."""
    path = study / f"derived/{session}/{step}.nc"
    netcdf.save(path, data)
    checksums.begin(study / "derived", [path])
