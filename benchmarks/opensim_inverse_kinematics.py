"""OpenSim's inverse kinematics and the step ``kinematics`` with linked legs on the frames of its example Gait2354.

The walk is repeated forwards and backwards, so that no frame is
far from the one before, where the tool starts. It fits 23 coordinates of a body with trunk to 31 markers, and reads
and writes text files. The step fits 22 coordinates of pelvis and legs to 27 of these markers, differentiates the
motion, and finds joint angles and centres of mass.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import Figure, not_measured
from benchmarks.growth import grown
from benchmarks.opensim_tool import EXAMPLE, STUDY, load_model, silence, what_is_absent
from benchmarks.timing import best_in_turn_s, best_s
from benchmarks.trial import first_walk, only_trial
from tests.support.checkout import copy_study

TITLE = "OpenSim's inverse kinematics of the same walk"
GROWTH = (500, 2000, 5000)
ROUNDS = 2  # of the tool, half a minute each
TOOL, STEP = "OpenSim", "kinematics"
AT_LEAST = 20.0
LINKED: dict[str, Any] = {"method": "linked", "joint_types": {"hip": "ball", "knee": "ball", "ankle": "universal"}}


def measure(*, rounds: int = ROUNDS, growth: tuple[int, int, int] = GROWTH) -> list[Figure]:
    """Return the tool's time over that of the step, and the growth of the step's with the number of frames."""
    if missing := what_is_absent():
        return [not_measured(missing)]
    frames = growth[-1]
    with tempfile.TemporaryDirectory() as folder, silence():
        study = copy_study(STUDY, Path(folder) / "study")
        tool = inverse_kinematics(EXAMPLE, Path(folder), frames)
        cost = best_in_turn_s({TOOL: tool, STEP: step(study, frames)}, rounds=rounds)
        ms = {float(number): 1e3 * best_s(step(study, number)) for number in growth}
    a_frame = ", ".join(f"{name} {1e6 * seconds / frames:.0f}" for name, seconds in cost.items())
    return [
        Figure(
            f"the tool's run over kinematics, {frames} frames", cost[TOOL] / cost[STEP], at_least=AT_LEAST,
            detail=f"microseconds a frame: {a_frame}",
        ),
        grown("ms a frame of kinematics", ms),
    ]  # fmt: skip


def step(study: Path, frames: int) -> Callable[[], object]:
    """Return a function that runs the step with linked legs on a number of frames."""
    walk = first_walk(study)
    walk.keys["kinematics"]["settings"] |= LINKED
    walk.run("read")
    cleaned = only_trial(walk.run("clean"))
    longer = cleaned.isel(time=back_and_forth(cleaned.sizes["time"], frames))
    longer = longer.assign_coords(time=np.arange(frames) / cleaned.attrs["marker_rate_hz"])
    walk.put("clean", longer)
    return partial(walk.run, "kinematics")


def inverse_kinematics(example: Path, folder: Path, frames: int, *, report: bool = False) -> Callable[[], object]:
    """Load the model and return a function that runs the tool on a number of frames.

    It writes joint angles into the folder, with ``report`` also the places of the markers in the model.
    """
    import opensim

    model = load_model(example)
    last_s = repeat(example / "subject01_walk1.trc", folder / "walk.trc", frames)

    def run() -> None:
        tool = opensim.InverseKinematicsTool(str(example / "subject01_Setup_IK.xml"), False)
        tool.setModel(model)
        tool.setMarkerDataFileName(str(folder / "walk.trc"))
        tool.setStartTime(0.0)
        tool.setEndTime(last_s)
        tool.setResultsDir(str(folder))
        tool.setOutputMotionFileName(str(folder / "angles.mot"))
        tool.set_report_marker_locations(report)
        if not tool.run():
            raise RuntimeError("OpenSim's inverse kinematics failed")

    return run


def repeat(recorded: Path, repeated: Path, frames: int) -> float:
    """Write a TRC file with the rows of another one forwards and backwards; return its last instant, s."""
    lines = recorded.read_text(encoding="utf-8").splitlines()
    head = lines[:5]
    rows = [line.split("\t")[2:] for line in lines[5:] if line.strip()]
    facts = head[2].split("\t")
    rate_hz = float(facts[0])
    facts[2] = facts[7] = str(frames)
    head[2] = "\t".join(facts)
    order = back_and_forth(len(rows), frames)
    numbered = ["\t".join([str(i + 1), f"{i / rate_hz:.6f}", *rows[row]]) for i, row in enumerate(order)]
    repeated.write_text("\n".join([*head, "", *numbered]) + "\n", encoding="utf-8")
    return (frames - 1) / rate_hz


def back_and_forth(length: int, frames: int) -> NDArray[np.intp]:
    """Return numbers of frames 0 to ``length - 1``, then back to 0, and so on."""
    there = np.arange(length)
    return np.resize(np.concatenate([there, there[-2:0:-1]]), frames)
