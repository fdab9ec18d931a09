"""One walk through OpenSim: inverse kinematics of points, muscle geometry, static optimisation, joint reactions.

OpenSim's tools work on files; all are written to, and read from, one folder.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ....arrays import Array
from ....opensim_files.mot import read_table
from .. import setup_files
from ..motion_files import Columns, trc
from .scaled_model import opensim, reported

# of all muscles, after that of the model; with each, fibres of some 2 % of the frames have no equilibrium [measured]
START_ACTIVATIONS = (0.2, 0.5, 1.0, 0.01, 0.1)
NO_EQUILIBRIUM = "equilibrateMuscles"  # in OpenSim's message
NAME, MODEL = "analysis", Path(setup_files.SCALED_MODEL)  # of the files
ROOM, ROOM_BYTES = "room", 2**16  # a file that fits onto a disk that was not full


class Geometry(NamedTuple):
    """Lengths (time,) of muscles with their tendons by name, m, and moment arms (time,) by coordinate and muscle, m."""

    length: Columns
    arm: Mapping[tuple[str, str], Array]


class Forces(NamedTuple):
    """What OpenSim finds at each instant (time,) by name in the model, SI units."""

    time: Array
    activation: Columns
    force: Columns  # of each muscle, N, and moment of each reserve actuator, N m
    moment: Columns  # of each coordinate by inverse dynamics, N m, ``name_moment``
    reaction: Columns  # on the distal body, lab axes, ``joint_on_body_in_ground_fx``, N

    def force_of_joint(self, joint: str) -> Array:
        """Return the force (time, 3) on the distal body of a joint, lab axes, N."""
        start = next(name for name in self.reaction if name.startswith(f"{joint}_on_") and name.endswith("_fx"))
        return np.stack([self.reaction[start[:-1] + axis] for axis in "xyz"], axis=-1)


def refuse_full_disk(folder: Path) -> None:
    """Write a small file into a folder and remove it.

    Raises:
        OSError: the disk is full. OpenSim does not say so: it ends its files early, or fails with another message.
    """
    with (folder / ROOM).open("wb") as handle:
        handle.write(bytes(ROOM_BYTES))
        handle.flush()
        os.fsync(handle.fileno())  # a share may say so only then
    (folder / ROOM).unlink()


@contextmanager
def here(folder: Path) -> Iterator[None]:
    """Work in a folder, without what OpenSim prints. Its tools change folders, and do not return if they fail.

    Raises:
        OSError: the disk is full.
    """
    before, screen = Path.cwd(), os.dup(1)
    os.chdir(folder)
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(screen, 1)
        os.close(screen)
        os.chdir(before)
        refuse_full_disk(folder)


def fit_motion(folder: Path, name: str, time: Array, points: Mapping[str, Array], *, rate_hz: float) -> Columns:
    """Return the coordinates of the scaled model in a folder at instants (time,), degrees and m, ``time`` first.

    The sum of the squared distances of the points (time, 3), m, from those of the model is least in each frame.
    """
    seen = {label: point for label, point in points.items() if np.isfinite(point).all()}
    setup = setup_files.inverse_kinematics(
        name,
        markers=f"{name}.trc",
        weights=dict.fromkeys(seen, 1.0),
        time=(time[0], time[-1]),
        output=f"{name}.mot",
        accuracy=1e-9,
    )
    (folder / f"{name}.trc").write_text(trc(name, time, seen, rate_hz=rate_hz))
    (folder / f"{name}_ik.xml").write_bytes(setup)
    with here(folder), reported(MODEL):
        opensim().InverseKinematicsTool(f"{name}_ik.xml").run()
    return read_table(folder / f"{name}.mot")


def geometry(model_file: Path, motion: Columns, moved: Mapping[str, Sequence[str]]) -> Geometry:
    """Return lengths and moment arms of muscles over a motion of a model, degrees and m.

    Args:
        moved: the coordinates about which each muscle has a moment arm, by its name.
    """
    library = opensim()
    with reported(model_file):
        model = library.Model(str(model_file))
        state = model.initSystem()
        every = {coordinate.getName(): coordinate for coordinate in model.getCoordinateSet()}
        posed = {
            name: coordinate for name, coordinate in every.items() if name in motion and not coordinate.getLocked(state)
        }
        turns = {name for name, one in posed.items() if one.getMotionType() == library.Coordinate.Rotational}
        muscles = {name: model.getMuscles().get(name) for name in moved}
        lengths, arms = [], []
        for row in range(len(motion["time"])):
            for name, coordinate in posed.items():
                value = float(motion[name][row])
                coordinate.setValue(state, np.radians(value) if name in turns else value, False)
            model.realizePosition(state)
            lengths.append([muscle.getLength(state) for muscle in muscles.values()])
            arms.append([muscles[name].computeMomentArm(state, every[of]) for name in moved for of in moved[name]])
    pairs = [(of, name) for name in moved for of in moved[name]]
    return Geometry(
        dict(zip(muscles, np.transpose(lengths), strict=True)), dict(zip(pairs, np.transpose(arms), strict=True))
    )


def share_moments(
    folder: Path,
    walk: setup_files.Walk,
    *,
    joints: Sequence[str],
    activation_exponent: float,
    actuators: str = "",
    interval: int = 1,
) -> Forces:
    """Return what static optimisation, joint reactions and inverse dynamics find of the scaled model in a folder.

    Static optimisation minimises the sum of the activations to a power. It takes tendons as stiff and leaves out what
    fibres bear passively.

    Args:
        joints: those of which the reaction is wanted.
        actuators: file of further actuators; empty without.
        interval: number of rows of the motion from one instant to the next.

    Raises:
        UserError: OpenSim fails.
    """
    library, count = opensim(), len(joints)
    analyses = {
        "StaticOptimization": {
            "use_model_force_set": "true",
            "activation_exponent": f"{activation_exponent:g}",
            "use_muscle_physiology": "true",
        },
        "JointReaction": {
            "forces_file": f"{NAME}_StaticOptimization_force.sto",
            "joint_names": " ".join(joints),
            "apply_on_bodies": " ".join(["child"] * count),
            "express_in_frame": " ".join(["ground"] * count),
        },
    }
    with here(folder), reported(MODEL):
        for kind, content in analyses.items():  # the second one reads the forces of the first
            setup = setup_files.analysis(NAME, walk, analyses={kind: content}, actuators=actuators, interval=interval)
            Path(f"{kind}.xml").write_bytes(setup)
            _analyse(library, f"{kind}.xml")
        dynamics = setup_files.inverse_dynamics(NAME, walk, cutoff_hz=setup_files.NOT_FILTERED, output=f"{NAME}_id.sto")
        Path("dynamics.xml").write_bytes(dynamics)
        library.InverseDynamicsTool("dynamics.xml").run()
        results = ("StaticOptimization_activation", "StaticOptimization_force", "id", "JointReaction_ReactionLoads")
        activation, force, every, reaction = (read_table(Path(f"{NAME}_{name}.sto")) for name in results)
    moment = {name: np.interp(force["time"], every["time"], values) for name, values in every.items()}
    return Forces(force["time"], activation, force, moment, reaction)


def _analyse(library: Any, setup: str) -> None:
    """Run Analyze. If no equilibrium of the fibres is found at its start, try others: no result depends on it."""
    for activation in START_ACTIVATIONS:
        try:
            library.AnalyzeTool(setup).run()
        except RuntimeError as error:
            if NO_EQUILIBRIUM not in str(error) or activation == START_ACTIVATIONS[-1]:
                raise
        else:
            return
        other = library.Model(MODEL.name)
        for muscle in other.getMuscles():
            library.ActivationFiberLengthMuscle.safeDownCast(muscle).setDefaultActivation(activation)
        other.finalizeConnections()
        other.printToXML(MODEL.name)
