"""The ground reactions of a walk as columns of external loads."""

import numpy as np

from ....conventions import SIDES
from ....dynamics.vectors import cross
from ....trials.session import Trial
from ..motion_files import Columns
from ..setup_files import OF_SIDE


def loads(contacts: Trial) -> Columns:
    """Return force (N), point (m) and torque about it (N m) on each foot at each frame, lab axes.

    They are filtered as those of the kinetics. A foot without known force has none.
    Where there is no centre of pressure, the point is the nearest one in time.
    """
    columns = {"time": contacts["time"].values}
    frames = np.arange(len(columns["time"]))
    for side, end in OF_SIDE.items():
        force, moment, point = (
            contacts[name].values[:, SIDES.index(side)].astype(float)
            for name in ("ground_force", "ground_moment", "centre_of_pressure")
        )
        force, moment = np.nan_to_num(force), np.nan_to_num(moment)
        known = np.flatnonzero(np.isfinite(point[:, 0]))
        nearest = np.interp(frames, known, np.arange(len(known))) if known.size else frames
        point = point[known[np.rint(nearest).astype(int)]] if known.size else np.zeros_like(point)
        vectors = {"force_{}_v": force, "force_{}_p": point, "torque_{}_": moment - cross(point, force)}
        columns |= {
            f"ground_{name.format(end)}{axis}": values[:, i]
            for name, values in vectors.items()
            for i, axis in enumerate("xyz")
        }
    return columns
