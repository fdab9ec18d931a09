"""OpenSim itself on the files of ``gaitlab export --opensim``, against the files that its example was published with.

``python -m tests.extras.opensim.hand_over`` prints the table of docs/validation.md. It needs OpenSim
(``pip install -e '.[bench]'``) and the real recordings.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.opensim_tool import CUTOFF_HZ, DURATION_S, read_table, silence
from pipeline.extras.opensim.export.command import export_opensim
from pipeline.signals.filters import stretches
from tests.support.checkout import SHARED, copy_study
from tests.support.studies.references import correlation, rms
from tests.support.studies.small_study import run_steps

STUDY, EXAMPLE = SHARED / "studies" / "gait2354", SHARED / "data" / "opensim_gait2354_ID"
MODEL = EXAMPLE / "subject01_simbody.osim"
SESSION = "sub-01"

Table = dict[str, NDArray[np.float64]]


class Compared(NamedTuple):
    """A moment or force of InverseDynamics from the exported files against the published ones."""

    name: str
    correlation: float
    rms: float


def exported(folder: Path, **options: Any) -> Path:
    """Run the study below a folder, export it, and return the folder of its session."""
    study = copy_study(STUDY, folder / "study")
    run_steps(study)
    readme, _ = export_opensim(study, model=MODEL, **options)
    return readme.parent / SESSION


def moments(loads: Path, folder: Path) -> Table:
    """Run InverseDynamics on the example's joint angles and these external loads."""
    import opensim

    tool = _quiet(opensim).InverseDynamicsTool()
    tool.setModelFileName(str(MODEL))
    tool.setCoordinatesFileName(str(EXAMPLE / "ik_full.mot"))
    tool.setExternalLoadsFileName(str(loads))
    tool.setLowpassCutoffFrequency(CUTOFF_HZ)
    tool.setStartTime(0.0)
    tool.setEndTime(DURATION_S)
    muscles = opensim.ArrayStr()
    muscles.append("Muscles")
    tool.setExcludedForces(muscles)
    return _run(tool, folder, "setOutputGenForceFileName", "moments.sto")


def marker_errors(markers: Path, folder: Path) -> Table:
    """Run InverseKinematics with the example's setup on this marker file and return the errors of the fit, m."""
    import opensim

    tool = _quiet(opensim).InverseKinematicsTool(str(EXAMPLE / "subject01_Setup_IK.xml"))
    tool.setName("fit")
    tool.set_model_file(str(MODEL))
    tool.setMarkerDataFileName(str(markers))
    tool.setStartTime(0.0)
    tool.setEndTime(DURATION_S)
    tool.set_report_errors(True)
    _run(tool, folder, "setOutputMotionFileName", str(folder / "fit.mot"))
    return read_table(folder / "fit_ik_marker_errors.sto")


def compared(session: Path, folder: Path) -> list[Compared]:
    """Return the agreement of all moments over the instants at which both files load the same stances.

    OpenSim's filter of angles begins 2 ms before the first frame, where it extrapolates the loads: that is left out.
    """
    theirs, ours = (
        moments(loads, folder) for loads in (EXAMPLE / "subject01_walk1_grf.xml", session / "walk1_grf.xml")
    )
    time = theirs["time"]
    both = np.all([(time < start) | (time > end) for start, end in only_theirs(session)], axis=0) & (time >= 0)
    pairs = {name: (ours[name][both], theirs[name][both]) for name in theirs if name != "time"}
    return [Compared(name, correlation(*pair), rms(pair[0] - pair[1])) for name, pair in pairs.items() if pair[1].any()]


def only_theirs(session: Path) -> Iterator[tuple[float, float]]:
    """Yield start and end of the loads in the example's file for the stances that the study refused."""
    published = read_table(EXAMPLE / "subject01_walk1_grf.mot")
    force = {"right": published["ground_force_vy"], "left": published["1_ground_force_vy"]}
    _, *rows = csv.reader((session.parent / "stances.tsv").read_text().splitlines(), delimiter="\t")
    for _, _, side, start_s, end_s, loaded, *_ in rows:
        for first, stop in stretches(force[side] != 0) if loaded == "no" else ():
            span = published["time"][first], published["time"][stop - 1]
            if span[0] <= float(end_s) and span[1] >= float(start_s):
                yield span


def run_setups(session: Path) -> tuple[Table, Table]:
    """Run the three setup files as the README has it in Python; return the errors of the fit and the moments."""
    code = (session.parent / "README.md").read_text().partition("```python\n")[2].partition("```")[0]
    subprocess.run([sys.executable, "-c", code], cwd=session, check=True, capture_output=True)
    return read_table(session / "walk1_ik_marker_errors.sto"), read_table(session / "walk1_id.sto")


def _run(tool: Any, folder: Path, name_output: str, output: str) -> Table:
    """Run a tool and return the table that it writes."""
    tool.setResultsDir(str(folder))
    getattr(tool, name_output)(output)
    with silence():
        if not tool.run():
            raise RuntimeError(f"OpenSim failed: {tool.getName()}")
    return read_table(folder / output)


def _quiet(opensim: Any) -> Any:
    opensim.Logger.removeFileSink()
    opensim.Logger.setLevelString("Off")
    return opensim


def as_markdown(folder: Path) -> str:
    """Return the agreement of moments, and of the errors of the fit of markers."""
    session = exported(folder)
    lines = ["| InverseDynamics | r | RMS (N m or N) |", "|---|---|---|"]
    lines += [f"| {row.name} | {row.correlation:.7f} | {row.rms:.4f} |" for row in compared(session, folder)]
    theirs, ours = (marker_errors(file, folder) for file in (EXAMPLE / "subject01_walk1.trc", session / "walk1.trc"))
    lines += ["", "| InverseKinematics | published | exported |", "|---|---|---|"]
    for name in ("marker_error_RMS", "marker_error_max"):
        lines.append(f"| {name}, RMS over time (mm) | {1e3 * rms(theirs[name]):.4f} | {1e3 * rms(ours[name]):.4f} |")
    fit, _ = run_setups(session)
    return "\n".join([*lines, "", f"Fit after Scale: {1e3 * rms(fit['marker_error_RMS']):.1f} mm RMS"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        sys.stdout.write(as_markdown(Path(temporary)) + "\n")
