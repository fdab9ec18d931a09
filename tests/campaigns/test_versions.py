"""The comparison of the outputs of two environments finds every difference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.results import netcdf
from tests.campaigns import versions
from tests.campaigns.versions import RELATIVE, differences

DATA = xr.Dataset(
    {
        "moment": ("time", [10.0, np.nan, 0.0]),
        "disagreement": ("time", [1e-14, 2e-14, 0.0]),
        "energy_closure": ("time", [1e-3, 2e-3, 0.0]),
    },
    coords={"side": ("time", ["left", "left", "right"])},
)


def difference(folder: Path, other: xr.Dataset) -> float:
    for name, data in (("one", DATA), ("other", other)):
        (folder / name / "derived").mkdir(parents=True)
        netcdf.save(folder / name / "derived" / "kinetics.nc", data)
    return differences(folder / "one", folder / "other")[0]


def test_equal_outputs_do_not_differ(tmp_path: Path) -> None:
    assert difference(tmp_path, DATA) == 2e-14  # the disagreement is rounding and counts as its size


def test_a_small_difference_of_powers_is_relative_to_powers(tmp_path: Path) -> None:
    assert difference(tmp_path, DATA.assign(energy_closure=DATA.energy_closure + 1e-11)) < RELATIVE


def test_neighbours_in_single_precision_do_not_differ() -> None:
    one = DATA.moment.astype(np.float32)
    next_one = one.copy(data=np.nextafter(one.values, np.float32(np.inf)))
    next_but_one = one.copy(data=np.nextafter(next_one.values, np.float32(np.inf)))
    assert versions.difference(one, next_one) == 0
    assert versions.difference(one, next_but_one) > RELATIVE
    assert versions.difference(one.astype(float), next_one.astype(float)) > RELATIVE


@pytest.mark.parametrize(
    "other",
    [
        DATA.assign(moment=DATA.moment + 1e-7),
        DATA.assign(moment=DATA.moment.fillna(0.0)),
        DATA.assign(disagreement=DATA.disagreement + 1e-7),
        DATA.assign(energy_closure=DATA.energy_closure + 1e-6),
        DATA.assign_coords(side=("time", ["left", "left", "left"])),
        DATA.drop_vars("moment"),
        DATA.isel(time=slice(2)),
    ],
    ids=["number", "gap", "rounding", "closure", "text", "variable", "frame"],
)
def test_differences_are_found(other: xr.Dataset, tmp_path: Path) -> None:
    assert difference(tmp_path, other) > RELATIVE
