"""From one row per cycle to one row per participant: means of the metrics, and how alike left and right are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

SESSION = ["participant", "session", "condition"]


def participant_means(metrics: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return one row per participant, session, condition and side.

    Args:
        metrics: metrics.csv.
        names: the metrics.

    Returns:
        ``cycles``, then for each metric its mean and, as ``..._n``, the number of cycles in which it is known.
    """
    groups = metrics.groupby([*SESSION, "side"], sort=False, observed=True)
    mean, known = groups[[*names]].mean(), groups[[*names]].count()
    found = {"cycles": groups.size()}
    for name in names:
        found |= {name: mean[name], f"{name}_n": known[name]}
    return pd.DataFrame(found).reset_index()


def symmetry(means: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return one row per participant, session and condition: the symmetry index of each metric, percent.

    100 (R - L) / ((|R| + |L|) / 2) of the means of the sides, after Robinson et al. (1987): 0 where they are alike,
    positive where the right one is larger, 200 in size where one is nothing or they differ in sign. NaN where one is
    not known or both are 0.

    Args:
        means: of :func:`participant_means`.
        names: the metrics.
    """
    first = means[SESSION].drop_duplicates()
    left, right = (
        first.merge(means[means.side == side], on=SESSION, how="left")[[*names]].to_numpy(dtype=float)
        for side in ("left", "right")
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        index = 200 * (right - left) / (np.abs(right) + np.abs(left))
    return first.reset_index(drop=True).join(pd.DataFrame(index, columns=[*names]))
