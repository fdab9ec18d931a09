"""OpenSim's inverse dynamics and the step ``kinetics`` on its example Gait2354.

OpenSim starts from joint angles, without the cost of its inverse kinematics. It
filters and differentiates them, as the steps ``clean`` and ``kinematics`` do, and reads and writes text files.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from benchmarks.figures import Figure, not_measured
from benchmarks.timing import best_in_turn_s
from benchmarks.trial import first_walk, only_trial
from tests.support.checkout import SHARED, copy_study

TITLE = "OpenSim's inverse dynamics of the same walk"
STUDY, EXAMPLE = SHARED / "studies" / "gait2354", SHARED / "data" / "opensim_gait2354_ID"
DURATION_S, CUTOFF_HZ = 2.5, 6.0  # the cut-off of the example's settings
ROUNDS = 7
TOOL = "OpenSim"
OURS = ("clean", "contacts", "kinematics", "kinetics")
AT_LEAST = 20.0


def measure(*, rounds: int = ROUNDS) -> list[Figure]:
    """Return the tool's time over that of the steps."""
    if missing := what_is_absent():
        return [not_measured(missing)]
    with tempfile.TemporaryDirectory() as folder, silence():
        walk = first_walk(copy_study(STUDY, Path(folder) / "study"))
        results = {step: walk.run(step) for step in ("read", *OURS)}
        run = inverse_dynamics(EXAMPLE, Path(folder))
        run()
        theirs = read_table(Path(folder) / "moments.sto")
        cost = best_in_turn_s({TOOL: run, **{step: partial(walk.run, step) for step in OURS}}, rounds=rounds)
    together = sum(cost[step] for step in OURS)
    ms = "ms: " + ", ".join(f"{name} {1e3 * seconds:.1f}" for name, seconds in cost.items())
    correlation = _correlation(only_trial(results["kinetics"]), theirs)
    return [
        Figure("the tool's run over kinetics", cost[TOOL] / cost["kinetics"], at_least=AT_LEAST, detail=ms),
        Figure("the tool's run over clean to kinetics", cost[TOOL] / together),
        Figure("moment at the right ankle, correlation of the two", correlation),
    ]


def inverse_dynamics(example: Path, folder: Path) -> Callable[[], object]:
    """Load the model and return a function that runs the tool on the whole walk."""
    import opensim

    model = load_model(example)
    muscles = opensim.ArrayStr()
    muscles.append("Muscles")

    def run() -> None:
        tool = opensim.InverseDynamicsTool()
        tool.setModel(model)
        tool.setCoordinatesFileName(str(example / "ik_full.mot"))
        tool.setExternalLoadsFileName(str(example / "subject01_walk1_grf.xml"))
        tool.setLowpassCutoffFrequency(CUTOFF_HZ)
        tool.setStartTime(0.0)
        tool.setEndTime(DURATION_S)
        tool.setExcludedForces(muscles)
        tool.setResultsDir(str(folder))
        tool.setOutputGenForceFileName("moments.sto")
        if not tool.run():
            raise RuntimeError("OpenSim's inverse dynamics failed")

    return run


def load_model(example: Path) -> Any:
    """Return the example's scaled model; OpenSim logs nothing from then on."""
    import opensim

    opensim.Logger.removeFileSink()
    opensim.Logger.setLevelString("Off")
    model = opensim.Model(str(example / "subject01_simbody.osim"))
    model.initSystem()
    return model


def read_table(path: Path) -> dict[str, NDArray[np.float64]]:
    """Return the columns of an OpenSim text table (.sto, .mot)."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    start = lines.index("endheader") + 1
    rows = np.array([line.split() for line in lines[start + 1 :]], float)
    return dict(zip(lines[start].split(), rows.T, strict=True))


def what_is_absent() -> str:
    """Return in words whether OpenSim or its example is missing, nothing if both are there."""
    if importlib.util.find_spec("opensim") is None:
        return "opensim is not installed (pip install -e '.[bench]')"
    return ", ".join(f"{folder} is not there" for folder in (STUDY, EXAMPLE) if not folder.is_dir())


def _correlation(kinetics: xr.Dataset, theirs: dict[str, NDArray[np.float64]]) -> float:
    ours = kinetics["joint_moment_jcs"].sel(side="right", joint="ankle", angle="flexion")
    known = ours.notnull().values
    on_ours = np.interp(ours["time"].values, theirs["time"], theirs["ankle_angle_r_moment"])
    return float(np.corrcoef(ours.values[known], on_ours[known])[0, 1])


@contextmanager
def silence() -> Iterator[None]:
    """Suppress the output of OpenSim's compiled code."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
