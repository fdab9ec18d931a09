"""The files of a walk or a static trial: C3D file, exact answer, study tables."""

from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ..arrays import Array
from ..conventions import CHAIN, JOINTS, SIDES
from .body import Walker, segment_parameters
from .legs import Pose
from .loads import Ground, Wrenches, ground, joint_wrenches
from .plates import ForcePlate, channels, file_axes, verdict
from .recording import ANALOG_HZ, MARKER_HZ, C3DContent, marker_paths, noisy_markers, noisy_readings, write_c3d
from .soft_tissue import skin_motion
from .walk import Walk, motion, standing

AXES = ("x", "y", "z")
STANDING_S = 0.5
SEGMENT_COLUMNS = (
    "participant_id", "side", "segment", "mass_kg", "com_x_m", "com_y_m", "com_z_m",
    "ixx_kg_m2", "iyy_kg_m2", "izz_kg_m2", "ixy_kg_m2", "ixz_kg_m2", "iyz_kg_m2",
)  # fmt: skip
VARIABLES = {  # of an answer: dimensions, units and meaning
    "joint_force": ("time side joint axis", "N", "force on the distal segment at the joint centre, lab axes"),
    "joint_moment_lab": (
        "time side joint axis",
        "N m",
        "moment on the distal segment about the joint centre, lab axes",
    ),
    "joint_centre": ("time side joint axis", "m", "joint centre, lab axes"),
    "rotation": ("time side segment local_axis axis", "1", "rotation matrix from lab axes to segment axes"),
    "angular_velocity": ("time side segment axis", "rad s-1", "angular velocity, lab axes"),
    "grf_force": ("time side axis", "N", "ground reaction on the foot, on plates and off them, lab axes"),
    "grf_centre_of_pressure": ("time side axis", "m", "centre of pressure, lab axes; NaN off the ground"),
    "grf_free_moment": ("time side axis", "N m", "free moment on the foot about the vertical, lab axes"),
    "contact_start": ("contact", "s", "foot strike"),
    "contact_end": ("contact", "s", "foot off"),
}


def write_walk(
    path: Path, walk: Walk, plates: tuple[ForcePlate, ...], *, direction: str, events: bool, first_frame: int = 1,
    noise: float = 1.0, seed: int = 0, soft_tissue: float = 0.0,
) -> xr.Dataset:  # fmt: skip
    """Write the C3D file of one walk and return its exact answer.

    Args:
        plates: force plates, in file axes.
        direction: walking direction in file axes: +X, -X, +Y or -Y.
        events: write foot strikes and offs into the file.
        first_frame: number of the first frame, from 1.
        soft_tissue: factor of the markers' motion over the bones; with 0 the segments are rigid. The answer is that of
            the bones, for any factor.
    """
    rng, bodies = np.random.default_rng([seed, 4]), motion(walk)
    time, analog_time = (np.arange(round(walk.gait.duration_s * rate)) / rate for rate in (MARKER_HZ, ANALOG_HZ))
    body = bodies(time)
    paths = marker_paths(walk.walker, body, medial=False)
    if soft_tissue:
        slides = skin_motion(walk, body, time)
        paths = {label: path + soft_tissue * slides[label] for label, path in paths.items()}
    markers = _in_file_axes(paths, direction)
    readings = channels(ground(walk, bodies(analog_time), analog_time), direction, plates)
    recording = C3DContent(
        walk.walker, noisy_markers(markers, rng, noise=noise), plates, noisy_readings(readings, rng, noise=noise),
        _events(walk) if events else (), first_frame,
    )  # fmt: skip
    write_c3d(path, recording)
    on_feet = ground(walk, body, time)
    wrenches = joint_wrenches(bodies, time, segment_parameters(walk.walker), on_feet)
    start_s = (first_frame - 1) / MARKER_HZ
    contacts, labels = _contacts(walk, direction, plates, start_s)
    values = (
        _body_answer(body, wrenches)
        | {
            "grf_force": on_feet.force,
            "grf_centre_of_pressure": on_feet.pressure_centre,
            "grf_free_moment": on_feet.free_moment[..., None] * np.array([0.0, 1.0, 0.0]),
        }
        | contacts
    )
    return _describe(values, labels, time + start_s)


def write_static(path: Path, walker: Walker, *, direction: str, noise: float = 1.0, seed: int = 0) -> xr.Dataset:
    """Write the C3D file of quiet standing, without plates; return its exact answer.

    There is no ground reaction, so the joint wrenches support only the hanging segments.
    """
    rng, time = np.random.default_rng([seed, 5]), np.arange(round(STANDING_S * MARKER_HZ)) / MARKER_HZ
    body = standing(walker, time)
    markers = _in_file_axes(marker_paths(walker, body, medial=True), direction)
    write_c3d(path, C3DContent(walker, noisy_markers(markers, rng, noise=noise)))
    nothing = Ground(np.zeros((len(time), 2, 3)), np.full((len(time), 2, 3), np.nan), np.zeros((len(time), 2)))
    wrenches = joint_wrenches(lambda t: standing(walker, t), time, segment_parameters(walker), nothing)
    return _describe(_body_answer(body, wrenches), {}, time)


def write_answer(path: Path, answer: xr.Dataset) -> None:
    """Write an exact answer as NetCDF, with time series in single precision."""
    path.parent.mkdir(parents=True, exist_ok=True)
    encoding: dict[Hashable, dict[str, object]] = {
        name: {"dtype": "float32", "zlib": True} for name in answer.data_vars if "time" in answer[name].dims
    }
    encoding |= {name: {"dtype": "S1"} for name, values in answer.coords.items() if values.dtype.kind == "U"}
    answer.to_netcdf(path, encoding=encoding)


def write_tables(
    study: Path, people: Mapping[Walker, Mapping[str, str]], trials: Iterable[tuple[str, str, str, str]]
) -> None:
    """Write participants.tsv, trials.tsv and segments.tsv.

    Args:
        people: walkers with further columns of participants.tsv, the same columns for all.
        trials: participant, trial, role, condition.
    """
    extra = list(next(iter(people.values())))
    _write_tsv(
        study / "participants.tsv",
        ("participant_id", "mass_kg", "height_m", "sex", *extra),
        [(w.participant_id, w.mass_kg, w.height_m, w.sex, *more.values()) for w, more in people.items()],
    )
    _write_tsv(
        study / "trials.tsv",
        ("participant_id", "trial", "file", "role", "condition"),
        [(who, trial, f"{who}/{trial}.c3d", role, condition) for who, trial, role, condition in trials],
    )
    rows = list[tuple[object, ...]]()
    for walker in people:
        parameters = segment_parameters(walker)
        for (side, i), tensor in zip(np.ndindex(2, 3), parameters.inertia.reshape(-1, 3, 3), strict=True):
            elements = [tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]]
            numbers = [parameters.mass[side, i], *parameters.com[side, i], *elements]
            rows.append((walker.participant_id, SIDES[side], CHAIN[i], *(f"{number:.9g}" for number in numbers)))
    _write_tsv(study / "segments.tsv", SEGMENT_COLUMNS, rows)


def _write_tsv(path: Path, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in (columns, *rows)), encoding="utf-8")


def _in_file_axes(markers: Mapping[str, Array], direction: str) -> dict[str, Array]:
    return {label: path @ file_axes(direction).T for label, path in markers.items()}


def _events(walk: Walk) -> tuple[tuple[float, str, str], ...]:
    """Return every foot strike and foot off within the recording."""
    instants = [("Foot Strike", walk.strike), ("Foot Off", walk.off)]
    return tuple(
        (float(time), SIDES[side].capitalize(), label)
        for label, times in instants
        for time, side in zip(times, walk.side, strict=True)
        if 0 <= time < walk.gait.duration_s
    )


def _body_answer(body: Pose, wrenches: Wrenches) -> dict[str, Array]:
    return {
        "joint_force": wrenches.force,
        "joint_moment_lab": wrenches.moment,
        "joint_centre": body.centre,
        "rotation": np.swapaxes(body.rotation, -1, -2),
        "angular_velocity": wrenches.angular_velocity,
    }


def _contacts(
    walk: Walk, direction: str, plates: tuple[ForcePlate, ...], start_s: float
) -> tuple[dict[str, Array], dict[str, tuple[str, list[str]]]]:
    """Return the complete stances, and as labels their sides, their plates and the reasons to reject them."""
    whole = np.flatnonzero((walk.strike >= 0) & (walk.off <= walk.gait.duration_s))
    names, reasons = zip(*(verdict(walk, int(step), direction, plates) for step in whole), strict=True)
    sides = [SIDES[side] for side in walk.side[whole]]
    labels = {"contact_side": sides, "plates": list(names), "reason": list(reasons)}
    instants = {"contact_start": walk.strike[whole] + start_s, "contact_end": walk.off[whole] + start_s}
    return instants, {name: ("contact", values) for name, values in labels.items()}


def _describe(values: Mapping[str, Array], of_contacts: Mapping[str, Any], time: Array) -> xr.Dataset:
    """Return an answer with its labels, units and meanings."""
    variables = {}
    for name, value in values.items():
        dims, units, long_name = VARIABLES[name]
        variables[name] = (dims.split(), value, {"units": units, "long_name": long_name})
    about = {"units": "s", "long_name": "time on the file's own axis"}
    labels = {"side": SIDES, "joint": JOINTS, "axis": AXES, "segment": CHAIN, "local_axis": AXES}
    coordinates = {**of_contacts, "time": ("time", time, about)} | {name: list(one) for name, one in labels.items()}
    title = "exact answer: ISB lab axes, x along the walking direction, y up"
    return xr.Dataset(variables, coordinates, {"title": title})
