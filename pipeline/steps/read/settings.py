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
    slope_deg: float = setting(0.0,
        "by how many degrees the files' horizontal axes rise where the person faces, as after a calibration of the "
        "cameras on the belt of a raised treadmill; 0 if their vertical axis is plumb, at any slope of the ground; "
        "the column slope_degrees of trials.tsv states it of single trials",
        above=-45, below=45)
