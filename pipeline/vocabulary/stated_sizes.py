"""Sizes and static results that files of Plug-in Gait state, by the names of their group PROCESSING."""

import math
from collections.abc import Mapping

from ..json_text import to_text

# columns of participants.tsv by PROCESSING names of Plug-in Gait, which states lengths in mm
OF_A_SIDE = {
    "KneeWidth": "knee_width",
    "AnkleWidth": "ankle_width",
    "LegLength": "leg_length",
    "AsisTrocanterDistance": "asis_trochanter_distance",
    "ShoulderOffset": "shoulder_offset",
    "ElbowWidth": "elbow_width",
    "WristWidth": "wrist_width",
    "HandThickness": "hand_thickness",
}
SIDES = {"L": "left", "R": "right"}
PROCESSING_NAMES = {
    "Bodymass": "mass_kg",
    "Height": "height_m",
    "MarkerDiameter": "marker_diameter_m",
    "InterAsisDistance": "asis_distance_m",
    **{f"{letter}{name}": f"{column}_{side}_m" for letter, side in SIDES.items() for name, column in OF_A_SIDE.items()},
}
LONGEST_SIZE_M = 3.0  # larger numbers are mm
# static results of Plug-in Gait by PROCESSING name, without the side's letter
STATIC_RESULTS = {
    "ThighRotation": "thigh_rotation",
    "ShankRotation": "shank_rotation",
    "AnkleAbAdd": "ankle_abduction",
    "TibialTorsion": "tibial_torsion",
    "StaticPlantFlex": "plantar_flexion",
    "StaticRotOff": "rotation_offset",
}
# files state radians; Vicon Clinical Manager stated degrees. No offset of a leg is as large as 57 degrees, and one of
# the results is larger than a degree
LARGEST_RESULT_RAD = 1.0


def anthropometry(processing: Mapping[str, float]) -> dict[str, float]:
    """Return the sizes in PROCESSING, kg and m, by column of participants.tsv."""
    sizes = {}
    for name, column in PROCESSING_NAMES.items():
        if value := processing.get(name):
            in_mm = column != "mass_kg" and value > LONGEST_SIZE_M
            sizes[column] = value / 1000 if in_mm else value
    return sizes


def static_results(processing: Mapping[str, float]) -> str:
    """Return the static results of Plug-in Gait that the file states as JSON: rad, by side and name.

    Names are those of :data:`STATIC_RESULTS`. Empty unless both sides have a static plantar flexion, which a static
    trial always gives; absent others are zero.
    """
    if not all(processing.get(f"{letter}StaticPlantFlex") for letter in SIDES):
        return ""
    results = {
        side: {name: processing.get(f"{letter}{label}", 0.0) for label, name in STATIC_RESULTS.items()}
        for letter, side in SIDES.items()
    }
    largest = max(abs(value) for leg in results.values() for value in leg.values())
    if largest > LARGEST_RESULT_RAD:
        results = {side: {name: math.radians(value) for name, value in leg.items()} for side, leg in results.items()}
    return to_text(results)
