"""A run in closed form: short stances, flights, forces of two and a half body weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from pipeline.conventions import SIDES
from tests.support.walks.as_clean import PEAK_N, Footfall, Rectangle, Walk, cleaned

STANCE_S, FLIGHT_S = 0.25, 0.1
SPEED_M_S = 3.0
MASS_KG, GRAVITY_M_S2 = 70.0, 9.81
PEAK_BODY_WEIGHTS = 2.5
REACH_M = SPEED_M_S * STANCE_S / 2  # distance from the pelvis at landing, in front, and at take-off, behind


def run(*, belt: bool = False) -> Walk:
    """Return the footfalls, right first; on a belt the runner does not travel."""
    travel_m_s = 0.0 if belt else SPEED_M_S
    steps = []
    for number in range(-4, 12):
        strike = 0.2 + number * (STANCE_S + FLIGHT_S)
        right = number % 2 == 0
        x = travel_m_s * strike + REACH_M
        steps.append(Footfall(SIDES[right], strike, strike + STANCE_S, x, 0.05 if right else -0.05))
    return Walk(tuple(steps), 0.2 + 7.5 * (STANCE_S + FLIGHT_S), SPEED_M_S - travel_m_s)


def run_cleaned(known: Walk, plates: Sequence[Rectangle] = ()) -> xr.Dataset:
    """Return a run like step ``clean``, with the pelvis at the runner's speed."""
    trial = cleaned(known, plates)
    names = ("plate_force", "plate_moment", "vertical_force")
    stronger = PEAK_BODY_WEIGHTS * MASS_KG * GRAVITY_M_S2 / PEAK_N
    where = trial.marker_position.copy(deep=True)
    where.loc[{"marker": [f"asis_{side}" for side in SIDES], "axis": "x"}] = np.tile(
        (SPEED_M_S - known.belt_m_s) * trial.time.values[:, None], 2
    )
    return trial.assign({"marker_position": where} | {name: trial[name] * stronger for name in names})
