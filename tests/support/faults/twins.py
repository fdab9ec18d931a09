"""Corrupted twins: sessions with recordings changed as labs get them wrong, row by row of a table of faults.

A fault changes what a file holds (:class:`pipeline.recording.Recording`), before the step ``read``: channels of the
plates as the amplifier gives them, markers in the file's axes. So every check of every step meets it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, lfilter, lfilter_zi

from pipeline.body.body_model import BodyModel
from pipeline.body.landmarks import choose_labels, find_seen_labels
from pipeline.conventions import SIDES, STANDARD_GRAVITY_M_S2
from pipeline.plates.parameters import Plate, plates_from_parameters
from pipeline.plates.wrench import moment_unit_n_m, plate_axes
from pipeline.recording import Recording

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
FORCES, MOMENTS = slice(0, 3), slice(3, 6)


class Session(NamedTuple):
    """The files of a session, and all that the steps need beside them.

    ``rows`` of trials.tsv; ``recordings`` by file; ``participant`` and ``segments``: rows of the other tables;
    ``chosen``: settings.
    """

    name: str
    rows: Sequence[Mapping[str, str]]
    recordings: Mapping[str, Recording]
    participant: Mapping[str, str]
    segments: Sequence[Mapping[str, str]]
    model: BodyModel
    chosen: Mapping[str, Any]

    @property
    def walks(self) -> list[str]:
        """Return the files of the walks."""
        return [row["file"] for row in self.rows if row["role"] == "gait"]

    @property
    def static(self) -> str:
        """Return the file of the static trial; empty if there is none."""
        return next((row["file"] for row in self.rows if row["role"] == "static"), "")

    @property
    def mass_kg(self) -> float:
        """Return the mass in participants.tsv, else that in a file, else 70 kg."""
        stated = [one.sizes.get("mass_kg") for one in self.recordings.values()]
        cell = self.participant.get("mass_kg", "n/a")
        return float(cell) if cell not in ("", "n/a") else next(filter(None, stated), 70.0)


class Contact(NamedTuple):
    """A stance that the clean session uses: file, side, plates, and its first and last frame."""

    file: str
    side: str
    plates: tuple[int, ...]
    first: int
    last: int


@dataclass(frozen=True)
class Twin:
    """A corrupted session, and the stances that the corruption touches.

    ``frames``: by file the frame of the clean recording that each frame of the twin shows.
    """

    session: Session
    touched: Sequence[Contact]
    frames: Mapping[str, Counts] = field(default_factory=dict)


Corrupt = Callable[[Session, Sequence[Contact], np.random.Generator], Twin | None]


class Fault(NamedTuple):
    """A row of the table and one of its doses; ``corrupt`` returns None where a session cannot have it."""

    row: str
    dose: str
    corrupt: Corrupt


# --- parts of recordings -------------------------------------------------------------------------------------------


def plates_of(recording: Recording) -> list[Plate]:
    """Return the plates with six channels of forces and moments, or channels near them by a matrix (types 2 and 4)."""
    listed = plates_from_parameters(recording.force_platform, channel_count=recording.analog.shape[1])
    return [plate for plate in listed if not plate.problem and plate.type in (2, 4)]


def heading(recording: Recording) -> Array:
    """Return the horizontal unit vector (3,) along which the markers move most, file axes; of any sense on a belt."""
    plates = plates_of(recording)
    up = plate_axes(plates[0].corners)[:, 2] if plates else np.array([0.0, 0.0, 1.0])
    seen = np.isfinite(recording.markers).all(axis=2).sum(axis=0) > 1
    markers = recording.markers[:, seen]
    level = markers - (markers @ up)[..., None] * up
    moved = level - np.nanmean(level, axis=0)
    ahead = np.linalg.svd(moved[np.isfinite(moved).all(axis=2)], full_matrices=False)[2][0]
    return np.asarray(ahead * (1 if np.nanmean(np.sign(np.diff(moved @ ahead, axis=0))) >= 0 else -1))


def along(recording: Recording, plate: Plate) -> int:
    """Return 0 or 1, the axis of a plate that is more along the walk."""
    return int(np.argmax(np.abs(heading(recording) @ plate_axes(plate.corners)[:, :2])))


def _with_readings(recording: Recording, changed: Mapping[int, Array]) -> Recording:
    """Return a recording with other channels (sample, 6) of some plates, by number."""
    analog = recording.analog.copy()
    for plate in plates_of(recording):
        if plate.number in changed:
            analog[:, plate.channels - 1] = changed[plate.number]
    return replace(recording, analog=analog)


def _readings(recording: Recording) -> dict[int, Array]:
    """Return the channels (sample, 6) of each plate, by number."""
    return {plate.number: recording.analog[:, plate.channels - 1] for plate in plates_of(recording)}


def _walks_with(session: Session, change: Callable[[Recording], Recording]) -> Session:
    """Return a session with all walks changed."""
    walks = {file: change(session.recordings[file]) for file in session.walks}
    return session._replace(recordings={**session.recordings, **walks})


def _one_file(contacts: Sequence[Contact], rng: np.random.Generator) -> Contact:
    """Return a stance of a random file."""
    return contacts[int(rng.integers(len(contacts)))]


# --- plates ----------------------------------------------------------------------------------------------------------

Channels = Callable[[Recording, Plate, Array, np.random.Generator], Array]


def _on_plates(one: bool, change: Channels) -> Corrupt:
    """Return a fault of the channels of one plate that a stance meets, or of all plates, in all walks of a session."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        plates = sorted({number for contact in contacts for number in contact.plates})
        if one:
            plates = [plates[int(rng.integers(len(plates)))]]
        seed = int(rng.integers(2**32))

        def of(recording: Recording) -> Recording:
            return _with_readings(recording, {
                plate.number: change(
                    recording, plate, recording.analog[:, plate.channels - 1].copy(), np.random.default_rng(seed)
                )
                for plate in plates_of(recording) if not one or plate.number in plates
            })  # fmt: skip

        touched = [contact for contact in contacts if {*contact.plates} & {*plates}]
        known = {plate.number for file in session.walks for plate in plates_of(session.recordings[file])}
        return Twin(_walks_with(session, of), touched) if known & {*plates} else None

    return corrupt


def _negative(channel: Callable[[int], int]) -> Channels:
    """Return the change of the sign of a channel, chosen by the axis along the walk."""

    def change(recording: Recording, plate: Plate, readings: Array, _rng: np.random.Generator) -> Array:
        readings[:, channel(along(recording, plate))] *= -1
        return readings

    return change


def _exchanged(recording: Recording, plate: Plate, readings: Array, _rng: np.random.Generator) -> Array:
    return readings[:, [1, 0, 2, 3, 4, 5]]


def _scaled(factor: float, channels: slice = slice(0, 6)) -> Channels:
    def change(recording: Recording, plate: Plate, readings: Array, _rng: np.random.Generator) -> Array:
        readings[:, channels] *= factor
        return readings

    return change


def _causal(cutoff_hz: float) -> Channels:
    """Return a Butterworth low-pass of second order, applied once forwards."""

    def change(recording: Recording, plate: Plate, readings: Array, _rng: np.random.Generator) -> Array:
        if cutoff_hz >= 0.45 * recording.analog_rate_hz:
            return readings
        b, a = butter(2, cutoff_hz, fs=recording.analog_rate_hz)
        return np.asarray(lfilter(b, a, readings, axis=0, zi=lfilter_zi(b, a)[:, None] * readings[:1])[0])

    return change


def _late(milliseconds: float) -> Channels:
    """Return a shift of the channels by a time, early or late."""

    def change(recording: Recording, plate: Plate, readings: Array, rng: np.random.Generator) -> Array:
        shift_s = milliseconds / 1000 * rng.choice([-1, 1])
        time = np.arange(len(readings)) / recording.analog_rate_hz
        return np.stack([np.interp(time - shift_s, time, column) for column in readings.T], axis=1)

    return change


def _dead(recording: Recording, plate: Plate, readings: Array, rng: np.random.Generator) -> Array:
    channel = int(rng.integers(6))
    readings[:, channel] = readings[0, channel]
    return readings


def _drifting(newtons: float) -> Channels:
    def change(recording: Recording, plate: Plate, readings: Array, _rng: np.random.Generator) -> Array:
        readings[:, 2] += newtons * np.linspace(0, 1, len(readings))
        return readings

    return change


def _corners(order: Sequence[int], *, one: bool = True) -> Corrupt:
    """Return a plate, or all, with the corners in another order."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        plates = sorted({number for contact in contacts for number in contact.plates})
        chosen = [plates[int(rng.integers(len(plates)))]] if one else plates

        def of(recording: Recording) -> Recording:
            corners = np.array(recording.force_platform["CORNERS"], dtype=float).copy()
            for number in chosen:
                corners[:, :, number - 1] = corners[:, list(order), number - 1]
            return replace(recording, force_platform={**recording.force_platform, "CORNERS": corners})

        return Twin(_walks_with(session, of), [c for c in contacts if {*c.plates} & {*chosen}])

    return corrupt


def _shifted(millimetres: float) -> Corrupt:
    """Return all plates shifted forwards or backwards in the lab."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        sign = rng.choice([-1, 1])
        ahead = heading(session.recordings[contacts[0].file])

        def of(recording: Recording) -> Recording:
            corners = np.array(recording.force_platform["CORNERS"], dtype=float).copy()
            corners += (sign * millimetres / 1000 / recording.length_unit_m * ahead)[:, None, None]
            return replace(recording, force_platform={**recording.force_platform, "CORNERS": corners})

        return Twin(_walks_with(session, of), contacts)

    return corrupt


def _cables(columns: Sequence[int], *, copied: bool = False) -> Corrupt:
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
            before = _readings(recording)
            if not {first, second} <= before.keys():
                return recording
            after = {number: before[number].copy() for number in (first, second)}
            after[first][:, columns] = before[second][:, columns]
            if not copied:
                after[second][:, columns] = before[first][:, columns]
            return _with_readings(recording, after)

        pair = {first} if copied else {first, second}
        return Twin(_walks_with(session, of), [c for c in contacts if {*c.plates} & pair])

    return corrupt


def _second_foot(body_weights: float) -> Corrupt:
    """Return a load that grows ahead of the foot in the last 15 % of each stance, and leaves with it."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        recordings = dict(session.recordings)
        for file in {contact.file for contact in contacts}:
            recording = recordings[file]
            readings, ahead = _readings(recording), heading(recording)
            per_frame = recording.analog_rate_hz / recording.marker_rate_hz
            for contact in (c for c in contacts if c.file == file):
                plate = next((p for p in plates_of(recording) if p.number == contact.plates[-1]), None)
                if plate is None or plate.type != 2:
                    return None
                start, stop = (int(per_frame * frame) for frame in (contact.first, contact.last))
                begin = stop - int(0.15 * (stop - start))
                load = body_weights * session.mass_kg * STANDARD_GRAVITY_M_S2 * np.linspace(0, 1, stop - begin)
                unit_m = moment_unit_n_m(
                    plate, recording.analog_units, length_unit_m=recording.length_unit_m, analog=recording.analog
                )
                axes = plate_axes(plate.corners)
                reach = 0.4 * np.ptp((plate.corners - plate.corners.mean(axis=0)) @ ahead) * recording.length_unit_m
                place = reach * ahead @ axes + plate.origin * recording.length_unit_m
                force = np.array([0.0, 0.0, -1.0])
                added = np.concatenate([force, np.cross(place, force) / unit_m])
                readings[plate.number][begin:stop] += load[:, None] * added
            recordings[file] = _with_readings(recording, readings)
        return Twin(session._replace(recordings=recordings), contacts)

    return corrupt


# --- markers -------------------------------------------------------------------------------------------------------


def _stretch(contacts: Sequence[Contact], count: int, rng: np.random.Generator) -> tuple[Contact, slice]:
    """Return a stance and frames that begin in its middle half."""
    contact = _one_file(contacts, rng)
    length = contact.last - contact.first
    begin = contact.first + int(rng.uniform(0.25, 0.75) * length)
    return contact, slice(begin, begin + count)


def _about(contacts: Sequence[Contact], contact: Contact, frames: slice) -> list[Contact]:
    """Return the stances of a file that overlap some frames."""
    return [c for c in contacts if c.file == contact.file and c.first < frames.stop and c.last > frames.start]


def _frames_of(session: Session, file: str, milliseconds: float) -> int:
    return max(round(milliseconds / 1000 * session.recordings[file].marker_rate_hz), 1)


def _frozen(milliseconds: float) -> Corrupt:
    """Return a walk in which all markers stand still for a time, then go on from where they are by then."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        contact = _one_file(contacts, rng)
        count = _frames_of(session, contact.file, milliseconds)
        contact, frames = _stretch([contact], count, rng)
        recording = session.recordings[contact.file]
        markers = recording.markers.copy()
        markers[frames] = markers[frames.start - 1]
        changed = {**session.recordings, contact.file: replace(recording, markers=markers)}
        return Twin(session._replace(recordings=changed), _about(contacts, contact, frames))

    return corrupt


def _lost(milliseconds: float, *, forces: bool) -> Corrupt:
    """Return a walk without some frames, the rest moved up, of the markers alone or of markers and forces."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        contact = _one_file(contacts, rng)
        count = _frames_of(session, contact.file, milliseconds)
        contact, frames = _stretch([contact], count, rng)
        recording = session.recordings[contact.file]
        every = np.arange(len(recording.markers))
        kept = np.delete(every, frames)
        if forces:
            per_frame = len(recording.analog) / len(every)
            gone = slice(round(frames.start * per_frame), round(frames.stop * per_frame))
            end_s = (recording.first_frame + frames.stop) / recording.marker_rate_hz
            late_s = count / recording.marker_rate_hz
            events = [replace(e, time_s=e.time_s - late_s * (e.time_s > end_s)) for e in recording.events]
            analog = np.delete(recording.analog, gone, axis=0)
            angles = {key: path[kept] for key, path in recording.stored_angles.items()}
            changed = replace(
                recording, markers=recording.markers[kept], analog=analog, events=events, stored_angles=angles
            )
            shown = kept
        else:  # unseen where the file has no frames any more
            markers = np.full_like(recording.markers, np.nan)
            markers[: len(kept)] = recording.markers[kept]
            changed = replace(recording, markers=markers)
            shown = every  # forces are where they were
        # without forces, all stances after the loss meet markers of another time
        later = [c for c in contacts if c.file == contact.file and c.last > frames.start]
        touched = _about(contacts, contact, frames) if forces else later
        twin = session._replace(recordings={**session.recordings, contact.file: changed})
        return Twin(twin, touched, {contact.file: shown})

    return corrupt


def _copied(every: int) -> Corrupt:
    """Return walks in which each frame of so many shows the one before."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        def of(recording: Recording) -> Recording:
            markers = recording.markers.copy()
            markers[every::every] = markers[every - 1 : -1 : every][: len(markers[every::every])]
            return replace(recording, markers=markers)

        return Twin(_walks_with(session, of), contacts)

    return corrupt


def _noisy(millimetres: float) -> Corrupt:
    """Return walks with white noise on every coordinate of every marker."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        def of(recording: Recording) -> Recording:
            noise = millimetres / 1000 * rng.normal(size=recording.markers.shape)
            return replace(recording, markers=recording.markers + noise)

        return Twin(_walks_with(session, of), contacts)

    return corrupt


# markers that may be moved: landmarks by the names of different body models
MOVED = {
    "knee": ("lateral_epicondyle",),
    "ankle": ("lateral_malleolus",),
    "heel": ("heel",),
    "toe": ("toe", "metatarsal_5", "metatarsal_2"),
    "ASIS": ("asis",),
    "thigh": ("thigh_wand", "thigh_1", "thigh_upper"),
    "shank": ("tibial_wand", "shank_1", "shank_upper"),
}


def _labels(session: Session, file: str) -> dict[str, str]:
    """Return the label of each landmark that is a single marker in a file."""
    recording = session.recordings[file]
    seen = find_seen_labels(recording.labels, recording.markers)
    return {name: group[0] for name, group in choose_labels(session.model, seen).items() if len(group) == 1}


def _moved(part: str, millimetres: float) -> Corrupt:
    """Return walks with one marker at another place of its segment than in the static trial.

    It is moved across the shank or the foot in the plane of the walk: along the normal to the line from the knee (or
    hip) to the ankle, a marker of the foot or the pelvis upwards; in a random sense.
    """

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        side, sign = SIDES[int(rng.integers(2))], rng.choice([-1, 1])
        touched = [contact for contact in contacts if part == "ASIS" or contact.side == side]
        known = {**_labels(session, session.walks[0])}
        mark = next((known[f"{name}_{side}"] for name in MOVED[part] if f"{name}_{side}" in known), None)
        if mark is None or not touched or not session.static:
            return None
        ankle = known.get(f"lateral_malleolus_{side}")
        top = next(
            (known[f"{name}_{side}"] for name in ("lateral_epicondyle", "asis") if f"{name}_{side}" in known), ""
        )

        def of(recording: Recording) -> Recording:
            if mark not in recording.labels:
                return recording
            place = {label: recording.markers[:, i] for i, label in enumerate(recording.labels)}
            up = -plate_axes(plates_of(recording)[0].corners)[:, 2] if plates_of(recording) else np.array([0, 0, 1.0])
            way = np.broadcast_to(up, place[mark].shape)
            if part in ("knee", "ankle", "thigh", "shank") and ankle in place and top in place:
                line = place[top] - place[ankle]
                way = np.cross(line, np.cross(up, heading(recording)))
                way = way / np.linalg.norm(way, axis=1, keepdims=True)
            markers = recording.markers.copy()
            markers[:, recording.labels.index(mark)] += sign * millimetres / 1000 * way
            return replace(recording, markers=markers)

        return Twin(_walks_with(session, of), touched)

    return corrupt


def _labels_exchanged(share: float, *, leg: bool) -> Corrupt:
    """Return walks with the labels of both ankles, or of both whole legs, exchanged in a part of the frames."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        known = _labels(session, session.walks[0])
        names = [name.removesuffix("_left") for name in known if name.endswith("_left") and "asis" not in name]
        names = [name for name in names if "psis" not in name and f"{name}_right" in known]
        names = names if leg else [name for name in names if name in ("lateral_malleolus", "heel")][:1]
        if not names:
            return None

        def of(recording: Recording) -> Recording:
            markers, count = recording.markers.copy(), len(recording.markers)
            first = int(rng.uniform(0, 1 - share) * count)
            frames = slice(first, first + int(share * count) + 1)
            for name in names:
                pair = [known[f"{name}_{side}"] for side in SIDES]
                if {*pair} <= {*recording.labels}:
                    left, right = (recording.labels.index(label) for label in pair)
                    markers[frames, left] = recording.markers[frames, right]
                    markers[frames, right] = recording.markers[frames, left]
            return replace(recording, markers=markers)

        return Twin(_walks_with(session, of), contacts)

    return corrupt


# --- tables and rates ------------------------------------------------------------------------------------------------


def _rate(factor: float) -> Corrupt:
    """Return walks that state another rate of markers and samples; their events are moved with it."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        def of(recording: Recording) -> Recording:
            rates = [factor * rate for rate in (recording.marker_rate_hz, recording.analog_rate_hz)]
            events = [replace(event, time_s=event.time_s / factor) for event in recording.events]
            return replace(recording, marker_rate_hz=rates[0], analog_rate_hz=rates[1], events=events)

        return Twin(_walks_with(session, of), contacts)

    return corrupt


def _mass(factor: float) -> Corrupt:
    """Return another mass in participants.tsv."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        person = {**session.participant, "mass_kg": f"{factor * session.mass_kg:.4g}"}
        return Twin(session._replace(participant=person), contacts)

    return corrupt


def another_static(others: Sequence[Session], rank: int) -> Corrupt:
    """Return the static trial of another person, with markers of the same names.

    ``rank``: 0 the person of the mass nearest to the walker's, 1 the one in the middle, 2 the farthest.
    """

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        able = [
            one for one in others
            if one.static and one.name != session.name and one.model.name == session.model.name
            and one.participant.get("mass_kg") != session.participant.get("mass_kg")
        ]  # fmt: skip
        if not able or not session.static:
            return None
        able = sorted(able, key=lambda one: abs(one.mass_kg - session.mass_kg))
        other = able[[0, len(able) // 2, -1][rank]]
        mixed = {**session.recordings, session.static: other.recordings[other.static]}
        return Twin(session._replace(recordings=mixed), contacts)

    return corrupt


# --- the table -------------------------------------------------------------------------------------------------------


def faults(others: Sequence[Session] = ()) -> list[Fault]:
    """Return every row of the table with its doses; ``others`` have the statics of other people."""
    rows: list[Fault] = []

    def add(row: str, doses: Mapping[str, Corrupt]) -> None:
        rows.extend(Fault(row, dose, corrupt) for dose, corrupt in doses.items())

    def of_both(change: Channels) -> dict[str, Corrupt]:
        return {"one plate": _on_plates(True, change), "all plates": _on_plates(False, change)}

    add("sign of the force along the walk", of_both(_negative(lambda axis: axis)))
    add("sign of the force across the walk", of_both(_negative(lambda axis: 1 - axis)))
    add("Fx and Fy exchanged", of_both(_exchanged))
    add("sign of the moment that places the force along the walk", of_both(_negative(lambda axis: 3 + 1 - axis)))
    add("sign of the moment that places the force across the walk", of_both(_negative(lambda axis: 3 + axis)))
    add("all plates shifted along the walk", {f"{mm} mm": _shifted(mm) for mm in (10, 20, 30, 60, 100)})
    gains = (0.7, 0.8, 0.9, 0.95, 1.1, 1.2, 1.4)
    add("gain of one plate", {f"x {gain:g}": _on_plates(True, _scaled(gain)) for gain in gains})
    add("gain of all plates", {f"x {gain:g}": _on_plates(False, _scaled(gain)) for gain in gains})
    vertical = slice(2, 3)
    add("vertical channel alone", {
        f"x {gain:g}, {which} plate{'s' * (which == 'all')}": _on_plates(which == "one", _scaled(gain, vertical))
        for which in ("one", "all") for gain in (0.8, 1.2)
    })  # fmt: skip
    add("all markers frozen", {f"{ms} ms": _frozen(ms) for ms in (20, 50, 100, 200)})
    add("frames lost, markers only", {f"{ms} ms": _lost(ms, forces=False) for ms in (20, 60, 120)})
    add("frames lost, markers and forces", {f"{ms} ms": _lost(ms, forces=True) for ms in (20, 60, 120)})
    add("frames copied", {f"one of {every}": _copied(every) for every in (10, 4, 2)})
    add("marker noise", {f"{mm:g} mm": _noisy(mm) for mm in (0.5, 1, 3, 6)})
    add("plates filtered once (causal)", {f"{hz} Hz": _on_plates(False, _causal(hz)) for hz in (50, 20, 10, 6)})
    add("all plates out of time", {
        f"{ms} ms": _on_plates(False, _late(ms)) for ms in (5, 10, 20, 30, 40, 60, 100)
    })  # fmt: skip
    add("another person's static", {
        name: another_static(others, rank) for rank, name in enumerate(("similar mass", "other mass", "farthest mass"))
    })  # fmt: skip
    for part in MOVED:
        add(f"marker moved in the walk: {part}", {f"{mm} mm": _moved(part, mm) for mm in (10, 20, 30)})
    add("second foot in the last 15 % of stance", {
        f"{bw:g} body weights": _second_foot(bw) for bw in (0.05, 0.2, 0.5, 1.0)
    })  # fmt: skip
    add("point rate", {f"x {factor:g}": _rate(factor) for factor in (0.5, 0.8, 1.2, 2.0)})
    add("mass", {f"x {factor:g}": _mass(factor) for factor in (0.7, 0.9, 0.95, 1.1, 1.3)})
    add("another plate's cable", {
        "all channels exchanged": _cables([0, 1, 2, 3, 4, 5]),
        "force along and across exchanged": _cables([0, 1]),
        "vertical force exchanged": _cables([2]),
        "all channels copied": _cables([0, 1, 2, 3, 4, 5], copied=True),
    })  # fmt: skip
    add("labels exchanged", {
        "ankles, 30 % of the frames": _labels_exchanged(0.3, leg=False),
        "legs, 30 % of the frames": _labels_exchanged(0.3, leg=True),
        "legs, all frames": _labels_exchanged(1.0, leg=True),
    })  # fmt: skip
    add("plate turned or mirrored", {
        "180 degrees": _corners([2, 3, 0, 1]),
        "90 degrees": _corners([1, 2, 3, 0]),
        "upside down": _corners([1, 0, 3, 2]),
        "180 degrees, all plates": _corners([2, 3, 0, 1], one=False),
    })  # fmt: skip
    add("plate channels", {
        "one dead": _on_plates(True, _dead),
        "moments 1,000 times too large": _on_plates(False, _scaled(1000.0, MOMENTS)),
        "drift of 100 N": _on_plates(True, _drifting(100.0)),
        "all reversed": _on_plates(True, _scaled(-1.0)),
    })  # fmt: skip
    return rows
