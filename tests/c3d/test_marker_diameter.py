"""The diameter of markers, as the joint centres show it that Plug-in Gait stored in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.c3d.reader import read_c3d
from tests.support.files.c3d_writer import write_c3d

Array = NDArray[np.float64]

WIDTHS_MM = {"LKneeWidth": 105.0, "RKneeWidth": 108.5, "LAnkleWidth": 70.0, "RAnkleWidth": 72.0}
CENTRES = {"LKneeWidth": "LFEO", "RKneeWidth": "RFEO", "LAnkleWidth": "LTIO", "RAnkleWidth": "RTIO"}


def stored(path: Path, diameter_mm: float, *, unit: str = "mm", **changed_mm: float) -> dict[str, float]:
    """Return the sizes in a file with centres that far from their markers, one of them changed."""
    rng, points, centres = np.random.default_rng(3), dict[str, Array](), dict[str, Array]()
    for width, centre in CENTRES.items():
        marker = rng.normal(size=3) + np.cumsum(rng.normal(scale=0.01, size=(60, 3)), axis=0)
        across = rng.normal(size=(60, 3))
        radius_mm = (WIDTHS_MM[width] + diameter_mm + changed_mm.get(centre, 0.0)) / 2
        points[centre[0] + {"FEO": "KNE", "TIO": "ANK"}[centre[1:]]] = marker
        offset = radius_mm / 1000 * across / np.linalg.norm(across, axis=1, keepdims=True)
        centres[centre] = (marker + offset) * {"mm": 1000, "m": 1}[unit]
    points["LKNE"][7] = np.nan
    return read_c3d(write_c3d(path, points, outputs={"BONES": centres}, unit=unit, processing=WIDTHS_MM)).sizes


@pytest.mark.parametrize("unit", ["mm", "m"])
@pytest.mark.parametrize("diameter_mm", [9.5, 16.0, 25.0])
def test_centres_show_the_diameter(tmp_path: Path, diameter_mm: float, unit: str) -> None:
    found = stored(tmp_path / "walk.c3d", diameter_mm, unit=unit)
    assert found["marker_diameter_m"] == pytest.approx(diameter_mm / 1000, abs=5e-5)  # rounded to 0.1 mm


def test_a_stated_diameter_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WIDTHS_MM, "MarkerDiameter", 14.0)
    assert stored(tmp_path / "walk.c3d", 16.0)["marker_diameter_m"] == 0.014


def test_centres_that_do_not_agree_show_nothing(tmp_path: Path) -> None:
    """Another knee width than the model used, say, or other centres than its."""
    assert "marker_diameter_m" not in stored(tmp_path / "walk.c3d", 16.0, LFEO=3.0)
    assert "marker_diameter_m" not in stored(tmp_path / "other.c3d", -20.0)
