"""Twins with faults of force plates, of their channels, places, cables and time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.signal import butter, lfilter, lfilter_zi
from scipy.spatial.transform import Rotation

from pipeline.conventions import STANDARD_GRAVITY_M_S2
from pipeline.plates.parameters import Plate
from pipeline.plates.wrench import moment_unit_n_m, plate_axes
from pipeline.recording import Recording
from tests.support.faults.twins import (
    FORCES,
    MOMENTS,
    Array,
    Contact,
    Corrupt,
    Session,
    Twin,
    along,
    heading,
    plates_of,
    readings_of,
    walks_with,
    with_readings,
)

Channels = Callable[[Recording, Plate, Array, np.random.Generator], Array]


class Push(NamedTuple):
    """A push down on a plate until a stance ends."""

    load: Array  # (sample,), N
    way: Array  # (3,) from the middle of the plate, a unit vector in file axes
    share: float  # of the plate's size along this


def on_plates(one: bool, change: Channels) -> Corrupt:
    """Return a fault of the channels of one plate that a stance meets, or of all plates, in all walks of a session."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        plates = sorted({number for contact in contacts for number in contact.plates})
        if one:
            plates = [plates[int(rng.integers(len(plates)))]]
        seed = int(rng.integers(2**32))

        def of(recording: Recording) -> Recording:
            return with_readings(recording, {
                plate.number: change(
                    recording, plate, recording.analog[:, plate.channels - 1].copy(), np.random.default_rng(seed)
                )
                for plate in plates_of(recording) if not one or plate.number in plates
            })  # fmt: skip

        touched = [contact for contact in contacts if {*contact.plates} & {*plates}]
        known = {plate.number for file in session.walks for plate in plates_of(session.recordings[file])}
        return Twin(walks_with(session, of), touched) if known & {*plates} else None

    return corrupt


def negative(channel: Callable[[int], int]) -> Channels:
    """Return the change of the sign of a channel, chosen by the axis along the walk."""

    def change(recording: Recording, plate: Plate, readings: Array, _rng: np.random.Generator) -> Array:
        readings[:, channel(along(recording, plate))] *= -1
        return readings

    return change


def exchanged(recording: Recording, plate: Plate, readings: Array, _rng: np.random.Generator) -> Array:
    return readings[:, [1, 0, 2, 3, 4, 5]]


def scaled(factor: float, channels: slice = slice(0, 6)) -> Channels:
    def change(recording: Recording, plate: Plate, readings: Array, _rng: np.random.Generator) -> Array:
        readings[:, channels] *= factor
        return readings

    return change


def causal(cutoff_hz: float) -> Channels:
    """Return a Butterworth low-pass of second order, applied once forwards."""

    def change(recording: Recording, plate: Plate, readings: Array, _rng: np.random.Generator) -> Array:
        if cutoff_hz >= 0.45 * recording.analog_rate_hz:
            return readings
        b, a = butter(2, cutoff_hz, fs=recording.analog_rate_hz)
        return np.asarray(lfilter(b, a, readings, axis=0, zi=lfilter_zi(b, a)[:, None] * readings[:1])[0])

    return change


def late(milliseconds: float) -> Channels:
    """Return a shift of the channels by a time, early or late."""

    def change(recording: Recording, plate: Plate, readings: Array, rng: np.random.Generator) -> Array:
        shift_s = milliseconds / 1000 * rng.choice([-1, 1])
        time = np.arange(len(readings)) / recording.analog_rate_hz
        return np.stack([np.interp(time - shift_s, time, column) for column in readings.T], axis=1)

    return change


def dead(recording: Recording, plate: Plate, readings: Array, rng: np.random.Generator) -> Array:
    channel = int(rng.integers(6))
    readings[:, channel] = readings[0, channel]
    return readings


def drifting(newtons: float) -> Channels:
    def change(recording: Recording, plate: Plate, readings: Array, _rng: np.random.Generator) -> Array:
        readings[:, 2] += newtons * np.linspace(0, 1, len(readings))
        return readings

    return change


def corners(order: Sequence[int], *, one: bool = True) -> Corrupt:
    """Return a plate, or all, with the corners in another order."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        plates = sorted({number for contact in contacts for number in contact.plates})
        chosen = [plates[int(rng.integers(len(plates)))]] if one else plates

        def of(recording: Recording) -> Recording:
            corners = np.array(recording.force_platform["CORNERS"], dtype=float).copy()
            for number in chosen:
                corners[:, :, number - 1] = corners[:, list(order), number - 1]
            return replace(recording, force_platform={**recording.force_platform, "CORNERS": corners})

        return Twin(walks_with(session, of), [c for c in contacts if {*c.plates} & {*chosen}])

    return corrupt


def shifted(millimetres: float, way: str = "along") -> Corrupt:
    """Return all plates shifted in the lab: forwards or backwards, to either side (``across``), or ``up``."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        recording = session.recordings[contacts[0].file]
        ahead, up = heading(recording), _up(recording)
        line = {"along": ahead, "across": np.cross(up, ahead), "up": up}[way]
        line = line * (1 if way == "up" else rng.choice([-1, 1]))

        def of(recording: Recording) -> Recording:
            corners = np.array(recording.force_platform["CORNERS"], dtype=float).copy()
            corners += (millimetres / 1000 / recording.length_unit_m * line)[:, None, None]
            return replace(recording, force_platform={**recording.force_platform, "CORNERS": corners})

        return Twin(walks_with(session, of), contacts)

    return corrupt


def _up(recording: Recording) -> Array:
    """Return the unit vector (3,) upwards, file axes."""
    return np.asarray(-plate_axes(plates_of(recording)[0].corners)[:, 2])


def corners_turned(degrees: float) -> Corrupt:
    """Return one plate whose corners are turned about the vertical through its middle."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        met = sorted({number for contact in contacts for number in contact.plates})
        chosen, sign = met[int(rng.integers(len(met)))], rng.choice([-1, 1])

        def of(recording: Recording) -> Recording:
            corners = np.array(recording.force_platform["CORNERS"], dtype=float).copy()
            turn = Rotation.from_rotvec(sign * np.radians(degrees) * _up(recording))
            middle = corners[:, :, chosen - 1].mean(axis=1)
            corners[:, :, chosen - 1] = (turn.apply(corners[:, :, chosen - 1].T - middle) + middle).T
            return replace(recording, force_platform={**recording.force_platform, "CORNERS": corners})

        return Twin(walks_with(session, of), [c for c in contacts if chosen in c.plates])

    return corrupt


def out_of_level(degrees: float) -> Channels:
    """Return a plate that leans about a level axis of its own, though its file has it level."""

    def change(recording: Recording, plate: Plate, readings: Array, rng: np.random.Generator) -> Array:
        about = rng.uniform(0, 2 * np.pi)
        turn = Rotation.from_rotvec(np.radians(degrees) * np.array([np.cos(about), np.sin(about), 0.0]))
        return np.hstack([turn.apply(readings[:, FORCES]), turn.apply(readings[:, MOMENTS])])

    return change


def fast_clock(factor: float) -> Channels:
    """Return channels whose clock is fast against that of the markers, from the same start."""

    def change(recording: Recording, plate: Plate, readings: Array, _rng: np.random.Generator) -> Array:
        time = np.arange(len(readings)) / recording.analog_rate_hz
        return np.stack([np.interp(time * factor, time, column) for column in readings.T], axis=1)

    return change


def free_torque_reversed(recording: Recording, plate: Plate, readings: Array, _rng: np.random.Generator) -> Array:
    readings[:, 5] *= -1
    return readings


def pushing(push_of: Callable[[Session, Recording, Contact, int], Push]) -> Corrupt:
    """Return a push on the plate under each foot that ends with its stance, given session, walk, stance, samples."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        recordings = dict(session.recordings)
        for file in {contact.file for contact in contacts}:
            recording = recordings[file]
            readings, per_frame = readings_of(recording), recording.analog_rate_hz / recording.marker_rate_hz
            for contact in (c for c in contacts if c.file == file):
                plate = next((p for p in plates_of(recording) if p.number == contact.plates[-1]), None)
                if plate is None or plate.type != 2:
                    return None
                start, stop = (int(per_frame * frame) for frame in (contact.first, contact.last))
                load, way, share = push_of(session, recording, contact, stop - start)
                reach = share * np.ptp((plate.corners - plate.corners.mean(axis=0)) @ way) * recording.length_unit_m
                added = _one_newton(recording, plate, reach * way)
                readings[plate.number][stop - len(load) : stop] += load[:, None] * added
            recordings[file] = with_readings(recording, readings)
        return Twin(session._replace(recordings=recordings), contacts)

    return corrupt


def cane(newtons: float) -> Corrupt:
    """Return a cane that presses on the plate under each foot from a tenth to nine tenths of its stance."""

    def push_of(_: Session, recording: Recording, contact: Contact, samples: int) -> Push:
        load = newtons * np.clip(10 * (0.5 - np.abs(np.linspace(-0.5, 0.5, samples)) - 0.05), 0, 1)
        beside = np.cross(heading(recording), _up(recording)) * (1 if contact.side == "right" else -1)
        return Push(load, beside, 0.35)

    return pushing(push_of)


def second_foot(body_weights: float) -> Corrupt:
    """Return a load that grows ahead of the foot in the last 15 % of each stance, and leaves with it."""

    def push_of(session: Session, recording: Recording, _: Contact, samples: int) -> Push:
        newtons = body_weights * session.mass_kg * STANDARD_GRAVITY_M_S2
        return Push(newtons * np.linspace(0, 1, int(0.15 * samples)), heading(recording), 0.4)

    return pushing(push_of)


def _one_newton(recording: Recording, plate: Plate, place: Array) -> Array:
    """Return the channels (6,) of a push of 1 N down at a place from the middle of a plate's top, m, file axes."""
    unit_m = moment_unit_n_m(
        plate, recording.analog_units, length_unit_m=recording.length_unit_m, analog=recording.analog
    )
    force = np.array([0.0, 0.0, -1.0])
    return np.concatenate(
        [force, np.cross(place @ plate_axes(plate.corners) + plate.origin * recording.length_unit_m, force) / unit_m]
    )


def cables(columns: Sequence[int], *, copied: bool = False) -> Corrupt:
    """Return two plates that have exchanged some of their channels, or one that has a copy of the other's."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        plates = {plate.number for plate in plates_of(session.recordings[contacts[0].file])}
        met = sorted({number for contact in contacts for number in contact.plates} & plates)
        others = [number for number in plates if number not in met[:1]]
        if not met or not others:
            return None
        first = met[int(rng.integers(len(met)))]
        second = sorted(plates - {first})[int(rng.integers(len(plates) - 1))]

        def of(recording: Recording) -> Recording:
            before = readings_of(recording)
            if not {first, second} <= before.keys():
                return recording
            after = {number: before[number].copy() for number in (first, second)}
            after[first][:, columns] = before[second][:, columns]
            if not copied:
                after[second][:, columns] = before[first][:, columns]
            return with_readings(recording, after)

        pair = {first} if copied else {first, second}
        return Twin(walks_with(session, of), [c for c in contacts if {*c.plates} & pair])

    return corrupt
