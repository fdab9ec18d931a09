"""What the study that has everything has of the extra ``opensim``."""

from __future__ import annotations

from pathlib import Path

from tests.extras.opensim.leg_model import write_leg_model

FILES = ("legs.osim", "other.osim")
SETTINGS = "muscles: {opensim: true, model: legs.osim}\n"
OTHER_VALUES = {"muscles.opensim": False, "muscles.model": "other.osim"}
SLOW = {"muscles": "derived/sub-02_first/muscles.nc"}  # one output of a rule, of which the others would take minutes


def write(study: Path) -> None:
    """Write the models into a study."""
    for name in FILES:
        write_leg_model(study / name)
