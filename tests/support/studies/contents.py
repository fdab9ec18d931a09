"""What recordings contain, as far as their roles depend on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pipeline.steps.read.recording_contents import NO_SIZES, NOTHING, Contents


def standing(name: str, **content: Any) -> Contents:
    """Return a recording in which markers hardly move; ``content`` as of :class:`pipeline.recording.Recording`."""
    return Contents(name, recording=replace(NOTHING, **content), shown=NO_SIZES._replace(extent_m=0.001))


def moving(name: str, *, plate_tests: Any = (), **content: Any) -> Contents:
    """Return one in which they move."""
    shown = NO_SIZES._replace(extent_m=3.0)
    return replace(standing(name, **content), shown=shown, plate_tests=dict(plate_tests))
