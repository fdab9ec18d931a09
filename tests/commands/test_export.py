"""study.nc is opened and exported, and the statistics of the examples find the effects built into it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import pipeline
from pipeline.__main__ import main
from pipeline.commands.export.command import export_as
from pipeline.commands.export.long_table import long_table
from pipeline.commands.shared.exported_files import MADE_FROM, sidecar
from pipeline.demo.group import group_study
from pipeline.errors import UserError
from pipeline.results import netcdf
from pipeline.results.averages import mean_curves
from pipeline.results.study_file import load_study
from pipeline.tables.csv_files import csv_of
from pipeline.variables.cycle_variables import KINETICS, STANCE
from pipeline.variables.data_dictionary import as_json, data_dictionary
from pipeline.workflow.digests import sha256
from tests.support.walks.person import close

ANKLE = {"joint": "ankle", "angle": "flexion"}
METRIC = "peak_ankle_plantarflexor_moment"
PEOPLE = 12
PERCENT = np.arange(101.0)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Return a study's directory: three cycles lack kinetics, and there is a curve of other dimensions."""
    made = group_study(participants=3)
    unknown = made.cycle < 3
    made["joint_moment_jcs"] = made.joint_moment_jcs.where(~unknown).assign_attrs(made.joint_moment_jcs.attrs)
    made["kinetics_valid"] = ~unknown
    made["ground_force"] = made.joint_moment_jcs[:, 0, 0] * xr.DataArray([1, 2, 3], {"axis": list("xyz")})
    made["ground_force"] = made.ground_force.transpose("cycle", "axis", "phase").assign_attrs(units="N kg-1")
    made = made.assign(
        joint_power_of_stance=(("stance", "stance_phase"), np.outer([1.0, 2, 3], np.arange(101.0)), {"units": "W kg-1"})
    ).assign_coords(
        {f"{name}_of_stance": ("stance", made[name].values[:3]) for name in ("participant", "condition", "side")}
        | {"cycle_of_stance": ("stance", [0, -1, -1]), "stance": range(3), "stance_phase": PERCENT}
    )
    netcdf.save(tmp_path / "derived" / "study.nc", made)
    return tmp_path


# --- opening ----------------------------------------------------------------------------------------------------------


def test_study_is_opened_with_units_by_file_or_directory(stored: Path) -> None:
    study = pipeline.load_study(stored)
    assert study.joint_moment_jcs.attrs["units"] == "N m kg-1"
    assert study.phase.attrs["units"] == "percent"
    xr.testing.assert_identical(study, load_study(str(stored / "derived" / "study.nc")))


def test_kinetics_only_leaves_out_the_other_cycles(stored: Path) -> None:
    whole, known = load_study(stored), load_study(stored, kinetics_only=True)
    assert known.sizes["cycle"] == whole.sizes["cycle"] - 3
    assert known.joint_moment_jcs.notnull().all()
    assert known.joint_moment_jcs.attrs == whole.joint_moment_jcs.attrs


def test_stances_have_the_names_of_cycles(stored: Path) -> None:
    stances = load_study(stored, part="stance")
    assert {*stances.data_vars} == {"joint_power"}
    assert stances.joint_power.dims == ("stance", "stance_phase")
    assert not {"stance", "stance_phase"} & {*load_study(stored).dims}
    means = mean_curves(stances.joint_power)
    assert means.dims == ("participant", "side", "condition", "stance_phase")
    assert float(means.isel(stance_phase=1).mean()) == pytest.approx(2)
    netcdf.save(stored / "earlier.nc", group_study(participants=3))
    with pytest.raises(UserError, match=r"earlier.nc: has no stances; .* run the workflow again"):
        load_study(stored / "earlier.nc", part="stance")


def test_other_files_than_a_study_are_refused(stored: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere.* no such file; create it with: gaitlab run"):
        load_study(stored / "nowhere")
    netcdf.save(stored / "other.nc", xr.Dataset({"x": ("time", [1.0])}))
    with pytest.raises(UserError, match=r"other.nc: not a study.nc"):
        load_study(stored / "other.nc")
    with pytest.raises(AttributeError, match="load_studies"):
        _ = pipeline.load_studies


def test_participant_means_weigh_people_not_cycles() -> None:
    curve = xr.DataArray(
        np.array([[1.0], [2], [3], [10], [20]]) * [1, 2],
        dims=("cycle", "phase"),
        coords={
            "participant": ("cycle", ["b", "b", "b", "a", "a"]),
            "side": ("cycle", ["left", "left", "left", "left", "right"]),
            "condition": ("cycle", ["slow", "slow", "fast", "slow", "slow"]),
        },
        attrs={"units": "m"},
    )
    means = mean_curves(curve)
    assert means.dims == ("participant", "side", "condition", "phase")
    assert means.attrs == {"units": "m"}
    close(means.sel(participant="b", side="left", condition="slow"), [1.5, 3])
    close(means.sel(participant="a", side="right", condition="slow"), [20, 40])
    assert means.isnull().all("phase").sum() == 8 - 4
    close(means.sel(condition="slow").mean("side").mean("participant"), [(1.5 + 15) / 2, 16.5])


# --- the long table ---------------------------------------------------------------------------------------------------


def test_long_table_is_the_study_again(stored: Path) -> None:
    study = load_study(stored)
    table = long_table(study)
    assert len(table) == sum(variable.size for variable in study.data_vars.values())
    assert [*table.columns] == [
        "cycle", "stance", "participant", "condition", "side", "kinetics_valid",
        "variable", "joint", "angle", "axis", "phase", "value", "doubted_value", "units",
    ]  # fmt: skip
    force = table[table.variable == "ground_force"]
    assert force.joint.isna().all()
    again = force.set_index(["cycle", "axis", "phase"]).value.to_xarray()
    close(again, study.ground_force)
    metric = table[table.variable == METRIC].set_index("cycle")
    assert metric.phase.isna().all()
    used = study.kinetics_valid.values  # a peak of a moment that is not used has a column of its own
    close(metric.value, study[METRIC].where(used))
    close(metric.doubted_value, study[METRIC].where(~used))
    assert (metric.participant == study.participant.values).all()
    assert table.stance.isna().all()
    assert set(table[table.variable == "joint_moment_jcs"].units) == {"N m kg-1"}


def test_long_table_has_stances_without_a_cycle(stored: Path) -> None:
    study, stances = load_study(stored), load_study(stored, part="stance")
    table = long_table(study, stances)
    assert table.iloc[: len(long_table(study))].stance.isna().all()
    alone = table[table.cycle.isna()]
    assert [*alone.stance.unique()] == [1, 2]
    assert alone.phase.isna().all()
    close(alone.set_index(["stance", "stance_phase"]).value.to_xarray(), stances.joint_power[1:])
    assert (alone[alone.stance == 2].participant == str(stances.participant.values[2])).all()
    assert alone.kinetics_valid.all()


def test_export_writes_the_same_table_in_both_forms(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("csv", "parquet"):
        assert main(["export", str(stored), "--format", form]) == 0
        assert f"study.{form}" in capsys.readouterr().out
    text = pd.read_csv(stored / "derived" / "study.csv")
    binary = pd.read_parquet(stored / "derived" / "study.parquet")
    pd.testing.assert_frame_equal(text, binary, check_dtype=False, check_categorical=False)
    kinetic = text.variable.isin(KINETICS) & text.cycle.lt(3)  # three cycles without kinetics, with other metrics
    assert text.value.isna().equals(kinetic)


def source_of(table: Path) -> str:
    """Return the SHA-256 of the study.nc that an exported table was made from."""
    return str(json.loads(sidecar(table).read_text(encoding="utf-8"))[MADE_FROM]["study.nc"])


def test_an_export_names_the_study_that_it_was_made_from(stored: Path) -> None:
    """So that it is seen to be stale after the study has changed; the file next to it describes each column."""
    for form in ("csv", "parquet"):
        export_as(stored, form=form)
        table = stored / "derived" / f"study.{form}"
        assert source_of(table) == sha256(stored / "derived" / "study.nc")
        about = json.loads(table.with_name(f"{table.name}.json").read_text())
        assert {*pd.read_csv(stored / "derived" / "study.csv").columns} == {*about} - {"SourceSHA256"}
        assert about["variable"]["Levels"]["joint_moment_jcs"]
    netcdf.save(stored / "derived" / "study.nc", load_study(stored).isel(cycle=slice(4)))
    assert source_of(table) != sha256(stored / "derived" / "study.nc")


def test_an_export_has_six_digits_of_results_and_all_of_given_numbers(stored: Path) -> None:
    study = netcdf.load(stored / "derived" / "study.nc")
    mass = {
        f"mass_kg{of}": (dim, np.full(study.sizes[dim], 70.1234567)) for dim, of in (("cycle", ""), ("stance", STANCE))
    }
    netcdf.save(stored / "derived" / "study.nc", study.assign_coords(mass))
    export_as(stored, form="csv")
    text = (stored / "derived" / "study.csv").read_text()
    assert text.count(",70.1234567,") == len(text.splitlines()) - 1
    cells = pd.read_csv(io.StringIO(text), dtype=str).value.dropna()
    assert max(len(cell.partition("e")[0].lstrip("-0.").replace(".", "")) for cell in cells) == 6


def test_tables_become_parquet_by_participant(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers are numbers although a cell is empty, labels are text although they look like numbers."""
    derived = stored / "derived"
    study = netcdf.load(derived / "study.nc")
    netcdf.save(derived / "study.nc", study.assign_coords(mass_kg=("cycle", np.full(study.sizes["cycle"], 70.5))))
    metrics = pd.DataFrame(
        {"participant": ["p 1", "p 1", "007"], "trial": ["=1+1", "02", "03"], "mass_kg": [70.5] * 3}
        | {METRIC: [1.25, np.nan, 3]}
    )
    quality = pd.DataFrame({"participant": ["p 1", "007"], "plates": ["1", ""], "start_s": [0.5, np.nan]})
    for name, table in {"metrics": metrics, "quality": quality}.items():
        (derived / f"{name}.csv").write_bytes(csv_of(table))
        (derived / f"{name}.json").write_bytes(as_json(data_dictionary(name, map(str, table.columns))))
    export_as(stored, form="parquet-tables")
    folders = [derived / f"{name}.parquet" for name in ("metrics", "quality")]
    found = pd.read_parquet(folders[0], filters=[("participant", "==", "p 1")])
    assert found.trial.tolist() == ["=1+1", "02"]
    np.testing.assert_array_equal(found[METRIC], [1.25, np.nan])
    assert found.mass_kg.tolist() == [70.5, 70.5]
    assert pd.read_parquet(folders[1], filters=[("participant", "==", "007")]).start_s.isna().tolist() == [True]
    assert source_of(folders[0]) == sha256(derived / "study.nc")
    files = {file.relative_to(derived): file.read_bytes() for file in derived.rglob("*.parquet") if file.is_file()}
    assert len(files) == 4
    export_as(stored, form="parquet-tables")
    assert {file: (derived / file).read_bytes() for file in files} == files
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(UserError, match="needs pyarrow"):
            export_as(stored, form="parquet-tables")
    (derived / "quality.csv").unlink()
    with pytest.raises(UserError, match=r"quality\.csv: no such file"):
        export_as(stored, form="parquet-tables")


def test_export_reports_mistakes(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(stored / "nowhere")]) == 1
    assert main(["export", str(stored), "--output", str(stored / "no" / "folder.csv")]) == 1
    missing, unwritable = capsys.readouterr().err.splitlines()
    assert "no such file" in missing
    assert "cannot be written" in unwritable
