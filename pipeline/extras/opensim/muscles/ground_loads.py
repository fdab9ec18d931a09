"""The ground reactions of a walk as columns of external loads."""

import numpy as np

from ....conventions import SIDES
from ....trials.session import Trial
from ..motion_files import Columns, load_columns
from ..setup_files import OF_SIDE


def loads(contacts: Trial) -> Columns:
    """Return force (N), point (m) and torque about it (N m) on each foot at each frame, lab axes.

    They are filtered as those of the kinetics. A foot without known force has none.
    """
    columns = {"time": contacts["time"].values}
    for side in OF_SIDE:
        names = ("ground_force", "ground_moment", "centre_of_pressure")
        force, moment, point = (contacts[name].values[:, SIDES.index(side)].astype(float) for name in names)
        columns |= load_columns(side, np.nan_to_num(force), np.nan_to_num(moment), point)
    return columns
