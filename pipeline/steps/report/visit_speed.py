"""How much of a change may be that of walking speed, in sentences.

Gait changes with speed: angles, moments, powers and times of normal children do so at any age and size (van der Linden
et al. 2002, J Pediatr Orthop 22:800-806; Stansfield et al. 2006, Gait Posture 23:288-294; Schwartz et al. 2008, J
Biomech 41:1639-1650). Nothing is corrected for it: how a person's own gait changes with speed is not known.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr

from ...conventions import SIDES
from ...tables.reference_curves import BySpeed, at_speed, speeds_of
from ...variables.gait_profile import along_cycle, nine_angles, root_mean_square, turning_cycles
from .compared_visits import Compared

SPEED = "walking_speed"
# A tenth is about 0.1 m/s in an adult. In the middle of the speeds of Schwartz (2008) normal gait at a tenth less
# differs by 0.64 degrees of the Gait Profile Score, knee and ankle by 1.1 degrees each: two fifths of the smallest
# important difference, 1.6 (Baker 2012). tests/steps/report/test_visits.py computes that from the shipped curves.
LEAST_SHARE = 0.1


def speed_changes(rows: pd.DataFrame, compared: Compared, study: xr.Dataset, reference: BySpeed) -> list[str]:
    """Return sentences on the walking speed of what is compared; nothing where it differs by less than LEAST_SHARE.

    Args:
        rows: of metrics.csv, with their ``visit``.
        study: the cycles that are compared.
        reference: curves of normal gait; scores are compared at one speed if it has several.
    """
    parts, places, sentences = compared.apart(study), rows[compared.within].unique(), []
    for place in places:
        mine = rows[(rows[compared.within] == place) & rows[SPEED].notna()]
        speeds = {label: mine[SPEED][mine[compared.by] == label] for label in compared.labels}
        first, *others = [label for label, own in speeds.items() if len(own)] or [""]
        for label in others:
            before, after = float(np.mean(speeds[first])), float(np.mean(speeds[label]))
            if abs(after / before - 1) < LEAST_SHARE:
                continue
            where = f"{place}: w" if len(places) > 1 else "W"
            words = f"{first} {before:.2f} m/s (n\xa0{len(speeds[first])}), "
            words += f"{label} {after:.2f} m/s (n\xa0{len(speeds[label])}): {100 * (after / before - 1):+.0f}\xa0%"
            pair = {name: _of_place(parts[name], place, compared) for name in (first, label)}
            scores = _at_one_speed(pair, reference)
            sentences.append(f"{where}alking speed {words}. A part of the changes is that of speed.{scores}")
    return sentences


def _of_place(study: xr.Dataset, place: str, compared: Compared) -> xr.Dataset:
    """Return the cycles of one condition, or of one visit where conditions are compared."""
    if compared.within == "participant":
        return study
    own = study.variables["condition" if compared.within == "condition" else "session"].values.tolist()
    labels = own if compared.within == "condition" else [compared.visits[name] for name in own]
    return study.isel(cycle=np.array([label == place for label in labels], dtype=bool))


def _at_one_speed(pair: Mapping[str, xr.Dataset], reference: BySpeed) -> str:
    """Return the Gait Profile Scores of two labels with the reference at the mean of their speeds, in a sentence."""
    available = speeds_of(reference)
    straight = {label: part.isel(cycle=~turning_cycles(part)) for label, part in pair.items()}
    if not available or "walking_speed_dimensionless" not in next(iter(pair.values())):
        return ""
    known = [part.walking_speed_dimensionless.dropna("cycle").values for part in straight.values()]
    if not all(one.size for one in known):
        return ""
    speeds = [np.median(one) for one in known]
    speed = float(np.clip(np.mean(speeds), available[0], available[-1]))
    normal = along_cycle(at_speed(reference, speed), "mean")
    scores = {label: root_mean_square(root_mean_square(nine_angles(part) - normal)) for label, part in straight.items()}
    texts = []
    for side in SIDES:
        own = [scores[label][part.side.values == side] for label, part in straight.items()]
        finite = [one[np.isfinite(one)] for one in own]
        if all(one.size for one in finite):
            texts.append(f"{side} {', then '.join(f'{one.mean():.1f}' for one in finite)}")
    text = f" Beside normal gait of one speed, the mean of both ({speed:.2f} without dimension), the Gait Profile Score"
    return f"{text} is {'; '.join(texts)} degrees." if texts else ""
