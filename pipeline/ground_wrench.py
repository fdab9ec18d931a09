"""The ground's wrench on each foot at the marker instants, from the plates under its stances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.plate_contacts import Contact, between
from pipeline.plates import centre_of_pressure

Array = NDArray[np.float64]


def at_instants(values: Array, instants: Array, time: Array) -> Array:
    """Return a plate quantity (sample, plate, 3) at the marker instants (time,), samples in between interpolated."""
    if not values.size:
        return np.zeros((len(time), *values.shape[1:]))
    right = np.clip(np.searchsorted(instants, time), 1, len(instants) - 1)
    share = (time - instants[right - 1]) / (instants[right] - instants[right - 1])
    share = np.clip(np.where(np.abs(share - np.round(share)) < 1e-6, np.round(share), share), 0, 1)
    return np.asarray(values[right - 1] * (1 - share)[:, None, None] + values[right] * share[:, None, None])


def ground_wrench(
    time: Array, listed: Sequence[Contact], force: Array, moment: Array, corners: Array, *, threshold_n: float
) -> tuple[Array, Array, Array, Array]:
    """Return ground force, moment about the lab origin, centre of pressure (time, 3) and free moment (time,).

    Zero in swing, NaN in a stance whose force is not known; the centre of pressure only above the threshold.

    Args:
        time: (time,), s.
        listed: every stance of one foot.
        force, moment: (time, plate, 3) of the plates, N, N m about the lab origin.
        corners: (plate, 4, 3), m.
        threshold_n: vertical force from which on a centre of pressure is told.
    """
    total = np.zeros((2, len(time), 3))
    cop, free = np.full((len(time), 3), np.nan), np.full(len(time), np.nan)
    for contact in (row for row in listed if not row.reason):
        inside = between(time, contact.from_s - 1e-9, contact.to_s + 1e-9)
        here = total[:, inside]  # a view
        for plate in contact.plates:
            here += [force[inside, plate], moment[inside, plate]]
        loaded = here[0, :, 1] > threshold_n
        first = corners[contact.plates[0]]
        cop[inside][loaded], free[inside][loaded] = centre_of_pressure(here[0, loaded], here[1, loaded], first)
    for contact in (row for row in listed if row.reason):
        # a frame at the very strike is still at the threshold and belongs to the swing before it
        inside = between(time, np.nextafter(contact.from_s + 1e-9, np.inf), contact.to_s)
        total[:, inside], cop[inside], free[inside] = np.nan, np.nan, np.nan
    return total[0], total[1], cop, free
