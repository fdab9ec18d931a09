"""A trial that cannot be used."""

from collections.abc import Mapping
from typing import Any

from pipeline.errors import UserError
from pipeline.trials.session import Trial, rejected_by


def rejection(what: str, about: Mapping[str, Any]) -> Trial:
    """Return a trial that cannot be used for a problem without place, remedy and code."""
    return rejected_by(UserError("", what, ""), about)
