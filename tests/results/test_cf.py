"""The outputs follow the Climate and Forecast conventions, by the checker of IOOS; exceptions are named here.

The checker does not look into groups: each group goes into a flat file of its own, with the attributes of the root.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr
from cf_units import Unit
from compliance_checker.cf import util
from compliance_checker.suite import CheckSuite

from pipeline.results import schema
from pipeline.workflow.open_study import SESSION_STEPS
from tests.support.outputs import write_outputs

SUITE = "cf:1.11"
# The checker expects a coordinate named time to be a calendar time, in "seconds since" a date. A recording has no
# date: `time` counts seconds on its own axis.
PERMITTED = "Coordinate variable 'time' should have standard_name='time', found: 'None'"


@pytest.fixture(scope="module")
def derived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_outputs(tmp_path_factory.mktemp("house")) / "derived"


@pytest.fixture(scope="module")
def suite() -> Iterator[CheckSuite]:
    """Return the checker with its functions cached: 1 s instead of 18 for a file of 90 variables."""
    CheckSuite.load_all_available_checkers()
    with pytest.MonkeyPatch.context() as patch:
        for name, function in inspect.getmembers(util, inspect.isfunction):
            if function.__module__ == util.__name__ and [*inspect.signature(function).parameters] in (["nc"], ["ds"]):
                patch.setattr(util, name, functools.lru_cache(function))
        yield CheckSuite()


def faults(suite: CheckSuite, path: Path) -> set[str]:
    """Return all errors, warnings and recommendations of the checker for a flat file."""
    dataset = suite.load_dataset(str(path))
    ((results, broken),) = suite.run_all(dataset, [SUITE]).values()
    dataset.close()
    assert broken == {}, "a check of the checker itself fell over"
    assert len(results) > 5, "too few checks ran"
    found, waiting = set(), list(results)
    while waiting:
        result = waiting.pop()
        waiting += result.children or []
        got, of = result.value if isinstance(result.value, tuple) else (int(result.value), 1)
        if got < of and not result.children:
            found |= set(result.msgs) or {result.name}
    return found


def groups_of(file: netCDF4.Dataset) -> dict[str, netCDF4.Dataset]:
    return dict(file.groups) or {"": file}


def flat_files(path: Path, folder: Path) -> dict[str, Path]:
    """Copy each group of a file, as stored, into a flat one."""
    with netCDF4.Dataset(path) as file:
        root = {name: file.getncattr(name) for name in file.ncattrs()}
        groups = groups_of(file)
        for name, group in groups.items():
            with netCDF4.Dataset(folder / f"{name}.nc", "w") as target:
                target.setncatts(root | {key: group.getncattr(key) for key in group.ncattrs()})
                copy(group, target)
        return {name: folder / f"{name}.nc" for name in groups}


def copy(group: netCDF4.Dataset, target: netCDF4.Dataset) -> None:
    group.set_auto_maskandscale(False)
    group.set_auto_chartostring(False)
    for name, dimension in group.dimensions.items():
        target.createDimension(name, len(dimension))
    for name, variable in group.variables.items():
        attributes = {key: variable.getncattr(key) for key in variable.ncattrs()}
        fill = attributes.pop("_FillValue", False)
        stored = target.createVariable(name, variable.dtype, variable.dimensions, fill_value=fill)
        stored.setncatts(attributes)
        stored.set_auto_maskandscale(False)
        stored.set_auto_chartostring(False)
        stored[...] = variable[...]


@pytest.mark.parametrize("step", [*SESSION_STEPS, "study"])
def test_outputs_conform(step: str, derived: Path, suite: CheckSuite, tmp_path: Path) -> None:
    groups = flat_files(next(derived.rglob(f"{step}.nc")), tmp_path)
    assert len(groups) == {"read": 4, "calibrate": 1, "study": 1}.get(step, 3)  # static, two walks, a rejected one
    for name, path in groups.items():
        with netCDF4.Dataset(path) as file:
            permitted = {PERMITTED} if "time" in file.variables else set()
        assert faults(suite, path) == permitted, name


def wrong_units(file: netCDF4.Dataset) -> None:
    file["joint_moment"].units = "newtonmetres"


def no_names(file: netCDF4.Dataset) -> None:
    file["joint_power"].delncattr("long_name")


def too_few_meanings(file: netCDF4.Dataset) -> None:
    file["missing"].flag_meanings = "known segment_not_seen"


def no_conventions(file: netCDF4.Dataset) -> None:
    file.delncattr("Conventions")


def backward_time(file: netCDF4.Dataset) -> None:
    file["time"][:] = file["time"][::-1].copy() * np.where(np.arange(len(file["time"])) % 2, 1, 2)


@pytest.mark.parametrize("damage", [wrong_units, no_names, too_few_meanings, no_conventions, backward_time])
def test_checker_finds_a_fault(
    damage: Callable[[netCDF4.Dataset], None], derived: Path, suite: CheckSuite, tmp_path: Path
) -> None:
    path = flat_files(derived / "sub-01" / "kinetics.nc", tmp_path)["fast_01"]
    with netCDF4.Dataset(path, "a") as file:
        damage(file)
    assert faults(suite, path) - {PERMITTED}


def test_every_variable_has_a_long_name_and_units(derived: Path) -> None:
    """Text too, which the checker skips; numbers have units unless they are counts or flags."""
    for path in derived.rglob("*.nc"):
        with xr.open_datatree(path) as tree:
            for node in tree.subtree:
                for name, variable in node.variables.items():
                    assert variable.attrs.get("long_name"), f"{path.name} {name}"
                    assert "units" in variable.attrs or variable.dtype.kind in "OUSbi" or not variable.size, name


def test_text_and_flags_are_stored_for_every_reader(derived: Path) -> None:
    """Text as characters, since older readers have no NetCDF-4 strings; no fill value on a coordinate."""
    for path in derived.rglob("*.nc"):
        with xr.open_datatree(path) as tree, netCDF4.Dataset(path) as file:
            for place, group in groups_of(file).items():
                coordinates = tree[place or "/"].coords
                for name, variable in group.variables.items():
                    assert variable.dtype is not str, name
                    assert ("_FillValue" in variable.ncattrs()) == (
                        variable.dtype.kind == "f" and name not in coordinates
                    )


def test_every_unit_is_valid() -> None:
    """Optional variables and metrics too."""
    units = {variable.units for table in schema.VARIABLES.values() for variable in table.values()}
    units |= {unit for unit, _ in schema.COORDINATES.values()}
    units |= set(schema.COLUMN_UNITS.values())
    assert len(units) > 15
    for unit in units - {""}:
        Unit(unit)  # raises where UDUNITS does not know it
    with pytest.raises(ValueError, match="Failed to parse"):
        Unit("body weights")
