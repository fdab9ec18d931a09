"""For scripts: ``from pipeline import load_study``. Everything else stands in the modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .results.study_file import load_study as load_study


def __getattr__(name: str) -> Any:
    """Import ``load_study`` when it is asked for; relative, so that the digest of no step depends on it."""
    if name != "load_study":
        raise AttributeError(f"module 'pipeline' has no attribute {name!r}")
    from .results.study_file import load_study

    return load_study
