"""What a file of markers and forces holds, whatever its format: SI units, the file's own axes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .arrays import Array
from .errors import Problem
from .vocabulary import stated_sizes
from .vocabulary.plain_letters import without_accents

LENGTH_UNITS_M = {"mm": 1e-3, "cm": 1e-2, "dm": 1e-1, "m": 1.0}
# in English, German, French, Italian and Spanish, without accents
UNIT_WORDS = re.compile(r"(m|c|d|)(?:il+i|enti|e[cz]i|)[ -]?met(?:er|re|ro|ri)s?")
RATE_HZ = (0.1, 1e5)  # marker frames per second; others are damage
FARTHEST_M = 1e3  # values beyond it are missing


def length_unit_m(text: str) -> float | None:
    """Return metres per unit of length of a file, which it calls ``mm``, ``Millimeters``, ``[mm]``; None if unknown."""
    word = without_accents(text).lower().strip(" \t[]().'\"").replace("zenti", "centi")
    return LENGTH_UNITS_M.get(UNIT_WORDS.sub(r"\1m", word))


def simplest_rate(rate_hz: float, error_hz: float) -> float:
    """Return the simplest rate that a file may mean, which states it with an error; its own if none is that near.

    Cameras count whole frames a second, or are set with few decimals; video is 1001 times slower per 1000; clocks count
    whole milliseconds or microseconds. A rate in single precision is wrong by up to 6e-8, 4 microseconds in a minute.
    """
    decimals = [round(rate_hz, digits) for digits in range(6)]
    video = round(1.001 * rate_hz) / 1.001
    periods = [clock / max(round(clock / rate_hz), 1) for clock in (1e3, 1e6)]
    simple = [*decimals[:4], video, *periods, *decimals[4:]]
    return next((one for one in simple if one > 0 and abs(one - rate_hz) <= error_hz), rate_hz)


@dataclass(frozen=True)
class Event:
    """A gait event as the file states it; ``side`` may be empty."""

    time_s: float
    label: str
    side: str


class Load(NamedTuple):
    """A load on the person that is known without its plate, as in files of OpenSim; axes of the file."""

    force: Array  # (sample, 3), N
    moment: Array  # (sample, 3) about the lab origin, N m
    point: Array  # (sample, 3), point of application, m; it means little without force


@dataclass(frozen=True)
class Recording:
    """The content of a C3D file, or of other files with the same content; empty where a file has none."""

    labels: list[str]  # marker labels without subject and common prefixes, unique
    markers: Array  # (time, marker, 3) positions, m, NaN where unseen
    # marker_rate_hz, first_frame: frames per second; number of the first frame, counted from 0, which is that of time
    # 0. It is whole in C3D files.
    marker_rate_hz: float
    first_frame: float
    length_unit_m: float  # metres per length unit of the file
    analog: Array = field(default_factory=lambda: np.empty((0, 0)))  # (sample, channel) as scaled by the file
    analog_rate_hz: float = 0.0  # samples per second; 0 without channels
    force_platform: Mapping[str, Any] = field(default_factory=dict)  # the FORCE_PLATFORM parameters by name
    # analog_labels, analog_units: label and unit text of each channel; may be fewer
    analog_labels: Sequence[str] = ()
    analog_units: Sequence[str] = ()
    unread_channels: Sequence[int] = ()  # those, from 1, that the file scales by 0
    events: Sequence[Event] = ()  # gait events; time 0 is frame 0
    # numbers of the PROCESSING group by name without spaces, in the file's units; only those of the chosen person if
    # the file holds several. Vicon Clinical Manager has them in a group named as the subject.
    processing: Mapping[str, float] = field(default_factory=dict)
    subject_names: Sequence[str] = ()  # SUBJECTS:NAMES, free text that may name a person: never print or store it
    label_notes: Sequence[str] = ()  # notes on repeated labels
    remarks: Sequence[Problem] = ()  # what the file holds that is not used, or calls otherwise than the standard
    subjects: Sequence[str] = ()  # the people in the file; empty if it holds one
    owner: str = ""  # the subject in the labels of the chosen markers (``A22:LKNE``), or empty
    loads: Sequence[Load] = ()  # forces on the person that are stated instead of plates, at the samples of ``analog``
    # by side and joint, (time, 3) as Plug-in Gait stored them, degrees, NaN where missing
    stored_angles: Mapping[tuple[str, str], Array] = field(default_factory=dict)

    @property
    def sizes(self) -> dict[str, float]:
        """The sizes that the file states, kg and m, by column of participants.tsv."""
        return stated_sizes.anthropometry(self.processing)

    @property
    def static_results(self) -> str:
        """The static results that the file states, see :func:`pipeline.vocabulary.stated_sizes.static_results`."""
        return stated_sizes.static_results(self.processing)
