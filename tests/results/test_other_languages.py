"""R and Octave read the same numbers from the outputs as xarray, by the code of other_languages.md and outputs.md."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.results.session_file import load_trial
from tests.support.checkout import HOUSE

PAGE = HOUSE / "docs" / "other_languages.md"
TABLE = HOUSE / "docs" / "outputs.md"
FILE = "data/demo/derived/sub-01/kinetics.nc"
COLUMNS = {"xarray": 1, "r": 2, "matlab": 3}
# seventeen digits identify a double
SHOW = {
    "r": """
show <- function(x) {
  cat("--\\n"); cat(paste0(if (is.character(x)) x else sprintf("%.17g", x), "\\n"), sep = "")
}
""",
    "matlab": """
function show(x)
  printf("--\\n");
  if iscell(x), printf("%s\\n", x{:}); elseif ischar(x), printf("%s\\n", x); else printf("%.17g\\n", x); end
end
""",
}
MORE = {
    "r": """
town <- ncvar_get(nc_open("data/demo/derived/study.nc"), "town")[1]
clean <- nc_open("data/demo/derived/sub-01/clean.nc")
fill <- ncvar_get(clean, "fill")
labels <- ncvar_get(clean, "label")[, trials == "fast_01"]
values <- list(trials, rejected, labels, units, axes, joints, sides, town, dim(moment), moment, time, knee, push_off,
               sum(fill == 0))
for (x in values) show(x)
""",
    "matlab": """
town = text(study, 'town'){1};
clean = 'data/demo/derived/sub-01/clean.nc';
fill = ncread(clean, 'fill');
labels = reshape(text(clean, 'label'), [], numel(trials))(:, strcmp(trials, 'fast_01'));
values = {trials, rejected, labels, units, axes_, joints, sides, town, size(moment), moment, time, knee, push_off, ...
          nnz(fill == 0)};
for x = values
  show(x{1});
end
""",
}
OPEN = {"r": f'library(ncdf4)\nfile <- "{FILE}"', "matlab": f"pkg load netcdf\nfile = '{FILE}'"}
PROBES = {
    "r": ["Rscript", "--vanilla", "-e", "library(ncdf4)"],
    "matlab": ["octave-cli", "--norc", "--eval", "pkg load netcdf"],
}


def run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def printed(language: str, code: str, small_study: Path, tmp_path: Path) -> list[list[str]]:
    """Run code and return what it shows: one list of lines per value."""
    probe = PROBES[language]
    if shutil.which(probe[0]) is None or run(probe, tmp_path).returncode:
        pytest.skip(f"needs {probe[0]} with its NetCDF package; .ci/install says which")
    script = tmp_path / "script"
    script.write_text(SHOW[language] + code)
    result = run([*probe[:2], str(script)], small_study)
    assert result.returncode == 0, result.stderr
    return [part.split("\n")[:-1] for part in result.stdout.split("--\n")[1:]]


def numbers_of(lines: Sequence[str]) -> list[float]:
    """Return numbers; R's maximum of nothing is -Inf."""
    return [np.nan if line in ("NA", "NaN", "-Inf") else float(line) for line in lines]


def lines_of_table(language: str) -> list[str]:
    """Return the code in a column of the table of outputs.md."""
    table = TABLE.read_text().split("### One trial, or each")[1].split("\n\n")[2]
    return [row.split(" | ")[COLUMNS[language]].removesuffix(" |").strip("`") for row in table.split("\n")[2:]]


@pytest.mark.parametrize("language", PROBES)
def test_numbers_and_labels_are_those_of_xarray(language: str, small_study: Path, tmp_path: Path) -> None:
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    shown = printed(language, block + MORE[language], small_study, tmp_path)
    trials, rejected, labels, units, axes, joints, sides, town, shape, *numbers = shown
    derived = small_study / "data" / "demo" / "derived"
    walk = load_trial(small_study / FILE, "fast_01")
    study = xr.load_dataset(derived / "study.nc")
    assert trials == ["comfortable_01", "fast_01", "gone"]
    assert rejected[:2] == ["", ""]
    assert "gone.c3d: no such file" in rejected[2]
    assert units == [walk.joint_moment.attrs["units"]]
    assert (axes, joints, sides) == ([*"xyz"], ["ankle", "knee", "hip"], ["left", "right"])
    assert town == ["Jyväskylä"]
    assert [int(size) for size in shape] == [*walk.joint_moment.shape[::-1]]
    power = study.joint_power.sel(joint="ankle")[(study.condition == "fast") & study.kinetics_valid]
    clean = xr.load_dataset(derived / "sub-01" / "clean.nc")
    assert labels == clean.label.sel(trial="fast_01").values.tolist()
    expected = [
        walk.joint_moment,
        walk.time,
        walk.joint_moment.sel(local_axis="z", joint="knee", side="right"),
        power.max("phase"),
        (clean.fill == 0).sum(),
    ]
    assert np.isnan(expected[0]).any()  # a swing in the air before the first plate: missing values are printed too
    assert power.sizes["cycle"] > 1
    for lines, values in zip(numbers, expected, strict=True):
        np.testing.assert_array_equal(numbers_of(lines), values.values.ravel())


def in_xarray(small_study: Path) -> tuple[xr.DataArray, xr.DataArray, list[str]]:
    """Return one trial, the maximum of each, and the reasons, by the first column of the table."""
    names: dict[str, Any] = {"xr": xr, "file": small_study / FILE}
    exec("\n".join(lines_of_table("xarray")), names)  # noqa: S102 (the project's own page)
    return names["one"], names["peaks"], names["reasons"].tolist()


def test_lines_of_the_table_give_one_trial_and_each(small_study: Path) -> None:
    one, peaks, _ = in_xarray(small_study)
    for name in ("comfortable_01", "fast_01"):
        moment = load_trial(small_study / FILE, name).joint_moment_jcs
        np.testing.assert_array_equal(peaks.sel(trial=name), moment.max("time"))
    np.testing.assert_array_equal(one, moment)
    assert peaks.trial.values.tolist() == ["comfortable_01", "fast_01"]


@pytest.mark.parametrize("language", PROBES)
def test_lines_of_the_table_are_equal_in_every_language(language: str, small_study: Path, tmp_path: Path) -> None:
    one, peaks, reasons = in_xarray(small_study)
    # in the order of Python: the trial last
    last = {"r": "aperm(peaks, c(2, 3, 4, 1))", "matlab": "cat(4, peaks{:})"}[language]
    show = ["show(one)", f"show({last})", "show(reasons)"]
    code = "\n".join(f"{line};" for line in [OPEN[language], *lines_of_table(language), *show])
    shown = printed(language, code, small_study, tmp_path)
    np.testing.assert_array_equal(numbers_of(shown[0]), one.values.ravel())
    np.testing.assert_array_equal(numbers_of(shown[1]), peaks.transpose("trial", ...).values.ravel())
    assert shown[2] == reasons
