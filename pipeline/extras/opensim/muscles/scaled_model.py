"""The model of a person: the user's model of OpenSim, scaled by joint centres, with points that the motion moves.

Names of bodies and coordinates are those of OpenSim's own leg models (Gait2354, Gait2392, Rajagopal 2016). The origins
of femur, tibia and talus are hip, knee and ankle; body axes are x forward, y up, z to the right, as the study's are.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ....arrays import Array
from ....conventions import SIDES
from ....errors import UserError
from ..setup_files import OF_SIDE
from . import pelvis
from .pelvis import Pelvis, Spines

ENDS = tuple(OF_SIDE[side] for side in SIDES)  # of names, in the order of the dimension side
BODIES = {"hip": "femur", "knee": "tibia", "ankle": "talus"}  # with the joint's centre as origin
COORDINATES = {  # of a leg, by joint
    "ankle": ("ankle_angle", "subtalar_angle"),
    "knee": ("knee_angle",),
    "hip": ("hip_flexion", "hip_adduction", "hip_rotation"),
}
OF_LEG = tuple(name for names in COORDINATES.values() for name in names)
OF_PELVIS = tuple(f"pelvis_{name}" for name in ("tilt", "list", "rotation", "tx", "ty", "tz"))
TIP_M = 0.15  # distance of the points that show a body's axes from its joint centre, as far as markers are
RESIDUAL = 1000.0  # N and N m, the size of actuators of the pelvis; no muscle shares their load, so none depends on it
BENT_RAD = 0.5  # of the knee: a muscle without an arm in one posture has one in another
SHORTEST_ARM_M = 1e-6  # of a muscle that crosses a joint; others have 0 but for rounding
REMEDY = "name a model with the bodies and coordinates of Gait2392 (femur_r, tibia_r, talus_r, calcn_r, hip_flexion_r)"


class Sizes(NamedTuple):
    """The sizes of a person: joint centres and spines of the pelvis, lengths of segments, body mass."""

    hip: Mapping[str, Array]  # by side, the hip's centre (3,) from the pelvis's origin, pelvis axes, m
    length_m: Mapping[tuple[str, str], float]  # by side and segment: thigh, shank, foot (heel to toe)
    mass_kg: float
    spines: Spines | None  # None if they have no markers


class Tip(NamedTuple):
    """A point on a body of the model, and where the motion has it: at a joint centre, or along an axis from there."""

    name: str
    body: str
    place: Array  # (3,) in body axes, m
    side: str
    joint: str  # the joint centre it is at, or from which it is; ``pelvis`` for the midpoint of the hips
    segment: str = ""  # the axes that it shows; empty for a joint centre
    offset: Array | None = None  # (3,) from the joint centre in the model's axes of the segment, m


class ScaledModel(NamedTuple):
    """What is known of a scaled model."""

    muscles: tuple[str, ...]  # of the legs, without the end of their side
    coordinates: tuple[str, ...]  # of a leg, those that the model has and muscles move, in the order of OF_LEG
    moved: Mapping[str, tuple[str, ...]]  # the coordinates that each muscle moves, whole names
    tips: tuple[Tip, ...]
    joints: Mapping[str, str]  # the name of the joint in the model, by name of the body with its centre
    pelvis: Pelvis
    factors: Mapping[str, Array]  # of scale (3,), by body


def opensim() -> Any:
    """Return the library without its messages and its log file, opensim.log, in the current folder."""
    import opensim as library

    library.Logger.removeFileSink()
    library.Logger.setLevelString("Off")
    return library


@contextmanager
def reported(model: Path) -> Iterator[None]:
    """Raise UserError for an error of OpenSim."""
    try:
        yield
    except RuntimeError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise UserError(str(model), f"OpenSim fails: {' '.join(lines[:2])}", REMEDY) from None


def write_scaled_model(
    generic: Path, output: Path, sizes: Sizes, *, strength: float, reserve_n_m: float
) -> ScaledModel:
    """Scale a model, keep the muscles of its legs, add actuators and points, and write it.

    The pelvis is scaled by the spines (:mod:`.pelvis`) and keeps its shape about each hip, which is put to the person's
    place. The other bodies are scaled alike along all axes: thigh and shank by the distances of the joint centres, the
    foot by that of heel and toe, the trunk as the legs on average; all masses together to the person's.
    Coordinates of other joints, and those that the model locks, are locked at 0, so that the trunk moves with the
    pelvis, and muscles that move no leg are taken out.

    Args:
        strength: factor of the largest isometric forces.
        reserve_n_m: moment of the reserve actuator of each coordinate of a leg that costs as much as a whole muscle.

    Raises:
        UserError: OpenSim cannot read the model, or it lacks a body or coordinate.
    """
    library = opensim()
    with reported(generic):
        model = library.Model(str(generic))
        state = _at_zero(model)
        places = _places(model, state)
        own = pelvis.fit_pelvis(_markers(model), _hips(places), sizes.hip, sizes.spines)
        factors = {"pelvis": own.factors} | _factors(places, sizes)
        scales = library.ScaleSet()
        for body, factor in factors.items():
            scale = library.Scale()
            scale.setSegmentName(body)
            scale.setScaleFactors(library.Vec3(*factor.tolist()))
            scale.setApply(True)
            scales.cloneAndAppend(scale)
        model.scale(state, scales, True, sizes.mass_kg)
        hips = _hips(_places(model, _at_zero(model)))
        _move_hips(library, model, pelvis.shifts(hips, sizes.hip, own.tilt_rad))
        state = _at_zero(model)
        places = _places(model, state)
        tips = _tips(places)
        moved = _moved(model, state)
        _lock_and_drive(library, model, state, reserve_n_m)
        forces = model.updForceSet()
        for name in (name for name, coordinates in moved.items() if not coordinates):
            forces.remove(forces.getIndex(name))
        for muscle in model.getMuscles():
            muscle.setMaxIsometricForce(strength * muscle.getMaxIsometricForce())
        for tip in tips:
            body, place = model.getBodySet().get(tip.body), library.Vec3(*tip.place.tolist())
            model.addMarker(library.Marker(tip.name, body, place))
        joints = {joint.getChildFrame().findBaseFrame().getName(): joint.getName() for joint in model.getJointSet()}
        model.finalizeConnections()
        model.printToXML(str(output))
    muscles = tuple(name[:-2] for name in moved if moved[name] and name.endswith("_r") and moved.get(f"{name[:-1]}l"))
    coordinates = tuple(name for name in OF_LEG if any(name in of_muscle for of_muscle in moved.values()))
    crossed = {
        name: tuple(f"{of}_{name[-1]}" for of in coordinates if of in moved[name]) for name in moved if moved[name]
    }
    return ScaledModel(muscles, coordinates, crossed, tips, joints, own, factors)


def _at_zero(model: Any) -> Any:
    """Return the state of a model with all coordinates at 0."""
    for coordinate in model.getCoordinateSet():
        coordinate.setDefaultValue(0.0)
    state = model.initSystem()
    model.realizePosition(state)
    return state


def _places(model: Any, state: Any) -> dict[str, Array]:
    """Return the origins (3,) of the legs' bodies in ground with all coordinates at 0, where all axes are the lab's."""
    names = [*BODIES.values(), "calcn", "toes"]
    bodies = ["pelvis", *(f"{name}_{letter}" for name in names for letter in OF_SIDE.values())]
    frames = model.getBodySet()
    return {body: np.array(frames.get(body).getPositionInGround(state).to_numpy()) for body in bodies}


def _hips(places: Mapping[str, Array]) -> dict[str, Array]:
    return {side: places[f"femur_{end}"] - places["pelvis"] for side, end in OF_SIDE.items()}


def _markers(model: Any) -> dict[str, Array]:
    """Return the places (3,) of the markers on the pelvis by name, m."""
    every = model.getMarkerSet()
    markers = [every.get(i) for i in range(every.getSize())]
    on = [marker for marker in markers if marker.getParentFrame().findBaseFrame().getName() == "pelvis"]
    return {marker.getName(): np.array(marker.get_location().to_numpy()) for marker in on}


def _factors(places: Mapping[str, Array], sizes: Sizes) -> dict[str, Array]:
    """Return the scale (3,) of each body but the pelvis."""

    def apart(one: str, other: str) -> float:
        return float(np.linalg.norm(places[one] - places[other]))

    factors: dict[str, float] = {}
    for side, end in OF_SIDE.items():
        lengths = {
            "thigh": apart(f"femur_{end}", f"tibia_{end}"),
            "shank": apart(f"tibia_{end}", f"talus_{end}"),
            "foot": apart(f"calcn_{end}", f"toes_{end}"),
        }
        own = {name: sizes.length_m[side, name] / length for name, length in lengths.items()}
        if not np.isfinite(own["foot"]):  # heel or toe has no landmark
            own["foot"] = (own["thigh"] + own["shank"]) / 2
        factors |= {f"femur_{end}": own["thigh"], f"tibia_{end}": own["shank"]}
        factors |= dict.fromkeys((f"talus_{end}", f"calcn_{end}", f"toes_{end}"), own["foot"])
    legs = [factors[f"{body}_{end}"] for body in ("femur", "tibia") for end in OF_SIDE.values()]
    factors["torso"] = float(np.mean(legs))
    return {body: np.full(3, factor) for body, factor in factors.items()}


def _move_hips(library: Any, model: Any, shift: Mapping[str, Array]) -> None:
    """Move hips in the pelvis by (3,), m, each with what the muscles of its leg touch there, so that all arms stay."""
    for side, end in OF_SIDE.items():
        joint = next(one for one in model.getJointSet() if _body_of(one.getChildFrame()) == f"femur_{end}")
        hip = library.PhysicalOffsetFrame.safeDownCast(joint.getParentFrame())
        hip.set_translation(_moved_by(library, hip.get_translation(), shift[side]))
        wraps = set()
        for path in (muscle.updGeometryPath() for muscle in model.getMuscles() if muscle.getName()[-1] == end):
            points, wrapped = path.updPathPointSet(), path.getWrapSet()
            wraps |= {wrapped.get(i).getWrapObjectName() for i in range(wrapped.getSize())}
            for point in (library.PathPoint.safeDownCast(points.get(i)) for i in range(points.getSize())):
                if point is not None and _body_of(point.getParentFrame()) == "pelvis":
                    point.set_location(_moved_by(library, point.get_location(), shift[side]))
        objects = model.getBodySet().get("pelvis").getWrapObjectSet()
        for one in (objects.get(i) for i in range(objects.getSize())):
            if one.getName() in wraps:
                one.set_translation(_moved_by(library, one.get_translation(), shift[side]))


def _moved_by(library: Any, place: Any, shift: Array) -> Any:
    return library.Vec3(*(place.to_numpy() + shift).tolist())


def _body_of(frame: Any) -> str:
    return str(frame.findBaseFrame().getName())


def _tips(places: Mapping[str, Array]) -> tuple[Tip, ...]:
    """Return the points of the model: its joint centres, and tips of the axes of pelvis, thigh and foot.

    The shank shows no axis: the model's knee is a hinge, so that the thigh gives its rotation.
    """
    x, y, z = TIP_M * np.eye(3)
    middle = (places["femur_r"] + places["femur_l"]) / 2 - places["pelvis"]
    tips = [
        Tip(f"pelvis_{axis}", "pelvis", middle + offset, "right", "pelvis", "pelvis", offset)
        for axis, offset in (("x", x), ("y", y))
    ]
    for side, end in OF_SIDE.items():
        hip, knee, ankle = (places[f"{BODIES[joint]}_{end}"] for joint in ("hip", "knee", "ankle"))
        nowhere, heel = np.zeros(3), places[f"calcn_{end}"]
        tips += [
            Tip(f"hip_centre_{end}", "pelvis", hip - places["pelvis"], side, "hip"),
            Tip(f"knee_centre_{end}", f"tibia_{end}", nowhere, side, "knee"),
            Tip(f"ankle_centre_{end}", f"talus_{end}", nowhere, side, "ankle"),
            Tip(f"thigh_z_{end}", f"femur_{end}", knee - hip + z, side, "knee", "thigh", z),
            *(
                Tip(f"foot_{axis}_{end}", f"calcn_{end}", ankle - heel + offset, side, "ankle", "foot", offset)
                for axis, offset in (("x", x), ("y", y))
            ),
        ]
    return tuple(tips)


def _moved(model: Any, state: Any) -> dict[str, set[str]]:
    """Return the coordinates of its leg that each muscle moves, without the end of the side."""
    every = {one.getName(): one for one in model.getCoordinateSet() if not one.get_locked()}
    for end in OF_SIDE.values():
        if (knee := every.get(f"knee_angle_{end}")) is None:
            raise UserError("", f"no coordinate knee_angle_{end} that is free", REMEDY)
        knee.setValue(state, np.sign(knee.getRangeMin() + knee.getRangeMax()) * BENT_RAD)
    model.realizePosition(state)
    moved: dict[str, set[str]] = {}
    for muscle in model.getMuscles():
        end = muscle.getName()[-1]
        own = {name: every[f"{name}_{end}"] for name in OF_LEG if f"{name}_{end}" in every}
        arms = {name: muscle.computeMomentArm(state, coordinate) for name, coordinate in own.items()}
        moved[muscle.getName()] = {name for name, arm in arms.items() if abs(arm) > SHORTEST_ARM_M}
    return moved


def _lock_and_drive(library: Any, model: Any, state: Any, reserve_n_m: float) -> None:
    """Lock what does not belong to pelvis or legs, and add a reserve actuator to each other coordinate."""
    driven = {*OF_PELVIS, *(f"{name}_{end}" for name in OF_LEG for end in OF_SIDE.values())}
    for coordinate in model.getCoordinateSet():
        name = coordinate.getName()
        if name not in driven or coordinate.get_locked():
            coordinate.set_locked(not coordinate.isDependent(state))
            continue
        actuator = library.CoordinateActuator(name)
        actuator.setName(f"reserve_{name}")
        actuator.setOptimalForce(RESIDUAL if name in OF_PELVIS else reserve_n_m)
        actuator.setMinControl(-np.inf)
        actuator.setMaxControl(np.inf)
        model.addForce(actuator)
