"""The outputs follow the Climate and Forecast conventions, by the checker of IOOS; exceptions are named here."""

from __future__ import annotations

import functools
import inspect
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr
from cf_units import Unit
from compliance_checker.cf import util
from compliance_checker.suite import CheckSuite

from pipeline.conventions import IN_ONE_TRIAL as RAGGED
from pipeline.variables import schema
from tests.support.checkout import keep_rows
from tests.support.step_names import SESSION_STEPS
from tests.support.studies.small_study import write_outputs

SUITE = "cf:1.11"
TRIALS = tuple(step for step in SESSION_STEPS if step != "calibrate")
FILES = (*SESSION_STEPS, "representative", "study")
# The checker expects a coordinate named time to be a calendar time, in "seconds since" a date. A recording has no
# date: `time` counts seconds on its own axis.
PERMITTED = "Coordinate variable 'time' should have standard_name='time', found: 'None'"


@pytest.fixture(scope="module")
def derived(small_study: Path) -> Path:
    return small_study / "data/demo/derived"


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
    """Return all errors, warnings and recommendations of the checker for a file."""
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


@pytest.mark.parametrize("name", FILES)
def test_outputs_conform(name: str, derived: Path, suite: CheckSuite) -> None:
    (path,) = derived.rglob(f"{name}.nc")
    assert faults(suite, path) == ({PERMITTED} if name == "representative" else set())


def test_files_of_a_session_without_a_model_conform(suite: CheckSuite, tmp_path: Path) -> None:
    def remove_static_trial(study: Path) -> None:
        keep_rows(study, lambda row: "static" not in row)

    files = [*write_outputs(tmp_path, change=remove_static_trial).rglob("*.nc")]
    assert len(files) == len(FILES)
    for path in files:
        assert faults(suite, path) == ({PERMITTED} if path.stem == "representative" else set()), path.stem


def test_every_file_is_checked(derived: Path) -> None:
    assert {path.stem for path in derived.rglob("*.nc")} == {*FILES}


@pytest.mark.parametrize("step", TRIALS)
def test_trials_are_indexed_ragged_arrays(step: str, derived: Path) -> None:
    """CF section 9.3.4, which the checker does not check without a featureType."""
    with xr.open_dataset(derived / "sub-01" / f"{step}.nc", decode_times=False) as session:
        rejected = np.flatnonzero(session.rejected != "")
        assert len(rejected) == 1
        indexes = {name: array for name, array in session.variables.items() if "instance_dimension" in array.attrs}
        assert {f"{dim}_trial" for dim in RAGGED if dim in session.dims} == indexes.keys() != set()
        for name, index in indexes.items():
            assert index.dims == (str(name).removesuffix("_trial"),)
            assert session.sizes[index.attrs["instance_dimension"]] == (4 if step == "read" else 3)
            assert (np.diff(index.values) >= 0).all()
            assert not np.isin(rejected, index.values).any()
        if "time" in session.variables:
            assert ((np.diff(session.time) > 0) | (np.diff(session.sample_trial) > 0)).all()


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


def lost_coordinate(file: netCDF4.Dataset) -> None:
    file.renameVariable("sample_trial", "number")


@pytest.mark.parametrize(
    "damage", [wrong_units, no_names, too_few_meanings, no_conventions, backward_time, lost_coordinate]
)
def test_checker_finds_a_fault(
    damage: Callable[[netCDF4.Dataset], None], derived: Path, suite: CheckSuite, tmp_path: Path
) -> None:
    damaged = "representative" if damage is backward_time else "kinetics"
    path = Path(shutil.copy(derived / "sub-01" / f"{damaged}.nc", tmp_path))
    with netCDF4.Dataset(path, "a") as file:
        damage(file)
    assert faults(suite, path) - {PERMITTED}


def test_every_variable_has_a_long_name_and_units(derived: Path) -> None:
    """Text too, which the checker skips; numbers have units unless they are counts or flags."""
    for path in derived.rglob("*.nc"):
        with xr.open_dataset(path, decode_times=False) as file:
            for name, variable in file.variables.items():
                assert variable.attrs.get("long_name"), f"{path.name} {name}"
                assert "units" in variable.attrs or variable.dtype.kind in "OUSbi", f"{path.name} {name}"


def test_text_and_flags_are_stored_for_every_reader(derived: Path) -> None:
    """Text as characters, since older readers have no NetCDF-4 strings; no fill value on a coordinate."""
    for path in derived.rglob("*.nc"):
        with xr.open_dataset(path, decode_times=False) as decoded, netCDF4.Dataset(path) as file:
            assert not file.groups
            for name, variable in file.variables.items():
                assert variable.dtype is not str, name
                assert ("_FillValue" in variable.ncattrs()) == (
                    variable.dtype.kind == "f" and name not in decoded.coords
                ), name


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
