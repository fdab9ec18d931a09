"""Settings of the step ``read``."""

from dataclasses import dataclass
from typing import Literal

from ...setting import setting


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Section ``read`` of the settings."""

    # fmt: off
    lab_axes: Literal["quarter_turn", "free"] = setting("quarter_turn",
        "rotation of the lab axes about the vertical, so that x points where the person faces; quarter_turn uses the "
        "nearest lab axis, free the mean heading (diagonal walkways)")
