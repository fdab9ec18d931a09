"""Results in memory: what the files have, only as long as the files are what was written."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.results import just_written, netcdf
from pipeline.step import every_step
from pipeline.workflow.jobs import run_job
from pipeline.workflow.open_study import open_study
from tests.support.step_names import SESSION_OUTPUTS

LOADED = [(output, None) for output in SESSION_OUTPUTS] + [
    (name, names)
    for step in every_step().values()
    for name in step.inputs
    if name in SESSION_OUTPUTS and (names := step.loaded(name))
]


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(just_written, "_known", {})


@pytest.mark.parametrize(("name", "names"), LOADED)
def test_memory_gives_what_the_file_gives(
    small_study: Path, tmp_path: Path, name: str, names: tuple[str, ...] | None
) -> None:
    """A reader cannot tell them apart: order, types, text, and the order of numbers in memory, on which sums depend."""
    shown = netcdf.load(small_study / f"data/demo/derived/sub-01/{name}.nc")
    turned = {
        key: one.copy(data=np.asfortranarray(one.values).astype(str if one.dtype == object else one.dtype))
        for key, one in shown.variables.items()
    }
    given = xr.Dataset(turned, attrs=shown.attrs).set_coords([*shown.coords])
    netcdf.save(tmp_path / "file.nc", given)
    read, kept = netcdf.load(tmp_path / "file.nc", names), netcdf.select(netcdf.as_loaded(given), names)
    xr.testing.assert_identical(kept, read)
    for part in ("variables", "coords", "data_vars", "attrs", "indexes"):
        assert [*getattr(kept, part)] == [*getattr(read, part)]
    assert [*map(type, kept.attrs.values())] == [*map(type, read.attrs.values())]
    for key, variable in read.variables.items():
        values = kept.variables[key].values
        assert (values.dtype, values.flags.c_contiguous) == (variable.dtype, True), key
        assert [*map(type, values.ravel()[:1].tolist())] == [*map(type, variable.values.ravel()[:1].tolist())], key


@pytest.mark.parametrize("value", ["text", 3, 2.5, [3], [1.5, 2.0], ["a"], ["a", "b"]])
def test_memory_gives_the_attributes_that_the_file_gives(tmp_path: Path, value: Any) -> None:
    given = xr.Dataset({"x": ("time", np.zeros(2))}, attrs={"about": value})
    netcdf.save(tmp_path / "file.nc", given)
    read, kept = (data.attrs["about"] for data in (netcdf.load(tmp_path / "file.nc"), netcdf.as_loaded(given)))
    assert (type(kept), np.asarray(kept).dtype) == (type(read), np.asarray(read).dtype)
    np.testing.assert_array_equal(kept, read)


@pytest.fixture
def job(small_study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Return what runs a step of a session in a copy of a study."""
    study = Path(shutil.copytree(small_study / "data/demo", tmp_path / "study"))
    monkeypatch.chdir(study)
    opened, folder = open_study(Path()), Path("derived/sub-01")

    def run(step: str) -> None:
        inputs = {name: [folder / f"{name}.nc"] for name in every_step()[step].inputs}
        key = opened.key(step)(type("Wildcards", (), {"session": "sub-01"}))
        run_job.run(key, inputs, {step: [folder / f"{step}.nc"]})

    return run


def read_from_disk(path: Path, *_: object) -> xr.Dataset:
    raise AssertionError(f"{path} is read")


def test_a_job_reads_no_file_that_this_process_has_just_written(
    job: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    job("calibrate")
    job("clean")
    before = Path("derived/sub-01/kinematics.nc").read_bytes()
    monkeypatch.setattr(netcdf, "load", read_from_disk)
    job("kinematics")
    assert Path("derived/sub-01/kinematics.nc").read_bytes() == before


def test_a_job_reads_no_file_that_a_job_of_this_process_has_read(
    job: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    job("kinematics")  # which reads a part of the variables of clean.nc
    before = Path("derived/sub-01/contacts.nc").read_bytes()
    monkeypatch.setattr(netcdf, "load", read_from_disk)
    job("contacts")  # which needs all of them
    assert Path("derived/sub-01/contacts.nc").read_bytes() == before


@pytest.mark.parametrize("step", ["contacts", "kinetics"])
def test_a_file_that_was_read_and_then_changed_is_refused(job: Callable[[str], Any], step: str) -> None:
    job(step)
    clean, contacts = (Path(f"derived/sub-01/{name}.nc") for name in ("clean", "contacts"))
    changed = clean if step == "contacts" else contacts
    changed.write_bytes(changed.read_bytes() + b"\0")
    with pytest.raises(UserError, match=rf"{changed.name}: damaged"):
        job(step)


@pytest.mark.parametrize("name", SESSION_OUTPUTS)
def test_what_is_kept_of_a_file_is_what_it_has_and_cannot_be_written_to(small_study: Path, name: str) -> None:
    file = small_study / f"data/demo/derived/sub-01/{name}.nc"
    kept = netcdf.as_read_only(netcdf.load(file))
    xr.testing.assert_identical(kept, netcdf.load(file))
    assert not any(one.values.flags.writeable for one in kept.data_vars.values() if one.dims)


def test_a_large_file_is_read_in_part(job: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(just_written, "MOST_BYTES", 0)
    job("kinematics")
    assert not just_written._known


def test_a_file_that_was_changed_since_is_refused(job: Callable[[str], Any]) -> None:
    job("clean")
    clean = Path("derived/sub-01/clean.nc")
    clean.write_bytes(clean.read_bytes() + b"\0")
    with pytest.raises(UserError, match=r"clean\.nc: damaged"):
        job("contacts")


def test_a_file_that_was_replaced_with_its_record_is_read(
    job: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by another program that does all of its own."""
    job("clean")
    monkeypatch.setattr(netcdf, "load", read_from_disk)
    Path("derived/checksums/sub-01/clean.nc.sha256").unlink()
    clean = Path("derived/sub-01/clean.nc")
    clean.write_bytes(clean.read_bytes() + b"\0")
    with pytest.raises(AssertionError, match=r"clean\.nc is read"):
        job("contacts")


def test_the_oldest_results_are_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    data = xr.Dataset({"x": ("time", np.zeros(100))})
    monkeypatch.setattr(just_written, "MOST_BYTES", 2.5 * data.nbytes)
    for number in range(4):
        with just_written.known({}):
            just_written.save(tmp_path / f"{number}.nc", data)
            just_written.keep({tmp_path / f"{number}.nc": str(number)})
    assert [*just_written._known] == ["2", "3"]


def test_nothing_is_kept_of_what_no_job_has_checked(tmp_path: Path) -> None:
    data = xr.Dataset({"x": ("time", np.zeros(2))})
    just_written.save(tmp_path / "file.nc", data)
    just_written.keep({tmp_path / "file.nc": "0"})
    assert not just_written._known


def test_what_is_in_memory_cannot_be_written_to() -> None:
    """A step that changed its input would change it for all later ones."""
    kept = netcdf.select(netcdf.as_loaded(xr.Dataset({"x": ("time", np.zeros(2))})), None)
    with pytest.raises(ValueError, match="read-only"):
        kept.x.values[0] = 1.0
