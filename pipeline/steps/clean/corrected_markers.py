"""Corrections of markers by hand: hidden, or their labels exchanged, in a part of a trial."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import join_some, nearest
from ...signals.filters import interval_s
from ...tables.corrections import UnfitError, markers_in
from ...trials.session import Trial

MOST_LISTED = 6


def correct_markers(read: Trial, corrections: Sequence[Mapping[str, str]]) -> Trial:
    """Return a trial with markers as if they had been recorded so.

    Args:
        read: the trial as recorded.
        corrections: rows of :mod:`pipeline.tables.corrections`, applied in their order. From and to, s on the file's
            own time axis, belong to the part.

    Raises:
        UnfitError: the trial has no such marker, or it is not seen in that part.
    """
    if not corrections:
        return read
    labels, time = [str(label) for label in read["marker"].values], read["time"].values
    position, nearly_s = read["marker_position"].values.copy(), interval_s(time) / 4
    for row in corrections:
        first_s, last_s = float(row["time_s"]), float(row["to_s"])
        here = np.flatnonzero((time >= first_s - nearly_s) & (time <= last_s + nearly_s))
        if not here.size:
            what = f"no frame is from {first_s:g} to {last_s:g} s"
            raise UnfitError(row, what, f"give times from {time[0]:.3f} to {time[-1]:.3f} s")
        for label in (unknown for unknown in markers_in(row) if unknown not in labels):
            remedy = nearest(label, labels) or f"give one of {join_some(labels, MOST_LISTED)}"
            raise UnfitError(row, f"no marker is labelled '{label}'", remedy)
        part = np.ix_(here, np.array([labels.index(label) for label in markers_in(row)]))
        if not np.isfinite(position[part]).any():
            what = f"{row['given']} not seen from {first_s:g} to {last_s:g} s"
            raise UnfitError(row, what, "give other times")
        position[part] = np.nan if row["kind"] == "hide_marker" else position[part][:, ::-1]
    variables: dict[Any, Any] = {name: one for name, one in read.variables.items() if name not in read.coords}
    variables["marker_position"] = (read["marker_position"].dims, position)
    return Trial.of(variables, {name: read[name] for name in read.coords}, read.attrs)
