"""Settings of a step: the defaults of config/default.yaml, with changes."""

from __future__ import annotations

import importlib
from typing import Any

from pipeline.workflow.settings import CONFIG, read_yaml

DEFAULTS = read_yaml(CONFIG / "default.yaml")


def settings_of(step: str, **changes: Any) -> Any:
    """Return the settings of a step as its type ``Settings``, with some changed."""
    module = importlib.import_module(f"pipeline.steps.{step}.step")
    return module.Settings(**(DEFAULTS[step] | changes))
