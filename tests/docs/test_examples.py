"""The examples of docs/examples: each runs and draws its figure, and the numbers in its text are right."""

from __future__ import annotations

import ast
import io
import os
import runpy
import subprocess
import sys
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest

from docs.examples import ankle_and_knee, n_segment_limb, peaks_mixed_model
from gaitlab.pipeline.errors import UserError
from pipeline.demo.group import group_study
from pipeline.results import netcdf
from pipeline.variables.schema import describe
from tests.support.checkout import HOUSE
from tests.support.studies.step_results import described_session
from tests.support.walks.person import ROUNDING, close

SINGLE_ROUNDING = 2e-5  # moments of 100 N m and more in single precision, as files have them, and their sums
EXAMPLES = sorted((HOUSE / "docs" / "examples").glob("*.py"))


def test_limb_of_three_point_masses(tmp_path: Path) -> None:
    found = n_segment_limb.main(tmp_path / "x.svg")
    answers = {name: value for name, value in found.items() if "closed form" in name}
    assert len(answers) == 4
    for value in answers.values():
        close(value, [0, 0])
    needed = {
        who: {name.split()[-1] for name, value in found.items() if name.startswith(f"{who},") and value > ROUNDING}
        for who in "ABC"
    }
    assert needed == {"A": {"seen", "centrifugal", "coriolis"}, "B": {"dalembert", "centrifugal"}, "C": {"dalembert"}}


def test_ankle_and_knee(demo: Path, tmp_path: Path) -> None:
    made = ankle_and_knee.main(tmp_path / "made.svg", demo)
    assert made["determinant"] == pytest.approx(1)
    assert made["largest element above the diagonal"] == 0
    for name in ("solution, from the running sums", "by term, from the stored ones", "sum, from the stored one"):
        assert made[name] < ROUNDING
    arms = made["A, moments in lab axes"].reshape(2, 2, 3, 2, 2, 3)[:, 1, :, :, 0]  # segment, row, segment, column
    for block in (arms[0, :, 0], arms[1, :, 0], arms[1, :, 1]):
        close(block, -block.T)
        assert 0.05 < np.linalg.norm(block) / np.sqrt(2) < 0.4  # the length of an arm in foot or shank, m
    assert made["ankle moment"][2] == pytest.approx(-113, abs=0.5)
    assert made["share of the ground in the ankle's z"] == pytest.approx(1, abs=0.02)
    assert (made["largest of all but the ground in stance, ankle and knee"] < [2, 5]).all()


def test_ankle_and_knee_reads_stored_results(demo: Path, tmp_path: Path) -> None:
    expected = ankle_and_knee.main(tmp_path / "made.svg", demo)
    trial = ankle_and_knee.TRIAL
    for name, dataset in ankle_and_knee.steps(demo).items():
        described = describe(name, dataset) if name == "calibrate" else described_session(name, dataset, trial)
        netcdf.save(demo / "derived" / ankle_and_knee.PERSON / f"{name}.nc", described)
    stored = ankle_and_knee.main(tmp_path / "stored.svg", demo)
    for name, value in expected.items():
        close(stored[name], value, SINGLE_ROUNDING)
    assert stored["by term, from the stored ones"] > ROUNDING  # the files were read


class Ended(NamedTuple):
    """How a script ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def run_script(name: str, *arguments: str, folder: Path) -> Ended:
    """Run an example as a script from another folder, in this process, which has loaded the libraries."""
    file, code = str(HOUSE / "docs" / "examples" / name), 0
    with ExitStack() as stack:
        stack.enter_context(chdir(folder))
        stack.enter_context(mock.patch.object(sys, "argv", [file, *arguments]))
        said, complained = (
            stack.enter_context(redirect(io.StringIO())) for redirect in (redirect_stdout, redirect_stderr)
        )
        try:
            runpy.run_path(file, run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
            complained.write(f"{end.code}\n" if isinstance(end.code, str) else "")
    return Ended(code, said.getvalue(), complained.getvalue())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_prints_help_and_writes_nothing(example: Path, tmp_path: Path) -> None:
    result = run_script(example.name, "--help", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "usage: " in result.stdout
    assert "output" in result.stdout
    assert not any(tmp_path.iterdir())


def walked(conditions: dict[str, str], folder: Path, **options: Any) -> Path:
    """Store a simulated study with other names of its conditions; return the file."""
    study = group_study(**options)
    names = [conditions[name] for name in study.condition.values.tolist()]
    netcdf.save(folder / "study.nc", study.assign_coords(condition=("cycle", names)))
    return folder / "study.nc"


@pytest.mark.parametrize("example", ["compare_curves.py", "peaks_mixed_model.py"])
def test_conditions_are_those_of_the_study(example: str, tmp_path: Path) -> None:
    """Not those of the demonstration; with others than two a message names them, without a traceback."""
    study = str(walked({"comfortable": "barefoot", "fast": "shoes"}, tmp_path))
    result = run_script(example, "x.svg", study, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "x.svg").exists()
    wrong = run_script(example, "x.svg", study, "--conditions", "barefoot", "stairs", folder=tmp_path)
    assert wrong.returncode == 1
    assert wrong.stderr == (
        "error: --conditions: the study's conditions are barefoot, shoes, not barefoot and stairs; name two of them\n"
    )
    alone = str(walked({"comfortable": "barefoot", "fast": "barefoot"}, tmp_path))
    result = run_script(example, "x.svg", alone, folder=tmp_path)
    assert result.stderr == "error: --conditions: the study's conditions are barefoot; name two of them\n"


def test_too_few_people_a_missing_study_and_wrong_order_are_named(tmp_path: Path) -> None:
    few = str(walked({"comfortable": "a", "fast": "b"}, tmp_path, participants=2))
    for arguments, words in (
        (("x.svg", few), "fewer than 3 participants walked a and b"),
        (("x.svg", "nowhere"), "nowhere: no such file"),
        ((few,), "give the name of the figure first, then the study"),
        (("x.svg", "--joint", "knee"), "the simulated study has the ankle's flexion moment alone"),
    ):
        result = run_script("compare_curves.py", *arguments, folder=tmp_path)
        assert result.returncode > 0
        assert words in result.stderr
        assert "Traceback" not in result.stderr


def test_a_metric_is_chosen_by_its_alias(tmp_path: Path) -> None:
    study = str(walked({"comfortable": "a", "fast": "b"}, tmp_path))
    result = run_script("peaks_mixed_model.py", "x.svg", study, "--metric", "KAMM", folder=tmp_path)
    assert "no metric is known as 'KAMM'; did you mean 'KAM'?" in result.stderr
    alias = "external dorsiflexion moment"  # of the one metric that the simulated study has
    result = run_script("peaks_mixed_model.py", "x.svg", study, "--metric", alias, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    with pytest.raises(UserError, match="is a phase"):
        peaks_mixed_model.main(tmp_path / "x.svg", metric="phase_of_peak_hip_flexion")


def test_figures_are_reproducible(tmp_path: Path) -> None:
    for example in (n_segment_limb, peaks_mixed_model):
        once, twice = tmp_path / "once.svg", tmp_path / "twice.svg"
        example.main(once)
        example.main(twice)
        assert b"<svg" in once.read_bytes()
        assert once.read_bytes() == twice.read_bytes()


def test_example_runs_from_anywhere_as_a_script(tmp_path: Path) -> None:
    command = [sys.executable, str(HOUSE / "docs" / "examples" / "n_segment_limb.py"), "limb.svg"]
    environment = {**os.environ, "PYTHONPATH": str(HOUSE)}  # this checkout, even if another one is installed
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "block matrix" in result.stdout
    assert (tmp_path / "limb.svg").exists()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_has_a_docstring_and_a_figure(example: Path) -> None:
    text = ast.get_docstring(ast.parse(example.read_text()))
    assert text is not None
    assert f"python docs/examples/{example.name} [output.svg]" in text
    assert (HOUSE / "docs" / "images" / f"{example.stem}.svg").exists()
