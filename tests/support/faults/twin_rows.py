"""The table of faults of corrupted twins, row by row, with those of tables and rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pipeline.recording import Recording
from tests.support.faults.marker_twins import (
    MOVED,
    copied,
    frozen,
    labels_exchanged,
    larger,
    lost,
    moved,
    noisy,
    turned,
)
from tests.support.faults.plate_twins import (
    Channels,
    cables,
    cane,
    causal,
    corners,
    corners_turned,
    dead,
    drifting,
    exchanged,
    fast_clock,
    free_torque_reversed,
    late,
    negative,
    on_plates,
    out_of_level,
    scaled,
    second_foot,
    shifted,
)
from tests.support.faults.twins import MOMENTS, Contact, Corrupt, Fault, Session, Twin, walks_with

Rows = dict[str, dict[str, Corrupt]]  # doses by row


def _rate(factor: float) -> Corrupt:
    """Return walks that state another rate of markers and samples; their events are moved with it."""

    def corrupt(session: Session, contacts: Sequence[Contact], rng: np.random.Generator) -> Twin | None:
        def of(recording: Recording) -> Recording:
            rates = [factor * rate for rate in (recording.marker_rate_hz, recording.analog_rate_hz)]
            events = [replace(event, time_s=event.time_s / factor) for event in recording.events]
            return replace(recording, marker_rate_hz=rates[0], analog_rate_hz=rates[1], events=events)

        return Twin(walks_with(session, of), contacts)

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


def faults(others: Sequence[Session] = ()) -> list[Fault]:
    """Return every row of the table with its doses; ``others`` have the statics of other people."""
    rows = _of_forces() | _of_frames_and_time() | _of_places(others) | _of_loads_and_tables() | _of_mixtures()
    rows |= _of_geometry()
    return [Fault(row, dose, corrupt) for row, doses in rows.items() for dose, corrupt in doses.items()]


def _of_forces() -> Rows:
    gains, vertical = (0.7, 0.8, 0.9, 0.95, 1.1, 1.2, 1.4), slice(2, 3)

    def of_both(change: Channels) -> dict[str, Corrupt]:
        return {"one plate": on_plates(True, change), "all plates": on_plates(False, change)}

    return {
        "sign of the force along the walk": of_both(negative(lambda axis: axis)),
        "sign of the force across the walk": of_both(negative(lambda axis: 1 - axis)),
        "Fx and Fy exchanged": of_both(exchanged),
        "sign of the moment that places the force along the walk": of_both(negative(lambda axis: 3 + 1 - axis)),
        "sign of the moment that places the force across the walk": of_both(negative(lambda axis: 3 + axis)),
        "all plates shifted along the walk": {f"{mm} mm": shifted(mm) for mm in (10, 20, 30, 60, 100)},
        "gain of one plate": {f"x {gain:g}": on_plates(True, scaled(gain)) for gain in gains},
        "gain of all plates": {f"x {gain:g}": on_plates(False, scaled(gain)) for gain in gains},
        "vertical channel alone": {
            f"x {gain:g}, {which} plate{'s' * (which == 'all')}": on_plates(which == "one", scaled(gain, vertical))
            for which in ("one", "all")
            for gain in (0.8, 1.2)
        },
    }


def _of_frames_and_time() -> Rows:
    return {
        "all markers frozen": {f"{ms} ms": frozen(ms) for ms in (20, 50, 100, 200)},
        "frames lost, markers only": {f"{ms} ms": lost(ms, forces=False) for ms in (20, 60, 120)},
        "frames lost, markers and forces": {f"{ms} ms": lost(ms, forces=True) for ms in (20, 60, 120)},
        "frames copied": {f"one of {every}": copied(every) for every in (10, 4, 2)},
        "marker noise": {f"{mm:g} mm": noisy(mm) for mm in (0.5, 1, 3, 6)},
        "plates filtered once (causal)": {f"{hz} Hz": on_plates(False, causal(hz)) for hz in (50, 20, 10, 6)},
        "all plates out of time": {f"{ms} ms": on_plates(False, late(ms)) for ms in (5, 10, 20, 30, 40, 60, 100)},
    }


def _of_places(others: Sequence[Session]) -> Rows:
    doses = ("similar mass", "other mass", "farthest mass")
    statics = {name: another_static(others, rank) for rank, name in enumerate(doses)}
    moves = {
        f"marker moved in the walk: {part}": {f"{mm} mm": moved(part, mm) for mm in (10, 20, 30)} for part in MOVED
    }
    return {"another person's static": statics} | moves


def _of_loads_and_tables() -> Rows:
    return {
        "second foot in the last 15 % of stance": {
            f"{bw:g} body weights": second_foot(bw) for bw in (0.05, 0.2, 0.5, 1.0)
        },
        "point rate": {f"x {factor:g}": _rate(factor) for factor in (0.5, 0.8, 1.2, 2.0)},
        "mass": {f"x {factor:g}": _mass(factor) for factor in (0.7, 0.9, 0.95, 1.1, 1.3)},
    }


def _of_geometry() -> Rows:
    """Return faults by which markers and plates disagree a little, everywhere."""
    return {
        "markers tilted against the plates": {f"{deg} degrees": turned(deg, level=False) for deg in (1, 2, 3)},
        "markers yawed against the plates": {f"{deg} degrees": turned(deg, level=True) for deg in (3, 6)},
        "one plate out of level": {f"{deg} degrees": on_plates(True, out_of_level(deg)) for deg in (2, 4)},
        "corners of a plate turned": {f"{deg} degrees": corners_turned(deg) for deg in (5, 10, 20)},
        "all plates shifted": {"40 mm across": shifted(40, "across"), "80 mm up": shifted(80, "up")},
        "clock of the plates fast": {f"{share} %": on_plates(False, fast_clock(1 + share / 100)) for share in (1, 3)},
        "moments of all plates": {f"x {gain:g}": on_plates(False, scaled(gain, MOMENTS)) for gain in (0.9, 1.15)},
        "free torque's sign": {"all plates": on_plates(False, free_torque_reversed)},
        "markers too large": {"3 %": larger(1.03)},
        "cane on the plate": {"60 N": cane(60)},
    }


def _of_mixtures() -> Rows:
    return {
        "another plate's cable": {
            "all channels exchanged": cables([0, 1, 2, 3, 4, 5]),
            "force along and across exchanged": cables([0, 1]),
            "vertical force exchanged": cables([2]),
            "all channels copied": cables([0, 1, 2, 3, 4, 5], copied=True),
        },
        "labels exchanged": {
            "ankles, 30 % of the frames": labels_exchanged(0.3, leg=False),
            "legs, 30 % of the frames": labels_exchanged(0.3, leg=True),
            "legs, all frames": labels_exchanged(1.0, leg=True),
        },
        "plate turned or mirrored": {
            "180 degrees": corners([2, 3, 0, 1]),
            "90 degrees": corners([1, 2, 3, 0]),
            "upside down": corners([1, 0, 3, 2]),
            "180 degrees, all plates": corners([2, 3, 0, 1], one=False),
        },
        "plate channels": {
            "one dead": on_plates(True, dead),
            "moments 1,000 times too large": on_plates(False, scaled(1000.0, MOMENTS)),
            "drift of 100 N": on_plates(True, drifting(100.0)),
            "all reversed": on_plates(True, scaled(-1.0)),
        },
    }
