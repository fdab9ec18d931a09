"""Settings of a step: the defaults, with changes."""

from __future__ import annotations

from typing import Any

from pipeline.reference import resolve
from pipeline.step import every_step
from pipeline.workflow.settings import CONFIG
from pipeline.workflow.strict_yaml import read_yaml

DEFAULTS = read_yaml(CONFIG / "default.yaml")


def settings_of(step: str, **changes: Any) -> Any:
    """Return the settings of a step as its type ``Settings``, with some changed."""
    return resolve(every_step()[step].settings)(**changes)
