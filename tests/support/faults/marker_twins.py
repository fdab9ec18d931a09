"""Twins with faults of markers: frames, noise, places and labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from pipeline.body.landmarks import choose_labels, find_seen_labels
from pipeline.conventions import SIDES
from pipeline.plates.wrench import plate_axes
from pipeline.recording import Recording
from tests.support.faults.twins import Array, Contact, Corrupt, Session, Twin, heading, one_file, plates_of, walks_with


def _stretch(contacts: Sequence[Contact], count: int, rng: np.random.Generator) -> tuple[Contact, slice]:
    """Return a stance and frames that begin in its middle half."""
    contact = one_file(contacts, rng)
    length = contact.last - contact.first
    begin = contact.first + int(rng.uniform(0.25, 0.75) * length)
    return contact, slice(begin, begin + count)


def _about(contacts: Sequence[Contact], contact: Contact, frames: slice) -> list[Contact]:
    """Return the stances of a file that overlap some frames."""
    return [c for c in contacts if c.file == contact.file and c.first < frames.stop and c.last > frames.start]


def _frames_of(session: Session, file: str, milliseconds: float) -> int:
    return max(round(milliseconds / 1000 * session.recordings[file].marker_rate_hz), 1)


def frozen(milliseconds: float) -> Corrupt:
    """Return a walk in which all markers stand still for a time, then go on from where they are by then."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        contact = one_file(contacts, rng)
        count = _frames_of(session, contact.file, milliseconds)
        contact, frames = _stretch([contact], count, rng)
        recording = session.recordings[contact.file]
        markers = recording.markers.copy()
        markers[frames] = markers[frames.start - 1]
        changed = {**session.recordings, contact.file: replace(recording, markers=markers)}
        return Twin(session._replace(recordings=changed), _about(contacts, contact, frames))

    return corrupt


def lost(milliseconds: float, *, forces: bool) -> Corrupt:
    """Return a walk without some frames, the rest moved up, of the markers alone or of markers and forces."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        contact = one_file(contacts, rng)
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


def copied(every: int) -> Corrupt:
    """Return walks in which each frame of so many shows the one before."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        def of(recording: Recording) -> Recording:
            markers = recording.markers.copy()
            markers[every::every] = markers[every - 1 : -1 : every][: len(markers[every::every])]
            return replace(recording, markers=markers)

        return Twin(walks_with(session, of), contacts)

    return corrupt


def noisy(millimetres: float) -> Corrupt:
    """Return walks with white noise on every coordinate of every marker."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        def of(recording: Recording) -> Recording:
            noise = millimetres / 1000 * rng.normal(size=recording.markers.shape)
            return replace(recording, markers=recording.markers + noise)

        return Twin(walks_with(session, of), contacts)

    return corrupt


def turned(degrees: float, *, level: bool) -> Corrupt:
    """Return markers in axes that are turned against the plates, about the middle of these: a wand laid down badly.

    ``level``: about the vertical, else about a level line. All files of the session are turned, also the static trial.
    """

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        recording = session.recordings[contacts[0].file]
        plates = plates_of(recording)
        about, sign = rng.uniform(0, 2 * np.pi), rng.choice([-1, 1])
        axes = plate_axes(plates[0].corners)
        line = axes[:, 2] if level else np.cos(about) * axes[:, 0] + np.sin(about) * axes[:, 1]
        turn = Rotation.from_rotvec(sign * np.radians(degrees) * line)
        middle = _middle(recording)
        return Twin(
            _everywhere(session, lambda markers: turn.as_matrix() @ (markers - middle)[..., None], middle), contacts
        )

    return corrupt


def larger(factor: float) -> Corrupt:
    """Return markers farther from each other, in all files: a wand shorter than its stated length."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        middle = _middle(session.recordings[contacts[0].file])
        return Twin(_everywhere(session, lambda markers: factor * (markers - middle)[..., None], middle), contacts)

    return corrupt


def _middle(recording: Recording) -> Array:
    """Return the middle (3,) of the plates, where labs have their origin, m."""
    return np.asarray(
        np.mean([plate.corners.mean(axis=0) for plate in plates_of(recording)], axis=0) * recording.length_unit_m
    )


def _everywhere(session: Session, change: Callable[[Array], Array], middle: Array) -> Session:
    """Return a session with the markers of all files changed about a point."""
    changed = {
        file: replace(one, markers=change(one.markers)[..., 0] + middle) for file, one in session.recordings.items()
    }
    return session._replace(recordings=changed)


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


def moved(part: str, millimetres: float) -> Corrupt:
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

        return Twin(walks_with(session, of), touched)

    return corrupt


def labels_exchanged(share: float, *, leg: bool) -> Corrupt:
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

        return Twin(walks_with(session, of), contacts)

    return corrupt
