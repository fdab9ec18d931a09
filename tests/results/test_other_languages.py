"""R and Octave read the same numbers from the outputs as xarray, by the code of docs/other_languages.md."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from tests.support.checkout import HOUSE
from tests.support.outputs import write_outputs

PAGE = HOUSE / "docs" / "other_languages.md"
# seventeen digits identify a double
PRINT = {
    "r": """
show <- function(x) cat(paste0(if (is.character(x)) x else sprintf("%.17g", x), "\\n"), sep = "")
town <- ncvar_get(nc_open("data/demo/derived/study.nc"), "town")[1]
fill <- ncvar_get(nc_open("data/demo/derived/sub-01/clean.nc"), "fast_01/fill")
for (x in list(trials, units, axes, joints, sides, town, dim(moment), moment, time, knee, push_off, sum(fill == 0))) {
  cat("--\\n"); show(x)
}""",
    "matlab": """
town = text(study, 'town'){1};
fill = ncread('data/demo/derived/sub-01/clean.nc', '/fast_01/fill');
for x = {trials, units, axes_, joints, sides, town, size(moment), moment, time, knee, push_off, nnz(fill == 0)}
  printf("--\\n"); x = x{1};
  if iscell(x), printf("%s\\n", x{:}); elseif ischar(x), printf("%s\\n", x); else printf("%.17g\\n", x); end
end""",
}
PROBES = {
    "r": ["Rscript", "--vanilla", "-e", "library(ncdf4)"],
    "matlab": ["octave-cli", "--norc", "--eval", "pkg load netcdf"],
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house")
    write_outputs(folder)
    return folder


def run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def printed(language: str, house: Path, tmp_path: Path) -> list[list[str]]:
    """Run the code of the page and return its results: one list of lines per value."""
    probe = PROBES[language]
    if shutil.which(probe[0]) is None or run(probe, tmp_path).returncode:
        pytest.skip(f"needs {probe[0]} with its NetCDF package; .ci/install says which")
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    script = tmp_path / "script"
    script.write_text(block + PRINT[language])
    result = run([*probe[:2], str(script)], house)
    assert result.returncode == 0, result.stderr
    return [part.split("\n")[:-1] for part in result.stdout.split("--\n")[1:]]


@pytest.mark.parametrize("language", PROBES)
def test_numbers_and_labels_are_those_of_xarray(language: str, house: Path, tmp_path: Path) -> None:
    trials, units, axes, joints, sides, town, shape, *numbers = printed(language, house, tmp_path)
    derived = house / "data" / "demo" / "derived"
    walk = xr.load_dataset(derived / "sub-01" / "kinetics.nc", group="fast_01")
    study = xr.load_dataset(derived / "study.nc")
    assert trials == ["comfortable_01", "fast_01"]
    assert units == [walk.joint_moment.attrs["units"]]
    assert (axes, joints, sides) == ([*"xyz"], ["ankle", "knee", "hip"], ["left", "right"])
    assert town == ["Jyväskylä"]
    assert [int(size) for size in shape] == [*walk.joint_moment.shape[::-1]]
    power = study.joint_power.sel(joint="ankle")[(study.condition == "fast") & study.kinetics_valid]
    fill = xr.load_dataset(derived / "sub-01" / "clean.nc", group="fast_01").fill
    expected = [
        walk.joint_moment,
        walk.time,
        walk.joint_moment.sel(local_axis="z", joint="knee", side="right"),
        power.max("phase"),
        (fill == 0).sum(),
    ]
    assert np.isnan(expected[0]).any()  # a swing in the air before the first plate: missing values are printed too
    assert power.sizes["cycle"] > 1
    for lines, values in zip(numbers, expected, strict=True):
        got = [np.nan if line in ("NA", "NaN") else float(line) for line in lines]
        np.testing.assert_array_equal(got, values.values.ravel())
