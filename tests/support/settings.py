"""Settings of a step: the defaults, with changes."""

from __future__ import annotations

import importlib
from typing import Any

from pipeline.workflow.settings import CONFIG, read_yaml

DEFAULTS = read_yaml(CONFIG / "default.yaml")


def settings_of(step: str, **changes: Any) -> Any:
    """Return the settings of a step as its type ``Settings``, with some changed."""
    return importlib.import_module(f"pipeline.steps.{step}.settings").Settings(**changes)
