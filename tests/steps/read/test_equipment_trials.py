"""Trials of role equipment: what a pole shows of the plates reaches every file and the report, and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.results import netcdf
from tests.support.plates.pressed_pole import pressed_pole
from tests.support.step_names import SESSION_STEPS
from tests.support.studies.small_study import write_outputs, write_report

WALK = "fast_01"


def add_trials(study: Path) -> None:
    """Add a sound plate, one that is 20 mm off, and a walk that is called equipment, all before the walks."""
    sound, off = pressed_pole(4), pressed_pole(5)
    sound.write(study / "sub-01" / "sound.c3d")
    off.with_corners(off.plates[off.plate].corners + np.array([0.02, 0, 0])).write(study / "sub-01" / "off.c3d")
    shutil.copy(study / "sub-01" / f"{WALK}.c3d", study / "sub-01" / "person.c3d")
    table = study / "trials.tsv"
    header, *rows = table.read_text().splitlines(keepends=True)
    new = [f"sub-01\t{name}\tsub-01/{name}.c3d\tequipment\tn/a\n" for name in ("sound", "off", "person")]
    table.write_text("".join([header, *new, *rows]))


@pytest.fixture(scope="module")
def studies(small_study: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return results of a study without such trials and with them."""
    tested = write_outputs(tmp_path_factory.mktemp("with"), change=add_trials)
    return [small_study / "data" / "demo", write_report(tested)]


def test_the_verdicts_are_in_every_file(studies: list[Path]) -> None:
    for name in (*(f"sub-01/{step}" for step in SESSION_STEPS), "study"):
        tests = json.loads(netcdf.attributes(studies[1] / "derived" / f"{name}.nc")["plate_tests"])
        assert {each["verdict"] for each in tests["sub-01/sound.c3d"].values()} == {"good"}
        assert {each["verdict"] for each in tests["sub-01/off.c3d"].values()} == {"bad"}
        assert "markers of a person" in tests["sub-01/person.c3d"]


def test_the_walks_are_those_without_such_trials(studies: list[Path]) -> None:
    for name in (*(f"sub-01/{step}" for step in SESSION_STEPS[1:]), "study"):
        plain, tested = (netcdf.load(study / "derived" / f"{name}.nc") for study in studies)
        xr.testing.assert_equal(plain, tested)
    for table in ("metrics.csv", "quality.csv", "participants.csv", "symmetry.csv"):
        assert len({(study / "derived" / table).read_bytes() for study in studies}) == 1


def test_sizes_in_the_file_of_a_pole_are_of_nobody(studies: list[Path]) -> None:
    """A camera system writes the last person's mass into it."""
    read = netcdf.load(studies[1] / "derived" / "sub-01" / "read.nc")
    stated = dict(zip(read.trial.values.tolist(), read.anthropometry.values.tolist(), strict=True))
    assert (stated["sound"], stated["off"]) == ("", "")
    assert json.loads(stated[WALK])["mass_kg"] > 0
    assert np.isfinite(read.marker_position.values[read.sample_trial.values == 0]).any()


def test_the_page_shows_them(studies: list[Path]) -> None:
    page = (studies[1] / "derived" / "report" / "sub-01.html").read_text()
    assert "Plates tested with a pole" in page
    assert "sub-01/off.c3d: plate 3: " in page
    assert "the force passes the tip on average by (" in page
    assert "No: results are wrong or missing; see" in page
