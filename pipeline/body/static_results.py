"""Static results of Plug-in Gait, as its files state them: with joint widths they determine the legs without a static.

Kadaba MP et al. (1990) J Orthop Res 8:383-392; Davis RB et al. (1991) Hum Mov Sci 10:575-587; Vicon Nexus, Plug-in Gait
Reference Guide. Compared with the bones and angles stored in files of five laboratories: centres agree within 0.1 mm,
angles within 0.1 degrees.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..conventions import FROM_PELVIS, SIDE_SIGN
from ..json_text import from_text
from .joint_centres import Chord
from .segment_poses import turn_about_y


def results_of_walks_count(statics: Collection[bool], walks: Collection[bool]) -> bool:
    """Return whether static results count that walks state: some walks, or all of them beside a static without any.

    Those of a part of the walks, beside such a static trial, may be of another person or visit.

    Args:
        statics, walks: whether each that can be read states static results.
    """
    return any(walks) if any(statics) or not statics else bool(walks) and all(walks)


class StaticResults(NamedTuple):
    """The static results of one side, rad, with the signs of Plug-in Gait."""

    # thigh_rotation, shank_rotation: see :class:`pipeline.body.joint_centres.Chord`
    thigh_rotation: float = 0.0
    shank_rotation: float = 0.0
    ankle_abduction: float = 0.0  # likewise
    tibial_torsion: float = 0.0  # turn from the knee's axis to the malleoli's about the shank's axis, inwards positive
    # plantar_flexion, rotation_offset: turns of the foot from the line ankle centre - toe to its sole
    plantar_flexion: float = 0.0
    rotation_offset: float = 0.0

    def chords(self, radius_m: Mapping[str, float]) -> dict[str, Chord]:
        """Return the chords of knee and ankle with these radii."""
        return {
            "knee": Chord(radius_m["knee"], self.thigh_rotation),
            "ankle": Chord(radius_m["ankle"], self.shank_rotation, self.ankle_abduction),
        }

    def texts(self) -> dict[str, str]:
        """Return how the centres of knee and ankle are found, in degrees."""
        thigh, shank, abduction, torsion, *_ = np.degrees(self)
        return {
            "knee": f"chord, stated: thigh rotation {thigh:.1f}",
            "ankle": f"chord, stated: shank rotation {shank:.1f}, abduction {abduction:.1f}, torsion {torsion:.1f}",
        }

    def technical(self, side: str) -> dict[str, Array]:
        """Return the (3, 3) rotation from the axes built in motion to the anatomical ones, by segment."""
        c, s = np.cos(self.plantar_flexion), np.sin(self.plantar_flexion)
        about_z = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        return dict.fromkeys(FROM_PELVIS, np.eye(3)) | {
            "shank": turn_about_y(-SIDE_SIGN[side] * self.tibial_torsion),
            "foot": turn_about_y(SIDE_SIGN[side] * self.rotation_offset) @ about_z,
        }


def parse_results(text: str) -> dict[str, StaticResults]:
    """Return the static results of each side from the JSON text of the step ``read``; none from an empty one."""
    return {
        side: StaticResults(**{name: np.nan if value is None else value for name, value in results.items()})
        for side, results in dict(from_text(text)).items()
    }


def plantar_flexion(technical: Array) -> float:
    """Return the static plantar flexion, rad, in the rotation (3, 3) from a foot's axes in motion to the true ones."""
    return float(np.arctan2(-technical[1, 0], technical[1, 1]))
