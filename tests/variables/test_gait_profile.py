"""Reference curves of the nine angles of the gait profile."""

from __future__ import annotations

import numpy as np

from pipeline.tables.reference_curves import ReferenceCurve, key_of
from pipeline.variables.gait_profile import along_cycle
from pipeline.variables.metrics import GAIT_ANGLES

KNEE = {"joint": "knee", "angle": "flexion"}


def test_a_reference_is_unknown_where_its_table_does_not_reach() -> None:
    """The first percents of a table that begins at 10 % are not those of 10 %."""
    curve = ReferenceCurve([10.0, 90.0], [1.0, 9.0], [2.0, 2.0])
    place, curves = GAIT_ANGLES.index("knee_flexion"), {key_of("joint_angle", KNEE): curve}
    knee = along_cycle(curves, "mean")[place]
    percent = np.arange(0, 101, 2)
    inside = (percent >= 10) & (percent <= 90)
    np.testing.assert_allclose(knee[inside], percent[inside] / 10)
    assert np.isnan(knee[~inside]).all()
    assert np.isnan(np.delete(along_cycle(curves, "sd"), place, axis=0)).all()
