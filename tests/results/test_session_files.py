"""Session files: round trips, and equal bytes for equal datasets."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import xarray as xr

from pipeline.results import netcdf
from tests.support.gathered_cycles import CYCLES


def test_a_session_file_gives_back_its_trials(tmp_path: Path) -> None:
    """Text, empty dimensions, rejected groups, units and the root's attributes; coordinates without fill values."""
    path = tmp_path / "cycles.nc"
    netcdf.save_tree(path, CYCLES["s2"] | CYCLES["s1"], {"title": "Gait cycles of a session", "Conventions": "CF-1.11"})
    groups, root = netcdf.load_tree(path)
    assert list(groups) == ["fast_1", "none", "slow_1", "lost"]
    assert root == {"title": "Gait cycles of a session", "Conventions": "CF-1.11"}
    for name, group in (CYCLES["s2"] | CYCLES["s1"]).items():
        xr.testing.assert_identical(groups[name], group)
    assert groups["lost"].attrs == {"rejected": "cut off: 3 bytes"}
    assert groups["none"].sizes["cycle"] == 0
    alone = xr.load_dataset(path, group="slow_1", decode_cf=False)
    assert [name for name in alone.coords if "_FillValue" in alone[name].attrs] == []
    assert alone.start_time.attrs["units"] == "s"
    with netCDF4.Dataset(path) as file:
        kinds = {variable.dtype for variable in file["slow_1"].variables.values()}
    assert str not in kinds, "text of variable length has no checksum"


def test_the_same_dataset_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        netcdf.save_tree(tmp_path / name, CYCLES["s1"], {"title": "x"})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
