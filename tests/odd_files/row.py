"""What an odd file is, and what is true of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.odd_files.walk import EVENTS, LABELS, MODEL, Event

READ, REFUSED = "read", "refused"


@dataclass(frozen=True)
class Truth:
    """The right answer to a folder of recordings.

    ``outcome`` is ``read``, where the markers and forces of each walk are those of the plain walk, or ``refused``,
    where none of them passes for a walk that can be used. Words are regular expressions without regard to case.
    """

    outcome: str = READ
    # a user must be told these, by init, check or the refusal: of a refusal where, what and the remedy
    said: tuple[str, ...] = ()
    or_refused: tuple[str, ...] = ()  # words of a refusal that is right as well as reading
    follows: tuple[str, ...] = ()  # errors that follow from what is odd, and are right
    never: tuple[str, ...] = ()  # and must not be told these
    walks: int = 1  # recordings of walking
    people: int = 1
    model: str | None = MODEL  # the body model that init proposes; None: none, or any
    rates_hz: tuple[float, float] = (100.0, 500.0)  # of markers and forces
    start_s: float | None = 0.0  # time of the walk's first frame
    before: int = 0  # frames before the walk, in which nobody is seen
    # (marker or "" for all, first and last frame): nothing is known there
    hidden: tuple[str, int, int] | None = None
    labels: tuple[str, ...] = LABELS  # the markers that are compared
    # plates of the plain walk of which the forces must be read; no other may show any. None: not compared, as both a
    # refusal of the plates and a repair is right
    plates: tuple[int, ...] | None = (0, 1, 2)
    events: tuple[Event, ...] | None = EVENTS  # None: not compared, as text files have none
    # of each person in the file, how far from the plain walk they walk, m, file axes
    places_m: tuple[tuple[float, float, float], ...] = ((0.0, 0.0, 0.0),)
    loads: bool = False  # forces are loads of a text file, zero where a plate is not pressed
    marker_mm: float = 1e-3  # greatest error, of single precision at 3 m or six printed digits
    force_n: float = 1e-3  # of single precision at 800 N, or eight printed digits
    moment_n_m: float = 2e-3  # as the force, 2 m from the lab origin


@dataclass(frozen=True)
class Row:
    """One situation: its name, what is odd about it, where it was reported, what is true, and what writes it."""

    name: str
    odd: str
    source: str
    truth: Truth
    write: Callable[[Path], object]  # writes the recordings, and tables if any, into an empty folder
    study: str = ""  # the study's folder below that of the row, if its name is what is odd
    remarks: Sequence[str] = ()  # doubts about what is true
