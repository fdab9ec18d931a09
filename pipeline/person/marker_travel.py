"""Travel of the markers of a recording: does the person stand?"""

import numpy as np

from ..arrays import Array
from ..errors import Problem, warning

STANDING_M = 0.05  # a person who stands sways by 1 to 3 cm


def describe_moving_static(file: str, travel_m: float, *, walks: bool) -> Problem:
    """Return the finding on a static trial in which markers move; ``walks`` if the file also is a walk of the study."""
    remedy = "keep it only if no static was recorded: axes and centres are means over the walk"
    what = f"static trial in which markers move by {travel_m:.2g} m"
    remedy = remedy if walks else "use a file in which the person stands still"
    return warning(file, what, remedy, "static_trial_moves")


def extent_m(markers: Array) -> float:
    """Return the travel of markers (time, marker, 3), m.

    Nine in ten markers stay within it for nine tenths of the time. It is below :data:`STANDING_M` for a person standing
    still; other people and stray markers do not count.
    """
    some = np.sort(markers[:: max(1, len(markers) // 200)], axis=0)  # NaN last
    last = np.isfinite(some).sum(axis=0, keepdims=True) - 1
    some, last = some[:, (last >= 0).all(axis=-1)[0]], last[:, (last >= 0).all(axis=-1)[0]]
    if not some.size:
        return float("nan")
    low, high = (np.take_along_axis(some, np.rint(share * last).astype(int), axis=0)[0] for share in (0.05, 0.95))
    return float(np.percentile(np.linalg.norm(high - low, axis=-1), 90))
