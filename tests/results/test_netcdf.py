"""Files of results: values as saved, checksums on everything, damage always detected, complete or absent."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.results import netcdf
from pipeline.trials.session import join_trials
from tests.support.step_names import SESSION_OUTPUTS
from tests.support.studies.ragged_trials import SESSIONS

OF_A_SESSION = [*SESSION_OUTPUTS]


@pytest.fixture(scope="module")
def derived(small_study: Path) -> Path:
    return small_study / "data/demo/derived"


@pytest.mark.parametrize("name", [*(f"sub-01/{name}.nc" for name in OF_A_SESSION), "study.nc"])
def test_every_variable_and_coordinate_has_a_checksum(derived: Path, name: str) -> None:
    """HDF5 has no checksum for scalars: there must be none."""
    with netCDF4.Dataset(derived / name) as file:
        assert not file.groups
        assert "axis" in file.variables  # coordinates are among them
        for variable in file.variables.values():
            assert variable.ndim, variable.name
            assert variable.dtype is not str, f"{variable.name}: text of variable length has no checksum"
            assert variable.filters()["fletcher32"], variable.name


# --- values -----------------------------------------------------------------------------------------------------------


def saved(path: Path, dataset: xr.Dataset) -> xr.Dataset:
    netcdf.save(path / "file.nc", dataset)
    return netcdf.load(path / "file.nc")


def test_values_text_and_attributes_come_back(tmp_path: Path) -> None:
    """Attributes of every kind, text with and without ASCII, none at all, booleans."""
    about = {"a": "", "z": "Jyväskylä", "ascii": "N m", "int": 3, "float": 2.5, "nan": np.nan, "some": np.array([1, 2])}
    data = xr.Dataset(
        {
            "x": (("side", "event"), np.zeros((2, 0))),
            "number": ("side", np.array([1, 2], dtype=np.int32), {"units": "N m", "long_name": "Größe"}),
            "flag": ("side", np.array([-1, 7], dtype=np.int8)),
            "missing": ("side", [np.nan, 1.5]),
        },
        {
            "side": ["vänster", "höger"],
            "event": np.array([], dtype="U4"),
            "reason": ("side", ["", "µ"]),
            "valid": ("side", [False, True]),
            "blank": ("side", ["", ""]),
        },
        about,
    )
    found = saved(tmp_path, data)
    xr.testing.assert_identical(found, data)
    assert repr([*netcdf.attributes(tmp_path / "file.nc").items()]) == repr([*found.attrs.items()])
    for name, variable in data.variables.items():
        if variable.dtype.kind != "U":
            assert found[name].dtype == variable.dtype, name
        else:
            assert all(isinstance(text, str) for text in found[name].values.tolist())
    xr.testing.assert_identical(saved(tmp_path, found), data)


def described(path: Path) -> list[Any]:
    """Return all that a file holds, in its order, but for the place of each part in the file."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        found: list[Any] = [file.ncattrs(), *(repr(file.getncattr(name)) for name in file.ncattrs())]
        found += [(name, len(dim), dim.isunlimited()) for name, dim in file.dimensions.items()]
        for name, one in file.variables.items():
            about = {each: repr(one.getncattr(each)) for each in one.ncattrs()}
            values = one[...]
            content = values.tolist() if values.dtype == object else sha256(values.tobytes()).hexdigest()
            found.append((name, one.dtype, one.dimensions, one.chunking(), one.filters(), about, content))
    return found


def test_a_file_is_what_xarray_writes(tmp_path: Path, derived: Path) -> None:
    """A second writer of the same rules: of CF for coordinates, of xarray for text and flags."""
    for name in OF_A_SESSION:
        data = netcdf.load(derived / f"sub-01/{name}.nc").drop_encoding()
        encoding: dict[Any, dict[str, Any]] = {}
        for each, variable in data.variables.items():
            stored = encoding[each] = {"fletcher32": True}
            if variable.dtype.kind in "UO":
                stored["dtype"] = "S1"
            elif each in data.coords:
                stored["_FillValue"] = None
        texts = {each: one.astype(str) for each, one in data.variables.items() if one.dtype == object}
        as_text = data.assign({each: one for each, one in texts.items() if not one.size})[[*data.data_vars]]
        as_text = as_text.assign_attrs(data.attrs, some=np.array([1, 2]), note="Jyväskylä")
        as_text.to_netcdf(tmp_path / "xarray.nc", engine="netcdf4", encoding=encoding)
        netcdf.save(tmp_path / "own.nc", as_text)
        assert str(described(tmp_path / "own.nc")) == str(described(tmp_path / "xarray.nc")), name


def test_missing_samples_are_nan_and_coordinates_have_no_fill_value(tmp_path: Path) -> None:
    netcdf.save(tmp_path / "file.nc", xr.Dataset({"x": ("time", [np.nan, 1.0])}, {"time": [0.0, 0.1]}))
    with netCDF4.Dataset(tmp_path / "file.nc") as file:
        assert np.isnan(file["x"]._FillValue)
        assert "_FillValue" not in file["time"].ncattrs()
        file.set_auto_mask(False)
        assert np.isnan(file["x"][:]).tolist() == [True, False]


def test_single_precision_becomes_double(tmp_path: Path) -> None:
    """On disk it stays single; so does no calculation with it."""
    values = np.array([0.1, np.nan, 1e-30], dtype=np.float32)
    data = xr.Dataset({"x": ("time", values, {"units": "m"})}, {"cutoff_hz": ("time", values)})
    found = saved(tmp_path, data)
    for name in ("x", "cutoff_hz"):
        assert found[name].dtype == np.float64
        np.testing.assert_array_equal(found[name], values.astype(float))
    assert found.x.attrs == {"units": "m"}
    with netCDF4.Dataset(tmp_path / "file.nc") as file:
        assert {file[name].dtype for name in ("x", "cutoff_hz")} == {np.dtype(np.float32)}


def test_what_another_program_has_packed_is_unpacked(tmp_path: Path) -> None:
    """R and NCO write a file again with numbers as small integers, and with fill values of their own."""
    packed: dict[str, dict[str, Any]] = {
        "x": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -1},
        "y": {"_FillValue": 1e30},
    }
    data = xr.Dataset({"x": ("time", [0.5, np.nan, 4.0]), "y": ("time", [np.nan, 2.0, 3.0], {"units": "m"})})
    data["n"] = "time", np.array([1, 2, 3], dtype=np.int32)
    data.to_netcdf(tmp_path / "file.nc", encoding=packed)
    found = netcdf.load(tmp_path / "file.nc", rows={"time": slice(1, 3)})
    xr.testing.assert_identical(found, data.isel(time=slice(1, 3)))
    assert (found.x.dtype, found.n.dtype) == (np.float64, np.int32)


def test_the_named_variables_are_read_with_their_coordinates_and_the_values_of_trials(tmp_path: Path) -> None:
    session = join_trials(SESSIONS["middle rejected"])
    netcdf.save(tmp_path / "file.nc", session)
    found = netcdf.load(tmp_path / "file.nc", ("joint_moment", "of another version"))
    of_trials = {name for name, variable in session.variables.items() if variable.dims == ("trial",)}
    assert set(found.data_vars) == {"joint_moment"} | (of_trials & set(session.data_vars))
    along = {name for name, one in session.coords.items() if {*one.dims} <= {"trial", *session.joint_moment.dims}}
    assert {"time", "sample_trial", "rejected"} <= along
    assert set(found.coords) == along
    xr.testing.assert_identical(found.joint_moment, netcdf.load(tmp_path / "file.nc").joint_moment)


@pytest.mark.parametrize("trials", SESSIONS.values(), ids=SESSIONS)
def test_equal_datasets_give_equal_bytes(trials: dict[str, xr.Dataset], tmp_path: Path) -> None:
    for name in ("one.nc", "two.nc"):
        netcdf.save(tmp_path / name, join_trials(trials).assign_attrs(title="x"))
    assert (tmp_path / "one.nc").read_bytes() == (tmp_path / "two.nc").read_bytes()


# --- damage -----------------------------------------------------------------------------------------------------------


def large(seed: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.default_rng(seed).normal(size=20_000)


def of_one_large_array(where: str) -> xr.Dataset:
    """Return a dataset with nearly all its bytes in one variable or one coordinate."""
    if where == "variable":
        return xr.Dataset({"x": ("time", large(1))})
    return xr.Dataset({"x": ("time", np.zeros(20_000, np.int8))}, {"time": ("time", np.sort(large(2)))})


READERS: dict[str, Callable[[Path], object]] = {
    "load": netcdf.load,
    "load by name": lambda path: netcdf.load(path, ["x"]),
    "attributes": netcdf.attributes,
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
    netcdf.save(path, of_one_large_array("variable").assign_attrs(title="x"))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(UserError, match="remove it and run again"):
        READERS[reader](path)


def test_attributes_are_given_after_all_values_were_read(tmp_path: Path) -> None:
    """Reading one variable does not detect damage in another; the check reads all."""
    path = tmp_path / "file.nc"
    data = of_one_large_array("variable").assign(small=("few", [1.0]))
    netcdf.save(path, data.assign_attrs(title="x"))
    assert netcdf.attributes(path) == {"title": "x"}
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert netcdf.load(path, ["small"]).small.values.tolist() == [1.0]
    with pytest.raises(UserError, match="damaged"):
        netcdf.attributes(path)


def test_a_file_appears_complete_or_not_at_all(tmp_path: Path) -> None:
    """``tests/workflow/test_faults.py`` kills the writing process, and fills its disk."""
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


@pytest.mark.parametrize("names", [("a", "a long name"), ("a long name", "a")])
def test_joined_texts_are_whole_whichever_part_has_the_longest(tmp_path: Path, names: tuple[str, str]) -> None:
    parts = [tmp_path / f"{number}.nc" for number in range(2)]
    for part, name in zip(parts, names, strict=True):
        netcdf.save(part, xr.Dataset({"value": ("cycle", [1.0])}, {"person": ("cycle", [name])}))
    netcdf.join(tmp_path / "both.nc", parts, along=["cycle"], attributes={})
    assert netcdf.load(tmp_path / "both.nc").person.values.tolist() == [*names]
