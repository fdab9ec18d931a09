"""The examples of docs/examples: each runs and draws its figure, and the numbers in its text are right."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from docs.examples import ankle_and_knee, double_pendulum, n_segment_limb, reaching
from pipeline.results import netcdf
from pipeline.results.trials import joined
from tests.support.checkout import HOUSE
from tests.support.geometry import ROUNDING, close

EXAMPLES = sorted((HOUSE / "docs" / "examples").glob("*.py"))


def test_double_pendulum(tmp_path: Path) -> None:
    found = double_pendulum.main(tmp_path / "x.svg")
    close(found["period of the modes, s"], 2 * np.pi / np.sqrt(9.81 / 0.5 * (2 + np.sqrt(2) * np.array([-1, 1]))))
    close(found["period of the modes, s"], [1.85, 0.77], 0.005)
    assert found["energy at the start, J"] == pytest.approx(9.81 * (0.5 + 1))
    assert found["change of energy in 20 s, J"] < 1e-8
    coarse, fine = found["energy gained by Euler in 1 s, J"]
    assert coarse > fine > 0
    coarse, fine = found["error of Euler after 1 s, rad"]
    assert coarse / fine == pytest.approx(2, rel=0.05)  # the next order is 1 ms over 0.1 s of it
    start, end = found["neighbours apart, first 5 s and last 5 s, rad"]
    assert start < 1e-3
    assert end > 1


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
    assert needed == {
        "A": {"seen", "centrifugal", "coriolis"},
        "B": {"dalembert", "centrifugal"},
        "C": {"dalembert"},
    }


def test_reach(tmp_path: Path) -> None:
    found = reaching.main(tmp_path / "x.svg")
    assert found["peak speed over mean speed"] == pytest.approx(15 / 8)
    slow, fast = (found[f"peak torques on the table, {pace}, N m"] for pace in ("slow", "fast"))
    assert (fast > 1).all()
    close(fast / slow, [64, 64])
    assert found["largest departure of any term from 64 times, N m"] < ROUNDING
    close(found["share of gravity in the shoulder's peak, slow and fast"], [0.99, 0.50], 0.005)
    assert found["elbow torque by the shoulder's acceleration, fast, N m"] > 1


def test_ankle_and_knee(tmp_path: Path) -> None:
    made = ankle_and_knee.main(tmp_path / "made.svg")
    assert made["determinant"] == pytest.approx(1)
    assert made["largest element above the diagonal"] == 0
    for name in ("by term, from the stored ones", "sum, from the stored one"):
        assert made[name] < ROUNDING
    assert made["ankle moment"][2] == pytest.approx(-108, abs=0.5)
    assert made["share of the ground in the ankle's z"] == pytest.approx(1, abs=0.02)
    assert (made["largest of all but the ground in stance, ankle and knee"] < [2, 4]).all()


def test_ankle_and_knee_reads_stored_results(tmp_path: Path) -> None:
    steps = ankle_and_knee.steps(ankle_and_knee.DEMO)
    derived = tmp_path / "derived" / ankle_and_knee.PERSON
    for name, dataset in steps.items():
        session = dataset if name == "calibrate" else joined({ankle_and_knee.TRIAL: dataset})
        netcdf.save(derived / f"{name}.nc", session)
    found = ankle_and_knee.main(tmp_path / "stored.svg", tmp_path)
    expected = ankle_and_knee.main(tmp_path / "made.svg")
    for name, value in expected.items():
        close(found[name], value)


def test_figures_are_reproducible(tmp_path: Path) -> None:
    for example in (n_segment_limb, reaching):
        once, twice = tmp_path / "once.svg", tmp_path / "twice.svg"
        example.main(once)
        example.main(twice)
        assert b"<svg" in once.read_bytes()
        assert once.read_bytes() == twice.read_bytes()


def test_example_runs_from_anywhere_as_a_script(tmp_path: Path) -> None:
    script = HOUSE / "docs" / "examples" / "n_segment_limb.py"
    command = [sys.executable, str(script), "limb.svg"]
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
