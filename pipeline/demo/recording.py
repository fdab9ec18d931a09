"""The recording of a motion: noisy markers and plate channels, written as C3D.

File axes: z up. Positions in metres here, millimetres in the file.
"""

from dataclasses import dataclass
from pathlib import Path

import ezc3d
import numpy as np

from ..arrays import Array
from ..conventions import CHAIN
from .body import MEDIAL_MARKERS, Walker, markers_in_segments
from .legs import Pose
from .plates import ForcePlate

MARKER_HZ, ANALOG_HZ = 100, 1000
INTEGER = 2  # of C3D parameters
MARKER_NOISE_M, FORCE_NOISE_N, MOMENT_NOISE_N_M = 0.0002, 0.5, 0.02
FORCE_OFFSET_N, MOMENT_OFFSET_N_M = 2.0, 0.2


@dataclass(frozen=True)
class C3DContent:
    """Content of one C3D file.

    ``markers``: label -> (frame, 3) m, file axes; ``readings`` (sample, plate, 6) N and N m, plate axes; ``events``:
    seconds from the first frame on, context, label; ``first_frame`` counts from 1.
    """

    walker: Walker
    markers: dict[str, Array]
    plates: tuple[ForcePlate, ...] = ()
    readings: Array | None = None
    events: tuple[tuple[float, str, str], ...] = ()
    first_frame: int = 1


def marker_paths(walker: Walker, body: Pose, *, medial: bool) -> dict[str, Array]:
    """Return label -> (time, 3) in ISB lab axes, m, with medial markers if ``medial``."""
    paths = {}
    for label, (segment, side, position) in markers_in_segments(walker).items():
        if label in MEDIAL_MARKERS and not medial:
            continue
        if segment == "pelvis":
            paths[label] = body.pelvis_origin + body.pelvis_rotation @ position
        else:
            i = CHAIN.index(segment)
            paths[label] = body.centre[:, side, i] + body.rotation[:, side, i] @ position
    return paths


def noisy_markers(markers: dict[str, Array], rng: np.random.Generator, *, noise: float) -> dict[str, Array]:
    """Return the markers with white noise."""
    return {label: path + noise * MARKER_NOISE_M * rng.normal(size=path.shape) for label, path in markers.items()}


def noisy_readings(readings: Array, rng: np.random.Generator, *, noise: float) -> Array:
    """Return the channels with white noise and a constant offset each."""
    white = np.repeat([FORCE_NOISE_N, MOMENT_NOISE_N_M], 3)
    offset = np.repeat([FORCE_OFFSET_N, MOMENT_OFFSET_N_M], 3) * rng.uniform(-1, 1, readings.shape[1:])
    return readings + noise * (offset + white * rng.normal(size=readings.shape))


def write_c3d(path: Path, recording: C3DContent) -> None:
    """Write one trial as a C3D file."""
    file = ezc3d.c3d()
    points = np.stack(list(recording.markers.values()))
    file["header"]["points"]["first_frame"] = recording.first_frame - 1
    file["data"]["points"] = np.insert(1e3 * np.moveaxis(points, -1, 0), 3, 1.0, axis=0)
    point = file["parameters"]["POINT"]
    point["LABELS"]["value"], point["UNITS"]["value"] = list(recording.markers), ["mm"]
    point["RATE"]["value"] = [float(MARKER_HZ)]
    for name, axis in (("X_SCREEN", "+X"), ("Y_SCREEN", "+Z")):
        file.add_parameter("POINT", name, [axis])
    if recording.readings is not None:
        _add_plates(file, recording.plates, recording.readings)
    if recording.events:
        times, contexts, labels = zip(*sorted(recording.events), strict=True)
        seconds = np.array(times) + (recording.first_frame - 1) / MARKER_HZ
        file.add_parameter("EVENT", "CONTEXTS", list(contexts))
        file.add_parameter("EVENT", "LABELS", list(labels))
        file.add_parameter("EVENT", "SUBJECTS", [recording.walker.participant_id] * len(times))
        # minutes and seconds
        file.add_parameter("EVENT", "TIMES", np.stack([seconds // 60, seconds % 60]))
        _set_integers(file, "EVENT", "USED", [len(times)])
    file.add_parameter("SUBJECTS", "NAMES", [recording.walker.participant_id])
    file.add_parameter("PROCESSING", "Bodymass", [recording.walker.mass_kg])
    file.add_parameter("PROCESSING", "Height", [1e3 * recording.walker.height_m])
    _set_integers(file, "SUBJECTS", "USED", [1])
    path.parent.mkdir(parents=True, exist_ok=True)
    file.write(str(path))


def _add_plates(file: ezc3d.c3d, plates: tuple[ForcePlate, ...], readings: Array) -> None:
    n = len(plates)
    in_file_units = readings * np.repeat([1.0, 1e3], 3)
    file["data"]["analogs"] = in_file_units.reshape(len(readings), 6 * n).T[None]
    analog = file["parameters"]["ANALOG"]
    analog["RATE"]["value"] = [float(ANALOG_HZ)]
    analog["LABELS"]["value"] = [f"{name}{i + 1}" for i in range(n) for name in ("Fx", "Fy", "Fz", "Mx", "My", "Mz")]
    analog["UNITS"]["value"] = ["N", "N", "N", "Nmm", "Nmm", "Nmm"] * n
    analog["SCALE"]["value"], analog["OFFSET"]["value"] = np.ones(6 * n), np.zeros(6 * n, int)
    platform = file["parameters"]["FORCE_PLATFORM"]
    platform["USED"]["value"], platform["TYPE"]["value"] = np.array([n]), np.full(n, 2)
    platform["CORNERS"]["value"] = 1e3 * np.stack([plate.corners.T for plate in plates], axis=-1)
    platform["ORIGIN"]["value"] = np.array([[0.0, 0.0, -1e3 * plate.sensor_depth_m] for plate in plates]).T
    platform["CHANNEL"]["value"] = np.arange(1, 6 * n + 1).reshape(n, 6).T


def _set_integers(file: ezc3d.c3d, group: str, name: str, values: list[int]) -> None:
    """Add an integer parameter; ``add_parameter`` alone would make it a float."""
    file.add_parameter(group, name, values)
    file["parameters"][group][name].update(type=INTEGER, value=np.array(values))
