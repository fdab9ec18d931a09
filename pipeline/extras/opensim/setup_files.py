"""Setup files (XML) of OpenSim's tools Scale, InverseKinematics, InverseDynamics, Analyze, and of external loads.

Names of bodies are those of OpenSim's own models (Gait2354, Gait2392, Rajagopal 2016).
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

OF_SIDE = {"right": "r", "left": "l"}  # end of the names of bodies and coordinates
VERSION = "40000"  # of the documents; OpenSim 4 reads it
SCALED_MODEL = "scaled_model.osim"
NOT_FILTERED = -1.0  # as a cut-off of OpenSim
PRECISION = 16  # digits of numbers in results
Pairs = tuple[tuple[str, str], ...]
ENDS = ("lateral", "medial")
# a measurement: bodies that it scales, and pairs of points that bound them, of the first group that is there
MEASUREMENTS: dict[str, tuple[tuple[str, ...], list[Pairs]]] = {
    "pelvis": (("pelvis",), [(("asis_left", "asis_right"), ("psis_left", "psis_right"))]),
    "thigh": (
        ("femur",),
        [
            tuple(("hip", f"{end}_epicondyle") for end in ENDS),
            (("hip", "knee"),),
            tuple(("asis", f"{end}_epicondyle") for end in ENDS),
        ],
    ),
    "shank": (("tibia",), [tuple((f"{end}_epicondyle", f"{end}_malleolus") for end in ENDS), (("knee", "ankle"),)]),
    "foot": (("talus", "calcn", "toes"), [(("heel", "toe_tip"),), (("heel", "toe"),)]),
}

# the same of trunk and arms, for a model that has these bodies and markers
OF_UPPER_BODY: dict[str, tuple[tuple[str, ...], list[Pairs]]] = {
    "torso": (("torso",), [(("asis_left", "acromion_left"), ("asis_right", "acromion_right"))]),
    "upper_arm": (("humerus",), [tuple(("acromion", f"elbow_{end}") for end in ENDS)]),
    "forearm": (
        ("ulna", "radius"),
        [
            (("elbow_lateral", "wrist_radial"), ("elbow_medial", "wrist_ulnar")),
            (("elbow_lateral", "wrist_radial"), ("elbow_lateral", "wrist_ulnar")),
            (("elbow_lateral", "wrist_marker"),),
        ],
    ),
    "hand": (("hand",), [(("wrist_radial", "knuckle"), ("wrist_ulnar", "knuckle")), (("wrist_marker", "knuckle"),)]),
}
MIDDLE = ("pelvis", "torso")

Weights = Mapping[str, float]  # of the markers by name


class Walk(NamedTuple):
    """What tools load of a walk: the files of its coordinates and of its external loads, and first and last instant."""

    motion: str
    loads: str
    time: tuple[float, float]  # s


def external_loads(name: str, table: str) -> bytes:
    """Return the external loads: the ground reaction on the calcaneus of each foot, in ``table``."""
    forces = [
        _element(
            "ExternalForce",
            {
                "applied_to_body": f"calcn_{letter}",
                "force_expressed_in_body": "ground",
                "point_expressed_in_body": "ground",
                "force_identifier": f"ground_force_{letter}_v",
                "point_identifier": f"ground_force_{letter}_p",
                "torque_identifier": f"ground_torque_{letter}_",
                "data_source_name": "Unassigned",
            },
            name=side,
        )
        for side, letter in OF_SIDE.items()
    ]
    return _document(_element("ExternalLoads", {"objects": forces, "groups": "", "datafile": table}, name=name))


def inverse_kinematics(
    name: str, *, markers: str, weights: Weights, time: tuple[float, float], output: str, accuracy: float = 1e-5
) -> bytes:
    """Return the setup of InverseKinematics for a marker file."""
    content = {
        "results_directory": ".",
        "model_file": SCALED_MODEL,
        "constraint_weight": "Inf",
        "accuracy": f"{accuracy:g}",
        "IKTaskSet": {"objects": _tasks(weights)},
        "marker_file": markers,
        "coordinate_file": "Unassigned",
        "time_range": _numbers(time),
        "report_errors": "true",
        "output_motion_file": output,
    }
    return _document(_element("InverseKinematicsTool", content, name=name))


def inverse_dynamics(name: str, walk: Walk, *, cutoff_hz: float, output: str) -> bytes:
    """Return the setup of InverseDynamics; it filters the coordinates (Hz, -1: not)."""
    content = {
        "results_directory": ".",
        "model_file": SCALED_MODEL,
        "time_range": _numbers(walk.time),
        "forces_to_exclude": "Muscles",
        "external_loads_file": walk.loads,
        "coordinates_file": walk.motion,
        "lowpass_cutoff_frequency_for_coordinates": f"{cutoff_hz:g}",
        "output_gen_force_file": output,
    }
    return _document(_element("InverseDynamicsTool", content, name=name))


def analysis(
    name: str, walk: Walk, *, analyses: Mapping[str, Mapping[str, str]], actuators: str = "", interval: int = 1
) -> bytes:
    """Return the setup of Analyze with analyses and their properties, by class, at every so many rows of the motion."""
    start, end = (f"{instant:.8f}" for instant in walk.time)
    common = {"on": "true", "start_time": start, "end_time": end}
    common |= {"step_interval": f"{interval}", "in_degrees": "true"}
    every = [_element(kind, {**common, **content}, name=kind) for kind, content in analyses.items()]
    content = {
        "model_file": SCALED_MODEL,
        "replace_force_set": "false",
        "force_set_files": actuators,
        "results_directory": ".",
        "output_precision": f"{PRECISION}",
        "initial_time": start,
        "final_time": end,
        "solve_for_equilibrium_for_auxiliary_states": "false",
        "AnalysisSet": {"objects": every},
        "external_loads_file": walk.loads,
        "coordinates_file": walk.motion,
        "lowpass_cutoff_frequency_for_coordinates": f"{NOT_FILTERED:g}",
    }
    return _document(_element("AnalyzeTool", content, name=name))


def scale(
    name: str,
    *,
    model: str,
    markers: str,
    weights: Weights,
    landmarks: Mapping[str, str],
    bodies: Collection[str],
    mass_kg: float,
    height_m: float,
    time: tuple[float, float],
) -> bytes:
    """Return the setup of Scale: body segments by the distances of markers in the static trial.

    These are pelvis, thighs, shanks and feet, and trunk and arms of a model that has them. Other bodies keep their
    size; the mass is distributed as in the model.

    Args:
        weights: of the markers that place the model's.
        landmarks: name of the marker of each landmark, and of each joint centre, such as ``hip_left``.
        bodies: of the model; none if it is unknown.
        mass_kg, height_m: of the person; the height may be NaN.
        time: of the static trial, s.
    """
    measured = {
        "apply": "true",
        "scaling_order": "measurements",
        "MeasurementSet": {"objects": _measurements(landmarks, bodies)},
        "marker_file": markers,
        "time_range": _numbers(time),
        "preserve_mass_distribution": "true",
    }
    placed = {
        "apply": "true",
        "IKTaskSet": {"objects": _tasks(weights)},
        "marker_file": markers,
        "time_range": _numbers(time),
        "output_model_file": SCALED_MODEL,
        "max_marker_movement": "-1",
    }
    content = {
        "mass": f"{mass_kg:g}",
        "height": f"{1000 * height_m:g}" if np.isfinite(height_m) else "-1",
        "age": "-1",
        "GenericModelMaker": {"model_file": model, "marker_set_file": "Unassigned"},
        "ModelScaler": measured,
        "MarkerPlacer": placed,
    }
    return _document(_element("ScaleTool", content, name=name))


def find_unmeasured(landmarks: Mapping[str, str]) -> list[str]:
    """Return the names of the measurements without a pair of markers, such as ``thigh_r``."""
    sides = [f"{measure}_{letter}" for measure in MEASUREMENTS if measure != "pelvis" for letter in OF_SIDE.values()]
    measured = {measure.get("name") for measure in _measurements(landmarks, ())}
    return [name for name in ("pelvis", *sides) if name not in measured]


def _measurements(landmarks: Mapping[str, str], bodies: Collection[str]) -> list[ET.Element]:
    """Return the measurements that have a pair of markers; the mean of several pairs counts.

    Args:
        bodies: of the model; trunk and arms are measured if they are among them.
    """
    measurements = []
    for measure, (segments, groups) in (MEASUREMENTS | OF_UPPER_BODY).items():
        for side, letter in {"": ""}.items() if measure in MIDDLE else OF_SIDE.items():
            named = {end.removesuffix(f"_{side}"): marker for end, marker in landmarks.items()}
            pairs = ([f"{named[a]} {named[b]}" for a, b in group if {a, b} <= {*named}] for group in groups)
            scaled = [f"{body}_{letter}" if side else body for body in segments]
            present = measure in MEASUREMENTS or {*scaled} <= {*bodies}
            if complete := next(filter(None, pairs), []) if present else []:
                content = {
                    "apply": "true",
                    "MarkerPairSet": {"objects": [_element("MarkerPair", {"markers": pair}) for pair in complete]},
                    "BodyScaleSet": {
                        "objects": [_element("BodyScale", {"axes": "X Y Z"}, name=body) for body in scaled]
                    },
                }
                measurements.append(_element("Measurement", content, name=f"{measure}_{letter}" if side else measure))
    return measurements


def _tasks(weights: Weights) -> list[ET.Element]:
    return [
        _element("IKMarkerTask", {"apply": "true", "weight": f"{weight:g}"}, name=marker)
        for marker, weight in weights.items()
    ]


def _numbers(values: tuple[float, float]) -> str:
    return " ".join(f"{value:.8f}" for value in values)


def _element(tag: str, content: Any, *, name: str = "") -> ET.Element:
    """Return an element with text, listed elements, or children by tag."""
    element = ET.Element(tag, {"name": name} if name else {})
    if isinstance(content, str):
        element.text = content
    else:
        children = content if isinstance(content, list) else [_element(*one) for one in content.items()]
        element.extend(children)
    return element


def _document(tool: ET.Element) -> bytes:
    root = ET.Element("OpenSimDocument", {"Version": VERSION})
    root.append(tool)
    ET.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode").encode() + b"\n"
