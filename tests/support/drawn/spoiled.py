"""Sessions of drawn people with a fault of known dose and harm, and recordings that are cut short."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pipeline.recording import Recording
from tests.support.drawn.sessions import Sound
from tests.support.faults.twin_rows import faults
from tests.support.faults.twins import Contact, Session, Twin
from tests.support.walks.moving_on_plates import VALID

# faults that nothing noticed at first, all of them small: row, dose
UNNOTICED = (
    *(("markers tilted against the plates", f"{deg} degrees") for deg in (1, 2, 3)),
    *(("one plate out of level", f"{deg} degrees") for deg in (2, 4)),
    *(("corners of a plate turned", f"{deg} degrees") for deg in (5, 10, 20)),
    *(("markers yawed against the plates", f"{deg} degrees") for deg in (3, 6)),
    ("all plates shifted along the walk", "30 mm"),
    *(("all plates shifted", dose) for dose in ("40 mm across", "80 mm up")),
    ("all plates out of time", "20 ms"),
    ("plates filtered once (causal)", "10 Hz"),
    *(("clock of the plates fast", dose) for dose in ("1 %", "3 %")),
    *(("moments of all plates", dose) for dose in ("x 0.9", "x 1.15")),
    ("free torque's sign", "all plates"),
    *(("second foot in the last 15 % of stance", f"{load} body weights") for load in ("0.2", "0.5")),
    ("marker moved in the walk: knee", "20 mm"),
    ("markers too large", "3 %"),
    ("cane on the plate", "60 N"),
    *(("gain of one plate", f"x {gain}") for gain in ("0.9", "1.1")),
)
LEAST_S = 0.6  # left of a recording that is cut


def valid_contacts(sound: Sound) -> list[Contact]:
    """Return the stances that plates measure whole and alone, as the campaigns name those of a session."""
    contacts = []
    for file, truths in sound.truths.items():
        rate = sound.session.recordings[file].marker_rate_hz
        for truth in (truth for truth in truths if truth.verdict == VALID):
            ends = int(np.ceil(truth.start_s * rate)), int(truth.end_s * rate)
            contacts.append(Contact(file, truth.side, tuple(sorted(truth.needed)), *ends))
    return contacts


def faulty(sound: Sound, row: str, dose: str, *, seed: int = 0) -> Twin | None:
    """Return a session with a fault, and the valid stances that it touches; None if the session cannot have it.

    Its harm is known: ``sound.moments`` are exact, and no fault changes what is true.

    Args:
        row, dose: of :func:`tests.support.faults.twin_rows.faults`, such as those in :data:`UNNOTICED`.
        seed: of what is random in the fault, such as its sign.
    """
    (fault,) = [one for one in faults() if (one.row, one.dose) == (row, dose)]
    contacts = valid_contacts(sound)
    return fault.corrupt(sound.session, contacts, np.random.default_rng([seed, 53])) if contacts else None


def cut(session: Session, seed: int) -> tuple[Session, str, int]:
    """Return a session of its other files and one walk that is cut, the walk's file, and its first frame that is left.

    Even seeds cut the start, odd ones the end, at any instant that leaves :data:`LEAST_S`.
    """
    rng = np.random.default_rng([seed, 54])
    walks = session.walks
    file = walks[int(rng.integers(len(walks)))]
    recording = session.recordings[file]
    count, least = len(recording.markers), int(LEAST_S * recording.marker_rate_hz)
    at = int(rng.integers(least, max(count - least, least + 1)))
    first, last = (count - at, count) if seed % 2 == 0 else (0, at)
    rows = [row for row in session.rows if row["role"] != "gait" or row["file"] == file]
    recordings = {row["file"]: session.recordings[row["file"]] for row in rows}
    recordings[file] = frames_of(recording, first, last)
    return session._replace(rows=rows, recordings=recordings), file, first


def frames_of(recording: Recording, first: int, last: int) -> Recording:
    """Return the frames ``first`` to ``last`` (without it) of a recording, on the same time axis."""
    start, stop = (
        round(frame * recording.analog_rate_hz / recording.marker_rate_hz) if recording.analog_rate_hz else 0
        for frame in (first, last)
    )
    begin_s, end_s = ((recording.first_frame + frame) / recording.marker_rate_hz for frame in (first, last))
    return replace(
        recording,
        markers=recording.markers[first:last],
        analog=recording.analog[start:stop],
        first_frame=recording.first_frame + first,
        events=[event for event in recording.events if begin_s <= event.time_s < end_s],
        loads=[type(load)(*(part[start:stop] for part in load)) for load in recording.loads],
        stored_angles={name: path[first:last] for name, path in recording.stored_angles.items()},
    )
