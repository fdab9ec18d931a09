"""The pipeline. Scripts import the functions in FOR_SCRIPTS from ``gaitlab``, and all else from its modules."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .results.averages import mean_curves as mean_curves
    from .results.session_file import load_trial as load_trial
    from .results.study_file import load_study as load_study
    from .variables.data_dictionary import find_metric as find_metric

__version__ = "0.5.0"

FOR_SCRIPTS = {
    "find_metric": ".variables.data_dictionary",
    "load_study": ".results.study_file",
    "load_trial": ".results.session_file",
    "mean_curves": ".results.averages",
}


def __getattr__(name: str) -> Any:
    """Import a function for scripts at its first use, so that other imports stay light."""
    if name not in FOR_SCRIPTS:
        raise AttributeError(f"no module-level name {name!r}", name=name)
    return getattr(importlib.import_module(FOR_SCRIPTS[name], __name__), name)
