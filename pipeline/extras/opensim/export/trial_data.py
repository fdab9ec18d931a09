"""What OpenSim gets of a trial: markers as recorded but repaired, loads of valid stances, joint angles."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from ....arrays import Array
from ....body.body_model import BodyModel
from ....body.landmarks import choose_labels, positions
from ....body.skeleton import moving_legs, read_sides
from ....conventions import JOINTS
from ....plates.wrench import centre_of_pressure
from ....signals.filters import interval_s, stretches
from ....steps.clean.plate_forces import low_pass_plates, subtract_baselines
from ....steps.clean.settings import Settings as CleanSettings
from ....trials.session import Trial
from ..motion_files import Columns, load_columns
from ..setup_files import OF_SIDE

CENTRES = {(side, joint): f"{side[0]}{joint[0]}jc".upper() for side in OF_SIDE for joint in JOINTS}  # virtual markers
COORDINATES = {  # names of OpenSim's models, where these have such a coordinate
    ("hip", "flexion"): "hip_flexion",
    ("hip", "adduction"): "hip_adduction",
    ("hip", "rotation"): "hip_rotation",
    ("knee", "flexion"): "knee_angle",
    ("knee", "adduction"): "knee_adduction",
    ("knee", "rotation"): "knee_rotation",
    ("ankle", "flexion"): "ankle_angle",
    ("ankle", "adduction"): "ankle_adduction",
    ("ankle", "rotation"): "ankle_rotation",
}


def markers(read: Trial, repaired: Trial | None = None, body_model: BodyModel | None = None) -> dict[str, Array]:
    """Return the positions (time, 3) of the markers that are seen, m, by label.

    Samples are as recorded, unfiltered, or as the step ``clean`` repaired them (gaps filled, spikes taken out, labels
    exchanged back). A landmark that is the mean of several markers repairs none of them.

    Args:
        repaired: the trial from ``clean`` without its filter; None for a static trial.
        body_model: names the landmarks of trunk, head and arms.
    """
    labels = [str(label) for label in read["marker"].values]
    position = read["marker_position"].values.copy()
    if repaired is not None:
        for i, label in enumerate(repaired["label"].values.tolist()):
            if label in labels:
                changed = (repaired["fill"].values[:, i] > 0) & np.isfinite(repaired["marker_position"].values[:, i, 0])
                position[changed, labels.index(label)] = repaired["marker_position"].values[changed, i]
        chosen = upper_labels(body_model, labels) if body_model and "upper_marker" in repaired.variables else {}
        for i, landmark in enumerate(repaired["upper_marker"].values.tolist() if chosen else ()):
            if landmark in chosen:
                filled = np.isfinite(repaired["upper_marker_position"].values[:, i, 0])
                position[filled, labels.index(chosen[landmark])] = repaired["upper_marker_position"].values[filled, i]
    return {label: position[:, i] for i, label in enumerate(labels) if np.isfinite(position[:, i]).any()}


def upper_labels(body_model: BodyModel, labels: Collection[str]) -> dict[str, str]:
    """Return the label of each landmark of trunk, head and arms that is one marker."""
    groups = choose_labels(BodyModel(body_model.name, body_model.upper_landmarks), labels)
    return {landmark: group[0] for landmark, group in groups.items() if len(group) == 1}


def with_centres(markers: dict[str, Array], centres: Mapping[tuple[str, str], Array]) -> dict[str, Array]:
    """Return markers and, as virtual ones, the joint centres that are known (``RHJC``, ``RKJC``, ``RAJC``, ``LHJC``).

    Labels of the recording win.

    Args:
        markers: positions (time, 3), m, by label.
    """
    visible = {CENTRES[of]: centre for of, centre in centres.items() if np.isfinite(centre).any()}
    return markers | {name: centre for name, centre in visible.items() if name not in markers}


def moving_centres(kinematics: Trial) -> dict[tuple[str, str], Array]:
    """Return the joint centres (time, 3) of a walk by side and joint."""
    position = kinematics["joint_centre"].values
    sides, joints = (kinematics[name].values.tolist() for name in ("side", "joint"))
    return {(side, joint): position[:, sides.index(side), joints.index(joint)] for side, joint in CENTRES}


def static_centres(static: Trial, calibrate: xr.Dataset, body_model: BodyModel) -> dict[tuple[str, str], Array]:
    """Return the joint centres of the static trial as :func:`moving_centres` does, posed as a walk is."""
    labels, position = static["marker"].values.astype(str).tolist(), static["marker_position"].values
    points = positions(body_model, labels, position)
    legs = moving_legs(points, body_model.legs, read_sides(calibrate), len(position))
    return {(side, joint): legs[side].centres[f"{joint}_centre"] for side, joint in CENTRES}


def loads(read: Trial, clean: Trial, contacts: Trial, *, settings: Mapping[str, Any], filtered: bool) -> Columns:
    """Return the ground reaction on each foot at the plate's rate, as columns of an external load.

    Each foot has a force (N), the point where it acts (m) and a torque about this point (N m), lab axes. Swings and
    stances without known force have no load. The point is the centre of pressure where the vertical force is above the
    threshold of contacts, so that the torque is the free moment. Below, where it is not defined, it is the nearest one
    in time, and the torque is the whole moment about it: the wrench is the plate's at every sample.
    """
    instants, numbers = read["plate_time"].values, read["plate"].values.tolist()
    position = clean["marker_position"].values
    wrench, *_ = subtract_baselines(
        read, {name: position[:, i] for i, name in enumerate(clean["marker"].values.tolist())}
    )
    if filtered:
        wrench = low_pass_plates(wrench, instants, CleanSettings(**settings["clean"]))
    columns = {"time": instants}
    for side in OF_SIDE:
        total, point = np.zeros((len(instants), 6)), np.full((len(instants), 3), np.nan)
        for start_s, end_s, plates in _stances_with_load(contacts, side):
            inside = slice(*instants.searchsorted([start_s - 1e-9, end_s + 1e-9]))
            pressed = [numbers.index(int(number)) for number in plates.split()]
            total[inside] += np.nan_to_num(wrench[inside][:, pressed].sum(axis=1))
            loaded = inside.start + np.flatnonzero(total[inside, 1] > settings["contacts"]["threshold_n"])
            corners = read["plate_corner"].values[pressed[0]]
            point[loaded], _ = centre_of_pressure(total[loaded, :3], total[loaded, 3:], corners)
        columns |= load_columns(side, total[:, :3], total[:, 3:], point)
    return columns


def _stances_with_load(contacts: Trial, side: str) -> Iterator[tuple[float, float, str]]:
    """Yield start and end (s) of the load of each valid stance, and its plates.

    The load lasts as long as the ground force of the step ``contacts``, which ends between two markers' instants, but
    not into the neighbouring stance.
    """
    time, sides = contacts["time"].values, contacts["side"].values.tolist()
    acting = np.nan_to_num(contacts["ground_force"].values[:, sides.index(side)]).any(axis=1)
    step_s = interval_s(time)
    runs = [(time[first] - step_s, time[stop - 1] + step_s) for first, stop in stretches(acting)]
    on_side = contacts["contact_side"].values == side
    names = ("contact_start", "contact_end", "plates", "valid")
    starts, ends, plates, valid = (contacts[name].values[on_side] for name in names)
    middles = [-np.inf, *(ends[:-1] + starts[1:]) / 2, np.inf]
    for i in np.flatnonzero(valid).tolist():
        lasting = [run for run in runs if run[0] <= ends[i] and run[1] >= starts[i]]
        start_s = min([starts[i], *(first for first, _ in lasting)])
        end_s = max([ends[i], *(last for _, last in lasting)])
        yield max(start_s, middles[i]), min(end_s, middles[i + 1]), plates[i]


def angles(kinematics: Trial, *, knee_sign: float) -> Columns:
    """Return the joint angles of both legs in degrees, with the signs of OpenSim's coordinates.

    Only instants at which all are known, of a leg that is known at all: OpenSim reads a file up to the first ``nan``.

    Args:
        knee_sign: of flexion in the coordinate ``knee_angle``: -1 in the older models (Gait2354, Gait2392).
    """
    columns = {"time": kinematics["time"].values}
    labels = [kinematics[name].values.tolist() for name in ("side", "joint", "angle")]
    for side, letter in OF_SIDE.items():
        for (joint, angle), name in COORDINATES.items():
            i, j, k = (
                values_of_dim.index(one) for values_of_dim, one in zip(labels, (side, joint, angle), strict=True)
            )
            sign = knee_sign if name == "knee_angle" else 1.0
            columns[f"{name}_{letter}"] = sign * kinematics["joint_angle"].values[:, i, j, k]
    finite = {name: values for name, values in columns.items() if np.isfinite(values).any()}
    whole = np.isfinite([*finite.values()]).all(axis=0)
    return {name: values[whole] for name, values in finite.items()}
