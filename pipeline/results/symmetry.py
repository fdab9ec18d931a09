"""The differences between the sides, and the symmetry index.

Robinson RO et al. (1987) Use of force platform variables to quantify the effects of chiropractic manipulation on gait
symmetry. J Manipulative Physiol Ther 10:172-176.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..arrays import Array
from ..conventions import SIDES
from ..variables.metrics import NUMBERS, USUAL_SIZE
from .averages import SESSION, shortest_way, standard_uncertainty

# Gait services differ by 0.1 N m/kg and 0.2 W/kg (Pinzone et al. 2014), a tenth to half of the usual moments and
# powers: at a quarter of the usual size such a difference alone makes an index of 40 to 200.
SMALL_SHARE = 0.25


def symmetry(
    means: pd.DataFrame, names: Sequence[str], about: Sequence[str] = (), errors: Array | None = None
) -> pd.DataFrame:
    """Return right and left side of metrics by participant, session and condition, one row per metric.

    Args:
        about: columns of participants.tsv in ``means``.
        errors: of :func:`.averages.errors_of_means`. The column ``difference_u`` is then the standard uncertainty of
            the difference: what both sides share, such as the pelvis, cancels.

    Returns:
        The columns ``about``, ``metric``, its ``kind``, the means ``left`` and ``right``, and ``difference``, right
        minus left in the metric's ``units``, of phases the shorter way round. ``symmetry_index`` is that of
        :func:`symmetry_index`.
    """
    place = {row: i for i, row in enumerate(means[[*SESSION, "side"]].itertuples(index=False, name=None))}
    begin: dict[tuple[str, ...], int] = {}  # the first row of each session and condition
    for row, i in place.items():
        begin.setdefault(row[:-1], i)
    first = means[[*SESSION, *about]].iloc[[*begin.values()]].reset_index(drop=True)
    rows = [np.array([place.get((*session, side), -1) for session in begin], dtype=int) for side in SIDES]
    values = np.vstack([means[[*names]].to_numpy(dtype=float), np.full(len(names), np.nan)])  # the last: no such side
    left, right = (values[mine] for mine in rows)
    kinds = np.array([NUMBERS[name].kind for name in names], dtype=str)
    difference = np.where(kinds == "phase", shortest_way(right - left), right - left)
    index = symmetry_index(left, right, names)
    table = first.loc[first.index.repeat(len(names))].reset_index(drop=True)
    if errors is not None:
        of_rows = np.concatenate([errors, np.full((1, *errors.shape[1:]), np.nan)])
        table["difference_u"] = standard_uncertainty(of_rows[rows[1]] - of_rows[rows[0]]).ravel()
    order = [*table.columns[: len(SESSION) + len(about)], "metric", "kind", *SIDES, "difference"]
    return table.assign(
        metric=np.tile([*names], len(first)),
        kind=np.tile(kinds, len(first)),
        left=left.ravel(),
        right=right.ravel(),
        difference=difference.ravel(),
        units=np.tile([NUMBERS[name].units for name in names], len(first)),
        symmetry_index=index.ravel(),
    )[[*order, *([] if errors is None else ["difference_u"]), "units", "symmetry_index"]]


def symmetry_index(left: Array, right: Array, names: Sequence[str]) -> Array:
    """Return 100 (R - L) / ((R + L) / 2) of the sizes of metrics (..., metric), percent (Robinson et al. 1987).

    It is 0 where the sides are equal, positive where the right side is larger in size, 200 where the left one is 0.
    Only a metric of kind "size" has one: where a quantity may cross zero the mean in the denominator may vanish, and
    the zero of a phase is arbitrary. NaN where a side is not known, where the mean of the sides is below SMALL_SHARE of
    the metric's usual size, and where the sides have different signs after all, such as the steps of a person who
    always leads with one foot.
    """
    kinds = np.array([NUMBERS[name].kind for name in names], dtype=str)
    smallest = SMALL_SHARE * np.array([USUAL_SIZE.get(name, 0) for name in names])
    with np.errstate(invalid="ignore", divide="ignore"):
        sizes = np.abs(right), np.abs(left)
        of_sizes = (kinds == "size") & (left * right >= 0) & (np.add(*sizes) / 2 >= smallest)
        return np.where(of_sizes, 200 * np.subtract(*sizes) / np.add(*sizes), np.nan)
