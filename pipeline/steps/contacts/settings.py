"""Settings of the step ``contacts``."""

from dataclasses import dataclass
from typing import Literal

from ...setting import setting


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Section ``contacts`` of the settings."""

    # fmt: off
    threshold_n: float = setting(20,
        "vertical force at which a contact starts or ends, in newtons, after removal of the plate's baseline", above=0)
    min_contact_s: float = setting(0.1, "shortest contact with a plate, in seconds", at_least=0)
    max_cop_distance_m: float = setting(0.08,
        "largest distance of the centre of pressure from the heel-toe line of the assigned foot, in metres", above=0)
    edge_margin_m: float = setting(0.03,
        "largest distance of the sole (heel, ball of the foot and pad of the big toe) beyond the plate's edge while "
        "it rests there, in metres", at_least=0)
    max_time_offset_s: float = setting(0.03,
        "largest time offset between plate and markers, in seconds, measured by when the foot on the plate comes to "
        "rest and moves again, and by when the force's line passes the pelvis", above=0)
    doubted_time_offset_s: float = setting(0.015,
        "time offset between the plates of a session and its markers, in seconds, from which its stances are doubted, "
        "if that is more than 2.33 standard errors", above=0)
    time_offset: Literal["doubt", "correct"] = setting("doubt",
        "what happens with the stances of a session with such an offset; correct takes its plates later by it, known "
        "to some 8 ms, and time_offset_corrected says by how much")
    max_lever_arm_m: float = setting(0.25,
        "largest distance of the line of the ground reaction from the ankle, in metres; median over the loaded half "
        "of a stance", above=0)
    max_drift_n: float = setting(15,
        "largest baseline drift of a plate that the step clean could not remove, in newtons", above=0)
    misread_plates: Literal["reject", "ignore"] = setting("reject",
        "action for contacts on a plate that appears turned, mirrored or shifted from the steps on it; choose ignore "
        "if the plates are known to be right and the person's gait makes them appear wrong (a plate upside down is "
        "still reported)")
    kinematic_events: Literal["zeni", "oconnor", "handsaker"] = setting("zeni",
        "detection of foot strikes and foot offs from motion, used if plates and file have none; zeni uses heel and "
        "toe relative to the pelvis (Zeni et al. 2008), oconnor the vertical velocity of the foot (O'Connor et al. "
        "2007), handsaker (running) its vertical acceleration (Handsaker et al. 2016)")
