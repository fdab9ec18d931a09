"""What speaks against a knee: an axis that is turned about the thigh, and a marker that shakes.

A turned axis shows by adduction in step with flexion, and a turned hip. But for skin and noise a knee marker keeps its
distances to the hip centre and to markers of thigh and shank. Noise is the same at all times; foot strikes, push-off
and the fast limb in swing shake the skin; while the other foot swings, the leg is quietest. A gap that is held, or
filled after a wrong marker, leaves bends, which a later filter spreads.
"""

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...conventions import ADDUCTION, HIP, KNEE, ROTATION, SIDES
from ...dynamics.vectors import length
from ...signals.filters import high_pass, interval_s
from ...trials.session import AnyTrial
from ...variables.cycle_variables import KNEE_AXIS

MARKER = "lateral_epicondyle"
BESIDE = ("trochanter", "thigh", "medial_epicondyle", "fibula", "tibial", "shank", "lateral_malleolus")
# 99.7 % of the power of markers in walking is below 6 Hz (Winter DA, Sidwall HG, Hobson DA 1974, J Biomech 7:157-159)
FAST_HZ, LEAST_RATE_HZ = 6.0, 20.0
LEAST_M = 0.0005  # at 8 Hz, in mid-band, it is 1.3 m/s2, which changes the hip moment by .1 N m/kg
# Of the largest in the rest. Of noise, of which the rest has more, and of skin, which strikes and swings shake most, it
# is 1 at most but by chance: 1.2 in 66 stances of many laboratories, 1.7 in 1,272 of generated people [measured].
TIMES = 2.0
APART_S = 0.05  # from a stance: what happens at its ends is not of the rest
LEAST_REST = 2.0  # stances: more than a stride, which holds a foot strike, a push-off and a swing


def knee_axis_figures(kinematics: AnyTrial, row: NDArray[np.intp], span_s: Array) -> Array:
    """Return (side, figure) of :data:`pipeline.variables.cycle_variables.KNEE_AXIS` of a trial; NaN if unknown.

    A thigh frame that is turned inwards by d has hip rotation too large by d, and the knee adducts by d in step with
    flexion: sin(adduction) = sin(d) sin(flexion).

    Args:
        row, span_s: (cycle,) index of the side, (cycle, 2) foot strikes that start and end each cycle, s.
    """
    time, angle = kinematics["time"].values, kinematics["joint_angle"].values
    figures = np.full((len(SIDES), len(KNEE_AXIS)), np.nan)
    figures[:, 0], figures[:, 1] = (kinematics[f"knee_axis_{name}"].values for name in ("error", "in_step"))
    for side in range(len(SIDES)):
        spans = [(time >= start_s) & (time <= end_s) for start_s, end_s in span_s[row == side]]
        seen = [angle[span, side] for span in spans if np.isfinite(angle[span, side, KNEE:]).all()]
        if seen:
            figures[side, 2] = np.mean([np.ptp(each[:, KNEE, ADDUCTION]) for each in seen])
            figures[side, 3] = np.concatenate(seen)[:, HIP, ROTATION].mean()
    return figures


def fast_distances(clean: AnyTrial, kinematics: AnyTrial, side: str) -> Array:
    """Return the part above 6 Hz of distances of a side's knee marker (time, distance), m; no column without one."""
    names, time = clean["marker"].values.tolist(), clean["time"].values
    if f"{MARKER}_{side}" not in names or interval_s(time) * LEAST_RATE_HZ > 1:
        return np.empty((len(time), 0))
    position = clean["marker_position"].values
    beside = [i for i, name in enumerate(names) if name.startswith(BESIDE) and name.endswith(side)]
    hip = kinematics["joint_centre"].values[:, SIDES.index(side), HIP]
    others = np.concatenate([position[:, beside], hip[:, None]], axis=1)
    distance = length(position[:, [names.index(f"{MARKER}_{side}")]] - others)
    return np.abs(high_pass(distance, rate_hz=1 / interval_s(time), cutoff_hz=FAST_HZ, order=4))


def strongest_shake(fast: Array, time: Array, start: float, end: float) -> tuple[float, float]:
    """Return how much a knee marker shakes in the middle two thirds of a stance, of the distance that shows most.

    Args:
        fast: of :func:`fast_distances`, (time, distance), m.
        time: (time,), s.
        start, end: of the stance, s.

    Returns:
        The largest part, relative to the largest in the rest of the recording, and that part, m; 0 and 0 where no part
        exceeds :data:`LEAST_M`, or too little of the rest is known.
    """
    double = (end - start) / 6
    inside = np.nan_to_num(fast[(time >= start + double) & (time <= end - double)])
    rest = fast[(time < start - APART_S) | (time > end + APART_S)]
    enough = np.isfinite(rest).sum(axis=0) * interval_s(time) >= LEAST_REST * (end - start)
    most, usual = inside.max(axis=0, initial=0.0), np.nan_to_num(rest).max(axis=0, initial=0.0)
    shown = enough & (most > LEAST_M) & (usual > 0)
    return max(zip((most[shown] / usual[shown]).tolist(), most[shown].tolist(), strict=True), default=(0.0, 0.0))
