"""The analog channels of a recording: force plates, and the channels that no plate uses."""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...errors import Problem, UserError
from ...plates import channel_faults
from ...plates.incline import level_axes
from ...plates.loaded_pole import PlateTest, compare_plates
from ...plates.parameters import plates_from_parameters
from ...plates.pressed_area import find_pressed_area, sideways
from ...plates.wrench import decode, in_newtons, moment_unit_n_m
from ...recording import Recording

SAME_AXES = "give forces and markers in the same axes; the contacts of this load are not used"
REPAIR = "check cables, amplifier, range and export of the plate; its contacts are not used"


class Plates(NamedTuple):
    """The plates that can be decoded, in lab axes, and the problems of all."""

    # force, moment: (sample, plate, 3), N, and N m about the lab origin
    force: Array
    moment: Array
    corners: Array  # (plate, 4, 3), m; for a load without a plate those of the area on which it pressed
    edges_known: Flags  # (plate,) whether corners are those of a plate
    numbers: NDArray[np.int32]  # (plate,)
    faults: list[str]  # the first that is wrong with the channels of each, or empty
    problems: dict[int, Problem]  # of the plates that cannot be decoded, then of those with a fault, by number
    channels: frozenset[int]  # of the file, from 1, that a plate uses


def decode_plates(recording: Recording, rotation: Array) -> Plates:
    """Return the plates of a recording; ``rotation`` (3, 3) is from its axes to lab axes."""
    if recording.loads:
        return _plates_of_loads(recording, rotation)
    unit = recording.length_unit_m
    listed = plates_from_parameters(
        recording.force_platform,
        channel_count=recording.analog.shape[1],
        length_unit_m=unit,
        unread=recording.unread_channels,
    )
    good = [plate for plate in listed if not plate.problem]
    force, moment = np.empty((2, len(recording.analog), len(good), 3))
    faults: list[list[str]] = []
    for i, plate in enumerate(good):
        analog = in_newtons(recording.analog, plate, recording.analog_units)
        moment_unit = moment_unit_n_m(plate, recording.analog_units, length_unit_m=unit, analog=analog)
        wrench = decode(analog, plate, length_unit_m=unit, moment_unit_n_m=moment_unit)
        fault = partial(channel_faults.find_faults, plate, analog, recording.analog_labels, *wrench)
        faults.append(fault(rate_hz=recording.analog_rate_hz, length_unit_m=unit, moment_unit_n_m=moment_unit))
        force[:, i], moment[:, i] = ((rotation @ vector.T).T for vector in wrench)
    corners = np.array([plate.corners * unit @ rotation.T for plate in good]).reshape(-1, 4, 3)
    numbers = np.array([plate.number for plate in good], dtype=np.int32)
    problems = {plate.number: plate.problem for plate in listed if plate.problem} | {
        plate.number: Problem(f"force plate {plate.number}", channel_faults.in_words(listed), REPAIR, "plate_faulty")
        for plate, listed in zip(good, faults, strict=True)
        if listed
    }
    edges_known = np.ones(len(good), dtype=bool)
    used = frozenset(channel for plate in listed for channel in plate.channels.tolist())
    return Plates(force, moment, corners, edges_known, numbers, ["".join(one[:1]) for one in faults], problems, used)


def _plates_of_loads(recording: Recording, rotation: Array) -> Plates:
    """Return loads without plates as plates with unknown edges, level in the file's axes, which a slope may turn."""
    force, moment, point = (np.stack(parts, axis=1) @ rotation.T for parts in zip(*recording.loads, strict=True))
    vertical = int(np.argmax(np.abs(rotation[1])))  # of the file
    level = level_axes(np.sign(rotation[1, vertical]) * rotation[:, vertical])
    on_level = force @ level.T, point @ level.T
    corners = np.stack([find_pressed_area(*(of[:, i] for of in on_level)) for i in range(len(recording.loads))]) @ level
    numbers = np.arange(1, len(corners) + 1, dtype=np.int32)
    faults = [sideways(force[:, i]) for i in range(len(corners))]
    problems = {
        n: Problem(f"load {n}", fault, SAME_AXES, "load_sideways")
        for n, fault in zip(numbers.tolist(), faults, strict=True)
        if fault
    }
    edges_known = np.zeros(len(corners), dtype=bool)
    return Plates(force, moment, corners, edges_known, numbers, faults, problems, frozenset())


def compare_with_pole(recording: Recording, plates: Plates, rotation: Array, *, person: bool) -> dict[int, PlateTest]:
    """Return what a pole in the recording shows of each plate, see :func:`pipeline.plates.loaded_pole.compare_plates`.

    Args:
        plates: in lab axes; ``rotation`` (3, 3) is from the axes of the file to these.
        person: whether markers of a person are seen, which is no test.
    """
    if person:
        raise UserError("", "markers of a person are seen: no pole", "give the trial another role", "no_pole")
    return compare_plates(
        recording.markers,
        *(vectors @ rotation for vectors in (plates.force, plates.moment, plates.corners)),
        time=np.arange(len(recording.markers)) / recording.marker_rate_hz,
        instants=np.arange(len(recording.analog)) / (recording.analog_rate_hz or 1.0),
        numbers=plates.numbers.tolist(),
    )


def label_other_channels(recording: Recording, of_plates: frozenset[int]) -> dict[int, str]:
    """Return the labels of the channels that no plate uses, such as EMG, by column from 0.

    Channels that never change are left out: nothing is connected. Labels are made unique by the channel's number in the
    file, from 1, which replaces an empty one.

    Args:
        of_plates: the channels, from 1, that plates use.
    """
    analog = recording.analog
    count = analog.shape[1]
    labels = [*recording.analog_labels, *[""] * count][:count]
    return {
        i: " ".join(filter(None, [labels[i], "" if labels[i] and labels.count(labels[i]) == 1 else f"channel {i + 1}"]))
        for i in range(count)
        if i + 1 not in of_plates and len(analog) and analog[:, i].max() > analog[:, i].min()
    }
