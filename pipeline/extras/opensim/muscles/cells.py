"""What the key of a job of ``muscles`` holds, and which studies have the step."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ....errors import Problem

if TYPE_CHECKING:
    from ....workflow.job_keys import Study


def is_asked_for(study: Study) -> bool:
    """Return whether the settings ask for the step."""
    return bool(study.settings["muscles"]["opensim"])


def cells(study: Study, _: str) -> dict[str, Any]:
    """Return the SHA-256 of the model."""
    model = study.settings["muscles"]["model"]
    digest = study.digest(model)
    return {"files": {model: digest}, "arguments": {"model_sha256": digest}}


def find_problems(study: Study) -> Iterator[Problem]:
    """Yield what keeps OpenSim or its model from being used."""
    if not is_asked_for(study):
        return
    model = study.settings["muscles"]["model"]
    if importlib.util.find_spec("opensim") is None:  # asks without importing it
        remedy = "pip install 'gait-lab-pipeline[opensim]', or set muscles.opensim to false"
        yield Problem("muscles.opensim", "OpenSim is not installed", remedy)
    if model is None:
        remedy = "name your copy of a model of OpenSim, such as gait2392.osim"
        yield Problem("muscles.model", "no model is named", remedy)
    elif not study.has_file(model):
        yield Problem(f"muscles.model: {model}", "no such file", "correct the path, relative to the study")
    elif b"<OpenSimDocument" not in (study.path / model).read_bytes()[:2000]:
        yield Problem(f"muscles.model: {model}", "is no model of OpenSim", "name an .osim file")
