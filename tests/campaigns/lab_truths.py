"""What is true of the stances in the recordings of shared/labs, from raw markers and plates.

A stance is valid if one foot is wholly on plates that work, alone. The sole reaches from 2 cm in front of the heel
marker to 30 % of heel to toe marker in front of the toe marker, 6 to 9 cm wide; the foot rests there (heel and toe
below 0.3 m/s) while the plate carries more than 20 N. The README of shared/labs has the plates with defects.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

VALID, INVALID, DOUBTFUL = "valid", "invalid", "either may be right"

# file: side and plates of each stance that meets a plate
TRUTHS: dict[str, dict[str, str]] = {
    "HC032A03": {"right 2": VALID, "left 1": VALID},
    "HC032A18": {"right 2": VALID, "left 1": INVALID},  # the toes 14 cm off, in a turn
    "HC036A10": {"right 1": VALID, "left 2": VALID},
    "HC036A23": {"right 2": VALID},  # a turn
    "HC040A14": {"right 2": VALID, "left 1": VALID},
    "HC040A40": {"right 2": VALID, "left 1": VALID},
    "MH0222_BP06": {"right 3": VALID, "left 2": VALID},
    "MH0222_BP15": {"right 3": DOUBTFUL, "left 2": VALID},  # the heel is within a centimetre of the edge
    "S4-AMGait03": {"right 3": VALID, "left 1 2": VALID},
    "S4-AMGait04": {"right 1": VALID, "left 2": VALID, "right 3": INVALID},  # the toes 11 cm off
    "S4-AMGait05": {"right 3": VALID, "left 2": VALID, "right 1": INVALID},  # the toes 12 cm off
    "S4-AMGait06": {"right 1": VALID, "left 2 3": VALID},
    "S4-AMGait07": {"right 3": VALID, "left 1 2": VALID},
    # plate 1 idles at 46 N; the foot is whole on plate 2, but Mz is dead and the centre of pressure moves by 2 cm
    "analogfpscale03": {"right 2": DOUBTFUL},
    "analogfpscale04": {"right 1": INVALID},  # dead channels
    "analogfpscale04i": {"right 1": INVALID},  # dead channels, one wraps
    "Walk1": {"left 1": VALID, "right 2": VALID},
    "Gait with EMG": {"left 1": VALID, "right 2": VALID},
    "Vicon_analysis": {"right 1": VALID, "left 2": VALID, "right 3": VALID},
    # heel from the ankle marker, for lack of a heel marker; both feet are on plate 3
    "2198928": {"left 1": VALID, "right 2": VALID, "left 3": INVALID, "right 3": INVALID, "left 4": VALID},
}


class Stance(NamedTuple):
    """A stance as step ``contacts`` has it: ``plates`` as "1 2"; ``reason`` is empty if it is used."""

    side: str
    plates: str
    reason: str


class Score(NamedTuple):
    """Stances of a file: valid ones used, valid ones refused, with the reason, and invalid ones used."""

    used: list[str]
    refused: list[str]
    wrong: list[str]


def score(file_stem: str, stances: Iterable[Stance]) -> Score | None:
    """Return how the stances of a file compare with the truth; None if that is not known."""
    if file_stem not in TRUTHS:
        return None
    truth = TRUTHS[file_stem]
    found = {f"{side} {' '.join(sorted(plates.split()))}": reason for side, plates, reason in stances if plates}
    used = [name for name, reason in found.items() if not reason]
    valid = [name for name, verdict in truth.items() if verdict == VALID]
    refused = [f"{name}: {found.get(name, _about(name, found))}" for name in valid if name not in used]
    wrong = [name for name in used if truth.get(name, INVALID) == INVALID]
    return Score([name for name in valid if name in used], refused, wrong)


def _about(name: str, found: dict[str, str]) -> str:
    """Return the reason of a stance of the foot that was found on other plates too, or not at all."""
    side, *plates = name.split()
    others = [f"found as {other}, {reason}" for other, reason in found.items() if {side, *plates} <= set(other.split())]
    return others[0] if others else "not found"
