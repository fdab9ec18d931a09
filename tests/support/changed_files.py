"""Files of a study with something changed in them: the text of tables, the contents of C3D files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ezc3d

Change = Callable[[ezc3d.c3d], None]


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text that must be in the file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def rewrite(path: Path, change: Change, target: Path | None = None) -> Path:
    """Write a C3D file changed, in its own place or another, and return where."""
    content = ezc3d.c3d(str(path))
    change(content)
    content.write(str(target or path))
    return target or path


def set_parameter(path: Path, group: str, name: str, value: Any, target: Path | None = None) -> Path:
    """Write a C3D file with another value of a parameter, or with the parameter if it had none; return where."""

    def change(content: ezc3d.c3d) -> None:
        if group in content["parameters"] and name in content["parameters"][group]:
            content["parameters"][group][name]["value"] = value  # add_parameter would make floats of integers
        else:
            content.add_parameter(group, name, value)

    return rewrite(path, change, target)


def relabel(**new: str) -> Change:
    """Return what gives points other labels, by the old ones."""

    def change(content: ezc3d.c3d) -> None:
        labels = content["parameters"]["POINT"]["LABELS"]
        labels["value"] = [new.get(label, label) for label in labels["value"]]

    return change
