"""Session files on disk: checksums on everything, damage is always detected, complete or absent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.results import netcdf
from pipeline.workflow.open_study import SESSION_STEPS
from tests.support.outputs import write_outputs


@pytest.fixture(scope="module")
def derived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_outputs(tmp_path_factory.mktemp("house")) / "derived"


@pytest.mark.parametrize("name", [*(f"sub-01/{step}.nc" for step in SESSION_STEPS), "study.nc"])
def test_every_variable_and_coordinate_has_a_checksum(derived: Path, name: str) -> None:
    """HDF5 has no checksum for scalars: there must be none."""
    with netCDF4.Dataset(derived / name) as file:
        found = [
            (part.path, variable) for part in (file, *file.groups.values()) for variable in part.variables.values()
        ]
        assert "axis" in {variable.name for _, variable in found}  # coordinates are among them
        for path, variable in found:
            assert variable.ndim, (path, variable.name)
            assert variable.filters()["fletcher32"], (path, variable.name)


def large(seed: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.default_rng(seed).normal(size=20_000)


def of_one_large_array(where: str) -> xr.Dataset:
    """Return a dataset with nearly all its bytes in one variable or one coordinate."""
    if where == "variable":
        return xr.Dataset({"x": ("time", large(1))})
    return xr.Dataset({"x": ("few", [1.0])}, {"time": ("time", np.sort(large(2)))})


READERS: dict[str, Callable[[Path], object]] = {
    "load": netcdf.load,
    "load_tree": netcdf.load_tree,
    "load_some": lambda path: netcdf.load_some(path, ["x"]),
    "read_through": netcdf.read_through,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("where", ["variable", "coordinate"])
def test_no_flipped_bit_in_numbers_passes(tmp_path: Path, where: str, reader: str) -> None:
    """The middle half of the file holds only numbers."""
    path = tmp_path / "file.nc"
    netcdf.save(path, of_one_large_array(where))
    content = path.read_bytes()
    rng = np.random.default_rng(3)
    for place in rng.integers(len(content) // 4, 3 * len(content) // 4, 25):
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(flipped)
        with pytest.raises(UserError, match=r"file\.nc: damaged .*; remove it and run again"):
            READERS[reader](path)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_no_cut_file_passes(tmp_path: Path, share: float, reader: str) -> None:
    path = tmp_path / "file.nc"
    netcdf.save_tree(path, {"walk": of_one_large_array("variable")}, {"title": "x"})
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(UserError, match="remove it and run again"):
        READERS[reader](path)


def test_a_group_is_read_through_too(tmp_path: Path) -> None:
    """Reading one group does not detect damage in another; the check reads all groups."""
    path = tmp_path / "file.nc"
    groups = {"small": xr.Dataset({"x": ("few", [1.0])}), "large": of_one_large_array("variable")}
    netcdf.save_tree(path, groups, {"title": "x"})
    assert netcdf.read_through(path) == {"title": "x"}
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert float(netcdf.load_some(path, ["x"], trials={"small"})[0]["small"].x[0]) == 1.0
    with pytest.raises(UserError, match="damaged"):
        netcdf.load_some(path, ["x"])
    with pytest.raises(UserError, match="damaged"):
        netcdf.read_through(path)


def test_a_file_appears_complete_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file.nc"
    netcdf.save(path, of_one_large_array("variable"))
    before = path.read_bytes()
    broken = xr.Dataset({"x": ("time", large(4)), "y": ("time", np.array([object()] * 20_000))})
    with pytest.raises((TypeError, ValueError)):
        netcdf.save(path, broken)
    assert path.read_bytes() == before
    (tmp_path / ".file.nc.1.partial").write_bytes(b"left by a killed job")
    netcdf.save(path, of_one_large_array("coordinate"))
    assert [file.name for file in tmp_path.iterdir()] == ["file.nc"]


def test_equal_datasets_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("one.nc", "two.nc"):
        netcdf.save_tree(tmp_path / name, {"walk": of_one_large_array("coordinate")}, {"title": "x"})
    assert (tmp_path / "one.nc").read_bytes() == (tmp_path / "two.nc").read_bytes()


def test_trials_stay_in_the_order_of_the_table(tmp_path: Path) -> None:
    """With both readers: the rows of metrics.csv depend on it, and HDF5 would sort by name."""
    names = ["walk_2", "b", "walk_10", "a"]
    netcdf.save_tree(tmp_path / "clean.nc", {name: xr.Dataset({"x": ("time", [1.0])}) for name in names}, {})
    assert [*netcdf.load_tree(tmp_path / "clean.nc")[0]] == names
    assert [*netcdf.load_some(tmp_path / "clean.nc", ("x",))[0]] == names


def test_either_reader_gives_the_same(tmp_path: Path) -> None:
    """Attributes of every kind, text with and without ASCII, booleans; texts are not shared between readings."""
    about = {"a": "", "z": "Jyväskylä", "ascii": "N m", "int": 3, "float": 2.5, "nan": np.nan, "some": np.array([1, 2])}
    walk = xr.Dataset(
        {"x": (("side", "event"), np.zeros((2, 0))), "right": ("side", [False, True]), "n": ("side", [1, 2])},
        {"side": ["vänster", "höger"], "event": np.array([], "U4"), "reason": ("side", ["", "µ"])},
        about,
    )
    path = tmp_path / "clean.nc"
    netcdf.save_tree(path, {"b": walk, "a": walk.assign_coords(side=["left", "right"]).isel(side=[1])}, about)
    whole, some = netcdf.load_tree(path), netcdf.load_some(path, ["x", "right", "n"])
    assert repr([*some[1].items()]) == repr([*whole[1].items()]) == repr([*netcdf.read_through(path).items()])
    for name, group in some[0].items():
        xr.testing.assert_identical(group, whole[0][name])
        assert {each: group[each].dtype.kind for each in group.variables} == {
            each: whole[0][name][each].dtype.kind for each in group.variables
        }
    assert some[0]["b"].side.values.tolist() == ["vänster", "höger"]
    assert some[0]["a"].reason.values.tolist() == ["µ"]
    some[0]["b"].reason.values[0] = "changed"
    assert netcdf.load_some(path, ["x"])[0]["b"].reason.values.tolist() == ["", "µ"]
