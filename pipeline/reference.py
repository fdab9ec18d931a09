"""References of declarations: texts that name what is imported when it is used."""

import importlib
from typing import Any

Reference = str  # "package.module:name"


def resolve(reference: Reference) -> Any:
    """Import what a text names; ``pipeline`` is this package, also where it is imported as gaitlab.pipeline."""
    module, _, name = reference.partition(":")
    own = module.removeprefix("pipeline") if module.startswith("pipeline.") else module
    return getattr(importlib.import_module(own, __package__), name)
