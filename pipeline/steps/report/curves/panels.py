"""Panels of the report: which component of which variable, its sign in words, and the range of its axis."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import xarray as xr

from ....conventions import CONVENTIONAL, FROM_HIP
from ....json_text import object_in
from ....variables.gait_profile import place_of
from ....variables.metrics import GAIT_ANGLES

UNITS = {
    "degree": "deg",
    "percent": "%",
    "min-1": "steps/min",
    "m s-1": "m/s",
    "N kg-1": "N/kg",
    "N m kg-1": "N m/kg",
    "W kg-1": "W/kg",
    "J kg-1": "J/kg",
    "N m s kg-1": "N m s/kg",
    "1": "",
}  # of CF, as the report writes them
Limits = tuple[float, float]
FIRST = "first"  # the sheet at the top of a page
SHEETS = KINEMATICS, KINETICS, POWERS, EMG, WHOLE_BODY_SHEET = "kinematics", "kinetics", "powers", "EMG", "whole body"
PROFILE = [place_of(name) for name in GAIT_ANGLES]  # the nine angles of the first sheet


def plain_unit(cf: str) -> str:
    """Return a CF unit as the report writes it."""
    return UNITS.get(cf, cf)


class Panel(NamedTuple):
    """A panel: a component of a variable, the meaning of its sign, the fixed range of its axis.

    Factor: -1 if the panel shows the opposite sign of the stored one. Limits: None for an axis that fits the curves.
    Sheet: the part of the appendix that has the panel, or FIRST. About: words below the heading of the group, HTML.
    """

    group: str
    title: str
    variable: str
    component: dict[str, str]
    sign: str
    limits: Limits | None = None
    factor: int = 1
    sheet: str = KINETICS
    about: str = ""


# The ranges hold mean +- 2 SD of typically developing children at speeds from very slow to fast, dimensionless .17 to
# .56 (Schwartz 2008), so that only gait outside of that leaves them. Angles span at least 60 degrees. Ankle inversion
# and the moments about the long axes, which the children's curves do not have, take pyCGM2's ranges (Leboeuf 2019).
ANGLE_PANELS: dict[tuple[str, str], tuple[str, str, Limits]] = {
    ("pelvis", "flexion"): ("Pelvic tilt", "posterior < 0 < anterior", (-10, 50)),
    ("pelvis", "adduction"): ("Pelvic obliquity", "side down < 0 < side up", (-30, 30)),
    ("pelvis", "rotation"): ("Pelvic rotation", "side back < 0 < forward", (-30, 30)),
    ("hip", "flexion"): ("Hip flexion", "extension < 0 < flexion", (-30, 70)),
    ("hip", "adduction"): ("Hip adduction", "abduction < 0 < adduction", (-30, 30)),
    ("hip", "rotation"): ("Hip rotation", "external < 0 < internal", (-30, 30)),
    ("knee", "flexion"): ("Knee flexion", "extension < 0 < flexion", (-20, 80)),
    ("knee", "adduction"): ("Knee adduction", "valgus < 0 < varus", (-30, 30)),
    ("knee", "rotation"): ("Knee rotation", "external < 0 < internal", (-30, 30)),
    ("ankle", "flexion"): ("Ankle dorsiflexion", "plantar < 0 < dorsal", (-40, 30)),
    ("ankle", "adduction"): ("Ankle inversion", "eversion < 0 < inversion", (-30, 30)),
}
# clinical title, words below and above zero in clinical signs (the opposite of the stored ones), range in these signs
MOMENT_PANELS: dict[tuple[str, str], tuple[str, str, str, Limits]] = {
    ("hip", "flexion"): ("extensor", "flexor", "extensor", (-2, 3)),
    ("hip", "adduction"): ("abductor", "adductor", "abductor", (-1, 1.5)),
    ("hip", "rotation"): ("rotation", "internal", "external", (-0.5, 0.5)),
    ("knee", "flexion"): ("extensor", "flexor", "extensor", (-1, 1.5)),
    ("knee", "adduction"): ("abductor", "adductor", "abductor", (-0.5, 1)),
    ("knee", "rotation"): ("rotation", "internal", "external", (-0.5, 0.5)),
    ("ankle", "flexion"): ("plantarflexor", "dorsal", "plantar", (-1, 2.5)),
    ("ankle", "adduction"): ("evertor", "invertor", "evertor", (-0.5, 0.5)),
    ("ankle", "rotation"): ("rotation", "internal", "external", (-0.5, 0.5)),
}
# clinical signs as of the legs; "this side" is that of the cycle. Each moment is estimated twice: from the head down
# and from the feet up.
WAIST_PANELS: dict[tuple[str, str], tuple[str, str, str, Limits]] = {
    ("waist", "flexion"): ("extensor", "flexor", "extensor", (-1, 1)),
    ("waist", "adduction"): ("lateral", "other", "this side", (-1, 1)),
    ("waist", "rotation"): ("rotation", "side forward", "back", (-0.5, 0.5)),
}
# These ranges hold the curves of five children, and room for as much again.
TRUNK_PANELS: dict[tuple[str, str], tuple[str, str, Limits]] = {
    ("thorax", "flexion"): ("Thorax tilt", "back < 0 < forward", (-30, 40)),
    ("thorax", "adduction"): ("Thorax obliquity", "side down < 0 < up", (-30, 30)),
    ("thorax", "rotation"): ("Thorax rotation", "side back < 0 < forward", (-30, 30)),
    ("spine", "flexion"): ("Spine flexion", "extension < 0 < flexion", (-40, 40)),
    ("spine", "adduction"): ("Spine lateral flexion", "this side < 0 < other", (-30, 30)),
    ("spine", "rotation"): ("Spine rotation", "side back < 0 < forward", (-30, 30)),
    ("neck", "flexion"): ("Neck flexion", "extension < 0 < flexion", (-40, 40)),
    ("shoulder", "flexion"): ("Shoulder flexion", "extension < 0 < flexion", (-60, 60)),
    ("shoulder", "adduction"): ("Shoulder elevation", "0: the arm hangs", (0, 90)),
    ("elbow", "flexion"): ("Elbow flexion", "extension < 0 < flexion", (-10, 110)),
}
INSIDE, RIGHT = "outside < 0 < inside", "left < 0 < right"
_ELEVATION, _FLEXION = ("shoulder", "adduction"), ("shoulder", "flexion")  # of ISB, and of Plug-in Gait
BALANCE_PANELS: dict[tuple[str, str, str], tuple[str, str, Limits]] = {
    ("margin_of_stability", "direction", "lateral"): ("Lateral margin of stability", INSIDE, (-0.1, 0.3)),
    ("margin_of_stability", "direction", "forward"): ("Forward margin of stability", INSIDE, (-1.0, 0.4)),
    ("centre_of_mass_displacement", "axis", "z"): ("Sideways path of the centre of mass", RIGHT, (-0.1, 0.1)),
    ("centre_of_mass_displacement", "axis", "y"): ("Height of the centre of mass", "down < 0 < up", (-0.05, 0.1)),
    ("angular_momentum", "axis", "x"): ("Frontal angular momentum", RIGHT, (-0.06, 0.06)),
    ("angular_momentum", "axis", "z"): ("Sagittal angular momentum", "forward < 0 < back", (-0.06, 0.06)),
}
FOOT_PROGRESSION = "toes out < 0 < toes in"
POWER_LIMITS: dict[str, Limits] = {"hip": (-2, 3), "knee": (-3, 3), "ankle": (-2, 6)}
FORCE_PANELS: dict[str, tuple[str, str, Limits]] = {
    "x": ("Fore-aft force", "braking < 0 < propulsion", (-4, 4)),
    "y": ("Vertical force", "downward < 0 < upward", (-2, 18)),
    "z": ("Lateral force", "to the left < 0 < right", (-2, 2)),
}
RESIDUAL_PANELS: dict[str, tuple[str, Limits]] = {
    "force": ("of body weight", (0, 30)),
    "moment": ("of body weight times height", (0, 10)),
}
ANGLES = "Angles"
MOMENTS = "Internal moments"
OF_FOOT = "Power of the foot"
MUSCLES = "Muscle activity (EMG)"
TRUNK, WAIST_MOMENTS, BALANCE = "Trunk and arms", "Waist moments", "Balance"
WHOLE_BODY = (TRUNK, WAIST_MOMENTS, BALANCE)
HEAD_DOWN, FEET_UP, WAIST_FROM_LEGS = "from the head down", "from the feet up", "waist_moment_from_legs"


def sign_of_angle(variable: str, component: Mapping[str, str]) -> str:
    """Return the meaning of the sign of an angle of the legs or the pelvis."""
    if variable == "foot_progression":
        return FOOT_PROGRESSION
    return ANGLE_PANELS[component.get("joint", "pelvis"), component["angle"]][1]


def panels_of(study: xr.Dataset, *, moment_signs: str) -> tuple[Panel, ...]:
    """Return the panels of the variables that a study has.

    Args:
        moment_signs: ``clinical`` draws extensor, abductor and plantarflexor moments upwards, as Vicon Polygon, pyCGM2
            and the published normative curves do; ``stored`` draws the signs of study.nc, flexor and adductor upwards.
    """
    every = (*_angles(), *(moment_panel(*key, signs=moment_signs) for key in MOMENT_PANELS), *_powers_and_forces())
    every += (*_trunk(study), *_waist(moment_signs))
    for (variable, dim, component), (title, sign, limits) in BALANCE_PANELS.items():
        every += (Panel(BALANCE, title, variable, {dim: component}, sign, limits, sheet=WHOLE_BODY_SHEET),)
    return (*(panel for panel in every if panel.variable in study), *emg_panels(study))


def moment_panel(joint: str, angle: str, *, signs: str) -> Panel:
    """Return the panel of a moment in ``clinical`` or ``stored`` signs."""
    title, below, above, limits = (MOMENT_PANELS | WAIST_PANELS)[joint, angle]
    of_leg = (joint, angle) in MOMENT_PANELS
    group, variable = (MOMENTS, "joint_moment_jcs") if of_leg else (WAIST_MOMENTS, "upper_moment")
    component = {"joint" if of_leg else "upper_load": joint, "angle": angle}
    sheet = KINETICS if of_leg else WHOLE_BODY_SHEET
    if signs == "clinical":
        title = f"{joint.capitalize()} {title} moment"
        return Panel(group, title, variable, component, f"{below} < 0 < {above}", limits, -1, sheet)
    title, limits = f"{joint.capitalize()} {angle} moment", (-limits[1], -limits[0])
    return Panel(group, title, variable, component, f"{above} < 0 < {below}", limits, sheet=sheet)


def _angles() -> Iterator[Panel]:
    for (joint, angle), (title, sign, limits) in ANGLE_PANELS.items():
        of_pelvis = joint == "pelvis"
        variable, component = ("pelvis_angle", {}) if of_pelvis else ("joint_angle", {"joint": joint})
        component |= {"angle": angle}
        sheet = FIRST if (variable, component) in PROFILE else KINEMATICS
        yield Panel(ANGLES, title, variable, component, sign, limits, sheet=sheet)
    yield Panel(ANGLES, "Foot progression", "foot_progression", {}, FOOT_PROGRESSION, (-40, 30), sheet=FIRST)


def _powers_and_forces() -> Iterator[Panel]:
    for joint in FROM_HIP:
        sign = "absorption < 0 < generation"
        title = f"{joint.capitalize()} power{' of a rigid foot' if joint == 'ankle' else ''}"
        yield Panel("Powers", title, "joint_power", {"joint": joint}, sign, POWER_LIMITS[joint], sheet=POWERS)
    for variable, title in (("ankle_foot_power", "Ankle and foot power"), ("foot_power", "Foot power")):
        yield Panel(OF_FOOT, title, variable, {}, sign, POWER_LIMITS["ankle"], sheet=POWERS)
    for axis, (title, sign, limits) in FORCE_PANELS.items():
        yield Panel("Ground reaction force", title, "ground_force", {"axis": axis}, sign, limits)
    for load, (of, limits) in RESIDUAL_PANELS.items():
        yield Panel("Pelvis residual", f"Residual {load}", "pelvis_residual", {"load": load}, of, limits)


def _waist(signs: str) -> Iterator[Panel]:
    """Yield the panels of the waist's moments from the head down, then those from the feet up."""
    down = [moment_panel(*key, signs=signs) for key in WAIST_PANELS]
    yield from (panel._replace(title=f"{panel.title}, {HEAD_DOWN}") for panel in down)
    for panel in down:
        component = {"angle": panel.component["angle"]}
        yield panel._replace(title=f"{panel.title}, {FEET_UP}", variable=WAIST_FROM_LEGS, component=component)


def _trunk(study: xr.Dataset) -> Iterator[Panel]:
    """Yield the panels of trunk and arms; of the shoulder the angle that its convention has."""
    kinematics = object_in(study.attrs, "settings").get("kinematics", {})
    other = _ELEVATION if kinematics.get("angle_convention") == CONVENTIONAL else _FLEXION
    for key, (title, sign, limits) in TRUNK_PANELS.items():
        if key != other:
            component = {"upper_part": key[0], "angle": key[1]}
            yield Panel(TRUNK, title, "upper_angle", component, sign, limits, sheet=WHOLE_BODY_SHEET)


def emg_panels(study: xr.Dataset) -> Iterator[Panel]:
    """Yield the panels of the muscles of a study; amplitudes of EMG have no usual range, and in mV an unknown gain."""
    normalised = "emg_normalised" in study
    variable, sign = ("emg_normalised", "normalised") if normalised else ("emg_envelope", "as recorded")
    for muscle in study["muscle"].values.tolist() if "muscle" in study.dims else ():
        title = muscle.replace("_", " ").capitalize()
        yield Panel(MUSCLES, title, variable, {"muscle": muscle}, f"linear envelope, {sign}", sheet=EMG)
