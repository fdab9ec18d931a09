"""Keys of jobs, provenance and records of outputs, without a run."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from pipeline.results.job_files import provenance
from pipeline.workflow import checksums
from pipeline.workflow.digests import sha256, sha256_of_files
from pipeline.workflow.job_keys import Study
from pipeline.workflow.settings import merged

OLD_S = 1_600_000_000
LOADS = {"walk.mot": "f" * 64, "walk.xml": "a" * 64}


def study(**sha256_of: str) -> Study:
    """Return a study of one walk with markers in a TRC file and forces in a MOT file."""
    row = {"participant_id": "p", "session": "s", "trial": "walk", "condition": "slow", "role": "gait"}
    row |= {"file": "walk.trc", "forces": "walk.mot"}
    return Study(Path(), {}, None, {"p": {"participant_id": "p"}}, {"s": [row]}, {}, sha256_of, {})


def test_a_key_changes_with_each_file_of_a_walk() -> None:
    """Also with the XML file that says which columns of the forces are which."""
    keys = [study(**LOADS).content_of_key("read", "s")]
    keys += [study(**LOADS | {name: "0" * 64}).content_of_key("read", "s") for name in LOADS]
    keys += [study(**{"walk.mot": LOADS["walk.mot"]}).content_of_key("read", "s")]
    assert len({json.dumps(key, sort_keys=True) for key in keys}) == 4


@pytest.mark.parametrize("step", ["read", "kinematics", "contacts"])
def test_a_key_has_the_libraries_that_write_its_output(step: str) -> None:
    assert {"numpy", "xarray", "netCDF4"} <= study(**LOADS).content_of_key(step, "s")["versions"].keys()


def test_an_output_names_the_corrections_of_its_inputs_and_its_own() -> None:
    before, own = {"kind": "hide_marker", "given": "LKNE"}, {"kind": "leave_out_cycle", "side": "left"}
    key = {"step": "cycles", "pipeline": "1", "session": "s", "settings": {}}
    key["by_trial"] = {"walk": {"corrections": [own]}}
    root = {"corrections": json.dumps([before])}
    assert json.loads(provenance(key, [root, root])["corrections"]) == [before, own]
    assert "corrections" not in provenance({**key, "by_trial": {}}, [{}])


def test_settings_are_merged_to_any_depth() -> None:
    default = {"contacts": {"limits": {"n": 1, "m": 2}, "kind": "plate"}, "clean": {"cutoffs": [1]}}
    chosen = {"contacts": {"limits": {"m": 3}}, "clean": {"cutoffs": None}}
    expected = {"contacts": {"limits": {"n": 1, "m": 3}, "kind": "plate"}, "clean": {"cutoffs": None}}
    assert merged(default, chosen) == expected
    assert default["contacts"]["limits"] == {"n": 1, "m": 2}  # type: ignore[index]


def test_a_file_that_was_changed_a_moment_ago_is_not_remembered_whatever_its_date(tmp_path: Path) -> None:
    """Copying tools set the date of the source; another change within a clock tick would be missed."""
    file, cache = tmp_path / "walk.c3d", tmp_path / "cache" / "sha256.json"
    file.write_text("first")
    os.utime(file, (OLD_S, OLD_S))
    assert time.time() - file.stat().st_ctime < 1
    assert sha256_of_files([file], cache=cache) == {file: sha256(file)}
    assert not cache.exists()


@pytest.mark.parametrize(("later_s", "differs"), [(60.0, True), (-60.0, True), (1.0, False)])
def test_an_output_of_another_date_than_its_record_is_looked_at(tmp_path: Path, later_s: float, differs: bool) -> None:
    """A copy of an older backup has an earlier date."""
    output = tmp_path / "study.nc"
    output.write_text("bytes")
    checksums.record(tmp_path, [output], inputs={}, key={})
    written_s = checksums.record_path(tmp_path, "study.nc").stat().st_mtime
    os.utime(output, (written_s + later_s, written_s + later_s))
    assert checksums.differs_in_date(tmp_path, "study.nc") == differs


def test_outputs_of_a_killed_job_are_told_from_those_of_another_program(tmp_path: Path) -> None:
    killed, foreign, changed, sound = (tmp_path / f"{name}.nc" for name in ("killed", "foreign", "changed", "sound"))
    checksums.begin(tmp_path, [killed, changed, sound])
    for output in (killed, foreign, changed, sound):
        output.write_text("bytes")
    checksums.record(tmp_path, [changed, sound], inputs={}, key={})
    changed.write_text("others")
    os.utime(changed, (OLD_S, OLD_S))
    names = [output.name for output in (killed, foreign, changed, sound)]
    found = checksums.state_of(tmp_path, names, cache=tmp_path / "cache.json")
    assert found == (["changed.nc"], ["foreign.nc"], ["killed.nc"])
