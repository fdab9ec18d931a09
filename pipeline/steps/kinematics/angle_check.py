"""Joint angles against those that Plug-in Gait stored in the file: another program, the same markers.

Where the model is the same they agree to 0.1 degrees, filtered or not. Another model, or another static trial,
differs on both sides. One leg that differs while the other agrees has a marker elsewhere, or sizes of its own.
"""

import numpy as np

from ...arrays import Array
from ...c3d.plug_in_gait import ANGLE_SIGNS
from ...conventions import ANGLES, JOINTS, SIDES
from ...json_text import from_text
from ...variables.stance_verdicts import Verdict

# degrees. 3 of an axis turn .05 of a moment of 1 N m/kg about another one
LARGEST_DEG, AGREES_DEG = 3.0, 1.0


def angle_misfit(stored: str, angle: Array) -> Array:
    """Return by how much angles are larger than the stored ones (side, joint, angle), median, degrees; NaN if unknown.

    Args:
        stored: the fact ``stored_angles`` of the trial.
        angle: (time, side, joint, angle), degrees, flexion, adduction and internal rotation positive.
    """
    frames, values = from_text(stored) or ([], [])
    of_file = ANGLE_SIGNS * np.array(values, dtype=float).reshape(-1, *angle.shape[1:])
    off = (angle[frames] - of_file + 180) % 360 - 180
    known = np.isfinite(off).any(axis=0)
    return np.where(known, np.nanmedian(np.where(known, off, 0.0), axis=0), np.nan) if len(off) else 0 * known + np.nan


def doubt_angles(misfit: Array) -> list[Verdict]:
    """Return the doubt about a trial with an angle (side, joint, angle) of one leg far from the stored one, if any.

    The zero of ankle flexion says nothing: it depends on whether the foot was taken as flat in the static trial.
    """
    alone = np.where(np.abs(misfit[::-1]) < AGREES_DEG, np.nan_to_num(misfit), 0.0)
    alone[:, JOINTS.index("ankle"), ANGLES.index("flexion")] = 0.0
    side, joint, angle = np.unravel_index(np.abs(alone).argmax(), alone.shape)
    off = float(alone[side, joint, angle])
    what = f"{SIDES[side]} {JOINTS[joint]} {ANGLES[angle]}"
    return [Verdict.of("angles_unlike_file", what=what, degrees=off, leg=SIDES[side])] if abs(off) > LARGEST_DEG else []
