"""Ankle and knee in one frame of walking, as one system of twelve equations.

The example computes a walk of the demonstration study up to the joint moments, or reads it if ``make demo`` has stored
it. At the frame of the largest ground force on the right foot it writes the Newton-Euler equations of foot and shank as
in section 10 of docs/theory.md. The twelve unknowns are the forces F and moments M that the shank applies to the foot
and the thigh to the shank, in the order F1, M1, F2, M2. There are four right-hand sides: inertia, velocity, gravity and
ground. The matrix is printed in blocks of 3 x 3, once as it is solved, with moments in the axes of their segments, and
once with all moments in lab axes, where every block off the diagonal is -1 or the skew-symmetric S(r) of a lever arm.

1. The matrix has ones on its diagonal and zeros above it, so its determinant is 1.
2. A general solver, which does not use these zeros, gives the same numbers as forward substitution, which is a running
   sum of forces and moments from the foot upwards: equal to rounding, term by term.
3. They are the numbers of the step ``kinetics``, to rounding, which is that of single precision where the results are
   read. The step stores the running sums, and compares them with the solution of such a matrix in every frame. Its
   matrix is 18 x 18: the thigh, which it also includes, does not change the segments below it.
4. During stance the ground causes the moments: 113 N m of plantarflexion at the ankle in this frame. Inertia, velocity
   and weight of foot and shank together stay below 2 N m at the ankle and 5 N m at the knee.

``python docs/examples/ankle_and_knee.py [output.svg]`` draws the matrix and, by term, the moments about the
mediolateral axes, positive towards dorsiflexion and towards extension.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gaitlab import load_trial
from gaitlab.pipeline.dynamics import block_matrix
from gaitlab.pipeline.dynamics.kernel import TERMS, Segments
from gaitlab.pipeline.results import netcdf
from gaitlab.pipeline.steps.calibrate.settings import Settings as CalibrateSettings
from gaitlab.pipeline.steps.calibrate.step import calibrate
from gaitlab.pipeline.steps.clean.settings import Settings as CleanSettings
from gaitlab.pipeline.steps.clean.step import clean
from gaitlab.pipeline.steps.contacts.settings import Settings as ContactsSettings
from gaitlab.pipeline.steps.contacts.step import contacts
from gaitlab.pipeline.steps.kinematics.settings import Settings as KinematicsSettings
from gaitlab.pipeline.steps.kinematics.step import kinematics
from gaitlab.pipeline.steps.kinetics.settings import Settings as KineticsSettings
from gaitlab.pipeline.steps.kinetics.step import kinetics
from gaitlab.pipeline.steps.read.step import read_trial
from gaitlab.pipeline.tables import study_tables
from gaitlab.pipeline.trials.session import join_trials, one_trial
from gaitlab.pipeline.workflow import settings
from gaitlab.pipeline.workflow.strict_yaml import read_yaml

HOUSE = Path(__file__).resolve().parents[2]
Array = NDArray[np.float64]

DEMO, PERSON, TRIAL = HOUSE / "data" / "demo", "sub-01", "comfortable_01"
SIDE, SEGMENTS, JOINTS = "right", ["foot", "shank"], ["ankle", "knee"]
GRAVITY = np.array([0, -9.80665, 0])


def steps(study: Path) -> dict[str, xr.Dataset]:
    """Return the results of the steps for the walk, stored or computed here."""
    derived = study / "derived" / PERSON
    names = ("contacts", "kinematics", "kinetics")
    if all((derived / f"{name}.nc").exists() for name in (*names, "calibrate")):
        stored = {name: load_trial(derived / f"{name}.nc", TRIAL) for name in names}
        return stored | {"calibrate": netcdf.load(derived / "calibrate.nc")}
    own = read_yaml(study / "study.yaml")
    chosen, model = settings.load_settings(own, where="study.yaml", study_path=study)
    participants = study_tables.read_participants(study / "participants.tsv")
    recorded = {
        name: read_trial(study / PERSON / f"{name}.c3d", body_model=model, **chosen["read"]).assign_attrs(role=role)
        for name, role in (("static", "static"), (TRIAL, "gait"))
    }
    session = join_trials(recorded)
    calibration = calibrate(
        session,
        body_model=model,
        participant=participants[PERSON],
        segments=study_tables.read_segments(study / "segments.tsv", participants).get(PERSON, []),
        segment_table=settings.segment_table(chosen["calibrate"]["segment_parameters"]),
        settings=CalibrateSettings(**chosen["calibrate"]),
    )
    cleaned = clean(session, body_model=model, settings=CleanSettings(**chosen["clean"]))
    touched = contacts(cleaned, settings=ContactsSettings(**chosen["contacts"]))
    moved = kinematics(cleaned, calibration, body_model=model, settings=KinematicsSettings(**chosen["kinematics"]))
    loaded = kinetics(moved, touched, calibration, settings=KineticsSettings(**chosen["kinetics"]))
    walk = {name: one_trial(data, TRIAL) for name, data in zip(names, (touched, moved, loaded), strict=True)}
    return walk | {"calibrate": calibration}


def foot_and_shank(walk: dict[str, xr.Dataset], frame: int) -> Segments:
    """Return foot and shank at a frame, and the ground's force and moment on the foot."""
    moved = walk["kinematics"].isel(time=frame).sel(side=SIDE)
    ground = walk["contacts"].isel(time=frame).sel(side=SIDE)
    body = walk["calibrate"].sel(side=SIDE, segment=SEGMENTS)
    motion, joint = moved.sel(segment=SEGMENTS), moved.joint_centre.sel(joint=JOINTS).values
    rotation, com = motion.rotation.values, motion.com_position.values
    distal = np.stack([com[0], joint[0]])  # the foot has no distal joint; this value is not used
    force, moment = np.zeros((2, 3)), np.zeros((2, 3))
    force[0] = ground.ground_force  # ground_moment is about the lab's origin and includes the free moment
    moment[0] = ground.ground_moment - np.cross(com[0], force[0])
    return Segments(
        rotation, body.segment_mass.values, body.segment_inertia.values, motion.com_acceleration.values,
        motion.angular_velocity.values, motion.angular_acceleration.values, joint - com, distal - com,
        force, moment, GRAVITY,
    )  # fmt: skip


def with_moments_in_lab_axes(matrix: Array, rotation: Array) -> Array:
    """Return A for moments and moment rows in lab axes instead of those of the segments."""
    turn = np.eye(12)
    turn[3:6, 3:6], turn[9:12, 9:12] = rotation
    return np.asarray(turn.T @ matrix @ turn)


def in_blocks(matrix: Array) -> str:
    """Return the matrix (12, 12) as text, in blocks of 3 x 3, with points for zeros."""
    cells = np.array([f"{value:7.3f}" if abs(value) >= 0.0005 else "      ." for value in matrix.flat])
    rows = [["  ".join("".join(block) for block in line) for line in lines] for lines in cells.reshape(4, 3, 4, 3)]
    return "\n\n".join("\n".join(lines) for lines in rows)


def draw(output: Path, matrix: Array, walk: dict[str, xr.Dataset], frame: int) -> None:
    """Draw the matrix, and the moments of the stance around the frame."""
    figure = Figure((11, 3.6), layout="constrained")
    square, *panels = figure.subplots(1, 3)
    square.imshow(np.where(matrix == 0, np.nan, matrix), cmap="coolwarm", vmin=-1, vmax=1)
    for edge in (2.5, 5.5, 8.5):
        square.axhline(edge, color="k", linewidth=0.5)
        square.axvline(edge, color="k", linewidth=0.5)
    square.set(xticks=[1, 4, 7, 10], yticks=[1, 4, 7, 10], title="A, 3 x 3 blocks; nothing where white")
    square.set_xticklabels(["F1", "M1", "F2", "M2"])
    square.set_yticklabels(["force 1", "moment 1", "force 2", "moment 2"])
    loaded = walk["kinetics"].sel(side=SIDE, local_axis="z").isel(time=stance(walk, frame))
    for panel, joint in zip(panels, JOINTS, strict=True):
        for term in TERMS:
            panel.plot(loaded.time, loaded.joint_moment_term.sel(joint=joint, term=term), label=term)
        panel.plot(loaded.time, loaded.joint_moment.sel(joint=joint), "k--", label="sum")
        panel.axvline(float(walk["kinetics"].time[frame]), color="0.8", zorder=0)
        panel.set(title=f"{joint}, N m", xlabel="s")
    panels[0].legend(fontsize="small")
    with mpl.rc_context({"svg.hashsalt": "ankle_and_knee"}):
        figure.savefig(output, metadata={"Date": None})


def stance(walk: dict[str, xr.Dataset], frame: int) -> slice:
    """Return the frames of the stance that contains a frame."""
    pushes = walk["contacts"].ground_force.sel(side=SIDE, axis="y").values > 0
    off = np.flatnonzero(~pushes)
    return slice(int(off[off < frame].max(initial=-1)) + 1, int(off[off > frame].min(initial=len(pushes))))


def main(output: Path, study: Path = DEMO) -> dict[str, Any]:
    """Draw the figure and return the numbers above, moments in distal axes, N m."""
    walk = steps(study)
    frame = int(walk["contacts"].ground_force.sel(side=SIDE, axis="y").fillna(0).argmax("time"))
    segments = foot_and_shank(walk, frame)
    matrix, right_hand_sides = block_matrix.system_matrix(segments), block_matrix.right_hand_sides(segments)
    rows = np.concatenate(right_hand_sides, axis=-1).reshape(4, 12).T
    solution = np.linalg.solve(matrix, rows).T.reshape(4, 2, 6)  # term, segment, force and moment
    running_sums = np.concatenate(block_matrix.solve(segments, *right_hand_sides), axis=-1)
    by_term = solution[..., 3:]
    stored = walk["kinetics"].sel(side=SIDE, joint=JOINTS)
    now, during = stored.isel(time=frame), stored.isel(time=stance(walk, frame))
    draw(output, matrix, walk, frame)
    others = during.joint_moment_term.sel(term=["inertia", "velocity", "gravity"]).sum("term", skipna=False)
    return {
        "A": matrix,
        "A, moments in lab axes": with_moments_in_lab_axes(matrix, segments.rotation),
        "determinant": np.linalg.det(matrix),
        "largest element above the diagonal": np.abs(np.triu(matrix, 1)).max(),
        "ankle moment": by_term.sum(axis=0)[0],
        "knee moment": by_term.sum(axis=0)[1],
        "solution, from the running sums": np.abs(solution - running_sums).max(),
        "by term, from the stored ones": np.abs(np.swapaxes(by_term, 0, 1) - now.joint_moment_term.values).max(),
        "sum, from the stored one": np.abs(by_term.sum(axis=0) - now.joint_moment.values).max(),
        "largest of all but the ground in stance, ankle and knee": np.abs(others).max(["time", "local_axis"]).values,
        "share of the ground in the ankle's z": by_term[3, 0, 2] / by_term[:, 0, 2].sum(),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "ankle_and_knee.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    for name, value in main(parser.parse_args().output).items():
        print(f"{name}\n{in_blocks(value)}\n" if np.shape(value) == (12, 12) else f"{name} {value}")  # noqa: T201
